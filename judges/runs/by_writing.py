"""A judge that writes, at one row: questions are asked one by one or together, and read by their kind of answer.

The lines of a table (layout `down`) are asked one after another, each with what the judge itself answered above it; a
question about transitions also with what there is by then. Or all lines are asked in one answer, where the prompt says
so. Elsewhere a question that other answers can switch off is asked last, and only where they have not: a reason for
“nonsense” is not written of what makes sense.
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
from judges.methods import grammar, prompting, whole_tables, writing
from judges.methods.writing import Asking, Scores, Unreadable, Written
from judges.runs.asking import Asked, AtRow, Labelled, Unread, answered_together
from judges.runs.rules import settled, switched_off
from llm.engine.prompt import Grammar


def label(row: AtRow) -> Labelled:
    """What the model writes in each cell, and the cells in which nothing could be read.

    Raises:
        RowFailed: the evidence and an answer are more than the model's context takes.
        BackendError, and whatever `on_progress` raises: as `Backend.generate`.
    """
    made = Labelled([], tokens=0)
    groups = answered_together(row.judge, row.asked)
    across = [group for group in groups if group[0].section.layout == Layout.ACROSS]
    _ask(row, [(group, "") for group in across if not _waits(group)], made)
    standing, _unread = settled(made.answers, [], facets=row.assignment.row.facets)
    off = switched_off(standing)
    _ask(row, [(group, "") for group in across if _waits(group) and not all(cell.key in off for cell in group)], made)
    down = (group for group in groups if group[0].section.layout == Layout.DOWN)
    fill = _fill_whole if row.judge.prompt_spec.whole_table else _fill_table
    for _key, of_section in groupby(down, key=lambda group: group[0].section.key):
        fill(row, list(of_section), made)
    return Labelled(made.answers, tokens=row.tokens, unread=made.unread)


def _waits(group: Sequence[Asked]) -> bool:
    """Whether all that one answer holds may be switched off by others."""
    return all(cell.spec.ask_unless for cell in group)


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


def _fill_whole(row: AtRow, groups: Sequence[Sequence[Asked]], made: Labelled) -> None:
    """Ask all lines in one answer."""
    (cells,) = groups
    lines = [list(of_line) for _column, of_line in groupby(cells, key=lambda cell: cell.column.pk)]
    askings = [[_asking(cell) for cell in line] for line in lines]
    asked = max(askings, key=len)  # a line whose text answers a question is not asked that
    thinking = row.judge.prompt_spec.thinking
    names = prompting.table_lines(row.judge.prompt_spec, [line[0].column.name for line in lines])
    opening = "" if row.judge.chat_template else "1.\n"
    shared = row.shared_with(row.examples_for([cell for line in lines for cell in line]))
    prompt = shared + whole_tables.request(names, asked, thinking=thinking) + (f"\n\n{opening}" if opening else "")
    stop = whole_tables.ends(len(names)) if opening else ()
    [written] = row.generate([prompt], grammar=_grammar_of_table(row, lines, askings), stop=stop)
    raw = storable(written.text)
    of_names = [asking.name for asking in asked]
    table = whole_tables.parts(opening + raw, names, of_names, opened=bool(opening), thinking=bool(thinking))
    last = max((place for place, part in enumerate(table) if part is not None), default=-1)
    for place, (line, of_line, part) in enumerate(zip(lines, askings, table, strict=True)):
        cut = written.cut and (place > last if part is None else part.is_last)
        # Of a line that was not found all that was written is kept, for nothing says which of it would be the line's.
        own = raw if part is None else part.text
        scores = Scores(answer=own, cut=cut, together=tuple(asking.name for asking in of_line))
        read = whole_tables.read_line(part, of_line, opened=bool(opening), cut=cut)
        for cell, said in zip(line, read, strict=True):
            _put(cell, said, scores, row, made)


def _grammar_of_table(
    row: AtRow, lines: Sequence[Sequence[Asked]], askings: Sequence[Sequence[Asking]]
) -> Grammar | None:
    if not row.judge.prompt_spec.grammar:
        return None
    assert row.judge.max_new_tokens is not None
    return whole_tables.grammar(
        askings,
        room=row.judge.max_new_tokens,
        opened=not row.judge.chat_template,
        digitless=_digitless(lines[0][0]),
    )


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
    thinking = row.judge.prompt_spec.thinking
    opened = not row.judge.chat_template
    # Where a chat's reply begins nothing can be put into the model's mouth; a plain text ends in the answer's opening.
    openings = [writing.opening(of_group[0]) if opened else "" for of_group in askings]
    prompts = [
        row.shared_with(row.examples_for(group))
        + above
        + writing.request(of_group, thinking=thinking)
        + (f"\n\n{opening}" if opening else "")
        for (group, above), of_group, opening in zip(groups, askings, openings, strict=True)
    ]
    bound = [_grammar(row, group, of_group) for (group, _above), of_group in zip(groups, askings, strict=True)]
    stops = [writing.ends(of_group) if opened else () for of_group in askings]
    answers = row.answers_to([group for group, _above in groups], prompts, bound, stops, writing.PLACE)
    for place, ((group, _above), of_group, opening) in enumerate(zip(groups, askings, openings, strict=True)):
        written = answers[place]
        raw = storable(written.text)
        together = tuple(asking.name for asking in of_group) if len(of_group) > 1 else ()
        scores = Scores(answer=raw, cut=written.cut, together=together)
        read = writing.read(opening + raw, of_group, opened=opened, cut=written.cut, thinking=bool(thinking))
        for cell, said in zip(group, read, strict=True):
            _put(cell, said, scores, row, made)


def _put(cell: Asked, said: Written | Unreadable, scores: Scores, row: AtRow, made: Labelled) -> None:
    match said:
        case Written():
            made.answers.append(_answer(cell, said, scores, row.assignment.row.blocks))
        case Unreadable():
            made.unread.append(Unread(cell.column, cell.question, said.why, scores.answer, said.detail))


def _grammar(row: AtRow, group: Sequence[Asked], askings: Sequence[Asking]) -> Grammar | None:
    """What the answer to a group is bound to; None for nothing."""
    if not row.judge.prompt_spec.grammar:
        return None
    assert row.judge.max_new_tokens is not None
    return grammar.of(
        askings,
        room=row.judge.max_new_tokens,
        opened=not row.judge.chat_template,
        digitless=_digitless(group[0]),
    )


def _digitless(cell: Asked) -> set[str]:
    """Keys of the questions of its section whose answers have no digit."""
    return {check.question for check in cell.section.checks if check.rule == Rule.NO_NUMBER}


def _asking(cell: Asked) -> Asking:
    return prompting.asking(cell.prompt, cell.spec, cell.facets, order=cell.section.column.facets)


def _answer(cell: Asked, written: Written, scores: Scores, blocks: Sequence[Block]) -> Answer:
    note = written.reason
    own = cell.spec.items
    if own is not None and isinstance(written.value, list):
        # A model is not asked where it read something: its words are looked for.
        records = placed(own, written.value, blocks)
        return Answer(cell.column, cell.question, value=records, scores=scores, note=note)
    if cell.spec.has_options:
        return Answer(cell.column, cell.question, cell.option(str(written.value)), scores=scores, note=note)
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
