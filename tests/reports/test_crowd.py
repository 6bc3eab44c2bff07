"""Crowd labels in by one command, and a report that other libraries agree with."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command
from scipy.stats import pearsonr
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from annotation.models import Study
from reports import queries
from reports.data.arrays import Filters
from reports.numbers.report import QuestionReport, compute
from reports.numbers.values import ValueReport

pytestmark = pytest.mark.django_db

# Five items, six workers, the gold of each; not everybody answered everything.
SLICE = """\
!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold
a1\tW1\t42_0\t1\t1
a2\tW2\t42_0\t1\t1
a3\tW3\t42_0\t2\t1
a4\tW1\t42_1\t2\t2
a5\tW2\t42_1\t2\t2
a6\tW4\t42_1\t1\t2
a7\tW3\t42_2\t1\t1
a8\tW4\t42_2\t1\t1
a9\tW5\t42_2\t2\t1
a10\tW1\t42_3\t2\t1
a11\tW5\t42_3\t2\t1
a12\tW6\t42_3\t2\t1
a13\tW2\t42_4\t1\t1
a14\tW6\t42_4\t1\t1
a15\tW3\t42_4\t1\t1
"""
WHOLE = Path(__file__).resolve().parents[3] / "shared/data/crowd-labels/temp.standardized.tsv"


def imported(file: Path) -> QuestionReport:
    call_command(
        "import_labels", "crowd", file, "--new-study", "Crowd", "--nominal", "--pseudonyms", stdout=io.StringIO()
    )
    study = Study.objects.select_related("scheme").get(slug="crowd")
    report = compute(queries.load(study, Filters()), Filters())
    return report.sections[0].questions[0]


def answers(file: Path) -> dict[str, dict[str, str]]:
    """{item: {worker: response}} by the csv module alone."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    with file.open(newline="") as lines:
        for line in csv.DictReader(lines, delimiter="\t"):
            found[line["orig_id"]][line["!amt_worker_ids"]] = line["response"]
    return found


def expected(file: Path) -> dict[str, Any]:
    """Each figure by another library, pair by pair where it takes two raters."""
    given = answers(file)
    workers = sorted({worker for of_item in given.values() for worker in of_item})
    matrix = [[float(given[item].get(worker, "nan")) for item in given] for worker in workers]
    kappas = []
    for a, b in combinations(workers, 2):
        both = [(of[a], of[b]) for of in given.values() if a in of and b in of]
        if both and len({answer for pair in both for answer in pair}) > 1:
            kappas.append(cohen_kappa_score(*zip(*both, strict=True)))
    gold = {}
    with file.open(newline="") as lines:
        gold = {line["orig_id"]: line["gold"] for line in csv.DictReader(lines, delimiter="\t")}
    majority = {item: min(c for c, n in Counter(of.values()).items() if n == max(Counter(of.values()).values()))
                for item, of in given.items()}  # fmt: skip
    counts = np.array([[list(of.values()).count(option) for option in ("1", "2")] for of in given.values()])
    return {
        "alpha": krippendorff.alpha(np.array(matrix), level_of_measurement="nominal"),
        "kappa": float(np.mean(kappas)),
        "n_pairs": len(kappas),
        "fleiss": fleiss_kappa(counts) if len(set(counts.sum(axis=1))) == 1 else None,
        "gold": float(np.mean([majority[item] == gold[item] for item in gold])),
        "n": sum(len(of) for of in given.values()),
    }


def check(file: Path) -> None:
    right, report = expected(file), imported(file)

    assert report.summary.n_filled == right["n"]
    assert report.agreement.alpha.value == pytest.approx(right["alpha"], abs=1e-9)
    assert report.agreement.kappa.value == pytest.approx(right["kappa"], abs=1e-9)
    assert report.agreement.kappa.n_pairs == right["n_pairs"]
    if right["fleiss"] is not None:
        assert report.agreement.among.fleiss.value == pytest.approx(right["fleiss"], abs=1e-9)
    [of_gold] = report.golds
    assert of_gold.people.value == pytest.approx(right["gold"], abs=1e-9)


def test_a_slice_of_crowd_labels(tmp_path: Path) -> None:
    file = tmp_path / "slice.tsv"
    file.write_text(SLICE)
    check(file)


@pytest.mark.slow
@pytest.mark.skipif(not WHOLE.exists(), reason="the crowd labels are not here")
def test_all_crowd_labels() -> None:
    assert len(answers(WHOLE)) == 462
    check(WHOLE)


# --- more different answers than options ---

NUMBERS = Path(__file__).resolve().parents[3] / "shared/data/crowd-labels/valence.standardized.tsv"


def imported_numbers(file: Path) -> ValueReport:
    call_command("import_labels", "crowd", file, "--new-study", "Crowd", "--pseudonyms", stdout=io.StringIO())
    study = Study.objects.select_related("scheme").get(slug="crowd")
    filters = Filters(by="document", n_draws=200)
    [question] = compute(queries.load(study, filters), filters).sections[0].value_questions
    return question


def check_numbers(file: Path) -> None:
    """Each figure by another library, of the file alone."""
    given = answers(file)
    workers = sorted({worker for of_item in given.values() for worker in of_item})
    matrix = np.array([[float(given[item].get(worker, "nan")) for item in given] for worker in workers])
    with file.open(newline="") as lines:
        gold = {line["orig_id"]: float(line["gold"]) for line in csv.DictReader(lines, delimiter="\t")}
    correlations, apart = [], []
    for a, b in combinations(matrix, 2):
        both = ~np.isnan(a) & ~np.isnan(b)
        apart += np.abs(a[both] - b[both]).tolist()
        if both.sum() >= 3 and np.ptp(a[both]) and np.ptp(b[both]):
            correlations.append(pearsonr(a[both], b[both]).statistic)
    report = imported_numbers(file)
    numeric = report.numeric

    assert numeric is not None
    assert report.summary.n_filled == sum(len(of) for of in given.values())
    assert numeric.alpha == pytest.approx(krippendorff.alpha(matrix, level_of_measurement="interval"), abs=1e-9)
    assert report.exact.alpha == pytest.approx(krippendorff.alpha(matrix, level_of_measurement="nominal"), abs=1e-9)
    assert numeric.difference == pytest.approx(np.mean(apart), abs=1e-9)
    assert numeric.pearson == pytest.approx(np.mean(correlations), abs=1e-9)
    [of_gold] = report.golds
    assert of_gold.numbers is not None
    medians = {item: np.median([float(said) for said in of.values()]) for item, of in given.items()}
    expected_median = np.mean([abs(medians[item] - gold[item]) for item in given])
    assert of_gold.numbers.median == pytest.approx(expected_median, abs=1e-9)
    interval = report.numeric_intervals["alpha"]
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low < numeric.alpha < interval.high


def test_crowd_labels_with_more_answers_than_options_are_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    lines = ["!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold"]
    for item in range(14):
        true = int(rng.integers(-80, 80))
        for worker in rng.choice(6, size=4, replace=False):
            said = true + int(rng.integers(-20, 20))
            lines.append(f"a{item}-{worker}\tW{worker}\t{500 + item}\t{said}\t{true}")
    file = tmp_path / "numbers.tsv"
    file.write_text("\n".join([*lines, ""]))
    check_numbers(file)


@pytest.mark.slow
@pytest.mark.skipif(not NUMBERS.exists(), reason="the crowd labels are not here")
def test_all_crowd_numbers() -> None:
    check_numbers(NUMBERS)
