from __future__ import annotations

from django.apps import AppConfig


class ToyConfig(AppConfig):
    name = "tests.work"
    label = "toy"

    def ready(self) -> None:
        from tests.work import toy
        from work import kinds

        kinds.register(toy.PIECES)
