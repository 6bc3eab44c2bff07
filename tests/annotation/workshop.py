"""A study with answers of every kind: manuals of a workshop, a table of steps read downwards for each.

Steps      Cut the plank · Glue plank and foot · Look at it
questions  work (an option), input and output (lists of things), minutes, tools (records), change (transitions)
rows       Stool, Bench; what there is at the start is a facet, and who wrote the manual is hidden
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from annotation import actions, queries
from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Assignment, Rater, Sheet, Study, User
from tests import builders

SCHEME = """\
key: manuals
version: 1
title: Manuals
row: {facets: [parts, {key: writer, hidden: true}]}
sections:
  - key: steps
    title: Steps
    layout: down
    column: {title: Step, facets: [instruction]}
    shows_above: [output]
    checks:
      - {rule: contained-in, question: input, in: [above.output, row.parts, column.instruction], level: warn}
      - {rule: carried, question: output, from: input, level: warn}
      - {rule: equal-to, question: output, other: input, when: {work: [look]}, level: refuse,
         message: Looking changes nothing.}
      - {rule: no-number, question: output, level: refuse}
      - {rule: not-empty-if, question: output, other: input, level: refuse}
    questions:
      - key: work
        title: Work
        options:
          - {key: cut, label: Cut}
          - {key: join, label: Join}
          - {key: look, label: Look}
          - {key: none, label: Nothing, blank: true}
      - key: input
        title: Input
        kind: text
        text:
          longest: 60
          special: [NA]
          separator: ";"
          from: [output]
          patterns: [{pattern: "\\\\d", message: No numbers.}]
        ask_unless: {work: [none]}
      - key: output
        title: Output
        kind: text
        text: {longest: 60, special: [NA], separator: ";"}
        ask_unless: {work: [none]}
      - key: minutes
        title: Minutes
        kind: number
        number: {min: 0, max: 60, step: 0.5, unit: min}
        ask_unless: {input: [NA]}
      - key: tools
        title: Tools
        kind: items
        items: {fields: [{key: tool, required: true}, {key: parts, list: true}]}
      - {key: change, title: Change, kind: transitions, transitions: {start: [parts]}}
      - key: remark
        title: Remark
        kind: text
        text: {special: [NA], lines: true}
        preset: {when_empty: instruction, value: NA}
"""
CUT, GLUE, LOOK = "Cut the plank", "Glue plank and foot", "Look at it"
STOOL: Mapping[tuple[str, str], str] = {
    (CUT, "work"): "cut",
    (CUT, "input"): ':"plank"',
    (CUT, "output"): ':"seat; rest; foot; glue"',
    (CUT, "minutes"): ":2.5",
    (CUT, "tools"): ':[{"tool":"saw","parts":["plank"]}]',
    (CUT, "change"): ':[{"from":["plank"],"to":["seat","rest"]}]',
    (CUT, "remark"): ':"mind\\nyour fingers"',
    (GLUE, "work"): "join",
    (GLUE, "input"): ':"seat; foot; glue"',
    (GLUE, "output"): ':"stool; rest"',
    (GLUE, "minutes"): ":30",
    (GLUE, "tools"): ":[]",
    (GLUE, "change"): ':[{"from":["seat","foot"],"to":["stool"]},{"from":["glue"],"to":[]}]',
    (GLUE, "remark"): ':"NA"',
    (LOOK, "work"): "none",
    (LOOK, "tools"): ":[]",
    (LOOK, "change"): ":[]",
    (LOOK, "remark"): ':"NA"',
}


@dataclass(frozen=True)
class Workshop:
    study: Study
    sheet: Sheet
    manager: User
    anna: User
    boris: User
    stool: Assignment  # Anna's
    bench: Assignment
    boriss_stool: Assignment
    judges_stool: Assignment

    @property
    def judge(self) -> Rater:
        return self.judges_stool.rater


def workshop(scheme: str = SCHEME) -> Workshop:
    manager, anna, boris = (builders.user(name) for name in ("mara", "anna", "boris"))
    study = builders.study("workshop", of=builders.scheme(scheme), by=manager)
    steps = [{"instruction": instruction} for instruction in (CUT, GLUE, LOOK)]
    sheet = actions.add_sheet(study=study, title="Wood", columns={"steps": steps})
    for name in ("Stool", "Bench"):
        actions.add_row(
            sheet=sheet,
            name=name,
            evidence=[Block(PARAGRAPH, "Cut the plank. Glue plank and foot. Look at it.")],
            facets={"parts": ["plank", "foot", "glue"], "writer": "M1"},
        )
    stool, bench = builders.assignments(builders.rater(study, anna), sheet)
    return Workshop(
        study,
        sheet,
        manager,
        anna,
        boris,
        stool,
        bench,
        builders.assignments(builders.rater(study, boris), sheet)[0],
        builders.assignments(builders.judge(study), sheet)[0],
    )


def answer(sheet: Sheet, column: str, question: str, code: str, **more: object) -> Answer:
    """An answer by the names of its column and question, and its code."""
    found = sheet.columns.select_related("section__scheme").get(name=column)
    asked = found.section.questions.get(key=question)
    return Answer.of_code(found, asked, code, spec=asked.spec, **more)


def fill(
    assignment: Assignment, codes: Mapping[tuple[str, str], str] = STOOL, *, key: uuid.UUID | None = None
) -> actions.Recorded:
    """Record {(column name, question key): code}."""
    answers = [answer(assignment.row.sheet, *cell, code) for cell, code in codes.items()]
    return actions.record(assignment=assignment, answers=answers, key=key or uuid.uuid4())


def codes(assignment: Assignment) -> dict[tuple[str, str], str]:
    """What stands in the database, as the grid's script is told it."""
    columns = {column.pk: column for column in assignment.row.sheet.columns.select_related("section")}
    keys = {q.pk: q.key for column in columns.values() for q in column.section.questions.all()}
    values = queries.cell_values([assignment.pk], columns)
    return {
        (columns[column].name, keys[question]): code
        for (_assignment, column), of_column in values.items()
        for question, code in of_column.items()
    }
