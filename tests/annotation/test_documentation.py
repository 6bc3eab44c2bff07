"""The documentation in the program: each page with its links, what a search finds, and where each page's help leads."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse

from annotation import doors
from annotation.documentation import FOLDER, address_of
from annotation.templatetags.palate import with_documentation
from base import documentation
from base.documentation import CONTENTS, Page, found, groups_in, pages_in
from llm import registry
from tests import builders
from tests.builders import ClientOf, Leases

pytestmark = pytest.mark.once

PAGES = pages_in(FOLDER)
# Pages to which another one leads, which the contents name.
OF_PARTS = ("adr/", "benchmarks/")


@pytest.fixture
def reader(db: None, client_of: ClientOf) -> Client:
    return client_of(builders.user("reader"))


def test_the_contents_name_every_page_once() -> None:
    named = [name for group in groups_in(FOLDER) for name, _called in group.pages]
    assert sorted(named) == sorted(name for name in PAGES if name != CONTENTS and not name.startswith(OF_PARTS))


def test_every_link_of_every_page_leads_to_a_heading_that_is_there(reader: Client) -> None:
    shown = {reverse("annotation:help"): "", **{address_of(name): "" for name in PAGES}}
    for address in shown:
        answer = reader.get(address)
        assert answer.status_code == 200, address
        shown[address] = answer.content.decode()
    links = 0
    for address, page in shown.items():
        article = page.partition("<article")[2].partition("</article>")[0]
        assert "](" not in re.sub(r"<pre>.*?</pre>|<code>.*?</code>", "", article, flags=re.DOTALL), address
        for link in re.findall(r'href="((?:/help/|#)[^"]*)"', page):
            path, _mark, anchor = link.partition("#")
            there = shown[path or address]
            assert anchor in ("", "main") or f'id="{anchor}"' in there, (address, link)
            links += 1
    assert links > 1000


@pytest.mark.parametrize("name", ["nothing", "../README", "judges/", "README.md", "judges/runs.md", "%2e%2e/settings"])
def test_what_is_no_page_is_not_found(reader: Client, name: str) -> None:
    assert reader.get(f"/help/{name}/").status_code == 404


def test_a_search_leads_to_the_section_and_marks_the_words(reader: Client) -> None:
    page = reader.get(reverse("annotation:help"), {"q": "Prolific  quota"}).content.decode()
    assert f'href="{address_of("crowd")}' in page
    assert "<mark>Prolific</mark>" in page
    page = reader.get(reverse("annotation:help"), {"q": "<b>zebra"}).content.decode()
    assert "“&lt;b&gt;zebra” in the documentation" in page
    assert "No section has all of these words." in page


def titles(query: str, *texts: str) -> list[str]:
    pages = [Page(f"{number}", text) for number, text in enumerate(texts)]
    return [f"{hit.page.name} {hit.section.title}" for hit in found(pages, query)]


def test_what_a_search_finds_and_in_which_order() -> None:
    grid = "# The grid\n\nKeys answer cells.\n\n## Ranges\n\nA range is filled by a key. A *range*, again.\n"
    lens = (
        "# Ranges of the lens\n\nCells.\n\n```\nmanage.py show --every-range\n```\n\n"
        "| κ | of ranges |\n|---|---|\n| 1 | 2 |\n"
    )
    assert titles("range", grid, lens) == ["1 Ranges of the lens", "0 Ranges"]
    assert titles("RANGE key", grid, lens) == ["0 Ranges"]
    assert titles("--every-range", grid, lens) == titles("kappa", grid, lens) == ["1 Ranges of the lens"]
    assert titles("nge", grid, lens) == titles("", grid, lens) == titles("range zebra", grid, lens) == []
    assert titles("grid key", grid) == ["0 The grid", "0 Ranges"]
    [hit, *_] = found(
        [Page("long", "# Long\n\n" + "before " * 60 + "the needle stands here " + "behind " * 60)], "needle"
    )
    said = "".join(piece for piece, _is_hit in hit.excerpt)
    assert said.startswith("… before")
    assert said.endswith("behind …")
    assert len(said) < 400
    assert [piece for piece, is_hit in hit.excerpt if is_hit] == ["needle"]


def test_a_search_meets_letters_with_and_without_their_marks() -> None:
    page = "# Words\n\nKlikněte na řádek; see Candès (2023)."
    for query in ("radek", "řádek", "r\u030ca\u0301dek", "ŘÁDEK kliknete", "candes"):
        [hit] = found([Page("words", page)], query)
        assert "".join(piece for piece, _is_hit in hit.excerpt) == "Klikněte na řádek; see Candès (2023).", query
    assert [piece for piece, is_hit in hit.excerpt if is_hit] == ["Candès"]


def test_a_word_that_is_asked_for_many_times_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    beginning = documentation._beginning

    def told(word: str) -> re.Pattern[str]:
        asked.append(word)
        return beginning(word)

    monkeypatch.setattr(documentation, "_beginning", told)
    assert titles("a A a á " * 20, "# All\n\nA word.") == ["0 All"]
    assert asked == ["a"]


def test_a_sentence_that_names_a_page_leads_to_it() -> None:
    shown = with_documentation(
        "The <b>weights</b> are missing; docs/judges/runs.md says which. See docs/nothing.md, docs/grid.md."
    )
    assert shown == (
        "The &lt;b&gt;weights&lt;/b&gt; are missing; "
        '<a href="/help/judges/runs/" target="palate-help">docs/judges/runs.md</a> says which. See docs/nothing.md, '
        '<a href="/help/grid/" target="palate-help">docs/grid.md</a>.'
    )


def test_help_opens_beside_a_page_and_not_beside_itself(reader: Client) -> None:
    link = re.compile(r'<a href="/help/[^"]*" target="palate-help">Help</a>')
    assert link.search(reader.get(reverse("annotation:studies")).content.decode())
    assert not link.search(reader.get(reverse("annotation:help")).content.decode())


def views(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern, f"{before}{pattern.namespace}:" if pattern.namespace else before)
        elif pattern.name:
            yield f"{before}{pattern.name}"


def test_what_is_said_to_be_documented_is_there_and_so_is_the_place() -> None:
    known = set(views(get_resolver()))
    assert [view for view in doors._documented if ":" in view and view not in known] == []
    helps = {registry.class_of(name).help for name in registry.SHIPPED}
    for place in {*doors._documented.values(), *(one for one in helps if one)}:
        name, _mark, anchor = place.partition("#")
        assert name in PAGES, place
        assert not anchor or anchor in {section.anchor for section in PAGES[name].sections}, place


def test_each_page_of_a_study_leads_to_what_is_said_of_it(leases: Leases, client_of: ClientOf) -> None:
    client = client_of(leases.manager)
    for view, place in {
        "annotation:board": "plan#the-board",
        "annotation:import": "import",
        "judges:runs": "judges",
        "reports:hiring": "hiring",
        "reports:report": "reports",
    }.items():
        page = client.get(reverse(view, args=[leases.study.slug])).content.decode()
        assert f'<a href="{address_of(place)}" target="palate-help">Help</a>' in page, view
    lens = client.get(reverse("annotation:lens", args=[leases.sheet.pk])).content.decode()
    assert f'href="{address_of("lens")}"' in lens


def test_help_leads_on_from_pages_of_no_study(reader: Client) -> None:
    for address, place in {
        reverse("annotation:help"): CONTENTS,
        address_of("judges/runs"): CONTENTS,
        reverse("accounts:api-docs"): "api",
        reverse("account_email"): "security#logging-in",
        reverse("password_change"): "security#logging-in",
    }.items():
        page = reader.get(address).content.decode()
        assert re.search(rf'<a href="{address_of(place)}"[^>]*>Help</a>', page), address


def test_who_is_not_logged_in_sees_none_of_it(client: Client) -> None:
    assert client.get(reverse("annotation:help")).status_code == 302
    assert client.get(address_of("security")).status_code == 302
