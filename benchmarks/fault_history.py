"""Whether what clients were told fits what a database has in the end: the checker of `benchmarks.faults`. Pure.

A history is a list of operations, each with when it was invoked and when its answer came (seconds of one monotonic
clock), and how it ended: `ok`, `failed` (nothing may have come of it) or `unknown` (no answer: all of it may have come,
or nothing). The versions of a cell are the events of its history in the database, in their order; `check` looks whether
one order of all operations explains the versions, what each client read and what stands there in the end.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = tuple[int, int, int]  # assignment, column, question
Operation = Mapping[str, Any]

LOST, DOUBLED, STALE, DISORDER, HALF, INVENTED = "lost", "doubled", "stale", "out of order", "half", "invented"
KINDS = (LOST, DOUBLED, STALE, DISORDER, HALF, INVENTED)


@dataclass(frozen=True)
class Event:
    """A line of a cell's history. `at`: seconds since 1970 by the server's clock; `restored_to`: of a restore."""

    pk: int
    cell: Cell
    before: str
    after: str
    key: str
    at: float = 0
    restored_to: str = ""
    restored_at: float = 0


@dataclass(frozen=True)
class Anomaly:
    kind: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.sentence}"


@dataclass
class Final:
    """What the database has when all is quiet.

    Attributes:
        labels: of each cell the code that stands there, and its revision.
        submitted: assignments.
        rows: of each sheet of an import of rows, by its title: how often each name of a row is there.
        labelled: of each import of labels, by its sheet: (rater, row) → answer.
        planned: of each sheet, by its title: (rater, row) of the people, and `plans` the number of plans of it.
        judged: of each run: its state; (judge, row) → answers, one a label; `expected`: row → answer.
        unfinished: how many runs of work, of all kinds, had not ended when nothing went wrong any more.
    """

    events: Sequence[Event] = ()
    labels: Mapping[Cell, tuple[str, int]] = field(default_factory=dict)
    submitted: frozenset[int] = frozenset()
    rows: Mapping[str, Counter[str]] = field(default_factory=dict)
    labelled: Mapping[str, Mapping[tuple[str, str], str]] = field(default_factory=dict)
    planned: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    plans: Mapping[str, int] = field(default_factory=dict)
    runs: Mapping[int, str] = field(default_factory=dict)
    judged: Mapping[tuple[str, str], Sequence[str]] = field(default_factory=dict)
    expected: Mapping[str, str] = field(default_factory=dict)
    unfinished: int = 0


def check(history: Sequence[Operation], final: Final) -> list[Anomaly]:
    """All that is wrong, each in a sentence."""
    history = bounded(history)
    cells = _Cells(history, final)
    return [
        *cells.chains(),
        *cells.changes(),
        *cells.restores(),
        *cells.order(),
        *cells.reads(),
        *submissions(history, final),
        *imports(history, final),
        *plans(history, final),
        *judges(history, final),
    ]


# Faults through which no request goes on: all who may have had one in hand are dead.
ENDS_OF_ALL = ("all web processes killed", "web processes and workers killed at once", "the power cut")
REQUESTS = ("change", "submit", "reopen", "restore")  # done by a web process before it answers


def bounded(history: Sequence[Operation]) -> list[Operation]:
    """With `over` where no answer came: who no longer waits does not know, but with all web processes its end came."""
    deaths = sorted((op["invoked"], op["ended"]) for op in history if op["op"] == "fault" and op["what"] in ENDS_OF_ALL)
    found: list[Operation] = []
    for op in history:
        if op["outcome"] == "unknown" and op["op"] in REQUESTS:
            next_one = bisect.bisect_left(deaths, (op["ended"], -math.inf))
            op = {**op, "over": deaths[next_one][1] if next_one < len(deaths) else math.inf}
        found.append(op)
    return found


def ended(operation: Operation) -> float:
    """When it was known to be over: never, where no answer came and nothing ended it."""
    return float(operation["ended"] if operation["outcome"] == "ok" else operation.get("over", math.inf))


def cell_of(values: Sequence[Any]) -> Cell:
    return values[0], values[1], values[2]


class _Cells:
    def __init__(self, history: Sequence[Operation], final: Final) -> None:
        self.history, self.final = history, final
        self.changed = {op["key"]: op for op in history if op["op"] == "change"}
        self.restored = {op["restored_to"]: op for op in history if op["op"] == "restore"}
        self.versions: dict[Cell, list[Event]] = defaultdict(list)
        for event in sorted(final.events, key=lambda event: event.pk):
            self.versions[event.cell].append(event)
        self.by_key: dict[str, dict[Cell, Event]] = defaultdict(dict)
        self.twice: list[Event] = []
        for event in final.events:
            if event.cell in self.by_key[event.key]:
                self.twice.append(event)
            self.by_key[event.key][event.cell] = event

    def writer(self, event: Event) -> Operation | None:
        return self.restored.get(event.restored_to) if event.restored_to else self.changed.get(event.key)

    def chains(self) -> Iterator[Anomaly]:
        """Each version follows from the one before, and the last one stands."""
        for event in self.twice:
            yield Anomaly(DOUBLED, f"{event.cell} was changed twice by {event.key}")
        for cell, events in self.versions.items():
            before, revision = "", 0
            for event in events:
                if event.before != before:
                    yield Anomaly(DISORDER, f"{cell} had {before!r} when event {event.pk} took {event.before!r} for it")
                before = event.after
                revision = revision + 1 if event.after else 0
            code, said = self.final.labels.get(cell, ("", 0))
            if code != before:
                yield Anomaly(LOST, f"{cell} has {code!r}, and its history ends with {before!r}")
            elif said != revision:
                yield Anomaly(DOUBLED, f"{cell} says that it was changed {said} times, its history {revision} times")
        for cell in self.final.labels.keys() - self.versions.keys():
            yield Anomaly(INVENTED, f"{cell} has an answer without a history")

    def changes(self) -> Iterator[Anomaly]:
        """What was acknowledged is there, what was refused is not, and nothing is there by halves."""
        for event in self.final.events:
            if self.writer(event) is None:
                yield Anomaly(INVENTED, f"nobody sent {event.key}, which changed {event.cell}")
        for key, op in self.changed.items():
            there = self.by_key.get(key, {})
            asked = {cell_of(one): (one[3], one[4]) for one in op["cells"]}
            yield from self._beside(op, there, asked)
            if op["outcome"] == "failed":
                if there:
                    yield Anomaly(INVENTED, f"{key} was refused and changed {sorted(there)}")
            elif op["outcome"] == "ok":
                yield from self._acknowledged(op, there, asked)
            else:
                yield from self._by_halves(op, there, asked)

    def _beside(
        self, op: Operation, there: Mapping[Cell, Event], asked: Mapping[Cell, tuple[str, str]]
    ) -> Iterator[Anomaly]:
        for cell, event in there.items():
            if cell not in asked:
                yield Anomaly(INVENTED, f"{op['key']} changed {cell}, which it did not name")
                continue
            seen, value = asked[cell]
            if event.after != value:
                yield Anomaly(INVENTED, f"{op['key']} was to make {cell} {value!r} and made it {event.after!r}")
            elif event.before not in (seen, value):
                yield Anomaly(STALE, f"{op['key']} overwrote {event.before!r} in {cell}, having seen {seen!r}")

    def _acknowledged(
        self, op: Operation, there: Mapping[Cell, Event], asked: Mapping[Cell, tuple[str, str]]
    ) -> Iterator[Anomaly]:
        refused = {cell_of(one) for one in op["conflicts"]} | {cell for cell in asked if cell[0] in op["left"]}
        if op["whole"] and refused:
            refused = set(asked)
        for cell, (_seen, value) in asked.items():
            if cell in there and cell in refused:
                yield Anomaly(INVENTED, f"{op['key']} was refused at {cell} and changed it")
            elif cell not in there and cell not in refused and value not in self._while(op, cell):
                yield Anomaly(LOST, f"{op['key']} was acknowledged and is not in the history of {cell}")

    def _by_halves(
        self, op: Operation, there: Mapping[Cell, Event], asked: Mapping[Cell, tuple[str, str]]
    ) -> Iterator[Anomaly]:
        for cell, (seen, value) in asked.items():
            beside = [event for other, event in there.items() if op["whole"] or other[0] == cell[0]]
            if cell in there or not beside:
                continue
            stood = self._standing(cell, before=min(event.pk for event in beside))
            if op["whole"] or (stood == seen and stood != value):
                yield Anomaly(HALF, f"{op['key']} changed {sorted(there)} and not {cell}")

    def _standing(self, cell: Cell, *, before: int) -> str:
        stood = ""
        for event in self.versions.get(cell, ()):
            if event.pk >= before:
                break
            stood = event.after
        return stood

    def _while(self, op: Operation, cell: Cell) -> set[str]:
        """What may have stood in a cell at some time while an operation went on."""
        found, values = self._window(cell), [""] + [event.after for event in self.versions.get(cell, ())]
        return set(values[found.lowest(op["invoked"]) : found.highest(ended(op)) + 1])

    def restores(self) -> Iterator[Anomaly]:
        """A restore is whole, done once, and brings back what stood."""
        keys: dict[str, set[str]] = defaultdict(set)
        sizes = Counter[str]()
        for event in self.final.events:
            if not event.restored_to:
                continue
            keys[event.restored_to].add(event.key)
            sizes[event.restored_to] += 1
            stood = ""
            for other in self.versions[event.cell]:
                if other.pk < event.pk and other.at <= event.restored_at:
                    stood = other.after
            if event.after != stood:
                yield Anomaly(STALE, f"{event.cell} was restored to {event.after!r}, and {stood!r} had stood there")
        for moment, op in self.restored.items():
            if len(keys[moment]) > 1:
                yield Anomaly(DOUBLED, f"the restore to {moment} was done {len(keys[moment])} times")
            if op["outcome"] == "failed" and sizes[moment]:
                yield Anomaly(INVENTED, f"the restore to {moment} was refused and changed {sizes[moment]} cells")
            if op["outcome"] == "ok" and sizes[moment] != op["cells"]:
                yield Anomaly(HALF, f"the restore to {moment} said {op['cells']} cells and changed {sizes[moment]}")

    def order(self) -> Iterator[Anomaly]:
        """What began after something else had ended comes after it in the history."""
        for cell, events in self.versions.items():
            first_end = math.inf
            for event in reversed(events):
                if (op := self.writer(event)) is None:
                    continue
                if op["invoked"] > first_end:
                    yield Anomaly(DISORDER, f"{cell}: event {event.pk} lies before a change that ended before it began")
                first_end = min(first_end, ended(op))

    def _window(self, cell: Cell) -> _Window:
        if not hasattr(self, "_windows"):
            self._windows: dict[Cell, _Window] = {}
        if cell not in self._windows:
            spans = []
            for number, event in enumerate(self.versions.get(cell, ()), start=1):
                op = self.writer(event)
                spans.append((number, op["invoked"], ended(op)) if op is not None else (number, -math.inf, math.inf))
            self._windows[cell] = _Window(spans)
        return self._windows[cell]

    def reads(self) -> Iterator[Anomaly]:
        """Nobody is told what was over before they asked, nor goes back behind what they were told."""
        reads: dict[Cell, list[tuple[float, float, str]]] = defaultdict(list)
        for op in self.history:
            if op["outcome"] == "ok":
                for *cell, value in op.get("read", ()):
                    reads[cell_of(cell)].append((op.get("tried", op["invoked"]), op["ended"], value))
        for cell, of_cell in reads.items():
            window = self._window(cell)
            where: dict[str, list[int]] = defaultdict(list)
            for number, value in enumerate(["", *(event.after for event in self.versions.get(cell, ()))]):
                where[value].append(number)
            by_end = sorted(of_cell, key=lambda read: read[1])
            told, passed = 0, 0
            least: dict[tuple[float, float, str], int] = {}
            for read in sorted(of_cell):
                while passed < len(by_end) and by_end[passed][1] < read[0]:
                    told = max(told, least.get(by_end[passed], 0))
                    passed += 1
                low, high = max(told, window.lowest(read[0])), window.highest(read[1])
                fits = [number for number in where.get(read[2], ()) if low <= number <= high]
                if fits:
                    least[read] = fits[0]
                elif not where.get(read[2]):
                    yield Anomaly(INVENTED, f"{cell} was read as {read[2]!r}, which it never was")
                elif where[read[2]][-1] < low:
                    yield Anomaly(STALE, f"{cell} was read as {read[2]!r} after that was over")
                else:
                    yield Anomaly(DISORDER, f"{cell} was read as {read[2]!r} before that was sent")


class _Window:
    """Which versions a cell may have at a time; `spans`: number, begin and end of what wrote each version."""

    def __init__(self, spans: Sequence[tuple[int, float, float]]) -> None:
        self._ends, self._lows = _rising(sorted((end, number) for number, _begin, end in spans))
        self._begins, self._highs = _rising(sorted((begin, number) for number, begin, _end in spans))

    def lowest(self, at: float) -> int:
        """The newest version that was acknowledged before `at`."""
        found = bisect.bisect_left(self._ends, at)
        return self._lows[found - 1] if found else 0

    def highest(self, at: float) -> int:
        """The newest version that was sent before `at`."""
        found = bisect.bisect_right(self._begins, at)
        return self._highs[found - 1] if found else 0


def _rising(pairs: Sequence[tuple[float, int]]) -> tuple[list[float], list[int]]:
    times, numbers, highest = [], [], 0
    for time, number in pairs:
        highest = max(highest, number)
        times.append(time)
        numbers.append(highest)
    return times, numbers


# --- what is not a cell ---------------------------------------------------------------------------------------------


def submissions(history: Sequence[Operation], final: Final) -> Iterator[Anomaly]:
    """What is submitted stays so until somebody takes it back, and takes no change until then."""
    of: dict[int, dict[str, list[Operation]]] = defaultdict(lambda: defaultdict(list))
    for op in history:
        if op["op"] in ("submit", "reopen"):
            of[op["assignment"]][op["op"]].append(op)
        elif op["op"] == "restore":
            for assignment in op["assignments"]:
                of[assignment]["reopen"].append(op)
        elif op["op"] == "change":
            for assignment in {cell[0] for cell in op["cells"]}:
                of[assignment]["reopen" if op["reopen"] else "change"].append(op)
    for assignment, done in of.items():
        submits = [op for op in done["submit"] if op["outcome"] == "ok"]
        reopens = [op for op in done["reopen"] if op["outcome"] != "failed"]
        for change in done["change"]:
            if change["outcome"] != "ok" or assignment in change["left"] or not _took(change, assignment):
                continue
            earlier = [op for op in submits if op["ended"] < change["invoked"]]
            if not earlier:
                continue
            last = max(earlier, key=lambda op: float(op["invoked"]))
            if not any(ended(op) > last["invoked"] and op["invoked"] < change["ended"] for op in reopens):
                yield Anomaly(STALE, f"{change['key']} went into {assignment}, which was submitted")
        yield from _end_of(assignment, submits, reopens, done["submit"], final)


def _took(change: Operation, assignment: int) -> bool:
    conflicts = {cell_of(one) for one in change["conflicts"]}
    if change["whole"] and (conflicts or change["left"]):
        return False
    return any(cell[0] == assignment and cell_of(cell) not in conflicts for cell in change["cells"])


def _end_of(
    assignment: int,
    submits: Sequence[Operation],
    reopens: Sequence[Operation],
    tried: Sequence[Operation],
    final: Final,
) -> Iterator[Anomaly]:
    if submits:
        last = max(submits, key=lambda op: float(op["invoked"]))
        if not any(ended(op) > last["invoked"] for op in reopens) and assignment not in final.submitted:
            yield Anomaly(LOST, f"the submission of {assignment} was acknowledged and is gone")
    certain = [op for op in reopens if op["outcome"] == "ok" and op["op"] == "reopen"]
    if certain:
        last = max(certain, key=lambda op: float(op["invoked"]))
        later = [op for op in tried if op["outcome"] != "failed" and ended(op) > last["invoked"]]
        if not later and assignment in final.submitted:
            yield Anomaly(LOST, f"{assignment} was taken back, and is submitted")


def imports(history: Sequence[Operation], final: Final) -> Iterator[Anomaly]:
    """A file that was acknowledged is there whole and once; one that was refused is not there at all."""
    for op in history:
        if op["op"] not in ("import rows", "import labels"):
            continue
        sheet = op["sheet"]
        if op["op"] == "import rows":
            wanted: set[Any] = set(op["rows"])
            there: Counter[Any] = Counter(final.rows.get(sheet, {}))
        else:
            labelled = final.labelled.get(sheet, {})
            wanted = {tuple(one) for one in op["labels"]}
            there = Counter((*where, answer) for where, answer in labelled.items())
        if any(n > 1 for n in there.values()):
            yield Anomaly(DOUBLED, f"“{sheet}” has {there.total()} lines of a file of {len(wanted)}")
        if there.keys() - wanted:
            yield Anomaly(INVENTED, f"“{sheet}” has {min(there.keys() - wanted)}, which no file had")
        if op["outcome"] == "ok" and wanted - there.keys():
            yield Anomaly(LOST, f"“{sheet}” lacks {len(wanted - there.keys())} of {len(wanted)} lines of its file")
        elif op["outcome"] == "failed" and there:
            yield Anomaly(INVENTED, f"the file of “{sheet}” was refused, and {there.total()} lines of it are there")
        elif op["outcome"] == "unknown" and there and wanted - there.keys():
            yield Anomaly(HALF, f"“{sheet}” has {len(there)} of {len(wanted)} lines of its file")


def plans(history: Sequence[Operation], final: Final) -> Iterator[Anomaly]:
    """A plan gives each row of its sheet to as many as it was drawn for, once."""
    for op in history:
        if op["op"] != "plan":
            continue
        given, n = Counter(final.planned.get(op["sheet"], ())), final.plans.get(op["sheet"], 0)
        sheet, outcome = op["sheet"], op["outcome"]
        if n > 1 or any(times > 1 for times in given.values()):
            yield Anomaly(DOUBLED, f"the plan of “{sheet}” was applied {n} times")
        if outcome == "ok" and not given:
            yield Anomaly(LOST, f"the plan of “{sheet}” was applied, and nobody has anything to do")
        elif outcome == "failed" and given:
            yield Anomaly(INVENTED, f"the plan of “{sheet}” was refused, and {given.total()} rows are given")
        elif given and (given.total() != op["seats"] or n != 1):
            yield Anomaly(HALF, f"the plan of “{sheet}” gives {given.total()} seats of {op['seats']}")


def judges(history: Sequence[Operation], final: Final) -> Iterator[Anomaly]:
    """A run that was started has come to its end; a judge says what it says undisturbed, once, of each row."""
    if final.unfinished:
        yield Anomaly(LOST, f"{final.unfinished} runs of work have not ended")
    for op in history:
        if op["op"] == "judge" and op["outcome"] == "ok" and op["run"] not in final.runs:
            yield Anomaly(LOST, f"run {op['run']} was started and is gone")
    for run, state in final.runs.items():
        if state != "finished":
            yield Anomaly(LOST, f"run {run} ended as {state}")
    for (judge, row), answers in final.judged.items():
        if len(answers) > 1:
            yield Anomaly(DOUBLED, f"{judge} has answered “{row}” {len(answers)} times")
        elif not answers:
            yield Anomaly(LOST, f"{judge} has not answered “{row}”, which its runs had")
        elif answers[0] != final.expected.get(row, answers[0]):
            yield Anomaly(INVENTED, f"{judge} says {answers[0]} of “{row}” in place of {final.expected[row]}")
