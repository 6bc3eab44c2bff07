from __future__ import annotations

from django.urls import path

from judges import api

urlpatterns = [
    path("studies/<slug:slug>/judges/", api.judges, name="judges"),
    path("studies/<slug:slug>/judges/<int:pk>/start/", api.start, name="start-run"),
    path("studies/<slug:slug>/runs/", api.runs, name="runs"),
    path("studies/<slug:slug>/runs/<int:pk>/", api.run, name="run"),
    path("studies/<slug:slug>/runs/<int:pk>/cancel/", api.cancel, name="cancel-run"),
    path("studies/<slug:slug>/runs/<int:pk>/resume/", api.resume, name="resume-run"),
]
