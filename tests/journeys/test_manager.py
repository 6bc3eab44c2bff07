"""A manager's week: a study from a scheme file, recipes and documents, people, the plan, a judge's run."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.contrib.auth.models import Permission
from playwright.sync_api import Dialog, FilePayload, Page, expect

from annotation import actions
from annotation.models import Assignment, Row, Sheet, Study, User
from judges.actions import score_items
from judges.models import Run, WorkItem
from recipes.cooking import actions as recipes
from recipes.cooking.pages import read_folder
from recipes.memorization import demo_study
from tests import builders
from tests.journeys import pages
from tests.journeys.conftest import Browsing
from tests.journeys.pages import COLESLAW, PASSWORD, Coleslaw

pytestmark = pytest.mark.once

ROOT = demo_study.ROOT
SCHEME = ROOT / "schemes" / "recipe-memorization.yaml"
CHILI = ROOT / "demo" / "pages" / "chili"


@pytest.fixture
def manager(browsing: Browsing) -> Page:
    """Mara's browser; she may make studies."""
    mara = pages.person("mara")
    mara.user_permissions.set(Permission.objects.filter(codename="add_study"))
    return browsing.person("mara")


@pytest.fixture
def study(manager: Page) -> Study:
    """A study of Mara's with a recipe and four documents, and nobody else in it."""
    made = actions.create_study(
        slug="dishes", title="Dishes", scheme=demo_study.paper_scheme(), by=User.objects.get(username="mara")
    )
    sheet = recipes.add_recipe(study=made, recipe=demo_study.demo_recipe("chili"))
    wanted = {"google-1.html", "google-2.html", "bing-1.html", "bing-2.html"}
    result = recipes.import_documents(sheet=sheet, pages=[page for page in read_folder(CHILI) if page.source in wanted])
    assert len(result.added) == 4
    return made


def message(page: Page, text: str) -> None:
    expect(page.get_by_role("status").filter(has_text=text)).to_be_visible()


def file_of(name: str, content: str | bytes) -> FilePayload:
    data = content.encode() if isinstance(content, str) else content
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def test_from_a_scheme_file_to_a_sheet_on_somebodys_desk(manager: Page, browsing: Browsing) -> None:
    page = manager
    page.goto("/studies/")
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Title").fill("Salads")
    page.get_by_label("Address").fill("salads")
    page.get_by_label("Scheme file").set_input_files(SCHEME)
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", name="Salads")).to_be_visible()

    # The study's first page says what comes first.
    page.get_by_role("list", name="Set up the study").get_by_role("link", name="Documents").click()
    page.get_by_label("or text").fill(COLESLAW)
    page.get_by_role("button", name="Add the recipe").click()
    message(page, "“Coleslaw” is in.")
    page.get_by_label("Web pages").set_input_files([CHILI / "google-1.html", CHILI / "bing-1.html"])
    page.get_by_role("button", name="Import").click()
    message(page, "2 documents added to “Coleslaw”.")
    page.get_by_role("link", name="Google 1").click()
    expect(page.get_by_role("heading", name="Firehouse Chili")).to_be_visible()

    page.get_by_role("link", name="Plan").click()
    page.get_by_role("link", name="Invite people").click()
    links = []
    for _name in ("anna", "boris"):
        page.get_by_role("button", name="Make a link").click()
        expect(page.get_by_text("Send this link to one person")).to_be_visible()
        links.append(page.locator("[data-copy]").get_attribute("data-copy") or "")
    anna = browsing.person()
    anna.goto(links[0])
    anna.get_by_label("User name").fill("anna")
    anna.get_by_label("Password", exact=False).first.fill(PASSWORD)
    anna.get_by_label("Password confirmation").fill(PASSWORD)
    anna.get_by_role("button", name="Make it and join").click()
    message(anna, "You are in “Salads” as annotator. What is given to you to label comes here.")
    expect(anna.get_by_text("Nothing is assigned to you yet.")).to_be_visible()
    browsing.expect("status of 410")
    anna.goto(links[0])
    expect(anna.get_by_text("This link was used already.")).to_be_visible()
    # Boris has an account: he logs in on the way, and joins with it.
    pages.person("boris")
    boris = browsing.person()
    boris.goto(links[1])
    boris.get_by_role("link", name="I have an account: log in").click()
    boris.get_by_label("Username").fill("boris")
    boris.get_by_label("Password").fill(PASSWORD)
    boris.get_by_role("button", name="Log in").click()
    boris.get_by_role("button", name="Join as boris").click()
    message(boris, "You are in “Salads” as annotator. What is given to you to label comes here.")

    page.get_by_role("link", name="Plan").click()
    expect(page.locator("#preview")).to_contain_text("1 of 2 documents are labelled twice")
    page.get_by_role("button", name="Apply this plan").click()
    message(page, "3 documents assigned.")
    anna.goto("/")
    anna.get_by_role("link", name="Start").click()
    anna.wait_for_selector("td:focus")
    expect(anna.get_by_role("columnheader", name="white cabbage").first).to_be_visible()


def test_a_broken_scheme_file_is_told_by_line_and_key(manager: Page) -> None:
    lines = SCHEME.read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines) if "colour: green" in line)
    lines[number] = lines[number].replace("green", "gren")
    manager.goto("/studies/new/")
    manager.get_by_label("Title").fill("Broken")
    manager.get_by_label("Address").fill("broken")
    manager.get_by_label("Scheme file").set_input_files([file_of("mine.yaml", "\n".join(lines))])
    manager.get_by_role("button", name="Create the study").click()
    errors = manager.locator(".errorlist")
    expect(errors).to_contain_text(f"mine.yaml, line {number + 1}")
    expect(errors).to_contain_text("colour")
    expect(manager.get_by_label("Title")).to_have_value("Broken")
    assert not Study.objects.exists()


def test_a_recipe_from_a_file_and_one_that_is_none(study: Study, manager: Page) -> None:
    manager.goto("/studies/dishes/documents/")
    form = manager.locator("form[action$='/add-recipe/']")
    form.get_by_label("File").set_input_files(ROOT / "demo" / "recipes" / "pancakes.yaml")
    form.get_by_role("button", name="Add the recipe").click()
    message(manager, "“Pancakes” is in.")
    form.get_by_label("or text").fill("Nothing\n\nSteps\n1. Wait.")
    form.get_by_role("button", name="Add the recipe").click()
    expect(form.locator(".errorlist")).to_contain_text("ingredients")
    expect(form.get_by_label("or text")).to_have_value("Nothing\n\nSteps\n1. Wait.")
    assert list(study.sheets.values_list("title", flat=True)) == ["Chili", "Pancakes"]


def test_a_bad_page_in_a_zip_is_refused_by_name_and_the_others_go_in(study: Study, manager: Page) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("duckduckgo-1.html", "duckduckgo-2.html"):
            archive.write(CHILI / name, name)
        archive.writestr("holiday.html", b"\x89PNG\r\n\x1a\n" + bytes(100))
    manager.goto("/studies/dishes/documents/")
    manager.get_by_label("Web pages").set_input_files([file_of("pages.zip", packed.getvalue())])
    manager.get_by_role("button", name="Import").click()
    message(manager, "2 documents added to “Chili”.")
    message(manager, "holiday.html")
    assert Row.objects.filter(sheet__study=study).count() == 6


def test_the_plan_is_drawn_again_with_every_number(study: Study, manager: Page) -> None:
    for name in ("anna", "boris"):
        builders.rater(study, pages.person(name))
    manager.goto("/studies/dishes/plan/")
    preview = manager.locator("#preview")
    # 24 columns, of which 12 are ingredients with one question and 12 are tasks with three: 48 labels a document.
    # Half of 4 documents twice: 2 × 2 + 2 = 6 documents, 288 labels.
    expect(preview).to_contain_text("2 of 4 documents are labelled twice")
    expect(preview).to_contain_text("288 labels in all")
    manager.get_by_label("Labelled twice (%)").fill("100")
    expect(preview).to_contain_text("4 of 4 documents are labelled twice")
    expect(preview).to_contain_text("384 labels in all")
    manager.get_by_label("Raters per recipe").fill("3")
    expect(preview).to_contain_text("3 raters per recipe are asked for, but the study has only 2.")
    manager.get_by_label("Raters per recipe").fill("2")
    manager.get_by_label("Chili").uncheck()
    expect(preview).to_contain_text("This field is required")
    manager.get_by_label("Chili").check()
    expect(preview).to_contain_text("4 of 4 documents are labelled twice")
    assert not Assignment.objects.exists()
    manager.get_by_role("button", name="Apply this plan").click()
    message(manager, "8 documents assigned.")
    assert Assignment.objects.count() == 8
    manager.get_by_role("link", name="Plan").click()
    expect(manager.get_by_text("There are no recipes left to plan")).to_be_visible()


def test_enter_does_not_apply_a_plan_that_was_not_seen(study: Study, manager: Page, browsing: Browsing) -> None:
    browsing.expect("htmx:", "ERR_FAILED")  # of the drawing that is cut off
    for name in ("anna", "boris"):
        builders.rater(study, pages.person(name))
    manager.goto("/studies/dishes/plan/")
    expect(manager.locator("#preview")).to_contain_text("2 of 4 documents are labelled twice")
    manager.route(lambda url: "share_twice=100" in url, lambda route: route.abort())  # the new drawing does not come
    manager.get_by_label("Labelled twice (%)").fill("100")
    manager.get_by_label("Labelled twice (%)").press("Enter")
    expect(manager.get_by_text("This plan has changed since it was drawn")).to_be_visible()
    expect(manager.locator("#preview")).to_contain_text("4 of 4 documents are labelled twice")
    assert not Assignment.objects.exists()
    manager.unroute_all()
    manager.get_by_role("button", name="Apply this plan").click()
    message(manager, "8 documents assigned.")


def test_what_somebody_left_undone_is_given_to_another(study: Study, manager: Page) -> None:
    for name in ("anna", "boris"):
        builders.rater(study, pages.person(name))
    rows = list(Row.objects.filter(sheet__study=study))
    actions.assign(rater=study.raters.get(user__username="anna"), rows=rows)
    asked = []

    def accept(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept()

    manager.on("dialog", accept)
    manager.goto("/studies/dishes/people/")
    manager.get_by_role("row", name="anna").get_by_role("button", name="Remove").click()
    message(manager, "anna lost that role; the labels stay. 4 documents that were not submitted are taken back.")
    assert asked == [
        "Take the role “annotator” from anna? Labels stay. 4 documents that were not submitted are taken back."
    ]
    manager.get_by_role("link", name="Plan").click()
    expect(manager.get_by_label("Chili · 4 of 4 documents free")).to_be_checked()
    manager.get_by_label("Labelled twice (%)").fill("50")
    expect(manager.locator("#preview")).to_contain_text("only 1 rater per recipe is asked for")
    manager.get_by_label("Labelled twice (%)").fill("0")
    expect(manager.locator("#preview")).to_contain_text("0 of 4 documents are labelled twice")
    manager.get_by_role("button", name="Apply this plan").click()
    message(manager, "4 documents assigned.")
    assert Assignment.objects.filter(rater__user__username="boris", state="open").count() == 4


def test_a_link_is_copied_and_without_a_clipboard_selected(study: Study, manager: Page, browsing: Browsing) -> None:
    manager.context.grant_permissions(["clipboard-read", "clipboard-write"])
    manager.goto("/studies/dishes/people/")
    manager.get_by_role("button", name="Make a link").click()
    manager.get_by_role("button", name="Copy").click()
    expect(manager.get_by_role("button", name="Copied")).to_be_visible()
    link = manager.locator("[data-copy]").get_attribute("data-copy")
    assert manager.evaluate("navigator.clipboard.readText()") == link

    plain = browsing.person("mara")
    plain.add_init_script("Object.defineProperty(Navigator.prototype, 'clipboard', {value: undefined})")
    plain.goto("/studies/dishes/people/")
    plain.get_by_role("button", name="Make a link").click()
    plain.get_by_role("button", name="Copy").click()
    plain.wait_for_function("getSelection().toString() !== ''")
    assert plain.evaluate("getSelection().toString()") == plain.locator("[data-copy]").get_attribute("data-copy")
    expect(plain.get_by_role("button", name="Copied")).to_have_count(0)


def test_work_is_handed_on_from_the_board(study: Study, manager: Page) -> None:
    """Anna is slow: she is reminded, and what she has not begun goes to Clara; Boris is paused and gets nothing."""
    anna, boris, clara = (builders.rater(study, pages.person(name)) for name in ("anna", "boris", "clara"))
    rows = list(Row.objects.filter(sheet__study=study))
    for rater in (anna, boris):
        actions.assign(rater=rater, rows=rows)
    begun = anna.assignments.order_by("row__position")[0]
    column = begun.row.sheet.columns.filter(section__key="ingredients")[0]
    builders.label(begun, {(column.name, "presence"): "found"})

    manager.goto("/studies/dishes/board/")
    expect(manager.get_by_text("0 of 8 documents submitted, 1 begun.")).to_be_visible()
    expect(manager.get_by_text("No two people have answered the same cell yet.")).to_be_visible()
    expect(manager.get_by_text("No judge has worked here yet.")).to_be_visible()
    manager.get_by_role("row", name="A1 anna").get_by_role("button", name="Remind").click()
    expect(manager.locator("pre")).to_contain_text("4 documents of “Dishes” wait for you.")
    manager.get_by_role("row", name="A2 boris").get_by_role("button", name="Pause").click()
    message(manager, "A2 is paused")

    manager.get_by_role("row", name="A1 anna").get_by_role("link", name="Reassign").click()
    preview = manager.locator("#preview")
    expect(preview).to_contain_text("3 documents change hands.")
    expect(manager.get_by_role("group", name="Take the open work of").get_by_label("A1")).to_be_checked()
    expect(manager.get_by_role("group", name="Give it to").get_by_label("A2")).to_have_count(0)
    expect(preview.get_by_role("row", name="A1 A3 3")).to_be_visible()
    expect(preview).to_contain_text("Labelled twice: 4 → 4 documents")
    expect(preview.locator(".places .new")).to_have_count(3)
    manager.get_by_label("Level the open work of all of them too").check()
    expect(preview).to_contain_text("3 documents change hands.")
    assert not clara.assignments.exists()
    manager.get_by_role("button", name="Reassign").click()
    message(manager, "3 documents moved.")
    assert clara.assignments.filter(state="open").count() == 3

    manager.get_by_text("Withdraw one document").click()
    manager.locator("#id_row").select_option(index=1)
    manager.get_by_label("Reason").fill("The page is gone")
    manager.get_by_role("button", name="Withdraw", exact=True).click()
    message(manager, "is withdrawn; its labels stay.")
    expect(manager.get_by_role("cell", name="The page is gone")).to_be_visible()
    manager.get_by_role("button", name="Bring back").click()
    message(manager, "can be labelled again.")


def test_an_impossible_plan_is_not_applied(study: Study, manager: Page) -> None:
    builders.rater(study, pages.person("anna"))
    manager.goto("/studies/dishes/plan/")
    manager.get_by_label("Raters per recipe").fill("2")
    sentence = "2 raters per recipe are asked for, but the study has only 1."
    expect(manager.locator("#preview").get_by_text(sentence)).to_be_visible()
    manager.get_by_role("button", name="Apply this plan").click()
    expect(manager.get_by_text(sentence).first).to_be_visible()
    assert not Assignment.objects.exists()


def test_a_run_is_started_watched_cancelled_and_resumed(study: Study, manager: Page) -> None:
    def work(n: int) -> None:
        queued = WorkItem.objects.filter(state=WorkItem.State.QUEUED).order_by("pk")
        assert score_items(item_ids=list(queued.values_list("pk", flat=True)[:n])) == n

    demo_study.shipped_judges()
    manager.goto("/studies/dishes/judges/")
    manager.get_by_role("row", name="lexical").get_by_role("button", name="Start").click()
    expect(manager.get_by_text("Waiting · 0 of 4 documents")).to_be_visible()
    work(1)
    progress = manager.locator("#progress")
    expect(progress).to_contain_text("Running · 1 of 4 documents")  # without reloading
    manager.get_by_role("button", name="Cancel").click()
    expect(progress).to_contain_text("Cancelled · 1 of 4 documents")
    assert score_items(item_ids=list(WorkItem.objects.values_list("pk", flat=True))) == 0
    manager.get_by_role("button", name="Resume").click()
    expect(progress).to_contain_text("Waiting · 1 of 4 documents")
    work(3)
    expect(progress).to_contain_text("Finished · 4 of 4 documents")
    expect(manager.get_by_role("button", name="Cancel")).to_be_hidden()
    assert Run.objects.get().state == Run.State.FINISHED
    manager.goto("/studies/dishes/")
    expect(manager.get_by_role("row", name="lexical")).to_contain_text("4 / 4")


def test_the_fields_of_a_new_judge_are_asked_for_without_its_prompt(study: Study, browsing: Browsing) -> None:
    """gunicorn refuses an address of more than 4094 signs where it is not told otherwise, and a prompt is longer."""
    User.objects.create_superuser("olga", password=PASSWORD)
    page = browsing.person("olga")
    page.goto("/studies/dishes/judges/new/")
    assert len(page.get_by_label("Prompt text").input_value()) > 4094
    expect(page.get_by_label("Normalisation")).to_be_visible()
    with page.expect_request("**/judges/new/?*") as asked:
        page.get_by_label("Method").select_option("lexical")
    assert len(asked.value.url) < 1000
    expect(page.get_by_label("Normalisation")).to_be_hidden()
    expect(page.get_by_label("Method")).to_have_value("lexical")


def test_a_run_page_whose_login_ended_goes_to_the_login(slaw: Coleslaw, browsing: Browsing) -> None:
    demo_study.shipped_judges()
    page = browsing.person("mara")
    page.goto("/studies/slaw/judges/")
    page.get_by_role("row", name="lexical").get_by_role("button", name="Start").click()
    expect(page.get_by_text("Waiting · 0 of 3 documents")).to_be_visible()
    page.context.clear_cookies()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_role("heading", name="What labels here")).to_be_hidden()


def test_a_member_is_removed_after_a_question(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("mara")
    page.goto("/studies/slaw/people/")
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.get_by_role("row", name="boris").get_by_role("button", name="Remove").click()
    assert asked == ["Take the role “annotator” from boris? Labels stay."]
    assert slaw.study.memberships.filter(user__username="boris").exists()


def test_sheets_of_a_study_are_told_to_be_empty(manager: Page) -> None:
    actions.create_study(
        slug="fresh", title="Fresh", scheme=demo_study.paper_scheme(), by=User.objects.get(username="mara")
    )
    for path, sentence in {
        "": "The recipes of this study come here",
        "documents/": "First add the generated recipe",
        "plan/": "There is nothing to plan yet",
        "judges/": "it comes here when you start one",
        "report/": "Nothing is labelled yet",
    }.items():
        manager.goto(f"/studies/fresh/{path}")
        expect(manager.get_by_text(sentence)).to_be_visible()
    assert not Sheet.objects.exists()
