from __future__ import annotations

from django.urls import path

from judges import board, views
from judges.generating import views as generating

app_name = "judges"

urlpatterns = [
    path("studies/<slug:slug>/judges/", views.runs, name="runs"),
    path("studies/<slug:slug>/judges/board/", board.panel, name="board"),
    path("studies/<slug:slug>/judges/new/", views.new_judge, name="new-judge"),
    path("studies/<slug:slug>/judges/<int:pk>/start/", views.start, name="start"),
    *views.JUDGING.paths("studies/<slug:slug>/judges/runs/<int:pk>/", page="run", cancel="cancel", resume="resume"),
    path("studies/<slug:slug>/judges/extractors/new/", views.new_extractor, name="new-extractor"),
    path("studies/<slug:slug>/judges/extractors/<int:pk>/start/", views.start_extraction, name="start-extraction"),
    *views.EXTRACTING.paths(
        "studies/<slug:slug>/judges/extractions/<int:pk>/",
        page="extraction",
        cancel="cancel-extraction",
        resume="resume-extraction",
    ),
    path("studies/<slug:slug>/judges/extractions/<int:pk>/<int:row>/", views.document, name="extracted"),
    path(
        "studies/<slug:slug>/judges/extractions/<int:pk>/<int:row>/<slug:kind>/",
        views.correct,
        name="correct-extracted",
    ),
    path("studies/<slug:slug>/texts/", generating.runs, name="generations"),
    path("studies/<slug:slug>/texts/new/", generating.new, name="new-generation"),
    path("studies/<slug:slug>/texts/estimate/", generating.estimate, name="estimate-generation"),
    path("studies/<slug:slug>/texts/new-model/", generating.new_model, name="new-model"),
    *generating.GENERATING.paths(
        "studies/<slug:slug>/texts/<int:pk>/",
        page="generation",
        cancel="cancel-generation",
        resume="resume-generation",
    ),
    path("studies/<slug:slug>/texts/<int:pk>/all/", generating.texts, name="generated-texts"),
    path("studies/<slug:slug>/texts/<int:pk>/texts.<str:form>", generating.download, name="download-texts"),
    path("studies/<slug:slug>/texts/<int:pk>/<int:item>/", generating.text, name="generated-text"),
    path("studies/<slug:slug>/texts/<int:pk>/<int:item>/again/", generating.write_again, name="write-again"),
]
