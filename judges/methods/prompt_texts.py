"""The prompts that are made of a judge's prompt file. Pure."""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import cast

from annotation.evidence.blocks import Block
from annotation.evidence.lines import indent_of
from annotation.scheme.basis import facet_text
from annotation.scheme.spec import OptionSpec, QuestionSpec, SectionSpec
from base.sentences import gettext as _
from judges.methods import rating, writing
from judges.methods.prompt_files import NearestLines, PromptSpec, QuestionPrompt, kinds_named, kinds_near
from llm import neutralising
from llm.engine.prompt import CellPrompt


def row_text(
    spec: PromptSpec,
    *,
    title: str,
    blocks: Sequence[Block],
    facets: Mapping[str, str | Sequence[str]] | None = None,
    examples: str = "",
    answers: Collection[str] = (),
) -> str:
    """The part of the prompt that all cells of a row share. `facets`: those of the row that raters may see, each a text
    or a list of texts; `examples`:
    other rows with their answers, which stand before what is told of this one; `answers`: the judge's words for the
    options of what it is asked, beside those that the prompt file has."""
    if not examples.strip():
        return _filled(spec.row, _values_of_row(spec, title, blocks, facets, answers)).strip() + "\n\n"
    preface = _halves(spec.row)[0].strip()
    own = document_text(spec, title=title, blocks=blocks, facets=facets, answers=answers)
    return "".join(f"{part}\n\n" for part in (preface, examples.strip(), own) if part)


def document_text(
    spec: PromptSpec,
    *,
    title: str,
    blocks: Sequence[Block],
    facets: Mapping[str, str | Sequence[str]] | None = None,
    answers: Collection[str] = (),
) -> str:
    """What a prompt tells of a row: its text from the first line on that has a placeholder. `answers`: as of
    `row_text`."""
    return _filled(_halves(spec.row)[1], _values_of_row(spec, title, blocks, facets, answers)).strip()


def _values_of_row(
    spec: PromptSpec,
    title: str,
    blocks: Sequence[Block],
    facets: Mapping[str, str | Sequence[str]] | None,
    answers: Collection[str],
) -> dict[str, str]:
    inert = _inert_in(spec, answers)
    of_row = {f"row_{name}": inert(facet_text(said)) for name, said in (facets or {}).items()}
    for name, said in (facets or {}).items():
        texts = [said] if isinstance(said, str) else said
        of_row[f"lines_{name}"] = "\n".join(f"- {inert(text)}" for text in texts if text)
    return _row_values(spec.row, inert(title), blocks, inert) | of_row


def _halves(template: str) -> tuple[str, str]:
    """What is the same of all rows, in the lines before the first placeholder, and the rest."""
    lines = template.splitlines(keepends=True)
    at = next((place for place, line in enumerate(lines) if "$" in line), len(lines))
    return "".join(lines[:at]), "".join(lines[at:])


def _inert_in(spec: PromptSpec, answers: Collection[str] = ()) -> Callable[[str], str]:
    texts = [spec.row, *(text for asked in spec.questions.values() for text in _templates(asked))]
    said = {said for asked in spec.questions.values() for said in asked.options.values()}
    return partial(neutralising.inert, beginnings=neutralising.beginnings(texts), answers=said.union(answers))


def cell_prompt(
    prompt: QuestionPrompt,
    question: QuestionSpec,
    facets: Mapping[str, str],
    *,
    order: Sequence[str],
    nearest: Mapping[str, Sequence[str]] | None = None,
    evidence: Mapping[str, Sequence[str]] | None = None,
    examples: str = "",
) -> CellPrompt:
    """One cell's prompt. `order`: the facets in the section's order; `nearest`: by its kind, the evidence that stands
    with this cell alone; `evidence`: by its kind, all of the row's, for cells that have a place for it; `examples`:
    answered cells, which stand before it."""
    said = answers_said(prompt, question)
    values = _column_values(prompt, question, facets, order) | {"options": options_said(prompt, question)}
    lines = {f"nearest_{kind}": (nearest or {}).get(kind, ()) for kind in kinds_near(prompt.cell)}
    lines |= {f"evidence_{kind}": (evidence or {}).get(kind, ()) for kind in kinds_named(prompt.cell)}
    if lines:
        inert = partial(
            neutralising.inert,
            beginnings=neutralising.beginnings(_templates(prompt)),
            answers={*said, *prompt.options.values()},
        )
        values |= {name: "\n".join(f"- {inert(line)}" for line in of_kind) for name, of_kind in lines.items()}
    text = _filled(prompt.cell, values).strip()
    return CellPrompt(
        text=f"{examples.strip()}\n\n{text}" if examples.strip() else text,
        options=tuple(said),
        unconditional=_filled(prompt.unconditional, values).strip() or None,
    )


def answers_said(prompt: QuestionPrompt, question: QuestionSpec) -> list[str]:
    """The judge's own words for the options that it chooses among, in the order in which it reads them."""
    return [prompt.options.get(option.key, option.label) for option in offered(prompt, question)]


def options_said(prompt: QuestionPrompt, question: QuestionSpec) -> str:
    """What stands for `$options` in a cell: the options in the order in which a judge reads them."""
    return ", ".join(answers_said(prompt, question))


def item_text(
    prompt: QuestionPrompt, question: QuestionSpec, facets: Mapping[str, str], *, order: Sequence[str]
) -> str:
    """What a judge that compares embeddings compares with the lines. `order`: the facets in the section's order."""
    assert prompt.embedding is not None
    return _compared(prompt.embedding.item, question, facets, order)


def nearest_item(by: NearestLines, question: QuestionSpec, facets: Mapping[str, str], *, order: Sequence[str]) -> str:
    """What the lines of a cell are chosen by. `order`: the facets in the section's order."""
    if by.item:
        return _compared(by.item, question, facets, order)
    return facets.get(question.about or "", "") or " ".join(text for facet in order if (text := facets.get(facet, "")))


def _compared(template: str, question: QuestionSpec, facets: Mapping[str, str], order: Sequence[str]) -> str:
    """A template filled with a cell's texts as they were written: an encoder reads them, no prompt is made of them."""
    values = {
        "column": " · ".join(text for facet in order if (text := facets.get(facet, ""))),
        "about": facets.get(question.about, "") if question.about else "",
        "question": question.title,
        **{f"facet_{name}": text for name, text in facets.items()},
    }
    return " ".join(_filled(template, values).split())


def criterion(
    prompt: QuestionPrompt, question: QuestionSpec, facets: Mapping[str, str], *, order: Sequence[str]
) -> rating.Criterion:
    """What is rated in one cell. `order`: the facets in the section's order."""
    assert prompt.rating is not None
    wording = _filled(prompt.rating.wording, _column_values(prompt, question, facets, order))
    return rating.Criterion(
        name=prompt.rating.criterion,
        wording=" ".join(wording.split()),
        ratings={
            option.value: option.label if option.label != str(option.value) else ""
            for option in offered(prompt, question)
            if option.value is not None
        },
    )


def asking(
    prompt: QuestionPrompt, question: QuestionSpec, facets: Mapping[str, str], *, order: Sequence[str]
) -> writing.Asking:
    """What is to be written in one cell. `order`: the facets in the section's order."""
    assert prompt.writing is not None
    if question.options:
        question = question.model_copy(update={"options": tuple(offered(prompt, question))})
    wording = _filled(prompt.writing.wording, _column_values(prompt, question, facets, order))
    return writing.Asking(
        name=prompt.writing.name,
        wording=wording.strip(),
        form=prompt.writing.form or writing.form_of(question),
        spec=question,
        reason=prompt.writing.reason,
        bare=prompt.writing.bare,
    )


def lines_above(spec: PromptSpec, lines: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    """What the judge itself answered in the lines above, as `writing.above`; nothing of it can end a line."""
    inert = _inert_in(spec)
    return writing.above(
        [(inert(text), [(inert(title), inert(answer)) for title, answer in answers]) for text, answers in lines]
    )


def table_lines(spec: PromptSpec, lines: Sequence[str]) -> list[str]:
    """The texts of a table's lines for `whole_tables.request`; nothing of them can end a line."""
    inert = _inert_in(spec)
    return [inert(text) for text in lines]


def things_there(spec: PromptSpec, things: Sequence[str]) -> str:
    """What exists before a step, as `writing.there`; nothing of it can end a line."""
    return writing.there(names_there(spec, things))


def names_there(spec: PromptSpec, things: Sequence[str]) -> list[str]:
    """The names of what exists before a step; nothing of them can end a line."""
    inert = _inert_in(spec)
    return [inert(name) for name in things]


def offered(prompt: QuestionPrompt, question: QuestionSpec) -> list[OptionSpec]:
    """The options that a judge chooses among, in the order in which it reads them: those that the prompt offers, all if
    it does not say; never one that only a preset gives."""
    found = [
        option
        for option in question.options
        if not option.blank and (prompt.offer is None or option.key in prompt.offer)
    ]
    first = prompt.turn % len(found) if found else 0
    return [*found[first:], *found[:first]]


def offered_at(prompt: QuestionPrompt, question: QuestionSpec, facets: Mapping[str, object]) -> QuestionPrompt:
    """The prompt as it is at a row: where a facet of the row says which options are offered there, it offers these.

    Raises:
        ValueError: they are not two or more of those that are offered.
    """
    if not prompt.offer_in:
        return prompt
    said = facets.get(prompt.offer_in, ())
    named = [str(one).strip() for one in (said.split(";") if isinstance(said, str) else cast("Sequence[object]", said))]
    known = [option.key for option in offered(prompt, question)]
    keys = tuple(dict.fromkeys(key for key in named if key))
    if len(keys) < 2 or not set(keys) <= set(known):
        raise ValueError(
            _("The facet “%(facet)s” of this row names no two or more of the options: %(said)s")
            % {"facet": prompt.offer_in, "said": ", ".join(keys) or "–"}
        )
    return prompt.model_copy(update={"offer": keys})


def is_asked(section: SectionSpec, question: QuestionSpec, facets: Mapping[str, str]) -> bool:
    """Whether a judge is asked this of a column: not where the column's own text gives the answer."""
    return question.key not in section.presets(facets)


def _row_values(template: str, title: str, blocks: Sequence[Block], inert: Callable[[str], str]) -> dict[str, str]:
    values = {
        f"evidence_{kind}": _lines([block for block in blocks if block.kind == kind], inert)
        for kind in kinds_named(template)
    }
    return {"title": title, "evidence": _lines(blocks, inert), **values}


def _column_values(
    prompt: QuestionPrompt, question: QuestionSpec, facets: Mapping[str, str], order: Sequence[str]
) -> dict[str, str]:
    inert = partial(neutralising.inert, beginnings=neutralising.beginnings(_templates(prompt)))
    texts = {facet: inert(text) for facet, text in facets.items()}
    return {
        "column": " · ".join(text for facet in order if (text := texts.get(facet, ""))),
        "about": texts.get(question.about, "") if question.about else "",
        "question": question.title,
        **{f"facet_{name}": text for name, text in texts.items()},
    }


def _templates(prompt: QuestionPrompt) -> list[str]:
    """All of a question's texts that can stand in a prompt."""
    rated = [f"{prompt.rating.criterion}:", prompt.rating.wording, "Reason:"] if prompt.rating else []
    written = [f"{prompt.writing.name}:", prompt.writing.wording, "Reason:"] if prompt.writing else []
    return [prompt.cell, prompt.unconditional, *rated, *written]


_DEEPEST = 24  # blanks that a line of a document begins with


def _lines(blocks: Sequence[Block], inert: Callable[[str], str]) -> str:
    """One block a line, so that no text of a document can begin a line of its own that looks like ours. The blanks that
    it begins with stay: they are what code and nested lists mean."""
    return "\n".join(f"- {' ' * min(indent_of(block.text), _DEEPEST)}{inert(block.text)}" for block in blocks)


def _filled(template: str, values: Mapping[str, str]) -> str:
    return string.Template(template).substitute(values)
