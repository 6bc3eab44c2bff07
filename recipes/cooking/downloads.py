"""What searches have brought, as files: all hits with their fates, the fetched pages as they came."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from django.conf import settings
from django.http import StreamingHttpResponse
from django.utils import timezone

from annotation.exchange.tables import safe_cell
from annotation.models import Study
from recipes.cooking import retrieval_queries as queries
from recipes.cooking.web import archive

HEADINGS = (
    "sheet", "item", "engine", "query", "asked_at", "rank", "url", "title", "state", "reason", "document", "opt_outs",
    "near", "resemblance", "final_url", "status", "fetched_at", "sha256", "ingredients", "steps", "decided_by",
)  # fmt: skip


def hits(study: Study) -> StreamingHttpResponse:
    """All hits of a study with their fates and opt-outs."""
    writer = csv.writer(_Echo())
    lines = (writer.writerow(line) for line in _lines(study))
    answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{study.slug}-hits.csv"'
    return answer


class _Echo:
    """A file whose writer hands each line on."""

    def write(self, line: str) -> str:
        return line


def _lines(study: Study) -> Iterator[tuple[object, ...]]:
    yield HEADINGS
    for hit in queries.hits(study).iterator(chunk_size=500):
        search, page = hit.search, getattr(hit, "fetched", None)
        line: tuple[object, ...] = (
            search.sheet.title,
            search.column.name if search.column else "",
            search.engine,
            search.query,
            search.asked_at.isoformat() if search.asked_at else "",
            hit.rank,
            hit.url,
            hit.title,
            hit.state,
            hit.reason,
            hit.document.row.name if hit.document else "",
            "; ".join(f"{one['kind']} ({one['where']}): {one['said']}" for one in hit.opt_outs),
            hit.near.row.name if hit.near else "",
            f"{hit.resemblance:.3f}" if hit.near else "",
            *(
                (page.url, page.status, page.fetched_at.isoformat(), page.sha256, page.n_ingredients, page.n_steps)
                if page is not None
                else ("",) * 6
            ),
            hit.decided_by.username if hit.decided_by else "",
        )
        yield tuple(safe_cell(cell) if isinstance(cell, str) else cell for cell in line)


def pages(study: Study) -> StreamingHttpResponse:
    """The fetched pages of a study as one file of WARC records."""
    name = f"{study.slug}-{timezone.now():%Y%m%d}.warc.gz"
    opening = archive.info(name=name, software=settings.PALATE_USER_AGENT, about=f"pages fetched for “{study.title}”")

    def parts() -> Iterator[bytes]:
        yield opening
        yield from queries.records(study)

    answer = StreamingHttpResponse(parts(), content_type="application/warc")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
