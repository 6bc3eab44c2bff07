"""The tables as an administrator sees them.

What actions make is shown here, not made or deleted: an admin form knows nothing of the rules that actions keep.
Names and switches that touch no rule can be edited.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from annotation import actions
from annotation.models import (
    Assignment,
    Column,
    Decision,
    Label,
    LabelEvent,
    Look,
    Membership,
    Note,
    Option,
    Plan,
    Question,
    Rater,
    Role,
    Row,
    Scheme,
    Section,
    Sheet,
    Sitting,
    Skip,
    Study,
    User,
)

admin.site.register(User, UserAdmin)


def pretty(value: Any) -> SafeString:
    """A JSON value, indented."""
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False))


class MadeByActions(admin.ModelAdmin):  # type: ignore[type-arg]
    """Shows all fields; `editable` names those that may be changed, `deferred` those that a list need not load."""

    editable: Sequence[str] = ()
    deferred: Sequence[str] = ()

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        own = [field.name for field in self.opts.fields if field.name not in self.editable]
        return [*own, *self.readonly_fields]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(self.editable) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer(*self.deferred)


# --- what is asked --------------------------------------------------------------------------------------------------


@admin.register(Scheme)
class SchemeAdmin(MadeByActions):
    list_display = ["title", "slug", "version", "created_at"]
    search_fields = ["title", "slug"]
    deferred = ["source"]
    fields = ["title", "slug", "version", "created_at", "source_text", "spec_json"]
    readonly_fields = ["source_text", "spec_json"]

    @admin.display(description=_("file"))
    def source_text(self, scheme: Scheme) -> SafeString:
        return format_html("<pre>{}</pre>", scheme.source)

    @admin.display(description=_("as it is used"))
    def spec_json(self, scheme: Scheme) -> SafeString:
        return pretty(scheme.spec)


@admin.register(Section)
class SectionAdmin(MadeByActions):
    list_display = ["title", "key", "scheme", "position"]
    list_filter = ["scheme"]
    list_select_related = ["scheme"]
    search_fields = ["title", "key"]


@admin.register(Question)
class QuestionAdmin(MadeByActions):
    list_display = ["title", "key", "kind", "section", "scheme"]
    list_filter = ["section__scheme"]
    list_select_related = ["section__scheme"]
    search_fields = ["title", "key"]

    @admin.display(ordering="section__scheme")
    def scheme(self, question: Question) -> Scheme:
        return question.section.scheme


@admin.register(Option)
class OptionAdmin(MadeByActions):
    list_display = ["label", "key", "hotkey", "value", "question", "scheme"]
    list_filter = ["question__section__scheme"]
    list_select_related = ["question__section__scheme"]
    search_fields = ["label", "key"]

    @admin.display(ordering="question__section__scheme")
    def scheme(self, option: Option) -> Scheme:
        return option.question.section.scheme


# --- studies and who is in them -------------------------------------------------------------------------------------


@admin.register(Study)
class StudyAdmin(MadeByActions):
    list_display = ["title", "slug", "scheme", "created_at"]
    list_select_related = ["scheme"]
    search_fields = ["title", "slug"]
    editable = ["title", "guideline"]


@admin.register(Membership)
class MembershipAdmin(MadeByActions):
    """Gives roles through the action, so that an annotator becomes a rater. The page “People” takes them away."""

    list_display = ["user", "role", "study"]
    list_filter = ["role", "study"]
    list_select_related = ["user", "study"]
    search_fields = ["user__username", "user__email", "study__title"]
    autocomplete_fields = ["study", "user"]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return super().get_readonly_fields(request, obj) if obj else []

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super(MadeByActions, self).has_add_permission(request)

    def save_model(self, request: HttpRequest, obj: Membership, form: ModelForm[Membership], change: bool) -> None:
        obj.pk = actions.add_member(study=obj.study, user=obj.user, role=Role(obj.role)).pk


@admin.register(Rater)
class RaterAdmin(MadeByActions):
    list_display = ["code", "kind", "user", "study", "simulated", "active"]
    list_filter = ["kind", "simulated", "active", "study"]
    list_select_related = ["user", "study"]
    search_fields = ["code", "user__username", "study__title"]
    editable = ["code", "simulated", "active"]


@admin.register(Plan)
class PlanAdmin(MadeByActions):
    list_display = ["study", "applied_by", "applied_at"]
    list_filter = ["study"]
    list_select_related = ["study", "applied_by"]
    fields = ["study", "applied_by", "applied_at", "request_json"]
    readonly_fields = ["request_json"]

    @admin.display(description=_("request"))
    def request_json(self, plan: Plan) -> SafeString:
        return pretty(plan.request)


# --- sheets ---------------------------------------------------------------------------------------------------------


@admin.register(Sheet)
class SheetAdmin(MadeByActions):
    list_display = ["title", "study", "position"]
    list_filter = ["study"]
    list_select_related = ["study"]
    search_fields = ["title"]
    editable = ["title"]


@admin.register(Row)
class RowAdmin(MadeByActions):
    list_display = ["name", "sheet", "position", "title", "language"]
    list_filter = ["sheet__study"]
    list_select_related = ["sheet"]
    search_fields = ["name", "title", "url"]
    deferred = ["evidence"]
    fields = ["sheet", "position", "name", "title", "url", "language", "evidence_json"]
    readonly_fields = ["evidence_json"]

    @admin.display(description=_("evidence"))
    def evidence_json(self, row: Row) -> SafeString:
        return pretty(row.evidence)


@admin.register(Column)
class ColumnAdmin(MadeByActions):
    list_display = ["name", "section", "sheet", "position"]
    list_filter = ["sheet__study"]
    list_select_related = ["section", "sheet"]
    search_fields = ["name"]
    fields = ["sheet", "section", "position", "name", "facets_json"]
    readonly_fields = ["facets_json"]

    @admin.display(description=_("facets"))
    def facets_json(self, column: Column) -> SafeString:
        return pretty(column.facets)


# --- the work -------------------------------------------------------------------------------------------------------


@admin.register(Assignment)
class AssignmentAdmin(MadeByActions):
    list_display = ["rater", "row", "sheet", "repeat", "state", "started_at", "submitted_at"]
    list_filter = ["state", "rater__kind", "rater__study"]
    list_select_related = ["rater", "row__sheet"]
    search_fields = ["rater__code", "row__name", "row__sheet__title"]
    deferred = ["row__evidence"]

    @admin.display(ordering="row__sheet")
    def sheet(self, assignment: Assignment) -> Sheet:
        return assignment.row.sheet


@admin.register(Label)
class LabelAdmin(MadeByActions):
    """Read only: labels are changed in the grid, where the rules of the scheme are kept and the history is written."""

    list_display = ["column", "question", "option", "rater", "row", "preset", "updated_at"]
    list_filter = ["preset", "assignment__rater__kind", "assignment__rater__study"]
    list_select_related = ["column", "question", "option", "assignment__rater", "assignment__row"]
    search_fields = ["column__name", "assignment__rater__code", "assignment__row__name", "note"]
    deferred = ["assignment__row__evidence"]
    fields = [
        "assignment", "column", "question", "option", "note", "preset", "exposed", "revision", "updated_at",
        "scores_json",
    ]  # fmt: skip
    readonly_fields = ["scores_json"]

    @admin.display(ordering="assignment__rater")
    def rater(self, label: Label) -> Rater:
        return label.assignment.rater

    @admin.display(ordering="assignment__row")
    def row(self, label: Label) -> Row:
        return label.assignment.row

    @admin.display(description=_("scores"))
    def scores_json(self, label: Label) -> SafeString:
        return pretty(label.scores)


@admin.register(LabelEvent)
class LabelEventAdmin(MadeByActions):
    """Read only: the history is appended to by actions, and never changed."""

    list_display = ["at", "rater", "row", "column", "question", "before", "after"]
    list_filter = ["assignment__rater__kind", "assignment__rater__study"]
    list_select_related = ["column", "question", "before", "after", "assignment__rater", "assignment__row"]
    search_fields = ["column__name", "assignment__rater__code", "assignment__row__name", "key"]
    deferred = ["assignment__row__evidence"]

    @admin.display(ordering="assignment__rater")
    def rater(self, event: LabelEvent) -> Rater:
        return event.assignment.rater

    @admin.display(ordering="assignment__row")
    def row(self, event: LabelEvent) -> Row:
        return event.assignment.row


@admin.register(Decision)
class DecisionAdmin(MadeByActions):
    """Read only: decisions are made and taken back in the lens."""

    list_display = ["at", "row", "column", "question", "option", "reason", "by"]
    list_filter = ["assignment__rater__study"]
    list_select_related = ["column", "question", "option", "assignment__row", "by"]
    search_fields = ["column__name", "assignment__row__name", "reason"]
    deferred = ["assignment__row__evidence"]
    fields = ["assignment", "column", "question", "option", "reason", "by", "at", "seen_json"]
    readonly_fields = ["seen_json"]

    @admin.display(ordering="assignment__row")
    def row(self, decision: Decision) -> Row:
        return decision.assignment.row

    @admin.display(description=_("seen"))
    def seen_json(self, decision: Decision) -> SafeString:
        return pretty(decision.seen)


@admin.register(Look)
class LookAdmin(MadeByActions):
    list_display = ["at", "user", "sheet"]
    list_filter = ["sheet__study"]
    list_select_related = ["user", "sheet"]
    search_fields = ["user__username", "sheet__title"]


@admin.register(Skip)
class SkipAdmin(MadeByActions):
    """Read only: cells are skipped in the grid, where the history is written."""

    list_display = ["at", "rater", "row", "column", "question", "reason"]
    list_filter = ["assignment__rater__study"]
    list_select_related = ["column", "question", "assignment__rater", "assignment__row"]
    search_fields = ["column__name", "assignment__rater__code", "assignment__row__name", "reason"]
    deferred = ["assignment__row__evidence"]

    @admin.display(ordering="assignment__rater")
    def rater(self, skip: Skip) -> Rater:
        return skip.assignment.rater

    @admin.display(ordering="assignment__row")
    def row(self, skip: Skip) -> Row:
        return skip.assignment.row


@admin.register(Note)
class NoteAdmin(MadeByActions):
    """Read only: notes are answered on their page of the study."""

    list_display = ["at", "rater", "row", "column", "question", "text", "answered_by", "answered_at"]
    list_filter = ["assignment__rater__study"]
    list_select_related = ["column", "question", "assignment__rater", "assignment__row", "answered_by"]
    search_fields = ["column__name", "assignment__rater__code", "assignment__row__name", "text", "answer"]
    deferred = ["assignment__row__evidence"]

    @admin.display(ordering="assignment__rater")
    def rater(self, note: Note) -> Rater:
        return note.assignment.rater

    @admin.display(ordering="assignment__row")
    def row(self, note: Note) -> Row:
        return note.assignment.row


@admin.register(Sitting)
class SittingAdmin(MadeByActions):
    list_display = ["beat_at", "rater", "row", "seconds", "credited_at"]
    list_filter = ["assignment__rater__study"]
    list_select_related = ["assignment__rater", "assignment__row"]
    search_fields = ["assignment__rater__code", "assignment__row__name"]
    deferred = ["assignment__row__evidence"]

    @admin.display(ordering="assignment__rater")
    def rater(self, sitting: Sitting) -> Rater:
        return sitting.assignment.rater

    @admin.display(ordering="assignment__row")
    def row(self, sitting: Sitting) -> Row:
        return sitting.assignment.row
