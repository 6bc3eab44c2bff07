from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JudgesConfig(AppConfig):
    name = "judges"

    def ready(self) -> None:
        from annotation import judging, panels, tabs
        from annotation.models import Role, Study
        from judges import queries

        tabs.register(position=50, label=_("Judges"), url_name="judges:runs", roles={Role.MANAGER, Role.RESEARCHER})
        panels.register(position=20, title=_("Judges"), url_name="judges:board")

        def names(study: Study) -> list[str]:
            return [judge.name for judge in queries.judges_for(study)]

        judging.register(names)
