from __future__ import annotations

from django.urls import path

from judges import board, views

app_name = "judges"

urlpatterns = [
    path("studies/<slug:slug>/judges/", views.runs, name="runs"),
    path("studies/<slug:slug>/judges/board/", board.panel, name="board"),
    path("studies/<slug:slug>/judges/new/", views.new_judge, name="new-judge"),
    path("studies/<slug:slug>/judges/<int:pk>/start/", views.start, name="start"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/", views.run, name="run"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/cancel/", views.cancel, name="cancel"),
    path("studies/<slug:slug>/judges/runs/<int:pk>/resume/", views.resume, name="resume"),
]
