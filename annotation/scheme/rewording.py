"""What differs between two texts of a scheme, and whether answers can stand under both. Pure.

Words may change under answers: titles, labels, signs, keys, colours, definitions, examples, help, guidelines,
completions, messages. So may what computes on answers without touching them (merges, what a check warns of), and an
option may be added to a choice, or to those of a field of a list, and a question become optional. What an answer is,
and when it is asked for, may not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

from pydantic import BaseModel

from annotation.scheme.basis import Level
from annotation.scheme.block_specs import BlockSpec
from annotation.scheme.questions import Kind, Merge, OptionSpec, QuestionSpec
from annotation.scheme.rows import RowFacet
from annotation.scheme.rule_specs import CheckSpec
from annotation.scheme.spec import ColumnSpec, SchemeSpec, SectionSpec
from annotation.scheme.values import ItemField, TextPattern, TextSpec, TransitionsSpec
from base.sentences import gettext as _
from base.sentences import gettext_noop

# Of each part of a scheme the fields that only people, models and reports read.
_WORDS: dict[type[BaseModel], frozenset[str]] = {
    SchemeSpec: frozenset({"title", "description", "source", "given_words", "guideline", "synonyms"}),
    BlockSpec: frozenset({"title", "shown"}),
    RowFacet: frozenset({"title"}),
    SectionSpec: frozenset({"title", "guideline"}),
    ColumnSpec: frozenset({"title"}),
    QuestionSpec: frozenset({"title", "help", "judge_merge"}),
    OptionSpec: frozenset({"label", "sign", "hotkey", "colour", "definition", "example"}),
    ItemField: frozenset({"title", "completions"}),
    TextSpec: frozenset({"completions"}),
    TransitionsSpec: frozenset({"completions"}),
}
# How people call these fields.
_NAMES = {
    "title": gettext_noop("title"),
    "description": gettext_noop("description"),
    "source": gettext_noop("source"),
    "words": gettext_noop("words"),
    "guideline": gettext_noop("guideline"),
    "synonyms": gettext_noop("synonyms"),
    "help": gettext_noop("help"),
    "label": gettext_noop("label"),
    "sign": gettext_noop("sign"),
    "hotkey": gettext_noop("key"),
    "colour": gettext_noop("colour"),
    "definition": gettext_noop("definition"),
    "example": gettext_noop("example"),
    "completions": gettext_noop("completions"),
    "merges": gettext_noop("merges"),
    "judge_merge": gettext_noop("merge for judges"),
    "checks": gettext_noop("checks"),
    "patterns": gettext_noop("patterns"),
    "options": gettext_noop("order of the options"),
    "optional": gettext_noop("optional"),
}
# Lists whose order says nothing about answers: each may come, go and move.
_FREE = (Merge, CheckSpec, TextPattern)


@dataclass(frozen=True)
class Difference:
    """`where`: its place, as errors of a scheme file name it. `titles`: of the parts that it is in, outermost first.
    `before`, `after`: as texts, "" for what is not there. `wording`: whether answers can stand under both."""

    where: str
    titles: tuple[str, ...]
    before: str
    after: str
    wording: bool

    @property
    def adds_option(self) -> bool:
        """Whether labels from before could not be what it adds."""
        return not self.before and ".options." in self.where

    @property
    def place(self) -> str:
        """Its place as people call it."""
        field = self.where.rpartition(".")[2]
        return " › ".join((*self.titles, *([_(_NAMES[field])] if field in _NAMES else [])))


def differences(old: SchemeSpec, new: SchemeSpec) -> list[Difference]:
    """All that differs, in the order of the file, but the version."""
    return list(_of_model(old, new, _Place(), skipped=frozenset({"version"})))


def refusals(found: Sequence[Difference]) -> list[str]:
    """A sentence for each difference under which the answers could not stand."""
    return [_why_not(one) for one in found if not one.wording]


def _why_not(one: Difference) -> str:
    told = {"where": one.where, "before": _short(one.before), "after": _short(one.after)}
    if not one.before:
        return _("%(where)s cannot be added under answers or a plan: %(after)s.") % told
    if not one.after:
        return _("%(where)s cannot be taken away under answers or a plan: %(before)s.") % told
    return _("%(where)s cannot change under answers or a plan: “%(before)s” would become “%(after)s”.") % told


class _Place(NamedTuple):
    where: str = ""
    titles: tuple[str, ...] = ()

    def at(self, name: str, *titles: str) -> _Place:
        return _Place(f"{self.where}.{name}".removeprefix("."), (*self.titles, *titles))

    def found(self, before: Any, after: Any, *, wording: bool) -> Difference:
        return Difference(self.where, self.titles, _text(before), _text(after), wording)


def _of_model(
    old: BaseModel, new: BaseModel, place: _Place, *, skipped: frozenset[str] = frozenset()
) -> Iterator[Difference]:
    words = _WORDS.get(type(old), frozenset())
    for name, field in type(old).model_fields.items():
        before, after = getattr(old, name), getattr(new, name)
        if name in skipped or before == after:
            continue
        at = place.at(field.alias or name)
        if name in words or (name == "optional" and after):
            yield at.found(before, after, wording=True)
        elif isinstance(old, ItemField) and name == "options":
            yield from _of_field_options(before, after, at)
        elif name == "options":
            yield from _of_options(old, before, after, at)
        elif isinstance(before, BaseModel) and isinstance(after, BaseModel):
            yield from _of_model(before, after, at)
        elif any(isinstance(one, _FREE) for one in (*_listed(before), *_listed(after))):
            yield from _of_free(before, after, at)
        elif _keys(before) and _keys(before) == _keys(after):
            for key, one, other in zip(_keys(before), before, after, strict=True):
                yield from _of_model(one, other, at.at(key, getattr(one, "title", "") or key))
        else:
            yield at.found(before, after, wording=False)
    if isinstance(old, SectionSpec) and isinstance(new, SectionSpec) and old.is_one_form != new.is_one_form:
        yield place.at("column").found(old.column, new.column, wording=False)


def _of_options(
    question: BaseModel, before: Sequence[OptionSpec], after: Sequence[OptionSpec], place: _Place
) -> Iterator[Difference]:
    old, new = ({option.key: option for option in options} for options in (before, after))
    called = {option.label.casefold(): option.key for option in before}
    # Else a file from before, and whoever knew the words, would mean one answer by another one's name.
    taken = {key for key, option in new.items() if called.get(option.label.casefold(), key) != key}
    for key, option in old.items():
        at = place.at(key, option.label)
        if key in new:
            for one in _of_model(option, new[key], at):
                is_taken = key in taken and one.where == f"{at.where}.label"
                yield replace(one, wording=False) if is_taken else one
        else:
            yield at.found(option, "", wording=False)
    may_come = isinstance(question, QuestionSpec) and question.kind == Kind.CHOICE
    for key, option in new.items():
        if key not in old:
            yield place.at(key, option.label).found("", option, wording=may_come and key not in taken)
    stayed = [key for key in new if key in old]
    if stayed != [key for key in old if key in new]:
        yield place.found(", ".join(old), ", ".join(new), wording=may_come)


def _of_field_options(before: Sequence[str], after: Sequence[str], place: _Place) -> Iterator[Difference]:
    if not before or not after:  # any text was an answer, or would be one
        yield place.found(before or "", after or "", wording=False)
        return
    for option in before:
        if option not in after:
            yield place.at(option, option).found(option, "", wording=False)
    for option in after:
        if option not in before:
            yield place.at(option, option).found("", option, wording=True)
    if set(before) == set(after):
        yield place.found(before, after, wording=True)


def _of_free(before: Sequence[BaseModel], after: Sequence[BaseModel], place: _Place) -> Iterator[Difference]:
    """What computes on answers. What refuses some must have refused them before, as answers that stand may be such."""
    gone, come = ([one for one in some if one not in others] for some, others in ((before, after), (after, before)))
    refused = {_rule(one) for one in before if _refuses(one)}
    for one in gone:
        yield place.found(one, "", wording=True)
    for one in come:
        yield place.found("", one, wording=not _refuses(one) or _rule(one) in refused)
    if not gone and not come:
        yield place.found(before, after, wording=True)


def _refuses(one: BaseModel) -> bool:
    return getattr(one, "level", None) == Level.REFUSE


def _rule(one: BaseModel) -> str:
    return one.model_dump_json(exclude={"message"})


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, tuple) else ()


def _keys(value: Any) -> list[str]:
    """The keys of a list of parts of a scheme."""
    return [getattr(one, "key", "") for one in _listed(value) if isinstance(one, BaseModel)]


def _text(value: Any) -> str:
    """
    >>> _text("Stated"), _text(("a", "b")), _text(None), _text(True)
    ('Stated', '["a", "b"]', '', 'true')
    """
    if isinstance(value, OptionSpec):
        return " ".join(filter(None, (f"{value.label} ({value.hotkey})", value.definition, value.example)))
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, str):
        return value.strip()
    return "" if value is None else json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _short(text: str) -> str:
    return cut(text, 120)


def cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
