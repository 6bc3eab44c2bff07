"""Agreement in each sheet by itself: against the macro figures, which are its means, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reports.stats.agreement import macro_kappa
from reports.stats.answers import Answers
from reports.stats.by_sheet import judge_by_sheet, people_by_sheet
from reports.stats.intervals import sheet_kappa_intervals
from reports.stats.judge import judge_pair_accuracy
from reports.stats.pairs import pair_tables

N_SHEETS, N_DOCUMENTS, N_CELLS = 3, 12, 5


def answers(rng: np.random.Generator, n_raters: int, *, first: int = 0, right: float = 0.7) -> Answers:
    cell = np.arange(N_SHEETS * N_DOCUMENTS * N_CELLS)
    truth = np.random.default_rng(5).integers(3, size=cell.size)
    said = [np.where(rng.random(cell.size) < right, truth, rng.integers(3, size=cell.size)) for _r in range(n_raters)]
    document = cell // N_CELLS
    return Answers.from_long(
        rater=np.repeat(np.arange(n_raters) + first, cell.size),
        cell=np.tile(cell, n_raters),
        sheet=np.tile(document // N_DOCUMENTS, n_raters),
        document=np.tile(document, n_raters),
        code=np.concatenate(said),
        n_options=3,
    )


def test_sheets_of_two_people_average_to_the_macro_figures() -> None:
    rng = np.random.default_rng(1)
    people, judge = answers(rng, 2), answers(rng, 1, right=0.5)
    macro = macro_kappa(pair_tables(people))
    own = people_by_sheet(people, sheet_kappa_intervals(people, n_draws=100))
    assert sorted(own) == [0, 1, 2]
    assert np.mean([of.kappa for of in own.values() if of.kappa is not None]) == pytest.approx(macro.value)
    for row in macro.rows:
        assert own[row.sheet].alike.value == pytest.approx(row.agreed / row.n)
        assert own[row.sheet].alike.n_clusters == N_DOCUMENTS
        interval = own[row.sheet].interval
        assert interval is not None
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low < (row.value or 0) < interval.high

    of_judge = judge_by_sheet(people, judge, n_draws=100, seed=0)
    # With two people A_m, pair by pair, is the mean over sheets of these shares.
    shares = [of.alike.value for of in of_judge.values() if of.alike.value is not None]
    assert np.mean(shares) == pytest.approx(judge_pair_accuracy(people, judge).value)
    assert all(of.interval is not None and of.interval.low is not None for of in of_judge.values())
    assert all((of.kappa or 0) < (own[sheet].kappa or 0) for sheet, of in of_judge.items())
    assert judge_by_sheet(people, judge, n_draws=0, seed=0)[0].interval is None


def test_the_interval_of_a_judge_is_of_its_own_pairs_alone() -> None:
    """With a second person who is nowhere else, the pairs of the first person with that one change nothing of it."""
    rng = np.random.default_rng(2)
    both, judge = answers(rng, 2), answers(rng, 1, first=2, right=0.5)
    one = both.where(both.rater == 0)

    def together(people: Answers) -> Answers:
        return Answers.from_long(
            **{
                name: np.concatenate([getattr(people, name), getattr(judge, name)])
                for name in ("rater", "cell", "sheet", "document", "code")
            },
            n_options=3,
        )

    alone = sheet_kappa_intervals(together(one), n_draws=200)
    assert sheet_kappa_intervals(together(one), n_draws=200, rater=2) == alone
    of_all = sheet_kappa_intervals(together(both), n_draws=200)
    of_judge = sheet_kappa_intervals(together(both), n_draws=200, rater=2)
    assert sorted(of_judge) == sorted(of_all) == [0, 1, 2]
    assert all(of_judge[sheet] != of_all[sheet] for sheet in of_all)


def test_nobodys_answers_have_no_sheet() -> None:
    rng = np.random.default_rng(3)
    people = answers(rng, 2)
    nothing = people.where(np.zeros(people.cell.size, dtype=bool))
    assert people_by_sheet(nothing, {}) == {}
