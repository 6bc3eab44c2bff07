"""What a floor above registers with the core when it is loaded, so that no app names one above it.

Tabs of a study's pages, what follows in it, panels of its board, judges that a plan can give work to, the stored page
behind a row, texts that were written for rows, other pages of a sheet, pages about a judge's answer, about labels from
before and after another wording, kinds of evidence block, derivers, scheme files to begin from, and a demo.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.utils.functional import Promise

from annotation.deriving import making
from annotation.deriving.making import SourceText
from annotation.evidence import kinds
from annotation.evidence.blocks import Block
from annotation.models import Role, Row, Sheet, Study, User
from annotation.scheme.words import know_words


@dataclass(frozen=True)
class Tab:
    """`fits`: whether a study has it; a pack's tab is none of every other study's. `home_of`: whose work begins
    there."""

    position: int
    label: Promise | str
    url_name: str
    roles: frozenset[Role]
    fits: Callable[[Study], bool]
    home_of: frozenset[Role] = frozenset()


@dataclass(frozen=True)
class Panel:
    """A page that answers with a piece of HTML, fetched once the board itself is there: a slow one holds nothing up."""

    position: int
    title: Promise | str
    url_name: str


def _every(study: Study) -> bool:
    return True


@dataclass(frozen=True)
class SetupStep:
    """What a manager does before labels come in, as the study's first page lists it.

    `words` may name `%(sheets)s` and `%(rows)s` as the scheme calls them. `is_done` asks one query at most. `optional`:
    a study may do without it. `fits`: whether a study has it, out of its scheme. Of steps with the same `is_done` the
    first is the usual way, and a study may do without the others. `query`: what the address ends with, such as
    “?deriver=…”.
    """

    position: int
    label: Promise | str
    words: Promise | str
    url_name: str
    is_done: Callable[[Study], bool]
    optional: bool = False
    fits: Callable[[Study], bool] = _every
    query: str = ""


@dataclass(frozen=True)
class Next:
    """What a manager does next in a study that stands in a row with others: a sentence, and labels and addresses of the
    ways to do it, the usual one first. Each page of the study has it below its tabs. `waits`: something is at work, and
    another sentence follows by itself; `does`: labels and addresses of what buttons do at once (a POST)."""

    words: Promise | str
    ways: Sequence[tuple[Promise | str, str]]
    waits: bool = False
    does: Sequence[tuple[Promise | str, str]] = ()


@dataclass(frozen=True)
class DemoStep:
    """Something to look at in the demo. `login`: as whom; `find`: its address, or None while it is not there.

    `ticks`: the names of the URLs of which one must have answered for the step to be done.
    """

    key: str
    label: Promise | str
    words: Promise | str
    login: str
    find: Callable[[], str | None]
    ticks: frozenset[str]


@dataclass(frozen=True)
class Demo:
    """A study to try. `build` makes it where it is missing; `logins`: what each of its users may do, by name.

    `way`: what to look at first, in this order. `position`: those that are built first have the lowest.
    """

    build: Callable[[], Study]
    logins: Mapping[str, Promise | str]
    password: str
    way: Sequence[DemoStep] = ()
    position: int = 0


# Labels and addresses of pages about the labels that were given before what a study asks was worded as in a version of
# its scheme, and since. It may ask no query.
WordingPages = Callable[[Study, int], Iterable[tuple[Promise | str, str]]]


@dataclass(frozen=True)
class SheetPage:
    """Another page of a sheet for who labels it, which the grid leads to. `find`: its address, or None where the sheet
    has none; it may ask no query."""

    label: Promise | str
    find: Callable[[Sheet], str | None]


@dataclass(frozen=True)
class SheetText:
    """A text that the columns of a sheet come from, for who labels it. `find`: its blocks, none where the sheet has no
    such text; it may ask one query."""

    label: Promise | str
    find: Callable[[Sheet], Sequence[Block]]


@dataclass(frozen=True)
class AnswerPages:
    """More about answers that judges gave in a cell. `find`: from a study, a column, the key of a question and the
    assignments that were answered there to the page of each that has one; it may ask one query."""

    label: Promise | str
    find: Callable[[Study, int, str, Collection[int]], Mapping[int, str]]


@dataclass(frozen=True)
class Importer:
    """What reads files that somebody brought into a study, of one of `Import.What`; and the page they were brought to.

    `read` is given the item of the `Import` as a `work.actions.Held`, which it finishes, and the files with the names
    that the person knows, opened one after the other. `whole`: they go in all or nothing, as the core's tables do.
    """

    read: Callable[[Any, Iterable[tuple[str, BinaryIO]]], None]
    label: Promise | str
    url_name: str
    whole: bool = False


# The names of the judges that can work in a study; the judge's rater there has its name as its code.
JudgeNames = Callable[[Study], Iterable[str]]
# The raters of a study that are judges at work here, by their numbers in the database; others came with a file.
JudgesAtWork = Callable[[Study], Collection[int]]
# The address of a row's stored page, or None where there is none.
PageFinder = Callable[[Row], str | None]
# The address of a picture of what a row is about, or None where there is none.
PictureFinder = Callable[[Row], str | None]
# The texts that were written for the rows of a study, by the rows' numbers in the database.
TextReader = Callable[[Study], Mapping[int, Sequence[SourceText]]]
# The rows of a study that examples may come from, None for all.
ExampleRows = Callable[[Study], frozenset[int] | None]
# The rows of a study that people have because of what a judge is sure of: they are easier or harder than others.
RowsNotAlike = Callable[[Study], Collection[int]]
# The rows of a study that are no part of what was drawn for it, such as documents that were searched for by an item's
# name: figures leave them out.
RowsApart = Callable[[Study], Collection[int]]
# The codes of raters whose answers are there for people to start from, and judge nothing: figures leave them out.
RatersApart = Callable[[Study], Collection[str]]
# What is done when somebody has everybody's labels of a study from the core, judges' too.
LabelsRead = Callable[[Study, User], None]
# What is taken back with plans, beside assignments, by their keys, in sentences that are true before and after. It may
# ask a query.
WithPlans = Callable[[Collection[int]], Mapping[int, str]]
# What follows in a study for who looks, or None where it stands in no row. It may ask a few queries.
NextFinder = Callable[[Study, User], Next | None]

register_block_kinds = kinds.register
register_deriver = making.register
register_words = know_words

_tabs: list[Tab] = []
_panels: list[Panel] = []
_plan_panels: list[Panel] = []
_example_rows: list[ExampleRows] = []
_rows_not_alike: list[RowsNotAlike] = []
_rows_apart: list[RowsApart] = []
_raters_apart: list[RatersApart] = []
_labels_read: list[LabelsRead] = []
_with_plans: list[WithPlans] = []
_setup_steps: list[SetupStep] = []
_next_finders: list[NextFinder] = []
_judge_names: list[JudgeNames] = []
_judges_at_work: list[JudgesAtWork] = []
_page_finders: list[PageFinder] = []
_picture_finders: list[PictureFinder] = []
_sheet_pages: list[SheetPage] = []
_sheet_texts: list[SheetText] = []
_wording_pages: list[WordingPages] = []
_answer_pages: list[AnswerPages] = []
_text_readers: list[TextReader] = []
_ways_in: list[WayIn] = []
_importers: dict[str, Importer] = {}
_schemes: dict[str, Path] = {}
_demos: list[Demo] = []
_documented: dict[str, str] = {}


def register_tab(
    *,
    position: int,
    label: Promise | str,
    url_name: str,
    roles: set[Role],
    fits: Callable[[Study], bool] = _every,
    home_of: frozenset[Role] = frozenset(),
) -> None:
    """`fits`: whether a study has the tab, out of its scheme; it is asked on each page, so that it may ask no query."""
    _tabs.append(Tab(position, label, url_name, frozenset(roles), fits, home_of))
    _tabs.sort(key=lambda tab: tab.position)


def tabs_for(study: Study) -> list[Tab]:
    """Of a study as `annotation.people.access` gives it, with the roles of whoever looks."""
    return [tab for tab in _tabs if tab.roles & study.roles and tab.fits(study)]


def homes_for(study: Study) -> list[Tab]:
    """The tabs on which the work of whoever looks begins, by their roles; as `tabs_for`."""
    return [tab for tab in tabs_for(study) if tab.home_of & study.roles]


def register_panel(*, position: int, title: Promise | str, url_name: str) -> None:
    _panels.append(Panel(position, title, url_name))
    _panels.sort(key=lambda panel: panel.position)


def panels() -> list[Panel]:
    return list(_panels)


def register_plan_panel(*, position: int, title: Promise | str, url_name: str) -> None:
    """A panel of the plan's page."""
    _plan_panels.append(Panel(position, title, url_name))
    _plan_panels.sort(key=lambda panel: panel.position)


def plan_panels() -> list[Panel]:
    return list(_plan_panels)


def register_example_rows(read: ExampleRows) -> None:
    _example_rows.append(read)


def example_rows(study: Study) -> frozenset[int] | None:
    """The rows that examples for judges, calibration and every choice among judges may come from; None means all.

    What a judge is tested on later has to stay out of it.
    """
    found = [rows for read in _example_rows if (rows := read(study)) is not None]
    return frozenset.intersection(*found) if found else None


def register_rows_not_alike(read: RowsNotAlike) -> None:
    _rows_not_alike.append(read)


def rows_not_alike(study: Study) -> set[int]:
    """The rows that say nothing of how well a judge does on others, by their numbers in the database."""
    return {row for read in _rows_not_alike for row in read(study)}


def register_rows_apart(read: RowsApart) -> None:
    _rows_apart.append(read)


def rows_apart(study: Study) -> set[int]:
    """The rows that figures leave out unless somebody wants them, by their numbers in the database."""
    return {row for read in _rows_apart for row in read(study)}


def register_raters_apart(read: RatersApart) -> None:
    _raters_apart.append(read)


def raters_apart(study: Study) -> set[str]:
    """The raters that figures leave out unless somebody chooses them, by their codes."""
    return {code for read in _raters_apart for code in read(study)}


def register_labels_read(note: LabelsRead) -> None:
    _labels_read.append(note)


def labels_were_read(study: Study, by: User) -> None:
    for note in _labels_read:
        note(study, by)


def register_with_plans(read: WithPlans) -> None:
    _with_plans.append(read)


def goes_with(plans: Collection[int]) -> dict[int, list[str]]:
    """What goes with each of some plans, by its key."""
    told = [read(plans) for read in _with_plans]
    return {plan: [of[plan] for of in told if plan in of] for plan in plans}


def register_setup_step(step: SetupStep) -> None:
    _setup_steps.append(step)
    _setup_steps.sort(key=lambda one: one.position)


def setup_steps() -> list[SetupStep]:
    return list(_setup_steps)


def register_next(find: NextFinder) -> None:
    _next_finders.append(find)


def next_in(study: Study, user: User) -> Next | None:
    if study.archived_at is not None:
        return None
    return next((found for find in _next_finders if (found := find(study, user))), None)


def register_documentation(namespace: str, place: str, of_views: Mapping[str, str] | None = None) -> None:
    """Where the documentation speaks of the pages of a namespace of addresses, "" of those in none: a page of docs/ by
    its name, or what is below a heading there ("plan#the-board"). `of_views`: of single ones another place."""
    _documented[namespace] = place
    _documented.update({f"{namespace}:{view}": at for view, at in (of_views or {}).items()})


def documented(view: str) -> str | None:
    """The place in the documentation that speaks of a page, by the full name of its view."""
    return _documented.get(view) or _documented.get(view.rpartition(":")[0])


def register_judges(names: JudgeNames) -> None:
    _judge_names.append(names)


def judge_names(study: Study) -> list[str]:
    return sorted(name for names in _judge_names for name in names(study))


def register_judges_at_work(read: JudgesAtWork) -> None:
    _judges_at_work.append(read)


def judges_at_work(study: Study) -> set[int]:
    return {rater for read in _judges_at_work for rater in read(study)}


def register_page_finder(find: PageFinder) -> None:
    _page_finders.append(find)


def stored_page(row: Row) -> str | None:
    return next((found for find in _page_finders if (found := find(row))), None)


def register_picture_finder(find: PictureFinder) -> None:
    _picture_finders.append(find)


def picture_of(row: Row) -> str | None:
    return next((found for find in _picture_finders if (found := find(row))), None)


def register_sheet_page(page: SheetPage) -> None:
    _sheet_pages.append(page)


def sheet_pages(sheet: Sheet) -> list[tuple[Promise | str, str]]:
    """Labels and addresses of the other pages of a sheet, whose study and scheme are loaded."""
    return [(page.label, url) for page in _sheet_pages if (url := page.find(sheet)) is not None]


def register_answer_pages(pages: AnswerPages) -> None:
    _answer_pages.append(pages)


def answer_pages(
    study: Study, column: int, question: str, assignments: Collection[int]
) -> dict[int, list[tuple[Promise | str, str]]]:
    """By assignment the labels and addresses of pages with more about its answer in a cell."""
    found: dict[int, list[tuple[Promise | str, str]]] = {}
    for pages in _answer_pages if assignments else ():
        for assignment, url in pages.find(study, column, question, assignments).items():
            found.setdefault(assignment, []).append((pages.label, url))
    return found


@dataclass(frozen=True)
class WayIn:
    """Another way in for rows than the tables of *Import*, which leads there: a sentence, and labels with the names of
    their addresses. `fits`: whether a study may have such rows."""

    words: Promise | str
    ways: Sequence[tuple[Promise | str, str]]
    fits: Callable[[Study], bool] = _every


def register_way_in(way: WayIn) -> None:
    _ways_in.append(way)


def ways_in(study: Study) -> list[WayIn]:
    return [way for way in _ways_in if way.fits(study)]


def register_importer(what: str, importer: Importer) -> None:
    """`what`: one of `Import.What`, other than the tables that the core reads itself."""
    _importers[what] = importer


def importer(what: str) -> Importer | None:
    return _importers.get(what)


def register_wording_pages(pages: WordingPages) -> None:
    _wording_pages.append(pages)


def wording_pages(study: Study, version: int) -> list[tuple[Promise | str, str]]:
    return [page for pages in _wording_pages for page in pages(study, version)]


def register_sheet_text(text: SheetText) -> None:
    _sheet_texts.append(text)


def sheet_text(sheet: Sheet) -> tuple[Promise | str, Sequence[Block]] | None:
    """The label and the blocks of the text that a sheet's columns come from; None where it has none."""
    return next(((text.label, blocks) for text in _sheet_texts if (blocks := text.find(sheet))), None)


def register_texts(read: TextReader) -> None:
    _text_readers.append(read)


def texts_of(study: Study) -> dict[int, Sequence[SourceText]]:
    """{row: the texts that were written for it}"""
    return {row: of_row for read in _text_readers for row, of_row in read(study).items()}


def register_scheme(file: Path) -> None:
    """`file` is a scheme file to begin from; its name without the ending is what it goes by."""
    _schemes[file.stem] = file


def shipped_schemes() -> dict[str, Path]:
    """The scheme files that come with the floors above, in alphabetical order."""
    return dict(sorted(_schemes.items()))


def register_demo(demo: Demo) -> None:
    _demos.append(demo)


def demos() -> list[Demo]:
    return sorted(_demos, key=lambda demo: demo.position)
