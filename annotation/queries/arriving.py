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


def is_being_shown(study_id: int) -> bool:
    """Whether some of an import is seen already and some not yet, as SQLite has it for a moment. One query."""
    return Arrival.objects.filter(study=study_id, made__has_key="shown").exists()
