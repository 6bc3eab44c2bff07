"""Several cards where there is none: tensors that say they are on a card, are computed on the CPU, and refuse what a
card refuses, a tensor of another one.

`python -m tests.llm.pretended_cards FAMILY [--writes]` says what a model over some of them scores and writes, as JSON.
A process of its own: torch takes such a kind of device once, for good.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

KIND = "card"
# They take tensors of other devices: copies do, and places may lie on the CPU.
COPIES = {"to", "_to_copy", "copy_"}
TAKE_PLACES = {"index", "index_put", "index_put_", "_index_put_impl_"}


class OnCard(torch.Tensor):
    """`held` on the CPU, said to be on a card."""

    held: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: torch.Tensor, device: torch.device) -> OnCard:
        made: OnCard = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=device,
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return _computed(func, args, kwargs or {})

    def tolist(self) -> Any:  # torch has none for subclasses
        return self.held.tolist()

    def __repr__(self) -> str:  # type: ignore[override]
        return f"{self.held} on {self.device}"


class Cards(TorchDispatchMode):
    """Within it tensors can be made on cards."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return _computed(func, args, kwargs or {})


def _computed(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    name = func.overloadpacket.__name__
    given: list[torch.Tensor] = []
    asked: list[torch.device] = []  # where to, which is said by name or by place

    def on_the_cpu(each: Any) -> Any:
        if isinstance(each, torch.Tensor):
            given.append(each)
            return each.held if isinstance(each, OnCard) else each
        if isinstance(each, torch.device):
            asked.append(each)
            return torch.device("cpu")
        return type(each)(map(on_the_cpu, each)) if isinstance(each, (list, tuple)) else each

    args = on_the_cpu(tuple(args))
    kwargs = {key: on_the_cpu(value) for key, value in kwargs.items() if key != "pin_memory"}
    on_cards = [each for each in given if isinstance(each, OnCard)]
    devices = {each.device for each in on_cards}
    lone = [each for each in given if not isinstance(each, OnCard) and each.dim()]
    if name not in COPIES and (len(devices) > 1 or (devices and lone and name not in TAKE_PLACES)):
        raise RuntimeError(f"{func}: tensors on {', '.join(sorted({str(each.device) for each in given}))}")
    if name == "histc":  # counts whole numbers on a card alone
        args = (args[0].float(), *args[1:])
    made = func(*args, **kwargs)
    if name == "copy_":
        return given[0]
    device = next(iter([*asked, *devices]), torch.device("cpu"))
    here = {id(each.held): each for each in on_cards if each.device == device}
    elsewhere = {id(each.held) for each in on_cards if each.device != device}

    def told(each: Any) -> Any:
        if isinstance(each, (list, tuple)):
            return type(each)(map(told, each))
        if not isinstance(each, torch.Tensor) or id(each) in here:
            return here.get(id(each), each)
        each = each.clone() if id(each) in elsewhere else each  # moved, though not for the CPU
        return OnCard(each, device) if device.type == KIND else each

    return told(made)


def _tensor(data: Any, *, device: Any = None, _made: Any = torch.tensor, **how: Any) -> torch.Tensor:
    """`torch.tensor`, which moves what it made where no mode is asked."""
    made: torch.Tensor = _made(data, **how)
    return made if device is None else made.to(device)


def _built(family: str) -> Any:
    from benchmarks import model_families
    from tests.llm import tiny

    return tiny.model(family) if family in tiny.FAMILIES else model_families.built(family)


def main(family: str, *, writes: bool) -> dict[str, Any]:
    """What it is on, scores and, if it `writes`, writes: on the CPU, and spread over two cards of three."""
    _setup_privateuseone_for_python_backend(KIND)
    torch.tensor = _tensor  # type: ignore[assignment]
    torch.inference_mode = torch.no_grad  # type: ignore[assignment,misc]  # some views are refused in it
    torch.set_num_threads(1)  # nothing here is large
    from llm.engine import attention, cards
    from llm.engine.cloze import ClozeScorer
    from llm.engine.generation import AnswerGenerator
    from llm.engine.prompt import Sampling
    from tests.llm import tiny
    from tests.llm.test_engine_cloze import ROWS

    tokenizer = tiny.tokenizer()
    told: dict[str, Any] = {}
    for place in ("cpu", "cards"):
        model = _built(family)
        with Cards() if place == "cards" else nullcontext():
            if place == "cards":
                # As on a GPU: a processor's way is none of a card's.
                attention.ways_for = lambda model: (attention.Way.BLOCKS,)
                attention._on_a_gpu = lambda tensor: True
                size = cards.bytes_of(model)
                model = cards.spread(model, {f"{KIND}:{n}": int(0.9 * size) for n in range(3)})
            scorer = ClozeScorer(model, tokenizer, token_budget=50)
            rows: Any = scorer.score(ROWS[:1])
            told[place] = {
                "devices": [str(device) for device in cards.devices_of(model)],
                "mode": scorer.mode,
                "attention": scorer.own_attention,
                "scores": [option.logprob for row in rows for cell in row for option in cell],
            }
            if writes:
                generator = AnswerGenerator(model, scorer.encoder, token_budget=64, cache_budget=4096)
                answers = generator.generate(
                    ["salt", "two eggs and flour"], Sampling(max_new_tokens=8, temperature=0.0)
                )
                told[place] |= {"alone": generator.alone_because, "answers": [answer.text for answer in answers]}
    return told


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1], writes="--writes" in sys.argv)) + "\n")
