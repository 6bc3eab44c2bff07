"""GET /api/v1/studies/<slug>/report/"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import include, path, reverse
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

import config.urls
from annotation.actions import add_member
from annotation.models import Label, Role, Study, User
from llm.encoders import FALLBACK
from reports.api.serializers import DOTTED, FiltersSerializer, filter_parameters
from reports.data.arrays import Filters
from reports.forms import FiltersForm
from reports.stats.graph.agreement import THRESHOLDS
from tests import builders
from tests.annotation import workshop
from tests.builders import ApiOf
from tests.databases import made_once
from tests.reports import studies
from tests.reports.studies import answered, judge, rater, sheet

# The project's URLs with those of this door.
urlpatterns = [*config.urls.urlpatterns, path("api/v1/", include("reports.api.urls"))]
pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__), pytest.mark.once]


@made_once
def study() -> Study:
    """Two people, one simulated, and a judge on one recipe of three items."""
    made = studies.study()
    soup = sheet(made, items=3)
    answered(rater(made, "A1"), soup, ["fna"])
    answered(rater(made, "S1", simulated=True), soup, ["ff."])
    answered(judge(made), soup, ["fni"])
    return made


@pytest.fixture
def api(study: Study, api_of: ApiOf) -> APIClient:
    researcher = builders.user("rene")
    add_member(study=study, user=researcher, role=Role.RESEARCHER)
    return api_of(researcher)


def get(api: APIClient, study: Study, **query: Any) -> Any:
    response = api.get(f"/api/v1/studies/{study.slug}/report/", query)
    assert response.status_code == 200
    return response.json()


def table(report: Any, key: str) -> Any:
    [found] = [table for table in report["tables"] if table["key"] == key]
    return found


def test_the_report_has_the_tables_of_the_page(study: Study, api: APIClient) -> None:
    report = get(api, study)

    assert (report["study"], report["scheme"], report["scheme_version"]) == ("letters", "letters", 1)
    assert table(report, "items.presence.selections")["rows"][:2] == [
        {"selection": "Found", "count": 3, "share": 0.5},
        {"selection": "Found (not perfect)", "count": 1, "share": 0.1666666667},
    ]
    assert {"overview", "tasks.agreement", "items.presence.confusion.J1", "raters"} <= {
        t["key"] for t in report["tables"]
    }


def test_the_report_says_what_its_first_page_says(study: Study, api: APIClient, client: Client) -> None:
    client.force_login(User.objects.get(username="rene"))
    page = client.get(reverse("reports:report", args=[study.slug]), {"now": ""})
    told = get(api, study, by="document")["answers"]
    assert [one["value"] for one in told["tiles"]] == [one.value for one in page.context["tiles"]]
    for said, name in (("people", "about_people"), ("judges", "about_judges")):
        assert told[said] == [vars(one) for one in page.context[name]]
        assert told[said]
    written = client.get(reverse("reports:methods", args=[study.slug]), {"now": ""}).context["paragraphs"]
    assert [told["methods"], told["results"]] == [one.text for one in written if one.language == "en"]


def test_a_report_of_nothing_says_nothing(study: Study, api: APIClient) -> None:
    Label.objects.all().delete()
    assert get(api, study)["answers"] is None


def test_a_part_names_its_whole(study: Study, api: APIClient) -> None:
    rows = table(get(api, study), "items.presence.selections")["rows"]

    assert rows[4:6] == [
        {"selection": "Not filled in", "count": 1, "share": 0.1666666667},
        {"selection": "not reached", "count": 1, "share": 0.1666666667, "part_of": "Not filled in"},
    ]


def test_what_is_not_defined_is_null_with_its_reason(study: Study, api: APIClient) -> None:
    rows = table(get(api, study, person="A1"), "items.presence.agreement")["rows"]

    assert {(row["value"], row["because"]) for row in rows} == {(None, "no cell was answered by two people")}


def test_simulated_raters_are_marked(study: Study, api: APIClient) -> None:
    report = get(api, study)

    assert report["simulated_raters"] == ["S1"]
    assert table(report, "items.presence.pairs")["rows"][0]["rater_b"] == "S1 (simulated)"


def test_filters_are_those_of_the_page_and_echoed(study: Study, api: APIClient) -> None:
    soup = study.sheets.get()
    query = {"person": ["A1", "S1"], "judge": "J1", "sheet": soup.pk, "merge.items.presence": "two-classes"}
    report = get(api, study, **query)

    assert report["filters"] == {
        "person": ["A1", "S1"],
        "judge": ["J1"],
        "sheet": [soup.pk],
        "merge": {"items.presence": "two-classes"},
        "question": [],
        "normalisation": {},
        "submitted": False,
        "found": {},
        "voice": [],
        "exposure": "leave_out",
        "by": "",
        "draws": 2000,
        "seed": 0,
        "facet": {},
        "group": "",
        "apart": "",
        "seen": "",
        "wording": "",
        "as_of": "",
        "encoder": FALLBACK,
        "threshold": list(THRESHOLDS),
        "metric": [],
        "reference": [],
        "unanswered": False,
    }
    assert "Found or not" in table(report, "items.presence.agreement")["title"]


def test_the_schema_names_each_filter_of_the_page(study: Study) -> None:
    """A client that is generated from it can send no other."""
    said = {name.partition(".")[0] for name in (*DOTTED, *(one.name for one in filter_parameters))} - {"dotted"}
    understood = {name: field.source for name, field in FiltersSerializer().fields.items()}
    texts = builders.study("texts", of=builders.scheme(workshop.SCHEME))
    for each in (study, texts):
        assert {name.partition(".")[0] for name in FiltersForm(study=each).fields} <= said
    assert said == set(understood)
    inside = {"methods", "words"}  # versions of what computes
    assert {field.name for field in fields(Filters)} - inside == set(understood.values())


def test_a_choice_of_options_applies_to_judges(study: Study, api: APIClient) -> None:
    def judged(**query: str) -> Any:
        found = table(get(api, study, **query), "items.presence.judges")
        return found["title"], found["rows"][0]["accuracy"]

    # People f n a and f f, the judge f n i: 3 of 3 with i as a, else 2 of 3.
    assert judged() == ("Items: How far judges agree with people (Implied counts as Not found)", 1.0)
    assert judged(**{"merge.items.presence": "told_apart"}) == (
        "Items: How far judges agree with people (all options told apart)",
        pytest.approx(2 / 3),
    )


def test_nothing_is_submitted(study: Study, api: APIClient) -> None:
    assert table(get(api, study, submitted="true"), "overview")["rows"][-1]["cells"] == 0


def test_a_filter_that_is_not_understood_is_refused(study: Study, api: APIClient) -> None:
    query = {"person": "nobody", "judge": "J1 ", "sheet": 99999999999999999999, "merge.items.presence": "x"}
    response = api.get(f"/api/v1/studies/{study.slug}/report/", query)

    assert response.status_code == 400
    assert set(response.json()) == set(query)


@pytest.mark.parametrize("name", ["facet.zz", "found.items.nosuch", "merge.nosuch.q", "normalisation.A1", "merge."])
def test_a_filter_of_what_the_study_has_not_is_refused(study: Study, api: APIClient, client: Client, name: str) -> None:
    """Passed over, it would give a report of everything."""
    sentence = f"There is nothing to choose by “{name}” in this study."
    at = f"/api/v1/studies/{study.slug}"
    for response in (
        api.get(f"{at}/report/", {name: "x"}),
        api.post(f"{at}/reports/?{name}=x", {"title": "All"}, format="json"),
        api.post(f"{at}/exports/?{name}=x", {"form": "zip"}, format="json"),
    ):
        assert (response.status_code, response.json()) == (400, {"non_field_errors": [sentence]})
    assert not study.reports.exists()
    client.force_login(User.objects.get(username="rene"))
    assert sentence in client.get(reverse("reports:report", args=[study.slug]), {name: "x"}).content.decode()


@pytest.mark.parametrize(
    ("said", "understood"),
    [
        ("true", True),
        ("1", True),
        ("Yes", True),
        ("on", True),
        ("0", False),
        ("no", False),
        ("off", False),
        ("", False),
    ],
)
def test_a_switch_is_said_as_elsewhere(study: Study, api: APIClient, said: str, understood: bool) -> None:
    assert get(api, study, submitted=said)["filters"]["submitted"] is understood


def test_a_switch_that_is_neither_yes_nor_no_is_refused(study: Study, api: APIClient) -> None:
    response = api.get(f"/api/v1/studies/{study.slug}/report/", {"submitted": "maybe"})

    assert (response.status_code, response.json()) == (400, {"submitted": ["“maybe” is neither yes nor no."]})


def test_annotators_and_strangers_do_not_see_it(study: Study, api: APIClient, api_of: ApiOf) -> None:
    annotator, stranger = builders.user("anna"), builders.user("sam")
    add_member(study=study, user=annotator, role=Role.ANNOTATOR)
    address = f"/api/v1/studies/{study.slug}/report/"

    assert api_of(annotator).get(address).status_code == 403
    assert api_of(stranger).get(address).status_code == 404
    assert APIClient().get(address).status_code == 401


def test_it_costs_the_same_for_few_labels_and_many(study: Study, api: APIClient) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            get(api, study)
        return len(captured)

    few = cost()
    stew = sheet(study, "Stew", items=10, rows=4)
    for code in ("A2", "A3"):
        answered(rater(study, code), stew, ["fnaifnaifn"] * 4)

    # Token with user, study, roles; the five of the filters; the fifteen of the report; whether the study is split; the
    # digest of its data, before and after they are read. Where it is kept, the report is not read.
    assert (few, cost(), cost()) == (47, 47, 21)


def test_the_schema_describes_it() -> None:
    schema = SchemaGenerator().get_schema(public=True)
    operation = schema["paths"]["/api/v1/studies/{slug}/report/"]["get"]

    assert {"person", "judge", "sheet", "submitted"} <= {parameter["name"] for parameter in operation["parameters"]}
    assert operation["responses"]["200"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Report"
    }


def test_who_asks_again_gets_what_is_there(study: Study, api: APIClient, api_of: ApiOf) -> None:
    """After a lost answer, say; and no longer once the labels are others."""
    at = f"/api/v1/studies/{study.slug}"

    def asked(api: APIClient, what: str, **body: str) -> tuple[int, int]:
        response = api.post(f"{at}/{what}/", body, format="json")
        return response.status_code, response.json()["id"]

    frozen, export = asked(api, "reports", title="All"), asked(api, "exports", form="zip")
    assert asked(api, "reports", title="All") == (200, frozen[1])
    assert asked(api, "exports", form="zip") == export
    assert [one["id"] for one in api.get(f"{at}/exports/").json()] == [export[1]]

    other = builders.user("mara")
    add_member(study=study, user=other, role=Role.MANAGER)
    assert api_of(other).get(f"{at}/exports/").json() == []
    assert asked(api_of(other), "exports", form="zip")[1] != export[1]
    assert asked(api, "exports", form="jsonl")[1] != export[1]
    assert asked(api, "reports", title="Some")[0] == 201

    answered(rater(study, "A9"), study.sheets.get(), ["fff"])
    assert asked(api, "reports", title="All")[0] == 201
    assert asked(api, "exports", form="zip")[1] != export[1]
