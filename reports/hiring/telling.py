"""What the first page of a report says of certificates: which judge may take over what today, and which may not any
more."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR

from django.utils.translation import gettext as _

from annotation.models import Study
from reports.hiring import queries
from reports.hiring.words import percent, title_of
from reports.models import Certificate
from reports.sentences import Tile


@dataclass(frozen=True)
class Certified:
    """A certificate of a judge on a question. short: for a figure that is read first."""

    text: str
    short: str
    holds: bool
    address: str


def certificates_told(study: Study) -> list[Certified]:
    """Of each judge and question the last certificate that holds, or else the last one; those that hold first. One
    query, and about ten for each."""
    found = Certificate.objects.filter(study=study).defer("labels").order_by("-pk")
    told: dict[tuple[int, int], Certified] = {}
    for certificate in found.select_related("study__scheme", "rater", "question__section__scheme", "revocation"):
        key = (certificate.rater_id, certificate.question_id)
        if key not in told or not told[key].holds:
            of = _told(study, certificate)
            if of.holds or key not in told:
                told[key] = of
    in_order = [*told.values()][::-1]
    return sorted(in_order, key=lambda one: not one.holds)


def _told(study: Study, certificate: Certificate) -> Certified:
    standing = queries.standing_of(certificate)
    values = {
        "judge": certificate.rater.code,
        "question": title_of(study, queries.question_name(certificate.question)),
        "epsilon": percent(certificate.epsilon, ROUND_CEILING),
        "confidence": percent(certificate.confidence, ROUND_FLOOR),
        "coverage": percent(json.loads(certificate.document)["result"]["coverage"]),
        "reason": standing.reason,
    }
    if standing.holds:
        text = _(
            "%(judge)s may take over the cells of “%(question)s” that it is sure of (%(coverage)s %% in the test): at "
            "most %(epsilon)s %% of them are wrong, with %(confidence)s %% confidence."
        )
        short = _("%(judge)s, of what it is sure of in “%(question)s”: at most %(epsilon)s %% wrong")
    elif standing.code == "expired":
        text = _("%(judge)s may take over nothing more of “%(question)s”: its certificate has expired. %(reason)s")
        short = _("the certificate of %(judge)s has expired")
    elif standing.code == "revoked":
        text = _("%(judge)s may take over nothing more of “%(question)s”: its certificate is revoked. %(reason)s")
        short = _("the certificate of %(judge)s is revoked")
    else:  # nobody has said so yet, and the reason may go again
        text = _(
            "%(judge)s may take over nothing more of “%(question)s”: its certificate does not hold now. %(reason)s"
        )
        short = _("the certificate of %(judge)s does not hold now")
    return Certified(text % values, short % values, standing.holds, certificate.get_absolute_url())


def with_certificates(tiles: Sequence[Tile], certified: Sequence[Certified]) -> list[Tile]:
    """The three figures, the last of which says whether a judge may take over: where a certificate holds, in part."""
    if not certified:
        return list(tiles)
    *others, verdict = tiles
    first = certified[0]
    if first.holds:
        under = first.short if not verdict.known else f"{verdict.under}; {first.short}"
        return [*others, replace(verdict, value=verdict.value if verdict.known else _("In part"), under=under)]
    return [*others, replace(verdict, under=f"{verdict.under}; {first.short}")]
