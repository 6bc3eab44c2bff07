"""Adapters that training leaves behind: a folder with what peft saves, which names the model that it was trained on.

An adapter is a model's location as any other folder is. Its model is found as it was found for training, and the
adapter's weights are added to it once and for all, so that it scores and writes as fast as the model alone.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from base.sentences import gettext as _
from llm.backends.base import BackendError

CONFIG, WEIGHTS, BASE = "adapter_config.json", "adapter_model.safetensors", "palate_base.json"


@dataclass(frozen=True)
class Base:
    """The model under an adapter, as the fields of a `TransformersBackend` name it."""

    location: str
    revision: str | None = None
    gguf_file: str | None = None


def is_adapter(folder: Path) -> bool:
    return (folder / CONFIG).is_file()


def base_of(folder: Path) -> Base:
    """The model that it was trained on: as training here wrote it down, else as peft did.

    Raises:
        BackendError: nothing names it.
    """
    try:
        if (folder / BASE).is_file():
            return Base(**json.loads((folder / BASE).read_text(encoding="utf-8")))
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        return Base(str(config["base_model_name_or_path"] or ""), config.get("revision"))
    except (ValueError, KeyError, TypeError) as error:
        raise BackendError(
            _("The adapter in %(folder)s does not say which model it belongs to.") % {"folder": folder}, permanent=True
        ) from error


def refuse_without_weights(folder: Path) -> None:
    """
    Raises:
        BackendError: its weights are not there as safetensors. Older ones are files that run code when they are read.
    """
    if not (folder / WEIGHTS).is_file():
        raise BackendError(
            _("The adapter in %(folder)s has no %(weights)s. Save its weights as safetensors.")
            % {"folder": folder, "weights": WEIGHTS},
            permanent=True,
        )


def write_base(folder: Path, base: Base) -> None:
    (folder / BASE).write_text(json.dumps(asdict(base), indent=1) + "\n", encoding="utf-8")


def applied(model: Any, folder: Path) -> Any:
    """The model with the adapter's weights in its own.

    Raises:
        BackendError: peft is not installed.
    """
    return peft().PeftModel.from_pretrained(model, folder).merge_and_unload()


def digest(folder: Path) -> str:
    with (folder / WEIGHTS).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def peft() -> Any:
    try:
        return importlib.import_module("peft")
    except ImportError as error:
        raise BackendError(
            _("An adapter needs the Python package peft, which is not installed here. Install it with pip."),
            permanent=True,
        ) from error
