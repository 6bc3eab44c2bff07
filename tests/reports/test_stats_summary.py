from __future__ import annotations

import numpy as np
import pytest

from reports.stats.summary import Empty, selection_summary


def test_selection_summary_counts_every_option_chosen_or_not() -> None:
    summary = selection_summary([0, 0, 1, 0], n_options=3)

    assert [(row.code, row.count, row.share) for row in summary.options] == [(0, 3, 0.75), (1, 1, 0.25), (2, 0, 0.0)]
    assert (summary.n, summary.n_filled, summary.completeness) == (4, 4, 1.0)
    assert summary.not_filled == ()


def test_selection_summary_counts_empty_cells_by_reason() -> None:
    summary = selection_summary([0, Empty.NOT_ASKED, Empty.NOT_ASKED, Empty.NOT_REACHED, 1], n_options=2)

    assert [(row.code, row.count) for row in summary.not_filled] == [(Empty.NOT_REACHED, 1), (Empty.NOT_ASKED, 2)]
    # 3 of 5 are empty
    assert (summary.n_not_filled, summary.share_not_filled) == (3, 0.6)


def test_selection_summary_can_count_an_option_as_not_filled_in() -> None:
    # The paper's Table 4: "Not filled in" = tasks not found (not asked) 3,441 + no tool involved 1,092 = 4,533.
    found, not_exact, not_found, no_tool, implied = range(5)
    codes = np.repeat(
        [found, not_exact, not_found, implied, no_tool, Empty.NOT_ASKED], [788, 1979, 792, 1601, 1092, 3441]
    )

    summary = selection_summary(codes, n_options=5, not_filled_options={no_tool})

    assert [row.count for row in summary.options] == [788, 1979, 792, 1601]
    assert [(row.code, row.count) for row in summary.not_filled] == [(no_tool, 1092), (Empty.NOT_ASKED, 3441)]
    # Table 4 prints 46.77 as 46.76, and 9693 in all.
    assert (summary.n, summary.n_not_filled) == (9693, 4533)
    assert summary.share_not_filled == pytest.approx(0.4677, abs=1e-4)


def test_selection_summary_of_no_cells_has_no_shares() -> None:
    summary = selection_summary([], n_options=2)

    assert [(row.count, row.share) for row in summary.options] == [(0, None), (0, None)]
    assert (summary.completeness, summary.share_not_filled) == (None, None)


@pytest.mark.parametrize("code", [2, -4])
def test_selection_summary_refuses_a_code_without_meaning(code: int) -> None:
    with pytest.raises(ValueError, match=f"code {code} is neither"):
        selection_summary([0, code], n_options=2)
