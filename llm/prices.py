"""What tokens cost. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

# Of English prose and lists, by the tokenisers of Llama, Qwen and Gemma: a little under what they need.
LETTERS_A_TOKEN = 3.5
# What a chat template puts around a prompt: 30 of SmolLM2, whose template has a sentence of its own; others less.
TOKENS_A_CHAT = 20
_MILLION = 1_000_000


def tokens_read(letters: float, *, chats: float) -> float:
    """Of so many letters, about, in prompts of which so many have a chat template around them."""
    return letters / LETTERS_A_TOKEN + chats * TOKENS_A_CHAT


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


@dataclass(frozen=True)
class Prices:
    """Of a million tokens that are read and of a million that are written, in a currency."""

    read: Decimal
    written: Decimal
    currency: str

    def of(self, *, read: int, written: int) -> Decimal:
        """What so many tokens cost, exactly."""
        return (self.read * read + self.written * written) / _MILLION

    def stored(self) -> dict[str, str]:
        """As JSON."""
        return {"read": _plain(self.read), "written": _plain(self.written), "currency": self.currency}

    @classmethod
    def stored_as(cls, stored: Mapping[str, Any] | None) -> Prices | None:
        return None if not stored else cls(Decimal(stored["read"]), Decimal(stored["written"]), stored["currency"])


@dataclass(frozen=True)
class Spent:
    """Tokens that a model read and wrote, and what they cost by prices, where there are any."""

    read: int = 0
    written: int = 0
    prices: Prices | None = None

    @property
    def tokens(self) -> int:
        return self.read + self.written

    @property
    def cost(self) -> Decimal | None:
        return self.prices.of(read=self.read, written=self.written) if self.prices else None

    @property
    def currency(self) -> str:
        return self.prices.currency if self.prices else ""
