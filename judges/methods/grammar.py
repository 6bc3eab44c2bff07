"""The grammar of an answer to questions of any kind, so that it can be read (`judges.methods.writing`). Pure.

It is in the notation of Lark, as `llm.grammars` has it, and in those of servers (`grammar_forms`): the names of the
questions in their order, each with an answer that its kind takes. An answer has at most `room` characters, and a model
has as many tokens: a token being a character at least, none is cut off as long as it is written in signs that are one
byte each. What a kind refuses for the sake of another part of the same answer, as a thing that becomes something twice,
no grammar can keep out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.answers.base import escape
from annotation.scheme.spec import Kind, Level, QuestionSpec
from judges.methods import grammar_forms
from judges.methods.rating import Criterion
from judges.methods.writing import Asking
from llm.engine.prompt import Grammar

_LEAST = 24  # characters of an answer in free words; less says nothing
_REASON = 120
_MOST_NUMBERS = 1000  # that are written out as alternatives
# What would end a line, or pass for the form that a model is shown or for a special token.
_NEVER = r"\x00-\x1f\x7f\x80-\x9f\u2028\u2029<>"
_MOST_PARTS = 20
_METASIGN = re.compile(r"[\\.+*?()|\[\]{}^$]")
_CLASS = re.compile(r"\[([^\]\[\\^-]+(?:-[^\]\[\\^-]+)*)\]")


def of(asked: Sequence[Asking], *, room: int, opened: bool = False, digitless: Collection[str] = ()) -> Grammar:
    """The grammar of one answer to these questions.

    Args:
        room: characters of the whole answer; where they do not suffice for a few words each, more are allowed.
        opened: the prompt ends with the first question's name already.
        digitless: keys of questions whose answers must have no digit.
    """
    lark, gbnf, members = forms_of(asked, room=room, opened=opened, digitless=digitless)
    return written_out(lark, gbnf, members)


@dataclass
class Begun:
    """A grammar so far: what its answers begin with, and the rules that this names."""

    start: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)


def written_out(lark: Begun, gbnf: Begun, members: dict[str, dict[str, Any]]) -> Grammar:
    """A grammar in all its notations; `members`: of the same answer in JSON."""
    return Grammar(
        "\n".join([f"start: {' '.join(lark.start)}", *lark.rules]) + "\n",
        gbnf="\n".join([f"root ::= {' '.join(gbnf.start)}", *gbnf.rules]) + "\n",
        schema=json.dumps(grammar_forms.object_of(members), ensure_ascii=False),
    )


def forms_of(
    asked: Sequence[Asking], *, room: int, opened: bool = False, digitless: Collection[str] = (), prefix: str = ""
) -> tuple[Begun, Begun, dict[str, dict[str, Any]]]:
    """The answer to these questions in Lark and in GBNF, under rules that begin with `prefix`, and its members in JSON;
    the others as `of`."""
    texts = [asking for asking in asked if asking.spec.kind in _FREE]
    fixed = sum(len(asking.name) + 3 + (_REASON + 9 if asking.reason else 0) for asking in asked)
    wanted = {id(asking): _longest(asking.spec) for asking in texts}
    left = max(room - fixed - 12 * (len(asked) - len(texts)) - _LEAST * len(texts), 0)
    lark, gbnf = Begun(), Begun()
    members: dict[str, dict[str, Any]] = {}
    for place, asking in enumerate(asked):
        share = _LEAST + left * wanted.get(id(asking), 0) // max(sum(wanted.values()), 1)
        several = asking.spec.kind in (Kind.ITEMS, Kind.TRANSITIONS)
        name = "" if opened and not place else f"{asking.name}:"
        head = _quoted(("\n" if place else "") + name + ("\n" if several else " "))
        form = _Form(asking.spec, f"{prefix}a{place}", share, asking.spec.key in digitless, lark.rules, gbnf.rules)
        of_lark, of_gbnf = _KINDS[asking.spec.kind](form)
        lark.start += [head, of_lark]
        gbnf.start += [head, of_gbnf]
        members[asking.name] = grammar_forms.schema(asking.spec, share, form.numbers)
        if asking.reason:
            lark.start += [_quoted("\nReason: "), _terminal(f"{prefix}r{place}".upper(), _line(_REASON), lark.rules)]
            gbnf.start += [_quoted("\nReason: "), grammar_forms.line(_REASON)]
            if len(asked) == 1:
                members["Reason"] = {"type": "string", "maxLength": _REASON}
    return lark, gbnf, members


@dataclass
class _Form:
    """A question and what is written of it: `share` characters at most, under rules that begin with `name`; `numbers`
    are set where they are written out."""

    spec: QuestionSpec
    name: str
    share: int
    no_digit: bool
    lark: list[str]
    gbnf: list[str]
    numbers: Sequence[str] = ()


def of_ratings(criteria: Sequence[Criterion], *, room: int, opened: bool = False) -> Grammar:
    """The grammar of an answer that rates these criteria: each by its name, with a number that is offered and a reason
    on the line below it. `room` and `opened` as for `of`."""
    fixed = sum(len(criterion.name) + 2 + 2 + len("\nReason: ") for criterion in criteria)
    share = max((room - fixed) // len(criteria), _LEAST)
    lark, gbnf = Begun(), Begun()
    members: dict[str, dict[str, Any]] = {}
    for place, criterion in enumerate(criteria):
        name = "" if opened and not place else f"{criterion.name}:"
        head, numbers = _quoted(("\n" if place else "") + name + " "), sorted(criterion.ratings)
        offered = [str(number) for number in numbers]
        lark.start += [head, _rule(f"a{place}", " | ".join(map(_quoted, offered)), lark.rules)]
        lark.start += [_quoted("\nReason: "), _terminal(f"R{place}", _line(share), lark.rules)]
        gbnf.start += [head, grammar_forms.choice(offered), _quoted("\nReason: "), grammar_forms.line(share)]
        members[criterion.name] = grammar_forms.object_of(
            {"rating": {"enum": numbers}, "reason": {"type": "string", "minLength": 1, "maxLength": share}}
        )
    return written_out(lark, gbnf, members)


def _longest(spec: QuestionSpec) -> int:
    return min(spec.text.longest, 1000) if spec.text else 400


def _options(form: _Form) -> tuple[str, str]:
    said = [option.label for option in form.spec.options if not option.blank]
    return _rule(form.name, " | ".join(map(_quoted, said)), form.lark), grammar_forms.choice(said)


def _number(form: _Form) -> tuple[str, str]:
    own = form.spec.number
    assert own is not None
    if own.step is None and own.max is None and (own.min is None or own.min <= 0):
        sign = "-?" if own.min is None else ""
        of_gbnf = ('"-"? ' if own.min is None else "") + '("0" | [1-9] [0-9]{0,5})'
        return _terminal(form.name.upper(), f"{sign}(0|[1-9][0-9]{{0,5}})", form.lark), of_gbnf
    # Few enough to write them out: from the least on, or up to the largest, in steps.
    step = own.step or 1
    if own.min is not None:
        first, most = own.min, own.max
    else:
        first = (math.floor((own.max or 0) / step) - _MOST_NUMBERS // 2) * step
        most = own.max
    count = _MOST_NUMBERS if most is None else min(_MOST_NUMBERS, math.floor((most - first) / step + 1e-9) + 1)
    form.numbers = list(dict.fromkeys(f"{round(first + place * step, 9):g}" for place in range(count)))
    return _rule(form.name, " | ".join(map(_quoted, form.numbers)), form.lark), grammar_forms.choice(form.numbers)


def _text(form: _Form) -> tuple[str, str]:
    own = form.spec.text
    assert own is not None
    longest = min(form.share, own.longest)
    # Signs that a pattern refuses wherever they stand; other patterns are left to the reading of the answer.
    classes = (_CLASS.fullmatch(one.pattern) for one in own.patterns if one.level == Level.REFUSE)
    refused = "".join(found[1] for found in classes if found)
    never = (r"\p{N}" if form.no_digit else "") + (re.escape(own.separator) if own.separator else "") + refused
    if own.separator:
        most = min(_MOST_PARTS, max(1, longest // 16))
        # Of these many parts each may be as long as the share; all together they are kept to it by `&`.
        part = _line(longest, never=never)
        whole = f"{part}({re.escape(own.separator)} {part}){{0,{most - 1}}}"
        words = _terminal(form.name.upper(), whole, form.lark, also=f"(?s:.{{1,{longest}}})")
        of_gbnf = grammar_forms.parts(
            form.name, longest, own.separator, never=refused, digitless=form.no_digit, rules=form.gbnf
        )
    else:
        words = _terminal(form.name.upper(), _line(longest, never=never), form.lark)
        of_gbnf = grammar_forms.line(longest, never=refused, digitless=form.no_digit)
    special = [_quoted(word) for word in own.special]
    ways = " | ".join([*special, f"({of_gbnf})"])
    return _rule(form.name, " | ".join([*special, words]), form.lark), f"({ways})"


def _items(form: _Form) -> tuple[str, str]:
    own = form.spec.items
    assert own is not None
    length = min(own.longest, 40)
    most = max(own.fewest, min(own.most, max(1, form.share // grammar_forms.widest_record(own, length))))
    fields = []
    for one in own.said:
        never = "|," if one.is_list else "|"
        options = (_METASIGN.sub(r"\\\g<0>", escape(option, never)) for option in one.options)
        word = f"({'|'.join(options)})" if one.options else _line(length, never=never)
        fields.append(f"{word}(, {word}){{0,3}}" if one.is_list else word)
        if not one.required and len(own.said) > 1:
            fields[-1] = f"({fields[-1]})?"
    line = r" \| ".join(fields)
    repeated = f"(\n{line}){{{max(own.fewest - 1, 0)},{most - 1}}}".replace("\n", r"\n")
    of_gbnf = grammar_forms.items(own.said, length=length, fewest=own.fewest, most=most)
    return _terminal(form.name.upper(), f"{line}{repeated}", form.lark), of_gbnf


def _transitions(form: _Form) -> tuple[str, str]:
    own = form.spec.transitions
    assert own is not None
    length = min(own.longest, 40)
    word = _line(length, never=r",;\-")
    things = f"{word}(, {word}){{1,5}}"
    one = f"({word} -> {word}|{word} -> {things}|{things} -> {word})"
    most = min(own.most, max(1, form.share // 80))
    of_gbnf = grammar_forms.transitions(length=length, most=most)
    return _terminal(form.name.upper(), rf"{one}(\n{one}){{0,{most - 1}}}", form.lark), of_gbnf


_KINDS: dict[Kind, Callable[[_Form], tuple[str, str]]] = {
    Kind.CHOICE: _options,
    Kind.SCALE: _options,
    Kind.FLAG: _options,
    Kind.NUMBER: _number,
    Kind.TEXT: _text,
    Kind.ITEMS: _items,
    Kind.TRANSITIONS: _transitions,
}
_FREE = (Kind.TEXT, Kind.ITEMS, Kind.TRANSITIONS)


def _line(longest: int, *, never: str = "") -> str:
    """Some words on one line: they begin with a letter or digit, none that is refused, and not with a blank."""
    first = rf"[[\p{{L}}\p{{N}}]--[{never}]]" if never else r"[\p{L}\p{N}]"
    return f"{first}[^{_NEVER}{never}]{{0,{longest - 1}}}"


def _terminal(name: str, pattern: str, rules: list[str], *, also: str = "") -> str:
    both = f" & /{also}/" if also else ""
    within = pattern.replace("/", r"\x2F")  # a slash ends a terminal, in a class too
    rules.append(f"{name}: /{within}/{both}")
    return name


def _rule(name: str, body: str, rules: list[str]) -> str:
    rules.append(f"{name}: {body}")
    return name


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
