"""Imports that a worker does, over HTTP for programs: started where a file is brought, looked at here."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers, status
from rest_framework.response import Response

from annotation.api.runs import RunDoor
from annotation.exchange.background import cancel_import, percent_read, resume_import
from annotation.models import Import, Role, Study
from work.api import ProgressFields, RunFields
from work.queries import progress


class ImportSerializer(RunFields):
    url = serializers.SerializerMethodField(help_text=_("Ask it again to follow the import."))
    what = serializers.ChoiceField(Import.What.choices)
    names = serializers.CharField(help_text=_("Of the files."))
    said = serializers.SerializerMethodField(help_text=_("What it did, once it is finished."))
    problems = serializers.SerializerMethodField(help_text=_("What kept the files out: nothing was changed."))
    refused = serializers.SerializerMethodField(help_text=_("Pages that are not in, a sentence each; the first 200."))
    again = serializers.SerializerMethodField(help_text=_("Pages that are in, and whose address another row has."))

    def get_url(self, run: Import) -> str:
        return reverse("api:import", args=[run.study.slug, run.pk])

    def get_said(self, run: Import) -> list[str]:
        return list(run.outcome.get("sentences", []))

    def get_problems(self, run: Import) -> list[str]:
        return list(run.outcome.get("problems", []))

    def get_refused(self, run: Import) -> list[str]:
        return list(run.outcome.get("refused", []))

    def get_again(self, run: Import) -> list[str]:
        return list(run.outcome.get("again", []))


class ImportDetailSerializer(ImportSerializer):
    percent = serializers.IntegerField(allow_null=True, help_text=_("Per cent; null while nobody is at it."))
    progress = ProgressFields()


def _whole(run: Any) -> Any:
    run.progress, run.percent = progress(run), percent_read(run)
    return run


IMPORTING = RunDoor(
    runs=lambda study: study.imports.select_related("study"),
    serializer=ImportSerializer,
    whole=_whole,
    detail=ImportDetailSerializer,
    cancel=cancel_import,
    resume=resume_import,
    about={
        "runs": "The imports of a study that workers do, the last one first.",
        "run": "An import: how far it is, then what it did, or what kept it from doing it.",
        "cancel": "Stop an import. Of tables nothing stays, of pages those that are in.",
        "resume": "Try an import again that was cancelled or refused.",
    },
    readers=(Role.MANAGER,),
)


def started(study: Study, run: Import) -> Response:
    """202: a worker does it. `Location` is where it is followed, as is `url` in what is said."""
    response = IMPORTING.answer(study, run.pk, status.HTTP_202_ACCEPTED)
    response["Location"] = reverse("api:import", args=[study.slug, run.pk])
    return response
