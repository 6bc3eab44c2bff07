"""Makes `data/frozen-N.json.xz`: reports as the methods of version N computed them, with their label tables.

It is run once by each version, before the next one (`PALATE_ENV=test python -m tests.reports.make_frozen`), and never
writes a file that is there: a later version would freeze its own numbers, and `test_frozen_before.py` would hold
nothing.
"""

from __future__ import annotations

import base64
import json
import lzma
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import django
import numpy as np

DATA = Path(__file__).parent / "data"


def file_of(methods: int) -> Path:
    return DATA / f"frozen-{methods}.json.xz"


def label_table(seed: int, n_sheets: int, n_rows: int, n_people: int = 3) -> Any:
    """A study of `studies.SCHEME` with people, two judges (one with scores, one labelling twice) and a gold."""
    from annotation.scheme.spec import load_scheme
    from reports.data.label_table import (
        AssignmentEntry,
        Assignments,
        ColumnEntry,
        LabelTable,
        RaterEntry,
        RowEntry,
        SkipEntry,
        UnreadableEntry,
    )  # fmt: skip
    from tests.reports.studies import SCHEME

    rng = np.random.default_rng(seed)
    spec = load_scheme(SCHEME)
    raters = (
        *(RaterEntry(f"A{n}", "person", n == 3) for n in range(1, n_people + 1)),
        RaterEntry("J1", "judge", normalisation="token", model="small"),
        RaterEntry("J2", "judge", model="large"),
        RaterEntry("G1", "gold"),
    )
    sheets = tuple(f"Soup {n}" for n in range(n_sheets))
    rows = tuple(RowEntry(s, f"Page {n}", s == 0 and n == 0) for s in range(n_sheets) for n in range(n_rows))
    columns = tuple(
        ColumnEntry(s, key, n, f"{key} {n}", {"item": "salt"} if key == "items" else {"task": "stir", "tool": "spoon"})
        for s in range(n_sheets)
        for key, size in (("items", 4), ("tasks", 2))
        for n in range(size)
    )
    given = sorted(
        (row, rater, repeat)
        for row in range(len(rows))
        for rater in range(len(raters))
        for repeat in ((1, 2) if rater == n_people + 1 else (1,))
        if rng.random() < (0.5 if rater == n_people + 2 else 0.8)
    )
    states = ("submitted", "submitted", "open", "failed")
    assignments = tuple(
        AssignmentEntry(rater, row, repeat, states[rng.integers(4 if rater in (n_people, n_people + 1) else 3)], ())
        for row, rater, repeat in given
    )
    questions = [(section, question) for section in spec.sections for question in section.questions]
    truth: dict[tuple[int, int, int], int] = {}
    labels, skips, unreadable, scored, scores = [], [], [], [], []
    for place, work in enumerate(assignments):
        for at, column in enumerate(columns):
            if column.sheet != rows[work.row].sheet:
                continue
            for number, (section, question) in enumerate(questions):
                if section.key != column.section or work.state == "failed":
                    continue
                k = len(question.options)
                true = truth.setdefault((work.row, at, number), int(min(rng.integers(k), rng.integers(k))))
                chance = rng.random()
                if chance < 0.05:
                    skips.append(SkipEntry(place, at, number, "cannot-tell"))
                elif chance < 0.1 and work.rater == n_people:
                    unreadable.append(UnreadableEntry(place, at, number, "empty"))
                elif chance < 0.9:
                    code = true if rng.random() < 0.75 else int(rng.integers(k))
                    labels.append((place, at, number, code, int(rng.random() < 0.02), int(rng.random() < 0.05)))
                    if work.rater == n_people:
                        scored.append(labels[-1])
    order = sorted(range(len(labels)), key=lambda n: labels[n][:3])
    table = np.array([labels[n] for n in order], dtype=np.int64)
    of_judge = np.array([n for n, line in enumerate(table) if assignments[line[0]].rater == n_people], dtype=np.int64)
    for line in table[of_judge]:
        k = len(questions[line[2]][1].options)
        filled = np.full((4, 4), np.nan)
        filled[:k, 0] = -rng.random(k) * 6 - 2
        filled[line[3], 0] = -rng.random() * 2
        filled[:k, 1], filled[:k, 2] = 2, 7
        scores.append(np.round(filled, 6))
    return LabelTable(
        slug="letters",
        title="Letters",
        spec=spec.model_dump(mode="json"),
        raters=raters,
        sheets=sheets,
        rows=rows,
        columns=columns,
        assignments=Assignments.of(assignments),
        labels=table,
        scored=of_judge,
        scores=np.array(scores),
        skips=tuple(sorted(skips)),
        unreadable=tuple(sorted(unreadable)),
    )


def arms_table(seed: int) -> Any:
    """`label_table` where J2 is J1 with the options turned by one."""
    from annotation.scheme.spec import load_scheme
    from reports.data.label_table import ArmEntry
    from tests.reports.studies import SCHEME

    read = {
        f"{section.key}.{question.key}": tuple(option.key for option in question.options)
        for section in load_scheme(SCHEME).sections
        for question in section.questions
    }
    turned = {name: (*keys[1:], keys[0]) for name, keys in read.items()}
    arms = (ArmEntry("J1", "J1", 0, False, read), ArmEntry("J2", "J1", 1, False, turned))
    return replace(label_table(seed, 8, 3), arms=arms)


VALUES = """\
key: lines
version: 1
title: Lines
words: {sheet: recipe, sheets: recipes, row: table, rows: tables}
sections:
  - key: steps
    title: Steps
    layout: down
    column: {title: Instruction, facets: [instruction]}
    questions:
      - {key: input, title: Input, kind: text, text: {special: [NA], separator: ";"}}
      - {key: parts, title: Parts, kind: items, items: {fields: [{key: task}, {key: things, list: true}]}}
      - {key: weight, title: Weight, kind: number, number: {min: 0, max: 500}}
"""


def value_table(seed: int, n_sheets: int) -> Any:
    """A study of `VALUES` with two people, two judges and a gold, a table of four lines a sheet."""
    from annotation.answers.codes import dumps
    from annotation.scheme.spec import load_scheme
    from reports.data.label_table import AssignmentEntry, Assignments, ColumnEntry, LabelTable, RaterEntry, RowEntry

    rng = np.random.default_rng(seed)
    spec = load_scheme(VALUES)
    raters = (
        RaterEntry("A1", "person"),
        RaterEntry("A2", "person"),
        RaterEntry("J1", "judge", model="small"),
        RaterEntry("J2", "judge", model="large"),
        RaterEntry("G1", "gold"),
    )
    names = ("flour", "water", "warm water", "dough", "kneaded dough", "salt")
    n_lines = 4

    def said(number: int, true: int) -> str:
        if number == 2:
            return dumps(float(5 * true))
        if number == 1:
            return dumps([{"task": "mix", "things": [names[true], names[(true + 1) % 6]]}][: true % 3])
        return dumps("NA" if true == 0 else f"{names[true]}; {names[(true + 2) % 6]}" if true % 2 else names[true])

    values = tuple(tuple(sorted({said(number, true) for true in range(6)})) for number in range(3))
    assignments = tuple(
        AssignmentEntry(rater, row, 1, "submitted", ()) for row in range(n_sheets) for rater in range(len(raters))
    )
    labels = []
    for place, work in enumerate(assignments):
        for line in range(n_lines):
            for number in range(3):
                true = (7 * work.row + 3 * line + number) % 6
                if rng.random() < 0.95:
                    chosen = true if rng.random() < 0.7 else int(rng.integers(6))
                    code = values[number].index(said(number, chosen))
                    labels.append((place, work.row * n_lines + line, number, code, 0, int(rng.random() < 0.03)))
    return LabelTable(
        slug="lines",
        title="Lines",
        spec=spec.model_dump(mode="json"),
        raters=raters,
        sheets=tuple(f"Pizza {n}" for n in range(n_sheets)),
        rows=tuple(RowEntry(n, "table") for n in range(n_sheets)),
        columns=tuple(
            ColumnEntry(s, "steps", n, f"{n + 1}", {"instruction": f"step {n + 1}"})
            for s in range(n_sheets)
            for n in range(n_lines)
        ),
        assignments=Assignments.of(assignments),
        labels=np.array(labels, dtype=np.int64),
        values=values,
    )


MARKED = """\
key: news
version: 1
title: News
words: {sheet: batch, sheets: batches, row: text, rows: texts}
sections:
  - key: text
    title: Text
    questions:
      - key: names
        title: Names
        kind: items
        items: {fields: [{key: words}, {key: type, options: [person, place]}, {key: at, place: true}]}
      - {key: tone, title: Tone, kind: scale, min: 1, max: 3, optional: true}
      - {key: remark, title: Remark, kind: text, optional: true}
"""


def marked_table(seed: int, n_sheets: int, n_rows: int) -> Any:
    """A study of `MARKED` with three people, a judge that runs here, one whose answers came from a file, and a gold.
    The third person has not begun the last sheet. What is optional is left open as often as not."""
    from annotation.answers.codes import dumps
    from annotation.scheme.spec import load_scheme
    from reports.data.label_table import AssignmentEntry, Assignments, ColumnEntry, LabelTable, RaterEntry, RowEntry

    rng = np.random.default_rng(seed)
    raters = (
        *(RaterEntry(f"A{n}", "person") for n in (1, 2, 3)),
        RaterEntry("J1", "judge", model="small"),
        RaterEntry("J2", "judge"),
        RaterEntry("G1", "gold"),
    )
    names = (("Lech Walesa", "person", 0, 11), ("Walesa", "person", 5, 11), ("Gdansk", "place", 22, 28))
    names += (("New York", "place", 32, 40), ("York", "person", 36, 40))
    lists = sorted(
        dumps([{"words": word, "type": kind, "at": f"0:{start}-{end}"} for word, kind, start, end in some])
        for some in ((), *((one,) for one in names), names[1:3], names[::2], names[:4])
    )
    values = (tuple(lists), (), tuple(dumps(text) for text in ("It is late.", "It is rude.", "None of it.")))
    n_codes = (len(lists), 3, 3)
    assignments = tuple(
        AssignmentEntry(rater, row, 1, "open" if rater == 2 and row >= (n_sheets - 1) * n_rows else "submitted", ())
        for row in range(n_sheets * n_rows)
        for rater in range(len(raters))
    )
    labels = []
    for place, work in enumerate(assignments):
        if work.state == "open":
            continue
        for number in range(3):
            true = (5 * work.row + number) % n_codes[number]
            if number == 0 or rng.random() < 0.55:
                chosen = true if rng.random() < 0.6 else int(rng.integers(n_codes[number]))
                labels.append((place, work.row // n_rows, number, chosen, 0, int(rng.random() < 0.03)))
    return LabelTable(
        slug="news",
        title="News",
        spec=load_scheme(MARKED).model_dump(mode="json"),
        raters=raters,
        sheets=tuple(f"Batch {n}" for n in range(n_sheets)),
        rows=tuple(RowEntry(s, f"Text {n}") for s in range(n_sheets) for n in range(n_rows)),
        columns=tuple(ColumnEntry(s, "text", 0, "", {}) for s in range(n_sheets)),
        assignments=Assignments.of(assignments),
        labels=np.array(labels, dtype=np.int64),
        values=values,
    )


def ratings_table(seed: int) -> Any:
    """Ratings of the texts of six generators for sixteen instructions, by three people and nine judges."""
    from annotation.scheme.spec import load_scheme
    from recipes.benchmark.instructions import read_instructions
    from recipes.cuisine_transfer.simulation import simulate

    pack = Path(__file__).resolve().parents[2] / "recipes" / "cuisine_transfer"
    spec = load_scheme((pack / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8"))
    instructions = read_instructions((pack / "instructions.yaml").read_text(encoding="utf-8"), spec)
    table, _truth = simulate(spec, instructions[::50], repeats=1, people=3, people_texts=40, seed=seed)
    return table


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from reports.contents import contents_from
    from reports.data.arrays import METHODS, Filters

    file = file_of(METHODS)
    assert not file.exists(), f"{file.name} is of the code of its day"
    tables = {"few": label_table(1, 3, 6), "many": label_table(2, 12, 3), "one": label_table(3, 1, 4)}
    tables["values"] = value_table(4, 12)
    tables["crowd"] = label_table(5, 4, 3, n_people=5)
    tables["ratings"] = ratings_table(6)
    tables["arms"] = arms_table(7)
    tables["marked"] = marked_table(8, 5, 4)
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("few", "en", {}),
        ("marked", "en", {"unanswered": True}),
        ("few", "cs", {"by": "document", "n_draws": 200}),
        ("many", "en", {"by": "sheet", "n_draws": 300, "seed": 7}),
        ("many", "en", {"by": "document", "n_draws": 200, "merges": {"items.presence": "two-classes"}}),
        ("many", "en", {"submitted_only": True, "exposure": "include", "questions": ("items.presence", "tasks.level")}),
        ("one", "en", {"by": "document", "n_draws": 100}),
        ("values", "en", {}),
        ("values", "cs", {"by": "sheet", "n_draws": 200}),
        ("crowd", "en", {"by": "document", "n_draws": 200}),
        ("crowd", "en", {"by": "document", "n_draws": 100, "voices": ("abilities",)}),
        ("ratings", "en", {"n_draws": 200}),
        ("arms", "en", {"by": "document", "n_draws": 100}),
        ("arms", "en", {"by": "sheet", "n_draws": 100}),
        ("marked", "cs", {"by": "document", "n_draws": 200}),
    ]
    frozen = [
        {
            "table": name,
            "language": language,
            "filters": Filters(**filters).to_json(),
            "results": contents_from(tables[name], Filters(**filters), language).content.decode(),
        }
        for name, language, filters in asked
    ]
    packed = {name: base64.b64encode(table.packed()).decode() for name, table in tables.items()}
    file.write_bytes(lzma.compress(json.dumps({"tables": packed, "reports": frozen}).encode(), preset=9))


if __name__ == "__main__":
    main()
