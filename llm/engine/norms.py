"""Norms of a model on a GPU, each in one kernel.

transformers computes the root mean square norms of its families operation by operation, each of which reads and writes
all states, in float32: with Gemma 2 9B on an H200 that took a sixth of all the time (docs/benchmarks/gpu.md). The
kernel reads and writes them once. Families round at different places, so each norm is tried on the card, and keeps its
own way where none of those known here gives what it gives.
"""

from __future__ import annotations

import inspect
import logging
from enum import IntEnum
from functools import partial
from typing import Any

import torch
import triton
import triton.language as tl
from torch import nn

log = logging.getLogger(__name__)

# A trial's states, and how many of its numbers may be another one: sums in another order round otherwise at times.
_ROWS, _MOST_OTHERS = 64, 0.02
# States of one program: wider ones are left to the model.
_WIDEST = 16_384
# With fewer rows, as where answers are written, starting a kernel is all that takes time, and Triton starts slowly.
_LEAST_ROWS = 256


class Rounding(IntEnum):
    """What becomes of the normed states: in their own numbers before they are weighted, weighted in float32, or so
    with one more than the weights."""

    FIRST = 0
    LAST = 1
    LAST_OF_ONE_MORE = 2


def use_kernel(model: Any) -> int:
    """Let the norms of a model in half precision on a card that Triton compiles for use the kernel, where it gives what
    they give up to rounding. How many do."""
    n_used = 0
    for module in model.modules():
        epsilon = _epsilon_of(module)
        if epsilon is None:
            continue
        try:
            rounding = _rounding_of(module, epsilon)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:  # of a compiler, of a card, of a norm that is no such norm
            log.warning("Norms of %s keep their own way: %s: %s", type(model).__name__, type(error).__name__, error)
            return n_used
        if rounding is not None:
            own = module.forward
            module.forward = partial(_forward, own, module.weight, epsilon, rounding)
            n_used += 1
    return n_used


def _epsilon_of(module: nn.Module) -> float | None:
    """Of a root mean square norm as transformers has them, else None. torch's own is one kernel already."""
    if not type(module).__name__.endswith("RMSNorm") or isinstance(module, nn.RMSNorm):
        return None
    weight = getattr(module, "weight", None)
    if not isinstance(weight, torch.Tensor) or weight.ndim != 1 or len(weight) > _WIDEST:
        return None
    if len(inspect.signature(type(module).forward).parameters) != 2:  # itself and states
        return None
    epsilon = getattr(module, "variance_epsilon", getattr(module, "eps", None))
    return epsilon if isinstance(epsilon, float) else None


def _rounding_of(module: Any, epsilon: float) -> Rounding | None:
    """By which the kernel gives what the norm gives; None: by none."""
    weight = module.weight
    drawn = torch.randn(_ROWS, len(weight), generator=torch.Generator().manual_seed(0))
    states = 3 * drawn.to(weight.device, weight.dtype)
    with torch.inference_mode():
        expected = module(states)
        for rounding in Rounding:
            made = normed(states, weight, epsilon, rounding)
            if made.dtype != expected.dtype or made.shape != expected.shape:
                continue
            off = (made.float() - expected.float()).abs()
            close = off <= 2 * torch.finfo(made.dtype).eps * expected.float().abs()
            if bool(close.all()) and float((off > 0).float().mean()) <= _MOST_OTHERS:
                return rounding
    return None


def _forward(
    own: Any, weight: torch.Tensor, epsilon: float, rounding: Rounding, hidden_states: torch.Tensor
) -> torch.Tensor:
    if hidden_states.numel() < _LEAST_ROWS * len(weight) or hidden_states.device != weight.device:
        given: torch.Tensor = own(hidden_states)
        return given
    return normed(hidden_states, weight, epsilon, rounding)


def normed(states: torch.Tensor, weight: torch.Tensor, epsilon: float, rounding: Rounding) -> torch.Tensor:
    """(..., D) states and (D,) weights to (..., D): each row over the root of its mean square. For inference only."""
    rows = states.reshape(-1, states.shape[-1]).contiguous()
    dtype = torch.promote_types(states.dtype, weight.dtype) if rounding == Rounding.FIRST else states.dtype
    made = torch.empty_like(rows, dtype=dtype)
    block = triton.next_power_of_2(rows.shape[1])
    with torch.cuda.device_of(states):  # type: ignore[no-untyped-call]  # Triton does not look at it
        _norm[(len(rows),)](
            rows,
            weight,
            made,
            rows.shape[1],
            epsilon,
            ROUNDING=int(rounding),
            BLOCK=block,
            num_warps=min(8, max(1, block // 512)),
        )
    return made.view(states.shape)


@triton.jit  # type: ignore[untyped-decorator]
def _norm(states, weights, made, width, epsilon, ROUNDING: tl.constexpr, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """One row."""
    row = tl.program_id(0).to(tl.int64)  # places of numbers may be over 2**31
    places = tl.arange(0, BLOCK)
    there = places < width
    given = tl.load(states + row * width + places, mask=there, other=0.0).to(tl.float32)
    weight = tl.load(weights + places, mask=there, other=0.0)
    over = given * tl.rsqrt(tl.sum(given * given, 0) / width + epsilon)
    if ROUNDING == 0:
        over = over.to(states.dtype.element_ty).to(tl.float32)
    weight = weight.to(tl.float32)
    if ROUNDING == 2:
        weight += 1.0
    tl.store(made + row * width + places, (over * weight).to(made.dtype.element_ty), mask=there)
