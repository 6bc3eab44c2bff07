"""What a run needs of a card: from a configuration, prompts and measured rates."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
import torch
from django.core.management import CommandError, call_command

from annotation.models import Study
from benchmarks.judge_throughput import flops_needed
from benchmarks.model_families import built
from llm import sizing
from llm.backends.base import BackendError
from llm.backends.transformers import TransformersBackend
from llm.engine.encoding import PromptEncoder
from llm.engine.prompt import CellPrompt, RowPrompt
from llm.engine.tree import build
from tests.judges import helpers
from tests.llm import tiny

ROW = RowPrompt(
    "Recipe: 2 cups flour, salt\n", tuple(CellPrompt(f"Item: {item}\nAnswer:", ("Yes", "No")) for item in "abc")
)


def sequences() -> list[object]:
    return [one for cell in PromptEncoder(tiny.tokenizer()).encode(ROW) for part in cell for one in part]


def test_flops_are_those_of_the_engines_floor() -> None:
    model = tiny.model("llama")
    work = sizing.work_of([sequences(), sequences()])  # type: ignore[list-item]
    found = sizing.needs(sizing.sizes_of_model(model), work, token_budget=64)
    tree = build(sequences())  # type: ignore[arg-type]
    assert work.tokens == 2 * len(tree.tokens)
    assert found.flops == pytest.approx(2 * flops_needed(model, tree))


def test_memory_is_what_the_model_and_its_cache_hold() -> None:
    model = tiny.model("llama")
    sizes = sizing.sizes_of_model(model)
    assert sizes.weights == sum(weight.numel() for weight in model.parameters())
    # 4 layers, 2 key-value heads of 48 / 4 numbers each, keys and values.
    assert sizes.key_value_width == 4 * 2 * 12 * 2
    work = sizing.work_of([sequences()])  # type: ignore[list-item]
    found = sizing.needs(sizes, work, token_budget=64)
    assert found.memory["weights"] == 2 * sizes.weights
    assert found.memory["keys and values"] == 2 * sizes.key_value_width * (work.longest + 64)
    assert work.longest == len("Recipe: 2 cups flour, salt\nItem: a\nAnswer: Yes") + 1  # BOS; "\n" is only predicted
    wider = sizing.needs(sizes, work, token_budget=128)
    assert wider.total > found.total
    assert wider.flops == found.flops


def test_cards_that_share_a_model_hold_a_part_of_its_layers_each() -> None:
    found = sizing.Needs({"weights": 60.0, "keys and values": 9.0, "masks": 4.0, "CUDA": 1.5}, flops=1.0)
    assert found.on_each(1) == found.memory
    assert found.on_each(3) == {"weights": 20.0, "keys and values": 3.0, "masks": 4.0, "CUDA": 1.5}


def test_the_sizes_need_no_weights(tmp_path: Path) -> None:
    folder = helpers.save_tiny_model(tmp_path)
    files = TransformersBackend(folder).locate()
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert sizing.sizes_of(files) == sizing.sizes_of_model(tiny.model("llama"))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BackendError, match="cannot be read"):
        sizing.sizes_of(files)


def test_experts_are_refused() -> None:
    with torch.device("meta"):
        model = built("mixtral")
    with pytest.raises(BackendError, match="has experts"):
        sizing.sizes_of_model(model)


@pytest.mark.django_db
class TestCommand:
    def run(self, *arguments: str) -> str:
        out = StringIO()
        call_command("run_needs", *arguments, stdout=out)
        return out.getvalue()

    def test_it_prints_memory_and_time(self, study: Study, tmp_path: Path) -> None:
        helpers.cloze_judge(helpers.save_tiny_model(tmp_path))
        said = self.run(study.slug, "tiny")
        n_rows = study.sheets.get().rows.count()
        assert f"{n_rows} rows are left" in said
        assert re.search(r"in all +1\.\d\d GiB: fits H200 \(139 GiB\)", said)
        assert re.search(r"PFLOP: \S+ s at least, at 780 TFLOP/s", said)
        small = self.run(study.slug, "tiny", "--gib", "1", "--tflops", "100")
        assert "does not fit the card (1 GiB)" in small
        assert "at 100 TFLOP/s" in small
        two = self.run(study.slug, "tiny", "--cards", "2")
        assert "fits each of 2: H200" in two
        assert "no faster than one" in two

    def test_what_it_cannot_say_is_refused(self, study: Study, tmp_path: Path) -> None:
        helpers.cloze_judge(helpers.save_tiny_model(tmp_path))
        helpers.lexical_judge()
        with pytest.raises(CommandError, match="no cloze judge"):
            self.run(study.slug, "words")
        with pytest.raises(CommandError, match="both --gib and --tflops"):
            self.run(study.slug, "tiny", "--gib", "80")
        with pytest.raises(CommandError, match="There is no judge"):
            self.run(study.slug, "gone")
