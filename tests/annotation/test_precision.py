"""The expected width of kappa's interval, against Fleiss, Cohen and Everitt's formula and against simulation."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from annotation.planning.precision import Assumptions, even_shares, half_width
from reports.stats.agreement import cohen_kappa

SKEWED = (0.55, 0.3, 0.1, 0.05)


def fleiss_cohen_everitt(table: npt.NDArray[np.float64], n: int) -> float:
    """The large-sample standard error of kappa, from the paper's equation 13, for a table of probabilities."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    p_o, p_e = np.trace(table), float(rows @ columns)
    kappa = (p_o - p_e) / (1 - p_e)
    diagonal = np.diag(table)
    a = (diagonal * (1 - (rows + columns) * (1 - kappa)) ** 2).sum()
    across = (columns[:, np.newaxis] + rows[np.newaxis, :]) ** 2
    b = (1 - kappa) ** 2 * ((table * across).sum() - (diagonal * np.diag(across)).sum())
    c = (kappa - p_e * (1 - kappa)) ** 2
    return math.sqrt((a + b - c) / n) / (1 - p_e)


@pytest.mark.parametrize("shares", [even_shares(2), even_shares(4), SKEWED], ids=["two", "four", "skewed"])
@pytest.mark.parametrize("kappa", [0.1, 0.4, 0.77, 0.9])
def test_two_raters_and_cells_that_are_not_alike_give_the_textbooks_width(
    kappa: float, shares: tuple[float, ...]
) -> None:
    of = np.array(shares)
    table = kappa * np.diag(of) + (1 - kappa) * np.outer(of, of)

    width = half_width(Assumptions(kappa, shares, clustering=0), cells_a_document=10, documents=(30, 0))

    assert width == pytest.approx(1.959964 * fleiss_cohen_everitt(table, 300), rel=1e-6)


def simulated_half_width(
    assumed: Assumptions, *, cells: int, documents: tuple[int, ...], rng: np.random.Generator, times: int = 1500
) -> float:
    """1.96 × the standard deviation of the pooled kappa over studies drawn from the model that `half_width` names.

    Cells of one document are made alike by drawing some from one cell of the document (Lunn and Davies 1998): each is
    a copy with probability √clustering, so two of them are the same cell with probability `clustering`.
    """
    shares, knows = np.array(assumed.shares), math.sqrt(assumed.kappa)
    n_documents, k, most = sum(documents), len(shares), len(documents) + 1
    raters_of = [raters for raters, n in enumerate(documents, start=2) for _ in range(n)]

    def answers(n: int) -> npt.NDArray[np.int64]:
        """The answers of the most raters to n cells, shape (n, most)."""
        right = rng.choice(k, size=(n, 1), p=shares)
        return np.where(rng.random((n, most)) < knows, right, rng.choice(k, size=(n, most), p=shares))

    found = []
    for _ in range(times):
        own = answers(n_documents * cells).reshape(n_documents, cells, most)
        common = answers(n_documents)[:, np.newaxis, :]
        copied = rng.random((n_documents, cells, 1)) < math.sqrt(assumed.clustering)
        study = np.where(copied, common, own)
        table = np.zeros((k, k))
        for document, raters in enumerate(raters_of):
            for a, b in combinations(range(raters), 2):
                np.add.at(table, (study[document, :, a], study[document, :, b]), 1)
        found.append(cohen_kappa(table))
    return 1.959964 * float(np.std(found))


@pytest.mark.parametrize(
    ("kappa", "shares", "clustering", "documents"),
    [
        (0.7, even_shares(4), 0.0, (60, 0)),
        (0.7, SKEWED, 0.05, (60, 0)),
        (0.5, even_shares(3), 0.2, (40, 0)),
        (0.7, even_shares(4), 0.05, (30, 20)),
        (0.6, SKEWED, 0.0, (0, 40)),
        (0.6, SKEWED, 0.05, (0, 0, 0, 30)),
        (0.7, even_shares(4), 0.05, (20, 0, 10, 10)),
    ],
    ids=["independent", "clustered", "much clustered", "some three times", "all three times", "all by five", "mixed"],
)
@pytest.mark.sample(3)
def test_the_width_is_what_simulated_studies_show(
    kappa: float, shares: tuple[float, ...], clustering: float, documents: tuple[int, ...]
) -> None:
    assumed = Assumptions(kappa, shares, clustering)

    expected = half_width(assumed, cells_a_document=12, documents=documents)

    rng = np.random.default_rng(5)
    # A standard deviation of 600 draws is good to 3 %; three times that is allowed.
    simulated = simulated_half_width(assumed, cells=12, documents=documents, rng=rng, times=600)
    assert expected == pytest.approx(simulated, rel=0.09)


def test_three_raters_are_worth_more_than_two_and_less_than_three_pairs() -> None:
    assumed = Assumptions(0.7, even_shares(4))

    def width(*documents: int) -> float:
        found = half_width(assumed, cells_a_document=10, documents=documents)
        assert found is not None
        return found

    assert width(90, 0) < width(0, 30) < width(30, 0)


def test_documents_labelled_once_say_nothing() -> None:
    assert half_width(Assumptions(0.7, even_shares(4)), cells_a_document=10, documents=(0, 0)) is None
