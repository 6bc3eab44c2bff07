from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from operating import actions, queries
from operating.backups import BackupError


class Command(BaseCommand):
    help = "Fill an empty installation from a backup and compare each table and file by digest; all of it or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--check",
            action="store_true",
            help="only read the backup through, compare it with its digests, and say what is in it",
        )

    def handle(self, *args: Any, file: Path, check: bool, **options: Any) -> None:
        try:
            manifest = actions.check_backup(file) if check else actions.restore(file)
        except BackupError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from error
        what = f"{manifest.rows} rows of {len(manifest.tables)} tables, {len(manifest.files)} files"
        if check:
            told = "it can be read, and its digests fit"
            if not queries.is_of_this_version(manifest):
                told = "it can be read; as its tables are of another version, their rows were only counted"
            self.stdout.write(f"A backup of {manifest.made_at} by Palate {manifest.palate}: {what}; {told}.")
        else:
            self.stdout.write(f"Restored: {what}; the digests are those of the backup of {manifest.made_at}.")
            if unread := queries.unreadable_secrets():
                self.stderr.write(
                    "Not under the SECRET_KEY that is set here: it does not read "
                    f"{', '.join(unread)}. Set the one of the installation that was backed up, or name it in "
                    "SECRET_KEY_FALLBACKS and run “manage.py reencrypt”."
                )
        for model in manifest.models:
            given = ", ".join(f"{name} {value}" for name, value in model.items() if value and name != "name")
            self.stdout.write(f"Model {model['name']}: {given}")
