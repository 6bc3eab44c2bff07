"""Where the gold's answers come from."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, OuterRef, QuerySet, Subquery, When

from annotation.models import Label, LabelEvent, Rater


def with_decider(labels: QuerySet[Label]) -> QuerySet[Any]:
    """Labels with `decided_by`: who decided a label of the gold in the lens; None where it came from a file, and of
    other labels."""
    cell = {name: OuterRef(name) for name in ("assignment", "column", "question")}
    last = LabelEvent.objects.filter(**cell).order_by("-pk").values("by")[:1]
    of_gold = When(assignment__rater__kind=Rater.Kind.GOLD, then=Subquery(last))
    decided: QuerySet[Any] = labels.annotate(decided_by=Case(of_gold))
    return decided
