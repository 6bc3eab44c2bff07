"""Shares as per cent, and heads by which a table is sorted."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.models import Study
from judges.models import Judge
from reports.hiring import queries, words
from reports.tables.rounding import rounded

register = template.Library()


@register.filter
def percent(share: float | None) -> str:
    return words.percent(share)


@register.filter
def tenths(share: float | None) -> str:
    """As `percent`, always with its digit, so that numbers stand below each other."""
    return "–" if share is None else str(number_format(rounded(share, 1, per_cent=True)))


@register.simple_tag(takes_context=True)
def sort_head(context: dict[str, Any], key: str, title: str, *, number: bool = False) -> SafeString:
    """A head of a table that links to the table sorted by it."""
    query = f"{context['query']}&" if context["query"] else ""
    return format_html(
        '<th scope="col"{}{}><a href="?{}sort={}">{}</a></th>',
        SafeString(' class="n"') if number else "",
        SafeString(' aria-sort="descending"') if context["sort"] == key else "",
        SafeString(query.replace("&", "&amp;")),
        key,
        title,
    )


@register.inclusion_tag("reports/hiring/_split_line.html")
def split_line(study: Study) -> dict[str, Any]:
    """What a report says of the split. One query, four where there is one."""
    split = queries.split_of(study)
    if split is None:
        return {"split": None}
    return {
        "study": study,
        "scheme": study.scheme.parsed,
        "split": split,
        "parts": queries.part_counts(study, split),
        "n_looks": queries.looks_at(study),
    }


@register.filter
def normalisation_name(key: str) -> str:
    """How a normalisation is called: “per token”; the key itself where it is none of a judge's."""
    return str(dict(Judge.Normalisation.choices).get(key, key))
