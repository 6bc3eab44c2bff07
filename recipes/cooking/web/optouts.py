"""Machine-readable reservations: what says that a page is not to be mined or trained on.

Four kinds are noted: robots.txt rules for the agents of AI companies, the TDM Reservation Protocol (a header, a meta
element, or /.well-known/tdmrep.json), and the robots directives noai and noimageai in a header or a meta element.
That none is found does not say that none was meant: terms of use are prose.

Source: W3C Community Group, TDM Reservation Protocol (TDMRep), 2024; RFC 9309.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bs4 import BeautifulSoup
from bs4.filter import SoupStrainer
from protego import Protego

from base.sentences import gettext_noop
from recipes.cooking.web.fetching import Answer
from recipes.cooking.web.robots import Robots

ROBOTS, TDM, NOAI = "robots", "tdm", "noai"
KINDS = {
    ROBOTS: gettext_noop("robots.txt refuses agents that gather text for models"),
    TDM: gettext_noop("text and data mining is reserved (TDMRep)"),
    NOAI: gettext_noop("the page says noai or noimageai"),
}
_META = SoupStrainer("meta")
_NOAI = re.compile(r"\bno(?:image)?ai\b", re.IGNORECASE)


class OptOut(NamedTuple):
    """`kind` one of `KINDS`; `said`: the words themselves; `where` they stand."""

    kind: str
    said: str
    where: str


def of_site(url: str, robots: Robots, tdmrep: Sequence[Any]) -> list[OptOut]:
    """What a site says of one of its pages."""
    found = []
    if agents := robots.refused_ai_agents(url):
        found.append(OptOut(ROBOTS, ", ".join(agents), "robots.txt"))
    if (rule := _tdm_rule(url, tdmrep)) is not None and _is_reserved(rule.get("tdm-reservation")):
        found.append(OptOut(TDM, "tdm-reservation: 1", "/.well-known/tdmrep.json"))
    return found


def of_page(answer: Answer, html: str) -> list[OptOut]:
    """What a page says of itself, in its headers and its meta elements."""
    found = []
    if _is_reserved(answer.header("tdm-reservation")):
        found.append(OptOut(TDM, "tdm-reservation: 1", "header"))
    if said := _NOAI.findall(answer.header("x-robots-tag")):
        found.append(OptOut(NOAI, ", ".join(said), "header X-Robots-Tag"))
    for meta in BeautifulSoup(html.replace("\x00", ""), "lxml", parse_only=_META)("meta"):
        name, content = str(meta.get("name", "")).casefold(), str(meta.get("content", ""))
        if name == "tdm-reservation" and _is_reserved(content):
            found.append(OptOut(TDM, "tdm-reservation: 1", "meta"))
        elif name and (said := _NOAI.findall(content)) and not name.startswith(("og:", "twitter:", "description")):
            found.append(OptOut(NOAI, ", ".join(said), f"meta {name[:40]}"))
    return list(dict.fromkeys(found))


def tdm_rules(body: bytes) -> list[dict[str, Any]]:
    """The rules of a tdmrep.json; none where it is not readable as such."""
    try:
        rules = json.loads(body)
    except (ValueError, RecursionError):
        return []
    return [rule for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []


def _tdm_rule(url: str, rules: Sequence[Any]) -> dict[str, Any] | None:
    """The first rule whose location fits; locations are patterns as those of robots.txt are."""
    for rule in rules:
        location = str(rule.get("location", ""))
        if location.startswith("/") and not Protego.parse(f"User-agent: *\nDisallow: {location}").can_fetch(url, "any"):
            return dict(rule)
        if location == "*" or location.rstrip("*") == (urlsplit(url).path or "/"):
            return dict(rule)
    return None


def _is_reserved(value: object) -> bool:
    return str(value).strip() == "1"
