"""Coverage by the hypergeometric formula against every subset of documents and SciPy; verdicts of the paper."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import hypergeom

from reports.stats.answers import MISSING, Answers
from reports.stats.coverage import ItemDocuments, Verdict, coverage_curve, item_documents, item_verdicts

FOUND, NOT_PERFECT, NOT_FOUND, IMPLIED = range(4)
_ = MISSING


def grid(*readings: np.ndarray, sheet: int = 0) -> tuple[Answers, np.ndarray]:
    """Each reading is one person's codes, shape (n_documents, n_items)."""
    tables = np.stack([np.asarray(reading) for reading in readings])
    rater, document, item = np.indices(tables.shape)
    answers = Answers.from_long(
        rater=rater.ravel(),
        cell=(document * 100 + item).ravel(),
        sheet=np.full(tables.size, sheet),
        document=document.ravel(),
        code=tables.ravel(),
        n_options=4,
    )
    return answers, answers.cell % 100


def test_a_document_counts_as_found_where_either_person_found_it() -> None:
    answers, item = grid(
        np.array([[FOUND, NOT_FOUND], [NOT_PERFECT, _], [NOT_FOUND, _]]),
        np.array([[NOT_FOUND, _], [FOUND, NOT_FOUND], [_, _]]),
    )
    counts = item_documents(answers, item, found=[FOUND])

    assert (counts.n_documents.tolist(), counts.n_found.tolist()) == ([3, 2], [2, 0])


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.bool_, (6, 4)))
def test_curve_is_the_mean_over_all_subsets_of_documents(found: np.ndarray) -> None:
    answers, item = grid(np.where(found, FOUND, NOT_FOUND))
    curve = coverage_curve(item_documents(answers, item, found=[FOUND]))

    for n in range(1, 7):
        shares = [found[list(subset)].any(axis=0).mean() for subset in itertools.combinations(range(6), n)]
        assert curve.mean[n - 1] == pytest.approx(np.mean(shares))
        assert curve.pooled[n - 1] == pytest.approx(np.mean(shares))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.data())
def test_curve_equals_scipy_and_never_falls(n_documents: int, data: st.DataObject) -> None:
    n_found = data.draw(st.integers(0, n_documents))
    curve = coverage_curve(ItemDocuments(*(np.array([value]) for value in (0, 0, n_documents, n_found))))

    assert curve.mean == pytest.approx(1 - hypergeom.pmf(0, n_documents, n_found, curve.n), abs=1e-9)
    assert (np.diff(curve.mean) >= -1e-12).all()


def test_recipes_count_alike_and_make_the_band() -> None:
    # Recipe 0: one item found in all of 4 documents; recipe 1: two items, found in none, and in 1 of 2.
    counts = ItemDocuments(
        sheet=np.array([0, 1, 1]),
        item=np.array([0, 0, 1]),
        n_documents=np.array([4, 2, 2]),
        n_found=np.array([4, 0, 1]),
    )
    curve = coverage_curve(counts, band=1.0)

    # n = 1: recipe 1 has (0 + 1/2) / 2; n = 2: (0 + 1) / 2; beyond its two documents only recipe 0 is left.
    np.testing.assert_allclose(curve.by_sheet[1], [0.25, 0.5, np.nan, np.nan])
    assert curve.mean == pytest.approx([0.625, 0.75, 1, 1])
    assert curve.pooled == pytest.approx([0.5, 2 / 3, 1, 1])
    assert (curve.low.tolist(), curve.high.tolist()) == ([0.25, 0.5, 1, 1], [1, 1, 1, 1])
    assert curve.n_sheets.tolist() == [2, 2, 1, 1]
    assert curve.n_items == 3


def test_curve_of_nothing_says_so() -> None:
    empty = Answers.from_long(rater=[], cell=[], sheet=[], code=[], n_options=4)
    curve = coverage_curve(item_documents(empty, [], found=[FOUND]))

    assert (curve.n.size, curve.reason) == (0, "no item has an answer")


# Table 2 of the paper: 27 annotations each; the last two are made up to stand beside them.
TABLE_2 = {
    "Yellow Bell Pepper": (0, 3, 24, 0),
    "Allspice": (0, 0, 27, 0),
    "Mustard": (0, 14, 13, 0),
    "Green lentils": (0, 26, 1, 0),
    "Salt": (1, 0, 0, 26),
    "Paprika": (20, 7, 0, 0),
}


def paper() -> tuple[Answers, np.ndarray]:
    """18 documents, the first nine read by two people: 27 readings of each ingredient."""
    readings = [(document, person) for person in (0, 1) for document in range(18 if person == 0 else 9)]
    rows = []
    for item, counts in enumerate(TABLE_2.values()):
        codes = np.repeat(np.arange(4), counts)
        rows += [(person, document, item, code) for (document, person), code in zip(readings, codes, strict=True)]
    rater, document, item, code = np.array(rows).T
    answers = Answers.from_long(
        rater=rater, cell=document * 100 + item, sheet=np.zeros(len(rows)), document=document, code=code, n_options=4
    )
    return answers, answers.cell % 100


def test_verdicts_list_what_was_never_found_with_its_counts() -> None:
    verdicts = item_verdicts(*paper(), exact=[FOUND], inexact=[NOT_PERFECT])

    assert [row.counts for row in verdicts.rows] == list(TABLE_2.values())
    assert [row.verdict for row in verdicts.rows] == [
        Verdict.INEXACTLY,
        Verdict.NEVER,
        Verdict.INEXACTLY,
        Verdict.INEXACTLY,
        Verdict.FOUND,
        Verdict.FOUND,
    ]
    assert [row.item for row in verdicts.never_exact] == [0, 1, 2, 3]
    assert (verdicts.count(Verdict.NEVER), verdicts.share(Verdict.FOUND)) == (1, pytest.approx(1 / 3))
    assert {(row.n_answers, row.n_documents) for row in verdicts.rows} == {(27, 18)}
    # Yellow bell pepper: three people, in three documents.
    assert verdicts.rows[0].inexact_documents == 3


def test_an_option_cannot_mean_both() -> None:
    with pytest.raises(ValueError, match="cannot mean found exactly and found inexactly"):
        item_verdicts(*paper(), exact=[FOUND], inexact=[FOUND, NOT_PERFECT])


def test_every_answer_needs_an_item() -> None:
    answers, item = paper()
    with pytest.raises(ValueError, match="one item for each answer"):
        item_documents(answers, item[:-1], found=[FOUND])
