"""Recipe web pages as evidence: the title, ingredient lines and steps of a saved page."""

from __future__ import annotations

from recipes.cooking.pages.reading import (
    MAX_PAGE_BYTES,
    Page,
    PageRefused,
    count_pages,
    read_files,
    read_folder,
    read_page,
)
from recipes.cooking.pages.showing import readable

READER = "3"
"""The version of this reader; a higher one wherever a page may be read in another way than before."""
