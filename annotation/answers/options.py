"""What choices, scales and flags share: the answer is the key of one of the question's options. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from annotation.answers.base import MISSING_IN_LABEL_STUDIO, AnswerKind, AnswerRefused, is_text, tidy, unwrapped
from annotation.answers.codes import Value
from annotation.scheme.spec import Kind, OptionSpec, QuestionSpec
from base.sentences import gettext_noop
from base.text import whole_number

_FLAG_WORDS = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}


def words(spec: QuestionSpec) -> dict[str, OptionSpec]:
    """{a word in small letters: the option it names}: keys before labels before numbers before yes and no."""
    return _words(spec.kind, spec.options)


@lru_cache(maxsize=512)
def _words(kind: Kind, options: tuple[OptionSpec, ...]) -> dict[str, OptionSpec]:
    by_key = {option.key: option for option in options}
    found: dict[str, OptionSpec] = {}
    if kind == Kind.FLAG:
        found |= {word: by_key[key] for word, key in _FLAG_WORDS.items() if key in by_key}
    found |= {str(option.value): option for option in options if option.value is not None}
    found |= {option.label.casefold(): option for option in options}
    return found | by_key


class OptionAnswer(AnswerKind):
    """Its value and its code are the option's key."""

    def canonical(self, spec: QuestionSpec, raw: Any) -> Value:
        if isinstance(raw, bool):
            raw = "yes" if raw else "no"
        if is_text(raw) and (option := self._named(spec, tidy(str(raw)))):
            return option.key
        raise AnswerRefused(
            gettext_noop("“%(answer)s” is no answer to “%(question)s”; it takes: %(options)s."),
            answer=str(raw)[:80],
            question=spec.title,
            options=", ".join(option.label for option in spec.options),
        )

    def code(self, spec: QuestionSpec, value: Value) -> str:
        return cast(str, value)

    def value(self, spec: QuestionSpec, code: str) -> Value:
        if not any(option.key == code for option in spec.options):
            raise AnswerRefused(
                gettext_noop("“%(option)s” is no answer to “%(question)s”."), option=code[:80], question=spec.title
            )
        return code

    def shown(self, spec: QuestionSpec, value: Value) -> str:
        return spec.option(cast(str, value)).label

    def sign(self, spec: QuestionSpec, value: Value) -> str:
        return spec.option(cast(str, value)).sign

    def written(self, spec: QuestionSpec, value: Value) -> str:
        return cast(str, value)

    def for_model(self, spec: QuestionSpec, value: Value) -> str:
        return self.shown(spec, value)

    def read(self, spec: QuestionSpec, text: str) -> Value | None:
        return self.canonical(spec, text) if text.strip() else None

    def from_json(self, spec: QuestionSpec, raw: Any, *, by_model: bool = False) -> Value | None:
        """Some programs write the one option that was chosen as a list of one, and none as an empty list."""
        if raw == []:
            return None
        return super().from_json(spec, raw[0] if isinstance(raw, list) and len(raw) == 1 else raw, by_model=by_model)

    def key(self, spec: QuestionSpec, value: Value) -> str:
        return cast(str, value)

    def from_judge(self, spec: QuestionSpec, text: str) -> Value:
        """The option that the whole answer names, else the only one whose label stands in it."""
        text = unwrapped(spec, text)
        for piece in (text, text.splitlines()[0]):
            if option := self._named(spec, piece.strip().strip(".*_ ")):
                return option.key
        named = _standing_in(spec, text)
        if len(named) == 1:
            return named[0].key
        raise AnswerRefused(
            gettext_noop("The model named several answers: %(options)s.")
            if named
            else gettext_noop("The model named none of the answers: “%(text)s”."),
            options=", ".join(option.label for option in named),
            text=text[:80],
        )

    def to_label_studio(self, spec: QuestionSpec, value: Value) -> dict[str, Any]:
        return {"type": "choices", "value": {"choices": [spec.option(cast(str, value)).label]}}

    def from_label_studio(self, spec: QuestionSpec, result: Mapping[str, Any]) -> Value | None:
        said = result.get("value") or {}
        match result.get("type"):
            case "choices":
                chosen = list(said.get("choices") or ())
            case "rating" | "number" as kind:
                chosen = [said[kind]] if said.get(kind) is not None else []
            case other:
                raise AnswerRefused(MISSING_IN_LABEL_STUDIO, question=spec.title, type=str(other)[:40])
        if len(chosen) > 1:
            raise AnswerRefused(gettext_noop("“%(question)s” takes one answer, not several."), question=spec.title)
        return self.canonical(spec, chosen[0]) if chosen else None

    def choices(self, spec: QuestionSpec) -> list[str]:
        return [option.label for option in spec.options]

    @staticmethod
    def _named(spec: QuestionSpec, word: str) -> OptionSpec | None:
        option = words(spec).get(word.casefold())
        if option is None and (number := whole_number(word)) is not None:
            option = words(spec).get(str(number))
        return option


def _standing_in(spec: QuestionSpec, text: str) -> list[OptionSpec]:
    """The options whose label stands in a text as words of its own, and not inside a longer label that stands there."""
    found: dict[str, OptionSpec] = {}
    text = text.casefold()
    by_word = words(spec)
    for word in sorted(by_word, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
        if re.search(pattern, text):
            found.setdefault(by_word[word].key, by_word[word])
            text = re.sub(pattern, " ", text)
    return list(found.values())
