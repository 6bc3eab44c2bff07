"""The report's numbers for studies made by hand, against arithmetic on paper and against other libraries."""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation import actions
from annotation.models import Assignment, Study
from benchmarks.reports import crowd_study
from reports.contents import contents_of
from reports.data.arrays import TOLD_APART
from reports.numbers.report import QuestionReport
from reports.stats.abilities import abilities
from reports.stats.agreement import ALWAYS_THE_SAME, NO_PAIR_DEFINED, NO_TWO_ANSWERS
from reports.stats.answers import Answers
from reports.stats.consensus import dawid_skene
from reports.stats.judge import NO_COMMON_CELL, NO_PEOPLE
from reports.stats.summary import Empty
from tests.reports import studies
from tests.reports.studies import answered, judge, presence, rater, report, say, sheet

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def tasks(study: Study) -> list[QuestionReport]:
    return list(report(study).sections[1].questions)


# --- people with each other -------------------------------------------------------------------------------------------


@pytest.fixture
def three_people(study: Study) -> Study:
    """Two recipes of two items; everybody has one page with each of the others in the first."""
    soup, stew = sheet(study, "Soup", items=2, rows=3), sheet(study, "Stew", items=2, rows=2)
    anna, boris, cyril = (rater(study, code) for code in ("A1", "A2", "A3"))
    answered(anna, soup, ["ff", "na", None])
    answered(boris, soup, ["fa", None, "aa"])
    answered(cyril, soup, [None, "nn", "a."])
    answered(anna, stew, ["fa", "fi"])
    answered(boris, stew, ["fa", "ai"])
    return study


def test_kappa_of_each_recipe_and_pair(three_people: Study) -> None:
    kappa = presence(three_people).agreement.kappa
    people = [r.code for r in report(three_people).data.people]

    # Soup. A1-A2 on page 1: f/f, f/a. Observed 1/2; expected 1 × 1/2 = 1/2 (A1 always says f): kappa 0.
    # A1-A3 on page 2: n/n, a/n. Observed 1/2; expected 1/2 × 1: kappa 0.
    # A2-A3 on page 3: a/a, the other cell is open: both always a, not defined.
    # Stew. A1-A2: f/f, a/a, f/a, i/i. Observed 3/4; expected f 2/4 × 1/4 + a 1/4 × 2/4 + i 1/4 × 1/4 = 5/16;
    # kappa (3/4 - 5/16) / (1 - 5/16) = 7/11.
    assert [(row.sheet, people[row.rater_a], people[row.rater_b], row.n) for row in kappa.rows] == [
        (0, "A1", "A2", 2),
        (0, "A1", "A3", 2),
        (0, "A2", "A3", 1),
        (1, "A1", "A2", 4),
    ]
    assert [row.value for row in kappa.rows] == [pytest.approx(0), pytest.approx(0), None, pytest.approx(7 / 11)]


def test_macro_kappa_is_the_mean_over_recipe_pairs_with_a_kappa(three_people: Study) -> None:
    kappa = presence(three_people).agreement.kappa

    # (0 + 0 + 7/11) / 3
    assert kappa.value == pytest.approx(7 / 33)
    assert (kappa.n_pairs, kappa.n_undefined, kappa.n_comparisons) == (3, 1, 9)


def test_macro_accuracy_is_the_mean_over_pairs_of_the_mean_over_recipes(three_people: Study) -> None:
    accuracy = presence(three_people).agreement.accuracy

    # Pair 1-2: Soup 1/2, Stew 3/4, mean 5/8; pair 1-3: Soup 1/2; pair 2-3: Soup 1/1. (5/8 + 1/2 + 1) / 3 = 17/24
    assert accuracy.value == pytest.approx(17 / 24)


def test_share_of_equal_answers(three_people: Study) -> None:
    # 1 of 2, 1 of 2, 1 of 1, 3 of 4
    assert presence(three_people).agreement.percent.value == pytest.approx(6 / 9)


def test_the_pair_that_always_chose_the_same_says_what(three_people: Study) -> None:
    agreement = presence(three_people).agreement

    # a is option 2
    assert (agreement.kappa.rows[2].reason, agreement.both_chose[2]) == (ALWAYS_THE_SAME, 2)


def test_options_can_be_merged_among_people(three_people: Study) -> None:
    kappa = presence(three_people, merges={"items.presence": "two-classes"}).agreement.kappa

    # n counts as f, i as a. Soup: A1-A2 f/f, f/a: 0. A1-A3 f/f, a/f: 0. A2-A3 a/a: not defined.
    # Stew: f/f, a/a, f/a, a/a. Observed 3/4; expected 2/4 × 1/4 + 2/4 × 3/4 = 1/2: kappa 1/2.
    assert [row.value for row in kappa.rows] == [pytest.approx(0), pytest.approx(0), None, pytest.approx(1 / 2)]


def test_merging_does_not_touch_the_selections(three_people: Study) -> None:
    plain, merged = presence(three_people), presence(three_people, merges={"items.presence": "two-classes"})

    # A1 ff na fa fi, A2 fa aa fa ai, A3 nn a.: f 6, n 3, a 8, i 2, and one cell not reached
    assert [row.count for row in plain.summary.options] == [6, 3, 8, 2]
    assert merged.summary == plain.summary
    assert (plain.summary.n, plain.summary.n_not_filled) == (20, 1)


@pytest.fixture
def task_triples(study: Study) -> Study:
    """One recipe, two pages: a task with a tool, one without."""
    soup = sheet(study, tools=["knife", ""], rows=2)
    chop, wait = "task 1 · knife", "task 2"
    said = {
        "A1": [("f", "s", "1", "f", "3"), ("f", "d", ".", "a", ".")],
        "A2": [("f", "s", "2", "f", "3"), ("a", ".", ".", "a", ".")],
    }
    for code, rows in said.items():
        pages = actions.assign(rater=rater(study, code), rows=soup.rows.order_by("position"))
        for page, (task, tool, level, second, second_level) in zip(pages, rows, strict=True):
            say(page, {(chop, "task"): task, (chop, "tool"): tool, (chop, "level"): level})
            say(page, {(wait, "task"): second, (wait, "level"): second_level})
    return study


def test_not_filled_in_is_made_of_blank_options_and_cells_not_asked(task_triples: Study) -> None:
    tool = tasks(task_triples)[1].summary

    # Eight cells. chop: s, d of A1, s of A2, not asked of A2; wait: preset none of both, not asked of both.
    assert [(row.code, row.count) for row in tool.options] == [(0, 2), (1, 1)]
    assert [(row.code, row.count) for row in tool.not_filled] == [(2, 2), (Empty.NOT_ASKED, 3)]
    assert (tool.n, tool.n_not_filled, tool.share_not_filled) == (8, 5, 5 / 8)


def test_blank_options_are_not_compared(task_triples: Study) -> None:
    tool = tasks(task_triples)[1].agreement

    # Both said none of the second task; only chop on page 1 is left.
    assert tool.percent.n_comparisons == 1


def test_the_average_of_questions_counts_each_alike(task_triples: Study) -> None:
    section = report(task_triples).sections[1]

    # task: f/f, f/f, f/a, a/a. Observed 3/4; expected 3/4 × 2/4 + 1/4 × 2/4 = 1/2: kappa 1/2, A_h 3/4.
    # tool: s/s: kappa not defined, A_h 1.
    # level: 1/2, 3/3. Quadratic: observed 1; expected of (1, 3) against (2, 3): (1 + 4 + 1 + 0) / 2 = 3: kappa 2/3,
    # A_h 1/2.
    assert [question.agreement.kappa.value for question in section.questions] == [
        pytest.approx(1 / 2),
        None,
        pytest.approx(2 / 3),
    ]
    assert section.kappa is not None
    assert section.accuracy is not None
    assert section.kappa.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert (section.kappa.n_questions, section.kappa.n_undefined) == (2, 1)
    assert section.accuracy.value == pytest.approx((3 / 4 + 1 + 1 / 2) / 3)


def test_a_section_with_one_question_has_no_average(study: Study) -> None:
    assert report(study).sections[0].kappa is None


# --- whose answers, and what counts as found --------------------------------------------------------------------------


def verdicts(question: QuestionReport) -> dict[str, tuple[list[str], int]]:
    """Of each voice the verdicts of its items, and in how many documents the first one was looked for."""
    return {
        of.voice.name: (
            [str(row.verdict) for row in of.coverage.verdicts.rows],
            of.coverage.verdicts.rows[0].n_documents,
        )
        for of in question.voices
        if of.coverage
    }


def test_coverage_is_of_whoever_is_chosen(study: Study) -> None:
    soup = sheet(study, items=3, rows=2)
    answered(rater(study, "A1"), soup, ["faa", "aaa"])
    answered(rater(study, "A2"), soup, ["ana", None])
    answered(judge(study), soup, ["aaf", None])
    found, near, never = "found", "found only inexactly", "never found"

    assert verdicts(presence(study)) == {"people": ([found, near, never], 2)}
    # Of one answer each the first option is taken: f, then n.
    assert verdicts(presence(study, voices=("majority", "rater.A2", "rater.J1"))) == {
        "majority": ([found, near, never], 2),
        "rater.A2": ([never, near, never], 1),
        "rater.J1": ([never, never, found], 1),
    }


def test_people_can_be_weighed_by_what_a_model_makes_of_them(study: Study) -> None:
    """Three people say the truth but for slips, two say “a” everywhere: two slips and the majority is wrong."""
    rng = np.random.default_rng(2)
    truth = rng.choice(list("fna"), size=(10, 8))
    soup = sheet(study, items=8, rows=10)
    said = {}
    for code in ("A1", "A2", "A3"):
        slips = rng.random(truth.shape) < 0.12
        said[code] = np.where(slips, rng.choice(list("fna"), size=truth.shape), truth)
    said |= {code: np.full(truth.shape, "a") for code in ("B1", "B2")}
    for code, answers in said.items():
        answered(rater(study, code), soup, ["".join(row) for row in answers])
    voices = presence(study, voices=("majority", "dawid_skene", "abilities")).voices

    by_name = {of.voice.name: of.voice for of in voices}
    right = {name: (np.array(list("fna"))[voice.selections] == truth.ravel()).mean() for name, voice in by_name.items()}
    assert right["dawid_skene"] > right["majority"]
    assert right["abilities"] > right["majority"]
    # As the models say by themselves of the same answers.
    index = {letter: code for code, letter in enumerate("fna")}
    columns = [
        (who, cell, index[letter])
        for who, answers in enumerate(said.values())
        for cell, letter in enumerate(answers.ravel())
    ]
    of_rater, of_cell, codes = (np.array(column) for column in zip(*columns, strict=True))
    alone = dawid_skene(rater=of_rater, cell=of_cell, code=codes, n_options=3)
    assert by_name["dawid_skene"].selections.tolist() == alone.code.tolist()
    weights = {of.rater.code: of for of in by_name["dawid_skene"].weights}
    assert [weights[code].right for code in said] == pytest.approx([of.accuracy for of in alone.raters])
    of_model = abilities(
        Answers.from_long(
            rater=of_rater,
            cell=of_cell,
            sheet=np.zeros(of_cell.size, dtype=int),
            document=of_cell // 8,
            code=codes,
            n_options=len(presence(study).spec.options),
        ),
        by="document",
    )
    able = {of.rater.code: of for of in by_name["abilities"].weights}
    assert [able[code].ability for code in said] == pytest.approx([of.ability for of in of_model.raters], abs=1e-6)
    assert able["A1"].low is not None
    tables = {table.key: table for table in contents_of(report(study, voices=("abilities",))).tables}
    assert [row[0] for row in tables["items.presence.weights.abilities"].rows] == list(said)


def test_judges_alone_are_read_where_there_are_no_people(study: Study) -> None:
    answered(judge(study), sheet(study, items=2), ["fa"])

    assert list(verdicts(presence(study))) == ["rater.J1"]


def test_which_options_count_as_found_is_chosen(study: Study) -> None:
    answered(rater(study, "A1"), sheet(study, items=3, rows=2), ["fna", "aaa"])
    [exactly], [either] = (presence(study, found=found).voices for found in ({}, {"items.presence": ("found", "near")}))
    assert exactly.coverage is not None
    assert either.coverage is not None

    # One of three items, two of three; each found in one of two documents.
    assert exactly.coverage.curve.pooled.tolist() == pytest.approx([1 / 6, 1 / 3])
    assert either.coverage.curve.pooled.tolist() == pytest.approx([2 / 6, 2 / 3])


def test_where_a_question_was_not_asked_the_document_has_not_the_item(task_triples: Study) -> None:
    """chop's tool is the same on the first page by both; on the second it differs by one, and is not asked of the
    other. The second task has no tool: there is nothing to look for."""
    tool = report(task_triples, found={"tasks.tool": ("same",)}).sections[1].questions[1]
    [of] = tool.voices
    assert of.coverage is not None

    assert (of.coverage.curve.n_items, of.coverage.n_not_asked) == (1, 1)
    assert of.coverage.curve.pooled.tolist() == pytest.approx([1 / 2, 1])


# --- numbers that are not defined -------------------------------------------------------------------------------------


def test_nobody(study: Study) -> None:
    sheet(study, items=2)
    question = presence(study)

    assert (question.summary.n, question.summary.completeness) == (0, None)
    assert (question.agreement.kappa.value, question.agreement.kappa.reason) == (None, NO_TWO_ANSWERS)
    assert (question.agreement.alpha.value, question.agreement.alpha.reason) == (None, NO_TWO_ANSWERS)


def test_one_rater_alone(study: Study) -> None:
    answered(rater(study, "A1"), sheet(study, items=2), ["fa"])
    agreement = presence(study).agreement

    for statistic in (agreement.kappa, agreement.kappa.pooled, agreement.accuracy, agreement.percent, agreement.alpha):
        assert (statistic.value, statistic.reason) == (None, NO_TWO_ANSWERS)


def test_everyone_the_same(study: Study) -> None:
    soup = sheet(study, items=2)
    for code in ("A1", "A2"):
        answered(rater(study, code), soup, ["ff"])
    agreement = presence(study).agreement

    assert (agreement.kappa.value, agreement.kappa.reason) == (None, NO_PAIR_DEFINED)
    assert (agreement.alpha.value, agreement.alpha.reason) == (None, ALWAYS_THE_SAME)
    assert set(agreement.both_chose) == {0}
    assert agreement.percent.value == 1


# --- judges -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def judged(study: Study) -> Study:
    """Two recipes; the second page of Soup has two annotators; the judge failed on the third."""
    soup, stew = sheet(study, "Soup", items=3, rows=3), sheet(study, "Stew", items=2)
    answered(rater(study, "A1"), soup, ["fna", "fan", "fff"])
    answered(rater(study, "A2"), soup, [None, "nai", None])
    answered(rater(study, "A3"), stew, ["ia"])
    robot = judge(study)
    *_labelled, failed = answered(robot, soup, ["ffa", "nnn", "..."])
    Assignment.objects.filter(pk=failed.pk).update(state=Assignment.State.FAILED, failure="It is too long.")
    answered(robot, stew, ["an"])
    return study


def test_a_judge_is_right_with_either_annotator_and_a_cell_counts_once(judged: Study) -> None:
    [result] = presence(judged).judges

    # Soup, page 1 (f n a): f right, f wrong, a right. Page 2 (f|n a n|i): n right with A2, n wrong, n right with A1.
    # Page 3 has no label. 4 of 6. Stew (i a), i counting as a: a right, n wrong. 1 of 2. (4/6 + 1/2) / 2
    assert result.accuracy.value == pytest.approx(7 / 12)
    assert [(row.correct, row.total, row.unlabelled) for row in result.accuracy.rows] == [(4, 6, 3), (1, 2, 0)]


def test_implied_counts_as_not_found_for_judges(judged: Study) -> None:
    [result] = presence(judged).judges

    assert result.merge is not None
    assert (result.merge.key, result.options) == ("three-classes", (0, 1, 2))


def test_a_chosen_merge_applies_to_people_and_judges(judged: Study) -> None:
    question = presence(judged, merges={"items.presence": "two-classes"})
    [result] = question.judges

    # n as f, i as a. Soup, page 1 (f f a) against f f a: 3 of 3; page 2 (f|f a f|a) against f f f: f right, a wrong,
    # f right with A1: 2 of 3. Stew (a a) against a f: 1 of 2. (5/6 + 1/2) / 2
    assert result.accuracy.value == pytest.approx(2 / 3)
    # People's answers in these cells: page 1 f f a, page 2 f a f and f a a, Stew a a: f 5, a 6. Always a:
    # page 1 1 of 3, page 2 2 of 3, Stew 2 of 2. (3/6 + 1) / 2
    assert (result.baseline.option, result.baseline.accuracy.value) == (2, pytest.approx(3 / 4))
    # Page 1: f→f f→f a→a; page 2: A1 f→f a→f f→f, A2 f→f a→f a→f; Stew: a→a a→f
    assert result.confusion.table.tolist() == [[5, 0, 0, 0], [0, 0, 0, 0], [4, 0, 2, 0], [0, 0, 0, 0]]
    assert result.options == (0, 2)
    assert result.merge is question.ceiling.merge is question.agreement.merge
    # Page 2: A1 f a f, A2 f a a
    assert question.ceiling.accuracy.value == question.agreement.accuracy.value == pytest.approx(2 / 3)


def test_all_options_told_apart_apply_to_people_and_judges(judged: Study) -> None:
    question = presence(judged, merges={"items.presence": TOLD_APART})
    [result] = question.judges

    # Soup as under the scheme's merge, 4 of 6; in Stew the judge's a is no longer the person's i: 0 of 2. (4/6 + 0) / 2
    assert result.accuracy.value == pytest.approx(1 / 3)
    # f 2, n 3, a 4, i 2
    assert result.baseline.option == 2
    assert result.options == (0, 1, 2, 3)
    assert (result.merge, question.ceiling.merge, question.agreement.merge) == (None, None, None)


def test_a_choice_for_one_question_leaves_the_others_as_the_scheme_says(judged: Study) -> None:
    question = presence(judged, merges={"tasks.task": TOLD_APART})

    assert question.agreement.merge is None
    assert question.judges[0].merge is not None
    assert question.judges[0].merge.key == "three-classes"


def test_people_beside_judges_are_merged_in_the_same_way(judged: Study) -> None:
    question = presence(judged)

    # Page 2 of Soup, A1 f a n, A2 n a i: one of three equal, with and without the merge
    assert question.ceiling.merge is not None
    assert question.agreement.merge is None
    assert question.ceiling.accuracy.value == pytest.approx(1 / 3)


def test_the_baseline_is_the_commonest_answer_of_people_in_the_same_cells(judged: Study) -> None:
    [result] = presence(judged).judges

    # Without page 3, i as a: page 1 f n a, page 2 f a n and n a a, Stew a a: f 2, n 3, a 6.
    # Always a: Soup 1 of 3 on page 1; page 2: a right, n|a right: 3 of 6. Stew 2 of 2. (3/6 + 1) / 2
    assert result.baseline.option == 2
    assert result.baseline.accuracy.value == pytest.approx(3 / 4)


def test_the_confusion_counts_each_persons_answer(judged: Study) -> None:
    [result] = presence(judged).judges

    # people → judge. Page 1: f→f n→f a→a. Page 2: A1 f→n a→n n→n, A2 n→n a→n i(a)→n. Stew: i(a)→a a→n.
    assert result.confusion.table.tolist() == [[1, 1, 0, 0], [1, 2, 0, 0], [0, 4, 2, 0], [0, 0, 0, 0]]
    # Page 3, A1: f f f
    assert result.confusion.unlabelled.tolist() == [3, 0, 0, 0]


def test_a_judge_that_says_nothing_is_not_defined(study: Study) -> None:
    soup = sheet(study, items=1)
    answered(rater(study, "A1"), soup, ["f"])
    answered(judge(study), soup, ["."])
    [result] = presence(study).judges

    assert (result.accuracy.value, result.accuracy.reason) == (None, NO_COMMON_CELL)
    assert result.accuracy.n_unlabelled == 1


def test_a_judge_without_people_is_not_defined(study: Study) -> None:
    answered(judge(study), sheet(study, items=1), ["f"])
    [result] = presence(study).judges

    assert (result.accuracy.value, result.accuracy.reason) == (None, NO_PEOPLE)


def test_a_blank_answer_of_a_judge_is_an_answer(study: Study) -> None:
    soup = sheet(study, tools=["knife"], rows=2)
    for who, tools in ((rater(study, "A1"), "ss"), (judge(study), "-s")):
        for page, tool in zip(actions.assign(rater=who, rows=soup.rows.order_by("position")), tools, strict=True):
            say(page, {("task 1 · knife", "task"): "f", ("task 1 · knife", "tool"): tool})
    [result] = tasks(study)[1].judges

    # Page 1: a tool for the person and none for the judge, wrong; page 2 right.
    assert result.accuracy.value == pytest.approx(1 / 2)
    assert result.options == (0, 1, 2)


def test_gold_is_held_against_what_most_people_chose_and_against_judges(study: Study) -> None:
    soup = sheet(study, items=4)
    for code, letters in (("A1", "fnaf"), ("A2", "fnna"), ("A3", "fai.")):
        answered(rater(study, code), soup, [letters])
    answered(judge(study), soup, ["naff"])
    answered(studies.gold(study), soup, ["fnn."])
    [result] = presence(study).golds

    # Most people: f, n, and of a n i the first option, n: 3 of 3. The judge: n a f: 0 of 3. Item 4 has no gold.
    assert (result.people.value, result.people.n_cells) == (1, 3)
    assert [(rater.code, accuracy.value) for rater, accuracy in result.judges] == [("J1", 0)]


def test_gold_is_compared_under_a_chosen_merge_too(study: Study) -> None:
    soup = sheet(study, items=2)
    for code, letters in (("A1", "fi"), ("A2", "na"), ("A3", "nf")):
        answered(rater(study, code), soup, [letters])
    answered(judge(study), soup, ["ni"])
    answered(studies.gold(study), soup, ["fa"])

    # Item 1: most say n, gold f. Item 2: one each of f, a, i, so f counts; merged, a counts, as in gold.
    [plain] = presence(study).golds
    [merged] = presence(study, merges={"items.presence": "two-classes"}).golds
    assert (plain.people.value, plain.judges[0][1].value) == (0, 0)
    assert (merged.people.value, merged.judges[0][1].value) == (1, 1)


# --- against other libraries, on the labels as they stand in the database ---------------------------------------------


@pytest.fixture
def random_study(study: Study) -> Study:
    """Three recipes of three items and a task with a level; four people who mostly agree, some cells left open."""
    rng = np.random.default_rng(7)
    people = [rater(study, f"A{n}") for n in range(1, 5)]
    robot = judge(study)
    for n in range(3):
        made = sheet(study, f"Recipe {n}", items=3, tools=["knife"], rows=5)
        truth = rng.integers(0, 4, size=(5, 3))
        for who in (*rng.permutation(people)[:3].tolist(), robot):
            noisy = np.where(rng.random(truth.shape) < 0.35, rng.integers(0, 4, truth.shape), truth)
            letters = ["".join("fnai"[code] if rng.random() > 0.1 else "." for code in row) for row in noisy]
            for page in answered(who, made, letters):
                level = str(rng.integers(1, 4))
                said = {"task": rng.choice(["f", "f", "a"]), "tool": "s", "level": level}
                asked = said if said["task"] == "f" else {"task": "a"}
                say(page, {("task 1 · knife", question): str(letter) for question, letter in asked.items()})
    return study


def by_rater(study: Study, question: str) -> dict[str, dict[str, dict[tuple[int, int], str]]]:
    """{sheet: {rater: {cell: option key}}}"""
    found: dict[str, dict[str, dict[tuple[int, int], str]]] = defaultdict(lambda: defaultdict(dict))
    for sheet_title, code, cell, option in studies.raw(study, question):
        found[sheet_title][code][cell] = option
    return found


@pytest.mark.parametrize(("question", "weights"), [("presence", None), ("level", "quadratic")])
@pytest.mark.sample(1)
def test_macro_kappa_equals_scikit_learns(random_study: Study, question: str, weights: str | None) -> None:
    kappas = []
    for raters in by_rater(random_study, question).values():
        for a, b in combinations(sorted(code for code in raters if code != "J1"), 2):
            shared = sorted(raters[a].keys() & raters[b].keys())
            first, second = ([raters[code][cell] for cell in shared] for code in (a, b))
            if len({*first, *second}) > 1:
                labels = ["1", "2", "3"] if weights else None
                kappas.append(cohen_kappa_score(first, second, labels=labels, weights=weights))
    [computed] = [q for s in report(random_study).sections for q in s.questions if q.spec.key == question]

    assert len(kappas) == computed.agreement.kappa.n_pairs > 5
    assert computed.agreement.kappa.value == pytest.approx(np.mean(kappas))


@pytest.mark.parametrize(("question", "level"), [("presence", "nominal"), ("level", "ordinal")])
@pytest.mark.sample(1)
def test_alpha_equals_krippendorffs(random_study: Study, question: str, level: str) -> None:
    labels = [label for label in studies.raw(random_study, question) if label[1] != "J1"]
    [computed] = [q for s in report(random_study).sections for q in s.questions if q.spec.key == question]
    keys = [option.key for option in computed.spec.options]
    raters, cells = sorted({label[1] for label in labels}), sorted({label[2] for label in labels})
    matrix = np.full((len(raters), len(cells)), np.nan)
    for _sheet, code, cell, option in labels:
        matrix[raters.index(code), cells.index(cell)] = keys.index(option)

    expected = krippendorff.alpha(
        reliability_data=matrix, value_domain=np.arange(len(keys)), level_of_measurement=level
    )
    assert computed.agreement.alpha.value == pytest.approx(expected)


def test_judge_accuracy_equals_counting_one_by_one(random_study: Study) -> None:
    def merged(option: str) -> str:
        return "absent" if option == "implied" else option

    shares = []
    for raters in by_rater(random_study, "presence").values():
        said = raters.pop("J1")
        cells = {cell for of_rater in raters.values() for cell in of_rater} & said.keys()
        right = [
            any(merged(of_rater[cell]) == merged(said[cell]) for of_rater in raters.values() if cell in of_rater)
            for cell in cells
        ]
        shares.append(sum(right) / len(right))
    [result] = presence(random_study).judges

    assert result.accuracy.value == pytest.approx(np.mean(shares))


# --- many raters ------------------------------------------------------------------------------------------------------


@pytest.mark.no_cover
def test_a_crowd_of_76_raters(db: None) -> None:
    """462 items, 10 of 76 raters each: 2,850 pairs of raters, within a second."""
    crowd = crowd_study()
    start = time.process_time()
    computed = report(crowd).sections[0].questions[0]
    seconds = time.process_time() - start

    # 76 × 75 / 2 pairs; 462 × 10 × 9 / 2 comparisons
    kappa = computed.agreement.kappa
    assert kappa.n_pairs + kappa.n_undefined + kappa.n_unshared == 2850
    assert kappa.n_comparisons == 20_790
    assert seconds < 1

    counts = np.zeros((462, 4), dtype=int)
    keys = [option.key for option in computed.spec.options]
    items = {cell: number for number, cell in enumerate(sorted({label[2] for label in studies.raw(crowd, "order")}))}
    for _sheet, _code, cell, option in studies.raw(crowd, "order"):
        counts[items[cell], keys.index(option)] += 1
    expected = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
    assert computed.agreement.alpha.value == pytest.approx(expected)
