"""What the schema of the API says of every operation, beside what each says itself: how it refuses; its body once."""

from __future__ import annotations

import errno
import sys
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.csrf import requires_csrf_token
from django.views.defaults import bad_request, page_not_found, server_error

_SENTENCE = {"Problem": {"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]}}
# A field's sentences; or those of each part of it, a list or an object, in which what is right is empty.
_FIELDS = {"Problems": {"type": "object", "additionalProperties": {}}}

_NOT_UNDERSTOOD = gettext_lazy(
    "It is not understood, or names what is not there: sentences by field, or one under “detail”."
)
_SAID = {
    "400": ("Problems", _NOT_UNDERSTOOD),
    "401": ("Problem", gettext_lazy("Without a valid token or session.")),
    "403": ("Problem", gettext_lazy("You have the wrong role for it; or the CSRF token of your session is missing.")),
    "404": ("Problem", gettext_lazy("There is none, or not for you.")),
    "415": ("Problem", gettext_lazy("The body is of a type that is not read here.")),
}
_SLUG = "^[-a-zA-Z0-9_]+$"


def tell_refusals(result: dict[str, Any], **_generator: Any) -> dict[str, Any]:
    """A hook of drf-spectacular's, after a schema is made."""
    result["components"].setdefault("schemas", {}).update(_SENTENCE | _FIELDS)
    for path, methods in result["paths"].items():
        for operation in methods.values():
            parameters = operation.get("parameters", [])
            codes = {"400"}  # of a query that is no text, if of nothing else
            codes |= {"401", "403"} if operation.get("security", [{}])[0] else set()
            if "{" in path:
                codes.add("404")
            if "requestBody" in operation:
                codes.add("415")
            operation["responses"].pop("400", None)  # it is as everywhere
            for code in sorted(codes - operation["responses"].keys()):
                name, said = _SAID[code]
                content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
                operation["responses"][code] = {"description": str(said), "content": content}
            for one in parameters:
                if one["in"] == "path" and one["name"] == "slug":
                    one["schema"] |= {"pattern": _SLUG, "maxLength": 60}
                if one["in"] == "path" and one["schema"].get("type") == "integer":
                    one["schema"] |= {"minimum": 0, "maximum": 2**63 - 1}
    return result


def for_generators(result: dict[str, Any], **_rest: Any) -> dict[str, Any]:
    """Each body once, as JSON, and no log-in where none is asked.

    Forms are taken as well; but a generator that reads of the same body in three forms sends all three.
    """
    for operations in result["paths"].values():
        for operation in operations.values():
            if not isinstance(operation, dict):
                continue
            content = operation.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                operation["requestBody"]["content"] = {"application/json": content["application/json"]}
            if operation.get("security") == [{}]:
                operation["security"] = []
    return result


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A page for people; programs are told in JSON."""
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": _("There is nothing at this address.")}, status=404)
    return page_not_found(request, exception)


def too_much(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django refuses before any of ours reads it."""
    if request.path.startswith("/api/"):
        sentence = _("It is not understood: it is too large, or no request at all.")
        if isinstance(exception, RequestDataTooBig):
            most = filesizeformat(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
            sentence = _("It is too large: a body has at most %(size)s, but for files.") % {"size": most}
        return JsonResponse({"detail": sentence}, status=400)
    return bad_request(request, exception)


@requires_csrf_token
def broken(request: HttpRequest) -> HttpResponse:
    error = sys.exception()
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(request)
    if request.path.startswith("/api/"):
        sentence = _("Something broke on our side. What you saved before is safe. The error was logged.")
        return JsonResponse({"detail": sentence}, status=500)
    return server_error(request)


def _full(request: HttpRequest) -> HttpResponse:
    sentence = _("The disk of this installation is full: nothing was stored. Whoever runs it has to make room.")
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": sentence}, status=507)
    return HttpResponse(render_to_string("500.html", {"sentence": sentence}), status=507)
