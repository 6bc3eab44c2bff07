from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from operating import actions
from operating.backups import BackupError


class Command(BaseCommand):
    help = "Write all that this installation holds into one file: database, stored pages, exports, list of models."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, help="a .zip; one that is there is replaced when the new one is complete"
        )

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            manifest = actions.make_backup(file)
        except BackupError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from error
        self.stdout.write(
            f"{file}: {manifest.rows} rows of {len(manifest.tables)} tables, {len(manifest.files)} files, "
            f"{file.stat().st_size} bytes."
        )
