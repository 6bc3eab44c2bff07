from __future__ import annotations

from django.urls import path

from recipes.benchmark import api

urlpatterns = [
    path("studies/<slug:slug>/instructions/", api.instructions, name="instructions"),
    path("studies/<slug:slug>/words/", api.words, name="words"),
]
