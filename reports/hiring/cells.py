"""One judge's cells of one question, beside what people say of them: out of a label table, as arrays. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from llm.engine.normalisation import NORMALISATIONS, normalised
from reports.data.label_table import CHARACTERS, LOGPROB, TOKENS, UNCONDITIONAL, FloatArray, IntArray, LabelTable
from reports.stats.calibration import margin, merged_probabilities, option_probabilities

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JudgeCells:
    """Arrays of shape (n_cells,), in the order of rows and columns.

    row, column: places in the label table; sheet: of the row. code: the judge's answer, under the question's merge for
    judges. label: the place of the judge's label. score: 0 to 1, larger is surer, see `MARGIN`. right: of each answer
    the share in which it is the right one, shape (n_cells, n_codes): 1 for gold where it is decided, else for what most
    people said, equal parts where several answers were equally frequent; a row of zeros where nobody said anything.
    people: how many answered. Gold that is exposed, as it was decided in the lens, counts where people answered too: in
    other cells it may have been decided because of what the judge said.
    """

    row: IntArray
    column: IntArray
    sheet: IntArray
    code: IntArray
    label: IntArray
    score: FloatArray
    right: FloatArray
    people: IntArray

    @property
    def known(self) -> BoolArray:
        """Whether it is known what is right."""
        return np.asarray((self.right > 0).any(axis=1), dtype=bool)

    @property
    def ties(self) -> int:
        """Cells in which people were divided, so that the judge is half wrong at most."""
        return int(((self.right > 0) & (self.right < 1)).any(axis=1).sum())

    @property
    def wrong(self) -> FloatArray:
        """How wrong the judge is, 0 to 1; meaningless where nothing is known."""
        found: FloatArray = 1.0 - self.right[np.arange(self.code.size), self.code]
        return found

    def at(self, mask: BoolArray) -> JudgeCells:
        return JudgeCells(**{name: values[mask] for name, values in vars(self).items()})


# What a score is: of a judge that scored options the lead of the first over the second, as probabilities; of one that
# answered several times the share of its answers that are the first one; of any other 1, so that it is all or nothing.
MARGIN, REPEATS, NONE = "margin", "repeats", "none"


def judge_cells(table: LabelTable, judge: str, question: str, *, normalisation: str = "") -> JudgeCells:
    """The cells that a judge answered.

    Labels given after a look at others', drafts, cells that are preset, and repeats after the first are no reference;
    of the judge's own labels those that are preset are left out.

    Args:
        judge: code of the rater. question: "section.question".
        normalisation: by which its answers are chosen anew from its scores; "" leaves them as they are.
    Raises:
        LookupError: there is no such judge or question, or no score under this normalisation.
    """
    number = question_number(table, question)
    places = [place for place, rater in enumerate(table.raters) if rater.code == judge and rater.kind == "judge"]
    if not places:
        raise LookupError(judge)
    merge = _merge(table, number)
    labels = table.labels
    rater, row, first = _of_assignments(table)
    mine = (labels[:, 2] == number) & (labels[:, 4] == 0) & np.isin(rater[labels[:, 0]], places) & first[labels[:, 0]]
    place = np.flatnonzero(mine)
    code = labels[place, 3].copy()
    score, kind = _scores(table, place, number, normalisation, merge)
    if normalisation and kind != MARGIN:
        raise LookupError(normalisation)
    if normalisation:
        code = _chosen(table, place, number, normalisation)
    elif kind == NONE:
        score = _sameness(table, place, number, rater, row)
    code = merge[code]
    key = row[labels[place, 0]] * max(len(table.columns), 1) + labels[place, 1]
    order = np.argsort(key, kind="stable")
    place, code, score, key = place[order], code[order], score[order], key[order]
    right, people = _references(table, number, key, merge)
    of_row = key // max(len(table.columns), 1)
    sheet = np.array([entry.sheet for entry in table.rows], dtype=np.int64)
    return JudgeCells(
        row=of_row,
        column=key % max(len(table.columns), 1),
        sheet=sheet[of_row] if of_row.size else of_row,
        code=code,
        label=place,
        score=score,
        right=right,
        people=people,
    )


def question_number(table: LabelTable, question: str) -> int:
    """Raises LookupError where the scheme has no such question."""
    for number, (section, spec) in enumerate(table.questions):
        if f"{section.key}.{spec.key}" == question:
            return number
    raise LookupError(question)


def score_kind(table: LabelTable, judge: str, question: str) -> str:
    """What the judge's scores are: `MARGIN`, `REPEATS` or `NONE`."""
    number = question_number(table, question)
    rater, _row, first = _of_assignments(table)
    places = [place for place, of in enumerate(table.raters) if of.code == judge]
    labels = table.labels
    mine = (labels[:, 2] == number) & np.isin(rater[labels[:, 0]], places)
    if np.isin(np.flatnonzero(mine), table.scored).any():
        return MARGIN
    return REPEATS if (~first[labels[mine, 0]]).any() else NONE


def normalisations_of(table: LabelTable, judge: str, question: str) -> tuple[str, ...]:
    """The normalisations by which its answers can be chosen anew; none of a judge that did not score options."""
    if score_kind(table, judge, question) != MARGIN:
        return ()
    number = question_number(table, question)
    rater, _row, _first = _of_assignments(table)
    places = [place for place, of in enumerate(table.raters) if of.code == judge]
    of_scored = table.labels[table.scored]
    mine = (of_scored[:, 2] == number) & np.isin(rater[of_scored[:, 0]], places)
    scores = table.scores[mine]
    offered = ~np.isnan(scores[..., LOGPROB])
    with_pmi = not np.isnan(scores[..., UNCONDITIONAL][offered]).any()
    return tuple(name for name in NORMALISATIONS if name != "pmi" or with_pmi)


def part_of(rows: IntArray, table: LabelTable, names: Collection[tuple[str, str]]) -> BoolArray:
    """Whether each row is one of these, by the title of its sheet and its name."""
    inside = np.array([(table.sheets[row.sheet], row.name) in names for row in table.rows], dtype=bool)
    found: BoolArray = inside[rows] if inside.size else np.zeros(rows.size, dtype=bool)
    return found


# --- scores ----------------------------------------------------------------------------------------------------------


def _scores(
    table: LabelTable, place: IntArray, number: int, normalisation: str, merge: IntArray
) -> tuple[FloatArray, str]:
    """The lead of the first option in each label's scores; a label without any has 0."""
    score = np.ones(place.size)
    has = np.isin(place, table.scored)
    if not has.any():
        return score, NONE
    probabilities = _probabilities(table, place[has], number, normalisation)
    mapping = {old: int(new) for old, new in enumerate(merge.tolist()) if old != new}
    score[:] = 0.0
    score[has] = margin(_without(merged_probabilities(probabilities, mapping), mapping))
    return score, MARGIN


def _without(probabilities: FloatArray, mapping: Mapping[int, int]) -> FloatArray:
    """Without the options that a merge counts as others, if two are left."""
    left = [option for option in range(probabilities.shape[1]) if option not in mapping]
    found: FloatArray = probabilities[:, left]
    return found


def _probabilities(table: LabelTable, place: IntArray, number: int, normalisation: str) -> FloatArray:
    return option_probabilities(_values(table, place, number, normalisation))


def _values(table: LabelTable, place: IntArray, number: int, normalisation: str) -> FloatArray:
    """The options' scores under a normalisation, or each judge's own."""
    scores = table.scores[np.searchsorted(table.scored, place), : len(table.questions[number][1].options)]
    rater, _row, _first = _of_assignments(table)
    own = [entry.normalisation or "none" for entry in table.raters]
    values = np.full(scores.shape[:2], np.nan)
    of_label = np.array([normalisation or own[r] for r in rater[table.labels[place, 0]]])
    for name in np.unique(of_label).tolist():
        mine = of_label == name
        values[mine] = normalised(
            name,
            logprob=scores[mine, :, LOGPROB],
            tokens=scores[mine, :, TOKENS],
            characters=scores[mine, :, CHARACTERS],
            unconditional=scores[mine, :, UNCONDITIONAL],
        )
    return values


def _chosen(table: LabelTable, place: IntArray, number: int, normalisation: str) -> IntArray:
    """The option with the highest score of each label, the first of equals; a label without scores stays."""
    code: IntArray = table.labels[place, 3].copy()
    has = np.isin(place, table.scored)
    values = _values(table, place[has], number, normalisation)
    code[has] = np.where(np.isnan(values), -np.inf, values).argmax(axis=1)
    return code


def _sameness(table: LabelTable, place: IntArray, number: int, rater: IntArray, row: IntArray) -> FloatArray:
    """The share of a judge's answers to a cell that are its first one; 1 where it answered once."""
    if not place.size:
        return np.ones(0)
    judge = rater[table.labels[place[0], 0]]
    labels = table.labels
    mine = (labels[:, 2] == number) & (rater[labels[:, 0]] == judge)
    width = max(len(table.columns), 1)
    key = row[labels[mine, 0]] * width + labels[mine, 1]
    of_first = row[labels[place, 0]] * width + labels[place, 1]
    order = np.argsort(of_first)
    at = np.searchsorted(of_first[order], key)
    inside = (at < of_first.size) & (of_first[order][np.minimum(at, of_first.size - 1)] == key)
    cell = order[at[inside]]
    same = labels[mine, 3][inside] == labels[place, 3][cell]
    share: FloatArray = np.bincount(cell, weights=same, minlength=place.size) / np.maximum(
        np.bincount(cell, minlength=place.size), 1
    )
    return share


# --- what is right ---------------------------------------------------------------------------------------------------


def _references(table: LabelTable, number: int, key: IntArray, merge: IntArray) -> tuple[FloatArray, IntArray]:
    """`JudgeCells.right` and `.people` of these cells."""
    rater, row, first = _of_assignments(table)
    labels = table.labels
    kind = np.array([entry.kind for entry in table.raters] or [""])
    drafts = np.zeros(len(labels), dtype=bool)
    drafts[[draft.label for draft in table.drafts]] = True
    of_question = (labels[:, 2] == number) & (labels[:, 4] == 0) & first[labels[:, 0]] & ~drafts
    width = max(len(table.columns), 1)

    def counted(mine: BoolArray) -> IntArray:
        cell = row[labels[mine, 0]] * width + labels[mine, 1]
        inside = np.isin(cell, key)
        found = np.zeros((key.size, max(merge.size, 1)), dtype=np.int64)
        np.add.at(found, (np.searchsorted(key, cell[inside]), merge[labels[mine, 3][inside]]), 1)
        return found

    people = counted(of_question & (kind[rater[labels[:, 0]]] == "person") & (labels[:, 5] == 0))
    golden = of_question & (kind[rater[labels[:, 0]]] == "gold")
    gold = counted(golden)
    heard = (counted(golden & (labels[:, 5] == 0)).sum(axis=1) > 0) | (people.sum(axis=1) > 0)
    gold[~heard] = 0
    voices = np.where((gold.sum(axis=1) > 0)[:, np.newaxis], gold, people)
    most = voices.max(axis=1, initial=0)[:, np.newaxis]
    best = (voices == most) & (most > 0)
    return best / np.maximum(best.sum(axis=1), 1)[:, np.newaxis], people.sum(axis=1)


def _of_assignments(table: LabelTable) -> tuple[IntArray, IntArray, BoolArray]:
    """Rater, row, and whether it is the first repeat, of each assignment."""
    work = table.assignments
    return work.rater.astype(np.int64), work.row.astype(np.int64), work.repeat == 1


def _merge(table: LabelTable, number: int) -> IntArray:
    """code -> code as judges are compared: under the question's merge for judges, values by their own words."""
    spec = table.questions[number][1]
    if not spec.options:
        from reports.data.values import value_words

        return np.array(value_words(spec, table.values_of(number)).key_of, dtype=np.int64)
    codes = {option.key: code for code, option in enumerate(spec.options)}
    return np.array([codes[spec.for_judges(option.key)] for option in spec.options], dtype=np.int64)
