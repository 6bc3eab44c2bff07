from __future__ import annotations

from django.urls import path

from recipes.ingredient_states import views

app_name = "ingredient_states"

urlpatterns = [
    path("studies/<slug:slug>/graphs/", views.graphs, name="graphs"),
    path("studies/<slug:slug>/graphs/import/", views.bring, name="bring"),
    path("studies/<slug:slug>/graphs/graphs.<str:ending>", views.download, name="download"),
    path("rows/<int:pk>/picture/", views.picture, name="picture"),
]
