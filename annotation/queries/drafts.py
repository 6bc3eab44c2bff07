"""What became of drafted answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.answers import kind_of
from annotation.models import Assignment, Label, LabelEvent, Study
from annotation.queries.codes import CODE, code_of


@dataclass(frozen=True)
class EditRate:
    """Of the answers that a rater was given as a draft by another, how many were changed, and how far.

    Attributes:
        rater, drafted_from: codes of the two.
        drafted: answers that were drafted and are confirmed, changed or cleared by now.
        changed: those of them that are other answers now, or none.
        distance: mean of `AnswerKind.distance` over all of them, from 0 to 1; a cleared answer is 1 away.
    """

    rater: str
    drafted_from: str
    drafted: int
    changed: int
    distance: float

    @property
    def share(self) -> float:
        return self.changed / self.drafted


def edit_rates(study: Study) -> list[EditRate]:
    """By rater and by who drafted for them. Not counted are drafts that wait for their person, and those that a manager
    has taken away by restoring a moment before them. Three queries."""
    cell = ("assignment_id", "column_id", "question_id")
    events = LabelEvent.objects.filter(
        assignment__rater__study=study, drafted_from__isnull=False, confirmed_at=None
    ).exclude(assignment__state=Assignment.State.WITHDRAWN)
    names = ("assignment__rater__code", "drafted_from__code", "column__section__key", "question__key")
    drafts: dict[tuple[int, int, int], list[Any]] = {}  # the last draft of a cell counts
    begun: dict[tuple[int, int, int], datetime] = {}  # when the first one came
    for assignment, column, question, at, *rest in events.order_by("pk").values_list(
        *cell, "at", "pk", *names, code_of("after", "value_after")
    ):
        drafts[assignment, column, question] = rest
        begun.setdefault((assignment, column, question), at)
    taken = _taken_away(study, {key: rest[0] for key, rest in drafts.items()}, begun)
    labels = Label.objects.filter(assignment__in={key[0] for key in drafts}).order_by()
    now = {
        (assignment, column, question): (code, from_id is not None and confirmed_at is None)
        for assignment, column, question, code, from_id, confirmed_at in labels.values_list(
            *cell, CODE, "drafted_from_id", "confirmed_at"
        )
    }
    found: dict[tuple[str, str], list[float]] = {}
    changed: dict[tuple[str, str], int] = {}
    for key, (_pk, rater, by, section, question, drafted) in drafts.items():
        code, waits = now.get(key, ("", False))
        if waits or key in taken:
            continue
        spec = study.scheme.parsed.section(section).question(question)
        kind = kind_of(spec)
        far = 1.0 if not code else kind.distance(spec, kind.value(spec, drafted), kind.value(spec, code))
        found.setdefault((rater, by), []).append(far)
        changed[rater, by] = changed.get((rater, by), 0) + (code != drafted)
    return [
        EditRate(rater, by, len(far), changed[rater, by], sum(far) / len(far))
        for (rater, by), far in sorted(found.items())
    ]


def _taken_away(
    study: Study, drafts: Mapping[tuple[int, int, int], int], begun: Mapping[tuple[int, int, int], datetime]
) -> set[tuple[int, int, int]]:
    """Cells whose last restore brought back what stood there before anything was drafted; `drafts`: the last events."""
    restores = LabelEvent.objects.filter(assignment__rater__study=study, restored_to__isnull=False).order_by("pk")
    last: dict[tuple[int, int, int], tuple[int, Any, int | None]] = {
        (assignment, column, question): (pk, to, drafted_from)
        for assignment, column, question, pk, to, drafted_from in restores.values_list(
            "assignment_id", "column_id", "question_id", "pk", "restored_to", "drafted_from_id"
        )
    }
    return {
        key
        for key, (pk, to, drafted_from) in last.items()
        if key in drafts and pk > drafts[key] and drafted_from is None and to < begun[key]
    }
