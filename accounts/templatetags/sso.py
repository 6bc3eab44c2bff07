"""The button of single sign-on, wherever somebody may log in."""

from __future__ import annotations

from django import template

from accounts.views.entrance import single_sign_on

register = template.Library()


@register.simple_tag
def sso_button(there: str = "") -> dict[str, str] | None:
    """What it says and where it leads; None where the installation has no single sign-on."""
    return single_sign_on(there)
