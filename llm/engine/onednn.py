"""Products of matrices on a CPU computed by oneDNN, and linear layers that do.

torch multiplies float32 matrices with MKL, which on processors of other makers than its own runs at half the speed of
oneDNN or less. For bfloat16 torch takes oneDNN everywhere by itself, but brings the weights into oneDNN's order at each
product. The operator below is the one that torch's own compiler emits. It has no public name, which the pinned version
of torch allows and a test holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

# Rows of the products that weights are packed for; products of fewer rows gain more by it.
_ROWS = 256


class OneDNNLinear(nn.Linear):
    """Gives what its base class gives, up to rounding. For inference only."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = torch.ops.mkldnn._linear_pointwise(input, self.weight, self.bias, "none", [], "")
        return made


class PackedLinear(nn.Linear):
    """The same with its weight in oneDNN's own order only, which is else made at each product. In the usual order it is
    made for whoever asks for it."""

    _packed: torch.Tensor

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = torch.ops.mkldnn._linear_pointwise(input, self._packed, self.bias, "none", [], "")
        return made

    @property
    def weight(self) -> torch.Tensor:  # type: ignore[override]
        return self._packed.to_dense()


def pack(linear: nn.Linear) -> None:
    """Make a linear layer, whose weight nothing else shares, a packed one."""
    packed = _in_order(linear.weight.detach())
    del linear.weight
    linear.__class__ = PackedLinear
    linear._packed = packed


def _in_order(weight: torch.Tensor) -> torch.Tensor:
    packed: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, _ROWS)
    return packed


def packed_bytes(model: Any) -> int:
    """Of the weights of its packed layers."""
    packed = [module._packed for module in model.modules() if isinstance(module, PackedLinear)]
    return sum(weight.numel() * weight.element_size() for weight in packed)


@contextmanager
def packed_in_float32(model: Any) -> Iterator[None]:
    """The model with the weights of its packed layers in float32, and afterwards as before."""
    kept = [(module, module._packed) for module in model.modules() if isinstance(module, PackedLinear)]
    try:
        for module, packed in kept:
            if packed.dtype != torch.float32:
                module._packed = _in_order(module.weight.float())
        yield
    finally:
        for module, packed in kept:
            module._packed = packed


def product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """(R, D) and (C, D) on a CPU to (R, C): `left` times `right` transposed. For inference only.

    `left`, and `right` or its transpose, must be contiguous: of others oneDNN takes a thousand times as long.
    """
    if left.dtype != torch.float32:
        return F.linear(left, right)
    made: torch.Tensor = torch.ops.mkldnn._linear_pointwise(left, right, None, "none", [], "")
    return made


def use_onednn(model: Any) -> bool:
    """Let the linear layers of a model use oneDNN, where that is right; whether it was."""
    if model.device.type != "cpu" or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    if model.dtype != torch.float32 and not (
        model.dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    ):
        return False
    used = Counter(id(weight) for module in model.modules() for weight in module._parameters.values())
    for module in model.modules():
        if type(module) is not nn.Linear:
            continue
        if module.weight.dtype != model.dtype:  # a layer that its family keeps in float32
            continue
        if used[id(module.weight)] > 1:  # a head's, often, which is the embedding's too
            module.__class__ = OneDNNLinear
        else:
            pack(module)
    return True
