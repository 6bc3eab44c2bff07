"""All writes of hiring."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.models import Plan, Question, Rater, Row, Sheet, Study, User
from annotation.planning import BY_SHEET, ImpossibleDesign, OverlapRequest, RowChoice, balanced_design
from annotation.planning.sampling import Described, drawn_rows
from annotation.queries import free_rows
from annotation.queries.planning import seats
from judges.lineage import queries as lineage
from reports.frozen.versions import code_version
from reports.hiring import queries, words
from reports.hiring.documents import APPROXIMATE, test_judge
from reports.hiring.queries import WorkToDo
from reports.models import (
    Accepted,
    Certificate,
    Revocation,
    Split,
    SplitRow,
    Takeover,
    TakeoverRow,
    TestLook,
)

# Within this the same person's looks of one kind are one look: a page that is asked for again with another filter.
_ONE_LOOK = timedelta(hours=1)
_CHUNK = 2000


# --- the split -------------------------------------------------------------------------------------------------------


@transaction.atomic
def draw_split(*, study: Study, unit: str, share: int, seed: int, by: User | None) -> Split:
    """Draw which documents are for development and which for the test; of each sheet its share, or whole sheets. Where
    rows are two texts for an item, items are drawn with all of their pairs.

    Documents that anything was fitted to are for development, with their whole sheets or items where these are drawn.

    Args:
        unit: of `queries.units_of`; "" for the usual one.
    Raises:
        Refused: the test part was looked at since it was drawn, so that another one would be chosen by what is known;
            this cannot be drawn here; or a part would be empty.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    if Split.objects.filter(study=study).exists() and TestLook.objects.filter(study=study).exists():
        raise Refused(_("The test part was looked at already; another split would be drawn by what was seen there."))
    units = queries.units_of(study)
    if (unit := unit or units[0]) not in units:
        raise Refused(
            _("“%(unit)s” cannot be drawn in this study. What can: %(units)s.")
            % {"unit": unit, "units": ", ".join(units)}
        )
    # Rows that are withdrawn stay out: should they come back, they have a part as rows that come later have.
    rows = list(
        Row.objects.filter(sheet__study=study, withdrawn_at=None)
        .order_by("sheet__position", "position")
        .values_list("pk", "sheet_id", "sheet__title")
    )
    fitted = queries.fitted_rows(study)
    if unit == Split.Unit.ITEM:
        test = _drawn_items(queries.groups_of(study, unit), rows, fitted, share=share, seed=seed)
    elif unit == Split.Unit.SHEET:
        known = set(Row.objects.filter(pk__in=fitted).values_list("sheet_id", flat=True))
        every = {sheet for _pk, sheet, _title in rows}
        ranked = sorted(every - known, key=lambda pk: queries.rank(seed, f"sheet {pk}"))
        chosen = set(ranked[: round(len(every) * share / 100)])
        test = {pk for pk, sheet, _title in rows if sheet in chosen}
    else:
        size = round(len(rows) * share / 100)
        choice = RowChoice(size=size, by=(BY_SHEET,), seed=seed)
        test = set(
            drawn_rows([Described(pk, title, {}) for pk, _sheet, title in rows if pk not in fitted], choice).rows
        )
    if not test or len(test) == len(rows):
        raise Refused(_("One of the two parts would be empty. Import more, or ask for another share."))
    Split.objects.filter(study=study).delete()
    split = Split.objects.create(study=study, unit=unit, share=share, seed=seed, drawn_by=by)
    SplitRow.objects.bulk_create(
        (SplitRow(split=split, row_id=pk, test=pk in test) for pk in sorted({pk for pk, *_ in rows} | fitted)),
        batch_size=_CHUNK,
    )
    return split


def _drawn_items(
    groups: Mapping[int, str], rows: Sequence[tuple[int, int, str]], fitted: Collection[int], *, share: int, seed: int
) -> set[int]:
    """The rows of the items that are for the test: of each sheet its share of those whose first row it has."""
    known = {groups[pk] for pk in fitted}
    first: dict[str, Described] = {}
    for pk, _sheet, title in rows:
        first.setdefault(groups[pk], Described(pk, title, {}))
    choice = RowChoice(size=round(len(first) * share / 100), by=(BY_SHEET,), seed=seed)
    chosen = drawn_rows([of for group, of in first.items() if group not in known], choice).rows
    items = {groups[pk] for pk in chosen}
    return {pk for pk, _sheet, _title in rows if groups[pk] in items}


def note_look(*, slug: str, what: str, by: User | None) -> None:
    """Count that somebody saw how judges do on the test part of a study; nothing where it is not split or has no judge.
    One query, three where it is split."""
    split = Split.objects.filter(study__slug=slug).select_related("study").first()
    if split is None or not split.study.raters.judges().exists():
        return
    since = timezone.now() - _ONE_LOOK
    if not TestLook.objects.filter(study=split.study, what=what, by=by, at__gte=since).exists():
        TestLook.objects.create(study=split.study, what=what, by=by)


def rename_tests(*, studies: Collection[int], old: str, new: str) -> None:
    """A judge has another code in some studies: how often it was tested there is counted on."""
    TestLook.objects.filter(study__in=studies, what=TestLook.What.TEST, judge=old).update(judge=new)


# --- certificates ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a test came to: the look that it was, and the certificate where it holds. `again`: it was asked for before,
    and tested then."""

    look: TestLook
    certificate: Certificate | None
    again: bool = False


@transaction.atomic
def certify(
    *,
    study: Study,
    rater: Rater,
    question: Question,
    epsilon: float,
    confidence: float,
    until: date,
    by: User | None,
    bound: str = APPROXIMATE,
) -> Outcome:
    """Test a judge on the test part, which is a look at it; where it holds, give it a certificate.

    The same claim on the same data is no other look: it comes to what it came to, unless its certificate was revoked.

    Args:
        bound: the one that decides, of `documents.BOUNDS`.
    Raises:
        Refused: the study is not split, the judge does not answer the question or has no label there, no test document
            has one of the judge and of people, the judge was fitted to one, the day is over, or an import is being
            shown. No look is counted then.
    """
    annotating.lock_study(study.pk)  # no other split is drawn meanwhile
    study.refresh_from_db(fields=["scheme"])  # whose wording may have been changed before this one's turn
    annotating.refuse_while_shown(study.pk)
    split = queries.split_of(study)
    if split is None:
        raise Refused(_("Draw the split first: a judge is chosen on one part and tested on the other."))
    if until < timezone.localdate():
        raise Refused(_("That day is over. A certificate is given until a day to come."))
    name = queries.question_name(question)
    if name not in queries.answered_questions(study, rater):
        raise Refused(words.not_answered(rater.code, question))
    parts = _keep_parts(split)
    judge = queries.judge_behind(rater)
    if judge is not None and (seen := queries.seen_test_rows(judge, split)).all:
        raise Refused(words.was_fitted(rater.code, seen, split.study.scheme.parsed.words.translated()))
    table = queries.study_table(study, judges=[rater.code], question=name)
    names = queries.row_names(study)
    looks = queries.looks_at(study)
    request: dict[str, Any] = {
        "judge": rater.code,
        "question": name,
        "epsilon": epsilon,
        "confidence": confidence,
        "bound": bound,
        "most": queries.most_cells(study, question, split.unit),
        "identity": queries.identity(study, rater),
        "issued": {
            "at": timezone.now().isoformat(timespec="seconds"),
            "by": by.username if by else "",
            "until": until.isoformat(),
            "code": code_version(),
        },
        "looks_before": {
            "tests": looks.tests,
            "tests_of_this": TestLook.objects.filter(study=study, judge=rater.code, question=name).count(),
            "others": looks.others,
        },
        "split": {
            "unit": split.unit,
            "share": split.share,
            "seed": split.seed,
            "test": sorted(list(names[pk]) for pk, test in parts.items() if test),
        },
        "left_out": sorted(list(name) for name in queries.left_out_names(study) | queries.shown_names(study, judge)),
    }
    if judge is not None:
        request["lineage"] = lineage.told(study, judge)
    try:
        tested = test_judge(table, request)
    except LookupError as error:
        raise Refused(_("“%(judge)s” has no submitted labels in this study.") % {"judge": rater.code}) from error
    if not tested.cells:
        raise Refused(
            _("No submitted label of a person stands beside one of “%(judge)s”: there is nothing to test it on.")
            % {"judge": rater.code}
        )
    if not tested.tested:
        raise Refused(words.no_test_label())
    document = tested.content.decode()
    if (before := _tested_before(study, rater.code, name, document)) is not None:
        return before
    look = TestLook.objects.create(
        study=study,
        what=TestLook.What.TEST,
        judge=rater.code,
        question=name,
        outcome={"document": document, "holds": tested.result.holds},
        by=by,
    )
    if not tested.result.holds:
        return Outcome(look, None)
    assert tested.result.threshold is not None
    certificate = Certificate.objects.create(
        study=study,
        rater=rater,
        question=question,
        labels=table.packed(),
        request=request,
        document=document,
        digest=hashlib.sha256(tested.content).hexdigest(),
        data_digest=table.digest,
        threshold=tested.result.threshold,
        epsilon=epsilon,
        confidence=confidence,
        until=until,
        look=look,
        created_by=by,
    )
    return Outcome(look, certificate)


def _tested_before(study: Study, judge: str, question: str, document: str) -> Outcome | None:
    looks = TestLook.objects.filter(study=study, what=TestLook.What.TEST, judge=judge, question=question)
    certificates = Certificate.objects.filter(look__in=looks).standing().defer("labels")
    by_look = {certificate.look_id: certificate for certificate in certificates}
    for look in looks:
        if (not look.outcome["holds"] or look.pk in by_look) and _claim(look.outcome["document"]) == _claim(document):
            return Outcome(look, by_look.get(look.pk), again=True)
    return None


def _claim(document: str) -> dict[str, Any]:
    """What a document says, but for when and by whom it was asked for."""
    told: dict[str, Any] = json.loads(document)
    return {**told, "issued": told["issued"]["until"], "looks_before": None}


def _keep_parts(split: Split) -> dict[int, bool]:
    """Store the parts of rows that came since the split was drawn. Returns those of all, as `parts_of`."""
    parts = queries.parts_of(split.study, split)
    known = set(split.rows.values_list("row_id", flat=True))
    SplitRow.objects.bulk_create(
        (SplitRow(split=split, row_id=pk, test=test) for pk, test in parts.items() if pk not in known),
        batch_size=_CHUNK,
    )
    return parts


@transaction.atomic
def revoke(*, certificate: Certificate, why: str, reason: str, by: User | None) -> Revocation:
    """Say that a certificate holds no more. The first reason stays.

    Raises:
        Refused: no reason is given.
    """
    reason = reason.strip()
    if not reason:
        raise Refused(_("Say why it is revoked."))
    made, _created = Revocation.objects.get_or_create(
        certificate=certificate, defaults={"why": why, "reason": reason, "by": by}
    )
    return made


def watch(*, study: Study | None = None) -> list[Revocation]:
    """Revoke every certificate whose judge has changed or that supervision speaks against; one query where there is
    none. A worker does it every few minutes, and whatever uses a certificate does it first."""
    standing = Certificate.objects.standing().select_related("study__scheme", "rater", "question__section")
    revoked = []
    for certificate in standing if study is None else standing.filter(study=study):
        said = queries.standing_of(certificate)
        if said.code in ("changed", "alarm"):
            why = Revocation.Why.CHANGED if said.code == "changed" else Revocation.Why.SUPERVISION
            revoked.append(revoke(certificate=certificate, why=why, reason=said.reason, by=None))
    return revoked


# --- a judge at work -------------------------------------------------------------------------------------------------


def draw_rest(
    study: Study, rows: Collection[int], section: str, raters: Sequence[Rater], *, seed: int
) -> tuple[Any, OverlapRequest, list[Sheet], list[list[int]]] | None:
    """The plan by which people get some rows, a rater each; None where there are no rows.

    Raises:
        Refused: nobody is there to label, or no plan can be drawn.
    """
    if not rows:
        return None
    if not raters:
        raise Refused(_("Somebody has to label the rest: choose people."))
    sheets = list(study.sheets.order_by("position"))
    free = free_rows(sheets, [section], among=set(rows))
    sheets = [sheet for sheet in sheets if free.get(sheet.pk)]
    drawn = [free[sheet.pk] for sheet in sheets]
    have: dict[int, int] = {}
    for seat in seats(study):
        have[seat.rater_id] = have.get(seat.rater_id, 0) + 1
    request = OverlapRequest(
        raters=len(raters),
        sheets=tuple(map(len, drawn)),
        raters_per_sheet=len(raters),
        share_twice=0,
        seed=seed,
        standing=tuple(have.get(rater.pk, 0) for rater in raters),
    )
    try:
        return balanced_design(request), request, sheets, drawn
    except ImpossibleDesign as impossible:
        words = study.scheme.parsed.words.model_dump()
        raise Refused(_(impossible.sentence.template) % {**words, **dict(impossible.sentence.numbers)}) from impossible


@transaction.atomic
def take_over(
    *,
    certificate: Certificate,
    share: int,
    seed: int,
    raters: Sequence[Rater],
    shown: str,
    by: User | None,
) -> Takeover:
    """Let the judge's sure answers stand as its labels; give the rest, and the drawn share, to people in one plan, in
    which nothing tells the two apart. `shown`: the digest of what was looked at.

    Raises:
        Refused: the certificate does not hold today, there is nothing to take over, nobody to label the rest, or
            something has changed since it was shown. Nothing is changed then.
    """
    Study.objects.select_for_update().get(pk=certificate.study_id)
    annotating.refuse_while_shown(certificate.study_id)
    said = queries.standing_of(certificate)
    if not said.holds:
        raise Refused(_("This certificate does not hold any more. %(reason)s") % {"reason": said.reason})
    todo = queries.work_to_do(certificate, share=share, seed=seed)
    if not todo.rows:
        raise Refused(_("There is no document that the judge has labelled and nobody has."))
    if todo.digest != shown:
        raise Refused(
            _("The study has changed since this was drawn. Nothing was accepted: look at it and apply it again.")
        )
    plan = give_to_people(certificate, todo.to_people, raters, seed=seed, by=by)
    takeover = Takeover.objects.create(certificate=certificate, plan=plan, share=share, seed=seed, by=by)
    _store(takeover, todo, certificate.question)
    return takeover


def undo_takeovers(*, plan: Plan) -> None:
    """A plan is taken back: what a judge took over with it is as it was before, open to be taken over again. Nobody has
    begun the plan, so nothing was supervised."""
    Takeover.objects.filter(plan=plan).delete()


def give_to_people(
    certificate: Certificate, rows: Collection[int], raters: Sequence[Rater], *, seed: int, by: User | None
) -> Plan | None:
    study, section = certificate.study, certificate.question.section.key
    drawn = draw_rest(study, rows, section, raters, seed=seed)
    if drawn is None:
        return None
    design, request, sheets, of_sheets = drawn
    return annotating.apply_design(
        study=study,
        design=design,
        request=request,
        raters=raters,
        sheets=sheets,
        by=by,
        rows=of_sheets,
        sections=[] if len(study.scheme.parsed.sections) == 1 else [section],
        own_order=True,
        among=set(rows),
    )


def _store(takeover: Takeover, todo: WorkToDo, question: Question) -> None:
    TakeoverRow.objects.bulk_create(
        (
            TakeoverRow(takeover=takeover, row_id=row, drawn=row in todo.drawn, rest=row in todo.rest)
            for row in todo.rows
        ),
        batch_size=_CHUNK,
    )
    Accepted.objects.bulk_create(_cells(takeover, todo, question), batch_size=_CHUNK)


def _cells(takeover: Takeover, todo: WorkToDo, question: Question) -> Iterable[Accepted]:
    return (
        Accepted(
            takeover=takeover, assignment_id=assignment, column_id=column, question=question, code=code, score=score
        )
        for assignment, column, code, score in todo.cells
    )


@transaction.atomic
def give_back(*, certificate: Certificate, raters: Sequence[Rater], seed: int, by: User | None) -> Plan:
    """Give people what was accepted under a certificate that holds no more, as far as nobody has it.

    Raises:
        Refused: it still holds, nothing of it is left, or nobody is there to label.
    """
    if not Revocation.objects.filter(certificate=certificate).exists():
        raise Refused(_("This certificate has not been revoked."))
    rows = queries.to_give_back(certificate)
    if not rows:
        raise Refused(_("People have all of it already."))
    plan = give_to_people(certificate, rows, raters, seed=seed, by=by)
    assert plan is not None
    return plan
