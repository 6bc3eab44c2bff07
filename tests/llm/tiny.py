"""Models and a tokeniser small enough to make in a test, with random weights large enough that context matters."""

from __future__ import annotations

import string
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, processors
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<s>", "</s>", "<|user|>", "<|assistant|>"]
TEMPLATE = (
    "{{ '<s>' }}{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
WINDOW = 24  # tokens; the prompts of the tests are several times as long

_SIZE: dict[str, Any] = {
    "vocab_size": 128,
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 1,
}
_WINDOWED = {**_SIZE, "head_dim": 12, "sliding_window": WINDOW}

FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", _SIZE),
    "mistral": ("MistralConfig", {**_SIZE, "sliding_window": WINDOW}),
    "mixtral": ("MixtralConfig", {**_SIZE, "num_local_experts": 4}),
    "qwen2": ("Qwen2Config", _SIZE),
    "qwen2-sliding": (
        "Qwen2Config",
        {**_SIZE, "use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 2},
    ),
    "qwen3": ("Qwen3Config", {**_SIZE, "head_dim": 12}),
    "gemma2": ("Gemma2Config", {**_WINDOWED, "query_pre_attn_scalar": 12}),
    "gemma3": ("Gemma3TextConfig", {**_WINDOWED, "query_pre_attn_scalar": 12}),
    # Llama 4 attends in chunks, which no mask of a tree expresses; BLOOM takes no positions.
    "llama4": (
        "Llama4TextConfig",
        {**_SIZE, "head_dim": 12, "intermediate_size_mlp": 96, "num_local_experts": 2, "attention_chunk_size": WINDOW},
    ),
    "bloom": ("BloomConfig", {"vocab_size": 128, "hidden_size": 48, "n_layer": 2, "n_head": 4}),
}


def model(family: str, **changes: Any) -> Any:
    """A model of this family with random weights, the same each time."""
    name, settings = FAMILIES[family]
    torch.manual_seed(0)
    models: Any = transformers  # Any: of its models, which mypy does not read, it names none
    config = getattr(transformers, name)(**{**settings, **changes})
    return models.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def tokenizer(
    *, merges: tuple[tuple[str, str], ...] = (), bos: bool = True, chat: bool = False, in_bytes: str = ""
) -> Any:
    """One token a character, but for these merges; and no pre-tokeniser, so that they cross spaces. The characters of
    `in_bytes` are a token a byte."""
    pieces = [*SPECIAL, *sorted(set(string.printable) - set("\r\x0b\x0c")), *("".join(merge) for merge in merges)]
    pieces += [f"<0x{byte:02X}>" for byte in sorted(set(in_bytes.encode()))]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges), byte_fallback=bool(in_bytes)))
    core.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()]) if in_bytes else decoders.Fuse()
    if bos:
        core.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    fast: Any = PreTrainedTokenizerFast
    made = fast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", additional_special_tokens=SPECIAL[2:])
    if chat:
        made.chat_template = TEMPLATE
    return made
