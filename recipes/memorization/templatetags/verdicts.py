from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

from recipes.memorization.verdict.contents import MEANINGS, NAMES
from recipes.memorization.verdict.outcomes import Outcome
from reports.figures.base import Figure
from reports.tables.rounding import rounded
from reports.templatetags.reports import FigureAddresses

register = template.Library()


@register.simple_tag(takes_context=True)
def verdict_figure(context: dict[str, Any], figure: Figure) -> FigureAddresses:
    """Where a figure of the page is drawn, under the filters of the page."""
    study, query = context["study"], context["query"]

    def address(ending: str, theme: str) -> str:
        url = reverse("memorization:verdict-figure", args=[study.slug, figure.key, ending])
        return f"{url}?theme={theme}&v={context['digests'][figure.key]}{'&' if query else ''}{query}"

    forms = [("svg", "light"), ("svg", "dark"), ("pdf", "light"), ("csv", "light")]
    return FigureAddresses(figure, *(address(ending, theme) for ending, theme in forms))


@register.simple_tag(takes_context=True)
def frozen_verdict_figure(context: dict[str, Any], figure: Figure) -> FigureAddresses:
    """Where a figure of a frozen verdict is drawn."""
    frozen = context["frozen"]

    def address(ending: str, theme: str) -> str:
        args = [context["study"].slug, frozen.pk, figure.key, ending]
        return f"{reverse('memorization:frozen-verdict-figure', args=args)}?theme={theme}"

    forms = [("svg", "light"), ("svg", "dark"), ("pdf", "light"), ("csv", "light")]
    return FigureAddresses(figure, *(address(ending, theme) for ending, theme in forms))


@register.filter
def outcome_name(outcome: str) -> str:
    return str(NAMES[Outcome(outcome)])


@register.filter
def outcome_meaning(outcome: str) -> str:
    return str(MEANINGS[Outcome(outcome)])


@register.filter
def per_cent(share: float) -> str:
    return f"{rounded(share, 1, per_cent=True)} %"
