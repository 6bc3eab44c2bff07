"""Errors to Sentry, or whatever speaks its protocol: types and places in the code, no text that people wrote.

Imported only where `SENTRY_DSN` is set.
"""

from __future__ import annotations

from typing import Any

import sentry_sdk

from base import logs


def start(dsn: str, *, environment: str) -> None:
    sentry_sdk.init(**options(dsn, environment=environment))


def options(dsn: str, *, environment: str) -> dict[str, Any]:
    """Of `sentry_sdk.init`. No bodies, no variables of functions, no trail of what was logged before."""
    return {
        "dsn": dsn,
        "environment": environment,
        "max_request_body_size": "never",
        "include_local_variables": False,
        "max_breadcrumbs": 0,
        "before_breadcrumb": lambda crumb, hint: None,
        "before_send": bare,
    }


def bare(event: Any, hint: dict[str, Any]) -> Any:
    """The event without what may be text: what exceptions say, parts of messages, query strings, cookies."""
    for error in (event.get("exception") or {}).get("values", ()):
        error["value"] = "…"
    record = hint.get("log_record")
    if record is not None:
        event["logentry"] = {"message": logs.message_of(record)}
    request = event.pop("request", None) or {}
    if "method" in request:
        event["request"] = {"method": request["method"]}
    for part in ("extra", "breadcrumbs", "user", "modules"):
        event.pop(part, None)
    # The route stands in `transaction`, the context's numbers here.
    event["tags"] = {name: str(value) for name, value in logs.now_about().items()}
    return event
