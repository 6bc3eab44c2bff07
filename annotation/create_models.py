"""Tables of a new database, in squashed migrations."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation, OperationCategory
from django.db.migrations.state import ProjectState


class CreateModels(Operation):
    """Makes the tables of many models, which may refer to each other in any order.

    After each `CreateModel` of its own Django draws all models anew that are related to it, which took most of the time
    of a new database. Here they are drawn once.
    """

    category = OperationCategory.ADDITION

    def __init__(self, models: Sequence[CreateModel], *, app_label: str = "") -> None:
        """`app_label`: whose they are, if not of the migration's app."""
        self._models = models
        self._app_label = app_label

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        if "apps" in state.__dict__:  # to ask for them would draw them
            del state.apps
        for model in self._models:
            model.state_forwards(self._app_label or app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for model in self._models:
            model.database_forwards(self._app_label or app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for model in reversed(self._models):
            model.database_backwards(self._app_label or app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create models {', '.join(model.name for model in self._models)}"
