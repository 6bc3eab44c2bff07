"""The first page of a report: what it says of who agrees, and of whether a judge may stand in for a person."""

from __future__ import annotations

import csv
import re
import uuid
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any

import krippendorff
import pytest
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from sklearn.metrics import cohen_kappa_score

from annotation import actions
from annotation.models import Assignment, Label, Rater, Row, Study
from reports import doors, glossary, paragraphs, queries, sentences
from reports.actions import freeze
from reports.answer_figures import answer_figures
from reports.answers import Answers, answers_of
from reports.contents import contents_from, contents_of
from reports.data.arrays import Filters
from reports.digests import study_digest
from reports.exports.figures import figure_csv
from reports.figures.svg import draw
from reports.live import Live
from reports.tables.base import ReportTable, Value
from reports.tables.overview import overview
from reports.views import comparing
from tests import builders
from tests.builders import ClientOf
from tests.reports import studies
from tests.reports.studies import answered, gold, judge, rater, say, sheet

pytestmark = pytest.mark.once


def made(study: Study, **filters: Any) -> Answers:
    return answers_of(studies.report(study, **filters))


def one_sheet(study: Study, people: dict[str, list[str]], judged: list[str]) -> None:
    soup = sheet(study, items=len(judged[0]), rows=len(judged))
    for code, rows in people.items():
        answered(rater(study, code), soup, rows)
    answered(judge(study), soup, judged)


def said(of: Answers) -> str:
    return " ".join(each.text for each in [*sentences.about_people(of, "letters"), *sentences.about_judges(of)])


FOUR = "ffnaffnaffna"  # 12 cells a row; ten rows are the documents that the test of a judge asks for


def test_two_people_are_never_enough_for_a_judge_to_pass(study: Study) -> None:
    one_sheet(study, {"A1": [FOUR] * 3, "A2": [FOUR] * 3}, [FOUR] * 3)
    text = said(made(study))

    assert "cannot be said: not enough annotators" in text
    assert "may stand in for a person on “Items”:" not in text
    assert made(study).questions[0].judges[0].verdict == "not-enough"


def test_judges_that_the_test_says_nothing_of_for_one_reason_share_a_sentence(study: Study) -> None:
    one_sheet(study, {"A1": [FOUR] * 10, "A2": [FOUR] * 10}, [FOUR] * 10)
    answered(judge(study, "J2"), study.sheets.get(), [FOUR] * 10)
    told = [each.text for each in sentences.about_judges(made(study)) if "“Items”" in each.text and each.warns]

    assert told == [
        "Whether any of “J1”, “J2” may stand in for a person on “Items” cannot be said: not enough annotators: the "
        "test needs three with enough cells."
    ]


def test_a_judge_that_answers_as_three_people_do_may_stand_in_and_one_that_does_not_may_not(study: Study) -> None:
    people = {"A1": [FOUR] * 10, "A2": [FOUR] * 10, "A3": [FOUR] * 10}
    one_sheet(study, people, [FOUR] * 10)
    assert "“J1” may stand in for a person on “Items”" in said(made(study))

    other = studies.study("others")
    one_sheet(other, people, ["a" * 12] * 10)
    assert "“J1” may not stand in for a person on “Items”" in said(made(other))


def test_a_judge_that_always_says_the_same_passes_by_the_test_alone_where_people_hardly_agree(study: Study) -> None:
    people = {"A1": ["ffn" * 4] * 10, "A2": ["fnf" * 4] * 10, "A3": ["nff" * 4] * 10}
    one_sheet(study, people, ["f" * 12] * 10)
    tile = sentences.tiles(made(study))[2]

    assert "“J1” may stand in for a person on “Items”" in said(made(study))
    assert tile.value == "By the test alone"
    assert "but always answering the most frequent option does as well" in tile.under


def test_many_people_are_held_against_one_another_since_one_of_many_agrees_with_anything(study: Study) -> None:
    # Five people; in each row's two cells one of them, another each time, says “a” where the others say “f”.
    people = {f"A{n}": ["fa" if n == row else "ff" for row in range(5)] * 2 for n in range(5)}
    one_sheet(study, people, ["fa"] * 10)
    [judge] = made(study).questions[0].judges

    # First cells: everybody agrees. Second cells: the one finds none of 4 others alike, each of the four 3 of 4, so
    # (4 * 3/4) / 5 = 0.6; the judge finds the one alone, for four of five people: (4 * 1/4 + 0) / 5 = 0.2.
    assert judge.n_others == 4
    assert judge.ceiling == pytest.approx((1 + 0.6) / 2)
    assert judge.beside_ceiling == pytest.approx((1 + 0.2) / 2)
    tiles = sentences.tiles(made(study))
    assert tiles[1].value == "80.0 %"
    assert "the judge “J1”, which comes nearest, in 60.0 %; " in tiles[1].under
    assert "one of many agrees with nearly any answer" in said(made(study))
    table = next(t for t in contents_of(studies.report(study)).tables if t.key.endswith("judge-figures"))
    heads = [head.key for head in table.heads]
    assert table.rows[0][heads.index("ceiling_each")] == pytest.approx(0.8)
    assert table.rows[0][heads.index("ceiling_judge_each")] == pytest.approx(0.6)


def test_the_judge_s_figure_says_what_it_rests_on_and_what_the_baseline_is_there(study: Study) -> None:
    # Two people share nine rows; in ten more rows one person and the judge say nothing of the ceiling.
    people = {"A1": ["ffn"] * 19, "A2": ["ffn"] * 9 + ["..."] * 10}
    one_sheet(study, {"A1": people["A1"], "A2": people["A2"]}, ["fff"] * 19)
    few = made(study, by="document")
    [judge] = few.questions[0].judges
    assert (judge.n_cells, judge.n_documents) == (27, 9)
    assert judge.baseline_beside == pytest.approx(2 / 3)
    rests_on = (
        "27 cells of 9 documents; majority-class baseline there 66.7 %; no interval: too little data to draw from"
    )
    assert sentences.tiles(few)[1].under.endswith(f"in 66.7 %; {rests_on}")
    assert f"Both are of the cells that it and two people have answered: {rests_on}." in said(few)
    no_better = "On “Items” “J1” is no better than always answering the most frequent option (66.7 % beside 66.7 %;"
    assert no_better in said(few)
    assert rests_on in paragraphs.results(few, "letters")

    other = studies.study("others")
    one_sheet(other, {"A1": ["ffn", "fnn"] * 10, "A2": ["ffn"] * 20}, ["fff", "ffn"] * 10)
    many = made(other, by="document")
    [judge] = many.questions[0].judges
    assert judge.beside_person.low is not None
    assert judge.beside_person.low < 0.75 < (judge.beside_person.high or 0)  # (2/3 + 5/6) / 2
    assert re.search(r"in 75.0 % \[[\d.]+, [\d.]+\]; 60 cells of 20 documents; ", sentences.tiles(many)[1].under)
    assert any(low is not None for low in answer_figures(many)[1].data["series"][1]["low"])


def test_the_third_tile_says_whether_a_judge_may_replace_a_person(study: Study) -> None:
    people = {"A1": [FOUR] * 10, "A2": [FOUR] * 10, "A3": [FOUR] * 10}
    one_sheet(study, people, [FOUR] * 10)
    assert sentences.tiles(made(study))[2].value == "Yes"

    other = studies.study("others")
    one_sheet(other, people, ["a" * 12] * 10)
    assert sentences.tiles(made(other))[2].value == "No"

    few = studies.study("few")
    one_sheet(few, {"A1": [FOUR] * 3, "A2": [FOUR] * 3}, [FOUR] * 3)
    tile = sentences.tiles(made(few))[2]
    assert (tile.value, tile.under) == (
        "Cannot be said",
        "the judge “J1” comes nearest: not enough annotators: the test needs three with enough cells in ten documents "
        "or more",
    )


def test_agreement_has_its_level_its_interval_and_what_was_published(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = doors.Published("items.presence", kappa=0.1, accuracy=0.2, source="They")
    monkeypatch.setitem(doors._published, "letters", (published,))
    one_sheet(study, {"A1": [FOUR] * 12, "A2": [*["ffnaffnaffnf"] * 11, FOUR]}, [FOUR] * 12)
    of = made(study, by="document", n_draws=200)
    text = said(of)

    # 133 of 144 cells alike; by chance (f 72 × 83 + n 36 × 36 + a 36 × 25) / 144 = 56.75;
    # (133 - 56.75) / (144 - 56.75) = 0.874
    assert re.search(
        r"Agreement between people is almost perfect: Cohen’s κ = 0\.87 \[0\.8\d, 0\.\d\d\] \(1 recipe-pair\)\.", text
    )
    assert "Published κ of “Items” (They): 0.10; here it is 0.87" in text
    assert "higher, and the interval does not hold it" in text
    assert (
        "Published share of cells in which two people agree (A_h) on “Items” (They): 20.0 %; here it is 92.4 %" in text
    )


def test_where_every_resample_is_the_same_there_is_no_interval(study: Study) -> None:
    """One of nothing wide would say that nothing can vary."""
    one_sheet(study, {"A1": [FOUR] * 12, "A2": ["ffnaffnaffnf"] * 12}, [FOUR] * 12)
    of = made(study, by="document", n_draws=200)
    text = said(of)
    assert "Agreement between people is almost perfect: Cohen’s κ = 0.86 (1 recipe-pair)." in text
    assert "No interval, since every resample gives the same value: Items." in text
    paper = paragraphs.results(of, "letters")
    assert "A_m = 100.0 %;" in paper
    # A frozen report of the methods before has the intervals of its day, wherever it is computed.
    before = made(study, by="document", n_draws=200, methods=9).questions[0].agreement
    assert before.low == before.high == pytest.approx(before.value)


def test_what_reads_as_the_published_number_is_not_called_higher(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    published = doors.Published("items.presence", kappa=None, accuracy=0.916, source="They")
    monkeypatch.setitem(doors._published, "letters", (published,))
    one_sheet(study, {"A1": [FOUR] * 12, "A2": ["ffnaffnaffnf"] * 12}, [FOUR] * 12)
    assert "here it is 91.7 %: higher." in said(made(study))

    monkeypatch.setitem(doors._published, "letters", (replace(published, accuracy=0.917),))
    assert "here it is 91.7 %: the same." in said(made(study))


def test_too_few_documents_are_said_instead_of_an_interval(study: Study) -> None:
    one_sheet(study, {"A1": [FOUR] * 3, "A2": [FOUR[::-1]] * 3}, [FOUR] * 3)

    assert "Without an interval, since there is too little data to draw from: Items." in said(
        made(study, by="document", n_draws=100)
    )


def test_what_is_not_defined_is_said_with_its_reason(study: Study) -> None:
    soup = sheet(study, items=2)
    answered(rater(study, "A1"), soup, ["fn"])

    assert "How far people agree cannot be said: no cell was answered by two people." in said(made(study))
    assert [tile.value for tile in sentences.tiles(made(study))] == ["Cannot be said"] * 3


def test_the_paragraphs_name_the_numbers(study: Study) -> None:
    one_sheet(study, {"A1": [FOUR] * 3, "A2": [FOUR] * 3, "A3": [FOUR] * 3}, [FOUR] * 3)
    of = made(study)
    methods = paragraphs.methods(of, study.scheme.parsed.words)
    results = paragraphs.results(of, "letters")

    assert methods.startswith(
        "3 annotators labelled 3 documents in 1 recipe. 3 documents were labelled by two or more."
    )
    assert "bootstrap" not in methods  # none were drawn
    assert (
        "On “Items” annotators reached κ = 1.00 (almost perfect agreement by Landis and Koch, 1977); A_h = 100.0 %"
        in results
    )
    assert "J1 on “Items”: A_m = 100.0 %; human ceiling 100.0 %" in results


def test_what_nobody_has_labelled_is_not_called_labelled(study: Study) -> None:
    """Of three documents two have a person's label, one of them two people's; the judge has labelled all. What follows
    from a column, and what was given and not begun, is no label."""
    soup = sheet(study, items=4, tools=["", "knife"], rows=3)
    for code, rows in {"A1": ["ffna", "ffna", "...."], "A2": ["ffna", "....", "...."]}.items():
        answered(rater(study, code), soup, rows)
    answered(judge(study), soup, ["ffna"] * 3)
    answered(rater(study, "A3"), soup, ["...."] * 3)
    sheet(study, "Nobody's", items=1)

    methods = paragraphs.methods(made(study), study.scheme.parsed.words)
    assert methods.startswith("2 annotators labelled 2 documents in 1 recipe. 1 document was labelled by two or more.")


def test_a_judge_is_told_of_in_questions_alone_that_it_was_asked(study: Study) -> None:
    """J1 has answered presence and nothing about the tasks, where a tool follows from its column; J2 nothing at all."""
    soup = sheet(study, items=2, tools=["", "knife"], rows=3)
    for code in ("A1", "A2"):
        for assignment in answered(rater(study, code), soup, ["fn"] * 3):
            say(assignment, {("task 1", "task"): "f", ("task 2 · knife", "task"): "f"})
    answered(judge(study), soup, ["fn"] * 3)
    answered(judge(study, "J2"), soup, [".."] * 3)

    def judges(**filters: Any) -> dict[str, list[str]]:
        lines = made(study, **filters).lines
        return {line.key: [of.code for of in line.judges] for line in lines if not line.is_mean}

    now = judges()
    assert now["items.presence"] == ["J1", "J2"]
    assert now["tasks.task"] == now["tasks.tool"] == now["tasks.level"] == ["J2"]
    assert set(map(tuple, judges(methods=5).values())) == {("J1", "J2")}


@pytest.mark.once
def test_the_figures_are_drawn_and_are_data(study: Study) -> None:
    one_sheet(study, {"A1": [FOUR] * 10, "A2": [FOUR] * 10, "A3": [FOUR] * 10}, [FOUR] * 10)
    figures = answer_figures(made(study))

    assert [figure.key for figure in figures] == ["answers.agreement", "answers.ceiling", "answers.alternative"]
    assert b"<svg" in draw(figures[1])
    assert "Items,a person: the human ceiling,1.0,," in figure_csv(figures[1])
    assert "Items,J1,1.0,," in figure_csv(figures[1])


# --- what is kept, and for how long -----------------------------------------------------------------------------------


def labelled(study: Study) -> Assignment:
    soup = sheet(study, items=3, rows=2)
    first = rater(study, "A1")
    answered(first, soup, ["ffn", "fff"])
    answered(rater(study, "A2"), soup, ["ffa", "ffa"])
    answered(judge(study), soup, ["fan", "fan"])
    return Assignment.objects.filter(rater=first).earliest("pk")


def change_label(study: Study, mine: Assignment) -> None:
    label = mine.labels.select_related("column", "question").earliest("pk")
    near = label.question.options.get(key="near")
    actions.record(assignment=mine, answers=[actions.Answer(label.column, label.question, near)], key=uuid.uuid4())


def clear_label(study: Study, mine: Assignment) -> None:
    label = mine.labels.select_related("column", "question").earliest("pk")
    actions.record(assignment=mine, answers=[actions.Answer(label.column, label.question, None)], key=uuid.uuid4())


def swap_labels(study: Study, mine: Assignment) -> None:
    """Two labels change places: no count and no sum of options moves."""
    change = {label.pk: label for label in mine.labels.select_related("column", "question", "option")}
    found, near = [next(label for label in change.values() if label.option.key == key) for key in ("found", "near")]
    for label, other in ((found, near), (near, found)):
        answer = actions.Answer(label.column, label.question, other.option)
        actions.record(assignment=mine, answers=[answer], key=uuid.uuid4())


def expose(study: Study, mine: Assignment) -> None:
    Label.objects.filter(assignment=mine).update(exposed=True)


def skip(study: Study, mine: Assignment) -> None:
    label = mine.labels.select_related("column", "question").earliest("pk")
    actions.record(
        assignment=mine,
        answers=[actions.Answer(label.column, label.question, None, skip="I cannot tell")],
        key=uuid.uuid4(),
    )


def add_gold(study: Study, mine: Assignment) -> None:
    answered(gold(study), mine.row.sheet, ["fff", "fff"])


def withdraw(study: Study, mine: Assignment) -> None:
    Row.objects.filter(pk=mine.row_id).update(withdrawn_at="2026-01-01T00:00:00Z")


def plan_more(study: Study, mine: Assignment) -> None:
    Assignment.objects.create(rater=rater(study, "A9"), row=mine.row)


def take_away(study: Study, mine: Assignment) -> None:
    Assignment.objects.filter(pk=mine.pk).update(state=Assignment.State.WITHDRAWN)


def rename(study: Study, mine: Assignment) -> None:
    Study.objects.filter(pk=study.pk).update(title="Another title")


@pytest.mark.parametrize(
    "change",
    [change_label, clear_label, swap_labels, expose, skip, add_gold, withdraw, plan_more, take_away, rename],
    ids=lambda change: change.__name__,
)
def test_whatever_changes_the_report_is_another_digest(study: Study, change: Any) -> None:
    mine = labelled(study)
    before = study_digest(study)
    assert study_digest(Study.objects.get(pk=study.pk)) == before
    change(study, mine)

    assert study_digest(Study.objects.get(pk=study.pk)) != before


def test_another_study_leaves_what_is_kept(study: Study) -> None:
    labelled(study)
    before = study_digest(study)
    other = studies.study("others")
    change_label(other, labelled(other))

    assert study_digest(study) == before


def test_a_report_is_kept_until_a_label_changes(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = labelled(study)
    first = Live(study).made(Filters())
    with monkeypatch.context() as patched:
        patched.setattr("reports.live.compute", lambda *_: pytest.fail("it is kept"))
        assert Live(study).made(Filters()).contents.content == first.contents.content
        assert Live(study).kept(replace(Filters(), seed=1)) is None
    change_label(study, mine)

    assert Live(study).kept(Filters()) is None
    assert Live(study).made(Filters()).contents.content != first.contents.content


# --- pages ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def client(study: Study, client_of: ClientOf) -> Client:
    caches["reports"].clear()
    user = builders.user("rene")
    actions.add_member(study=study, user=user, role=builders.Role.RESEARCHER)
    return client_of(user)


def get(client: Client, study: Study, name: str, *args: str, query: str = "", **headers: str) -> str:
    response = client.get(reverse(f"reports:{name}", args=[study.slug, *args]) + query, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_a_page_comes_without_intervals_and_fetches_itself_with_them(client: Client, study: Study) -> None:
    labelled(study)
    first = get(client, study, "report")
    fetched = get(client, study, "report", query="?by=document", **{"HX-Request": "true"})
    again = get(client, study, "report")

    assert 'hx-trigger="load"' in first
    assert "2,000 bootstrap resamples" not in first
    assert "2,000 bootstrap resamples" in fetched
    assert "2,000 bootstrap resamples" in again
    assert 'hx-trigger="load"' not in again


def test_every_table_has_a_page_and_each_address_of_the_one_page_leads_there(client: Client, study: Study) -> None:
    labelled(study)
    contents = Live(study).made(Filters(by="document")).contents
    keys = [table.key for table in contents.tables] + [figure.key for figure in contents.figures]
    assert len(keys) > 25
    for key in keys:
        response = client.get(reverse("reports:at", args=[study.slug]), {"table": key})
        assert response.status_code == 302, key
        address, _, anchor = response["Location"].partition("#")
        assert anchor == key
        assert f'id="{key}"' in client.get(address).content.decode(), key
    assert client.get(reverse("reports:at", args=[study.slug]), {"table": "nothing"}).status_code == 404


def test_a_table_is_taken_along_as_it_stands(client: Client, study: Study) -> None:
    labelled(study)
    text = get(client, study, "table", query="?table=items.presence.judges")

    assert text.splitlines()[0].startswith("\ufeffJudge,A_m,")
    assert text.splitlines()[1].startswith("J1,0.")
    address = reverse("reports:table", args=[study.slug])
    assert client.get(address, {"table": "items.presence.judges", "person": "nobody"}).status_code == 400


def test_the_table_of_the_first_page_is_sorted_by_numbers_copied_and_taken_along(client: Client, study: Study) -> None:
    labelled(study)
    page = get(client, study, "report", query="?by=document", **{"HX-Request": "true"})
    [table] = re.findall(r"<table[^>]*answers.*?</table>", page, re.DOTALL)
    of_items = next(line for line in table.split("<tr") if ">Items</a>" in line)
    figures = [float(number) for number in re.findall(r'data-number="([^"]*)"', of_items)]
    after = page.partition(table)[2].partition("<figure")[0]

    [line] = made(study).questions[:1]
    [of_judge] = line.judges
    assert figures == pytest.approx(
        [line.agreement.value, line.accuracy.value, of_judge.ceiling, of_judge.beside_ceiling]
    )
    assert "data-copy-table" in after
    assert f"{reverse('reports:table', args=[study.slug])}?table=answers.questions" in after

    heads, first, *_rest = csv.reader(get(client, study, "table", query="?table=answers.questions").splitlines())
    found = dict(zip(heads, first, strict=True))
    assert (found["\ufeffQuestion"], found["Coefficient"]) == ("Items", "Cohen’s κ")
    assert float(found["Agreement: Value"]) == pytest.approx(line.agreement.value)
    assert float(found["A_h: Value"]) == pytest.approx(line.accuracy.value)
    assert float(found["Human ceiling: Value"]) == pytest.approx(of_judge.ceiling)
    assert float(found["J1: Value"]) == pytest.approx(of_judge.beside_ceiling)
    assert float(found["A_m: Value"]) == pytest.approx(of_judge.accuracy.value)
    assert found["Cells"] == str(of_judge.n_cells)
    assert found["Replaces a person?"] == "not tested"


def test_a_frozen_report_has_the_table_of_its_answers_to_be_taken_along(client: Client, study: Study) -> None:
    labelled(study)
    frozen = freeze(study=study, title="Then", filters=Filters(), by=None)
    answered(rater(study, "A3"), study.sheets.get(), ["nnn", "nnn"])
    page = get(client, study, "frozen-answers", str(frozen.pk))
    [address] = re.findall(r'href="([^"]*table=answers\.questions)"', page)
    then, now = (client.get(at).content.decode() for at in (address, address.replace(f"frozen/{frozen.pk}/", "")))

    assert then.splitlines()[0] == now.splitlines()[0]
    assert then.splitlines()[1] != now.splitlines()[1]


def test_levels_are_told_where_a_line_has_one(client: Client, study: Study) -> None:
    soup = sheet(study, items=2)
    answered(rater(study, "A1"), soup, ["fn"])
    assert "landis-koch" not in get(client, study, "report")

    answered(rater(study, "A2"), soup, ["fn"])
    text = get(client, study, "report")
    assert "#landis-koch" in text
    assert "almost perfect" in text


def test_two_judges_stand_side_by_side_and_the_filters_are_said(client: Client, study: Study) -> None:
    labelled(study)
    soup = study.sheets.get()
    answered(judge(study, "J2"), soup, ["ffn", "ffn"])
    text = get(client, study, "compare-live", query="?a-judge=J1&b-judge=J2")

    assert "numbers are not the same" in text
    assert re.search(r"<th scope=\"row\">Judges</th><td dir=\"auto\">J1</td><td dir=\"auto\">J2 .*not the same", text)
    # As any person said, J1 is right in 3 of 6 cells and J2 in 5: their A_m stand in one line.
    assert re.search(
        r"the judge</th><td dir=\"auto\">A_m</td><td class=\"n\">0\.500</td><td class=\"n\">0\.833</td>", text
    )
    assert "the judge chose: " in text
    assert "J1 chose" not in text


def test_all_that_differs_is_taken_along_and_not_only_what_the_page_has_room_for(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page said that the API had the rest, which has no comparison of live sides."""
    monkeypatch.setattr(comparing, "_MOST_LINES", 1)
    labelled(study)
    answered(judge(study, "J2"), study.sheets.get(), ["ffn", "ffn"])
    text = get(client, study, "compare-live", query="?a-judge=J1&b-judge=J2&a-by=&b-by=")
    [address] = re.findall(r'<a href="([^"]*/compare\.csv[^"]*)"', text)
    heads, *lines = csv.reader(client.get(unescape(address)).content.decode().splitlines())
    n = int(re.findall(r"([\d,]+) of [\d,]+ numbers are not the same", text)[0].replace(",", ""))

    assert heads[0] == "\ufeffTable"
    assert len(lines) == n > text.count('<td dir="auto">A_m</td>')
    [a_m] = [dict(zip(heads, line, strict=True)) for line in lines if line[1:3] == ["the judge", "A_m"]]
    assert (float(a_m["J1: Value"]), float(a_m["J2: Value"])) == pytest.approx((0.5, 5 / 6))
    assert a_m["Difference"] == "0.3333333333"
    assert "more lines are in the downloads" in text
    assert "are in the API" not in text
    assert text.count("data-copy-table") == text.count('class="list compact sortable changes"')


def test_a_file_of_what_differs_says_what_the_page_says(client: Client, study: Study) -> None:
    """What only one side has looked like what is not defined there, and a difference of counts had a decimal point."""
    labelled(study)
    answered(judge(study, "J2"), study.sheets.get(), ["ffn", "ffn"])
    text = get(client, study, "compare-live", query="?a-person=A1&b-by=")
    [address] = re.findall(r'<a href="([^"]*/compare\.csv[^"]*)"', text)
    heads, *lines = csv.reader(client.get(unescape(address)).content.decode().splitlines())
    values = [cell for line in lines for head, cell in zip(heads, line, strict=True) if head.endswith("Value")]

    assert values.count("not in it") == text.count(">not in it<") > 0
    [filled] = [line for line in lines if line[:3] == ["At a glance", "Items", "Filled in"]]
    assert filled[heads.index("Difference")] == "6"


def test_a_file_of_what_differs_has_two_sides_that_are_understood(client: Client, study: Study) -> None:
    """It was the page in a file's name."""
    labelled(study)
    address = reverse("reports:compare-live-csv", args=[study.slug])
    refused = client.get(address, {"a-as_of": "yesterday", "b-moment": "nothing"})
    assert (refused.status_code, refused["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert [line.partition(":")[0] for line in refused.content.decode().splitlines()[1:]] == ["a-as_of", "b-moment"]
    assert client.get(address).content.decode().splitlines()[1:] == []


def test_every_statistic_of_the_agreement_leads_to_the_glossary(client: Client, study: Study) -> None:
    labelled(study)
    page = get(client, study, "question", "items.presence")
    entries = set(re.findall(r'glossary/#([\w-]+)"', page))
    glossary = get(client, study, "glossary")

    assert {"cohen-kappa", "corrected-kappa", "macro-accuracy", "percent-agreement", "krippendorff-alpha"} <= entries
    assert all(f'id="{entry}"' in glossary for entry in entries)


def test_no_kappa_stands_without_ac1_and_the_share_of_the_most_frequent_option(client: Client, study: Study) -> None:
    """Two people who nearly always say the same, of options that are nearly always the same."""
    soup = sheet(study, items=10, rows=10)
    answered(rater(study, "A1"), soup, ["f" * 10] * 9 + ["aaaaafffff"])
    answered(rater(study, "A2"), soup, ["f" * 9 + "a"] * 5 + ["f" * 10] * 4 + ["aaaaafffff"])
    among = studies.presence(study).agreement.among
    ac1, share = f"AC1 {among.ac1.value:.2f}", f"{100 * (among.prevalence.majority_share or 0):.1f} %"

    lines = get(client, study, "report", query="?now=1").partition('id="by-question"')[2]
    assert f">{ac1}<" in lines
    assert f">most frequent {share}<" in lines
    written = get(client, study, "methods", query="?now=1")
    assert f"{ac1}, most frequent option {share}" in written
    assert "AC1 (Gwet, 2008) and the share" in written


def test_beside_weighted_kappa_stands_ac2(client: Client, study: Study) -> None:
    """AC1 takes all steps of a scale for equally far apart, as the weighted κ above it does not."""
    soup = sheet(study, tools=["pot"] * 4, rows=10)
    columns = soup.columns.filter(section__key="tasks")
    for code, levels in (("A1", "1231"), ("A2", "1232")):
        for assignment in actions.assign(rater=rater(study, code), rows=list(soup.rows.all())):
            said = {("task", "f"), ("tool", "s")}
            tasks = [(column.name, level) for column, level in zip(columns, levels, strict=True)]
            say(assignment, {(name, key): letter for name, _level in tasks for key, letter in said})
            say(assignment, {(name, "level"): level for name, level in tasks})
    among = studies.report(study).sections[1].questions[2].agreement.among
    assert among.ac2 is not None
    ac2 = f"AC2 {among.ac2.value:.2f}"
    assert ac2[4:] != f"{among.ac1.value:.2f}"

    lines = get(client, study, "report", query="?now=1").partition('id="by-question"')[2]
    assert f">{ac2}<" in lines
    written = get(client, study, "methods", query="?now=1")
    assert f"{ac2}, most frequent option" in written
    assert "for scales AC2 with ordinal weights (Gwet, 2014)" in written
    whole = overview(studies.report(study))
    assert [head.key for head in whole.heads][-4:] == ["ac1", "ac2", "majority", "because"]
    assert {row[0]: row[-3] for row in whole.rows}["Tasks: Level"] == among.ac2.value


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Macro-F1",
            "Macro recall",
            "Accuracy",
            "Average precision",
            "At precision 0.8",
            "Estimate",
            "All labels equal",
        ),
        *("Area under the risk-coverage curve", "Imbalance of the options", "Greatest κ that these margins allow"),
        *("Most frequent option's share of all answers (“Found”)", "Limits of agreement, plus and minus", "sacreBLEU"),
        *("Pearson's r, mean over pairs of raters", "Spearman's ρ", "Lin's concordance", "Kendall's τ_b", "METEOR 1.5"),
    ],
)
def test_what_tables_call_a_figure_leads_to_the_glossary(name: str) -> None:
    assert glossary.entry_of(name)


def test_each_line_of_the_first_page_says_which_coefficient_it_has(client: Client, study: Study) -> None:
    """One heading stands over all of them, and the weighted κ of a scale is not the κ of a choice."""
    soup = sheet(study, items=3, tools=["pot"], rows=3)
    for code, rows, level in (("A1", ["ffn", "fan", "nff"], "123"), ("A2", ["ffn", "ffn", "naf"], "122")):
        for n, assignment in enumerate(answered(rater(study, code), soup, rows)):
            letters = {
                ("task 1 · pot", "task"): "f",
                ("task 1 · pot", "tool"): "s",
                ("task 1 · pot", "level"): level[n],
            }
            say(assignment, letters)
    page = get(client, study, "report", query="?by=document", **{"HX-Request": "true"})
    [head] = re.findall(r"<thead>.*?</thead>", page.partition('id="by-question"')[2])[:1]
    assert '<th scope="col" class="n">Agreement</th>' in head
    cells = re.findall(
        r'data-number="([^"]*)"><a class="term" href="[^"]*glossary/#([\w-]+)">([^<]*)</a> ([^<]*)<', page
    )
    assert [(entry, sign) for _number, entry, sign, _value in cells] == [
        ("cohen-kappa", "κ"),
        ("cohen-kappa", "weighted κ"),
        ("cohen-kappa", "κ"),
    ]
    assert [f"{float(number):.2f}" for number, *_rest in cells] == [value.strip() for *_rest, value in cells]
    assert re.search(r'#cohen-kappa">κ</a> not defined: everyone chose “Task found”', page)


def test_the_paragraphs_stand_in_both_languages(client: Client, study: Study) -> None:
    labelled(study)
    page = get(client, study, "methods")

    assert page.count('class="paragraph" lang="en"') == page.count('class="paragraph" lang="cs"') == 2
    assert page.count("data-copy=") == 4


def test_questions_that_are_undefined_for_one_reason_are_one_sentence(study: Study) -> None:
    one_sheet(study, {"A1": [FOUR] * 3, "A2": [FOUR] * 3}, [FOUR] * 3)
    assert "Nobody has answered “Tasks: Task”, “Tasks: Tool”, “Tasks: Level”." in said(made(study))

    [alone] = actions.assign(rater=study.raters.get(code="A1"), rows=sheet(study, "Stew", tools=["pot"]).rows.all())
    say(alone, {("task 1 · pot", "task"): "f", ("task 1 · pot", "tool"): "s", ("task 1 · pot", "level"): "1"})
    sentences_said = said(made(study))
    assert "Nobody has answered" not in sentences_said
    assert (
        "On “Tasks: Task”, “Tasks: Tool”, “Tasks: Level” κ is not defined: no cell was answered by two people."
        in sentences_said
    )


def test_on_a_scale_kappa_is_weighed_alike_for_people_and_judges(study: Study) -> None:
    """The judge is one step off in half of the cells: near by quadratic weights, and far where steps count alike."""
    soup = sheet(study, items=1, tools=[""], rows=12)
    levels = [str(n % 3 + 1) for n in range(12)]
    off = [str(min(int(level) + n % 2, 3)) for n, level in enumerate(levels)]
    for rater_of, said_of in ((rater(study, "A1"), levels), (rater(study, "A2"), levels), (judge(study), off)):
        for assignment, level in zip(answered(rater_of, soup, ["f"] * 12), said_of, strict=True):
            say(assignment, {("task 1", "task"): "f", ("task 1", "level"): level})
    weighted = cohen_kappa_score(levels, off, weights="quadratic")

    def told(**filters: Any) -> list[Any]:
        chosen = Filters(**filters)
        tables = {table.key: table for table in contents_from(queries.load(study, chosen).table, chosen, "en").tables}
        figures, people = (tables[f"tasks.level.{key}"] for key in ("judge-figures", "judge-people"))
        keys = [head.key for head in figures.heads]
        return [
            figures.heads[keys.index("kappa")].title,
            figures.rows[0][keys.index("kappa")],
            people.heads[2].title,
            people.rows[0][2],
        ]

    said = "κ, quadratic weights"
    assert told() == [said, pytest.approx(weighted), said, pytest.approx(weighted)]
    plain = cohen_kappa_score(levels, off)
    assert plain < weighted - 0.2
    assert told(methods=9) == ["κ", pytest.approx(plain), "κ", pytest.approx(plain)]


def test_where_only_chance_is_not_known_the_share_of_equal_answers_is_told(study: Study) -> None:
    one_sheet(study, {"A1": ["ffff"] * 3, "A2": ["ffff"] * 3}, ["ffff"] * 3)
    of = made(study)
    tile = sentences.tiles(of)[0]
    assert tile.value == "A_h 100.0 %"
    assert tile.under.startswith("the share of equal answers; κ is not defined: ")
    assert "Two people agree in 100.0 % of the cells of “Items” (A_h); how much more often than by chance" in said(of)
    assert "On “Items” κ is not defined (" in (results := paragraphs.results(of, "letters"))
    assert "); A_h = 100.0 %; AC1 1.00, most frequent option 100.0 %." in results


def test_few_cells_are_said_and_lead_no_sentence_where_others_have_enough(study: Study) -> None:
    one_sheet(study, {"A1": [FOUR] * 3, "A2": ["ffnaffnaffnf"] * 3}, [FOUR] * 3)
    stew = sheet(study, "Stew", tools=[""], rows=2)
    for code in ("A1", "A2"):
        for assignment, letter in zip(
            actions.assign(rater=study.raters.get(code=code), rows=list(stew.rows.order_by("position"))),
            "fa",
            strict=True,
        ):
            say(assignment, {("task 1", "task"): letter})
    of = made(study)
    assert sentences.tiles(of)[0].value == "κ 0.86"  # of the 36 cells of items alone
    assert "of few answers yet" not in sentences.tiles(of)[0].under
    assert "can move the figure: “Tasks: Task” (2 pairs of answers)." in said(of)
    alone = studies.study("alone")
    one_sheet(alone, {"A1": ["fa"], "A2": ["fa"]}, ["fa"])
    tile = sentences.tiles(made(alone))[0]
    assert tile.under.endswith("; of few answers yet")


def one_row_each(study: Study, first: str, second: str) -> None:
    """As many sheets as letters, each with one row and one item."""
    raters = [(rater(study, code), letters) for code, letters in (("A1", first), ("A2", second))]
    for n in range(len(first)):
        soup = sheet(study, f"Soup {n}", items=1)
        for of, letters in raters:
            answered(of, soup, [letters[n]])


def test_of_sheets_with_one_row_agreement_is_told_of_all_sheets_together(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a sheet κ is 0 where the two differ, and not defined where they do not: its mean over sheets is 0."""
    first, second = "fnafnafnafnaff", "fnafnafnafnann"
    one_row_each(study, first, second)
    assert studies.presence(study).agreement.kappa.value == 0
    published = doors.Published("items.presence", kappa=0.1, accuracy=None, source="They")
    monkeypatch.setitem(doors._published, "letters", (published,))
    of = made(study, by="document", n_draws=200)

    codes = [["fna".index(letter) for letter in letters] for letters in (first, second)]
    [line] = of.questions
    assert (line.measure, line.by_single_rows) == ("alpha", True)
    assert line.agreement.value == pytest.approx(krippendorff.alpha(codes, level_of_measurement="nominal"))
    assert line.agreement.low is not None
    assert re.fullmatch(r"α 0\.79 \[0\.\d\d, 1\.00\]", sentences.tiles(of)[0].value)
    text = said(of)
    assert re.search(r"People agree with Krippendorff’s α = 0\.79 \[.*\] \(14 cells with two answers or more\)\.", text)
    assert (
        "Most recipes have a single document, of which κ says nothing by itself. So agreement on “Items” is told of "
        "all recipes together: Krippendorff’s α." in text
    )
    assert "Published κ" not in text
    paper = paragraphs.methods(of, study.scheme.parsed.words)
    assert "agreement on “Items” is Krippendorff’s α over all recipes together" in paper
    assert "Cohen" not in paper
    assert "On “Items” annotators reached α = 0.79" in paragraphs.results(of, "letters")


def at_a_glance(study: Study, **filters: Any) -> tuple[ReportTable, list[dict[str, Value]]]:
    table = overview(studies.report(study, **filters))
    keys = [head.key for head in table.heads]
    return table, [dict(zip(keys, row, strict=True)) for row in table.rows]


def test_at_a_glance_says_the_same_of_sheets_with_one_row_as_the_first_page(study: Study) -> None:
    first, second = "fnafnafnafnaff", "fnafnafnafnann"
    one_row_each(study, first, second)

    table, [items, *_others] = at_a_glance(study)
    codes = [["fna".index(letter) for letter in letters] for letters in (first, second)]
    alpha = krippendorff.alpha(codes, level_of_measurement="nominal")
    assert (items["kappa"], items["pairs"], items["shared"]) == (None, None, 14)
    assert items["alpha"] == pytest.approx(alpha) == pytest.approx(made(study).questions[0].agreement.value)
    assert items["because"] == "most recipes have a single document: see α"
    assert "α is of all recipes together; where most have a single document, it stands in place of κ." in table.how

    _table, [before, *_others] = at_a_glance(study, methods=11)
    assert (before["kappa"], before["pairs"], before["because"]) == (0, 2, "")
    assert "alpha" not in before


def test_at_a_glance_says_why_there_is_neither_of_sheets_with_one_row(study: Study) -> None:
    one_row_each(study, "f" * 12, "f" * 12)
    _table, [items, *_others] = at_a_glance(study)
    assert (items["kappa"], items["alpha"], items["because"]) == (None, None, "everyone chose “Found”")


def test_of_sheets_with_one_row_it_is_said_why_there_is_no_coefficient(study: Study) -> None:
    one_row_each(study, "f" * 12, "f" * 12)
    of = made(study)
    assert sentences.tiles(of)[0].under == ("the share of equal answers; α is not defined: everyone chose “Found”")
    assert "how much more often than by chance cannot be said: everyone chose “Found”." in said(of)


def test_of_sheets_with_more_rows_agreement_is_the_mean_of_their_kappas(study: Study) -> None:
    """Also where two people have answered one of them so far; and of one sheet there is no mean."""
    raters = [rater(study, code) for code in ("A1", "A2")]
    for n in range(2):
        soup = sheet(study, f"Soup {n}", items=12, rows=2)
        for of in raters:
            answered(of, soup, [FOUR, None])
    assert made(study).questions[0].measure == "kappa"

    alone = studies.study("alone")
    one_sheet(alone, {"A1": [FOUR], "A2": [FOUR[::-1]]}, [FOUR])
    assert made(alone).questions[0].measure == "kappa"


def test_where_questions_are_told_of_all_sheets_together_no_mean_is_taken_of_them(study: Study) -> None:
    raters = [rater(study, code) for code in ("A1", "A2")]
    for n, letter in enumerate("fafafa"):
        soup = sheet(study, f"Soup {n}", tools=["pot"])
        for of in raters:
            [assignment] = actions.assign(rater=of, rows=list(soup.rows.all()))
            say(
                assignment,
                {("task 1 · pot", "task"): letter}
                | ({("task 1 · pot", "tool"): "s", ("task 1 · pot", "level"): str(n % 3 + 1)} if letter == "f" else {}),
            )
    told = made(study)
    [mean] = [line for line in told.lines if line.is_mean]
    assert (mean.agreement.value, mean.agreement.reason, mean.accuracy.value) == (None, "", 1.0)
    of_section = next(row for row in at_a_glance(study)[1] if row["question"] == "Tasks: mean of its questions")
    assert (of_section["kappa"], of_section["because"], of_section["accuracy"]) == (None, "", 1.0)
    assert "As the mean of the questions of “Tasks”, A_h = 100.0 %" in paragraphs.results(told, "letters")


def test_the_paragraph_for_a_paper_claims_nothing_that_was_not_done(study: Study) -> None:
    one_sheet(study, {"A1": [FOUR] * 3}, [FOUR] * 3)
    methods = paragraphs.methods(made(study, by="document", n_draws=100), study.scheme.parsed.words)
    assert "1 annotator labelled 3 documents in 1 recipe. 0 documents were labelled by two or more." in methods
    for claim in ("Alternative Annotator Test", "human ceiling", "bootstrap"):
        assert claim not in methods
    empty = studies.study("empty")
    one_sheet(empty, {}, [FOUR] * 3)
    assert paragraphs.methods(made(empty), empty.scheme.parsed.words) == "No annotator has labelled anything yet."


@pytest.mark.parametrize("of", [judge, gold], ids=["a judge", "gold"])
def test_what_no_person_has_labelled_says_what_is_missing(study: Study, of: Callable[[Study], Rater]) -> None:
    """It is no judge's doing where the right answers alone came in, as in a study of published tables."""
    soup = sheet(study, items=2)
    answered(of(study), soup, ["fn"])

    found = said(made(study))
    assert found.startswith("No person has labelled. It takes two people")
    assert [tile.value for tile in sentences.tiles(made(study))] == ["Cannot be said"] * 3
