"""Draws the README's pictures from the running demo: python -m tests.pictures

It starts the demo in a folder of its own, waits for the judges, and looks at it as its people do, so that the pictures
show what is there. It needs Chromium and Pillow, which come with the tests and with the figures of reports.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser import FLAGS, system_chromium

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
PORT = 8139
SITE = f"http://127.0.0.1:{PORT}"
PATIENCE = 300  # seconds for the demo to come up, and as many for its judges
COLOURS = 256  # of a picture: text and flat areas need no more


def main() -> int:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as var:
        demo = subprocess.Popen(
            [sys.executable, "-m", "config.demo", "--port", str(PORT)],
            cwd=ROOT,
            env=os.environ | {"PALATE_ENV": "demo", "PALATE_VAR": var},
            stdout=subprocess.DEVNULL,
        )
        try:
            until_up()
            draw()
        finally:
            demo.send_signal(signal.SIGTERM)
            demo.wait()
    return 0


def until_up() -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{SITE}/healthz", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise TimeoutError("The demo did not start.")


def draw() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{SITE}/login/")
        label(page)
        keep(page, "grid")
        become(page, "manager", "/studies/demo/judges/")
        until_judged(page)
        step(page, "See where they differ")
        page.locator("label", has_text="People differ").click()
        page.wait_for_timeout(1000)
        keep(page, "lens")
        step(page, "Plan who labels what")
        page.wait_for_selector("#preview .coverage")
        keep(page, "plan")
        step(page, "Read the report")
        page.wait_for_load_state("networkidle")
        keep(page, "report")
        browser.close()


def label(page: Page) -> None:
    """Answer some cells of the first sheet, as its annotator would."""
    become(page, "annotator", "/work/")
    step(page, "Answer some cells")
    page.wait_for_selector("td:focus")
    for key in "1112134112":
        page.keyboard.press(key)
        page.wait_for_timeout(150)


def until_judged(page: Page) -> None:
    """Wait until the lexical judge is through: the small model takes longer, and its rows come as they are done."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and "18 / 18" not in page.content():
        page.wait_for_timeout(2000)
        page.reload()


def become(page: Page, name: str, then: str) -> None:
    page.goto(f"{SITE}/demo/")
    if "/login/" not in page.url:
        page.get_by_role("button", name="Log out").click()
    page.goto(f"{SITE}/login/?next={then}")
    page.locator(".tile", has_text=name).click()
    page.wait_for_load_state()


def step(page: Page, name: str) -> None:
    """A step of the way through the demo, as whoever it is for."""
    page.goto(f"{SITE}/demo/")
    page.locator(".way").get_by_text(name, exact=True).click()
    page.wait_for_load_state()


def keep(page: Page, name: str) -> None:
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        PICTURES / f"{name}.png", optimize=True
    )


if __name__ == "__main__":
    raise SystemExit(main())
