"""What a model can be fed: tried out on it when it is loaded, since no configuration says it.

A few random prompts are scored in a tree or branch by branch, and each alone. How far a model's own scores move when
what it reads is changed by no more than a rounding says what rounding does to it; a tree that is off by clearly more is
none of rounding's doing. (Batches and padding say nothing of it: on a CPU each line of a batch comes out to the bit as
alone.)
"""

from __future__ import annotations

import inspect
import logging
import math
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from base.sentences import gettext as _
from llm.engine import attention
from llm.engine.branches import branch_forwards
from llm.engine.cards import free_bytes
from llm.engine.forwards import Forward, alone_forwards, layer_kinds, rope_kinds, tree_forwards
from llm.engine.onednn import packed_bytes, packed_in_float32
from llm.engine.tree import TokenSequence

log = logging.getLogger(__name__)

Branching = Callable[..., Iterator[Forward]]

SEEDS = 5
# Nats by which the sum over six tokens may be off, however little the model's own scores move. A model that heeds
# neither masks nor positions can be off by a tenth in half precision, where its own move by hundredths.
_LEAST_TOLERANCE = {torch.float32: 1e-3}
_LEAST_TOLERANCE_OF_OTHERS = 0.02
_TIMES_NOISE = 4
# What is off by more is wrong, however much a roundings' worth may move it: where experts are chosen, a lot.
_MOST_TOLERANCE = {torch.float32: 1e-2}
_MOST_TOLERANCE_OF_OTHERS = 2.0
# What a family may call how far back it looks, or how many of the keys it heeds, besides `sliding_window`, which is
# tried. A number as large as this shows in no prompt of the probe.
_REACH = re.compile(r"window|local|chunk|block|extent|span|top_?k|stride|compress", re.IGNORECASE)
_NO_REACH = re.compile(r"layer|expert|group|moe|^num_|^n_|_n_|multiple|dtype|^sliding_window$|^local_attention$")
_SEEN = 12
# What float32's numbers take besides those of half precision, and forwards.
_ROOM = 1.5
# They count from the beginning of a text, so that what follows changes nothing.
_BY_POSITION = frozenset({"attention_chunk_size"})
# Tokens of the longest prompt that is tried, and of a model that does something else with longer ones.
_LONGEST = 40
_LONGEST_EVER = 600
# What families call the length of the longest text, and the table of positions.
_CONTEXTS = ("max_position_embeddings", "max_target_positions", "max_seq_len")
_POSITIONS = re.compile(r"(?:^|[._])(?:position_embeddings|embed_positions)$")
_TRUNK = 8
_LONGER_TRUNK = 80
# Shorter than the probe's prompts, so that a model which looks back further than its configuration says shows it.
_WINDOW = 6


class NotOfText(ValueError):
    """A model that reads no text by itself, or makes none."""


class NotCausal(ValueError):
    """What comes later changes what a model predicts earlier: it scores no option by what stands before it alone."""


class NotRepeatable(ValueError):
    """A model predicts otherwise each time it is asked the same."""


def refuse_unless_of_text(kind: type[Any]) -> None:
    """Look at a class of models: those of sound, and those that draft for another one, need no weights to be refused.

    Raises:
        NotOfText: it is one of these.
    """
    made = getattr(kind, "output_modalities", ("text",))
    if "text" not in made:
        raise NotOfText(
            _("This model makes %(made)s and no text: it cannot judge. Choose a language model.")
            % {"made": ", ".join(made)}
        )
    if "shared_kv_states" in inspect.signature(kind.forward).parameters:
        raise NotOfText(
            _("This model drafts for another one and reads no text by itself: it cannot judge. Choose that one.")
        )


@dataclass(frozen=True)
class Feeding:
    """How prompts are fed to a model.

    Attributes:
        own_attention: by which way of `attention` it takes a tree; None: by its own, or it takes none.
        alone_because: why it takes no tree, in a sentence; None if it does.
        branches: what feeds it branch by branch, where it takes no tree; None if nothing does.
        pads: whether whole prompts of different lengths can be fed together.
    """

    own_attention: attention.Way | None
    alone_because: str | None
    branches: Branching | None
    pads: bool


def how_to_feed(model: Any, *, exact: Feeding | None = None) -> Feeding:
    """Try out what a model can be fed.

    `exact`: how the same model can be fed in float32, which is else tried too where there is room. In half precision a
    model that heeds no positions may be no further off than rounding is, so what float32 refuses is refused. And what
    a longer text moves there may be its products, which a card rounds otherwise where they are larger: where float32
    has shown that a text's length makes no difference, that is not asked again.
    """
    if exact is None and model.dtype != torch.float32:
        try:
            with _in_float32(model) as runs:
                exact = _tried(model) if runs else None
        except torch.OutOfMemoryError:
            log.info("%s is tried in half precision alone: float32 ran out of memory", type(model).__name__)
    if exact is None or exact.alone_because is None:
        return _tried(model, any_length=exact is not None)
    branches = how_to_branch(model) if exact.branches else None
    return Feeding(None, exact.alone_because, branches, exact.pads and takes_padding(model))


def _tried(model: Any, *, any_length: bool = False) -> Feeding:
    """`any_length`: it is known that predictions do not depend on a text's length."""
    if not any_length and (whole := depends_on_length(model)):
        return Feeding(None, whole, None, pads=False)
    own = our_attention(model)
    why = None if own else why_not_a_tree(model)
    if why is None:
        return Feeding(own, None, None, pads=True)
    return Feeding(None, why, how_to_branch(model), takes_padding(model))


@contextmanager
def _in_float32(model: Any) -> Iterator[bool]:
    """The model with each number that it holds in half precision as float32 has it, and afterwards as before, to the
    bit. Yields whether it runs so."""
    parameters = [(parameter, "data") for parameter in model.parameters()]
    buffers = [(module, name) for module in model.modules() for name, _held in module.named_buffers(recurse=False)]
    dtypes = [(owner, name, getattr(owner, name).dtype) for owner, name in [*parameters, *buffers]]
    halves = [each for each in dtypes if each[2] in (torch.bfloat16, torch.float16)]
    # Packed weights are kept beside their copies.
    larger = Counter({model.device: 2 * packed_bytes(model)})
    for owner, name, _dtype in halves:
        larger[getattr(owner, name).device] += getattr(owner, name).nbytes
    if any(free_bytes(device) < _ROOM * size for device, size in larger.items()):
        log.info("%s is tried in half precision alone: float32 has no room", type(model).__name__)
        yield False
        return
    try:
        for owner, name, _dtype in halves:
            setattr(owner, name, getattr(owner, name).float())
        with packed_in_float32(model):
            yield _runs(model)
    finally:
        for owner, name, dtype in halves:
            setattr(owner, name, getattr(owner, name).to(dtype))


def _runs(model: Any) -> bool:
    """Whether the model takes a plain text as it is; some name their precision themselves."""
    try:
        _predictions(model, draw(model, _SEEN, seed=0), 1)
    except Exception:  # each family fails in its own way
        return False
    return True


def context_of(model: Any) -> int:
    """Tokens of the longest text that a model takes: by its configuration, and by the table of its positions, in which
    some families leave the first places empty. `sys.maxsize` where nothing says it."""
    config = model.config.get_text_config()
    told = [value for name in _CONTEXTS if (value := getattr(config, name, None)) and value > 0][:1]
    for name, module in model.named_modules():
        if _POSITIONS.search(name) and isinstance(module, torch.nn.Embedding) and module.padding_idx is not None:
            told.append(module.num_embeddings - module.padding_idx - 1)
    return min(told, default=sys.maxsize)


def refuse_unless_causal(model: Any) -> None:
    """Change the end of a prompt and look whether predictions before it stay; and whether the same prompt, fed again,
    is predicted the same.

    Raises:
        NotOfText: the model fails at a plain text.
        NotCausal: they do not.
        NotRepeatable: it is not.
    """
    n = _tried_length(model)
    prompt, other = (draw(model, n, seed=seed) for seed in (0, 1))
    changed = prompt[: n // 2] + other[n // 2 :]
    try:
        first, again, second = (_predictions(model, ids, n // 2) for ids in (prompt, prompt, changed))
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # each family fails in its own way
        raise NotOfText(
            _("This model cannot be fed a plain text: transformers fails at it (%(error)s). Choose another one.")
            % {"error": f"{type(error).__name__}: {error}"}
        ) from error
    moved, differs = (float((first - those).abs().max()) for those in (second, again))
    least = tolerance(model, noise=0.0)
    if max(moved, differs) <= least:
        return
    with shaken(model, 0):
        noise = float((first - _predictions(model, prompt, n // 2)).abs().max())
    if differs > tolerance(model, noise=noise):
        raise NotRepeatable(
            _(
                "This model predicts otherwise each time it is asked the same (by %(nats)s nats): its scores could not "
                "be had again. Choose another one."
            )
            % {"nats": f"{differs:.2g}"}
        )
    if moved > tolerance(model, noise=noise):
        raise NotCausal(
            _(
                "What comes later in a text changes what this model predicts before it (by %(nats)s nats): it is no "
                "causal language model, and cannot judge. Choose one that is."
            )
            % {"nats": f"{moved:.2g}"}
        )


def depends_on_length(model: Any) -> str | None:
    """In a sentence that what this model predicts depends on how long a text is: where its end is cut off, predictions
    before it change. None where they do not. Such a model is right with each whole prompt by itself alone."""
    n = _tried_length(model)
    prompt = draw(model, n, seed=0)
    whole = _predictions(model, prompt, n // 2)
    moved = float((whole - _predictions(model, prompt[: n // 2], n // 2)).abs().max())
    if moved <= tolerance(model, noise=0.0):
        return None
    with shaken(model, 0):
        noise = float((whole - _predictions(model, prompt, n // 2)).abs().max())
    if moved <= tolerance(model, noise=noise):
        return None
    return f"What it predicts depends on how long the text is, by {moved:.2g} nats."


def _tried_length(model: Any) -> int:
    """Of a text in which a model shows what it does with its ends."""
    config = model.config.get_text_config()
    n = max([_LONGEST, *(2 * value + 16 for value in reaches(config, least=_SEEN).values())])
    return min(n, _LONGEST_EVER, context_of(model))


def _predictions(model: Any, ids: Sequence[int], n: int) -> torch.Tensor:
    """Log-probabilities (n, V) of what follows each of the first n tokens of a text."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits[0, :n]
        found: torch.Tensor = logits.float().log_softmax(-1)
    return found


def why_not_a_tree(model: Any, *, own_attention: attention.Way | None = None, first_seed: int = 0) -> str | None:
    """Why this model cannot be fed a tree, in a sentence; None if it can. `own_attention`: by that way of `attention`.
    `first_seed`: of the prompts."""
    config = model.config.get_text_config()
    if strange := set(layer_kinds(config)) - {"full_attention", "sliding_attention"}:
        return f"The model has layers of the kind {', '.join(sorted(strange))}."
    if model.config._attn_implementation not in {"sdpa", "eager"}:
        return f"The attention “{model.config._attn_implementation}” takes no mask of our own."

    def probe(model: Any) -> str | None:
        forwards = partial(tree_forwards, own_attention=own_attention) if own_attention else tree_forwards
        return _probe(model, forwards, first_seed=first_seed)

    return why_never_together(model) or probe(model) or with_a_short_window(model, probe)


def our_attention(model: Any) -> attention.Way | None:
    """By which way of `attention` a tree can be fed to this model; None if by none."""
    for way in attention.ways_for(model):
        why = attention.why_not(way, model) or why_not_a_tree(model, own_attention=way)
        if why is None:
            return way
        log.info("%s does not attend by %s: %s", type(model).__name__, way.value, why)
    return None


def why_never_together(model: Any) -> str | None:
    """What a configuration says that no short prompt shows, and that depends on what a forward is fed together."""
    config = model.config.get_text_config()
    # These scale positions by the longest one in a forward, which other forwards do not share with the prompt's own.
    if rope_kinds(config) & {"dynamic", "longrope"}:
        return "The model's position encoding depends on the length of the prompt."
    if far := reaches(config, least=_SEEN):
        named = ", ".join(f"{name} = {value}" for name, value in far.items())
        return f"How far the model looks back cannot be tried: {named}."
    return None


def how_to_branch(model: Any) -> Branching | None:
    """What feeds this model branch by branch; None if nothing does."""
    told = (False, True) if "position_ids" in inspect.signature(model.forward).parameters else (False,)
    ways = (
        partial(branch_forwards, positions=positions, never_one=never_one)
        for never_one in (False, True)
        for positions in told
    )
    return next((way for way in ways if why_no_branches(model, way) is None), None)


def why_no_branches(model: Any, forwards: Branching = branch_forwards) -> str | None:
    """Why this model cannot be fed branch by branch by these forwards, in a sentence; None if it can."""
    config = model.config.get_text_config()
    if rope_kinds(config) & {"dynamic", "longrope"}:
        return why_never_together(model)
    # The trunk of the prompts is longer than what a model may look back to, or compute at once; some lose their state
    # only where a forward that goes on with it is long.
    trunk = max([_LONGER_TRUNK, *(2 * value + 16 for value in reaches(config, least=_SEEN).values())])
    if trunk > _LONGEST_EVER or context_of(model) < trunk + 2 * _LONGEST:
        return why_never_together(model) or "What it may look back to is too long to be tried."

    def probe(model: Any) -> str | None:
        # Token by token, which some layers compute otherwise; cut within branches; much at once; and, as runs do it, a
        # forward that goes on with a state by more than layers compute at once.
        for n_trunk, budget in ((_TRUNK, 1), (trunk, 13), (trunk, 1000), (trunk, trunk // 2)):
            if off := _probe(model, forwards, what="Branches", trunk=n_trunk, budget=budget):
                return off
        return None

    return probe(model) or with_a_short_window(model, probe)


def reaches(config: Any, *, least: int) -> dict[str, int]:
    """What a configuration says of how far a model looks back, of `least` tokens and more, the largest number where
    there is one a layer. Windows that are called `sliding_window` are not among them."""
    found = {}
    for name, value in sorted(config.to_dict().items()):
        if not _REACH.search(name) or _NO_REACH.search(name):
            continue
        told = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        if (furthest := max((each for each in told if type(each) is int), default=0)) >= least:
            found[name] = furthest
    return found


def takes_padding(model: Any) -> bool:
    """Whether prompts of different lengths can be padded at the right and fed together, each as if alone: some, where
    the encoding of positions depends on the length (`alone_forwards`)."""
    told = reaches(model.config.get_text_config(), least=_SEEN)
    longest = max([33, *(2 * value + 16 for name, value in told.items() if name not in _BY_POSITION)])
    if longest > _LONGEST_EVER:
        return False  # what it does beyond that cannot be tried
    lengths = [n for n in (12, 17, 24, 33, longest // 2 + 9, longest) if n <= context_of(model)]
    sequences = [TokenSequence(draw(model, n, seed=n), start=n - 6) for n in lengths]
    with torch.inference_mode():
        alone, padded = (
            _scores(alone_forwards(model, sequences, token_budget=8 * longest, pads=pads)) for pads in (False, True)
        )
    off = _furthest(padded, alone)
    if off < tolerance(model, noise=0.0):
        return True
    with torch.inference_mode():
        return off < tolerance(model, noise=_noise(model, sequences, alone, seed=0))


def _probe(
    model: Any,
    forwards: Callable[..., Iterator[Forward]],
    *,
    what: str = "A tree",
    trunk: int = _TRUNK,
    budget: int = 13,
    first_seed: int = 0,
) -> str | None:
    """Score small trees both ways: whether a model heeds masks and positions shows in no configuration."""
    tries = range(first_seed, first_seed + SEEDS)
    off, noise = [], []
    for seed in tries:
        sequences = _sequences(model, seed, trunk)
        with torch.inference_mode():
            alone = _scores(alone_forwards(model, sequences, token_budget=1))
            try:
                # The small budget cuts within branches as well.
                tree = _scores(forwards(model, sequences, token_budget=budget))
            except torch.OutOfMemoryError:
                raise
            except Exception as error:  # whatever a model says to arguments that it does not know
                named = "the tree" if what == "A tree" else what.lower()
                return f"The model refused {named}: {error}"
            off.append(_furthest(tree, alone))
            if seed == first_seed and off[0] < tolerance(model, noise=0.0):
                return None  # no model that heeds neither comes so near
            noise.append(_noise(model, sequences, alone, seed))
    return verdict(model, off, noise, what=f"{what} of {len(sequences)} prompts")


def _noise(model: Any, sequences: Sequence[TokenSequence], alone: dict[int, float], seed: int) -> float:
    """How far scores move where what is read is a rounding off."""
    with shaken(model, seed):
        return _furthest(_scores(alone_forwards(model, sequences, token_budget=1)), alone)


@contextmanager
def shaken(model: Any, seed: int) -> Iterator[None]:
    """The model, its tokens' embeddings up to a rounding of its weights off, each number by itself: where embeddings
    are added up in float32 (`widened`), the products are rounded still."""
    generator = torch.Generator().manual_seed(seed)

    def shake(_module: Any, _given: Any, read: Any) -> Any:
        if not (isinstance(read, torch.Tensor) and read.is_floating_point()):
            return read
        by = torch.rand(read.shape, generator=generator) * 2 - 1
        eps = max(torch.finfo(dtype).eps for dtype in (read.dtype, model.dtype))
        return (read.double() * (1 + eps * by.double().to(read.device))).to(read.dtype)

    try:
        hook = model.get_input_embeddings().register_forward_hook(shake)
    except NotImplementedError:  # of a few families nobody says where they are
        yield
        return
    try:
        yield
    finally:
        hook.remove()


def verdict(model: Any, off: Sequence[float], noise: Sequence[float], *, what: str) -> str | None:
    """What to say if several tries came out further off than rounding explains."""
    # One may be off by bad luck, where numbers are coarse; most are not.
    if statistics.median(off) < tolerance(model, noise=statistics.median(noise)):
        return None
    return f"{what} came out {max(off):.2g} nats off."


def _furthest(scores: dict[int, float], others: dict[int, float]) -> float:
    return max((abs(scores[index] - others[index]) for index in scores), key=lambda off: (math.isnan(off), off))


def with_a_short_window(model: Any, probe: Callable[[Any], str | None]) -> str | None:
    """Whether the model looks back as far as its configuration says, tried with a window that the prompts exceed."""
    config = model.config.get_text_config()
    if getattr(config, "sliding_window", None) is None:
        return None
    with _windowed(config):
        off = probe(model)
    return f"With a window of {_WINDOW} tokens: {off}" if off else None


@contextmanager
def _windowed(config: Any) -> Iterator[None]:
    kept = config.sliding_window
    config.sliding_window = _WINDOW
    try:
        yield
    finally:
        config.sliding_window = kept


def tolerance(model: Any, *, noise: float) -> float:
    least = _LEAST_TOLERANCE.get(model.dtype, _LEAST_TOLERANCE_OF_OTHERS)
    most = _MOST_TOLERANCE.get(model.dtype, _MOST_TOLERANCE_OF_OTHERS)
    return min(max(least, _TIMES_NOISE * noise), most)


def _sequences(model: Any, seed: int, n_trunk: int = _TRUNK) -> list[TokenSequence]:
    """Two branches of one trunk, each with two ends of six tokens."""
    drawn = draw(model, n_trunk + 2 * 5 + 4 * 6, seed=seed)
    trunk, rest = drawn[:n_trunk], drawn[n_trunk:]
    branches, ends = [trunk + rest[:5], trunk + rest[5:10]], rest[10:]
    return [
        TokenSequence(branches[place // 2] + ends[6 * place : 6 * place + 6], start=n_trunk + 5) for place in range(4)
    ]


def draw(model: Any, n: int, *, seed: int) -> tuple[int, ...]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(model.config.get_text_config().vocab_size, (n,), generator=generator).tolist())


def _scores(forwards: Iterator[Forward]) -> dict[int, float]:
    return {index: score for forward in forwards for index, score in forward.finished.items()}
