"""What every kind of answer knows about its answers. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from annotation.answers.codes import VALUE, Value, dumps
from annotation.scheme.spec import QuestionSpec
from base.sentences import gettext, gettext_noop
from base.text import storable

MISSING_IN_LABEL_STUDIO = gettext_noop("“%(question)s” cannot be read from a result of the type “%(type)s”.")


class AnswerRefused(ValueError):
    """What was given is no answer. `str()` is the sentence, in the language of whoever asked.

    `template` and `values` are for those who tell it later: `gettext(template) % values`.
    """

    def __init__(self, template: str, **values: int | str) -> None:
        self.template = template
        # What is quoted of somebody's JSON may be half a letter, which no page can say.
        self.values = {name: storable(said) if isinstance(said, str) else said for name, said in values.items()}
        super().__init__(template)

    def __str__(self) -> str:
        return gettext(self.template) % self.values


class AnswerKind(ABC):
    """One kind of answer. A value is canonical: it comes from `canonical`, or from what was stored of such a one.

    A new kind is a module with a subclass, a line in `annotation.answers.KINDS`, a name in `Kind` and, if it has
    settings, a spec of its own in the scheme.
    """

    @abstractmethod
    def canonical(self, spec: QuestionSpec, raw: Any) -> Value:
        """The value that `raw` means: JSON of the page, a word of a file, what a judge was read to say.

        Applied to a value it gives the same value.

        Raises:
            AnswerRefused: it is no answer to this question.
        """

    @abstractmethod
    def shown(self, spec: QuestionSpec, value: Value) -> str:
        """The value on one line, as a cell shows it."""

    def entries(self, spec: QuestionSpec, value: Value) -> list[str]:
        """The value as a small list, an entry each, where it has several parts; else as it is shown."""
        return [self.shown(spec, value)]

    @abstractmethod
    def sign(self, spec: QuestionSpec, value: Value) -> str:
        """The value in at most three characters, a number in eight."""

    @abstractmethod
    def read(self, spec: QuestionSpec, text: str) -> Value | None:
        """The value of its text form, which files, the clipboard and the editor of a cell share; None for no text.

        Raises:
            AnswerRefused: the text says no answer to this question.
        """

    def stored(self, spec: QuestionSpec, raw: Any) -> Value:
        """The value of JSON that was stored: as `canonical`, but rules for whoever writes are none for what stands.

        Raises:
            AnswerRefused: it is no answer to this question.
        """
        return self.canonical(spec, raw)

    def taken(self, spec: QuestionSpec, text: str) -> Value | None:
        """The value of the text form of what a model wrote elsewhere: as `read`, but with the rules that it breaks.
        Whether models keep to them is what is asked; `warnings` says which not.

        Raises:
            AnswerRefused: the text says no answer to this question.
        """
        return self.read(spec, text)

    def from_json(self, spec: QuestionSpec, raw: Any, *, by_model: bool = False) -> Value | None:
        """The value of a list or an object of JSON in a file, None for nothing. `by_model`: a model wrote it, as in
        `taken`.

        Raises:
            AnswerRefused: it is no answer to this question.
        """
        return self.stored(spec, raw) if by_model else self.canonical(spec, raw)

    @abstractmethod
    def from_judge(self, spec: QuestionSpec, text: str) -> Value:
        """The value that a model wrote.

        Raises:
            AnswerRefused: it says none, or several.
        """

    @abstractmethod
    def to_label_studio(self, spec: QuestionSpec, value: Value) -> dict[str, Any]:
        """`type` and `value` of a result of Label Studio."""

    @abstractmethod
    def from_label_studio(self, spec: QuestionSpec, result: Mapping[str, Any]) -> Value | None:
        """The value of such a result, None where it says nothing.

        Raises:
            AnswerRefused: it says no answer to this question.
        """

    def warnings(self, spec: QuestionSpec, value: Value) -> list[str]:
        """What the question's own rules warn about; each a sentence."""
        return []

    def code(self, spec: QuestionSpec, value: Value) -> str:
        return VALUE + dumps(value)

    def value(self, spec: QuestionSpec, code: str) -> Value:
        """The value of a code.

        Raises:
            AnswerRefused: it is no code of an answer to this question.
        """
        if not code.startswith(VALUE):
            raise AnswerRefused(
                gettext_noop("“%(answer)s” is no answer to “%(question)s”."), answer=code[:80], question=spec.title
            )
        try:
            raw = json.loads(code[1:])
        except (ValueError, RecursionError) as error:
            raise AnswerRefused(gettext_noop("“%(text)s” is no JSON."), text=code[1:81]) from error
        return self.stored(spec, raw)

    def written(self, spec: QuestionSpec, value: Value) -> str:
        """The text form, from which `read` gives the value back."""
        return self.shown(spec, value)

    def for_model(self, spec: QuestionSpec, value: Value) -> str:
        """The value as a model shall write it, from which `from_judge` gives it back."""
        return self.written(spec, value)

    def key(self, spec: QuestionSpec, value: Value) -> str:
        """Equal for two values that are the same answer in the question's own sense."""
        return dumps(value)

    def same(self, spec: QuestionSpec, a: Value, b: Value) -> bool:
        return self.key(spec, a) == self.key(spec, b)

    def distance(self, spec: QuestionSpec, a: Value, b: Value) -> float:
        """How far one was edited to become the other: 0 the same, 1 nothing in common."""
        return 0.0 if self.same(spec, a, b) else 1.0

    def choices(self, spec: QuestionSpec) -> list[str]:
        """Texts that the scheme offers to whoever types."""
        return []


# --- text that is part of answers -----------------------------------------------------------------------------------


def tidy(text: str, *, lines: bool = False) -> str:
    """NFC, without what no database stores, blanks collapsed; with `lines`, line breaks stay.

    >>> tidy("  flour \\n water ")
    'flour water'
    """
    text = unicodedata.normalize("NFC", storable(text))
    if not lines:
        return " ".join(text.split())
    tidied = "\n".join(" ".join(line.split()) for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", tidied).strip("\n")


def is_text(raw: Any) -> bool:
    """Text, or a number that can be taken for one."""
    return isinstance(raw, str | int | float) and not isinstance(raw, bool)


def cut(text: str, longest: int) -> str:
    """At most `longest` characters, the last of them a dot where something was left out."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def escape(text: str, marks: str) -> str:
    """A backslash before each of `marks` and before itself; line breaks become `\\n`.

    >>> print(escape("a, b", ","))
    a\\, b
    """
    escaped = "".join("\\" + sign if sign in marks or sign == "\\" else sign for sign in text)
    return escaped.replace("\n", "\\n")


def unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text, flags=re.DOTALL)


def split(text: str, mark: str) -> list[str]:
    """Split at a mark that no backslash stands before; the pieces keep their escapes.

    >>> split("flour, salt\\\\, fine", ",")
    ['flour', ' salt\\\\, fine']
    """
    pieces, start, position = [], 0, 0
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text.startswith(mark, position):
            pieces.append(text[start:position])
            position += len(mark)
            start = position
        else:
            position += 1
    return [*pieces, text[start:]]


# --- what models write ----------------------------------------------------------------------------------------------

_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "‘": "’", "`": "`"}


def unwrapped(spec: QuestionSpec, text: str) -> str:
    """What a model wrote without a code fence, the words “Answer:” or the question's title before it, and quotes."""
    text = storable(text).strip()
    if found := _FENCE.search(text):
        text = found[1].strip()
    names = "|".join(re.escape(name) for name in ("the answer is", "final answer", "answer", spec.title, spec.key))
    text = re.sub(rf"\A[*_#\s]*(?:{names})[*_\s]*(?::|=|(?<=is))[*_\s]*", "", text, count=1, flags=re.IGNORECASE)
    text = unquoted(text)
    if not text:
        raise AnswerRefused(gettext_noop("The model wrote no answer."))
    return text


def unquoted(text: str) -> str:
    """A text without the quotes around it.

    >>> unquoted("“a”"), unquoted("'a', 'b'")
    ('a', "'a', 'b'")
    """
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and {text[0], text[-1]}.isdisjoint(text[1:-1]):
        return text[1:-1].strip()
    return text


_BULLET = re.compile(r"^\s*[-*•+–]\s+")
_NUMBER = re.compile(r"^\s*\(?\d{1,3}[.)]\s+")


def unlisted(text: str) -> list[str]:
    """The lines of what a model wrote, without empty ones and without the signs that make a list of them; of a single
    line a number at its beginning stays.

    >>> unlisted("1. flour\\n2. water"), unlisted("- 2. half")
    (['flour', 'water'], ['2. half'])
    """
    lines = [line for of in text.splitlines() if (line := _BULLET.sub("", of).strip())]
    return [_NUMBER.sub("", line) for line in lines] if len(lines) > 1 else lines


def label_studio_texts(spec: QuestionSpec, result: Mapping[str, Any]) -> list[str]:
    """The texts of a `textarea`."""
    if result.get("type") != "textarea":
        raise AnswerRefused(MISSING_IN_LABEL_STUDIO, question=spec.title, type=str(result.get("type"))[:40])
    found = (result.get("value") or {}).get("text") or []
    texts = [found] if isinstance(found, str) else found
    return [str(text) for text in texts if text is not None and str(text).strip()]
