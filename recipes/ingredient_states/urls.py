from __future__ import annotations

from django.urls import path

from recipes.ingredient_states import views
from recipes.ingredient_states.probing import views as probing

app_name = "ingredient_states"

urlpatterns = [
    path("studies/<slug:slug>/graphs/", views.graphs, name="graphs"),
    path("studies/<slug:slug>/graphs/import/", views.bring, name="bring"),
    path("studies/<slug:slug>/graphs/graphs.<str:ending>", views.download, name="download"),
    path("studies/<slug:slug>/report/probing/", probing.tasks, name="probing"),
    path("studies/<slug:slug>/report/probing/models.<str:ending>", probing.download, name="probing-file"),
    path("studies/<slug:slug>/report/probing/instances/", probing.instances, name="probing-instances"),
    path("rows/<int:pk>/picture/", views.picture, name="picture"),
]
