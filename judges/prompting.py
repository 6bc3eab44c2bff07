"""A judge's prompt file, and the prompts made of it. Pure.

    row: |            # shared by all cells of a row
      Web page: $title
      $evidence_ingredient
    questions:
      ingredients.presence:     # section.question
        cell: |
          Is $about among the ingredients?
          Answer:
        options: {found: Found, not-found: Not found}     # how an option is said; its label where this is silent

Placeholders of `row`: $title, $evidence (all blocks) and $evidence_KIND (the blocks of that kind), one block a line.
Those of `cell` and `unconditional` (the same question without any evidence, for the normalisation pmi): $column (all
facets), $about (the facet that the question is about), $facet_NAME, $question, $options. A question that the file does
not name is not asked of the judge.

The same file serves the lexical judge, which reads only `lexical`: how its verdicts are said in the question's options.

    questions:
      ingredients.presence:
        lexical: {in: [ingredient], same: found, part: found-not-perfect, none: not-found}

And a judge that rates, which reads `row` and `rating`: the criterion's name, as the judge shall write it, and what it
means, with the placeholders of `cell` but $options. Only scales are rated; the numbers are the scheme's.

    questions:
      transfer.authenticity:
        rating: {criterion: AUTHENTICITY, wording: How much of $facet_dish is left?}
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from annotation import yaml_reading
from annotation.evidence import Block, BlockKind
from annotation.scheme import Kind, QuestionSpec, SchemeSpec, SectionSpec
from annotation.sentences import gettext as _
from annotation.yaml_reading import YamlRefused
from judges import neutralising
from judges.engine import rating
from judges.engine.prompt import CellPrompt

Spec = TypeVar("Spec", bound=BaseModel)


class PromptError(ValueError):
    """The prompt file does not fit; `str()` says where."""


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Lexical(_Spec):
    """Which option a verdict of the lexical judge becomes.

    Either the verdicts are named: `same`, `part` and `none`. Or the facet is a list ("flour, sugar"), each part of
    which is looked up, and `shares` names the option by the share of the parts that are found: [least share, option],
    the first that fits.
    """

    kinds: Annotated[tuple[BlockKind, ...], Field(alias="in", min_length=1)]
    same: str = ""
    part: str = ""
    none: str
    shares: tuple[tuple[float, str], ...] = ()

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.shares) == bool(self.same and self.part):
            raise ValueError(_("give either same and part, or shares"))
        return self

    def named(self) -> list[str]:
        return [key for key in (self.same, self.part, self.none, *(key for _share, key in self.shares)) if key]


class Rating(_Spec):
    """A criterion: its name in letters, as it is read in answers, and what it means."""

    criterion: Annotated[str, Field(pattern=r"^[^\W\d_]+(?:[ -][^\W\d_]+)*$", max_length=60)]
    wording: Annotated[str, Field(min_length=1)]


class QuestionPrompt(_Spec):
    cell: str = ""
    unconditional: str = ""
    options: dict[str, str] = {}
    lexical: Lexical | None = None
    rating: Rating | None = None


class PromptSpec(_Spec):
    row: str = ""
    questions: Annotated[dict[str, QuestionPrompt], Field(min_length=1)]


CLOZE = "cloze"
RATING = "rating"
LEXICAL = "lexical"
PMI = "pmi"
# What a method reads of a question's prompt; without it, it is not asked the question.
_READS = {CLOZE: "cell", RATING: "rating", LEXICAL: "lexical"}


def load_prompt(text: str) -> PromptSpec:
    """Read the prompt file of a judge; raises as `read_as`."""
    return read_as(PromptSpec, text)


def read_as(spec: type[Spec], text: str) -> Spec:
    """Read a prompt file.

    Raises:
        PromptError: with the key that is wrong.
    """
    try:
        return spec.model_validate(yaml_reading.load(text))
    except YamlRefused as refused:
        raise PromptError(
            _("The prompt cannot be read, line %(line)s: %(reason)s") % {"line": refused.line, "reason": refused.reason}
        ) from refused
    except ValidationError as error:
        first = error.errors()[0]
        raise PromptError(f"{'.'.join(map(str, first['loc'])) or 'prompt'}: {first['msg']}") from error


def questions_for(spec: PromptSpec, method: str) -> dict[str, QuestionPrompt]:
    """What a judge of this method is asked, as {section.question: prompt}."""
    return {name: prompt for name, prompt in spec.questions.items() if getattr(prompt, _READS[method])}


def kinds_read(spec: PromptSpec, method: str) -> list[BlockKind]:
    """The kinds of evidence that a judge of this method reads by name; none where it reads all together."""
    if method == LEXICAL:
        asked = questions_for(spec, method).values()
        return sorted({kind for of in asked if of.lexical for kind in of.lexical.kinds})
    if re.search(r"\$\{?evidence\b", spec.row):
        return []
    named = re.findall(r"\$\{?evidence_([a-z]+)", spec.row)
    return sorted({BlockKind(kind) for kind in named if kind in set(BlockKind)})


def check_against(spec: PromptSpec, scheme: SchemeSpec, method: str, *, normalisation: str = "none") -> None:
    """Whether a judge of this method can work with the prompt in studies of this scheme.

    Raises:
        PromptError: the prompt names what the scheme has not, or leaves out what the method or normalisation needs.
    """
    known = {
        f"{section.key}.{question.key}": (section, question)
        for section in scheme.sections
        for question in section.questions
    }
    for name, prompt in spec.questions.items():
        if name not in known:
            raise PromptError(
                _("The prompt asks “%(question)s”, which is no question of the scheme “%(scheme)s”.")
                % {"question": name, "scheme": scheme.key}
            )
        options = {option.key for option in known[name][1].options}
        named = [*prompt.options, *(prompt.lexical.named() if prompt.lexical else [])]
        if unknown := [key for key in named if key not in options]:
            raise PromptError(
                _("The prompt of “%(question)s” names “%(option)s”, which is no option of that question.")
                % {"question": name, "option": unknown[0]}
            )
    asked = questions_for(spec, method)
    if not asked:
        raise PromptError(
            _("The prompt asks no question that the method “%(method)s” can answer.") % {"method": method}
        )
    if method in (CLOZE, RATING):
        _try("row", partial(row_text, spec, title="", blocks=[]))
    if method == RATING:
        _check_ratings(asked, known)
    if method == CLOZE:
        for name, prompt in asked.items():
            section, question = known[name]
            sample = dict.fromkeys(section.column.facets, "x")
            _try(name, partial(cell_prompt, prompt, question, sample, order=section.column.facets))
            if normalisation == PMI and not prompt.unconditional.strip():
                raise PromptError(
                    _(
                        "The prompt of “%(question)s” has no “unconditional” text; the normalisation "
                        "“%(normalisation)s” compares with it."
                    )
                    % {"question": name, "normalisation": PMI}
                )


def _check_ratings(asked: Mapping[str, QuestionPrompt], known: Mapping[str, tuple[SectionSpec, QuestionSpec]]) -> None:
    names: dict[str, str] = {}
    for name, prompt in asked.items():
        section, question = known[name]
        if question.kind != Kind.SCALE:
            raise PromptError(
                _("“%(question)s” is no scale; only the questions of a scheme that are scales can be rated.")
                % {"question": name}
            )
        sample = dict.fromkeys(section.column.facets, "x")
        _try(name, partial(criterion, prompt, question, sample, order=section.column.facets))
        assert prompt.rating is not None
        same = prompt.rating.criterion.casefold().replace("-", " ")
        if same in names:
            raise PromptError(
                _(
                    "“%(one)s” and “%(other)s” have one criterion, “%(criterion)s”; an answer would not say which of "
                    "the two it rates."
                )
                % {"one": names[same], "other": name, "criterion": prompt.rating.criterion}
            )
        names[same] = name


def _try(name: str, make: Callable[[], object]) -> None:
    try:
        make()
    except KeyError as error:
        raise PromptError(
            _("The prompt of “%(question)s” has the placeholder $%(placeholder)s, which nothing fills.")
            % {"question": name, "placeholder": error.args[0]}
        ) from error
    except ValueError as error:
        raise PromptError(
            _("The prompt of “%(question)s” cannot be used: %(error)s") % {"question": name, "error": error}
        ) from error


def with_plain_ends(text: str) -> str:
    """A file's text as it is stored: what comes from a browser has other ends of lines than a file."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"


def digest(text: str) -> str:
    """SHA-256 of the prompt's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def row_text(spec: PromptSpec, *, title: str, blocks: Sequence[Block]) -> str:
    """The part of the prompt that all cells of a row share."""
    texts = [spec.row, *(text for asked in spec.questions.values() for text in _templates(asked))]
    answers = {said for asked in spec.questions.values() for said in asked.options.values()}
    inert = partial(neutralising.inert, beginnings=neutralising.beginnings(texts), answers=answers)
    return _filled(spec.row, _row_values(inert(title), blocks, inert)).strip() + "\n\n"


def cell_prompt(
    prompt: QuestionPrompt, question: QuestionSpec, facets: Mapping[str, str], *, order: Sequence[str]
) -> CellPrompt:
    """One cell's prompt. `order`: the facets in the section's order."""
    said = [prompt.options.get(option.key, option.label) for option in question.options if not option.blank]
    values = _column_values(prompt, question, facets, order) | {"options": ", ".join(said)}
    return CellPrompt(
        text=_filled(prompt.cell, values).strip(),
        options=tuple(said),
        unconditional=_filled(prompt.unconditional, values).strip() or None,
    )


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
            for option in question.options
            if option.value is not None and not option.blank
        },
    )


def asked_options(question: QuestionSpec) -> list[str]:
    """Keys of the options that a judge chooses among: all but those that only a preset gives. As in `cell_prompt`."""
    return [option.key for option in question.options if not option.blank]


def is_asked(section: SectionSpec, question: QuestionSpec, facets: Mapping[str, str]) -> bool:
    """Whether a judge is asked this of a column: not where the column's own text gives the answer."""
    return question.key not in section.presets(facets)


def _row_values(title: str, blocks: Sequence[Block], inert: Callable[[str], str]) -> dict[str, str]:
    values = {
        f"evidence_{kind}": _lines([block for block in blocks if block.kind == kind], inert) for kind in BlockKind
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
    return [prompt.cell, prompt.unconditional, *rated]


def _lines(blocks: Sequence[Block], inert: Callable[[str], str]) -> str:
    """One block a line, so that no text of a document can begin a line of its own that looks like ours."""
    return "\n".join(f"- {inert(block.text)}" for block in blocks)


def _filled(template: str, values: Mapping[str, str]) -> str:
    return string.Template(template).substitute(values)
