"""The floors below the packs know no kitchen: what belongs to a domain is registered by its pack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = ("annotation", "judges", "llm", "work", "reports", "base")
SHARED = ("cooking", "benchmark")  # packs that are no paper's
TEMPLATES = ("annotation", "judges", "reports", "registration", "work")
WORDS = re.compile(r"recipe|ingredient|kitchen|\bdish(?:es)?\b|culinar|\bcook(?!ie)", re.IGNORECASE)


def files() -> Iterator[Path]:
    for floor in FLOORS:
        yield from (path for path in (ROOT / floor).rglob("*.py") if "migrations" not in path.parts)
    for folder in TEMPLATES:
        yield from (ROOT / "templates" / folder).rglob("*.html")
    yield from (ROOT / "templates").glob("*.html")
    yield from (path for path in (ROOT / "static").rglob("*") if path.suffix in (".js", ".css"))


@pytest.mark.once
def test_the_core_has_no_words_of_kitchens() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if WORDS.search(line)
    ]
    assert found == []


@pytest.mark.once
def test_only_its_own_folder_names_a_pack() -> None:
    """Settings, addresses, commands and the core look for folders. The papers stand on `SHARED`, which names none."""
    names = [path.parent.name for path in (ROOT / "recipes").glob("*/apps.py")]
    assert "memorization" in names
    papers = re.compile(rf"recipes[./](?:{'|'.join(name for name in names if name not in SHARED)})\b")
    floors = (*FLOORS, "config", *(f"recipes/{name}" for name in SHARED))
    found = [
        str(path.relative_to(ROOT))
        for floor in floors
        for path in (ROOT / floor).rglob("*.py")
        if papers.search(path.read_text(encoding="utf-8"))
    ]
    for name in names:
        others = re.compile(rf"recipes[./](?:{'|'.join(other for other in names if other not in (*SHARED, name))})\b")
        found += [
            str(path.relative_to(ROOT))
            for path in (ROOT / "recipes" / name).rglob("*.py")
            if others.search(path.read_text(encoding="utf-8"))
        ]
    assert found == []


# What figures say is kept by frozen reports, which are said again word for word.
FROZEN = ("reports/figures/report.py",)
ARTICLE = re.compile(r"\b[Aa]n? (?:%\((?:row|sheet)\)s|\{\{ *(?:\w+\.)*(?:row|sheet) *\}\})")


@pytest.mark.once
def test_no_article_stands_before_a_word_of_a_scheme() -> None:
    """Rows may be answers, and sheets essays."""
    assert ARTICLE.search("A %(row)s labelled twice")
    assert ARTICLE.search("nobody gets a {{ scheme.words.row }} twice")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in files()
        if str(path.relative_to(ROOT)) not in FROZEN
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if ARTICLE.search(line)
    ]
    assert found == []
