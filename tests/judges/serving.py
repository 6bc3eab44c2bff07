"""A completion server as a process of its own, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from llm.backends.openai import OpenAIBackend

ROOT = Path(__file__).resolve().parents[2]
ASKING = httpx.Client(trust_env=False)  # to make one takes longer than what it is asked


@dataclass(frozen=True)
class Impatient(OpenAIBackend):
    """Waits less between attempts, and gives up earlier."""

    max_retries: int = field(default=2, kw_only=True)
    back_off_s: float = field(default=0.01, kw_only=True)


class Running:
    """A server process and what can be asked of it."""

    def __init__(self, port: int, process: subprocess.Popen[str]) -> None:
        self.port = port
        self.process = process
        self.origin = f"http://127.0.0.1:{port}"
        self.address = f"{self.origin}/v1"

    def backend(self, model: str = "llama", **settings: Any) -> OpenAIBackend:
        return OpenAIBackend(self.address, model, **{"back_off_s": 0.01, "timeout_s": 20.0, **settings})

    def tell(self, **behaviour: Any) -> None:
        ASKING.post(f"{self.origin}/tell", json=behaviour).raise_for_status()

    def seen(self) -> list[dict[str, Any]]:
        seen: list[dict[str, Any]] = ASKING.get(f"{self.origin}/seen").json()["seen"]
        return seen

    def poured(self) -> int:
        """Parts that it has sent of the answers that drip or flood."""
        return int(ASKING.get(f"{self.origin}/seen").json()["poured"])


@contextmanager
def start(*arguments: str) -> Iterator[Running]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.judges.completion_server", *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield Running(int(process.stdout.readline()), process)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
