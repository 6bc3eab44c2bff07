"""Ask what weaknesses are known of what is pinned: `make audit`, and the CI.

    python requirements/audit.py [--if-asked]
    python requirements/audit.py --pins    what is asked about, in one file: what a bill of materials is made of

Runs pip-audit over all that an installation may run: `INSTALLED`. Exits with 1 where a weakness is known that
audit-exceptions.txt does not accept, or accepts until a day that is over; and where nobody could be asked, but for
`--if-asked`, which only says so.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
# torch-cpu.txt has torch's version once more, by a name of its own that no index of weaknesses knows.
INSTALLED = ("app.txt", "torch.txt", "saml.txt", "training.txt")
_ACCEPTED = re.compile(r"(?P<id>[A-Z][A-Za-z0-9-]*)\s*#\s*(?P<until>\d{4}-\d{2}-\d{2})\b[:\s]*(?P<why>\S.*)")


@dataclass(frozen=True)
class Finding:
    package: str
    version: str
    names: frozenset[str]  # its identifier and its aliases
    mended_in: tuple[str, ...]

    def __str__(self) -> str:
        mended = f"; mended in {', '.join(self.mended_in)}" if self.mended_in else ""
        return f"{self.package} {self.version}: {', '.join(sorted(self.names))}{mended}"


def pins(files: Iterable[str] = INSTALLED) -> str:
    """The pinned packages of several files, each package once.

    Raises:
        ValueError: two files pin different versions of a package.
    """
    told: dict[str, str] = {}
    written = []
    for file in files:
        lines = (HERE / file).read_text(encoding="utf-8").replace("\\\n", "\\\0").splitlines()
        of_file: dict[str, str] = {}
        for line in lines:
            if match := re.match(r"(?P<name>[\w.-]+)(?:\[[^]]*\])?==(?P<version>[^\s;]+)", line):
                name = match["name"].lower()
                if told.get(name, match["version"]) != match["version"]:
                    raise ValueError(f"{file} pins {match[0]}, another file {told[name]}")
                of_file[name] = match["version"]
                if name not in told:
                    written.append(line.replace("\\\0", "\\\n"))
        told |= of_file
    return "\n".join(written) + "\n"


def accepted(lines: Iterable[str]) -> dict[str, date]:
    """Identifier -> the last day on which it is accepted.

    Raises:
        ValueError: a line has no day or no reason.
    """
    found = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        if (match := _ACCEPTED.fullmatch(line.strip())) is None:
            raise ValueError(f"“{line.strip()}” is not: identifier  # YYYY-MM-DD, why")
        found[match["id"]] = date.fromisoformat(match["until"])
    return found


def read(report: Mapping[str, Any]) -> tuple[list[Finding], int, int]:
    """Of pip-audit's JSON: what was found, how many packages it knew, and how many it could not ask about."""
    findings, known, unknown = [], 0, 0
    for package in report["dependencies"]:
        if "skip_reason" in package:
            unknown += 1
            continue
        known += 1
        findings += [
            Finding(
                package["name"],
                package["version"],
                frozenset([weakness["id"], *weakness.get("aliases", ())]),
                tuple(weakness.get("fix_versions", ())),
            )
            for weakness in package.get("vulns", ())
        ]
    return findings, known, unknown


def refused(findings: Iterable[Finding], exceptions: Mapping[str, date], today: date) -> list[str]:
    """The findings that nobody accepts today, in words."""
    told = []
    for finding in findings:
        days = [exceptions[name] for name in finding.names if name in exceptions]
        if not days:
            told.append(str(finding))
        elif max(days) < today:
            told.append(f"{finding} (was accepted until {max(days)})")
    return told


def say(sentence: str) -> None:
    sys.stdout.write(sentence + "\n")


def main() -> int:
    if "--pins" in sys.argv:
        sys.stdout.write(pins())
        return 0
    exceptions = accepted((HERE / "audit-exceptions.txt").read_text(encoding="utf-8").splitlines())
    program = str(Path(sys.executable).with_name("pip-audit"))
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "pins.txt"
        asked.write_text(pins(), encoding="utf-8")
        command = [program, "--disable-pip", "--require-hashes", "-r", str(asked), "-f", "json"]
        done = subprocess.run([*command, "--progress-spinner", "off"], capture_output=True, text=True, check=False)  # noqa: S603
    try:
        findings, known, unknown = read(json.loads(done.stdout))
    except (ValueError, KeyError):
        findings, known, unknown = [], 0, 0
        say(done.stderr.strip()[-1000:])
    if not known:
        say("Nobody could be asked whether weaknesses are known of what is pinned.")
        return int("--if-asked" not in sys.argv)
    told = refused(findings, exceptions, date.today())
    say(f"{known} packages asked about, {unknown} unknown there; {len(findings)} weaknesses, {len(told)} not accepted.")
    say("\n".join(told))
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main())
