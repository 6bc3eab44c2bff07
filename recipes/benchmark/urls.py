from __future__ import annotations

from django.urls import path

from recipes.benchmark import views

app_name = "benchmark"

urlpatterns = [
    path("studies/<slug:slug>/instructions/", views.instructions, name="instructions"),
    path("studies/<slug:slug>/instructions/add/", views.add_instructions, name="add-instructions"),
    path("studies/<slug:slug>/words/", views.words, name="words"),
    path("studies/<slug:slug>/words.csv", views.words_csv, name="words-csv"),
]
