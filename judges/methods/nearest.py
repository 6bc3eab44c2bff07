"""Which lines of a document are nearest to an item, and which parts of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from judges.methods.addressing import has_word, speaks_to_readers
from judges.methods.prompt_files import NearestLines
from llm import encoders
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
    items: Sequence[str], lines: Mapping[str, Sequence[str]], by: NearestLines
) -> list[dict[str, list[str]]]:
    """Of each item, {kind: its nearest lines in the document's order}.

    With `by.parts` only those parts of a line stand there that are near enough themselves and at least half as near as
    the line. Left out are questions, which do not say that anything is there, what has a word that begins like one of
    `by.without`, and what speaks to whoever labels the document (`judges.methods.addressing`); a line of which nothing
    is left, too.

    Args:
        lines: of a document, by their kind.
        by: how many, by which encoder, and from which cosine on; there may be fewer, and none.

    Raises:
        EncoderError: the encoder is not here.
    """
    whole = list(chain.from_iterable(lines.values()))
    parts = {line: parts_of(line) for line in whole} if by.parts else {}
    cut = [line[part.begin : part.end] for line, of_line in parts.items() for part in of_line]
    texts = list(dict.fromkeys([*items, *whole, *cut]))
    vectors = encoders.encoder(by.encoder).encode(texts)
    place = {text: at for at, text in enumerate(texts)}
    product = vectors[[place[item] for item in items]] @ vectors.T
    cosines: FloatArray = np.asarray(product.toarray() if hasattr(product, "toarray") else product)
    found: list[dict[str, list[str]]] = [{} for _item in items]
    for of_item, row in zip(found, cosines, strict=True):
        near = dict(zip(texts, row.tolist(), strict=True))
        for kind, of_kind in lines.items():
            best = sorted(sorted(range(len(of_kind)), key=lambda at: -near[of_kind[at]])[: by.lines])
            chosen = [of_kind[at] for at in best if near[of_kind[at]] >= by.least]
            given = [_near_parts(line, parts[line], near, by) for line in chosen] if by.parts else chosen
            of_item[kind] = [line for line in given if line]
    return found


def _near_parts(line: str, parts: Sequence[Part], near: Mapping[str, float], by: NearestLines) -> str:
    """The parts of a line that an item is given, with what stands between two that follow each other; "" for none."""
    enough = max(by.least, near[line] / 2)
    runs: list[Part] = []
    before = None
    for part in parts:
        text = line[part.begin : part.end]
        if part.asks or near[text] < enough or speaks_to_readers(text) or has_word(text, by.without):
            before = None
            continue
        runs.append(part if before is None else Part(runs.pop().begin, part.end, False))
        before = part
    if len(runs) == 1 and (runs[0].begin, runs[0].end) == (parts[0].begin, parts[-1].end):
        return line
    return ", ".join(line[run.begin : run.end] for run in runs)
