"""GGUF files, read once where transformers reads them three times.

A GGUF file has its tokeniser in its head: every token and every merge is a field of its own. gguf makes an array of
each, as a part of a mapped file, and transformers asks it anew for the configuration, the tokeniser and the weights;
for the weights it also makes the table of all names of tensors once for each module of the model. With SmolLM2-135M
that was two thirds of the time that a judge took to start.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

_patching = threading.RLock()


@contextmanager
def read_once() -> Iterator[None]:
    """Within it, transformers reads each GGUF file once, and makes each table of names once. What it finds is the
    same. One thread at a time is within it."""
    gguf: Any = importlib.import_module("gguf")
    with _patching:
        before = gguf.GGUFReader, gguf.get_tensor_name_map
        gguf.GGUFReader = lru_cache(maxsize=None)(_reader_of(gguf.GGUFReader))
        gguf.get_tensor_name_map = lru_cache(maxsize=None)(gguf.get_tensor_name_map)
        try:
            yield
        finally:
            gguf.GGUFReader, gguf.get_tensor_name_map = before


def _reader_of(reader: Any) -> Any:
    """gguf's reader over a plain array of the mapped file: a part of one is made in a fraction of the time."""

    class Reader(reader):  # type: ignore[misc]  # of a library without types
        @property
        def data(self) -> Any:
            return self._plain

        @data.setter
        def data(self, mapped: Any) -> None:
            self._plain = np.asarray(mapped)

    return Reader
