from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reports.stats.answers import MISSING, Answers
from reports.stats.judge import confusion, judge_accuracy, majority_baseline
from tests.reports.matrices import answers_of

_ = MISSING
# Two recipes: cells 0-3 and 4-6. Two people, some cells with one of them. Option 3 is "implied", option 2 "not found".
PEOPLE = [
    [0, 1, 2, _, 0, 3, _],
    [0, 0, _, 1, 2, _, _],
]
JUDGE = [[0, 0, 1, _, 0, 2, 1]]
SHEETS = [0, 0, 0, 0, 1, 1, 1]


def answers(codes: object) -> Answers:
    return answers_of(codes, groups=SHEETS, n_options=4)  # type: ignore[arg-type]


def test_judge_is_right_where_it_agrees_with_either_person_and_a_cell_counts_once() -> None:
    result = judge_accuracy(answers(PEOPLE), answers(JUDGE))

    # Recipe 0: cell 0 right, cell 1 right (the second person), cell 2 wrong, cell 3 without a label: 2/3.
    # Recipe 1: cell 4 right (the first person), cell 5 wrong; nobody answered cell 6: 1/2.
    assert [(row.sheet, row.correct, row.total) for row in result.rows] == [(0, 2, 3), (1, 1, 2)]
    # (2/3 + 1/2) / 2 = 7/12
    assert result.value == pytest.approx(7 / 12)


def test_judge_accuracy_returns_what_was_left_out() -> None:
    result = judge_accuracy(answers(PEOPLE), answers(JUDGE))

    # the judge labelled 5 of the 6 cells that people answered
    assert (result.n_sheets, result.n_cells, result.n_unlabelled) == (2, 5, 1)


def test_merging_implied_into_not_found_makes_the_judge_right() -> None:
    result = judge_accuracy(answers(PEOPLE).merged({3: 2}), answers(JUDGE).merged({3: 2}))

    # Cell 5 (a person: implied, the judge: not found) is now right: (2/3 + 2/2) / 2 = 5/6
    assert result.value == pytest.approx(5 / 6)


def test_recipe_without_a_label_of_the_judge_is_left_out_and_counted() -> None:
    result = judge_accuracy(answers(PEOPLE), answers([[0, 0, 1, _, _, _, _]]))

    assert result.value == pytest.approx(2 / 3)
    assert result.n_sheets == 1
    assert result.rows[1].value is None


def test_judge_without_labels_has_no_accuracy() -> None:
    result = judge_accuracy(answers(PEOPLE), answers([[_] * 7]))

    assert (result.value, result.reason) == (None, "the judge has no label in a cell that a person answered")
    assert (result.n_cells, result.n_unlabelled) == (0, 6)


def test_judge_without_people_has_no_accuracy() -> None:
    result = judge_accuracy(answers([[_] * 7]), answers(JUDGE))

    assert (result.value, result.reason) == (None, "no person has answered a cell")


def test_judge_accuracy_refuses_two_judges_at_once() -> None:
    with pytest.raises(ValueError, match="one judge and one repeat at a time"):
        judge_accuracy(answers(PEOPLE), answers([JUDGE[0], JUDGE[0]]))


def test_majority_baseline_answers_the_most_frequent_option_in_the_same_cells() -> None:
    baseline = majority_baseline(answers(PEOPLE), answers(JUDGE))

    # People's answers in the judged cells: 0 0, 1 0, 2, 0 2, 3 -> option 0, four of eight.
    # Recipe 0: cells 0 and 1 right, 2 wrong: 2/3 (cell 3 stays out). Recipe 1: cell 4 right, 5 wrong: 1/2.
    assert baseline.option == 0
    assert baseline.accuracy.value == pytest.approx(7 / 12)
    assert baseline.accuracy.n_cells == judge_accuracy(answers(PEOPLE), answers(JUDGE)).n_cells


def test_majority_baseline_of_nothing_has_no_option() -> None:
    baseline = majority_baseline(answers([[_] * 7]), answers(JUDGE))

    assert (baseline.option, baseline.accuracy.value) == (None, None)


def test_confusion_counts_every_answer_of_a_person() -> None:
    result = confusion(answers(PEOPLE), answers(JUDGE))

    # (person, judge): cell 0: (0,0) twice; cell 1: (1,0), (0,0); cell 2: (2,1); cell 4: (0,0), (2,0); cell 5: (3,2)
    assert result.table.tolist() == [[4, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]]
    # cell 3: one person chose 1, the judge has no label
    assert result.unlabelled.tolist() == [0, 1, 0, 0]
    assert (result.n_comparisons, result.n_unlabelled) == (8, 1)


codes = st.integers(MISSING, 3)


@settings(max_examples=80, deadline=None)
@given(hnp.arrays(np.int64, (3, 7), elements=codes), hnp.arrays(np.int64, (1, 7), elements=codes))
def test_judge_accuracy_equals_the_formula_written_as_loops(people: np.ndarray, judge: np.ndarray) -> None:
    shares = []
    for sheet in (0, 1):
        counted = right = 0
        for cell in np.flatnonzero(np.array(SHEETS) == sheet):
            given_answers = {code for code in people[:, cell] if code != MISSING}
            if not given_answers or judge[0, cell] == MISSING:
                continue
            counted += 1
            right += judge[0, cell] in given_answers
        if counted:
            shares.append(right / counted)

    result = judge_accuracy(answers(people), answers(judge))

    assert result.value == (pytest.approx(np.mean(shares)) if shares else None)


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.int64, (2, 7), elements=codes), hnp.arrays(np.int64, (1, 7), elements=codes))
def test_judge_accuracy_does_not_depend_on_the_order_of_people(people: np.ndarray, judge: np.ndarray) -> None:
    ours = judge_accuracy(answers(people), answers(judge))

    assert judge_accuracy(answers(people[::-1]), answers(judge)) == ours
