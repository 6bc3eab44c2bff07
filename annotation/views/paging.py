"""Sheets in pages, where a list or a table has a line for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from annotation.models import Sheet
from annotation.people.access import AppRequest

SHEETS_A_PAGE = 50


def page_of_sheets(request: AppRequest, sheets: QuerySet[Sheet] | Sequence[Sheet], *, name: str) -> Page[Sheet]:
    """The sheets of the page whose number the parameter `name` of the address is; “annotation/_pages.html” leads to the
    others."""
    return Paginator(sheets, SHEETS_A_PAGE).get_page(request.GET.get(name))
