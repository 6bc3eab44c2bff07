"""What people have found of what was accepted under a certificate."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from annotation.models import Assignment, ExperimentSeat, Label, Look, Rater
from reports.hiring.queries.labels import answer_key, decided_in_the_lens, key_of_code
from reports.hiring.queries.splitting import groups_of
from reports.models import Accepted, Certificate, Split, TakeoverRow

if TYPE_CHECKING:
    from reports.stats.hiring.supervision import Watch


@dataclass(frozen=True)
class Supervised:
    """A drawn document that people have finished: of its accepted cells that they could judge, how wrong each is, 0 to
    1; and how many they could not."""

    row: int
    wrong: tuple[float, ...]
    unjudged: int = 0


def supervised(certificate: Certificate) -> list[Supervised]:
    """The drawn documents that somebody has submitted, in the order in which that was. Seven queries, two more where
    somebody answered a document nowhere, two more where somebody who has one has looked at others' labels.

    What a person said after a look at others' labels, or began as a draft, does not count. Right is what it was in the
    test (`hiring.cells`): gold where it is decided, else what most people said, in equal parts where several answers
    were equally frequent. Gold that was decided in the lens makes no cell count alone, there as here, since it may have
    been decided because of the judge's answer; gold from a file does.

    A document in which nobody could judge a cell is there as well, and a second time, further behind, if somebody could
    later. So is one that nobody who has it can judge any more (`_out_of_hand`).
    """
    drawn = TakeoverRow.objects.filter(takeover__certificate=certificate, drawn=True).values("row")
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
    spec = certificate.question.spec
    answered: set[int] = set()
    by_people = said.filter(assignment__rater__kind=Rater.Kind.PERSON, exposed=False)
    for row, column, option, value, assignment in by_people.values_list(*cell, "assignment_id"):
        answers[row][column].append(answer_key(spec, option, value))
        answered.add(assignment)
    gold = said.filter(assignment__rater__kind=Rater.Kind.GOLD)
    decided = set(decided_in_the_lens(gold).values_list("pk", flat=True))
    alone: dict[int, dict[int, list[str]]] = defaultdict(dict)
    for row, column, option, value, pk in gold.values_list(*cell, "pk"):
        if column in answers.get(row, ()):
            answers[row][column] = [answer_key(spec, option, value)]
        elif pk not in decided:
            alone[row][column] = [answer_key(spec, option, value)]
    without = _out_of_hand(certificate, drawn) | _without_answer(certificate, drawn, answered=answered)
    finished = _in_order(list(answers), answered, without)
    accepted = Accepted.objects.filter(
        takeover__certificate=certificate, assignment__row__in={row for row, _judged in finished}
    )
    of_rows: dict[int, dict[int, str]] = defaultdict(dict)
    for row, column, code in accepted.order_by("pk").values_list("assignment__row_id", "column_id", "code"):
        of_rows[row][column] = key_of_code(spec, code)
    found = []
    for row, judged in finished:
        cells, by_column = sorted(of_rows[row].items()), {**alone.get(row, {}), **(answers[row] if judged else {})}
        wrong = tuple(_wrong(code, by_column[column]) for column, code in cells if column in by_column)
        if cells:
            found.append(Supervised(row, wrong, len(cells) - len(wrong)))
    return found


def _without_answer(
    certificate: Certificate, drawn: QuerySet[TakeoverRow, Any], *, answered: Collection[int]
) -> dict[int, datetime]:
    """Row -> when it was first submitted by somebody who was asked the question and answered it nowhere there: cannot
    tell, left it open, or was not asked because of another answer. Not by anybody who had seen others' labels: then
    what is left out could depend on the judge's answer. One query, a second one where there may be any.

    `answered`: the assignments with an answer that counts.
    """
    submitted = Assignment.objects.filter(
        row__in=drawn, rater__kind=Rater.Kind.PERSON, state=Assignment.State.SUBMITTED, repeat=1
    )
    others = [pk for pk in submitted.order_by().values_list("pk", flat=True) if pk not in answered]
    if not others:
        return {}
    mine = Assignment.objects.filter(pk__in=others)
    answer = Label.objects.filter(assignment__in=others, question=certificate.question_id, preset=False)
    look = Look.objects.filter(
        sheet=OuterRef("row__sheet"), user=OuterRef("rater__user"), at__lte=OuterRef("submitted_at")
    )
    shown = ExperimentSeat.objects.filter(assignment=OuterRef("pk"), shown=True)
    blind = mine.filter(~Exists(look), ~Exists(shown)).exclude(pk__in=answer.values("assignment"))
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
    gets it later and has not looked can judge it again. One query, two more where somebody has looked.
    """
    work = Assignment.objects.filter(row__in=drawn, rater__kind=Rater.Kind.PERSON, repeat=1)
    work = work.exclude(state=Assignment.State.WITHDRAWN).order_by()
    look = Look.objects.filter(sheet=OuterRef("row__sheet"), user=OuterRef("rater__user"))
    looked = set(work.filter(Exists(look)).values_list("row_id", flat=True))
    if not looked:
        return {}
    blind = Label.objects.filter(assignment=OuterRef("pk"), **_blind(certificate))
    everybody = work.filter(row__in=looked).annotate(
        first_look=Subquery(look.order_by("at").values("at")[:1]), has_answers=Exists(blind)
    )
    told = {pk: (at, has) for pk, at, has in everybody.values_list("pk", "first_look", "has_answers")}
    since: dict[int, datetime] = {}
    in_hand: set[int] = set()
    section = certificate.question.section.key
    for one in Assignment.objects.filter(pk__in=told).only("row_id", "sections", "submitted_at"):
        at, has_answers = told[one.pk]
        if not one.asks_key(section):
            continue
        if has_answers or at is None or (one.submitted_at is not None and one.submitted_at < at):
            in_hand.add(one.row_id)
        else:
            since[one.row_id] = max(since.get(one.row_id, at), at)
    return {row: at for row, at in since.items() if row not in in_hand}


def _blind(certificate: Certificate) -> dict[str, Any]:
    """Of labels: those that a person gave by themselves, as a filter."""
    return {"question": certificate.question_id, "preset": False, "exposed": False, "drafted_from": None}


def _in_order(
    judged: Sequence[int], answered: Collection[int], without: Mapping[int, datetime]
) -> list[tuple[int, bool]]:
    """(row, whether somebody had answered it) in the order of when that was submitted: the `judged` rows in theirs, and
    between them those that were first submitted `without` an answer. One query where there are any of these."""
    if not without:
        return [(row, True) for row in judged]
    judged_at: dict[int, datetime] = {}
    times = Assignment.objects.filter(pk__in=answered).order_by("submitted_at").values_list("row_id", "submitted_at")
    for row, at in times:
        assert at is not None
        judged_at.setdefault(row, at)
    found = [(judged_at[row], row, True) for row in judged]
    found += [(at, row, False) for row, at in without.items() if row not in judged_at or at < judged_at[row]]
    return [(row, is_judged) for _at, row, is_judged in sorted(found, key=lambda one: one[0])]


def _wrong(code: str, said: Sequence[str]) -> float:
    """0 where the answer is the most frequent one, 1 where it is not, between them where several are."""
    counted = Counter(said)
    most = max(counted.values())
    best = [answer for answer, n in counted.items() if n == most]
    return 1 - (code in best) / len(best)


def n_to_supervise(certificate: Certificate) -> int:
    """How many drawn documents have an accepted cell, or sheets or items with such documents where these were drawn, as
    `watch_of` counts them; without those that were withdrawn before anybody had finished them. Queries as of
    `_waited_for`, one more where sheets or items were drawn."""
    if not by_row(certificate):
        return len(_drawn_together(certificate))
    return len({row for _takeover, row in _waited_for(certificate)})


def _waited_for(certificate: Certificate) -> list[tuple[int, int]]:
    """(takeover, row) of the drawn documents with an accepted cell, in the order of takeovers. Not those that were
    withdrawn before somebody had finished them as `supervised` counts it: submitted without a look at others' labels,
    or with answers from before it. One query, a second one where some were withdrawn."""
    accepted = Accepted.objects.filter(takeover=OuterRef("takeover"), assignment__row=OuterRef("row"))
    drawn = TakeoverRow.objects.filter(Exists(accepted), takeover__certificate=certificate, drawn=True)
    found = list(drawn.order_by("takeover", "row").values_list("takeover", "row", "row__withdrawn_at"))
    withdrawn = {row: at for _takeover, row, at in found if at is not None}
    finished = set[int]()
    if withdrawn:
        look = Look.objects.filter(
            sheet=OuterRef("row__sheet"), user=OuterRef("rater__user"), at__lte=OuterRef("submitted_at")
        )
        blind = Label.objects.filter(assignment=OuterRef("pk"), **_blind(certificate))
        done = Assignment.objects.filter(
            Exists(blind) | ~Exists(look),
            row__in=withdrawn,
            rater__kind=Rater.Kind.PERSON,
            state=Assignment.State.SUBMITTED,
            repeat=1,
        )
        section = certificate.question.section.key
        for one in done.order_by().only("row_id", "sections", "submitted_at"):
            assert one.submitted_at is not None
            if one.asks_key(section) and one.submitted_at <= withdrawn[one.row_id]:
                finished.add(one.row_id)
    return [(takeover, row) for takeover, row, at in found if at is None or row in finished]


def by_row(certificate: Certificate) -> bool:
    """Whether documents were drawn, and no sheets or items that count as such."""
    return bool(certificate.request["split"]["unit"] == Split.Unit.ROW)


def drawn_wholes(certificate: Certificate, found: Collection[Supervised]) -> list[tuple[str, Supervised]]:
    """Of a certificate by sheets or items what counts: (sheet or item, document), in the order in which they were
    finished.

    A sheet counts once all of its drawn documents are finished, and stays as it was then: one that grew while others
    came in would be looked at again with what is known of these, and a sequence of such looks promises nothing. So a
    document that nobody could judge until then is left out for good. Where two takeovers drew documents of one sheet,
    the first one counts. The same goes for an item. Queries as of `_waited_for`, and one more.
    """
    of_whole = _drawn_together(certificate)
    whole_of = {row: whole for whole, rows in of_whole.items() for row in rows}
    left = {whole: set(rows) for whole, rows in of_whole.items()}
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


def _latest(certificate: Certificate, found: Collection[Supervised]) -> list[tuple[str, Supervised]]:
    """Of a certificate by documents what counts: of each document that is waited for what was found last, and there.
    Queries as of `_waited_for`."""
    waited_for = {row for _takeover, row in _waited_for(certificate)}
    last = {one.row: one for one in found if one.row in waited_for}
    return [(str(one.row), one) for one in found if last.get(one.row) is one]


def _drawn_together(certificate: Certificate) -> dict[str, set[int]]:
    """Sheet or item -> its drawn documents that are waited for, of the first takeover that drew any there. Queries as
    of `_waited_for`, and one more."""
    groups = groups_of(certificate.study, certificate.request["split"]["unit"])
    of_whole: dict[str, tuple[int, set[int]]] = {}
    for takeover, row in _waited_for(certificate):
        first, rows = of_whole.setdefault(groups[row], (takeover, set()))
        if first == takeover:
            rows.add(row)
    return {whole: rows for whole, (_takeover, rows) in of_whole.items()}


def watch_of(certificate: Certificate) -> Watch:
    """The confidence sequence of the error of what was accepted, as it stands. Queries as of `supervised` and of
    `_waited_for`, by sheets or items one more."""
    from reports.stats.hiring.supervision import watch

    found = supervised(certificate)
    counted = _latest(certificate, found) if by_row(certificate) else drawn_wholes(certificate, found)
    wrong = [share for _whole, one in counted for share in (*one.wrong, *[math.nan] * one.unjudged)]
    number = {whole: at for at, whole in enumerate(dict.fromkeys(whole for whole, _one in counted))}
    cluster = [number[whole] for whole, one in counted for _cell in range(len(one.wrong) + one.unjudged)]
    return watch(
        wrong,
        cluster,
        most=max(certificate.request["most"], Counter(cluster).most_common(1)[0][1] if cluster else 0),
        epsilon=certificate.epsilon,
        delta=round(1 - certificate.confidence, 12),
    )
