"""`make client`: the typed client that is generated from the schema, at work with a real server."""

from __future__ import annotations

import subprocess
import sys
import typing
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.live_server_helper import LiveServer

from tests import builders
from tests.builders import COMPLETE, standing

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The client as the Makefile has it made; no part of the schema may be left out with a warning."""
    folder = tmp_path_factory.mktemp("client")
    schema, made = folder / "openapi.yaml", folder / "made"
    call_command("spectacular", "--validate", "--fail-on-warn", file=str(schema))
    generator = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"]
    paths = ["--path", str(schema), "--config", str(ROOT / "config" / "client.yaml"), "--output-path", str(made)]
    subprocess.run([*generator, *paths], check=True, capture_output=True)
    sys.path.insert(0, str(made))
    yield made
    sys.path.remove(str(made))
    for name in [name for name in sys.modules if name.partition(".")[0] == "palate_client"]:
        del sys.modules[name]


def operation(of: str, name: str) -> Any:
    return import_module(f"palate_client.api.{of}.{name}")


@pytest.fixture
def connections() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_a_generated_client_logs_in_labels_and_reads(
    generated: Path, live_server: LiveServer, connections: ExitStack
) -> None:
    leases = builders.leases()
    palate, models = import_module("palate_client"), import_module("palate_client.models")

    def client_of(name: str) -> Any:
        asking = connections.enter_context(palate.Client(base_url=live_server.url))
        password = models.Credentials(username=name, password=name)
        token = operation("token", "token_create").sync(client=asking, body=password).token
        known = palate.AuthenticatedClient(base_url=live_server.url, token=token, prefix="Token")
        return connections.enter_context(known)

    anna = client_of("anna")
    assert operation("default", "root_retrieve").sync(client=anna).user == "anna"
    [study] = operation("studies", "studies_list").sync(client=anna)
    assert isinstance(study, models.Study)
    mine = operation("my", "my_assignments_list").sync(client=anna)
    assert [one.row_name for one in mine] == [one.row.name for one in leases.annas]

    columns = {column.name: column.pk for column in leases.sheet.columns.all()}
    answers = [
        models.Answer(column=columns[column], question=question, option=option)
        for (column, question), option in COMPLETE.items()
    ]
    body = models.Change(key=uuid.uuid4(), answers=answers)
    recorded = operation("assignments", "assignments_labels_create").sync(mine[0].id, client=anna, body=body)
    assert recorded.key == body.key
    assert recorded.state == "started"
    assert standing(leases.annas[0]).items() >= COMPLETE.items()
    submitted = operation("assignments", "assignments_submit_create").sync(mine[0].id, client=anna)
    assert isinstance(submitted, models.Assignment)
    refused = operation("assignments", "assignments_labels_create").sync(
        mine[0].id, client=anna, body=models.Change(key=uuid.uuid4(), answers=answers[:1])
    )
    assert isinstance(refused, models.Refusal)
    assert "take it back first" in refused.detail

    page = operation("studies", "studies_labels_retrieve").sync("leases", client=client_of("rene"), limit=1000)
    assert {(one.column_name, one.question): one.option for one in page.results}.items() >= COMPLETE.items()

    # A parameter that has a key of the study in its name is sent by that name.
    refused = operation("studies", "studies_report_retrieve").sync(
        "leases", client=client_of("rene"), dotted=models.StudiesReportRetrieveDotted.from_dict({"facet.zz": ["x"]})
    )
    assert "facet.zz" in str(refused.to_dict())

    found = operation("studies", "studies_hits_csv_retrieve").sync_detailed("leases", client=client_of("mara"))
    assert found.status_code == 200
    assert found.parsed.payload.read() == found.content
    tables = operation("studies", "studies_tables_export_retrieve")
    for form in models.StudiesTablesExportRetrieveForm:
        found = tables.sync_detailed("leases", client=client_of("mara"), form=form)
        assert (found.status_code, found.parsed.payload.read()) == (200, found.content)


def test_what_it_takes_and_gives_is_typed(generated: Path) -> None:
    assert (generated / "palate_client" / "py.typed").exists()
    labels = operation("studies", "studies_labels_retrieve")
    said = typing.get_type_hints(labels.sync)
    models = import_module("palate_client.models")
    assert models.LabelPage in typing.get_args(said["return"])
    assert said["slug"] is str
    assert str(said["limit"]).startswith("int |")
