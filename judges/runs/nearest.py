"""The lines of evidence that are given with a cell: the nearest to its item, or all of a kind. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from annotation.scheme.spec import QuestionSpec, SectionSpec
from judges.methods import Method, nearest, prompting
from judges.models import Judge
from judges.runs.asking import AtRow
from llm import encoders
from llm.backends.base import BackendError
from llm.encoders import EncoderError


def nearest_lines(row: AtRow) -> list[Mapping[str, Sequence[str]]]:
    """Of each cell, {kind: its nearest lines in the document's order}; empty of cells whose text has no place for them.

    The encoder compares what the question is about, or all facets of the column, with each line. Where only lengths
    matter the first lines stand for them, and no encoder is loaded.

    Raises:
        BackendError: the encoder is not here.
    """
    kinds = [sorted(prompting.kinds_near(cell.prompt.cell)) for cell in row.asked]
    if not any(kinds):
        return [{} for _cell in row.asked]
    wanted = set(chain.from_iterable(kinds))
    lines = {kind: [block.text for block in row.blocks if block.kind == kind] for kind in wanted}
    if row.only_sized:
        as_many = row.judge.prompt_spec.nearest.lines
        return [{kind: lines[kind][:as_many] for kind in of_cell} for of_cell in kinds]
    items = [item_of(cell.facets, cell.section, cell.spec) for cell in row.asked]
    try:
        found = nearest.nearest_to(items, lines, row.judge.prompt_spec.nearest)
    except EncoderError as error:
        raise BackendError(str(error), permanent=True) from error
    return [{kind: of_item[kind] for kind in of_cell} for of_item, of_cell in zip(found, kinds, strict=True)]


def all_lines(row: AtRow) -> dict[str, list[str]]:
    """The row's evidence by its kind, for cells that bring all of a kind with them."""
    lines: dict[str, list[str]] = {}
    for block in row.blocks:
        lines.setdefault(block.kind, []).append(block.text)
    return lines


def item_of(facets: Mapping[str, str], section: SectionSpec, question: QuestionSpec) -> str:
    """What lines are compared with: what the question is about, or all facets of the column."""
    return facets.get(question.about or "", "") or " ".join(
        text for facet in section.column.facets if (text := facets.get(facet, ""))
    )


def encoders_of(judge: Judge) -> list[str]:
    """The encoder by which lines are chosen, where any are."""
    asked = prompting.questions_for(judge.prompt_spec, judge.method).values()
    reads = judge.method == Method.CLOZE and any(prompting.kinds_near(of.cell) for of in asked)
    return [judge.prompt_spec.nearest.encoder] if reads else []


def record_of(judge: Judge) -> dict[str, dict[str, object]]:
    """How many lines are chosen, from which cosine on and by which encoder, for the record of a run; empty where all
    evidence is read.

    Raises:
        EncoderError: its weights are not here.
    """
    of = judge.prompt_spec.nearest
    if not encoders_of(judge):
        return {}
    least = {} if of.least == -1 else {"least": of.least}
    parts = {"parts": True, "without": list(of.without)} if of.parts else {}
    return {"nearest": {"lines": of.lines, **least, **parts, **encoders.encoder(of.encoder).identity()}}
