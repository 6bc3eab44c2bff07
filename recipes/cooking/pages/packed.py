"""Pages that were saved as they travelled: gzip and Brotli are unpacked, never past a limit."""

from __future__ import annotations

import gzip
import io
import zlib

import brotli

from base.sentences import gettext as _


class Damaged(Exception):
    """Packed data that cannot be unpacked; its text is the end of a sentence."""


def unpacked(data: bytes, limit: int) -> bytes:
    """`data` as it was before it was packed, or itself; cut one byte behind `limit`.

    Raises:
        Damaged: it begins as gzip does and is none.
    """
    if not data.startswith(b"\x1f\x8b"):
        return _out_of_brotli(data, limit + 1) or data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return file.read(limit + 1)
    except (OSError, EOFError, zlib.error):
        raise Damaged(_("is a damaged gzip file; nothing in it could be read.")) from None


def _out_of_brotli(data: bytes, most: int) -> bytes:
    """The page in Brotli data, b"" if it is none: the format begins with nothing of its own, so it has to be tried."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"<", b""} or _is_text(data):
        return b""
    # More is read than is kept only until the next block ends; 64 KiB of input at a time bound that.
    unpacking, found = brotli.Decompressor(), bytearray()
    try:
        for start in range(0, len(data), 2**16):
            found += unpacking.process(data[start : start + 2**16], output_buffer_limit=most)
            while len(found) < most and not unpacking.can_accept_more_data():
                found += unpacking.process(b"", output_buffer_limit=most)
            if len(found) >= most:
                return bytes(found[:most])
    except brotli.error:
        return b""
    return bytes(found) if unpacking.is_finished() else b""


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
