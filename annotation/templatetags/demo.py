"""What the demo's pages have that no other installation's have; each of these is empty there."""

from __future__ import annotations

from typing import Any

from django import template

from annotation import demo_way, doors

register = template.Library()


@register.inclusion_tag("annotation/_demo_logins.html", takes_context=True)
def demo_logins(context: dict[str, Any], wanted: str = "") -> dict[str, Any]:
    """A tile for each login. `wanted`: where to go then."""
    logins = [pair for demo in doors.demos() for pair in demo.logins.items()] if demo_way.is_demo() else []
    return {"logins": logins, "next": wanted, "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("annotation/_demo_way.html", takes_context=True)
def demo_way_through(context: dict[str, Any], *, always: bool = False) -> dict[str, Any]:
    """What to look at first, with what is done ticked. `always`: also once all of it is."""
    way = demo_way.way(context["request"]) if demo_way.is_demo() else []
    is_shown = always or any(not one.done for one in way)
    return {
        "way": way if is_shown else [],
        "n_done": sum(one.done for one in way),
        "user": context["request"].user,
        "csrf_token": context.get("csrf_token"),
    }


@register.inclusion_tag("annotation/_demo_link.html", takes_context=True)
def demo_link(context: dict[str, Any]) -> dict[str, Any]:
    """Leads to the way through from every page; it asks no query."""
    request = context.get("request")
    steps = demo_way.steps() if request is not None else []
    return {"n": len(steps), "n_done": len(demo_way.done(request)) if request is not None and steps else 0}
