"""Text metrics: published pairs, what the reference implementations make of the same pairs, and ceilings."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from nltk.translate.bleu_score import corpus_bleu
from nltk.translate.meteor_score import meteor_score
from rouge_score import rouge_scorer

from llm import encoders
from reports.stats.text import meteor, meteor_java, overlap, tokens
from reports.stats.text.bertscore import BertScore
from reports.stats.text.metrics import DEFAULT, OF_LISTS, VARIANTS, metric_of, scored
from reports.stats.text.pairs import AT_ONCE, Pair, Pairs

WORDS = [
    "dough",
    "kneaded",
    "warm",
    "water",
    "flour",
    "salt",
    "olive",
    "oil",
    "grated",
    "cheese",
    "sauce",
    "tomatoes",
    "baked",
    "baking",
    "pizza",
    "crust",
    "the",
    "of",
]
COCO = json.loads((Path(__file__).parent / "data" / "coco-captions.json").read_text())
TABLES = Path(__file__).parents[3] / "shared" / "data" / "pizza-commonsense" / "val.jsonl.gz"
WITHOUT_DATA = [key for key in VARIANTS if key not in ("meteor-wordnet", "meteor-1.5", "bertscore")]


def sentence(rng: random.Random, most: int = 12) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, most)))


def corpus(seed: int, n: int) -> tuple[list[str], list[list[str]]]:
    """Texts with one to three references, a third of which are the text itself, or it without a word."""
    rng = random.Random(seed)
    candidates = [sentence(rng) for _ in range(n)]
    references = []
    for text in candidates:
        of = [sentence(rng) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.5:
            of[0] = text if rng.random() < 0.5 else " ".join(text.split()[1:]) or text
        references.append(of)
    return candidates, references


def each(key: str, candidates: list[str], references: list[list[str]], **how: str) -> np.ndarray[Any, Any]:
    metric = metric_of(key, **how)
    return metric.each(metric.of(Pairs.of(candidates, references)))


def whole(key: str, candidates: list[str], references: list[list[str]], **how: str) -> float:
    return scored(candidates, references, [key], **how)[key]


class NoSynonyms:
    def synsets(self, word: str) -> list[str]:
        return []


# --- published pairs --------------------------------------------------------------------------------------------------


def test_rouge_l_of_rouge_scores_readme() -> None:
    # The LCS has 5 tokens of 8 and 9: F1 = 10 / 17.
    pair = ["The quick brown dog jumps on the log."], [["The quick brown fox jumps over the lazy dog"]]

    assert whole("rouge-l-f1", *pair) == pytest.approx(0.5882, abs=5e-5)


def test_bleu_of_sacrebleus_readme() -> None:
    said = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
    first = ["The dog bit the man.", "It was not unexpected.", "The man bit him first."]
    second = ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."]

    assert 100 * whole("bleu-sacre", said, [list(of) for of in zip(first, second, strict=True)]) == pytest.approx(
        48.53, abs=5e-3
    )


def test_one_pair_has_another_number_in_each_variant() -> None:
    pair = ["the cat is on the mat"], [["the cat sat on the mat"]]

    assert each("bleu-1", *pair)[0] == pytest.approx(0.83333, abs=5e-6)
    assert each("bleu-4", *pair)[0] == pytest.approx(8.034e-05, abs=5e-8)
    assert each("bleu-sacre", *pair)[0] == pytest.approx(0.379918, abs=5e-7)
    assert each("meteor-stems", *pair)[0] == pytest.approx(0.8066667, abs=5e-8)


def test_meteor_of_nltks_example() -> None:
    said = "It is a guide to action which ensures that the military always obeys the commands of the party"
    read = "It is a guide to action that ensures that the military will forever heed Party commands"

    # Its synonyms match nothing that words and stems have not.
    assert meteor.meteor(said.lower().split(), read.lower().split()) == pytest.approx(0.6944, abs=5e-5)


def test_meteor_with_synonyms() -> None:
    known = {"obey": ["heed"]}

    without = meteor.aligned(["always", "obey"], ["will", "heed"])
    matched = meteor.aligned(["always", "obey"], ["will", "heed"], lambda word: known.get(word, []))

    assert (without, matched) == ([], [(1, 1)])


# --- the same pairs, by the reference implementations -----------------------------------------------------------------


def test_penn_tokens_are_those_of_the_java_program() -> None:
    for pair in COCO["pairs"]:
        texts = [pair["candidate"], *pair["references"]]
        assert [tokens.penn(text) for text in texts] == [line.split() for line in pair["tokens"]]


@pytest.mark.parametrize(("key", "name"), [("bleu-4", 3), ("bleu-1", 0), ("rouge-l", "rouge_l")])
def test_what_pycocoevalcap_makes_of_the_same_pairs(key: str, name: int | str) -> None:
    pairs = [pair["candidate"] for pair in COCO["pairs"]], [pair["references"] for pair in COCO["pairs"]]
    expected = [pair["bleu"][name] if isinstance(name, int) else pair[name] for pair in COCO["pairs"]]
    of_corpus = COCO["corpus"]["bleu"][name] if isinstance(name, int) else COCO["corpus"][name]

    assert each(key, *pairs) == pytest.approx(expected, abs=1e-9)
    assert whole(key, *pairs) == pytest.approx(of_corpus, abs=1e-9)


def test_meteor_1_5_from_what_its_program_counts() -> None:
    counted = np.array([[float(n) for n in pair["meteor_statistics"].split()] for pair in COCO["pairs"]])
    counted = meteor_java.without_whole(counted)

    assert meteor_java.score(counted) == pytest.approx([pair["meteor"] for pair in COCO["pairs"]], abs=1e-9)
    assert meteor_java.score(counted.sum(axis=0)) == pytest.approx(COCO["corpus"]["meteor"], abs=1e-9)


@pytest.mark.slow
def test_meteor_1_5_by_its_program() -> None:
    try:
        meteor_java.program(), meteor_java._java()
    except meteor.DataMissing:
        pytest.skip("needs Java and pycocoevalcap")
    pairs = [pair["candidate"] for pair in COCO["pairs"]], [pair["references"] for pair in COCO["pairs"]]

    assert whole("meteor-1.5", *pairs) == pytest.approx(COCO["corpus"]["meteor"], abs=1e-9)


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(meteor_java, "find_spec", lambda name: None)

    with pytest.raises(meteor.DataMissing, match="pycocoevalcap"):
        whole("meteor-1.5", ["dough"], [["dough"]])


def test_meteor_without_wordnet_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk.data

    try:
        nltk.data.find("corpora/wordnet")
    except LookupError:
        with pytest.raises(meteor.DataMissing, match="WordNet"):
            whole("meteor-wordnet", ["dough"], [["paste"]])
    else:
        candidates, references = corpus(6, 100)
        expected = [
            meteor_score([tokens.penn(of) for of in texts], tokens.penn(text))
            for text, texts in zip(candidates, references, strict=True)
        ]
        assert each("meteor-wordnet", candidates, references) == pytest.approx(expected, abs=1e-9)


def test_rouge_score_makes_the_same_of_the_same_pairs() -> None:
    candidates, references = corpus(1, 400)
    scorer = rouge_scorer.RougeScorer(["rougeL"])
    expected = [
        scorer.score_multi(of, text)["rougeL"].fmeasure for text, of in zip(candidates, references, strict=True)
    ]

    assert each("rouge-l-f1", candidates, references) == pytest.approx(expected, abs=1e-9)


def test_sacrebleu_makes_the_same_of_the_same_pairs() -> None:
    candidates, references = corpus(2, 400)
    candidates += ["Salt; pepper!", "no such word here", "Salt"]
    references += [["Salt, pepper."], ["dough"], ["Salt", "Pepper"]]
    expected = [sacrebleu.sentence_bleu(text, of).score / 100 for text, of in zip(candidates, references, strict=True)]
    streams = [[of[n] if n < len(of) else None for of in references] for n in range(3)]

    assert each("bleu-sacre", candidates, references) == pytest.approx(expected, abs=1e-9)
    assert whole("bleu-sacre", candidates, references) == pytest.approx(
        sacrebleu.corpus_bleu(candidates, streams).score / 100, abs=1e-9
    )


def test_nltk_makes_the_same_of_the_same_pairs() -> None:
    candidates, references = corpus(3, 200)
    expected = [
        meteor_score([tokens.penn(of) for of in texts], tokens.penn(text), wordnet=NoSynonyms())
        for text, texts in zip(candidates, references, strict=True)
    ]

    assert each("meteor-stems", candidates, references) == pytest.approx(expected, abs=1e-9)


def test_nltk_makes_the_same_bleu_of_the_same_pairs_where_all_have_four_tokens() -> None:
    candidates, references = corpus(6, 300)
    long = [n for n, text in enumerate(candidates) if len(tokens.penn(text)) >= overlap.ORDER]
    ours, nltk = [], []
    for chosen in (range(len(candidates)), long):
        said, read = [candidates[n] for n in chosen], [references[n] for n in chosen]
        ours.append(whole("bleu-4", said, read))
        nltk.append(
            corpus_bleu([[tokens.penn(text) for text in of] for of in read], [tokens.penn(text) for text in said])
        )

    assert ours[1] == pytest.approx(nltk[1], abs=1e-9)
    assert nltk[0] < 0.98 * ours[0]  # it counts a 4-gram of a text that has none


def test_pycocoevalcap_itself_where_it_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    bleu = pytest.importorskip("pycocoevalcap.bleu.bleu")
    rouge = pytest.importorskip("pycocoevalcap.rouge.rouge")
    candidates, references = corpus(4, 300)
    read = {n: [" ".join(tokens.penn(text)) for text in of] for n, of in enumerate(references)}
    said = {n: [" ".join(tokens.penn(text))] for n, text in enumerate(candidates)}

    assert whole("bleu-4", candidates, references) == pytest.approx(
        bleu.Bleu(4).compute_score(read, said)[0][3], abs=1e-9
    )
    assert each("rouge-l", candidates, references) == pytest.approx(
        rouge.Rouge().compute_score(read, said)[1], abs=1e-9
    )


def test_the_longest_common_subsequence_by_its_table() -> None:
    candidates, references = corpus(5, 60)
    pairs = Pairs.of(candidates, [of[:1] for of in references])

    found = overlap.lcs(overlap.Tokens.of(pairs.distinct, tokens.blanks))

    for pair, length in zip(pairs.distinct, found.tolist(), strict=True):
        a, b = pair.candidate.split(), pair.references[0].split()
        table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
        for i, one in enumerate(a, 1):
            for j, other in enumerate(b, 1):
                table[i, j] = table[i - 1, j - 1] + 1 if one == other else max(table[i - 1, j], table[i, j - 1])
        assert length == table[-1, -1]


# --- ceilings, floors, and what is refused ----------------------------------------------------------------------------


def test_lists_whatever_their_order() -> None:
    pair = ["Flour; water", "salt"], [["water;flour; water"], ["salt; oil"]]

    assert each("exact", *pair).tolist() == [0, 0]
    assert each("exact-sets", *pair, separator=";").tolist() == [1, 0]
    assert each("parts-f1", *pair, separator=";").tolist() == [1, pytest.approx(2 / 3)]


@pytest.mark.parametrize("key", OF_LISTS)
def test_lists_need_the_sign_between_their_parts(key: str) -> None:
    with pytest.raises(KeyError):
        metric_of(key)


def test_each_candidate_needs_a_reference() -> None:
    with pytest.raises(ValueError, match="one at least"):
        Pairs.of(["dough"], [[]])
    with pytest.raises(ValueError, match="1 candidates and references for 2"):
        Pairs.of(["dough"], [["dough"], ["dough"]])


@pytest.mark.parametrize("key", WITHOUT_DATA)
def test_any_of_several_references_will_do(key: str) -> None:
    said, read = ["rolled out dough on a floured board"], ["rolled out dough on a floured board"]
    other = ["kneaded dough"]

    assert whole(key, said, [[*other, *read]], separator=";") >= whole(key, said, [other], separator=";")
    assert whole(key, said, [[*other, *read]], separator=";") == pytest.approx(
        whole(key, said, [read], separator=";"), abs=1e-9
    )


@pytest.mark.parametrize("key", WITHOUT_DATA)
def test_no_text_at_all(key: str) -> None:
    assert whole(key, ["", "dough"], [["dough"], ["water"]], separator=";") == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("key", WITHOUT_DATA)
@pytest.mark.sample(3)
def test_pairs_are_worked_on_in_blocks(key: str) -> None:
    candidates, references = corpus(7, 50)
    often = AT_ONCE // 50 + 2
    many = [f"{text} {n}" for n in range(often) for text in candidates]
    of_many = [[f"{of} {n}" for of in texts] for n in range(often) for texts in references]

    found = each(key, many, of_many, separator=";")

    assert len(set(many)) > AT_ONCE
    assert found[-50:] == pytest.approx(each(key, many[-50:], of_many[-50:], separator=";"), nan_ok=True)


def tables() -> list[dict[str, list[str]]]:
    if not TABLES.exists():
        pytest.skip("needs the published tables")
    with gzip.open(TABLES, "rt", encoding="utf-8") as lines:
        return [
            {key: [str(line[key]).strip() for line in json.loads(text)["table"]] for key in ("input", "output")}
            for text in lines
        ]


@pytest.mark.parametrize("question", ["input", "output"])
def test_published_tables_against_themselves_shifted_and_emptied(question: str) -> None:
    texts = [[text for text in table[question] if text] for table in tables()]  # some cells are empty
    assert len(texts) == 84
    lines = [text for of in texts for text in of]
    shifted = [text for of in texts for text in (*of[1:], of[0])]
    references = [[text] for text in lines]

    own = scored(lines, references, WITHOUT_DATA, separator=";")
    moved = scored(shifted, references, WITHOUT_DATA, separator=";")
    empty = scored([""] * len(lines), references, WITHOUT_DATA, separator=";")

    assert set(DEFAULT) <= set(own)
    for key, figure in own.items():
        ceiling = metric_of(key, separator=";").perfect
        if ceiling is None:  # METEOR's, of n words: 1 - 0.5 / n³
            n = np.array([len(tokens.penn(text)) for text in lines])
            assert figure == pytest.approx(float((1 - 0.5 / n**3).mean()))
        else:
            assert figure == pytest.approx(ceiling, abs=1e-6)
        assert 0 < moved[key] < 0.8 * figure
        assert empty[key] == pytest.approx(0, abs=1e-6)


# --- BERTScore --------------------------------------------------------------------------------------------------------

# What bert-score 0.3.13 makes of these with all-MiniLM-L6-v2, layer 6, without IDF or rescaling.
SCORED = [
    ("kneaded dough", ["dough, kneaded"], 0.919682),
    ("the cat is on the mat", ["the cat sat on the mat"], 0.90035),
    ("flour; water; salt", ["water; flour"], 0.874592),
    ("NA", ["sauce"], 0.13421),
    ("rolled out dough on a floured board", ["kneaded dough", "rolled dough on a board"], 0.862116),
    ("dough", ["dough"], 1.0),
    ("pâte à pizza", ["pizza dough"], 0.551735),
]


@pytest.mark.model
def test_bertscore_is_that_of_bert_score() -> None:
    if not encoders.AllMiniLM.is_here():
        pytest.skip("needs the weights of all-MiniLM-L6-v2")
    bert = BertScore(encoders.encoder("all-minilm-l6-v2").token_vectors)
    pairs = Pairs.of([text for text, _of, _f in SCORED], [of for _text, of, _f in SCORED])

    metric = metric_of("bertscore", bert=bert)

    assert metric.each(metric.of(pairs)) == pytest.approx([f for _text, _of, f in SCORED], abs=1e-5)
    assert metric.figure(metric.of(pairs).sum(axis=0)) == pytest.approx(np.mean([f for *_pair, f in SCORED]), abs=1e-5)


def test_bertscore_matches_each_token_with_the_nearest() -> None:
    east, north, both = np.eye(2)[0], np.eye(2)[1], np.array([1.0, 1.0])
    of = {"a": [east], "b": [north, both], "": []}

    def vectors(texts: Sequence[str]) -> list[np.ndarray[Any, Any]]:
        return [np.array([east, *of[text], east]) for text in texts]  # what stands around a text looks east

    bert = BertScore(vectors)
    half = float(np.sqrt(0.5))  # of 45 degrees

    # P: "a" finds what stands around "b". R: north finds nothing, both looks halfway.
    assert bert.scores([Pair("a", ("b",))])[0] == pytest.approx(2 * (half / 2) / (1 + half / 2))
    assert bert.scores([Pair("a", ("b", "a")), Pair("", ("a",)), Pair("", ("",))]).tolist() == [1, 0, 0]
    assert len(bert.known) == 4


def test_bertscore_needs_an_encoder() -> None:
    with pytest.raises(meteor.DataMissing, match="vectors of tokens"):
        metric_of("bertscore")
