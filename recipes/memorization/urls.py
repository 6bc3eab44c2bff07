from __future__ import annotations

from django.urls import path

from recipes.memorization import views
from recipes.memorization.chain import views as of_chain
from recipes.memorization.verdict import compare_views as compared
from recipes.memorization.verdict import frozen_views as frozen
from recipes.memorization.verdict import views as of_verdict
from reports.hiring.views import counted

app_name = "memorization"

urlpatterns = [
    path("studies/<slug:slug>/names/", views.names, name="names"),
    path("studies/<slug:slug>/names/add/", views.add_names, name="add-names"),
    path("studies/<slug:slug>/recipes/", views.paste, name="paste"),
    path("studies/<slug:slug>/myself/", views.myself, name="myself"),
    path("studies/<slug:slug>/steps/judge/", of_chain.by_judge, name="by-judge"),
    path("studies/<slug:slug>/steps/", of_chain.steps, name="steps"),
    path("sheets/<int:pk>/candidates/", views.beside, name="beside"),
    path("studies/<slug:slug>/verdict/", counted(of_verdict.verdict, "report"), name="verdict"),
    path("studies/<slug:slug>/verdict/items/<int:pk>/", counted(of_verdict.item, "report"), name="verdict-item"),
    path("studies/<slug:slug>/verdict/compare/", compared.compare, name="compare-verdicts"),
    path("studies/<slug:slug>/verdict/compared.<str:ending>", compared.download, name="compared-verdicts-file"),
    path("studies/<slug:slug>/verdict/freeze/", of_verdict.freeze, name="freeze-verdict"),
    path("studies/<slug:slug>/verdict/frozen/", frozen.frozen_list, name="frozen-verdicts"),
    path("studies/<slug:slug>/verdict/frozen/<int:pk>/", counted(frozen.frozen, "report"), name="frozen-verdict"),
    path("studies/<slug:slug>/verdict/frozen/<int:pk>/again/", frozen.recompute, name="recompute-verdict"),
    path(
        "studies/<slug:slug>/verdict/frozen/<int:pk>/verdict.<str:ending>",
        counted(frozen.download, "download"),
        name="frozen-verdict-file",
    ),
    path(
        "studies/<slug:slug>/verdict/frozen/<int:pk>/figures/<str:key>.<str:ending>",
        counted(frozen.figure, "report"),
        name="frozen-verdict-figure",
    ),
    path(
        "studies/<slug:slug>/verdict/verdict.<str:ending>",
        counted(of_verdict.download, "download"),
        name="verdict-file",
    ),
    path(
        "studies/<slug:slug>/verdict/figures/<str:key>.<str:ending>",
        counted(of_verdict.figure, "report"),
        name="verdict-figure",
    ),
]
