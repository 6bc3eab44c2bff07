"""A program's way: from an installation that has an owner alone to a downloaded report and a judge at work, by HTTP.

What workers do is done here in between; nothing else touches the database.
"""

from __future__ import annotations

import csv
import io
import uuid
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from annotation.models import User
from judges.models import Run
from reports import actions as reporting
from reports.models import Export
from work import actions as work

pytestmark = [pytest.mark.django_db, pytest.mark.once]

SCHEME = """\
key: clauses
version: 1
title: Clauses
sections:
  - key: duties
    title: Duties
    column: {title: Duty, facets: [duty]}
    questions:
      - key: stated
        title: Stated
        about: duty
        options:
          - {key: stated, label: Stated}
          - {key: absent, label: Not stated, sign: "–"}
"""
PROMPT = """\
questions:
  duties.stated:
    lexical: {in: [paragraph], same: stated, part: stated, none: absent}
"""
N_CLAUSES, N_BY_PEOPLE = 60, 40


class Program:
    """Requests of somebody by the token that their password gave."""

    def __init__(self, username: str, password: str) -> None:
        self.api = APIClient()
        said = self.api.post("/api/v1/token/", {"username": username, "password": password}, format="json")
        assert said.status_code == 200, said.content
        self.api.credentials(HTTP_AUTHORIZATION=f"Token {said.json()['token']}")

    def get(self, address: str, **query: Any) -> Any:
        answer = self.api.get(f"/api/v1/{address}", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def post(self, address: str, body: Any = None, status: int = 201, form: str = "json") -> Any:
        answer = self.api.post(f"/api/v1/{address}", body, format=form)
        assert answer.status_code == status, answer.content
        return answer.json()


def says(clause: str, duty: str) -> str:
    return "stated" if duty in clause else "absent"


def clause(n: int) -> str:
    return f"Clause {n}: the tenant shall {'pay rent' if n % 2 else 'give notice'}{' and insure' if n % 3 else ''}."


def file(name: str, lines: list[list[str]]) -> SimpleUploadedFile:
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    return SimpleUploadedFile(name, text.getvalue().encode())


def joined(url: str, username: str) -> Program:
    """A person follows the link of an invitation."""
    password = f"{username}-at-the-harbour-7"
    sent = {"username": username, "password1": password, "password2": password}
    assert Client().post(url, sent).status_code == 302
    return Program(username, password)


def label_all(person: Program) -> int:
    mine = person.get("my/assignments/")
    for assignment in mine:
        columns = person.get(f"sheets/{assignment['sheet']}/")["columns"]
        [block] = person.get(f"rows/{assignment['row']}/")["evidence"]
        answers = [
            {"column": one["id"], "question": "stated", "option": says(block["text"], one["facets"]["duty"])}
            for one in columns
        ]
        change = {"key": str(uuid.uuid4()), "answers": answers}
        done = person.post(f"assignments/{assignment['id']}/labels/", change, 200)
        assert (
            person.post(f"assignments/{assignment['id']}/labels/", change, 200) == done
        )  # sent again, it is one change
        assert person.post(f"assignments/{assignment['id']}/submit/", status=200)["state"] == "submitted"
    return len(mine)


def all_of(program: Program, address: str, **query: Any) -> Iterator[dict[str, Any]]:
    """A long list by its pages."""
    page = program.get(address, limit=50, **query)
    while True:
        yield from page["results"]
        if page["next"] is None:
            return
        page = program.api.get(page["next"]).json()


def test_from_nothing_to_a_report_and_a_hired_judge(settings: Settings, tmp_path: Path) -> None:
    settings.PALATE_EXPORTS, settings.PALATE_UPLOADS = tmp_path / "exports", tmp_path / "uploads"
    User.objects.create_superuser("owner", password="owner-of-the-house-9")  # `manage.py createsuperuser`
    owner = Program("owner", "owner-of-the-house-9")
    at = "studies/leases"

    # --- a study and what is in it
    assert owner.get("studies/") == []
    assert "recipe-memorization" in {scheme["key"] for scheme in owner.get("schemes/")}
    wrong = owner.post("studies/", {"title": "Leases", "scheme_text": "key: [", "slug": "leases"}, 400)
    assert list(wrong) == ["scheme_text"]
    made = owner.post("studies/", {"title": "Leases", "scheme_text": SCHEME, "slug": "leases"})
    assert (made["slug"], made["counts"]["rows"], made["roles"]) == (
        "leases",
        0,
        ["annotator", "manager", "researcher"],
    )
    assert list(owner.post("studies/", {"title": "Again", "scheme": "clauses", "slug": "leases"}, 400)) == ["slug"]
    rows = [["sheet", "row", "text"], *(["Lease", f"Clause {n}", clause(n)] for n in range(N_CLAUSES))]
    columns = [["sheet", "duty"], ["Lease", "pay rent"], ["Lease", "insure"]]
    files = {"rows": file("rows.csv", rows), "columns": file("columns.csv", columns)}
    assert owner.post(f"{at}/imports/rows/", files, form="multipart")["rows"] == N_CLAUSES
    [sheet] = owner.get(f"{at}/sheets/")
    assert (sheet["rows"], sheet["columns"]) == (N_CLAUSES, 2)

    # --- people, and who labels what
    links = [owner.post(f"{at}/invites/", {"role": "annotator"})["url"] for _person in range(3)]
    people = [joined(url, name) for url, name in zip(links, ("anna", "boris"), strict=False)]
    spare = owner.get(f"{at}/invites/")[0]
    assert owner.post(f"{at}/invites/{spare['id']}/revoked/", status=200)["state"] == "revoked"
    assert [one["state"] for one in owner.get(f"{at}/invites/")] == ["revoked", "used", "used"]
    codes = [rater["code"] for rater in owner.get(f"{at}/raters/")]
    asked = {"raters": codes, "size": N_BY_PEOPLE, "raters_per_sheet": 2, "share_twice": 50}
    drawn = owner.post(f"{at}/plan/drawn/", asked, 200)
    assert owner.post(f"{at}/plan/drawn/", asked, 200) == drawn
    assert sum(drawn["raters"].values()) == N_BY_PEOPLE * 3 // 2
    assert people[0].get("my/assignments/") == []
    late = owner.post(f"{at}/plan/", {**asked, "digest": "another"}, 409)
    assert late["detail"].startswith("The study has changed since this plan was drawn.")
    made = owner.post(f"{at}/plan/", {**asked, "digest": drawn["digest"]})
    assert made == {**drawn, "id": made["id"]}
    assert [plan["id"] for plan in owner.get(f"{at}/plan/")["results"]] == [made["id"]]
    assert owner.post(f"{at}/plan/{made['id']}/undone/", status=200)["assignments"] == N_BY_PEOPLE * 3 // 2
    assert owner.post(f"{at}/plan/", {**asked, "digest": drawn["digest"]})["seats"] == drawn["seats"]
    assert owner.post(f"{at}/plan/", {"raters": ["A99"]}, 400) == {"raters": ["The study has no rater “A99”."]}
    assert owner.post(f"{at}/raters/{codes[0]}/paused/", status=200)["paused_at"] is not None
    assert owner.post(f"{at}/plan/drawn/", {**asked, "raters": codes}, 400) == {
        "raters": [f"“{codes[0]}” is in the study, but cannot be chosen here as things stand."]
    }
    assert owner.post(f"{at}/raters/{codes[0]}/resumed/", status=200)["paused_at"] is None
    assert sum(map(label_all, people)) == N_BY_PEOPLE * 3 // 2
    assert owner.post(f"{at}/raters/{codes[0]}/reminded/", status=409)["detail"].endswith("has nothing left to do.")
    assert people[0].api.get(f"/api/v1/{at}/raters/").status_code == 403

    # --- what is taken back, and what is paid
    started = timezone.now() - timedelta(days=1)
    back = {"moment": started.isoformat(), "submitted": True}
    shown = owner.post(f"sheets/{sheet['id']}/restored/drawn/", back, 200)
    assert (shown["cells"], shown["taken_back"]) == (2 * N_BY_PEOPLE * 3 // 2, N_BY_PEOPLE * 3 // 2)
    assert owner.post(f"sheets/{sheet['id']}/restored/", {**back, "digest": "another"}, 409)["detail"]
    assert (
        owner.post(f"sheets/{sheet['id']}/restored/", {**back, "digest": shown["digest"]}, 200)["cells"]
        == (shown["cells"])
    )
    assert sum(map(label_all, people)) == N_BY_PEOPLE * 3 // 2
    assert owner.post(f"{at}/pay/", {"hourly_rate": "12.50", "currency": "EUR"}, 200)["pay"] == "0.00"
    owner.post("studies/", {"title": "Mistake", "scheme": "clauses"})
    assert list(owner.post("studies/mistake/deleted/", {"confirm": "leases"}, 400)) == ["confirm"]
    assert owner.api.post("/api/v1/studies/mistake/deleted/", {"confirm": "mistake"}, format="json").status_code == 204
    assert [study["slug"] for study in owner.get("studies/")] == ["leases"]

    # --- a judge
    owner.post(f"{at}/split/", {"unit": "row", "share": 50, "seed": 1})
    judge = {"name": "words", "method": "lexical"}
    assert list(owner.post(f"{at}/judges/", judge, 400)) == ["prompt_text"]
    made = owner.post(f"{at}/judges/", {**judge, "prompt_text": PROMPT})
    assert [one["id"] for one in owner.get(f"{at}/judges/")] == [made["id"]]
    run = owner.post(f"{at}/judges/{made['id']}/start/")
    while work.take_up(Run.objects.get()):
        pass
    told = owner.get(f"{at}/runs/{run['id']}/")
    assert (told["state"], told["rows_done"], told["errors"]) == ("finished", N_CLAUSES, [])

    # --- what they say
    labels = list(all_of(owner, f"{at}/labels/", rater="words"))
    assert len(labels) == len({(one["row"], one["column"]) for one in labels}) == 2 * N_CLAUSES
    report = owner.get(f"{at}/report/")
    [agreement] = [table for table in report["tables"] if table["key"] == "duties.stated.judges"]
    assert agreement["rows"][0]["accuracy"] == 1.0
    frozen = owner.post(f"{at}/reports/", {"title": "First"})
    assert owner.post(f"{at}/reports/{frozen['id']}/recomputed/", status=200)["equal"] is True
    export = owner.post(f"{at}/exports/", {"form": "zip", "report": frozen["id"]}, 202)
    reporting.make_export(export_id=Export.objects.get().pk)
    ready = owner.get(f"{at}/exports/{export['id']}/")
    assert ready["state"] == "ready"
    file_of_it = owner.api.get(ready["file"])
    with zipfile.ZipFile(io.BytesIO(b"".join(cast(Any, file_of_it).streaming_content))) as archive:
        assert any(name.endswith("labels.csv") for name in archive.namelist())

    # --- the judge is hired
    [candidate] = owner.get(f"{at}/candidates/")
    assert (candidate["judge"], candidate["question"]) == ("words", "duties.stated")
    until = (timezone.localdate() + timedelta(days=30)).isoformat()
    claim = {"judge": "words", "question": "duties.stated", "epsilon": 0.2, "confidence": 0.8, "until": until}
    certificate = owner.post(f"{at}/certificates/", claim)
    assert certificate["holds"] is True
    name = certificate["certificate"]["name"]
    takeovers = f"{at}/certificates/{name}/takeovers/"
    shown = owner.get(takeovers, share=10, seed=1)
    done = owner.post(takeovers, {"share": 10, "seed": 1, "raters": codes, "digest": shown["digest"]})
    accepted = 2 * (N_CLAUSES - N_BY_PEOPLE)
    assert (shown["accepted"], done["accepted"]) == (accepted, accepted)
    now = owner.get(f"{at}/certificates/{name}/")
    assert (now["standing"], now["accepted"]) == ("standing", accepted)
