"""A model on one device, or over several cards of which none holds it: its layers stand one behind the other, and
accelerate sends to each what it reads.

Its cards compute in turn. So it is no faster than on a card that would hold it, and several cards that each hold a
model do more with a worker each.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from typing import Any

import psutil
import torch
from accelerate import dispatch_model, infer_auto_device_map

log = logging.getLogger(__name__)

# Of a card's free memory; what layers compute, and keys and values, have the rest.
_FOR_WEIGHTS = 0.85
# What a model calls the places that it is to predict at: of its last states, which are on its last card.
_PLACES = "logits_to_keep"
# Shares of the cards, from what the weights need to all of that.
_TRIED = 20


def free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        free, _whole = torch.cuda.mem_get_info(device)
        return int(free)
    return int(psutil.virtual_memory().available)


def devices_of(model: Any) -> list[torch.device]:
    """On which its weights are, the first one's first."""
    return list(dict.fromkeys(weight.device for weight in model.parameters()))


def named(model: Any) -> str:
    """What a model is on, for the record: `NVIDIA H200`, `2 x NVIDIA H200`, `cpu`."""
    devices = devices_of(model)
    kinds = Counter(torch.cuda.get_device_name(each) if each.type == "cuda" else str(each) for each in devices)
    return ", ".join(name if n == 1 else f"{n} x {name}" for name, n in kinds.items())


def placed(model: Any, device: str) -> Any:
    """The model on a device. By `cuda`, without a number, it stands on the first card, or, where that one does not hold
    it, over as few as hold it of the cards that this process sees.

    Raises:
        torch.OutOfMemoryError: they do not.
    """
    if device != "cuda" or torch.cuda.device_count() < 2:
        return model.to(device)
    room = {f"cuda:{n}": free_bytes(torch.device("cuda", n)) for n in range(torch.cuda.device_count())}
    if bytes_of(model) <= _FOR_WEIGHTS * room["cuda:0"]:
        return model.to("cuda:0")
    return spread(model, room)


def spread(model: Any, room: Mapping[str, int]) -> Any:
    """The model over as few as hold it of some cards, in their order, each with a like share of what is free there;
    `room`: the free bytes of each."""
    needed = bytes_of(model)
    for n in range(1, len(room) + 1):
        usable = {card: _FOR_WEIGHTS * free for card, free in list(room.items())[:n]}
        least = needed / sum(usable.values())
        if least > 1:
            continue
        # Layers are not cut, and accelerate leaves place for one: a like share may be too little by some of them.
        for tried in range(_TRIED + 1):
            share = least + (1 - least) * tried / _TRIED
            if plan := _plan(model, {card: int(share * free) for card, free in usable.items()}):
                return _dispatched(model, plan)
    raise torch.OutOfMemoryError(f"{needed:,} bytes of weights do not fit {len(room)} cards.")


def device_of_places(model: Any) -> torch.device:
    """Where the places are to lie at which a model is to predict: on the CPU those of one that is spread, from where
    any card takes them."""
    device: torch.device = model.device
    return torch.device("cpu") if hasattr(model, "hf_device_map") else device


def _plan(model: Any, most: Mapping[str, int]) -> dict[str, str] | None:
    """Which card each part of the model is for, where they hold all of it, each within so many bytes."""
    whole = list(getattr(model, "_no_split_modules", None) or ())
    plan = infer_auto_device_map(model, dict(enumerate(most.values())), no_split_module_classes=whole)
    cards = list(most)
    return None if "disk" in plan.values() else {part: cards[number] for part, number in plan.items()}


def _dispatched(model: Any, plan: Mapping[str, str]) -> Any:
    log.info("%s is spread over %s.", type(model).__name__, ", ".join(dict.fromkeys(plan.values())))
    # Caches, whose layers stay where they are.
    own = getattr(model, "_skip_keys_device_placement", None) or ()
    kept = [own] if isinstance(own, str) else list(own)
    return dispatch_model(model, dict(plan), skip_keys=[*kept, _PLACES], force_hooks=True)


def bytes_of(model: Any) -> int:
    return sum(part.nbytes for part in (*model.parameters(), *model.buffers()))
