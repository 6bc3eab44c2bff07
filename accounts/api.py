"""The API's own doors: a token for a password, and what there is."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema, inline_serializer
from drf_spectacular.views import SpectacularAPIView
from rest_framework import exceptions, serializers
from rest_framework.authtoken.serializers import AuthTokenSerializer
from rest_framework.decorators import api_view
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from accounts import actions, queries
from annotation import actions as annotating
from annotation.models import User

_CREDENTIALS = inline_serializer(
    "Credentials", {"username": serializers.CharField(), "password": serializers.CharField()}
)
_TOKEN = inline_serializer("TokenMade", {"token": serializers.CharField()})
_TOLD = inline_serializer("Told", {"detail": serializers.CharField()})
_ROOT = inline_serializer(
    "Root",
    {
        "version": serializers.CharField(),
        "user": serializers.CharField(),
        "studies": serializers.URLField(),
        "my_assignments": serializers.URLField(),
        "schema": serializers.URLField(),
        "documentation": serializers.URLField(),
    },
)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema tells of it."""

    target_class = "accounts.tokens.TokenAuthentication"
    name = "tokenAuth"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "“Token” and a key, which you make on the page of your account",
        }


class Token(APIView):
    """A token for a user name and password, which lasts for 90 days. The page of an account makes others.

    Passwords are counted as on the log-in page. Whose account has a second factor, or needs one, makes tokens on the
    page of the account alone.
    """

    permission_classes = [AllowAny]
    authentication_classes = []

    @extend_schema(request=_CREDENTIALS, responses={200: _TOKEN, 400: _TOLD, 403: _TOLD, 429: _TOLD})
    def post(self, request: Request) -> Response:
        asked = AuthTokenSerializer(data=request.data, context={"request": request})
        if not asked.is_valid():
            if wait := getattr(request, "wait_to_log_in", 0):
                raise exceptions.Throttled(wait=wait)
            raise exceptions.ValidationError(asked.errors)
        user = cast(User, asked.validated_data["user"])
        if queries.has_second_factor(user) or queries.needs_second_factor(user):
            raise exceptions.PermissionDenied(
                _("This account is protected by a second factor. Make a token on the page of the account.")
            )
        try:
            return Response({"token": actions.make_token_by_password(user=user)})
        except annotating.Refused as refusal:
            raise exceptions.PermissionDenied(str(refusal)) from refusal


@extend_schema(responses=_ROOT)
@api_view(["GET"])
def root(request: Request) -> Response:
    """Who you are here, and where to go on."""
    return Response(
        {
            "version": "1",
            "user": request.user.get_username(),
            "studies": reverse("api:studies", request=request),
            "my_assignments": reverse("api:my-assignments", request=request),
            "schema": reverse("api:schema", request=request),
            "documentation": reverse("accounts:api-docs", request=request),
        }
    )


class _KeptGenerator(SchemaGenerator):
    """The schema is the same for everybody, and takes a while: it is made of every view and serializer."""

    def get_schema(self, request: object = None, public: bool = True) -> dict[str, Any]:
        return _schema_in(_language())


class Schema(SpectacularAPIView):
    permission_classes = [IsAuthenticated]
    generator_class = _KeptGenerator


def _language() -> str:
    """One in which sentences are: the query of the schema's address may name any."""
    language = get_language()
    return language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


@cache
def _schema_in(language: str) -> dict[str, Any]:
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return schema


@require_GET
def docs(request: HttpRequest) -> HttpResponse:
    """All operations of the API on one page, out of its schema."""
    version, operations = _operations_in(_language())
    return render(request, "accounts/api_docs.html", {"operations": operations, "version": version})


@cache
def _operations_in(language: str) -> tuple[str, str]:
    """The version, and the operations as they stand on the page."""
    schema = _schema_in(language)
    return schema["info"]["version"], render_to_string("accounts/_api_operations.html", {"groups": _groups(schema)})


_METHODS = ("get", "post", "put", "patch", "delete")


def _groups(schema: dict[str, object]) -> dict[str, list[dict[str, object]]]:
    """The operations of a schema by the first part of their path."""
    components = cast(dict[str, dict[str, dict[str, object]]], schema.get("components", {})).get("schemas", {})
    groups: dict[str, list[dict[str, object]]] = {}
    for path, item in sorted(cast(dict[str, dict[str, dict[str, object]]], schema["paths"]).items()):
        short = path.removeprefix("/api/v1/")
        for method in _METHODS:
            if (operation := item.get(method)) is None:
                continue
            body = cast(dict[str, dict[str, dict[str, object]]], operation.get("requestBody", {})).get("content", {})
            sent = next(iter(body.values()), {}).get("schema", {})
            responses = cast(dict[str, dict[str, dict[str, dict[str, object]]]], operation.get("responses", {}))
            described = cast(str, operation.get("description", ""))
            groups.setdefault(short.split("/")[0] or "/", []).append(
                {
                    "id": operation["operationId"],
                    "method": method.upper(),
                    "path": path,
                    "description": described,
                    "parameters": operation.get("parameters", []),
                    "sent": _fields(sent, components),
                    "answers": [
                        (
                            code,
                            _fields(next(iter(answer.get("content", {}).values()), {}).get("schema", {}), components),
                        )
                        for code, answer in responses.items()
                    ],
                }
            )
    return groups


def _fields(schema: object, components: dict[str, dict[str, object]]) -> dict[str, object]:
    """A schema's name, whether it is a list of that, and its fields: [(name, type, required, description)]."""
    found = cast(dict[str, object], schema or {})
    is_list = found.get("type") == "array"
    if is_list:
        found = cast(dict[str, object], found.get("items", {}))
    name = str(found.get("$ref", "")).rpartition("/")[2]
    found = components.get(name, found)
    required = cast(list[str], found.get("required", []))
    fields = [
        (key, _type(field), key in required, field.get("description", ""))
        for key, field in cast(dict[str, dict[str, object]], found.get("properties", {})).items()
    ]
    return {"name": name or found.get("type", ""), "is_list": is_list, "fields": fields}


def _type(field: dict[str, object]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    for joined in ("allOf", "oneOf", "anyOf"):
        if joined in field:
            return " | ".join(filter(None, (_type(part) for part in cast(list[dict[str, object]], field[joined]))))
    if field.get("type") == "array":
        return f"[{_type(cast(dict[str, object], field.get('items', {})))}]"
    if "enum" in field:
        return " | ".join(str(value) for value in cast(list[object], field["enum"]))
    return str(field.get("type", ""))
