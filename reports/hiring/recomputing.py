"""A certificate computed again from the labels that are frozen with it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from reports.data.label_table import unpacked
from reports.hiring.documents import test_judge
from reports.models import Certificate


@dataclass(frozen=True)
class Recomputed:
    """`equal`: the document came out as the same bytes. `labels_intact`: the labels are those it was given on."""

    equal: bool
    labels_intact: bool
    digest: str


def recompute(certificate: Certificate) -> Recomputed:
    """Raises `label_table.UnknownFormat` when the frozen labels cannot be read."""
    table = unpacked(bytes(certificate.labels))
    content = test_judge(table, certificate.request).content
    return Recomputed(
        equal=content == certificate.document.encode() and hashlib.sha256(content).hexdigest() == certificate.digest,
        labels_intact=table.digest == certificate.data_digest,
        digest=hashlib.sha256(content).hexdigest(),
    )
