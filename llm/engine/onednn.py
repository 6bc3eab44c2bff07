"""Products of float32 matrices on a CPU computed by oneDNN, and linear layers that do.

torch multiplies float32 matrices with MKL, which on processors of other makers than its own runs at half the speed of
oneDNN or less; for bfloat16 torch takes oneDNN everywhere by itself. The operator below is the one that torch's own
compiler emits. It has no public name, which the pinned version of torch allows and a test holds.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


class OneDNNLinear(nn.Linear):
    """Gives what its base class gives, up to rounding. For inference only."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = torch.ops.mkldnn._linear_pointwise(input, self.weight, self.bias, "none", [], "")
        return made


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
    if model.device.type != "cpu" or model.dtype != torch.float32 or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = OneDNNLinear
    return True
