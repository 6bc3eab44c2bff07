from __future__ import annotations

from django.urls import path

from recipes.pizza_commonsense import api

urlpatterns = [
    path("studies/<slug:slug>/tables/add/", api.add, name="pizza-add"),
    path("studies/<slug:slug>/tables/add-system/", api.add_system, name="pizza-add-system"),
    path("studies/<slug:slug>/tables/remove-system/", api.remove_system, name="pizza-remove-system"),
    path("studies/<slug:slug>/tables/export/", api.export, name="pizza-export"),
    path("studies/<slug:slug>/tables/examples/", api.lines_apart, name="pizza-examples"),
    path("studies/<slug:slug>/tables/split/", api.split, name="pizza-split"),
    path("studies/<slug:slug>/tables/statistics/", api.statistics, name="pizza-statistics"),
]
