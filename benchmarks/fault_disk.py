"""The disk of an installation under faults: small, so that it can be filled, and one that forgets when its power goes.

It is a file system (ext4) of its own, in a file behind a loop device. The power is cut by the file system's own means
for tests: from that moment on it gives nothing to the device any more, neither data nor its journal, and what lies in
the system's memory is dropped. Mounted again, it has what was synced, and of the rest what the system had happened to
write. `noauto_da_alloc` and a rare commit keep ext4 from syncing by itself what nobody has asked it to.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path

SIZE = 900 * 2**20
OPTIONS = "loop,noauto_da_alloc,commit=60"
# ext4's request to go down, and how: without writing its journal first (linux/ext4.h).
_SHUTDOWN = 2 << 30 | 4 << 16 | ord("X") << 8 | 125
_WITHOUT_JOURNAL = struct.pack("I", 2)


class Disk:
    """Mounted at `at` where this process may mount, else a folder. `why`: why it cannot forget, if it cannot."""

    def __init__(self, folder: Path) -> None:
        self.at = folder / "disk"
        self.at.mkdir()
        self._memory, self._image = folder / "device", folder / "device" / "image"
        self._memory.mkdir()
        self.is_mounted, self.forgets, self.why = False, False, ""
        try:
            self._make()
            self._try()
            self.forgets = True
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", None)
            self.why = said.decode().strip() if said else str(error)
            self.close()
            self.is_mounted = not _call("mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=1777", "tmpfs", self.at)

    def _make(self) -> None:
        if not shutil.which("mkfs.ext4"):
            raise OSError("there is no mkfs.ext4")
        # In memory, so that a sync costs no more than on the tmpfs of those who cannot forget.
        _call("mount", "-t", "tmpfs", "-o", f"size={SIZE + 2**20}", "tmpfs", self._memory, check=True)
        with self._image.open("wb") as file:
            file.truncate(SIZE)
        _call("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", self._image, check=True)
        self._mount()
        self.at.chmod(0o1777)
        (self.at / "lost+found").rmdir()

    def _mount(self) -> None:
        _call("mount", "-o", OPTIONS, self._image, self.at, check=True)
        self.is_mounted = True

    def _try(self) -> None:
        """See that what was synced is kept whole, and what was not is forgotten."""
        synced, other = self.at / "synced", self.at / "other"
        synced.write_bytes(b"1" * 100_000)
        self.sync()
        with synced.open("ab") as file:
            file.write(b"2" * 100_000)
            file.flush()
            os.fsync(file.fileno())
        other.write_bytes(b"3" * 100_000)
        self.cut()
        self.mount_again()
        if synced.read_bytes() != b"1" * 100_000 + b"2" * 100_000:
            raise OSError("what was synced is gone after a power cut")
        if other.exists() and other.read_bytes():
            raise OSError("what was not synced is there after a power cut")
        synced.unlink()
        other.unlink(missing_ok=True)

    def sync(self) -> None:
        _call("sync", "-f", self.at, check=True)

    def cut(self) -> None:
        """From now on nothing comes to the device. Processes that write are told so."""
        descriptor = os.open(self.at, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, _WITHOUT_JOURNAL)
        finally:
            os.close(descriptor)

    def mount_again(self) -> None:
        """As the machine finds it when it starts; all who had files open there are dead."""
        for _attempt in range(300):
            if not _call("umount", self.at):
                break
            time.sleep(0.1)  # who was killed is on the way out
        else:
            raise TimeoutError("Somebody still holds files on the disk that had its power cut")
        self.is_mounted = False
        self._mount()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self.is_mounted:
                _call("umount", "-l", self.at)
            if self._memory.is_mount():
                _call("umount", "-l", self._memory)
        self.is_mounted = False


def _call(*command: str | Path, check: bool = False) -> int:
    return subprocess.run(command, check=check, capture_output=True).returncode
