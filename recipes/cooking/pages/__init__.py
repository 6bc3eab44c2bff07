"""Recipe web pages as evidence: the title, ingredient lines and steps of a saved page."""

from __future__ import annotations

from recipes.cooking.pages.reading import MAX_PAGE_BYTES, Page, PageRefused, read_files, read_folder, read_page
from recipes.cooking.pages.showing import readable

__all__ = ["MAX_PAGE_BYTES", "Page", "PageRefused", "read_files", "read_folder", "read_page", "readable"]
