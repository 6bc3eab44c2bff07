from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import AppConfig
from django.db.models.signals import post_delete
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from llm.doors import NewPrice


class JudgesConfig(AppConfig):
    name = "judges"

    def ready(self) -> None:
        from annotation import doors
        from annotation.models import Role, Study
        from judges import actions, queries, retracing
        from judges import doors as own
        from judges.generating import actions as generating
        from judges.generating.queries import source_texts
        from judges.models import Judge
        from llm import doors as language_models
        from work import kinds

        post_delete.connect(_gone, sender=Judge)
        kinds.register(actions.JUDGING)
        kinds.register(actions.EXTRACTING)
        kinds.register(actions.TRYING)
        kinds.register(generating.GENERATING)
        language_models.register_new_prices(_priced)
        doors.register_texts(source_texts)
        doors.register_answer_pages(doors.AnswerPages(_("What it was asked"), retracing.pages_at))
        doors.register_documentation(
            "judges",
            "judges",
            {
                **dict.fromkeys(["new-judge", "judge", "trial"], "judges/making"),
                **dict.fromkeys(["run", "unreadable"], "judges/runs"),
                **dict.fromkeys(["stack", "calibrations", "new-calibrated-judge"], "judges/calibrating"),
                **dict.fromkeys(["extractor", "new-extractor", "extraction", "extracted"], "extraction"),
                **dict.fromkeys(["generations", "new-generation", "generation"], "generating"),
                **dict.fromkeys(["generated-texts", "generated-text"], "generating"),
                "new-model": "judges/models",
            },
        )
        doors.register_tab(
            position=48,
            label=_("Texts"),
            url_name="judges:generations",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=lambda study: bool(own.wordings_for(study.scheme.slug)) or study.scheme.parsed.benchmark is not None,
        )
        doors.register_tab(
            position=50, label=_("Judges"), url_name="judges:runs", roles={Role.MANAGER, Role.RESEARCHER}
        )
        doors.register_setup_step(
            doors.SetupStep(
                position=40,
                label=_("Judges"),
                words=_("Let a judge label the same %(rows)s, to be held against people."),
                url_name="judges:runs",
                is_done=queries.has_run,
                optional=True,
            )
        )
        doors.register_panel(position=20, title=_("Judges"), url_name="judges:board")

        def names(study: Study) -> list[str]:
            return [judge.name for judge in queries.judges_for(study)]

        doors.register_judges(names)
        doors.register_judges_at_work(queries.raters_at_work)


def _priced(new: NewPrice) -> None:
    from annotation.actions import note
    from annotation.models import AuditEvent

    note(AuditEvent.Kind.ADMIN, by=new.by, study=new.study, what=str(new))


def _gone(instance: Any, **_given: Any) -> None:
    from judges import actions

    actions.forget_prompt(instance)
