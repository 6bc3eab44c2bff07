from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from annotation.admin import MadeByActions, pretty, through
from recipes.models import Document, Recipe


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
    fields = ["row", "source", "host", "parser", "sha256", "imported_at"]
    sheet = through("row__sheet")
