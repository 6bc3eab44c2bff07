"""What others read of the project by program: how to cite it, and what runs before a commit."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_citation_is_of_this_project() -> None:
    """The keys that CFF 1.2.0 requires, with the values that it allows, and what pyproject says too."""
    citation = loaded("CITATION.cff")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in {"software", "dataset"}
    assert {"message", "title", "authors"} <= citation.keys()
    assert citation["title"].startswith("Palate")
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    for work in (citation, *citation["references"]):
        assert work["title"]
        assert work["type"]
        assert all("name" in author or "family-names" in author for author in work["authors"])


def test_a_commit_is_checked_by_make_check_with_the_tools_of_the_lock() -> None:
    [repository] = loaded(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"  # nothing is fetched
    [hook] = repository["hooks"]
    assert (hook["entry"], hook["language"], hook["pass_filenames"]) == ("make check", "system", False)
    makefile = (ROOT / "Makefile").read_text()
    parts = re.search(r"^check: (.+)$", makefile, flags=re.MULTILINE)
    assert parts is not None
    assert len(parts[1].split()) > 3
    for part in parts[1].split():
        assert re.search(rf"^{part}: \$\(STAMP\)$", makefile, flags=re.MULTILINE)


def test_each_decision_has_a_number_of_its_own_and_its_three_parts() -> None:
    files = sorted((ROOT / "docs" / "adr").glob("*.md"))
    numbers = [file.name[:4] for file in files]
    assert numbers == sorted(set(numbers))
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert text.startswith(f"# {int(file.name[:4])}. "), file.name
        assert [part for part in ("Context:", "Decision:", "Consequences:") if part not in text] == [], file.name
