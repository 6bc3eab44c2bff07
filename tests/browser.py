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


def system_chromium() -> str | None:
    """A Chromium of the system, or None: then Playwright's own is used."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def playwright_has_its_own() -> bool:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return os.path.exists(playwright.chromium.executable_path)  # noqa: PTH110


def main() -> int:
    if system_chromium() or playwright_has_its_own():
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium for the browser tests …", flush=True)
        subprocess.run([*APT, "update"], check=True)
        subprocess.run([*APT, "install", "--no-install-recommends", "chromium"], check=True)
        return 0
    print("Downloading Playwright's Chromium for the browser tests …", flush=True)
    return subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
