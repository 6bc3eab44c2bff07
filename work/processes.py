"""Names of worker processes, and whether the process behind a name is gone. Pure."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def this_process() -> str:
    return f"{_host()}:{os.getpid()}"


def is_dead(name: str) -> bool:
    """Whether the process of this name is known to be gone. Nothing is known of processes of other hosts."""
    host, _colon, pid = name.rpartition(":")
    if host != _host() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it is there, and somebody else's
        return False
    return False


def _host() -> str:
    """This host, and in it the space in which process ids count: containers that share a name have ids of their own."""
    try:
        space = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:  # not Linux
        space = ""
    return f"{socket.gethostname()[:90]}/{space}"
