"""What stands in a file `.env`."""

from __future__ import annotations

import os
from pathlib import Path

from dotenv import load_dotenv  # environs stands on it


def read(folder: Path) -> None:
    """Set the environment variables of a folder's `.env` that are not set already, in production alone: a demo or a
    test in the same folder must not meet the settings of the installation.

    They are set for everybody, not kept by who asks here: libraries, and what looks for keys by their names, read the
    environment itself.
    """
    if os.environ.get("PALATE_ENV", "production") == "production":
        load_dotenv(folder / ".env")
