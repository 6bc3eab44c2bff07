"""What takes a POST alone and answers with a page: reloaded, it leads back to the page with its form."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.builders import ClientOf, Leases

# Pieces that htmx puts into a page, which has an address of its own.
PIECES = {"ask_again", "try_one", "cancel_trial", "estimate", "decide", "check_new_study", "check_study"}


def patterns(resolver: URLResolver, namespace: str = "") -> Iterator[tuple[str, URLPattern]]:
    for one in resolver.url_patterns:
        if isinstance(one, URLResolver):
            yield from patterns(one, f"{namespace}{one.namespace}:" if one.namespace else namespace)
        else:
            yield f"{namespace}{one.name}", one


def test_a_refused_upload_is_reloaded_on_the_page_with_its_form(leases: Leases, client_of: ClientOf) -> None:
    manager, address = client_of(leases.manager), "/studies/leases/import/rows/"
    assert manager.post(address, {"rows": SimpleUploadedFile("rows.csv", b"wrong\n1\n")}).status_code == 200
    assert manager.get(address).headers["Location"] == "/studies/leases/import/"
    assert manager.get(f"{address}?sheets=2").headers["Location"] == "/studies/leases/import/?sheets=2"
    switched = manager.post("/language/", {"language": "cs", "next": ""}, headers={"referer": address}, follow=True)
    assert switched.status_code == 200
    assert switched.request["PATH_INFO"] == "/studies/leases/import/"
    assert manager.get("/studies/leases/documents/import/").headers["Location"] == "/studies/leases/documents/"


def test_who_may_not_post_is_not_led_there(leases: Leases, client_of: ClientOf) -> None:
    assert client_of(leases.anna).get("/studies/leases/import/rows/").status_code == 403
    assert client_of(leases.stranger).get("/studies/leases/import/rows/").status_code == 404
    assert client_of(leases.manager).delete("/studies/leases/import/rows/").status_code == 405


def led() -> dict[str, str]:
    found = {name: getattr(one.callback, "posted_from", None) for name, one in patterns(get_resolver())}
    return {name: page for name, page in found.items() if page}


@pytest.mark.parametrize("name", sorted(led()))
def test_the_page_with_the_form_takes_the_same_arguments(name: str) -> None:
    of = dict(patterns(get_resolver()))
    here, there = of[name], of[led()[name]]
    assert list(here.pattern.converters) == list(there.pattern.converters)
    args = [1 if kind == "IntConverter" else "0" * 12 for kind in map(_kind, there.pattern.converters.values())]
    assert reverse(led()[name], args=args)


def _kind(converter: object) -> str:
    return type(converter).__name__


def test_no_view_that_takes_a_post_alone_shows_a_page_under_its_address() -> None:
    """Read from the source: a view under `require_POST` that renders, itself or by a function beside it."""
    found = set()
    for _name, one in patterns(get_resolver()):
        view = inspect.unwrap(one.callback)
        file = Path(getattr(sys.modules.get(view.__module__), "__file__", "") or "")
        if settings.BASE_DIR in file.parents and ".venv" not in file.parts:
            found |= set(_rendering(file))
    assert found == PIECES


def _rendering(file: Path) -> Iterator[str]:
    body = ast.parse(file.read_text(encoding="utf-8")).body
    functions = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
    for name, function in functions.items():
        if any(ast.unparse(one) == "require_POST" for one in function.decorator_list) and _renders(
            name, functions, set()
        ):
            yield name


def _renders(name: str, functions: dict[str, ast.FunctionDef], seen: set[str]) -> bool:
    called = {
        one.func.id for one in ast.walk(functions[name]) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
    }
    if "render" in called:
        return True
    others = (called & functions.keys()) - seen
    return any(_renders(other, functions, seen | others | {name}) for other in others)
