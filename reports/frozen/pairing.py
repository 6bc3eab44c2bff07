"""Two reports of one judge each, told as if it were the same judge, so that their numbers stand beside each other."""

from __future__ import annotations

import re
from dataclasses import replace

from django.utils.translation import gettext as _

from reports.contents import Contents
from reports.data.arrays import Filters
from reports.tables import Head, ReportTable, Value


def same_judge(first: tuple[Contents, Filters], second: tuple[Contents, Filters]) -> tuple[Contents, Contents]:
    """The two as they are; or, where each is of one judge and these are two, or one whose labels are chosen by two
    normalisations, both with “the judge” for its name."""
    (one, of_one), (other, of_other) = first, second
    if len(of_one.judges) != 1 or len(of_other.judges) != 1 or named_judge(of_one) == named_judge(of_other):
        return one, other
    return _called(one, of_one.judges[0]), _called(other, of_other.judges[0])


def named_judge(filters: Filters) -> str:
    """What tells the one judge of a report from that of another."""
    [code] = filters.judges
    anew = filters.normalisations.get(code)
    return f"{code} ({anew})" if anew else code


def _called(contents: Contents, code: str) -> Contents:
    name = _("the judge")
    named = re.compile(rf"(?<!\w){re.escape(code)}(?!\w)(?: \([^)]*\))?")

    def text(value: Value) -> Value:
        """A rater is named by its code, which words in brackets may follow."""
        if isinstance(value, str) and (value == code or value.startswith(f"{code} (")):
            return name
        return value

    def head(of: Head) -> Head:
        key = of.key.replace(f"judge.{code}", "judge")
        return replace(of, key=key, title=str(text(of.title)), group=named.sub(name, of.group))

    def table(of: ReportTable) -> ReportTable:
        return replace(
            of,
            key=of.key.removesuffix(f".{code}") + (".judge" if of.key.endswith(f".{code}") else ""),
            title=named.sub(name, of.title),
            heads=tuple(head(each) for each in of.heads),
            rows=tuple(tuple(text(value) for value in row) for row in of.rows),
        )

    return replace(
        contents,
        parts=tuple(replace(part, tables=tuple(table(each) for each in part.tables)) for part in contents.parts),
    )
