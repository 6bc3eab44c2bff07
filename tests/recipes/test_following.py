"""What a page of the chain says comes next, recipes that are pasted, and steps that their manager does alone."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.models import Assignment, Role, Row, Study, User
from judges.models import Run
from recipes.memorization import actions, demo_study
from recipes.memorization.chain import PARSING
from recipes.memorization.chain.making import scheme_called
from recipes.memorization.names import read_names
from tests import builders
from tests.judges import generations
from work import actions as machine

pytestmark = pytest.mark.django_db

SOUP = "Ingredients\n- 1 onion\n- 2 leeks\n\nSteps\n1. Chop the onion.\n2. Boil the leeks in a pot."


@pytest.fixture
def nina(client: Client) -> User:
    user = User.objects.create_user("nina")
    user.user_permissions.set(Permission.objects.filter(codename__in=["add_study", "add_judge"]))
    user = User.objects.get(pk=user.pk)  # with its permissions
    client.force_login(user)
    return user


def study_of(scheme: str, by: User) -> Study:
    return annotating.create_study(slug=scheme, title="Soups", scheme=scheme_called(scheme), by=by)


def following(study: Study, user: User) -> doors.Next:
    found = doors.next_in(study, user)
    assert found is not None
    return found


def test_each_page_of_a_study_in_the_chain_says_what_comes_next(client: Client, nina: User) -> None:
    study = study_of("recipe-names", nina)
    for page in (
        "annotation:study",
        "memorization:names",
        "memorization:steps",
        "annotation:plan",
        "annotation:people",
    ):
        assert "Type or paste the dishes." in client.get(reverse(page, args=[study.slug])).content.decode()
    actions.add_names(study=study, sheet="Dishes", names=read_names("Soup"))
    said = client.get(reverse("annotation:study", args=[study.slug])).content.decode()
    assert "Each dish needs a recipe or several." in said
    assert 'id="setup"' not in said  # the list of another kind of study would lead elsewhere
    # It is for who manages the study; and other studies have no such line.
    annotating.add_member(study=study, user=User.objects.create_user("reader"), role=Role.RESEARCHER)
    client.force_login(User.objects.get(username="reader"))
    assert "follows" not in client.get(reverse("annotation:study", args=[study.slug])).content.decode()
    assert client.get(reverse("annotation:follows", args=[study.slug])).status_code == 403
    assert doors.next_in(study_of("recipe-memorization", nina), nina) is None


def test_the_form_that_it_leads_to_is_filled_in(client: Client, nina: User) -> None:
    study = study_of("recipe-names", nina)
    actions.add_names(study=study, sheet="Dishes", names=read_names("Soup"))
    _write, (label, url) = following(study, nina).ways
    assert str(label) == "Or paste recipes that you have"
    form = client.get(url).context["form"]
    given = {field.name: field.value() for field in form if field.value() is not None}
    assert given["title"] == "Soups: candidates"
    assert given["set_bare"] == "keep"
    assert given["scheme"] == parse_qs(urlsplit(url).query)["scheme"][0] == "recipe-candidates"
    client.post(url, given | {"rater": ""})
    made = Study.objects.get(slug="recipe-names-candidates")
    assert [sheet.title for sheet in made.sheets.all()] == ["Soup"]
    assert not Row.objects.filter(sheet__study=made).exists()
    assert str(following(study, nina).ways[0][0]) == "Soups: candidates"
    # An address that is taken is not proposed again.
    made.derived_from = None
    made.save(update_fields=["derived_from"])
    assert "slug=recipe-names-candidates-2&" in following(study, nina).ways[1][1]


def test_a_recipe_is_pasted_and_who_labels_is_not_told_whose_it_is(client: Client, nina: User) -> None:
    study = study_of("recipe-candidates", nina)
    page = reverse("memorization:paste", args=[study.slug])
    said = {"sheet": "Soup", "text": SOUP, "written_by": "Grandmother", "prompt": "asked nicely"}
    assert client.post(page, said).status_code == 302
    row = Row.objects.get(sheet__study=study)
    assert (row.sheet.title, row.name, row.facets) == (
        "Soup",
        "1",
        {"generator": "Grandmother", "prompt": "asked nicely"},
    )
    assert [block.text for block in row.blocks][:2] == ["Ingredients", "- 1 onion"]
    assert "has this text already: 1" in client.post(page, said).content.decode()
    assert client.post(page, said | {"text": SOUP + "\nEat."}).status_code == 302
    assert list(row.sheet.rows.values_list("name", flat=True)) == ["1", "2"]
    for broken, sentence in (
        ({"text": "   \n "}, "This field is required."),
        ({"text": "a\x00b"}, "Null characters are not allowed."),
        ({"sheet": " "}, "This field is required."),
    ):
        assert sentence in client.post(page, said | broken).content.decode()
    assert Row.objects.filter(sheet__study=study).count() == 2
    names = study_of("recipe-names", nina)
    assert client.get(reverse("memorization:paste", args=[names.slug])).status_code == 404


def test_who_wrote_a_pasted_recipe_is_kept_where_recipes_are_taken_apart(client: Client, nina: User) -> None:
    study = study_of(PARSING, nina)
    page = reverse("memorization:paste", args=[study.slug])
    assert 'name="written_by"' in client.get(page).content.decode()
    said = {"sheet": "Soup", "text": SOUP, "written_by": "Grandmother", "prompt": "asked nicely"}
    assert client.post(page, said).status_code == 302
    row = Row.objects.get(sheet__study=study)
    assert row.facets == {"generator": "Grandmother", "prompt": "asked nicely"}


def test_where_the_scheme_hides_nobody_who_wrote_is_not_asked(client: Client, nina: User) -> None:
    source = (demo_study.ROOT / "schemes" / "recipe-parsing.yaml").read_text(encoding="utf-8")
    facets = source[source.index("row:\n") : source.index("guideline:")]
    study = annotating.create_study(
        slug="before", title="Before", scheme=builders.scheme(source.replace(facets, "")), by=nina
    )
    page = reverse("memorization:paste", args=[study.slug])
    assert 'name="written_by"' not in client.get(page).content.decode()
    with pytest.raises(Refused, match="no hidden facets for who wrote"):
        actions.add_text(study=study, sheet="Soup", text=SOUP, written_by="Grandmother")
    assert not Row.objects.filter(sheet__study=study).exists()
    assert actions.add_text(study=study, sheet="Soup", text=SOUP).facets == {}


def test_an_incomplete_recipe_is_refused_and_leaves_nothing(nina: User) -> None:
    study = study_of(PARSING, nina)
    with pytest.raises(Refused, match="Name the dish"):
        actions.add_text(study=study, sheet=" ", text=SOUP)
    with pytest.raises(Refused, match="Paste the recipe"):
        actions.add_text(study=study, sheet="Stew", text=" \n ")
    assert not study.sheets.filter(title="Stew").exists()


def test_who_manages_a_study_labels_it_without_inviting_anybody(client: Client, nina: User) -> None:
    study = study_of("recipe-candidates", nina)
    page = reverse("memorization:myself", args=[study.slug])
    assert "nothing to label" in client.post(page, follow=True).content.decode()
    assert not study.raters.exists()
    for text in (SOUP, SOUP + "\nEat."):
        actions.add_text(study=study, sheet="Soup", text=text)
    assert client.post(page).url == reverse("annotation:my-work")
    client.post(page)  # again: nothing twice
    given = Assignment.objects.filter(rater__user=nina)
    assert [(one.row.name, one.rater.code) for one in given.order_by("row")] == [("1", "A1"), ("2", "A1")]
    assert "Not all is answered" in str(following(study, nina).words)


def test_rules_begin_at_once_and_their_answers_count_where_nobody_else_answered(client: Client, nina: User) -> None:
    study = study_of(PARSING, nina)
    actions.add_text(study=study, sheet="Soup", text=SOUP)
    rules = [url for label, url in following(study, nina).does if str(label).startswith("Let the rules")]
    client.post(rules[0])
    run = Run.objects.get(study=study)
    waiting = following(study, nina)
    assert (str(waiting.words), waiting.waits) == ("A judge is at work.", True)
    while machine.take_up(run):
        pass
    ways = {str(label): url for label, url in following(study, nina).ways}
    form = client.get(ways["Look for the parts in documents"]).context["form"]
    client.post(ways["Look for the parts in documents"], {field.name: field.value() or "" for field in form})
    made = Study.objects.get(slug="recipe-documents")
    assert [column.name for column in made.sheets.get().columns.filter(section__key="ingredients")] == [
        "onion",
        "leeks",
    ]
    # No other judge than those of its own step is begun by such an address, and none by who may add no judge.
    at = reverse("memorization:by-judge", args=[study.slug])
    assert client.post(f"{at}?judge=lexical").status_code == 404
    assert "No model has written" in client.post(at, follow=True).content.decode()
    nina.user_permissions.clear()
    assert client.post(f"{at}?judge=rules").status_code == 403


def test_an_address_that_is_left_empty_is_made_of_the_title(client: Client, nina: User) -> None:
    scheme = study_of("recipe-names", nina).scheme_id
    said = {"title": "Soups & é", "slug": "", "scheme": scheme, "guideline": ""}
    client.post(reverse("annotation:new-study"), said)
    client.post(reverse("annotation:new-study"), said)
    client.post(reverse("annotation:new-study"), said | {"title": "汤"})
    assert set(Study.objects.values_list("slug", flat=True)) == {"recipe-names", "soups-e", "soups-e-2", "study"}


def test_who_types_names_may_say_at_once_which_are_examined(client: Client, nina: User) -> None:
    study = study_of("recipe-names", nina)
    actions.add_names(study=study, sheet="Dishes", names=read_names("Soup"))
    [(_label, url)] = following(study, nina).does
    client.post(url)
    assert Assignment.objects.get().rater.user == nina
    assert following(study, nina).does == []


def test_the_line_asks_little(nina: User, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    study = generations.dishes(by=nina)
    nina.has_perm("annotation.add_study")
    with django_assert_max_num_queries(8):
        doors.next_in(Study.objects.select_related("scheme").get(pk=study.pk), nina)
