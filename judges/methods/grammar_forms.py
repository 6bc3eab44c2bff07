"""The same answers as `judges.methods.grammar` has them, for servers: in GBNF, and as a JSON schema. Pure.

GBNF (vLLM, llama.cpp, SGLang) keeps to the form that a model is asked for, a name and its answer on each line. It knows
no classes of letters, so that digits other than 0 to 9 and a few more are left to the reading of the answer. A JSON
schema is for servers that take no grammar: the answer is one object then, with the names as its keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from annotation.answers.base import escape
from annotation.scheme.spec import ItemField, ItemsSpec, Kind, QuestionSpec

_CONTROLS = r"\x00-\x1F\x7F-\x9F\u2028\u2029<>"
# Letters are these blocks, without most marks, blanks and signs between them. The signs themselves stand in a class:
# not every reader of GBNF knows every escape.
_LETTERS = ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x370, 0x1FFF), (0x3041, 0xD7FB))
_DIGIT = (0x30, 0x39)
_DIGITS = r"0-9\xB2\xB3\xB9\xBC-\xBE"
_MOST_LISTED = 50  # numbers that a schema lists
_MOST_THINGS = 6


# --- GBNF -------------------------------------------------------------------------------------------------------------


def choice(said: Sequence[str]) -> str:
    """One of these texts.

    >>> choice(["yes", "no"])
    '("yes" | "no")'
    """
    return f"({' | '.join(map(literal, said))})"


def literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def line(longest: int, *, never: str = "", digitless: bool = False) -> str:
    """Some words on one line; `never`: signs and ranges that do not come, as a class has them."""
    first = _first(never, digitless=digitless)
    return f"{first} {_repeated(_rest(never, digitless=digitless), 0, longest - 1)}".rstrip()


_IN_A_CLASS = re.compile(r"(\\x[0-9A-F]{2}|.)(?:-(\\x[0-9A-F]{2}|.))?", re.DOTALL)


def _first(never: str, *, digitless: bool) -> str:
    """A letter or digit, none that is refused. GBNF cannot take one class from another, so the ranges are cut here.

    >>> _first("b-y5", digitless=False).split(chr(0xC0))[0]
    '[0-46-9A-Zaz'
    """
    ranges = [*([] if digitless else [_DIGIT]), *_LETTERS]
    for found in _IN_A_CLASS.finditer(never):
        low, high = (_code(found[1]), _code(found[2] or found[1]))
        ranges = [
            part
            for begin, end in ranges
            for part in ((begin, min(end, low - 1)), (max(begin, high + 1), end))
            if part[0] <= part[1]
        ]
    return f"[{''.join(chr(begin) if begin == end else f'{chr(begin)}-{chr(end)}' for begin, end in ranges)}]"


def _code(sign: str) -> int:
    return int(sign[2:], 16) if len(sign) > 1 else ord(sign)


def _repeated(what: str, least: int, most: int) -> str:
    return f"{what}{{{least},{most}}}" if most > 0 else ""


def _rest(never: str, *, digitless: bool) -> str:
    return f"[^{_CONTROLS}{_DIGITS if digitless else ''}{never}]"


def parts(name: str, longest: int, separator: str, *, never: str, digitless: bool, rules: list[str]) -> str:
    """Parts between separators, of at most so many characters all together: a rule for each number of them that is
    left, since GBNF has no other way to count across parts."""
    first = _first(never + _class_of(separator), digitless=digitless)
    rest = _rest(never + _class_of(separator), digitless=digitless)
    step = len(separator) + 2
    for left in range(longest):
        ways = []
        if left:
            ways.append(f"{rest} {name}-{left - 1}")
        if left >= step:
            ways.append(f"{literal(f'{separator} ')} {first} {name}-{left - step}")
        rules.append(f'{name}-{left} ::= {"".join(f"{way} | " for way in ways)}""')
    return f"{first} {name}-{longest - 1}"


def _class_of(signs: str) -> str:
    return re.sub(r"([\\\]\[^-])", lambda found: f"\\x{ord(found[1]):02X}", signs)


def widest_record(own: ItemsSpec, length: int) -> int:
    """How many characters the fields of a record have, where a text in free words has at most `length`."""
    return sum(max(map(len, field.options), default=length) for field in own.said)


def items(fields: Sequence[ItemField], *, length: int, fewest: int, most: int) -> str:
    word = line(length, never="|")
    listed = line(length, never="|,")
    of_fields = []
    for field in fields:
        one = listed if field.is_list else word
        if field.options:
            one = choice([escape(option, "|," if field.is_list else "|") for option in field.options])
        text = f'{one} (", " {one}){{0,3}}' if field.is_list else one
        of_fields.append(f"({text})?" if not field.required and len(fields) > 1 else text)
    record = ' " | " '.join(of_fields)
    more = rf'("\n" {record})'
    return f"{record} {_repeated(more, max(fewest - 1, 0), most - 1)}"


def transitions(*, length: int, most: int) -> str:
    word = line(length, never=r",;\x2D")
    things = rf'{word} (", " {word}){{1,5}}'
    one = f'({word} " -> " {word} | {word} " -> " {things} | {things} " -> " {word})'
    more = rf'("\n" {one})'
    return f"{one} {_repeated(more, 0, most - 1)}"


# --- JSON schema ------------------------------------------------------------------------------------------------------


def schema(spec: QuestionSpec, share: int, numbers: Sequence[str]) -> dict[str, Any]:
    """What an answer to a question is in JSON; `numbers`: those that it may be, as far as they are written out."""
    return _SCHEMAS[spec.kind](spec, share, numbers)


def object_of(members: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def _options(spec: QuestionSpec, share: int, numbers: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": [option.label for option in spec.options if not option.blank]}


def _number(spec: QuestionSpec, share: int, numbers: Sequence[str]) -> dict[str, Any]:
    own = spec.number
    assert own is not None
    # Exactly, by their digits: 0.3 is a multiple of 0.1.
    step, least = (None if one is None else Fraction(str(one)) for one in (own.step, own.min))
    whole = step is not None and step.denominator == 1 and (least is None or least.denominator == 1)
    off = step is not None and least is not None and least % step != 0
    # A schema has multiples of a step alone: steps from another number than 0 are written out.
    if numbers and (off or len(numbers) <= _MOST_LISTED):
        return {"enum": [int(float(said)) if whole else float(said) for said in numbers]}
    bounds: dict[str, Any] = {
        key: bound for key, bound in (("minimum", own.min), ("maximum", own.max)) if bound is not None
    }
    if step is not None and step != 1:
        bounds["multipleOf"] = int(step) if step.denominator == 1 else own.step
    return {"type": "integer" if whole else "number", **bounds}


def _text(spec: QuestionSpec, share: int, numbers: Sequence[str]) -> dict[str, Any]:
    assert spec.text is not None
    return {"type": "string", "minLength": 1, "maxLength": min(share, spec.text.longest)}


def _items(spec: QuestionSpec, share: int, numbers: Sequence[str]) -> dict[str, Any]:
    own = spec.items
    assert own is not None
    length = min(own.longest, 40)
    fields = {field.key: _item_field(field, length) for field in own.said}
    most = max(own.fewest, min(own.most, max(1, share // widest_record(own, length))))
    record = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "array", "items": record, "minItems": own.fewest, "maxItems": most}


def _item_field(field: ItemField, length: int) -> dict[str, Any]:
    word: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": length}
    if field.is_list:
        one = {"enum": list(field.options)} if field.options else word
        return {"type": "array", "items": one, "minItems": int(field.required), "maxItems": 4}
    if field.options:
        return {"enum": [*field.options, *([] if field.required else [""])]}
    return {**word, "minLength": int(field.required)}


def _transitions(spec: QuestionSpec, share: int, numbers: Sequence[str]) -> dict[str, Any]:
    own = spec.transitions
    assert own is not None
    word = {"type": "string", "minLength": 1, "maxLength": min(own.longest, 40)}
    sides = {
        side: {"type": "array", "items": word, "minItems": fewest, "maxItems": _MOST_THINGS}
        for side, fewest in (("from", 1), ("to", 0))
    }
    one = {"type": "object", "properties": sides, "required": list(sides), "additionalProperties": False}
    return {"type": "array", "items": one, "minItems": 1, "maxItems": min(own.most, max(1, share // 80))}


_SCHEMAS: dict[Kind, Callable[[QuestionSpec, int, Sequence[str]], dict[str, Any]]] = {
    Kind.CHOICE: _options,
    Kind.SCALE: _options,
    Kind.FLAG: _options,
    Kind.NUMBER: _number,
    Kind.TEXT: _text,
    Kind.ITEMS: _items,
    Kind.TRANSITIONS: _transitions,
}
