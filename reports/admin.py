from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from reports.models import Export, Report

if TYPE_CHECKING:
    ReportModelAdmin = admin.ModelAdmin[Report]
    ExportModelAdmin = admin.ModelAdmin[Export]
else:
    ReportModelAdmin = ExportModelAdmin = admin.ModelAdmin


class _ReadOnly:
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Report)
class ReportAdmin(_ReadOnly, ReportModelAdmin):
    list_display = ["title", "study", "data_digest", "created_by", "created_at"]
    list_select_related = ["study", "created_by"]
    search_fields = ["title", "study__title"]
    exclude = ["labels", "results"]


@admin.register(Export)
class ExportAdmin(_ReadOnly, ExportModelAdmin):
    list_display = ["study", "form", "state", "size", "started_by", "started_at"]
    list_select_related = ["study", "started_by"]
    search_fields = ["study__title"]
