"""The file of a checked history: what `benchmarks.faults` writes, and all that its check needs, without a server.

Lines of JSON, compressed where the name ends with .xz. An object is an operation or a fault, written when it was over.
A list, after these, is a fact of the database when all was quiet: its kind, and what it says. The last line, “end”,
says what the run was; a file without it was cut off, and nothing is said of it.
"""

from __future__ import annotations

import gc
import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from benchmarks.fault_history import Anomaly, Event, Final


class Incomplete(Exception):
    """The file does not have all that a check needs."""


@dataclass(frozen=True)
class Record:
    """`about`: database, seed, seconds and the like; `sha256`: of the file before it is compressed."""

    operations: Sequence[dict[str, Any]]
    final: Final
    about: dict[str, Any]
    sha256: str = ""


def facts_of(final: Final) -> Iterator[list[Any]]:
    for e in final.events:
        yield ["event", e.pk, *e.cell, e.before, e.after, e.key, e.at, e.restored_to, e.restored_at]
    for cell, (code, revision) in final.labels.items():
        yield ["label", *cell, code, revision]
    for assignment in sorted(final.submitted):
        yield ["submitted", assignment]
    for sheet, rows in final.rows.items():
        for row, times in rows.items():
            yield ["row", sheet, row, times]
    for sheet, labelled in final.labelled.items():
        for (rater, row), answer in labelled.items():
            yield ["labelled", sheet, rater, row, answer]
    for sheet, given in final.planned.items():
        for rater, row in given:
            yield ["planned", sheet, rater, row]
    for sheet, times in final.plans.items():
        yield ["plans", sheet, times]
    for run, state in final.runs.items():
        yield ["run", run, state]
    for (judge, row), answers in final.judged.items():
        yield ["judged", judge, row, *answers]
    for row, answer in final.expected.items():
        yield ["expected", row, answer]
    yield ["unfinished", final.unfinished]


def final_of(facts: Sequence[Sequence[Any]]) -> Final:
    """The other way round."""
    events, submitted, unfinished = list[Event](), set[int](), 0
    labels: dict[tuple[int, int, int], tuple[str, int]] = {}
    rows: dict[str, Counter[str]] = {}
    labelled: dict[str, dict[tuple[str, str], str]] = {}
    planned: dict[str, list[tuple[str, str]]] = {}
    plans, runs, expected = Counter[str](), dict[int, str](), dict[str, str]()
    judged: dict[tuple[str, str], list[str]] = {}
    for kind, *said in facts:
        match kind, said:
            case "event", [pk, assignment, column, question, *of_event]:
                events.append(Event(pk, (assignment, column, question), *of_event))
            case "label", [assignment, column, question, code, revision]:
                labels[assignment, column, question] = code, revision
            case "submitted", [assignment]:
                submitted.add(assignment)
            case "row", [sheet, row, times]:
                rows.setdefault(sheet, Counter())[row] = times
            case "labelled", [sheet, rater, row, answer]:
                labelled.setdefault(sheet, {})[rater, row] = answer
            case "planned", [sheet, rater, row]:
                planned.setdefault(sheet, []).append((rater, row))
            case "plans", [sheet, times]:
                plans[sheet] = times
            case "run", [run, state]:
                runs[run] = state
            case "judged", [judge, row, *answers]:
                judged[judge, row] = answers
            case "expected", [row, answer]:
                expected[row] = answer
            case "unfinished", [number]:
                unfinished = number
            case _:
                raise Incomplete(f"Nobody knows what “{kind}” is")
    return Final(
        events=events,
        labels=labels,
        submitted=frozenset(submitted),
        rows=rows,
        labelled=labelled,
        planned=planned,
        plans=plans,
        runs=runs,
        judged=judged,
        expected=expected,
        unfinished=unfinished,
    )


def write_end(file: IO[str], final: Final, about: dict[str, Any]) -> None:
    """After the operations: what the database has, and what the run was."""
    for fact in facts_of(final):
        file.write(json.dumps(fact, ensure_ascii=False, separators=(",", ":")) + "\n")
    file.write(json.dumps(["end", about], ensure_ascii=False) + "\n")


def load(path: Path) -> Record:
    content = path.read_bytes()
    operations, facts = list[dict[str, Any]](), list[list[Any]]()
    gc.disable()  # it would look through a million objects again and again, which are all kept: twice the time
    try:
        if path.suffix == ".xz":
            content = lzma.decompress(content)
        for line in content.decode().split("\n")[:-1]:
            read = json.loads(line)
            (operations if isinstance(read, dict) else facts).append(read)
    except (lzma.LZMAError, ValueError) as error:
        raise Incomplete(f"{path} cannot be read: {error}") from error
    finally:
        gc.enable()
    if not facts or facts[-1][0] != "end":
        raise Incomplete(f"{path} ends before what the database had in the end")
    return Record(operations, final_of(facts[:-1]), facts[-1][1], hashlib.sha256(content).hexdigest())


def compressed(content: bytes) -> bytes:
    """With a memory as long as the file, for each key of an operation comes again in what became of it."""
    how = {"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 4, "pb": 0}
    return lzma.compress(content, filters=[how])


def figures(record: Record, anomalies: Sequence[Anomaly]) -> dict[str, Any]:
    done = [op for op in record.operations if op["op"] != "fault"]
    faults = Counter(op["what"] for op in record.operations if op["op"] == "fault")
    return {
        **record.about,
        "operations": len(done),
        "of which": dict(Counter(op["op"] for op in done).most_common()),
        "ended as": dict(Counter(op["outcome"] for op in done).most_common()),
        "sent again": sum(op.get("tries", 1) > 1 for op in done),
        "changes in the history": len(record.final.events),
        "faults": faults.total(),
        "kinds of fault": dict(faults.most_common()),
        "anomalies": len(anomalies),
        "kinds of anomaly": dict(Counter(anomaly.kind for anomaly in anomalies)),
        "sentences": [str(anomaly) for anomaly in anomalies],
        "sha256": record.sha256,
    }
