from __future__ import annotations

from django.urls import path

from judges import board, cell_views, views
from judges import tool_views as tools
from judges.calibrations import views as calibration_views
from judges.generating import views as generating
from judges.lineage import views as lineage_views
from judges.stacking import views as stacking_views

app_name = "judges"

urlpatterns = [
    path("studies/<slug:slug>/judges/", views.runs, name="runs"),
    path("studies/<slug:slug>/judges/board/", board.panel, name="board"),
    path("studies/<slug:slug>/judges/together/", stacking_views.stack, name="stack"),
    path("studies/<slug:slug>/judges/new/", tools.new_judge, name="new-judge"),
    path("studies/<slug:slug>/judges/new/prompt/", tools.prompt_text, name="prompt-text"),
    path("studies/<slug:slug>/judges/new/cells/", tools.cells, name="cells"),
    path("studies/<slug:slug>/judges/new/try/", tools.try_one, name="try"),
    path("studies/<slug:slug>/judges/trials/<int:pk>/", tools.trial, name="trial"),
    path("studies/<slug:slug>/judges/trials/<int:pk>/cancel/", tools.cancel_trial, name="cancel-trial"),
    path(
        "studies/<slug:slug>/judges/asked/<int:assignment>/<int:column>/<slug:question>/",
        cell_views.asked,
        name="asked",
    ),
    path(
        "studies/<slug:slug>/judges/asked/<int:assignment>/<int:column>/<slug:question>/again/",
        cell_views.ask_again,
        name="ask-again",
    ),
    path("studies/<slug:slug>/judges/<int:pk>/", tools.judge, name="judge"),
    path("studies/<slug:slug>/judges/extractors/<int:pk>/", tools.extractor, name="extractor"),
    *(
        path(f"studies/<slug:slug>/{at}/<int:pk>/{verb}/", view, {"kind": kind}, name=f"{verb}-{kind}")
        for kind, at in (("judge", "judges"), ("extractor", "judges/extractors"))
        for verb, view in (
            ("rename", tools.rename),
            ("archive", tools.archive),
            ("take-back", tools.take_back),
            ("delete", tools.delete),
        )
    ),
    path("studies/<slug:slug>/judges/<int:pk>/start/", views.start, name="start"),
    path("studies/<slug:slug>/judges/<int:pk>/examples/", calibration_views.with_documents, name="shown-documents"),
    path("studies/<slug:slug>/judges/<int:pk>/arms/", lineage_views.make_arms, name="make-arms"),
    path(
        "studies/<slug:slug>/judges/<int:pk>/candidate-arms/",
        lineage_views.make_candidate_arms,
        name="make-candidate-arms",
    ),
    path("studies/<slug:slug>/judges/<int:pk>/arm/", lineage_views.count_as_arm, name="count-as-arm"),
    path("studies/<slug:slug>/judges/<int:pk>/average/", lineage_views.average, name="average-arms"),
    path(
        "studies/<slug:slug>/judges/raters/<int:pk>/calibrations/", calibration_views.calibrations, name="calibrations"
    ),
    path("studies/<slug:slug>/judges/raters/<int:pk>/examples/", calibration_views.with_examples, name="examples"),
    path(
        "studies/<slug:slug>/judges/calibrations/<int:pk>/judge/",
        calibration_views.new_judge,
        name="new-calibrated-judge",
    ),
    *views.JUDGING.paths("studies/<slug:slug>/judges/runs/<int:pk>/", page="run", cancel="cancel", resume="resume"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/unreadable/", views.unreadable, name="unreadable"),
    path("studies/<slug:slug>/judges/extractors/new/", tools.new_extractor, name="new-extractor"),
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
