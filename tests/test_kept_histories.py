"""The histories that are kept say today what they said, and what is done to one of them afterwards is found."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks import fault_history
from benchmarks.fault_history import Cell, Event, Final, bounded, cell_of, check, ended
from benchmarks.fault_record import Incomplete, Record, compressed, facts_of, final_of, load, write_end
from benchmarks.faults import main

KEPT = sorted((Path(__file__).resolve().parents[1] / "benchmarks" / "histories").glob("*/*.jsonl.xz"))
pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path.parent.name == "postgresql" else []) for path in KEPT],
    ids=[f"{path.parent.name} {path.name[:3]}" for path in KEPT],
)
@pytest.mark.slow
def test_a_kept_history_is_checked_again(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Anew from its file, and its figures are those that lie beside it."""
    assert main(["--check", str(path)]) == 0
    assert "anomalies: 0\n" in capsys.readouterr().out
    beside = path.with_name(path.name.replace(".jsonl.xz", ".json"))
    assert json.loads(beside.read_text(encoding="utf-8"))["operations"] > 10_000


@cache
def whole() -> Record:
    return load(KEPT[-1])


@cache
def part() -> Record:
    """What the tabs of one annotator did, restores of their answers, and all that is no cell: a history by itself,
    for nobody else has these rows, and one that is checked quickly."""
    record, mine = whole(), ("tab 0", "tab 1")
    rows = {cell[0] for op in record.operations if op.get("client") in mine for cell in op.get("cells", ())}
    events = [event for event in record.final.events if event.cell[0] in rows]
    moments = {event.restored_to for event in events if event.restored_to}
    restores = [op for op in record.operations if op["op"] == "restore"]
    raters = {op["rater"] for op in restores if op["restored_to"] in moments}
    operations = [
        op
        for op in record.operations
        if op.get("client", "") in mine
        or (op["op"] == "restore" and op["rater"] in raters)
        or op["op"] in ("fault", "import rows", "import labels", "plan", "judge")
    ]
    labels = {cell: said for cell, said in record.final.labels.items() if cell[0] in rows}
    submitted = record.final.submitted & rows
    return replace(
        record, operations=operations, final=replace(record.final, events=events, labels=labels, submitted=submitted)
    )


@pytest.mark.slow
def test_a_part_of_it_is_a_history_without_anomaly() -> None:
    assert len(part().final.events) > 500
    assert check(part().operations, part().final) == []


# --- what is done to it afterwards -----------------------------------------------------------------------------------


def acknowledged() -> dict[str, dict[str, Any]]:
    """Changes that were answered, and all of what they asked for was done."""
    return {
        op["key"]: op
        for op in part().operations
        if op["op"] == "change" and op["outcome"] == "ok" and not op["conflicts"] and not op["left"]
    }


def versions() -> dict[Cell, list[Event]]:
    of: dict[Cell, list[Event]] = defaultdict(list)
    for event in part().final.events:
        of[event.cell].append(event)
    return of


def last_saves() -> Iterator[Event]:
    """Acknowledged changes that stand in the end."""
    for events in versions().values():
        if events[-1].after and events[-1].key in acknowledged():
            yield events[-1]


def final_without(*gone: Event) -> Final:
    """As if these, each the last of its cell, had not been written, their labels included."""
    final, labels = part().final, dict(part().final.labels)
    for event in gone:
        code, revision = labels.pop(event.cell)
        assert code == event.after
        if event.before:
            labels[event.cell] = event.before, revision - 1
    return replace(final, events=[event for event in final.events if event not in gone], labels=labels)


def an_acknowledged_save_is_dropped() -> Record:
    """One after other saves, so that nothing but the answer to it says that it was there."""
    event = next(event for event in last_saves() if event.before)
    return replace(part(), final=final_without(event))


def a_save_is_written_twice() -> Record:
    final, event = part().final, next(last_saves())
    code, revision = final.labels[event.cell]
    again = replace(event, pk=final.events[-1].pk + 1, before=code)
    labels = {**final.labels, event.cell: (code, revision + 1)}
    return replace(part(), final=replace(final, events=[*final.events, again], labels=labels))


def two_saves_are_swapped() -> Record:
    """The last two of a cell, the later one sent after the answer to the other, with everything else as it would be."""
    final, ops = part().final, acknowledged()
    one, two = next(
        (one, two)
        for *_others, one, two in (events for events in versions().values() if len(events) > 1)
        if one.key in ops and two.key in ops and one.after and two.after
        if ops[one.key]["ended"] < ops[two.key]["invoked"]
    )
    first = replace(two, pk=one.pk, before=one.before)
    second = replace(one, pk=two.pk, before=two.after)
    events = [{one.pk: first, two.pk: second}.get(event.pk, event) for event in final.events]
    labels = {**final.labels, one.cell: (one.after, final.labels[one.cell][1])}
    return replace(part(), final=replace(final, events=events, labels=labels))


def a_read_is_made_stale() -> Record:
    """It says what stood there before a change that had been answered when it began."""
    ops, of = acknowledged(), versions()
    for number, op in enumerate(part().operations):
        if op["op"] != "read" or op["outcome"] != "ok":
            continue
        for place, (*cell, value) in enumerate(op["read"]):
            event = next((one for one in of[cell_of(cell)] if value and one.after == value), None)
            if event and event.before and event.key in ops and ops[event.key]["ended"] < op["tried"]:
                read = [*op["read"][:place], [*cell, event.before], *op["read"][place + 1 :]]
                operations = [*part().operations]
                operations[number] = op | {"read": read}
                return replace(part(), operations=operations)
    raise AssertionError("no read comes after a change that was answered")


def half_of_a_change_is_dropped() -> Record:
    """Of two cells of one row; and nobody was told of the change, else it was lost as well."""
    of_key: dict[str, list[Event]] = defaultdict(list)
    for event in last_saves():
        of_key[event.key].append(event)
    key, events = next(
        (key, events)
        for key, events in of_key.items()
        if len(events) == len(acknowledged()[key]["cells"]) > 1 and len({event.cell[0] for event in events}) == 1
    )
    operations = [op | {"outcome": "unknown"} if op.get("key") == key else op for op in part().operations]
    return replace(part(), operations=operations, final=final_without(events[0]))


def a_save_is_nobodys() -> Record:
    event = next(last_saves())
    events = [replace(one, key="nobody's") if one == event else one for one in part().final.events]
    return replace(part(), final=replace(part().final, events=events))


def a_save_that_is_there_was_refused() -> Record:
    key = next(last_saves()).key
    operations = [op | {"outcome": "failed"} if op.get("key") == key else op for op in part().operations]
    return replace(part(), operations=operations)


def a_submission_is_gone() -> Record:
    """It was told of one more, the last of all, and nothing is there of it."""
    rows, last = {event.cell[0] for event in part().final.events}, max(op["ended"] for op in part().operations)
    row = min(row for row in rows - part().final.submitted if all(ended(op) < last + 1 for op in reopens(row)))
    submit = {"op": "submit", "assignment": row, "outcome": "ok", "invoked": last + 1, "ended": last + 2}
    return replace(part(), operations=[*part().operations, submit])


def reopens(row: int) -> list[Mapping[str, Any]]:
    """What may have taken back the submission of a row."""
    return [
        op
        for op in bounded(part().operations)
        if op["outcome"] != "failed"
        if (op["op"] == "reopen" and op["assignment"] == row)
        or (op["op"] == "restore" and row in op["assignments"])
        or (op["op"] == "change" and op["reopen"] and row in {cell[0] for cell in op["cells"]})
    ]


def a_change_goes_into_what_is_submitted() -> Record:
    """Somebody was told of a submission just before it, and nobody took it back."""
    for op in acknowledged().values():
        row, begin = op["cells"][0][0], op["invoked"]
        if not op["reopen"] and not any(
            one["invoked"] < op["ended"] and ended(one) > begin - 1 for one in reopens(row)
        ):
            submit = {"op": "submit", "assignment": row, "outcome": "ok", "invoked": begin - 0.2, "ended": begin - 0.1}
            return replace(part(), operations=[*part().operations, submit])
    raise AssertionError("submissions may have been taken back all the time")


def one_of(what: str) -> tuple[str, dict[str, Any]]:
    """The sheet of an import that was acknowledged, and the operation."""
    return next((op["sheet"], op) for op in part().operations if op["op"] == what and op["outcome"] == "ok")


def a_row_of_a_file_is_dropped() -> Record:
    sheet, op = one_of("import rows")
    rows = {**part().final.rows, sheet: Counter(op["rows"][1:])}
    return replace(part(), final=replace(part().final, rows=rows))


def a_file_of_rows_is_read_twice() -> Record:
    sheet, op = one_of("import rows")
    rows = {**part().final.rows, sheet: Counter(op["rows"] * 2)}
    return replace(part(), final=replace(part().final, rows=rows))


def an_imported_answer_is_another() -> Record:
    sheet, op = one_of("import labels")
    rater, row, _answer = op["labels"][0]
    labelled = {**part().final.labelled, sheet: {**part().final.labelled[sheet], (rater, row): "something else"}}
    return replace(part(), final=replace(part().final, labelled=labelled))


def a_plan_is_applied_twice() -> Record:
    sheet, _op = one_of("plan")
    plans = Counter(part().final.plans) + Counter({sheet: 1})
    return replace(part(), final=replace(part().final, plans=plans))


def half_of_a_plan_is_dropped() -> Record:
    sheet, _op = one_of("plan")
    planned = {**part().final.planned, sheet: part().final.planned[sheet][1:]}
    return replace(part(), final=replace(part().final, planned=planned))


def a_judge_answers_twice() -> Record:
    judged = dict(part().final.judged)
    where = min(judged)
    judged[where] = [*judged[where], *judged[where]]
    return replace(part(), final=replace(part().final, judged=judged))


def a_run_stands() -> Record:
    runs = {**part().final.runs, min(part().final.runs): "running"}
    return replace(part(), final=replace(part().final, runs=runs))


def work_has_not_ended() -> Record:
    return replace(part(), final=replace(part().final, unfinished=1))


DONE: list[tuple[Callable[[], Record], str, str]] = [
    (an_acknowledged_save_is_dropped, "lost", "was acknowledged and is not in the history"),
    (a_save_is_written_twice, "doubled", "was changed twice by"),
    (two_saves_are_swapped, "out of order", "lies before a change that ended before it began"),
    (a_read_is_made_stale, "stale", "after that was over"),
    (half_of_a_change_is_dropped, "half", " and not "),
    (a_save_is_nobodys, "invented", "nobody sent nobody's"),
    (a_save_that_is_there_was_refused, "invented", "was refused and changed"),
    (a_submission_is_gone, "lost", "was acknowledged and is gone"),
    (a_change_goes_into_what_is_submitted, "stale", ", which was submitted"),
    (a_row_of_a_file_is_dropped, "lost", "lacks 1 of"),
    (a_file_of_rows_is_read_twice, "doubled", "lines of a file of"),
    (an_imported_answer_is_another, "invented", "which no file had"),
    (a_plan_is_applied_twice, "doubled", "was applied 2 times"),
    (half_of_a_plan_is_dropped, "half", "seats of"),
    (a_judge_answers_twice, "doubled", "2 times"),
    (a_run_stands, "lost", "ended as running"),
    (work_has_not_ended, "lost", "1 runs of work have not ended"),
]


@pytest.mark.parametrize(("do", "kind", "said"), DONE, ids=[do.__name__ for do, _kind, _said in DONE])
@pytest.mark.sample(6)
def test_what_is_done_to_a_history_afterwards_is_found(do: Callable[[], Record], kind: str, said: str) -> None:
    record = do()
    assert any(one.kind == kind and said in one.sentence for one in check(record.operations, record.final))


def test_each_kind_of_anomaly_is_among_what_is_done() -> None:
    assert {kind for _do, kind, _said in DONE} == set(fault_history.KINDS)


# --- the file --------------------------------------------------------------------------------------------------------


def written(record: Record, path: Path) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for operation in record.operations:
            file.write(json.dumps(operation) + "\n")
        write_end(file, record.final, record.about)
    return path


def short() -> Record:
    return replace(part(), operations=part().operations[:100], final=Final(unfinished=1))


def test_what_is_written_is_what_is_read() -> None:
    assert final_of(list(facts_of(part().final))) == part().final


def test_a_file_says_what_is_wrong_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", str(written(an_acknowledged_save_is_dropped(), tmp_path / "wrong.jsonl"))]) == 1
    assert "\nlost: " in capsys.readouterr().out


def test_a_file_that_is_not_that_of_its_figures_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(replace(short(), operations=[], final=Final()), tmp_path / "one.jsonl")
    (tmp_path / "one.json").write_text(json.dumps({"sha256": "another"}))
    assert main(["--check", str(path)]) == 1
    assert "sha256" in capsys.readouterr().out.splitlines()[-1]


def test_of_a_file_that_was_cut_off_nothing_is_said(tmp_path: Path) -> None:
    path = written(short(), tmp_path / "whole.jsonl")
    assert load(path).final.unfinished == 1
    content = path.read_bytes()
    for name, less in {
        "cut.jsonl": content[:-100],
        "without.jsonl": b"".join(content.splitlines(keepends=True)[:-1]),
        "cut.jsonl.xz": compressed(content)[:-100],
    }.items():
        (tmp_path / name).write_bytes(less)
        with pytest.raises(Incomplete):
            load(tmp_path / name)
        assert main(["--check", str(tmp_path / name)]) == 1
