"""Texts of CoNLL-2003 and what is like it: a token a line, in its last column whether it is of a name.

    -DOCSTART- -X- O O

    Lech NNP I-NP B-PER
    met VBD I-VP O

The letter before a label is read as all of IOB1, IOB2, IOBES and BILOU mean it, and IOB2 is written. Nobody is named in
such a file. A text is its tokens with a blank between them, a sentence a line.

Source: Tjong Kim Sang and De Meulder (2003), Introduction to the CoNLL-2003 Shared Task.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple

from annotation.exchange.decoding import decoded
from annotation.exchange.json_reading import text_of
from annotation.exchange.marked.documents import Document, Given, Span
from annotation.exchange.marked.json_objects import document_as_told
from annotation.exchange.tables import Problems
from base.sentences import gettext_noop

ENDING = ".conll"
_BEGINS = "-DOCSTART-"
_NAMED = re.compile(r"-DOCSTART-\s+\((.+)\)")  # as files say which text it is that were made of CoNLL-2003
_TAG = re.compile(r"O|([BIESLU])(?:-(.+))?")
_BETWEEN = re.compile(r"\t| +")


def is_conll(start: bytes, name: str = "") -> bool:
    """Whether a file is called so, begins with a document, or with lines each of which is a token with a tag; the last
    one may be cut off."""
    lines = start.decode("utf-8-sig", "replace").split("\n")
    cells = [_cells(line) for line in lines[: max(len(lines) - 1, 1)]]
    tokens = [of for of in cells if of != [""] and not _is_comment(of)]
    if name.lower().endswith(ENDING) or (tokens and tokens[0][0].startswith(_BEGINS)):
        return True
    return bool(tokens) and all(map(_is_token, tokens))


def _cells(line: str) -> list[str]:
    line = line.strip(" \t\r\n")
    return [cell.strip(" ") for cell in line.split("\t")] if "\t" in line else _BETWEEN.split(line)


def _is_token(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and cells[0] != "" and _TAG.fullmatch(cells[-1]) is not None


def _is_comment(cells: Sequence[str]) -> bool:
    return cells[0].startswith("#") and not _is_token(cells)


# --- reading ---------------------------------------------------------------------------------------------------------


class _Token(NamedTuple):
    line: int
    word: str
    tag: str
    begins: bool  # a sentence


@dataclass(frozen=True)
class ConllSource:
    """A file of documents; of one in which none begins, each sentence is one.

    Args:
        rater: who answered, as a file of a ZIP is called.
        told: what our own ZIP says of each document, in their order.
    """

    stream: BinaryIO
    name: str
    rater: str = ""
    told: Sequence[Mapping[str, Any]] = ()

    @property
    def raters_of_files(self) -> tuple[str, ...]:
        return (self.rater,) if self.rater else ()

    def documents(self, problems: Problems) -> Iterator[Document]:
        for number, (line, name, tokens) in enumerate(self._each(problems)):
            told = self.told[number] if number < len(self.told) else {}
            whole = str(told.get("text", ""))
            starts = _starts_in(whole, tokens) if told else None
            if starts is not None:
                labels = found if isinstance(found := told.get("labels"), dict) else {}
                spans = (
                    one._replace(label=text_of(labels.get(one.label, one.label)))
                    for one in _spans(tokens, starts, problems)
                )
                yield document_as_told(line, told, whole, (Given(spans=tuple(spans)),))
                continue
            text, starts = _joined(tokens)
            given = Given(spans=tuple(_spans(tokens, starts, problems)))
            yield Document(line, name or str(number + 1), text, (given,), rater=self.rater)

    def _each(self, problems: Problems) -> Iterator[tuple[int, str, list[_Token]]]:
        """The line where each document begins, its name where it has one, its tokens."""
        self.stream.seek(0)
        starts = (line.removeprefix(codecs.BOM_UTF8) for line in self.stream)
        are_sentences = not any(line.startswith(_BEGINS.encode()) for line in starts)
        self.stream.seek(0)
        begun: tuple[int, str] | None = None
        tokens, is_new = list[_Token](), True
        for number, raw in enumerate(self.stream, 1):
            line = decoded(raw, self.name, number)
            cells = _cells(line)
            is_begun = cells[0].startswith(_BEGINS)
            if is_begun or cells == [""]:
                is_new = True
                if is_begun or are_sentences:
                    if begun or tokens:
                        yield *(begun or (tokens[0].line, "")), tokens
                    named = _NAMED.match(line)
                    begun, tokens = (number, named[1] if named else "") if is_begun else None, []
            elif not _is_comment(cells):
                if not _is_token(cells):
                    problems.add(
                        number,
                        gettext_noop(
                            "“%(words)s” is no token with a tag in its last column, such as O, B-PER or I-PER."
                        ),
                        words=line.strip()[:80],
                    )
                tokens.append(_Token(number, cells[0], cells[-1], is_new))
                is_new = False
        if begun or tokens:
            yield *(begun or (tokens[0].line, "")), tokens


def _joined(tokens: Iterable[_Token]) -> tuple[str, list[int]]:
    """The text of tokens, and where each stands in it."""
    parts, starts, at = list[str](), list[int](), 0
    for token in tokens:
        if parts:
            parts.append("\n" if token.begins else " ")
            at += 1
        starts.append(at)
        parts.append(token.word)
        at += len(token.word)
    return "".join(parts), starts


def _starts_in(text: str, tokens: Iterable[_Token]) -> list[int] | None:
    """Where each token stands in a text, which has but white space beside; None where they are others."""
    starts, at = list[int](), 0
    for token in tokens:
        start = text.find(token.word, at)
        if start < 0 or text[at:start].strip():
            return None
        starts.append(start)
        at = start + len(token.word)
    return None if text[at:].strip() else starts


def _spans(tokens: Iterable[_Token], starts: Iterable[int], problems: Problems) -> Iterator[Span]:
    """The names. One begins with B, S and U, where its label is another, and where none was begun in the sentence; it
    ends with E, L, S and U, and before whatever does not go on with it."""
    name: Span | None = None
    for token, start in zip(tokens, starts, strict=True):
        found = _TAG.fullmatch(token.tag)
        letter, label = (found[1] or "O", found[2] or "") if found else ("O", "")
        goes_on = name is not None and letter in "IEL" and label == name.label and not token.begins
        if name is not None and not goes_on:
            yield name
            name = None
        if letter == "O":
            continue
        if letter in "EL" and not goes_on:
            problems.add(
                token.line, gettext_noop("“%(tag)s” ends a name that was not begun before it."), tag=token.tag[:80]
            )
        name = Span(name.start if name else start, start + len(token.word), label)
        if letter in "ELSU":
            yield name
            name = None
    if name is not None:
        yield name


# --- writing ---------------------------------------------------------------------------------------------------------


def can_say(text: str, spans: Sequence[Span]) -> bool:
    """Whether tags can say these, in the order of the text: none overlaps, is of several lines or has blanks around."""
    words = [text[span.start : span.end] for span in spans]
    return not any(before.end > after.start for before, after in pairwise(spans)) and not any(
        "\n" in one or one != one.strip() for one in words
    )


def tokens_of(text: str, cuts: Collection[int] = ()) -> Iterator[tuple[int, int]]:
    """Begin and end of each token: letters and digits that stand together, each other sign alone, either with the marks
    that combine with it. `cuts`: where one ends, too.

    >>> text = "Ann’s 3 IBMs."
    >>> [text[start:end] for start, end in tokens_of(text, {11})]
    ['Ann', '’', 's', '3', 'IBM', 's', '.']
    """
    start, of_word = -1, False
    for at, sign in enumerate(text):
        is_word = sign.isalnum() or sign == "_"
        joins = unicodedata.category(sign)[0] == "M" or sign in "\u200c\u200d"
        if start >= 0 and at not in cuts and (joins or (of_word and is_word)):
            continue
        if start >= 0:
            yield start, at
        start, of_word = -1 if sign.isspace() else at, is_word
    if start >= 0:
        yield start, len(text)


def written(text: str, spans: Sequence[Span], cuts: Collection[int]) -> str:
    """A document with the four columns of CoNLL-2003, of which two say nothing. `spans`: such as tags `can_say`."""
    lines = [f"{_BEGINS} -X- O O\n"]
    before, to_come = 0, iter(spans)
    span = next(to_come, None)
    for start, end in tokens_of(text, cuts):
        if len(lines) == 1 or "\n" in text[before:start]:
            lines.append("\n")
        while span and span.end <= start:
            span = next(to_come, None)
        tag = f"{'B' if start == span.start else 'I'}-{span.label}" if span and span.start <= start else "O"
        lines.append(f"{text[start:end]} -X- O {tag}\n")
        before = end
    return "".join([*lines, "\n"])
