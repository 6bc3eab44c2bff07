"""Ratings of the paper's size, made by known effects: what a report says of them can be held against the truth. Pure.

Nobody rated anything here. A rating's expected value is a sum of effects, all of them bounded so that the sum stays on
the scale, and it is rounded up or down by lot so that its expectation is that sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.scheme.spec import Kind, SchemeSpec
from recipes.benchmark.instructions import Instruction
from reports.data.label_table import (
    AssignmentEntry,
    Assignments,
    ColumnEntry,
    LabelTable,
    RaterEntry,
    RowEntry,
)
from reports.stats.answers import IntArray
from reports.stats.pairs import FloatArray

# What the paper's generators and evaluators are called; the effects are invented.
GENERATORS: Mapping[str, float] = {
    "gemma2:2b": -0.10, "gemma2:9b": 0.12, "gpt-4o-mini": 0.20,
    "llama2:13b": -0.20, "llama3.1:8b": 0.10, "mistral:7b": -0.12,
}  # fmt: skip
JUDGES: Mapping[str, float] = {
    "gemma2:2b": -0.30, "mistral:7b": 0.10, "llama3.1:8b": 0.20, "gemma2:9b": -0.40, "llama2:13b": 0.45,
    "gpt-4o-mini": 0.15, "gpt-4o": 0.05, "gemini-1.5-flash": -0.15, "gemini-1.5-pro": -0.10,
}  # fmt: skip
FAVOUR: Mapping[str, float] = {"gpt-4o": 0.25, "llama2:13b": 0.30}  # of judges for their own family
PEOPLE_BIAS = 0.35
_BASE = {"authenticity": 3.0, "sensitivity": 3.15, "harmony": 2.9}
_INSTRUCTION, _TEXT, _NOISE, _LENGTH = 0.20, 0.15, 0.25, 0.10


@dataclass(frozen=True)
class Truth:
    """cells: by criterion, judge and generator the expected mean; by judge leniency, favour, and bias: judge less
    people; length: of a text twice as long."""

    cells: Mapping[tuple[str, str, str], float]
    leniency: Mapping[str, float]
    favour: Mapping[str, float]
    bias: Mapping[str, float]
    length: float


def simulate(
    scheme: SchemeSpec,
    instructions: Sequence[Instruction],
    *,
    repeats: int = 3,
    people: int = 5,
    people_texts: int = 240,
    seed: int = 0,
) -> tuple[LabelTable, Truth]:
    """All generators wrote for each instruction, all judges rated each text `repeats` times, and people a sample of
    `people_texts` texts."""
    rng = np.random.default_rng(seed)
    of = scheme.benchmark
    assert of is not None
    sheets = tuple(dict.fromkeys(one.sheet for one in instructions))
    ordered = sorted(range(len(instructions)), key=lambda place: sheets.index(instructions[place].sheet))
    generators, judges = list(GENERATORS), list(JUDGES)
    written = np.array([rng.permutation(len(generators)) for _one in ordered])
    instruction = np.repeat(np.arange(len(ordered)), len(generators))
    generator = written.ravel()
    n = generator.size
    words = np.exp2(rng.uniform(6.5, 8.5, n)).round()
    rows = tuple(
        RowEntry(
            sheets.index(instructions[ordered[at]].sheet),
            f"{instructions[ordered[at]].name} {place % len(generators) + 1}",
            facets={**instructions[ordered[at]].facets, of.generator: generators[by], str(of.length): str(int(long))},
        )
        for place, (at, by, long) in enumerate(zip(instruction, generator, words, strict=True))
    )
    raters = (
        *(RaterEntry(f"P{number + 1}", "person", simulated=True) for number in range(people)),
        *(RaterEntry(name, "judge", simulated=True, model=name) for name in judges),
    )
    chosen = np.sort(rng.choice(n, size=min(people_texts, n), replace=False)) if people else np.zeros(0, dtype=np.int64)
    given = [(row, rater, 1) for row in chosen.tolist() for rater in range(people)]
    given += [
        (row, people + judge, repeat + 1)
        for row in range(n)
        for judge in range(len(judges))
        for repeat in range(repeats)
    ]
    given.sort()
    section = scheme.sections[0]
    numbers = {
        question.key: (number, [option.value for option in question.options])
        for number, question in enumerate(section.questions)
        if question.kind == Kind.SCALE
    }
    who = np.array([rater for _row, rater, _repeat in given])
    row = np.array([row for row, _rater, _repeat in given])
    family = np.array([of.family(name) for name in generators])
    own = np.array([[of.family(name) == other for other in family] for name in judges])
    lenient = np.concatenate([np.full(people, PEOPLE_BIAS), [JUDGES[name] for name in judges]])
    favour = np.concatenate(
        [
            np.zeros((people, len(generators))),
            [[FAVOUR.get(j, 0.0) * o for o in of_j] for j, of_j in zip(judges, own, strict=True)],
        ]
    )
    worth = np.array([GENERATORS[name] for name in generators])
    doubled = np.log2(words) - 7.5
    labels, cells = [], {}
    for key, (number, values) in numbers.items():
        base = _BASE.get(key, 3.0)
        of_text = (
            rng.uniform(-_INSTRUCTION, _INSTRUCTION, len(ordered))[instruction]
            + rng.uniform(-_TEXT, _TEXT, n)
            + _LENGTH * doubled
        )
        expected = base + worth[generator[row]] + lenient[who] + favour[who, generator[row]] + of_text[row]
        labels.append(
            _labels(_rounded(expected + rng.uniform(-_NOISE, _NOISE, who.size), rng), number, values, row, rows)
        )
        for place, judge in enumerate(judges):
            for at, name in enumerate(generators):
                cells[key, judge, name] = base + worth[at] + JUDGES[judge] + favour[people + place, at]
    table = LabelTable(
        slug="ash-simulated",
        title="Cuisine transfer, simulated",
        spec=scheme.model_dump(mode="json"),
        raters=raters,
        sheets=sheets,
        rows=rows,
        columns=tuple(
            ColumnEntry(sheet, section.key, 0, "", dict.fromkeys(section.column.facets, ""))
            for sheet in range(len(sheets))
        ),
        assignments=Assignments.of(AssignmentEntry(rater, at, repeat, "submitted", ()) for at, rater, repeat in given),
        labels=_sorted(np.concatenate(labels)).astype(np.int32),
        values=tuple(() for of_section in scheme.sections for _question in of_section.questions),
    )
    middle = float(np.mean(list(JUDGES.values())))
    shared = {name: float(np.mean(favour[people + place])) for place, name in enumerate(judges)}
    drawn = float(np.mean(list(shared.values())))
    return table, Truth(
        cells=cells,
        leniency={name: JUDGES[name] + shared[name] - middle - drawn for name in judges},
        favour={name: FAVOUR.get(name, 0.0) for place, name in enumerate(judges) if own[place].any()},
        bias={name: JUDGES[name] + shared[name] - PEOPLE_BIAS for name in judges},
        length=_LENGTH,
    )


def _rounded(expected: FloatArray, rng: np.random.Generator) -> IntArray:
    assert expected.min() >= 1, "the effects leave the scale"
    assert expected.max() <= 5, "the effects leave the scale"
    low = np.floor(expected)
    return (low + (rng.random(expected.size) < expected - low)).astype(np.int64)


def _labels(
    rated: IntArray, number: int, values: Sequence[int | None], row: IntArray, rows: Sequence[RowEntry]
) -> IntArray:
    code = np.searchsorted(np.array(values, dtype=np.int64), rated)
    column = np.array([rows[at].sheet for at in range(len(rows))])[row]  # each sheet has one column
    nothing = np.zeros(rated.size, dtype=np.int64)
    return np.stack([np.arange(rated.size), column, nothing + number, code, nothing, nothing], axis=1)


def _sorted(labels: IntArray) -> IntArray:
    found: IntArray = labels[np.lexsort((labels[:, 2], labels[:, 1], labels[:, 0]))]
    return found
