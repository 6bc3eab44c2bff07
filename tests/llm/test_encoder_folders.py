"""Encoders in folders that the setting names, against transformers asked directly and against bert-score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from django.core import checks
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel, BertTokenizerFast

from llm import encoders, registry
from llm.encoders import EncoderError
from reports.stats.text.bertscore import BertScore
from reports.stats.text.pairs import Pair

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "query", ":", "rice", "dough", "knead", "##ed", "the", "flour"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of three layers and thirteen words, as the hub has them; its name is to be percent-encoded."""
    made = tmp_path_factory.mktemp("models") / "tiny, bert"
    made.mkdir()
    (made / "vocab.txt").write_text("\n".join(WORDS))
    torch.manual_seed(1)
    shape = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(WORDS), initializer_range=0.5, **shape)).save_pretrained(made)
    BertTokenizerFast(str(made / "vocab.txt")).save_pretrained(made)
    return made


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets `PALATE_ENCODERS` to one encoder, “ours”."""

    def set_to(place: str) -> None:
        monkeypatch.setattr(encoders, "_added", {"ours": place})

    return set_to


def at(folder: Path, query: str = "") -> str:
    return str(folder).replace(",", "%2C").replace(" ", "%20") + query


def hidden(folder: Path, text: str, layer: int) -> np.ndarray[Any, Any]:
    """What transformers says of one text alone, shape (n_tokens, n_dimensions)."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
    found: np.ndarray[Any, Any] = states[layer][0].double().numpy()
    return found


@pytest.mark.parametrize(("query", "prefix", "layer"), [("", "", 3), ("?layer=2&prefix=query:%20", "query: ", 2)])
def test_a_text_is_the_mean_of_its_tokens_at_the_layer(
    folder: Path, setting: Any, query: str, prefix: str, layer: int
) -> None:
    setting(at(folder, query))

    vectors = encoders.encoder("ours").encode(["the rice", "kneaded dough", "the rice"])

    for vector, text in zip(vectors, ["the rice", "kneaded dough", "the rice"], strict=True):
        mean = hidden(folder, prefix + text, layer).mean(axis=0)
        assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_layers_give_other_vectors(folder: Path, setting: Any) -> None:
    setting(at(folder))
    last = encoders.encoder("ours").encode(["the rice"])
    setting(at(folder, "?layer=1"))

    assert np.abs(encoders.encoder("ours").encode(["the rice"]) - last).max() > 0.01


def test_tokens_of_the_prefix_are_none_of_the_texts(folder: Path, setting: Any) -> None:
    setting(at(folder, "?prefix=query:%20"))

    [rice, nothing] = encoders.encoder("ours").token_vectors(["the rice", ""])

    # [CLS] query : the rice [SEP]
    assert rice == pytest.approx(hidden(folder, "query: the rice", 3)[[0, 3, 4, 5]], abs=1e-6)
    assert len(nothing) == 2


def test_bertscore_at_a_layer_is_that_by_hand(folder: Path, setting: Any) -> None:
    setting(at(folder, "?layer=2"))

    score = BertScore(encoders.encoder("ours").token_vectors).scores([Pair("kneaded dough", ("the dough",))])[0]

    said, wanted = (hidden(folder, text, 2) for text in ("kneaded dough", "the dough"))
    cosines = np.array([[a @ b / np.linalg.norm(a) / np.linalg.norm(b) for b in wanted] for a in said])
    assert cosines.shape == (5, 4)  # knead ##ed dough, and the dough, between [CLS] and [SEP]
    precision = sum(max(cosines[n]) for n in (1, 2, 3)) / 3
    recall = sum(max(cosines[:, n]) for n in (1, 2)) / 2
    assert score == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-6)


def test_it_says_what_it_is(folder: Path, setting: Any) -> None:
    setting(at(folder, "?layer=2&prefix=query:%20"))

    said = encoders.encoder("ours").identity()

    assert (said["encoder"], said["layer"], said["prefix"]) == ("tiny, bert", "2", "query: ")
    assert len(said["weights_sha256"]) == 64
    setting(at(folder))
    assert encoders.encoder("ours").identity()["layer"] == "last"


def test_it_is_offered_where_encoders_are_chosen(folder: Path, setting: Any) -> None:
    setting(at(folder, "?layer=2"))

    assert "ours" in encoders.names()
    assert "ours" in encoders.here()
    assert "ours" in encoders.of_tokens()
    assert encoders.encoder("ours").label == "ours"
    encoders.check("ours")
    assert registry.problems(None) == []


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("/nowhere/e5", "is to be in /nowhere/e5, and there is no such folder on this machine."),
        ("EMPTY", "is no encoder: it needs config.json, the tokeniser and the weights as *.safetensors"),
        ("FOLDER?layer=4", "has no layer 4: it has layers up to 3."),
    ],
    ids=["no folder", "no encoder", "no layer"],
)
def test_a_folder_that_cannot_be_had_is_said_and_not_offered(
    folder: Path, tmp_path: Path, setting: Any, place: str, sentence: str
) -> None:
    setting(place.replace("EMPTY", str(tmp_path)).replace("FOLDER", at(folder)))

    for asked in (encoders.check, lambda name: encoders.encoder(name).encode(["rice"])):
        with pytest.raises(EncoderError) as refusal:
            asked("ours")
        assert sentence in str(refusal.value)
    assert "ours" not in encoders.here()
    [problem] = registry.problems(None)
    assert (problem.level, problem.id) == (checks.WARNING, "llm.W001")
    assert sentence in problem.msg


@pytest.mark.parametrize("place", ["/e5?layers=2", "/e5?layer=-1", "/e5?layer=two", "/e5?17", "lab.nothing.Encoder"])
def test_a_setting_that_says_nothing_stops_the_start(setting: Any, place: str) -> None:
    setting(place)

    [problem] = registry.problems(None)

    assert (problem.level, problem.id) == (checks.ERROR, "llm.E002")
    assert place.partition("?")[0] in problem.msg
    assert encoders.best() in encoders.SHIPPED  # pages go on with the others


def test_a_layer_that_the_configuration_does_not_tell_is_found_when_it_is_asked(
    folder: Path, tmp_path: Path, setting: Any
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    config = json.loads((copy / "config.json").read_text())
    config["n_layers"] = config.pop("num_hidden_layers")  # as some families name it; BERT then takes 12
    (copy / "config.json").write_text(json.dumps(config))
    setting(f"{copy}?layer=13")

    with pytest.raises(EncoderError, match="has no layer 13: it has layers up to 12"):
        encoders.encoder("ours").encode(["rice"])


# bert-score 0.3.13, model_type the folder of all-MiniLM-L6-v2, num_layers 4, without IDF or rescaling.
SCORED_AT_4 = [
    ("kneaded dough", "dough, kneaded", 0.928711),
    ("the cat is on the mat", "the cat sat on the mat", 0.887101),
    ("NA", "sauce", 0.27894),
    ("pâte à pizza", "pizza dough", 0.663652),
]


@pytest.mark.model
@pytest.mark.parametrize(("candidate", "reference", "f"), SCORED_AT_4)
def test_bertscore_of_a_layer_is_that_of_bert_score(setting: Any, candidate: str, reference: str, f: float) -> None:
    if not encoders.AllMiniLM.is_here():
        pytest.skip("needs the weights of all-MiniLM-L6-v2")
    setting(f"{encoders.AllMiniLM().folder}?layer=4")

    found = BertScore(encoders.encoder("ours").token_vectors).scores([Pair(candidate, (reference,))])[0]

    assert found == pytest.approx(f, abs=1e-5)
