"""The image is built, and an installation started, used, saved and restored as docs/deploy.md says.

`make test-containers`. It needs a Docker engine, Compose 2.24 or later and the images that are built upon; without an
engine it says so and ends with 0. What it makes has names of its own and goes at the end, the image `palate-test`
excepted. BUILD_ARGS are those of `docker build`.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The password has signs that mean something in an address, and to Compose.
ENV = f"""\
SECRET_KEY={secrets.token_hex(32)}
POSTGRES_PASSWORD='{secrets.token_hex(8)}/@#%$'
ALLOWED_HOSTS=palate.example.org
CSRF_TRUSTED_ORIGINS=https://palate.example.org
PORT=0
"""
# Of this process' own environment Compose would take what it has a use for before what the .env says.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name in ("HOME", "PATH") or name.startswith("DOCKER_")
}
INSIDE = """\
import os, pathlib
lines = pathlib.Path("/proc/self/status").read_text().splitlines()
status = dict(line.split(":\\t", 1) for line in lines)
assert os.getuid() == 1000 and int(status["CapBnd"], 16) == 0 and status["NoNewPrivs"] == "1", status
for folder in ("/app", "/", "/home/palate", "/secrets"):
    assert not os.access(folder, os.W_OK), folder
for folder in ("/data", "/tmp", "/home/palate/.cache/huggingface"):
    assert os.access(folder, os.W_OK), folder
"""
START = """\
from judges import actions
from judges.models import Judge
from annotation.models import Study
from recipes.memorization import demo_study
demo_study.shipped_judges()
actions.start_run(study=Study.objects.get(slug="dishes"), judge=Judge.objects.get(name="lexical"), by=None)
"""
STATE = """\
from annotation.models import Label
from judges.models import Run
print(Run.objects.get().state, Label.objects.count())
"""


class Installation:
    """A project of Compose with volumes of its own, from a copy of our file beside an .env."""

    def __init__(self, folder: Path, name: str) -> None:
        name = f"palate-test-{os.getpid()}-{name}"
        self._begin = ["docker", "compose", "-p", name, "-f", str(folder / "docker-compose.yml")]

    def compose(self, *words: str, give: bytes | None = None) -> str:
        done = subprocess.run([*self._begin, *words], env=ENVIRONMENT, input=give, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}\n{done.stdout.decode()}{done.stderr.decode()}")
        return done.stdout.decode()

    def read(self, path: str) -> bytes:
        command = [*self._begin, "exec", "-T", "web", "cat", path]
        return subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True).stdout

    def inside(self, *words: str) -> str:
        return self.compose("exec", "-T", "web", "python", *words)

    def in_a_new_container(self, *words: str, give: bytes | None = None) -> str:
        return self.compose("run", "--rm", "-T", "web", *words, give=give)

    def start(self) -> None:
        """Until all health checks have passed: Compose itself waits for the web server alone."""
        self.compose("up", "-d", "--no-build", "--wait")

    def state(self) -> str:
        return self.inside("manage.py", "shell", "--no-imports", "-c", STATE).splitlines()[-1]

    def page(self, path: str) -> int:
        """What a proxy beside it gets."""
        address = self.compose("port", "web", "8000").strip()
        headers = {"Host": "palate.example.org", "X-Forwarded-Proto": "https"}
        request = urllib.request.Request(f"http://{address}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)


def try_it(first: Installation, second: Installation) -> None:
    first.start()
    assert first.page("/login/") == 200
    for service in ("web", "worker"):
        first.compose("exec", "-T", service, "python", "-c", INSIDE)
    assert "Control server error" not in first.compose("logs", "web")
    print("It runs, as a user without rights, and its health checks pass.", flush=True)

    owner = ["createsuperuser", "--no-input", "--username", "olga", "--email", "olga@example.org"]
    first.compose(
        "exec", "-T", "-e", "DJANGO_SUPERUSER_PASSWORD=Sour-Cherry-Pie-1987", "web", "python", "manage.py", *owner
    )
    first.inside("manage.py", "import_folder", "dishes", "recipes/memorization/demo/pages", "--manager", "olga")
    first.inside("manage.py", "shell", "-c", START)
    until = time.monotonic() + 120
    while not (state := first.state()).startswith("finished"):
        assert time.monotonic() < until, state + first.compose("logs", "worker")
        time.sleep(2)
    print(f"The worker has labelled: {state}.", flush=True)

    first.inside("manage.py", "backup", "/data/palate.zip")
    saved = first.read("/data/palate.zip")
    second.in_a_new_container("python", "manage.py", "migrate")
    second.in_a_new_container("sh", "-c", "umask 077 && cat > /data/palate.zip", give=saved)
    second.in_a_new_container("python", "manage.py", "restore", "/data/palate.zip")
    second.start()
    assert second.state() == state
    print("Another installation was filled from its backup.", flush=True)


def main() -> None:
    docker = shutil.which("docker")
    for asked in (["info"], ["compose", "version"]):
        if docker is None or subprocess.run([docker, *asked], capture_output=True, check=False).returncode:
            print("No Docker engine with Compose answers here: no container was started.")
            return
    arguments = shlex.split(os.environ.get("BUILD_ARGS", ""))
    subprocess.run(["docker", "build", "--tag", "palate-test", *arguments, str(ROOT)], check=True)
    with tempfile.TemporaryDirectory(prefix="palate-containers-") as name:
        folder = Path(name)
        (folder / ".env").write_text(ENV)
        ours = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
        (folder / "docker-compose.yml").write_text(ours.replace("image: palate\n", "image: palate-test\n"))
        installations = Installation(folder, "first"), Installation(folder, "second")
        try:
            try_it(*installations)
        finally:
            for one in installations:
                one.compose("down", "--volumes", "--timeout", "5")


if __name__ == "__main__":
    main()
