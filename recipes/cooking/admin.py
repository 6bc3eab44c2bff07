from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from annotation.admin import MadeByActions, pretty, through
from recipes.cooking.models import Document, Mending, Recipe, Retrieval, Search, Site


@admin.register(Recipe)
class RecipeAdmin(MadeByActions):
    list_display = ["name", "sheet", "study"]
    list_filter = ["sheet__study"]
    list_select_related = ["sheet__study"]
    search_fields = ["name"]
    fields = ["name", "sheet", "content"]
    readonly_fields = ["content"]
    study = through("sheet__study")

    @admin.display(description=_("content"))
    def content(self, recipe: Recipe) -> SafeString:
        return pretty({"ingredients": recipe.ingredients, "steps": recipe.steps, "tasks": recipe.tasks})


@admin.register(Document)
class DocumentAdmin(MadeByActions):
    list_display = ["source", "row", "sheet", "host", "parser", "imported_at"]
    list_filter = ["parser", "row__sheet__study"]
    list_select_related = ["row__sheet"]
    search_fields = ["source", "host", "row__name"]
    deferred = ["html_gz", "row__evidence"]
    fields = ["row", "source", "host", "parser", "reader", "doubts", "sha256", "imported_at"]
    sheet = through("row__sheet")


@admin.register(Mending)
class MendingAdmin(MadeByActions):
    list_display = ["row", "by", "at", "n_added", "n_dropped", "n_moved", "n_changed"]
    list_filter = ["row__sheet__study"]
    list_select_related = ["row", "by"]
    search_fields = ["row__name"]
    fields = ["row", "by", "at", "n_added", "n_dropped", "n_moved", "n_changed"]


@admin.register(Search)
class SearchAdmin(MadeByActions):
    list_display = ["query", "engine", "sheet", "depth", "recorded", "asked_at"]
    list_filter = ["engine", "recorded", "sheet__study"]
    list_select_related = ["sheet"]
    search_fields = ["query"]
    fields = ["sheet", "column", "engine", "query", "depth", "recorded", "asked_by", "asked_at", "error", "content"]
    readonly_fields = ["content"]

    @admin.display(description=_("results"))
    def content(self, search: Search) -> SafeString:
        return pretty(search.results)


@admin.register(Retrieval)
class RetrievalAdmin(MadeByActions):
    list_display = ["study", "state", "documents", "started_by", "started_at", "ended_at"]
    list_filter = ["state", "study"]
    list_select_related = ["study", "started_by"]


@admin.register(Site)
class SiteAdmin(MadeByActions):
    list_display = ["origin", "closed", "asked_at", "free_at"]
    search_fields = ["origin"]
