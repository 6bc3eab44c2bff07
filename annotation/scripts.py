"""The scripts and the style sheets of a page, joined into one text each: every request is a wait for whoever opens it.

A page's scripts are ES modules: a request for each made the first cell a quarter slower.

Joined, a module stands as it is written, after those that it imports; `import … from` and `export` fall away, since all
names are in one module then. So no two modules of a page may declare one name, a module imports by name and by a
relative address and exports where it declares, and no two need each other. What breaks this is refused here. Comments
that have lines of their own stay behind: with the types that they declare they are a good part of the text.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders

# Page -> the module that starts it; the others are those that it needs.
PAGES = {
    "page": "page/page.js",
    "grid": "grid/grid.js",
    "lens": "lens/lens.js",
    "mending": "page/mending.js",
    "new-judge": "page/new_judge.js",
    "report": "page/report.js",
    "stand-in": "grid/stand_in.js",
    "writing-scheme": "page/writing_scheme.js",
}

# Page -> its style sheets, in their order, where it is a page that somebody waits for; others link to each.
STYLES = {
    "grid": ("base.css", "grid.css"),
    "lens": ("base.css", "grid.css", "lens.css"),
}

_IMPORT = re.compile(r'^import \{([\w\s,]+)\} from "(\.{1,2}/[\w./]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) )", re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://.*|/\*\*.*?\*/)\n", re.MULTILINE)
_LONG_COMMENT = re.compile(r"^ */\*\*\n(?: *\*.*\n)+", re.MULTILINE)
_DECLARED = re.compile(r"^(?:export )?(?:async )?(?:class|const|function|let) (\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*|^(?:const|let|var) [{\[].*", re.MULTILINE)


class CannotJoin(ValueError):
    """A module is written in a way that cannot be joined; the sentence says which and why."""


@dataclass(frozen=True)
class Bundle:
    """`digest` changes with the text, and is a part of its address: a browser may keep it for ever."""

    text: bytes
    zipped: bytes
    digest: str


def bundle(page: str) -> Bundle:
    """The scripts of a page of `PAGES`. While somebody works on them they are read again once one has changed."""
    start = Path(str(finders.find(f"palate/{PAGES[page]}")))
    root = start.parent.parent
    changed = max(path.stat().st_mtime_ns for path in root.rglob("*.js")) if settings.WHITENOISE_AUTOREFRESH else 0
    return _bundle(start, changed)


@lru_cache(maxsize=2 * len(PAGES))
def _bundle(start: Path, changed: int) -> Bundle:
    return _bundled(joined(start))


def styles(page: str) -> Bundle:
    """The style sheets of a page of `STYLES`, read again as scripts are.

    Raises:
        CannotJoin: one of them names another file.
    """
    paths = tuple(Path(str(finders.find(f"palate/{name}"))) for name in STYLES[page])
    changed = max(path.stat().st_mtime_ns for path in paths) if settings.WHITENOISE_AUTOREFRESH else 0
    return _styles(paths, changed)


@lru_cache(maxsize=2 * len(STYLES))
def _styles(paths: tuple[Path, ...], changed: int) -> Bundle:
    texts = [path.read_text(encoding="utf-8") for path in paths]
    for path, text in zip(paths, texts, strict=True):
        if "url(" in text or "@import" in text:
            raise CannotJoin(f"{path.name} names a file, which would not be found beside the joined style sheet.")
    return _bundled("".join(texts))


def _bundled(text: str) -> Bundle:
    whole = text.encode()
    return Bundle(whole, gzip.compress(whole, mtime=0), hashlib.sha256(whole).hexdigest()[:16])


def joined(start: Path) -> str:
    """A module and all that it needs as the text of one module.

    Raises:
        CannotJoin: a module breaks what is said above.
    """
    texts: dict[Path, str] = {}
    exported: dict[Path, set[str]] = {}
    declared: dict[str, Path] = {}

    def read(path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            raise CannotJoin(f"{path.name} needs itself, by way of {above[-1].name}.")
        if path in texts:
            return
        text = path.read_text(encoding="utf-8")
        for names, address in _IMPORT.findall(text):
            other = (path.parent / address).resolve()
            if not other.is_file():
                raise CannotJoin(f"{path.name} imports {address}, which is not there.")
            read(other, (*above, path))
            for name in filter(None, (name.strip() for name in names.split(","))):
                if name not in exported[other]:
                    raise CannotJoin(f"{path.name} imports {name}, which {other.name} does not export.")
        for name in _DECLARED.findall(text):
            if declared.setdefault(name, path) != path:
                raise CannotJoin(f"{path.name} and {declared[name].name} both declare {name}.")
        exported[path] = {name for name in _DECLARED.findall(text) if re.search(rf"^export .*\b{name}\b", text, re.M)}
        text = _EXPORT.sub("", _IMPORT.sub("", _COMMENT.sub("", _LONG_COMMENT.sub("", text))))
        if left := _LEFT.search(text):
            raise CannotJoin(f"{path.name} has a line that cannot be joined: {left.group()}")
        texts[path] = text

    read(start.resolve(), ())
    return "\n".join(f"// --- {path.parent.name}/{path.name} ---\n{text}" for path, text in texts.items())
