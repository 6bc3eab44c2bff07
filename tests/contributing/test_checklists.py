"""The checklists of CONTRIBUTING.md are followed to the letter in a copy of the project, and their additions used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LEFT_OUT = shutil.ignore_patterns(".*", "node_modules", "var", "__pycache__", "staticfiles", "docs", "benchmarks")
pytestmark = pytest.mark.once


def blocks(heading: str) -> Iterator[tuple[str, str, str]]:
    """(language, file, text) of each block of code under a heading."""
    [section] = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", TEXT, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"^```(\w+) (\S+)\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)


def follow(heading: str, folder: Path) -> None:
    """Write the files that stand under a heading, and change those that are changed there."""
    for language, file, text in blocks(heading):
        path = folder / file
        if language != "diff":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            continue
        before, after = ("".join(f"{line[1:]}\n" for line in text.splitlines() if line[0] == sign) for sign in "-+")
        was = path.read_text(encoding="utf-8")
        assert was.count(before[:-1]) == 1, f"CONTRIBUTING.md changes what is not in {file}: {before}"
        path.write_text(was.replace(before[:-1], after[:-1]), encoding="utf-8")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says of `added.py` in a copy of the project in which the checklists were followed."""
    folder = tmp_path_factory.mktemp("contributing")
    project, packs, backends = folder / "project", folder / "packs", folder / "backends"
    shutil.copytree(ROOT, project, ignore=LEFT_OUT)
    follow("Add an answer kind", project)
    follow("Add a domain pack", packs)
    follow("Add a backend", backends)
    [setting] = re.findall(r"`PALATE_BACKENDS=(\S+)`", TEXT)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        environment.pop(name, None)
    environment |= {"PALATE_PACKS": str(packs), "PALATE_BACKENDS": setting, "PYTHONPATH": str(backends)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--nomigrations",
        "-v",
        "tests/contributing/added.py",
    ]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=600)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("heading", "test"),
    [
        ("Add a domain pack", "test_a_study_is_made_with_the_packs_scheme_and_labelled"),
        ("Add a backend", "test_a_judge_of_the_backend_labels"),
        ("Add an answer kind", "test_the_kind_of_answer_is_labelled_with"),
    ],
)
def test_who_follows_a_checklist_can_label(heading: str, test: str, outcome: str) -> None:
    assert list(blocks(heading))
    assert f"added.py::{test} PASSED" in outcome, outcome[-6000:]


def test_what_the_checklists_name_is_there() -> None:
    named = re.findall(r"`((?:annotation|judges|llm|recipes|reports|static|tests|docs|requirements)/[\w/.*-]*)`", TEXT)
    added = {file for heading in re.findall(r"^## (.+)$", TEXT, flags=re.MULTILINE) for _, file, _ in blocks(heading)}
    assert named
    assert [path for path in named if path not in added and not list(ROOT.glob(path.rstrip("/")))] == []
