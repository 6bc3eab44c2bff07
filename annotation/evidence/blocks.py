"""Evidence: the blocks of text that people are shown and judges prompted with; kinds.py has their kinds. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Block:
    kind: str
    text: str


# Languages that Snowball stems, by their ISO 639-1 code.
LANGUAGES = {
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}


def blocks_to_json(blocks: Iterable[Block]) -> list[dict[str, str]]:
    return [{"kind": block.kind, "text": block.text} for block in blocks]


def blocks_from_json(data: Sequence[dict[str, Any]]) -> list[Block]:
    return [Block(str(item["kind"]), str(item["text"])) for item in data]
