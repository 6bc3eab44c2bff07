"""What `make audit` makes of pip-audit's findings, and what the containers may do."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
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


def test_containers_have_no_root_and_write_nowhere() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    ours = {name: service for name, service in services.items() if "build" in service or "palate" in str(service)}
    assert {"web", "worker"} <= set(ours)
    for name, service in ours.items():
        if "image" in service and "build" not in service:
            continue
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert service.get("user", "") not in ("root", "0"), name
    users = [line.split()[1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("USER")]
    assert users
    assert users[-1].split(":")[0] not in ("root", "0")


def test_docker_reads_the_compose_file(tmp_path: Path) -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("docker compose is not installed here")
    (tmp_path / ".env").write_text((ROOT / ".env.example").read_text())
    command = [docker, "compose", "--env-file", str(tmp_path / ".env"), "-f", str(ROOT / "docker-compose.yml")]
    read = subprocess.run([*command, "config", "--quiet"], capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr
