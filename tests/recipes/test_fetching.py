"""Fetching from servers of this machine, kind ones and hostile ones. Nothing else is ever connected to."""

from __future__ import annotations

import gzip
import socket
import time
import zlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.web import addresses
from base.web.addresses import AddressRefused, HostUnknown, checked, web_address
from recipes.cooking.web import archive, optouts, similar
from recipes.cooking.web.addresses import canonical
from recipes.cooking.web.fetching import Answer, Fate, NotFetched, Visitor, fetch
from recipes.cooking.web.robots import Robots
from tests.raw_servers import dripping, http, server

US = Visitor("Palate/0.1 (tests)", seconds=1.5, silence=1.0, max_bytes=2**16, redirects=3, allow_loopback=True)


def fetched(url: str, visitor: Visitor = US, seen: list[str] | None = None) -> Answer:
    return fetch(url, visitor, before=lambda at: (seen if seen is not None else []).append(str(at)))


def fate(url: str, visitor: Visitor = US) -> tuple[Fate, str]:
    with pytest.raises(NotFetched) as caught:
        fetched(url, visitor)
    return caught.value.fate, str(caught.value)


# --- what may be visited --------------------------------------------------------------------------------------------

NOT_PUBLIC = [
    "http://127.0.0.1/",
    "http://2130706433/",  # 127.0.0.1 as one number
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://[ff02::1]/",
    "http://0.0.0.0/",
    "http://0/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",  # carrier-grade NAT
    "http://169.254.169.254/latest/meta-data/",
    "http://198.18.0.1/",
    "http://192.0.0.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost/",
]


@pytest.mark.parametrize("url", NOT_PUBLIC)
def test_no_address_that_is_not_public_is_visited(url: str) -> None:
    """Where the system can make no address of the text at all, there is no server of this name."""
    visitor = Visitor("Palate/0.1")
    assert fate(url, visitor)[0] in {Fate.REFUSED, Fate.DEAD}
    with pytest.raises((AddressRefused, HostUnknown)):
        checked(web_address(url), allow_loopback=False)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://cakes.example/",
        "file:///etc/passwd",
        "javascript:1",
        "//cakes.example",
        "http://",
        "",
        "http://user:word@cakes.example/",
    ],
)
def test_what_is_no_address_of_the_web_is_refused(url: str) -> None:
    assert fate(url)[0] == Fate.REFUSED


def test_a_name_counts_by_all_that_it_resolves_to() -> None:
    def resolve(*found: str) -> addresses.Resolve:
        return lambda _host, _port: list(found)

    cakes = web_address("https://cakes.example/")
    assert checked(cakes, allow_loopback=False, resolve=resolve("93.184.216.34")) == ["93.184.216.34"]
    for found in (["93.184.216.34", "10.0.0.1"], ["::ffff:169.254.169.254"], ["93.184.216.34", "::1"]):
        with pytest.raises(AddressRefused):
            checked(cakes, allow_loopback=False, resolve=resolve(*found))
    # Loopback is let in alone: not what a name has beside it.
    with pytest.raises(AddressRefused):
        checked(cakes, allow_loopback=True, resolve=resolve("127.0.0.1", "10.0.0.1"))
    with pytest.raises(AddressRefused, match="port 22"):
        checked(web_address("http://cakes.example:22/"), allow_loopback=False, resolve=resolve("93.184.216.34"))


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_as_public_as_it_is_itself(ip: object) -> None:
    import ipaddress

    plain = ipaddress.IPv4Address(str(ip))
    mapped = ipaddress.IPv6Address(b"\0" * 10 + b"\xff\xff" + plain.packed)
    sixtofour = ipaddress.IPv6Address(b"\x20\x02" + plain.packed + b"\0" * 10)
    assert addresses.is_public(mapped) == addresses.is_public(sixtofour) == addresses.is_public(plain)


def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """A name that means this machine at the second look is not looked up twice."""
    looks = []

    def resolve(host: str, _port: int) -> list[str]:
        looks.append(host)
        return ["127.0.0.1"] if len(looks) == 1 else ["10.0.0.1"]

    with server(http()) as (at, asked):
        port = at.rsplit(":", 1)[1]
        visitor = Visitor("Palate/0.1", allow_loopback=True, resolve=resolve)
        answer = fetched(f"http://cakes.example:{port}/plain?a=1#top", visitor)
    assert (answer.ip, looks) == ("127.0.0.1", ["cakes.example"])
    assert asked[0].startswith(b"GET /plain?a=1 HTTP/1.1\r\n")
    assert f"Host: cakes.example:{port}\r\n".encode() in asked[0]
    assert b"User-Agent: Palate/0.1\r\n" in asked[0]


def test_each_redirect_is_an_address_of_its_own() -> None:
    seen: list[str] = []
    inside = http(status="302 Found", Location="http://192.168.0.1/")
    with server(http(status="301 Moved", Location="/new"), inside) as (at, asked), pytest.raises(NotFetched) as caught:
        fetched(f"{at}/old", seen=seen)
    assert caught.value.fate == Fate.REFUSED
    assert seen == [f"{at}/old", f"{at}/new", "http://192.168.0.1/"]
    assert len(asked) == 2


@pytest.mark.parametrize(
    "inside",
    [
        "http://0xa9fea9fe/latest/meta-data/",  # 169.254.169.254 as one number
        "http://2852039166/",
        "http://0251.0376.0251.0376/",
        "http://[::ffff:169.254.169.254]/",
        "//10.0.0.1/",
        "\\\\10.0.0.1\\admin",
        "http://name:word@93.184.216.34/",
        "http://93.184.216.34:6379/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "http://two.example/",  # a public address, and one that is not
        "http://\u2460\u2461\u2466.0.0.1/",  # digits in circles
    ],
)
def test_no_redirect_leads_inside(inside: str) -> None:
    looks = {"cakes.example": ["127.0.0.1"], "two.example": ["93.184.216.34", "10.0.0.1"]}
    visitor = Visitor(
        "Palate/0.1",
        redirects=1,
        allow_loopback=True,
        resolve=lambda host, port: looks.get(host) or addresses.resolve(host, port),
    )
    with server(http(status="302 Found", Location=inside)) as (at, asked), pytest.raises(NotFetched) as caught:
        fetched(f"http://cakes.example:{at.rsplit(':', 1)[1]}/", visitor)
    assert caught.value.fate in {Fate.REFUSED, Fate.DEAD}
    # What is no address but a path of the same site is asked there, and nowhere else.
    assert len(asked) <= 2


def test_redirects_are_followed_so_far() -> None:
    with server(http(status="301 Moved", Location="/new?a=ä"), http()) as (at, _asked):
        answer = fetched(f"{at}/old")
    assert (answer.url, answer.hops) == (f"{at}/new?a=%C3%A4", [(f"{at}/old", 301)])
    with server(http(status="302 Found", Location="/again")) as (at, asked):
        assert fate(at)[0] == Fate.DEAD
    assert len(asked) == US.redirects + 1
    with server(http(status="302 Found", Location="http://[::bad")) as (at, _asked):
        assert fate(at)[0] in {Fate.DEAD, Fate.REFUSED}


# --- time, size, kind -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "byte"),
    [(http(b"", Content_Length="9999"), b"x"), (b"HTTP/1.1 200 OK\r\nX: ", b"x"), (b"", b"HTTP/1.1 103 Early\r\n\r\n")],
    ids=["the page", "its headers", "answers before the answer"],
)
def test_a_server_that_drips_is_left(head: bytes, byte: bytes) -> None:
    began = time.monotonic()
    with server(dripping(head, byte)) as (at, _asked):
        assert fate(at) == (Fate.DEAD, "The server was too slow: the page was not there after 2 seconds.")
    assert time.monotonic() - began < 2 * US.seconds


def test_a_server_that_is_silent_may_answer_later() -> None:
    with server(lambda connection: time.sleep(3)) as (at, _asked):
        assert fate(at) == (Fate.PASSING, "The server did not answer in time.")


def endless(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while True:
        connection.sendall(b"<p>flour</p>" * 1000)


DEFLATE = zlib.compressobj(wbits=-15)
RAW = DEFLATE.compress(b"<p>Stir.</p>") + DEFLATE.flush()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (endless, "larger"),
        (http(Content_Length=str(2**40)), "larger"),
        (http(gzip.compress(bytes(2**26), 1), Content_Encoding="gzip"), "larger"),
        (http(Content_Encoding="br"), "packed in a way that nobody asked for"),
        (http(Content_Encoding="gzip, gzip"), "packed in a way"),
        (http(b"%PDF", Content_Type="application/pdf"), "no web page but application/pdf"),
        (http(status="403 Forbidden"), "The site refused: 403 Forbidden."),
        (http(status="451 Unavailable For Legal Reasons"), "The site refused: 451"),
    ],
    ids=["endless", "stated", "gzip bomb", "brotli", "twice", "pdf", "403", "451"],
)
def test_what_is_refused(answer: bytes, said: str) -> None:
    with server(answer) as (at, _asked):
        kind, sentence = fate(at)
    assert kind == Fate.REFUSED
    assert said in sentence


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (http(status="404 Not Found"), Fate.DEAD),
        (http(status="410 Gone"), Fate.DEAD),
        (http(status="799 Whatever"), Fate.DEAD),
        (http(b"not gzip", Content_Encoding="gzip"), Fate.DEAD),
        (http(status="503 Busy"), Fate.PASSING),
        (http(status="429 Too Many"), Fate.PASSING),
        (b"SSH-2.0-OpenSSH\r\n", Fate.PASSING),
        (http(b"half", Content_Length="100"), Fate.PASSING),
        (http(gzip.compress(b"<p>flour, eggs, milk</p>" * 50)[:40], Content_Encoding="gzip"), Fate.PASSING),
        (b"", Fate.PASSING),
    ],
)
def test_what_is_dead_and_what_may_pass(answer: bytes, expected: Fate) -> None:
    with server(answer) as (at, _asked):
        assert fate(at)[0] == expected


@pytest.mark.parametrize(
    ("sent", "encoding"),
    [
        (b"<p>Stir.</p>", "identity"),
        (gzip.compress(b"<p>Stir.</p>"), "gzip"),
        (zlib.compress(b"<p>Stir.</p>"), "deflate"),
        (RAW, "deflate"),
    ],
)
def test_a_page_is_unpacked_and_kept_as_it_was_sent(sent: bytes, encoding: str) -> None:
    with server(http(sent, Content_Encoding=encoding)) as (at, _asked):
        answer = fetched(at)
    assert (answer.body, answer.sent) == (b"<p>Stir.</p>", sent)
    record = archive.record(answer, fetched_at=datetime(2026, 11, 22, 7, 0, tzinfo=UTC))
    opening = archive.info(name="pages.warc.gz", software="Palate", about="tests")
    assert list(archive.pages([opening + record])) == [(answer.url, answer.body)]
    text = gzip.decompress(record).decode("latin-1")
    assert "WARC-Type: response\r\n" in text
    assert "WARC-IP-Address: 127.0.0.1\r\n" in text
    assert "WARC-Date: 2026-11-22T07:00:00Z\r\n" in text


# --- what a site asks for ---------------------------------------------------------------------------------------------

ROBOTS = """
User-agent: *
Disallow: /private/
Allow: /private/recipes/*.html$
Crawl-delay: 7

User-agent: GPTBot
User-agent: CCBot
Disallow: /
"""


def test_a_robots_txt_is_heeded_as_the_rfc_has_it() -> None:
    robots = Robots(ROBOTS)
    assert robots.allows("Palate", "https://cakes.example/plain")
    assert not robots.allows("Palate", "https://cakes.example/private/plain")
    assert robots.allows("Palate", "https://cakes.example/private/recipes/plain.html")
    assert robots.delay("Palate") == 7
    assert robots.refused_ai_agents("https://cakes.example/plain") == ["CCBot", "GPTBot"]
    nothing = Robots("")
    assert nothing.allows("Palate", "https://cakes.example/")
    assert nothing.refused_ai_agents("https://cakes.example/") == []


def test_each_reservation_is_noted_with_where_it_stands() -> None:
    html = (
        '<meta name="tdm-reservation" content="1"><META NAME="robots" CONTENT="noindex, NoAI, noimageai">'
        '<meta name="description" content="noai is a word here"><meta name=generator content=x>'
    )
    answer = Answer("https://a/", "", 200, [("TDM-Reservation", "1"), ("X-Robots-Tag", "noai")], b"", b"")
    assert [(one.kind, one.where) for one in optouts.of_page(answer, html)] == [
        ("tdm", "header"),
        ("noai", "header X-Robots-Tag"),
        ("tdm", "meta"),
        ("noai", "meta robots"),
    ]
    plain = Answer("https://a/", "", 200, [("TDM-Reservation", "0")], b"", b"")
    assert optouts.of_page(plain, '<meta name="tdm-reservation" content="0">') == []


@pytest.mark.parametrize(
    ("rules", "reserved"),
    [
        ([{"location": "/", "tdm-reservation": 1}], True),
        ([{"location": "/recipes/*", "tdm-reservation": 1}], True),
        ([{"location": "/recipes/free*", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}], True),
        ([{"location": "/recipes/*", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}], False),
        ([{"location": "/blog/", "tdm-reservation": 1}], False),
        ([{}], False),
        (optouts.tdm_rules(b"[[[["), False),
        (optouts.tdm_rules(b'{"location": "/"}'), False),
    ],
)
def test_the_first_rule_of_a_tdmrep_that_fits_counts(rules: list[dict[str, object]], reserved: bool) -> None:
    found = optouts.of_site("https://cakes.example/recipes/plain", Robots(""), rules)
    assert bool(found) == reserved


# --- one page, several addresses --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://cakes.example/plain", "https://www.cakes.example:443/plain/"),
        ("https://cakes.example/plain?b=2&a=1", "https://cakes.example/plain?a=1&b=2&utm_medium=x&fbclid=y#steps"),
        ("https://CAKES.example/%7Eanna", "https://cakes.example/~anna"),
        ("https://kuchen.example/käse", "https://kuchen.example/k%C3%A4se"),
    ],
)
def test_addresses_of_one_page(one: str, other: str) -> None:
    assert canonical(one) == canonical(other) != ""


def test_addresses_of_two_pages_stay_two() -> None:
    pages = ["https://a.example/?p=1", "https://a.example/?p=2", "https://a.example/b", "https://a.example:8443/b"]
    assert len(set(map(canonical, pages))) == len(pages)
    assert canonical("mailto:anna@a.example") == ""


@given(st.text())
def test_any_text_has_a_canonical_form_that_is_stable(text: str) -> None:
    key = canonical(text)
    assert not key or canonical(f"https://{key}") == key


def test_a_recipe_that_was_taken_over_is_near() -> None:
    one = ["250 g flour", "2 eggs", "half a litre of milk", "Whisk the eggs with the milk and a pinch of salt."]
    other = [*one[:3], "Whisk the eggs with the milk and some salt."]
    near = similar.resemblance(similar.shingles(one), similar.shingles(other))
    far = similar.resemblance(similar.shingles(one), similar.shingles(["Boil the potatoes and mash them with butter."]))
    assert near > similar.NEAR > 0.1 > far == 0.0
    assert similar.resemblance(similar.shingles([]), similar.shingles([])) == 0.0
