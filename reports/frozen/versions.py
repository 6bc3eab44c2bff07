"""By what a report was computed."""

from __future__ import annotations

import hashlib
import platform
import tomllib
from functools import cache
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What numbers come from; others only draw or carry them.
LIBRARIES = ("numpy", "scipy", "krippendorff", "matplotlib", "django")
_SOURCES = ("reports", "annotation/answers", "annotation/scheme", "llm/encoders.py", "llm/engine/normalisation.py")


@cache
def code_version() -> str:
    """The version of Palate, and a digest of the source files that a report's numbers and words come from."""
    digest = hashlib.sha256()
    for source in _SOURCES:
        path = ROOT / source
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return f"{project['version']}+{digest.hexdigest()[:12]}"


@cache
def library_versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}
