"""What a floor above adds to reports when it is loaded: tables and figures of its own, for the schemes that it names.

They stand after the others of their question, on the page, in downloads, in the API and in what is frozen. A frozen
report computes again to the same bytes only while what made it is registered as it was: register a new table for a new
version of a scheme, not for one that reports have been frozen of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.functional import Promise

from annotation.models import Role

if TYPE_CHECKING:
    from reports.figures.base import Figure
    from reports.numbers.report import QuestionReport, StudyReport
    from reports.numbers.values import ValueReport
    from reports.tables.base import ReportTable

    ValueTables = Callable[[StudyReport, ValueReport], Iterable[ReportTable]]
    Tables = Callable[[StudyReport, QuestionReport], Iterable[ReportTable]]
    Figures = Callable[[StudyReport, QuestionReport], Iterable[Figure]]


@dataclass(frozen=True)
class _Part:
    schemes: frozenset[str]
    since: int
    tables: Tables
    figures: Figures
    values: ValueTables


def _no_values(report: StudyReport, question: ValueReport) -> tuple[()]:
    return ()


def _none(report: StudyReport, question: QuestionReport) -> tuple[()]:
    return ()


_parts: list[_Part] = []


def register_part(
    *,
    schemes: Collection[str],
    since: int = 1,
    tables: Tables = _none,
    figures: Figures = _none,
    values: ValueTables = _no_values,
) -> None:
    """
    Args:
        schemes: keys of the schemes in whose reports they stand.
        since: the first version of these schemes.
        tables, figures: of one question; a figure is of a kind that `reports.figures.svg` draws.
        values: tables of a question that is answered by values.
    """
    _parts.append(_Part(frozenset(schemes), since, tables, figures, values))


def tables_of(report: StudyReport, question: QuestionReport) -> Iterator[ReportTable]:
    return (table for part in _for(report) for table in part.tables(report, question))


def value_tables_of(report: StudyReport, question: ValueReport) -> Iterator[ReportTable]:
    return (table for part in _for(report) for table in part.values(report, question))


def figures_of(report: StudyReport, question: QuestionReport) -> Iterator[Figure]:
    return (figure for part in _for(report) for figure in part.figures(report, question))


def _for(report: StudyReport) -> Iterator[_Part]:
    scheme = report.data.scheme
    return (part for part in _parts if scheme.key in part.schemes and scheme.version >= part.since)


@dataclass(frozen=True)
class ItemAction:
    """What can be done about items that were not found, such as searching for them by name: a page of the study at
    `url_name`, which is asked for as `?column=PK&column=PK`, the columns that somebody ticked."""

    label: Promise | str
    url_name: str
    roles: frozenset[Role]


_item_actions: list[ItemAction] = []


def register_item_action(*, label: Promise | str, url_name: str, roles: Collection[Role]) -> None:
    _item_actions.append(ItemAction(label, url_name, frozenset(roles)))


def item_actions_for(roles: Collection[Role]) -> list[ItemAction]:
    return [action for action in _item_actions if action.roles & set(roles)]
