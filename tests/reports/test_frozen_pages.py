"""Frozen reports, the cells behind a count, and downloads: as pages and over the API, as a researcher uses them."""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path

import pytest
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings
from rest_framework.test import APIClient

from annotation import actions as annotating
from annotation.models import Label, Rater, Role, Study, User
from reports import actions
from reports.data import label_table
from reports.models import Export, Report
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.databases import made_once
from tests.reports import studies
from tests.reports.studies import answered, judge, rater, sheet

pytestmark = pytest.mark.once


@made_once
def study() -> Study:
    """A person chose found, found, near; the judge found, absent, near, and was unsure of the second."""
    study = studies.study()
    soup = sheet(study, items=3, rows=1)
    answered(rater(study, "A1"), soup, ["ffn"])
    answered(rater(study, "A2"), soup, ["ffa"])
    answered(judge(study), soup, ["fan"])
    for label in Label.objects.filter(assignment__rater__code="J1").select_related("option", "column"):
        lead = 0.1 if label.column.name == "item 2" else 2.0
        scores = {
            key: {"logprob": 0.0 if key == label.option.key else -lead, "n_tokens": 4, "n_characters": 5}
            | {"unconditional": None}
            for key in ("found", "near", "absent")
        }
        Label.objects.filter(pk=label.pk).update(scores={"options": scores, "normalisation": "none"})
    return study


@pytest.fixture
def researcher(study: Study) -> User:
    user = builders.user("rene")
    annotating.add_member(study=study, user=user, role=Role.RESEARCHER)
    return user


@pytest.fixture
def client(researcher: User, client_of: ClientOf) -> Client:
    return client_of(researcher)


@pytest.fixture
def api(researcher: User, api_of: ApiOf) -> APIClient:
    return api_of(researcher)


def freeze(client: Client, study: Study, query: str = "", title: str = "For the paper") -> Report:
    response = client.post(reverse("reports:freeze", args=[study.slug]) + query, {"title": title}, follow=True)
    assert "Frozen. It stays" in response.content.decode()
    return Report.objects.latest("pk")


def page(client: Client, name: str, *args: object, query: str = "") -> str:
    response = client.get(reverse(f"reports:{name}", args=args) + query)
    assert response.status_code == 200
    return re.sub(r'(csrfmiddlewaretoken" value=|CSRFToken": )"[^"]*"', "", response.content.decode())


def relabel(study: Study) -> None:
    label = Label.objects.filter(assignment__rater__code="A1", assignment__rater__study=study).first()
    assert label is not None
    near = label.question.options.get(key="near")
    Label.objects.filter(pk=label.pk).update(option=near)


# --- frozen ---


def test_what_is_seen_is_frozen_and_stays(client: Client, study: Study) -> None:
    report = freeze(client, study, "?merge.items.presence=two-classes")
    before = page(client, "frozen", study.slug, report.pk)
    relabel(study)

    assert page(client, "frozen", study.slug, report.pk) == before
    assert report.data_digest in before
    assert "Found or not" in before
    assert "For the paper" in page(client, "frozen-list", study.slug)
    assert "1 frozen report" in page(client, "report", study.slug)


def test_a_frozen_report_begins_with_its_answers_which_stay(client: Client, study: Study) -> None:
    frozen = freeze(client, study)
    results = bytes(frozen.results.encode())
    assert reverse("reports:frozen-answers", args=[study.slug, frozen.pk]) in page(
        client, "frozen", study.slug, frozen.pk
    )
    before = page(client, "frozen-answers", study.slug, frozen.pk)
    relabel(study)
    after = page(client, "frozen-answers", study.slug, frozen.pk)
    live = page(client, "report", study.slug, query="?now=1")

    def tiles(text: str) -> list[str]:
        return re.findall(r"<strong>([^<]*)</strong><span", text)

    assert "May a judge replace a person?" in before
    assert tiles(before) == tiles(after) != tiles(live)
    # Each sentence leads to a table of the same page.
    whole = page(client, "frozen", study.slug, frozen.pk)
    for key in set(re.findall(r'href="#([^"]+)"', before)):
        assert f'id="{key}"' in whole
    drawn = client.get(reverse("reports:frozen-figure", args=[study.slug, frozen.pk, "answers.agreement", "svg"]))
    assert drawn["Content-Type"].startswith("image/svg")
    frozen.refresh_from_db()
    assert frozen.results.encode() == results


def test_computing_again_says_equal(client: Client, study: Study) -> None:
    report = freeze(client, study)
    relabel(study)
    response = client.post(reverse("reports:recompute", args=[study.slug, report.pk]))

    assert "Recomputed, and equal: all" in response.content.decode()


@pytest.mark.parametrize("name", ["frozen-cells", "frozen-cells-csv", "frozen-table"])
def test_what_labels_of_another_format_would_say_is_told_in_a_sentence(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It was an error of the server."""
    report = freeze(client, study)
    monkeypatch.setattr(label_table, "FORMATS", (99,))
    caches["reports"].clear()
    asked = {
        "table": "answers.questions",
        "cell.question": "items.presence",
        "cell.judge": "J1",
        "cell.person": "found",
    }
    answer = client.get(reverse(f"reports:{name}", args=[study.slug, report.pk]), asked, follow=True)
    assert answer.redirect_chain == [(reverse("reports:frozen", args=[study.slug, report.pk]), 302)]
    assert "cannot be read by this version of Palate" in answer.content.decode()


def test_comparing_says_what_moved(client: Client, study: Study) -> None:
    first = freeze(client, study, title="Before")
    relabel(study)
    second = freeze(client, study, title="After")
    text = page(client, "compare", study.slug, first.pk, query=f"?other={second.pk}")

    assert "numbers are not the same" in text
    assert "−1" in text


def test_a_report_without_a_title_is_not_frozen(client: Client, study: Study) -> None:
    response = client.post(reverse("reports:freeze", args=[study.slug]), {"title": ""}, follow=True)

    assert "Nothing is frozen" in response.content.decode()
    assert not Report.objects.exists()


def test_figures_are_drawn_light_and_dark_and_as_pdf(client: Client, study: Study) -> None:
    report = freeze(client, study)
    for name, args in (("figure", (study.slug,)), ("frozen-figure", (study.slug, report.pk))):
        light, dark = (
            client.get(reverse(f"reports:{name}", args=(*args, "items.presence.matrix", "svg")) + f"?theme={theme}")
            for theme in ("light", "dark")
        )
        assert light["Content-Type"] == "image/svg+xml"
        assert light.content.startswith(b"<?xml")
        # Opened by itself it is a page: without its styles everything in it is black, scripts and the rest stay out.
        policy = dict(part.strip().partition(" ")[::2] for part in light["Content-Security-Policy"].split(";"))
        assert policy["style-src"] == "'unsafe-inline'"
        assert (policy["default-src"], policy["sandbox"]) == ("'none'", "")
        assert light.content != dark.content
        pdf = client.get(reverse(f"reports:{name}", args=(*args, "items.presence.matrix", "pdf")))
        assert pdf.content.startswith(b"%PDF")
        assert client.get(reverse(f"reports:{name}", args=(*args, "no.such", "svg"))).status_code == 404


def test_every_figure_of_the_page_says_what_it_shows(client: Client, study: Study) -> None:
    text = page(client, "whole", study.slug)

    assert text.count("<figure") == text.count('loading="lazy"') >= 4
    assert 'alt="" loading' not in text


@pytest.mark.parametrize("code", ["google/gemma-2", 'a"; filename="b.exe', "č", "a?b#c", r"$\foo$"])
@pytest.mark.sample(2)
def test_a_judge_may_be_called_anything_that_a_file_of_labels_says(client: Client, study: Study, code: str) -> None:
    """A model is called by its author and a slash; the pages of the report failed at it, the frozen ones for good. So
    did a figure, and with it the ZIP, where two dollar signs stood in a name."""
    Rater.objects.filter(code="J1").update(code=code)
    report = freeze(client, study)

    for name, args in (("whole", (study.slug,)), ("frozen", (study.slug, report.pk))):
        figures = re.findall(r'href="([^"]+confusion-of[^"]+csv[^"]*)"', page(client, name, *args))
        assert figures
        answer = client.get(html.unescape(figures[0]))
        assert answer.status_code == 200
        disposition = r'attachment; filename="items\.presence\.confusion-of\.[\w.-]+\.csv"'
        assert re.fullmatch(disposition, answer["Content-Disposition"], re.ASCII)
        assert client.get(html.unescape(figures[0]).replace(".csv", ".svg")).content.startswith(b"<?xml")


# --- the cells behind a count ---


@pytest.mark.parametrize("frozen", [False, True], ids=["live", "frozen"])
def test_a_count_leads_to_its_cells(client: Client, study: Study, frozen: bool) -> None:
    query = "?cell.question=items.presence&cell.judge=J1&cell.person=found&cell.chosen=absent"
    args: tuple[object, ...] = (study.slug,)
    if frozen:
        args = (study.slug, freeze(client, study).pk)
    name = "frozen" if frozen else "whole"
    address = reverse(f"reports:{'frozen-' if frozen else ''}cells", args=args)
    assert f'href="{address}{query.replace("&", "&amp;")}' in page(client, name, *args)
    text = page(client, "frozen-cells" if frozen else "cells", *args, query=query)

    assert "2 comparisons" in text
    assert "A person chose “Found”, J1 chose “Not found”" in text
    assert text.count("item 2") == 2
    assert "0.10" in text
    [csv_address] = re.findall(r'<a href="([^"]*/cells\.csv[^"]*)"', text)
    heads, *lines = csv.reader(client.get(html.unescape(csv_address)).content.decode().splitlines())
    assert heads[2:] == ["Item", "Rater", "Answer", "Note", "J1", "J1: Note", "Margin (nats)"]
    assert [line[2:5] + line[6:7] for line in lines] == [["item 2", who, "Found", "Not found"] for who in ("A1", "A2")]
    assert [round(float(line[-1]), 2) for line in lines] == [0.1, 0.1]
    row = study.sheets.get().rows.get()
    assert reverse("reports:evidence", args=[study.slug, row.pk]) in text
    assert "Stir the soup." in page(client, "evidence", study.slug, row.pk)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?cell.question=items.presence&cell.judge=J9&cell.person=found",
        "?cell.question=items.presence&cell.judge=J1&cell.person=maybe",
    ],
)
def test_a_count_that_is_not_there(client: Client, study: Study, query: str) -> None:
    assert client.get(reverse("reports:cells", args=[study.slug]) + query).status_code == 404


# --- a judge's labels chosen anew ---


def test_a_normalisation_chooses_a_judges_labels_anew(study: Study, api: APIClient) -> None:
    """Per character, the shortest option of equal sums would win; here the lengths decide."""
    from judges.models import Judge, Run
    from llm.models import LanguageModel, Prompt

    model = LanguageModel.objects.create(name="m", location="m")
    prompt = Prompt.objects.create(name="p", text="questions: {}", digest="0" * 64)
    made = Judge.objects.create(name="J1", model=model, prompt=prompt)
    j1 = study.raters.get(code="J1")
    Run.objects.create(study=study, judge=made, rater=j1)
    for label in Label.objects.filter(assignment__rater=j1):
        assert label.scores is not None
        label.scores["options"]["near"] |= {"logprob": -3.0, "n_tokens": 60}
        label.scores["options"]["found"] |= {"logprob": -1.0, "n_tokens": 1}
        label.scores["options"]["absent"] |= {"logprob": -1.0, "n_tokens": 1}
        label.save()
    address = reverse("api:report", args=[study.slug])
    [table] = [t for t in api.get(f"{address}?normalisation.J1=token").json()["tables"] if ".confusion." in t["key"]]

    assert "chosen anew: token" in table["title"]
    assert [(row["judge.found"], row["judge.near"], row["judge.absent"]) for row in table["rows"]] == [
        (0, 4, 0), (0, 1, 0), (0, 1, 0),
    ]  # fmt: skip
    assert "PMI needs" in str(api.get(f"{address}?normalisation.J1=pmi").json())


# --- downloads ---


def test_a_download_is_asked_for_made_and_fetched(
    client: Client,
    study: Study,
    settings: Settings,
    tmp_path: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.PALATE_EXPORTS = tmp_path
    settings.CELERY_TASK_ALWAYS_EAGER = True
    with django_capture_on_commit_callbacks():  # what is put on the queue stays there
        response = client.post(reverse("reports:ask", args=[study.slug]) + "?person=A1", {"form": "jsonl"}, follow=True)
    assert "It waits for a worker" in response.content.decode()
    export = Export.objects.get()
    assert client.get(reverse("reports:download-file", args=[study.slug, export.pk])).status_code == 404
    actions.make_export(export_id=export.pk)
    assert "It is ready" in page(client, "download", study.slug, export.pk)
    file = client.get(reverse("reports:download-file", args=[study.slug, export.pk]))
    lines = [json.loads(line) for line in file.getvalue().decode().splitlines()]

    assert file["Content-Disposition"] == 'attachment; filename="letters.jsonl"'
    assert {line["rater"] for line in lines} == {"A1", "J1"}


# --- the API ---


def test_frozen_reports_over_the_api(api: APIClient, study: Study) -> None:
    listed = reverse("api:reports", args=[study.slug])
    first = api.post(listed, {"title": "Before"}).json()
    relabel(study)
    second = api.post(f"{listed}?question=items.presence", {"title": "After"}).json()
    whole = api.get(reverse("api:frozen-report", args=[study.slug, first["id"]])).json()
    compared = api.get(reverse("api:compare-reports", args=[study.slug, first["id"], second["id"]])).json()
    again = api.post(reverse("api:recompute-report", args=[study.slug, first["id"]])).json()

    assert [report["title"] for report in api.get(listed).json()] == ["After", "Before"]
    assert whole["data_digest"] == first["data_digest"] != second["data_digest"]
    assert whole["tables"][0]["key"] == "overview"
    assert {"matrix", "confusion", "reliability"} <= {figure["kind"] for figure in whole["figures"]}
    moved = next(move for move in compared["moves"] if move["table"] == "items.presence.selections")
    assert moved["difference"] == moved["second"] - moved["first"] != 0
    assert (again["equal"], again["digest"]) == (True, first["results_digest"])
    assert api.post(listed, {}).status_code == 400


def test_downloads_over_the_api(api: APIClient, study: Study, settings: Settings, tmp_path: Path) -> None:
    settings.PALATE_EXPORTS = tmp_path
    asked = api.post(reverse("api:exports", args=[study.slug]), {"form": "label-studio"}).json()
    state = reverse("api:export", args=[study.slug, asked["id"]])
    assert (asked["state"], asked["file"]) == ("waiting", None)
    actions.make_export(export_id=asked["id"])
    ready = api.get(state).json()

    assert ready["state"] == "ready"
    assert len(json.loads(b"".join(api.get(ready["file"])))) == 3
