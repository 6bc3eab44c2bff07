"""A mark of each study, which the database draws anew whenever what is many in it changes.

Rows, assignments, labels and skips are too many to be added up at each look at a report. So triggers draw another
random mark of the study whenever one of them is inserted, updated or deleted, by whatever statement. The mark changes
in the transaction that makes the change, so whoever sees the one sees the other: under one mark there is one state.

On PostgreSQL a study has up to `SLOTS` marks, and a transaction draws the one that no other holds, so that annotators
do not wait for each other. On SQLite, which has one writer at a time, it has one.

The triggers are made after each migration, like those of the audit log, and all marks are drawn anew then. A study
without a mark, or a database without all of the triggers, has nothing to go by: `mark_of` says None.
"""

# ruff: noqa: S608 - the SQL is made of names of this module alone
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import connection, connections

from annotation.models import Study

TABLE = "annotation_studymark"
SLOTS = 64
# What is watched, and of which tables and by which condition its study is found, `changed` being its rows.
_OF_STUDY = {
    "annotation_row": ("annotation_sheet s", "s.id = changed.sheet_id"),
    "annotation_assignment": ("annotation_rater s", "s.id = changed.rater_id"),
    "annotation_label": (
        "annotation_column c JOIN annotation_sheet s ON s.id = c.sheet_id",
        "c.id = changed.column_id",
    ),
    "annotation_skip": (
        "annotation_assignment a JOIN annotation_rater s ON s.id = a.rater_id",
        "a.id = changed.assignment_id",
    ),
}
_CHANGES = {"insert": "NEW", "update": "NEW", "delete": "OLD"}
_ALL = len(_OF_STUDY) * len(_CHANGES)
_NAME = "study_mark"
# The first of two keys of PostgreSQL's advisory locks; the second is the slot. Nothing else here locks by two keys.
_LOCK = 7_151_923


def mark_of(study: Study) -> str | None:
    """What identifies the state of a study's rows, assignments, labels and skips, as this statement sees it; None where
    it cannot be told. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_READS[connection.vendor], [study.pk])
        triggers, mark = cursor.fetchone()
    return mark if triggers == _ALL else None


_WATCHED = ", ".join(f"'{table}'::regclass" for table in _OF_STUDY)
_READS = {
    "sqlite": (
        f"SELECT (SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE '{_NAME}%%'), "
        f"(SELECT mark FROM {TABLE} WHERE study_id = %s)"
    ),
    "postgresql": (
        f"SELECT (SELECT count(*) FROM pg_trigger WHERE tgrelid IN ({_WATCHED}) AND tgenabled = 'O' "
        f"AND tgname LIKE '{_NAME}%%'), "
        f"(SELECT md5(string_agg(mark::text, '' ORDER BY slot)) FROM {TABLE} WHERE study_id = %s)"
    ),
}


def mark_studies(using: str, **_signal: Any) -> None:
    """Make the table and the triggers where one is missing, and draw all marks anew then."""
    database = connections[using]
    with database.cursor() as cursor:
        if not {*_OF_STUDY, "annotation_study"} <= set(database.introspection.table_names(cursor)):
            return
        for statement in _TABLES[database.vendor]:
            cursor.execute(statement)
        cursor.execute(_READS[database.vendor], [0])
        if cursor.fetchone()[0] == _ALL:
            return  # so that a `migrate` without anything to do waits for nobody who writes
        for statement in _TRIGGERS[database.vendor]():
            cursor.execute(statement)
        cursor.execute(f"DELETE FROM {TABLE}")
        cursor.execute(_DRAWN[database.vendor])


def unmark_studies(using: str, **_signal: Any) -> None:
    """Before migrations: SQLite alters no table while a trigger of another one names a table that is being remade."""
    database = connections[using]
    if database.vendor == "sqlite":
        with database.cursor() as cursor:
            cursor.execute(f"SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%{_NAME}%'")
            for (name,) in cursor.fetchall():
                cursor.execute(f"DROP TRIGGER {name}")


def _on_sqlite() -> Iterator[str]:
    yield (
        f"CREATE TRIGGER IF NOT EXISTS first_{_NAME} AFTER INSERT ON annotation_study BEGIN "
        f"INSERT OR IGNORE INTO {TABLE} (study_id, mark) VALUES (NEW.id, hex(randomblob(16))); END"
    )
    for table, (of, where) in _OF_STUDY.items():
        for change, rows in _CHANGES.items():
            # An UPDATE, since an INSERT would do as the statement outside says, which may be to ignore conflicts.
            yield (
                f"CREATE TRIGGER IF NOT EXISTS {_NAME}_{change}_{table} AFTER {change} ON {table} BEGIN "
                f"UPDATE {TABLE} SET mark = hex(randomblob(16)) WHERE study_id = "
                f"(SELECT s.study_id FROM {of} WHERE {where.replace('changed', rows)}); END"
            )


def _on_postgresql() -> Iterator[str]:
    for table, (of, where) in _OF_STUDY.items():
        yield f"""
            CREATE OR REPLACE FUNCTION {_NAME}_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
            DECLARE
                studies bigint[];
                mine integer;
            BEGIN
                SELECT array_agg(DISTINCT s.study_id) INTO studies FROM changed, {of} WHERE {where};
                IF studies IS NOT NULL THEN
                    FOR tried IN 0..{SLOTS - 1} LOOP
                        mine := (pg_backend_pid() + tried) % {SLOTS};
                        EXIT WHEN pg_try_advisory_xact_lock({_LOCK}, mine);
                    END LOOP;
                    INSERT INTO {TABLE} (study_id, slot, mark)
                    SELECT study, mine, gen_random_uuid() FROM unnest(studies) study
                    ON CONFLICT (study_id, slot) DO UPDATE SET mark = excluded.mark;
                END IF;
                RETURN NULL;
            END $$"""
        for change, rows in _CHANGES.items():
            yield (
                f"CREATE OR REPLACE TRIGGER {_NAME}_{change} AFTER {change} ON {table} "
                f"REFERENCING {rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION {_NAME}_{table}()"
            )
        # A table that is emptied at once does not tell whose its rows were.
        yield (
            f"CREATE OR REPLACE FUNCTION emptied_{_NAME}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN DELETE FROM {TABLE}; RETURN NULL; END $$"
        )
        yield (
            f"CREATE OR REPLACE TRIGGER emptied_{_NAME} AFTER TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION emptied_{_NAME}()"
        )


_TRIGGERS = {"sqlite": _on_sqlite, "postgresql": _on_postgresql}
_TABLES = {
    "sqlite": [f"CREATE TABLE IF NOT EXISTS {TABLE} (study_id integer PRIMARY KEY, mark text NOT NULL)"],
    "postgresql": [
        f"CREATE TABLE IF NOT EXISTS {TABLE} (study_id bigint, slot smallint, mark uuid NOT NULL, "
        "PRIMARY KEY (study_id, slot)) WITH (fillfactor = 50)"
    ],
}
_DRAWN = {
    "sqlite": f"INSERT INTO {TABLE} (study_id, mark) SELECT id, hex(randomblob(16)) FROM annotation_study",
    "postgresql": f"INSERT INTO {TABLE} (study_id, slot, mark) SELECT id, 0, gen_random_uuid() FROM annotation_study",
}
