"""Pages that are allauth's own read as ours do."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from accounts.templatetags.sentence_case import sentence_case

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Password Reset", "Password reset"),
        ("\n  Password Reset\n", "\n  Password reset\n"),
        ("Enter Sign-In Code", "Enter sign-in code"),
        ("Last seen at IP Address", "Last seen at IP address"),
        ("Reset My Password", "Reset my password"),
        ("Ask Anna. She knows.", "Ask Anna. She knows."),
    ],
)
def test_words_behind_the_first_are_small(said: str, shown: str) -> None:
    with translation.override("en"):
        assert sentence_case(said) == shown


def test_other_languages_have_rules_of_their_own() -> None:
    with translation.override("cs"):
        assert sentence_case("Praha Brno") == "Praha Brno"


@pytest.mark.django_db
def test_a_page_of_allauths_has_its_headings_so() -> None:
    shown = Client().get(reverse("account_reset_password")).content.decode()
    assert re.search(r"<h1>\s*Password reset\s*</h1>", shown)
    assert "Password Reset" not in shown
