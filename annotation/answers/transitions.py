"""What a step makes of what is there. Pure.

Each transition says which things become which: one becomes one, one becomes several, or several become one. What no
transition names lives on. In text, one a line; a backslash stands before a comma, an arrow, or a dash at the
beginning of what is made, that is meant as itself:

    flour, water -> dough
    egg -> yolk, white, -shell
    milk ->

The milk is thrown away; the shell is made and thrown away in the same step, as a line `shell ->` says it too. An arrow
alone says that nothing changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from annotation.answers.base import (
    AnswerKind,
    AnswerRefused,
    escape,
    label_studio_texts,
    split,
    tidy,
    unescape,
    unlisted,
    unwrapped,
)
from annotation.answers.codes import Value, dumps
from annotation.answers.items import read_json, refuse_long, texts, unmatched
from annotation.scheme.spec import QuestionSpec, TransitionsSpec
from base.sentences import gettext, gettext_noop

ARROW = "->"
_OTHER_ARROWS = re.compile("[=-]+>")
_DASHES = "-–—"
_DASHED = re.compile(rf"^\s*[{_DASHES}]\s*")
Transition = dict[str, list[str]]  # "from" and "to" -> names of things
USED_LONGEST = 2000  # characters of what is there already: a row's own list names it, at whatever length


class Transitions(AnswerKind):
    def canonical(self, spec: QuestionSpec, raw: Any) -> Value:
        own = _own(spec)
        if isinstance(raw, str):
            value = self.read(spec, raw)
            if value is None:
                raise AnswerRefused(
                    gettext_noop("“%(question)s” takes transitions, and this is empty."), question=spec.title
                )
            return value
        if not isinstance(raw, list) or not all(isinstance(one, Mapping) and one.keys() <= _SIDES for one in raw):
            raise AnswerRefused(
                gettext_noop("“%(question)s” takes transitions, each with “from” and “to”."), question=spec.title
            )
        found: list[Transition] = []
        for given in raw:
            one = {side: texts(spec, given.get(side), max(own.longest, USED_LONGEST)) for side in ("from", "to")}
            used = {name.casefold() for name in one["from"]}
            for name in one["to"]:
                if name.casefold() not in used:  # of what is used a part may stay as it was
                    refuse_long(spec, name, own.longest)
            if len(one["from"]) > 1 and len(one["to"]) > 1:
                raise AnswerRefused(
                    gettext_noop("“%(entry)s” makes several of several; say with a line each what becomes what."),
                    entry=_line(one)[:120],
                )
            if one["from"] or one["to"]:
                found.append(one)
        if len(found) > own.most:
            raise AnswerRefused(
                gettext_noop("“%(question)s” takes at most %(most)s transitions; these are %(n)s."),
                question=spec.title,
                most=own.most,
                n=len(found),
            )
        return found

    def warnings(self, spec: QuestionSpec, value: Value) -> list[str]:
        """One thing that two transitions use up, or that two make; that a part of it stays is no use of it.

        Several things of which several are made have a line for each that is made, and that is no doubt either.
        """
        said = []
        changes = [one for one in _transitions(value) if not is_staying(one)]
        together = {tuple(sorted(map(str.casefold, one["from"]))): one for one in changes if len(one["from"]) > 1}
        first = [one for one in changes if len(one["from"]) < 2]
        first += together.values()
        for side, sentence in (
            ("from", gettext("“%(thing)s” becomes something twice.")),
            ("to", gettext("“%(thing)s” comes about twice.")),
        ):
            names = [name.casefold() for one in (first if side == "from" else changes) for name in one[side]]
            twice = dict.fromkeys(name for name in names if names.count(name) > 1)
            said += [sentence % {"thing": name} for name in twice]
        return said

    def shown(self, spec: QuestionSpec, value: Value) -> str:
        return "; ".join(self.entries(spec, value))

    def entries(self, spec: QuestionSpec, value: Value) -> list[str]:
        lines = [f"{', '.join(one['from'])} → {', '.join(one['to']) or '∅'}".strip() for one in _transitions(value)]
        return lines or ["–"]

    def sign(self, spec: QuestionSpec, value: Value) -> str:
        return f"{len(_transitions(value))}→" if len(_transitions(value)) < 100 else "99→"

    def written(self, spec: QuestionSpec, value: Value) -> str:
        return "\n".join(map(_line, _transitions(value))) or ARROW

    def read(self, spec: QuestionSpec, text: str) -> Value | None:
        if not text.strip():
            return None
        raw = []
        for line in filter(None, map(str.strip, text.splitlines())):
            sides = split(line, ARROW)
            if len(sides) == 1:
                sides = split(line, "→")
            if len(sides) != 2:
                raise AnswerRefused(
                    gettext_noop("“%(entry)s” is no transition, which one arrow (->) makes."), entry=line[:120]
                )
            raw += _read_sides(*(split(side, ",") for side in sides))
        return self.canonical(spec, raw)

    def key(self, spec: QuestionSpec, value: Value) -> str:
        """Without regard to case, to the order of the transitions and to that of the things on a side."""
        return dumps(sorted(_sorted(one) for one in _transitions(value)))

    def distance(self, spec: QuestionSpec, a: Value, b: Value) -> float:
        """The share of transitions that the other answer has not."""
        return unmatched(*([_sorted(one) for one in _transitions(of)] for of in (a, b)))

    def from_judge(self, spec: QuestionSpec, text: str) -> Value:
        """JSON or the text form, which may be a list with signs before its lines and have other arrows."""
        text = unwrapped(spec, text)
        raw = read_json(text)
        return self.canonical(spec, _OTHER_ARROWS.sub(ARROW, "\n".join(unlisted(text))) if raw is None else raw)

    def to_label_studio(self, spec: QuestionSpec, value: Value) -> dict[str, Any]:
        return {"type": "textarea", "value": {"text": [dumps(value)]}}

    def from_label_studio(self, spec: QuestionSpec, result: Mapping[str, Any]) -> Value | None:
        text = "\n".join(label_studio_texts(spec, result))
        return self.from_judge(spec, text) if text else None


def is_staying(one: Transition) -> bool:
    """Whether it says no more than that a part of a thing stays as it was.

    >>> is_staying({"from": ["Flour"], "to": ["flour"]})
    True
    """
    of, to = ([name.casefold() for name in one[side]] for side in ("from", "to"))
    return len(of) == 1 and of == to


def named(facet: str | Sequence[str]) -> list[str]:
    """The things that a facet of a row names: a list as it is, a text at its semicolons, or else at its commas.

    >>> named("flour; water, cold"), named("flour, salt"), named(["flour, white"])
    (['flour', 'water, cold'], ['flour', 'salt'], ['flour, white'])
    """
    texts = facet.split(";" if ";" in facet else ",") if isinstance(facet, str) else facet
    return list(dict.fromkeys(text for one in texts if (text := tidy(one))))


def start(spec: QuestionSpec, facets: Mapping[str, str | Sequence[str]]) -> list[str]:
    """What is there before the first step of a table, by the facets of its row."""
    return [name for key in _own(spec).start for name in named(facets.get(key, ""))]


def after(things: Iterable[str], value: Sequence[Transition]) -> list[str]:
    """What there is after a step: what it did not touch, in its order, then what it made.

    >>> after(["flour", "water", "salt"], [{"from": ["flour", "water"], "to": ["dough"]}])
    ['salt', 'dough']

    What a step both makes and throws away, as the peel of what it peels, is not there afterwards:

    >>> after(["potato"], [{"from": ["potato"], "to": ["peeled potato", "peel"]}, {"from": ["peel"], "to": []}])
    ['peeled potato']
    """
    things = list(things)
    before = {name.casefold() for name in things}
    gone = {name.casefold() for one in value for name in one["from"]}
    left = [name for name in things if name.casefold() not in gone]
    waste = {name.casefold() for one in value if not one["to"] for name in one["from"]} - before
    # Of what is not there no part stays either.
    made = [
        name
        for one in value
        for name in one["to"]
        if name.casefold() not in waste
        and (len(one["from"]) != 1 or one["from"][0].casefold() != name.casefold() or name.casefold() in before)
    ]
    known = {name.casefold() for name in left}
    return left + [name for name in dict.fromkeys(made) if name.casefold() not in known]


_SIDES = {"from", "to"}


def _own(spec: QuestionSpec) -> TransitionsSpec:
    assert spec.transitions is not None  # the scheme sees to it
    return spec.transitions


def _transitions(value: Value) -> list[Transition]:
    return cast("list[Transition]", value)


def _read_sides(before: Sequence[str], behind: Sequence[str]) -> list[Transition]:
    """The transitions of a line, whose names still have their escapes. What a dash stands before is made and thrown
    away: of several things by itself, since several do not become several."""
    of = [name for piece in before if (name := tidy(unescape(piece)))]
    named = [(tidy(unescape(_DASHED.sub("", piece, count=1))), _DASHED.match(piece)) for piece in behind]
    made = [[name for name, dashed in named if name]]
    waste = [name for name, dashed in named if name and dashed]
    if len(of) > 1 and waste:
        made = [[name] for name in waste]
        if kept := [name for name, dashed in named if name and not dashed]:
            made.insert(0, kept)
    return [*({"from": of, "to": to} for to in made), *({"from": [name], "to": []} for name in waste)]


def _line(one: Transition) -> str:
    made = [f"\\{name}" if name[0] in _DASHES else name for name in map(_name, one["to"])]
    return f"{', '.join(map(_name, one['from']))} {ARROW} {', '.join(made)}".strip()


def _name(name: str) -> str:
    """An arrow inside a name is written with a backslash before it."""
    return escape(name, ",").replace(ARROW, f"\\{ARROW}")


def _sorted(one: Transition) -> list[list[str]]:
    return [sorted(name.casefold() for name in one[side]) for side in ("from", "to")]
