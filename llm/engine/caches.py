"""Keys and values of texts that grow token by token, without a copy of all of them at each token."""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

# Tokens for which there is room when keys and values have to be moved.
_ROOM = 64


class RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """As `DynamicLayer`, whose keys and values are joined with each new token's, but in a buffer with room for more."""

    _keys: torch.Tensor | None = None
    _values: torch.Tensor | None = None
    _of: torch.Tensor | None = None  # the keys that are a view of the buffer; others were put in their place since

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        n = self.get_seq_length()
        end = n + key_states.shape[-2]
        if self._keys is None or self._values is None or self._of is not self.keys or end > self._keys.shape[-2]:
            old = (self.keys, self.values) if n else None
            batch, heads, _tokens, size = key_states.shape
            self._keys = key_states.new_empty((batch, heads, end + _ROOM, size))
            self._values = value_states.new_empty((*value_states.shape[:2], end + _ROOM, value_states.shape[-1]))
            if old is not None:
                self._keys[:, :, :n], self._values[:, :, :n] = old  # type: ignore[assignment]
        self._keys[:, :, n:end], self._values[:, :, n:end] = key_states, value_states
        keys, values = self._keys[:, :, :end], self._values[:, :, :end]
        self.keys, self.values, self._of = keys, values, keys
        return keys, values

    def cut(self, n: int) -> None:
        """Drop the last n tokens, and keep their room."""
        assert self.keys is not None
        assert self.values is not None
        buffered = self._of is self.keys
        self.keys, self.values = self.keys[:, :, :-n], self.values[:, :, :-n]
        if buffered:
            self._of = self.keys

    def gather(self, places: torch.Tensor) -> None:
        """Of each text (B,) only the tokens at its places (B, K) stay, in that order."""

        def taken(states: torch.Tensor) -> torch.Tensor:
            there = places.to(states.device)
            return states.gather(2, there[:, None, :, None].expand(-1, states.shape[1], -1, states.shape[3]))

        assert self.keys is not None
        assert self.values is not None
        self.keys, self.values = taken(self.keys), taken(self.values)


def _roomy() -> RoomyLayer:
    return RoomyLayer()  # type: ignore[no-untyped-call]


def roomy_cache(config: Any) -> DynamicCache:
    """The cache of a model, its layers that keep everything with room; those that keep a window as they are."""
    cache = DynamicCache(config=config)
    cache.layers = [_roomy() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache
