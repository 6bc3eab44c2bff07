"""One text: short or long, or a list whose parts one sign separates. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

import regex
from rapidfuzz.distance import Levenshtein

from annotation.answers.base import (
    AnswerKind,
    AnswerRefused,
    cut,
    is_text,
    label_studio_texts,
    tidy,
    unlisted,
    unquoted,
    unwrapped,
)
from annotation.answers.codes import Value
from annotation.scheme.spec import Level, QuestionSpec, TextSpec
from base.sentences import gettext_noop

_SECONDS = 0.2  # for one pattern; others take a thousandth
_WIDE = {",": "，、", ";": "；"}  # what stands for a separator where signs are wide
_PART = "\x1f"  # between the parts of a key; no stored text has it


class Text(AnswerKind):
    def canonical(self, spec: QuestionSpec, raw: Any) -> Value:
        own, text = _own(spec), self.stored(spec, raw)
        if text in own.special:
            return text
        if len(text) > own.longest:
            raise AnswerRefused(
                gettext_noop("“%(question)s” takes at most %(longest)s characters; these are %(length)s."),
                question=spec.title,
                longest=own.longest,
                length=len(text),
            )
        if broken := _broken(own, text, Level.REFUSE):
            raise AnswerRefused("%(message)s", message=broken[0])
        return text

    def stored(self, spec: QuestionSpec, raw: Any) -> str:
        own = _own(spec)
        if not is_text(raw):
            raise AnswerRefused(gettext_noop("“%(question)s” takes a text."), question=spec.title)
        text = tidy(str(raw), lines=own.lines)
        if special := own.special_of(text):
            return special
        if own.separator:
            text = _joined([tidy(part) for part in text.split(own.separator)], own.separator)
        if not text:
            raise AnswerRefused(gettext_noop("“%(question)s” takes a text, and this is empty."), question=spec.title)
        return text

    def taken(self, spec: QuestionSpec, text: str) -> Value | None:
        return self.stored(spec, text) if text.strip() else None

    def from_json(self, spec: QuestionSpec, raw: Any, *, by_model: bool = False) -> Value | None:
        """Of a text with a separator, a list of its parts."""
        separator = _own(spec).separator
        if separator and isinstance(raw, list) and all(map(is_text, raw)):
            raw = separator.join(map(str, raw))
            if not raw.strip():
                return None
        return super().from_json(spec, raw, by_model=by_model)

    def warnings(self, spec: QuestionSpec, value: Value) -> list[str]:
        """Of what a model wrote elsewhere also what would be refused."""
        own, text = _own(spec), cast(str, value)
        if text in own.special:
            return []
        try:
            self.canonical(spec, text)
        except AnswerRefused as refused:
            return [str(refused), *_broken(own, text, Level.WARN)]
        return _broken(own, text, Level.WARN)

    def shown(self, spec: QuestionSpec, value: Value) -> str:
        return " / ".join(line for line in cast(str, value).splitlines() if line)

    def sign(self, spec: QuestionSpec, value: Value) -> str:
        return cut(self.shown(spec, value), 3)

    def written(self, spec: QuestionSpec, value: Value) -> str:
        return cast(str, value)

    def read(self, spec: QuestionSpec, text: str) -> Value | None:
        return self.canonical(spec, text) if text.strip() else None

    def key(self, spec: QuestionSpec, value: Value) -> str:
        """Without regard to case; of a list, neither to the order of its parts nor to how often one stands there."""
        own, text = _own(spec), cast(str, value)
        if text in own.special:
            return f"{_PART}{text}"
        if not own.separator:
            return text.casefold()
        return _PART.join(sorted({part.casefold() for part in own.parts(text)}))

    def distance(self, spec: QuestionSpec, a: Value, b: Value) -> float:
        """Characters changed, as a share of the longer text; of lists, the share of parts that only one has."""
        own = _own(spec)
        if self.same(spec, a, b):
            return 0.0
        if a in own.special or b in own.special:
            return 1.0
        if own.separator:
            of_a, of_b = ({part.casefold() for part in own.parts(cast(str, text))} for text in (a, b))
            return 1 - len(of_a & of_b) / len(of_a | of_b)
        return float(Levenshtein.normalized_distance(cast(str, a).casefold(), cast(str, b).casefold()))

    def from_judge(self, spec: QuestionSpec, text: str) -> Value:
        """What was written; of a list each line is a part, without quotes around it, and Japanese and Chinese signs
        separate parts, too. The signs of a list are no part of a text on one line."""
        own, text = _own(spec), unwrapped(spec, text)
        if not own.lines:
            text = (own.separator or " ").join(unlisted(text))
        if own.separator:
            for sign in _WIDE.get(own.separator, ""):
                text = text.replace(sign, own.separator)
            text = own.separator.join(unquoted(part.strip()) for part in text.split(own.separator))
        return self.canonical(spec, text)

    def to_label_studio(self, spec: QuestionSpec, value: Value) -> dict[str, Any]:
        return {"type": "textarea", "value": {"text": [value]}}

    def from_label_studio(self, spec: QuestionSpec, result: Mapping[str, Any]) -> Value | None:
        texts = label_studio_texts(spec, result)
        return self.read(spec, (_own(spec).separator or "\n").join(texts))

    def choices(self, spec: QuestionSpec) -> list[str]:
        return [*_own(spec).special, *_own(spec).completions]


def _own(spec: QuestionSpec) -> TextSpec:
    assert spec.text is not None  # the scheme sees to it
    return spec.text


def _joined(parts: list[str], separator: str) -> str:
    return f"{separator} ".join(part for part in parts if part)


def _broken(own: TextSpec, text: str, level: Level) -> list[str]:
    return [rule.message for rule in own.patterns if rule.level == level and _matches(rule.pattern, text)]


def _matches(pattern: str, text: str) -> bool:
    """No where it takes too long to say: of some patterns each further character doubles the time, and whoever types
    thirty of them would hold the process for hours."""
    try:
        return _compiled(pattern).search(text, timeout=_SECONDS) is not None
    except TimeoutError:
        return False


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    return regex.compile(pattern)
