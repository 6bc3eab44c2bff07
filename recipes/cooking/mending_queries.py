"""Reads of how documents were read and mended. Each says how many queries it costs."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from annotation.models import Row, Study
from recipes.cooking.mending_models import Mending
from recipes.cooking.models import Document
from recipes.cooking.pages import doubts

_NUMBERS = ("n_added", "n_dropped", "n_moved", "n_changed")


def digest_of(row: Row) -> str:
    """What tells whether a document's lines are still those that somebody saw."""
    return hashlib.sha256(json.dumps(row.evidence, sort_keys=True).encode()).hexdigest()


def history(row: Row) -> QuerySet[Mending]:
    """The entries of one document, the last one first. One query."""
    return Mending.objects.filter(row=row).select_related("by", "row__sheet").order_by("-pk")


def documents(study: Study) -> QuerySet[Document]:
    """A study's documents without their pages, each with how often it was gone through. One query."""
    return (
        Document.objects.filter(row__sheet__study=study)
        .select_related("row")
        .defer("html_gz")
        .annotate(mendings=Count("row__mendings"))
        .order_by("row__sheet__position", "row__position")
    )


@dataclass
class State:
    """How a document stands. `doubts`: keys; `sentences`: the same for people; empty once a person has looked."""

    doubts: list[str]
    n_mended: int = 0
    n_looked: int = 0

    @property
    def looked_at(self) -> bool:
        return bool(self.n_looked)

    @property
    def sentences(self) -> list[str]:
        return doubts.sentences(self.doubts)


def states(study: Study) -> dict[int, State]:
    """The state of each document of a study by its row. Two queries."""
    found = {
        row: State(list(marks or []))
        for row, marks in Document.objects.filter(row__sheet__study=study).values_list("row_id", "doubts")
    }
    for row, changes in Mending.objects.filter(row__sheet__study=study).values_list("row_id", "changes"):
        state = found.setdefault(row, State([]))
        state.n_looked += 1
        state.n_mended += bool(changes)
    return found


@dataclass
class Share:
    """Of the documents of one site, or of one version of the reader. Lines are counted over all mendings."""

    name: str
    documents: int = 0
    doubtful: int = 0
    looked_at: int = 0
    mended: int = 0
    added: int = 0
    dropped: int = 0
    moved: int = 0
    changed: int = 0


def shares(study: Study) -> tuple[list[Share], list[Share]]:
    """How often readings are mended: by version of the reader, and by site, the most mended first. Two queries."""
    entries: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for entry in Mending.objects.filter(row__sheet__study=study).values("row_id", *_NUMBERS):
        entries[entry["row_id"]].append(entry)
    readers: dict[str, Share] = {}
    hosts: dict[str, Share] = {}
    stored = Document.objects.filter(row__sheet__study=study).values_list("row_id", "reader", "host", "doubts")
    for row, reader, host, marks in stored:
        for share in (readers.setdefault(reader, Share(reader)), hosts.setdefault(host, Share(host))):
            _count(share, marks, entries.get(row, []))
    return sorted(readers.values(), key=lambda share: share.name), sorted(
        hosts.values(), key=lambda share: (-share.mended, -share.doubtful, share.name)
    )


def _count(share: Share, marks: Iterable[str], entries: list[dict[str, Any]]) -> None:
    share.documents += 1
    share.doubtful += bool(marks)
    share.looked_at += bool(entries)
    share.added += sum(entry["n_added"] for entry in entries)
    share.dropped += sum(entry["n_dropped"] for entry in entries)
    share.moved += sum(entry["n_moved"] for entry in entries)
    share.changed += sum(entry["n_changed"] for entry in entries)
    share.mended += any(entry[name] for entry in entries for name in _NUMBERS)
