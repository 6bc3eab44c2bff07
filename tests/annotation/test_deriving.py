"""Studies made of other studies: which label counts, what is made, and what everything rests on."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation import actions, doors
from annotation.actions import Refused
from annotation.deriving import making, queries
from annotation.deriving.actions import derive_study
from annotation.deriving.choosing import Choice, How, Vote, choose
from annotation.deriving.making import Deriver, MadeRow, MadeSheet
from annotation.models import Lineage, Look, Rater, Role, Row, Scheme, Study
from tests import builders
from tests.annotation.lineage import rests_of
from tests.builders import ApiOf, ClientOf, Leases

# --- which label counts ----------------------------------------------------------------------------------------------


def vote(rater: str, kind: str, code: str, key: str = "", assignment: int = 0) -> Vote:
    return Vote(rater, kind, key or code, code, assignment)


ANNA, BORIS, CILA = (vote(name, "person", code) for name, code in (("a", "x"), ("b", "y"), ("c", "y")))
JUDGE, GOLD = vote("j", "judge", "z"), vote("gold", "gold", "x")


@pytest.mark.parametrize(
    ("votes", "rater", "expected"),
    [
        pytest.param([], "", Choice(), id="nothing"),
        pytest.param([JUDGE], "", Choice(), id="judges do not vote"),
        pytest.param([ANNA, BORIS, CILA], "", Choice("y", How.MAJORITY, (BORIS, CILA)), id="most people"),
        pytest.param([ANNA, BORIS, CILA, GOLD], "b", Choice("x", How.GOLD, (GOLD,)), id="the gold before all"),
        pytest.param([ANNA, BORIS, CILA, JUDGE], "j", Choice("z", How.RATER, (JUDGE,)), id="then the named rater"),
        pytest.param([ANNA, JUDGE], "b", Choice("x", How.MAJORITY, (ANNA,)), id="who has no label there"),
        pytest.param([ANNA, BORIS], "", Choice(how=How.MAJORITY, tied=("x", "y")), id="a tie is no answer"),
        pytest.param(
            [vote("a", "person", "A; b", "a;b"), vote("b", "person", "b; A", "a;b"), vote("c", "person", "c")],
            "",
            Choice("A; b", How.MAJORITY, (vote("a", "person", "A; b", "a;b"), vote("b", "person", "b; A", "a;b"))),
            id="equal answers that are written otherwise",
        ),
        pytest.param(
            [ANNA, ANNA._replace(repeat=2), BORIS, CILA],
            "",
            Choice("y", How.MAJORITY, (BORIS, CILA)),
            id="a person's rounds are one person",
        ),
        pytest.param(
            [ANNA._replace(code="y", key="y", repeat=2), ANNA, BORIS],
            "",
            Choice("y", How.MAJORITY, (ANNA._replace(code="y", key="y", repeat=2), BORIS)),
            id="whose last round counts",
        ),
        pytest.param(
            [ANNA, ANNA._replace(code="y", key="y", repeat=2)],
            "a",
            Choice("y", How.RATER, (ANNA._replace(code="y", key="y", repeat=2),)),
            id="also of the named rater",
        ),
        pytest.param(
            [JUDGE, JUDGE._replace(repeat=2), JUDGE._replace(code="x", key="x", repeat=3)],
            "j",
            Choice("z", How.RATER, (JUDGE, JUDGE._replace(repeat=2))),
            id="of a judge what it says most often",
        ),
    ],
)
def test_the_gold_counts_else_the_rater_else_the_majority(votes: list[Vote], rater: str, expected: Choice) -> None:
    assert choose(votes, rater=rater) == expected


# --- a study out of rows ---------------------------------------------------------------------------------------------

SECOND = """\
key: second-look
version: 1
title: A second look
row: {facets: [stated, engine]}
sections:
  - key: duties
    title: Duties
    column: {title: Duty, facets: [duty]}
    questions:
      - {key: fair, title: "Is it fair?", kind: flag}
"""


@pytest.fixture
def answered(leases: Leases) -> Leases:
    """Anna says “stated” of the rent in both clauses; Boris only in the first, and agrees that insurance is implied."""
    for assignment in leases.annas:
        builders.label(assignment)
    builders.label(leases.boriss[0])
    builders.label(leases.boriss[1], {**builders.COMPLETE, ("Pay rent", "stated"): "absent"})
    return leases


def derived(of: Leases, *answers: str, rater: str = "", columns: str = "any", slug: str = "second") -> Study:
    return derive_study(
        source=of.study,
        deriver="selected-rows",
        scheme=builders.scheme(SECOND),
        slug=slug,
        title="A second look",
        rater=rater,
        settings={"answers": list(answers), "columns": [columns]},
        by=of.manager,
    )


MARKED = """\
      - key: names
        title: Names
        kind: items
        items: {fields: [{key: words, required: true}, {key: at, place: true}]}
"""


@pytest.mark.django_db
def test_empty_lines_are_left_where_words_are_to_be_marked(answered: Leases) -> None:
    """A file of marked words goes by the lines of a text: with the empty ones it was called another text."""
    for row in answered.sheet.rows.all():
        row.evidence = [{"kind": "paragraph", "text": "\nPay rent."}]
        row.save()
    texts = {}
    for slug, source in (("second", SECOND), ("marked", SECOND + MARKED)):
        made = derive_study(
            source=answered.study,
            deriver="selected-rows",
            scheme=builders.scheme(source.replace("version: 1", f"version: {len(texts) + 1}")),
            slug=slug,
            title=slug,
            settings={"answers": ["duties.stated=stated"], "columns": ["any"]},
            by=answered.manager,
        )
        texts[slug] = Row.objects.get(sheet__study=made).blocks[0].text
    assert texts == {"second": "\nPay rent.", "marked": "Pay rent."}


@pytest.mark.django_db
def test_rows_with_an_answer_become_rows_with_their_evidence_and_columns(answered: Leases) -> None:
    made = derived(answered, "duties.stated=stated")
    # In the second clause Anna and Boris differ about the rent: no answer is chosen there.
    row = Row.objects.get(sheet__study=made)
    first = answered.sheet.rows.order_by("position")[0]
    assert (row.name, row.evidence, row.url) == (first.name, first.evidence, first.url)
    assert row.facets == {"stated": "Stated"}
    assert [column.name for column in row.sheet.columns.order_by("position")] == list(builders.DUTIES)
    assert made.derived_from == answered.study
    assert made.derivation["deriver"] == "selected-rows"
    assert made.derivation["made"] == {"sheets": 1, "rows": 1, "columns": 2}
    assert made.derivation["ties"]["n"] == 1
    assert made.derivation["ties"]["cells"][0]["answers"] == ["Stated", "Not stated"]
    assert made.memberships.filter(user=answered.manager, role=Role.MANAGER).exists()


@pytest.mark.django_db
def test_all_rows_may_be_taken_whatever_was_answered(leases: Leases) -> None:
    """As a study does that goes on by a later version of its scheme."""
    made = derived(leases, "every-row")
    rows = Row.objects.filter(sheet__study=made).order_by("position")
    assert [row.name for row in rows] == [row.name for row in leases.sheet.rows.order_by("position")]
    assert [(rest.lineage.row, rest.lineage.question) for rest in rests_of(rows[0])] == [(leases.annas[0].row, None)]


@pytest.mark.django_db
def test_the_page_takes_a_scheme_file_for_the_new_study(answered: Leases, client_of: ClientOf) -> None:
    answered.manager.user_permissions.add(Permission.objects.get(codename="add_study"))
    client, at = client_of(answered.manager), "/studies/leases/derive/"
    asked = {"title": "Second", "slug": "second", "set_answers": "every-row", "set_columns": "any"}
    assert "Choose a scheme from the list, or give a file" in client.post(at, asked).content.decode()
    wrong = client.post(at, {**asked, "scheme_file": SimpleUploadedFile("s.yaml", b"key: x")}).content.decode()
    assert "s.yaml, line 1, version: this key is missing" in wrong
    client.post(at, {**asked, "scheme_file": SimpleUploadedFile("s.yaml", SECOND.encode())})
    made = Study.objects.get(slug="second")
    assert (made.scheme.slug, Row.objects.filter(sheet__study=made).count()) == ("second-look", 2)
    # Without an address it is made of the title, and another study's is no hindrance.
    client.post(at, {**asked, "slug": "", "scheme_file": SimpleUploadedFile("s.yaml", SECOND.encode())})
    assert Study.objects.filter(slug="second-2", derived_from=answered.study).exists()
    # What is wrong with one that is given is said as where a new study is made.
    for slug, sentence in (("second", "Another study has the address “second”."), ("zpráva", "without accents")):
        assert sentence in client.post(at, {**asked, "slug": slug}).content.decode()


@pytest.mark.django_db
def test_the_contact_goes_along_and_whether_downloads_name_it_does_not(answered: Leases) -> None:
    said = {"contact": "Anna Novak", "contact_address": "study@example.org", "publishes_contact": True}
    actions.change_study(study=answered.study, **said)  # type: ignore[arg-type]
    second = derived(answered, "duties.stated=stated")
    assert Study.objects.filter(pk=second.pk).values(*said).get() == said | {"publishes_contact": False}


@pytest.mark.django_db
def test_a_setting_that_the_deriver_does_not_have_is_refused(answered: Leases, api_of: ApiOf) -> None:
    """A page offers no other; a program that misspelled one got a study made as if it had set nothing."""
    with pytest.raises(Refused, match="“every” is none of: any, all"):
        derived(answered, "duties.stated=stated", columns="every")
    builders.scheme(SECOND)
    answered.manager.user_permissions.add(Permission.objects.get(codename="add_study"))
    asked = {"deriver": "selected-rows", "scheme": "second-look", "slug": "second", "title": "Second"}
    asked |= {"settings": {"answers": ["duties.stated=stated"], "column": ["all"]}}
    refused = api_of(answered.manager).post(f"/api/v1/studies/{answered.study.slug}/derive/", asked, format="json")
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "There is no setting “column” here. There are: answers, columns.",
    )


@pytest.mark.django_db
def test_a_named_rater_decides_where_there_is_no_gold(answered: Leases) -> None:
    rater = answered.boriss[0].rater.code
    made = derived(answered, "duties.stated=absent", rater=rater)
    assert [row.name for row in Row.objects.filter(sheet__study=made)] == ["Clause 2"]
    assert made.derivation["rater"] == rater
    assert made.derivation["ties"]["n"] == 0


@pytest.mark.django_db
def test_a_person_who_labels_again_counts_once_by_the_last_round(answered: Leases) -> None:
    """Anna says “stated” of the rent in the second clause, and so she does again: she and Boris stay a tie. Once her
    last round says what he says, that is chosen, and it rests on that round."""
    second = answered.annas[1]
    [again] = actions.assign(rater=second.rater, rows=[second.row], repeat=2)
    builders.label(again)
    assert derived(answered, "duties.stated=stated").derivation["ties"]["n"] == 1
    [third] = actions.assign(rater=second.rater, rows=[second.row], repeat=3)
    builders.label(third, {**builders.COMPLETE, ("Pay rent", "stated"): "absent"})
    made = derived(answered, "duties.stated=absent", slug="third")
    assert made.derivation["ties"]["n"] == 0
    assert {one.assignment_id for one in made.lineage.filter(question__isnull=False)} == {
        third.pk,
        answered.boriss[1].pk,
    }


@pytest.mark.django_db
def test_gold_counts_before_everybody(answered: Leases) -> None:
    cell = builders.answer(answered.sheet, "Pay rent", "stated", "implied")
    row = answered.sheet.rows.order_by("position")[1]
    manager = answered.manager
    actions.adjudicate(
        row=row, column=cell.column, question=cell.question, option=cell.option, reason="Read again", by=manager
    )
    made = derived(answered, "duties.stated=implied", columns="all")
    made_row = Row.objects.get(sheet__study=made)
    assert made_row.name == "Clause 2"
    hows = {rest.lineage.how for rest in rests_of(made_row) if rest.lineage.how}
    assert hows == {Lineage.How.GOLD, Lineage.How.MAJORITY}  # the rent by gold, the insurance by both people


@pytest.mark.django_db
def test_withdrawn_rows_and_withdrawn_work_do_not_count(answered: Leases) -> None:
    rows = list(answered.sheet.rows.order_by("position"))
    actions.withdraw_row(row=rows[0], reason="gone", by=answered.manager)
    with pytest.raises(Refused, match="No row has one of these answers"):
        derived(answered, "duties.stated=stated")
    assert not Study.objects.filter(slug="second").exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"deriver": "magic"}, "no deriver “magic”"),
        ({"rater": "nobody"}, "no rater “nobody”"),
        ({"slug": "leases"}, "address “leases” already"),
        ({"settings": {}}, "Choose the answers"),
        (
            {"settings": {"answers": ["duties.stated=stated", "duties.stated=statde"]}},
            "“duties.stated=statde” is none of",
        ),
        ({"settings": {"answers": ["duties.stated=stated", "7"]}}, "“7” is none of: duties.stated=stated, duties.st"),
        ({"settings": {"answers": ["duties.stated=stated"], "seed": ["x"]}}, "no setting “seed” here"),
    ],
)
def test_what_cannot_be_made_is_said(answered: Leases, change: dict[str, object], said: str) -> None:
    asked = {
        "deriver": "selected-rows",
        "slug": "second",
        "settings": {"answers": ["duties.stated=stated"]},
        "rater": "",
    }
    with pytest.raises(Refused, match=said):
        derive_study(
            source=answered.study,
            scheme=builders.scheme(SECOND),
            title="x",
            by=None,
            **asked | change,  # type: ignore[arg-type]
        )


# --- lineage ---------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_made_row_names_the_labels_it_rests_on(answered: Leases) -> None:
    made = derived(answered, "duties.stated=stated")
    row = Row.objects.get(sheet__study=made)
    rests = rests_of(row)
    whole, *labels = rests
    assert (whole.lineage.row, whole.answer, whole.lineage.how) == (answered.annas[0].row, "", "")
    assert {rest.lineage.assignment for rest in labels} == {answered.annas[0], answered.boriss[0]}
    assert {(rest.answer, rest.now, rest.changed) for rest in labels} == {("Stated", "Stated", False)}


@pytest.mark.django_db
def test_lineage_says_what_a_label_said_when_it_is_changed_or_cleared_since(answered: Leases) -> None:
    made = derived(answered, "duties.stated=stated")
    row = Row.objects.get(sheet__study=made)
    builders.label(answered.annas[0], {("Pay rent", "stated"): "absent"})
    builders.label(answered.boriss[0], {("Pay rent", "stated"): None})
    told = {rest.lineage.assignment_id: (rest.answer, rest.now, rest.changed) for rest in rests_of(row)}
    assert told[answered.annas[0].pk] == ("Stated", "Not stated", True)
    assert told[answered.boriss[0].pk] == ("Stated", "", True)


# --- pages, programs, commands ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_page_makes_a_study_and_both_studies_show_the_other(answered: Leases, client_of: ClientOf) -> None:
    root = builders.user("root", superuser=True)
    scheme = builders.scheme(SECOND)
    address = reverse("annotation:derive", args=["leases"])
    page = client_of(root).get(address).content.decode()
    assert "duties.stated=stated" in page
    # What reads recipes, tables or texts that nobody wrote is not offered in a study of contracts.
    for other in ("candidates", "best-candidates", "parsed-recipes", "two-systems", "probing-tasks"):
        assert f"deriver={other}" not in page
    assert "Two systems" in client_of(root).get(f"{address}?deriver=two-systems").content.decode()  # a link leads there
    data = {
        "title": "A second look",
        "slug": "second",
        "scheme": scheme.pk,
        "rater": "",
        "set_answers": ["duties.stated=stated"],
        "set_columns": "any",
    }
    response = client_of(root).post(address, data)
    assert response.status_code == 302, response.content.decode()
    for study, other in (("leases", "A second look"), ("second", "Leases")):
        overview = client_of(root).get(reverse("annotation:study", args=[study])).content.decode()
        assert other in overview
        assert reverse("annotation:lineage", args=[study]) in overview
    back = client_of(root).get(reverse("annotation:lineage", args=["second"])).content.decode()
    assert "Clause 1" in back
    assert "Pay rent" in back
    forth = client_of(root).get(reverse("annotation:lineage", args=["leases"])).content.decode()
    assert "A second look" in forth
    assert "what most people said" in forth
    again = client_of(root).post(address, data).content.decode()
    assert "Another study has the address “second”." in again


@pytest.mark.django_db
def test_who_has_no_role_in_the_study_before_is_shown_nothing_of_it(answered: Leases, client_of: ClientOf) -> None:
    made = derived(answered, "duties.stated=stated")
    actions.add_member(study=made, user=answered.stranger, role=Role.RESEARCHER)
    page = client_of(answered.stranger).get(reverse("annotation:lineage", args=["second"])).content.decode()
    assert "one that you have no role in" in page
    assert "Pay rent" not in page


@pytest.mark.django_db
def test_who_labels_in_the_study_before_has_looked_at_its_sheet(answered: Leases, client_of: ClientOf) -> None:
    made = derived(answered, "duties.stated=stated")
    for study in (made, answered.study):
        actions.add_member(study=study, user=answered.anna, role=Role.RESEARCHER)
    client_of(answered.anna).get(reverse("annotation:lineage", args=["second"]))
    assert [look.sheet for look in Look.objects.filter(user=answered.anna)] == [answered.sheet]


@pytest.mark.django_db
def test_programs_derive_and_follow_the_lineage(answered: Leases, api_of: ApiOf) -> None:
    builders.scheme(SECOND)
    root = api_of(builders.user("root", superuser=True))
    made = root.post(
        "/api/v1/studies/leases/derive/",
        {
            "deriver": "selected-rows",
            "scheme": "second-look",
            "slug": "second",
            "title": "Second",
            "settings": {"answers": ["duties.stated=stated"]},
        },
        format="json",
    )
    assert made.status_code == 201, made.json()
    told = root.get("/api/v1/studies/second/lineage/").json()
    assert told["derived_from"] == "leases"
    assert {rest["rater"] for rest in told["made_of"] if rest["rater"]} == {
        answered.annas[0].rater.code,
        answered.boriss[0].rater.code,
    }
    assert {rest["question"] for rest in told["made_of"]} == {None, "duties.stated"}
    forth = root.get("/api/v1/studies/leases/lineage/").json()
    assert [rest["made_row"] for rest in forth["made_into"]] == [rest["made_row"] for rest in told["made_of"]]


@pytest.mark.django_db
def test_the_command_derives_and_says_what_it_made(answered: Leases) -> None:
    builders.scheme(SECOND)
    out = io.StringIO()
    arguments = ["leases", "selected-rows", "second", "--scheme", "second-look"]
    call_command("derive_study", *arguments, "--set", "answers=duties.stated=stated", stdout=out)
    assert "1 sheets, 1 rows and 2 columns: /studies/second/" in out.getvalue()
    assert "In 1 cells no answer was chosen" in out.getvalue()
    with pytest.raises(CommandError, match="no scheme “third”"):
        call_command("derive_study", "leases", "selected-rows", "x", "--scheme", "third")


@pytest.mark.django_db
def test_a_scheme_of_a_pack_need_not_be_stored_before(
    answered: Leases, api_of: ApiOf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The page offers it too."""
    (tmp_path / "second.yaml").write_text(SECOND, encoding="utf-8")
    monkeypatch.setattr(doors, "shipped_schemes", lambda: {"second": tmp_path / "second.yaml"})
    answers = "duties.stated=stated"
    with pytest.raises(CommandError, match="no deriver"):
        call_command("derive_study", "leases", "nobody", "second", "--scheme", "second-look")
    assert not Scheme.objects.filter(slug="second-look").exists()
    arguments = ["leases", "selected-rows", "second", "--scheme", "second-look"]
    call_command("derive_study", *arguments, "--set", f"answers={answers}", verbosity=0)
    assert Study.objects.get(slug="second").scheme.version == 1

    (tmp_path / "second.yaml").write_text(SECOND.replace("version: 1", "version: 2"), encoding="utf-8")
    root = api_of(builders.user("root", superuser=True))
    asked = {"deriver": "selected-rows", "scheme": "second-look", "title": "T", "settings": {"answers": [answers]}}
    for version, slug, taken in ((1, "first", 1), (2, "second-2", 2), (None, "newest", 2), (3, "third", None)):
        body = {**asked, "slug": slug} | ({"version": version} if version else {})
        made = root.post("/api/v1/studies/leases/derive/", body, format="json")
        assert made.status_code == (201 if taken else 400), made.json()
        assert Study.objects.filter(slug=slug).values_list("scheme__version", flat=True).first() == taken


@pytest.mark.django_db
def test_reading_chosen_answers_takes_a_fixed_number_of_queries(
    answered: Leases, django_assert_num_queries: object
) -> None:
    study = Study.objects.select_related("scheme").get(pk=answered.study.pk)
    with django_assert_num_queries(5):  # type: ignore[operator]
        found = queries.chosen(study)
    assert found.counts == {"majority": 11}
    assert not Rater.objects.filter(study=study, kind=Rater.Kind.GOLD).exists()
    assert Scheme.objects.filter(slug="contracts").count() == 1


@pytest.mark.django_db
def test_rows_whose_names_are_cut_alike_are_refused_by_a_sentence(
    answered: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row may be made of a text, and a name is shorter."""
    texts = MadeSheet("Texts", rows=[MadeRow("a" * 200 + end) for end in ("b", "c")])
    of_texts = Deriver("texts", "Texts", "", lambda *_of: [texts], also=("answers", "columns"))
    monkeypatch.setattr(making, "deriver", lambda _key: of_texts)
    with pytest.raises(Refused, match="two rows called “a{200}”"):
        derived(answered)


@pytest.mark.django_db
def test_a_study_cannot_have_the_address_of_the_page_that_makes_studies(answered: Leases) -> None:
    with pytest.raises(Refused, match="“new” is the address"):
        derived(answered, "duties.stated=stated", slug="new")


@pytest.mark.django_db
def test_pages_of_lineage_end_where_numbers_of_the_database_end(answered: Leases, api_of: ApiOf) -> None:
    made = derived(answered, "duties.stated=stated")
    lineage = reverse("api:lineage", args=[made.slug])
    api = api_of(answered.manager)
    assert api.get(lineage, {"begin": 2**63 - 1}).json()["made_of"] == []
    assert api.get(lineage, {"begin": 2**63}).status_code == 400
