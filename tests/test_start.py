"""What every process of an installation loads, and a demo that is stopped while it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Each takes seconds or a hundred megabytes, and only some processes need it.
LARGE = ("torch", "transformers", "scipy", "matplotlib", "pyarrow", "openpyxl", "recipe_scrapers", "extruct")
OF_PAGES = ("scipy", "openpyxl")  # with the pages of reports and of sheets


@pytest.mark.once
def test_no_large_library_is_loaded_with_palate_itself() -> None:
    loaded = f"print(sorted(set({LARGE!r}) & set(sys.modules)))"
    code = f"import sys, django; django.setup(); {loaded}; import config.urls; {loaded}"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert told.stdout.splitlines() == ["[]", str(sorted(OF_PAGES))]


@pytest.mark.once
def test_a_demo_that_is_stopped_while_it_prepares_leaves_nothing_at_work(tmp_path: Path) -> None:
    of_tests = {"DATABASE_URL", "CELERY_BROKER_URL", "DJANGO_SETTINGS_MODULE"}
    around = {name: value for name, value in os.environ.items() if name not in of_tests}
    demo = subprocess.Popen(
        [sys.executable, "-m", "config.demo", "--port", "0"],
        cwd=ROOT,
        env={**around, "PALATE_ENV": "demo", "PALATE_VAR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    assert demo.stdout.readline() == "Preparing the demo …\n"
    time.sleep(1)
    demo.send_signal(signal.SIGTERM)
    said, complained = demo.communicate(timeout=10)  # until nobody is left who could say something
    assert (demo.returncode, complained, said) == (0, "", "\nStopping …\n")
