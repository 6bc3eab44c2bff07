"""Results of searches that were recorded elsewhere: by hand, by a browser, by another program.

As a table: `query`, `url`, and `rank`, `engine`, `sheet`, `title` where they are known. As JSON: a list of such
records, or what SearXNG answers, one answer or a list of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from annotation.exchange.tables import Problems, TableError, check_size, open_table
from base.sentences import gettext_noop
from base.text import storable, whole_number
from recipes.cooking.web.addresses import canonical
from recipes.cooking.web.engines import Result

_NAMES = {
    "sheet": ("sheet", "recipe", "dish", "name"),
    "engine": ("engine", "source"),
    "query": ("query", "q", "search"),
    "rank": ("rank", "position", "place"),
    "url": ("url", "link", "address"),
    "title": ("title",),
}
_NO_ENGINE = "recorded"


@dataclass
class Recorded:
    """One query to one engine. `sheet`: "" where the file does not say."""

    sheet: str
    engine: str
    query: str
    results: list[Result] = field(default_factory=list)


def read(stream: BinaryIO, *, name: str, max_bytes: int) -> tuple[list[Recorded], Problems]:
    """The searches of a file; with problems, nothing of it is to be used.

    Raises:
        TableError: the file as a whole cannot be read.
    """
    problems = Problems(name)
    searches: dict[tuple[str, str, str], Recorded] = {}
    for line, record in _records(stream, name, max_bytes, problems):
        url, query = record["url"], " ".join(record["query"].split())[:400]  # as `query_of` makes it
        rank = whole_number(record["rank"]) if record["rank"] else 0
        if not canonical(url):
            problems.add(line, gettext_noop("“%(url)s” is no address of a web page."), url=url[:200])
        elif not query and not record["sheet"]:
            problems.add(line, gettext_noop("Neither the query nor the sheet of this result is known."))
        elif rank is None or rank < 0:
            problems.add(line, gettext_noop("“%(rank)s” is no rank: 1, 2, 3 and so on."), rank=record["rank"][:40])
        else:
            engine = record["engine"].casefold()[:40] or _NO_ENGINE
            of = searches.setdefault(
                (record["sheet"], engine, query), Recorded(record["sheet"], engine, query or record["sheet"])
            )
            of.results.append(Result(rank or len(of.results) + 1, url, record["title"][:500]))
    for of in searches.values():
        of.results.sort(key=lambda result: result.rank)
        if len({result.rank for result in of.results}) < len(of.results):
            problems.add(0, gettext_noop("Two results of the query “%(query)s” have one rank."), query=of.query)
    if not searches and not problems.total:
        problems.add(0, gettext_noop("There are no results in it."))
    return list(searches.values()), problems


def _records(stream: BinaryIO, name: str, max_bytes: int, problems: Problems) -> Iterator[tuple[int, dict[str, str]]]:
    stream.seek(0)
    if stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        yield from _of_json(stream, name, max_bytes)
        return
    table = open_table(stream, name=name, max_bytes=max_bytes)
    places = _places(table.header)
    if "url" not in places:
        raise TableError(gettext_noop("“%(file)s” has no column “url”."), file=name)
    for line in table.lines(problems):
        yield (
            line.number,
            {key: storable(line.cells[places[key]]).strip() if key in places else "" for key in _NAMES},
        )


def _places(header: tuple[str, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, heading in enumerate(header):
        for key, names in _NAMES.items():
            if heading.strip().casefold() in names:
                found.setdefault(key, place)
    return found


def _of_json(stream: BinaryIO, name: str, max_bytes: int) -> Iterator[tuple[int, dict[str, str]]]:
    check_size(stream, name=name, max_bytes=max_bytes)
    stream.seek(0)
    try:
        data = json.loads(stream.read())
    except (ValueError, RecursionError):
        raise TableError(gettext_noop("“%(file)s” is not readable as JSON."), file=name) from None
    number = 0
    for one in data if isinstance(data, list) else [data]:
        whole: Mapping[str, Any] = one if isinstance(one, dict) else {}
        results = whole.get("results")
        for record in results if isinstance(results, list) else [whole]:
            number += 1
            # What stands beside the results is true of each: the query, and whatever was added to it.
            both = {**whole, **record} if isinstance(record, dict) and isinstance(results, list) else whole
            yield number, _texts(both)


def _texts(record: Mapping[str, Any]) -> dict[str, str]:
    lower = {str(key).casefold(): value for key, value in record.items()}
    found = {}
    for key, names in _NAMES.items():
        value = next((lower[name] for name in names if isinstance(lower.get(name), str | int)), "")
        found[key] = storable(str(value)).strip()
    return found
