"""Whether a model takes what the generator does with a batch: tried out on a few random texts."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch

from llm.engine import captured, prefixes, probing
from llm.engine.caches import RoomyLayer, roomy_cache
from llm.engine.captured import Steps
from llm.engine.forwards import layer_kinds
from llm.engine.padded import Padded

log = logging.getLogger(__name__)


def only_full_attention(model: Any) -> bool:
    """Whether padding in the middle is harmless too: a window is counted in tokens fed, padding among them."""
    config = model.config.get_text_config()
    if kinds := set(getattr(config, "layer_types", None) or []):
        return kinds == {"full_attention"}
    return not getattr(config, "sliding_window", None) and not probing.reaches(config, least=1)


def why_no_batches(model: Any) -> str | None:
    """Why this model's prompts cannot be answered together, in a sentence; None if they can: tried out on prompts of
    different lengths, fed in pieces, of which one leaves and one comes twice, as the generator does it."""
    kinds = set(layer_kinds(model.config.get_text_config()))
    if strange := kinds - {"full_attention", "sliding_attention"}:
        return f"The model has layers of the kind {', '.join(sorted(strange))}."
    if "position_ids" not in inspect.signature(model.forward).parameters:
        return "The model takes no positions."
    why = probing.why_never_together(model)
    return why or _probe(model) or probing.with_a_short_window(model, _probe)


def takes_prefixes(model: Any) -> bool:
    """Whether prompts and answers can go on by `prefixes`: tried out in the same way, with guesses taken back."""
    return prefixes.fits(model) and _probe(model, Padded.go_on, guesses=True) is None


def takes_steps(model: Any) -> bool:
    """Whether answers can go on by steps that are captured: tried out in the same way, in buffers with a short window
    too."""

    def by_steps(forwards: Padded, places: torch.Tensor) -> None:
        forwards.by_steps(Steps(model), places, room=8)

    def probe(model: Any) -> str | None:
        return _probe(model, by_steps, guesses=True)

    if not captured.fits(model):
        return False
    try:
        windowed = probe(model) is None and probing.with_a_short_window(model, probe) is None
        return windowed and _starts_again_as_before(model)
    except torch.OutOfMemoryError:  # a card with no room for buffers may have some for answers without
        log.info("Steps of answers are not captured: trying them out took more memory than there is")
        return False


def _starts_again_as_before(model: Any) -> bool:
    """Whether steps that were captured give, with other tokens, what they give when each product is started."""
    texts = [probing.draw(model, 9, seed=seed) for seed in range(3)]
    with torch.inference_mode():
        ways = []
        for captures in (True, False):
            forwards = Padded(model)
            forwards.feed(torch.tensor([text[:4] for text in texts]))
            forwards.by_steps(Steps(model, captures=captures), torch.arange(3), room=8)
            ways.append(torch.stack([forwards.go([[text[n]] for text in texts]).float() for n in range(4, 8)]))
    return float((ways[0].log_softmax(-1) - ways[1].log_softmax(-1)).abs().max()) < probing.tolerance(model, noise=0.0)


def takes_guesses(model: Any) -> bool:
    """Whether this model can be fed guesses in a batch, and have them taken back: tried out in the same way."""
    cache = roomy_cache(model.config)
    roomy = all(isinstance(layer, RoomyLayer) for layer in cache.layers)
    return roomy and _probe(model, guesses=True) is None


def _probe(
    model: Any, keep: Callable[[Padded, torch.Tensor], None] | None = None, *, guesses: bool = False
) -> str | None:
    off, noise = [], []
    for seed in range(probing.SEEDS):
        texts = [probing.draw(model, n + 3, seed=10 * seed + n) for n in (4, 11, 26)]
        with torch.inference_mode():
            alone = [_next_tokens(model, text) for text in texts]
            try:
                together = _together(model, texts, keep or Padded.keep, guesses=guesses)
            except torch.OutOfMemoryError:
                raise
            except Exception as error:  # whatever a model says to arguments that it does not know
                return f"The model refused a batch: {error}"
            off.append(max(float((one - other).abs().max()) for one, other in zip(together, alone, strict=True)))
            if off[0] < probing.tolerance(model, noise=0.0):
                return None
            with probing.shaken(model, seed):
                shaken = [_next_tokens(model, text) for text in texts]
            noise.append(max(float((one - other).abs().max()) for one, other in zip(shaken, alone, strict=True)))
    return probing.verdict(model, off, noise, what="A batch")


def _next_tokens(model: Any, text: Sequence[int]) -> torch.Tensor:
    """Of a whole text the log-probabilities of its last three tokens."""
    fed = torch.tensor([text[:-1]], device=model.device)
    logits = model(input_ids=fed, use_cache=False).logits[0, len(text) - 4 : len(text) - 1].float().cpu()
    found: torch.Tensor = logits.log_softmax(-1)[torch.arange(3), torch.tensor(text[-3:])]
    return found


def _together(
    model: Any, texts: Sequence[Sequence[int]], keep: Callable[[Padded, torch.Tensor], None], *, guesses: bool
) -> list[torch.Tensor]:
    """The same of several texts, fed as the generator feeds prompts and answers, which begin with `keep`; with
    `guesses` up to three wrong ones are fed too, and taken back."""
    forwards = Padded(model)
    longest = max(map(len, texts)) - 3
    fed = torch.tensor([[0] * (longest + 3 - len(text)) + list(text[:-3]) for text in texts])
    seen = torch.tensor([[0] * (longest + 3 - len(text)) + [1] * (len(text) - 3) for text in texts], dtype=torch.long)
    for begin in range(0, longest, 9):
        first = forwards.feed(fed[:, begin : begin + 9], seen[:, begin : begin + 9])
    places = torch.tensor([2, 0, 1, 1])
    keep(forwards, places)
    wrong = [[text[0]] * (line if guesses else 0) for line, text in enumerate(texts[place] for place in places)]
    rows = torch.tensor([0, *(len(tokens) + 1 for tokens in wrong[:-1])]).cumsum(0)
    second = forwards.go([[texts[place][-3], *tokens] for place, tokens in zip(places.tolist(), wrong, strict=True)])
    if guesses:
        forwards.take_back([1] * len(wrong))
    third = forwards.go([[texts[place][-2]] for place in places.tolist()])
    lines = {place: line for line, place in enumerate(places.tolist())}
    return [
        torch.stack(
            [
                first[place].float().cpu().log_softmax(-1)[text[-3]],
                second[rows[lines[place]]].float().cpu().log_softmax(-1)[text[-2]],
                third[lines[place]].float().cpu().log_softmax(-1)[text[-1]],
            ]
        )
        for place, text in enumerate(texts)
    ]
