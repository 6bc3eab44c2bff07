"""What is right, and how sure a judge is, out of a label table. Options: f found, n near, a absent, i implied, which
judges are compared with as a."""

from __future__ import annotations

import pytest

from annotation.models import Study
from reports.data.arrays import Filters
from reports.data.label_table import unpacked
from reports.hiring.cells import NONE, REPEATS, JudgeCells, judge_cells, score_kind
from reports.queries import label_table
from tests.reports.studies import answered, gold, judge, rater, sheet

pytestmark = pytest.mark.django_db
PRESENCE = "items.presence"


def cells(study: Study, code: str = "J1") -> JudgeCells:
    return judge_cells(label_table(study, Filters()), code, PRESENCE)


def test_right_is_what_most_people_say_and_half_where_they_are_divided(study: Study) -> None:
    soup = sheet(study, items=5)
    for code, said in (("A1", "ffffa"), ("A2", "fann."), ("A3", "f..n.")):
        answered(rater(study, code), soup, [said])
    answered(judge(study), soup, ["aafff"])

    found = cells(study)

    # found by all; f and a alike; f and n alike; n by two of three; a alone
    assert found.wrong.tolist() == [1.0, 0.5, 0.5, 1.0, 1.0]
    assert (found.ties, found.people.tolist()) == (2, [3, 2, 2, 3, 1])


def test_gold_counts_before_people_and_merged_options_are_one(study: Study) -> None:
    soup = sheet(study, items=3)
    answered(rater(study, "A1"), soup, ["fi."])
    answered(gold(study), soup, ["a.."])
    answered(judge(study), soup, ["iaf"])

    found = cells(study)

    assert found.known.tolist() == [True, True, False]
    assert found.wrong[:2].tolist() == [0.0, 0.0]


def test_a_judge_without_scores_is_as_sure_as_it_repeats_itself(study: Study) -> None:
    soup = sheet(study, items=2)
    answered(rater(study, "A1"), soup, ["ff"])
    varies = judge(study)
    for repeat, said in ((1, "ff"), (2, "fa"), (3, "fn"), (4, "ff")):
        answered(varies, soup, [said], repeat=repeat)
    answered(judge(study, "J2"), soup, ["ff"])
    table = label_table(study, Filters())

    assert score_kind(table, "J1", PRESENCE) == REPEATS
    assert judge_cells(table, "J1", PRESENCE).score.tolist() == [1.0, 0.5]
    assert score_kind(table, "J2", PRESENCE) == NONE
    assert judge_cells(table, "J2", PRESENCE).score.tolist() == [1.0, 1.0]
    # what is frozen says the same
    assert judge_cells(unpacked(table.packed()), "J1", PRESENCE).score.tolist() == [1.0, 0.5]
    with pytest.raises(LookupError):
        judge_cells(table, "J3", PRESENCE)
