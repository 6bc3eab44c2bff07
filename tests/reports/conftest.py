"""The empty study of most tests of reports."""

from __future__ import annotations

from annotation.models import Study
from tests.databases import made_once
from tests.reports import studies


@made_once
def study() -> Study:
    return studies.study()
