"""Pages that were saved as they travelled: gzip, bzip2, xz and Brotli are unpacked, never past a limit."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib

import brotli

from base.sentences import gettext as _
from base.sentences import gettext_noop

_XZ_MEMORY = 2**26
_KINDS = (
    (b"\x1f\x8b", gettext_noop("gzip")),
    (b"BZh", gettext_noop("bzip2")),
    (b"\xfd7zXZ\x00", gettext_noop("xz")),
)


class Damaged(Exception):
    """Packed data that cannot be unpacked; its text is the end of a sentence."""


def unpacked(data: bytes, limit: int) -> bytes:
    """`data` as it was before it was packed, or itself; cut one byte behind `limit`.

    Raises:
        Damaged: it begins as packed data and is none.
    """
    for signature, kind in _KINDS:
        if data.startswith(signature):
            try:
                return _out_of(signature, data, limit + 1)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
                name = _(kind)
                raise Damaged(_("is a damaged %(kind)s file; nothing in it could be read.") % {"kind": name}) from None
    return _out_of_brotli(data, limit + 1) or data


def _out_of(signature: bytes, data: bytes, most: int) -> bytes:
    if signature == b"BZh":
        return bz2.BZ2Decompressor().decompress(data, most)
    if signature != b"\x1f\x8b":
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY).decompress(data, most)
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return file.read(most)


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
