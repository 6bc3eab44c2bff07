"""What scoring takes of a card: memory and time, from a model's sizes and the tree of what it is fed. Loads no weights.

The rate of a card is a product of large matrices as torch ran it there. The engine adds to that floor: on an H200 it
took 65 % of that rate with Gemma 2 9B's shape, and 2 to 8 % less memory than is reckoned here (docs/benchmarks/gpu.md).
A model of 0.6 billion weights took a tenth.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from base.sentences import gettext as _
from llm.backends.base import BackendError
from llm.backends.model_files import ModelFiles
from llm.engine.heads import heads_of
from llm.engine.tree import TokenSequence, build


@dataclass(frozen=True)
class Card:
    """Memory in bytes; bfloat16 matrix products, FLOP a second."""

    name: str
    memory: float
    rate: float


# Measured: matrix products of 745 to 798 TFLOP/s.
CARDS = {"h200": Card("H200", 139 * 2**30, 7.8e14)}
# Of the rate of matrix products, by whole forwards, of models that are not small.
USUAL_SHARE = (0.50, 0.67)
SMALL_WEIGHTS = 2e9
# What layers have of their own.
_SPREAD = {"weights", "keys and values"}
# What CUDA itself and its libraries hold.
_BESIDES_BYTES = 1.5 * 2**30


@dataclass(frozen=True)
class Sizes:
    """Of a model; numbers of weights, and widths in numbers.

    Attributes:
        linear: weights of all linear layers but the head, each used once a token.
        attention_width: heads x head size, over all layers; `key_value_width` the same of keys and values together.
        activations: numbers that a token holds while a layer computes it.
    """

    weights: int
    linear: int
    head: int
    vocabulary: int
    attention_width: int
    key_value_width: int
    activations: int


@dataclass(frozen=True)
class Work:
    """Rows as they are fed, each token of a row's tree once.

    Attributes:
        pairs: of tokens and those that they attend to; `predictors`: tokens that reach the head.
        longest: tokens of the longest prompt.
    """

    rows: int
    tokens: int
    pairs: int
    predictors: int
    longest: int

    @property
    def head_share(self) -> float:
        return self.predictors / self.tokens if self.tokens else 0.0


@dataclass(frozen=True)
class Needs:
    """Bytes by what they are for, and FLOPs."""

    memory: dict[str, float]
    flops: float

    @property
    def total(self) -> float:
        """On one card."""
        return sum(self.memory.values())

    def on_each(self, cards: int) -> dict[str, float]:
        """Bytes on each of so many cards, over which the layers are spread alike; the fullest one's."""
        return {name: size / (cards if name in _SPREAD else 1) for name, size in self.memory.items()}


def sizes_of(files: ModelFiles) -> Sizes:
    """Of a model on this machine, from its configuration alone.

    Raises:
        BackendError: there is none, or not all of its weights are used for each token.
    """
    import torch

    transformers: Any = importlib.import_module("transformers")
    try:
        config = transformers.AutoConfig.from_pretrained(files.folder, local_files_only=True, **files.source)
        with torch.device("meta"):
            model = transformers.AutoModelForCausalLM.from_config(config)
    except Exception as error:  # each family fails in its own way
        raise BackendError(
            _("The sizes of the model in %(folder)s cannot be read: %(error)s")
            % {"folder": files.folder, "error": error},
            permanent=True,
        ) from error
    return sizes_of_model(model)


def sizes_of_model(model: Any) -> Sizes:
    """As `sizes_of`, of a model whose weights may be on no device."""
    import torch

    text = model.config.get_text_config()
    if any(getattr(text, name, 0) for name in ("num_experts", "num_local_experts", "n_routed_experts")):
        raise BackendError(
            _("The model has experts, of which a token uses a part: what that takes is not estimated."), permanent=True
        )
    head = model.get_output_embeddings().weight
    linear: int = sum(
        module.weight.numel()
        for module in model.modules()
        if isinstance(module, torch.nn.Linear) and module.weight is not head
    )
    heads = heads_of(text)
    return Sizes(
        weights=sum(weight.numel() for weight in model.parameters()),
        linear=linear,
        head=head.numel(),
        vocabulary=head.shape[0],
        attention_width=text.num_hidden_layers * heads.n * heads.size,
        key_value_width=2 * text.num_hidden_layers * heads.of_keys * heads.size,
        activations=8 * text.hidden_size + 3 * (getattr(text, "intermediate_size", None) or 4 * text.hidden_size),
    )


def work_of(rows: Sequence[Sequence[TokenSequence]]) -> Work:
    """What rows take, each by its own tree."""
    trees = [build(sequences) for sequences in rows if sequences]
    return Work(
        rows=len(trees),
        tokens=sum(len(tree.tokens) for tree in trees),
        pairs=sum(int((tree.positions + 1).sum()) for tree in trees),
        predictors=sum(len(set(tree.scored_at.tolist())) for tree in trees),
        longest=max((int(tree.positions.max()) + 1 for tree in trees), default=0),
    )


class Precision(NamedTuple):
    """How a model computes on a GPU: bytes of each number at work, and of each weight that is held."""

    name: str
    bytes_each: int
    bytes_of_weight: int


# By what is said of a model; `auto` is bfloat16 on a GPU. The rescued one is held twice, its second pass is in float32.
PRECISIONS = {
    "auto": Precision("bfloat16", 2, 2),
    "bfloat16": Precision("bfloat16", 2, 2),
    "float16": Precision("float16", 2, 2),
    "float32": Precision("float32", 4, 4),
    "rescued": Precision("bfloat16, and close cells in float32", 4, 6),
}


def needs(sizes: Sizes, work: Work, *, token_budget: int, how: Precision = PRECISIONS["auto"]) -> Needs:
    """Of scoring in forwards of `token_budget` tokens, with weights of so many bytes each."""
    held = work.longest + token_budget
    at_head = min(token_budget, round(token_budget * work.head_share) + 1)
    return Needs(
        memory={
            "weights": sizes.weights * how.bytes_of_weight,
            "keys and values": sizes.key_value_width * held * how.bytes_each,
            "masks": token_budget * held * (how.bytes_each + 1),
            "logits": at_head * sizes.vocabulary * how.bytes_each + 256 * sizes.vocabulary * 4,
            "layers at work": sizes.activations * token_budget * how.bytes_each,
            "CUDA": _BESIDES_BYTES,
        },
        flops=(
            2.0 * sizes.linear * work.tokens
            + 4.0 * sizes.attention_width * work.pairs
            + 2.0 * sizes.head * work.predictors
        ),
    )
