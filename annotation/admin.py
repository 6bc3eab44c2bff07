"""The tables as an administrator sees them.

What actions make is shown here, not made or deleted: an admin form knows nothing of the rules that actions keep.
Names and switches that touch no rule can be edited.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

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
    PastSubmission,
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

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Shown = Callable[[Any, Any], Any]

admin.site.register(User, UserAdmin)


def pretty(value: Any) -> SafeString:
    """A JSON value, indented."""
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False))


def through(path: str) -> Shown:
    """A column of a list: what lies at the end of a path of relations, by which the list can be ordered."""
    *_through, name = path.split("__")

    @admin.display(ordering=path, description=name)
    def shown(_admin: Any, of: Model) -> Any:
        return attrgetter(path.replace("__", "."))(of)

    return shown


def indented(field: str, description: StrOrPromise) -> Shown:
    """A field with its lines as they are: a text, or a JSON value."""

    @admin.display(description=description)
    def shown(_admin: Any, of: Model) -> SafeString:
        value = getattr(of, field)
        return format_html("<pre>{}</pre>", value) if isinstance(value, str) else pretty(value)

    return shown


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
    source_text = indented("source", _("file"))
    spec_json = indented("spec", _("as it is used"))


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
    scheme = through("section__scheme")


@admin.register(Option)
class OptionAdmin(MadeByActions):
    list_display = ["label", "key", "hotkey", "value", "question", "scheme"]
    list_filter = ["question__section__scheme"]
    list_select_related = ["question__section__scheme"]
    search_fields = ["label", "key"]
    scheme = through("question__section__scheme")


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
        obj.pk = actions.add_member(study=obj.study, user=obj.user, role=Role(obj.role), by=request.user).pk  # type: ignore[arg-type]


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
    request_json = indented("request", _("request"))


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
    evidence_json = indented("evidence", _("evidence"))


@admin.register(Column)
class ColumnAdmin(MadeByActions):
    list_display = ["name", "section", "sheet", "position"]
    list_filter = ["sheet__study"]
    list_select_related = ["section", "sheet"]
    search_fields = ["name"]
    fields = ["sheet", "section", "position", "name", "facets_json"]
    readonly_fields = ["facets_json"]
    facets_json = indented("facets", _("facets"))


# --- the work -------------------------------------------------------------------------------------------------------


@admin.register(Assignment)
class AssignmentAdmin(MadeByActions):
    list_display = ["rater", "row", "sheet", "repeat", "state", "started_at", "submitted_at"]
    list_filter = ["state", "rater__kind", "rater__study"]
    list_select_related = ["rater", "row__sheet"]
    search_fields = ["rater__code", "row__name", "row__sheet__title"]
    deferred = ["row__evidence"]
    sheet = through("row__sheet")


class OfAssignment(MadeByActions):
    """What was said in a rater's work on a row."""

    list_filter = ["assignment__rater__study"]
    deferred = ["assignment__row__evidence"]
    rater = through("assignment__rater")
    row = through("assignment__row")


@admin.register(Label)
class LabelAdmin(OfAssignment):
    """Read only: labels are changed in the grid, where the rules of the scheme are kept and the history is written."""

    list_display = ["column", "question", "option", "rater", "row", "preset", "updated_at"]
    list_filter = ["preset", "assignment__rater__kind", "assignment__rater__study"]
    list_select_related = ["column", "question", "option", "assignment__rater", "assignment__row"]
    search_fields = ["column__name", "assignment__rater__code", "assignment__row__name", "note"]
    fields = [
        "assignment", "column", "question", "option", "note", "preset", "exposed", "revision", "updated_at",
        "scores_json",
    ]  # fmt: skip
    readonly_fields = ["scores_json"]
    scores_json = indented("scores", _("scores"))


@admin.register(LabelEvent)
class LabelEventAdmin(OfAssignment):
    """Read only: the history is appended to by actions, and never changed."""

    list_display = ["at", "rater", "row", "column", "question", "before", "after"]
    list_filter = ["assignment__rater__kind", "assignment__rater__study"]
    list_select_related = ["column", "question", "before", "after", "assignment__rater", "assignment__row"]
    search_fields = ["column__name", "assignment__rater__code", "assignment__row__name", "key"]


@admin.register(Decision)
class DecisionAdmin(OfAssignment):
    """Read only: decisions are made and taken back in the lens."""

    list_display = ["at", "row", "column", "question", "option", "reason", "by"]
    list_select_related = ["column", "question", "option", "assignment__row", "by"]
    search_fields = ["column__name", "assignment__row__name", "reason"]
    fields = ["assignment", "column", "question", "option", "reason", "by", "at", "seen_json"]
    readonly_fields = ["seen_json"]
    seen_json = indented("seen", _("seen"))


@admin.register(Look)
class LookAdmin(MadeByActions):
    list_display = ["at", "user", "sheet"]
    list_filter = ["sheet__study"]
    list_select_related = ["user", "sheet"]
    search_fields = ["user__username", "sheet__title"]


@admin.register(Skip)
class SkipAdmin(OfAssignment):
    """Read only: cells are skipped in the grid, where the history is written."""

    list_display = ["at", "rater", "row", "column", "question", "reason"]
    list_select_related = ["column", "question", "assignment__rater", "assignment__row"]
    search_fields = ["column__name", "assignment__rater__code", "assignment__row__name", "reason"]


@admin.register(Note)
class NoteAdmin(OfAssignment):
    """Read only: notes are answered on their page of the study."""

    list_display = ["at", "rater", "row", "column", "question", "text", "answered_by", "answered_at"]
    list_select_related = ["column", "question", "assignment__rater", "assignment__row", "answered_by"]
    search_fields = ["column__name", "assignment__rater__code", "assignment__row__name", "text", "answer"]


@admin.register(PastSubmission)
class PastSubmissionAdmin(OfAssignment):
    """Read only: submissions are taken back in the grid, by a plan or by a restore."""

    list_display = ["submitted_at", "rater", "row", "until"]
    list_select_related = ["assignment__rater", "assignment__row"]
    search_fields = ["assignment__rater__code", "assignment__row__name"]


@admin.register(Sitting)
class SittingAdmin(OfAssignment):
    list_display = ["beat_at", "rater", "row", "seconds", "credited_at"]
    list_select_related = ["assignment__rater", "assignment__row"]
    search_fields = ["assignment__rater__code", "assignment__row__name"]
