"""Several things chosen at once: whatever is sent for them, a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ValidationError

from annotation.forms.many import ManyField
from annotation.models import Row
from tests.builders import Leases

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.django_db
@pytest.mark.parametrize("sent", ["9" * 40, "18446744073709551616", "-1", "x", "\x00"])
def test_what_is_no_key_is_no_choice(leases: Leases, sent: str) -> None:
    field, mine = ManyField(Row.objects.all()), str(leases.sheet.rows.all()[0].pk)
    assert [str(row.pk) for row in field.clean([mine])] == [mine]
    with pytest.raises(ValidationError):
        field.clean([mine, sent])


@pytest.mark.once
def test_every_form_takes_this_field() -> None:
    own = ROOT / "annotation" / "forms" / "many.py"
    files = [
        path
        for app in ("accounts", "annotation", "judges", "recipes", "reports")
        for path in (ROOT / app).rglob("*.py")
    ]
    assert [path for path in files if path != own and "ModelMultipleChoiceField" in path.read_text("utf-8")] == []
