"""The API against its own schema: what is generated from it gets no 5xx, and no answer that it does not tell of."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.urls import reverse
from hypothesis import HealthCheck, Phase
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts import actions as accounts
from tests import builders
from tests.builders import ApiOf, Leases

# `make fuzz` asks for more.
REQUESTS = int(os.environ.get("SCHEMA_REQUESTS", "300"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def operations(schema: Any) -> list[Any]:
    return [found.ok() for found in schema.get_all_operations()]


@pytest.fixture
def schema(leases: Leases, api_of: ApiOf) -> Iterator[Any]:
    """A request over WSGI would close the connection and the test's transaction: not here, as in Django's client."""
    said = api_of(leases.manager).get(reverse("api:schema"), HTTP_ACCEPT="application/vnd.oai.openapi+json").json()
    made = schemathesis.openapi.from_dict(said)
    made.app = get_wsgi_application()
    request_started.disconnect(close_old_connections)
    request_finished.disconnect(close_old_connections)
    yield made
    request_started.connect(close_old_connections)
    request_finished.connect(close_old_connections)


def there(leases: Leases) -> dict[str, list[Any]]:
    """What stands in the database, by the names of parameters of paths."""
    builders.label(leases.annas[0])
    return {
        "slug": ["leases"],
        "id": [leases.sheet.pk, leases.annas[0].pk, leases.annas[0].row_id],
    }


def test_answers_are_as_the_schema_says(leases: Leases, schema: Any) -> None:
    every = operations(schema)
    each = max(1, REQUESTS // len(every))
    known = there(leases)
    keys = [accounts.make_token(user=user, name="a program", days=1)[1] for user in (leases.manager, leases.anna)]
    rng = random.Random(1)
    done, wrong = Counter[int](), dict[str, str]()

    for operation in every:

        @hypothesis.settings(
            max_examples=each, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @hypothesis.given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            for name in case.path_parameters or {}:
                if rng.random() < 0.8:
                    case.path_parameters[name] = rng.choice(known.get(name, known["id"]))
            with transaction.atomic():
                response = case.call(headers={"Authorization": f"Token {rng.choice(keys)}"})
                transaction.set_rollback(True)
            done[response.status_code] += 1
            try:
                case.validate_response(response, checks=CHECKS)
            except FailureGroup as group:
                for failure in group.exceptions:
                    note(case, response, failure)
            except Failure as failure:
                note(case, response, failure)

        def note(case: Any, response: Any, failure: Any) -> None:
            name = f"{case.operation.label}: {failure.title} {response.status_code}"
            wrong.setdefault(name, f"{case.as_curl_command()}\n{response.text[:300]}")

        ask()

    assert not wrong, "\n".join(f"{name}\n{how}" for name, how in wrong.items())
    assert done.total() >= 0.7 * REQUESTS  # some operations have few different requests
    assert done[200] > done.total() / 10
