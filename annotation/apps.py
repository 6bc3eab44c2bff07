from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation import panels, sentences, tabs
        from annotation.models import Role

        sentences.translate_with(gettext)
        tabs.register(position=10, label=_("Overview"), url_name="annotation:study", roles=set(Role))
        tabs.register(position=20, label=_("Board"), url_name="annotation:board", roles={Role.MANAGER})
        tabs.register(position=30, label=_("Plan"), url_name="annotation:plan", roles={Role.MANAGER})
        tabs.register(position=40, label=_("People"), url_name="annotation:people", roles={Role.MANAGER})
        tabs.register(position=45, label=_("Notes"), url_name="annotation:notes", roles={Role.MANAGER})
        tabs.register(position=60, label=_("Import"), url_name="annotation:import", roles={Role.MANAGER})
        panels.register(position=5, title=_("Time and pay"), url_name="annotation:time")
