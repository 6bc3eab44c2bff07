"""Run the tests that failed once more, one after the other, and name them.

    python tests/again.py

A test that fails beside others and passes alone depends on how fast the machine is, or on another test. That is a fault
of the test, and it is named here so that it is mended, but it says nothing of what is submitted. More than a few
failures are no such thing: nothing is run again then.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
MOST = 5


def main() -> int:
    failed = sorted(json.loads(FAILED.read_text())) if FAILED.is_file() else []
    if not 0 < len(failed) <= MOST:
        print(f"{len(failed)} tests failed: none is run again.")
        return 1
    print(f"Run again, alone: {', '.join(failed)}", flush=True)
    done = subprocess.run([sys.executable, "-m", "pytest", "-n", "0", *failed], cwd=ROOT, check=False)
    if not done.returncode:
        print("Passed at the second attempt only, mend them:", *failed, sep="\n  ")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
