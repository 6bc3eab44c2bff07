"""The same document labelled in Palate, Label Studio and Potato: keys, clicks, seconds, and what hands need.

    python -m benchmarks.peers --write-potato FOLDER      # config, style and documents for Potato; then start it there
    python -m benchmarks.peers [--rounds 10] [--json FILE]
        [--label-studio URL --label-studio-token TOKEN --label-studio-login EMAIL PASSWORD] [--potato URL]

A document is one of the paper's sheet, whose 12 ingredients each take one of three options; then it is submitted.
Palate is served as in `benchmarks.grid`. The peers run already and are asked only if their URL is given; a project of
Label Studio is made for each round by its API, and in Potato each round is a new user. Each tool has the fastest
configuration that its documentation offers (below, as text), and is driven by keys where it has keys. What it has
saved is read back and compared.

A round opens the second of nine documents, with the first one done, in a browser that has never been there, and
labels the next ones: without a pause, then with a key every 0.2 s; then the last one is corrected after it was
submitted. Rounds go through the tools in turn, so that other work on the machine meets all of them alike.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

import httpx
import yaml

from benchmarks.grid import AMOUNTS, INGREDIENTS, STEPS, Figure, Site, chromium, prepare, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Response

OPTIONS = ("Found", "Found (not perfect)", "Not found")
N_DOCUMENTS = 9
DOCUMENT = "\n".join(["Ingredients", *AMOUNTS, "", "Steps", *STEPS])
# Which option each ingredient gets, and what is corrected afterwards: the ingredient, and its option instead.
ANSWERS = (0, 1, 2, 1, 0, 2, 0, 1, 2, 1, 0, 1)
CORRECTED, INSTEAD = 3, 2
PACE = 0.2  # seconds a key, in the documents that are labelled as people type

# The keystroke-level model, in seconds: Card, Moran and Newell (1980), The keystroke-level model for user performance
# time with interactive systems, CACM 23(7). A key of an average skilled typist, and one of somebody who types random
# letters; pointing with a mouse; pressing and releasing its button; a hand's way between keyboard and mouse.
KEY, KEY_OF_RANDOM_LETTERS, POINT, BUTTON, HOME = 0.2, 0.5, 1.1, 0.2, 0.4

# Peers bind each option of each ingredient on the page to a key of its own: 36 of them, those of an ingredient in a
# column of the keyboard as far as there are columns.
KEYS = ("1qa", "2ws", "3ed", "4rf", "5tg", "6yh", "7uj", "8ik", "9ol", "0pm", "zxc", "vbn")


# --- what is done ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A key or a click, and what must hold before the next step, as JavaScript."""

    what: str  # a key, with others held down joined by “+”; or the selector of what is clicked
    click: bool = False
    until: str = ""


@dataclass(frozen=True)
class Effort:
    """What hands do in some steps."""

    keys: int
    clicks: int
    ways: int  # between keyboard and mouse; hands begin at the keyboard and end there

    @classmethod
    def of(cls, steps: Sequence[Step]) -> Effort:
        places = [False, *(step.click for step in steps), False]
        return cls(
            keys=sum(len(step.what.split("+")) for step in steps if not step.click),
            clicks=sum(step.click for step in steps),
            ways=sum(a != b for a, b in pairwise(places)),
        )

    def seconds(self, key: float = KEY) -> float:
        return self.keys * key + self.clicks * (POINT + BUTTON) + self.ways * HOME


class Tool(Protocol):
    """One tool with a document opened by `address`, labelled by `document` and corrected by `correction`."""

    name: str
    address: str
    ready: str  # JavaScript: an unlabelled document is there and hears keys
    document: tuple[Step, ...]
    correction: tuple[Step, ...]

    def begin(self, browser: Browser) -> list[Any]:
        """Make nine new documents; the cookies of somebody who is logged in to label them."""

    def acknowledges(self, response: Response) -> bool:
        """Whether this says that a labelled document is saved."""

    def standing(self, context: BrowserContext, number: int) -> list[str]:
        """The saved options of a document, by ingredient."""


def keys_of_its_own() -> list[Step]:
    return [Step(keys[answer]) for keys, answer in zip(KEYS, ANSWERS, strict=True)]


# --- Palate ---------------------------------------------------------------------------------------------------------

SCHEME = """\
key: ingredients
version: 1
title: Ingredients
sections:
  - key: ingredients
    title: Ingredients
    column: {title: Ingredient, facets: [ingredient]}
    questions:
      - key: presence
        title: Presence
        about: ingredient
        options:
          - {key: found, label: Found}
          - {key: found-not-perfect, label: Found (not perfect), sign: "~"}
          - {key: not-found, label: Not found, sign: "–"}
"""


class Palate:
    """The grid. Its keys mean the same in each cell, and the focus goes on by itself until the document is complete.

    As Potato, the study lets the last answer submit; a correction opens the document and closes it again.
    """

    name = "Palate"
    ready = "() => document.activeElement?.matches('td') && !document.activeElement.dataset.sign"
    document: tuple[Step, ...] = tuple(Step(str(answer + 1)) for answer in ANSWERS)
    # Back, to the ingredient, choose: which leads on to the next document again.
    correction: tuple[Step, ...] = (Step("p"), *([Step("ArrowRight")] * CORRECTED), Step(str(INSTEAD + 1)))

    def __init__(self, site: Site) -> None:
        from annotation import actions
        from annotation.models import Role, User
        from annotation.scheme.spec import load_scheme

        scheme = actions.store_scheme(spec=load_scheme(SCHEME), source=SCHEME)
        self.study = actions.create_study(slug="peers", title="Peers", scheme=scheme, by=None)
        actions.change_study(study=self.study, slug="peers", title="Peers", guideline="", submit_complete=True)
        user = User.objects.get(username="annotator")
        actions.add_member(study=self.study, user=user, role=Role.ANNOTATOR)
        self.rater = self.study.raters.get(user=user)
        self.site, self.address, self.assignments = site, "", [0]

    def begin(self, browser: Browser) -> list[Any]:
        from annotation import actions
        from annotation.evidence.blocks import Block
        from recipes.cooking import actions as recipes
        from recipes.cooking.parsing import parse_recipe
        from recipes.cooking.vocabulary import INGREDIENT, STEP

        evidence = [Block(INGREDIENT, line) for line in AMOUNTS]
        evidence += [Block(STEP, line) for line in STEPS]
        recipe = parse_recipe(f"name: Slaw {uuid.uuid4()}\ningredients: {INGREDIENTS}\nsteps: [Mix.]\n")
        sheet = recipes.add_recipe(study=self.study, recipe=recipe)
        for number in range(N_DOCUMENTS):
            actions.add_row(sheet=sheet, name=f"Google {number + 1}", evidence=evidence)
        made = actions.assign(rater=self.rater, rows=sheet.rows.all())
        self.assignments = [assignment.pk for assignment in sorted(made, key=lambda one: one.row.position)]
        self.address = f"{self.site.url}/sheets/{sheet.pk}/"
        return [self.site.cookie]

    def acknowledges(self, response: Response) -> bool:
        # The request with the last choices submits the document; what it has not taken, `standing` will not show.
        return "submit=" in (response.request.post_data or "") and response.ok

    def standing(self, context: BrowserContext, number: int) -> list[str]:
        from annotation.models import Label

        labels = Label.objects.filter(assignment=self.assignments[number], assignment__state="submitted")
        return list(labels.order_by("column__position").values_list("option__label", flat=True))


# --- Label Studio ---------------------------------------------------------------------------------------------------

# Document and questions side by side, all within 1280 × 800. A single key for submitting is set at the server's start:
#     EDITOR_KEYMAP='{"annotation:submit": {"key": "enter"}, "region:focus": {"key": "alt+enter"}}'
LABELLING_CONFIG = """\
<View className="sides">
  <Style>
    .sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem }
    .line { display: grid; grid-template-columns: 8rem 1fr; align-items: center }
    .line .lsf-choices { margin: 0 }
  </Style>
  <View><Text name="text" value="$text"/></View>
  <View>
{lines}
  </View>
</View>
"""
LABELLING_LINE = """\
    <View className="line">
      <Header value="$ingredient{n}" size="6"/>
      <Choices name="presence{n}" toName="text" choice="single-radio" layout="inline" required="true">
        {choices}
      </Choices>
    </View>"""


def labelling_config() -> str:
    lines = []
    for n, keys in enumerate(KEYS):
        choices = (f'<Choice value="{label}" hotkey="{key}"/>' for label, key in zip(OPTIONS, keys, strict=True))
        lines.append(LABELLING_LINE.format(n=n, choices="".join(choices)))
    return LABELLING_CONFIG.replace("{lines}", "\n".join(lines))


class LabelStudio:
    """The stream of “Label all tasks”: submitting leads to the next task. Going back is the mouse's: it has no key."""

    name = "Label Studio"
    ready = """() => document.querySelectorAll(".lsf-choices input").length === 36
        && !document.querySelector(".ant-radio-checked")"""
    document: tuple[Step, ...] = (*keys_of_its_own(), Step("Enter"))
    correction: tuple[Step, ...] = (
        Step(
            '[data-testid="prev-task"]',
            click=True,
            until="() => document.querySelectorAll('.ant-radio-checked').length === 12",
        ),
        Step(KEYS[CORRECTED][INSTEAD]),
        Step("Enter"),
        Step('[data-testid="next-task"]', click=True),  # an update stays where it is
    )

    def __init__(self, url: str, token: str, login: tuple[str, str]) -> None:
        self.url, self.login = url.rstrip("/"), login
        self.api = httpx.Client(base_url=f"{self.url}/api", headers={"Authorization": f"Token {token}"}, timeout=60)
        self.address, self.tasks = "", [0]

    def begin(self, browser: Browser) -> list[Any]:
        settings = {"sampling": "Sequential sampling", "show_instruction": False, "show_skip_button": False}
        config = {"title": f"Recipe {uuid.uuid4().hex[:8]}", "label_config": labelling_config(), **settings}
        project = self.api.post("/projects/", json=config).raise_for_status().json()["id"]
        named = {f"ingredient{n}": name for n, name in enumerate(INGREDIENTS)}
        documents = [{"text": f"Google {number + 1}\n{DOCUMENT}", **named} for number in range(N_DOCUMENTS)]
        self.api.post(f"/projects/{project}/import", json=documents).raise_for_status()
        listed = self.api.get("/tasks/", params={"project": project, "page_size": 100}).raise_for_status().json()
        self.tasks = sorted(task["id"] for task in listed["tasks"])
        self.address = f"{self.url}/projects/{project}/data?labeling=1"
        return logged_in(browser, f"{self.url}/user/login/", dict(zip(("email", "password"), self.login, strict=True)))

    def acknowledges(self, response: Response) -> bool:
        return response.request.method in ("POST", "PATCH") and "/annotations" in response.url and response.ok

    def standing(self, context: BrowserContext, number: int) -> list[str]:
        [annotation] = self.api.get(f"/tasks/{self.tasks[number]}/annotations/").raise_for_status().json()
        chosen = {result["from_name"]: result["value"]["choices"][0] for result in annotation["result"]}
        return [chosen.get(f"presence{n}", "") for n in range(len(INGREDIENTS))]


# --- Potato ---------------------------------------------------------------------------------------------------------

# `review_mode` goes on by itself as soon as all is answered, so that nothing is submitted. Key bindings in sequence
# would not reach all ingredients (three rows of keys), so each option names its own.
POTATO_CONFIG = """\
annotation_task_name: Recipe
server_name: Recipe
task_dir: .
output_annotation_dir: output
data_files: [documents.json]
item_properties: {id_key: id, text_key: text}
require_password: false
authentication: {method: in_memory}
user_config: {allow_all_users: true, users: []}
alert_time_each_instance: 10000000
base_css: style.css
instance_display:
  fields:
    - key: text
      type: text
      display_options: {preserve_whitespace: true, resizable: false, max_height: 640}
layout:
  grid: {columns: 2, gap: 0.25rem, row_gap: 0.25rem}
  styling: {group_padding: 0.1rem, form_padding: 0.1rem 0.25rem}
review_mode: {enabled: true, delay_ms: 0}
annotation_schemes:
"""
# Document and questions side by side, all within 1280 × 800.
POTATO_STYLE = """\
#task_layout { max-width: none !important; width: 100% !important; margin: 0 !important; }
.container-fluid { max-width: none !important; padding: 0 0.5rem !important; }
#main-content[style*="block"] { display: grid !important; grid-template-columns: 21rem 1fr; gap: 0.5rem; }
.text-display-content { font-size: 0.95rem !important; line-height: 1.35 !important; }
"""


def write_potato(folder: Path) -> None:
    """What Potato is started with: `potato start config.yaml`."""
    schemes = [
        {
            "annotation_type": "radio",
            "name": f"presence{n}",
            "description": name,
            "horizontal": True,
            "labels": [{"name": label, "key_value": key} for label, key in zip(OPTIONS, keys, strict=True)],
        }
        for n, (name, keys) in enumerate(zip(INGREDIENTS, KEYS, strict=True))
    ]
    documents = [{"id": f"d{number}", "text": f"Google {number + 1}\n{DOCUMENT}"} for number in range(N_DOCUMENTS)]
    folder.mkdir(parents=True, exist_ok=True)
    config = POTATO_CONFIG + yaml.safe_dump(schemes, sort_keys=False)
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    (folder / "style.css").write_text(POTATO_STYLE, encoding="utf-8")
    (folder / "documents.json").write_text(json.dumps(documents), encoding="utf-8")


class Potato:
    """Radio buttons with keys. It goes on by itself, and the left arrow leads back."""

    name = "Potato"
    _shown = """typeof isLoading === "boolean" && !isLoading
        && document.getElementById("main-content")?.style.display === "block"
        && document.querySelectorAll("input[type=radio]").length === 36"""
    ready = f"() => {_shown} && !document.querySelector('input[type=radio]:checked')"
    document: tuple[Step, ...] = tuple(keys_of_its_own())
    correction: tuple[Step, ...] = (
        Step(
            "ArrowLeft",
            until=f"() => {_shown} && document.querySelectorAll('input[type=radio]:checked').length === 12",
        ),
        Step(KEYS[CORRECTED][INSTEAD]),
    )

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.address = f"{self.url}/annotate"

    def begin(self, browser: Browser) -> list[Any]:
        return logged_in(browser, f"{self.url}/", {"email": f"annotator-{uuid.uuid4().hex[:8]}"})

    def acknowledges(self, response: Response) -> bool:
        return response.url.endswith("/updateinstance") and response.ok

    def standing(self, context: BrowserContext, number: int) -> list[str]:
        answer = context.request.get(f"{self.url}/get_annotations", params={"instance_id": f"d{number}"}).json()
        labels = answer["label_annotations"]
        return ["".join(labels.get(f"presence{n}", [])) for n in range(len(INGREDIENTS))]


def logged_in(browser: Browser, address: str, fields: dict[str, str]) -> list[Any]:
    """The cookies that a login page gives."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    for name, value in fields.items():
        page.fill(f"form:visible input[name={name}]", value)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    cookies: list[Any] = context.cookies()
    context.close()
    return cookies


# --- labelling ------------------------------------------------------------------------------------------------------

# The first moment at which the document can be labelled, in ms after the navigation began.
FIRST = """(() => {
    const ready = %s;
    const look = () => {
        if (ready()) window.firstUsable = performance.now();
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})()"""


TRAVELLED = """() => ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
    .reduce((sum, entry) => sum + entry.transferSize, 0)"""


@dataclass
class Measured:
    """The seconds of one tool, a number a round; and the bytes that its page needs."""

    travelled: list[float] = field(default_factory=list)
    usable: list[float] = field(default_factory=list)  # from the navigation to the first choice usable
    floor: list[float] = field(default_factory=list)  # from the first key to the acknowledged save, no pauses
    saved: list[float] = field(default_factory=list)  # from the last key to the acknowledged save, at a pace
    next: list[float] = field(default_factory=list)  # from the last key to the next document usable, at a pace
    correction: list[float] = field(default_factory=list)  # from its first step to the acknowledged save, no pauses


def one_round(tool: Tool, browser: Browser, measured: Measured) -> None:
    cookies = tool.begin(browser)
    for cold in (False, True):  # the first browser warms up the server and labels a document
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_cookies(cookies)
        context.add_init_script(FIRST % tool.ready)
        page = context.new_page()
        page.goto(tool.address)
        wait(page, "() => window.firstUsable")
        if cold:
            measured.usable.append(page.evaluate("() => window.firstUsable") / 1000)
            page.wait_for_timeout(1000)  # what the page still does by itself is over
            measured.travelled.append(page.evaluate(TRAVELLED))
        start = time.perf_counter()
        _last, saved = do(tool, page, tool.document)
        wait(page, tool.ready)
        if cold:
            measured.floor.append(saved - start)
            page.wait_for_timeout(1000)
            last, saved = do(tool, page, tool.document, PACE)
            wait(page, tool.ready)
            measured.saved.append(saved - last)
            measured.next.append(time.perf_counter() - last)
            expect(tool, context, 1, ANSWERS)
            page.wait_for_timeout(1000)
            start = time.perf_counter()
            _last, saved = do(tool, page, tool.correction)
            measured.correction.append(saved - start)
            wait(page, tool.ready)
            expect(tool, context, 2, (*ANSWERS[:CORRECTED], INSTEAD, *ANSWERS[CORRECTED + 1 :]))
        else:
            expect(tool, context, 0, ANSWERS)
        context.close()


def do(tool: Tool, page: Page, steps: Sequence[Step], pause: float = 0) -> tuple[float, float]:
    """When the last step was begun, and when the save was acknowledged."""
    saved: list[float] = []

    def hear(response: Response) -> None:
        if tool.acknowledges(response):
            saved.append(time.perf_counter())

    page.on("response", hear)
    last = 0.0
    for step in steps:
        if step.click and step is steps[-1]:  # it leaves the document, which must be saved by then
            until(page, lambda: bool(saved))
        else:
            saved.clear()
        last = time.perf_counter()
        if step.click:
            page.click(step.what)
        else:
            page.keyboard.press(step.what)
        if step.until:
            wait(page, step.until)
        if pause and step is not steps[-1]:
            page.wait_for_timeout(1000 * max(0, pause - (time.perf_counter() - last)))
    until(page, lambda: bool(saved))
    page.remove_listener("response", hear)
    return last, saved[-1]


def wait(page: Page, condition: str) -> None:
    page.wait_for_function(condition, polling="raf")


def until(page: Page, happened: Callable[[], bool]) -> None:
    give_up = time.perf_counter() + 30
    while not happened():
        assert time.perf_counter() < give_up, "no save was acknowledged"
        page.wait_for_timeout(1)


def expect(tool: Tool, context: BrowserContext, number: int, answers: Sequence[int]) -> None:
    standing = tool.standing(context, number)
    assert standing == [OPTIONS[answer] for answer in answers], f"{tool.name}, document {number + 1}: {standing}"


# --- what came of it ------------------------------------------------------------------------------------------------


def told(tool: Tool, measured: Measured) -> Iterator[Figure]:
    for title, steps in (("document", tool.document), ("correction", tool.correction)):
        effort = Effort.of(steps)
        yield Figure(tool.name, f"{title}: key presses", effort.keys, "")
        yield Figure(tool.name, f"{title}: clicks", effort.clicks, "")
        yield Figure(tool.name, f"{title}: different keys", len({step.what for step in steps if not step.click}), "")
        yield Figure(tool.name, f"{title}: motor time, a key {KEY} s", effort.seconds(), "s")
        yield Figure(
            tool.name,
            f"{title}: motor time, a key {KEY_OF_RANDOM_LETTERS} s",
            effort.seconds(KEY_OF_RANDOM_LETTERS),
            "s",
        )
    yield Figure(tool.name, "opened, empty cache: what travels", median(measured.travelled) / 1024, "KiB")
    for title, taken in (
        ("opened, empty cache, to the first choice usable", measured.usable),
        ("no pauses: first key to acknowledged save", measured.floor),
        (f"a key every {PACE} s: last key to acknowledged save", measured.saved),
        (f"a key every {PACE} s: last key to the next document usable", measured.next),
        ("correction, no pauses: first step to acknowledged save", measured.correction),
    ):
        yield Figure(tool.name, f"{title}, median", 1000 * median(taken), "ms")
        yield Figure(tool.name, f"{title}, slowest", 1000 * max(taken), "ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--write-potato", type=Path, metavar="FOLDER", help="write what Potato is started with, and end"
    )
    parser.add_argument("--label-studio", metavar="URL")
    parser.add_argument("--label-studio-token", metavar="TOKEN", default="")
    parser.add_argument("--label-studio-login", nargs=2, metavar=("EMAIL", "PASSWORD"), default=("", ""))
    parser.add_argument("--potato", metavar="URL")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    if args.write_potato:
        write_potato(args.write_potato)
        return 0
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="palate-peers-"))
        prepare(Path(folder), None)
        from annotation.models import User

        User.objects.create_user("annotator")
        site = stack.enter_context(served({}))
        browser = stack.enter_context(chromium())
        tools: list[Tool] = [Palate(site)]
        if args.label_studio:
            tools.append(LabelStudio(args.label_studio, args.label_studio_token, tuple(args.label_studio_login)))
        if args.potato:
            tools.append(Potato(args.potato))
        measured = [Measured() for _tool in tools]
        for number in range(args.rounds):
            for tool, seconds in zip(tools, measured, strict=True):
                one_round(tool, browser, seconds)
            print(f"round {number + 1} of {args.rounds}", file=sys.stderr, flush=True)
        figures = [figure for tool, seconds in zip(tools, measured, strict=True) for figure in told(tool, seconds)]
    for figure in figures:
        print(figure)
    if args.json:
        args.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
