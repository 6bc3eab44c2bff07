"""Fetched pages as WARC records (ISO 28500): what was asked, answered and when, for any program that reads WARC."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from recipes.cooking.web.fetching import Answer

# Of the connection, and not true of the record: the chunks are put together.
_OF_THE_CONNECTION = frozenset({"transfer-encoding", "connection", "keep-alive"})


def record(answer: Answer, *, fetched_at: datetime) -> bytes:
    """One response record, gzipped by itself: records put one after the other are a .warc.gz file."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)
    headers = [(key, value) for key, value in answer.headers if key.casefold() not in _OF_THE_CONNECTION]
    made = writer.create_warc_record(
        answer.url,
        "response",
        payload=io.BytesIO(answer.sent),
        http_headers=StatusAndHeaders(f"{answer.status} OK", headers, protocol="HTTP/1.1"),
        warc_headers_dict={
            "WARC-Date": fetched_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "WARC-IP-Address": answer.ip,
        },
    )
    writer.write_record(made)
    made.raw_stream.close()  # a file of the writer's, which it leaves open
    return out.getvalue()


def info(*, name: str, software: str, about: str) -> bytes:
    """The record that opens a file."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)
    writer.write_record(
        writer.create_warcinfo_record(
            name, {"software": software, "description": about, "format": "WARC File Format 1.0"}
        )
    )
    return out.getvalue()


def pages(records: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """The address and the unpacked page of each response record."""
    for one in records:
        for read in ArchiveIterator(io.BytesIO(one)):
            if read.rec_type == "response":
                yield read.rec_headers.get_header("WARC-Target-URI"), read.content_stream().read()
