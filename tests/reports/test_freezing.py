"""Frozen reports: what is kept, that it never changes, that it can be computed again, and what moved since."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from annotation.actions import Refused
from annotation.models import Label, Option, Study
from reports import actions, queries
from reports.contents import Contents, ContentsPart, contents_from, read_contents
from reports.data.arrays import Filters
from reports.data.label_table import UnknownFormat, unpacked
from reports.frozen.comparison import compare, compare_with_intervals, intervals_of
from reports.frozen.recomputing import labels_of, recompute
from reports.models import FrozenError, Report
from reports.tables import Head, ReportTable
from reports.templatetags.reports import changed
from tests.databases import made_once
from tests.reports import studies
from tests.reports.studies import answered, gold, judge, rater, say, sheet

pytestmark = pytest.mark.once


@made_once
def study() -> Study:
    """Two people, a judge and a gold over two sheets; eight cells twice."""
    study = studies.study()
    for title in ("Soup", "Stew"):
        made = sheet(study, title, items=4, tools=["knife", ""], rows=2)
        answered(rater(study, "A1") if title == "Soup" else study.raters.get(code="A1"), made, ["fnai", "ffaa"])
        answered(rater(study, "A2") if title == "Soup" else study.raters.get(code="A2"), made, ["fnaa", "fnia"])
        answered(judge(study) if title == "Soup" else study.raters.get(code="J1"), made, ["fffa", None])
        answered(gold(study) if title == "Soup" else study.raters.get(code="G1"), made, ["fnai", None])
    return study


def freeze(study: Study, **filters: object) -> Report:
    return actions.freeze(study=study, title="For the paper", filters=Filters(**filters), by=None)  # type: ignore[arg-type]


def relabel(study: Study) -> None:
    label = Label.objects.filter(assignment__rater__study=study, assignment__rater__code="A1").first()
    assert label is not None
    label.option = Option.objects.filter(question=label.question).exclude(pk=label.option_id)[0]
    label.save()


# --- the label table ---


def test_a_label_table_comes_back_as_it_was(study: Study) -> None:
    table = queries.label_table(study, Filters(), notes=True)
    again = unpacked(table.packed())

    assert again.content == table.content
    assert again.digest == table.digest
    assert again.labels.tolist() == table.labels.tolist()


def test_the_digest_knows_a_changed_label(study: Study) -> None:
    before = queries.label_table(study, Filters()).digest
    relabel(study)

    assert queries.label_table(study, Filters()).digest != before


def test_equal_labels_in_another_database_have_the_same_digest(study: Study) -> None:
    """Keys of the database are no part of it."""
    before = queries.label_table(study, Filters()).content
    twin = Study.objects.create(slug="twin", title=study.title, scheme=study.scheme)
    for title in ("Soup", "Stew"):
        made = sheet(twin, title, items=4, tools=["knife", ""], rows=2)
        for code, kind, rows in (
            ("J1", judge, ["fffa", None]),
            ("A2", rater, ["fnaa", "fnia"]),
            ("G1", gold, ["fnai", None]),
            ("A1", rater, ["fnai", "ffaa"]),
        ):
            answered(kind(twin, code) if title == "Soup" else twin.raters.get(code=code), made, rows)
    Study.objects.filter(pk=study.pk).update(slug="older")
    Study.objects.filter(pk=twin.pk).update(slug=study.slug)
    twin.refresh_from_db()

    assert queries.label_table(twin, Filters()).content == before


@pytest.mark.parametrize("packed", [b"", b"no table", b"x\x9c\x03\x00\x00\x00\x00\x01"], ids=["empty", "text", "none"])
def test_what_is_no_label_table_is_refused(packed: bytes) -> None:
    with pytest.raises(UnknownFormat):
        unpacked(packed)


# --- freezing ---


def test_a_frozen_report_keeps_all_that_it_was_made_of(study: Study) -> None:
    report = freeze(study, people=("A1", "A2"), merges={"items.presence": "two-classes"})

    assert Filters.from_json(report.filters).merges == {"items.presence": "two-classes"}
    assert report.data_digest == labels_of(report).digest
    assert {"numpy", "python"} <= report.libraries.keys()
    assert "+" in report.code_version
    assert read_contents(report.results).content.decode() == report.results


def test_nothing_is_frozen_where_there_is_nothing(db: None) -> None:
    with pytest.raises(Refused, match="nothing to freeze"):
        freeze(studies.study())


def test_it_stays_when_the_labels_change(study: Study) -> None:
    report = freeze(study)
    relabel(study)

    assert recompute(Report.objects.get()).equal
    now = contents_from(queries.label_table(study, Filters()), Filters(), "en")
    assert now.content.decode() != report.results


@pytest.mark.parametrize(
    "change",
    [
        lambda report: report.save(),
        lambda report: Report.objects.update(title="Better"),
        lambda report: Report.objects.bulk_update([report], ["title"]),
    ],
    ids=["save", "update", "bulk_update"],
)
def test_no_code_changes_a_frozen_report(study: Study, change: Callable[[Report], object]) -> None:
    report = freeze(study)
    report.title = "Better"

    with pytest.raises(FrozenError), transaction.atomic():
        change(report)
    assert Report.objects.get().title == "For the paper"


def test_the_database_refuses_a_change_too(study: Study) -> None:
    freeze(study)

    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE reports_report SET title = 'Better'")


# --- computing it again ---


def test_recomputing_says_equal(study: Study) -> None:
    report = freeze(study, questions=("items.presence",))
    out = io.StringIO()
    call_command("recompute_report", report.pk, stdout=out)

    assert "Equal: all" in out.getvalue()
    assert report.results_digest in out.getvalue()


def test_recomputing_needs_the_study_no_more(study: Study) -> None:
    report = freeze(study)
    for found in study.raters.all():
        found.delete()
    study.sheets.all().delete()

    assert recompute(report).equal


def test_recomputing_says_what_differs(study: Study) -> None:
    """A report as other code might have computed it: one number is not what comes out now."""
    made = freeze(study)
    contents = made.results.replace('"key":"overview"', '"key":"overview-then"')
    fields = {field.attname: getattr(made, field.attname) for field in Report._meta.fields if field.attname != "id"}
    other = Report.objects.create(**{**fields, "results": contents})

    again = recompute(other)

    assert not again.equal
    assert {move.only_in for move in again.comparison.changes} == {"first", "second"}
    with pytest.raises(CommandError, match=r"of \d+ numbers differ"):
        call_command("recompute_report", other.pk, stdout=io.StringIO())


def test_a_report_that_is_not_there(db: None) -> None:
    with pytest.raises(CommandError, match="There is no frozen report 7"):
        call_command("recompute_report", 7)


# --- comparing ---


def test_comparing_shows_which_numbers_moved_and_by_how_much(study: Study) -> None:
    first = read_contents(freeze(study).results)
    relabel(study)
    moves = compare(first, read_contents(freeze(study).results)).changes

    found = next(m for m in moves if m.table.key == "items.presence.selections" and m.row == "Found")
    assert (found.head.key, found.first, found.second, found.difference) == ("count", 10, 9, -1)
    assert all(move.table.key != "raters" for move in moves)


def test_a_number_and_its_interval_are_compared_as_one(study: Study) -> None:
    soup = sheet(study, "Pie", items=3, rows=12)
    for code, rows in (("A3", ["ffn", "fan"] * 6), ("A4", ["ffn", "ffn"] * 6)):
        answered(rater(study, code), soup, rows)
    first = read_contents(freeze(study, by="document", n_draws=100).results)
    assignment = study.raters.get(code="A4").assignments.filter(row__sheet=soup).earliest("pk")
    say(assignment, {("item 1", "presence"): "a"})
    second = read_contents(freeze(study, by="document", n_draws=100).results)
    each, together = compare(first, second), compare_with_intervals(first, second)

    ends = {"low", "high"}
    assert ends <= {change.head.key for change in each.changes}
    assert not ends & {change.head.key for change in together.changes}
    n_ends = sum(
        2 * len(table.rows)
        for table in first.tables
        for place, of in intervals_of(table.heads).items()
        if of is not None
    )
    assert each.n_numbers - together.n_numbers == n_ends > 20
    by_place = {(change.table.key, change.row, change.head.key): change for change in each.changes}
    change = next(
        c for c in together.changes if c.row.startswith("Krippendorff") and c.table.key.endswith(".agreement")
    )
    place = (change.table.key, change.row)
    assert change.difference == by_place[(*place, "value")].difference != 0
    for which in ("first", "second"):
        low, high = (getattr(by_place[(*place, end)], which) for end in ("low", "high"))
        assert getattr(change, f"{which}_ends") == (low, high)
    assert re.fullmatch(r"0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", changed(change, "first"))
    assert re.fullmatch(r"−0\.\d{3}", changed(change, "difference"))


ENDS = (("low", "from"), ("high", "to"))


def test_an_interval_that_alone_has_moved_stands_with_its_number() -> None:
    heads = (
        Head("judge", "Judge"),
        Head("share", "Right", "share"),
        *(Head(key, title, "share", "95 % interval") for key, title in ENDS),
        Head("bias", "Judge less person", "number"),
        *(Head(f"limit_{key}", title, "number", "Limits of agreement") for key, title in ENDS),
    )

    def one(*line: Any) -> Contents:
        table = ReportTable("q.judges", "", "Judges", heads, (("J1", *line),))
        return Contents((), 0, (ContentsPart("q", "", 0, (table,)),))

    found = compare_with_intervals(one(0.5, 0.25, 0.75, 0.1, -1.0, 1.0), one(0.5, None, None, 0.1, -1.0, 2.0))
    assert found.n_numbers == 3
    share, limits = found.changes
    assert [changed(share, of) for of in ("first", "second", "difference")] == [
        "50.00 % [25.00, 75.00]", "50.00 %", "0.00 points"
    ]  # fmt: skip
    assert share.head.full_title == "Right [95 % interval]"
    assert limits.head.full_title == "Limits of agreement"
    assert [changed(limits, of) for of in ("first", "second", "difference")] == [
        "[-1.000, 1.000]", "[-1.000, 2.000]", ""
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "group"),
    [
        (("field_name", "field_low", "field_high"), "Same field in pairs"),
        (("judge.qwen", "judge.qwen-9b_low", "judge.qwen-9b_high"), "A_m"),
    ],
    ids=["fields of a list", "judges by how long they think"],
)
def test_columns_that_users_have_called_low_and_high_are_no_interval(keys: tuple[str, ...], group: str) -> None:
    heads = [Head(key, key.partition("_")[2] or key, "number", group) for key in keys]
    assert intervals_of(heads) == {}


def test_an_interval_is_of_no_column_of_words() -> None:
    ends = (Head("rank_low", "from", "number"), Head("rank_high", "to", "number"))
    assert intervals_of((Head("rank", "Rank"), *ends)) == {1: None}


def test_intervals_of_a_report_in_another_language_are_intervals() -> None:
    assert intervals_of(
        [Head("value", "Hodnota", "number"), Head("low", "od", "number"), Head("high", "do", "number")]
    ) == {1: 0}


def test_a_report_of_some_questions_keeps_their_labels_alone(study: Study) -> None:
    """And those by which it is decided whether they are asked: “level” is not where “tool” is not, nor “tool” so."""
    soup = study.sheets.get(title="Soup")
    assignment = study.raters.get(code="A1").assignments.filter(row__sheet=soup).first()
    assert assignment is not None
    say(
        assignment, {("task 1 · knife", "task"): "f", ("task 1 · knife", "tool"): "s", ("task 1 · knife", "level"): "2"}
    )

    def questions(*names: str) -> set[str]:
        table = queries.label_table(study, Filters(questions=names))
        return {table.questions[number][1].key for number in table.labels[:, 2].tolist()}

    assert questions("items.presence") == {"presence"}
    assert questions("tasks.level") == {"task", "tool", "level"}
    assert questions() == {"presence", "task", "tool", "level"}


def test_a_report_equals_itself(study: Study) -> None:
    contents = read_contents(freeze(study).results)
    comparison = compare(contents, contents)

    assert comparison.equal
    assert comparison.n_numbers > 50


def test_what_only_one_report_has_is_told(study: Study) -> None:
    both, one = freeze(study), freeze(study, judges=(), questions=("items.presence",))
    comparison = compare(read_contents(both.results), read_contents(one.results))

    assert {move.only_in for move in comparison.changes if move.table.key.startswith("tasks.")} == {"first"}
