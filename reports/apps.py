from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class ReportsConfig(AppConfig):
    name = "reports"

    def ready(self) -> None:
        from annotation import doors
        from annotation.models import Role
        from reports.exporting import EXPORTING
        from reports.frozen.guards import guard_reports
        from work import kinds

        kinds.register(EXPORTING)
        doors.register_tab(
            position=90, label=_("Report"), url_name="reports:report", roles={Role.MANAGER, Role.RESEARCHER}
        )
        doors.register_panel(position=10, title=_("Agreement so far"), url_name="reports:board")
        post_migrate.connect(guard_reports, sender=self)
