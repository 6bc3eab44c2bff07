"""Visits to a site that all workers share: its robots.txt is read once a day, and the pause kept between two visits."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime, timedelta

import httpx
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from base.web import addresses
from recipes.cooking.models import Site, Visit
from recipes.cooking.web import fetching, optouts
from recipes.cooking.web.fetching import Fate, NotFetched, Visitor
from recipes.cooking.web.robots import MAX_BYTES, Robots
from work.actions import Held

# How long a robots.txt is believed (RFC 9309 allows a day), and how long that it could not be had for a fault of the
# server's: shorter than the machine waits before it tries an item again.
_KEPT, _KEPT_CLOSED = timedelta(days=1), timedelta(seconds=15)
_REDIRECTS = 5


def visitor() -> Visitor:
    """Who we are, as this installation is set up."""
    return Visitor(
        user_agent=settings.PALATE_USER_AGENT,
        seconds=settings.PALATE_FETCH_SECONDS,
        max_bytes=settings.PALATE_FETCH_MAX_BYTES,
        allow_loopback=settings.PALATE_FETCH_LOOPBACK,
    )


class Manners:
    """What is asked of a visitor before each address: its robots.txt is heeded, and its turn waited for.

    `opt_outs`: what the sites say of the addresses that were asked for so far.
    """

    def __init__(self, held: Held[Visit], who: Visitor) -> None:
        self._held, self._who = held, who
        self.opt_outs: list[optouts.OptOut] = []

    def before(self, url: httpx.URL) -> None:
        """Raises NotFetched where the address may not be visited."""
        site = self._site(url)
        if site.closed:
            raise NotFetched(Fate.PASSING, site.closed)
        robots = Robots(site.robots)
        self.opt_outs = optouts.of_site(str(url), robots, site.tdmrep)
        if not robots.allows(self._who.name, str(url)):
            raise NotFetched(Fate.REFUSED, _("The site's robots.txt asks programs not to fetch this page."))
        self._wait_for_turn(site, robots.delay(self._who.name))

    def _site(self, url: httpx.URL) -> Site:
        origin = addresses.origin(url)[:300]
        site = Site.objects.get_or_create(origin=origin)[0]
        kept = _KEPT_CLOSED if site.closed else _KEPT
        if site.asked_at is None or site.asked_at < timezone.now() - kept:
            self._ask(site, url)
        return site

    def _ask(self, site: Site, url: httpx.URL) -> None:
        """Read what a site asks of programs, and store it. Raises NotFetched where the site is not there at all."""
        site.robots = site.closed = ""
        site.tdmrep = []
        answer = self._file(url.join("/robots.txt"))
        if answer is not None and (answer.status >= 500 or answer.status == 429):
            sentence = _("The site's robots.txt could not be had, so nothing is fetched: it answered %(status)s.")
            site.closed = sentence % {"status": answer.status}
        elif answer is not None and 200 <= answer.status < 300:
            site.robots = answer.body[:MAX_BYTES].decode("utf-8", "replace").replace("\0", "")
        reservations = url.join("/.well-known/tdmrep.json")
        if not site.closed and Robots(site.robots).allows(self._who.name, str(reservations)):
            with suppress(NotFetched):
                said = self._file(reservations)
                site.tdmrep = optouts.tdm_rules(said.body) if said is not None and 200 <= said.status < 300 else []
        site.asked_at = timezone.now()
        site.save(update_fields=["robots", "closed", "tdmrep", "asked_at"])

    def _file(self, url: httpx.URL) -> fetching.Answer | None:
        """A small file of a site's, each redirect checked as any other address; None where they lead nowhere."""
        deadline = time.monotonic() + self._who.seconds
        for _step in range(_REDIRECTS + 1):
            left = max(0.0, deadline - time.monotonic())
            answer = fetching.get(url, self._who, seconds=left, beat=self._held.beat, any_kind=True)
            location = answer.header("location")
            if not 300 <= answer.status < 400 or not location:
                return answer
            try:
                url = addresses.web_address(str(url.join(location)))
            except (addresses.AddressRefused, httpx.InvalidURL, ValueError):
                break
        return None

    def _wait_for_turn(self, site: Site, delay: float) -> None:
        """Wait until the site may be visited; who comes next waits from then on."""
        turn = _turn(site, timedelta(seconds=max(delay, settings.PALATE_FETCH_PAUSE)))
        while (left := (turn - timezone.now()).total_seconds()) > 0:
            self._held.beat()
            time.sleep(min(left, 0.5))


@transaction.atomic
def _turn(site: Site, pause: timedelta) -> datetime:
    """The moment of the next visit, and that of the one after it put behind it."""
    locked = Site.objects.select_for_update().get(pk=site.pk)
    turn = max(timezone.now(), locked.free_at or timezone.now())
    Site.objects.filter(pk=site.pk).update(free_at=turn + pause)
    return turn
