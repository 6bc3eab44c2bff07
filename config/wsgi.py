from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import django
from django.core.exceptions import TooManyFieldsSent
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class Request(WSGIRequest):
    """Django reads the query while it makes a request, and fails there if that is said to be in what is no text's
    charset, before anything could refuse it. `operating.middleware.readable` does."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        with suppress(LookupError, UnicodeError, TooManyFieldsSent):
            super()._set_content_type_params(meta)  # type: ignore[misc]  # the stubs leave it out


class Handler(WSGIHandler):
    request_class = Request


django.setup(set_prefix=False)
application = Handler()
