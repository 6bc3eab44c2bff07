from __future__ import annotations

from django.urls import path

from recipes.pizza_commonsense import views

app_name = "pizza_commonsense"

urlpatterns = [
    path("studies/<slug:slug>/tables/", views.tables, name="tables"),
    path("studies/<slug:slug>/tables/add/", views.add, name="add"),
    path("studies/<slug:slug>/tables/add-system/", views.add_system, name="add-system"),
    path("studies/<slug:slug>/tables/remove-system/", views.remove_system, name="remove-system"),
    path("studies/<slug:slug>/tables/split-instructions/", views.split_long, name="split-long"),
    path("studies/<slug:slug>/tables/export/", views.export, name="export"),
    path("studies/<slug:slug>/tables/statistics/", views.statistics, name="statistics"),
    path("studies/<slug:slug>/tables/statistics.<str:ending>", views.statistics_file, name="statistics-file"),
    path("studies/<slug:slug>/tables/examples/", views.lines_apart, name="examples"),
    path("studies/<slug:slug>/tables/split/", views.split, name="split"),
]
