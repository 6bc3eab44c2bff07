"""A small web on this machine: recipe pages on several hosts, a search engine that answers as SearXNG does, and all
that makes fetching hard. For tests, for a demo, and for measuring.

    python -m benchmarks.recipe_web [--pages FOLDER] [--port 8090]

prints the environment with which an installation searches and fetches it. FOLDER has a folder of pages a dish (.html or
.html.gz); by default that is ../shared/data/recipe-pages, or else the demo's pages.

The hosts are 127.0.0.1 (the engine), and 127.0.0.2 to 127.0.0.4 (the sites). For each dish the engine finds its pages,
and among them: a redirect, the same page at another address, a dead link, a page that robots.txt forbids, one that a
server gives slowly, one that never ends, a page of 60 MB, a gzip bomb, a page without a recipe, a PDF file, a private
address, and a redirect to one. 127.0.0.3 does not want the agents of AI companies, 127.0.0.4 reserves text and data
mining.
"""

from __future__ import annotations

import argparse
import gzip
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data" / "recipe-pages"
DEMO = ROOT / "recipes" / "memorization" / "demo" / "pages"
ENGINE, PLAIN, NO_AI, RESERVED = "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"
SITES = (PLAIN, NO_AI, RESERVED)
LARGE = 60 * 2**20  # bytes
PAGE_OF_RESULTS = 10

_ROBOTS = {
    PLAIN: "User-agent: *\nDisallow: /forbidden/\n",
    NO_AI: "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\nAllow: /\n",
}
_TDMREP = {RESERVED: [{"location": "/*", "tdm-reservation": 1}]}
_NO_RECIPE = b"<html><title>About us</title><body><h1>About us</h1><p>We are a family of cooks.</p></body></html>"


@dataclass(frozen=True)
class Asked:
    """One request as it came: seconds since the start, host, path, and who asked."""

    at: float
    host: str
    path: str
    agent: str


@dataclass
class RecipeWeb:
    """The servers. `hard`: whether the engine finds more than plain pages; `pause`: seconds before a slow answer."""

    pages: dict[str, list[tuple[str, bytes]]]
    port: int
    hard: bool = True
    pause: float = 3.0
    asked: list[Asked] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    @property
    def searxng(self) -> str:
        return f"http://{ENGINE}:{self.port}"

    def url(self, dish: str, number: int) -> str:
        """The address of a dish's page; numbers begin at 1."""
        return f"http://{SITES[number % len(SITES)]}:{self.port}/{dish}/{number}"

    def results(self, query: str) -> list[tuple[str, str]]:
        """Address and title of all that the engine finds for the dishes that a query names."""
        found: list[tuple[str, str]] = []
        for dish, pages in self.pages.items():
            if dish.casefold().rstrip("s") not in query.casefold():
                continue
            plain = [(self.url(dish, number), f"{dish} {number}") for number in range(1, len(pages) + 1)]
            found += _mixed(plain, self._hard(dish)) if self.hard else plain
        return found

    def _hard(self, dish: str) -> list[tuple[str, str]]:
        at = f"http://{PLAIN}:{self.port}"
        return [
            (f"{at}/moved/{dish}/2", "moved"),
            (f"{self.url(dish, 1)}/?utm_source=newsletter#top", "the first one again"),
            (f"{at}/gone/{dish}", "gone"),
            (f"{at}/forbidden/{dish}", "forbidden"),
            ("http://169.254.169.254/latest/meta-data/", "the cloud's own"),
            (f"{at}/inside/{dish}", "a way inside"),
            (f"{at}/large/{dish}", "60 MB"),
            (f"{at}/bomb/{dish}", "a gzip bomb"),
            (f"{at}/about/{dish}", "no recipe"),
            (f"{at}/pdf/{dish}", "a PDF file"),
            (f"{at}/drip/{dish}", "a byte a second"),
            (f"{at}/round/{dish}", "round and round"),
            (f"{at}/slow/{dish}/3", "slow"),
            ("http://10.0.0.1/recipe", "a private address"),
            (f"http://0x7f.1:{self.port + 1}/recipe", "nobody there"),
        ]

    @contextmanager
    def running(self) -> Iterator[RecipeWeb]:
        servers = [_Server((host, self.port), self) for host in (ENGINE, *SITES)]
        for server in servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield self
        finally:
            for server in servers:
                server.shutdown()
                server.server_close()


def load(folder: Path) -> dict[str, list[tuple[str, bytes]]]:
    """{dish: [(file name, page)]}."""
    dishes = {}
    for dish in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted([*dish.glob("*.html"), *dish.glob("*.html.gz")])
        dishes[dish.name] = [
            (file.name, gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())
            for file in files
        ]
    return dishes


def _mixed(plain: list[tuple[str, str]], hard: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """One hard result after each plain one, and the rest of either at the end."""
    mixed = [one for pair in zip(plain, hard, strict=False) for one in pair]
    return [*mixed, *plain[len(hard) :], *hard[len(plain) :]]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], web: RecipeWeb) -> None:
        self.web = web
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        web, host = self.server.web, str(self.server.server_address[0])
        web.asked.append(Asked(time.monotonic() - web.began, host, self.path, self.headers.get("User-Agent", "")))
        at = urlsplit(self.path)
        parts = [part for part in at.path.split("/") if part]
        try:
            if host == ENGINE:
                self._search(at.path, at.query)
            elif at.path == "/robots.txt":
                self._text(_ROBOTS.get(host))
            elif at.path == "/.well-known/tdmrep.json":
                self._text(json.dumps(_TDMREP[host]) if host in _TDMREP else None)
            elif len(parts) > 1 and (answer := getattr(self, f"_{parts[0]}", None)) is not None:
                answer(parts[1:])
            else:
                self._page(parts)
        except (BrokenPipeError, ConnectionResetError):
            pass  # who asked has had enough

    def log_message(self, *_args: Any) -> None:
        pass

    def _answer(self, status: int, body: bytes = b"", kind: str = "text/html; charset=utf-8", **headers: str) -> None:
        self.send_response(status)
        for key, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def _text(self, text: str | None) -> None:
        self._answer(404 if text is None else 200, (text or "").encode(), "text/plain")

    def _search(self, path: str, query: str) -> None:
        asked = {key: values[0] for key, values in parse_qs(query).items()}
        if path != "/search" or asked.get("format") != "json":
            self._answer(403)
            return
        found = self.server.web.results(asked.get("q", ""))
        start = PAGE_OF_RESULTS * (int(asked.get("pageno", "1")) - 1)
        results = [
            {"url": url, "title": title, "content": "", "engine": "loopback", "score": 1.0}
            for url, title in found[start : start + PAGE_OF_RESULTS]
        ]
        self._answer(200, json.dumps({"query": asked.get("q", ""), "results": results}).encode(), "application/json")

    def _page(self, parts: list[str]) -> None:
        pages = self.server.web.pages.get(parts[0], []) if parts else []
        number = int(parts[1]) if len(parts) == 2 and parts[1].isdecimal() else 0
        if not 0 < number <= len(pages):
            self._answer(404)
            return
        self._answer(200, gzip.compress(pages[number - 1][1]), Content_Encoding="gzip")

    def _moved(self, parts: list[str]) -> None:
        self._answer(301, Location=self.server.web.url(parts[0], int(parts[1])))

    def _gone(self, _parts: list[str]) -> None:
        self._answer(410)

    def _forbidden(self, parts: list[str]) -> None:
        self._page([parts[0], "1"])

    def _inside(self, _parts: list[str]) -> None:
        self._answer(302, Location="http://192.168.0.1/admin")

    def _large(self, _parts: list[str]) -> None:
        """60 MB that state no length."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        for _ in range(LARGE // 2**16):
            self.wfile.write(b"<p>flour</p>".ljust(2**16))

    def _bomb(self, _parts: list[str]) -> None:
        """64 MB of nothing in 64 kB."""
        self._answer(200, _bomb(), Content_Encoding="gzip")

    def _about(self, _parts: list[str]) -> None:
        self._answer(200, _NO_RECIPE)

    def _pdf(self, _parts: list[str]) -> None:
        self._answer(200, b"%PDF-1.7", "application/pdf")

    def _drip(self, _parts: list[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        while True:
            self.wfile.write(b"<")
            self.wfile.flush()
            time.sleep(0.2)

    def _round(self, parts: list[str]) -> None:
        self._answer(302, Location=f"/round/{parts[0]}?{time.monotonic_ns()}")

    def _slow(self, parts: list[str]) -> None:
        time.sleep(self.server.web.pause)
        self._page(parts)


_bombs: list[bytes] = []


def _bomb() -> bytes:
    if not _bombs:
        _bombs.append(gzip.compress(bytes(2**26)))
    return _bombs[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=Path, default=SHARED if SHARED.is_dir() else DEMO, metavar="FOLDER")
    parser.add_argument("--port", type=int, default=8090)
    given = parser.parse_args()
    web = RecipeWeb(load(given.pages), given.port)
    with web.running():
        n = sum(map(len, web.pages.values()))
        print(f"{n} pages of {', '.join(web.pages)}. Start the installation and its workers with:\n")
        print(f"  SEARXNG_URL={web.searxng} PALATE_FETCH_LOOPBACK=1\n", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
