"""The share of each option in all documents that a hired judge has labelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reports.hiring.cells import judge_cells, part_of
from reports.hiring.documents import clusters_of
from reports.hiring.queries.labels import answer_key, question_name, study_table
from reports.hiring.queries.splitting import names_not_drawn
from reports.models import Certificate, TakeoverRow

if TYPE_CHECKING:
    from reports.stats.hiring.shares import Share


@dataclass(frozen=True)
class OptionShare:
    """Of one option the estimate of its share of all cells that the judge labelled."""

    label: str
    share: Share


def option_shares(certificate: Certificate) -> list[OptionShare]:
    """Prediction-powered shares over all documents that the judge labelled: people label the rest wholly, and of what
    is accepted a drawn part, so the two are estimated apart and put together."""
    from reports.stats.hiring.shares import powered_share

    question = certificate.question
    name = question_name(question)
    table = study_table(certificate.study, judges=[certificate.rater.code], question=name)
    made = judge_cells(table, certificate.rater.code, name)
    spec = question.spec
    if not made.row.size or not spec.options:
        return []
    stratum = (made.score >= certificate.threshold).astype(np.int64)
    mine = TakeoverRow.objects.filter(takeover__certificate=certificate)
    not_drawn = part_of(made.row, table, names_not_drawn(certificate.study, mine))
    # Accepted cells in documents that people have for another cell's sake, or got back, were not drawn.
    known = made.known & ~(not_drawn & (stratum == 1))
    clusters = clusters_of(made, certificate.request["split"]["unit"])
    merged = {
        code
        for code in range(len(spec.options))
        if answer_key(spec, spec.options[code].key, None) != spec.options[code].key
    }
    return [
        OptionShare(
            option.label,
            powered_share(made.right[:, code], made.code == code, known, clusters, stratum=stratum),
        )
        for code, option in enumerate(spec.options)
        if code not in merged and not option.blank
    ]
