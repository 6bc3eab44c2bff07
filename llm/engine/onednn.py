"""Products of matrices on a CPU computed by oneDNN, and layers that do.

torch multiplies float32 matrices with MKL, which on processors of other makers than its own runs at half the speed of
oneDNN or less. For bfloat16 torch takes oneDNN everywhere by itself, but brings the weights into oneDNN's order at each
product. The operator below is the one that torch's own compiler emits. It has no public name, which the pinned version
of torch allows and a test holds.

It also does what stands right behind a product. So the gated unit of a layer, down(f(gate(x)) * up(x)), whose three
products are most of a model's work, needs neither the function nor the multiplication by itself, and in bfloat16 rounds
two times less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

# Rows of the products that weights are packed for; products of fewer rows gain more by it.
_ROWS = 256
# What oneDNN has of the functions of gated units, by its name and algorithm.
_FUNCTIONS: dict[tuple[str, str], Callable[[torch.Tensor], torch.Tensor]] = {
    ("swish", ""): F.silu,
    ("gelu", "tanh"): partial(F.gelu, approximate="tanh"),
    ("gelu", "none"): F.gelu,
    ("relu", ""): F.relu,
}
# A trial's states, how large they are, since some families bound what comes of large ones, and how far a unit may be
# off, in roundings of the mean of what it gives.
_TRIED, _SIZES, _ROUNDINGS = 16, (1, 1000), 4


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
    for module in model.modules():
        _take_over_gating(module, model.dtype)
    return True


def gated_in_products(model: Any) -> int:
    """How many gated units of a model are computed in their products."""
    forwards = (vars(module).get("forward") for module in model.modules())
    return sum(isinstance(forward, partial) and forward.func is _gated for forward in forwards)


def _take_over_gating(unit: Any, dtype: torch.dtype) -> None:
    """Let a gated unit as most families have it, of packed layers, be computed in its products, if what it gives then
    is what it gave."""
    gate, up, down = (getattr(unit, name, None) for name in ("gate_proj", "up_proj", "down_proj"))
    if not (isinstance(gate, PackedLinear) and isinstance(up, PackedLinear) and isinstance(down, PackedLinear)):
        return
    known = _function_of(getattr(unit, "act_fn", None))
    if known is None:
        return
    drawn = torch.randn((_TRIED, gate.in_features), generator=torch.Generator().manual_seed(0))
    fused = partial(_gated, gate, up, down, *known)
    if all(_gives_the_same(unit, fused, (size * drawn).to(dtype)) for size in _SIZES):
        unit.forward = fused


@torch.inference_mode()
def _gives_the_same(unit: Any, fused: Callable[[torch.Tensor], torch.Tensor], states: torch.Tensor) -> bool:
    """Up to rounding."""
    try:
        before, after = unit(states), fused(states)
    except (TypeError, ValueError, RuntimeError):  # a unit that takes something else besides
        return False
    if before.dtype != after.dtype or before.shape != after.shape:
        return False
    off = float((after.float() - before.float()).abs().mean())
    return off <= _ROUNDINGS * torch.finfo(states.dtype).eps * float(before.float().abs().mean())


def _function_of(function: Any) -> tuple[str, str] | None:
    """What oneDNN calls a function of numbers, which is told by what it gives; None of others."""
    if not callable(function):
        return None
    numbers = torch.linspace(-6, 6, 49)
    with torch.inference_mode():
        made = function(numbers)
        for name, known in _FUNCTIONS.items():
            if isinstance(made, torch.Tensor) and torch.allclose(made, known(numbers), rtol=0, atol=1e-6):
                return name
    return None


def _gated(
    gate: PackedLinear,
    up: PackedLinear,
    down: PackedLinear,
    function: str,
    algorithm: str,
    *given: torch.Tensor,
    **named: torch.Tensor,
) -> torch.Tensor:
    (states,) = (*given, *named.values())  # under the name that its family has for it
    states = states.to(gate._packed.dtype)  # what is added up in float32 comes so
    opened = torch.ops.mkldnn._linear_pointwise(states, gate._packed, gate.bias, function, [], algorithm)
    let_through = torch.ops.mkldnn._linear_pointwise.binary(states, opened, up._packed, up.bias, "mul")
    made: torch.Tensor = down(let_through)
    return made
