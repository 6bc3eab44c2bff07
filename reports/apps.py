from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from django.apps import AppConfig
from django.db.models.signals import post_delete, post_migrate
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

if TYPE_CHECKING:
    from django.utils.functional import Promise

    from annotation.models import Study, User
    from reports.models import Export


class ReportsConfig(AppConfig):
    name = "reports"

    def ready(self) -> None:
        from annotation import doors
        from annotation.models import Role
        from annotation.queries import undoing
        from reports import doors as report_doors
        from reports.exporting import EXPORTING
        from reports.frozen.guards import guard_reports
        from reports.hiring.signals import connect
        from reports.models import Certificate, Export, Report
        from work import kinds

        kinds.register(EXPORTING)
        undoing.NAMES |= {Report: _("frozen reports"), Certificate: _("certificates")}
        hiring = ["hiring", "draw-split", "choose-judge", "certify"]
        doors.register_documentation(
            "reports",
            "reports",
            {
                **dict.fromkeys(hiring, "hiring"),
                "suggestions": "hiring#do-suggestions-move-people",
                "methods": "statistics",
                **dict.fromkeys(["frozen-list", "frozen", "compare"], "reports#frozen-reports"),
                **dict.fromkeys(["frozen-answers", "frozen-cells"], "reports#frozen-reports"),
                "ask": "reports#downloads",
            },
        )
        doors.register_tab(
            position=90,
            label=_("Report"),
            url_name="reports:report",
            roles={Role.MANAGER, Role.RESEARCHER},
            home_of=frozenset({Role.RESEARCHER}),
        )
        doors.register_tab(
            position=85, label=_("Hiring"), url_name="reports:hiring", roles={Role.MANAGER, Role.RESEARCHER}
        )
        doors.register_panel(position=10, title=_("Agreement so far"), url_name="reports:board")
        doors.register_panel(position=15, title=_("Against gold"), url_name="reports:gold-board")
        doors.register_panel(position=30, title=_("Hired judges"), url_name="reports:hiring-board")
        doors.register_plan_panel(position=10, title=_("Development and test"), url_name="reports:hiring-split")
        doors.register_plan_panel(position=20, title=_("Suggestions of a judge"), url_name="reports:suggestions-panel")
        doors.register_example_rows(development_rows)
        doors.register_rows_not_alike(rows_left_out)
        doors.register_labels_read(note_download)
        doors.register_with_plans(accepted_with)
        doors.register_wording_pages(by_wording)
        for position, label, name in (
            (10, _("Answers"), "report"),
            (20, _("Questions"), "questions"),
            (30, _("Judge performance"), "judges"),
            (40, _("Raters"), "people"),
            (50, _("Coverage"), "coverage"),
            (60, _("Methods"), "methods"),
            (80, _("Compare"), "compare-live"),
            (85, _("Frozen reports"), "frozen-list"),
            (90, _("Glossary"), "glossary"),
            (95, _("All on one page"), "whole"),
        ):
            report_doors.register_page(position=position, label=label, url_name=f"reports:{name}")
        post_delete.connect(_file_goes, sender=Export)
        post_migrate.connect(guard_reports, sender=self)
        connect()


def _file_goes(instance: Export, **_signal: Any) -> None:
    """See `reports.actions.forget_file`."""
    from reports.actions import forget_file

    forget_file(instance)


def note_download(study: Study, by: User) -> None:
    """See `reports.hiring.actions.note_look`."""
    from reports.hiring import actions
    from reports.models import TestLook

    actions.note_look(slug=study.slug, what=TestLook.What.DOWNLOAD, by=by)


def accepted_with(plans: Collection[int]) -> dict[int, str]:
    """What a judge took over with plans, which `reports.hiring.signals` takes back with them. One query."""
    from django.db.models import Count

    from reports.models import Accepted

    accepted = Accepted.objects.filter(takeover__plan__in=plans).order_by().values_list("takeover__plan")
    return {
        plan: ngettext(
            "What a judge took over with it is taken back too: %(n)s accepted cell.",
            "What a judge took over with it is taken back too: %(n)s accepted cells.",
            n,
        )
        % {"n": n}
        for plan, n in accepted.annotate(n=Count("pk"))
    }


def by_wording(study: Study, version: int) -> Iterator[tuple[Promise, str]]:
    """Reports of the labels from before a wording, of those since, and both side by side."""
    from django.urls import reverse

    from reports.data.arrays import worded
    from reports.views.comparing import before_and_since

    report = reverse("reports:report", args=[study.slug])
    yield _("Report of the labels before"), f"{report}?wording={worded(version, since=False)}"
    yield _("Report of the labels since"), f"{report}?wording={worded(version, since=True)}"
    yield _("Agreement before and since"), before_and_since(study, version)


def development_rows(study: Study) -> frozenset[int] | None:
    """See `reports.hiring.queries.development_rows`, which brings NumPy with it."""
    from reports.hiring.queries import development_rows

    return development_rows(study)


def rows_left_out(study: Study) -> set[int]:
    """See `reports.hiring.queries.rows_left_out`."""
    from reports.hiring.queries import rows_left_out

    return rows_left_out(study)
