"""The clients of `benchmarks.faults`: browsers of annotators, two tabs each, and of managers; each writes its history.

A change that was not answered is sent again with its key, as the grid's script does, or given up, as by somebody who
closes the computer; then it stays unknown whether it came.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import threading
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import IO, Any

CSRF = "a" * 32
PATIENCE = 12  # seconds that a client waits for an answer
Cell = tuple[int, int, int]


def now() -> float:
    """Of one monotonic clock, to 10 µs, as the history has it: what falls together counts as at the same time."""
    return round(time.monotonic(), 5)


class History:
    """A file of lines of JSON, one an operation, written as soon as it is over; times are of `now`."""

    def __init__(self, file: IO[str]) -> None:
        self.file, self.planned = file, set[str]()
        self._lock, self._operations = threading.Lock(), 0

    def add(self, **operation: Any) -> None:
        with self._lock:
            self._operations += operation["op"] != "fault"
            if operation["op"] == "plan":
                self.planned.add(operation["sheet"])
            self.file.write(json.dumps(operation, ensure_ascii=False) + "\n")

    def __len__(self) -> int:
        return self._operations


@dataclass(frozen=True)
class Answer:
    """What came of one request, sent again until somebody answered. `status` 0: nobody did."""

    status: int = 0
    body: bytes = b""
    location: str = ""
    invoked: float = 0
    tried: float = 0  # when the last try began
    ended: float = 0
    tries: int = 1
    doubtful: bool = False  # an earlier try may have done it

    @property
    def times(self) -> dict[str, float | int]:
        return {"invoked": self.invoked, "tried": self.tried, "ended": self.ended, "tries": self.tries}

    @property
    def is_answered(self) -> bool:
        return 0 < self.status < 500

    def outcome(self, *, done: bool) -> str:
        if not self.is_answered:
            return "unknown"
        return "ok" if done else "unknown" if self.doubtful else "failed"


class Browser:
    """Somebody's session; one connection, kept open where the server does."""

    def __init__(self, port: int, session: str, rng: random.Random) -> None:
        self.port, self.session, self.rng = port, session, rng
        self._connection: http.client.HTTPConnection | None = None

    def get(self, path: str, *, part: bool = False) -> Answer:
        """A page; or the part of one that it asks for itself once it is there."""
        return self._once("GET", path, None, {"HX-Request": "true"} if part else {})

    def post(
        self,
        path: str,
        fields: Mapping[str, Any] | None = None,
        *,
        tries: int = 8,
        files: Mapping[str, str] | None = None,
        data: Any = None,
    ) -> Answer:
        """Send until somebody answers, at growing distances, `tries` times at most."""
        if files is not None:
            boundary = uuid.uuid4().hex
            body, kind = _multipart(fields or {}, files, boundary), f"multipart/form-data; boundary={boundary}"
        elif data is not None:
            body, kind = json.dumps(data).encode(), "application/json"
        else:
            body, kind = urllib.parse.urlencode(fields or {}, doseq=True).encode(), "application/x-www-form-urlencoded"
        invoked, pause, doubtful = now(), 0.2, False
        for n in range(1, tries + 1):
            one = self._once("POST", path, body, {"Content-Type": kind})
            answer = Answer(
                one.status, one.body, one.location, invoked, one.tried, one.ended, n, doubtful or not one.is_answered
            )
            if answer.is_answered:
                return answer
            doubtful = True
            if n < tries:
                time.sleep(pause * self.rng.uniform(0.5, 1.5))
                pause = min(2 * pause, 4)
        return answer

    def _once(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        begin = now()
        headers |= {"Cookie": f"sessionid={self.session}; csrftoken={CSRF}", "X-CSRFToken": CSRF}
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            self._connection.request(method, path, body, headers)
            response = self._connection.getresponse()
            read = response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return Answer(invoked=begin, tried=begin, ended=now())
        location = response.getheader("Location") or ""
        if response.will_close:
            self.close()
        return Answer(response.status, read, location, begin, begin, now())

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _multipart(fields: Mapping[str, Any], files: Mapping[str, str], boundary: str) -> bytes:
    parts = []
    for name, value in fields.items():
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n')
    for name, text in files.items():
        head = f'Content-Disposition: form-data; name="{name}"; filename="{name}.csv"\r\nContent-Type: text/csv'
        parts.append(f"--{boundary}\r\n{head}\r\n\r\n{text}\r\n")
    return "".join([*parts, f"--{boundary}--\r\n"]).encode()


# --- annotators -----------------------------------------------------------------------------------------------------


@dataclass
class Desk:
    """What an annotator's two tabs have before them: the sheet, {assignment: cells}."""

    session: str
    code: str
    rater: int
    sheet: int
    cells: dict[int, list[Cell]]


@dataclass
class Tab:
    """One tab: it shows what it last heard of each cell, and sends what it was shown with each change."""

    name: str
    number: int
    desk: Desk
    browser: Browser
    history: History
    rng: random.Random
    shown: dict[Cell, str] = field(default_factory=dict)
    mine: list[list[tuple[Cell, str, str]]] = field(default_factory=list)  # (cell, before, after) that can be undone
    counted: int = 0
    sent: int = 0

    def run(self, until: Callable[[], bool], pause: float) -> None:
        while not until():
            begin = self.rng.random()
            if begin < 0.80:
                self.change()
            elif begin < 0.86:
                self.undo()
            elif begin < 0.92:
                self.read(self.rng.choice(list(self.desk.cells)))
            elif begin < 0.97:
                self.submit()
            else:
                self.reopen()
            time.sleep(self.rng.uniform(0, 2 * pause))
        self.browser.close()

    def change(self) -> None:
        edits = []
        for _edit in range(self.rng.choice([1, 2, 4, 8, 16, 40])):
            chosen = self.rng.sample(list(self.desk.cells), self.rng.choice([1, 1, 1, 2]))
            cells = []
            for assignment in chosen:
                for cell in self.rng.sample(self.desk.cells[assignment], self.rng.choice([1, 1, 2, 3])):
                    self.counted += 1
                    value = f":{self.number * 1_000_000 + self.counted}"
                    cells.append((cell, self.shown.get(cell, ""), value if self.rng.random() < 0.97 else ""))
            edits.append([one for one in cells if one[1] != one[2]])
            self.shown |= {cell: value for cell, _seen, value in cells}
        self.send([edit for edit in edits if edit], reopen=self.rng.random() < 0.1)

    def undo(self) -> None:
        """All of it or nothing."""
        if self.mine:
            last = self.mine.pop()
            self.send([[(cell, after, before) for cell, before, after in last]], whole=True)

    def send(self, edits: list[list[tuple[Cell, str, str]]], *, whole: bool = False, reopen: bool = False) -> None:
        keys = [self.new_key() for _edit in edits]
        body = [
            {"key": key, "changes": [[*cell, value, seen] for cell, seen, value in edit]}
            | ({"restore": "1"} if whole else {})
            | ({"reopen": "1"} if reopen else {})
            for key, edit in zip(keys, edits, strict=True)
        ]
        if not edits:
            return
        path = f"/sheets/{self.desk.sheet}/record/"
        tries = self.rng.choice([1, 3, 40, 40, 40])
        answer = self.browser.post(path, {"edits": json.dumps(body)}, tries=tries)
        said = _json(answer).get("answers") if answer.status == 200 else None
        for n, (key, edit) in enumerate(zip(keys, edits, strict=True)):
            of_one = said[n] if said else {}
            done = "message" not in of_one and of_one.get("key") == key
            conflicts = [cell_of(name) for name, _wanted in of_one.get("conflicts", ())]
            self.history.add(
                op="change", client=self.name, key=key, cells=[[*cell, seen, value] for cell, seen, value in edit],
                whole=whole, reopen=reopen, outcome=answer.outcome(done=done), conflicts=conflicts,
                left=of_one.get("held", []), read=list(self._shown_now(of_one, edit)), **answer.times,
                status=answer.status, said=[of_one["message"]] if "message" in of_one else of_one.get("refused", []),
            )  # fmt: skip
            if done and not whole and not conflicts and not of_one.get("held"):
                self.mine = [*self.mine[-20:], edit]
        if said is None or not answer.is_answered:
            for assignment in {cell[0] for edit in edits for cell, _seen, _value in edit}:
                self.read(assignment)

    def new_key(self) -> str:
        """Nobody else's, and without chance, so that a history stays small when it is compressed."""
        self.sent += 1
        return str(uuid.UUID(int=(self.number + 1) << 64 | self.sent, version=4))

    def _shown_now(self, of_one: Mapping[str, Any], edit: Sequence[tuple[Cell, str, str]]) -> Iterator[list[Any]]:
        """The cells of this change as the answer has them; the tab shows them from now on."""
        columns = {(assignment, column): values for assignment, column, values in of_one.get("columns", ())}
        for cell, _seen, _value in edit:
            if (values := columns.get(cell[:2])) is not None:
                self.shown[cell] = values.get(str(cell[2]), "")
                yield [*cell, self.shown[cell]]

    def read(self, assignment: int) -> None:
        answer = self.browser.get(f"/api/v1/assignments/{assignment}/labels/")
        read = []
        if answer.status == 200:
            values = {(one["column"], one["question"]): f":{one['value']}" for one in json.loads(answer.body)}
            for cell in self.desk.cells[assignment]:
                self.shown[cell] = values.get((cell[1], "n"), "")
                read.append([*cell, self.shown[cell]])
        self.history.add(
            op="read", client=self.name, read=read, outcome=answer.outcome(done=answer.status == 200), **answer.times
        )

    def submit(self) -> None:
        assignment = self.rng.choice(list(self.desk.cells))
        seen = [[*cell[1:], self.shown[cell]] for cell in self.desk.cells[assignment] if self.shown.get(cell)]
        path = f"/assignments/{assignment}/submit/"
        self._told("submit", assignment, self.browser.post(path, {"seen": json.dumps(seen)}, tries=3))

    def reopen(self) -> None:
        assignment = self.rng.choice(list(self.desk.cells))
        self._told("reopen", assignment, self.browser.post(f"/assignments/{assignment}/reopen/", tries=3))

    def _told(self, what: str, assignment: int, answer: Answer) -> None:
        outcome = answer.outcome(done=answer.status == 200)
        self.history.add(op=what, client=self.name, assignment=assignment, outcome=outcome, **answer.times)


def cell_of(name: str) -> list[int]:
    """A cell as pages name it, “c-1-2-3”."""
    return [int(part) for part in name.split("-")[1:]]


def _json(answer: Answer) -> dict[str, Any]:
    try:
        read = json.loads(answer.body)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


# --- managers -------------------------------------------------------------------------------------------------------


@dataclass
class Manager:
    """Imports rows and labels, plans, starts judges, and restores what annotators have answered."""

    name: str
    browser: Browser
    history: History
    rng: random.Random
    desks: Sequence[Desk]
    planned: Sequence[int]  # raters that are planned for
    judges: Sequence[int]
    counted: int = 0

    def run(self, until: Callable[[], bool], pause: float) -> None:
        deeds = [self.import_rows, self.import_labels, self.restore, self.start_judge, self.restore, self.plan]
        n = 0
        while not until():
            deeds[n % len(deeds)]()
            n += 1
            time.sleep(self.rng.uniform(0, 2 * pause))
        self.browser.close()

    def import_rows(self) -> None:
        self.counted += 1
        sheet = f"{self.name} {self.counted}"
        rows = [f"{sheet}.{n}" for n in range(1, self.rng.choice([4, 8, 30]) + 1)]
        text = "sheet,row,paragraph\n" + "".join(f"{sheet},{row},{evidence_of(row)}\n" for row in rows)
        files = {"rows": text, "columns": f"sheet,duty\n{sheet},Pay rent\n"}
        answer = self.browser.post("/studies/desk/import/rows/", files=files, tries=6)
        outcome = answer.outcome(done=answer.status == 302)
        self.history.add(op="import rows", client=self.name, sheet=sheet, rows=rows, outcome=outcome, **answer.times)

    def import_labels(self) -> None:
        self.counted += 1
        sheet = f"{self.name} {self.counted}"
        labels = [
            [f"{sheet} {rater}", f"{sheet}.{n}", self.rng.choice(["stated", "implied", "absent"])]
            for n in range(1, self.rng.choice([5, 60]) + 1)
            for rater in "AB"
        ]
        text = "sheet,rater,row,answer\n" + "".join(f"{sheet},{','.join(label)}\n" for label in labels)
        answer = self.browser.post("/studies/labels/import/labels/", {"create": "on"}, files={"labels": text}, tries=6)
        outcome = answer.outcome(done=answer.status == 302)
        self.history.add(
            op="import labels", client=self.name, sheet=sheet, labels=labels, outcome=outcome, **answer.times
        )

    def plan(self) -> None:
        """Plan the newest sheet that has no plan, after a look at it."""
        listed = self.browser.get("/api/v1/studies/desk/sheets/")
        if listed.status != 200:
            return
        mine = [
            one
            for one in json.loads(listed.body)
            if one["title"].startswith(f"{self.name} ") and one["title"] not in self.history.planned
        ]
        if not mine or not mine[-1]["rows"]:
            return
        sheet = mine[-1]
        fields = {
            "raters": list(self.planned), "sheets": [sheet["id"]], "raters_per_sheet": 2, "share_twice": 100,
            "share_thrice": 0, "seed": self.rng.randrange(1000), "own_order": "on",
        }  # fmt: skip
        shown = self.browser.get(f"/studies/desk/plan/?{urllib.parse.urlencode(fields, doseq=True)}", part=True)
        drawn = re.search(rb'name="drawn" value="(\w+)"', shown.body)
        if drawn is None:
            return
        answer = self.browser.post("/studies/desk/plan/", fields | {"drawn": drawn[1].decode()}, tries=4)
        # A plan that was applied leads back to its page; one that was refused says so there, too.
        outcome = answer.outcome(done=False)
        if answer.status == 302:
            outcome = "unknown" if answer.doubtful else "ok" if self._says(b"assigned") else "unknown"
        self.history.add(
            op="plan",
            client=self.name,
            sheet=sheet["title"],
            seats=2 * sheet["rows"],
            outcome=outcome,
            **answer.times,
        )

    def _says(self, word: bytes) -> bool:
        return word in self.browser.get("/studies/desk/plan/").body

    def restore(self) -> None:
        desk = self.rng.choice(self.desks)
        moment = datetime.now(UTC) - timedelta(seconds=self.rng.uniform(1, 20))
        fields: dict[str, Any] = {"moment": moment.isoformat(), "rater": desk.rater}
        if self.rng.random() < 0.5:
            fields["submitted"] = "on"
        path = f"/sheets/{desk.sheet}/restore/"
        shown = self.browser.get(f"{path}?{urllib.parse.urlencode(fields)}")
        digest = re.search(rb'name="shown" value="(\w+)"', shown.body)
        if shown.status != 200 or digest is None:
            return
        answer = self.browser.post(path, fields | {"shown": digest[1].decode()}, tries=1)
        said = 0
        if answer.status == 302:
            number = re.search(rb"([\d,]+) cells? (?:is|are) restored", self.browser.get(answer.location).body)
            said = int(number[1].replace(b",", b"")) if number else -1
        outcome = answer.outcome(done=answer.status == 302)
        self.history.add(
            op="restore", client=self.name, restored_to=moment.isoformat(), rater=desk.rater, cells=said,
            assignments=list(desk.cells) * ("submitted" in fields),
            outcome="unknown" if said < 0 else outcome, **answer.times,
        )  # fmt: skip

    def start_judge(self) -> None:
        judge = self.rng.choice(self.judges)
        answer = self.browser.post(f"/api/v1/studies/desk/judges/{judge}/start/", data={}, tries=3)
        done = answer.status == 201
        self.history.add(
            op="judge", client=self.name, judge=judge, run=_json(answer).get("id", 0), status=answer.status,
            outcome=answer.outcome(done=done), **answer.times,
        )  # fmt: skip


def evidence_of(row: str) -> str:
    """What a row is made of follows from its name, and so does what a judge says of it."""
    return ["The tenant shall pay rent monthly.", "The rent is due.", "Nothing is said."][
        int(row.rsplit(".", 1)[1]) % 3
    ]


def expected_of(row: str) -> str:
    return ["stated", "implied", "absent"][int(row.rsplit(".", 1)[1]) % 3]
