"""A scheme that somebody writes: an example to begin from, its text in place of a file, another one before answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation import actions
from annotation.actions import Refused
from annotation.documentation import address_of
from annotation.models import Scheme, Study, User
from annotation.scheme import spec
from annotation.scheme.questions import Kind
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.builders import SCHEME, ClientOf, Leases

EXAMPLE = Path(spec.__file__).with_name("example.yaml").read_text(encoding="utf-8")
NEXT = SCHEME.replace("version: 1", "version: 2").replace("title: Stated\n        about", "title: Said\n        about")


@pytest.fixture
def owner(db: None) -> User:
    return builders.user("olga", superuser=True)


def test_the_example_is_a_scheme_with_each_kind_of_answer() -> None:
    scheme = load_scheme(EXAMPLE)
    assert {question.kind for section in scheme.sections for question in section.questions} == set(Kind)
    assert scheme.row.facets
    assert scheme.guideline


def test_a_study_is_made_of_the_example_as_it_was_downloaded(owner: User, client_of: ClientOf) -> None:
    client = client_of(owner)
    page = client.get(reverse("annotation:new-study")).content.decode()
    assert reverse("annotation:scheme-example") in page
    assert f'href="{address_of("scheme")}"' in page
    downloaded = client.get(reverse("annotation:scheme-example"))
    assert "scheme-example.yaml" in downloaded.headers["Content-Disposition"]
    file = SimpleUploadedFile("scheme-example.yaml", downloaded.content)
    client.post(reverse("annotation:new-study"), {"title": "Letters", "scheme_file": file})
    assert Study.objects.get(slug="letters").scheme.slug == "city-letters"


def test_a_study_of_short_texts_is_begun_with_one_click_and_the_next_one_too(owner: User, client_of: ClientOf) -> None:
    """All that was offered to choose was of recipes, and the one example stood in a file to be downloaded."""
    client, address = client_of(owner), reverse("annotation:new-study")
    assert '<a href="?begin=short" data-begin="short">' in client.get(address).content.decode()

    for title in ("Mails", "Posts"):
        form = client.get(address, {"begin": "short"}).context["form"]
        client.post(address, {"title": title, "scheme_text": form["scheme_text"].value()})

    assert [study.scheme.slug for study in Study.objects.order_by("slug")] == ["texts", "texts-2"]
    kinds = [question.kind for question in Study.objects.get(slug="mails").scheme.parsed.sections[0].questions]
    assert kinds == [Kind.CHOICE, Kind.FLAG, Kind.SCALE, Kind.ITEMS, Kind.TEXT]


def test_a_scheme_is_given_as_a_text(owner: User, client_of: ClientOf) -> None:
    client, address = client_of(owner), reverse("annotation:new-study")
    client.post(address, {"title": "Letters", "scheme_text": EXAMPLE})
    assert Study.objects.get(slug="letters").scheme.source.replace("\r\n", "\n") == EXAMPLE
    both = {"title": "Two", "scheme_text": EXAMPLE, "scheme": str(Scheme.objects.get().pk)}
    assert "one of the three" in client.post(address, both).content.decode()


def test_an_address_that_cannot_be_is_refused_in_words_of_the_page(owner: User, client_of: ClientOf) -> None:
    client = client_of(owner)
    client.post(reverse("annotation:new-study"), {"title": "Letters", "scheme_text": EXAMPLE})
    other = actions.create_study(slug="other", title="Other", scheme=Scheme.objects.get(), by=owner)
    settings = {"title": "Other", "guideline": "", "consent": "", "background": ""}
    for address, form in (
        (reverse("annotation:new-study"), {"title": "L", "scheme_text": EXAMPLE}),
        (reverse("annotation:settings", args=[other.slug]), settings),
    ):
        for slug, sentence in (("letters", "Another study has the address “letters”."), ("zpráva", "without accents")):
            said = client.post(address, {**form, "slug": slug}).content.decode()
            assert sentence in said
            assert "this Slug" not in said
            assert "“slug”" not in said
    assert Study.objects.count() == 2


def test_two_studies_that_are_given_one_address_at_the_same_time(owner: User, client_of: ClientOf) -> None:
    """Whatever was looked at before: the database says that the second one has it not."""
    client_of(owner).post(reverse("annotation:new-study"), {"title": "Letters", "scheme_text": EXAMPLE})
    scheme = Scheme.objects.get()
    with pytest.raises(actions.Refused, match="Another study has the address “letters”"):
        actions.create_study(slug="letters", title="Second", scheme=scheme, by=owner)
    other = actions.create_study(slug="other", title="Other", scheme=scheme, by=owner)
    with pytest.raises(actions.Refused, match="Another study has the address “letters”"):
        actions.change_study(study=other, slug="letters", title="Else")
    assert (other.slug, other.title) == ("other", "Other")
    assert dict(Study.objects.values_list("slug", "title")) == {"letters": "Letters", "other": "Other"}


def test_all_that_is_wrong_in_a_text_is_told_at_once(owner: User, client_of: ClientOf) -> None:
    wrong = (
        EXAMPLE.replace("kind: flag", "kind: flog")
        .replace("title: Wishes", "titel: Wishes")
        .replace("max: 5", "max: x")
    )
    said = client_of(owner).post(reverse("annotation:new-study"), {"title": "L", "scheme_text": wrong}).content.decode()
    for place in ("sections.wishes.titel: no such key here", "questions.urgency", "questions.placed"):
        assert place in said


def test_another_scheme_takes_the_place_of_one_without_answers(leases: Leases, client_of: ClientOf) -> None:
    study = builders.study("fresh", of=leases.study.scheme, by=leases.manager)
    sheet = builders.sheet(study)
    manager, address = client_of(leases.manager), reverse("annotation:change-scheme", args=["fresh"])
    assert address in manager.get(reverse("annotation:settings", args=["fresh"])).content.decode()
    names = [(column.section.key, column.name) for column in sheet.columns.select_related("section")]

    manager.post(address, {"scheme_text": NEXT})
    study.refresh_from_db()
    assert study.scheme.version == 2
    assert {column.section.scheme for column in sheet.columns.all()} == {study.scheme}
    assert [(column.section.key, column.name) for column in sheet.columns.select_related("section")] == names
    assignment = builders.assignments(builders.rater(study, leases.anna), sheet)[0]
    builders.label(assignment)


def test_a_scheme_without_the_sections_of_the_columns_is_refused_whole(leases: Leases, client_of: ClientOf) -> None:
    study = builders.study("fresh", of=leases.study.scheme, by=leases.manager)
    builders.sheet(study)
    address = reverse("annotation:change-scheme", args=["fresh"])
    said = client_of(leases.manager).post(address, {"scheme_text": EXAMPLE}).content.decode()
    assert "Columns were brought in for the section" in said
    study.refresh_from_db()
    assert study.scheme == leases.study.scheme
    assert not Scheme.objects.filter(slug="city-letters").exists()


def test_blank_columns_that_nobody_brought_in_make_way(leases: Leases) -> None:
    """Documents came first: each section of the sheet has one form a row."""
    study = builders.study("fresh", of=leases.study.scheme, by=leases.manager)
    sheet = actions.add_sheet(study=study, title="Lease", columns={})
    other = NEXT.replace("key: acts", "key: deeds").replace("facets: [duty]", "facets: [duty, clause]")
    actions.change_scheme(study=study, spec=load_scheme(other), source=other)
    found = sheet.columns.order_by("section__position").values_list("section__key", "name", "facets")
    assert list(found) == [("duties", "", {"duty": "", "clause": ""}), ("deeds", "", {"act": "", "party": ""})]


def test_a_section_that_comes_new_has_one_blank_column(leases: Leases) -> None:
    study = builders.study("fresh", of=leases.study.scheme, by=leases.manager)
    sheet = actions.add_sheet(study=study, title="Lease", columns={})
    more = NEXT + "  - key: whole\n    title: Whole\n    column: {title: Clause, facets: [clause]}\n    questions:\n"
    more += "      - {key: clear, title: Clear, kind: flag}\n"
    actions.change_scheme(study=study, spec=load_scheme(more), source=more)
    assert [column.name for column in sheet.columns.filter(section__key="whole")] == [""]


def test_a_scheme_under_answers_or_a_plan_stays(leases: Leases, client_of: ClientOf) -> None:
    address = reverse("annotation:change-scheme", args=["leases"])
    manager = client_of(leases.manager)
    shown = manager.get(reverse("annotation:settings", args=["leases"])).content.decode()
    assert "scheme of a higher version" in shown
    with pytest.raises(Refused, match="labelled or planned"):
        actions.change_scheme(study=leases.study, spec=load_scheme(NEXT), source=NEXT)
    assert "Change the wording" in manager.get(address).content.decode()
