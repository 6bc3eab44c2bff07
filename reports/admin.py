from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from reports.models import Certificate, Export, Report, Revocation, TestLook

if TYPE_CHECKING:
    ReportModelAdmin = admin.ModelAdmin[Report]
    ExportModelAdmin = admin.ModelAdmin[Export]
    CertificateModelAdmin = admin.ModelAdmin[Certificate]
    RevocationModelAdmin = admin.ModelAdmin[Revocation]
    TestLookModelAdmin = admin.ModelAdmin[TestLook]
else:
    ReportModelAdmin = ExportModelAdmin = admin.ModelAdmin
    CertificateModelAdmin = RevocationModelAdmin = TestLookModelAdmin = admin.ModelAdmin


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


@admin.register(Certificate)
class CertificateAdmin(_ReadOnly, CertificateModelAdmin):
    list_display = ["name", "study", "rater", "epsilon", "confidence", "until", "created_by", "created_at"]
    list_select_related = ["study", "rater", "created_by"]
    search_fields = ["digest", "study__title", "rater__code"]
    exclude = ["labels", "request"]


@admin.register(Revocation)
class RevocationAdmin(_ReadOnly, RevocationModelAdmin):
    list_display = ["certificate", "why", "reason", "by", "at"]
    list_select_related = ["certificate", "by"]
    search_fields = ["certificate__digest", "reason"]


@admin.register(TestLook)
class TestLookAdmin(_ReadOnly, TestLookModelAdmin):
    __test__ = False  # no test of pytest's

    list_display = ["study", "what", "judge", "question", "by", "at"]
    list_select_related = ["study", "by"]
    search_fields = ["study__title", "judge", "question"]
