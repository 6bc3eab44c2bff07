"""Intervals against the same draws made by hand: documents copied, and the statistic computed from the copies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from reports.stats import bootstrap
from reports.stats.agreement import macro_accuracy, macro_kappa
from reports.stats.among import agreement_among
from reports.stats.answers import MISSING, Answers, IntArray
from reports.stats.bootstrap import By, Interval, resampling
from reports.stats.classification import (
    ceiling_intervals,
    classification,
    classification_intervals,
    human_ceiling,
    left_out,
)
from reports.stats.intervals import (
    agreement_intervals,
    average_macro_intervals,
    judge_accuracy_interval,
    macro_intervals,
    sheet_kappa_intervals,
)
from reports.stats.judge import confusion, judge_accuracy
from reports.stats.numeric import numeric_agreement, numeric_intervals
from reports.stats.pairs import pair_tables
from reports.stats.values import exact_intervals

K, DRAWS = 3, 40


def study(*, seed: int = 0, n_sheets: int = 12, documents: int = 6, columns: int = 5, n_raters: int = 5) -> Answers:
    """Sheets of documents x columns; three raters a sheet, each document read by two of them or by one."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, int, int, int, int]] = []
    for sheet in range(n_sheets):
        team = rng.choice(n_raters, 3, replace=False)
        for place in range(documents):
            document = sheet * documents + place
            readers = team[[[0, 1], [0, 2], [1, 2], [0, 1], [1, 2], [2]][place % 6]]
            for column, truth in enumerate(rng.choice(K, columns, p=[0.5, 0.3, 0.2])):
                for rater in readers:
                    code = truth if rng.random() < 0.75 else rng.integers(0, K)
                    code = MISSING if rng.random() < 0.1 else code
                    rows.append((int(rater), document * columns + column, sheet, document, int(code)))
    rater, cell, sheets, document, code = np.array(rows).T
    return Answers.from_long(rater=rater, cell=cell, sheet=sheets, document=document, code=code, n_options=K)


def judge_of(answers: Answers, *, seed: int = 1) -> Answers:
    cells, first = np.unique(answers.cell, return_index=True)
    rng = np.random.default_rng(seed)
    code = np.where(rng.random(cells.size) < 0.6, answers.code[first], rng.integers(MISSING, K, cells.size))
    return Answers.from_long(
        rater=np.full(cells.size, 99), cell=cells, sheet=answers.sheet[first], code=code, n_options=K
    )


def drawn_by_hand(answers: Answers, by: By, counts: np.ndarray, clusters: np.ndarray, *, sheets_too: bool) -> Answers:
    """Every document (or sheet) copied as often as it was drawn; copies of a sheet are sheets of their own if asked."""
    keys = answers.document if by == "document" else answers.sheet
    parts = []
    for number, times in zip(clusters.tolist(), counts.astype(int).tolist(), strict=True):
        mine = keys == number
        for copy in range(times):
            new_sheet = answers.sheet[mine] + (1000 * copy if sheets_too else 0)
            parts.append((answers.rater[mine], answers.cell[mine] + 10_000 * copy, new_sheet, answers.code[mine]))
    rater, cell, sheet, code = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Answers.from_long(rater=rater, cell=cell, sheet=sheet, code=code, n_options=K)


def by_hand(
    answers: Answers, by: By, statistic: Callable[[Answers], float | None], *, sheets_too: bool = False
) -> tuple[float, float]:
    draws = resampling(answers, by, n_draws=DRAWS, seed=5)
    counts = np.concatenate(list(draws.counts()), axis=1)
    values = [
        statistic(drawn_by_hand(answers, by, counts[:, draw], draws.clusters, sheets_too=sheets_too))
        for draw in range(DRAWS)
    ]
    assert None not in values
    low, high = np.quantile(np.array(values, dtype=float), [0.025, 0.975])
    return float(low), float(high)


def ends(interval: Interval) -> tuple[float, float]:
    """Low and high as the draws have them."""
    assert interval.low is not None
    assert interval.high is not None
    assert interval.bias is not None
    shift = interval.bias if interval.centred else 0.0
    return interval.low + shift, interval.high + shift


@pytest.mark.parametrize("by", ["document", "sheet"])
def test_intervals_of_all_coefficients_are_those_of_copied_documents(by: By) -> None:
    answers = study()
    found = agreement_intervals(answers, level="ordinal", by=by, n_draws=DRAWS, seed=5, expanded=False)

    for key in (
        "percent",
        "cohen",
        "cohen_linear",
        "cohen_quadratic",
        "scott",
        "fleiss",
        "alpha",
        "ac1",
        "ac2",
        "pabak",
    ):

        def coefficient(of: Answers, key: str = key) -> float | None:
            coefficients = agreement_among(of, level="ordinal").coefficients
            return next(c.value for c in coefficients if c.key == key)

        assert ends(found[key]) == pytest.approx(by_hand(answers, by, coefficient), abs=1e-12), key
        assert found[key].n_clusters == (72 if by == "document" else 12)


@pytest.mark.parametrize("by", ["document", "sheet"])
def test_intervals_of_options_are_those_of_copied_documents(by: By) -> None:
    answers = study()
    found = agreement_intervals(answers, by=by, n_draws=DRAWS, seed=5, expanded=False)

    for option in range(K):
        assert ends(found[f"specific.{option}"]) == pytest.approx(
            by_hand(answers, by, lambda of, option=option: agreement_among(of).options[option].specific), abs=1e-12
        )
        assert ends(found[f"kappa.{option}"]) == pytest.approx(
            by_hand(answers, by, lambda of, option=option: agreement_among(of).options[option].kappa), abs=1e-12
        )


@pytest.mark.parametrize("by", ["document", "sheet"])
@pytest.mark.parametrize("weights", [None, "quadratic"], ids=str)
def test_intervals_of_macro_kappa_are_those_of_copied_documents(by: By, weights: None) -> None:
    answers = study()
    found = macro_intervals(answers, weights, by=by, n_draws=DRAWS, seed=5, expanded=False)

    # A sheet that is drawn twice counts as two recipes; a document that is drawn twice belongs to its recipe.
    expected = by_hand(answers, by, lambda of: macro_kappa(pair_tables(of), weights).value, sheets_too=by == "sheet")
    assert ends(found.kappa) == pytest.approx(expected, abs=1e-12)
    assert found.kappa.centred == (by == "document")


@pytest.mark.parametrize("by", ["document", "sheet"])
def test_average_of_questions_is_of_the_same_documents(by: By) -> None:
    first, second = study(), study(seed=3)
    found = average_macro_intervals([(first, None), (second, "linear")], by=by, n_draws=DRAWS, seed=5, expanded=False)

    draws = resampling(first, by, n_draws=DRAWS, seed=5)
    counts = np.concatenate(list(draws.counts()), axis=1)
    values = []
    for draw in range(DRAWS):
        kappas = [
            macro_kappa(
                pair_tables(drawn_by_hand(of, by, counts[:, draw], draws.clusters, sheets_too=by == "sheet")), weights
            ).value
            for of, weights in ((first, None), (second, "linear"))
        ]
        values.append(np.mean(np.array(kappas, dtype=float)))
    assert ends(found.kappa) == pytest.approx(np.quantile(values, [0.025, 0.975]).tolist(), abs=1e-12)
    assert found.accuracy.low is not None


@pytest.mark.parametrize("at_once", [8_000_000, 1], ids=["together", "one by one"])
def test_intervals_of_sheets_are_those_of_each_sheet_alone(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.stats.intervals._SUMS_AT_ONCE", at_once)
    large, small = study(documents=12), study(n_sheets=3, documents=4)
    # A sheet of three with 12 documents each loses a rater, three more have 4 documents only.
    answers = Answers.from_long(
        rater=np.concatenate([large.rater, small.rater]),
        cell=np.concatenate([large.cell, small.cell + 100_000]),
        sheet=np.concatenate([large.sheet, small.sheet + 50]),
        document=np.concatenate([large.document, small.document + 10_000]),
        code=np.concatenate([large.code, small.code]),
        n_options=K,
    )
    answers = answers.where((answers.sheet != 2) | (answers.rater != answers.rater[answers.sheet == 2][0]))

    found = sheet_kappa_intervals(answers, "linear", n_draws=DRAWS, seed=5, expanded=False)

    assert list(found) == [*range(12), 50, 51, 52]
    for sheet, interval in found.items():
        alone = macro_intervals(
            answers.where(answers.sheet == sheet), "linear", n_draws=DRAWS, seed=5, expanded=False
        ).kappa
        assert (interval.n_clusters, interval.reason) == (alone.n_clusters, alone.reason)
        assert (interval.low, interval.high) == (
            (None, None) if alone.low is None else (pytest.approx(alone.low), pytest.approx(alone.high))
        )


def test_interval_of_macro_accuracy_by_sheet_is_that_of_copied_sheets() -> None:
    answers = study()
    found = macro_intervals(answers, by="sheet", n_draws=DRAWS, seed=5, expanded=False)

    expected = by_hand(answers, "sheet", lambda of: macro_accuracy(pair_tables(of)).value, sheets_too=True)
    assert ends(found.accuracy) == pytest.approx(expected, abs=1e-12)


def test_interval_of_macro_accuracy_by_document_keeps_the_places_of_the_raters() -> None:
    # Where all raters of all sheets stay in a draw, places do not move, and copying is the same.
    answers = study(documents=12)
    found = macro_intervals(answers, n_draws=DRAWS, seed=5, expanded=False)

    expected = by_hand(answers, "document", lambda of: macro_accuracy(pair_tables(of)).value)
    assert ends(found.accuracy) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("by", ["document", "sheet"])
def test_interval_of_judge_accuracy_is_that_of_copied_documents(by: By) -> None:
    people = study()
    judge = judge_of(people)
    found = judge_accuracy_interval(people, judge, by=by, n_draws=DRAWS, seed=5, expanded=False)

    def accuracy(of: Answers) -> float | None:
        cells, first = np.unique(of.cell, return_index=True)
        original = cells % 10_000
        at = np.minimum(np.searchsorted(judge.cell, original), judge.cell.size - 1)
        code = np.where(judge.cell[at] == original, judge.code[at], MISSING)
        copied = Answers.from_long(
            rater=np.full(cells.size, 99), cell=cells, sheet=of.sheet[first], code=code, n_options=K
        )
        return judge_accuracy(of, copied).value

    assert ends(found) == pytest.approx(by_hand(people, by, accuracy, sheets_too=by == "sheet"), abs=1e-12)


def test_the_same_seed_gives_the_same_interval_and_another_one_another() -> None:
    answers = study()

    assert agreement_intervals(answers, seed=7) == agreement_intervals(answers, seed=7)
    assert agreement_intervals(answers, seed=7)["fleiss"].low != agreement_intervals(answers, seed=8)["fleiss"].low
    assert agreement_intervals(answers, seed=7)["fleiss"].n_draws == 2_000


def test_draws_do_not_depend_on_the_size_of_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = resampling(study(), n_draws=50, seed=3)
    at_once = np.concatenate(list(draws.counts()), axis=1)
    monkeypatch.setattr(bootstrap, "_COUNTS_AT_ONCE", 200)

    in_blocks = list(draws.counts())

    assert len(in_blocks) > 20
    np.testing.assert_array_equal(np.concatenate(in_blocks, axis=1), at_once)
    assert (at_once.sum(axis=0) == draws.n_clusters).all()


def test_intervals_do_not_depend_on_the_parts_that_comparisons_are_counted_in(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = study()
    at_once = macro_intervals(answers, n_draws=DRAWS)
    monkeypatch.setattr("reports.stats.intervals._COMPARISONS_OF_PART", 7)

    assert macro_intervals(answers, n_draws=DRAWS) == at_once


def test_too_few_documents_are_said_with_their_number() -> None:
    answers = study(n_sheets=2, documents=4)

    for interval in (*agreement_intervals(answers).values(), macro_intervals(answers).kappa):
        assert (interval.low, interval.high, interval.n_clusters) == (None, None, 8)
        assert interval.reason == "too little data: too few documents or sheets to draw from"
    assert judge_accuracy_interval(answers, judge_of(answers)).reason.startswith("too little data")
    assert macro_intervals(study(n_sheets=9), by="sheet").accuracy.n_clusters == 9


@pytest.mark.parametrize("n_paired", [0, 1, 9, 10])
def test_documents_that_one_person_has_read_make_no_interval_of_agreement(n_paired: int) -> None:
    """Of 14 documents of four cells so many have a second reader."""
    rows = [
        (reader, 4 * document + column, document, (column + (reader and document % 3 == 0)) % K)
        for document in range(14)
        for reader in range(2 if document < n_paired else 1)
        for column in range(4)
    ]
    rater, cell, document, code = np.array(rows).T
    answers = Answers.from_long(
        rater=rater, cell=cell, sheet=np.zeros_like(rater), document=document, code=code, n_options=K
    )
    of_agreement = [
        agreement_intervals(answers, n_draws=100)["cohen"],
        macro_intervals(answers, n_draws=100).accuracy,
        sheet_kappa_intervals(answers, n_draws=100)[0],
        exact_intervals(answers, n_draws=100)["percent"],
        numeric_intervals(answers, np.arange(K, dtype=float), n_draws=100)["alpha"],
    ]
    reason = {0: "the value itself is not defined", 10: ""}.get(n_paired, bootstrap.TOO_FEW_CLUSTERS)
    assert {interval.reason for interval in of_agreement} == {reason}
    assert {interval.n_clusters for interval in of_agreement} == {n_paired if 0 < n_paired < 10 else 14}
    before = agreement_intervals(answers, n_draws=100, paired=False)["cohen"]
    assert (before.low is None) == (n_paired < 2)


def test_too_many_undefined_draws_are_said_with_their_number() -> None:
    # One of twelve documents is the only one in which somebody chose another option: (11/12)^12 = 35 % of the draws
    # lack it, and alpha is then not defined.
    codes = np.zeros((2, 12), dtype=np.int64)
    codes[:, 0] = 1
    answers = Answers.from_long(
        rater=[0] * 12 + [1] * 12, cell=[*range(12)] * 2, sheet=[0] * 24, code=codes.ravel(), n_options=2
    )
    found = agreement_intervals(answers)

    assert (found["alpha"].low, found["alpha"].reason) == (
        None,
        "too little data: the value is not defined in too many draws",
    )
    assert found["alpha"].n_undefined / found["alpha"].n_draws == pytest.approx((11 / 12) ** 12, abs=0.05)
    # Percent agreement differs; one that is 1 in every draw has no interval, but for reports of before.
    alike = Answers.from_long(
        rater=[0] * 12 + [1] * 12, cell=[*range(12)] * 2, sheet=[0] * 24, code=[0, 1] * 12, n_options=2
    )
    percent = agreement_intervals(alike)["percent"]
    assert (percent.low, percent.reason) == (None, bootstrap.EVERY_DRAW_THE_SAME)
    with bootstrap.intervals_of(as_before=True):
        percent = agreement_intervals(alike)["percent"]
    assert (percent.low, percent.high, percent.reason) == (1.0, 1.0, "")


def test_a_value_that_does_not_exist_has_no_interval() -> None:
    answers = study(n_sheets=12)
    alone = answers.where(answers.rater == 0)

    assert agreement_intervals(alone)["alpha"].reason == "the value itself is not defined"


def test_a_centred_interval_does_not_pass_one() -> None:
    draws = resampling(study(), n_draws=4, expanded=False)

    found = draws.interval(np.array([0.99, 0.9, 0.95, 0.97, 1.0]), centred=True)

    # The draws' mean is .955, so the bias -.035; the 97.5 percentile .99775 would become 1.03275.
    assert found.bias == pytest.approx(-0.035)
    assert (found.low, found.high) == (pytest.approx(0.90375 + 0.035), 1.0)


def test_very_many_documents_are_drawn_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = study(n_sheets=60)
    alone = agreement_intervals(answers)["alpha"]
    monkeypatch.setattr(bootstrap, "MAXIMUM_GROUPS", 120)
    grouped = agreement_intervals(answers)["alpha"]

    assert grouped.n_clusters == 360
    assert alone.standard_error is not None
    assert grouped.standard_error == pytest.approx(alone.standard_error, rel=0.15)


@pytest.mark.slow
def test_intervals_hold_the_true_value_about_as_often_as_they_say() -> None:
    # The true values from a study with many sheets; then many small studies of the same kind. 95 % of 200 is 190 with
    # a standard deviation of 3.
    truth = study(seed=10_000, n_sheets=4_000)
    alpha = agreement_among(truth).alpha.value
    kappa = macro_kappa(pair_tables(truth)).value
    assert alpha is not None
    assert kappa is not None

    def holds(interval: Interval, value: float) -> bool:
        assert interval.low is not None
        assert interval.high is not None
        return interval.low <= value <= interval.high

    held = np.zeros(3)
    for seed in range(200):
        answers = study(seed=seed, n_sheets=25)
        held += [
            holds(agreement_intervals(answers, n_draws=500)["alpha"], alpha),
            holds(macro_intervals(answers, n_draws=500).kappa, kappa),
            holds(macro_intervals(answers, n_draws=500, by="sheet").kappa, kappa),
        ]

    assert (held / 200 > 0.88).all(), held


def uneven(n: int, seed: int) -> tuple[Answers, Answers]:
    """Three people, a fifth of whose answers are missing, and a judge on n documents of six cells, which differ in how
    hard they are and in how often they have which of three options."""
    rng = np.random.default_rng([seed, n])
    document = np.repeat(np.arange(n), 6)
    shares = np.cumsum(rng.dirichlet([3.6, 1.8, 0.6], n), axis=1)[document]
    truth = (rng.random((document.size, 1)) > shares).sum(axis=1).clip(0, 2)
    knows = rng.beta(4, 1, n)[document]

    def said(less: float) -> IntArray:
        return np.where(rng.random(document.size) < knows - less, truth, (truth + rng.integers(1, 3, truth.size)) % 3)

    codes = np.stack([said(0), said(0), said(0)])
    codes[rng.random(codes.shape) < 0.2] = -1
    rater, cell = np.indices(codes.shape)
    made = (
        Answers.from_long(
            rater=who.ravel(),
            cell=at.ravel(),
            sheet=np.zeros(at.size),
            document=document[at].ravel(),
            code=of.ravel(),
            n_options=3,
        )
        for who, at, of in ((rater, cell, codes), (rater[:1], cell[:1], said(0.1)[np.newaxis]))
    )
    return next(made), next(made)


def figures(people: Answers, judge: Answers) -> dict[str, float | None]:
    among, ceiling = agreement_among(people, level="ordinal"), human_ceiling(people, left_out(people, judge, each=True))
    judged, numbers = classification(confusion(people, judge).table), numeric_agreement(people, SCALE)
    return {
        **{of.key: of.value for of in among.coefficients},
        **{f"numbers.{name}": getattr(numbers, name) for name in ("alpha", "icc", "difference", "limits", "pearson")},
        "A_m": judge_accuracy(people, judge).value,
        "accuracy": judged.accuracy,
        "macro_f1": judged.macro_f1,
        "kappa": judged.kappa,
        "a person": ceiling.person,
        "the judge": ceiling.judge,
    }


def intervals_of(people: Answers, judge: Answers) -> dict[str, Interval]:
    judged = classification_intervals(people, judge, n_draws=400)
    ceiling = ceiling_intervals(people, left_out(people, judge, each=True), n_draws=400)
    numbers = numeric_intervals(people, SCALE, n_draws=400)
    return {
        **agreement_intervals(people, level="ordinal", n_draws=400),
        **{f"numbers.{name}": of for name, of in numbers.items()},
        "A_m": judge_accuracy_interval(people, judge, n_draws=400),
        "accuracy": judged.accuracy,
        "macro_f1": judged.macro_f1,
        "kappa": judged.kappa,
        "a person": ceiling.person,
        "the judge": ceiling.judge,
    }


SCALE = np.array([0.0, 1.0, 3.0])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "least"), [(10, 0.85), (50, 0.88)])
def test_intervals_of_people_numbers_and_judges_hold_the_true_value(n: int, least: float) -> None:
    """95 % is meant; of 300 studies a share has a standard deviation of 1.3 %. What few documents cost is in
    docs/statistics.md."""
    true = figures(*uneven(20_000, 0))
    held = dict.fromkeys(true, 0)
    for seed in range(300):
        found = intervals_of(*uneven(n, seed))
        for name, value in true.items():
            of = found[name]
            assert value is not None
            assert of.low is not None
            assert of.high is not None
            held[name] += of.low <= value <= of.high

    assert min(held.values()) / 300 >= least, held


def test_a_sheet_with_one_rater_has_no_interval_of_its_kappa() -> None:
    """Beside a sheet that has one; and answers of nobody have no sheet."""
    document = np.arange(24)
    answers = Answers.from_long(
        rater=np.concatenate([np.zeros(24), np.ones(12)]),
        cell=np.concatenate([document, document[:12]]),
        sheet=np.concatenate([document // 12, np.zeros(12)]),
        document=np.concatenate([document, document[:12]]),
        code=np.concatenate([document % 2, np.arange(12) % 3 % 2]),
        n_options=2,
    )
    found = sheet_kappa_intervals(answers, n_draws=100)

    assert found[0].low is not None
    assert (found[1].low, found[1].reason) == (None, bootstrap.NOT_DEFINED)
    assert sheet_kappa_intervals(answers.where(answers.cell < 0)) == {}


@pytest.mark.parametrize("by", ["document", "sheet"])
def test_a_question_that_nobody_answered_is_left_out_of_the_average(by: By) -> None:
    rng = np.random.default_rng(0)
    cell = np.repeat(np.arange(30), 2)
    answers = Answers.from_long(
        rater=np.tile([0, 1], 30), cell=cell, sheet=cell // 2, document=cell, code=rng.integers(0, 2, 60), n_options=2
    )
    nobody = answers.where(answers.cell < 0)

    alone = average_macro_intervals([(answers, None)], by=by, n_draws=200)
    assert average_macro_intervals([(answers, None), (nobody, "quadratic")], by=by, n_draws=200) == alone
