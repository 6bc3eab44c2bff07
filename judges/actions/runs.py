"""Judges' runs: started, cancelled, resumed. `work` has what is common to all runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused, refuse_while_shown
from annotation.models import Assignment, Rater, Row, Sheet, Study, User
from judges import queries
from judges.actions import spending
from judges.actions.creating import refuse_elsewhere, refuse_taken
from judges.actions.keeping import hold, refuse_archived
from judges.actions.spending import refuse_limits, stored_prices
from judges.actions.work import JUDGING
from judges.methods import prompting
from judges.models import Judge, Run, WorkItem
from judges.runs import evidence, labelling
from llm.backends.base import BackendError
from work import actions as work

MAX_REPEATS = 20


@transaction.atomic
def start_run(
    *,
    study: Study,
    judge: Judge,
    by: User | None,
    sheets: Iterable[Sheet] | None = None,
    repeats: int = 1,
    corrected: bool = False,
    most_tokens: int | None = None,
    most_cost: Decimal | None = None,
    enqueue: bool = True,
) -> Run:
    """Let a judge label what a plan gave it, or else all rows of the study, or of some sheets, not labelled yet.

    `repeats`: how often each row shall be labelled in all; what is there already counts. `corrected`: extracted
    lists are read as people have corrected them. `most_tokens`, `most_cost`: where the run pauses. `enqueue` False
    leaves the work to the caller (`take_up`); workers take it over if that goes silent.

    Raises:
        Refused: it is at work already, nothing is left for it, its prompt does not fit or has lines of another study,
            its model is missing, it would say the same at each repeat, or it is deleted.
    """
    hold(judge)
    _check_repeats(judge, repeats)
    prices = judge.model.prices if judge.model is not None else None
    refuse_limits(prices, most_tokens=most_tokens, most_cost=most_cost)
    if corrected and judge.evidence is None:
        raise Refused(
            _("“%(judge)s” reads documents, not extracted lists that people correct.") % {"judge": judge.name}
        )
    _refuse_unready(judge, study)
    rater = _only_run_of(_rater_of(study, judge))
    study.refresh_from_db(fields=["scheme"])  # whose wording may have been changed before this one's turn
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None)
    if sheets is not None:
        sheets = list(sheets)
        rows = rows.filter(sheet__in=sheets)
    if not rows.exists():
        raise Refused(_("There is nothing to label here yet. Import documents first."))
    planned = list(queries.planned(Rater.objects.filter(pk=rater.pk)).filter(row__in=rows))
    if planned:
        rows = rows.filter(assignments__in=planned)
    assignments: list[Assignment] = []
    for repeat in range(1, repeats + 1):
        if repeat == 1 and planned:
            assignments += planned
            continue
        done = rater.assignments.filter(repeat=repeat, state=Assignment.State.SUBMITTED)
        # Without the evidence, which is large.
        left = rows.exclude(assignments__in=done).only("pk")
        assignments += _assigned(rater, left, labelling.sections_of(judge), repeat)
    if not assignments:
        raise Refused(_("“%(judge)s” has labelled everything already.") % {"judge": judge.name})
    _forget_failures(assignments)
    run = Run.objects.create(
        study=study,
        judge=judge,
        rater=rater,
        started_by=by,
        repeats=repeats,
        corrected=corrected,
        most_tokens=most_tokens,
        most_cost=most_cost,
        provenance={
            "prompt": judge.prompt.text,
            "prompt_sha256": judge.prompt.digest,
            "method": judge.method,
            "normalisation": judge.normalisation,
            "chat_template": judge.chat_template,
            "evidence": evidence.record_of(judge.evidence),
            "scheme": _wording(study),
            **({"corrected": True} if corrected else {}),
            **labelling.offer_of(judge, study.scheme.parsed),
            **labelling.nearest_of(judge),
            **_writing(judge),
            **stored_prices(prices),
            "workers": [],
        },
    )
    annotating.note_key(model=judge.model, study=study, by=by)
    work.start(run, [WorkItem(run=run, assignment=assignment) for assignment in assignments], enqueue=enqueue)
    return run


def _assigned(rater: Rater, rows: Iterable[Row], sections: Sequence[str], repeat: int) -> list[Assignment]:
    """These rows, given to a judge's rater once more: of a row that a plan gave it for some sections it is asked these
    in every repeat."""
    planned = rater.assignments.filter(repeat=1, plan__isnull=False).exclude(state=Assignment.State.WITHDRAWN)
    first = dict(planned.values_list("row_id", "sections"))
    of_sections: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        of_sections.setdefault(tuple(first.get(row.pk, sections)), []).append(row)
    return [
        assignment
        for asked, of_rows in of_sections.items()
        for assignment in annotating.assign(rater=rater, rows=of_rows, sections=asked, repeat=repeat)
    ]


def _refuse_unready(judge: Judge, study: Study) -> None:
    """
    Raises:
        Refused: the judge is archived or of another study, its prompt does not fit, its model is missing, or an import
            is being shown.
    """
    refuse_archived(judge)
    refuse_elsewhere(judge, study)
    try:
        prompting.check_against(judge.prompt_spec, study.scheme.parsed, judge.method, normalisation=judge.normalisation)
        if judge.model is not None:
            labelling.check_model(judge.model, method=judge.method, chat_template=judge.chat_template)
        labelling.check_encoders(judge)
    except (prompting.PromptError, BackendError) as error:
        raise Refused(str(error)) from error
    refuse_while_shown(study.pk)


def _check_repeats(judge: Judge, repeats: int) -> None:
    if not 1 <= repeats <= MAX_REPEATS:
        raise Refused(
            _("A judge labels a row once, or up to %(n)s times. %(repeats)s is no such number.")
            % {"n": MAX_REPEATS, "repeats": repeats}
        )
    if repeats == 1 or judge.varies:
        return
    if judge.writes:
        raise Refused(
            _(
                "“%(judge)s” writes at temperature 0, so all repeats would be equal. Start it once, or create a judge "
                "with a temperature over 0."
            )
            % {"judge": judge.name}
        )
    raise Refused(
        _("“%(judge)s” finds the same each time, so all repeats would be equal. Start it once.") % {"judge": judge.name}
    )


def _writing(judge: Judge) -> dict[str, object]:
    """How a judge that rates or writes does it, for the record. The seed of a repeat is its number."""
    if not judge.writes:
        return {}
    return {"temperature": judge.temperature, "max_new_tokens": judge.max_new_tokens, "seed": "the repeat"}


def _rater_of(study: Study, judge: Judge) -> Rater:
    Study.objects.select_for_update().get(pk=study.pk)  # of two starts at once, the second waits, and sees the first
    rater = Rater.objects.filter(study=study, kind=Rater.Kind.JUDGE, code=judge.name).first()
    if rater is None:
        refuse_taken(judge.name, study)
        rater = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, code=judge.name)
    elif rater.assignments.filter(plan=None).exists() and not rater.runs.exists():
        # Reports would take labels of two origins for one judge's.
        raise Refused(
            _(
                "“%(judge)s” has labels in this study that came from a file; those of a run would mix with them. "
                "Create a judge of another name and start that."
            )
            % {"judge": judge.name}
        )
    return rater


def _only_run_of(rater: Rater) -> Rater:
    if rater.runs.filter(state=Run.State.RUNNING).exists():
        raise Refused(_("“%(judge)s” is at work in this study already.") % {"judge": rater.code})
    return rater


def _forget_failures(assignments: Iterable[Assignment]) -> None:
    Assignment.objects.filter(
        pk__in=[assignment.pk for assignment in assignments], state=Assignment.State.FAILED
    ).update(state=Assignment.State.OPEN, failure="")


@transaction.atomic
def cancel_run(*, run: Run) -> None:
    """Stop a run. Rows that are done stay; a worker gives up its row at its next look, within seconds."""
    work.cancel(run)


@transaction.atomic
def resume_run(
    *,
    run: Run,
    by: User | None = None,
    most_tokens: int | None = None,
    most_cost: Decimal | None = None,
    without: Collection[str] = (),
    enqueue: bool = True,
) -> None:
    """Go on with what has no label yet, failed rows included. `enqueue`: as for `start_run`; `most_tokens`,
    `most_cost`, `without`: as for `spending.resume`.

    Raises:
        Refused: nothing is left, another run of the judge is at work, the run has spent what it may, or the judge could
            not be started.
    """
    _refuse_unready(run.judge, run.study)
    _only_run_of(_rater_of(run.study, run.judge))
    _note_wording(run)
    spending.resume(run, most_tokens=most_tokens, most_cost=most_cost, without=without, enqueue=enqueue)
    annotating.note_key(model=run.judge.model, study=run.study, by=by)
    left = Assignment.objects.filter(work_items__run=run, work_items__state=WorkItem.State.QUEUED)
    left.filter(state=Assignment.State.FAILED).update(state=Assignment.State.OPEN, failure="")


def _wording(study: Study) -> str:
    return f"{study.scheme.slug} {study.scheme.version}"


def _note_wording(run: Run) -> None:
    """What is left is asked as it is worded now, which may be otherwise than what was asked before."""
    run.study.refresh_from_db(fields=["scheme"])
    locked = Run.objects.select_for_update().get(pk=run.pk)
    said, now = locked.provenance.get("scheme"), _wording(run.study)
    if said is not None and said.split(", ")[-1] != now:
        locked.provenance["scheme"] = f"{said}, {now}"
        locked.save(update_fields=["provenance"])
    run.provenance = locked.provenance


def score_items(*, item_ids: Sequence[int]) -> int:
    """Label the rows of some work items; returns how many were labelled. See `work.actions.do_items`."""
    return work.do_items(kind=JUDGING, item_ids=item_ids)
