"""What a report is of, and the arrays that statistics take: `reports.data.cells` makes them of a label table. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec, facet_word
from llm.encoders import FALLBACK
from reports.data.graphs import GraphData
from reports.data.label_table import (
    FloatArray,
    LabelTable,
    RaterEntry,
)
from reports.data.values import ValueWords
from reports.stats.answers import Answers, IntArray
from reports.stats.bootstrap import N_DRAWS, intervals_of
from reports.stats.graph.agreement import THRESHOLDS
from reports.stats.hiring.means import ShareBounds

BoolArray = npt.NDArray[np.bool_]

TOLD_APART = "told_apart"  # no merge; keys of merges hold no underscore

# What becomes of labels that were given after a look at others'.
LEAVE_OUT, INCLUDE = "leave_out", "include"
_BEFORE, _FROM = "before", "from"

# The methods by which numbers are made; a frozen report is computed again by those of its day. docs/statistics.md says
# what each changed. 1: percentiles as they are, one tie rule, no corrected kappa. 2: intervals of few clusters are made
# wider, macro kappa stands beside the one without the bias of small sheets, ties of a majority are counted, a judge is
# held against people as they are against each other, and three people are the least of the Alternative Annotator Test.
# 3: coverage counts the exact option alone unless others are named, a document in which a question was not asked counts
# as one without the item, and any rater's answers can be read. 4: lists of two raters are held against each other entry
# by entry, texts are measured against references (exact match, ROUGE-L, BLEU, METEOR), and people's judgements of
# systems are counted; answers that are transitions are compared as graphs; draws that differ from the value by rounding
# only are ties of it, whatever processor adds them up; the Alternative Annotator Test goes by documents. 5: where cells
# have more than two other people, a judge and a person are held against each of them by themselves too, and how many
# instructions are needed to order two generators is told for a power of 80 %, where it was 50 %; missing labels are
# told by reason; judges that no texts connect beyond their own families have no favour and no corrected means. 6:
# agreement has an interval only where ten documents have two answers to a cell; judges are told of in questions alone
# that they were asked; where people judge systems, the tables of a pack say so by system; cells that a system from a
# file left out are counted; text metrics have means over runs. 7: correlations and limits of agreement on numbers are
# computed around the mean of each two raters, and of each cell, where one mean of all drowned small numbers beside
# large ones; the estimated share of an option lies within 0 and 1, with bounds that hold for rare options; leniency of
# judges that have few texts in common is solved for, where a hundred rounds were too few. 8: shares by documents (alike
# in a sheet, flipped by an arm, chosen at a place) have bounds that hold near 0 and 1; of pairs that share single
# documents it is told why they have no corrected kappa, where everyone was said to have chosen one option. 9: these
# bounds are no narrower than those of independent cells, and count a document with many cells once. 10: their errors,
# and those of estimated shares of options, reckon with how much a document with many cells alone moves a share; on
# scales κ of judges, and of each two raters, has quadratic weights, as that of people had; draws that are all the same
# tell no interval, where one nothing wide stood; intervals of means of ratings stay within the scale; the most frequent
# values are those of all answers, exposed ones too. 11: what people agree on in graphs is told by Node F1 first, the
# metrics of texts against gold stand in one line a system, and κ of all comparisons in one table is called Scott's π.
# 12: each two judges of a benchmark have κ without weights too, and means over criteria, with intervals; all words of a
# facet stand in a table with their ranks; where sheets have a single row the table of all questions has α, not κ;
# letters that answer a probing task are read with the names of their things, and where words join them. 13: numbers
# have figures of what was answered and of how far each judge is from people, and their unit; accuracy over coverage is
# drawn; scales have AC2 beside AC1 at a glance; words that entries of lists are tied to are held against each other.
# 14: cells of optional questions that were left open stand among the missing labels, and, of a system from a file,
# among the texts that it has not; a mean over pairs of raters counts those that marked any words; of accuracy over
# coverage it is said in words how many cells are kept, where cells of equal confidence may be more than half. 15: of
# marked words each option has intervals too.
METHODS = 15
# The words in which reports are said: a frozen report is said again in those of its day. 2: the field's own words
# (percent agreement, calibration, confusion matrix, non-blind labels, bootstrap resamples). 3: where a scheme has one
# section, its title does not stand before those of its questions.
WORDS = 3

# Whose answers selections and coverage are of, beside single raters: anybody's among people, and what most people said.
PEOPLE, MAJORITY = "people", "majority"
# The same with people weighed: by Dawid and Skene's tables of errors, and by ability and the ease of documents (GLAD).
DAWID_SKENE, ABILITIES = "dawid_skene", "abilities"
WEIGHED = (DAWID_SKENE, ABILITIES)


def voice_of(code: str) -> str:
    """By what name the rater of this code is chosen; codes may be the names above."""
    return f"rater.{code}"


@dataclass(frozen=True)
class Intervals:
    """How intervals are made: what is drawn ("document", "sheet", "" for none), how often, and the seed. paired: of
    agreement there is none where too few of what is drawn have two answers to a cell. shares: how
    shares by documents have theirs."""

    by: str = ""
    n_draws: int = N_DRAWS
    seed: int = 0
    expanded: bool = True
    paired: bool = True
    shares: ShareBounds = ShareBounds.LATEST

    @property
    def of_agreement(self) -> dict[str, Any]:
        """What the statistics of agreement take."""
        return {**self.arguments, "paired": self.paired} if self.by else {}

    @property
    def arguments(self) -> dict[str, Any]:
        """What the statistics take; nothing where no interval is asked for."""
        if not self.by:
            return {}
        return {"by": self.by, "n_draws": self.n_draws, "seed": self.seed, "expanded": self.expanded}


def worded(version: int, *, since: bool) -> str:
    """As `Filters.wording` has it, where the wording of a scheme was changed under answers: the labels that were given
    from a version on, or before it.

    >>> worded(3, since=True), worded(3, since=False)
    ('from-3', 'before-3')
    """
    return f"{_FROM if since else _BEFORE}-{version}"


def as_moment(moment: datetime) -> str:
    """As `Filters.as_of` has it.

    >>> as_moment(datetime.fromisoformat("2026-11-30T12:00:00+01:00"))
    '2026-11-30T11:00:00+00:00'
    """
    return moment.astimezone(UTC).isoformat()


@dataclass(frozen=True)
class Filters:
    """What goes into a report; empty means all. Raters by code, sheets by their primary key, questions as
    "section.question".

    `merges`: "section.question" -> key of the merge, or `TOLD_APART`, under which people and judges are compared. A
    question that is not in it goes as the scheme says: people told apart, judges under its judge merge.
    `normalisations`: code of a judge -> the normalisation by which its labels are chosen anew from its stored scores.
    `exposure`: whether labels given after a look at others' are compared (`INCLUDE`) or not (`LEAVE_OUT`).
    `facets`: facet of rows -> its words, of which a row has to have one; hidden facets too. `group`: the facet by which
    figures are also told apart.
    `found`: "section.question" -> keys of the options that count as found, where it is not the first one alone.
    `voices`: whose answers selections and coverage are of: `PEOPLE`, `MAJORITY`, one of `WEIGHED`, or `voice_of` a
    rater.
    `encoder`: by which names of things are compared, see `llm.encoders`; `thresholds`: how alike two have to be.
    `by`, `n_draws`, `seed`: how intervals are made, see `Intervals`. `methods`: see `METHODS`. `words`: see `WORDS`.
    `metrics`: keys of `reports.stats.text.metrics`, where they are not the default ones. `references`: codes of the
    raters whose texts others' are held against, where they are not gold's, or people's where there is no gold.
    `unanswered`: whether cells in which a judge was asked and has no text count as empty texts.
    `apart`: whether rows that were not drawn with the others (`annotation.doors.rows_apart`) count (`INCLUDE`) or not
    (`LEAVE_OUT`); "" where there were none when somebody looked, and leaves out those that there are.
    `seen`: `LEAVE_OUT` where what a judge says of rows that it was fitted to, or has as examples, does not count; ""
    where it counts.
    `wording`: as `worded` says it where only labels count that were given before what is asked was worded as in a
    version of the scheme, or since.
    `as_of`: the moment as of which the study is, as `as_moment` writes it; "" as it stands.
    """

    people: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    sheets: tuple[int, ...] = ()
    questions: tuple[str, ...] = ()
    merges: Mapping[str, str] = field(default_factory=dict)
    normalisations: Mapping[str, str] = field(default_factory=dict)
    submitted_only: bool = False
    exposure: str = LEAVE_OUT
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    group: str = ""
    found: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    voices: tuple[str, ...] = ()
    encoder: str = FALLBACK
    thresholds: tuple[float, ...] = THRESHOLDS
    by: str = ""
    n_draws: int = N_DRAWS
    seed: int = 0
    methods: int = METHODS
    metrics: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    unanswered: bool = False
    apart: str = ""
    seen: str = ""
    wording: str = ""
    words: int = WORDS
    as_of: str = ""

    @property
    def moment(self) -> datetime | None:
        """As of when the study is; None as it stands."""
        return datetime.fromisoformat(self.as_of) if self.as_of else None

    @property
    def of_wording(self) -> tuple[bool, int] | None:
        """Whether labels count from a version of the scheme on, or before it, and which; None: all of them."""
        side, _dash, version = self.wording.partition("-")
        return (side == _FROM, int(version)) if version else None

    @property
    def intervals(self) -> Intervals:
        return Intervals(
            self.by,
            self.n_draws,
            self.seed,
            expanded=not self.first_methods,
            paired=not self.before_paired,
            shares=self.share_bounds,
        )

    def to_json(self) -> dict[str, Any]:
        said = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        if not self.as_of:
            del said["as_of"]  # filters of the study as it stands are written as they always were
        return said

    def has_row(self, facets: Mapping[str, Any]) -> bool:
        """Whether a row with these facets goes in."""
        return all(facet_word(facets.get(name, "")) in words for name, words in self.facets.items())

    @property
    def first_methods(self) -> bool:
        """A frozen report of the first version of the methods is computed again."""
        return self.methods < 2

    @property
    def first_coverage(self) -> bool:
        """Coverage as before its third version: of people, by what a merge leaves as found, where it was asked."""
        return self.methods < 3

    @property
    def before_entries(self) -> bool:
        """Lists are held against each other as a whole only."""
        return self.methods < 4

    @property
    def exact_ties(self) -> bool:
        """Draws of a bootstrap that differ by rounding only are told apart."""
        return self.methods < 4

    @property
    def independent_cells(self) -> bool:
        """The Alternative Annotator Test takes cells of one document as independent."""
        return self.methods < 4

    @property
    def without_texts(self) -> bool:
        """No text is measured, as before methods 4."""
        return self.methods < 4

    @property
    def before_graphs(self) -> bool:
        """Answers that are transitions are told apart as any values are, and no graph is made of them."""
        return self.methods < 4

    @property
    def before_each(self) -> bool:
        """A judge is held against any of the people, however many they are, and needs are told without a power."""
        return self.methods < 5

    @property
    def all_judges(self) -> bool:
        """A judge that has answered something is told of in each question, asked or not."""
        return self.methods < 6

    @property
    def before_paired(self) -> bool:
        """Agreement has an interval from ten documents on, however few of them two people have answered."""
        return self.methods < 6

    @property
    def before_systems(self) -> bool:
        """No pack's table tells what people judge of systems."""
        return self.methods < 6

    @property
    def before_left_out(self) -> bool:
        """Cells that a judge without a run left out are not known."""
        return self.methods < 6

    @property
    def before_runs(self) -> bool:
        """Text metrics are of the first run of a judge alone."""
        return self.methods < 6

    @property
    def before_own_means(self) -> bool:
        """Numbers of all raters are moved by one mean before they are correlated."""
        return self.methods < 7

    @property
    def before_bounded(self) -> bool:
        """Estimated shares have the normal distribution's intervals."""
        return self.methods < 7

    @property
    def before_exact_leniency(self) -> bool:
        """Judges' leniency is fitted in turns, a hundred times."""
        return self.methods < 7

    @property
    def before_share_bounds(self) -> bool:
        """Shares by documents have Student's intervals."""
        return self.methods < 8

    @property
    def share_bounds(self) -> ShareBounds:
        if self.before_share_bounds:
            return ShareBounds.FIRST
        if self.methods < 9:
            return ShareBounds.EVEN
        return ShareBounds.UNEQUAL if self.methods < 10 else ShareBounds.LATEST

    @property
    def before_one_document(self) -> bool:
        """A corrected kappa without a value is told of as the plain one is."""
        return self.methods < 8

    @property
    def before_equal_draws(self) -> bool:
        """What does not vary has an interval, nothing wide, and those of means of ratings leave the scale."""
        return self.methods < 10

    def as_then(self) -> AbstractContextManager[None]:
        """Within it intervals are drawn as those of these methods are."""
        return intervals_of(exact_ties=self.exact_ties, as_before=self.before_equal_draws)

    @property
    def said_by_t(self) -> bool:
        """Captions say that shares by documents have Student's intervals, which those of methods 8 and 9 had not."""
        return self.methods < 10

    @property
    def before_weighted_judges(self) -> bool:
        """κ of a judge, and of each two raters, takes the options of a scale as equally far apart."""
        return self.methods < 10

    @property
    def before_selected_values(self) -> bool:
        """The most frequent values are those of the answers that are compared, without exposed ones."""
        return self.methods < 10

    @property
    def before_graphs_first(self) -> bool:
        """Agreement on graphs is told by how often two are the same letter by letter."""
        return self.methods < 11

    @property
    def before_systems_in_line(self) -> bool:
        """No table has each system's metrics of all questions in one line."""
        return self.methods < 11

    @property
    def before_scott(self) -> bool:
        """κ of all comparisons in one table is called Cohen's."""
        return self.methods < 11

    @property
    def before_unweighted(self) -> bool:
        """Each two judges of a benchmark have κ with quadratic weights alone, and no mean over criteria."""
        return self.methods < 12

    @property
    def before_all_words(self) -> bool:
        """Of a facet of a benchmark's texts the highest and the lowest words alone are told."""
        return self.methods < 12

    @property
    def before_single_rows(self) -> bool:
        """All questions at a glance have κ, of sheets with a single row too."""
        return self.methods < 12

    @property
    def before_joined_letters(self) -> bool:
        """An answer of letters has commas between them and nothing else."""
        return self.methods < 12

    @property
    def before_number_figures(self) -> bool:
        """Numbers have neither figures nor their unit."""
        return self.methods < 13

    @property
    def before_selective_curves(self) -> bool:
        """Of accuracy over coverage the area alone is told."""
        return self.methods < 13

    @property
    def before_ac2(self) -> bool:
        """Of all questions at a glance AC1 alone is told, of scales too."""
        return self.methods < 13

    @property
    def before_spans(self) -> bool:
        """Of lists whose entries are tied to words of the document, what they say alone is compared."""
        return self.methods < 13

    @property
    def before_left_open(self) -> bool:
        """Optional cells that were left open are told of among selections alone."""
        return self.methods < 14

    @property
    def before_share_kept(self) -> bool:
        """The cells of which a judge is surest are called half of them, however many are equally sure."""
        return self.methods < 14

    @property
    def before_pairs_with_spans(self) -> bool:
        """Pairs of raters that marked no words count among those that a mean is over."""
        return self.methods < 14

    @property
    def before_intervals_of_options(self) -> bool:
        """Of marked words single options have no intervals."""
        return self.methods < 15

    @property
    def first_words(self) -> bool:
        """Said as before the second version of the words."""
        return self.words < 2

    @property
    def names_only_section(self) -> bool:
        """Questions go by their section's title too where there is no other section."""
        return self.words < 3

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Filters:
        values: dict[str, Any] = {name: tuple(of) if isinstance(of, list) else of for name, of in data.items()}
        for name in ("facets", "found"):
            values[name] = {key: tuple(words) for key, words in data.get(name, {}).items()}
        return cls(**{"methods": 1, "words": 1, **values})

    def seeds(self) -> dict[str, int]:
        """Where chance comes in, and with what seed."""
        return {"bootstrap": self.seed} if self.by else {}


@dataclass(frozen=True, eq=False)
class NoLabel:
    """The cells in which a judge that was to answer has no label, so far as it is known why; numbers of cells.

    `unreadable`: its answer held no verdict, `why` as in `judges.models.UnreadableAnswer.Why`; both of shape
    (n_unreadable,). `failed`: it could not label the row, shape (n_failed,). `left_out`: texts and lists that a judge
    whose labels came from a file has not, in rows of which it has others, shape (n_left_out,). `of_other_wordings`:
    they have one, given by a wording that the filters leave out, shape (n_of_other_wordings,).
    """

    unreadable: IntArray
    why: tuple[str, ...]
    failed: IntArray
    left_out: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    of_other_wordings: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def cells(self) -> set[int]:
        """Of all reasons why there is none."""
        return {*self.unreadable.tolist(), *self.failed.tolist(), *self.left_out.tolist()}


@dataclass(frozen=True)
class MissingCells:
    """Cells of one rater and question without a label, for one reason. why: one of `MISSING_BECAUSE`; reason: what the
    rater said of it, or `judges.models.UnreadableAnswer.Why`; of: cells that were given to a person, None of a
    judge."""

    rater: RaterEntry
    why: str
    reason: str
    n: int
    of: int | None


@dataclass(frozen=True, eq=False)
class Filled:
    """The cells that one voice was to fill, each of shape (n_cells,): whose cell it is, the cell, and its row.

    `code`: the option, or the reason why there is none (`Empty`). `exposed`: the answer, or the one by which the cell
    is not asked, was given after a look at others'.
    """

    rater: IntArray
    cell: IntArray
    row: IntArray
    code: IntArray
    exposed: BoolArray


@dataclass(frozen=True)
class Weight:
    """What a model makes of a person. right: the share of their answers that it expects to be right, with its 95 %
    interval by documents where it has one; ability: 0 for whoever guesses, 1 is usual; n: answers."""

    rater: RaterEntry
    right: float | None
    low: float | None
    high: float | None
    ability: float | None
    n: int


@dataclass(frozen=True, eq=False)
class Voice:
    """Whose answers are read: `name` as in `Filters.voices`, `rater` where it is one. `answers`: those that count, in
    the cells of items that have something to look for; a cell that was not asked has the code n_options. Empty
    where neither scheme nor filters say which options mean that something was found. `n_ties`:
    cells of a majority in which several options were equally frequent, and the first was taken. `weights`: of a
    weighed majority each person's; `because`: why there is none.
    """

    name: str
    rater: RaterEntry | None
    selections: IntArray
    answers: Answers
    n_ties: int = 0
    weights: tuple[Weight, ...] = ()
    because: str = ""


@dataclass(frozen=True, eq=False)
class Again:
    """One repeat after the first of those judges that have it: `written` and `no_label` as in `QuestionData`."""

    written: Mapping[str, Answers]
    no_label: Mapping[str, NoLabel]


@dataclass(frozen=True, eq=False)
class QuestionData:
    """One question's answers. People are numbered by their place in `StudyData.people`, sheets by theirs in `.sheets`.

    `selections`: one code a cell that a person was to fill, an option or the reason why it is empty, shape (n_cells,).
    `judges` and `golds`: by code, those that were to answer this question, whether they did or not (a judge that has
    answered others and nothing here was not asked). `scores`: of those
    judges that scored options, the cells, shape (n_scored,), and each option's score as the judge's normalisation left
    it, shape (n_scored, n_options), NaN where an option was not scored. `repeats`: of those judges that labelled
    several times, all labels, with the number of the repeat in the place of the rater. `no_label`: of each judge.
    `n_exposed`: labels of people and judges given after a look at others'; they are in `selections`, and in `people`
    and `judges` where the filters include them. `values`: what the codes stand for where the question has no options.
    `voices`: whose answers selections and coverage are of. `written`: of texts and lists what each rater wrote, letter
    by letter, by code; the codes of these answers are places in `spellings`, canonical JSON. `graphs`: what transitions
    draw, of everybody whose answers are compared. `missing`: why cells have no label, by rater. `again`: of texts and
    lists, by the number of each repeat after the first, what judges wrote in it.
    """

    section: SectionSpec
    spec: QuestionSpec
    people: Answers
    selections: IntArray
    judges: Mapping[str, Answers]
    golds: Mapping[str, Answers]
    scores: Mapping[str, tuple[IntArray, FloatArray]]
    repeats: Mapping[str, Answers]
    no_label: Mapping[str, NoLabel]
    n_exposed: int
    values: ValueWords | None = None
    voices: tuple[Voice, ...] = ()
    written: Mapping[str, Answers] = field(default_factory=dict)
    spellings: tuple[str, ...] = ()
    graphs: GraphData | None = None
    missing: tuple[MissingCells, ...] = ()
    again: Mapping[int, Again] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.section.key}.{self.spec.key}"

    @property
    def blanks(self) -> list[int]:
        """Codes of the options that count as "Not filled in"."""
        return [code for code, option in enumerate(self.spec.options) if option.blank]


@dataclass(frozen=True)
class Work:
    """What a rater was given, as far as the filters let it through, and what came of it. Of its labels, `exposed` were
    given after a look at others'; `skipped` and `unreadable` are cells without a label. `of_other_wordings`: labels
    that do not count, as they were given by a wording that the filters leave out."""

    rater: RaterEntry
    rows: int
    submitted: int
    failed: int
    labels: int
    exposed: int
    skipped: int
    unreadable: int
    of_other_wordings: int = 0


@dataclass(frozen=True, eq=False)
class StudyData:
    """`n_columns`: a cell is numbered place of its row × n_columns + place of its column, in `table`. `questions`:
    those that have options; `value_questions`: the others."""

    table: LabelTable
    people: tuple[RaterEntry, ...]
    judges: tuple[RaterEntry, ...]
    golds: tuple[RaterEntry, ...]
    work: tuple[Work, ...]
    questions: tuple[QuestionData, ...]
    value_questions: tuple[QuestionData, ...]
    n_columns: int

    @property
    def scheme(self) -> SchemeSpec:
        return self.table.scheme

    @property
    def sheets(self) -> tuple[str, ...]:
        return self.table.sheets

    @property
    def n_labels(self) -> int:
        return sum(work.labels for work in self.work)

    @property
    def n_of_other_wordings(self) -> int:
        """Labels that would count but for their wording."""
        return sum(work.of_other_wordings for work in self.work)

    @property
    def n_withdrawn(self) -> int:
        """Rows that were withdrawn."""
        return sum(row.withdrawn for row in self.table.rows)

    @property
    def simulated(self) -> tuple[RaterEntry, ...]:
        return tuple(work.rater for work in self.work if work.rater.simulated)
