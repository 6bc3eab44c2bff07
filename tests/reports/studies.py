"""Small studies for the report, by actions alone: who answered what is written as rows of letters.

items   one question, presence: f found · n near · a absent · i implied (judges are compared with i as a)
tasks   task: f found · a absent       tool: s same · d different · - none (blank, preset where there is no tool)
        level: a scale 1 2 3           tool is not asked of an absent task, level not of a different tool
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from annotation import actions
from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Assignment, Label, Option, Rater, Sheet, Study
from reports import queries
from reports.data.arrays import Filters
from reports.numbers.report import QuestionReport, StudyReport, compute
from tests import builders

SCHEME = """\
key: letters
version: 1
title: Letters
words: {sheet: recipe, sheets: recipes, row: document, rows: documents}
sections:
  - key: items
    title: Items
    column: {title: Item, facets: [item]}
    questions:
      - key: presence
        title: Presence
        about: item
        options:
          - {key: found, label: Found}
          - {key: near, label: Found (not perfect)}
          - {key: absent, label: Not found}
          - {key: implied, label: Implied}
        merges:
          - {key: three-classes, title: Implied counts as Not found, options: {implied: absent}}
          - {key: two-classes, title: Found or not, options: {near: found, implied: absent}}
        judge_merge: three-classes
  - key: tasks
    title: Tasks
    column: {title: Task, facets: [task, tool]}
    questions:
      - key: task
        title: Task
        about: task
        options:
          - {key: found, label: Task found}
          - {key: absent, label: Task not found}
      - key: tool
        title: Tool
        about: tool
        ask_unless: {task: [absent]}
        preset: {when_empty: tool, option: none}
        options:
          - {key: same, label: Same}
          - {key: different, label: Different}
          - {key: none, label: No tool involved, blank: true}
      - key: level
        title: Level
        kind: scale
        min: 1
        max: 3
        ask_unless: {tool: [different]}
"""
LETTERS = {
    "presence": {"f": "found", "n": "near", "a": "absent", "i": "implied"},
    "task": {"f": "found", "a": "absent"},
    "tool": {"s": "same", "d": "different", "-": "none"},
    "level": {"1": "1", "2": "2", "3": "3"},
}


def study(slug: str = "letters") -> Study:
    return builders.study(slug, of=builders.scheme(SCHEME))


def sheet(study: Study, title: str = "Soup", *, items: int = 0, tools: Sequence[str] = (), rows: int = 1) -> Sheet:
    """Columns item 1, item 2, …, and a task for each of `tools`, "" being a task without one."""
    columns: dict[str, list[dict[str, str]]] = {"items": [], "tasks": []}
    columns["items"] = [{"item": f"item {n}"} for n in range(1, items + 1)]
    columns["tasks"] = [{"task": f"task {n}", "tool": tool} for n, tool in enumerate(tools, 1)]
    made = actions.add_sheet(study=study, title=title, columns={key: found for key, found in columns.items() if found})
    for n in range(1, rows + 1):
        actions.add_row(sheet=made, name=f"Page {n}", evidence=[Block(PARAGRAPH, "Stir the soup.")])
    return made


def rater(study: Study, code: str, kind: Rater.Kind = Rater.Kind.PERSON, *, simulated: bool = False) -> Rater:
    return Rater.objects.create(study=study, kind=kind, code=code, simulated=simulated)


def judge(study: Study, code: str = "J1", *, simulated: bool = False) -> Rater:
    return rater(study, code, Rater.Kind.JUDGE, simulated=simulated)


def gold(study: Study, code: str = "G1") -> Rater:
    return rater(study, code, Rater.Kind.GOLD)


def answered(rater: Rater, sheet: Sheet, rows: Sequence[str | None], *, repeat: int = 1) -> list[Assignment]:
    """Assign the rows with a text, and answer presence by its letters, a column each; "." leaves a cell open."""
    made = []
    for row, letters in zip(sheet.rows.order_by("position"), rows, strict=True):
        if letters is not None:
            [assignment] = actions.assign(rater=rater, rows=[row], repeat=repeat)
            made.append(assignment)
            columns = sheet.columns.filter(section__key="items").order_by("position")
            say(assignment, {(column.name, "presence"): c for column, c in zip(columns, letters, strict=True)})
    return made


def say(assignment: Assignment, letters: dict[tuple[str, str], str]) -> None:
    """Record {(column, question): letter}, but for the letters "."."""
    columns = {column.name: column for column in assignment.row.sheet.columns.all()}
    options = {(o.question.key, o.key): o for o in Option.objects.select_related("question")}
    answers = []
    for (name, key), letter in letters.items():
        if letter != ".":
            option = options[key, LETTERS[key][letter]]
            answers.append(Answer(column=columns[name], question=option.question, option=option))
    actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())


def raw(study: Study, question: str) -> list[tuple[str, str, tuple[int, int], str]]:
    """(sheet, rater, cell, option key) of every label of a question: what other libraries are given."""
    labels = Label.objects.filter(assignment__rater__study=study, question__key=question)
    return [
        (
            label.assignment.row.sheet.title,
            label.assignment.rater.code,
            (label.assignment.row_id, label.column_id),
            label.option.key,
        )
        for label in labels.select_related("assignment__row__sheet", "assignment__rater", "option")
    ]


def report(study: Study, **filters: object) -> StudyReport:
    chosen = Filters(**filters)  # type: ignore[arg-type]
    return compute(queries.load(study, chosen), chosen)


def presence(study: Study, **filters: object) -> QuestionReport:
    return report(study, **filters).sections[0].questions[0]
