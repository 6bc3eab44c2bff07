"""What floors above register with this one when they are loaded: whom it tells that a model's price has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llm.models import LanguageModel
from llm.prices import Prices


@dataclass(frozen=True)
class NewPrice:
    """A stored model costs something else from now on. `by`: the user who says so, `study`: in which; None where
    nobody, or no study, is known."""

    model: LanguageModel
    before: Prices | None
    by: Any
    study: Any

    def __str__(self) -> str:
        return f"price of {self.model.name}: {_told(self.before)} -> {_told(self.model.prices)}"


def _told(prices: Prices | None) -> str:
    if prices is None:
        return "none"
    of = prices.stored()
    return f"{of['read']} read, {of['written']} written ({of['currency']})"


_listeners: list[Callable[[NewPrice], object]] = []


def register_new_prices(listener: Callable[[NewPrice], object]) -> None:
    """Have `listener` told, in the transaction that changes a price."""
    _listeners.append(listener)


def tell_new_price(model: LanguageModel, before: Prices | None, *, by: Any = None, study: Any = None) -> None:
    """Tell who listens, if the model's prices are not what they were `before`."""
    if model.prices != before:
        for listener in _listeners:
            listener(NewPrice(model, before, by, study))
