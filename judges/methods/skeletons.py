"""Prompt files to begin from where nobody has written one: made of a scheme, for a method. Pure, but that the
encoder of one that compares embeddings is one that is installed.

A skeleton passes `prompting.check_against` as it stands. It asks in the scheme's own words, and whoever takes it puts
them into better ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

import yaml

from annotation.evidence import kinds
from annotation.scheme.spec import Kind, OptionSpec, QuestionSpec, SchemeSpec, SectionSpec
from judges.methods import USES, Method
from judges.methods.prompt_files import PromptSpec
from llm import encoders

# Of the verdicts and of the cosines: the first option, one between, and the last.
_LEAST_COSINES = (0.8, 0.5)
_LONGEST_NAME = 60
_LONGEST_GUIDELINE = 2000  # characters; it is read with each row
# A line that begins with one of these is read as the reason of an answer, and no name of a question.
_REASONS = frozenset({"reason", "reasoning", "brief reason", "explanation", "rationale", "justification"})
_OWN_WORDS = "It asks in the scheme's words: put it into your own."
_BY_ORDER = "Which option comes of what is found is guessed by their order: put right what is wrong."
# Of each method with a skeleton, what is said above it.
_SAID: Mapping[Method, str] = {
    Method.CLOZE: _OWN_WORDS,
    Method.RATING: _OWN_WORDS,
    Method.WRITING: _OWN_WORDS,
    Method.LEXICAL: _BY_ORDER,
    Method.EMBEDDING: _BY_ORDER,
}


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines line by line, and lists on one line."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def _list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def skeleton(scheme: SchemeSpec, method: str) -> str:
    """A prompt file that asks a judge of this method all of a scheme that it can answer; "" where that is nothing, or
    where the method's prompts are made by a page.

    A judge without a model finds items in the evidence, so that it is asked what is about one, and chooses by the order
    of the options: the first of them for what stands there, the last for what does not.
    """
    chosen = Method(method)
    if chosen not in _SAID:
        return ""
    names: dict[str, str] = {}  # of questions, as a judge that rates or writes says them
    make: dict[Method, Callable[[SectionSpec, QuestionSpec], dict[str, Any] | None]] = {
        Method.CLOZE: _cloze,
        Method.RATING: partial(_rating, names=names),
        Method.WRITING: partial(_writing, names=names),
        Method.LEXICAL: partial(_lexical, known=kinds.known(scheme.block_kinds)),
        Method.EMBEDDING: partial(_embedding, known=kinds.known(scheme.block_kinds)),
    }
    questions = {
        f"{section.key}.{question.key}": made
        for section in scheme.sections
        for question in section.questions
        if (made := make[chosen](section, question)) is not None
    }
    if not questions:
        return ""
    data: dict[str, Any] = {"row": _row(scheme)} if USES[chosen] is not None else {}
    if chosen == Method.EMBEDDING and not encoders.encoder(PromptSpec.model_fields["encoder"].default).is_here():
        data["encoder"] = encoders.FALLBACK
    text: str = yaml.dump(
        data | {"questions": questions}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000
    )
    said = [f"A skeleton of the scheme “{scheme.key}”.", _SAID[chosen]]
    if "row" in data and not _guideline(scheme) and _rules(scheme):
        said.append("The scheme's guideline is too long to stand here: add what a judge has to know of it.")
    return "".join(f"# {line}\n" for line in said) + text


def _row(scheme: SchemeSpec) -> str:
    """What all cells of a row share."""
    facets = [f"{_plain(facet.name)}: $row_{facet.key}" for facet in scheme.row.shown]
    title = f"{_plain(scheme.given_words.row).capitalize()}: $title"
    return _lines([*_guideline(scheme), title, *facets, "$evidence"])


def _guideline(scheme: SchemeSpec) -> list[str]:
    """The rules that people are given, line by line; empty where they are too long to be read with each row."""
    rules = _rules(scheme)
    return rules if sum(map(len, rules)) <= _LONGEST_GUIDELINE else []


def _rules(scheme: SchemeSpec) -> list[str]:
    texts = [scheme.guideline, *(section.guideline for section in scheme.sections)]
    return [plain for text in texts for line in text.splitlines() if (plain := _plain(line))]


def _cloze(section: SectionSpec, question: QuestionSpec) -> dict[str, Any] | None:
    options = _offered(question)
    if len(options) < 2:
        return None
    meant = _meant(options)
    title = f"Question: {_plain(question.title)}"
    asked = [*_item(section, question), title, *_help(question), *meant]
    asked += [] if meant else [f"One of: {', '.join(_plain(option.label) for option in options)}"]
    return {"cell": _lines([*asked, "Answer:"]), "unconditional": _lines([title, "Answer:"])} | _labels(options)


def _rating(section: SectionSpec, question: QuestionSpec, *, names: dict[str, str]) -> dict[str, Any] | None:
    if question.kind != Kind.SCALE:
        return None
    # Its lines become one, so that each is a sentence.
    said = [_plain(question.title), *_item(section, question), *_help(question), *_meant(_offered(question))]
    wording = _lines(map(_ended, said))
    return {"rating": {"criterion": _name(section, question, names), "wording": wording}}


def _writing(section: SectionSpec, question: QuestionSpec, *, names: dict[str, str]) -> dict[str, Any] | None:
    if question.options and not _offered(question):
        return None
    said = [*_item(section, question), _plain(question.title), *_help(question), *_meant(_offered(question))]
    return {"writing": {"name": _name(section, question, names), "wording": _lines(said)}}


def _lexical(
    section: SectionSpec, question: QuestionSpec, *, known: Mapping[str, kinds.BlockKind]
) -> dict[str, Any] | None:
    if (found := _found(question)) is None:
        return None
    same, part, none = found
    return {"lexical": {"in": _kinds(section, known), "same": same, "part": part or same, "none": none}}


def _embedding(
    section: SectionSpec, question: QuestionSpec, *, known: Mapping[str, kinds.BlockKind]
) -> dict[str, Any] | None:
    if (found := _found(question)) is None:
        return None
    *reached, none = found
    thresholds = {key: least for key, least in zip(reached, _LEAST_COSINES, strict=True) if key}
    return {"embedding": {"in": _kinds(section, known), "thresholds": thresholds, "none": none}}


def _found(question: QuestionSpec) -> tuple[str, str, str] | None:
    """The options for an item that stands in the evidence, one of which a part does ("" for none), and one that does
    not; None for a question that is not about an item, or has no such options."""
    options = [option.key for option in _offered(question)]
    if question.about is None or question.kind == Kind.SCALE or len(options) < 2:
        return None
    return options[0], options[1] if len(options) > 2 else "", options[-1]


def _kinds(section: SectionSpec, known: Mapping[str, kinds.BlockKind]) -> list[str]:
    """The kinds of evidence in which a section's items are looked for."""
    return [kind for kind in section.evidence if kind in known] or [kind for kind in known if kind != kinds.HEADING]


def _offered(question: QuestionSpec) -> list[OptionSpec]:
    return [option for option in question.options if not option.blank]


def _item(section: SectionSpec, question: QuestionSpec) -> list[str]:
    """What a cell is about, in lines."""
    facets = section.column.facets
    if section.is_one_form:
        return []
    if len(facets) == 1:
        return [f"{_plain(section.column.title)}: $column"]
    named = [f"{facet.replace('_', ' ').capitalize()}: $facet_{facet}" for facet in facets]
    return [*named, *(["It is asked about: $about"] if question.about else [])]


def _help(question: QuestionSpec) -> list[str]:
    return [_plain(question.help)] if question.help.strip() else []


def _meant(options: Iterable[OptionSpec]) -> list[str]:
    """What options mean, in lines; empty where no one is defined."""
    of = list(options)
    if not any(option.definition.strip() for option in of):
        return []
    return [
        f"{_plain(option.label)}: {_plain(option.definition)}" if option.definition.strip() else _plain(option.label)
        for option in of
    ]


def _labels(options: Iterable[OptionSpec]) -> dict[str, Any]:
    """How options are said whose labels have white space that no answer may have."""
    said = {option.key: option.label.strip() for option in options if option.label != option.label.strip()}
    return {"options": said} if said else {}


def _name(section: SectionSpec, question: QuestionSpec, names: dict[str, str]) -> str:
    """A name of letters that no other question has, and that no reason of an answer begins with."""
    own, whole = _letters(question.key), _letters(f"{section.key} {question.key}") or "ANSWER"
    tried = [own, whole, *(f"{whole[: _LONGEST_NAME - 3].strip()} {letter}" for letter in _letter_names())]
    name = next(one for one in tried if one and one not in names and one.casefold() not in _REASONS)
    names[name] = question.key
    return name


def _letter_names() -> Collection[str]:
    """More of them than a scheme has questions: 12 sections of 8."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return [*letters, *(one + other for one in letters[:4] for other in letters)]


def _letters(key: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", key)).upper()[:_LONGEST_NAME].strip()


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!", ":")) else f"{sentence}."


def _plain(text: str) -> str:
    """A text of the scheme on one line, in which nothing is a placeholder."""
    return " ".join(text.split()).replace("$", "$$")


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
