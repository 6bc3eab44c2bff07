"""Reads of hiring: the split, what is known of judges, what a certificate rests on, and what supervision says."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.answers import kind_of
from annotation.answers.codes import VALUE
from annotation.models import Assignment, Column, ExperimentSeat, Label, Question, Rater, Row, Study
from annotation.queries import free_rows
from annotation.scheme.spec import QuestionSpec
from base.text import natural
from judges.methods import WITHOUT_LENGTHS
from judges.models import FittedCalibration, Judge, Run, UnreadableAnswer
from judges.runs import evidence
from reports import doors
from reports.data.arrays import Filters
from reports.data.label_table import LabelTable, canonical_json
from reports.hiring.cells import JudgeCells, judge_cells, normalisations_of, part_of, score_kind
from reports.hiring.documents import clusters_of, judged_of
from reports.models import Accepted, Certificate, Revocation, Split, TakeoverRow, TestLook
from reports.queries import label_table

if TYPE_CHECKING:
    from reports.stats.hiring.shares import Share
    from reports.stats.hiring.supervision import Watch

Name = tuple[str, str]  # title of a sheet, name of a row


# --- the split -------------------------------------------------------------------------------------------------------


def split_of(study: Study) -> Split | None:
    """One query."""
    return Split.objects.filter(study=study).select_related("drawn_by").first()


def parts_of(study: Study, split: Split | None = None) -> dict[int, bool]:
    """Row -> whether it is for the test; empty where the study is not split. Two queries, three without `split`.

    A row that came after the split has the part of its sheet where sheets were drawn, else the one that the seed and
    its own number give it.
    """
    split = split or split_of(study)
    if split is None:
        return {}
    parts = dict(split.rows.values_list("row_id", "test"))
    of_sheet: dict[int, bool] = {}
    rows = list(Row.objects.filter(sheet__study=study).order_by("pk").values_list("pk", "sheet_id"))
    for pk, sheet in rows:
        if pk in parts:
            of_sheet.setdefault(sheet, parts[pk])
    for pk, sheet in rows:
        if pk not in parts:
            by_sheet = split.unit == Split.Unit.SHEET
            chance = rank(split.seed, f"sheet {sheet}" if by_sheet else str(pk)) < split.share / 100
            parts[pk] = of_sheet.get(sheet, chance) if by_sheet else chance
    return parts


def rank(seed: int, name: str) -> float:
    """0 to 1, by the seed and a name alone (permanent random numbers)."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8]) / 2**64


def development_rows(study: Study) -> frozenset[int] | None:
    """The rows that examples, calibration and every choice may come from; None where the study is not split, so that
    all may."""
    split = split_of(study)
    return None if split is None else frozenset(pk for pk, test in parts_of(study, split).items() if not test)


def fitted_rows(study: Study) -> set[int]:
    """The rows that calibrations were fitted to, so that they can test none. One query, two where there are any."""
    lineages = FittedCalibration.objects.filter(study=study).values_list("lineage", flat=True)
    named = {pk for lineage in lineages for pk in lineage["rows"]}
    return set(Row.objects.filter(sheet__study=study, pk__in=named).values_list("pk", flat=True)) if named else set()


@dataclass(frozen=True)
class PartCount:
    """`labelled`: rows with a submitted label of a person."""

    rows: int
    labelled: int


def part_counts(study: Study, split: Split) -> tuple[PartCount, PartCount]:
    """Of development and test. Three queries."""
    labelled = set(
        Assignment.objects.filter(
            rater__study=study, rater__kind=Rater.Kind.PERSON, state=Assignment.State.SUBMITTED
        ).values_list("row_id", flat=True)
    )
    parts = parts_of(study, split)
    development, test = (
        PartCount(
            sum(is_test == part for is_test in parts.values()),
            sum(is_test == part for pk, is_test in parts.items() if pk in labelled),
        )
        for part in (False, True)
    )
    return development, test


@dataclass(frozen=True)
class Looks:
    """How often the test part was looked at."""

    tests: int
    others: int

    @property
    def all(self) -> int:
        return self.tests + self.others


def looks_at(study: Study) -> Looks:
    """One query."""
    counted = dict(TestLook.objects.filter(study=study).order_by().values_list("what").annotate(n=Count("pk")))
    tests = counted.pop(TestLook.What.TEST, 0)
    return Looks(tests, sum(counted.values()))


# --- choosing --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """A judge under a normalisation on one question, on development documents alone.

    agreement: share of cells with people's answer; coverage, error: of the cells over the threshold that a certificate
    for `epsilon` would begin with, None where no threshold keeps to it. own: it labels by this normalisation, so that
    it can be hired as it is.
    """

    judge: str
    question: str
    title: str
    normalisation: str
    own: bool
    score: str
    documents: int
    cells: int
    agreement: float | None
    threshold: float | None
    coverage: float | None
    error: float | None


def study_table(study: Study, *, judges: Collection[str] = (), question: str = "") -> LabelTable:
    """The labels that hiring rests on: of work that is submitted, of all people and gold, and of these judges."""
    questions = (question,) if question else ()
    return label_table(study, Filters(judges=tuple(judges), questions=questions, submitted_only=True))


def candidates(study: Study, *, epsilon: float) -> list[Candidate]:
    """Every judge of the study × question × normalisation that its scores allow, on development documents."""
    from reports.stats.hiring.certificate import development_points

    table = study_table(study)
    test = test_names(study)
    left_out = left_out_names(study)
    one_way = set(
        Run.objects.filter(study=study, judge__method__in=WITHOUT_LENGTHS).values_list("rater__code", flat=True)
    )
    found = []
    for entry in table.raters:
        if entry.kind != Rater.Kind.JUDGE:
            continue
        for section, spec in table.questions:
            name = f"{section.key}.{spec.key}"
            kind = score_kind(table, entry.code, name)
            normalisations = normalisations_of(table, entry.code, name) or ("",)
            # A calibration holds for the scores that it was fitted to; similarities are the same by any length.
            if normalisations != ("",) and (entry.normalisation.endswith(", calibrated") or entry.code in one_way):
                normalisations = (entry.normalisation,)
            for normalisation in normalisations:
                own = normalisation in ("", entry.normalisation)
                made = judge_cells(table, entry.code, name, normalisation="" if own else normalisation)
                if not made.row.size:
                    continue
                kept = made.at(made.known & ~part_of(made.row, table, test) & ~part_of(made.row, table, left_out))
                candidate = Candidate(
                    judge=entry.code,
                    question=name,
                    title=f"{section.title} · {spec.title}",
                    normalisation=normalisation,
                    own=own,
                    score=kind,
                    documents=int(np.unique(kept.row).size),
                    cells=int(kept.row.size),
                    agreement=float(1 - kept.wrong.mean()) if kept.row.size else None,
                    threshold=None,
                    coverage=None,
                    error=None,
                )
                judged = judged_of(kept, Split.Unit.ROW)
                points = development_points(
                    judged, epsilon=epsilon, most=max(judged.most, 1), n_clusters=max(judged.n_clusters, 1)
                )
                good = [point for point in points if point.error is not None and point.error <= epsilon]
                if good:
                    best = max(good, key=lambda point: point.coverage)
                    candidate = replace(candidate, threshold=best.threshold, coverage=best.coverage, error=best.error)
                found.append(candidate)
    return found


SORTS = ("agreement", "coverage", "error", "cells", "judge", "question")


def in_order(found: list[Candidate], sort: str) -> list[Candidate]:
    """By a column of the page, the best first; what is not known last."""

    def by(candidate: Candidate) -> tuple[Any, ...]:
        tail = (natural(candidate.judge), candidate.question, candidate.normalisation)
        value = getattr(candidate, sort)
        if sort in ("judge", "question"):
            return (natural(str(value)), *tail)
        return (value is None, (value if sort == "error" else -value) if value is not None else 0, *tail)

    return sorted(found, key=by)


# --- certifying ------------------------------------------------------------------------------------------------------


def test_names(study: Study) -> set[Name]:
    """The test rows by sheet and name; none where the study is not split."""
    parts = parts_of(study)
    return {name for pk, name in row_names(study).items() if parts.get(pk)}


def left_out_names(study: Study) -> set[Name]:
    """Rows that people have because a judge was not sure of them, and chance did not draw them too: they are harder
    than others, and say nothing of those."""
    rest = TakeoverRow.objects.filter(takeover__certificate__study=study, rest=True, drawn=False)
    names = row_names(study)
    return {names[pk] for pk in rest.values_list("row_id", flat=True) if pk in names}


def row_names(study: Study) -> dict[int, Name]:
    """One query."""
    rows = Row.objects.filter(sheet__study=study).values_list("pk", "sheet__title", "name")
    return {pk: (sheet, name) for pk, sheet, name in rows}


def judge_behind(rater: Rater) -> Judge | None:
    """The judge of a rater's last run; None where its labels came from a file. One query."""
    run = Run.objects.filter(rater=rater).select_related("judge__model", "judge__prompt", "judge__evidence__model")
    last = run.order_by("-started_at").first()
    return last.judge if last is not None else None


def identity(study: Study, rater: Rater) -> dict[str, Any]:
    """All that a certificate is bound to: a change of any of it revokes it. Three queries."""
    found: dict[str, Any] = {
        "name": rater.code,
        "scheme": {
            "key": study.scheme.slug,
            "version": study.scheme.version,
            "sha256": hashlib.sha256(canonical_json(study.scheme.spec)).hexdigest(),
        },
        "evidence_readers": doors.evidence_readers(study),
    }
    judge = judge_behind(rater)
    if judge is None:
        return {**found, "origin": "file"}
    runs = list(Run.objects.filter(rater=rater).values_list("provenance", "corrected"))
    workers = [worker for provenance, _corrected in runs for worker in provenance.get("workers", [])]
    model = judge.model
    return {
        **found,
        "method": judge.method,
        "normalisation": judge.normalisation,
        "chat_template": judge.chat_template,
        "temperature": judge.temperature,
        "max_new_tokens": judge.max_new_tokens,
        "prompt_sha256": judge.prompt.digest,
        "model": {name: value for name, value in vars(model.place).items() if name not in _NO_SCORE}
        if model is not None
        else None,
        "backend": model.backend if model is not None else "",
        "weights": sorted({next((worker[key] for key in _WEIGHTS if worker.get(key)), "") for worker in workers}),
        "extractor": evidence.record_of(judge.evidence),
        "corrected": sorted({corrected for _provenance, corrected in runs}),
    }


# What of a model's place moves no score; what of a worker's record stands for the weights.
_NO_SCORE = ("api_key_env", "requests_per_minute", "device")
_WEIGHTS = ("weights_sha256", "served_model", "snowballstemmer", "model")
_CALLED = {
    "scheme": gettext_lazy("the scheme"),
    "evidence_readers": gettext_lazy("the reader of the evidence"),
    "method": gettext_lazy("the method"),
    "normalisation": gettext_lazy("the normalisation"),
    "prompt_sha256": gettext_lazy("the prompt"),
    "model": gettext_lazy("the model"),
    "backend": gettext_lazy("the model"),
    "weights": gettext_lazy("the weights of the model"),
    "extractor": gettext_lazy("the extractor"),
    "corrected": gettext_lazy("whether extracted lists are read as people corrected them"),
}


def changes(certificate: Certificate) -> list[str]:
    """What is not any more as it was when the certificate was given, in words. Three queries."""
    then = certificate.request["identity"]
    now = json.loads(canonical_json(identity(certificate.study, certificate.rater)))
    differing = [name for name in sorted(then.keys() | now.keys()) if then.get(name) != now.get(name)]
    return list(dict.fromkeys(str(_CALLED.get(name, gettext_lazy("how it is asked"))) for name in differing))


def most_cells(study: Study, question: Question, unit: str) -> int:
    """Cells of the largest document (row, or sheet) that the judge can be asked to answer, so that it is known before
    anybody labels. One query."""
    sheets = study.sheets.annotate(
        n_columns=Count("columns", filter=Q(columns__section=question.section_id), distinct=True),
        n_rows=Count("rows", distinct=True),
    )
    by_sheet = unit == Split.Unit.SHEET
    sizes = [columns * (rows if by_sheet else 1) for columns, rows in sheets.values_list("n_columns", "n_rows")]
    return max([1, *sizes])


def development_cells(study: Study, rater: Rater, question: Question, unit: str) -> JudgeCells:
    """The judge's development cells that people answered."""
    name = question_name(question)
    table = study_table(study, judges=[rater.code], question=name)
    made = judge_cells(table, rater.code, name)
    outside = part_of(made.row, table, test_names(study)) | part_of(made.row, table, left_out_names(study))
    return made.at(made.known & ~outside)


def question_name(question: Question) -> str:
    return f"{question.section.key}.{question.key}"


@dataclass(frozen=True)
class TestSize:
    """What the test part has: documents with a label of a person and of the judge, and those without."""

    __test__ = False

    labelled: int
    unlabelled: int


def test_size(study: Study, rater: Rater, question: Question, unit: str) -> TestSize:
    """How many documents a test would rest on; it says nothing of what is right there, so that it is no look."""
    name = question_name(question)
    table = study_table(study, judges=[rater.code], question=name)
    made = judge_cells(table, rater.code, name)
    names = test_names(study)
    left_out = part_of(made.row, table, left_out_names(study))
    inside = part_of(made.row, table, names) & made.known & ~left_out
    labelled = int(np.unique(clusters_of(made.at(inside), unit)).size)
    if unit == Split.Unit.SHEET:
        return TestSize(labelled, len({sheet for sheet, _row in names}) - labelled)
    return TestSize(labelled, len(names) - labelled)


# --- a certificate at work -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """Whether a certificate holds today, and why not; `code` for pages: standing, expired, changed, alarm, revoked."""

    code: str
    reason: str = ""

    @property
    def holds(self) -> bool:
        return self.code == "standing"


def standing_of(certificate: Certificate, watched: Watch | None = None, *, today: date | None = None) -> Standing:
    """As it is now, whether or not somebody has written down yet that it is revoked."""
    revocation = Revocation.objects.filter(certificate=certificate).first()
    if revocation is not None:
        return Standing("revoked", revocation.reason)
    if changed := changes(certificate):
        return Standing("changed", why_changed(changed))
    if (watched or watch_of(certificate)).alarm:
        return Standing("alarm", why_alarm(certificate))
    if certificate.until < (today or timezone.localdate()):
        return Standing("expired", _("It was given until %(day)s.") % {"day": certificate.until.isoformat()})
    return Standing("standing")


def why_changed(changed: Collection[str]) -> str:
    return _("Not as it was when it was certified: %(what)s.") % {"what": ", ".join(changed)}


def why_alarm(certificate: Certificate) -> str:
    return _("Supervision has shown that more than %(epsilon)s %% of the accepted cells are wrong.") % {
        "epsilon": f"{certificate.epsilon * 100:g}"
    }


@dataclass(frozen=True)
class Supervised:
    """A drawn document that people have finished: of its accepted cells, how wrong each is, 0 to 1."""

    row: int
    wrong: tuple[float, ...]


def supervised(certificate: Certificate) -> list[Supervised]:
    """The drawn documents that somebody has submitted, in the order in which that was. Three queries.

    What a person said after a look at others' labels, or began as a draft, does not count. Where people are divided,
    the judge is as wrong as the part of them that says something else.
    """
    drawn = TakeoverRow.objects.filter(takeover__certificate=certificate, drawn=True).values("row")
    said = (
        Label.objects.filter(
            assignment__row__in=drawn,
            assignment__rater__kind=Rater.Kind.PERSON,
            assignment__state=Assignment.State.SUBMITTED,
            assignment__repeat=1,
            question=certificate.question_id,
            preset=False,
            exposed=False,
            drafted_from=None,
        )
        .order_by("assignment__submitted_at", "pk")
        .values_list("assignment__row_id", "column_id", "option__key", "value")
    )
    answers: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    spec = certificate.question.spec
    for row, column, option, value in said:
        answers[row][column].append(answer_key(spec, option, value))
    accepted = Accepted.objects.filter(
        takeover__certificate=certificate, assignment__row__in=list(answers), column__in=_columns(answers)
    )
    of_rows: dict[int, dict[int, str]] = defaultdict(dict)
    for row, column, code in accepted.order_by("pk").values_list("assignment__row_id", "column_id", "code"):
        of_rows[row][column] = key_of_code(spec, code)
    found = []
    for row, by_column in answers.items():
        wrong = tuple(
            sum(one != code for one in by_column[column]) / len(by_column[column])
            for column, code in sorted(of_rows[row].items())
            if column in by_column
        )
        if wrong:
            found.append(Supervised(row, wrong))
    return found


def n_to_supervise(certificate: Certificate) -> int:
    """How many drawn documents have an accepted cell. One query."""
    cells = Accepted.objects.filter(takeover__certificate=certificate, assignment__row=OuterRef("row"))
    drawn = TakeoverRow.objects.filter(takeover__certificate=certificate, drawn=True)
    return drawn.filter(Exists(cells)).values("row").distinct().count()


def _columns(answers: Mapping[int, Mapping[int, object]]) -> set[int]:
    return {column for by_column in answers.values() for column in by_column}


def whole_sheets(certificate: Certificate, found: Collection[Supervised]) -> list[tuple[int, Supervised]]:
    """Of a certificate by sheets what counts: (sheet, document), sheets in the order in which they were finished.

    A sheet counts once all of its drawn documents are finished, and stays as it was then: one that grew while others
    came in would be looked at again with what is known of these, and a sequence of such looks promises nothing. Where
    two takeovers drew documents of one sheet, the first one counts. Two queries.
    """
    drawn = TakeoverRow.objects.filter(takeover__certificate=certificate, drawn=True, row__withdrawn_at=None)
    accepted = Accepted.objects.filter(takeover=OuterRef("takeover"), assignment__row=OuterRef("row"))
    of_sheet: dict[int, tuple[int, set[int]]] = {}
    for takeover, sheet, row in (
        drawn.filter(Exists(accepted)).order_by("takeover", "row").values_list("takeover", "row__sheet", "row")
    ):
        first, rows = of_sheet.setdefault(sheet, (takeover, set()))
        if first == takeover:
            rows.add(row)
    sheet_of = {row: sheet for sheet, (_takeover, rows) in of_sheet.items() for row in rows}
    left = {sheet: set(rows) for sheet, (_takeover, rows) in of_sheet.items()}
    mine: dict[int, list[Supervised]] = defaultdict(list)
    done: list[tuple[int, Supervised]] = []
    for one in found:  # in the order in which they were finished
        if one.row not in sheet_of:
            continue
        sheet = sheet_of[one.row]
        mine[sheet].append(one)
        left[sheet].discard(one.row)
        if not left[sheet]:
            done += [(sheet, document) for document in mine[sheet]]
    return done


def watch_of(certificate: Certificate) -> Watch:
    """The confidence sequence of the error of what was accepted, as it stands. Three queries, five by sheets."""
    from reports.stats.hiring.supervision import watch

    found = supervised(certificate)
    by_sheet = certificate.request["split"]["unit"] == Split.Unit.SHEET
    counted = whole_sheets(certificate, found) if by_sheet else [(one.row, one) for one in found]
    wrong = [share for _cluster, one in counted for share in one.wrong]
    cluster = [place for place, one in counted for _share in one.wrong]
    return watch(
        wrong,
        cluster,
        most=max(certificate.request["most"], Counter(cluster).most_common(1)[0][1] if cluster else 0),
        epsilon=certificate.epsilon,
        delta=round(1 - certificate.confidence, 12),
    )


def answer_key(spec: QuestionSpec, option: str | None, value: Any) -> str:
    """What makes answers equal where judges are compared: the option under the merge for judges, or the value's key."""
    if option is None:
        return kind_of(spec).key(spec, value)
    merge = next((one for one in spec.merges if one.key == spec.judge_merge), None)
    return merge.options.get(option, option) if merge else option


def key_of_code(spec: QuestionSpec, code: str) -> str:
    return (
        answer_key(spec, None, json.loads(code[len(VALUE) :]))
        if code.startswith(VALUE)
        else answer_key(spec, code, None)
    )


@dataclass(frozen=True)
class WorkToDo:
    """What a certificate would take over now.

    cells: (assignment, column, code, score) that are accepted. rows: the documents that it is about. rest: of these
    the ones with a cell that is not accepted. drawn: those that chance gives to people, of all, so that they also say
    what the others are like. lacking: how many fewer these are than the share, since in the rest somebody is shown the
    judge's answers. unread: documents that nobody has and the judge has not labelled yet.
    """

    cells: tuple[tuple[int, int, str, float], ...]
    rows: tuple[int, ...]
    rest: frozenset[int]
    drawn: frozenset[int]
    lacking: int
    unread: int

    @property
    def to_people(self) -> frozenset[int]:
        return self.rest | self.drawn

    @property
    def digest(self) -> str:
        return hashlib.sha256(
            canonical_json([[list(cell) for cell in self.cells], sorted(self.rest), sorted(self.drawn)])
        ).hexdigest()


def work_to_do(certificate: Certificate, *, share: int, seed: int) -> WorkToDo:
    """What the judge labelled and nobody has: accepted by the threshold; the rest, and a drawn share, for people."""
    study, question = certificate.study, certificate.question
    name, section = question_name(question), question.section
    sheets = list(study.sheets.order_by("position"))
    free = [row for of_sheet in free_rows(sheets, [section.key]).values() for row in of_sheet]
    standing = TakeoverRow.objects.filter(
        takeover__certificate__revocation=None, takeover__certificate__question=question, row__in=free
    )
    taken = set(standing.values_list("row_id", flat=True))
    taken |= set(
        Label.objects.filter(
            question=question, assignment__row__in=free, assignment__rater__kind=Rater.Kind.PERSON
        ).values_list("assignment__row_id", flat=True)
    )
    open_rows = [row for row in free if row not in taken]
    given = Assignment.objects.filter(
        rater=certificate.rater, row__in=open_rows, repeat=1, state=Assignment.State.SUBMITTED
    )
    assignment_of = dict(given.values_list("row_id", "pk"))
    table = study_table(study, judges=[certificate.rater.code], question=name)
    made = judge_cells(table, certificate.rater.code, name)
    pk_of = {name: pk for pk, name in row_names(study).items()}
    of_place = [pk_of.get((table.sheets[row.sheet], row.name), 0) for row in table.rows]
    columns = {
        (sheet, position): pk
        for sheet, position, pk in Column.objects.filter(sheet__study=study, section=section).values_list(
            "sheet__title", "position", "pk"
        )
    }
    accepted: list[tuple[int, int, str, float]] = []
    answered: dict[int, int] = defaultdict(int)
    sure: dict[int, int] = defaultdict(int)
    for row_place, column_place, label, score in zip(
        made.row.tolist(), made.column.tolist(), made.label.tolist(), made.score.tolist(), strict=True
    ):
        row = of_place[row_place]
        if row not in assignment_of:
            continue
        answered[row] += 1
        if score >= certificate.threshold:
            entry = table.columns[column_place]
            column = columns[table.sheets[entry.sheet], entry.position]
            accepted.append((assignment_of[row], column, table.code_of(label), round(score, 12)))
            sure[row] += 1
    rows = tuple(row for row in open_rows if row in assignment_of)
    asked = _cells_asked(rows, certificate)
    rest = frozenset(row for row in rows if sure[row] < max(answered[row], asked[row]))
    # Whoever is shown the judge's answers there does not supervise it. Chance said where, so the others are a sample.
    shown = ExperimentSeat.objects.filter(shown=True, assignment__row__in=rows).exclude(
        assignment__state=Assignment.State.WITHDRAWN
    )
    seen = set(shown.values_list("assignment__row_id", flat=True))
    by_chance = sorted((row for row in rows if row not in seen), key=lambda row: rank(seed, f"supervised {row}"))
    wanted = -(-len(rows) * share // 100)
    return WorkToDo(
        cells=tuple(sorted(accepted)),
        rows=rows,
        rest=rest,
        drawn=frozenset(by_chance[:wanted]),
        lacking=max(0, wanted - len(by_chance)),
        unread=len(open_rows) - len(rows),
    )


def _cells_asked(rows: Collection[int], certificate: Certificate) -> dict[int, int]:
    """Row -> cells of the question that the judge answered, so that it could be read or not. Two queries."""
    asked: dict[int, int] = defaultdict(int)
    unreadable = UnreadableAnswer.objects.filter(
        assignment__rater=certificate.rater,
        assignment__row__in=rows,
        question=certificate.question,
        assignment__repeat=1,
    )
    labels = Label.objects.filter(
        assignment__rater=certificate.rater,
        assignment__row__in=rows,
        question=certificate.question,
        assignment__repeat=1,
        preset=False,
    )
    for found in (unreadable, labels):
        for row, n in found.order_by().values_list("assignment__row_id").annotate(n=Count("pk")):
            asked[row] += n
    return asked


def to_give_back(certificate: Certificate) -> list[int]:
    """Rows with cells that were accepted under it, and that nobody at work has. Three queries."""
    mine = set(Accepted.objects.filter(takeover__certificate=certificate).values_list("assignment__row_id", flat=True))
    free = free_rows(certificate.study.sheets.all(), [certificate.question.section.key])
    return sorted(row for of_sheet in free.values() for row in of_sheet if row in mine)


@dataclass(frozen=True)
class OptionShare:
    """Of one option the estimate of its share of all cells that the judge labelled."""

    label: str
    share: Share


def option_shares(certificate: Certificate) -> list[OptionShare]:
    """Prediction-powered shares over all documents that the judge labelled: people label the rest wholly, and of what
    is accepted a drawn part, so the two are estimated apart and put together."""
    from reports.stats.hiring.shares import powered_share

    question = certificate.question
    name = question_name(question)
    table = study_table(certificate.study, judges=[certificate.rater.code], question=name)
    made = judge_cells(table, certificate.rater.code, name)
    spec = question.spec
    if not made.row.size or not spec.options:
        return []
    stratum = (made.score >= certificate.threshold).astype(np.int64)
    rest = part_of(made.row, table, _rest_names(certificate))
    # What people said of accepted cells in documents that they have for another cell's sake was not drawn.
    known = made.known & ~(rest & (stratum == 1))
    clusters = clusters_of(made, certificate.request["split"]["unit"])
    merged = {
        code
        for code in range(len(spec.options))
        if answer_key(spec, spec.options[code].key, None) != spec.options[code].key
    }
    return [
        OptionShare(
            option.label,
            powered_share(made.right[:, code], made.code == code, known, clusters, stratum=stratum),
        )
        for code, option in enumerate(spec.options)
        if code not in merged and not option.blank
    ]


def _rest_names(certificate: Certificate) -> set[Name]:
    rest = TakeoverRow.objects.filter(takeover__certificate=certificate, rest=True, drawn=False)
    names = row_names(certificate.study)
    return {names[pk] for pk in rest.values_list("row_id", flat=True) if pk in names}


# --- exports ---------------------------------------------------------------------------------------------------------


def certificates_of(study: Study, *, before: datetime | None = None) -> dict[str, str]:
    """File name -> content: each certificate of a study, and why it was revoked; `before`: as it was at that time."""
    found: dict[str, str] = {}
    made = Certificate.objects.filter(study=study).select_related("revocation").order_by("pk")
    for certificate in made if before is None else made.filter(created_at__lte=before):
        found[f"{certificate.name}.json"] = certificate.document
        revocation = getattr(certificate, "revocation", None)
        if revocation is not None and (before is None or revocation.at <= before):
            told = {"certificate": certificate.digest, "why": revocation.why, "reason": revocation.reason}
            found[f"{certificate.name}-revoked.json"] = canonical_json(
                {**told, "at": revocation.at.isoformat(timespec="seconds")}
            ).decode()
    return found


def has_certificates(study: Study) -> bool:
    return Certificate.objects.filter(study=study).exists()
