"""The lines of evidence that are given with a cell: the nearest to its item, or all of a kind. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from judges.methods import Method, nearest, prompting
from judges.methods.prompt_files import NearestLines
from judges.models import Judge
from judges.runs.asking import AtRow
from llm import encoders
from llm.backends.base import BackendError
from llm.encoders import EncoderError


def nearest_lines(row: AtRow) -> list[Mapping[str, Sequence[str]]]:
    """Of each cell, {kind: its nearest lines in the document's order}; empty of cells whose text has no place for them.

    The encoder compares the cell's item (`prompting.nearest_item`) with each line. Where only lengths
    matter some lines stand for them, others for each cell, and no encoder is loaded.

    Raises:
        BackendError: the encoder is not here.
    """
    spec = row.judge.prompt_spec
    kinds = [sorted(prompting.kinds_near(cell.prompt.cell)) for cell in row.asked]
    found: list[Mapping[str, Sequence[str]]] = [{} for _cell in row.asked]
    asked: dict[tuple[NearestLines, tuple[str, ...]], list[int]] = {}
    for place, (cell, of_cell) in enumerate(zip(row.asked, kinds, strict=True)):
        if of_cell:
            answers = tuple(prompting.answers_said(cell.prompt, cell.spec))
            asked.setdefault((spec.nearest_of(cell.prompt), answers), []).append(place)
    for (by, answers), places in asked.items():
        wanted = set(chain.from_iterable(kinds[place] for place in places))
        lines = {kind: [block.text for block in row.blocks if block.kind == kind] for kind in wanted}
        cells = [row.asked[place] for place in places]
        if row.only_sized:
            near = [
                {kind: _some(of_kind, by.lines, begin=number) for kind, of_kind in lines.items()}
                for number in range(len(cells))
            ]
        else:
            items = [
                prompting.nearest_item(by, cell.spec, cell.facets, order=cell.section.column.facets) for cell in cells
            ]
            try:
                near = nearest.nearest_to(items, lines, by, answers=answers)
            except EncoderError as error:
                raise BackendError(str(error), permanent=True) from error
        for place, of_item in zip(places, near, strict=True):
            found[place] = {kind: of_item[kind] for kind in kinds[place]}
    return found


def _some(lines: Sequence[str], n: int, *, begin: int) -> list[str]:
    """At most n of the lines, from one on, the first ones behind the last."""
    turn = begin % len(lines) if lines else 0
    return [*lines[turn:], *lines[:turn]][:n]


def all_lines(row: AtRow) -> dict[str, list[str]]:
    """The row's evidence by its kind, for cells that bring all of a kind with them."""
    lines: dict[str, list[str]] = {}
    for block in row.blocks:
        lines.setdefault(block.kind, []).append(block.text)
    return lines


def encoders_of(judge: Judge) -> set[str]:
    """The encoders by which lines are chosen, where any are."""
    return {of.encoder for of in _read_by(judge).values()}


def record_of(judge: Judge) -> dict[str, dict[str, object]]:
    """How many lines are chosen, from which cosine on and by which encoder, for the record of a run: of the whole
    prompt, and of questions that say it for themselves. Empty where all evidence is read.

    Raises:
        EncoderError: its weights are not here.
    """
    own = {name: of for name, of in _read_by(judge).items() if of != judge.prompt_spec.nearest}
    record: dict[str, dict[str, object]] = {}
    if len(own) < len(_read_by(judge)):
        record["nearest"] = _said(judge.prompt_spec.nearest)
    if own:
        record["nearest_of_questions"] = {name: _said(of) for name, of in sorted(own.items())}
    return record


def _read_by(judge: Judge) -> dict[str, NearestLines]:
    """By what the lines of each question are chosen that is not asked about all of them."""
    if judge.method != Method.CLOZE:
        return {}
    spec = judge.prompt_spec
    asked = prompting.questions_for(spec, judge.method).items()
    return {name: spec.nearest_of(of) for name, of in asked if prompting.kinds_near(of.cell)}


def _said(of: NearestLines) -> dict[str, object]:
    least = {} if of.least == -1 else {"least": of.least}
    parts = {"parts": True} if of.parts else {}
    without = {"without": list(of.without)} if of.without or of.parts else {}
    item = {"item": of.item} if of.item else {}
    answers = {"without_answers": True} if of.without_answers else {}
    return {
        "lines": of.lines,
        **item,
        **least,
        **parts,
        **without,
        **answers,
        **encoders.encoder(of.encoder).identity(),
    }
