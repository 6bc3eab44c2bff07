"""Where a Chromium is for the browser tests; run as a script, it gets one where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-smooth-scrolling",  # else a key's scrolling is still under way when the next one is pressed
]
# As root on Debian; whoever runs two installations at once waits for the other.
APT = ["flock", "/var/lib/apt", "apt-get", "-y", "-qq"]
# Without windows it takes half the time, as Playwright's own does.
SHELL = "chromium-headless-shell"


def system_chromium() -> str | None:
    """A Chromium of the system, or None: then Playwright's own is used."""
    return next(filter(None, map(shutil.which, (SHELL, "chromium", "chromium-browser", "google-chrome"))), None)


def playwright_has_its_own() -> bool:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return os.path.exists(playwright.chromium.executable_path)  # noqa: PTH110


def _is_worth_another() -> bool:
    """Where all tests run on a machine that is thrown away."""
    return "CI" in os.environ and not shutil.which(SHELL)


def main() -> int:
    may_install = os.geteuid() == 0 and shutil.which("apt-get")
    if (system_chromium() or playwright_has_its_own()) and not (may_install and _is_worth_another()):
        return 0
    if may_install:
        print("Installing Chromium for the browser tests …", flush=True)
        subprocess.run([*APT, "update"], check=not system_chromium())
        install = [*APT, "install", "--no-install-recommends"]
        # Older releases of Debian have none.
        if subprocess.run([*install, SHELL], check=False).returncode and not system_chromium():
            subprocess.run([*install, "chromium"], check=True)
        return 0
    print("Downloading Playwright's Chromium for the browser tests …", flush=True)
    return subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
