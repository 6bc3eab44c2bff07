"""What becomes of files: archives and folders expanded, and a sentence for each file that is no recipe page."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import re
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.cooking.pages import Page, PageRefused, read_files, read_folder, read_page
from recipes.cooking.pages.reading import count_pages
from tests.annotation.marked.studies import many_files
from tests.recipes.test_documents import LINES, SHOWN, page, recipe, script

GOOD = page(SHOWN)


def packed(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def refusal(data: bytes, *, max_bytes: int = 2**20) -> str:
    with pytest.raises(PageRefused) as refused:
        read_page("03-foo.html", data, max_bytes=max_bytes)
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "is_page"),
    [
        ("recipe.php?id=5", True),
        ("www.cakes.example/index.html?p=12&print=1", True),
        ("index.html@p=12", True),
        ("recipe?file=photo.jpg", True),
        ("chili-2.0", True),
        ("chili-2.0.html.gz", True),
        ("photo.jpg?w=300", False),
        ("style.css@v=2.1", False),
        ("notes.json", False),
    ],
)
def test_pages_that_are_called_as_their_addresses_are_no_files_to_pass_over(
    tmp_path: Path, name: str, is_page: bool
) -> None:
    found = list(read_files([("pages.zip", packed({"a.html": GOOD, name: GOOD}))]))
    assert [page.source for page in found] == ["a.html", *[name][: int(is_page)]]
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(GOOD)
    assert len(list(read_folder(tmp_path))) == int(is_page)


# --- refusals


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "03-foo.html is empty."),
        (b" \n\t ", "03-foo.html is empty."),
        (gzip.compress(b""), "03-foo.html is empty."),
        (b"%PDF-1.7 ...", "03-foo.html is not HTML: it looks like a PDF file."),
        (b"\x89PNG\r\n\x1a\n", "03-foo.html is not HTML: it looks like an image."),
        (
            b"From: <Saved by Blink>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\r\n<html>",
            "03-foo.html is an MHTML archive; save the page again as “HTML only” and import that.",
        ),
        (b'{"ingredients": ["<p>1 egg</p>"]}', "03-foo.html is not HTML: it holds JSON data."),
        (b"Ingredients\n\n2 eggs\n", "03-foo.html is not HTML: it holds plain text without markup."),
        (b"\x00\x01\x02<p>\x00\x00", "03-foo.html is not HTML: it holds binary data."),
        (bz2.compress(GOOD), "03-foo.html is not HTML: it looks like packed data."),
        (random.Random(1).randbytes(3000) + b"<p>", "03-foo.html is not HTML: it holds binary data."),
        (gzip.compress(GOOD)[:-40], "03-foo.html is a damaged gzip file; nothing in it could be read."),
        (GOOD + b" " * 2**20, "03-foo.html is larger than 1 MB, the limit for one page."),
        (gzip.compress(b" " * 50 * 2**20, 1), "03-foo.html is larger than 1 MB, the limit for one page."),
    ],
    ids=[
        "nothing",
        "white space",
        "packed nothing",
        "pdf",
        "image",
        "mhtml",
        "json",
        "text",
        "binary",
        "bzip2",
        "as of brotli",
        "damaged",
        "large",
        "bomb",
    ],
)
def test_read_page_refuses_what_is_no_page(data: bytes, sentence: str):
    assert refusal(data) == sentence


def soups(*, full: bool) -> str:
    names = ("leek", "bean", "corn", "fish", "beet")
    if not full:
        return "".join(
            f"<article><h2><a href='/{n}'>{n} soup</a></h2><p>{i} ingredients, ready in {i * 5} minutes.</p></article>"
            for i, n in enumerate(names, start=3)
        )
    return "".join(
        f"<h2>{n} soup</h2><h3>Ingredients</h3><ul><li>{i} cups {n}</li><li>{i} onions</li><li>1 tbsp {n} oil</li></ul>"
        f"<h3>Method</h3><p>Cook the {n} in the oil until it is soft.</p>"
        for i, n in enumerate(names, start=2)
    )


FILTER = "<h3>Ingredients</h3><ul>" + "".join(
    f"<li><a href='#'>{name}</a> (1{n}0)</li>" for n, name in enumerate(("Chicken", "Beef", "Pork", "Fish"))
) + "</ul>"  # fmt: skip


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("<p>The page that you asked for is not here. Try the search.</p>", ""),
        (
            "<p>We and our 812 partners store cookies.</p><ul><li>Accept 3</li><li>Reject 3</li></ul>",
            "",
        ),
        (soups(full=False), ""),
        (soups(full=False) + FILTER, ""),
        (
            "".join(
                f"<h2>{n}. Heat the oven</h2><p>Bread needs {n} hours of patience, and good flour.</p>"
                for n in range(9)
            ),
            "",
        ),
        ("<ul>" + "".join(f"<li><a href='/{n}'>{n} cakes for spring</a></li>" for n in range(9)) + "</ul>", ""),
        ("", script({"@type": "ItemList", "itemListElement": [{"@type": "Recipe", "name": n} for n in "abc"]})),
        ("", script({"@type": "Recipe", "name": "Plain cake", "recipeIngredient": [], "recipeInstructions": []})),
    ],
    ids=[
        "not found",
        "consent",
        "category",
        "category with a filter",
        "article",
        "home",
        "list of names",
        "empty data",
    ],
)
def test_read_page_refuses_a_page_without_a_recipe(body: str, head: str):
    sentence = refusal(page(body, head=head))
    assert sentence.startswith("03-foo.html holds no recipe: no ingredient list was found")


@pytest.mark.parametrize(
    ("body", "head"),
    [
        (soups(full=True), ""),
        ("", script([recipe(name=f"{name} soup") for name in ("Leek", "Bean", "Corn", "Fish", "Beet")])),
    ],
    ids=["shown", "stated"],
)
def test_read_page_refuses_a_collection_of_recipes(body: str, head: str):
    assert refusal(page(body, head=head)).startswith("03-foo.html holds 5 recipes;")


# --- archives and folders


def test_read_files_expands_an_archive_and_goes_on_after_a_refusal():
    archive = packed({"a/1.html": GOOD, "a/2.html": b"", "a/3.html.gz": gzip.compress(GOOD)})
    found = list(read_files([("pages.zip", archive)]))
    assert [(type(item), item.source) for item in found] == [
        (Page, "a/1.html"),
        (PageRefused, "a/2.html"),
        (Page, "a/3.html.gz"),
    ]


def test_read_files_takes_streams():
    found = list(read_files([("a.html", io.BytesIO(GOOD)), ("b.zip", io.BytesIO(packed({"c.htm": GOOD})))]))
    assert [item.source for item in found if isinstance(item, Page)] == ["a.html", "c.htm"]


def test_read_files_passes_over_what_is_no_page_in_an_archive():
    beside = ("x.json", "x.txt", "x.jpg", "__MACOSX/x.html", ".x.html", "x_files/frame.html", "a/")
    found = list(read_files([("pages.zip", packed({"page.html": GOOD, **dict.fromkeys(beside, GOOD)}))]))
    assert [item.source for item in found] == ["page.html"]


def test_read_files_refuses_a_file_that_is_named_and_no_page():
    (found,) = read_files([("notes.txt", b"buy milk")])
    assert str(found) == "notes.txt is not HTML: it holds plain text without markup."


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (packed({"a.txt": b"x"}), "p.zip holds no web page: no file in it ends in .html, .htm or .html.gz."),
        (packed({}), "p.zip holds no web page: no file in it ends in .html, .htm or .html.gz."),
        (packed({"a.html": GOOD})[:-30], "p.zip is a damaged ZIP archive; nothing in it could be read. Pack it again."),
        (
            packed({"a.html": packed({"b.html": GOOD})}),
            "a.html is not HTML: it looks like a ZIP archive or an office document.",
        ),
        (packed({"a.html": b" " * 2**24}), "a.html is larger than 8 MB, the limit for one page."),
    ],
    ids=["no page", "empty", "damaged", "archive in archive", "bomb"],
)
def test_read_files_refuses_an_archive_or_its_member(data: bytes, sentence: str):
    assert [str(item) for item in read_files([("p.zip", data)])] == [sentence]


def test_read_files_goes_on_after_a_damaged_member():
    data = bytearray(packed({"a.html": GOOD, "b.html": GOOD}))
    data[60:70] = bytes(10)  # inside the compressed data of a.html, whose header takes 36 bytes
    first, second = read_files([("p.zip", bytes(data))])
    assert str(first) == "a.html could not be unpacked from p.zip: it is damaged or has a password."
    assert isinstance(second, Page)


def test_read_folder_reads_pages_and_archives_in_order(tmp_path: Path):
    (tmp_path / "cake").mkdir()
    (tmp_path / "cake" / "02-b.html").write_bytes(GOOD)
    (tmp_path / "cake" / "01-a.html.gz").write_bytes(gzip.compress(GOOD))
    (tmp_path / "cake" / "01-a.expected.json").write_text("{}")
    (tmp_path / "more.zip").write_bytes(packed({"c.html": GOOD}))
    assert [item.source for item in read_folder(tmp_path)] == ["cake/01-a.html.gz", "cake/02-b.html", "c.html"]


# --- whatever comes


PIECES = """<ul> <li> </li> <h2>Ingredients</h2> <h2>Method</h2> 2&#32;cups&#32;milk <p>Stir&#32;the&#32;milk.
<td> <table><tr> <button> <br> </div> <dl><dt>milk<dd>1&#32;l <i\titemprop=ingredients> &nbsp; \x00 <!-- ["1"] </script>
<script\ttype="application/ld+json">{"@type":"Recipe","recipeIngredient": <?xml\tversion='1.0'\tencoding='utf-16'?>"""
MARKUP = st.lists(st.sampled_from(re.split("[ \n]", PIECES)), max_size=25).map(lambda pieces: "".join(pieces).encode())


@given(data=st.binary(max_size=300) | MARKUP)
def test_read_page_reads_or_refuses_whatever_comes(data: bytes):
    (found,) = read_files([("a.html", b"<" + data)])
    if isinstance(found, Page):
        assert found.ingredients or found.steps
    else:
        assert str(found).startswith("a.html ")


@given(cut=st.integers(min_value=0, max_value=len(GOOD)))
def test_read_page_reads_or_refuses_a_cut_page(cut: int):
    (found,) = read_files([("a.html", GOOD[:cut])])
    if isinstance(found, Page):
        assert found.ingredients[0] == LINES[0]
    else:
        assert cut < len(GOOD)


def test_a_long_list_of_files_is_not_read() -> None:
    """It was in memory, nine times as long, before the pages were counted."""
    data = many_files(200_000)
    tracemalloc.start()
    try:
        assert count_pages([io.BytesIO(data)]) == 1
        [refused] = read_files([("pages.zip", io.BytesIO(data))])
        assert tracemalloc.get_traced_memory()[1] < 2 * len(data)
    finally:
        tracemalloc.stop()
    assert isinstance(refused, PageRefused)
    assert "split it" in refused.reason
