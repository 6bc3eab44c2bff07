"""Where those who are called will ask us."""

from __future__ import annotations

from django.http import HttpRequest


def origin_of(request: HttpRequest) -> str:
    """Scheme and host of this installation, as whoever asks just now knows them."""
    return request.build_absolute_uri("/").rstrip("/")
