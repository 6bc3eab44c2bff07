"""Which lines of a document are nearest to an item. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from judges.methods.prompt_files import NearestLines
from llm import encoders


def nearest_to(
    items: Sequence[str], lines: Mapping[str, Sequence[str]], by: NearestLines
) -> list[dict[str, list[str]]]:
    """Of each item, {kind: its nearest lines in the document's order}.

    Args:
        lines: of a document, by their kind.
        by: how many, by which encoder, and from which cosine on; there may be fewer, and none.

    Raises:
        EncoderError: the encoder is not here.
    """
    texts = list(dict.fromkeys([*items, *chain.from_iterable(lines.values())]))
    place = {text: at for at, text in enumerate(texts)}
    vectors = encoders.encoder(by.encoder).encode(texts)
    found: list[dict[str, list[str]]] = [{} for _item in items]
    for kind, of_kind in lines.items():
        if not of_kind:
            for of_item in found:
                of_item[kind] = []
            continue
        product = vectors[[place[item] for item in items]] @ vectors[[place[line] for line in of_kind]].T
        cosines = np.asarray(product.toarray() if hasattr(product, "toarray") else product)
        for of_item, mine in zip(found, cosines, strict=True):
            best = np.sort(np.argsort(-mine, kind="stable")[: by.lines])
            of_item[kind] = [of_kind[at] for at in best.tolist() if mine[at] >= by.least]
    return found
