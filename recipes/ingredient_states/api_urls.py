from __future__ import annotations

from django.urls import path

from recipes.ingredient_states import api

urlpatterns = [path("studies/<slug:slug>/graphs/", api.graphs, name="graphs")]
