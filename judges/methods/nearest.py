"""Which lines of a document are nearest to an item, and which parts of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from judges.methods.addressing import has_word, speaks_to_readers
from judges.methods.prompt_files import NearestLines
from llm import encoders, neutralising
from llm.encoders import FloatArray

# Where a line goes on to something else: line ends, brackets, stops of several scripts (but not those of a number),
# dashes that stand by themselves, and words that join or begin a clause.
_BREAK = re.compile(
    r"[\n\r\x85\u2028\u2029;!?()\[\]{}<>|*=#•…¿¡。、，；：！？（）「」【】।،؛؟]+|[.,:](?!\d)|\s[-–—~/]+\s|--+|"
    r"\b(?=(?:and|or|but|then|when|while|since|if|whatever|und|oder|aber|wenn|et|ou|mais|quand|pero|cuando)\s)",
    re.IGNORECASE,
)
_ASKS = re.compile("[?？؟]")


class Part(NamedTuple):
    """A part of a line: where it begins and ends, in characters, and whether it is a question."""

    begin: int
    end: int
    asks: bool

    def of(self, line: str) -> str:
        return line[self.begin : self.end]


def parts_of(line: str) -> list[Part]:
    """What stands between stops, commas, brackets, dashes and conjunctions, without the spaces about it."""
    parts, begin = [], 0
    for found in chain(_BREAK.finditer(line), [None]):
        end = found.start() if found else len(line)
        if text := line[begin:end].strip():
            inner = line.index(text, begin)
            parts.append(Part(inner, inner + len(text), bool(found and _ASKS.search(found.group()))))
        begin = found.end() if found else end
    return parts


def nearest_to(
    items: Sequence[str], lines: Mapping[str, Sequence[str]], by: NearestLines, *, answers: Sequence[str] = ()
) -> list[dict[str, list[str]]]:
    """Of each item, {kind: its nearest lines in the document's order}.

    With `by.without` a line is given without its questions, which do not say that anything is there, without parts in
    which a word begins so, and without those that speak to whoever labels the document (`judges.methods.addressing`).
    With `by.parts` this is so too, and of the other parts only those are given that are near enough and at least half
    as near as the line and the nearest of them; a line is then as near as it is whole or, if that is more, half as near
    as this part.

    Args:
        lines: of a document, by their kind.
        by: how many, by which encoder, and from which cosine on; there may be fewer, and none.
        answers: the judge's own words for its answers, which `by.without_answers` leaves out of what is given.

    Raises:
        EncoderError: the encoder is not here.
    """
    whole = list(dict.fromkeys(chain.from_iterable(lines.values())))
    parts = {line: _usable(line, by.without) if by.parts or by.without else [] for line in whole}
    cut = [part.of(line) for line, of_line in parts.items() for part in of_line if part is not None and by.parts]
    texts = list(dict.fromkeys([*items, *whole, *cut]))
    vectors = encoders.encoder(by.encoder).encode(texts)
    place = {text: at for at, text in enumerate(texts)}
    product = vectors[[place[item] for item in items]] @ vectors.T
    cosines: FloatArray = np.asarray(product.toarray() if hasattr(product, "toarray") else product)
    unsaid = answers if by.without_answers else ()
    found: list[dict[str, list[str]]] = [{} for _item in items]
    for of_item, row in zip(found, cosines, strict=True):
        near = dict(zip(texts, row.tolist(), strict=True))
        given = {line: _given(line, parts[line], near, by) for line in whole}
        for kind, of_kind in lines.items():
            best = sorted(sorted(range(len(of_kind)), key=lambda at: -given[of_kind[at]][0])[: by.lines])
            chosen = [text for cosine, text in (given[of_kind[at]] for at in best) if cosine >= by.least]
            of_item[kind] = [left for text in chosen if (left := neutralising.without(text, unsaid))]
    return found


def _given(line: str, parts: Sequence[Part | None], near: Mapping[str, float], by: NearestLines) -> tuple[float, str]:
    """How near a line is to an item, and what is given of it; "" for nothing."""
    if by.parts:
        return _near_parts(line, parts, near, by.least)
    return near[line], _joined(line, parts, parts) if by.without else line


def _usable(line: str, without: Sequence[str]) -> list[Part | None]:
    """The parts of a line in their order, None in the place of those that no item is given."""
    return [
        None if part.asks or speaks_to_readers(part.of(line)) or has_word(part.of(line), without) else part
        for part in parts_of(line)
    ]


def _near_parts(line: str, parts: Sequence[Part | None], near: Mapping[str, float], least: float) -> tuple[float, str]:
    nearest = max((near[part.of(line)] for part in parts if part is not None), default=-1.0)
    enough = max(least, near[line] / 2, nearest / 2)
    kept = [part if part is not None and near[part.of(line)] >= enough else None for part in parts]
    return max(near[line], nearest / 2), _joined(line, parts, kept)


def _joined(line: str, parts: Sequence[Part | None], kept: Sequence[Part | None]) -> str:
    """The parts that are kept, with what stands between two that follow each other; the line where none is left out."""
    runs: list[Part] = []
    goes_on = False
    for part in kept:
        if part is not None:
            runs.append(Part(runs.pop().begin if goes_on else part.begin, part.end, False))
        goes_on = part is not None
    first, last = (parts[0], parts[-1]) if parts else (None, None)
    is_whole = first is not None and last is not None and runs == [Part(first.begin, last.end, False)]
    return line if is_whole else ", ".join(run.of(line) for run in runs)
