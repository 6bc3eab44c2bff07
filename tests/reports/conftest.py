"""The empty study of most tests of reports."""

from __future__ import annotations

import pytest

from annotation.models import Study
from tests.reports import studies


@pytest.fixture
def study(db: None) -> Study:
    return studies.study()
