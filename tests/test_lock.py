"""The lock in `requirements/`: whole, in pyproject's ranges, hashed, and silent about where packages come from."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distribution
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
FILES = ["build.txt", "app.txt", "dev.txt", "torch.txt", "torch-cpu.txt", "saml.txt", "training.txt"]
# Installed without what they ask for; see pyproject.
ALONE = ["weights", "opinions"]


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def locked(*files: str) -> dict[str, Requirement]:
    """{canonical name: its line} of some files; a name stands in one of them, and once for each version of Python."""
    found: dict[str, Requirement] = {}
    for file in files:
        for line in (ROOT / "requirements" / file).read_text().splitlines():
            if line and not line.startswith(("#", " ")):
                requirement = Requirement(line.removesuffix("\\").strip())
                if requirement.marker is None or requirement.marker.evaluate():
                    assert canonicalize_name(requirement.name) not in found, f"{line} stands twice"
                    found[canonicalize_name(requirement.name)] = requirement
    return found


def version(requirement: Requirement) -> str:
    [pin] = requirement.specifier
    assert pin.operator == "=="
    return pin.version


def satisfied(requirement: Requirement, lock: dict[str, Requirement]) -> bool:
    line = lock.get(canonicalize_name(requirement.name))
    return line is not None and requirement.specifier.contains(version(line), prereleases=True)


@pytest.mark.parametrize("torch", ["torch.txt", "torch-cpu.txt"])
def test_the_lock_has_each_dependency_of_pyproject_in_its_range(torch: str) -> None:
    project = pyproject()
    application, developer = locked("app.txt", torch), locked("dev.txt")
    wanted = [
        *((line, application) for line in project["project"]["dependencies"]),
        *((line, application) for line in project["dependency-groups"]["weights"]),
        *((line, application | developer) for line in project["dependency-groups"]["dev"]),
        *((line, developer) for line in project["dependency-groups"]["opinions"]),
        *((line, locked("build.txt")) for line in project["dependency-groups"]["build"]),
        *((line, locked("saml.txt")) for line in project["dependency-groups"]["saml"]),
        *((line, locked("training.txt")) for line in project["dependency-groups"]["training"]),
    ]
    lacking = [line for line, lock in wanted if not satisfied(Requirement(line), lock)]
    assert lacking == [], "run `make lock`"


def test_the_lock_has_what_its_packages_ask_for() -> None:
    """They are installed with --no-deps, so what is left out would be missing. Looked at is what is installed here."""
    torch = "torch-cpu.txt" if version_of("torch").endswith("+cpu") else "torch.txt"
    project, lock = pyproject(), locked("build.txt", "app.txt", "dev.txt", torch)
    lines = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    open_, seen, lacking = [Requirement(line) for line in lines], set[tuple[str, str]](), []
    while open_:
        requirement = open_.pop()
        name = canonicalize_name(requirement.name)
        if not satisfied(requirement, lock):
            lacking.append(str(requirement))
            continue
        for extra in {"", *requirement.extras} - {extra for done, extra in seen if done == name}:
            seen.add((name, extra))
            asked = map(Requirement, distribution(name).requires or ())
            open_.extend(one for one in asked if one.marker is None or one.marker.evaluate({"extra": extra}))
    assert lacking == []
    alone = {
        canonicalize_name(Requirement(line).name) for group in ALONE for line in project["dependency-groups"][group]
    }
    assert {name for name, _ in seen} | alone | {"pip", "setuptools"} == set(lock), "what nothing asks for is locked"


@pytest.mark.parametrize("file", FILES)
def test_each_line_of_the_lock_has_hashes_and_names_no_place(file: str) -> None:
    text = (ROOT / "requirements" / file).read_text()
    packages = re.findall(r"^[\w.-]+==\S+[^\n]*(?:\n[ ]{4}--hash=sha256:[0-9a-f]{64}[^\n]*)+", text, flags=re.MULTILINE)
    assert len(packages) == sum(1 for line in text.splitlines() if "==" in line and not line.startswith(("#", " ")))
    assert not re.search(r"://|--(extra-)?index-url|--find-links|@ ", text)


def test_the_cpu_build_is_torch_as_it_is_pinned() -> None:
    [pin] = [line for line in pyproject()["project"]["dependencies"] if line.startswith("torch==")]
    assert set(locked("torch-cpu.txt")) == {"torch"}
    assert str(locked("torch-cpu.txt")["torch"]) == f"{pin}+cpu"
    assert str(locked("torch.txt")["torch"]) == pin


@pytest.mark.parametrize("file", ["Makefile", "Dockerfile", ".ci/run"])
def test_what_installs_installs_from_the_lock(file: str) -> None:
    for line in (ROOT / file).read_text().splitlines():
        if "pip install" in line and "--group lock" not in line and "--group audit" not in line:
            assert "--require-hashes --no-deps" in line
