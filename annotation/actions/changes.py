"""A change of cells of several rows at once, as a person makes it in the grid."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from annotation.actions.base import Refused
from annotation.actions.labels import Answer, record
from annotation.models import Assignment


@dataclass
class Changed:
    """What `change` left out: sentences, and cells (assignment, column, question) in which something else stood."""

    refused: list[str] = field(default_factory=list)
    conflicts: list[tuple[int, int, int]] = field(default_factory=list)


@transaction.atomic
def change(*, answers: Mapping[Assignment, Sequence[Answer]], key: uuid.UUID, whole: bool = False) -> Changed:
    """Record the answers of each assignment: all of one or none of it, but for cells in which something else stood.

    `whole`: where one part does not go in, nothing does.
    """
    changed = Changed()
    for assignment in sorted(answers, key=lambda assignment: assignment.pk):  # always in one order, for the locks
        try:
            recorded = record(assignment=assignment, answers=answers[assignment], key=key)
        except Refused as refusal:
            changed.refused.append(str(refusal))
        else:
            changed.conflicts += [(assignment.pk, *cell) for cell in sorted(recorded.conflicts)]
    if whole and (changed.refused or changed.conflicts):
        transaction.set_rollback(True)
    return changed
