"""The annotator's pages: the grid, the evidence, submitting; and that they show nobody else's labels."""

from __future__ import annotations

import gzip
import re

import lxml.html
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation import actions, queries, scripts
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Label, Option, Rater, Row, Study
from annotation.templatetags.palate import grid_dialogs
from annotation.views.palette import palette
from tests import builders
from tests.annotation.test_saving import change, save
from tests.builders import ClientOf, Leases, label

RENT = ("Pay rent", "stated")
# Words that stand nowhere else: whoever finds them has seen another rater's label.
NOTE_OF_BORIS = "zebra-note-of-boris"
NOTE_OF_JUDGE = "walrus-note-of-judge"


# --- the grid -------------------------------------------------------------------------------------------------------


def test_sheet_shows_my_cells(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0], {RENT: "implied"})

    page = client_of(leases.anna).get(reverse("annotation:sheet", args=[leases.sheet.pk])).content.decode()

    # 2 rows × (2 duties + 2 acts × 3 questions)
    assert page.count('role="gridcell"') == 16
    assert page.count('data-option="implied"') == 1
    assert "Clause 2" in page
    assert "Give notice" in page


def test_the_help_of_a_sheet_calls_rows_as_its_scheme_does(leases: Leases, client_of: ClientOf) -> None:
    """Whatever the sheet that was opened before calls them."""
    page = client_of(leases.anna).get(reverse("annotation:sheet", args=[leases.sheet.pk])).content.decode()
    assert "submit this clause, or take it back" in page
    assert "submit this &lt;page&gt;" in str(grid_dialogs(has_text=False, row="<page>"))


def test_names_on_a_sheet_are_text_and_long_ones_are_there_whole(leases: Leases, client_of: ClientOf) -> None:
    names = {"row": "Clauses of <b>two</b> leases", "column": 'Keep a "dog"', "facet": "a <i>dog</i>"}
    leases.sheet.rows.filter(pk=leases.annas[0].row_id).update(name=names["row"])
    column = leases.sheet.columns.get(name="Pay rent")
    leases.sheet.columns.filter(pk=column.pk).update(name=names["column"], facets={"duty": names["facet"]})

    page = client_of(leases.anna).get(reverse("annotation:sheet", args=[leases.sheet.pk])).content.decode()

    name = "Clauses of &lt;b&gt;two&lt;/b&gt; leases"
    assert f'aria-rowspan="1" title="{name}"><span class="name long">{name}</span>' in page
    assert f'data-column="{column.pk}" title="Keep a &quot;dog&quot;"><span class="clamp">a &lt;i&gt;dog' in page
    assert not re.search(r"<[bi]>", page)
    assert '<span class="name">Clause 2</span>' in page


def test_lines_of_a_submitted_document_are_locked_and_of_a_closed_sheet_all(
    leases: Leases, client_of: ClientOf
) -> None:
    anna, url = client_of(leases.anna), reverse("annotation:sheet", args=[leases.sheet.pk])
    Assignment.objects.filter(pk=leases.annas[0].pk).update(
        state=Assignment.State.SUBMITTED, submitted_at=timezone.now()
    )

    one = anna.get(url).content.decode()
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)
    both = anna.get(url).content.decode()

    # A document has a line among the duties, and a first one among the acts.
    assert one.count(' class="first" data-locked>') == 2
    assert both.count(' class="first" data-locked>') == 4


def test_sheet_does_not_exist_for_who_has_no_work_on_it(leases: Leases, client_of: ClientOf) -> None:
    assert client_of(leases.researcher).get(reverse("annotation:sheet", args=[leases.sheet.pk])).status_code == 404


def test_sheet_costs_the_same_for_few_cells_and_many(leases: Leases, client_of: ClientOf) -> None:
    wide = builders.sheet(leases.study, "Wide", duties=[f"Duty {n}" for n in range(30)], n_rows=9)
    for assignment in builders.assignments(leases.annas[0].rater, wide):
        label(assignment, {(f"Duty {n}", "stated"): "stated" for n in range(30)})
    client = client_of(leases.anna)

    costs = []
    for sheet in (leases.sheet, wide):
        with CaptureQueriesContext(connection) as captured:
            page = client.get(reverse("annotation:sheet", args=[sheet.pk]))
        costs.append((page.content.count(b'role="gridcell"'), len(captured)))

    # 2 rows × (2 + 2 × 3) cells; 9 rows × (30 + 2 × 3) cells.
    # Session, user, sheet with scheme, whether it is large, the four of the grid, the text that the columns come from,
    # whether anything is simulated or was restored.
    assert costs == [(16, 11), (324, 11)]


def test_my_work_counts_my_rows(leases: Leases, client_of: ClientOf) -> None:
    label(leases.boriss[0])

    page = client_of(leases.anna).get(reverse("annotation:my-work"))

    [progress] = page.context["progress"]
    assert (progress.rows, progress.started, progress.labels) == (2, 0, 0)


# --- evidence, submitting -------------------------------------------------------------------------------------------


def test_evidence_shows_the_text_and_finds_the_words(leases: Leases, client_of: ClientOf) -> None:
    response = client_of(leases.anna).get(reverse("annotation:evidence", args=[leases.annas[0].pk]))

    assert "The tenant pays the rent monthly" in response.content.decode()
    rent = leases.sheet.columns.get(name="Pay rent")
    # Block 1 is the paragraph, "The tenant pays the rent …": "pays" stands at 11 to 15, "rent" at 20 to 24.
    assert response.context["hits"][rent.pk]["duty"] == [(1, 11, 15, "exact", 1.0), (1, 20, 24, "exact", 1.0)]


@pytest.mark.parametrize("title", ["", "Rent"])
def test_evidence_has_the_name_of_its_row_once(leases: Leases, client_of: ClientOf, title: str) -> None:
    """A row without a title had its name above its name."""
    assignment = leases.annas[0]
    Row.objects.filter(pk=assignment.row_id).update(title=title)

    page = client_of(leases.anna).get(reverse("annotation:evidence", args=[assignment.pk])).content.decode()

    assert page[: page.index("</header>")].count(assignment.row.name) == 1
    assert f">{title or assignment.row.name}</h2>" in page


def test_evidence_marks_the_synonyms_of_the_scheme(leases: Leases, client_of: ClientOf) -> None:
    text = builders.SCHEME.replace("sections:\n", "synonyms: [[landlord, lessor], [rent, payment]]\nsections:\n", 1)
    study = builders.study("synonyms", of=builders.scheme(text.replace("version: 1", "version: 2")))
    sheet = builders.sheet(study, duties=["Pay the lessor"])
    row = actions.add_row(sheet=sheet, name="Clause 9", evidence=[Block("paragraph", "The tenant pays the landlord.")])
    [assignment] = actions.assign(rater=builders.rater(study, leases.anna), rows=[row])

    response = client_of(leases.anna).get(reverse("annotation:evidence", args=[assignment.pk]))

    # "pays" is one of the item's words, "landlord" stands for the other: together (1 + 0.9) / 2 of it.
    column = sheet.columns.get(name="Pay the lessor")
    hits = response.context["hits"][column.pk]["duty"]
    assert [hit[3] for hit in hits] == ["part", "synonym"]
    assert {hit[4] for hit in hits} == {0.95}


def test_evidence_of_another_persons_assignment_does_not_exist(leases: Leases, client_of: ClientOf) -> None:
    url = reverse("annotation:evidence", args=[leases.boriss[0].pk])

    assert client_of(leases.anna).get(url).status_code == 404


def test_submit_and_reopen(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0])
    client, assignment = client_of(leases.anna), leases.annas[0]

    submitted = client.post(reverse("annotation:submit", args=[assignment.pk]))
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.SUBMITTED
    assert submitted.json() == {"state": "submitted"}
    page = client.get(reverse("annotation:sheet", args=[leases.sheet.pk])).content.decode()
    assert page.count('aria-readonly="true"') == 8  # the cells of one row of two

    client.post(reverse("annotation:reopen", args=[assignment.pk]))
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.STARTED


def test_submit_with_open_cells_is_refused_with_a_sentence(leases: Leases, client_of: ClientOf) -> None:
    response = client_of(leases.anna).post(reverse("annotation:submit", args=[leases.annas[0].pk]))

    assert response.status_code == 409
    assert "8 cells of “Clause 1” are still open" in response.json()["message"]


def test_submit_of_another_persons_row_does_not_exist(leases: Leases, client_of: ClientOf) -> None:
    label(leases.boriss[0])

    assert client_of(leases.anna).post(reverse("annotation:submit", args=[leases.boriss[0].pk])).status_code == 404
    leases.boriss[0].refresh_from_db()
    assert leases.boriss[0].state == Assignment.State.STARTED


# --- blindness ------------------------------------------------------------------------------------------------------


def test_an_annotator_sees_no_label_of_others_on_any_page(leases: Leases, client_of: ClientOf) -> None:
    """Boris and the judge choose "implied" and leave notes; Anna, who has chosen nothing, must meet none of it."""
    for assignments, note in ((leases.boriss, NOTE_OF_BORIS), (leases.judges, NOTE_OF_JUDGE)):
        for assignment in assignments:
            label(assignment, {RENT: "implied", ("Insure", "stated"): "implied"}, note=note)
    implied = Option.objects.get(question__key="stated", key="implied")
    assert Label.objects.filter(option=implied).count() == 8
    client = client_of(leases.anna)

    pages = [
        client.get(reverse("annotation:my-work")),
        client.get(reverse("annotation:studies")),
        client.get(reverse("annotation:study", args=[leases.study.slug])),
        client.get(reverse("annotation:sheet", args=[leases.sheet.pk])),
        client.get(reverse("annotation:evidence", args=[leases.annas[0].pk])),
        save(client, leases.sheet, change((leases.annas[0], ("Insure", "stated"), "absent", ""))),
        client.post(reverse("annotation:submit", args=[leases.annas[0].pk])),
    ]

    assert [page.status_code for page in pages] == [200, 200, 200, 200, 200, 200, 409]
    for page in pages:
        text = re.sub(r"\b[A-Za-z0-9]{32,}\b", "", page.content.decode())  # tokens against forgery hold any letters
        assert NOTE_OF_BORIS not in text
        assert NOTE_OF_JUDGE not in text
        assert 'data-option="implied"' not in text
        assert "boris" not in text
        assert "J1" not in text


# --- scripts --------------------------------------------------------------------------------------------------------


def test_the_scripts_of_a_page_come_as_one_that_a_browser_may_keep(client: Client) -> None:
    digest = scripts.bundle("grid").digest
    url = reverse("annotation:script", args=["grid", digest])

    plain, zipped = client.get(url), client.get(url, headers={"Accept-Encoding": "gzip"})

    assert gzip.decompress(zipped.content) == plain.content
    assert plain.content.index(b"class EditQueue") < plain.content.index(b"new EditQueue")
    assert "immutable" in plain["Cache-Control"]
    # A page of an older version gets them as they are now, and keeps them no longer than itself.
    assert client.get(reverse("annotation:script", args=["grid", "older"]))["Cache-Control"] == "no-store"
    assert client.get(reverse("annotation:script", args=["other", digest])).status_code == 404


@pytest.mark.parametrize(("page", "rule"), [("grid", ".sheet-bar {"), ("lens", ".lens-page main {")])
def test_the_style_sheets_of_a_page_come_as_one_that_a_browser_may_keep(client: Client, page: str, rule: str) -> None:
    digest = scripts.styles(page).digest

    sheet = client.get(reverse("annotation:styles", args=[page, digest]))

    text = sheet.content.decode()
    assert sheet["Content-Type"] == "text/css; charset=utf-8"
    assert text.index("--accent:") < text.index(rule)  # the page's own has the last word
    assert "immutable" in sheet["Cache-Control"]
    assert client.get(reverse("annotation:styles", args=[page, "older"]))["Cache-Control"] == "no-store"
    assert client.get(reverse("annotation:styles", args=["page", digest])).status_code == 404


@pytest.mark.parametrize("page", ["board", "notes"])
def test_back_shows_what_others_have_done_since(leases: Leases, client_of: ClientOf, page: str) -> None:
    kept = client_of(leases.manager).get(reverse(f"annotation:{page}", args=[leases.study.slug]))["Cache-Control"]
    assert "no-store" in kept


# --- settings of a study ----------------------------------------------------------------------------------------------


def test_a_manager_changes_what_a_study_is_called_and_where_it_is(leases: Leases, client_of: ClientOf) -> None:
    mara = client_of(leases.manager)
    url = reverse("annotation:settings", args=[leases.study.slug])
    assert leases.study.title in mara.get(url).content.decode()
    data = {"title": "Leases, second round", "slug": "leases-2", "guideline": "Read twice.", "submit_complete": "on"}

    response = mara.post(url, data)

    assert response.status_code == 302
    assert response["Location"] == reverse("annotation:study", args=["leases-2"])
    leases.study.refresh_from_db()
    now = leases.study
    assert (now.title, now.slug, now.guideline, now.submit_complete) == (
        "Leases, second round",
        "leases-2",
        "Read twice.",
        True,
    )
    assert (
        "data-submits"
        in client_of(leases.anna).get(reverse("annotation:sheet", args=[leases.sheet.pk])).content.decode()
    )


@pytest.mark.parametrize("slug", ["new", "other", "no address", ""])
def test_an_address_that_cannot_be_is_refused_and_nothing_is_changed(
    leases: Leases, client_of: ClientOf, slug: str
) -> None:
    builders.study(slug="other", by=leases.manager)
    response = client_of(leases.manager).post(
        reverse("annotation:settings", args=[leases.study.slug]), {"title": "Renamed", "slug": slug}
    )
    assert response.status_code == 200
    assert "errorlist" in response.content.decode()
    title = leases.study.title
    leases.study.refresh_from_db()
    assert leases.study.title == title


def as_shown(page: str) -> dict[str, str]:
    """What a browser sends of the page's form as it is."""
    form = next(form for form in lxml.html.document_fromstring(page).forms if "title" in form.fields)
    return {name: value or "" for name, value in form.form_values()}


def test_two_who_change_settings_at_the_same_time_keep_each_others(leases: Leases, client_of: ClientOf) -> None:
    mara, url = client_of(leases.manager), reverse("annotation:settings", args=[leases.study.slug])
    actions.change_study(study=leases.study, guideline="Read.\nTwice.", consent="I agree.")
    here, there = as_shown(mara.get(url).content.decode()), as_shown(mara.get(url).content.decode())

    mara.post(url, here | {"guideline": "Read.\r\nThree times.", "submit_complete": "on"})
    answer = mara.post(url, there | {"title": "Second round", "consent": ""})

    assert answer.status_code == 302
    leases.study.refresh_from_db()
    now = leases.study
    assert (now.title, now.guideline, now.consent) == ("Second round", "Read.\r\nThree times.", "")
    assert now.submit_complete
    # What both changed is not replaced unseen; seen, it is.
    refused = mara.post(url, there | {"guideline": "Skim it."})
    assert "Somebody else has changed this" in (page := refused.content.decode())
    assert "Three times." in page
    leases.study.refresh_from_db()
    assert leases.study.guideline == "Read.\r\nThree times."
    assert (again := as_shown(page))["guideline"].strip() == "Skim it."
    assert mara.post(url, again).status_code == 302
    leases.study.refresh_from_db()
    assert (leases.study.guideline, leases.study.title) == ("Skim it.", "Second round")


def test_a_scale_says_beside_its_numbers_what_they_mean(leases: Leases) -> None:
    meaning = "1 is a wish, 3 is a duty"
    spec = builders.SCHEME.replace("title: Strictness", f"title: Strictness\n        help: {meaning}")
    spec = spec.replace("title: Stated\n", "title: Stated\n        help: Look twice.\n", 1)
    study = builders.study("scales", of=builders.scheme(spec.replace("version: 1", "version: 2")))
    sheet = builders.sheet(study)
    work = builders.assignments(builders.rater(study, builders.user("sara")), sheet)
    said = palette(queries.grid(sheet, Assignment.objects.filter(rater=work[0].rater)))
    assert sorted(str(question["means"]) for question in said.values()) == ["", "", "", meaning]


def test_a_long_title_makes_an_address_of_whole_words(leases: Leases, client_of: ClientOf) -> None:
    title = "Letters to the municipal help desk of Brno, autumn 2026: tone and urgency"
    data = {"title": title, "scheme": leases.study.scheme_id}
    owner = client_of(builders.user("olga", superuser=True))
    owner.post(reverse("annotation:new-study"), data)
    assert Study.objects.get(title=title).slug == "letters-to-the-municipal-help-desk-of-brno-autumn"
    data = {"title": f"{'x' * 60} and more", "scheme": leases.study.scheme_id}
    owner.post(reverse("annotation:new-study"), data)
    assert Study.objects.get(title=data["title"]).slug == "x" * 50


def test_closing_a_sheet_says_first_what_is_not_submitted(leases: Leases, client_of: ClientOf) -> None:
    page = client_of(leases.manager).get(reverse("annotation:study", args=[leases.study.slug])).content.decode()
    assert "4 assignments are not submitted; what was labelled in them is kept." in page


# --- what is to be done before labels come in -------------------------------------------------------------------------


def test_a_new_study_says_what_to_do_next_until_it_is_done(leases: Leases, client_of: ClientOf) -> None:
    def listed(study: Study) -> list[tuple[str, bool, bool]]:
        found = client_of(leases.manager).get(reverse("annotation:study", args=[study.slug])).context["setup"]
        return [
            (str(one.step.label), one.done, one.next) for one in found if one.step.url_name.startswith("annotation:")
        ]

    new = builders.study("new-leases", of=leases.study.scheme, by=leases.manager)
    assert listed(new) == [
        ("Import", False, True),
        ("People", False, False),
        ("Plan", False, False),
        ("Board", False, False),
    ]
    # The other study has its rows, people and work; the list goes with its first submission, which was its last step.
    assert [done for _label, done, _next in listed(leases.study)] == [True, True, True, False]
    label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])
    assert listed(leases.study) == []
    # Labels that are there before anybody was invited, as of an import, leave the steps that remain.
    of_judges = builders.study("judged-leases", of=leases.study.scheme, by=leases.manager)
    judged = builders.assignments(builders.judge(of_judges), builders.sheet(of_judges))
    assert [done for _label, done, _next in listed(of_judges)] == [True, False, False, False]
    actions.submit(assignment=judged[0], allow_open=True)
    assert listed(of_judges) == [
        ("Import", True, False),
        ("People", False, True),
        ("Plan", False, False),
        ("Board", True, False),
    ]
    # People whose labels were made elsewhere need no invitation.
    by_hand = builders.study("imported-leases", of=leases.study.scheme, by=leases.manager)
    anna = Rater.objects.create(study=by_hand, code="Anna", kind=Rater.Kind.PERSON)
    builders.assignments(anna, builders.sheet(by_hand))
    assert [done for _label, done, _next in listed(by_hand)] == [True, True, True, False]
    # Who needs neither people nor a plan puts the list away, and gets it back in the settings.
    manager = client_of(leases.manager)
    answer = manager.post(reverse("annotation:put-setup-away", args=["judged-leases"]), follow=True).content.decode()
    assert "The settings of the study bring them back." in answer
    assert listed(of_judges) == []
    manager.post(
        reverse("annotation:settings", args=["judged-leases"]),
        {"title": "Judged", "slug": "judged-leases", "shows_setup": "on"},
    )
    assert len(listed(of_judges)) == 4
    page = client_of(leases.manager).get(reverse("annotation:study", args=["new-leases"])).content.decode()
    assert f'href="{reverse("annotation:import", args=["new-leases"])}"' in page
    # Who labels is shown no such list.
    assert client_of(leases.anna).get(reverse("annotation:study", args=[leases.study.slug])).context["setup"] == []
