"""`make demo`: one process that prepares the demo, starts the web server and a worker, and stops both with itself."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
PATIENCE_SECONDS = 60


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the Palate demo on this machine.")
    parser.add_argument("--port", type=int, default=8000)
    port: int = parser.parse_args().port
    os.chdir(ROOT)
    os.environ.setdefault("PALATE_ENV", "demo")
    # Threads of the judge's libraries must not spin beside the web server; see config/celery.py.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if not _is_free(port):
        print(f"Port {port} is taken. Stop what listens there, or choose another: make demo PORT=8001", file=sys.stderr)
        return 1
    log = Path(os.environ.get("PALATE_VAR") or ROOT / "var") / "log"
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log.mkdir(exist_ok=True)

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):  # a closed terminal ends the demo as Ctrl-C does
        signal.signal(number, stop)
    children: list[subprocess.Popen[bytes]] = []
    chain: subprocess.Popen[bytes] | None = None
    try:
        print("Preparing the demo …", flush=True)
        _manage("migrate", "--verbosity", "0")
        logins = _manage("build_demo")
        web_log, worker_log = (log / "web.log").open("wb"), (log / "worker.log").open("wb")
        web = [PYTHON, "-m", "gunicorn", "-c", "config/gunicorn.py", "--bind", f"127.0.0.1:{port}", "--workers", "1"]
        worker = [PYTHON, "-m", "celery", "-A", "config", "worker", "-B", "-c", "1", "-Q", "cpu", "-l", "info"]
        for command, file in ((web, web_log), (worker, worker_log)):
            # A session of their own: Ctrl-C reaches this process alone, which then stops the whole group of each.
            children.append(
                subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)  # noqa: S603
            )
        if not _wait_until_up(f"http://127.0.0.1:{port}/healthz", children[0]):
            print(f"The web server did not start; see {log / 'web.log'}.", file=sys.stderr)
            return 1
        # From a name to a verdict by the small model alone: it ends by itself, and goes on at the next start.
        chain = subprocess.Popen(  # noqa: S603
            [PYTHON, "manage.py", "demo_chain"],
            stdout=(log / "chain.log").open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        _greet(port, logins, log)
        while all(child.poll() is None for child in children):
            time.sleep(0.5)
        print(f"One of the processes stopped by itself; see {log}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopping …", flush=True)
        return 0
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave a child behind
        _stop([*children, *([chain] if chain else [])])


def _manage(*arguments: str) -> str:
    """Run a management command; what it prints on standard output. It ends with this process."""
    command = [PYTHON, "manage.py", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, start_new_session=True)  # noqa: S603
    return done.stdout


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _wait_until_up(url: str, server: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 (our own address)
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    return False


def _greet(port: int, logins: str, log: Path) -> None:
    print(
        f"""
Palate is at http://127.0.0.1:{port}/

There, a click logs in as any of these:

{logins}
A small language model is labelling the demo's documents now, beside a lexical baseline: log in as manager and look at
Judges. Another dish, “Demo dish”, goes from its name to a verdict by the small model alone: its page Steps says what is
whose work. Logs: {log}.
Ctrl-C stops everything.
""",
        flush=True,
    )


def _stop(children: list[subprocess.Popen[bytes]]) -> None:
    """End each child and what it started: politely, then by force."""
    for child in children:
        # The worker drops its row at once; another one takes it up later (work.actions.recover).
        child.send_signal(signal.SIGQUIT if "celery" in child.args else signal.SIGTERM)  # type: ignore[operator]
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any(child.poll() is None for child in children):
        time.sleep(0.1)
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


if __name__ == "__main__":
    raise SystemExit(main())
