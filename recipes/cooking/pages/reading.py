"""Recipe pages from files: unpacked, decoded, read, or refused with a sentence that names the file."""

from __future__ import annotations

import codecs
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from base import zips
from base.sentences import gettext as _
from base.sentences import gettext_noop
from recipes.cooking.pages import library, outline, packed, structured
from recipes.cooking.pages.crowded import MOST_ATTRIBUTES, is_crowded
from recipes.cooking.pages.finding import read_recipe
from recipes.cooking.pages.head import Head

MAX_PAGE_BYTES = 8 * 2**20
MAX_MEMBERS = 10_000
_PAGE_SUFFIXES = {
    "",
    ".html",
    ".htm",
    ".xhtml",
    ".shtml",
    ".testhtml",
    ".php",
    ".asp",
    ".aspx",
    ".jsp",
    ".mht",
    ".mhtml",
}
_TAG = re.compile(
    r"<(?:!doctype html|html|head|body|div|p|ul|ol|li|h[1-6]|table|article|section|main|span|br)\b", re.IGNORECASE
)
_SIGNATURES = (
    (b"%PDF", gettext_noop("a PDF file")),
    (b"\x89PNG", gettext_noop("an image")),
    (b"\xff\xd8\xff", gettext_noop("an image")),
    (b"GIF8", gettext_noop("an image")),
    (b"RIFF", gettext_noop("an image or a sound")),
    (b"PK\x03\x04", gettext_noop("a ZIP archive or an office document")),
    (b"7z\xbc\xaf", gettext_noop("an archive")),
    (b"\xd0\xcf\x11\xe0", gettext_noop("an office document")),
    (b"BZh", gettext_noop("packed data")),
    (b"\xfd7zXZ", gettext_noop("packed data")),
    (b"\x28\xb5\x2f\xfd", gettext_noop("packed data")),
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
# What browsers read where a page declares the key: the larger encoding that its letters stand for.
_ENCODINGS = {
    **dict.fromkeys(("iso-8859-1", "latin1", "us-ascii", "ascii"), "windows-1252"),
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis"), "cp932"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
    "iso-8859-9": "windows-1254",
}
_OLD_ENCODINGS = {
    **dict.fromkeys(("cs", "sk", "pl", "hu", "hr", "sl", "ro"), "windows-1250"),
    **dict.fromkeys(("ru", "uk", "bg"), "windows-1251"),
    "el": "windows-1253",
    "tr": "windows-1254",
    "he": "windows-1255",
    "ar": "windows-1256",
    "ja": "cp932",
    "zh": "gb18030",
    "ko": "cp949",
}


# Python's codecs that no page is in, of which some take time by the square of the length.
_NO_PAGE = frozenset(
    {"punycode", "idna", "unicode_escape", "unicode-escape", "raw_unicode_escape", "raw-unicode-escape"}
)


class PageRefused(Exception):
    """A file that is no readable recipe page; its text is a sentence that names the file."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"{source} {reason}")


@dataclass(frozen=True)
class Page:
    """One recipe page as evidence.

    `source`: the file's name in its folder or ZIP; `url`: what the page states, else ""; `language`: a tag such as
    "en-GB" or ""; `parser`: the routes that found the lines ("recipe-scrapers:<host>", "schema.org", "text"); `html`:
    the unpacked page; `doubts`: why the reading may be wrong, keys of `doubts.SENTENCES`.
    """

    source: str
    url: str
    host: str
    title: str
    language: str
    ingredients: tuple[str, ...]
    steps: tuple[str, ...]
    parser: str
    html: bytes
    doubts: tuple[str, ...] = ()


def read_folder(path: Path) -> Iterator[Page | PageRefused]:
    """The pages in a folder and its sub-folders in the order of their names, as `read_files` gives them.

    Files that are neither pages nor ZIP archives by their suffix are passed over in silence: data, pictures, notes.
    """
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if file.is_file() and (_is_page_name(name) or file.suffix.casefold() == ".zip"):
            with file.open("rb") as stream:
                yield from read_files([(name, stream)])


def read_files(
    files: Iterable[tuple[str, bytes | BinaryIO]], *, max_bytes: int = MAX_PAGE_BYTES
) -> Iterator[Page | PageRefused]:
    """Each file as a page or the refusal of it, one at a time; a ZIP archive as its members.

    Args:
        files: names and contents. Streams are read here, not closed.
        max_bytes: limit of one page after unpacking, in bytes.
    Inside an archive, files that are no pages by their suffix, hidden files, `__MACOSX` and the `_files` folders that
    browsers save beside a page are passed over in silence; whatever is named here directly is read or refused.
    """
    for name, content in files:
        stream = io.BytesIO(content) if isinstance(content, bytes) else content
        start = stream.read(4)
        stream.seek(0)
        if start == b"PK\x03\x04" or start == b"PK\x05\x06":
            yield from _read_archive(name, stream, max_bytes)
        else:
            yield _read_or_refuse(name, stream, max_bytes)


def count_pages(streams: Iterable[BinaryIO]) -> int:
    """How many pages `read_files` will give, or refuse, without reading them. They are left at their beginning."""
    n = 0
    for stream in streams:
        try:
            with zips.opened(stream) as archive:
                n += sum(not member.is_dir() and _is_page_name(member.filename) for member in archive.infolist())
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
            n += 1
        stream.seek(0)
    return n


def read_page(name: str, data: bytes, *, url: str = "", max_bytes: int = MAX_PAGE_BYTES) -> Page:
    """The recipe in one page.

    Args:
        name: the file's name, for the refusal and `Page.source`.
        data: the page, packed (gzip, Brotli) or not.
        url: where it came from, if known; else the page's own statement counts.
        max_bytes: limit after unpacking, in bytes.
    Raises:
        PageRefused: empty, too large, not HTML, or without one recipe.
    """
    data = _unpacked(name, data, max_bytes)
    text = text_of(name, data)
    root = outline.parse(text)
    if root is None:
        raise PageRefused(name, _("is not HTML: nothing in it could be read as markup."))
    head, nodes = Head(text), structured.json_nodes(root)
    urls = [url] * bool(url) + structured.addresses(text, root, head, nodes)
    judged = read_recipe(text, root, head, nodes, urls=urls)
    if isinstance(judged, str):
        raise PageRefused(name, judged)
    extract = judged.extract
    stated = urls[0] if urls else ""
    return Page(
        source=name,
        url=stated,
        host=library.host_of(stated),
        title=extract.title or structured.heading_of(root, head),
        language=structured.language_of(root, head) or extract.language,
        ingredients=extract.ingredients,
        steps=extract.steps,
        parser=extract.parser,
        html=data,
        doubts=judged.doubts,
    )


# --- files


def _read_or_refuse(name: str, stream: BinaryIO, max_bytes: int) -> Page | PageRefused:
    try:
        # One byte more than allowed is enough to refuse; a gzipped page is never larger than the page it holds.
        return read_page(name, stream.read(max_bytes + 1), max_bytes=max_bytes)
    except PageRefused as refused:
        return refused


def _read_archive(name: str, stream: BinaryIO, max_bytes: int) -> Iterator[Page | PageRefused]:
    try:
        archive = zips.opened(stream)
        members = [member for member in archive.infolist() if not member.is_dir() and _is_page_name(member.filename)]
    except zips.TooManyFiles:
        yield PageRefused(name, _("holds more files than can be read at once; split it."))
        return
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        yield PageRefused(name, _("is a damaged ZIP archive; nothing in it could be read. Pack it again."))
        return
    if not members:
        yield PageRefused(name, _("holds no web page: no file in it ends in .html, .htm or .html.gz."))
    if len(members) > MAX_MEMBERS:
        yield PageRefused(
            name,
            _("holds %(count)s pages, more than the %(max_members)s of one import; split it.")
            % {"count": len(members), "max_members": MAX_MEMBERS},
        )
        return
    for member in members:
        try:
            with archive.open(member) as file:
                content = file.read(max_bytes + 1)
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            RuntimeError,
            ValueError,
            OSError,
            EOFError,
            zlib.error,
            lzma.LZMAError,
        ):
            # RuntimeError is zipfile's word for a password
            yield PageRefused(
                member.filename,
                _("could not be unpacked from %(name)s: it is damaged or has a password.") % {"name": name},
            )
            continue
        yield _read_or_refuse(member.filename, io.BytesIO(content), max_bytes)


def _is_page_name(name: str) -> bool:
    path = PurePosixPath(name)
    if any(part.startswith((".", "__MACOSX")) or part.endswith("_files") for part in path.parts):
        return False
    # Programs that save pages by their addresses put what is asked behind the name: “recipe.php?id=5”.
    path = PurePosixPath(re.split("[?@]", path.name)[0])
    suffix = path.suffix.casefold()
    if suffix == ".gz":
        suffix = PurePosixPath(path.stem).suffix.casefold()
    return suffix in _PAGE_SUFFIXES or suffix[1:].isdecimal()  # “chili-2.0”


def _unpacked(name: str, data: bytes, max_bytes: int) -> bytes:
    try:
        data = packed.unpacked(data, max_bytes)
    except packed.Damaged as damaged:
        raise PageRefused(name, str(damaged)) from None
    if len(data) > max_bytes:
        raise PageRefused(name, _("is larger than %(size)s, the limit for one page.") % {"size": _megabytes(max_bytes)})
    return data


def _megabytes(count: int) -> str:
    return f"{count / 2**20:g} MB" if count >= 2**20 else f"{count} bytes"


def text_of(name: str, data: bytes) -> str:
    """The page as text, or its refusal as no HTML."""
    if not data.strip():
        raise PageRefused(name, _("is empty."))
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            raise PageRefused(name, _("is not HTML: it looks like %(kind)s.") % {"kind": _(kind)})
    text = decoded(data)
    if text.count("\x00") > len(text) / 100 or len(_CONTROL.findall(text, 0, 4096)) > min(len(text), 4096) / 50:
        raise PageRefused(name, _("is not HTML: it holds binary data."))
    if text.lstrip()[:1] in {"{", "["}:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            raise PageRefused(name, _("is not HTML: it holds JSON data."))
    if (
        re.match(r"\s*(?:From|MIME-Version|Snapshot-Content-Location): ", text)
        and "\nContent-Type: multipart/" in text[:4096]
    ):
        raise PageRefused(name, _("is an MHTML archive; save the page again as “HTML only” and import that."))
    if not _TAG.search(text):
        raise PageRefused(name, _("is not HTML: it holds plain text without markup."))
    if is_crowded(text):
        raise PageRefused(
            name,
            _("is no page that anybody wrote: a tag in it has more than %(n)s attributes.") % {"n": MOST_ATTRIBUTES},
        )
    return text


def in_utf8(data: bytes, content_type: str) -> bytes:
    """A page as it is kept: where its server alone says in what encoding it is, in UTF-8, for who reads it again has no
    header to go by."""
    told = re.search(r"charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", content_type, re.IGNORECASE)
    text = decoded(data, told=told[1].casefold() if told else "")
    return data if text == decoded(data) or not _TAG.search(text) else text.encode()


def decoded(data: bytes, *, told: str = "") -> str:
    """Text by byte order mark, else as UTF-8 if the bytes are valid, else as the page declares, else as its server has
    `told`, else as Windows-1252.

    UTF-8 comes before the declaration: other text is hardly ever valid UTF-8 by chance, declarations are often wrong.
    """
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    declared = re.search(
        rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{2,40})", data[:4096], re.I
    )
    encoding = declared[1].decode("ascii").casefold() if declared else ""
    encoding = _ENCODINGS.get(encoding, encoding)
    if not encoding or encoding.startswith("utf"):
        # Either a page in UTF-8 with a few broken bytes, or one in the old encoding of its language.
        text = data.decode("utf-8", "replace")
        if 4 * text.count("\ufffd") < sum(byte > 127 for byte in data):
            return text
        language = re.search(rb"<html[^>]{0,400}?\slang\s*=\s*[\"']?([a-zA-Z]{2})", data[:4096])
        encoding = _OLD_ENCODINGS.get(language[1].decode("ascii").casefold() if language else "", "windows-1252")
        if told and not told.startswith("utf"):
            encoding = _ENCODINGS.get(told, told)
    try:
        return data.decode("windows-1252" if encoding in _NO_PAGE else encoding, "replace")
    except (LookupError, UnicodeError):
        return data.decode("windows-1252", "replace")
