"""Forwards of a batch of texts: with padding, beside their prompts (`prefixes`), or as steps that are captured
(`captured`). Tokens can be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache

from llm.engine import attention, prefixes
from llm.engine.caches import RoomyLayer, roomy_cache
from llm.engine.captured import Steps
from llm.engine.forwards import layer_kinds

# Columns of a batch that some lines leave empty, at least, before they are closed up.
_GAPS = 64


class Padded:
    """Forwards of a batch whose texts end together; a token's position counts what was seen before it, not padding.

    Once lines have gone on (`go_on`), each stands beside its prompt, and there is no padding any more; nor is there
    where they go on `by_steps`.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._cache = roomy_cache(model.config)
        self._seen: torch.Tensor | None = None  # (B, tokens fed): 1 where it is no padding
        self._prefixes: prefixes.Prefixes | None = None
        self._steps: Steps | None = None
        self._columns = 0  # that the last forward has added

    @property
    def beside(self) -> bool:
        return self._prefixes is not None

    @property
    def stepping(self) -> bool:
        return self._steps is not None

    def feed(self, tokens: torch.Tensor, seen: torch.Tensor | None = None) -> torch.Tensor:
        """The logits (B, V) after the last of `tokens` (B, T); `seen`: which of them are no padding, else all."""
        return self._fed(tokens, torch.ones_like(tokens) if seen is None else seen, keep=1)[:, -1]

    def _fed(self, tokens: torch.Tensor, new: torch.Tensor, *, keep: int) -> torch.Tensor:
        whole = new if self._seen is None else torch.cat([self._seen, new], dim=1)
        positions = (whole.cumsum(dim=1) - 1).clamp(min=0)[:, -tokens.shape[1] :]
        device = self._model.device
        output = self._model(
            input_ids=tokens.to(device),
            attention_mask=whole.to(device),
            position_ids=positions.to(device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=keep,
        )
        self._seen, self._columns = whole, tokens.shape[1]
        logits: torch.Tensor = output.logits[:, -keep:]
        return logits

    def go(self, fed: Sequence[Sequence[int]]) -> torch.Tensor:
        """Feed each line some tokens; the logits (N, V) after each of them, line by line."""
        if self._steps is not None:
            return self._steps.go(fed)
        if self._prefixes is not None:
            return self._go_beside(self._prefixes, fed)
        longest = max(map(len, fed))
        tokens = torch.tensor([[*line, *[0] * (longest - len(line))] for line in fed])
        seen = torch.tensor([[1] * len(line) + [0] * (longest - len(line)) for line in fed])
        logits = self._fed(tokens, seen, keep=longest)
        return logits[seen.bool().to(logits.device)]

    def _go_beside(self, beside: prefixes.Prefixes, fed: Sequence[Sequence[int]]) -> torch.Tensor:
        tokens, positions = beside.feed(fed)
        mask: Any = beside.mask(self._model.dtype)
        if kinds := layer_kinds(self._model.config.get_text_config()):
            mask = dict.fromkeys(kinds, mask)
        with attention.told(self._model, prefixes.NAME):
            output = self._model(
                input_ids=tokens[None],
                attention_mask=mask,
                position_ids=positions[None],
                past_key_values=beside.cache,
                use_cache=True,
                logits_to_keep=len(tokens),
            )
        logits: torch.Tensor = output.logits[0]
        return logits

    def take_back(self, kept: Sequence[int]) -> None:
        """Of what each line was fed last only so many tokens stay."""
        if (own := self._steps or self._prefixes) is not None:
            own.take_back(kept)
            return
        assert self._seen is not None
        stays = torch.arange(self._columns) < torch.tensor(kept)[:, None]
        self._seen[:, -self._columns :] *= stays.long()
        layers = [layer for layer in self._cache.layers if isinstance(layer, RoomyLayer) and layer.keys is not None]
        if (spare := self._columns - max(kept)) > 0:
            for layer in layers:
                layer.cut(spare)
            self._seen = self._seen[:, :-spare]
        # What others have kept is a gap in a line. Gaps are closed when there are many of them.
        longest = int(self._seen.sum(dim=1).max())
        if self._seen.shape[1] - longest > max(_GAPS, longest // 4):
            places = torch.argsort(self._seen, dim=1, stable=True)[:, -longest:]
            self._seen = self._seen.gather(1, places)
            for layer in layers:
                layer.gather(places)

    def keep(self, places: torch.Tensor) -> None:
        """The lines at these places are the batch from now on; one may be there several times."""
        if (own := self._steps or self._prefixes) is not None:
            own.keep(places)
            return
        assert self._seen is not None
        layers: Any = self._cache.layers
        for layer in layers:
            held = _held(layer)
            layer.batch_select_indices(places if held is None else places.to(held[0].device))
        self._seen = self._seen[places]

    def go_on(self, places: torch.Tensor) -> None:
        """As `keep`, but what was fed so far stays where it is, for all lines that go on with it."""
        assert self._seen is not None
        layers = [_held(layer) for layer in self._cache.layers]
        self._prefixes = prefixes.Prefixes(layers, self._seen, places)
        self._cache = roomy_cache(self._model.config)
        self._seen = None

    def by_steps(self, steps: Steps, places: torch.Tensor, room: int) -> None:
        """As `keep`, and each line goes on in the buffers of `steps`, by so many tokens at most."""
        assert self._seen is not None
        steps.begin([_held(layer) for layer in self._cache.layers], self._seen, places, room)
        self._steps = steps
        self._cache = roomy_cache(self._model.config)
        self._seen = None

    def begin_with(self, cache: DynamicCache, n: int) -> None:
        """Begin with the first n tokens of a cache of one line without padding."""
        self._cache = _copied(self._model, cache, n)
        self._seen = torch.ones((1, n), dtype=torch.long)

    def copied(self) -> DynamicCache:
        assert self._seen is not None
        return _copied(self._model, self._cache, self._seen.shape[1])


def _copied(model: Any, cache: DynamicCache, n: int) -> DynamicCache:
    copy = roomy_cache(model.config)
    for number, held in enumerate(map(_held, cache.layers)):
        if held is not None:
            copy.update(held[0][:, :, :n].clone(), held[1][:, :, :n].clone(), number)
    return copy


def _held(layer: Any) -> tuple[torch.Tensor, torch.Tensor] | None:
    """The keys and values of a layer; None of one that attends to other layers' keys, or to pictures that are not
    there."""
    keys = getattr(layer, "keys", None)
    return None if keys is None else (keys, layer.values)
