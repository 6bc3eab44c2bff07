"""The API against its own schema: what is generated from it gets no 5xx, and no answer that it does not tell of."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.db import transaction
from django.urls import reverse
from hypothesis import HealthCheck, Phase
from pytest_django import Settings
from schemathesis.checks import not_a_server_error
from schemathesis.core import NOT_SET
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts import actions as accounts
from tests.api import valid
from tests.builders import ApiOf
from tests.test_access import World
from tests.test_access import furnished as furnished  # the fixtures
from tests.test_access import world as world

pytestmark = pytest.mark.once

# `make fuzz` asks for more.
REQUESTS = int(os.environ.get("SCHEMA_REQUESTS", "150"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def operations(schema: Any) -> list[Any]:
    return [found.ok() for found in schema.get_all_operations()]


def read_to_its_end(app: Any) -> Any:
    """Else a file that is sent stays open."""

    def application(environ: Any, start_response: Any) -> list[bytes]:
        answer = app(environ, start_response)
        try:
            return [b"".join(answer)]
        finally:
            answer.close()

    return application


@pytest.fixture
def schema(world: World, api_of: ApiOf, over_wsgi: None) -> Any:
    said = (
        api_of(world.leases.manager).get(reverse("api:schema"), HTTP_ACCEPT="application/vnd.oai.openapi+json").json()
    )
    made = schemathesis.openapi.from_dict(said)
    made.app = read_to_its_end(get_wsgi_application())
    return made


def asked(body: Any, valid: Any, rng: random.Random) -> Any:
    """A generated body; of every second some parts are those of a request that is done, so that the rest is read."""
    if not isinstance(body, dict) or not isinstance(valid, dict) or rng.random() < 0.5:
        return body
    return body | {name: value for name, value in valid.items() if rng.random() < 0.7}


def test_answers_are_as_the_schema_says(
    world: World, schema: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each operation does what it is for when it is asked rightly; few requests meet nothing."""
    valid.furnish(world, settings, monkeypatch)
    every = operations(schema)
    each = max(1, round(REQUESTS / len(every)))
    people = {"manager": world.leases.manager, "anna": world.leases.anna, "root": world.superuser}
    keys = {who: accounts.make_token(user=user, name="a program", days=1)[1] for who, user in people.items()}
    rng = random.Random(1)
    done, wrong = Counter[int](), dict[str, str]()
    refused: dict[str, str] = {}

    def send(case: Any, who: str) -> Any:
        with transaction.atomic():
            response = case.call(headers={"Authorization": f"Token {keys[who]}"})
            transaction.set_rollback(True)
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as group:
            for failure in group.exceptions:
                note(case, response, failure)
        except Failure as failure:
            note(case, response, failure)
        return response

    def note(case: Any, response: Any, failure: Any) -> None:
        name = f"{case.operation.label}: {failure.title} {response.status_code}"
        wrong.setdefault(name, f"{case.as_curl_command()}\n{response.text[:300]}")

    def try_out(operation: Any) -> None:
        right = valid.of(operation.label)
        right.before(world)
        known = valid.arguments(operation.path, world, right)
        body = right.body(world) if right.body else NOT_SET
        media_type = right.media_type if right.body else None
        query = dict(right.query)
        case = operation.Case(path_parameters=known, query=query, body=body, media_type=media_type)
        response = send(case, right.who)
        if response.status_code >= 300:
            refused[operation.label] = f"{response.status_code} {response.text[:300]}"

        @hypothesis.settings(
            max_examples=each, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @hypothesis.given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            for name in case.path_parameters or {}:
                if rng.random() < 0.95:
                    case.path_parameters[name] = known[name]
            case.body = asked(case.body, body, rng)
            done[send(case, right.who if rng.random() < 0.8 else rng.choice(list(keys))).status_code] += 1

        ask()

    for operation in every:
        with transaction.atomic():
            try_out(operation)
            transaction.set_rollback(True)

    assert not wrong, "\n".join(f"{name}\n{how}" for name, how in wrong.items())
    assert not refused, "\n".join(f"{name}\n{why}" for name, why in refused.items())
    assert done.total() >= 0.7 * REQUESTS  # some operations have few different requests
    assert done[404] < 0.15 * done.total(), done
    assert done[200] + done[201] + done[202] > done.total() / 3, done


def test_every_valid_request_is_of_an_operation(schema: Any) -> None:
    assert sorted(set(valid.VALID) - {valid.short(operation.label) for operation in operations(schema)}) == []
