"""What `manage.py check` and each `migrate` say of settings with which production starts, and is not safe."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Tags, Warning, register

_FEW_SIGNS = 8


@register(Tags.security)
def unsafe(**_asked: Any) -> list[Warning]:
    if settings.PALATE_ENV != "production":
        return []
    found = []
    if "*" in settings.ALLOWED_HOSTS:
        found.append(
            Warning(
                "ALLOWED_HOSTS takes any name: links of invitations and new passwords lead to whatever host is asked.",
                hint="Name the hosts of this installation.",
                id="palate.W001",
            )
        )
    if not settings.SECURE_SSL_REDIRECT:
        found.append(
            Warning(
                "HTTPS is off: passwords and sessions go over the network for all to read.",
                hint="Leave it off for a first look alone.",
                id="palate.W002",
            )
        )
    if len(set(settings.SECRET_KEY)) < _FEW_SIGNS:
        found.append(
            Warning(
                "SECRET_KEY is made of a few signs over and over: who guesses it logs in as anybody.",
                hint="`openssl rand -hex 32` makes one.",
                id="palate.W003",
            )
        )
    if _others_read(settings.BASE_DIR / ".env"):
        found.append(
            Warning(
                "Every user of this machine can read .env: SECRET_KEY logs in as anybody.",
                hint="`chmod 600 .env`, as the user as whom Palate runs.",
                id="palate.W004",
            )
        )
    return found


def _others_read(file: Path) -> bool:
    try:
        return bool(file.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False
