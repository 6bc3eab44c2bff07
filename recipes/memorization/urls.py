from __future__ import annotations

from django.urls import path

from recipes.memorization import views
from recipes.memorization.verdict import views as of_verdict

app_name = "memorization"

urlpatterns = [
    path("studies/<slug:slug>/names/", views.names, name="names"),
    path("studies/<slug:slug>/names/add/", views.add_names, name="add-names"),
    path("sheets/<int:pk>/candidates/", views.beside, name="beside"),
    path("studies/<slug:slug>/verdict/", of_verdict.verdict, name="verdict"),
    path("studies/<slug:slug>/verdict/items/<int:pk>/", of_verdict.item, name="verdict-item"),
    path("studies/<slug:slug>/verdict/verdict.<str:ending>", of_verdict.download, name="verdict-file"),
    path("studies/<slug:slug>/verdict/figures/<str:key>.<str:ending>", of_verdict.figure, name="verdict-figure"),
]
