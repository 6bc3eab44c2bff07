from __future__ import annotations

from django.urls import path

from recipes.memorization import api, api_names
from reports.hiring.views import counted

urlpatterns = [
    path("studies/<slug:slug>/names/", api_names.names, name="names"),
    path("studies/<slug:slug>/recipes/", api_names.add_text, name="add-text"),
    path("studies/<slug:slug>/verdict/", counted(api.verdict, "report"), name="verdict"),
]
