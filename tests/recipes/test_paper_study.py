"""`manage.py simulate_paper`: the paper's study at full size, and the report that prints the paper's tables."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Assignment, Label, LabelEvent, Study
from recipes.memorization import demo_study, paper_study
from recipes.memorization.paper_counts import NEVER_FOUND_INGREDIENTS, NEVER_FOUND_TASKS
from reports import queries
from reports.contents import contents_of
from reports.data.arrays import Filters
from reports.numbers.report import StudyReport, compute
from reports.stats.summary import Empty
from reports.tables import tables
from reports.templatetags.reports import laid_out
from tests import builders

# The study takes half a minute to build, so it is built once for all tests of this file.
pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture(scope="module")
def study(django_db_setup: None, django_db_blocker: Any) -> Iterator[Study]:
    with django_db_blocker.unblock(), transaction.atomic():
        out = StringIO()
        call_command("simulate_paper", stdout=out)
        assert "/studies/simulated-paper/report/" in out.getvalue()
        assert "Only administrators" in out.getvalue()
        yield Study.objects.select_related("scheme").get(slug="simulated-paper")
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def report(study: Study, django_db_blocker: Any) -> StudyReport:
    with django_db_blocker.unblock():
        return compute(queries.load(study, Filters()), Filters())


def printed(report: StudyReport, key: str) -> list[tuple[str, ...]]:
    """A table as the page shows it, without the parts of its rows."""
    [table] = [table for table in tables(report) if table.key == key]
    return [tuple(cell.text for cell in line.cells) for line in laid_out(table).lines if not line.part]


def test_table_1(report: StudyReport) -> None:
    # The paper prints 2,569 for Found, but its 38.82 % and its total need 2,589.
    assert printed(report, "ingredients.presence.selections") == [
        ("Found", "2,589", "38.82 %"),
        ("Found (not perfect)", "1,979", "29.67 %"),
        ("Not found", "1,996", "29.93 %"),
        ("Implied", "105", "1.57 %"),
        ("Total", "6,669", "100.00 %"),
    ]


def never_found(report: StudyReport, question: str, *options: str) -> set[tuple[str | int, ...]]:
    """Recipe, name and counts of options of the items that nobody found exactly, as the report has them."""
    [table] = [table for table in tables(report) if table.key == f"{question}.never-found"]
    places = {head.key: at for at, head in enumerate(table.heads)}
    return {
        (
            str(row[places["sheet"]]).casefold(),
            str(row[places["item"]]).split(" · ")[0].casefold(),
            *(int(row[places[f"n.{option}"]] or 0) for option in options),
        )
        for row in table.rows
    }


def test_table_2(report: StudyReport) -> None:
    assert never_found(report, "ingredients.presence", "found-not-perfect", "not-found") == {
        (recipe.casefold(), name.casefold(), fnp, nf) for recipe, name, fnp, nf in NEVER_FOUND_INGREDIENTS
    }


def test_table_6(report: StudyReport) -> None:
    """With the 12 tasks of fettuccine alfredo, which the print leaves out: 29 in all. A row of the print has 26 labels:
    the 27th was not found."""
    rows = never_found(
        report, "tasks.task", "task-found-not-exact-wording", "task-not-found", "task-found-wrong-context"
    )
    assert rows == {
        (
            row.recipe.casefold(),
            row.task.casefold(),
            row.not_exact_wording,
            27 - row.not_exact_wording - row.wrong_context,
            row.wrong_context,
        )
        for row in NEVER_FOUND_TASKS
    }
    assert len(NEVER_FOUND_TASKS) == 29
    assert [
        row.recipe for row in NEVER_FOUND_TASKS if row.not_exact_wording + row.not_found + row.wrong_context != 27
    ] == ["pita bread"]


def test_table_3(report: StudyReport) -> None:
    assert printed(report, "tasks.task.selections") == [
        ("Task Found", "3,259", "33.62 %"),
        ("Task Found (Not Exact Wording)", "2,402", "24.78 %"),
        ("Task Found (Wrong Context)", "591", "6.10 %"),
        ("Task Not Found", "3,441", "35.50 %"),
        ("Total", "9,693", "100.00 %"),
    ]


def test_table_4(report: StudyReport) -> None:
    # The paper prints 46.76 % for Not filled in, what the other rows leave of 100; 4,533 / 9,693 is 46.7657 %.
    assert printed(report, "tasks.tool.selections") == [
        ("Found", "788", "8.13 %"),
        ("Found (Not Exact)", "1,979", "20.42 %"),
        ("Not Found", "792", "8.17 %"),
        ("Tool Implied", "1,601", "16.52 %"),
        ("Not filled in", "4,533", "46.77 %"),
        ("Total", "9,693", "100.00 %"),
    ]


def test_table_5(report: StudyReport) -> None:
    assert printed(report, "tasks.ingredients.selections") == [
        ("Ingredients Match", "3,603", "37.17 %"),
        ("Most Ingredients Match", "551", "5.68 %"),
        ("Some Ingredients Match", "232", "2.39 %"),
        ("No Ingredients Match", "252", "2.60 %"),
        ("Ingredients Implied", "607", "6.26 %"),
        ("Not filled in", "4,448", "45.89 %"),
        ("Total", "9,693", "100.00 %"),
    ]


@pytest.mark.parametrize(("question", "blank", "count"), [("tool", 3, 1092), ("ingredients", 5, 1007)])
def test_not_filled_in_is_made_of_tasks_not_found_and_of_steps_without(
    report: StudyReport, question: str, blank: int, count: int
) -> None:
    [summary] = [q.summary for q in report.sections[1].questions if q.spec.key == question]

    assert [(part.code, part.count) for part in summary.not_filled] == [(blank, count), (Empty.NOT_ASKED, 3441)]


@pytest.mark.parametrize(
    ("name", "found", "items"),
    [
        ("ingredients.presence", 239, 247),  # Figure 1, by Table 2: 8 were never found exactly
        ("tasks.task", 330, 359),  # Figure 3, by Table 6 and the 12 tasks that it leaves out: 29
    ],
)
def test_figures_1_and_3_end_at_what_tables_2_and_6_leave(
    report: StudyReport, name: str, found: int, items: int
) -> None:
    [voice] = next(q for section in report.sections for q in section.questions if q.data.name == name).voices
    assert voice.coverage is not None
    curve = voice.coverage.curve

    assert (curve.n_items, curve.n.size) == (items, 18)
    assert curve.pooled[-1] == pytest.approx(found / items)
    assert (np.diff(curve.pooled) >= 0).all()
    assert len(voice.coverage.verdicts.never_exact) == items - found
    [drawn] = [figure for figure in contents_of(report).figures if figure.key == f"{name}.coverage-curve"]
    assert drawn.data["curves"][0]["mean"][-1] == pytest.approx(found / items)


@pytest.mark.parametrize("name", ["tasks.tool", "tasks.ingredients"])
def test_figures_2_and_4_count_a_task_that_is_not_found_as_one_without_them(report: StudyReport, name: str) -> None:
    """Every item that has something to look for lies in all 18 documents, though it was not asked about in each."""
    [question] = [q for q in report.sections[1].questions if q.data.name == name]
    [voice] = question.voices
    assert voice.coverage is not None
    facet = name.partition(".")[2]
    with_it = sum(bool(c.facets[facet]) for c in report.data.table.columns if c.section == "tasks")

    assert voice.coverage.curve.n_items == with_it
    assert {row.n_documents for row in voice.coverage.verdicts.rows} == {18}
    assert voice.coverage.n_not_asked > 0
    assert voice.coverage.curve.pooled[0] < voice.coverage.curve.pooled[-1] < 1


def test_the_instances_are_stated(report: StudyReport) -> None:
    overview = next(tables(report))

    assert report.n_cells == 6669 + 3 * 9693 == 35748
    assert (
        "35,748 cells to fill, each counted once for each person: Ingredients 6,669 + Tasks 3 × 9,693" in overview.how
    )


def test_kappa_is_the_mean_over_sixty_recipe_pairs(report: StudyReport) -> None:
    for section in report.sections:
        for question in section.questions:
            kappa = question.agreement.kappa
            # 20 recipes × 3 pairs of their 3 raters
            assert (kappa.n_pairs, kappa.n_undefined, kappa.n_unshared) == (60, 0, 0)
    assert "60 recipe-pairs" in str(printed(report, "ingredients.presence.agreement"))


def test_agreement_is_near_the_papers(report: StudyReport) -> None:
    """0.77 and 85.23 % for ingredients, 0.63 and 74.15 % for tasks: near, since the labels are not the paper's."""
    ingredients, tasks = report.sections
    assert ingredients.questions[0].agreement.kappa.value == pytest.approx(0.77, abs=0.02)
    assert ingredients.questions[0].agreement.accuracy.value == pytest.approx(0.8523, abs=0.02)
    assert tasks.kappa is not None
    assert tasks.kappa.value == pytest.approx(0.63, abs=0.02)


def test_everything_was_recorded_and_submitted(study: Study) -> None:
    states = Assignment.objects.filter(rater__study=study).values_list("state", flat=True)

    # 20 recipes × 27; all instances but the 2 × 3,441 that were not asked
    assert list(states) == ["submitted"] * 540
    assert Label.objects.filter(assignment__rater__study=study).count() == 35748 - 2 * 3441
    assert LabelEvent.objects.filter(assignment__rater__study=study, after__isnull=False).count() == 35748 - 2 * 3441


def test_every_rater_is_marked_as_simulated(study: Study, report: StudyReport) -> None:
    assert list(study.raters.values_list("simulated", flat=True)) == [True] * 7
    assert all(row[0].endswith("(simulated)") for row in printed(report, "raters"))


@pytest.mark.no_cover
def test_the_page_opens_within_a_second(study: Study, client: Client) -> None:
    client.force_login(builders.user("root", superuser=True))
    address = reverse("reports:whole", args=[study.slug])
    seconds = []
    for _time in range(3):
        start = time.process_time()
        with CaptureQueriesContext(connection) as captured:
            page = client.get(address).content.decode("utf-8-sig")
        seconds.append(time.process_time() - start)

    assert "35,748 cells to fill" in page
    assert "simulated" in page
    assert len(captured) == 19
    assert min(seconds) < 1


def test_the_files_have_it_all(study: Study, client: Client) -> None:
    client.force_login(builders.user("root", superuser=True))
    file = client.get(reverse("reports:csv", args=[study.slug])).content.decode("utf-8-sig")
    values = {
        (line["table"], line["row"], line["statistic"]): line["value"] for line in csv.DictReader(io.StringIO(file))
    }
    labels = client.get(reverse("reports:labels", args=[study.slug])).getvalue().decode()

    assert values["ingredients.presence.selections", "Found", "Count"] == "2589"
    assert values["tasks.tool.selections", "Not filled in | not asked", "Count"] == "3441"
    assert values["tasks.tool.selections", "Not filled in", "Percentage"] == f"{4533 / 9693:.10f}"
    assert labels.count("\n") == 1 + 35748 - 2 * 3441


def test_a_second_study_of_that_name_is_refused(study: Study) -> None:
    with pytest.raises(CommandError, match="already"):
        call_command("simulate_paper", stdout=StringIO())


def test_a_name_that_is_no_address_is_refused() -> None:
    with pytest.raises(CommandError, match="cannot be part of an address"):
        call_command("simulate_paper", slug="two words", stdout=StringIO())


def test_who_may_read_the_demo_may_read_it(study: Study) -> None:
    demo_study.build()

    assert sorted(paper_study.open_to_demo_users(study)) == ["manager", "researcher"]
