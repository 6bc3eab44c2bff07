"""How a GGUF file has its texts cut before its merges join bytes to tokens (its pre-tokeniser).

A file says it by a name, `tokenizer.ggml.pre`. transformers knows some of these names; where it does not, it cuts as
GPT-2 did, so that “1 ½ cups” of SmolLM2 comes out in other tokens than the model was trained with. What the names mean
is in llama.cpp (`llama-vocab.cpp`); the patterns are those of the models' own tokenizer.json. A name that nobody here
knows is refused.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from base.sentences import gettext as _
from llm.backends.base import BackendError

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3, _QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
    + digits
    + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    for digits in (r"\p{N}{1,3}", r"\p{N}")
)
_DEEPSEEK3 = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"""
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# By names that transformers does not know: patterns, each of which cuts what those before it left whole.
_PATTERNS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b", "mellum2"): (r"\p{N}", _GPT2),
    ("chatglm-bpe", "glm4", "glm5"): (_LLAMA3,),
    ("stablelm2", "hunyuan", "solar-open", "grok-2"): (_QWEN2,),
    ("deepseek-v3", "hunyuan-dense", "joyai-llm"): (r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+", _DEEPSEEK3),
    ("deepseek-coder",): (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", r"[一-龥ࠀ-一가-퟿]+", r"\p{N}"),
    ("falcon",): (r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, r"[0-9][0-9][0-9]"),
}
_PATTERNS_OF = {name: patterns for names, patterns in _PATTERNS.items() for name in names}

# These cut as GPT-2 did.
_AS_GPT2 = {
    "gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "exaone4", "mellum", "gigachat", "granite-docling", "a.x-4.0",
    "modern-bert", "roberta-bpe", "jina-es", "jina-de", "jina-v1-en", "jina-v2-es", "jina-v2-de", "jina-v2-code",
}  # fmt: skip


def cut_as_said(tokenizer: Any, file: Path) -> None:
    """Let a tokeniser that transformers made of a file cut texts as the file says.

    Raises:
        BackendError: it says nothing, or what neither transformers nor this module knows.
    """
    gguf: Any = importlib.import_module("gguf")
    said = gguf.GGUFReader(str(file)).fields
    kind, name = (said[key].contents() if key in said else "" for key in ("tokenizer.ggml.model", "tokenizer.ggml.pre"))
    if kind != "gpt2" or name in _AS_GPT2:
        return
    if patterns := _PATTERNS_OF.get(name):
        tokenizer.backend_tokenizer.pre_tokenizer = _pre_tokenizer(patterns)
    elif _cuts_as_gpt2(tokenizer):
        raise BackendError(_unknown(file.name, name), permanent=True)


def _cuts_as_gpt2(tokenizer: Any) -> bool:
    from tokenizers.pre_tokenizers import ByteLevel

    return isinstance(tokenizer.backend_tokenizer.pre_tokenizer, ByteLevel)


def _unknown(file: str, name: str) -> str:
    if not name or name == "default":
        return _(
            "The GGUF file %(file)s does not say how its texts are cut into tokens (tokenizer.ggml.pre). Take a newer "
            "file, the model's safetensors, or a server such as llama.cpp."
        ) % {"file": file}
    return _(
        "The GGUF file %(file)s has its texts cut into tokens as “%(name)s” has them, which neither transformers nor "
        "Palate knows: its tokens would be others than those it was trained with. Take the model's safetensors, or a "
        "server such as llama.cpp."
    ) % {"file": file, "name": name}


def _pre_tokenizer(patterns: tuple[str, ...]) -> Any:
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split

    by_pattern = [Split(Regex(pattern), "isolated") for pattern in patterns]
    return Sequence([*by_pattern, ByteLevel(add_prefix_space=False, use_regex=False)])
