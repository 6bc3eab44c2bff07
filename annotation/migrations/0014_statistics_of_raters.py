"""PostgreSQL's planner knows of each rater how many assignments there are, up to a thousand raters.

By default it knows a hundred, and takes all others to have as many as the average: beside a study of a million labels it
then reads the whole table for a small one.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

ALTER = "ALTER TABLE annotation_assignment ALTER COLUMN rater_id SET STATISTICS %d"


def know_more(apps: Any, schema_editor: Any) -> None:
    _alter(schema_editor, 1000)


def know_less(apps: Any, schema_editor: Any) -> None:
    _alter(schema_editor, -1)


def _alter(schema_editor: Any, most: int) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(ALTER % most)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0013_imported_tables_and_graphs")]
    operations = [migrations.RunPython(know_more, know_less, elidable=False)]
