"""Which page of a live report has which table: by question, and by what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from django.utils.translation import gettext as _

from reports.contents import Contents
from reports.figures.base import Figure
from reports.tables import ReportTable

Shelf = Literal["question", "judges", "judge-details", "people", "coverage"]

# By the name of a table or figure in its question; what is not here is of the question itself, a pack's tables too.
_SHELVES: Mapping[str, Shelf] = {
    "judges": "judges",
    "models": "judges",
    "alternative": "judges",
    "unreadable": "judge-details",
    "confusion": "judge-details",
    "confusion-of": "judge-details",
    "judge-figures": "judge-details",
    "judge-options": "judge-details",
    "judge-people": "judge-details",
    "two-judges": "judge-details",
    "calibration": "judge-details",
    "reliability": "judge-details",
    "precision-recall": "judge-details",
    "selective": "judge-details",
    "differences": "judge-details",
    "thresholds": "judge-details",
    "shares": "judge-details",
    "consistency": "judge-details",
    "arms": "judge-details",
    "flips": "judge-details",
    "places": "judge-details",
    "candidates": "judge-details",
    "pairs": "people",
    "matrix": "people",
    "coverage": "coverage",
    "coverage-curve": "coverage",
    "coverage-by-sheet": "coverage",
    "verdicts": "coverage",
    "never-found": "coverage",
}
# Those of one judge, whose code ends the key.
_OF_JUDGE = {
    "arms",
    "places",
    "candidates",
    "confusion",
    "confusion-of",
    "flips",
    "judge-options",
    "reliability",
    "precision-recall",
    "differences",
    "thresholds",
    "shares",
}
OVERVIEW = "overview"


@dataclass(frozen=True)
class Group:
    """What stands under one heading. `key` is its anchor; `folded`: on the page it is opened by who wants it."""

    key: str
    title: str
    tables: list[ReportTable] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    folded: bool = False

    def __bool__(self) -> bool:
        return bool(self.tables or self.figures)


@dataclass(frozen=True)
class Topic:
    """A question, the questions of a section together, or what a pack says of one; `key` names it in addresses."""

    key: str
    title: str
    tables: list[ReportTable] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def on(self, shelf: Shelf) -> Group:
        return Group(
            self.key,
            self.title,
            [table for table in self.tables if _shelf(table.key) == shelf],
            [figure for figure in self.figures if _shelf(figure.key) == shelf],
        )

    def judge_groups(self) -> list[Group]:
        """The details about judges: what is of several together, then each judge's own."""
        details = self.on("judge-details")
        together = Group(self.key, _("Judges side by side"))
        of_judge: dict[str, Group] = {}
        items: list[ReportTable | Figure] = [*details.tables, *details.figures]
        for item in items:
            judge = _judge_of(item.key)
            if judge:
                group = of_judge.setdefault(judge, Group(f"{self.key}.{judge}", judge, folded=bool(of_judge)))
            else:
                group = together
            if isinstance(item, ReportTable):
                group.tables.append(item)
            else:
                group.figures.append(item)
        return [group for group in (together, *of_judge.values()) if group]


def _name(key: str) -> str:
    """The name of a table in its question: "confusion" of "duties.stated.confusion.J1"."""
    parts = key.split(".")
    return parts[2] if len(parts) > 2 else parts[-1]


def _shelf(key: str) -> Shelf:
    return _SHELVES.get(_name(key), "question") if key.count(".") > 1 else "question"


def _judge_of(key: str) -> str:
    return key.split(".", 3)[3] if _name(key) in _OF_JUDGE and key.count(".") > 2 else ""


def topics_of(contents: Contents) -> list[Topic]:
    """The topics of a report in its order; not what is of the whole study."""
    found: dict[str, Topic] = {}
    for part in contents.parts:
        if not part.level:
            continue
        of_ratings = part.key.endswith(".benchmark")
        items: list[ReportTable | Figure] = [*part.tables, *part.figures]
        for item in items:
            names = item.key.split(".")
            key = part.key if of_ratings or len(names) < 3 else ".".join(names[:2])
            if key not in found:
                found[key] = Topic(key, _title(contents, part.key, part.title, key))
            if isinstance(item, ReportTable):
                found[key].tables.append(item)
            else:
                found[key].figures.append(item)
    return list(found.values())


def _title(contents: Contents, part: str, title: str, key: str) -> str:
    section = next((of.title for of in contents.parts if of.level == 1 and of.key == key.partition(".")[0]), "")
    if key != part or part.endswith(".benchmark"):
        return title  # of a section with a single question
    if "." in key:
        return f"{section}: {title}" if section and section != title else title
    return _("%(section)s: all questions together") % {"section": title}


def overview_of(contents: Contents) -> ReportTable | None:
    return next((table for table in contents.tables if table.key == OVERVIEW), None)


def closing_of(contents: Contents) -> list[ReportTable]:
    return [table for part in contents.parts if part.key == "who" for table in part.tables]


@dataclass(frozen=True)
class Place:
    """Where a table stands: the name of an address and what it takes besides the study."""

    url_name: str
    arguments: tuple[str, ...] = ()


_PAGES: Mapping[Shelf, str] = {"judges": "reports:judges", "people": "reports:people", "coverage": "reports:coverage"}


def place_of(contents: Contents, key: str) -> Place | None:
    """The page of a table, figure or part of this key; None where there is no such thing."""
    if key == OVERVIEW:
        return Place("reports:questions")
    if key == "who" or key in [table.key for table in closing_of(contents)]:
        return Place("reports:people")
    for topic in topics_of(contents):
        if key == topic.key or key == topic.key.partition(".")[0]:
            return Place("reports:question", (topic.key,))
        for item in _items(topic):
            if item.key == key:
                shelf = _shelf(key)
                if shelf == "judge-details":
                    return Place("reports:judges-on", (topic.key,))
                if shelf == "question":
                    return Place("reports:question", (topic.key,))
                return Place(_PAGES[shelf])
    return None


def _items(topic: Topic) -> Iterator[ReportTable | Figure]:
    yield from topic.tables
    yield from topic.figures


def topic_called(topics: Iterable[Topic], key: str) -> Topic | None:
    return next((topic for topic in topics if topic.key == key), None)
