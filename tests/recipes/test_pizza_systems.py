"""People judge two systems' tables side by side: what the report of such a study says by system (Table 3)."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.core.management import call_command

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.deriving.actions import derive_study
from annotation.models import Rater, Row, Scheme, Study
from recipes.pizza_commonsense import actions
from recipes.pizza_commonsense.records import Table
from reports.actions import freeze
from reports.contents import Contents, contents_of, read_contents
from reports.data.arrays import Filters
from reports.frozen.recomputing import recompute
from reports.numbers.report import compute
from reports.queries import load
from reports.tables.base import ReportTable
from tests import builders
from tests.builders import ClientOf

pytestmark = [pytest.mark.django_db, pytest.mark.once]

RECIPES = ("Bianca", "Calzone", "Diavola", "Marinara", "Margherita")
FLAGS = ("complete", "valid", "consistent")
FAULTS = ("wrong", "inedible", "vague")


def table(title: str, *said: tuple[str, str]) -> Table:
    """A recipe of as many lines as there are inputs and outputs; an empty one is open."""
    cells = {
        (line, cell): text
        for line, both in enumerate(said)
        for cell, text in zip(("input", "output"), both, strict=True)
        if text
    }
    return Table(title, "", tuple(f"do {line} of {title} ." for line in range(1, len(said) + 1)), cells)


def scheme_of(name: str, *, version: int | None = None) -> Scheme:
    text = doors.shipped_schemes()[name].read_text(encoding="utf-8")
    if version == 1:  # as it was before the texts were kept and faults asked for
        kept = [line for line in text.splitlines() if not any(f"{{key: {key}, title" in line for key in NEW)]
        text = "\n".join(kept).replace("version: 2", "version: 1")
    return builders.scheme(text)


NEW = ("left", "right", "reference", "gold", "wrong", "inedible", "vague")


@pytest.fixture
def compared() -> Study:
    """Of five recipes the two lines of gold and t5 side by side: t5 has the first right, and of the second a fork."""
    return side_by_side(scheme_of("pizza-systems"))


def side_by_side(scheme: Scheme) -> Study:
    study = builders.study("pizzas", of=scheme_of("pizza-commonsense"), by=builders.user("mara"))
    gold = [table(title, ("flour; water", "dough"), (f"dough; {title} sauce", f"{title} pizza")) for title in RECIPES]
    t5 = [table(title, ("flour; water", "dough"), ("fork", f"fork with {title}")) for title in RECIPES]
    actions.import_tables(study=study, tables=gold)
    actions.import_tables(study=study, tables=t5, rater="t5", kind=Rater.Kind.JUDGE)
    return derive_study(
        source=study, deriver="two-systems", scheme=scheme, slug="compared", title="Compared",
        settings={"systems": ["gold", "t5"]}, by=study.memberships.first().user,  # type: ignore[union-attr]
    )  # fmt: skip


def judge(
    study: Study, name: str, says: Callable[[str, Row], Mapping[str, str]], prefers: Callable[[Row], str]
) -> None:
    """A person judges every row: of each system and row the flags, and which system is better, "" for a tie. Nothing is
    wrong, where it is asked, but what `says` says."""
    person = builders.rater(study, builders.user(name))
    for sheet in study.sheets.all():
        for work in builders.assignments(person, sheet):
            sides = dict(zip(work.row.facets["systems"], ("Left", "Right"), strict=True))
            better = prefers(work.row)
            answers: dict[tuple[str, str], str | None] = {
                (side, key): said
                for system, side in sides.items()
                for key, said in answered(study, says(system, work.row)).items()
            }
            answers["Left or Right", "preference"] = sides[better].lower() if better else "tie"
            builders.label(work, answers)
            annotating.submit(assignment=work)


def answered(study: Study, said: Mapping[str, str]) -> dict[str, str]:
    """What is asked besides, given what a person said, is answered by “no”."""
    section = study.scheme.parsed.section("side")
    for question in section.questions:
        if question.key not in said and question in section.asked(dict(said)):
            said = {**said, question.key: "no"}
    return dict(said)


def gold_alone(system: str, _row: Row) -> dict[str, str]:
    return dict.fromkeys(FLAGS, "yes" if system == "gold" else "no")


def contents(study: Study, **filters: Any) -> Contents:
    chosen = Filters(**filters)
    return contents_of(compute(load(study, chosen), chosen))


def tables(study: Study, **filters: Any) -> dict[str, ReportTable]:
    return {of.key: of for of in contents(study, **filters).tables}


def lines(table: ReportTable) -> list[dict[str, Any]]:
    return [dict(zip((head.key for head in table.heads), row, strict=True)) for row in table.rows]


def both_judge(study: Study) -> None:
    """Anna and Boris say of every line that gold is complete, valid, consistent and better, and t5 never."""
    for name in ("anna", "boris"):
        judge(study, name, gold_alone, lambda _row: "gold")


@pytest.mark.parametrize("version", [1, 2], ids=["a study of before", "a study of now"])
def test_the_report_says_by_system_what_people_judge(version: int) -> None:
    compared = side_by_side(scheme_of("pizza-systems", version=version))
    lefts = {row.facets["systems"][0] for row in Row.objects.filter(sheet__study=compared)}
    assert lefts == {"gold", "t5"}  # whoever stands left is drawn
    both_judge(compared)

    gold, t5 = lines(tables(compared)["side.complete.systems"])

    for of, name, other, share in ((gold, "gold", "t5", 1.0), (t5, "t5", "gold", 0.0)):
        assert (of["system"], of["by"], of["better.preference_against"]) == (name, "People", other)
        for key in FLAGS:  # ten lines, two people
            assert (of[f"side.{key}"], of[f"side.{key}_n"]) == (share, 20)
        assert [of[f"better.preference_{one}"] for one in ("wins", "ties", "loses", "n")] == [share, 0, 1 - share, 20]
    (of_pair, place) = lines(tables(compared)["better.preference.systems"])
    # Others are held against gold, which stands second though its name comes first.
    assert [of_pair[key] for key in ("first", "second", "wins", "ties", "loses", "n")] == ["t5", "gold", 0, 0, 1, 20]
    assert (place["first"], place["n"]) == ("left side", 20)


@pytest.mark.parametrize("spelt", ["gold", "best"])
def test_each_side_mirrors_the_other_where_gold_left_a_line_open(spelt: str) -> None:
    study = builders.study("pizzas", of=scheme_of("pizza-commonsense"), by=builders.user("mara"))
    gold = [table(title, ("flour", "dough"), ("dough", "pizza")) for title in RECIPES]
    gold[0] = gold[0].with_cells({place: said for place, said in gold[0].cells.items() if place[0] == 0})
    actions.import_tables(study=study, tables=gold, rater=spelt)
    t5 = [table(title, ("flour", "dough"), ("fork", "fork")) for title in RECIPES]
    actions.import_tables(study=study, tables=t5, rater="t5", kind=Rater.Kind.JUDGE)
    made = derive_study(
        source=study, deriver="two-systems", scheme=scheme_of("pizza-systems"), slug="compared", title="Compared",
        settings={"systems": [spelt, "t5"]}, by=study.memberships.first().user,  # type: ignore[union-attr]
    )  # fmt: skip
    assert {row.facets["reference"] for row in Row.objects.filter(sheet__study=made)} == {spelt}
    judge(made, "anna", gold_alone, lambda row: "t5" if row.facets["gold"] == "" else spelt)

    found = {of["system"]: of for of in lines(tables(made)["side.complete.systems"])}
    told = {name: [of[f"better.preference_{one}"] for one in ("wins", "loses", "n")] for name, of in found.items()}
    assert told == {spelt: [0.9, 0.1, 10], "t5": [0.1, 0.9, 10]}


def test_wins_and_ties_of_people_who_differ(compared: Study) -> None:
    """Anna prefers t5 in the first line of each of five recipes, where Boris sees a tie; gold in all others."""
    first = "do 1 "
    judge(compared, "anna", gold_alone, lambda row: "t5" if first in row.title else "gold")
    judge(compared, "boris", gold_alone, lambda row: "" if first in row.title else "gold")

    _gold, t5 = lines(tables(compared)["side.complete.systems"])

    # Of 20 judgements 5 are for t5, 5 are ties, 10 are for gold.
    assert [t5[f"better.preference_{one}"] for one in ("wins", "ties", "loses")] == [0.25, 0.25, 0.5]


def test_the_metric_that_goes_with_people(compared: Study) -> None:
    """People say that t5 is complete where it wrote what gold has, and there alone: so does exact match."""

    def right(system: str, row: Row) -> dict[str, str]:
        return dict.fromkeys(FLAGS, "yes" if system == "gold" or "do 1 " in row.title else "no")

    for name in ("anna", "boris"):
        judge(compared, name, right, lambda row: "" if "do 1 " in row.title else "gold")
    found = tables(compared)

    of_flag = {(of["metric"], of["text"]): of for of in lines(found["side.complete.metrics"])}
    # Ten outputs of t5; gold's own texts are held against nothing.
    assert (of_flag["Exact match", "Input"]["kendall"], of_flag["Exact match", "Input"]["n"]) == (pytest.approx(1), 10)
    assert of_flag["Exact match", "Output"]["kendall"] == pytest.approx(1)
    of_better = {(of["metric"], of["text"]): of for of in lines(found["better.preference.metrics"])}
    assert of_better["Exact match", "Input"]["spearman"] == pytest.approx(1)


def test_two_systems_without_gold_stand_against_each_other() -> None:
    """Of what each wrote the report knows what gold has there all the same."""
    study = builders.study("pizzas", of=scheme_of("pizza-commonsense"), by=builders.user("mara"))
    actions.import_tables(study=study, tables=[table(title, ("flour", "dough")) for title in RECIPES])
    for system in ("t5", "flan"):
        said = [table(title, ("flour", "cake")) for title in RECIPES]
        actions.import_tables(study=study, tables=said, rater=system, kind=Rater.Kind.JUDGE)
    made = derive_study(
        source=study, deriver="two-systems", scheme=scheme_of("pizza-systems"), slug="compared", title="Compared",
        settings={"systems": ["t5", "flan"]}, by=study.memberships.first().user,  # type: ignore[union-attr]
    )  # fmt: skip
    row = Row.objects.filter(sheet__study=made)[0]
    assert (row.facets["reference"], row.facets["gold"]) == ("gold", "flour ⟶ dough")

    judge(made, "anna", gold_alone, lambda row: "t5" if row.sheet.title == "Bianca" else "flan")
    found = tables(made)

    flan, t5 = lines(found["side.complete.systems"])
    told = [[of[f"better.preference_{one}"] for one in ("against", "wins", "ties", "loses")] for of in (flan, t5)]
    assert told == [["t5", 0.8, 0, 0.2], ["flan", 0.2, 0, 0.8]]  # one of five recipes is t5's
    assert lines(found["side.complete.metrics"])[0]["n"] == 10  # both sides of five lines are held against gold


def test_rates_of_what_is_wrong(compared: Study) -> None:
    """Of t5 each second line is incomplete and not valid: Anna and Boris say that there is a fork in it, Anna also that
    it is vague. Boris sees wrong food in the first line of Bianca, which is complete."""

    def says(system: str, row: Row) -> dict[str, str]:
        if system == "gold" or "do 1 " in row.title:
            return dict.fromkeys(FLAGS, "yes")
        return {"complete": "no", "valid": "no", "consistent": "yes", "inedible": "yes"}

    def of_anna(system: str, row: Row) -> dict[str, str]:
        said = says(system, row)
        return {**said, "vague": "yes"} if said["valid"] == "no" else said

    def of_boris(system: str, row: Row) -> dict[str, str]:
        return says(system, row) | ({"wrong": "yes"} if (system, row.title) == ("t5", "1. do 1 of Bianca .") else {})

    judge(compared, "anna", of_anna, lambda _row: "gold")
    judge(compared, "boris", of_boris, lambda _row: "gold")
    gold, t5 = lines(tables(compared)["side.complete.systems"])

    # 20 judgements each: 5 lines of 2 people are incomplete, one is complete and wrong; 10 have a fork; 5 are vague.
    assert [(t5[f"side.{key}"], t5[f"side.{key}_n"]) for key in FAULTS] == [(11 / 20, 20), (0.5, 20), (0.25, 20)]
    assert [(gold[f"side.{key}"], gold[f"side.{key}_n"]) for key in FAULTS] == [(0, 20)] * 3
    titles = {head.key: head.group for head in tables(compared)["side.complete.systems"].heads}
    assert [titles[f"side.{key}"] for key in FAULTS] == ["Missing or wrong food", "Not food", "Not descriptive"]
    # Without the question by which they are asked nothing can be told of two of them.
    few = tables(compared, questions=("side.complete", "side.wrong", "side.vague"))["side.complete.systems"]
    assert {head.key for head in few.heads} & {f"side.{key}" for key in FAULTS} == {"side.wrong"}


def test_page_downloads_and_what_is_frozen_have_the_table(compared: Study, client_of: ClientOf) -> None:
    both_judge(compared)
    mara = client_of(compared.memberships.get(role="manager").user)
    page = mara.get("/studies/compared/report/whole/").content.decode()
    assert "Systems as they were judged" in page
    assert "Systems side by side" in page
    whole = mara.get("/studies/compared/report/report.csv").content.decode("utf-8-sig")
    assert any("side.complete.systems" in line for line in whole.splitlines())
    report = freeze(study=compared, title="For the paper", filters=Filters(), by=None)
    (frozen,) = [of for of in read_contents(report.results).tables if of.key == "side.complete.systems"]
    assert lines(frozen)[1]["better.preference_loses"] == 1
    assert recompute(report).equal
    call_command("recompute_report", str(report.pk), stdout=io.StringIO())


def test_reports_frozen_before_have_none_of_it(compared: Study) -> None:
    both_judge(compared)
    assert not [key for key in tables(compared, methods=5) if key.endswith((".systems", ".metrics"))]


def test_nobody_who_judges_is_shown_the_texts_as_facets(compared: Study, client_of: ClientOf) -> None:
    anna = builders.user("anna")
    sheet = compared.sheets.all()[0]
    builders.assignments(builders.rater(compared, anna), sheet)
    page = client_of(anna).get(f"/sheets/{sheet.pk}/").content.decode()
    assert "⟶" not in page
    assert "Text of the reference" not in page
    row = Row.objects.filter(sheet=sheet).order_by("position")[1]
    assert row.facets["reference"] == "gold"
    sides = dict(zip(row.facets["systems"], ("left", "right"), strict=True))
    assert row.facets[sides["t5"]] == f"fork ⟶ fork with {sheet.title}"
    assert row.facets[sides["gold"]] == row.facets["gold"] == f"dough; {sheet.title} sauce ⟶ {sheet.title} pizza"


def test_several_systems_stand_beside_gold_in_one_study() -> None:
    """Table 3 of the paper has a line a system; all are held against gold, on the same lines."""
    study = builders.study("pizzas", of=scheme_of("pizza-commonsense"), by=builders.user("mara"))
    gold = [table(title, ("flour; water", "dough"), (f"dough; {title} sauce", f"{title} pizza")) for title in RECIPES]
    actions.import_tables(study=study, tables=gold)
    for name in ("flan", "gpt", "t5"):
        said = [table(title, ("flour", f"{name} dough"), ("fork", f"{name} pizza")) for title in RECIPES]
        actions.import_tables(study=study, tables=said, rater=name, kind=Rater.Kind.JUDGE)

    def made(slug: str, *systems: str, **settings: Any) -> Study:
        return derive_study(
            source=study, deriver="two-systems", scheme=scheme_of("pizza-systems"), slug=slug, title=slug,
            settings={"systems": list(systems), **settings}, by=study.memberships.first().user,  # type: ignore[union-attr]
        )  # fmt: skip

    several = made("several", "gold", "flan", "gpt", "t5")
    rows = list(Row.objects.filter(sheet__study=several, sheet__title="Calzone").order_by("position"))
    assert [row.name for row in rows] == ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3"]
    stood = [set(row.facets["systems"]) - {"gold"} for row in rows]
    assert set.union(*stood[:3]) == set.union(*stood[3:]) == {"flan", "gpt", "t5"}
    first = [row.facets["systems"] for row in Row.objects.filter(sheet__study=several, name__endswith=".1")]
    assert len({system for systems in first for system in systems}) > 2  # the number tells nobody who it is
    few = Row.objects.filter(sheet__study=made("few", "gold", "flan", "gpt", "t5", lines=["2"]))
    assert len({(row.sheet_id, row.name.split(".")[0]) for row in few}) == 2
    assert len(few) == 6
    with pytest.raises(Refused, match="has to be the gold"):
        made("none", "flan", "gpt", "t5")

    judge(several, "anna", gold_alone, lambda row: "gold" if "gpt" not in row.facets["systems"] else "gpt")
    by = {of["system"]: of for of in lines(tables(several)["side.complete.systems"])}
    assert set(by) == {"flan", "gold", "gpt", "t5"}
    assert [by[name]["side.complete"] for name in ("flan", "gold", "gpt", "t5")] == [0.0, 1.0, 0.0, 0.0]
    assert [by[name]["better.preference_wins"] for name in ("flan", "gpt", "t5")] == [0.0, 1.0, 0.0]
    assert [by[name]["better.preference_n"] for name in ("flan", "gold", "gpt", "t5")] == [10, 30, 10, 10]
    assert by["gold"]["better.preference_against"] == "flan; gpt; t5"
