"""A judge that writes, at one row: questions are asked one by one or together, and read by their kind of answer.

The lines of a table (layout `down`) are asked one after another, each with what the judge itself answered above it; a
question about transitions also with what there is by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from annotation.actions import Answer
from annotation.answers import kind_of, transitions
from annotation.answers.places import placed
from annotation.evidence.blocks import Block
from annotation.scheme.rule_specs import Rule
from annotation.scheme.spec import Layout
from base.text import storable
from judges.methods import grammar, prompting, writing
from judges.methods.writing import Asking, Scores, Unreadable, Written
from judges.runs.asking import Asked, AtRow, Labelled, Unread
from judges.runs.rules import settled
from llm.engine.prompt import Generated


def label(row: AtRow) -> Labelled:
    """What the model writes in each cell, and the cells in which nothing could be read.

    Raises:
        RowFailed: the evidence and an answer are more than the model's context takes.
        BackendError, and whatever `on_progress` raises: as `Backend.generate`.
    """
    made = Labelled([], tokens=0)
    groups = row.groups()
    _ask(row, [(group, "") for group in groups if group[0].section.layout == Layout.ACROSS], made)
    down = (group for group in groups if group[0].section.layout == Layout.DOWN)
    for _key, of_section in groupby(down, key=lambda group: group[0].section.key):
        _fill_table(row, list(of_section), made)
    return Labelled(made.answers, tokens=row.tokens, unread=made.unread)


def _fill_table(row: AtRow, groups: Sequence[Sequence[Asked]], made: Labelled) -> None:
    """Ask line by line; each sees what stands in the lines above it, and not what the checks refused there."""
    table = Labelled([], tokens=0)
    lines: list[Asked] = []  # one cell of each line that is done
    for _column, of_line in groupby(groups, key=lambda group: group[0].column.pk):
        line = list(of_line)
        standing, _unread = settled(table.answers, [], facets=row.assignment.row.facets)
        above = prompting.lines_above(
            row.judge.prompt_spec, [(cell.column.name, _shown(cell, standing)) for cell in lines]
        )
        _ask(row, [(group, above + _there(row, group, standing, lines)) for group in line], table)
        lines.append(line[0][0])
    made.answers.extend(table.answers)
    made.unread.extend(table.unread)


def _there(row: AtRow, group: Sequence[Asked], standing: Sequence[Answer], lines: Sequence[Asked]) -> str:
    """What exists before the step of a line, by the judge's own answers above, where that is asked about; else ""."""
    cell = next((one for one in group if one.spec.transitions), None)
    if cell is None:
        return ""
    things = transitions.start(cell.spec, row.assignment.row.facets)
    said = {answer.column.pk: answer for answer in standing if answer.question.key == cell.question.key}
    for line in lines:
        if (answer := said.get(line.column.pk)) is not None:
            things = transitions.after(things, kind_of(cell.spec).value(cell.spec, answer.code))  # type: ignore[arg-type]
    return prompting.things_there(row.judge.prompt_spec, things)


def _ask(row: AtRow, groups: Sequence[tuple[Sequence[Asked], str]], made: Labelled) -> None:
    """Ask for one answer a group, behind what stands above it, and put what is read into `made`."""
    if not groups:
        return
    askings = [[_asking(cell) for cell in group] for group, _above in groups]
    opened = not row.judge.chat_template
    # Where a chat's reply begins nothing can be put into the model's mouth; a plain text ends in the answer's opening.
    openings = [writing.opening(of_group[0]) if opened else "" for of_group in askings]
    prompts = [
        row.shared + above + writing.request(of_group) + (f"\n\n{opening}" if opening else "")
        for (_group, above), of_group, opening in zip(groups, askings, openings, strict=True)
    ]
    bound = [_grammar(row, group, of_group) for (group, _above), of_group in zip(groups, askings, strict=True)]
    answers: dict[int, Generated] = {}
    for own_grammar in dict.fromkeys(bound):
        places = [place for place, own in enumerate(bound) if own == own_grammar]
        written_there = row.generate([prompts[place] for place in places], grammar=own_grammar)
        answers |= dict(zip(places, written_there, strict=True))
    for place, ((group, _above), of_group, opening) in enumerate(zip(groups, askings, openings, strict=True)):
        written = answers[place]
        raw = storable(written.text)
        together = tuple(asking.name for asking in of_group) if len(of_group) > 1 else ()
        scores = Scores(answer=raw, cut=written.cut, together=together)
        read = writing.read(opening + raw, of_group, opened=opened, cut=written.cut)
        for cell, said in zip(group, read, strict=True):
            match said:
                case Written():
                    made.answers.append(_answer(cell, said, scores, row.assignment.row.blocks))
                case Unreadable():
                    made.unread.append(Unread(cell.column, cell.question, said.why, raw, said.detail))


def _grammar(row: AtRow, group: Sequence[Asked], askings: Sequence[Asking]) -> str:
    """What the answer to a group is bound to; "" for nothing."""
    if not row.judge.prompt_spec.grammar:
        return ""
    assert row.judge.max_new_tokens is not None
    checks = group[0].section.checks
    return grammar.of(
        askings,
        room=row.judge.max_new_tokens,
        opened=not row.judge.chat_template,
        digitless={check.question for check in checks if check.rule == Rule.NO_NUMBER},
    )


def _asking(cell: Asked) -> Asking:
    return prompting.asking(cell.prompt, cell.spec, cell.column.facets, order=cell.section.column.facets)


def _answer(cell: Asked, written: Written, scores: Scores, blocks: Sequence[Block]) -> Answer:
    note = written.reason
    own = cell.spec.items
    if own is not None and isinstance(written.value, list):
        # A model is not asked where it read something: its words are looked for.
        records = placed(own, written.value, blocks)
        return Answer(cell.column, cell.question, value=records, scores=scores, note=note)
    if cell.spec.has_options:
        return Answer(cell.column, cell.question, cell.options[str(written.value)], scores=scores, note=note)
    return Answer(cell.column, cell.question, value=written.value, scores=scores, note=note)


def _shown(cell: Asked, answers: Sequence[Answer]) -> list[tuple[str, str]]:
    """What later lines see of a cell's line: the questions that the section names for that, else all."""
    section = cell.section
    wanted = section.shows_above or tuple(question.key for question in section.questions)
    said = {answer.question.key: answer.code for answer in answers if answer.column.pk == cell.column.pk}
    return [
        (question.title, kind_of(question).shown(question, kind_of(question).value(question, said[question.key])))
        for question in section.questions
        if question.key in wanted and question.key in said
    ]
