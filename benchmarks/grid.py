"""How quick the grid is: on the server, from a key press to its paint, and until the first cell can be used.

    python -m benchmarks.grid [--sections server keys first] [--database URL] [--json FILE]

Makes two sheets in a database of its own, SQLite in a temporary folder unless `--database` names another: the paper's
(9 documents × 66 cells) and a large one (80 × 66 = 5,280 cells), both half answered. They are served by gunicorn and
opened in Chromium with an empty cache. Prints a table and exits with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parent.parent
INGREDIENTS = ["white cabbage", "carrots", "mayonnaise", "mustard", "vinegar", "sugar", "salt", "pepper"]
INGREDIENTS += ["celery seed", "spring onions", "parsley", "sour cream"]
# What stands on the page of each document.
AMOUNTS = [f"{n} tbsp {name}" for n, name in enumerate(INGREDIENTS)]
STEPS = [f"Mix the {name} with the {INGREDIENTS[0]} in a bowl." for name in INGREDIENTS]
SHEETS = {"the paper's sheet": 9, "80 documents": 80}
LOOKS = 10  # times that a page is asked for
KEYS_EACH = 60  # presses of each kind that are timed
WINDOW_MS = 1500  # what Chromium loads for a window of its own, such as the list below its address line, is there then
PAUSE_MS = 80  # between two presses: 12 keys a second, more than anybody chooses


@dataclass(frozen=True)
class Figure:
    """One measured number. `target` is the most that it may be, `least` the least; None is not held to anything."""

    section: str
    name: str
    value: float
    unit: str
    target: float | None = None
    least: float | None = None

    @property
    def missed(self) -> bool:
        too_much = self.target is not None and self.value > self.target
        return too_much or (self.least is not None and self.value < self.least)

    def __str__(self) -> str:
        bounds = [f"at most {self.target:g}"] if self.target is not None else []
        bounds += [f"at least {self.least:g}"] if self.least is not None else []
        bound = ", ".join((["MISSED"] if self.missed else []) + bounds)
        return f"{self.section:<8} {self.name:<58} {self.value:>10,.1f} {self.unit:<8} {bound}"


@dataclass(frozen=True)
class Site:
    """A served installation: its address, the sheets to open, and the cookie of the annotator whose sheets they are."""

    url: str
    sheets: dict[str, int]
    cookie: dict[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--database", help="URL of an empty database; SQLite in a temporary folder without it")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory(prefix="palate-grid-") as folder:
        prepare(Path(folder), args.database)
        sheets = make_sheets()
        with served(sheets) as site:
            for section in args.sections:
                for figure in SECTIONS[section](site):
                    figures.append(figure)
                    print(figure, flush=True)
    if args.json:
        args.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n", encoding="utf-8")
    return int(any(figure.missed for figure in figures))


# --- what is measured on --------------------------------------------------------------------------------------------


def prepare(folder: Path, database: str | None) -> None:
    """Point this process, and the servers that it starts, at a fresh database."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PALATE_ENV": "production",
        "SECRET_KEY": uuid.uuid4().hex,
        "ALLOWED_HOSTS": "127.0.0.1,testserver",
        "HTTPS": "false",
        "LOG_LEVEL": "ERROR",
        "PALATE_VAR": str(folder),
        "DATABASE_URL": database or f"sqlite:///{folder / 'grid.sqlite3'}",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("collectstatic", verbosity=0, interactive=False)
    call_command("migrate", verbosity=0)


def make_sheets() -> dict[str, int]:
    """The two sheets, half answered as people answer, all of them the annotator's."""
    from annotation import actions
    from annotation.actions import Answer
    from annotation.evidence.blocks import Block
    from annotation.models import Option, Role, User
    from recipes.cooking import actions as recipes
    from recipes.cooking.parsing import parse_recipe
    from recipes.cooking.vocabulary import INGREDIENT, STEP
    from recipes.memorization.demo_study import paper_scheme

    study = actions.create_study(slug="grid", title="Grid", scheme=paper_scheme(), by=None)
    user = User.objects.create_user("annotator")
    actions.add_member(study=study, user=user, role=Role.ANNOTATOR)
    rater = study.raters.get(user=user)
    evidence = [Block(INGREDIENT, line) for line in AMOUNTS]
    evidence += [Block(STEP, line) for line in STEPS]
    options = {option.question_id: option for option in Option.objects.order_by("-position")}
    made = {}
    for title, n_documents in SHEETS.items():
        tasks = "\n".join(
            f"  - {{task: mix {n}, tool: bowl, ingredients: {name}}}"
            for n, name in enumerate(INGREDIENTS * 2)
            if n < 18
        )
        recipe = parse_recipe(f"name: {title}\ningredients: {INGREDIENTS}\nsteps: [Mix.]\ntasks:\n{tasks}\n")
        sheet = recipes.add_recipe(study=study, recipe=recipe)
        for n in range(n_documents):
            actions.add_row(sheet=sheet, name=f"Google {n + 1}", title="", url="", evidence=evidence)
        cells = [
            (column, question)
            for column in sheet.columns.select_related("section")
            for question in column.section.questions.all()
        ]
        for n, assignment in enumerate(actions.assign(rater=rater, rows=sheet.rows.all())):
            if n % 2 and n < n_documents - 1:
                answers = [Answer(column, question, options[question.pk]) for column, question in cells]
                actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())
        made[title] = sheet.pk
    return made


@contextmanager
def served(sheets: dict[str, int]) -> Iterator[Site]:
    """gunicorn as it is deployed, with two workers: as many as the machine of the figures has cores."""
    from django.conf import settings
    from django.db import connections
    from django.test import Client

    from annotation.models import User

    client = Client()
    client.force_login(User.objects.get(username="annotator"))
    session = client.cookies[settings.SESSION_COOKIE_NAME]
    connections.close_all()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "-c",
        "config/gunicorn.py",
        "--bind",
        f"127.0.0.1:{port}",
        "--workers",
        "2",
    ]
    server = subprocess.Popen([*command, "--log-level", "warning"], cwd=ROOT)
    try:
        for _attempt in range(300):
            try:
                urllib.request.urlopen(f"{url}/healthz", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield Site(url, sheets, {"name": session.key, "value": session.value, "url": url})
    finally:
        server.terminate()
        server.wait(10)


# --- the server -----------------------------------------------------------------------------------------------------


def server(site: Site) -> Iterator[Figure]:
    """CPU, queries and bytes of a sheet's page; and of one save."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    from annotation.models import User

    client = Client()
    client.force_login(User.objects.get(username="annotator"))
    for title, pk in site.sheets.items():
        address = reverse("annotation:sheet", args=[pk])
        with CaptureQueriesContext(connection) as captured:
            page = client.get(address).content
        yield Figure("server", f"{title}: queries of the page", len(captured), "queries")
        seconds = _cpu(lambda address=address: client.get(address))  # type: ignore[misc]
        yield Figure("server", f"{title}: CPU of the page", 1000 * seconds, "ms")
        yield Figure("server", f"{title}: the page", len(page) / 1024, "KiB")
        yield Figure("server", f"{title}: the page as it travels, gzip", len(gzip.compress(page, 6)) / 1024, "KiB")
        data, touched = _a_save(pk), 0
        address = reverse("annotation:record-cells", args=[pk])
        with CaptureQueriesContext(connection) as captured:
            touched = len(client.post(address, data()).content)
        yield Figure("server", f"{title}: queries of a save", len(captured), "queries")
        yield Figure("server", f"{title}: answer to a save", touched, "bytes")
        seconds = _cpu(lambda address=address, data=data: client.post(address, data()))  # type: ignore[misc]
        yield Figure("server", f"{title}: CPU of a save", 1000 * seconds, "ms", target=6)


def _cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU, the median of `LOOKS`."""
    taken = []
    gc.collect()
    gc.freeze()  # as the servers do (config/gunicorn.py): what is loaded is no garbage, and nobody looks through it
    for _look in range(LOOKS):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return median(taken)


def _a_save(sheet: int) -> Callable[[], dict[str, str]]:
    """Makes a change of one open cell, back and forth between two options."""
    from annotation.models import Assignment, Column, Option

    assignment = Assignment.objects.filter(row__sheet=sheet).last()  # which the other sections leave alone
    column = Column.objects.filter(sheet=sheet, section__key="ingredients").first()
    assert assignment is not None
    assert column is not None
    options = list(Option.objects.filter(question__section=column.section_id).order_by("position"))[:2]
    values = [option.key for option in options]
    seen = [""]

    def change() -> dict[str, str]:
        value = values[seen[0] == values[0]]
        change = [assignment.pk, column.pk, options[0].question_id, value, seen[0]]
        seen[0] = value
        return {"key": str(uuid.uuid4()), "changes": json.dumps([change])}

    return change


# --- in the browser -------------------------------------------------------------------------------------------------

# The first moment at which a cell has the focus and a key would be heard, in ms after the navigation began.
FIRST_CELL = """document.addEventListener("focusin", ({ target }) => {
    if (target.matches("td")) window.firstCell ??= performance.now();
});"""
# From the key press to the end of the frame that shows what it did.
PAINTS = """() => {
    window.samples = [];
    document.addEventListener("keydown", (event) => requestAnimationFrame(() => {
        const channel = new MessageChannel();  // its message comes after the frame is painted
        channel.port1.onmessage = () => window.samples.push(performance.now() - event.timeStamp);
        channel.port2.postMessage(0);
    }), true);
}"""
KINDS: dict[str, Sequence[str]] = {
    "choose": ("1", "2", "3"),
    "move": ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"),
    "next document, page": ("n", "PageDown", "p", "PageUp"),
    "select": ("Shift+ArrowDown", "Shift+ArrowRight", "Shift+PageDown", "Escape"),
    "undo, redo": ("Control+z", "Control+Shift+z"),
}


@contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    from tests.browser import FLAGS, system_chromium

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright keeps an event loop in this thread
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_chromium(), args=FLAGS)
        yield browser
        browser.close()


def _fresh(browser: Browser, site: Site) -> BrowserContext:
    """A browser that has never been here, but for the login."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": site.cookie["name"], "value": site.cookie["value"], "url": site.cookie["url"]}])
    context.add_init_script(FIRST_CELL)
    return context


def _open(context: BrowserContext, site: Site, sheet: int, *, window_ms: float = 0) -> Page:
    page = context.new_page()
    page.wait_for_timeout(window_ms)
    page.goto(f"{site.url}/sheets/{sheet}/")
    page.wait_for_selector("td:focus")
    return page


def first(site: Site) -> Iterator[Figure]:
    """From opening a sheet in a browser with an empty cache to the first cell that can be used.

    In a window that has been there for a while, as that of a user; and in one opened with it, where Chromium loads
    pages of its own meanwhile. The two in turn.
    """
    windows = {"": WINDOW_MS, " in a new window": 0}
    with chromium() as browser:
        for (title, pk), targets in zip(site.sheets.items(), ((150, 200), (None, None)), strict=True):
            taken: dict[str, list[float]] = {window: [] for window in windows}
            for look in range(LOOKS + 1):
                for window, window_ms in windows.items():
                    context = _fresh(browser, site)
                    page = _open(context, site, pk, window_ms=window_ms)
                    if look:  # the first ones warm up the server
                        taken[window].append(page.evaluate("() => window.firstCell"))
                    page.wait_for_timeout(
                        PAUSE_MS * 10
                    )  # what the page does afterwards does not run into the next look
                    context.close()
            for (window, each), target in zip(taken.items(), targets, strict=True):
                name = f"{title}: first cell usable{window}"
                yield Figure("first", f"{name}, median", median(each), "ms", target=target)
                yield Figure("first", f"{name}, slowest of {LOOKS}", max(each), "ms")


def keys(site: Site) -> Iterator[Figure]:
    """From a key press to its paint, for each kind of key."""
    with chromium() as browser:
        for title, pk in site.sheets.items():
            context = _fresh(browser, site)
            page = _open(context, site, pk)
            page.wait_for_timeout(500)
            page.evaluate(PAINTS)
            everything: list[float] = []
            for kind, presses in KINDS.items():
                page.evaluate("() => { window.samples = []; }")
                for n in range(KEYS_EACH):
                    page.keyboard.press(presses[n % len(presses)])
                    page.wait_for_timeout(PAUSE_MS)
                page.wait_for_function("() => document.getElementById('save-state').dataset.state === 'saved'")
                # Keys that only hold others down are no presses of their own.
                samples = sorted(page.evaluate("() => window.samples"))
                everything += samples
                yield Figure("keys", f"{title}: {kind}, median", median(samples), "ms")
                yield Figure("keys", f"{title}: {kind}, p95", _p95(samples), "ms", target=50)
            yield Figure("keys", f"{title}: all keys, p95", _p95(sorted(everything)), "ms", target=50)
            context.close()


def _p95(samples: Sequence[float]) -> float:
    return samples[min(len(samples) - 1, int(0.95 * len(samples)))]


SECTIONS: dict[str, Callable[[Site], Iterator[Figure]]] = {"server": server, "keys": keys, "first": first}

if __name__ == "__main__":
    sys.exit(main())
