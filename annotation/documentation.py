"""Where the documentation is, on the disk and in the program."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.urls import reverse

from base.documentation import CONTENTS

FOLDER = Path(settings.BASE_DIR, "docs")


def address_of(place: str) -> str:
    """The address of a page of the documentation, such as "plan", or of what is below a heading, "plan#the-board"."""
    name, mark, anchor = place.partition("#")
    at = reverse("annotation:help") if name == CONTENTS else reverse("annotation:help-page", args=[name])
    return f"{at}{mark}{anchor}"
