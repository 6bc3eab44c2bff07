"""The report's page and its downloads over HTTP. Who may open them stands in tests/test_access.py."""

from __future__ import annotations

import codecs
import io
import re
from pathlib import Path

import openpyxl
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions as annotating
from annotation.models import Assignment, Label, Study
from annotation.scheme.spec import load_scheme
from reports.forms import FiltersForm
from reports.tables import Head, ReportTable
from reports.templatetags.reports import MAX_LINES, laid_out
from tests import builders
from tests.builders import ClientOf, Leases, label
from tests.directions import astray
from tests.reports import studies
from tests.reports.studies import SCHEME, answered, judge, rater, sheet

pytestmark = pytest.mark.once


def url(study: Study, name: str = "report") -> str:
    return reverse(f"reports:{name}", args=[study.slug])


@pytest.fixture
def reader(leases: Leases, client_of: ClientOf) -> Client:
    return client_of(leases.researcher)


@pytest.fixture
def labelled(leases: Leases) -> Study:
    """Anna and Boris labelled the first clause alike, and so did the judge; nobody the second."""
    for assignments in (leases.annas, leases.boriss, leases.judges):
        label(assignments[0])
    return leases.study


def text(client: Client, study: Study, query: str = "", name: str = "whole") -> str:
    """The whole report on one page, or another page of it."""
    response = client.get(f"{url(study, name)}{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_a_study_without_labels_says_what_comes_here(leases: Leases, reader: Client) -> None:
    page = text(reader, leases.study)

    assert "Nothing is labelled yet" in page
    assert "<table" not in page


def test_the_page_shows_numbers_with_what_they_rest_on(labelled: Study, reader: Client) -> None:
    page = text(reader, labelled)

    # 2 duties that both answered
    assert "2 comparisons" in page
    assert "1 contract-pair" in page
    assert "2 clauses" not in page
    assert "A_m" in page


def test_it_says_how_many_labels_are_from_before_the_wording_changed(
    leases: Leases, labelled: Study, reader: Client
) -> None:
    by_people = Label.objects.filter(assignment__rater__kind="person", preset=False)
    assert "was changed meanwhile" not in text(reader, labelled, name="report")
    source = builders.SCHEME.replace("version: 1", "version: 2").replace("label: Implied", "label: Hinted")
    annotating.reword_scheme(
        study=labelled, spec=load_scheme(source), source=source, reason="Plainer.", by=leases.manager
    )
    before = by_people.count()
    label(leases.annas[1])

    page = text(reader, labelled, name="report")

    assert f"{before} of the {by_people.count()} labels by people in this study are from before" in page
    assert reverse("annotation:wordings", args=[labelled.slug]) in page


def test_what_is_not_defined_says_why(leases: Leases, reader: Client) -> None:
    for assignments in (leases.annas, leases.boriss):
        label(assignments[0], {("Pay rent", "stated"): "stated"})
    page = text(reader, leases.study)

    assert "not defined: everyone chose “Stated”" in page
    assert "nan" not in page.lower().split()


def test_the_page_lists_its_contents(labelled: Study, reader: Client) -> None:
    page = text(reader, labelled)

    for anchor in ("overview", "duties", "acts", "acts.act", "acts.party", "acts.strictness", "who"):
        assert f'href="#{anchor}"' in page
        assert f'id="{anchor}"' in page


def test_filters_narrow_the_page(leases: Leases, labelled: Study, reader: Client) -> None:
    code = leases.annas[0].rater.code
    page = text(reader, labelled, f"?person={code}")

    assert "not defined: no cell was answered by two people" in page
    assert f"report.csv?person={code}" in page


@pytest.mark.django_db
@pytest.mark.parametrize("path", sorted(Path("recipes").glob("*/schemes/*.yaml")), ids=lambda path: path.stem)
def test_each_filter_has_a_name_of_its_own(path: Path) -> None:
    """Sections ask alike: the paper's tasks have ingredients, and so has the recipe."""
    scheme = builders.scheme(path.read_text(encoding="utf-8"))
    study = annotating.create_study(slug="names", title="Names", scheme=scheme, by=None)
    form = FiltersForm({}, study=study)
    labels = [str(field.label) for field in form.fields.values()]
    assert len(labels) == len(set(labels)), labels
    if "question" in form.fields:
        questions = [str(label) for _key, label in form.fields["question"].choices]  # type: ignore[attr-defined]
        assert len(questions) == len(set(questions)), questions


def test_filters_that_leave_nothing_say_so(labelled: Study, reader: Client) -> None:
    assert "There is no label that fits these filters" in text(reader, labelled, "?submitted=on")


def test_a_filter_that_is_not_understood_is_named_on_the_page(labelled: Study, reader: Client) -> None:
    page = text(reader, labelled, "?person=nobody")

    assert "not understood" in page
    assert "nobody is not one of the available choices" in page


@pytest.mark.parametrize("name", ["csv", "xlsx", "labels"])
def test_a_filter_that_is_not_understood_is_no_download(labelled: Study, reader: Client, name: str) -> None:
    response = reader.get(f"{url(labelled, name)}?person=nobody&sheet=0")

    assert response.status_code == 400
    assert "Nothing is downloaded" in response.content.decode()


@pytest.mark.parametrize(
    ("name", "file", "content_type"),
    [
        ("csv", "leases-report.csv", "text/csv; charset=utf-8"),
        ("labels", "leases-labels.csv", "text/csv; charset=utf-8"),
        ("xlsx", "leases-report.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ],
)
def test_downloads_have_a_name_and_a_type(
    labelled: Study, reader: Client, name: str, file: str, content_type: str
) -> None:
    response = reader.get(url(labelled, name))

    assert response["Content-Disposition"] == f'attachment; filename="{file}"'
    assert response["Content-Type"] == content_type


def test_downloads_obey_the_filters(leases: Leases, labelled: Study, reader: Client) -> None:
    anna, boris = leases.annas[0].rater.code, leases.boriss[0].rater.code
    query = f"?person={anna}"
    labels = reader.get(url(labelled, "labels") + query).getvalue().decode()
    book = openpyxl.load_workbook(io.BytesIO(reader.get(url(labelled, "xlsx") + query).content))

    assert f",{anna}," in labels
    assert f",{boris}," not in labels
    assert ("People", anna, None) in list(book["Contents"].iter_rows(values_only=True))
    assert f"about,People,,,{anna}" in reader.get(url(labelled, "csv") + query).content.decode()


@pytest.mark.parametrize("name", ["csv", "labels"])
def test_csv_downloads_begin_with_the_mark_by_which_excel_knows_utf8(
    labelled: Study, reader: Client, name: str
) -> None:
    content = reader.get(url(labelled, name)).getvalue()

    assert content.startswith(codecs.BOM_UTF8)
    assert content.count(codecs.BOM_UTF8) == 1


def test_options_can_be_merged_on_the_page_and_in_downloads(leases: Leases, client_of: ClientOf) -> None:
    study = studies.study()
    builders.actions.add_member(study=study, user=leases.researcher, role=builders.Role.RESEARCHER)
    soup = sheet(study, items=1)
    answered(rater(study, "A1"), soup, ["a"])
    answered(judge(study), soup, ["i"])
    client = client_of(leases.researcher)

    def accuracy(query: str) -> list[str]:
        lines = client.get(url(study, "csv") + query).getvalue().decode("utf-8-sig").splitlines()
        return [line.split(",")[3] for line in lines if line.startswith("items.presence.judges,J1,A_m")]

    assert "How far judges agree with people (Implied counts as Not found)" in text(client, study)
    assert accuracy("") == ["1.0"]
    apart = "?merge.items.presence=told_apart"
    assert "How far judges agree with people (all options told apart)" in text(client, study, apart)
    assert accuracy(apart) == ["0.0"]
    [of_presence] = re.findall(r'<select name="merge.*?</select>', text(client, study), flags=re.DOTALL)
    choices = re.findall(r'<option value="(.*?)".*?>(.*?)</option>', of_presence)
    assert choices == [
        ("", "as the scheme says"),
        ("told_apart", "all told apart"),
        ("three-classes", "Implied counts as Not found"),
        ("two-classes", "Found or not"),
    ]


def test_simulated_raters_are_marked_on_the_page(leases: Leases, client_of: ClientOf) -> None:
    study = studies.study()
    builders.actions.add_member(study=study, user=leases.researcher, role=builders.Role.RESEARCHER)
    soup = sheet(study, items=2)
    answered(rater(study, "S1", simulated=True), soup, ["fn"])
    answered(judge(study, "J1", simulated=True), soup, ["fn"])
    page = text(client_of(leases.researcher), study)

    # "Simulated raters: S1, J1" in what is printed, and the values of the boxes to tick
    for code in ("S1", "J1"):
        named = page.count(f">{code}<") + page.count(f"{code} (simulated)")
        assert page.count(f">{code}<") == 0
        assert named >= 2
    assert "J1 (simulated) chose" in page


HEBREW = SCHEME.replace("key: letters", "key: otiyot").replace("label: Found}", "label: נמצא}")


def test_texts_from_right_to_left_run_so(db: None, client_of: ClientOf) -> None:
    """In a page that runs from left to right."""
    study, researcher = builders.study("otiyot", of=builders.scheme(HEBREW)), builders.user("rene")
    annotating.add_member(study=study, user=researcher, role="researcher")
    soup = sheet(study, "מרק", items=3)
    soup.rows.update(name="דף", title="דף של מרק")
    for letters, who in (("ffa", rater(study, "A1")), ("faa", rater(study, "A2")), ("naf", judge(study, "J1"))):
        answered(who, soup, [letters])
    for column in soup.columns.filter(section__key="items"):
        column.name = column.facets["item"] = f"פריט {column.position}"
        column.save()
    client = client_of(researcher)

    whole = text(client, study)
    assert "נמצא" in whole
    assert astray(whole) == []
    assert astray(text(client, study, name="report")) == []
    query = "?cell.question=items.presence&cell.judge=J1&cell.person=found&cell.chosen=near"
    cells = text(client, study, query, "cells")
    assert "פריט 0" in cells
    assert astray(cells) == []
    row = reverse("reports:evidence", args=[study.slug, soup.rows.get().pk])
    assert "דף של מרק" in client.get(row).content.decode()
    assert astray(client.get(row).content.decode()) == []


def test_names_that_people_chose_are_escaped(leases: Leases, reader: Client) -> None:
    study = leases.study
    bad = builders.sheet(study, "<script>alert(1)</script>", n_rows=1)
    for user in (leases.anna, leases.boris):
        label(builders.assignments(study.raters.get(user=user), bad)[0])

    assert "<script>alert" not in text(reader, study)


# Session, user, study, roles; the five of the filters. The numbers take fifteen, labels and skips two, the simulated
# banner one, the number of frozen reports one. To note a look takes four: the sheets, and what is noted, at once. What
# reports are kept under takes eleven more, twice the first time; once they are kept, the numbers are not read again. Of
# hiring: what was accepted, whether the study is split (the page asks twice), and of the labels twice whether there
# are certificates. Of what was labelled and where, two in files of labels.
@pytest.mark.parametrize(
    ("name", "queries", "again"), [("report", 54, 28), ("csv", 49, 23), ("xlsx", 60, 34), ("labels", 23, 23)]
)
@pytest.mark.sample(2)
def test_what_a_page_costs(
    leases: Leases, labelled: Study, reader: Client, name: str, queries: int, again: int
) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            response = reader.get(url(labelled, name))
            b"".join(response)
        return len(captured)

    few = (cost(), cost())
    wide = builders.sheet(labelled, "Wide", duties=[f"Duty {n}" for n in range(20)], n_rows=5)
    for user in (leases.anna, leases.boris):
        for assignment in builders.assignments(labelled.raters.get(user=user), wide):
            label(assignment, {(f"Duty {n}", "stated"): "stated" for n in range(20)})

    assert (few, (cost(), cost())) == ((queries, again), (queries, again))


def test_the_report_of_a_failed_judge_opens(leases: Leases, reader: Client) -> None:
    label(leases.annas[0])
    Assignment.objects.filter(rater__code="J1").update(state=Assignment.State.FAILED, failure="No evidence.")

    assert "J1 failed on 2 of 2 clauses" in text(reader, leases.study)


# --- how a table is drawn ---------------------------------------------------------------------------------------------


def test_counts_are_shaded_by_their_share_of_the_row() -> None:
    heads = (
        Head("people", "People"),
        Head("judge.a", "A", "count", "J1 chose"),
        Head("judge.b", "B", "count", "J1 chose"),
        Head("unlabelled", "no label", "count"),
    )
    table = ReportTable(key="c", about="", title="", heads=heads, rows=(("A", 3, 7, 90), ("B", 0, 0, 1)), shaded=True)
    layout = laid_out(table)

    # Of A's 10 labels, 3 tenths and 7 tenths; B has none.
    assert [cell.css for cell in layout.lines[0].cells] == ["", "n shade-3 same", "n shade-7", "n"]
    assert [cell.css for cell in layout.lines[1].cells] == ["", "n", "n", "n"]
    assert layout.groups == (("", 1), ("J1 chose", 2), ("", 1))


def test_long_tables_are_cut_on_the_page() -> None:
    rows = tuple((f"row {n}", n) for n in range(MAX_LINES + 5))
    layout = laid_out(
        ReportTable(key="c", about="", title="", heads=(Head("a", "A"), Head("b", "B", "count")), rows=rows)
    )

    assert (len(layout.lines), layout.n_left_out) == (MAX_LINES, 5)


def test_a_number_that_does_not_apply_is_a_dash_and_one_that_is_not_defined_says_why() -> None:
    heads = (Head("a", "A"), Head("b", "B", "number"), Head("because", "Because", "note"))
    layout = laid_out(ReportTable(key="c", about="", title="", heads=heads, rows=(("x", None, ""), ("y", None, "so"))))

    assert [line.cells[1].text for line in layout.lines] == ["–", "not defined: so"]
