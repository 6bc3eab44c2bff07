"""Who may see what: the first line of every view of a study.

A stranger is told that the page does not exist; a member without the needed role is told which one it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseNotAllowed, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from annotation import actions, queries
from annotation.models import Assignment, Role, Row, Sheet, Study, User

P = ParamSpec("P")
Response = TypeVar("Response", bound=HttpResponseBase)


class AppRequest(HttpRequest):
    """A request behind our middleware: somebody is logged in, and htmx's headers are read."""

    user: User
    htmx: HtmxDetails


READERS = {Role.MANAGER, Role.RESEARCHER}  # who read what is labelled whether they label it or not
_READING = ("GET", "HEAD", "OPTIONS")
StudyView = Callable[Concatenate[AppRequest, Study, P], HttpResponseBase]
SlugView = Callable[Concatenate[AppRequest, str, P], HttpResponseBase]


def check_role(user: User, study: Study, *allowed: Role) -> set[Role]:
    """The roles of `user` in `study`.

    Raises:
        Http404: no role at all.
        PermissionDenied: none of those that are `allowed`.
    """
    roles = queries.roles(user, study)
    if not roles:
        raise Http404
    if not roles & set(allowed):
        needed = ", ".join(str(role.label) for role in allowed)
        raise PermissionDenied(
            _("This page of “%(study)s” is for: %(roles)s.") % {"study": study.title, "roles": needed}
        )
    return roles


def refuse_archived(study: Study, method: str | None) -> None:
    """
    Raises:
        PermissionDenied: the study is archived, and this would change something in it.
    """
    if is_kept(study, method):
        raise PermissionDenied(why_unchanged(study))


def is_kept(study: Study, method: str | None) -> bool:
    """Whether a request of this method would change something in a study that is archived."""
    return study.archived_at is not None and method not in _READING


def why_unchanged(study: Study) -> str:
    """What is said of an archived study where something is to be changed in it."""
    return _("“%(study)s” is archived: nothing is changed in it until a manager brings it back.") % {
        "study": study.title
    }


def sheet_for(user: User, pk: int, *allowed: Role) -> Sheet:
    """A sheet with its study and scheme, for members of the study with one of the roles; raises as `check_role`."""
    sheet = get_object_or_404(Sheet.objects.select_related("study__scheme"), pk=pk)
    sheet.study.roles = check_role(user, sheet.study, *allowed)
    return sheet


def row_for_reader(user: User, pk: int) -> Row:
    """A row with its sheet and study, for those who label it and for managers and researchers.

    Raises:
        Http404: it is not there, or not for this user.
        PermissionDenied: they label another one of the study; a page of the study is to be filled in before they
            read this one.
    """
    row = get_object_or_404(Row.objects.select_related("sheet__study"), pk=pk)
    study = row.sheet.study
    if not queries.roles(user, study) & READERS and Assignment.objects.of_user(user).filter(row=row).exists():
        if owed := actions.owed_in_study(study=study, user=user):
            raise PermissionDenied(owed)
    else:
        check_role(user, study, *READERS)
    return row


def _file_name(disposition: str) -> str:
    return disposition.partition("filename=")[2].strip('"') or "file"


def note_file(response: Response, *, by: User, study: Study) -> Response:
    """Write into the audit log that a file of a study is handed out, if the answer is one."""
    if (file := response.headers.get("Content-Disposition", "")).startswith("attachment"):
        actions.note_export(by=by, study=study, what=_file_name(file))
    return response


def for_roles(*allowed: Role, archived: bool = False) -> Callable[[StudyView[P]], SlugView[P]]:
    """Make a view of a study out of its slug, for members with one of the roles. The audit log has each file that it
    hands out. `archived`: what it does is done in an archived study too."""

    def decorate(view: StudyView[P]) -> SlugView[P]:
        @wraps(view)
        def wrapper(request: AppRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            study = get_object_or_404(Study.objects.select_related("scheme"), slug=slug)
            study.roles = check_role(request.user, study, *allowed)
            if not archived and is_kept(study, request.method):
                kept = {"study": study, "sentence": why_unchanged(study)}
                return render(request, "annotation/archived.html", kept, status=403)
            return note_file(view(request, study, *args, **kwargs), by=request.user, study=study)

        return wrapper  # type: ignore[return-value]  # Django passes the slug by name

    return decorate


def posted_from(page: str) -> Callable[[StudyView[P]], StudyView[P]]:
    """Have a view of a study take POST alone, and lead whoever comes by a GET to the page with its form.

    Such a view answers what it refuses with that page, under its own address: it is reloaded there, and comes back
    there after a change of the language. `page`: the name of a URL of the same arguments.
    """

    def decorate(view: StudyView[P]) -> StudyView[P]:
        @wraps(view)
        def wrapper(request: AppRequest, study: Study, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if request.method == "POST":
                return view(request, study, *args, **kwargs)
            if request.method not in _READING:
                return HttpResponseNotAllowed([*_READING, "POST"])
            asked = f"?{request.GET.urlencode()}" if request.GET else ""
            return HttpResponseRedirect(reverse(page, args=[study.slug, *args, *kwargs.values()]) + asked)

        wrapper.posted_from = page  # type: ignore[attr-defined]  # for tests of all addresses
        return wrapper  # type: ignore[return-value]  # it names its arguments

    return decorate
