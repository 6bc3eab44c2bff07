from __future__ import annotations

from django.urls import path

from recipes.cooking.views import documents, mending, retrieval

app_name = "recipes"

urlpatterns = [
    path("rows/<int:pk>/page/", documents.stored_page, name="stored-page"),
    path("studies/<slug:slug>/documents/", documents.documents, name="documents"),
    path("studies/<slug:slug>/documents/add-recipe/", documents.add_recipe, name="add-recipe"),
    path("studies/<slug:slug>/documents/import/", documents.import_documents, name="import-documents"),
    path("studies/<slug:slug>/documents/<int:pk>/", documents.document, name="document"),
    path("studies/<slug:slug>/documents/<int:pk>/mend/", mending.mend, name="mend"),
    path("studies/<slug:slug>/documents/mendings/<int:pk>/put-back/", mending.put_back, name="put-back"),
    path("studies/<slug:slug>/search/", retrieval.searches, name="searches"),
    path("studies/<slug:slug>/search/new/", retrieval.new_search, name="new-search"),
    path("studies/<slug:slug>/search/items/", retrieval.search_items, name="search-items"),
    path("studies/<slug:slug>/search/record/", retrieval.record_results, name="record-results"),
    path("studies/<slug:slug>/search/hits.csv", retrieval.hits_csv, name="hits-csv"),
    path("studies/<slug:slug>/search/pages.warc.gz", retrieval.pages_warc, name="pages-warc"),
    path("studies/<slug:slug>/search/sheets/<int:pk>/", retrieval.hits, name="hits"),
    path("studies/<slug:slug>/search/hits/<int:pk>/decide/", retrieval.decide, name="decide"),
    path("studies/<slug:slug>/search/hits/<int:pk>/next/", retrieval.fetch_next, name="fetch-next"),
    *retrieval.RETRIEVING.paths(
        "studies/<slug:slug>/search/runs/<int:pk>/",
        page="retrieval",
        cancel="cancel-retrieval",
        resume="resume-retrieval",
    ),
]
