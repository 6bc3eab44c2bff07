"""What an import that writes in parts has in the tables before it is seen: see `annotation.exchange.arrivals`."""

from __future__ import annotations

from django.db.models import F, Q

from annotation.models import Arrival, Assignment


def arriving(assignment: str = "") -> Q:
    """Withdrawn and handed on to its own rater, which no other assignment is.

    Args:
        assignment: the way from a model to its assignment, as in `arriving("assignment")`.
    """
    way = f"{assignment}__" if assignment else ""
    return Q(**{f"{way}state": Assignment.State.WITHDRAWN, f"{way}handed_to": F(f"{way}rater")})


def coming_rows(study_id: int) -> Q:
    """Rows that an import is bringing, or a dead one has left: withdrawn, and to be seen at its end. One query."""
    found = Q(pk__in=[])
    for made in Arrival.objects.filter(study=study_id).values_list("made", flat=True):
        for first, last in made.get("rows", []):
            found |= Q(pk__range=(first, last))
    return found


def is_being_shown(study_id: int) -> bool:
    """Whether some of an import is seen already and some not yet, as SQLite has it for a moment. One query."""
    return Arrival.objects.filter(study=study_id, made__has_key="shown").exists()
