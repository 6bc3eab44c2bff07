"""Every page in both themes: axe finds nothing, nothing is wider than the window, and the focus can be seen.

`PALATE_SCREENSHOTS=folder` keeps a picture of each.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation import actions
from annotation.models import Assignment, Label, Question, Rater, Row, Sheet, Study, User
from judges.actions import score_items
from judges.models import Run, WorkItem
from recipes.cooking import actions as recipes
from recipes.memorization import demo_study
from reports import actions as reporting
from reports.data.arrays import Filters
from tests import builders
from tests.journeys.conftest import WIDE, Browsing
from tests.journeys.pages import TO, Coleslaw, Grid, add_document, person
from tests.reports.hiring.simulated import bare_certificate

pytestmark = pytest.mark.once

# All rules of axe, also the size of what is clicked (WCAG 2.2), which it leaves out unless it is asked. The theme
# changes nothing but colours, which `CONTRAST` measures in both, more strictly and in a fraction of the time; what axe
# says of the dark one is asked where there is time for it.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES = {
    "light": {"resultTypes": ["violations"], "runOnly": TAGS},
    "dark": {"resultTypes": ["violations"], "runOnly": ["color-contrast"]},
}
# What axe says of contrasts takes most of its time, and `CONTRAST` counts them.
QUICK = {**RULES["light"], "rules": {"color-contrast": {"enabled": False}}}
THEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
# The smallest contrast of any text with what is painted behind it, as WCAG 2 counts it, and that text.
CONTRAST = """() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const over = (under, colour) => {
        context.fillStyle = `rgb(${under})`;
        context.fillRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (rgb) => {
        const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
        if (!element) return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
        return over(ground(element.parentElement), getComputedStyle(element).backgroundColor);
    };
    let worst = [99, ""];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const text = walker.currentNode.textContent.trim();
        if (!text || element.closest(".vh, script, option, :disabled")) continue;
        if (!element.checkVisibility({ visibilityProperty: true })) continue;
        const back = ground(element);
        const [a, b] = [light(back), light(over(back, getComputedStyle(element).color))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < worst[0]) worst = [ratio, `${text.slice(0, 40)} <${element.tagName} class="${element.className}">`];
    }
    return worst;
}"""
SIDEWAYS = """() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const own = (element) => element.closest(".scroll, .tables, .evidence, pre, #choices");
    return [...document.body.querySelectorAll("*")]
        .filter((element) => !own(element.parentElement))
        .filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1)
        .map((element) => element.outerHTML.slice(0, 120));
}"""
# How much wider the page is than the window; and how often a word is broken that has room in a line of its own.
WIDER = "() => Math.max(0, document.scrollingElement.scrollWidth - window.innerWidth)"
LINES_OF_WORDS = """(name) => {
    const text = name.firstChild;
    return [...text.data.matchAll(/\\S+/g)].map(({ 0: word, index }) => {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        return range.getClientRects().length;
    });
}"""
# Elements in reach of Tab whose focus cannot be told from their rest.
UNSEEN_FOCUS = """() => {
    const reachable = (element) => element.tabIndex >= 0 && !element.disabled && element.type !== "hidden";
    const tabbable = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
        .filter((element) => reachable(element) && element.checkVisibility({ visibilityProperty: true }));
    const before = document.activeElement;
    const unseen = tabbable.filter((element) => {
        element.focus({ focusVisible: true, preventScroll: true });
        const style = getComputedStyle(element);
        return !(style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2);
    });
    before?.focus({ preventScroll: true });
    return unseen.map((element) => element.outerHTML.slice(0, 120));
}"""


# What is clicked and is lower or narrower than 24 pixels; axe lets a small one be that stands alone.
SMALL = """() => [...document.querySelectorAll("button, select, summary, .button")]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".vh"))
    .filter((element) => Math.min(element.getBoundingClientRect().width, element.getBoundingClientRect().height) < 24)
    .map((element) => element.outerHTML.slice(0, 120))"""


@pytest.fixture
def lively(demo: Study) -> Study:
    """The demo study later: the annotator has begun, the lexical judge is at work, a recipe waits for its plan."""
    run = Run.objects.get(study=demo, judge__name="lexical")
    score_items(item_ids=list(WorkItem.objects.filter(run=run).order_by("pk").values_list("pk", flat=True)[:6]))
    mine = Assignment.objects.filter(rater__code="A1", row__sheet__title="Chili").first()
    theirs = Assignment.objects.filter(rater__code="S1", row__sheet__title="Chili").first()
    assert mine is not None
    assert theirs is not None
    labels = Label.objects.filter(assignment=theirs, preset=False).select_related("column", "question", "option")
    answers = [actions.Answer(label.column, label.question, label.option) for label in labels]
    actions.record(assignment=mine, answers=answers, key=uuid.uuid4())
    actions.submit(assignment=mine)
    for answer, said in ((answers[0], "Yes."), (answers[1], "")):
        note = actions.ask(
            assignment=mine, column=answer.column, question=answer.question, text="Is it?", by=mine.rater.user
        )
        if said:
            actions.answer_note(note=note, answer=said, by=User.objects.get(username="manager"))
    actions.beat(rater=mine.rater, page=uuid.uuid4(), seconds={mine.pk: 50})
    sheet = recipes.add_recipe(study=demo, recipe=demo_study.demo_recipe("tacos"))
    for n in range(5):
        add_document(sheet, f"Google {n + 1}", ["8 corn tortillas"], ["Warm the tortillas."])
    builders.rater(demo, builders.user("boris"))
    return demo


def addresses(study: Study) -> dict[str, dict[str, str]]:
    """Who looks at which page: {user: {title of the picture: address}}."""
    sheet = Sheet.objects.get(study=study, title="Chili")
    row = Row.objects.filter(sheet=sheet).earliest("position")
    run = Run.objects.get(judge__name="lexical")
    scored = Run.objects.get(judge__name="embedding")
    frozen = reporting.freeze(study=study, title="Before", filters=Filters(), by=None)
    other = reporting.freeze(study=study, title="After", filters=Filters(people=("A1", "S1")), by=None)
    question = Question.objects.select_related("section__scheme").get(section__key="ingredients", key="presence")
    certificate = bare_certificate(study, run.rater, question)
    at = f"/studies/{study.slug}/"
    return {
        "annotator": {
            "my-work": "/",
            "sheet": f"/sheets/{sheet.pk}/",
            "spreadsheet": f"/sheets/{sheet.pk}/spreadsheet/",
            "studies": "/studies/",
            "study-of-annotator": at,
            "403": f"{at}plan/",
            "404": "/studies/none/",
            "password": "/password/",
            "account": "/account/",
            "leave": "/account/leave/",
            "sessions": "/account/sessions/",
            "second-factor": "/account/second-factor/",
            "email": "/account/email/",
            "api-docs": "/api/v1/docs/",
            "consent": f"{at}consent/",
            "help": "/help/",
            "help-page": "/help/import/",
            "help-search": "/help/?q=overlap",
        },
        "manager": {
            "my-work-empty": "/work/",
            "new-study": "/studies/new/",
            "study": at,
            "sheet-settings": f"{at}sheets/{sheet.pk}/settings/",
            "lens": f"/sheets/{sheet.pk}/lens/?kind=people",
            "accept": f"/sheets/{sheet.pk}/lens/accept/",
            "history": f"/sheets/{sheet.pk}/history/",
            "restore": f"/sheets/{sheet.pk}/restore/?moment=2026-01-01T00:00:00&submitted=on",
            "documents": f"{at}documents/",
            "document": f"{at}documents/{row.pk}/",
            "plan": f"{at}plan/",
            "replan": f"{at}plan/replan/?leaving={study.raters.get(user__username='annotator').pk}",
            "more-raters": f"{at}plan/more/",
            "board": f"{at}board/",
            "people": f"{at}people/",
            "audit-log": f"{at}people/log/",
            "notes": f"{at}notes/",
            "import": f"{at}import/",
            "judges": f"{at}judges/",
            "run": f"{at}judges/runs/{run.pk}/",
            "new-judge": f"{at}judges/new/",
            "calibrations": f"{at}judges/raters/{scored.rater_id}/calibrations/",
            "judge": f"{at}judges/{run.judge_id}/",
            "judges-help": f"{at}judges/help/",
            "new-extractor": f"{at}judges/extractors/new/",
            "hiring": f"{at}hiring/",
            "choose-judge": f"{at}hiring/choose/",
            "certify": f"{at}hiring/certify/?judge=lexical&question=ingredients.presence&epsilon=20",
            "certificate": f"{at}hiring/certificates/{certificate.name}/",
            "take-over": f"{at}hiring/certificates/{certificate.name}/work/",
        },
        "administrator": {
            "owner": "/owner/",
            "owner-people": "/owner/people/",
            "owner-person": f"/owner/people/{User.objects.get(username='annotator').pk}/",
            "owner-log": "/owner/log/",
        },
        "researcher": {
            "report": f"{at}report/",
            "report-question": f"{at}report/questions/ingredients.presence/",
            "report-judges": f"{at}report/judges/ingredients.presence/",
            "report-methods": f"{at}report/methods/",
            "report-glossary": f"{at}report/glossary/",
            "report-compare": f"{at}report/compare/?a-person=A1&b-person=S1",
            "report-whole": f"{at}report/whole/?by=sheet",
            "frozen-list": f"{at}report/frozen/",
            "frozen": f"{at}report/frozen/{frozen.pk}/",
            "compare": f"{at}report/frozen/{frozen.pk}/compare/?other={other.pk}",
            "cells": f"{at}report/cells/?cell.question=ingredients.presence&cell.judge=lexical&cell.person=found"
            "&cell.chosen=found",
            "evidence": f"{at}report/evidence/{row.pk}/",
        },
    }


def look(page: Page, name: str, *, dark_too: bool = False) -> None:
    """Both themes of the page as it is now; `dark_too`: axe looks at the dark one as well, and at contrasts."""
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        if folder := os.environ.get("PALATE_SCREENSHOTS"):
            page.screenshot(path=Path(folder) / f"{name}-{theme}.png", animations="disabled")
        ratio, text = page.evaluate(CONTRAST)
        assert ratio >= 4.5, f"{name}, {theme}: {ratio:.2f} of “{text}”"
        if theme == "light" or dark_too:
            found = Axe().run(page, options=RULES[theme] if dark_too else QUICK)
            assert found.violations_count == 0, f"{name}, {theme}: {found.generate_report()}"
    assert page.evaluate(SIDEWAYS) == [], name


def fits_when_zoomed(page: Page, name: str) -> None:
    """At 200 and 400 % of a window of 1280 by 1024, only tables, in boxes of their own, are scrolled sideways."""
    for width, height in ((640, 512), (320, 256)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(WIDER) == 0, f"{name}, {width} px"


@pytest.mark.parametrize("all_of_it", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_page(lively: Study, browsing: Browsing, all_of_it: bool) -> None:
    """`all_of_it`: what axe says of the dark theme and how each page is when zoomed, too; of pages of numbers
    `test_zoomed_numbers` always looks at that."""
    browsing.expect("status of 40[34]")
    for name, pages in addresses(lively).items():
        page = browsing.person(name)
        for title, url in pages.items():
            page.goto(url)
            if title == "sheet":
                page.wait_for_selector("td:focus")
                page.wait_for_selector("#evidence h2")
            if title == "lens":
                page.wait_for_selector("#detail h2")
                page.wait_for_selector("#evidence h2")
            if title in ("plan", "replan", "more-raters"):
                page.wait_for_selector("#preview .matrix")
            if title == "board":
                page.get_by_text("Cohen’s κ (of scales").wait_for()
            look(page, title, dark_too=all_of_it)
            assert page.evaluate(UNSEEN_FOCUS) == [], title
            assert page.evaluate(SMALL) == [], title
            page.set_viewport_size({"width": 1024, "height": 800})
            assert page.evaluate(SIDEWAYS) == [], f"{title}, 1024 px"
            if all_of_it:
                fits_when_zoomed(page, title)
            page.set_viewport_size(WIDE)


@pytest.mark.slow
def test_every_page_in_czech(lively: Study, browsing: Browsing) -> None:
    """Czech words are longer: nothing is wider than a laptop's window, and nothing English is left in the frame."""
    browsing.expect("status of 40[34]")
    for name, pages in addresses(lively).items():
        page = browsing.person(name, viewport={"width": 1280, "height": 800}, locale="cs-CZ")
        for title, url in pages.items():
            page.goto(url)
            page.wait_for_load_state("networkidle")
            if folder := os.environ.get("PALATE_SCREENSHOTS"):
                page.screenshot(path=Path(folder) / f"{title}-cs.png", animations="disabled", full_page=True)
            assert page.locator("html").get_attribute("lang") == "cs"
            assert page.evaluate(SIDEWAYS) == [], title
            fits_when_zoomed(page, title)
            page.set_viewport_size({"width": 1280, "height": 800})


def test_the_login_and_the_grids_states(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect("409")
    page = browsing.person()
    page.goto("/")
    look(page, "login")
    page.get_by_label("Username").fill("anna")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".errorlist")).to_be_visible()
    look(page, "login-refused")
    browsing.log_in(page.context, "anna")
    grid = Grid(page, slaw.sheet).open()
    grid.keys(*"1234", *TO["Google 2"], *"12")
    grid.go("Google 1", "shred · knife · white cabbage", "task")
    grid.keys("4", "1", "3")
    grid.keys("s")
    grid.expect_refusal("still open")
    look(page, "grid-states")
    for key, name in (("?", "help"), ("g", "guide"), ("x", "skip"), ("m", "ask")):
        grid.keys(key)
        look(page, name)
        grid.keys("Escape")


def test_the_tabs_of_a_study_stay_where_they_are(lively: Study, browsing: Browsing) -> None:
    """The current one is bold: it pushed those after it a few pixels to the right, on each page another one."""
    page = browsing.person("manager")
    places = []
    for where in ("", "board/", "report/"):
        page.goto(f"/studies/{lively.slug}/{where}")
        places.append(
            page.locator(".tabs a").evaluate_all("(all) => all.map((tab) => tab.getBoundingClientRect().left)")
        )
    assert len(places[0]) > 5
    assert places[0] == places[1] == places[2]


def test_the_names_of_a_table_stay_while_it_is_scrolled_sideways(lively: Study, browsing: Browsing) -> None:
    page = browsing.person("researcher", viewport={"width": 480, "height": 800})
    page.goto(f"/studies/{lively.slug}/report/questions/?by=")
    table = page.locator("#overview + .scroll")
    moved = table.evaluate("""(box) => {
        const left = (element) => element.getBoundingClientRect().left;
        const [name, number] = box.querySelectorAll("tbody tr:first-child > *");
        const before = [left(name), left(number)];
        box.scrollLeft = 150;
        return [box.scrollLeft, left(name) - before[0], left(number) - before[1]];
    }""")
    scrolled, of_name, of_number = moved
    assert scrolled > 50
    assert abs(of_name) <= 3
    assert of_number == -scrolled


def test_the_grid_does_not_jump_between_questions(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna", viewport={"width": 1024, "height": 700})
    grid = Grid(page, slaw.sheet).open()
    tables = page.locator("#tables")
    heights = set()
    for place in (
        ("mustard", "presence"),
        ("carrots", "presence"),
        *(("shred · knife · white cabbage", q) for q in ("task", "tool", "ingredients")),
    ):
        grid.go("Google 1", *place)
        box = tables.bounding_box()
        assert box is not None
        heights.add(box["height"])
    assert len(heights) == 1
    first = page.locator("#evidence h3").first
    grid.go("Google 1", "carrots")
    with_match = first.bounding_box()
    grid.go("Google 1", "mustard")
    expect(page.get_by_text("No match found on this page.")).to_be_visible()
    assert first.bounding_box() == with_match


def test_a_window_of_640_by_400_as_at_double_zoom(lively: Study, browsing: Browsing) -> None:
    size = {"width": 640, "height": 400}
    sheet = Sheet.objects.get(study=lively, title="Chili")
    for name, urls in {
        "annotator": ["/", "/studies/demo/"],
        "manager": ["/studies/demo/documents/", "/studies/demo/plan/"],
        "researcher": ["/studies/demo/report/"],
    }.items():
        page = browsing.person(name, viewport=size)
        for url in urls:
            page.goto(url)
            look(page, f"zoom-{url.strip('/').replace('/', '-') or 'my-work'}")
    page = browsing.person("annotator", viewport=size)
    grid = Grid(page, sheet, "annotator").open()
    page.wait_for_selector("#evidence h2")
    # At least four lines of cells, and something of the document, beside what stays.
    for key in ("Control+Home", "Control+End", "PageUp"):
        grid.keys(key)
        look(page, f"zoom-sheet-{key}")
        cell = page.locator("td:focus").bounding_box()
        tables = page.locator("#tables").bounding_box()
        assert cell is not None
        assert tables is not None
        assert tables["height"] >= 6 * 32
        assert tables["y"] <= cell["y"] <= tables["y"] + tables["height"] - cell["height"]
    bar = ("#undo", "#redo", "#save-state", "#open-guide", "#open-help", "#n-submitted", "#cells-left")
    for element in (*bar, "a[href$='/spreadsheet/']", ".tag", "#where"):
        expect(page.locator(element)).to_be_in_viewport(ratio=0.9)


def test_the_lens_in_a_window_of_640_by_400(lively: Study, browsing: Browsing) -> None:
    page = browsing.person("manager", viewport={"width": 640, "height": 400})
    page.goto(f"/sheets/{Sheet.objects.get(study=lively, title='Chili').pk}/lens/")
    page.wait_for_selector("#detail h2")
    look(page, "zoom-lens")
    for element in ("#previous", "#next", "#open-counts", "#open-help", "a[href$='/accept/']", "a[href$='/history/']"):
        expect(page.locator(element)).to_be_in_viewport(ratio=0.99)
    page.locator("td[tabindex]").focus()
    page.keyboard.press("1")
    for element in ("#reason", "#reason-form .primary", "#reason-cancel"):
        expect(page.locator(element)).to_be_in_viewport(ratio=0.99)
    look(page, "zoom-lens-deciding")
    bounds = page.locator("#reason").bounding_box()
    assert bounds is not None
    assert bounds["width"] >= 120


def test_who_is_paused_reads_it_on_the_sheet(slaw: Coleslaw, browsing: Browsing) -> None:
    Rater.objects.filter(user__username="anna").update(paused_at=timezone.now())
    page = browsing.person("anna")
    Grid(page, slaw.sheet).open()
    for width in (1440, 1280, 1024, 640):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.get_by_text("paused")).to_be_in_viewport(ratio=0.99)
        assert page.evaluate(WIDER) == 0


def test_two_answers_and_refusals_are_read_to_their_end(slaw: Coleslaw, browsing: Browsing) -> None:
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    other = Grid(browsing.person("anna"), slaw.sheet).open()
    place = ("Google 1", "shred · knife · white cabbage", "task")
    other.go(*place)
    other.keys("1")
    other.settle()
    grid.go(*place)
    grid.keys("2")
    expect(page.locator("td[data-state=conflict]")).to_have_count(1)
    grid.go(*place)
    grid.keys("s")
    grid.expect_refusal("then submit.")
    for width, height in ((1280, 800), (640, 400)):
        page.set_viewport_size({"width": width, "height": height})
        look(page, f"two-answers-{width}")
        inside = page.locator(".palette > p").evaluate(
            "(p) => p.scrollWidth <= p.clientWidth && p.scrollHeight <= p.clientHeight"
        )
        assert inside, f"{width} px"
        for sentence in ("#where .both", "#refusal"):
            expect(page.locator(sentence)).to_be_in_viewport(ratio=0.99)
            assert page.locator(sentence).evaluate(
                """(sentence) => {
                    const aids = document.querySelector(".aids").getBoundingClientRect();
                    const clear = (line) => line.right <= aids.left || line.top >= aids.bottom - 2;
                    return [...sentence.getClientRects()].every(clear);
                }"""
            ), f"{sentence} lies under the buttons at {width} px"


def test_the_guide_and_what_is_open_stand_above_the_document(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect("409")
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.wait_for_selector("#evidence h2")
    grid.keys("g", "s")
    grid.expect_refusal("still open")
    side = page.locator(".side").bounding_box()
    assert side is not None
    for panel in ("#guide", "#still-open", "#evidence"):
        box = page.locator(panel).bounding_box()
        assert box is not None
        assert box["width"] == side["width"]
        assert box["height"] >= 100
    look(page, "guide-and-still-open")


def test_of_three_texts_above_the_document_each_is_read(slaw: Coleslaw, browsing: Browsing) -> None:
    browsing.expect("409")
    page = browsing.person("anna")
    grid = Grid(page, slaw.sheet).open()
    page.wait_for_selector("#evidence h2")
    grid.keys("r", "g", "s")
    grid.expect_refusal("still open")
    for panel in ("#sheet-text", "#guide", "#still-open"):
        # Four lines, or all of it.
        assert page.locator(f"{panel} .body").evaluate(
            "(body) => body.clientHeight >= Math.min(80, body.scrollHeight)"
        ), panel
    look(page, "three-texts")


def test_names_of_documents_are_broken_between_words(slaw: Coleslaw, browsing: Browsing) -> None:
    Row.objects.filter(sheet=slaw.sheet, name="Google 2").update(name="DuckDuckGo 10")
    page = browsing.person("anna")
    Grid(page, slaw.sheet).open()
    for width in (1280, 640):
        page.set_viewport_size({"width": width, "height": 800})
        name = page.locator("th.doc .name", has_text="DuckDuckGo 10").first
        assert name.evaluate(LINES_OF_WORDS) == [1, 1]
        assert name.evaluate("(name) => name.offsetHeight <= name.parentElement.clientHeight")


def test_names_of_sites_are_broken_before_their_dot(slaw: Coleslaw, browsing: Browsing) -> None:
    Row.objects.filter(sheet=slaw.sheet, name="Google 1").update(name="06-rachlmansfield.com")
    Row.objects.filter(sheet=slaw.sheet, name="Google 2").update(name="fitmencook.com")
    page = browsing.person("anna")
    Grid(page, slaw.sheet).open()
    for width in (1280, 640):
        page.set_viewport_size({"width": width, "height": 800})
        for name in page.locator("th.doc .name", has_text="fitmencook.com").all():
            assert name.evaluate(LINES_OF_WORDS) == [1]
            assert name.inner_text() == "fitmencook.com"
        if width >= 1280:
            assert page.locator("th.doc .name", has_text="06-").first.evaluate(LINES_OF_WORDS) == [1]


def test_no_name_of_a_document_stands_over_its_neighbours(slaw: Coleslaw, browsing: Browsing) -> None:
    site, title = "01-cakemehometonight.com", "Mmm, mushroom and millet moussaka"
    for name, new in (("Google 1", site), ("Google 2", title)):
        Row.objects.filter(sheet=slaw.sheet, name=name).update(name=new)
    page = browsing.person("anna")
    Grid(page, slaw.sheet).open()
    for width in (1440, 1280, 640):
        page.set_viewport_size({"width": width, "height": 800})
        for name in page.locator("th.doc .name").all():
            assert name.evaluate("(name) => name.offsetHeight <= name.parentElement.clientHeight")
        if width >= 1280:  # of a site's name all is seen
            of_site = page.locator("th.doc .name", has_text=site).first
            assert of_site.evaluate("(name) => name.scrollHeight <= name.offsetHeight")


def test_long_words_and_names_from_right_to_left_on_the_plan(browsing: Browsing) -> None:
    """A word without blanks made a sheet's matrix as wide as itself; a number was drawn into an Arabic name."""
    mara = person("mara")
    study = builders.study("leases", by=mara)
    long = builders.sheet(study, "Aufgabenübertragungsgesetz" * 6)
    arabic = builders.sheet(study, "عقد إيجار شقة سكنية")
    rater = builders.rater(study, person("anna"))
    for sheet in (long, arabic):
        builders.assignments(rater, sheet)
    page = browsing.person("mara")
    page.goto("/studies/leases/plan/")
    wide, other = page.locator("table.places").all()
    assert wide.evaluate("(table) => table.offsetWidth") < 200
    name, said = other.locator("caption").evaluate("""(caption) => {
        const range = document.createRange();
        range.selectNodeContents(caption.firstChild);
        const lines = [...range.getClientRects()].filter((line) => line.width > 4);
        const counted = caption.querySelector("span").getBoundingClientRect();
        return [lines.map(({ left, right, top }) => [left, right, top]), [counted.left, counted.right, counted.top]];
    }""")
    left, right, top = said
    beside = [line for line in name if abs(line[2] - top) < 8]
    assert all(line[1] <= left + 1 or line[0] >= right - 1 for line in beside)
