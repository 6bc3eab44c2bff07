"""One digest of all that a report of a study is made of: what is kept under it is never out of date.

Everything that is small is read and hashed as it is. Labels and assignments are many, so that the database adds them
up: each change of a label moves its revision and the time of its last change, one of an assignment its state or the
time at which it was submitted; a new one has a key that no other had, and one that is gone is missing from the count.
Of many, the digest is kept under the study's mark (`annotation.marks`), which changes with any of them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.cache import caches
from django.db.models import BigIntegerField, Count, F, Max, Q, QuerySet, Sum, TextField, Value
from django.db.models.functions import MD5, Cast

from annotation.marks import mark_of
from annotation.models import Assignment, Column, Label, Rater, Row, Skip, Study
from judges.lineage import queries as lineage
from judges.models import UnreadableAnswer
from judges.queries import sources
from reports.hiring.models import Accepted


def study_digest(study: Study) -> str:
    """SHA-256 of what reports read of a study, whatever their filters. Ten queries, one more where there is a judge
    and one where rows were given in part."""
    raters = list(study.raters.order_by("pk").values_list("pk", "kind", "code", "simulated"))
    parts: list[Iterable[Any]] = [
        [(study.pk, study.slug, study.title, study.scheme_id, study.scheme.version)],
        raters,
        study.sheets.order_by("pk").values_list("pk", "position", "title"),
        Column.objects.filter(sheet__study=study)
        .order_by("pk")
        .annotate(said=Cast("facets", TextField()))
        .values_list("pk", "sheet_id", "section_id", "position", "name", "said"),
        UnreadableAnswer.objects.filter(assignment__rater__study=study)
        .order_by("pk")
        .values_list("pk", "assignment_id", "why"),
        [_many(study)],
        Accepted.objects.filter(takeover__certificate__study=study)
        .order_by("pk")
        .values_list("pk", "assignment_id", "column_id", "question_id"),
    ]
    if any(kind == Rater.Kind.JUDGE for _pk, kind, *_rest in raters):
        parts.append(sorted((code, *source) for code, source in sources(study).items()))
        codes = [code for _pk, kind, code, *_rest in raters if kind == Rater.Kind.JUDGE]
        parts.append([(arm.code, arm.of, arm.turn, arm.reworded, arm.shift) for arm in lineage.arms_in(study, codes)])
    return _hashed(parts)


def _many(study: Study) -> str:
    """SHA-256 of rows, assignments, labels and skips, kept as long as the study has the mark that it had before and
    after they were read."""
    mark = mark_of(study)
    key = f"many-{study.pk}-{study.slug}-{mark}-{_OF_CODE}"
    found: str | None = caches["reports"].get(key) if mark else None
    if found is None:
        labels = _labels(study)
        given = list(_assignments(study))
        of_parts = Assignment.objects.filter(rater__study=study).exclude(sections=[]).order_by("pk")
        skips = Skip.objects.filter(assignment__rater__study=study).order_by("pk")
        found = _hashed(
            [
                _rows(study),
                given,
                of_parts.values_list("pk", "sections") if any(line[-1] for line in given) else (),
                skips.values_list("pk", "assignment_id", "question_id", "reason", "at"),
                [sorted(labels.items())],
            ]
        )
        if mark and labels["n"] >= _KEPT_FROM and mark == mark_of(study):
            caches["reports"].set(key, found)
    return found


def _hashed(parts: Iterable[Iterable[Any]]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        lines = iter(part)
        while some := list(itertools.islice(lines, _CHUNK)):
            digest.update(json.dumps(some, default=str, sort_keys=True).encode() + b"\n")
        digest.update(b"\0")
    return digest.hexdigest()


# Of fewer labels all are added up before a kept digest is read and one more thing has been put into the cache.
_KEPT_FROM = 5_000
_OF_CODE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]

# Keys are added up, and their squares too, so that others in their place do not come to the same; of the squares what
# is left behind this number, so that the sum fits a database's integers.
_SQUARES = 1_000_003
_CHUNK = 20_000


def _rows(study: Study) -> Iterable[Any]:
    """Each row; its facets as they are stored, since to read them takes longer than all else of a row. Where rows are
    written texts, a digest of each: their words are told."""
    rows = Row.objects.filter(sheet__study=study).order_by("pk").annotate(said=Cast("facets", TextField()))
    names = ["pk", "sheet_id", "position", "name", "withdrawn_at", "said"]
    if study.scheme.parsed.benchmark is not None:
        rows = rows.annotate(text=MD5(Cast("evidence", TextField())))
        names.append("text")
    return rows.values_list(*names).iterator(chunk_size=_CHUNK)


def _assignments(study: Study) -> QuerySet[Any, Any]:
    """Of each rater and state what the database adds up: the rater, row and repeat of an assignment never change."""
    given = Assignment.objects.filter(rater__study=study).order_by("rater_id", "state")
    return (
        given.values("rater_id", "state")
        .annotate(
            n=Count("*"),
            keys=Sum("pk"),
            squares=Sum(F("pk") * F("pk") % Value(_SQUARES), output_field=BigIntegerField()),
            last=Max("submitted_at"),
            in_part=Count("pk", filter=~Q(sections=[])),
        )
        .values_list("rater_id", "state", "n", "keys", "squares", "last", "in_part")
    )


def _labels(study: Study) -> dict[str, Any]:
    # By their columns, of which a study has few beside its assignments: to look for a million of those took four times
    # as long.
    return Label.objects.filter(column__in=Column.objects.filter(sheet__study=study)).aggregate(
        n=Count("*"),
        last=Max("pk"),
        keys=Sum("pk"),
        revisions=Sum("revision"),
        changed=Max("updated_at"),
        options=Sum("option_id"),
        exposed=Count("pk", filter=Q(exposed=True)),
    )
