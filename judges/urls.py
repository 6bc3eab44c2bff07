from __future__ import annotations

from django.urls import path

from judges import board, extraction_views, views

app_name = "judges"

urlpatterns = [
    path("studies/<slug:slug>/judges/", views.runs, name="runs"),
    path("studies/<slug:slug>/judges/board/", board.panel, name="board"),
    path("studies/<slug:slug>/judges/new/", views.new_judge, name="new-judge"),
    path("studies/<slug:slug>/judges/<int:pk>/start/", views.start, name="start"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/", views.run, name="run"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/cancel/", views.cancel, name="cancel"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/resume/", views.resume, name="resume"),
    path("studies/<slug:slug>/judges/extractors/new/", extraction_views.new_extractor, name="new-extractor"),
    path("studies/<slug:slug>/judges/extractors/<int:pk>/start/", extraction_views.start, name="start-extraction"),
    path("studies/<slug:slug>/judges/extractions/<int:pk>/", extraction_views.run, name="extraction"),
    path("studies/<slug:slug>/judges/extractions/<int:pk>/cancel/", extraction_views.cancel, name="cancel-extraction"),
    path("studies/<slug:slug>/judges/extractions/<int:pk>/resume/", extraction_views.resume, name="resume-extraction"),
    path("studies/<slug:slug>/judges/extractions/<int:pk>/<int:row>/", extraction_views.document, name="extracted"),
]
