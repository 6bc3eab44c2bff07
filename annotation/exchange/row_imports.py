"""What all imports share. A file with a problem changes nothing at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation import actions
from annotation.actions import Refused
from annotation.exchange import arrivals
from annotation.exchange.tables import MAX_PROBLEMS_SHOWN, Lines, Problems
from annotation.models import Arrival, Assignment, Column, Label, Rater, Section, Sheet, Study
from annotation.scheme.spec import SectionSpec
from annotation.scheme.words import Words
from base.sentences import Sentence, gettext_noop


class ImportRefused(Refused):
    """Nothing was written.

    Attributes:
        problems: the first `MAX_PROBLEMS_SHOWN` sentences, each with its file and its lines.
        total: how many problems there are, one a line.
        left: how many of them no sentence of `problems` covers.
    """

    def __init__(self, *found: Problems) -> None:
        self.total = sum(problems.total for problems in found)
        shown = [
            (problems, sentence, lines)
            for problems in found
            for sentence, lines in sorted(problems.shown.items(), key=lambda item: min(item[1].first))
        ][:MAX_PROBLEMS_SHOWN]
        self.problems = [_named(*item) for item in shown]
        self.left = self.total - sum(lines.total for _problems, _sentence, lines in shown)
        super().__init__(
            ngettext(
                "The import has %(n)s problem, so nothing was changed.",
                "The import has %(n)s problems, so nothing was changed.",
                self.total,
            )
            % {"n": self.total}
        )


def problems_text(refused: ImportRefused) -> str:
    """The refusal as lines of text."""
    left = [_("… and %(n)s more.") % {"n": refused.left}] if refused.left else []
    return "\n".join([str(refused), *refused.problems, *left])


def _named(problems: Problems, sentence: Sentence, lines: Lines) -> str:
    if problems.parts:
        places = [_in_part(*problems.part_of(line)) for line in sorted(lines.first)]
        places += ["…"] if lines.total > len(places) else []
        where = {"file": problems.file, "places": "; ".join(places), "sentence": translated(sentence)}
        return _("%(file)s, %(places)s: %(sentence)s") % where
    numbers = ", ".join(str(line) for line in sorted(lines.first))
    values = {"file": problems.file, "sentence": translated(sentence), "line": numbers, "n": lines.total}
    if lines.first == [0]:
        return _("%(file)s: %(sentence)s") % values
    if lines.total == 1:
        return _("%(file)s, line %(line)s: %(sentence)s") % values
    if lines.total == len(lines.first):
        return _("%(file)s, lines %(line)s: %(sentence)s") % values
    return _("%(file)s, %(n)s lines (%(line)s, …): %(sentence)s") % values


def _in_part(name: str, line: int) -> str:
    return _("%(file)s line %(line)s") % {"file": name, "line": line} if line else name


def translated(sentence: Sentence) -> str:
    return _(sentence.template) % dict(sentence.numbers)


class Unresolved(Exception):
    """A line names something that the study has not; the caller knows the line."""

    def __init__(self, template: str, **values: int | str) -> None:
        self.template, self.values = template, values


_WORDS = Words(row="row", rows="rows")  # as files call them


@dataclass
class Imported:
    """What an import did, in counts."""

    sheets: int = 0
    rows: int = 0
    filled: int = 0  # rows that lacked something of what the file says, as those that an import of labels makes
    columns: int = 0
    raters: int = 0
    labels: int = 0
    presets: int = 0  # answers that the scheme's rules filled in beside those of the file
    changed: int = 0
    cleared: int = 0  # answers that a changed one switched off
    warned: int = 0  # answers that the scheme warns of, each once
    unchanged: int = 0  # what the file says and the study had already
    empty: int = 0  # cells of the file without an answer
    unmarked: int = 0  # answers to which words could be marked in a text, and none were
    raters_of_files: tuple[str, ...] = ()  # who answered, as files are called
    unread: tuple[str, ...] = field(default=())  # headings that mean nothing here
    textless: bool = False  # no heading of a file of rows names a text, and one that is not read may be meant to

    @property
    def lacks_texts(self) -> bool:
        """Whether rows came in that raters would find empty."""
        return bool(self.rows and self.textless)

    @property
    def nothing_new(self) -> bool:
        return not (
            self.sheets
            or self.rows
            or self.filled
            or self.columns
            or self.raters
            or self.labels
            or self.presets
            or self.changed
        )

    def sentences(self, words: Words = _WORDS) -> list[str]:
        """What happened, for the person who imported; sheets and rows as `words` call them."""
        words = words.translated()
        sheets = {"n": self.sheets, "sheet": words.sheet, "sheets": words.sheets}
        rows = {"n": self.rows, "row": words.row, "rows": words.rows}
        new = [
            ngettext("%(n)s %(sheet)s", "%(n)s %(sheets)s", self.sheets) % sheets if self.sheets else "",
            ngettext("%(n)s %(row)s", "%(n)s %(rows)s", self.rows) % rows if self.rows else "",
            ngettext("%(n)s column", "%(n)s columns", self.columns) % {"n": self.columns} if self.columns else "",
            ngettext("%(n)s rater", "%(n)s raters", self.raters) % {"n": self.raters} if self.raters else "",
            ngettext("%(n)s label", "%(n)s labels", self.labels) % {"n": self.labels} if self.labels else "",
        ]
        said = []
        if self.nothing_new and not self.unchanged:
            said.append(_("Nothing came in: below its headings the file says nothing."))
        elif self.nothing_new:
            said.append(_("Nothing new: all that the file says is in the study already."))
        elif listed := ", ".join(part for part in new if part):
            said.append(_("New: %(list)s.") % {"list": listed})
        for n, sentence in (
            (self.filled, _("Rows that were there, and have what they lacked from the file now: %(n)s.")),
            (self.presets, _("Filled in by the rules of the scheme: %(n)s.")),
            (self.changed, _("Labels changed: %(n)s.")),
            (self.warned, _("Labels that a check of the scheme warns of: %(n)s.")),
            (self.cleared, _("Labels cleared, because they are not asked any more: %(n)s.")),
            (self.unchanged if not self.nothing_new else 0, _("In the study already: %(n)s.")),
            (self.empty, _("Cells without an answer: %(n)s.")),
            (
                0 if self.nothing_new else self.unmarked,
                _("Texts in which nothing is marked, as somebody's answer: %(n)s."),
            ),
        ):
            if n:
                said.append(sentence % {"n": n})
        if self.raters_of_files:
            named = ", ".join(self.raters_of_files)
            said.append(_("Who answered, by the names of files: %(raters)s.") % {"raters": named})
        if self.unread:
            said.append(_("Not read: %(headings)s.") % {"headings": ", ".join(self.unread)})
        if self.lacks_texts:
            said.append(
                _(
                    "They came without a text, which stands under a heading such as “text”. Import the file again with "
                    "one, and they get it."
                )
            )
        return said


@contextmanager
def one_import(study: Study) -> Iterator[Study]:
    """One transaction, in which no other import writes to this study; yields it with its scheme.

    Raises:
        Refused: another import is at it.
    """
    try:
        with transaction.atomic():
            actions.lock_study(study.pk)
            arrivals.refuse_if_coming(study.pk)
            yield Study.objects.select_related("scheme").get(pk=study.pk)
    except IntegrityError as error:
        raise Refused(changed_meanwhile()) from error


@contextmanager
def in_parts(arrival: Arrival) -> Iterator[None]:
    """An import that comes in parts: taken back if it fails, else shown to its end.

    Raises:
        Refused: something that somebody else wrote meanwhile stands where the file would write.
    """
    try:
        yield
    except BaseException as error:
        arrivals.take_back(arrival)
        if isinstance(error, IntegrityError):
            raise Refused(changed_meanwhile()) from error
        raise
    arrivals.go_on(arrival)


def changed_meanwhile() -> str:
    return _("Somebody else changed the study during the import. Nothing of the file was written; import it again.")


# --- sheets and columns, as all imports find or make them -----------------------------------------------------------


class Sheets:
    """The sheets of a study by title. Those that are missing are planned if `create`: they are made later, and their
    keys are negative until then."""

    def __init__(self, study: Study, imported: Imported, *, create: bool) -> None:
        self.study, self.imported, self.create = study, imported, create
        self._last_key = 0
        self.by_title = {sheet.title: sheet for sheet in study.sheets.order_by("position")}

    def get(self, title: str | None) -> Sheet:
        """The sheet called `title`; None, where the file does not say, is the only one, or one named after the study.

        Raises:
            Unresolved: there is none and `create` is off, or it is not clear which.
        """
        if title is None:
            title = next(iter(self.by_title)) if len(self.by_title) == 1 else self.study.title
            if len(self.by_title) > 1 and title not in self.by_title:
                raise Unresolved(
                    gettext_noop("The study has %(n)s sheets. Add a column “sheet” to the file."), n=len(self.by_title)
                )
        if sheet := self.by_title.get(title):
            return sheet
        if not title:
            raise Unresolved(gettext_noop("This line names no sheet."))
        if not self.create:
            raise Unresolved(
                gettext_noop("The study has no sheet “%(sheet)s”. Correct the name, or let the import create it."),
                sheet=title,
            )
        check_length(title, 200)
        self.by_title[title] = sheet = Sheet(pk=self.key(), study=self.study, title=title)
        self.imported.sheets += 1
        return sheet

    def key(self) -> int:
        """One that nothing planned has yet."""
        self._last_key -= 1
        return self._last_key

    @property
    def planned(self) -> list[Sheet]:
        return [sheet for sheet in self.by_title.values() if sheet.pk < 0]


def check_length(text: str, limit: int) -> None:
    if len(text) > limit:
        raise Unresolved(
            gettext_noop("“%(start)s…” is too long: at most %(limit)s characters fit."), start=text[:40], limit=limit
        )


def check_address(url: str) -> None:
    """An address that a row may lead to, or none."""
    check_length(url, 2000)
    if url and not url.startswith(("http://", "https://")):
        raise not_an_address(url)


def not_an_address(url: str) -> Unresolved:
    return Unresolved(gettext_noop("“%(url)s” is no address of a web page (https://…)."), url=url[:100])


def check_facets(facets: Mapping[str, str], spec: SectionSpec) -> dict[str, str]:
    """`facets` with all facets of the section.

    Raises:
        Unresolved: the section has not one of them, or none says anything.
    """
    if unknown := [name for name, text in facets.items() if text and name not in spec.column.facets]:
        raise Unresolved(
            gettext_noop("The section “%(section)s” has no facet “%(facet)s”; it has: %(facets)s."),
            section=spec.key,
            facet=unknown[0],
            facets=", ".join(spec.column.facets),
        )
    whole = {name: facets.get(name, "") for name in spec.column.facets}
    if not any(whole.values()):
        raise Unresolved(
            gettext_noop("This line says nothing for the section “%(section)s”; its facets are: %(facets)s."),
            section=spec.key,
            facets=", ".join(spec.column.facets),
        )
    check_length(column_name(whole), 400)
    return whole


def column_name(facets: Mapping[str, str]) -> str:
    return " · ".join(text for text in facets.values() if text)


def add_columns(
    *, sheet: Sheet, section: Section, present: Sequence[Column], facets: Sequence[Mapping[str, str]]
) -> list[Column]:
    """Append columns to the ones `present` in a section of a sheet, and return all; the new ones are last.

    The single blank column that a section has while nothing is looked for makes way, unless it is labelled.
    """
    left, new, gone = more_columns(sheet=sheet, section=section, present=present, facets=facets)
    Column.objects.filter(pk__in=[column.pk for column in gone]).delete()
    return left + Column.objects.bulk_create(new)


def more_columns(
    *,
    sheet: Sheet,
    section: Section,
    present: Sequence[Column],
    facets: Sequence[Mapping[str, str]],
    positions: Sequence[int] | None = None,
    keep_blank: bool = False,
) -> tuple[list[Column], list[Column], list[Column]]:
    """What `add_columns` would do: the columns that stay, those that come, those that go. Writes nothing."""
    left, gone = list(present), []
    if len(left) == 1 and not left[0].name and not keep_blank and not Label.objects.filter(column=left[0].pk).exists():
        gone.append(left.pop())
    if positions is None:
        first = max((column.position for column in left), default=-1) + 1
        positions = range(first, first + len(facets))
    new = [
        Column(sheet=sheet, section=section, position=position, name=column_name(whole), facets=dict(whole))
        for position, whole in zip(positions, facets, strict=True)
    ]
    return left, new, gone


COLUMNS_STAND = gettext_noop(
    "“%(sheet)s” is being labelled, so its columns stay as they are, and “%(column)s” is none of them. "
    "Correct the name, or use another sheet."
)


def find_section(sections: Mapping[str, Section], key: str | None) -> Section:
    """The section `key`, or called so; the only one where the file has no such column.

    Raises:
        Unresolved: there is none of that name, or several to choose from.
    """
    if not key and len(sections) == 1:
        return next(iter(sections.values()))
    found = [section for section in sections.values() if key in (section.key, section.title)]
    if not found and not key:
        raise Unresolved(
            gettext_noop("The study has several sections, and a column “section” must say which: %(sections)s."),
            sections=", ".join(sections),
        )
    if not found:
        raise Unresolved(
            gettext_noop("“%(section)s” is no section of this study; its sections are: %(sections)s."),
            section=key or "",
            sections=", ".join(sections),
        )
    return found[0]


def is_worked_on(sheets: Iterable[Sheet]) -> set[int]:
    """Those of `sheets` (by number) that people with a login, or judges, have assignments on. One query."""
    here = Assignment.objects.filter(
        Q(rater__kind=Rater.Kind.JUDGE) | Q(rater__user__isnull=False), row__sheet__in=[sheet.pk for sheet in sheets]
    )
    return set(here.order_by().values_list("row__sheet", flat=True).distinct())
