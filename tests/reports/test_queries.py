"""Labels as arrays: which cells count, and why the others are empty."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import actions
from annotation.exchange.exports import label_header
from annotation.models import Assignment, Rater, Sheet, Study
from reports import exported_labels, queries
from reports.data.arrays import Filters, QuestionData, StudyData
from reports.stats.summary import Empty
from tests.reports import studies
from tests.reports.studies import answered, judge, rater, say, sheet

pytestmark = pytest.mark.django_db

NOT_REACHED, NOT_ASKED = Empty.NOT_REACHED.value, Empty.NOT_ASKED.value


def load(study: Study, **filters: object) -> StudyData:
    return queries.load(study, Filters(**filters))  # type: ignore[arg-type]


def question(data: StudyData, name: str) -> QuestionData:
    return next(question for question in data.questions if question.name == name)


def selections(data: StudyData, name: str) -> list[int]:
    return sorted(question(data, name).selections.tolist())


def labels_of(study: Study, **filters: object) -> list[tuple[str, str]]:
    """(rater, answer) of the labels download."""
    header = label_header(study)
    lines = [dict(zip(header, line, strict=True)) for line in exported_labels.lines(study, Filters(**filters))]  # type: ignore[arg-type]
    return [(line["rater"], line["answer"]) for line in lines]


# --- why a cell is empty ----------------------------------------------------------------------------------------------


def test_cells_of_an_untouched_row_are_not_reached(study: Study) -> None:
    soup = sheet(study, items=3, rows=2)
    answered(rater(study, "A1"), soup, ["fn.", "..."])

    assert selections(load(study), "items.presence") == [NOT_REACHED] * 4 + [0, 1]


def test_rows_that_nobody_was_given_are_no_cells(study: Study) -> None:
    answered(rater(study, "A1"), sheet(study, items=2, rows=3), ["ff", None, None])

    assert selections(load(study), "items.presence") == [0, 0]


def test_a_rule_of_the_scheme_makes_cells_not_asked(study: Study) -> None:
    soup = sheet(study, tools=["knife"], rows=2)
    first, second = actions.assign(rater=rater(study, "A1"), rows=soup.rows.all())
    say(first, {("task 1 · knife", "task"): "a"})
    say(second, {("task 1 · knife", "task"): "f"})
    data = load(study)

    # The first page: tool is off. The second: the task is there and tool is still to come.
    assert selections(data, "tasks.tool") == [NOT_ASKED, NOT_REACHED]


def test_what_depends_on_a_question_not_asked_is_not_asked_either(study: Study) -> None:
    soup = sheet(study, tools=["knife"], rows=3)
    absent, different, same = actions.assign(rater=rater(study, "A1"), rows=soup.rows.all())
    say(absent, {("task 1 · knife", "task"): "a"})
    say(different, {("task 1 · knife", "task"): "f", ("task 1 · knife", "tool"): "d"})
    say(same, {("task 1 · knife", "task"): "f", ("task 1 · knife", "tool"): "s", ("task 1 · knife", "level"): "3"})

    # level depends on tool, and tool on task
    assert selections(load(study), "tasks.level") == [NOT_ASKED, NOT_ASKED, 2]


def test_a_preset_counts_as_its_blank_option(study: Study) -> None:
    soup = sheet(study, tools=[""])
    [page] = actions.assign(rater=rater(study, "A1"), rows=soup.rows.all())
    say(page, {("task 1", "task"): "f"})

    # "none" is option 2 of tool
    assert selections(load(study), "tasks.tool") == [2]
    assert question(load(study), "tasks.tool").blanks == [2]


def test_a_rater_limited_to_a_section_owes_nothing_in_the_others(study: Study) -> None:
    soup = sheet(study, items=2, tools=["knife"])
    actions.assign(rater=rater(study, "A1"), rows=soup.rows.all(), sections=["tasks"])
    data = load(study)

    assert selections(data, "items.presence") == []
    assert selections(data, "tasks.task") == [NOT_REACHED]


# --- what goes in -----------------------------------------------------------------------------------------------------


def test_withdrawn_work_is_left_out(study: Study) -> None:
    [page] = answered(rater(study, "A1"), sheet(study, items=2), ["ff"])
    Assignment.objects.filter(pk=page.pk).update(state=Assignment.State.WITHDRAWN)
    data = load(study)

    assert (selections(data, "items.presence"), data.n_labels) == ([], 0)
    assert labels_of(study) == []


def test_repeats_after_the_first_are_left_out_and_downloaded(study: Study) -> None:
    soup, anna = sheet(study, items=1), rater(study, "A1")
    answered(anna, soup, ["f"])
    answered(anna, soup, ["a"], repeat=2)

    assert selections(load(study), "items.presence") == [0]
    assert labels_of(study) == [("A1", "found"), ("A1", "absent")]


def test_the_labels_of_a_rater_who_left_count(study: Study) -> None:
    anna = rater(study, "A1")
    answered(anna, sheet(study, items=1), ["f"])
    Rater.objects.filter(pk=anna.pk).update(active=False)

    assert selections(load(study), "items.presence") == [0]


def test_judges_and_gold_are_told_apart_from_people(study: Study) -> None:
    soup = sheet(study, items=2)
    answered(rater(study, "A1"), soup, ["ff"])
    answered(judge(study), soup, ["na"])
    answered(studies.gold(study), soup, ["i."])
    presence = question(load(study), "items.presence")

    assert presence.selections.tolist() == [0, 0]
    assert presence.people.code.tolist() == [0, 0]
    assert presence.judges["J1"].code.tolist() == [1, 2]
    assert presence.golds["G1"].code.tolist() == [3]


def test_a_judge_that_failed_everywhere_is_there_without_answers(study: Study) -> None:
    soup = sheet(study, items=1, rows=2)
    answered(rater(study, "A1"), soup, ["f", "f"])
    pages = answered(judge(study), soup, [".", "."])
    Assignment.objects.filter(pk__in=[page.pk for page in pages]).update(
        state=Assignment.State.FAILED, failure="The document has no evidence to judge by."
    )
    data = load(study)

    assert question(data, "items.presence").judges["J1"].code.tolist() == []
    assert [(work.rater.code, work.rows, work.failed, work.labels) for work in data.work] == [
        ("A1", 2, 0, 2),
        ("J1", 2, 2, 0),
    ]


def test_a_judge_that_was_not_asked_a_section_is_not_there(study: Study) -> None:
    soup = sheet(study, items=1, tools=["knife"])
    actions.assign(rater=judge(study), rows=soup.rows.all(), sections=["tasks"])

    assert question(load(study), "items.presence").judges == {}


@pytest.fixture
def two_sheets(study: Study) -> tuple[Sheet, Sheet]:
    """A1 has both sheets, A2 the second one only; J1 and J2 judge both. A1 submitted the first."""
    soup, stew = sheet(study, "Soup", items=1, tools=[""]), sheet(study, "Stew", items=1)
    anna = rater(study, "A1")
    [first] = answered(anna, soup, ["f"])
    say(first, {("task 1", "task"): "a"})
    actions.submit(assignment=first)
    answered(anna, stew, ["n"])
    answered(rater(study, "A2"), stew, ["a"])
    for code in ("J1", "J2"):
        robot = judge(study, code)
        answered(robot, soup, ["f"])
        answered(robot, stew, ["i"])
    return soup, stew


def test_people_can_be_chosen(study: Study, two_sheets: tuple[Sheet, Sheet]) -> None:
    data = load(study, people=("A2",))

    assert selections(data, "items.presence") == [2]
    assert list(question(data, "items.presence").judges) == ["J1", "J2"]


def test_judges_can_be_chosen(study: Study, two_sheets: tuple[Sheet, Sheet]) -> None:
    data = load(study, judges=("J2",))

    assert selections(data, "items.presence") == [0, 1, 2]
    assert list(question(data, "items.presence").judges) == ["J2"]


def test_sheets_can_be_chosen(study: Study, two_sheets: tuple[Sheet, Sheet]) -> None:
    data = load(study, sheets=(two_sheets[1].pk,))

    assert list(data.sheets) == ["Stew"]
    assert selections(data, "items.presence") == [1, 2]


def test_submitted_rows_alone_can_be_chosen(study: Study, two_sheets: tuple[Sheet, Sheet]) -> None:
    data = load(study, submitted_only=True)

    assert selections(data, "items.presence") == [0]
    assert question(data, "items.presence").judges == {}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "A1 A1 A1 A2 J1 J1 J2 J2"),
        ({"people": ("A2",)}, "A2 J1 J1 J2 J2"),
        ({"judges": ("J2",)}, "A1 A1 A1 A2 J2 J2"),
        ({"people": ("A2",), "judges": ("J1",)}, "A2 J1 J1"),
        ({"submitted_only": True}, "A1 A1"),
    ],
    ids=str,
)
def test_the_labels_download_has_the_filters_of_the_page(
    study: Study, two_sheets: tuple[Sheet, Sheet], filters: dict[str, object], expected: str
) -> None:
    assert " ".join(sorted(code for code, _answer in labels_of(study, **filters))) == expected


def test_the_labels_download_can_be_of_one_sheet(study: Study, two_sheets: tuple[Sheet, Sheet]) -> None:
    assert labels_of(study, sheets=(two_sheets[1].pk,), judges=("J1",)) == [
        ("A1", "near"),
        ("A2", "absent"),
        ("J1", "implied"),
    ]


def test_raters_are_in_the_order_in_which_people_count(study: Study) -> None:
    for code in ("A10", "A2", "²", "B", "10"):
        rater(study, code)

    assert [person.code for person in load(study).people] == ["10", "A2", "A10", "B", "²"]


def test_loading_costs_the_same_for_few_labels_and_many(study: Study) -> None:
    def cost() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as captured:
            data = queries.load(Study.objects.select_related("scheme").get(pk=study.pk), Filters())
        return data.n_labels, len(captured)

    answered(rater(study, "A1"), sheet(study, items=1), ["f"])
    judge(study, "J0")
    judge(study, "J9")
    few = cost()
    wide = sheet(study, "Wide", items=6, tools=["knife", ""], rows=4)
    for code in ("A2", "A3", "J1"):
        answered(judge(study, code) if code == "J1" else rater(study, code), wide, ["fnaifn"] * 4)

    # The study itself; then sheets, raters, rows, those apart, columns, assignments, questions, options, wordings,
    # labels, skips; of judges what they have seen, their models, unreadable answers, what was accepted, arms, scores.
    assert few == (1, 18)
    assert cost() == (1 + 3 * 4 * 6, 18)
