from __future__ import annotations

from django.urls import path

from recipes import views

app_name = "recipes"

urlpatterns = [
    path("rows/<int:pk>/page/", views.stored_page, name="stored-page"),
    path("studies/<slug:slug>/documents/", views.documents, name="documents"),
    path("studies/<slug:slug>/documents/add-recipe/", views.add_recipe, name="add-recipe"),
    path("studies/<slug:slug>/documents/import/", views.import_documents, name="import-documents"),
    path("studies/<slug:slug>/documents/<int:pk>/", views.document, name="document"),
]
