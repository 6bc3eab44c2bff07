from __future__ import annotations

from django.urls import path

from judges import api, keeping_api
from judges.extraction import api as extraction_api
from judges.generating import api as generating

urlpatterns = [
    path("studies/<slug:slug>/judges/", api.judges, name="judges"),
    path("studies/<slug:slug>/prompts/", api.prompts, name="prompts"),
    path("studies/<slug:slug>/judges/<int:pk>/start/", api.start, name="start-run"),
    *api.JUDGING.paths("studies/<slug:slug>/runs/", runs="runs", run="run", cancel="cancel-run", resume="resume-run"),
    path("studies/<slug:slug>/runs/<int:pk>/asked/<int:row>/<int:column>/<str:question>/", api.asked, name="asked"),
    *(
        path(f"studies/<slug:slug>/{kind}s/<int:pk>/{done}/", view, {"kind": kind}, name=f"{name}-{kind}")
        for kind in ("judge", "extractor")
        for done, name, view in (
            ("renamed", "rename", keeping_api.rename),
            ("archived", "archive", keeping_api.archive),
            ("taken-back", "take-back", keeping_api.take_back),
            ("deleted", "delete", keeping_api.delete),
        )
    ),
    *(
        path(f"studies/<slug:slug>/{kind}s/archived/", keeping_api.archived, {"kind": kind}, name=f"archived-{kind}s")
        for kind in ("judge", "extractor")
    ),
    path("studies/<slug:slug>/extractors/", extraction_api.extractors, name="extractors"),
    path("studies/<slug:slug>/extractors/<int:pk>/start/", extraction_api.start, name="start-extraction"),
    *extraction_api.EXTRACTING.paths(
        "studies/<slug:slug>/extractions/",
        runs="extractions",
        run="extraction",
        cancel="cancel-extraction",
        resume="resume-extraction",
    ),
    path(
        "studies/<slug:slug>/extractions/<int:pk>/rows/<int:row>/<slug:kind>/",
        extraction_api.correct,
        name="correct-extracted",
    ),
    path("studies/<slug:slug>/generations/start/", generating.start, name="start-generation"),
    *generating.GENERATING.paths(
        "studies/<slug:slug>/generations/",
        runs="generations",
        run="generation",
        cancel="cancel-generation",
        resume="resume-generation",
    ),
    path("studies/<slug:slug>/generations/<int:pk>/texts/", generating.texts, name="generated-texts"),
    path("studies/<slug:slug>/generations/texts/<int:item>/again/", generating.write_again, name="write-again"),
]
