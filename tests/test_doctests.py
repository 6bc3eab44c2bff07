"""Examples in docstrings say what comes out."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for app in ("annotation", "base", "judges", "llm", "recipes", "reports")
    for file in (ROOT / app).rglob("*.py")
    if ">>> " in file.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", MODULES)
def test_an_example_gives_what_it_says(module: str) -> None:
    failed, tried = doctest.testmod(import_module(module))
    assert (failed, tried > 0) == (0, True)
