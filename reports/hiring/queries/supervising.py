"""What people have found of what was accepted under a certificate."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotation.models import Assignment, ExperimentSeat, Label, Look, Rater
from annotation.queries.gold import with_decider
from reports.hiring.queries.labels import answer_key, key_of_code
from reports.hiring.queries.splitting import groups_of
from reports.models import Accepted, Certificate, Split, TakeoverRow

if TYPE_CHECKING:
    from reports.stats.hiring.supervision import Watch


@dataclass(frozen=True)
class Supervised:
    """A drawn document that counts: of its accepted cells that people could judge, how wrong each is, 0 to 1; and how
    many they could not. finished_at: when it was submitted, or since when nobody who has it can judge it any more."""

    row: int
    wrong: tuple[float, ...]
    unjudged: int
    finished_at: datetime


def supervised(certificate: Certificate) -> list[Supervised]:
    """The drawn documents that somebody has submitted, in the order in which that was. Five queries, beside those of
    the certificate's question and section.

    What a person said after a look at others' labels, or began as a draft, does not count. Right is what it was in the
    test (`hiring.cells`): gold where it is decided, else what most people said, in equal parts where several answers
    were equally frequent. Gold that was decided in the lens makes no cell count alone, there as here, since it may have
    been decided because of the judge's answer; gold from a file does, unless the file says that it is such.

    A document in which nobody could judge a cell is there as well, and a second time, further behind, if somebody could
    later. So is one that nobody who has it can judge any more (`_out_of_hand`).
    """
    drawn = _drawn(certificate).values("row")
    said = Label.objects.filter(
        assignment__row__in=drawn,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__repeat=1,
        question=certificate.question_id,
        preset=False,
        drafted_from=None,
    ).order_by("assignment__submitted_at", "pk")
    cell = ("assignment__row_id", "column_id", "option__key", "value")
    answers: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    judged_at: dict[int, datetime] = {}
    spec = certificate.question.spec
    by_people = said.filter(assignment__rater__kind=Rater.Kind.PERSON, exposed=False)
    for row, column, option, value, at in by_people.values_list(*cell, "assignment__submitted_at"):
        assert at is not None
        answers[row][column].append(answer_key(spec, option, value))
        judged_at.setdefault(row, at)
    gold = with_decider(said.filter(assignment__rater__kind=Rater.Kind.GOLD))
    alone: dict[int, dict[int, list[str]]] = defaultdict(dict)
    for row, column, option, value, exposed, decided_by in gold.values_list(*cell, "exposed", "decided_by"):
        if column in answers.get(row, ()):
            answers[row][column] = [answer_key(spec, option, value)]
        elif not exposed and decided_by is None:
            alone[row][column] = [answer_key(spec, option, value)]
    in_order = _in_order(judged_at, _out_of_hand(certificate, drawn) | _without_answer(certificate, drawn))
    accepted = Accepted.objects.filter(
        takeover__certificate=certificate, assignment__row__in={row for _at, row, _judged in in_order}
    )
    of_rows: dict[int, dict[int, str]] = defaultdict(dict)
    for row, column, code in accepted.order_by("pk").values_list("assignment__row_id", "column_id", "code"):
        of_rows[row][column] = key_of_code(spec, code)
    found = []
    for at, row, judged in in_order:
        cells, by_column = sorted(of_rows[row].items()), {**alone.get(row, {}), **(answers[row] if judged else {})}
        wrong = tuple(_wrong(code, by_column[column]) for column, code in cells if column in by_column)
        if cells:
            found.append(Supervised(row, wrong, len(cells) - len(wrong), at))
    return found


def _drawn(certificate: Certificate) -> QuerySet[TakeoverRow]:
    return TakeoverRow.objects.filter(takeover__certificate=certificate, drawn=True)


def _without_answer(certificate: Certificate, drawn: QuerySet[TakeoverRow, Any]) -> dict[int, datetime]:
    """Row -> when it was first submitted by somebody who was asked the question and answered it nowhere there: cannot
    tell, left it open, or was not asked because of another answer. Not by anybody who had seen others' labels: then
    what is left out could depend on the judge's answer. One query."""
    answer = Label.objects.filter(assignment=OuterRef("pk"), question=certificate.question_id, preset=False)
    look = Look.objects.filter(
        sheet=OuterRef("row__sheet"), user=OuterRef("rater__user"), at__lte=OuterRef("submitted_at")
    )
    shown = ExperimentSeat.objects.filter(assignment=OuterRef("pk"), shown=True)
    blind = Assignment.objects.filter(
        ~Exists(answer),
        ~Exists(look),
        ~Exists(shown),
        row__in=drawn,
        rater__kind=Rater.Kind.PERSON,
        state=Assignment.State.SUBMITTED,
        repeat=1,
    )
    section = certificate.question.section.key
    found: dict[int, datetime] = {}
    for one in blind.order_by("submitted_at", "pk").only("row_id", "sections", "submitted_at"):
        if one.asks_key(section):
            assert one.submitted_at is not None
            found.setdefault(one.row_id, one.submitted_at)
    return found


def _out_of_hand(certificate: Certificate, drawn: QuerySet[TakeoverRow, Any]) -> dict[int, datetime]:
    """Row -> since when nobody who has it could judge it: each looked at others' labels of its sheet before they
    submitted it, and had answered the question nowhere until then. Whether they look they decide before they see what
    the judge said there, so what is left out does not depend on it, as it would if their submitting counted. Whoever
    gets it later and has not looked can judge it again. Whoever lost it with its row had it until then. One query.
    """
    with_its_row = Q(started_at=None, handed_to=None, row__withdrawn_at__isnull=False)
    work = Assignment.objects.filter(
        ~Q(state=Assignment.State.WITHDRAWN) | with_its_row, row__in=drawn, rater__kind=Rater.Kind.PERSON, repeat=1
    ).order_by()
    look = Look.objects.filter(sheet=OuterRef("row__sheet"), user=OuterRef("rater__user"))
    by_themselves = Label.objects.filter(
        assignment=OuterRef("pk"), question=certificate.question_id, preset=False, exposed=False, drafted_from=None
    )
    told: QuerySet[Any] = work.filter(row__in=work.filter(Exists(look)).values("row")).annotate(
        first_look=Subquery(look.order_by("at").values("at")[:1]), has_answers=Exists(by_themselves)
    )
    since: dict[int, datetime] = {}
    in_hand: set[int] = set()
    section = certificate.question.section.key
    for one in told.only("row_id", "sections", "submitted_at"):
        at = one.first_look
        if not one.asks_key(section):
            continue
        if one.has_answers or at is None or (one.submitted_at is not None and one.submitted_at < at):
            in_hand.add(one.row_id)
        else:
            since[one.row_id] = max(since.get(one.row_id, at), at)
    return {row: at for row, at in since.items() if row not in in_hand}


def _in_order(judged_at: Mapping[int, datetime], without: Mapping[int, datetime]) -> list[tuple[datetime, int, bool]]:
    """(when, row, whether somebody had answered it) in the order of when: the rows that were judged, and between them
    those that were first submitted `without` an answer."""
    found = [(at, row, True) for row, at in judged_at.items()]
    found += [(at, row, False) for row, at in without.items() if row not in judged_at or at < judged_at[row]]
    return sorted(found, key=lambda one: one[0])


def _wrong(code: str, said: Sequence[str]) -> float:
    """0 where the answer is the most frequent one, 1 where it is not, between them where several are."""
    counted = Counter(said)
    most = max(counted.values())
    best = [answer for answer, n in counted.items() if n == most]
    return 1 - (code in best) / len(best)


# --- what of these counts ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Supervision:
    """What supervision says of a certificate, as it stands.

    watch: the confidence sequence of the error of what was accepted. n_drawn: how many drawn documents have an accepted
    cell, or sheets or items with such documents where these were drawn; without those that were withdrawn before
    anybody had finished them.
    """

    watch: Watch
    n_drawn: int


def supervision_of(certificate: Certificate) -> Supervision:
    """Queries as of `supervised` and of `what_counts`."""
    from reports.stats.hiring.supervision import watch

    counted, n_drawn = what_counts(certificate, supervised(certificate))
    wrong = [share for _whole, one in counted for share in (*one.wrong, *[math.nan] * one.unjudged)]
    number = {whole: at for at, whole in enumerate(dict.fromkeys(whole for whole, _one in counted))}
    cluster = [number[whole] for whole, one in counted for _cell in range(len(one.wrong) + one.unjudged)]
    watched = watch(
        wrong,
        cluster,
        most=max(certificate.request["most"], Counter(cluster).most_common(1)[0][1] if cluster else 0),
        epsilon=certificate.epsilon,
        delta=round(1 - certificate.confidence, 12),
    )
    return Supervision(watched, n_drawn)


def what_counts(certificate: Certificate, found: Sequence[Supervised]) -> tuple[list[tuple[str, Supervised]], int]:
    """(document, sheet or item, whichever were drawn; what was found there), in the order in which they were finished;
    and `Supervision.n_drawn`. One query, two by sheets or items."""
    waited_for = _waited_for(certificate, found)
    if certificate.request["split"]["unit"] == Split.Unit.ROW:
        rows = {row for _takeover, row in waited_for}
        return _latest(found, rows), len(rows)
    together = _drawn_together(certificate, waited_for)
    return _finished_wholes(found, together), len(together)


def _waited_for(certificate: Certificate, found: Iterable[Supervised]) -> list[tuple[int, int]]:
    """(takeover, row) of the drawn documents with an accepted cell, in the order of takeovers; not those that were
    withdrawn before somebody had finished them. One query."""
    finished_at: dict[int, datetime] = {}
    for one in found:  # in the order in which they were finished
        finished_at.setdefault(one.row, one.finished_at)
    accepted = Accepted.objects.filter(takeover=OuterRef("takeover"), assignment__row=OuterRef("row"))
    drawn = _drawn(certificate).filter(Exists(accepted)).order_by("takeover", "row")
    return [
        (takeover, row)
        for takeover, row, withdrawn_at in drawn.values_list("takeover", "row", "row__withdrawn_at")
        if withdrawn_at is None or (row in finished_at and finished_at[row] <= withdrawn_at)
    ]


def _latest(found: Sequence[Supervised], waited_for: Collection[int]) -> list[tuple[str, Supervised]]:
    """Of each document that is waited for what was found last, and there."""
    last = {one.row: one for one in found if one.row in waited_for}
    return [(str(one.row), one) for one in found if last.get(one.row) is one]


def _drawn_together(certificate: Certificate, waited_for: Iterable[tuple[int, int]]) -> dict[str, set[int]]:
    """Sheet or item -> its documents that are waited for, of the first takeover that drew any there. One query."""
    unit = certificate.request["split"]["unit"]
    groups = groups_of(certificate.study, unit, among=_drawn(certificate).values("row"))
    of_whole: dict[str, tuple[int, set[int]]] = {}
    for takeover, row in waited_for:
        if row in groups:  # else its takeover was undone meanwhile
            first, rows = of_whole.setdefault(groups[row], (takeover, set()))
            if first == takeover:
                rows.add(row)
    return {whole: rows for whole, (_takeover, rows) in of_whole.items()}


def _finished_wholes(
    found: Iterable[Supervised], together: Mapping[str, Collection[int]]
) -> list[tuple[str, Supervised]]:
    """(sheet or item, document) of those that are finished, in the order in which they were.

    A sheet counts once all of its drawn documents are finished, and stays as it was then: one that grew while others
    came in would be looked at again with what is known of these, and a sequence of such looks promises nothing. So a
    document that nobody could judge until then is left out for good. Where two takeovers drew documents of one sheet,
    the first one counts. The same goes for an item.

    Args:
        together: of each sheet or item its documents that are waited for.
    """
    whole_of = {row: whole for whole, rows in together.items() for row in rows}
    left = {whole: set(rows) for whole, rows in together.items()}
    mine: dict[str, dict[int, Supervised]] = defaultdict(dict)
    done: list[tuple[str, Supervised]] = []
    for one in found:  # in the order in which they were finished
        whole = whole_of.get(one.row)
        if whole is None or not left[whole]:
            continue
        mine[whole][one.row] = one
        left[whole].discard(one.row)
        if not left[whole]:
            done += [(whole, document) for document in mine[whole].values()]
    return done
