"""A judge that rates, at one row: criteria are asked one by one or together, and read by their names."""

from __future__ import annotations

from annotation.actions import Answer
from base.text import storable
from judges.methods import grammar, prompting, rating
from judges.methods.rating import Scores, Unreadable, Verdict
from judges.runs.asking import Asked, AtRow, Labelled, Unread, answered_together


def label(row: AtRow) -> Labelled:
    """The ratings of a row, and the criteria whose rating could not be read.

    Raises:
        RowFailed: the evidence and an answer are more than the model's context takes.
        BackendError, and whatever `on_progress` raises: as `Backend.generate`.
    """
    groups = answered_together(row.judge, row.asked)
    criteria = [
        [prompting.criterion(cell.prompt, cell.spec, cell.facets, order=cell.section.column.facets) for cell in group]
        for group in groups
    ]
    # Where a chat's reply begins nothing can be put into the model's mouth; a plain text ends in the verdict's opening.
    openings = ["" if row.judge.chat_template else rating.opening(of_group[0]) for of_group in criteria]
    prompts = [
        row.shared + rating.request_all(of_group) + (f"\n\n{opening}" if opening else "")
        for of_group, opening in zip(criteria, openings, strict=True)
    ]
    bound = [
        grammar.of_ratings(of_group, room=row.judge.max_new_tokens or 0, opened=bool(opening))
        if row.judge.prompt_spec.grammar
        else None
        for of_group, opening in zip(criteria, openings, strict=True)
    ]
    stops = [rating.ends(of_group) if opening else () for of_group, opening in zip(criteria, openings, strict=True)]
    labelled = Labelled([], tokens=0)
    names = {criterion.name for of_group in criteria for criterion in of_group}
    for group, of_group, opening, written in zip(
        groups, criteria, openings, row.generate_each(prompts, bound, stops, rating.PLACE), strict=True
    ):
        raw = storable(written.text)
        together = tuple(criterion.name for criterion in of_group) if len(of_group) > 1 else ()
        for cell, criterion in zip(group, of_group, strict=True):
            read = rating.read(opening + raw, criterion, others=sorted(names - {criterion.name}), cut=written.cut)
            match read:
                case Verdict():
                    scores = Scores(answer=raw, cut=written.cut, together=together)
                    labelled.answers.append(_answer(cell, read, scores))
                case Unreadable():
                    labelled.unread.append(Unread(cell.column, cell.question, read.why, raw))
    return Labelled(labelled.answers, tokens=row.tokens, unread=labelled.unread)


def _answer(cell: Asked, verdict: Verdict, scores: Scores) -> Answer:
    key = next(option.key for option in cell.spec.options if option.value == verdict.rating)
    return Answer(cell.column, cell.question, cell.option(key), scores=scores, note=verdict.reason)
