"""What became of drafted answers."""

from __future__ import annotations

from dataclasses import dataclass

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
    """By rater and by who drafted for them; drafts that wait for their person are not counted. Two queries."""
    cell = ("assignment_id", "column_id", "question_id")
    events = LabelEvent.objects.filter(
        assignment__rater__study=study, drafted_from__isnull=False, confirmed_at=None
    ).exclude(assignment__state=Assignment.State.WITHDRAWN)
    names = ("assignment__rater__code", "drafted_from__code", "column__section__key", "question__key")
    drafts = {
        (assignment, column, question): rest  # the last draft of a cell counts
        for assignment, column, question, *rest in events.order_by("pk").values_list(
            *cell, *names, code_of("after", "value_after")
        )
    }
    labels = Label.objects.filter(assignment__in={key[0] for key in drafts}).order_by()
    now = {
        (assignment, column, question): (code, from_id is not None and confirmed_at is None)
        for assignment, column, question, code, from_id, confirmed_at in labels.values_list(
            *cell, CODE, "drafted_from_id", "confirmed_at"
        )
    }
    found: dict[tuple[str, str], list[float]] = {}
    changed: dict[tuple[str, str], int] = {}
    for key, (rater, by, section, question, drafted) in drafts.items():
        code, waits = now.get(key, ("", False))
        if waits:
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
