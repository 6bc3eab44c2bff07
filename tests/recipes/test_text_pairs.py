"""Texts of several systems, from a table to a report that says which system is preferred."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.deriving.actions import derive_study
from annotation.deriving.making import Source, SourceRow, SourceSheet, SourceText
from annotation.evidence.beside import beside
from annotation.exchange.rows_and_columns import import_rows
from annotation.models import Row, Scheme, Study, User
from annotation.queries import setup
from annotation.scheme.spec import SchemeError, load_scheme
from judges.methods.candidates import detected
from recipes.benchmark import demo_study, pairs
from reports.actions import freeze
from reports.answers import answers_of
from reports.contents import contents_of
from reports.data.arrays import Filters
from reports.frozen.pairing import named_judge, same_judge
from reports.frozen.recomputing import recompute
from reports.numbers.report import StudyReport, compute
from reports.queries import load
from reports.tables.base import ReportTable
from tests import builders
from tests.annotation.importing import table
from tests.builders import ApiOf, ClientOf

pytestmark = [pytest.mark.django_db, pytest.mark.once]

PROMPTS = [f"How do I mend thing {number}?" for number in range(1, 13)]
# Of each system what it answers: the first is short, the last one long.
SYSTEMS = {
    "alpha-1": "Glue it.",
    "beta-2": "Clean it, then glue it.",
    "gamma-3": "First of all clean it well, and then glue it.",
}


def scheme_of(name: str) -> Scheme:
    return builders.scheme(doors.shipped_schemes()[name].read_text(encoding="utf-8"))


@pytest.fixture
def mara() -> User:
    return builders.user("mara")


@pytest.fixture
def texts(mara: User) -> Study:
    """Twelve prompts, each with a text of three systems, brought as a table."""
    study = builders.study("answers", of=scheme_of("system-texts"), by=mara)
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["row", "prompt", "system", "text"])
    for number, prompt in enumerate(PROMPTS, start=1):
        for place, (system, text) in enumerate(SYSTEMS.items(), start=1):
            writer.writerow([f"{number}-{place}", prompt, system, f"{text}\nThat was thing {number}."])
    import_rows(study=study, rows=table(file.getvalue()))
    return study


OF_PROMPTS: Mapping[str, list[str]] = {"who": ["system"], "same": ["prompt"], "asked": ["prompt"], "pairs": ["all"]}


def paired(study: Study, by: User, slug: str = "pairs", **settings: list[str]) -> Study:
    return derive_study(
        source=study, deriver="text-pairs", scheme=scheme_of("text-pairs"), slug=slug, title="Pairs",
        settings={**OF_PROMPTS, **settings}, by=by,
    )  # fmt: skip


def rows_of(study: Study) -> list[Row]:
    return list(Row.objects.filter(sheet__study=study).order_by("sheet", "position"))


def judge(study: Study, name: str, prefers: Callable[[str, str, Row], str]) -> None:
    """A person says of every row which of the two systems, left and right, is better; "" for a tie."""
    person = builders.rater(study, builders.user(name))
    for sheet in study.sheets.all():
        for work in builders.assignments(person, sheet):
            left, right = work.row.facets["left_system"], work.row.facets["right_system"]
            better = prefers(left, right, work.row)
            said = {left: "left", right: "right", "": "tie"}[better]
            builders.label(work, {(sheet.columns.get().name, "preference"): said})
            annotating.submit(assignment=work)


def the_longer(left: str, right: str, _row: Row) -> str:
    order = list(SYSTEMS)
    return max(left, right, key=order.index)


def choose(study: Study, name: str, option: str) -> None:
    """A judge says the same of every row."""
    rater = builders.judge(study, name)
    for sheet in study.sheets.all():
        for work in annotating.assign(rater=rater, rows=sheet.rows.all()):
            builders.label(work, {(sheet.columns.get().name, "preference"): option})
            annotating.submit(assignment=work)


def report(study: Study, **filters: Any) -> StudyReport:
    chosen = Filters(**filters)
    return compute(load(study, chosen), chosen)


def tables(study: Study, **filters: Any) -> dict[str, ReportTable]:
    return {of.key: of for of in contents_of(report(study, **filters)).tables}


def lines(of: ReportTable) -> list[dict[str, Any]]:
    return [dict(zip((head.key for head in of.heads), row, strict=True)) for row in of.rows]


def test_of_each_two_systems_the_texts_for_a_prompt_stand_side_by_side(texts: Study, mara: User) -> None:
    rows = rows_of(paired(texts, mara, seed=["a"]))
    assert len(rows) == 12 * 3
    assert {frozenset((row.facets["left_system"], row.facets["right_system"])) for row in rows} == {
        frozenset(two) for two in (("alpha-1", "beta-2"), ("alpha-1", "gamma-3"), ("beta-2", "gamma-3"))
    }
    assert {row.facets["left_system"] for row in rows} == set(SYSTEMS)  # whoever stands left is drawn
    first = rows[0]
    said = {kind: [block.text for block in first.blocks if block.kind == kind] for kind in ("prompt", "left", "right")}
    assert said == {
        "prompt": [PROMPTS[0]],
        "left": [SYSTEMS[first.facets["left_system"]], "That was thing 1."],
        "right": [SYSTEMS[first.facets["right_system"]], "That was thing 1."],
    }
    assert first.facets["item"] == PROMPTS[0]
    assert int(first.facets["left_words"]) == len(SYSTEMS[first.facets["left_system"]].split()) + 4
    # Nothing that a rater is shown says who wrote what.
    shown = f"{first.name} {first.title} {said}"
    assert not any(system in shown for system in SYSTEMS)


def test_sides_and_order_are_drawn_by_a_seed_and_each_study_draws_its_own(texts: Study, mara: User) -> None:
    def drawn(slug: str, **settings: list[str]) -> list[tuple[str, str]]:
        return [
            (row.facets["left_system"], row.facets["right_system"])
            for row in rows_of(paired(texts, mara, slug, **settings))
        ]

    assert drawn("one", seed=["a"]) == drawn("two", seed=["a"])
    assert drawn("three") != drawn("four")


@pytest.mark.parametrize(
    ("settings", "n"), [({"beside": ["beta-2"]}, 24), ({"pairs": ["1"]}, 12), ({"pairs": ["2"]}, 24)]
)
def test_fewer_pairs_can_be_made(texts: Study, mara: User, settings: dict[str, list[str]], n: int) -> None:
    rows = rows_of(paired(texts, mara, **settings))
    assert len(rows) == n
    if "beside" in settings:
        assert all("beta-2" in (row.facets["left_system"], row.facets["right_system"]) for row in rows)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"beside": ["nobody"]}, "Nothing here was written by “nobody”. There are: alpha-1, beta-2, gamma-3."),
        ({"pairs": ["0"]}, "“0” is no number of pairs."),
        ({"same": ["system"]}, "another one that says what for"),
        ({"who": ["prompt"], "same": ["system"]}, "No two systems"),
        ({"who": ["colour"]}, "is none of"),
    ],
)
def test_what_cannot_be_paired_is_said(texts: Study, mara: User, settings: dict[str, list[str]], sentence: str) -> None:
    if sentence == "No two systems":  # each text would be a system of its own, and no item has two
        settings = {**settings, "who": ["prompt"], "same": ["sheet"], "asked": ["none"]}
        Row.objects.filter(sheet__study=texts).exclude(name="1-1").delete()
    with pytest.raises(Refused, match=sentence):
        paired(texts, mara, **settings)
    assert not Study.objects.filter(slug="pairs").exists()


def test_a_scheme_that_shows_who_wrote_is_refused(texts: Study) -> None:
    text = doors.shipped_schemes()["text-pairs"].read_text(encoding="utf-8")
    with pytest.raises(SchemeError, match="must not see who wrote"):
        load_scheme(text.replace("title: Left by, hidden: true", "title: Left by"))


@pytest.mark.parametrize(
    ("was", "now", "sentence"),
    [
        ("systems: [left_system, right", "systems: [leftsystem, right", "facet “leftsystem”, which the row has not"),
        ("question: better.preference", "question: better.reason", "which is no choice"),
        ("question: better.preference", "question: worse.preference", "which is no choice"),
        ("options: [left, right]", "options: [left, up]", "the option “up”"),
        ("options: [left, right]", "options: [left, left]", "names “left” twice"),
        ("item: item", "item: left_system", "names “left_system” twice"),
    ],
)
def test_what_a_comparison_names_has_to_be_there(was: str, now: str, sentence: str) -> None:
    text = doors.shipped_schemes()["text-pairs"].read_text(encoding="utf-8")
    assert was in text
    with pytest.raises(SchemeError, match=sentence):
        load_scheme(text.replace(was, now))


def test_the_report_says_which_system_is_preferred(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"])
    for name in ("anna", "boris"):
        judge(study, name, the_longer)

    found = tables(study)

    order = lines(found["better.preference.order"])
    assert [(line["system"], line["rank"], line["preferred"]) for line in order] == [
        ("gamma-3", 1, 1.0), ("beta-2", 2, 0.5), ("alpha-1", 3, 0.0),
    ]  # fmt: skip
    assert [line["n"] for line in order] == [48, 48, 48]  # two pairs of twelve items, two people
    assert order[0]["strength"] == pytest.approx(-order[2]["strength"])
    beside = lines(found["better.preference.systems"])
    assert [(line["first"], line["second"], line["probability"], line["n"], line["items"]) for line in beside] == [
        ("alpha-1", "beta-2", 0.0, 24, 12), ("alpha-1", "gamma-3", 0.0, 24, 12), ("beta-2", "gamma-3", 0.0, 24, 12),
    ]  # fmt: skip
    left, longer = lines(found["better.preference.place-and-length"])
    assert left["share"] == 0.5  # whichever was drawn left more often
    assert longer["share"] == 1.0
    assert "better.preference.orders-alike" not in found  # no judge
    said = answers_of(report(study)).told[0]
    assert said.title == "Which system is preferred?"
    assert said.sentences[0].text.startswith("People: “gamma-3” is preferred in 100.0 %")


def test_a_judge_that_likes_the_left_is_told_so_and_its_order_is_held_against_peoples(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"])
    judge(study, "anna", the_longer)
    choose(study, "lefty", "left")

    found = tables(study)

    [alike] = lines(found["better.preference.orders-alike"])
    assert alike["by"] == "lefty"
    assert alike["n"] <= 3
    place = {(line["by"], line["prefers"]): line for line in lines(found["better.preference.place-and-length"])}
    assert place["lefty", "the left text to the right one"]["share"] == 1.0
    told = [sentence.text for sentence in answers_of(report(study)).told[0].sentences if sentence.warns]
    assert "The judge “lefty” always prefers the left text, whoever wrote it" in told[-1]
    # Its order is chance, and no sentence holds it against that of people.
    assert not any("puts" in sentence.text for sentence in answers_of(report(study)).told[0].sentences)
    assert not any("The group of people" in text for text in told)


def test_systems_that_no_comparison_connects_have_no_common_order(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"], beside=["beta-2"])
    judge(study, "anna", the_longer)
    apart = {"left_system": "x", "right_system": "y"}
    Row.objects.filter(sheet__study=study, facets__left_system="alpha-1").update(facets=apart)
    Row.objects.filter(sheet__study=study, facets__right_system="alpha-1").update(facets=apart)
    order = lines(tables(study)["better.preference.order"])
    assert {line["system"] for line in order} == {"x", "y", "beta-2", "gamma-3"}
    assert all(line["strength"] is None and line["because"] for line in order)


def test_of_few_draws_there_are_intervals_by_items(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"])
    judge(study, "anna", lambda left, right, row: the_longer(left, right, row) if row.pk % 3 else left)
    order = lines(tables(study, by="document", n_draws=200)["better.preference.order"])
    for line in order:
        assert line["strength_low"] <= line["strength"] <= line["strength_high"]
        assert line["rank_low"] <= line["rank"] <= line["rank_high"]
        assert line["preferred_low"] <= line["preferred"] <= line["preferred_high"]


def test_models_texts_for_a_row_are_paired_too(mara: User) -> None:
    scheme = load_scheme(doors.shipped_schemes()["text-pairs"].read_text(encoding="utf-8"))
    source = Source(
        scheme=load_scheme(builders.SCHEME),
        sheets=[
            SourceSheet(
                "Names",
                [],
                [
                    SourceRow(
                        number=7,
                        name="soup",
                        title="Soup",
                        url="",
                        language="",
                        evidence=[],
                        facets={},
                        texts=[
                            SourceText(1, "Old.", "a/model", "general", "stop"),
                            SourceText(2, "Boil it.\n\nEat it.", "a/model", "general", "stop"),
                            SourceText(3, "Cook.", "other", "general", "stop"),
                            SourceText(4, "  ", "silent", "general", "stop"),
                        ],
                    )
                ],
            )
        ],
    )
    [sheet] = pairs.of_written(source, scheme, {"seed": ["1"]})
    [row] = sheet.rows
    said = [block.text for block in row.evidence]
    assert said[0] == "Soup"
    assert {"Boil it.", "\nEat it.", "Cook."} <= set(said)  # with the empty line between
    assert "Old." not in said  # a model's last text counts
    assert {row.facets["left_system"], row.facets["right_system"]} == {"a/model", "other"}
    assert row.of == 7


def test_who_labels_is_told_nothing_of_who_wrote(texts: Study, mara: User, api_of: ApiOf) -> None:
    study = paired(texts, mara, seed=["a"])
    anna = builders.user("anna")
    builders.assignments(builders.rater(study, anna), study.sheets.get())
    row = rows_of(study)[0]
    pages = [f"/api/v1/studies/{study.slug}/", f"/api/v1/rows/{row.pk}/", f"/api/v1/sheets/{row.sheet_id}/"]
    told = [api_of(anna).get(page) for page in pages]
    assert [answer.status_code for answer in told] == [200] * 3
    assert not any(system in answer.content.decode() for system in SYSTEMS for answer in told)


def test_the_two_texts_stand_in_columns_of_their_own_and_words_are_found_in_them(
    texts: Study, mara: User, client_of: ClientOf
) -> None:
    study = paired(texts, mara, seed=["a"])
    anna = builders.user("anna")
    work = builders.assignments(builders.rater(study, anna), study.sheets.get())[0]
    client = client_of(anna)
    page = client.get(f"/assignments/{work.pk}/evidence/").content.decode()
    assert page.count("<section>") == 2
    assert page.index(">Left</h3>") < page.index(">Right</h3>")
    # A block a number, in the order of the row: marks go by it.
    assert page.count("data-b") == len(work.row.blocks)
    assert "data-beside" in client.get(f"/sheets/{work.row.sheet_id}/").content.decode()


def test_a_scheme_without_kinds_of_its_own_has_headings_and_judges_see_both_orders(texts: Study, mara: User) -> None:
    text = doors.shipped_schemes()["text-pairs"].read_text(encoding="utf-8")
    begin, end = text.index("blocks:"), text.index("row:\n  facets:")
    scheme = builders.scheme((text[:begin] + text[end:]).replace("key: text-pairs", "key: headed"))
    study = derive_study(
        source=texts, deriver="text-pairs", scheme=scheme, slug="headed", title="Headed", settings=OF_PROMPTS, by=mara
    )  # fmt: skip
    blocks = rows_of(study)[0].blocks
    assert [block.text for block in blocks if block.kind == "heading"] == ["What was asked", "Left", "Right"]
    found = beside(blocks, study.scheme.parsed.sides)
    assert found is not None
    assert [side.blocks[0].text for side in found.sides] == ["Left", "Right"]
    question = study.scheme.parsed.section("better").question("preference")
    for documents in ([row.blocks for row in rows_of(study)], [row.blocks for row in rows_of(paired(texts, mara))]):
        candidates = detected(documents, {"better.preference": question})
        assert candidates is not None
        assert [name.casefold() for name in candidates.names] == ["left", "right"]


def test_a_table_has_pairs_too(mara: User) -> None:
    study = builders.study("pairs", of=scheme_of("text-pairs"), by=mara)
    rows = "row,item,left_system,right_system,evidence_prompt,evidence_left,evidence_right\n" + "".join(
        f"{n},item {n},one,two,Why {n}?,Because {n}.,Since {n}.\n" for n in range(1, 4)
    )
    import_rows(study=study, rows=table(rows))
    judge(study, "anna", lambda left, right, row: "one")
    [one, two] = lines(tables(study)["better.preference.order"])
    assert (one["system"], one["preferred"], two["preferred"]) == ("one", 1.0, 0.0)
    place = lines(tables(study)["better.preference.place-and-length"])
    assert [line["prefers"] for line in place] == ["the left text to the right one"]  # nobody knows how long they are


def test_a_frozen_comparison_computes_to_the_same_bytes(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"])
    judge(study, "anna", the_longer)
    frozen = freeze(study=study, title="As it is", filters=Filters(by="document", n_draws=50), by=mara)
    assert recompute(frozen).equal


def paired_of(texts: str, mara: User, **settings: list[str]) -> Study:
    """The pairs that are made of a table of texts."""
    study = builders.study("table", of=scheme_of("system-texts"), by=mara)
    import_rows(study=study, rows=table(texts))
    return paired(study, mara, "of-table", seed=["a"], **settings)


def derived(texts: str, mara: User, **settings: list[str]) -> list[Row]:
    return rows_of(paired_of(texts, mara, **settings))


def test_an_empty_text_is_a_text_and_two_of_them_are_no_pair(mara: User) -> None:
    rows = derived(
        "row,prompt,system,text\n"
        "1a,Why?,one,So.\n1b,Why?,two,\n1c,Why?,three,\n"
        "2a,How?,one,Thus.\n2b,How?,two,\n",
        mara,
    )  # fmt: skip
    assert len(rows) == 3  # of “two” and “three” there is nothing to choose between
    assert all({block.kind for block in row.blocks} == {"prompt", "left", "right"} for row in rows)
    empty = next(row for row in rows if "two" in row.facets.values() and row.facets["item"] == "Why?")
    side = "left" if empty.facets["left_system"] == "two" else "right"
    assert [block.text for block in empty.blocks if block.kind == side] == [pairs.NO_TEXT]
    assert empty.facets[f"{side}_words"] == "0"


def test_a_pair_of_a_file_with_an_empty_text_still_has_two_sides(mara: User, client_of: ClientOf) -> None:
    study = builders.study("pairs", of=scheme_of("text-pairs"), by=mara)
    file = (
        "row,item,left_system,right_system,evidence_prompt,evidence_left,evidence_right\n1,i,one,two,Why?,Because.,\n"
    )
    import_rows(study=study, rows=table(file))
    anna = builders.user("anna")
    work = builders.assignments(builders.rater(study, anna), study.sheets.get())[0]
    page = client_of(anna).get(f"/assignments/{work.pk}/evidence/").content.decode()
    assert page.count("<section>") == 2
    assert page.index(">Left</h3>") < page.index("Because.") < page.index(">Right</h3>") < page.index("is empty")


def test_what_stands_above_both_is_never_who_wrote_them(texts: Study, mara: User) -> None:
    with pytest.raises(Refused, match="must not be who wrote"):
        paired(texts, mara, asked=["system"])
    # Nor what is said of one of the two texts alone.
    rows = rows_of(paired(texts, mara, same=["sheet"], asked=["prompt"], pairs=["3"]))
    assert rows
    assert not any(block.kind == "prompt" and block.text not in PROMPTS for row in rows for block in row.blocks)


def test_a_hidden_facet_stands_in_no_title(mara: User) -> None:
    file = "row,topic,system,text\n1a,secret,one,So.\n1b,secret,two,Thus.\n"
    [row] = derived(file, mara, same=["topic"], asked=["none"])
    assert "secret" not in f"{row.title} {row.name} {[block.text for block in row.blocks]}"
    assert row.facets["topic"] == "secret"  # what is said of both goes along, for reports


def test_texts_that_do_not_say_what_for_are_no_pairs(mara: User) -> None:
    file = "row,prompt,system,text\n1a,,one,So.\n1b,,two,Thus.\n2a,Why?,one,So.\n2b,Why?,two,Thus.\n"
    [row] = derived(file, mara)
    assert row.facets["item"] == "Why?"


def test_a_prompt_of_several_lines_keeps_them(mara: User) -> None:
    code = '"Mend this:\ndef f():\n    pass"'
    file = f"row,prompt,asked,system,text\n1a,mend,{code},one,So.\n1b,mend,{code},two,Thus.\n"
    [row] = derived(file, mara)
    assert [block.text for block in row.blocks if block.kind == "prompt"] == ["Mend this:", "def f():", "    pass"]
    assert [block.text for block in row.blocks if block.kind != "prompt"] in (["So.", "Thus."], ["Thus.", "So."])


def test_items_that_nobody_has_come_to_make_no_interval(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"])
    person = builders.rater(study, builders.user("anna"))
    works = builders.assignments(person, study.sheets.get())
    for work in works[: 3 * 4]:  # four of the twelve prompts
        builders.label(work, {(study.sheets.get().columns.get().name, "preference"): "left"})
        annotating.submit(assignment=work)
    found = report(study, by="document", n_draws=100)
    assert found.comparison is not None
    assert found.comparison.n_items == 4
    order = lines(tables(study, by="document", n_draws=100)["better.preference.order"])
    assert {line["strength_low"] for line in order} == {line["rank_low"] for line in order} == {None}


def test_without_a_common_order_no_order_is_held_against_peoples(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"], beside=["beta-2"])
    judge(study, "anna", the_longer)
    choose(study, "robot", "left")
    assert "better.preference.orders-alike" in tables(study)
    apart = {"left_system": "x", "right_system": "y"}
    Row.objects.filter(sheet__study=study, facets__left_system="alpha-1").update(facets=apart)
    Row.objects.filter(sheet__study=study, facets__right_system="alpha-1").update(facets=apart)
    assert "better.preference.orders-alike" not in tables(study)
    assert not any("same order" in sentence.text for sentence in answers_of(report(study)).told[0].sentences)


def test_the_first_page_of_a_study_of_texts_says_that_pairs_can_be_made(
    texts: Study, mara: User, client_of: ClientOf
) -> None:
    page = f"/studies/{texts.slug}/"
    step = '<a href="/studies/answers/derive/?deriver=text-pairs">Two texts side by side</a>'
    assert client_of(mara).get(page).content.decode().count(step) == 1
    made = paired(texts, mara)
    assert step not in client_of(mara).get(f"/studies/{made.slug}/").content.decode()
    assert [one.done for one in setup.steps(texts) if one.step.url_name == "annotation:derive"] == [True]


def test_open_cells_are_no_judgements_and_those_of_a_withdrawn_row_stay(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"])
    judge(study, "anna", the_longer)
    builders.assignments(builders.rater(study, builders.user("boris")), study.sheets.get())
    annotating.withdraw_row(row=rows_of(study)[-1], reason="broken", by=mara)
    order = lines(tables(study)["better.preference.order"])
    assert sum(line["n"] for line in order) == 2 * 36  # of each pair two systems have one
    recomputed = recompute(freeze(study=study, title="Then", filters=Filters(by="document", n_draws=50), by=mara))
    assert recomputed.equal


def test_of_several_columns_all_judgements_count_and_the_table_says_so(mara: User) -> None:
    text = doors.shipped_schemes()["text-pairs"].read_text(encoding="utf-8").replace("key: text-pairs", "key: criteria")
    title = "    title: Which is better?\n"
    text = text.replace(title, f"{title}    column: {{facets: [criterion]}}\n")
    study = builders.study("criteria", of=builders.scheme(text), by=mara)
    heads = "row,item,left_system,right_system,evidence_left,evidence_right\n"
    rows = "".join(f"{n},item {n},one,two,Because {n}.,Since {n}.\n" for n in range(1, 4))
    import_rows(study=study, rows=table(heads + rows), columns=table("section,criterion\nbetter,true\nbetter,short\n"))
    anna = builders.rater(study, builders.user("anna"))
    for work in builders.assignments(anna, study.sheets.get()):
        builders.label(work, {("true", "preference"): "left", ("short", "preference"): "right"})
        annotating.submit(assignment=work)
    found = tables(study)["better.preference.order"]
    assert [(line["preferred"], line["n"], line["items"]) for line in lines(found)] == [(0.5, 6, 3)] * 2
    assert "once a column" in found.how


def test_the_order_of_one_topic_is_that_of_its_pairs(mara: User) -> None:
    file = "row,prompt,topic,system,text\n" + "".join(
        f"{n}{side},Why {n}?,{'tea' if n < 5 else 'rice'},{system},Since {n}.\n"
        for n in range(1, 8)
        for side, system in (("a", "one"), ("b", "two"))
    )
    study = paired_of(file, mara)
    judge(study, "anna", lambda left, right, row: "one" if row.facets["topic"] == "tea" else "two")

    def best(**filters: Any) -> tuple[str, float, int]:
        first = lines(tables(study, **filters)["better.preference.order"])[0]
        return first["system"], first["preferred"], first["items"]

    assert best(facets={"topic": ("tea",)}) == ("one", 1.0, 4)
    assert best(facets={"topic": ("rice",)}) == ("two", 1.0, 3)
    assert best() == ("one", pytest.approx(4 / 7), 7)


def test_two_judges_compared_have_a_line_with_both_values(texts: Study, mara: User, api_of: ApiOf) -> None:
    study = paired(texts, mara, seed=["a"])
    judge(study, "anna", the_longer)
    for name, option in (("lefty", "left"), ("righty", "right")):
        choose(study, name, option)
        freeze(study=study, title=name, filters=Filters(judges=(name,), n_draws=0), by=mara)
    first, second = study.reports.order_by("pk").values_list("pk", flat=True)
    moves = api_of(mara).get(f"/api/v1/studies/pairs/reports/{first}/compared/{second}/").json()["moves"]
    order = [move for move in moves if move["table"] == "better.preference.order" and move["number"] == "preferred"]
    assert [move["row"].split(" | ")[0] for move in order] == ["the judge"] * 3
    assert all(move["only_in"] == "" and move["difference"] for move in order)


def test_a_judge_by_two_normalisations_is_compared_with_itself(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"])
    choose(study, "lefty", "left")
    contents, filters = contents_of(report(study)), Filters(judges=("lefty",))
    anew = replace(filters, normalisations={"lefty": "character"})
    for one in same_judge((contents, filters), (contents, anew)):
        [order] = [of for of in one.tables if of.key == "better.preference.order"]
        assert {line["by"] for line in lines(order)} == {"the judge"}
    assert same_judge((contents, filters), (contents, filters)) == (contents, contents)
    assert [named_judge(filters), named_judge(anew)] == ["lefty", "lefty (character)"]


def test_rows_of_the_same_number_on_two_sheets_are_two_items() -> None:
    scheme = load_scheme(doors.shipped_schemes()["text-pairs"].read_text(encoding="utf-8"))
    written = [
        SourceText(1, "Boil it.", "a/model", "general", "stop"),
        SourceText(2, "Fry it.", "other", "general", "stop"),
    ]

    def sheet(title: str, *names: str) -> SourceSheet:
        rows = [
            SourceRow(number, name, "", "", "", evidence=[], facets={}, texts=written)
            for number, name in enumerate(names)
        ]
        return SourceSheet(title, [], rows)

    source = Source(load_scheme(builders.SCHEME), [sheet("Soups", "1", "2"), sheet("Stews", "1")])
    made = [row for of in pairs.of_written(source, scheme, {"seed": ["1"]}) for row in of.rows]
    assert [row.facets["item"] for row in made] == ["Soups · 1", "2", "Stews · 1"]
    assert [row.evidence[0].text for row in made] == ["1", "2", "1"]  # what is shown stays


def test_of_systems_that_have_nothing_between_them_none_is_first(texts: Study, mara: User) -> None:
    study = paired(texts, mara, seed=["a"])
    judge(study, "anna", lambda left, right, row: "")
    said = [sentence.text for sentence in answers_of(report(study, by="document", n_draws=50)).told[0].sentences]
    assert said[0].startswith("People: “alpha-1” is preferred in 50.0 %")
    assert not any("is first" in text for text in said)


def test_who_chooses_by_the_text_where_sides_never_changed_does_not_always_choose_the_left(mara: User) -> None:
    """Of “one” and “two” the left text is chosen, whoever wrote it; “three” always stood right, and is chosen."""
    study = builders.study("pairs", of=scheme_of("text-pairs"), by=mara)
    sides = [("one", "two"), ("two", "one")] * 4 + [("one", "three")] * 4
    rows = "row,item,left_system,right_system,evidence_left,evidence_right\n" + "".join(
        f"{n},item {n},{left},{right},Because {n}.,Since {n}.\n" for n, (left, right) in enumerate(sides, start=1)
    )
    import_rows(study=study, rows=table(rows))
    judge(study, "anna", lambda left, right, row: right if right == "three" else left)
    place, *_longer = lines(tables(study)["better.preference.place-and-length"])
    assert place["share"] == 1.0  # as far as sides tell
    assert not any("always prefers" in sentence.text for sentence in answers_of(report(study)).told[0].sentences)


def test_the_demo_has_a_study_of_pairs_that_people_and_a_judge_compare(client_of: ClientOf) -> None:
    study = demo_study.build()
    assert demo_study.build() == study
    assert study.derived_from is not None
    assert study.derived_from.slug == demo_study.TEXTS
    assert [len(rows_of(study)), study.sheets.count()] == [36, 3]
    assert "" in {line.strip() for line in "\n".join(block.text for block in rows_of(study)[0].blocks).splitlines()}
    order = lines(tables(study)["better.preference.order"])
    assert [(line["by"], line["system"]) for line in order] == [
        ("People", "aster-large"), ("People", "cedar-chat"), ("People", "birch-mini"),
    ]  # fmt: skip
    assert study.runs.get().judge.name == demo_study.JUDGE
    page = client_of(User.objects.get(username="annotator")).get("/work/")
    assert "Mails" in page.content.decode()
    assert doors.demos()[-1] is demo_study.DEMO  # its judge works behind those of the first demo
