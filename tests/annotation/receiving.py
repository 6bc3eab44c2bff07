"""A program of somebody's that is called: a real server of this machine, and what a worker does to call it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.db.models import F

from annotation.models import Delivery, Study, User, Webhook
from annotation.webhooks import actions
from annotation.webhooks.delivering import DELIVERING
from work import actions as machine

ORIGIN = "https://palate.example"


@dataclass(frozen=True)
class Call:
    path: str
    headers: dict[str, str]  # names in small letters
    body: bytes

    @property
    def told(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """Answers with the statuses in their order, the last one again and again; `says` is the body of each answer."""

    address: str = ""
    statuses: list[int] = field(default_factory=lambda: [200])
    says: bytes = b""
    calls: list[Call] = field(default_factory=list)

    @property
    def told(self) -> list[Any]:
        return [call.told for call in self.calls]

    @property
    def events(self) -> list[str]:
        return [one["type"] for one in self.told]


@contextmanager
def receiver() -> Iterator[Receiver]:
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.calls.append(Call(self.path, {key.lower(): value for key, value in self.headers.items()}, body))
            status = made.statuses.pop(0) if len(made.statuses) > 1 else made.statuses[0]
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", f"{made.address}/elsewhere")
            self.send_header("Content-Length", str(len(made.says)))
            self.end_headers()
            self.wfile.write(made.says)

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def made_hook(study: Study, address: str, *events: str, by: User | None = None) -> tuple[Webhook, str]:
    told = events or tuple(Webhook.Event.values)
    return actions.make_webhook(study=study, address=f"{address}/hook", events=told, origin=ORIGIN, by=by)


def deliver(*, then: bool = True) -> int:
    """What workers do with all that waits and is due. `then`: the recovery looks after it first, as every 15 s."""
    if then:
        machine.recover()
    pks = list(Delivery.objects.filter(state="queued").order_by("pk").values_list("pk", flat=True))
    return machine.do_items(kind=DELIVERING, item_ids=pks)


def later(passed: timedelta) -> None:
    """Let time pass: everything that clocks say of webhooks lies that much further back."""
    for name in ("not_before", "lease_until", "wanted_at", "made_at", "tried_at", "done_at"):
        Delivery.objects.exclude(**{name: None}).update(**{name: F(name) - passed})
    for name in ("started_at", "ended_at", "enqueued_at", "rest_until", "failing_since", "earlier_until"):
        Webhook.objects.exclude(**{name: None}).update(**{name: F(name) - passed})


def states(hook: Webhook) -> Sequence[tuple[str, int, int | None]]:
    return list(hook.items.order_by("pk").values_list("state", "attempts", "status"))
