"""Certificates as they travel with exports."""

from __future__ import annotations

from datetime import datetime

from annotation.models import Study
from reports.data.label_table import canonical_json
from reports.models import Certificate


def certificates_of(study: Study, *, before: datetime | None = None) -> dict[str, str]:
    """File name -> content: each certificate of a study, and why it was revoked; `before`: as it was at that time."""
    found: dict[str, str] = {}
    made = Certificate.objects.filter(study=study).select_related("revocation").order_by("pk")
    for certificate in made if before is None else made.filter(created_at__lte=before):
        found[f"{certificate.name}.json"] = certificate.document
        revocation = getattr(certificate, "revocation", None)
        if revocation is not None and (before is None or revocation.at <= before):
            told = {"certificate": certificate.digest, "why": revocation.why, "reason": revocation.reason}
            found[f"{certificate.name}-revoked.json"] = canonical_json(
                {**told, "at": revocation.at.isoformat(timespec="seconds")}
            ).decode()
    return found


def has_certificates(study: Study) -> bool:
    return Certificate.objects.filter(study=study).exists()
