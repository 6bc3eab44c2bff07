"""A table as page, CSV, XLSX, LaTeX and JSON share it: what one reads, one downloads. And what all tables say alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.scheme.spec import Merge, Words
from reports.data.arrays import INCLUDE, PEOPLE, Voice
from reports.numbers.report import QuestionReport, StudyReport
from reports.numbers.values import ValueReport
from reports.words import count, worded

HeadKind = Literal["text", "note", "count", "share", "number"]
Value = str | int | float | None
SMALLEST_P = 0.001


@dataclass(frozen=True)
class Head:
    """A column. `key` names it in JSON, `group` is a heading above several columns.

    The texts of a row name it; a `note` is a remark on it. A `share` is 0 to 1 and shown in per cent.
    """

    key: str
    title: str
    kind: HeadKind = "text"
    group: str = ""

    @property
    def full_title(self) -> str:
        return f"{self.group}: {self.title}" if self.group else self.title

    def is_small(self, value: float) -> bool:
        """Whether the column has p-values, and this one is shown as less than `SMALLEST_P`: none is nothing."""
        has_p = self.key == "p" or self.key.startswith("p_") or self.key.endswith("better")
        return has_p and value < SMALLEST_P


@dataclass(frozen=True)
class ReportTable:
    """`key` names it in files, such as "duties.stated.selections". `how` says how to read it.

    A number that is None with a note in its row is not defined, and the note says why. A row whose first text is
    indented is a part of the row above it.
    """

    key: str
    about: str
    title: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[Value, ...], ...]
    how: str = ""
    folded: bool = False  # on the page, since it is long
    shaded: bool = False  # on the page: grouped counts, by their share of the row
    # Of a confusion table: the judge, and the options' keys of its rows, by which the cells behind a count are found.
    judge: str = ""
    row_keys: tuple[str, ...] = ()

    @property
    def full_title(self) -> str:
        return f"{self.about}: {self.title}" if self.about else self.title

    def row_names(self) -> list[str]:
        """For each row what tells it from the others: the row it is a part of, and all its texts; or its first number,
        such as that of documents, where it has no text."""
        named = []
        for row, whole in zip(self.rows, self.wholes(), strict=True):
            texts = [str(value).strip() for head, value in zip(self.heads, row, strict=True) if head.kind == "text"]
            texts = texts or [str(value) for value in row[:1]]
            named.append(" | ".join(filter(None, [whole, *texts])))
        return named

    def wholes(self) -> list[str]:
        """For each row the name of the row that it is a part of, or ""."""
        whole, wholes = "", []
        for row in self.rows:
            part = str(row[0]).startswith(" ")
            wholes.append(whole if part else "")
            whole = whole if part else str(row[0])
        return wholes


def under(merge: Merge | None, question: QuestionReport, title: str) -> str:
    """The title with what options are counted as one, where the question's scheme leaves a choice."""
    if not question.spec.merges:
        return title
    counted = merge.title if merge else _("all options told apart")
    return f"{title} ({counted})"


def interval_heads(shown: bool, *, key: str = "", group: str = "") -> tuple[Head, ...]:
    """The two columns of an interval, where there are intervals."""
    if not shown:
        return ()
    title = group or _("95 % interval")
    return (Head(f"{key}low", _("from"), "number", title), Head(f"{key}high", _("to"), "number", title))


def statistic_heads(*, intervals: bool = False) -> tuple[Head, ...]:
    return (
        Head("statistic", _("Statistic")),
        Head("value", _("Value"), "number"),
        *interval_heads(intervals),
        Head("rests_on", _("Rests on"), "note"),
        Head("because", _("Not defined because"), "note"),
    )


def exposed_how(report: StudyReport, n: int) -> str:
    """What becomes of the labels that were given after a look at others'."""
    if not n:
        return ""
    if report.filters.exposure == INCLUDE:
        said = worded(
            ngettext(
                "%(n)s label was given after a look at others' and counts like the others.",
                "%(n)s labels were given after a look at others' and count like the others.",
                n,
            ),
            ngettext(
                "%(n)s non-blind label, given after a look at others', counts like the others.",
                "%(n)s non-blind labels, given after a look at others', count like the others.",
                n,
            ),
        )
    else:
        said = worded(
            ngettext(
                "%(n)s label was given after a look at others' and is left out.",
                "%(n)s labels were given after a look at others' and are left out.",
                n,
            ),
            ngettext(
                "%(n)s non-blind label, given after a look at others', is left out.",
                "%(n)s non-blind labels, given after a look at others', are left out.",
                n,
            ),
        )
    return said % {"n": count(n)}


def withdrawn_how(report: StudyReport) -> str:
    """What becomes of withdrawn rows."""
    n, words = report.data.n_withdrawn, report.data.scheme.words
    if not n:
        return ""
    said = ngettext(
        "%(n)s of the %(rows)s was withdrawn: nobody else is asked to label it, but its labels count.",
        "%(n)s of the %(rows)s were withdrawn: nobody else is asked to label them, but their labels count.",
        n,
    )
    return said % {"n": count(n), "rows": words.rows}


def key_of_voice(question: QuestionReport, table: str, voice: Voice) -> str:
    """The key of a table that there is for each voice; people's has none in it."""
    key = f"{question.data.name}.{table}"
    return key if voice.name == PEOPLE else f"{key}.{voice.name}"


def words_of(report: StudyReport) -> Words:
    return report.data.scheme.words


def all_questions_of(report: StudyReport) -> Iterator[QuestionReport | ValueReport]:
    """Those with options and those with values, in the order of the scheme."""
    return (question for section in report.sections for question in section.in_order)


def questions_of(report: StudyReport) -> Iterator[QuestionReport]:
    """Those with options."""
    return (question for section in report.sections for question in section.questions)
