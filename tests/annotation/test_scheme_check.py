"""A scheme is checked and shown while somebody writes it, and nothing is stored."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from html import unescape

import pytest
from django.urls import reverse

from annotation import actions, doors, queries
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Scheme, User
from annotation.scheme.questions import Kind
from annotation.scheme.snippets import LABELS, snippets, text_of, within
from annotation.scheme.spec import load_scheme
from annotation.views import scheme_check
from tests import builders
from tests.builders import SCHEME, ClientOf, Leases

NEXT = SCHEME.replace("version: 1", "version: 2")
Check = Callable[..., str]


@pytest.fixture
def check(db: None, client_of: ClientOf) -> Check:
    """What is said of a text where a study is made."""
    client = client_of(builders.user("olga", superuser=True))

    def check(text: str, **more: str) -> str:
        answer = client.post(reverse("annotation:check-scheme"), {"scheme_text": text, **more})
        assert answer.status_code == 200
        return answer.content.decode()

    return check


def verdict(said: str) -> str:
    found = re.search(r'<p id="scheme-verdict"[^>]*>(.*?)</p>', said, re.DOTALL)
    assert found
    return unescape(re.sub(r"<[^>]+>", "", found[1])).strip()


def preview_of(said: str) -> str:
    found = re.search(r'srcdoc="([^"]*)"', said)
    assert found
    return unescape(found[1])


def of_study(client_of: ClientOf, leases: Leases, text: str, slug: str = "leases") -> str:
    address = reverse("annotation:check-study-scheme", args=[slug])
    return client_of(leases.manager).post(address, {"scheme_text": text}).content.decode()


# --- what is wrong ----------------------------------------------------------------------------------------------------


def test_a_mistake_of_yaml_is_told_with_line_and_column(check: Check) -> None:
    said = check(SCHEME.replace("title: Duties\n", "title: Duties: all\n", 1))
    assert 'data-line="7" data-column="18"' in said
    assert "line 7, column 18" in said
    assert verdict(said) == "1 problem, in line 7."
    assert "srcdoc" not in said


def test_mistakes_of_content_are_told_with_the_question_that_they_are_in(check: Check) -> None:
    text = SCHEME.replace("kind: scale", "kind: scales").replace("about: duty", "about: duties")
    said, line = check(text), text.splitlines().index("        kind: scales") + 1
    assert "sections.acts.questions.strictness.kind" in said
    assert f'data-line="{line}" data-column="0">line {line}</button>' in said
    assert "names the facet “duties”, which the column has not" in said
    assert verdict(said) == "4 problems, the first in line 12."  # a kind without min and max has two


def test_many_problems_are_counted_and_the_first_are_shown(check: Check) -> None:
    said = check(SCHEME + "".join(f"k{n}: 1\n" for n in range(300)))
    assert said.count("data-line") == scheme_check.SHOWN
    assert verdict(said).startswith("200 problems")


def test_nothing_is_said_of_nothing(check: Check) -> None:
    said = check(" \n")
    assert verdict(said) == ""
    assert "srcdoc" not in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: &a [x]\nb: *a\n", "an alias (*) or anchor (&) is not read here"),
        ("a: !!python/object:os.system x\n", "a tag (!) is not read here"),
        ("[" * 99_000, "nested too deep"),
        ("a: {" + "x," * 49_000, "too many entries"),
        ("synonyms: [[" + ",".join(f"a{n}" for n in range(15_000)) + "]]\n", "this key is missing"),
        ("".join(f"k{n}: 1\n" for n in range(9_000)), "no such key here"),
        ("x" * 99_999 + "é", "should be a mapping"),
        ("x" * 900_000, "too long to be checked while it is written"),
        ("a: \x01", "no text"),
        ("<script>alert(1)</script>: 1", "this key is missing"),
    ],
    ids=["alias", "tag", "deep", "wide", "one long list", "unknown keys", "long", "longer", "control", "markup"],
)
def test_a_hostile_text_gets_a_sentence_in_time(check: Check, text: str, sentence: str) -> None:
    began = time.perf_counter()
    said = check(text)
    assert time.perf_counter() - began < 15  # a second or two; it was half a minute, and a busy machine is slower
    assert sentence in unescape(said)
    assert "<script>alert" not in said


def test_ten_megabytes_are_refused_unread(client_of: ClientOf, db: None) -> None:
    client = client_of(builders.user("olga", superuser=True))
    answer = client.post(reverse("annotation:check-scheme"), {"scheme_text": "x" * 10_000_000})
    assert answer.status_code in (400, 413) or "too long to be checked" in answer.content.decode()


# --- what is asked ----------------------------------------------------------------------------------------------------


def test_of_a_valid_scheme_questions_kinds_and_keys_are_told(check: Check) -> None:
    said = check(SCHEME)
    assert verdict(said) == "Valid: 4 questions."
    assert re.search(r"<th scope=\"row\">Stated</th><td>One option</td>\s*<td>.*<kbd>2</kbd> Implied", said)
    assert "not where act is absent" in said
    assert not Scheme.objects.exists()


def test_a_version_that_is_stored_and_asks_something_else_is_told_before_it_is_sent(check: Check) -> None:
    builders.scheme(SCHEME)
    assert verdict(check(SCHEME)) == "Valid: 4 questions."
    said = verdict(check(SCHEME.replace("label: Implied", "label: Meant")))
    assert said == (
        "The text is valid, but it would not be taken: Version 1 of “contracts” is stored already and asks something "
        "else. Raise the version."
    )


@pytest.mark.parametrize("name", LABELS)
def test_each_snippet_asks_its_kind_and_is_commented(name: str) -> None:
    scheme = load_scheme(within(name))
    asked = scheme.sections[0].questions
    assert text_of(name).startswith("# ")
    assert text_of(name).endswith("\n")
    keys = [question.key for question in asked]
    assert re.findall(r"^- key: (.+)$", text_of(name), re.MULTILINE) == keys


def test_there_is_a_snippet_of_each_kind() -> None:
    kinds = {question.kind for name in LABELS for question in load_scheme(within(name)).sections[0].questions}
    assert kinds == set(Kind)
    assert len({snippet.label for snippet in snippets()}) == len(LABELS)


def test_all_snippets_together_are_a_scheme(check: Check) -> None:
    """As many as a section takes; each has keys of its own."""
    text = within("choice") + "".join(
        f"      {line}\n" for name in list(LABELS)[1:8] for line in text_of(name).splitlines()
    )
    assert verdict(check(text)) == "Valid: 8 questions."


# --- how it looks -----------------------------------------------------------------------------------------------------


def test_a_preview_is_the_page_of_a_sheet(check: Check) -> None:
    shown = preview_of(check(SCHEME))
    assert shown.count('role="gridcell"') == 2 + 3 * 2
    for part in (
        'id="grid-config"',
        'id="palette-data"',
        "/scripts/stand-in-",
        "/scripts/grid-",
        ">Clause 1<",
        "Duty 1",
    ):
        assert part in shown
    assert "Spreadsheet" not in shown


def test_the_same_preview_is_not_sent_twice(check: Check) -> None:
    digest = re.search(r'data-digest="(\w+)"', check(SCHEME))
    assert digest
    assert "srcdoc" not in check(SCHEME + "# a comment\n", shown=digest[1])
    assert "srcdoc" in check(SCHEME.replace("label: Implied", "label: Meant"), shown=digest[1])


def test_what_a_scheme_says_is_text_in_the_preview_and_beside_it(check: Check) -> None:
    mark = "<img src=x onerror=alert(1)>"
    said = check(SCHEME.replace("title: Duties", f"title: '{mark}'").replace("label: Implied", f"label: '{mark}'"))
    assert mark not in said
    assert mark not in preview_of(said)


def test_a_study_shows_its_own_row_and_columns(leases: Leases, client_of: ClientOf) -> None:
    shown = preview_of(of_study(client_of, leases, NEXT))
    row = leases.sheet.rows.earliest("position")
    for part in (leases.sheet.title, row.name, "Pay rent", "Give notice"):
        assert part in shown
    assert str(leases.annas[0].pk) not in re.findall(r'data-a="(\d+)"', shown)


def test_a_preview_asks_the_database_little(leases: Leases, django_assert_num_queries: Callable[..., object]) -> None:
    with django_assert_num_queries(2):
        found = queries.preview(load_scheme(NEXT), leases.study)
    with django_assert_num_queries(0):
        assert queries.preview(load_scheme(NEXT)).is_example
    assert not found.is_example
    assert found.row.pk >= queries.UNUSED


def test_hidden_facets_are_not_in_the_preview(leases: Leases, client_of: ClientOf) -> None:
    hidden = "row: {facets: [{key: writer, title: Ghost writer, hidden: true}, place]}\n"
    text = SCHEME.replace("key: contracts", "key: hiding").replace("sections:\n", f"{hidden}sections:\n", 1)
    study = builders.study("hiding", of=builders.scheme(text), by=leases.manager)
    facets = {"writer": "Phantom", "place": "Brno"}
    actions.add_row(sheet=builders.sheet(study, n_rows=0), name="A", evidence=[Block(PARAGRAPH, "x")], facets=facets)
    shown = preview_of(of_study(client_of, leases, text, "hiding"))
    assert "Brno" in shown
    assert "Phantom" not in shown


# --- what a change means ----------------------------------------------------------------------------------------------


def test_under_answers_the_check_says_what_changes(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    said = of_study(client_of, leases, NEXT.replace("label: Implied", "label: Meant"))
    assert verdict(said) == "Valid: 4 questions. 2 changes; all answers stand."  # the label, and the sign that follows
    assert "Duties › Stated › Implied › label" in said
    assert "Nothing is changed yet." in verdict(of_study(client_of, leases, SCHEME))


def test_under_answers_what_cannot_go_is_told(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    said = of_study(client_of, leases, SCHEME.replace("          - {key: implied, label: Implied}\n", ""))
    assert "options.implied cannot be taken away under answers or a plan" in verdict(said)
    assert "Give it the version 2 or a higher one." in said
    assert leases.study.scheme.sections.get(key="duties").questions.get().options.count() == 3


def test_without_answers_the_check_says_what_has_no_place(leases: Leases, client_of: ClientOf) -> None:
    study = builders.study("fresh", of=leases.study.scheme, by=leases.manager)
    builders.sheet(study)
    said = of_study(client_of, leases, NEXT.replace("key: acts", "key: deeds"), "fresh")
    assert "Columns were brought in for the section “Acts”" in verdict(said)
    assert not Scheme.objects.filter(version=2).exists()


def test_a_study_without_answers_can_begin_with_its_own_scheme(leases: Leases, client_of: ClientOf) -> None:
    builders.study("fresh", of=leases.study.scheme, by=leases.manager)
    address = reverse("annotation:change-scheme", args=["fresh"])
    page = client_of(leases.manager).get(address, {"begin": "own"})
    assert page.context["form"]["scheme_text"].value() == NEXT
    assert client_of(leases.manager).get(address).context["form"]["scheme_text"].value() in (None, "")


def test_who_may_make_no_scheme_may_check_none(leases: Leases, client_of: ClientOf) -> None:
    for somebody in (leases.anna, leases.manager):
        answer = client_of(somebody).post(reverse("annotation:check-scheme"), {"scheme_text": SCHEME})
        assert answer.status_code == 403
    answer = client_of(leases.researcher).post(
        reverse("annotation:check-study-scheme", args=["leases"]), {"scheme_text": SCHEME}
    )
    assert answer.status_code == 403


def test_pages_with_a_scheme_say_where_it_is_checked(leases: Leases, client_of: ClientOf) -> None:
    owner: User = builders.user("olga", superuser=True)
    builders.study("fresh", of=leases.study.scheme, by=leases.manager)
    new = client_of(owner).get(reverse("annotation:new-study")).content.decode()
    assert f'hx-post="{reverse("annotation:check-scheme")}"' in new
    assert new.count("data-snippet=") == len(LABELS)
    for slug in ("fresh", "leases"):
        page = client_of(leases.manager).get(reverse("annotation:change-scheme", args=[slug])).content.decode()
        assert f'hx-post="{reverse("annotation:check-study-scheme", args=[slug])}"' in page


@pytest.mark.parametrize("with_kinds", [True, False], ids=["kinds of its own", "headings"])
def test_of_a_comparison_two_texts_stand_side_by_side(check: Check, with_kinds: bool) -> None:
    text = doors.shipped_schemes()["text-pairs"].read_text(encoding="utf-8")
    if not with_kinds:
        text = text[: text.index("blocks:")] + text[text.index("row:\n  facets:") :]
    shown = preview_of(check(text))
    assert "data-beside" in shown
    assert shown.count("<section>") == 2
    assert shown.count("The text of one system.") == 2


# --- a text to begin from ---------------------------------------------------------------------------------------------


def test_any_scheme_of_the_list_can_be_begun_from_under_a_version_that_is_free(db: None, client_of: ClientOf) -> None:
    client, address = client_of(builders.user("olga", superuser=True)), reverse("annotation:scheme-to-begin-from")
    stored = builders.scheme(SCHEME)

    def given(which: str) -> str:
        answer = client.get(address, {"begin": which})
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
        return answer.content.decode()

    assert load_scheme(given(str(stored.pk))) == load_scheme(NEXT)
    assert load_scheme(given("short")).key == "texts"
    pairs = load_scheme(given("text-pairs"))
    assert (pairs.key, pairs.version) == ("text-pairs", 2)
    for nothing in ("", "no-such", "999999", "9" * 30, "../../settings"):
        assert client.get(address, {"begin": nothing}).status_code == 404


# --- how much it costs ------------------------------------------------------------------------------------------------


def test_one_person_has_so_many_checks_a_minute(
    check: Check, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheme_check, "MOST_A_MINUTE", 3)
    for minute in (100, 101):
        monkeypatch.setattr(time, "time", lambda at=60.0 * minute: at)
        for _n in range(3):
            assert verdict(check(SCHEME)) == "Valid: 4 questions."
        refused = client_of(User.objects.get(username="olga")).post(
            reverse("annotation:check-scheme"), {"scheme_text": SCHEME}
        )
        assert (refused.status_code, refused["Retry-After"]) == (429, "60")
        other = client_of(builders.user(f"other-{minute}", superuser=True))
        assert other.post(reverse("annotation:check-scheme"), {"scheme_text": SCHEME}).status_code == 200


def test_facets_of_rows_are_asked_for_only_where_one_is_lost(
    leases: Leases, django_assert_num_queries: Callable[..., object]
) -> None:
    """All rows were read, with each check of a text."""
    text = SCHEME.replace("key: contracts", "key: placed").replace(
        "sections:\n", "row: {facets: [place, year]}\nsections:\n", 1
    )
    study = builders.study("placed", of=builders.scheme(text), by=leases.manager)
    sheet = builders.sheet(study, n_rows=0)
    actions.add_row(sheet=sheet, name="A", evidence=[Block(PARAGRAPH, "x")], facets={"place": "Brno"})
    with django_assert_num_queries(1):
        assert queries.why_unfit(study, load_scheme(text)) == ""
    without = load_scheme(text.replace("[place, year]", "[year]"))
    with django_assert_num_queries(2):
        assert "Rows have the facet “place”" in queries.why_unfit(study, without)
    assert queries.why_unfit(study, load_scheme(text.replace("[place, year]", "[place]"))) == ""
