"""Experiments are drawn, and ended."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions.base import Refused, lock_study, refuse_while_shown
from annotation.models import Assignment, Experiment, ExperimentSeat, Rater, Study, User
from annotation.queries.experiments import drawn_seats, open_seats, opened_sheets

_CHUNK = 2000
_FEW = 500  # SQLite takes 999 values a query


@transaction.atomic
def draw_experiment(
    *,
    study: Study,
    judge: Rater,
    raters: Collection[Rater],
    seed: int,
    by: User | None,
    blind: Collection[int] = (),
) -> Experiment:
    """Show the judge's answers to these people in half of the rows that they have not begun, drawn for each of them;
    rows that are to stay `blind` are left out.

    Raises:
        Refused: it is no judge of the study, or nobody has two rows to draw among.
    """
    lock_study(study.pk)
    refuse_while_shown(study.pk)
    if judge.study_id != study.pk or judge.kind != Rater.Kind.JUDGE:
        raise Refused(_("Choose a judge that has labelled this study."))
    seats = open_seats(study, judge, raters, blind=blind)
    # Who begins meanwhile waits, or is left out.
    locked = Assignment.objects.select_for_update().filter(pk__in=[seat.assignment for seat in seats])
    still = set(locked.filter(state=Assignment.State.OPEN).order_by("pk").values_list("pk", flat=True))
    drawn = drawn_seats((seat for seat in seats if seat.assignment in still), seed=seed)
    if len(set(drawn.values())) < 2:
        raise Refused(_("There is nothing to draw among: give people work that the judge has labelled, and draw before "
                        "they begin."))  # fmt: skip
    experiment = Experiment.objects.create(study=study, judge=judge, seed=seed, drawn_by=by)
    ExperimentSeat.objects.bulk_create(
        (ExperimentSeat(experiment=experiment, assignment_id=pk, shown=shown) for pk, shown in sorted(drawn.items())),
        batch_size=_CHUNK,
    )
    return experiment


@transaction.atomic
def end_experiment(*, experiment: Experiment) -> int:
    """Show nothing in sheets that their rater has not opened, and let their rows go; a sheet that is open shows the
    judge's answers in all of its rows already, and stays as it was drawn. How many rows went; an experiment of which
    nobody has opened a sheet goes wholly."""
    lock_study(experiment.study_id)
    opened = opened_sheets(experiment)
    seats = experiment.seats.values_list("pk", "assignment__rater_id", "assignment__row__sheet_id")
    unseen = [pk for pk, rater, sheet in seats if (rater, sheet) not in opened]
    gone = 0
    for start in range(0, len(unseen), _FEW):
        gone += experiment.seats.filter(pk__in=unseen[start : start + _FEW]).delete()[0]
    if not experiment.seats.exists():
        experiment.delete()
    return gone
