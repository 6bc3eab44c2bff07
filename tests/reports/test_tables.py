"""The report in words: names, units, reasons, marks."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from annotation import actions
from annotation.models import Assignment, Rater, Study
from annotation.scheme.spec import load_scheme
from reports import queries, stats
from reports.data.arrays import TOLD_APART, Filters
from reports.numbers.report import compute
from reports.stats import coefficients
from reports.tables import ReportTable, about, tables
from reports.words import COEFFICIENTS, MISSING, SYSTEMS, UNDEFINED
from tests import builders
from tests.reports import studies
from tests.reports.studies import answered, judge, rater, say, sheet

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def of(study: Study, **filters: object) -> dict[str, ReportTable]:
    chosen = Filters(**filters)  # type: ignore[arg-type]
    made = list(tables(compute(queries.load(study, chosen), chosen)))
    assert len({table.key for table in made}) == len(made)
    for table in made:
        assert len({head.key for head in table.heads}) == len(table.heads)
        assert {len(row) for row in table.rows} <= {len(table.heads)}
    return {table.key: table for table in made}


def words(table: ReportTable) -> str:
    return " ".join([table.full_title, table.how, *(head.full_title for head in table.heads), str(table.rows)])


def rater_of(study: Study, code: str) -> Rater:
    return study.raters.filter(code=code).first() or rater(study, code)


def agreed(study: Study) -> None:
    """Two people and a judge, all simulated but for A1, on one recipe of three items."""
    soup = sheet(study, items=3)
    answered(rater(study, "A1"), soup, ["fna"])
    answered(rater(study, "S1", simulated=True), soup, ["ffa"])
    answered(judge(study, "J1", simulated=True), soup, ["fni"])


def test_selections_with_their_shares(study: Study) -> None:
    soup = sheet(study, items=4)
    answered(rater(study, "A1"), soup, ["ffn."])

    assert of(study)["items.presence.selections"].rows == (
        ("Found", 2, 0.5),
        ("Found (not perfect)", 1, 0.25),
        ("Not found", 0, 0.0),
        ("Implied", 0, 0.0),
        ("Not filled in", 1, 0.25),
        ("    not reached", 1, 0.25),
        ("Total", 4, 1.0),
    )


def test_a_part_names_its_whole(study: Study) -> None:
    soup = sheet(study, items=2)
    answered(rater(study, "A1"), soup, ["f."])

    assert of(study)["items.presence.selections"].wholes() == ["", "", "", "", "", "Not filled in", ""]


def test_the_overview_adds_up_the_cells(study: Study) -> None:
    soup = sheet(study, items=2, tools=["knife", "", ""])
    answered(rater(study, "A1"), soup, ["ff"])
    overview = of(study)["overview"]

    # 2 items, and 3 tasks with 3 questions each
    assert [(row[0], row[1], row[2]) for row in overview.rows] == [
        ("Items", 2, 2),
        ("Tasks: Task", 3, 0),
        ("Tasks: Tool", 3, 0),
        ("Tasks: Level", 3, 0),
        ("Tasks: mean of its questions", None, None),
        ("All questions", 11, 2),
    ]
    assert "11 cells to fill" in overview.how
    assert "Items 2 + Tasks 3 × 3" in overview.how


def test_what_everyone_chose_is_why_kappa_is_not_defined(study: Study) -> None:
    soup = sheet(study, items=2)
    for code in ("A1", "A2"):
        answered(rater(study, code), soup, ["ff"])
    made = of(study)

    because = {row[0]: row[-1] for row in made["items.presence.agreement"].rows}
    assert because["Cohen's κ, macro average"] == "everyone chose “Found”"
    assert because["Krippendorff's α, nominal"] == "everyone chose “Found”"
    assert because["Percent agreement"] == ""
    assert made["items.presence.pairs"].rows == (("Soup", "A1", "A2", None, 2, 2, "both chose “Found”"),)
    assert made["overview"].rows[0][-1] == "everyone chose “Found”"


def test_pairs_that_each_chose_something_else_have_another_reason(study: Study) -> None:
    soup, stew = sheet(study, "Soup", items=1), sheet(study, "Stew", items=1)
    for code in ("A1", "A2"):
        person = rater(study, code)
        answered(person, soup, ["f"])
        answered(person, stew, ["a"])
    rows = of(study)["items.presence.agreement"].rows

    assert rows[0][1] is None
    assert rows[0][-1] == "in every pair, both raters chose one and the same option everywhere"
    # Pooled, there are two options and full agreement.
    assert rows[2][1:] == (1.0, "2 comparisons", "")


def test_one_document_of_each_sheet_is_why_the_corrected_kappa_is_not_defined(study: Study) -> None:
    soup = sheet(study, items=4)
    answered(rater(study, "A1"), soup, ["ffna"])
    answered(rater(study, "A2"), soup, ["ffaa"])

    def because(**filters: object) -> dict[str, str]:
        return {row[0]: row[-1] for row in of(study, **filters)["items.presence.agreement"].rows}

    small = "Cohen's κ, macro average, corrected for small recipes"
    assert because()["Cohen's κ, macro average"] == ""
    assert because()[small] == "it takes chance between two documents, and pairs of raters share single ones"
    # A report that was frozen before says what it said.
    assert because(methods=7)[small] == "everyone chose “Found”"


def test_one_rater_alone_is_why_agreement_is_not_defined(study: Study) -> None:
    answered(rater(study, "A1"), sheet(study, items=2), ["fa"])

    assert {row[-1] for row in of(study)["items.presence.agreement"].rows} == {"no cell was answered by two people"}


def test_a_judge_without_a_label_says_so_and_how_often_it_failed(study: Study) -> None:
    soup = sheet(study, items=1, rows=2)
    answered(rater(study, "A1"), soup, ["f", "f"])
    pages = answered(judge(study), soup, [".", "."])
    Assignment.objects.filter(pk=pages[0].pk).update(state=Assignment.State.FAILED, failure="It is too long.")
    made = of(study)

    judges = made["items.presence.judges"]
    assert judges.rows[0] == (
        "J1",
        None,
        None,
        None,
        0,
        0,
        0,
        1,
        1,
        "there is no label in any cell that people answered",
    )
    assert "J1 failed on 1 of 2 documents" in judges.how
    assert "items.presence.confusion.J1" not in made


def test_the_confusion_is_of_the_options_that_are_told_apart(study: Study) -> None:
    agreed(study)
    confusion = of(study)["items.presence.confusion.J1"]

    # people → judge (i as a): A1 f→f n→n a→a, S1 f→f f→n a→a
    assert confusion.rows == (("Found", 2, 1, 0, 0), ("Found (not perfect)", 0, 1, 0, 0), ("Not found", 0, 0, 2, 0))
    assert [head.key for head in confusion.heads] == [
        "people",
        "judge.found",
        "judge.near",
        "judge.absent",
        "unlabelled",
    ]


def test_simulated_raters_are_marked_wherever_they_are_named(study: Study) -> None:
    agreed(study)
    made = of(study, people=("A1", "S1"))
    for table in made.values():
        text = words(table)
        for code in ("S1", "J1"):
            assert text.count(code) == text.count(f"{code} (simulated)"), table.key

    assert made["items.presence.pairs"].rows[0][2] == "S1 (simulated)"
    assert made["items.presence.judges"].rows[0][0] == "J1 (simulated)"
    assert made["items.presence.confusion.J1"].heads[1].full_title == "J1 (simulated) chose: Found"


def test_a_sheet_is_called_what_the_scheme_calls_it(study: Study) -> None:
    agreed(study)
    made = of(study)

    assert made["items.presence.agreement"].rows[0][2] == "1 recipe-pair"
    assert made["items.presence.pairs"].heads[0].title == "Recipe"
    assert not any("sheet" in words(table).lower() for table in made.values())


def test_a_scheme_without_words_has_sheets(study: Study) -> None:
    text = studies.SCHEME.replace("words: {sheet: recipe, sheets: recipes, row: document, rows: documents}\n", "")
    plain = builders.study("plain", of=builders.scheme(text.replace("key: letters", "key: plain")))
    assert load_scheme(text).words.sheet == "sheet"
    agreed(plain)

    assert of(plain)["items.presence.agreement"].rows[0][2] == "1 sheet-pair"


def test_a_scale_says_which_kappa_and_alpha(study: Study) -> None:
    level = of(study)["tasks.level.agreement"]

    assert next(row[0] for row in level.rows) == "Cohen's κ, quadratic weights, macro average"
    assert [row[0] for row in level.rows][-1] == "Krippendorff's α, ordinal"


def test_what_the_report_is_about_names_the_filters(study: Study) -> None:
    agreed(study)
    soup = study.sheets.get()
    filters = Filters(people=("S1",), sheets=(soup.pk,), merges={"items.presence": "two-classes"}, submitted_only=True)

    assert about(compute(queries.load(study, filters), filters)) == [
        ("Study", "Letters"),
        ("Scheme", "Letters (version 1)"),
        ("Simulated raters", "S1, J1"),
        ("People", "S1 (simulated)"),
        ("Recipes", "Soup"),
        ("Options of Items", "Found or not"),
        ("Documents", "submitted ones only"),
    ]


@pytest.mark.parametrize(
    ("merges", "people", "judges"),
    [
        ({}, "all options told apart", "Implied counts as Not found"),
        ({"items.presence": TOLD_APART}, "all options told apart", "all options told apart"),
        ({"items.presence": "two-classes"}, "Found or not", "Found or not"),
    ],
    ids=["as the scheme says", "told apart", "merged"],
)
def test_titles_say_which_options_are_told_apart(
    study: Study, merges: dict[str, str], people: str, judges: str
) -> None:
    agreed(study)
    answered(studies.gold(study), study.sheets.get(), ["fna"])
    made = of(study, merges=merges)

    assert {key.removeprefix("items.presence."): table.title for key, table in made.items() if "(" in table.title} == {
        "agreement": f"How far people agree ({people})",
        "pairs": f"κ of each pair ({people})",
        "judges": f"How far judges agree with people ({judges})",
        "confusion.J1": f"Confusion matrix: people and J1 (simulated) ({judges})",
        "coefficients": f"All coefficients ({people})",
        "options": f"Agreement on each option ({people})",
        "judge-figures": f"Accuracy, F1 and κ of judges ({judges})",
        "judge-options.J1": f"Precision, recall and F1 by class: J1 (simulated) ({judges})",
        "judge-people": f"Each judge with each person ({judges})",
        "alternative": f"May the judge stand in for one more person? ({judges})",
        "gold.G1": f"Against gold G1 ({people})",
    }


def test_what_the_report_is_about_names_options_that_are_told_apart(study: Study) -> None:
    agreed(study)
    filters = Filters(merges={"items.presence": TOLD_APART})

    assert about(compute(queries.load(study, filters), filters))[-1] == ("Options of Items", "all told apart")


def test_every_reason_of_the_statistics_has_words() -> None:
    """Each module's constants that are sentences are reasons; `MISSING_RULES` has what is missing."""
    modules = [importlib.import_module(f"reports.stats.{found.name}") for found in pkgutil.iter_modules(stats.__path__)]
    reasons = {
        said for module in modules for name, said in vars(module).items() if name.isupper() and isinstance(said, str)
        and not name.startswith("_")
    }  # fmt: skip

    assert len(reasons) > 20
    assert reasons <= set(UNDEFINED) | set(SYSTEMS)
    assert set(coefficients.MISSING_RULES) == set(MISSING) == {*COEFFICIENTS, "specific"}


def test_an_average_of_questions_has_an_interval(study: Study) -> None:
    soup = sheet(study, tools=["knife", "pan"], rows=12)
    for code in ("A1", "A2"):
        for n, row in enumerate(soup.rows.all()):
            [work] = actions.assign(rater=rater_of(study, code), rows=[row])
            last = "1" if code == "A1" or n % 3 else "2"
            say(
                work,
                {
                    ("task 1 · knife", "task"): "f",
                    ("task 1 · knife", "tool"): "d" if n % 2 else "s",
                    ("task 2 · pan", "task"): "f" if n % 4 or code == "A2" else "a",
                },
            )
            if n % 2 == 0:
                say(work, {("task 1 · knife", "level"): last})

    plain, drawn = of(study)["tasks.agreement"], of(study, by="document", n_draws=200)["tasks.agreement"]
    assert [head.key for head in plain.heads] == ["statistic", "value", "rests_on", "because"]
    assert [head.key for head in drawn.heads] == ["statistic", "value", "low", "high", "rests_on", "because"]
    for line in drawn.rows:
        value, low, high = (float(number) for number in line[1:4] if number is not None)
        assert low <= value <= high
    assert "200 bootstrap resamples of 12 documents" in drawn.how


def test_a_scale_is_held_against_people_by_its_distance(study: Study) -> None:
    soup = sheet(study, tools=["knife"])
    for code, kind in (("A1", rater), ("A2", rater), ("J1", judge)):
        [work] = actions.assign(rater=kind(study, code), rows=list(soup.rows.all()))
        say(work, {("task 1 · knife", "task"): "f", ("task 1 · knife", "tool"): "s", ("task 1 · knife", "level"): "2"})
    made = of(study)

    assert "near the others' answers" in made["tasks.level.alternative"].how
    assert "near the others' answers" not in made["tasks.task.alternative"].how
