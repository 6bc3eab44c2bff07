"""The grammar of an answer to questions of any kind, so that it can be read (`judges.methods.writing`). Pure.

It is in the notation of Lark, as `llm.grammars` has it: the names of the questions in their order, each with an answer
that its kind takes. An answer has at most `room` characters, and a model has as many tokens: a token being a character
at least, none is cut off as long as it is written in signs that are one byte each. What a kind refuses for the sake of
another part of the same answer, as a thing that becomes something twice, no grammar can keep out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Sequence

from annotation.scheme.spec import Kind, Level, QuestionSpec
from judges.methods.writing import Asking

_LEAST = 24  # characters of an answer in free words; less says nothing
_REASON = 120
_MOST_NUMBERS = 1000  # that are written out as alternatives
# What would end a line, or pass for the form that a model is shown or for a special token.
_NEVER = r"\x00-\x1f\x7f\x80-\x9f\u2028\u2029<>"
_MOST_PARTS = 20
_CLASS = re.compile(r"\[([^\]\[\\^-]+(?:-[^\]\[\\^-]+)*)\]")


def of(asked: Sequence[Asking], *, room: int, opened: bool = False, digitless: Collection[str] = ()) -> str:
    """The grammar of one answer to these questions.

    Args:
        room: characters of the whole answer; where they do not suffice for a few words each, more are allowed.
        opened: the prompt ends with the first question's name already.
        digitless: keys of questions whose answers must have no digit.
    """
    texts = [asking for asking in asked if asking.spec.kind in _FREE]
    fixed = sum(len(asking.name) + 3 + (_REASON + 9 if asking.reason else 0) for asking in asked)
    wanted = {id(asking): _longest(asking.spec) for asking in texts}
    left = max(room - fixed - 12 * (len(asked) - len(texts)) - _LEAST * len(texts), 0)
    rules: list[str] = []
    start: list[str] = []
    for place, asking in enumerate(asked):
        share = _LEAST + left * wanted.get(id(asking), 0) // max(sum(wanted.values()), 1)
        no_digit = asking.spec.key in digitless
        body = _KINDS[asking.spec.kind](asking.spec, f"a{place}", share, no_digit, rules)
        several = asking.spec.kind in (Kind.ITEMS, Kind.TRANSITIONS)
        name = "" if opened and not place else f"{asking.name}:"
        head = ("\n" if place else "") + name + ("\n" if several else " ")
        start += [_quoted(head), body]
        if asking.reason:
            start += [_quoted("\nReason: "), _terminal(f"R{place}", _line(_REASON), rules)]
    return "\n".join([f"start: {' '.join(start)}", *rules]) + "\n"


def _longest(spec: QuestionSpec) -> int:
    return min(spec.text.longest, 1000) if spec.text else 400


def _options(spec: QuestionSpec, name: str, share: int, no_digit: bool, rules: list[str]) -> str:
    said = [option.label for option in spec.options if not option.blank]
    return _rule(name, " | ".join(map(_quoted, said)), rules)


def _number(spec: QuestionSpec, name: str, share: int, no_digit: bool, rules: list[str]) -> str:
    own = spec.number
    assert own is not None
    if own.step is None and own.max is None and (own.min is None or own.min <= 0):
        sign = "-?" if own.min is None else ""
        return _terminal(name.upper(), f"{sign}(0|[1-9][0-9]{{0,5}})", rules)
    # Few enough to write them out: from the least on, or up to the largest, in steps.
    step = own.step or 1
    if own.min is not None:
        first, most = own.min, own.max
    else:
        first = (math.floor((own.max or 0) / step) - _MOST_NUMBERS // 2) * step
        most = own.max
    count = _MOST_NUMBERS if most is None else min(_MOST_NUMBERS, math.floor((most - first) / step + 1e-9) + 1)
    said = [f"{round(first + place * step, 9):g}" for place in range(count)]
    return _rule(name, " | ".join(map(_quoted, dict.fromkeys(said))), rules)


def _text(spec: QuestionSpec, name: str, share: int, no_digit: bool, rules: list[str]) -> str:
    own = spec.text
    assert own is not None
    longest = min(share, own.longest)
    special = [_quoted(word) for word in own.special]
    never = (r"\p{N}" if no_digit else "") + (re.escape(own.separator) if own.separator else "")
    # Signs that a pattern refuses wherever they stand; other patterns are left to the reading of the answer.
    classes = (_CLASS.fullmatch(one.pattern) for one in own.patterns if one.level == Level.REFUSE)
    never += "".join(found[1] for found in classes if found)
    if own.separator:
        most = min(_MOST_PARTS, max(1, longest // 16))
        # Of these many parts each may be as long as the share; all together they are kept to it by `&`.
        part = _line(longest, never=never)
        whole = f"{part}({re.escape(own.separator)} {part}){{0,{most - 1}}}"
        words = _terminal(name.upper(), whole, rules, also=f"(?s:.{{1,{longest}}})")
    else:
        words = _terminal(name.upper(), _line(longest, never=never), rules)
    return _rule(name, " | ".join([*special, words]), rules)


def _items(spec: QuestionSpec, name: str, share: int, no_digit: bool, rules: list[str]) -> str:
    own = spec.items
    assert own is not None
    length = min(own.longest, 40)
    most = max(own.fewest, min(own.most, max(1, share // (length * len(own.fields)))))
    fields = []
    for field in own.fields:
        word = _line(length, never=r"|," if field.is_list else r"|")
        fields.append(f"{word}(, {word}){{0,3}}" if field.is_list else word)
        if not field.required and len(own.fields) > 1:
            fields[-1] = f"({fields[-1]})?"
    line = r" \| ".join(fields)
    repeated = f"(\n{line}){{{max(own.fewest - 1, 0)},{most - 1}}}".replace("\n", r"\n")
    return _terminal(name.upper(), f"{line}{repeated}", rules)


def _transitions(spec: QuestionSpec, name: str, share: int, no_digit: bool, rules: list[str]) -> str:
    own = spec.transitions
    assert own is not None
    word = _line(min(own.longest, 40), never=r",;\-")
    things = f"{word}(, {word}){{1,5}}"
    one = f"({word} -> {word}|{word} -> {things}|{things} -> {word})"
    most = min(own.most, max(1, share // 80))
    return _terminal(name.upper(), rf"{one}(\n{one}){{0,{most - 1}}}", rules)


_Writes = Callable[[QuestionSpec, str, int, bool, list[str]], str]
_KINDS: dict[Kind, _Writes] = {
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
    """Some words on one line: they begin with a letter or digit, and not with a blank."""
    first = r"\p{L}" if r"\p{N}" in never or "0-9" in never else r"[\p{L}\p{N}]"
    return f"{first}[^{_NEVER}{never}]{{0,{longest - 1}}}"


def _terminal(name: str, pattern: str, rules: list[str], *, also: str = "") -> str:
    both = f" & /{also}/" if also else ""
    rules.append(f"{name}: /{pattern.replace('/', '[/]')}/{both}")
    return name


def _rule(name: str, body: str, rules: list[str]) -> str:
    rules.append(f"{name}: {body}")
    return name


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
