"""The checker finds each kind of anomaly that is planted; and a short checked history of real processes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from benchmarks import fault_history
from benchmarks.fault_history import Event, Final, check

ROOT = Path(__file__).resolve().parents[1]
A, B = (1, 1, 1), (1, 2, 1)
_clock = itertools.count()


def change(
    key: str, *cells: tuple[Any, str, str], outcome: str = "ok", at: tuple[float, float] | None = None, **more: Any
) -> dict[str, Any]:
    begin, end = at or (next(_clock), next(_clock))
    return {
        "op": "change", "key": key, "cells": [[*cell, seen, value] for cell, seen, value in cells], "whole": False,
        "reopen": False, "conflicts": [], "left": [], "outcome": outcome, "invoked": begin, "ended": end, **more,
    }  # fmt: skip


def read(value: str, *, at: tuple[float, float], cell: Any = A) -> dict[str, Any]:
    return {"op": "read", "read": [[*cell, value]], "outcome": "ok", "invoked": at[0], "tried": at[0], "ended": at[1]}


def told(op: str, /, *, at: tuple[float, float], outcome: str = "ok", **more: Any) -> dict[str, Any]:
    return {"op": op, "outcome": outcome, "invoked": at[0], "ended": at[1], "assignment": 1, **more}


# Three changes of A and one of B, as they were told and as they stand there.
HISTORY = [
    change("k1", (A, "", ":1"), at=(0, 1)),
    change("k2", (A, ":1", ":2"), (B, "", ":7"), at=(2, 3)),
    read(":2", at=(4, 5)),
    change("k3", (A, ":2", ":3"), at=(6, 7), outcome="unknown"),
    read(":2", at=(8, 9)),
    read(":3", at=(10, 11)),
    change("k4", (A, ":2", ":9"), at=(12, 13), conflicts=[list(A)]),
    change("k5", (B, ":7", ":8"), at=(12, 13), outcome="failed"),
]
EVENTS = (
    Event(1, A, "", ":1", "k1"),
    Event(2, A, ":1", ":2", "k2"),
    Event(3, B, "", ":7", "k2"),
    Event(4, A, ":2", ":3", "k3"),
)
FINAL = Final(events=EVENTS, labels={A: (":3", 3), B: (":7", 1)})


def kinds(history: list[dict[str, Any]], final: Final) -> set[str]:
    return {anomaly.kind for anomaly in check(history, final)}


def test_a_history_that_is_right_has_no_anomaly() -> None:
    assert check(HISTORY, FINAL) == []


def without(n: int) -> Final:
    return replace(FINAL, events=EVENTS[:n] + EVENTS[n + 1 :])


PLANTED: dict[str, tuple[list[dict[str, Any]], Final, str]] = {
    "an acknowledged change is gone": (
        HISTORY[:3],
        Final(events=EVENTS[:1], labels={A: (":1", 1)}),
        "lost",
    ),
    "a label that its history does not end with": (
        HISTORY,
        replace(FINAL, labels={A: (":2", 3), B: (":7", 1)}),
        "lost",
    ),
    "a change applied twice": (
        HISTORY,
        replace(FINAL, events=(*EVENTS, Event(5, A, ":3", ":3", "k3")), labels={A: (":3", 4), B: (":7", 1)}),
        "doubled",
    ),
    "a revision that counts more": (HISTORY, replace(FINAL, labels={A: (":3", 5), B: (":7", 1)}), "doubled"),
    "a read of what was over": ([*HISTORY, read(":1", at=(14, 15))], FINAL, "stale"),
    "a read behind an earlier read": ([*HISTORY, read(":2", at=(14, 15))], FINAL, "stale"),
    "a read of what nobody wrote": ([*HISTORY, read(":77", at=(14, 15))], FINAL, "invented"),
    "a read before it was sent": ([*HISTORY, read(":3", at=(4, 5))], FINAL, "out of order"),
    "a change over what nobody had seen": (
        [*HISTORY, change("k6", (A, ":2", ":4"), at=(14, 15))],
        replace(FINAL, events=(*EVENTS, Event(5, A, ":3", ":4", "k6")), labels={A: (":4", 4), B: (":7", 1)}),
        "stale",
    ),
    "a link of the history is missing": (HISTORY, without(1), "out of order"),
    "a later change lies before an earlier one": (
        [change("k1", (A, ":2", ":1"), at=(0, 1)), change("k2", (A, "", ":2"), at=(2, 3))],
        Final(events=(Event(1, A, "", ":2", "k2"), Event(2, A, ":2", ":1", "k1")), labels={A: (":1", 2)}),
        "out of order",
    ),
    "half of a change": (
        [change("k1", (A, "", ":1"), (B, "", ":2"), outcome="unknown", at=(0, 1))],
        Final(events=(Event(1, A, "", ":1", "k1"),), labels={A: (":1", 1)}),
        "half",
    ),
    "half of an undo": (
        [*HISTORY, change("k6", (A, ":3", ":4"), (B, ":8", ":9"), whole=True, outcome="unknown", at=(14, 15))],
        replace(FINAL, events=(*EVENTS, Event(5, A, ":3", ":4", "k6")), labels={A: (":4", 4), B: (":7", 1)}),
        "half",
    ),
    "what was refused was done": (
        HISTORY,
        replace(FINAL, events=(*EVENTS, Event(5, B, ":7", ":8", "k5")), labels={A: (":3", 3), B: (":8", 2)}),
        "invented",
    ),
    "a change that nobody sent": (
        HISTORY,
        replace(FINAL, events=(*EVENTS, Event(5, B, ":7", ":8", "k0")), labels={A: (":3", 3), B: (":8", 2)}),
        "invented",
    ),
    "a submission is gone": ([told("submit", at=(0, 1))], Final(), "lost"),
    "what was taken back is submitted": (
        [told("submit", at=(0, 1)), told("reopen", at=(2, 3))],
        Final(submitted=frozenset({1})),
        "lost",
    ),
    "a change of what is submitted": (
        [told("submit", at=(0, 1)), change("k1", (A, "", ":1"), at=(2, 3))],
        Final(events=EVENTS[:1], labels={A: (":1", 1)}, submitted=frozenset({1})),
        "stale",
    ),
    "a change of what is submitted, after a taking back that died with all web processes": (
        [
            told("reopen", at=(0, 1), outcome="unknown"),
            told("fault", at=(2, 3), what="all web processes killed"),
            told("submit", at=(4, 5)),
            change("k1", (A, "", ":1"), at=(6, 7)),
        ],
        Final(events=EVENTS[:1], labels={A: (":1", 1)}, submitted=frozenset({1})),
        "stale",
    ),
    "a restore done by half": (
        [*HISTORY, told("restore", at=(14, 15), restored_to="t", cells=2, assignments=[])],
        replace(
            FINAL,
            events=(*EVENTS, Event(5, B, ":7", "", "r", restored_to="t", restored_at=-1)),
            labels={A: (":3", 3)},
        ),
        "half",
    ),
    "a restore to what never stood there": (
        [*HISTORY, told("restore", at=(14, 15), restored_to="t", cells=1, assignments=[])],
        replace(
            FINAL,
            events=(*EVENTS, Event(5, B, ":7", ":1", "r", restored_to="t", restored_at=1)),
            labels={A: (":3", 3), B: (":1", 2)},
        ),
        "stale",
    ),
    "a file half imported": (
        [told("import rows", at=(0, 1), outcome="unknown", sheet="S", rows=["a", "b"])],
        Final(rows={"S": Counter("a")}),
        "half",
    ),
    "a file imported twice": (
        [told("import rows", at=(0, 1), sheet="S", rows=["a", "b"])],
        Final(rows={"S": Counter("aab")}),
        "doubled",
    ),
    "a file of labels is gone": (
        [told("import labels", at=(0, 1), sheet="S", labels=[["A", "r", "x"]])],
        Final(),
        "lost",
    ),
    "a file of labels came otherwise": (
        [told("import labels", at=(0, 1), sheet="S", labels=[["A", "r", "x"]])],
        Final(labelled={"S": {("A", "r"): "y"}}),
        "invented",
    ),
    "a plan applied twice": (
        [told("plan", at=(0, 1), sheet="S", seats=1)],
        Final(planned={"S": [("A", "r")]}, plans={"S": 2}),
        "doubled",
    ),
    "a plan applied by half": (
        [told("plan", at=(0, 1), sheet="S", seats=2)],
        Final(planned={"S": [("A", "r")]}, plans={"S": 1}),
        "half",
    ),
    "a run that stands": ([], Final(runs={1: "running"}), "lost"),
    "a run that is gone": ([told("judge", at=(0, 1), run=3)], Final(), "lost"),
    "a judge that answered twice": ([], Final(judged={("J", "r"): ["x", "x"]}), "doubled"),
    "a judge that says something else": (
        [],
        Final(judged={("J", "r"): ["x"]}, expected={"r": "y"}),
        "invented",
    ),
}


@pytest.mark.once
@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(name: str) -> None:
    history, final, kind = PLANTED[name]
    assert kind in kinds(history, final)


@pytest.mark.once
@pytest.mark.parametrize("what", ["a web process killed", "all web processes killed"])
def test_what_was_not_answered_may_come_as_long_as_a_process_may_have_it(what: str) -> None:
    history = [
        told("fault", at=(0, 1), what="all web processes killed"),
        told("reopen", at=(2, 3), outcome="unknown"),
        told("fault", at=(4, 5), what=what),
        told("submit", at=(4, 6)),
        change("k1", (A, "", ":1"), at=(7, 8)),
    ]
    assert check(history, Final(events=EVENTS[:1], labels={A: (":1", 1)}, submitted=frozenset({1}))) == []


@pytest.mark.once
def test_each_kind_is_among_what_is_planted() -> None:
    assert {kind for _history, _final, kind in PLANTED.values()} == set(fault_history.KINDS)


def short_history(folder: Path, database: str, *how: str, faults: int, operations: int) -> dict[str, Any]:
    """A run of the benchmark with a database, a queue and processes of its own; its figures."""
    told, seed = folder / "figures.json", os.environ["FAULT_SEED"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.faults", "--database", database, "--json", str(told)),
            *("--operations", str(operations), "--faults", str(faults), "--seconds", "180", "--tabs", "6"),
            *("--pause", "0.1", "--rest", "0.3", "--longest", "0.15", "--web", "2", "--workers", "1"),
            *("--seed", seed, *how),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"FAULT_SEED={seed}\n{done.stdout}\n{done.stderr[-4000:]}"
    figures: dict[str, Any] = json.loads(told.read_text())
    return figures


@pytest.mark.once
def test_a_short_history_through_kills_and_pauses_has_no_anomaly(tmp_path: Path, migrated: Path | str) -> None:
    begun = ("--begin-with", str(migrated)) if isinstance(migrated, Path) else ()
    figures = short_history(tmp_path, "sqlite", *begun, faults=4, operations=300)
    assert figures["operations"] >= 300
    assert figures["ended as"]["ok"] > 150
    assert figures["faults"] == 4
    assert figures["seed"] == int(os.environ["FAULT_SEED"])


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "postgresql", reason="runs where the tests run on PostgreSQL")
@pytest.mark.services
def test_a_history_on_postgresql_has_no_anomaly(tmp_path: Path) -> None:
    figures = short_history(tmp_path, "postgresql", faults=20, operations=2000)
    assert figures["operations"] >= 2000
    assert len(figures["kinds of fault"]) > 10


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "postgresql", reason="runs where the tests run on PostgreSQL")
@pytest.mark.services
def test_a_database_that_forgets_what_it_acknowledged_is_found_out(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks.faults", "--database", "postgresql", "--no-sync"),
            *("--operations", "500", "--faults", "19", "--seconds", "90", "--tabs", "6", "--pause", "0.1"),
            *("--rest", "1", "--longest", "0.15"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr[-4000:]
    assert "lost: " in done.stdout
