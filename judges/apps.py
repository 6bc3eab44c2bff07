from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JudgesConfig(AppConfig):
    name = "judges"

    def ready(self) -> None:
        from annotation import tabs
        from annotation.models import Role

        tabs.register(position=50, label=_("Judges"), url_name="judges:runs", roles={Role.MANAGER, Role.RESEARCHER})
