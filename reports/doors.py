"""What a floor above adds to reports when it is loaded: tables and figures of its own, and sentences of the first page,
for the schemes that it names; what was published of a scheme's study; and pages beside those of the report.

They stand after the others of their question, on the page, in downloads, in the API and in what is frozen. A frozen
report computes again to the same bytes only while what made it is registered as it was: register a new table for a new
version of a scheme, not for one that reports have been frozen of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.functional import Promise

from annotation.models import Role, Study
from reports.data import frequent

if TYPE_CHECKING:
    from reports.figures.base import Figure
    from reports.numbers.report import QuestionReport, StudyReport
    from reports.numbers.values import ValueReport
    from reports.tables.base import ReportTable

    ValueTables = Callable[[StudyReport, ValueReport], Iterable[ReportTable]]
    Tables = Callable[[StudyReport, QuestionReport], Iterable[ReportTable]]
    Figures = Callable[[StudyReport, QuestionReport], Iterable[Figure]]


@dataclass(frozen=True)
class Sentence:
    """A sentence of the first page. `table`: the key of the table that it rests on; `warns`: it says what the data do
    not allow."""

    text: str
    table: str
    warns: bool = False


@dataclass(frozen=True)
class Told:
    """Sentences under a heading of their own, before all others."""

    title: str
    sentences: tuple[Sentence, ...]


Telling = Callable[["StudyReport"], Told | None]


@dataclass(frozen=True)
class _Part:
    schemes: frozenset[str]
    since: int
    tables: Tables
    figures: Figures
    values: ValueTables
    first: Telling


def _no_values(report: StudyReport, question: ValueReport) -> tuple[()]:
    return ()


def _none(report: StudyReport, question: QuestionReport) -> tuple[()]:
    return ()


def _nothing(report: StudyReport) -> None:
    return None


_parts: list[_Part] = []


def register_part(
    *,
    schemes: Collection[str],
    since: int = 1,
    tables: Tables = _none,
    figures: Figures = _none,
    values: ValueTables = _no_values,
    first: Telling = _nothing,
) -> None:
    """
    Args:
        schemes: keys of the schemes in whose reports they stand.
        since: the first version of these schemes.
        tables, figures: of one question; a figure is of a kind that `reports.figures.svg` draws.
        values: tables of a question that is answered by values.
        first: what the first page says of a report before all else; no part of what is frozen.
    """
    _parts.append(_Part(frozenset(schemes), since, tables, figures, values, first))


def tables_of(report: StudyReport, question: QuestionReport) -> Iterator[ReportTable]:
    return (table for part in _for(report) for table in part.tables(report, question))


def value_tables_of(report: StudyReport, question: ValueReport) -> Iterator[ReportTable]:
    return (table for part in _for(report) for table in part.values(report, question))


def figures_of(report: StudyReport, question: QuestionReport) -> Iterator[Figure]:
    return (figure for part in _for(report) for figure in part.figures(report, question))


def told_of(report: StudyReport) -> Iterator[Told]:
    return (told for part in _for(report) if (told := part.first(report)) is not None)


def registered() -> list[str]:
    """By what the parts are made: what is kept of a report is made anew once it is another."""
    made_by = [of for part in _parts for of in (part.tables, part.figures, part.values, part.first)]
    return [f"{of.__module__}.{getattr(of, '__qualname__', '')}" for of in made_by]


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


# Names and versions of what made the evidence of a study's rows, such as a reader of pages; one query at most.
EvidenceReaders = Callable[[Study], Mapping[str, str]]
_evidence_readers: list[EvidenceReaders] = []


def register_evidence_reader(read: EvidenceReaders) -> None:
    """A certificate of a judge is bound to these versions: another one revokes it."""
    _evidence_readers.append(read)


def evidence_readers(study: Study) -> dict[str, str]:
    return {name: version for read in _evidence_readers for name, version in read(study).items()}


def register_words(read: frequent.Read) -> None:
    """What is written most in the rows of a study: read with the labels, kept in the label table, and told beside the
    ratings of a benchmark."""
    frequent.register(read)


@dataclass(frozen=True)
class Published:
    """What a paper reports of a study under a scheme. `key`: "section.question", or a section for the mean of its
    questions. `kappa`: macro average of Cohen's kappa; `accuracy`: A_h, 0 to 1."""

    key: str
    kappa: float | None
    accuracy: float | None
    source: Promise | str


_published: dict[str, tuple[Published, ...]] = {}


def register_published(*, scheme: str, values: Iterable[Published]) -> None:
    """What others found with this scheme: the first page of a report holds its own figures against it."""
    _published[scheme] = tuple(values)


def published_for(scheme: str) -> tuple[Published, ...]:
    return _published.get(scheme, ())


@dataclass(frozen=True)
class Page:
    """A page of the report, as its navigation lists it."""

    position: int
    label: Promise | str
    url_name: str
    roles: frozenset[Role]
    fits: Callable[[Study], bool]


_pages: list[Page] = []


def _every(study: Study) -> bool:
    return True


def register_page(
    *,
    position: int,
    label: Promise | str,
    url_name: str,
    roles: Collection[Role] = (Role.RESEARCHER, Role.MANAGER),
    fits: Callable[[Study], bool] = _every,
) -> None:
    """A page in the report's navigation: the page of a study at `url_name`. `fits` may ask no query."""
    _pages.append(Page(position, label, url_name, frozenset(roles), fits))
    _pages.sort(key=lambda page: page.position)


def pages_for(study: Study) -> list[Page]:
    return [page for page in _pages if page.fits(study)]
