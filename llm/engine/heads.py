"""The heads of a model's layers, as its configuration tells them."""

from __future__ import annotations

from typing import Any, NamedTuple


class Heads(NamedTuple):
    """Of a layer: how many heads, how many of them have keys of their own, and numbers of a head; 0 where a
    configuration says nothing."""

    n: int
    of_keys: int
    size: int

    @property
    def sharing(self) -> int:
        """How many heads share a key."""
        return max(1, self.n // self.of_keys) if self.of_keys else 1


def heads_of(config: Any) -> Heads:
    """Of a text configuration."""
    n = getattr(config, "num_attention_heads", None) or 0
    of_keys = getattr(config, "num_key_value_heads", None) or n
    size = getattr(config, "head_dim", None) or (getattr(config, "hidden_size", 0) // n if n else 0)
    return Heads(n, of_keys, size)
