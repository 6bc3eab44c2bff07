"""Runs of a study's work over HTTP for programs, of whatever kind: listed, looked at, cancelled, resumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.core import study_of
from annotation.api.serializers import RefusalSerializer
from annotation.models import Role, Study


@dataclass(frozen=True)
class RunDoor:
    """In what the addresses of the kinds of runs differ.

    Attributes:
        runs: of a study, with what `serializer` tells of each.
        whole: a run of `runs` with what `detail` tells besides.
        cancel, resume: the actions, which take a `run`.
        about: what each address does, for the schema: under runs, run, cancel and resume.
        asked: what may be sent to resume a run, whose values `resume` takes besides; None: nothing.
        readers: who may look; `writers`: who may cancel and resume.
    """

    runs: Callable[[Study], QuerySet[Any]]
    serializer: type[serializers.Serializer[Any]]
    whole: Callable[[Any], Any]
    detail: type[serializers.Serializer[Any]]
    cancel: Callable[..., None]
    resume: Callable[..., None]
    about: dict[str, str]
    asked: type[serializers.Serializer[Any]] | None = None
    readers: tuple[Role, ...] = (Role.MANAGER, Role.RESEARCHER)
    writers: tuple[Role, ...] = (Role.MANAGER,)

    def answer(self, study: Study, pk: int, code: int = status.HTTP_200_OK) -> Response:
        """One run in full."""
        run = get_object_or_404(self.runs(study), pk=pk)
        return Response(self.detail(self.whole(run)).data, status=code)

    def paths(self, route: str, *, runs: str, run: str, cancel: str, resume: str) -> list[URLPattern]:
        """The table of URLs below `route`, which has the study's slug; the others: names."""
        return [
            path(route, self._runs(), name=runs),
            path(f"{route}<int:pk>/", self._run(), name=run),
            path(f"{route}<int:pk>/cancel/", self._changes("cancel", self.cancel, archived=True), name=cancel),
            path(f"{route}<int:pk>/resume/", self._changes("resume", self.resume, self.asked), name=resume),
        ]

    def _runs(self) -> Callable[..., Any]:
        @extend_schema(description=self.about["runs"], responses=self.serializer(many=True))
        @api_view(["GET"])
        def runs(request: Request, slug: str) -> Response:
            study = study_of(request, slug, *self.readers)
            return Response(self.serializer(self.runs(study), many=True).data)

        return runs

    def _run(self) -> Callable[..., Any]:
        @extend_schema(description=self.about["run"], responses=self.detail)
        @api_view(["GET"])
        def run(request: Request, slug: str, pk: int) -> Response:
            return self.answer(study_of(request, slug, *self.readers), pk)

        return run

    def _changes(
        self,
        verb: str,
        action: Callable[..., None],
        asked: type[serializers.Serializer[Any]] | None = None,
        *,
        archived: bool = False,
    ) -> Callable[..., Any]:
        @extend_schema(
            description=self.about[verb], request=asked, responses={200: self.detail, 409: RefusalSerializer}
        )
        @api_view(["POST"])
        def changes(request: Request, slug: str, pk: int) -> Response:
            study = study_of(request, slug, *self.writers, archived=archived)
            found = get_object_or_404(self.runs(study), pk=pk)
            values = {}
            if asked is not None:
                sent = asked(data=request.data, context={"request": request})
                sent.is_valid(raise_exception=True)
                values = sent.validated_data
            action(run=found, **values)
            return self.answer(study, pk)

        return changes
