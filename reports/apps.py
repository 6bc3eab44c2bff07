from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class ReportsConfig(AppConfig):
    name = "reports"

    def ready(self) -> None:
        from annotation import panels, tabs
        from annotation.models import Role
        from reports.guards import guard_reports

        tabs.register(position=90, label=_("Report"), url_name="reports:report", roles={Role.MANAGER, Role.RESEARCHER})
        panels.register(position=10, title=_("Agreement so far"), url_name="reports:board")
        post_migrate.connect(guard_reports, sender=self)
