"""A program renames judges and extractors, puts them away and takes them back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.actions import Refused
from annotation.models import AuditEvent
from judges import actions
from judges.models import Extractor, Judge, Origin
from llm.models import Prompt
from tests import builders
from tests.builders import ApiOf, Leases
from tests.judges import helpers


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager who may make judges."""
    leases.manager.user_permissions.add(Permission.objects.get(codename="add_judge"))
    return api_of(leases.manager)


@pytest.fixture(params=["judge", "extractor"])
def tool(request: pytest.FixtureRequest, leases: Leases) -> tuple[str, Judge | Extractor]:
    if request.param == "judge":
        return "judge", helpers.lexical_judge()
    return "extractor", actions.create_extractor(name="schema", parser="schema-org")


def post(program: APIClient, name: str, tool: Judge | Extractor, sent: dict[str, Any] | None = None) -> Any:
    return program.post(reverse(f"api:{name}", args=["leases", tool.pk]), sent or {}, format="json")


def test_it_is_renamed_archived_and_taken_back(program: APIClient, tool: tuple[str, Judge | Extractor]) -> None:
    kind, made = tool

    def offered() -> list[str]:
        return [one["name"] for one in program.get(reverse(f"api:{kind}s", args=["leases"])).json()]

    def archived() -> list[str]:
        return [one["name"] for one in program.get(reverse(f"api:archived-{kind}s", args=["leases"])).json()]

    told = post(program, f"rename-{kind}", made, {"name": "better"})
    assert (told.status_code, told.json()) == (200, {"id": made.pk, "name": "better", "archived_at": None})
    assert ("better" in offered(), archived()) == (True, [])

    told = post(program, f"archive-{kind}", made)
    assert told.status_code == 200
    assert told.json()["archived_at"]
    assert ("better" in offered(), archived()) == (False, ["better"])

    told = post(program, f"take-back-{kind}", made)
    assert (told.status_code, told.json()["archived_at"]) == (200, None)
    assert ("better" in offered(), archived()) == (True, [])


def test_a_name_that_is_taken_or_none_is_refused(program: APIClient, tool: tuple[str, Judge | Extractor]) -> None:
    kind, made = tool
    if kind == "judge":
        helpers.lexical_judge(name="other")
    else:
        actions.create_extractor(name="other", parser="schema-org")

    taken = post(program, f"rename-{kind}", made, {"name": "other"})

    assert (taken.status_code, taken.json()["detail"]) == (409, "“other” is taken.")
    assert list(post(program, f"rename-{kind}", made, {"name": "no name"}).json()) == ["name"]
    made.refresh_from_db()
    assert made.name != "other"


def test_what_nothing_rests_on_is_deleted_and_said_in_the_log(
    leases: Leases, program: APIClient, tool: tuple[str, Judge | Extractor]
) -> None:
    kind, made = tool
    program.force_login(leases.manager)
    page = program.get(reverse(f"judges:{kind}", args=["leases", made.pk])).content.decode()
    assert "It has not worked, and nothing was made from it." in page
    assert reverse(f"judges:delete-{kind}", args=["leases", made.pk]) in page

    assert post(program, f"delete-{kind}", made).status_code == 204
    assert not type(made)._default_manager.filter(pk=made.pk).exists()
    assert AuditEvent.objects.filter(study=leases.study, kind="deletion", what=f"{kind} {made.name}").count() == 1


def test_what_has_worked_or_has_others_made_from_it_is_archived_and_never_deleted(
    leases: Leases, program: APIClient
) -> None:
    at_work, planned, parent, read = (helpers.lexical_judge(name=f"judge-{n}") for n in range(4))
    actions.start_run(study=leases.study, judge=at_work, by=leases.manager)
    builders.judge(leases.study, planned.name)
    actions.came_from(judge=helpers.lexical_judge(name="copy"), parent=parent, how=Origin.How.COPY)
    schema = actions.create_extractor(name="schema", parser="schema-org")
    Judge.objects.filter(pk=read.pk).update(evidence=schema)

    for made in (at_work, planned, parent, schema):
        told = post(program, "delete-extractor" if made == schema else "delete-judge", made)
        assert told.status_code == 409
        assert told.json()["detail"].endswith("archive it.")
        made.refresh_from_db()
    program.force_login(leases.manager)
    page = program.get(reverse("judges:judge", args=["leases", parent.pk])).content.decode()
    assert reverse("judges:delete-judge", args=["leases", parent.pk]) not in page
    answer = program.post(reverse("judges:delete-judge", args=["leases", parent.pk]), follow=True)
    assert "has others made from it" in answer.content.decode()


def test_what_somebody_else_has_just_deleted_is_refused_in_a_sentence(
    leases: Leases, tool: tuple[str, Judge | Extractor]
) -> None:
    """Two at once ended in an error of the database: whoever came second started or deleted what was not there."""
    _kind, made = tool
    gone = type(made)._default_manager.get(pk=made.pk)
    actions.delete(made, study=leases.study)
    with pytest.raises(Refused, match=f"“{gone.name}” is deleted"):
        actions.delete(gone, study=leases.study)
    with pytest.raises(Refused, match=f"“{gone.name}” is deleted"):
        actions.rename(gone, name="other", study=leases.study)
    of = {"judge": gone} if isinstance(gone, Judge) else {"extractor": gone}
    start: Any = actions.start_run if isinstance(gone, Judge) else actions.start_extraction
    with pytest.raises(Refused, match=f"“{gone.name}” is deleted"):
        start(study=leases.study, by=None, **of)


def test_who_may_make_none_changes_none(leases: Leases, api_of: ApiOf, tool: tuple[str, Judge | Extractor]) -> None:
    kind, made = tool
    for name in ("rename", "archive", "take-back", "delete"):
        assert post(api_of(leases.manager), f"{name}-{kind}", made, {"name": "x"}).status_code == 403


def test_judges_share_a_prompt_that_comes_with_palate_or_is_another_judges(
    leases: Leases, program: APIClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    brought = tmp_path / "leases-words.yaml"
    brought.write_text(helpers.LEXICAL, encoding="utf-8")
    monkeypatch.setattr("judges.doors.shipped_prompts", lambda: {"leases-words": brought})

    def made(name: str, status: int = 201, **prompt: str) -> Any:
        sent = {"name": name, "method": "lexical", **prompt}
        told = program.post(reverse("api:judges", args=["leases"]), sent, format="json")
        assert told.status_code == status, told.content
        return told.json()

    def prompts() -> list[tuple[str, str, list[str], str]]:
        told = program.get(reverse("api:prompts", args=["leases"])).json()
        return [(one["shipped"], one["prompt_sha256"], one["methods"], one["text"]) for one in told]

    [(_shipped, sha256, _methods, _text)] = before = prompts()
    assert before == [("leases-words", sha256, ["lexical"], helpers.LEXICAL)]
    judges = [
        made("one", shipped="leases-words"),
        made("two", shipped="leases-words"),
        made("three", prompt_sha256=sha256),
    ]
    assert {judge["prompt_sha256"] for judge in judges} == {sha256}
    assert (prompts(), Prompt.objects.count()) == (before, 1)

    assert list(made("four", 400, shipped="nothing")) == ["shipped"]
    assert list(made("four", 400, prompt_sha256="0" * 64)) == ["prompt_sha256"]
    assert list(made("four", 400, prompt_sha256=sha256, shipped="leases-words")) == ["shipped", "prompt_sha256"]


def test_only_who_may_make_judges_reads_the_prompts_to_make_them_of(leases: Leases, api_of: ApiOf) -> None:
    assert api_of(leases.manager).get(reverse("api:prompts", args=["leases"])).status_code == 403
