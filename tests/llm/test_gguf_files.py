"""A GGUF file is read once, and says what it says without that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from llm.backends.gguf_files import read_once


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("small")
    writer.add_token_list(["<s>", "crème", "fraîche"])
    writer.add_token_scores([0.0, -1.5, -2.5])
    writer.add_tensor("token_embd.weight", np.arange(96, dtype=np.float32).reshape(3, 32))
    writer.add_tensor("output.weight", np.ones((3, 32), dtype=np.float32), raw_dtype=gguf.GGMLQuantizationType.F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def said(reader: Any) -> tuple[dict[str, Any], dict[str, list[float]]]:
    fields = {name: (field.contents(), field.types) for name, field in reader.fields.items()}
    return fields, {tensor.name: tensor.data.ravel().tolist() for tensor in reader.tensors}


def test_within_a_file_is_read_once_and_says_the_same(file: Path) -> None:
    before = gguf.GGUFReader, gguf.get_tensor_name_map
    usual = said(gguf.GGUFReader(file))
    with read_once():
        first = gguf.GGUFReader(file)
        assert gguf.GGUFReader(file) is first
        names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 2)
        assert gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 2) is names
        assert gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 3) is not names
    assert said(first) == usual
    assert usual[0]["tokenizer.ggml.tokens"][0] == ["<s>", "crème", "fraîche"]
    assert usual[1]["token_embd.weight"][:3] == [0.0, 1.0, 2.0]
    assert (gguf.GGUFReader, gguf.get_tensor_name_map) == before


def test_a_file_that_cannot_be_read_leaves_everything_as_it_was(tmp_path: Path) -> None:
    before = gguf.GGUFReader
    (tmp_path / "broken.gguf").write_bytes(b"nothing of the kind" * 9)
    with pytest.raises(ValueError, match="magic"), read_once():
        gguf.GGUFReader(tmp_path / "broken.gguf")
    assert gguf.GGUFReader is before
