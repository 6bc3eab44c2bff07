from __future__ import annotations

from django.urls import path

from recipes.memorization import api
from reports.hiring.views import counted

urlpatterns = [
    path("studies/<slug:slug>/verdict/", counted(api.verdict, "report"), name="verdict"),
]
