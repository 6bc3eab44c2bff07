from __future__ import annotations

from django.urls import path

from judges import api, extraction_api

urlpatterns = [
    path("studies/<slug:slug>/judges/", api.judges, name="judges"),
    path("studies/<slug:slug>/judges/<int:pk>/start/", api.start, name="start-run"),
    path("studies/<slug:slug>/runs/", api.runs, name="runs"),
    path("studies/<slug:slug>/runs/<int:pk>/", api.run, name="run"),
    path("studies/<slug:slug>/runs/<int:pk>/cancel/", api.cancel, name="cancel-run"),
    path("studies/<slug:slug>/runs/<int:pk>/resume/", api.resume, name="resume-run"),
    path("studies/<slug:slug>/extractors/", extraction_api.extractors, name="extractors"),
    path("studies/<slug:slug>/extractors/<int:pk>/start/", extraction_api.start, name="start-extraction"),
    path("studies/<slug:slug>/extractions/", extraction_api.runs, name="extractions"),
    path("studies/<slug:slug>/extractions/<int:pk>/", extraction_api.run, name="extraction"),
    path("studies/<slug:slug>/extractions/<int:pk>/cancel/", extraction_api.cancel, name="cancel-extraction"),
    path("studies/<slug:slug>/extractions/<int:pk>/resume/", extraction_api.resume, name="resume-extraction"),
]
