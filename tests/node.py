"""The checks and tests of the scripts, which need Node; only who changes scripts needs it.

    python tests/node.py check | fix | test

Where there is no Node this says so and leaves them out; with CI=true it installs Node, as root on Debian, or fails.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "package-lock.json"
STAMP = ROOT / "node_modules" / ".installed"  # which lock was installed; a failed installation leaves none
OLDEST = 18
# As root on Debian; whoever runs two installations at once waits for the other.
APT = ["flock", "/var/lib/apt", "apt-get", "-y", "-qq"]
BIOME, TSC = (str(ROOT / "node_modules" / ".bin" / name) for name in ("biome", "tsc"))


def commands(what: str) -> list[list[str]]:
    tests = sorted(str(path) for path in (ROOT / "tests" / "scripts").glob("*.test.js"))
    return {
        "check": [[BIOME, "ci", "--colors=off"], [TSC]],
        "fix": [[BIOME, "check", "--write", "--colors=off"]],
        "test": [["node", "--test", *tests]],
    }[what]


def has_node() -> bool:
    if not (shutil.which("node") and shutil.which("npm")):
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)", said)
    return found is not None and int(found[1]) >= OLDEST


def install_node() -> bool:
    """With CI=true alone; whether Node is there then."""
    if os.environ.get("CI") != "true" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    print("Installing Node for the checks of the scripts …", flush=True)
    subprocess.run([*APT, "update"], check=True)
    subprocess.run([*APT, "install", "--no-install-recommends", "nodejs", "npm"], check=True)
    return has_node()


def install_packages() -> None:
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == digest:
        return
    subprocess.run(["npm", "ci", "--silent"], cwd=ROOT, check=True)
    STAMP.write_text(digest)


def main(what: str) -> int:
    if not has_node() and not install_node():
        print(f"The scripts were left out ({what}): that needs Node {OLDEST} or later, with npm.")
        return int(os.environ.get("CI") == "true")
    if what != "test":  # the tests need Node alone
        install_packages()
    return max(subprocess.run(command, cwd=ROOT, check=False).returncode for command in commands(what))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
