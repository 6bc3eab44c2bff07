"""What reports read of labels and work: as it stands, or as it stood at a moment, out of the history of labels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from django.db.models import (
    BigIntegerField,
    BooleanField,
    Case,
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce

from annotation.models import (
    Assignment,
    ExperimentSeat,
    Label,
    LabelEvent,
    Look,
    Participant,
    PastSubmission,
    Rater,
    Skip,
    Study,
)
from judges.models import UnreadableAnswer, WorkItem

State: TypeAlias = Assignment.State
STATES = tuple(str(state) for state in Assignment.State)


@dataclass(frozen=True)
class Now:
    """What stands in the study."""

    study: Study

    @property
    def submitted(self) -> Q:
        """Of work: it is submitted."""
        return Q(state=Assignment.State.SUBMITTED)

    @property
    def state(self) -> Case:
        """Of work: the place of its state in `STATES`."""
        cases = (When(state=state, then=number) for number, state in enumerate(STATES))
        return Case(*cases, output_field=BigIntegerField())

    def work(self, given: QuerySet[Assignment]) -> QuerySet[Assignment]:
        """What counts of these assignments."""
        return given.exclude(state=Assignment.State.WITHDRAWN)

    def absent(self) -> set[int]:
        """Keys of raters who are not in the report."""
        return set()

    def labels(self) -> QuerySet[Any]:
        """Labels, or what has a label's names."""
        return Label.objects.all()

    def skips(self) -> QuerySet[Any]:
        """Skips, or what has a skip's names."""
        return Skip.objects.all()

    def unreadable(self) -> QuerySet[UnreadableAnswer]:
        return UnreadableAnswer.objects.all()

    def scored(self) -> QuerySet[Label]:
        """Labels that may have scores."""
        return Label.objects.all()

    def has_been(self, at: datetime | None) -> bool:
        """Whether what happened at a time, or never, has happened."""
        return at is not None

    def happened(self, time: str) -> Q:
        """The same as a condition."""
        return Q(**{f"{time}__isnull": False})


@dataclass(frozen=True)
class Then(Now):
    """What stood in the study at a moment.

    Known of then are labels, skips and gold, whole. Of work it is known when it was planned, begun, and submitted, also
    where that was taken back since (`PastSubmission`); of a row when it was withdrawn. What is asked, rows and columns
    are those of now.
    """

    moment: datetime

    @property
    def submitted(self) -> Q:
        """Gold is submitted with each decision."""
        decided = Exists(self.labels().filter(assignment=OuterRef("pk")))
        standing = Q(super().submitted, submitted_at__lte=self.moment)
        return standing | Q(Exists(self._taken_back)) | Q(decided, rater__kind=Rater.Kind.GOLD)

    @property
    def _taken_back(self) -> QuerySet[PastSubmission]:
        """Of work: the submission that stood then and was taken back since."""
        return self._submitted_before.filter(until__gt=self.moment)

    @property
    def _submitted_before(self) -> QuerySet[PastSubmission]:
        """Of work: submissions by then that were taken back, then or since."""
        return PastSubmission.objects.filter(assignment=OuterRef("pk"), submitted_at__lte=self.moment)

    @property
    def state(self) -> Case:
        failed = Exists(
            WorkItem.objects.filter(assignment=OuterRef("pk"), state=WorkItem.State.FAILED, done_at__lte=self.moment)
        )
        return Case(
            When(self.submitted, then=STATES.index(State.SUBMITTED)),
            When(Q(failed, state=State.FAILED), then=STATES.index(State.FAILED)),
            When(self._begun, then=STATES.index(State.STARTED)),
            default=STATES.index(State.OPEN),
            output_field=BigIntegerField(),
        )

    @property
    def _begun(self) -> Q:
        """Who clears what is clear leaves an event, and has begun nothing."""
        changed = self._touched.exclude(
            before=None, value_before=None, skip_before="", after=None, value_after=None, skip_after=""
        )
        submitted = Q(submitted_at__lte=self.moment) | Q(Exists(self._submitted_before))
        return Q(started_at__lte=self.moment) | submitted | Q(Exists(changed))

    @property
    def _touched(self) -> QuerySet[LabelEvent]:
        """The changes of a piece of work by then."""
        return LabelEvent.objects.filter(assignment=OuterRef("pk"), at__lte=self.moment)

    def work(self, given: QuerySet[Assignment]) -> QuerySet[Assignment]:
        """What was there. Of what was given without a plan: to judges by a run, to a crowd when it came; what came in a
        file was begun then. Withdrawn work is left out, but for what went with a row that was withdrawn since."""
        with_its_row = Q(handed_to=None, started_at=None, row__withdrawn_at__gt=self.moment)
        came_since = Participant.objects.filter(rater=OuterRef("rater"), came_at__gt=self.moment)
        by_hand = Q(plan=None, rater__kind=Rater.Kind.PERSON, rater__user__isnull=False) & ~Q(Exists(came_since))
        by_a_run = WorkItem.objects.filter(assignment=OuterRef("pk"), run__started_at__lte=self.moment)
        return given.filter(
            ~Q(state=State.WITHDRAWN) | with_its_row,
            Q(plan__applied_at__lte=self.moment) | self._begun | Exists(self._touched) | by_hand | Exists(by_a_run),
        )

    def absent(self) -> set[int]:
        """Whoever has work now and had none. Two queries."""
        given = Assignment.objects.filter(rater__study=self.study)
        now, then = super().work(given), self.work(given)
        return {*_raters(now)} - {*_raters(then)}

    def labels(self) -> QuerySet[Any]:
        """Whether a label that was changed since was given after a look is told by the looks."""
        shown = ExperimentSeat.objects.filter(assignment=OuterRef("assignment"), shown=True)
        looked = Look.objects.filter(
            sheet=OuterRef("assignment__row__sheet"), user=OuterRef("assignment__rater__user"), at__lt=OuterRef("given")
        )
        unchanged = Subquery(self.scored().filter(**_CELL).values("exposed")[:1])
        by_looks = Case(
            When(drafted_from__isnull=False, then=True),
            When(preset=True, then=False),
            When(Exists(shown) | Exists(looked), then=True),
            default=False,
            output_field=BooleanField(),
        )
        another = _told(_OF_CELL.filter(number__lt=OuterRef("pk")))
        another = another.exclude(chosen=OuterRef("chosen"), written=OuterRef("written"))
        another = another.order_by("-number").values("pk")
        restored = _OF_CELL.filter(number__gt=OuterRef("other"), number__lte=OuterRef("pk"), restored_to__isnull=False)
        first = _OF_CELL.filter(number__gt=OuterRef("other_then")).order_by("number")
        answered = self._last().filter(Q(after__isnull=False) | Q(value_after__isnull=False))
        labels: QuerySet[Any] = (
            _told(answered)
            .annotate(other=Coalesce(Subquery(another[:1]), 0))
            # What was restored was given by the moment that it was restored to.
            .annotate(back_to=Coalesce(Subquery(restored.order_by("-number").values("restored_to")[:1]), self.moment))
            .annotate(other_then=Coalesce(Subquery(another.filter(at__lte=OuterRef("back_to"))[:1]), 0))
            .annotate(given=Subquery(first.values("at")[:1]))
            .annotate(
                option_id=F("after_id"),
                value=F("value_after"),
                updated_at=F("at"),
                exposed=Coalesce(unchanged, by_looks),
            )
        )
        return labels

    def skips(self) -> QuerySet[Any]:
        skipped = self._last().exclude(skip_after="").filter(assignment__rater__study=self.study)
        skips: QuerySet[Any] = skipped.annotate(reason=F("skip_after"))
        return skips

    def _last(self) -> QuerySet[LabelEvent]:
        """The last change of each cell by then."""
        later = _OF_CELL.filter(at__lte=self.moment, number__gt=OuterRef("pk"))
        return LabelEvent.objects.filter(~Exists(later), at__lte=self.moment).order_by()

    def unreadable(self) -> QuerySet[UnreadableAnswer]:
        return super().unreadable().filter(assignment__submitted_at__lte=self.moment)

    def scored(self) -> QuerySet[Label]:
        """Those that stand as they stood: of others the scores are not kept."""
        return super().scored().filter(updated_at__lte=self.moment)

    def has_been(self, at: datetime | None) -> bool:
        return at is not None and at <= self.moment

    def happened(self, time: str) -> Q:
        return Q(**{f"{time}__lte": self.moment})


_CELL = {name: OuterRef(name) for name in ("assignment", "column", "question")}
# Events by their cell. Their order is told by a sum: by the keys themselves databases look for it among all events.
_OF_CELL = LabelEvent.objects.filter(**_CELL).annotate(number=F("pk") + 0)


def _told(events: QuerySet[LabelEvent]) -> QuerySet[Any]:
    """With the answers after them, in words that can be held against each other where there is none."""
    written = Coalesce(Cast("value_after", TextField()), Value(""), output_field=TextField())
    told: QuerySet[Any] = events.annotate(chosen=Coalesce("after_id", 0), written=written)
    return told


def _raters(work: QuerySet[Assignment]) -> QuerySet[Any, int]:
    return work.order_by().values_list("rater_id", flat=True).distinct()
