"""The scripts of a page, ES modules, joined into one text: a request for each made the first cell a quarter slower.

Joined, a module stands as it is written, after those that it needs; `import … from` and `export` fall away, since all
names are in one module then. So no two modules of a page may declare one name, a module imports by name and by a
relative address and exports where it declares, and no two need each other. What breaks this is refused here. Comments
that have lines of their own stay behind: with the types that they declare they are a good part of the text.

What a module imports while it runs, `import("./later.js")`, is a part of its own, with all that is needed for it alone:
a page asks for it once its first cell can be used, or not at all. What several parts need is in the page's own text,
which exports it to them. A page and its parts have one digest, so that they find each other by their addresses.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections import Counter
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
    "report": "page/report.js",
}

_IMPORT = re.compile(r'^import \{([\w\s,]+)\} from "(\.{1,2}/[\w./]+\.js)";\n', re.MULTILINE)
_LATER = re.compile(r'\bimport\("(\.{1,2}/[\w./]+\.js)"\)(?!\.[A-Z])')  # not a type
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

    def asked_as(self, digest: str) -> Bundle:
        """The same under another digest, by which its parts are asked for too: those of one page are never mixed."""
        if digest == self.digest:
            return self
        return _zipped(self.text.replace(self.digest.encode(), digest.encode()), digest)


def bundle(page: str) -> Bundle:
    """The scripts of a page of `PAGES`. While somebody works on them they are read again once one has changed.

    Raises:
        KeyError: there is no such page.
    """
    return bundles(page)[page]


def part(name: str) -> Bundle | None:
    """A page's scripts or a part of them, by the name in their address: `grid`, `grid-later`; None if there is none."""
    page = name.split("-", 1)[0]
    return bundles(page).get(name) if page in PAGES else None


def bundles(page: str) -> dict[str, Bundle]:
    """A page's scripts and their parts, by the names in their addresses."""
    start = Path(str(finders.find(f"palate/{PAGES[page]}")))
    root = start.parent.parent
    changed = max(path.stat().st_mtime_ns for path in root.rglob("*.js")) if settings.WHITENOISE_AUTOREFRESH else 0
    return _bundles(page, start, changed)


@lru_cache(maxsize=2 * len(PAGES))
def _bundles(page: str, start: Path, changed: int) -> dict[str, Bundle]:
    texts = joined(start, page)
    digest = hashlib.sha256("\n".join(texts.values()).encode()).hexdigest()[:16]
    return {name: _zipped(text.replace(_DIGEST, digest).encode(), digest) for name, text in texts.items()}


def _zipped(text: bytes, digest: str) -> Bundle:
    return Bundle(text, gzip.compress(text, mtime=0), digest)


_DIGEST = "0-digest-0"  # stands in the texts until it is known


@dataclass(frozen=True)
class _Module:
    path: Path
    text: str
    imports: dict[Path, list[str]]  # module -> the names that are taken from it
    exports: frozenset[str]
    later: dict[str, Path]  # the address as it is written -> module

    @classmethod
    def read(cls, path: Path) -> _Module:
        text = path.read_text(encoding="utf-8")
        exports = frozenset(re.findall(r"^export (?:async )?(?:class|const|function) (\w+)", text, re.MULTILINE))

        def there(address: str) -> Path:
            other = (path.parent / address).resolve()
            if not other.is_file():
                raise CannotJoin(f"{path.name} imports {address}, which is not there.")
            return other

        imports = {
            there(address): [name for name in map(str.strip, names.split(",")) if name]
            for names, address in _IMPORT.findall(text)
        }
        later = {address: there(address) for address in _LATER.findall(_without_comments(text))}
        return cls(path, text, imports, exports, later)


def _without_comments(text: str) -> str:
    return _COMMENT.sub("", _LONG_COMMENT.sub("", text))


def joined(start: Path, page: str = "page") -> dict[str, str]:
    """A module and all that it needs as the text of one module, and its parts: by the names in their addresses.

    Raises:
        CannotJoin: a module breaks what is said above.
    """
    modules: dict[Path, _Module] = {}
    order: list[Path] = []
    declared: dict[str, Path] = {}

    def read(path: Path, above: tuple[Path, ...]) -> None:
        if path in above:
            raise CannotJoin(f"{path.name} needs itself, by way of {above[-1].name}.")
        if path in modules:
            return
        module = _Module.read(path)
        for other, names in module.imports.items():
            read(other, (*above, path))
            for name in names:
                if name not in modules[other].exports:
                    raise CannotJoin(f"{path.name} imports {name}, which {other.name} does not export.")
        for name in _DECLARED.findall(module.text):
            if declared.setdefault(name, path) != path:
                raise CannotJoin(f"{path.name} and {declared[name].name} both declare {name}.")
        modules[path] = module
        order.append(path)

    def needed(path: Path) -> set[Path]:
        return {path}.union(*(needed(other) for other in modules[path].imports))

    start = start.resolve()
    read(start, ())
    parts: dict[Path, set[Path]] = {}
    for path in order:  # which grows
        for other in modules[path].later.values():
            read(other, ())
            parts[other] = needed(other)
    own = needed(start)
    shared = Counter(path for modules_of in parts.values() for path in modules_of)
    own |= {path for path, n in shared.items() if n > 1}
    if twice := own & parts.keys():
        raise CannotJoin(f"{min(twice).name} is a part of the page and needed by another one.")
    names = {path: f"{page}-{path.stem}" for path in parts}
    bodies = {path: _body(modules[path], names) for path in order}
    texts = {}
    exported: set[str] = set()
    for path, mine in parts.items():
        mine -= own
        taken = {
            name for one in mine for other, wanted in modules[one].imports.items() if other in own for name in wanted
        }
        exported |= taken
        head = f'import {{ {", ".join(sorted(taken))} }} from "./{page}-{_DIGEST}.js";\n' if taken else ""
        exports = f"export {{ {', '.join(sorted(modules[path].exports))} }};\n"
        texts[names[path]] = head + "\n".join(bodies[one] for one in order if one in mine) + exports
    tail = f"export {{ {', '.join(sorted(exported))} }};\n" if exported else ""
    return {page: "\n".join(bodies[path] for path in order if path in own) + tail, **texts}


def _body(module: _Module, parts: dict[Path, str]) -> str:
    path = module.path
    text = _EXPORT.sub("", _IMPORT.sub("", _without_comments(module.text)))
    text = _LATER.sub(lambda found: f'import("./{parts[module.later[found[1]]]}-{_DIGEST}.js")', text)
    if left := _LEFT.search(text):
        raise CannotJoin(f"{path.name} has a line that cannot be joined: {left.group()}")
    return f"// --- {path.parent.name}/{path.name} ---\n{text}"
