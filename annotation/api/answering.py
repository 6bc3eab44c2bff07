"""In what form programs are answered."""

from __future__ import annotations

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class OneForm(DefaultContentNegotiation):
    """What is said in one form alone is said in it, whatever is asked for: a file of CSV stands behind its address for
    who asks for CSV, and a refusal is JSON."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        every = list(renderers)
        if len(every) == 1:
            return every[0], every[0].media_type
        chosen: tuple[BaseRenderer, str] = super().select_renderer(request, every, format_suffix)
        return chosen
