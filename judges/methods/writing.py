"""Answers of any kind by free generation: what is asked, and which part of the answer belongs to which question. Pure.

One question or several are asked in one answer; each part begins with its question's name on a line of its own:

    PARTY: the tenant; the guarantor
    DAYS: 14
    Reason: The clause names both, and a fortnight.

What a part says is read by the question's kind of answer (`annotation.answers`). Nothing is guessed: a part that is
missing, cut off, or no answer to its question is unreadable, with its reason; the other parts count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from annotation.answers import AnswerRefused, Value, kind_of
from annotation.scheme.spec import ItemField, Kind, QuestionSpec
from judges.methods.answers import Scores, Why, behind_answer
from llm.engine.thoughts import without_thoughts

__all__ = [
    "PLACE",
    "Asking",
    "Scores",
    "Unreadable",
    "Why",
    "Written",
    "above",
    "answer_lines",
    "ends",
    "form_of",
    "opening",
    "pattern_of",
    "read",
    "request",
    "there",
]


@dataclass(frozen=True)
class Asking:
    """One question. `name`: a word or some, as the model shall write it; `form`: what an answer looks like; `spec`: the
    question with the options that are offered; `reason`: whether a brief one is asked for; `bare`: nothing is asked but
    the wording, and the whole answer is its own."""

    name: str
    wording: str
    form: str
    spec: QuestionSpec
    reason: bool = False
    bare: bool = False


@dataclass(frozen=True)
class Written:
    value: Value
    reason: str


@dataclass(frozen=True)
class Unreadable:
    """`detail`: why a kind of answer refuses what stands there; "" for other reasons."""

    why: Why
    detail: str = ""


# --- what is asked ----------------------------------------------------------------------------------------------------


def form_of(spec: QuestionSpec) -> str:
    """What an answer to a question looks like, in words for a model."""
    return _FORMS[spec.kind](spec)


def _options(spec: QuestionSpec) -> str:
    return f"one of: {', '.join(option.label for option in spec.options if not option.blank)}"


def _number(spec: QuestionSpec) -> str:
    own = spec.number
    assert own is not None
    bounds = [f"{word} {bound:g}" for word, bound in (("from", own.min), ("to", own.max)) if bound is not None]
    return " ".join(["a number", *bounds, *([f"in {own.unit}, without the unit"] if own.unit else [])])


def _text(spec: QuestionSpec) -> str:
    own = spec.text
    assert own is not None
    said = f"a list with “{own.separator}” between its parts" if own.separator else "a text"
    said += f" of at most {own.longest} characters" + ("" if own.lines else ", on one line")
    return said + (f"; or only {' or '.join(own.special)}" if own.special else "")


def _items(spec: QuestionSpec) -> str:
    own = spec.items
    assert own is not None
    if len(own.said) > 1:
        return f"a list, one a line: {' | '.join(map(_field, own.said))}"
    (field,) = own.said
    return f"a list, one {field.key} a line" + (f", each one of: {', '.join(field.options)}" if field.options else "")


def _field(field: ItemField) -> str:
    told = ["with commas"] if field.is_list else []
    told += [f"{'each ' if field.is_list else ''}one of: {', '.join(field.options)}"] if field.options else []
    return f"{field.key} ({'; '.join(told)})" if told else field.key


def _transitions(spec: QuestionSpec) -> str:
    return "one change a line, as “A, B -> C” or “A -> B, C”; nothing behind the arrow for what is thrown away"


_FORMS: dict[Kind, Callable[[QuestionSpec], str]] = {
    Kind.CHOICE: _options,
    Kind.SCALE: _options,
    Kind.FLAG: _options,
    Kind.NUMBER: _number,
    Kind.TEXT: _text,
    Kind.ITEMS: _items,
    Kind.TRANSITIONS: _transitions,
}
_SEVERAL_LINES = (Kind.ITEMS, Kind.TRANSITIONS)
PLACE = "<answer>"  # in the form that a model is shown; one that writes it again has not answered


def request(asked: Sequence[Asking], *, thinking: str = "") -> str:
    """The question after the evidence; of several, one answer is to hold all. `thinking`: as in `into_form`."""
    if asked[0].bare:
        return asked[0].wording
    told = [] if len(asked) == 1 else [f"Answer {len(asked)} questions."]
    told += [*questions_of(asked), "", into_form(thinking), *form_lines(asked)]
    return "\n".join(told)


def into_form(thinking: str, of: str = "") -> str:
    """The sentence before the form of an answer. `thinking`: what has the model think before it answers; a line that
    tells the thoughts from the answer is asked for then. `of`: what the form is for."""
    if not thinking:
        return f"Write your answer in this form{of}, and nothing else:"
    return (
        f"{thinking.strip()} Then write the word ANSWER on a line of its own, and below it your answer in this form"
        f"{of}, and nothing else:"
    )


def questions_of(asked: Sequence[Asking]) -> list[str]:
    """What is asked, in lines; of several questions each has its name above it."""
    lines = []
    for asking in asked:
        lines += [] if len(asked) == 1 else ["", asking.name]  # no colon: models write again what stood behind it
        lines += [asking.wording, f"The answer is {asking.form}."]
    return lines


def form_lines(asked: Sequence[Asking]) -> list[str]:
    """The form of an answer, in lines."""
    lines = []
    for asking in asked:
        if asking.spec.kind in _SEVERAL_LINES:
            lines += [f"{asking.name}:", PLACE]
        else:
            lines.append(f"{asking.name}: {PLACE}")
        lines += ["Reason: <brief reason>"] if asking.reason else []
    return lines


def answer_lines(asked: Sequence[Asking], said: Sequence[Written]) -> list[str]:
    """Answers in the form that is asked for, in lines; `read` gives them back."""
    lines = []
    for asking, one in zip(asked, said, strict=True):
        text = kind_of(asking.spec).for_model(asking.spec, one.value)
        on_its_own = asking.spec.kind in _SEVERAL_LINES
        lines += [text] if asking.bare else [f"{asking.name}:", text] if on_its_own else [f"{asking.name}: {text}"]
        lines += [f"Reason: {one.reason}"] if asking.reason and one.reason else []
    return lines


def opening(asking: Asking) -> str:
    """What a plain prompt ends in, so that a model which only continues texts continues with the answer."""
    return "" if asking.bare else f"{asking.name}:"


def ends(asked: Sequence[Asking]) -> tuple[str, ...]:
    """Where the answer to a plain prompt ends, as `read` has it: that to one question at the first empty line, that to
    several where the first of them begins again."""
    return ("\n\n",) if len(asked) == 1 else (f"\n{opening(asked[0])}",)


def above(lines: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    """What was answered in the lines above: of each its text, and (title, answer)."""
    if not lines:
        return ""
    said = ["The lines above:"]
    for number, (text, answers) in enumerate(lines, start=1):
        said.append(f"{number}. {text}")
        said += [f"   {title} – {answer}" for title, answer in answers]
    return "\n".join(said) + "\n\n"


def there(things: Sequence[str]) -> str:
    """What exists before the step that is asked about, where a question asks what a step makes of it."""
    said = "; ".join(things) if things else "nothing"
    return f"There is now: {said}\n\n"


# --- what is read -----------------------------------------------------------------------------------------------------


def read(
    answer: str,
    asked: Sequence[Asking],
    *,
    opened: bool = False,
    first: bool = False,
    cut: bool = False,
    thinking: bool = False,
) -> list[Written | Unreadable]:
    """What is said to each question, or why nothing can be read there.

    Args:
        answer: what the model wrote; of a plain prompt with its `opening` in front.
        opened: it is that of a plain prompt. A model that only continues texts does not stop when it has answered:
            a part ends at the first empty line, and of parts with one name the first counts. In a chat it is the last
            one, since models repeat the form that they are shown.
        first: in a chat, too, the first of parts with one name counts.
        cut: the answer was not finished, so that its last part may lack its end.
        thinking: the model was asked to think first. What stands above the line ANSWER is no answer; where that line
            is missing, only parts with a name are.
    """
    text = (answer if opened else without_thoughts(answer)).rstrip()
    below = behind_answer(text) if thinking else None
    if thinking and cut and below is None:
        return [Unreadable(Why.CUT_OFF)] * len(asked)
    text = text if below is None else below
    if not text.strip():
        return [Unreadable(Why.CUT_OFF if cut else Why.EMPTY)] * len(asked)
    names = [asking.name for asking in asked]
    parts = _members(text, names) or _parts(text, names, opened=opened, first=first or opened)
    is_all_answer = not opened and (not thinking or below is not None)
    if not parts and asked[0].bare and opened:
        text = text.lstrip()
        ended = _EMPTY_LINE.search(text)
        parts = {asked[0].name: _Part(text[: ended.start()] if ended else text, is_last=not ended)}
    if not parts and len(asked) == 1 and is_all_answer and PLACE not in text:
        parts = {asked[0].name: _Part(text, is_last=True)}
    return [_read(parts.get(asking.name), asking, any_other=bool(parts), cut=cut) for asking in asked]


@dataclass(frozen=True)
class _Part:
    """The text behind a question's name, and whether the answer ends with it."""

    text: str
    is_last: bool


# Marks before a name are looked for in its own line, and once: over several lines that would be done again from each of
# them, and an answer of 50 000 empty lines takes minutes. What lines before it have of marks alone is `_marked_off`.
_REASON = re.compile(
    r"^(?:[^\S\n]|[>*_#-])*+(?:brief\s+)?(?:reason(?:ing)?|explanation|rationale|justification)[*_\"”]*\s*[:=][*_\s]*",
    re.IGNORECASE | re.MULTILINE,
)
_REASON_MARKS, _MARKS = ">*_#-", '>*_#•{"“,-'
_FENCE = re.compile(r"\A```[^\n`]*\n(.*?)\n?```\Z", re.DOTALL)
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


def fenced(text: str) -> str:
    """What stands in a code fence, of a text that is one; else the text."""
    found = _FENCE.match(text.strip())
    return found[1] if found else text


def _members(text: str, names: Sequence[str]) -> dict[str, _Part]:
    """The parts of an answer that is one JSON object with these names; none of any other answer."""
    try:
        told = json.loads(fenced(text))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(told, dict):
        return {}
    by_name = {name.casefold().replace("-", " "): name for name in names}
    parts = {}
    for key, value in told.items():
        if (name := by_name.get(key.casefold().replace("_", " ").replace("-", " "))) and value not in (None, PLACE):
            said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            reason = told.get("reason", told.get("Reason")) if len(names) == 1 else None
            parts[name] = _Part(f"{said}\nReason: {reason}" if isinstance(reason, str) else said, is_last=False)
    return parts


def pattern_of(name: str) -> str:
    """The regular expression of a question's name, as models write it."""
    return r"[ _-]+".join(map(re.escape, re.split("[ -]", name)))


def _marked_off(text: str, at: int, marks: str) -> int:
    """Where the lines begin that have nothing but marks and white space and end at a line that begins here."""
    begun = at
    while begun and (text[begun - 1].isspace() or text[begun - 1] in marks):
        begun -= 1
    return 0 if begun == 0 else text.find("\n", begun, at) + 1 or at


def _parts(text: str, names: Sequence[str], *, opened: bool, first: bool) -> dict[str, _Part]:
    one_of = "|".join(f"(?P<n{place}>{pattern_of(name)})" for place, name in enumerate(names))
    # With what lists and headings put before and behind a name.
    heads = re.compile(
        rf"^(?:[^\S\n]|[{_MARKS}])*+(?:\(?\d{{1,2}}[.)]\s*)?[*_\"“]*+(?:{one_of})[*_\"”]*(?:\s*\([^()\n]*\))?[*_\"”]*\s*[:=][*_]*",
        re.IGNORECASE | re.MULTILINE,
    )
    found = list(heads.finditer(text))
    parts: dict[str, _Part] = {}
    for index, head in enumerate(found):
        name = next(name for place, name in enumerate(names) if head[f"n{place}"] is not None)
        end = _marked_off(text, found[index + 1].start(), _MARKS) if index + 1 < len(found) else len(text)
        part, is_last = text[head.end() : end].strip(), end == len(text)
        if opened and (broken := _EMPTY_LINE.search(part)):
            part, is_last = part[: broken.start()], False
        if not part.lstrip('"“').startswith(PLACE) and (not first or name not in parts):
            parts[name] = _Part(part, is_last)
    return parts


def _read(part: _Part | None, asking: Asking, *, any_other: bool, cut: bool) -> Written | Unreadable:
    if part is None:
        return Unreadable(Why.CUT_OFF if cut else Why.OTHER_CRITERION if any_other else Why.NO_VERDICT)
    said, reason, is_whole = part.text, "", not (cut and part.is_last)
    if found := _REASON.search(said):
        begun = _marked_off(said, found.start(), _REASON_MARKS)
        said, reason, is_whole = said[:begun].rstrip(), " ".join(said[found.end() :].split()), True
    said = said.strip()
    if not said:
        return Unreadable(Why.EMPTY if is_whole else Why.CUT_OFF)
    if not is_whole:
        return Unreadable(Why.CUT_OFF)
    try:
        return Written(kind_of(asking.spec).from_judge(asking.spec, said), reason)
    except AnswerRefused as refused:
        return Unreadable(Why.REFUSED, str(refused))
