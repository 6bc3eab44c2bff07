"""Fixtures for studies: empty ones, and a second sheet of the leases."""

from __future__ import annotations

import pytest

from annotation.models import Sheet, Study
from tests import builders
from tests.annotation import importing
from tests.builders import Leases


@pytest.fixture
def simple(db: None) -> Study:
    """A study of one question with three options, nothing in it."""
    return builders.study("simple", of=builders.scheme(importing.QUESTIONS))


@pytest.fixture
def contracts(db: None) -> Study:
    """The clauses of `tests.builders` without anybody: one sheet, two rows, two sections."""
    made = builders.study("contracts")
    builders.sheet(made)
    return made


@pytest.fixture
def loan(leases: Leases) -> Sheet:
    """A second sheet, of four clauses that nobody has; those of “Lease” are Anna's and Boris's."""
    return builders.sheet(leases.study, "Loan", n_rows=4)
