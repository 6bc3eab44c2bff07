"""The tables of the judges' floor for an administrator: made by actions, so shown here and not changed."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from annotation.admin import MadeByActions, indented, through
from judges.models import (
    Extraction,
    ExtractionItem,
    ExtractionRun,
    Extractor,
    Judge,
    Run,
    UnreadableAnswer,
    WorkItem,
)
from llm.models import Prompt


@admin.register(Prompt)
class PromptAdmin(MadeByActions):
    list_display = ["name", "digest"]
    search_fields = ["name", "text", "digest"]
    fields = ["name", "digest", "file"]
    readonly_fields = ["file"]
    file = indented("text", _("file"))


@admin.register(Judge)
class JudgeAdmin(MadeByActions):
    list_display = ["name", "method", "model", "prompt", "normalisation", "chat_template", "temperature"]
    list_filter = ["method"]
    list_select_related = ["model", "prompt"]
    search_fields = ["name", "model__name", "model__location"]


@admin.register(Run)
class RunAdmin(MadeByActions):
    list_display = ["judge", "study", "state", "started_by", "started_at", "ended_at"]
    list_filter = ["state", "study"]
    list_select_related = ["judge", "study", "started_by"]
    search_fields = ["judge__name", "study__title", "error"]
    fields = [
        "study", "judge", "rater", "state", "error", "started_by", "started_at", "ended_at", "enqueued_at",
        "enqueued_times", "record",
    ]  # fmt: skip
    readonly_fields = ["record"]
    record = indented("provenance", _("record"))


@admin.register(WorkItem)
class WorkItemAdmin(MadeByActions):
    list_display = [
        "sheet", "row", "run", "state", "attempts", "worker", "lease_until", "cells", "unreadable", "seconds",
    ]  # fmt: skip
    list_filter = ["state", "run__study"]
    list_select_related = ["run__judge", "run__study", "assignment__row__sheet"]
    search_fields = ["assignment__row__name", "assignment__row__sheet__title", "worker", "error"]
    deferred = ["assignment__row__evidence"]
    sheet = through("assignment__row__sheet")
    row = through("assignment__row")


@admin.register(UnreadableAnswer)
class UnreadableAnswerAdmin(MadeByActions):
    list_display = ["assignment", "column", "question", "why"]
    list_filter = ["why", "assignment__rater__study"]
    list_select_related = ["assignment__rater", "assignment__row", "column", "question"]
    search_fields = ["raw", "assignment__rater__code"]
    deferred = ["assignment__row__evidence"]


@admin.register(Extractor)
class ExtractorAdmin(MadeByActions):
    list_display = ["name", "kind", "parser", "model", "chat_template"]
    list_filter = ["kind"]
    list_select_related = ["model"]
    search_fields = ["name", "parser", "model__name"]
    fields = ["name", "kind", "parser", "model", "chat_template", "max_new_tokens", "prompt_digest", "file"]
    readonly_fields = ["file"]
    file = indented("prompt", _("prompt"))


@admin.register(Extraction)
class ExtractionAdmin(MadeByActions):
    list_display = ["extractor", "sheet", "row", "kind", "unsupported", "refused", "created_at"]
    list_filter = ["extractor", "kind"]
    list_select_related = ["extractor", "row__sheet"]
    search_fields = ["extractor__name", "row__name", "row__sheet__title", "refused"]
    deferred = ["row__evidence"]
    sheet = through("row__sheet")


@admin.register(ExtractionRun)
class ExtractionRunAdmin(MadeByActions):
    list_display = ["extractor", "study", "state", "started_by", "started_at", "ended_at"]
    list_filter = ["state", "study"]
    list_select_related = ["extractor", "study", "started_by"]
    search_fields = ["extractor__name", "study__title", "error"]
    fields = ["study", "extractor", "state", "error", "started_by", "started_at", "ended_at", "enqueued_at", "record"]
    readonly_fields = ["record"]
    record = indented("provenance", _("record"))


@admin.register(ExtractionItem)
class ExtractionItemAdmin(MadeByActions):
    list_display = ["row", "run", "state", "attempts", "worker", "lease_until", "seconds"]
    list_filter = ["state", "run__study"]
    list_select_related = ["run__extractor", "run__study", "row"]
    search_fields = ["row__name", "row__sheet__title", "worker", "error"]
    deferred = ["row__evidence"]
