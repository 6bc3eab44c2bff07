from __future__ import annotations

from django.urls import path

from recipes.cooking import api, api_documents

urlpatterns = [
    path("studies/<slug:slug>/documents/", api_documents.documents, name="documents"),
    path("studies/<slug:slug>/documents/import/", api_documents.import_documents, name="import-documents"),
    path("studies/<slug:slug>/documents/add-recipe/", api_documents.add_recipe, name="add-recipe"),
    path("studies/<slug:slug>/documents/mendings/", api_documents.mendings, name="mendings"),
    path("studies/<slug:slug>/documents/mendings/<int:pk>/put-back/", api_documents.put_back, name="put-mending-back"),
    path("studies/<slug:slug>/documents/<int:pk>/mend/", api_documents.mend, name="mend-document"),
    path("studies/<slug:slug>/hits/", api.hits, name="hits"),
    path("studies/<slug:slug>/hits.csv", api.hits_csv, name="hits-csv"),
    path("studies/<slug:slug>/pages.warc.gz", api.pages_warc, name="pages-warc"),
    path("studies/<slug:slug>/hits/<int:pk>/decide/", api.decide, name="decide-hit"),
    path("studies/<slug:slug>/hits/<int:pk>/next/", api.fetch_next, name="fetch-next"),
    path("studies/<slug:slug>/hits/record/", api.record, name="record-results"),
    path("studies/<slug:slug>/retrievals/start/", api.start, name="start-retrieval"),
    *api.RETRIEVING.paths(
        "studies/<slug:slug>/retrievals/",
        runs="retrievals",
        run="retrieval",
        cancel="cancel-retrieval",
        resume="resume-retrieval",
    ),
]
