"""What `make audit` makes of pip-audit's findings, and what the containers may do."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
REPORT: dict[str, Any] = {
    "dependencies": [
        {"name": "django", "version": "5.2.1", "vulns": []},
        {
            "name": "lxml",
            "version": "4.0",
            "vulns": [{"id": "PYSEC-2021-19", "aliases": ["CVE-2021-1"], "fix_versions": ["4.6.2"]}],
        },
        {"name": "torch", "version": "2.9", "skip_reason": "not found"},
    ]
}
pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def audit() -> Any:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "requirements" / "audit.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["audit"] = module
    spec.loader.exec_module(module)
    return module


def test_a_finding_fails_unless_it_is_accepted_until_a_day_to_come(audit: Any) -> None:
    findings, known, unknown = audit.read(REPORT)
    assert (len(findings), known, unknown) == (1, 2, 1)
    today = date(2026, 5, 1)

    def told(*lines: str) -> list[str]:
        return list(audit.refused(findings, audit.accepted(lines), today))

    assert told() == ["lxml 4.0: CVE-2021-1, PYSEC-2021-19; mended in 4.6.2"]
    assert told("# nothing", "", "CVE-2021-1  # 2026-05-01: not reached by us") == []
    assert "was accepted until 2026-04-30" in told("PYSEC-2021-19 # 2026-04-30: waits for a release")[0]
    assert told("CVE-2020-1 # 2027-01-01: another one") != []


@pytest.mark.parametrize("line", ["CVE-2021-1", "CVE-2021-1 # 2026-05-01", "CVE-2021-1 # soon: why", "ignore all"])
def test_an_exception_has_a_day_and_a_reason(audit: Any, line: str) -> None:
    with pytest.raises(ValueError, match="is not: identifier"):
        audit.accepted([line])


def test_what_is_accepted_now_can_be_read(audit: Any) -> None:
    audit.accepted((ROOT / "requirements" / "audit-exceptions.txt").read_text(encoding="utf-8").splitlines())


def test_all_that_an_installation_may_run_is_asked_about_once(audit: Any) -> None:
    folder = ROOT / "requirements"
    locks = {path.name for path in folder.glob("*.txt")} - {"audit-exceptions.txt"}
    assert locks - set(audit.INSTALLED) == {
        "build.txt",
        "dev.txt",
        "torch-cpu.txt",
    }  # of whom builds and tests; torch again

    def named(text: str) -> list[str]:
        return re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==", text.lower(), re.MULTILINE)

    names = named(audit.pins())
    assert {"torch", "python3-saml", "xmlsec", "django"} <= set(names)
    assert set(names) == {name for file in audit.INSTALLED for name in named((folder / file).read_text())}
    assert len(names) == len(set(names))
    assert audit.pins().count("--hash=sha256:") > len(names)
    assert "audit.py --pins > var/pins.txt" in (ROOT / "Makefile").read_text()


def test_two_versions_of_a_package_are_noticed(audit: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        "one==1 \\\n    --hash=sha256:0\ntwo==2 ; python_version < '4' \\\n    --hash=sha256:1\n"
    )
    (tmp_path / "b.txt").write_text("two==2 \\\n    --hash=sha256:1\n")
    (tmp_path / "c.txt").write_text("one==3 \\\n    --hash=sha256:2\n")
    monkeypatch.setattr(audit, "HERE", tmp_path)

    assert audit.pins(["a.txt", "b.txt"]) == (tmp_path / "a.txt").read_text()
    with pytest.raises(ValueError, match="c.txt pins one==3"):
        audit.pins(["a.txt", "c.txt"])


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return read


def test_containers_have_no_root_and_write_nowhere() -> None:
    services = compose()["services"]
    assert {"web", "worker", "postgres", "redis"} <= set(services)
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "cap_add" not in service, name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert service.get("user", "") not in ("root", "0"), name
        assert "build" in service or service["user"], name  # the images of others begin as root
    users = [line.split()[1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("USER")]
    assert users
    assert users[-1].split(":")[0] not in ("root", "0")


def test_what_an_operator_sets_reaches_the_containers() -> None:
    """All of .env goes in; what compose sets itself is either its own affair or has the operator's value in it."""
    settings = set(re.findall(r"`([A-Z][A-Z_]+)`", _first_cells((ROOT / "docs" / "settings.md").read_text())))
    assert {"PALATE_LOGIN_TRIES_ADDRESS", "PALATE_KEY_VARIABLES", "PALATE_EXPORT_DAYS", "WEB_CONCURRENCY"} <= settings
    for name, service in compose()["services"].items():
        if "build" not in service:
            continue
        assert service["env_file"] == [{"path": ".env", "required": False}], name
        fixed = {key for key, value in service["environment"].items() if f"${{{key}" not in value}
        assert fixed & settings == {"PALATE_ENV", "PALATE_VAR"}, name


def test_workers_begin_their_log_with_no_picture() -> None:
    """Celery draws one, which no collector of JSON lines reads."""
    workers = [service["command"] for name, service in compose()["services"].items() if "worker" in name]
    assert len(workers) == 3
    assert all(command.startswith("celery -q -A config worker ") for command in workers)


def _first_cells(table: str) -> str:
    return "\n".join(line.split("|")[1] for line in table.splitlines() if line.startswith("|"))


def test_files_of_single_sign_on_have_a_place() -> None:
    for name in ("web", "worker"):
        mounts = [mount for mount in compose()["services"][name]["volumes"] if mount.endswith(":/secrets:ro")]
        assert mounts, name
    for ignored in (".gitignore", ".dockerignore"):
        assert "secrets" in (ROOT / ignored).read_text().replace("/", "").splitlines()


def test_the_image_is_built_with_a_key_that_production_takes(tmp_path: Path) -> None:
    """What the Dockerfile runs last, here without writing."""
    step = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    found = re.search(r"&& ((?:[A-Z_]+=\S+ +)+)python (manage\.py collectstatic --no-input)$", step, re.MULTILINE)
    assert found
    variables = dict(variable.split("=", 1) for variable in found[1].split())
    assert set(variables) == {"SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL", "PALATE_VAR"}
    variables |= {"PALATE_VAR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path / 'none.sqlite3'}"}
    command = [sys.executable, *found[2].split(), "--dry-run"]
    env = {"PATH": os.environ["PATH"], **variables}
    run = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_strict_umask_makes_no_image_that_its_user_cannot_read() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = lines.index("COPY . .")
    assert any("chmod -R a+rX ." in line for line in lines[copied : lines.index("USER palate")])


def test_a_password_of_the_database_may_have_any_signs() -> None:
    """It stands in no address, where “/”, “@” and “#” mean something."""
    for name, service in compose()["services"].items():
        if "build" in service:
            assert "PASSWORD" not in service["environment"]["DATABASE_URL"], name
            assert service["environment"]["PGPASSWORD"] == "${POSTGRES_PASSWORD:-}", name


def test_the_image_has_no_tests_and_needs_none() -> None:
    left_out = set((ROOT / ".dockerignore").read_text().splitlines())
    assert {".git", ".env", "tests", "benchmarks"} <= left_out
    ours = [path for path in ROOT.iterdir() if (path / "__init__.py").exists() and path.name not in left_out]
    assert {"config", "annotation", "recipes"} <= {path.name for path in ours}
    imported = re.compile(r"^\s*(?:from|import) (tests|benchmarks)\b", re.MULTILINE)
    sources = [ROOT / "manage.py", *(path for folder in ours for path in folder.rglob("*.py"))]
    assert [str(path) for path in sources if imported.search(path.read_text(encoding="utf-8"))] == []


def test_docker_reads_the_compose_file(tmp_path: Path) -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("docker compose is not installed here")
    (tmp_path / ".env").write_text((ROOT / ".env.example").read_text())
    command = [docker, "compose", "--env-file", str(tmp_path / ".env"), "-f", str(ROOT / "docker-compose.yml")]
    read = subprocess.run([*command, "config", "--quiet"], capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr
