from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_delete, post_migrate, pre_migrate
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation import doors
        from annotation.actions import deleting
        from annotation.deriving import selecting
        from annotation.deriving.making import Deriver
        from annotation.exchange import background
        from annotation.marks import mark_studies, unmark_studies
        from annotation.models import Import, Role
        from annotation.people.guards import guard_audit
        from annotation.queries import setup
        from annotation.webhooks import delivering
        from base import sentences
        from work import kinds

        sentences.translate_with(gettext)
        kinds.register(background.IMPORTING)
        kinds.register(deleting.DELETING)
        kinds.register(delivering.DELIVERING)
        post_delete.connect(background.forget_files, sender=Import)
        post_migrate.connect(guard_audit, sender=self)
        pre_migrate.connect(unmark_studies, sender=self)
        post_migrate.connect(mark_studies, sender=self)
        doors.register_documentation(
            "annotation",
            "plan",
            {
                **dict.fromkeys(["my-work", "sheet", "consent", "background"], "grid"),
                **dict.fromkeys(["home", "studies", "demo", "help", "help-page"], "README"),
                **dict.fromkeys(["new-study", "change-scheme", "wordings"], "scheme"),
                "spreadsheet": "annotating#in-a-spreadsheet-offline",
                "notes": "annotating#notes",
                "time": "annotating#time",
                "results": "plan#training-and-checks-with-gold",
                "board": "plan#the-board",
                "people": "plan#inviting",
                "more-raters": "plan#more-raters",
                "replan": "plan#handing-work-on",
                "drafts": "plan#starting-from-another-raters-answers",
                "lens": "lens",
                "lens-accept": "lens#deciding",
                **dict.fromkeys(["history", "restore"], "lens#history-and-restoring"),
                **dict.fromkeys(["sheet-settings", "delete-study"], "plan#taking-back-what-was-done-by-mistake"),
                **dict.fromkeys(["crowd", "crowd-people"], "crowd"),
                "crowd-done": "annotating#submitting-and-closing",
                **dict.fromkeys(["import", "import-rows", "import-labels", "import-run"], "import"),
                **dict.fromkeys(["gold-imports", "gold-import"], "import#labels-made-elsewhere"),
                **dict.fromkeys(["derive", "lineage"], "deriving"),
                **dict.fromkeys(["webhooks", "webhook"], "webhooks"),
                "audit-log": "security#the-audit-log",
            },
        )
        doors.register_tab(position=10, label=_("Overview"), url_name="annotation:study", roles=set(Role))
        doors.register_tab(
            position=20,
            label=_("Board"),
            url_name="annotation:board",
            roles={Role.MANAGER},
            home_of=frozenset({Role.MANAGER}),
        )
        doors.register_tab(position=30, label=_("Plan"), url_name="annotation:plan", roles={Role.MANAGER})
        doors.register_tab(position=40, label=_("People"), url_name="annotation:people", roles={Role.MANAGER})
        doors.register_tab(position=45, label=_("Notes"), url_name="annotation:notes", roles={Role.MANAGER})
        doors.register_tab(position=60, label=_("Import"), url_name="annotation:import", roles={Role.MANAGER})
        doors.register_deriver(
            Deriver(
                key="selected-rows",
                title=_("Rows with a certain answer"),
                help=_(
                    "Rows whose chosen answer is one of those that you name become rows of the new study, with their "
                    "evidence, and with their columns where both schemes have a section of that name."
                ),
                make=selecting.selected_rows,
                asks=selecting.asks,
            )
        )
        for step in (
            doors.SetupStep(
                position=10,
                label=_("Import"),
                words=_("Bring in the %(sheets)s: what is looked at, the %(rows)s, and what is looked for in them."),
                url_name="annotation:import",
                is_done=setup.has_rows,
            ),
            doors.SetupStep(
                position=20,
                label=_("People"),
                words=_("Invite who labels, by a link."),
                url_name="annotation:people",
                is_done=setup.has_annotators,
            ),
            doors.SetupStep(
                position=30,
                label=_("Plan"),
                words=_("Draw who labels what, and what is labelled twice, so that agreement can be measured."),
                url_name="annotation:plan",
                is_done=setup.has_work,
            ),
            doors.SetupStep(
                position=50,
                label=_("Board"),
                words=_("Follow the first %(rows)s that are submitted."),
                url_name="annotation:board",
                is_done=setup.has_labelled_rows,
            ),
        ):
            doors.register_setup_step(step)
        doors.register_panel(position=5, title=_("Time and pay"), url_name="annotation:time")
