"""What every process of an installation loads."""

from __future__ import annotations

import subprocess
import sys
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
