"""Two reports side by side: two moments, two judges, two filters; what differs, in groups, and by what filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from annotation.actions import Refused
from annotation.forms.fields import field_of
from annotation.models import Role, Study
from annotation.people.access import AppRequest, for_roles
from reports import topics
from reports.contents import Contents, read_contents
from reports.data.arrays import Filters, worded
from reports.forms import FiltersForm, not_understood
from reports.frozen.comparison import Comparison, NumberChange, compare_with_intervals
from reports.frozen.pairing import named_judge, same_judge
from reports.live import Live
from reports.models import Report
from reports.tables import Head, ReportTable, Value
from reports.tables.overview import stood_on
from reports.tables.rounding import kept
from reports.views.pages import csv_of

_OPEN = 1  # groups that stand open; who wants the others opens them
_MOST_LINES = 200  # of one table


@dataclass(frozen=True)
class Side:
    """One of the two reports. `frozen`: it was kept; None as the study stands."""

    title: str
    contents: Contents
    filters: Filters
    frozen: Report | None = None


@dataclass(frozen=True)
class TableChanges:
    """What differs in one table."""

    table: ReportTable
    changes: Sequence[NumberChange]
    n_left_out: int


@dataclass(frozen=True)
class ChangedGroup:
    key: str
    title: str
    tables: Sequence[TableChanges]
    n: int
    open: bool


@dataclass(frozen=True)
class Said:
    """One line of what the two reports are of. `differs`: the two do not say the same."""

    name: str
    first: str
    second: str

    @property
    def differs(self) -> bool:
        return self.first != self.second


def of_frozen(report: Report) -> Side:
    return Side(report.title, read_contents(report.results), Filters.from_json(report.filters), report)


def compared(first: Side, second: Side) -> dict[str, Any]:
    """What the page of a comparison shows."""
    one, other = same_judge((first.contents, first.filters), (second.contents, second.filters))
    found = compare_with_intervals(one, other)
    groups = _groups(found, one, other)
    return {
        "first": first,
        "second": second,
        "names": _names(first, second),
        "compared": found,
        "groups": groups,
        "said": _said(first, second),
        "same_data": bool(first.frozen and second.frozen and first.frozen.data_digest == second.frozen.data_digest),
    }


def differences(first: Side, second: Side) -> ReportTable:
    """All that differs, a number a line: what the page shows, and what it leaves out of long tables."""
    one, other = same_judge((first.contents, first.filters), (second.contents, second.filters))
    heads = [Head("table", _("Table")), Head("row", _("Row")), Head("number", _("Number"))]
    for key, name in zip(("first", "second"), _names(first, second), strict=True):
        heads += [
            Head(key, _("Value"), "number", name),
            Head(f"{key}_low", _("from"), "number", name),
            Head(f"{key}_high", _("to"), "number", name),
        ]
    heads.append(Head("difference", _("Difference"), "number"))
    rows = tuple(_difference(change) for change in compare_with_intervals(one, other).changes)
    return ReportTable("differences", "", _("What differs"), tuple(heads), rows)


def _difference(change: NumberChange) -> tuple[Value, ...]:
    first, second = (_("not in it") if change.only_in == other else None for other in ("second", "first"))
    by = change.difference
    return (
        change.table.full_title,
        change.row,
        change.head.full_title,
        first or change.first,
        *(change.first_ends or (None, None)),
        second or change.second,
        *(change.second_ends or (None, None)),
        kept(by) if isinstance(by, float) else by,
    )


def _names(first: Side, second: Side) -> tuple[str, str]:
    """How the columns are headed: by the judges where there is one each, by the titles where they differ."""
    if all(len(side.filters.judges) == 1 for side in (first, second)):
        one, other = (named_judge(side.filters) for side in (first, second))
        if one != other:
            return one, other
    if first.title != second.title:
        return first.title, second.title
    if first.filters.wording != second.filters.wording:
        return _of_wording(first.filters), _of_wording(second.filters)
    return _("First"), _("Second")


def _of_wording(filters: Filters) -> str:
    if filters.of_wording is None:
        return _("all wordings")
    since, version = filters.of_wording
    said = _("from version %(version)s on") if since else _("before version %(version)s")
    return said % {"version": version}


def before_and_since(study: Study, version: int) -> str:
    """The address of a comparison of the labels from before a version of the scheme with those since."""
    sides = {"a-wording": worded(version, since=False), "b-wording": worded(version, since=True)}
    query = urlencode({**sides, "a-by": "document", "b-by": "document"})
    return f"{reverse('reports:compare-live', args=[study.slug])}?{query}"


def _said(first: Side, second: Side) -> list[Said]:
    """What the reports are of, filter by filter; where only one has a filter, the other has everything."""
    one, other = dict(first.contents.about), dict(second.contents.about)
    names = list(dict.fromkeys([*one, *other]))
    without = {_("As it stood on"): _("as the study stands")}
    everything = _("everything")
    return [Said(name, *(of.get(name, without.get(name, everything)) for of in (one, other))) for name in names]


def _groups(found: Comparison, first: Contents, second: Contents) -> list[ChangedGroup]:
    """The changes by what they are about: the study as a whole, then each question."""
    titles = {topic.key: topic.title for of in (second, first) for topic in topics.topics_of(of)}
    by_group: dict[str, dict[str, list[NumberChange]]] = {}
    for change in found.changes:
        key = change.table.key
        topic = ".".join(key.split(".")[:2])
        group = topic if topic in titles else key.partition(".")[0]
        if group not in titles:
            group = "whole"
        by_group.setdefault(group, {}).setdefault(key, []).append(change)
    order = ["whole", *titles]
    groups: list[ChangedGroup] = []
    for key in sorted(by_group, key=order.index):
        tables = [
            TableChanges(changes[0].table, changes[:_MOST_LINES], max(len(changes) - _MOST_LINES, 0))
            for changes in by_group[key].values()
        ]
        n = sum(len(changes) for changes in by_group[key].values())
        groups.append(ChangedGroup(key, titles.get(key, _("At a glance")), tables, n, len(groups) < _OPEN))
    return groups


class MomentForm(forms.Form):
    """What a side is of: what is frozen, or the study's labels."""

    moment = forms.ModelChoiceField(
        label=gettext_lazy("Frozen report"),
        queryset=Report.objects.none(),
        required=False,
        empty_label=gettext_lazy("none"),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field_of(self, "moment", forms.ModelChoiceField).queryset = study.reports.defer("labels", "results")


@dataclass(frozen=True)
class Choice:
    """How one side is chosen: what is frozen, or filters of the study's labels."""

    prefix: str
    title: str
    moment: MomentForm
    filters: FiltersForm

    @property
    def opens(self) -> bool:
        """Whether a filter is not understood that stands among what goes in."""
        return bool(self.filters.errors.keys() - {"as_of"})


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def compare_live(request: AppRequest, study: Study, form: str = "") -> HttpResponse:
    """Two sides chosen on the page; nothing is frozen for it. `form` "csv": all that differs, as a spreadsheet reads
    it."""
    asked = any(name.startswith(("a-", "b-")) for name in request.GET)
    choices = [_choice(request, study, prefix, asked) for prefix in ("a", "b")]
    context: dict[str, Any] = {"study": study, "choices": choices, "asked": asked, "here": "reports:compare-live"}
    if asked or form:
        sides = [side for choice in choices if (side := _side(study, choice)) is not None]
        if len(sides) == 2:
            if form == "csv":
                return csv_of(differences(*sides))
            csv = f"{reverse('reports:compare-live-csv', args=[study.slug])}?{request.GET.urlencode()}"
            context |= {"csv": csv, **compared(*sides)}
        elif form == "csv":
            return not_understood(*chain.from_iterable((choice.moment, choice.filters) for choice in choices))
    return render(request, "reports/compare.html", context)


def _choice(request: AppRequest, study: Study, prefix: str, asked: bool) -> Choice:
    data = request.GET if asked else None
    title = _("First") if prefix == "a" else _("Second")
    return Choice(
        prefix,
        title,
        MomentForm(data, study=study, prefix=prefix),
        FiltersForm(data, study=study, prefix=prefix),
    )


def _side(study: Study, choice: Choice) -> Side | None:
    if not choice.moment.is_valid():
        return None
    frozen: Report | None = choice.moment.cleaned_data["moment"]
    if frozen is not None:
        if choice.filters["as_of"].value():
            choice.filters.add_error("as_of", _("A frozen report stays as it was frozen: leave this empty."))
            return None
        return of_frozen(frozen)
    if not choice.filters.is_valid():
        return None
    filters = choice.filters.filters()
    try:
        live = Live(study).made(filters)
    except Refused as refused:
        choice.filters.add_error(None, str(refused))
        return None
    said = stood_on(filters)
    title = _("as it stood on %(moment)s") % {"moment": said} if said else _("as the study stands")
    return Side(title, live.contents, filters)
