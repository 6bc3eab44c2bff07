from __future__ import annotations

from typing import Any

from django.urls import path

from judges import board, views

app_name = "judges"

_judge: dict[str, Any] = {"kind": views.JUDGING}
_extractor: dict[str, Any] = {"kind": views.EXTRACTING}

urlpatterns = [
    path("studies/<slug:slug>/judges/", views.runs, name="runs"),
    path("studies/<slug:slug>/judges/board/", board.panel, name="board"),
    path("studies/<slug:slug>/judges/new/", views.new_judge, name="new-judge"),
    path("studies/<slug:slug>/judges/<int:pk>/start/", views.start, name="start"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/", views.run, _judge, name="run"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/cancel/", views.cancel, _judge, name="cancel"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/resume/", views.resume, _judge, name="resume"),
    path("studies/<slug:slug>/judges/extractors/new/", views.new_extractor, name="new-extractor"),
    path("studies/<slug:slug>/judges/extractors/<int:pk>/start/", views.start_extraction, name="start-extraction"),
    path("studies/<slug:slug>/judges/extractions/<int:pk>/", views.run, _extractor, name="extraction"),
    path("studies/<slug:slug>/judges/extractions/<int:pk>/cancel/", views.cancel, _extractor, name="cancel-extraction"),
    path("studies/<slug:slug>/judges/extractions/<int:pk>/resume/", views.resume, _extractor, name="resume-extraction"),
    path("studies/<slug:slug>/judges/extractions/<int:pk>/<int:row>/", views.document, name="extracted"),
]
