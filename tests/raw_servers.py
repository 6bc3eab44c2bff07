"""Servers of this machine that answer byte by byte as a test says, kind ones and hostile ones."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def server(
    *answers: bytes | Callable[[socket.socket], None], host: str = "127.0.0.1"
) -> Iterator[tuple[str, list[bytes]]]:
    """A server that gives one raw answer to each connection, the last one again and again. Yields its address, and the
    requests as they came."""
    listener = socket.create_server((host, 0))
    asked: list[bytes] = []

    def serve() -> None:
        n = 0
        while True:
            try:
                connection, _peer = listener.accept()
            except OSError:
                return
            answer = answers[min(n, len(answers) - 1)]
            n += 1
            with connection:
                try:
                    asked.append(connection.recv(2**16))
                    if callable(answer):
                        answer(connection)
                    else:
                        connection.sendall(answer)
                except OSError:
                    pass

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    try:
        yield f"http://{host}:{listener.getsockname()[1]}", asked
    finally:
        # Who is about to accept by this descriptor would take connections of the next server that gets its number.
        listener.shutdown(socket.SHUT_RDWR)
        serving.join(timeout=1)
        listener.close()


def http(body: bytes = b"<p>Stir.</p>", status: str = "200 OK", **headers: str) -> bytes:
    lines = {"Content-Type": "text/html", "Content-Length": str(len(body))}
    lines |= {key.replace("_", "-"): value for key, value in headers.items()}
    return (
        f"HTTP/1.1 {status}\r\n".encode()
        + b"".join(f"{k}: {v}\r\n".encode() for k, v in lines.items())
        + b"\r\n"
        + body
    )


def dripping(head: bytes, byte: bytes) -> Callable[[socket.socket], None]:
    def drip(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(byte)
            time.sleep(0.05)

    return drip
