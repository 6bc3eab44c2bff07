"""What a judge was asked at a cell that it has answered: the same, letter by letter, and the same once more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils.html import escape

from annotation import actions as annotating
from annotation.models import Column, Label, Look, Option, Role, Row, Study
from judges import actions, retracing, trying
from judges.models import Judge, Run, Trial, UnreadableAnswer
from judges.runs.hearing import digest_of
from llm.backends.transformers import TransformersBackend
from llm.engine.prompt import RowPrompt
from llm.models import Prompt
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.judges import helpers
from tests.judges.helpers import ScriptedBackend, items, work
from tests.judges.test_whole_tables import WHOLE
from tests.judges.test_writing import PROMPT, SECOND, done, scripted, study, writing_judge
from work import actions as machine

__all__ = ["scripted", "study"]  # fixtures

pytestmark = pytest.mark.once

LINE_BY_LINE = PROMPT.partition("together:")[0]
IN_EACH_WAY = {
    "together": PROMPT,
    "line by line": LINE_BY_LINE,
    "whole table": WHOLE,
    "grammar": PROMPT + "grammar: true\n",
}


def cells_of(run: Run) -> list[tuple[int, str]]:
    """The cells that it answered, legibly or not."""
    of = {"assignment__rater": run.rater}
    said = [*Label.objects.filter(**of, preset=False), *UnreadableAnswer.objects.filter(**of)]
    return [(one.column_id, one.question.key) for one in said]


@pytest.mark.parametrize("prompt", IN_EACH_WAY.values(), ids=IN_EACH_WAY)
@pytest.mark.parametrize("chat", [True, False])
def test_what_a_judge_that_writes_was_asked_is_made_again(
    study: Study, scripted: ScriptedBackend, prompt: str, chat: bool
) -> None:
    run = done(study, writing_judge(prompt, chat=chat))
    asked = [text for text, _sampling in scripted.asked]
    again = {cell: retracing.retraced(run.items.get(), cell) for cell in cells_of(run)}
    assert len(again) >= 4
    assert {one.prompt for one in again.values() if one} == set(asked)
    assert {one.as_asked for one in again.values() if one} == {True}
    mix, bake = (Column.objects.get(name=name) for name in ("Mix", "Bake"))
    above, below = (again.get((column.pk, "minutes")) for column in (mix, bake))
    assert above is not None
    assert below is not None
    assert (above.prompt == below.prompt) == ("whole_table" in prompt)


def test_an_unreadable_line_stood_above_as_it_was(study: Study, scripted: ScriptedBackend) -> None:
    scripted.says = lambda prompt, _seed: (
        SECOND if "“Bake”" in prompt else "OUTPUT: 3 loaves\nCHANGE: it rises\nMINUTES: 5"
    )
    run = done(study, writing_judge())
    assert UnreadableAnswer.objects.exists()
    asked = {text for text, _sampling in scripted.asked}
    for cell in cells_of(run):
        again = retracing.retraced(run.items.get(), cell)
        assert again is not None
        assert again.prompt in asked


def test_a_line_above_is_read_whole_where_a_rule_has_left_some_of_it_without_an_answer(
    study: Study, scripted: ScriptedBackend
) -> None:
    run = done(study, writing_judge())
    cell = (Column.objects.get(name="Bake").pk, "output")
    asked = next(text for text, _sampling in scripted.asked if "“Bake”" in text)
    Label.objects.filter(column__name="Mix", question__key__in=("output", "minutes")).delete()
    again = retracing.retraced(run.items.get(), cell)
    assert again is not None
    assert again.prompt == asked


def test_a_line_above_that_was_cut_is_read_as_one(study: Study, scripted: ScriptedBackend) -> None:
    scripted.says, scripted.cut = "OUTPUT:\nCHANGE:\nflour -> dou", True
    run = done(study, writing_judge())
    asked = {text for text, _sampling in scripted.asked}
    for cell in cells_of(run):
        again = retracing.retraced(run.items.get(), cell)
        assert again is not None
        assert again.prompt in asked


def test_a_value_that_the_scheme_takes_no_more_is_shown_as_it_stands(study: Study, scripted: ScriptedBackend) -> None:
    assignment = done(study, writing_judge()).items.get().assignment
    label = Label.objects.get(column__name="Mix", question__key="minutes")
    Label.objects.filter(pk=label.pk).update(value=900)  # over the largest
    assert retracing.answer_at(assignment, (label.column_id, "minutes"))["answer"] == ":900"


@pytest.fixture
def scored(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Run, list[RowPrompt]]:
    asked: list[RowPrompt] = []
    score = TransformersBackend.score

    def heard(self: Any, rows: Any, *args: Any) -> Any:
        asked.extend(rows)
        return score(self, rows, *args)

    monkeypatch.setattr(TransformersBackend, "score", heard)
    judge = helpers.cloze_judge(helpers.save_tiny_model(tmp_path), normalisation=Judge.Normalisation.PMI)
    run = actions.start_run(study=helpers.study_of_leases(n_rows=1), judge=judge, by=None)
    assert work(run) == 1
    return run, asked


def test_what_a_judge_that_scores_was_asked_is_made_again(scored: tuple[Run, list[RowPrompt]]) -> None:
    run, (row,) = scored
    found = {retracing.retraced(items(run)[0], cell) for cell in cells_of(run)}
    parts = {(one.prompt, one.options, one.without) for one in found if one is not None}
    assert {one.as_asked for one in found if one is not None} == {True}
    assert parts <= {(row.shared + cell.text, cell.options, cell.unconditional or "") for cell in row.cells}
    assert len(parts) == len(cells_of(run))


@pytest.mark.parametrize("more", ["together:\n  - [acts.act, acts.party]\n", "whole_table: true\n"])
def test_of_a_judge_that_scores_each_cell_has_its_own_prompt(
    scored: tuple[Run, list[RowPrompt]], more: str, db: None
) -> None:
    run, (row,) = scored
    Prompt.objects.filter(pk=run.judge.prompt_id).update(text=run.judge.prompt.text + more)
    found = [retracing.retraced(items(run)[0], cell) for cell in cells_of(run)]
    assert {one.prompt for one in found if one} <= {row.shared + cell.text for cell in row.cells}
    assert len({one.prompt for one in found if one}) == len(found)


def page_at(run: Run, cell: tuple[int, str]) -> str:
    pk = items(run)[0].assignment_id
    return retracing.pages_at(run.study, *cell, [pk])[pk]


@pytest.fixture
def author(scored: tuple[Run, list[RowPrompt]], client_of: ClientOf) -> Client:
    manager = scored[0].study.memberships.get(role=Role.MANAGER).user
    manager.user_permissions.add(Permission.objects.get(codename="add_judge"))
    return client_of(manager)


def test_the_lens_leads_to_what_was_asked_and_it_is_asked_again(
    scored: tuple[Run, list[RowPrompt]], author: Client
) -> None:
    run, _asked = scored
    label = Label.objects.filter(assignment__rater=run.rater, preset=False).latest("pk")
    cell = (label.column_id, label.question.key)
    sheet = label.assignment.row.sheet
    at = {"row": label.assignment.row_id, "column": label.column_id, "question": label.question_id}
    page = page_at(run, cell)
    shown = author.get(page).content.decode()
    assert Look.objects.filter(sheet=sheet).exists()  # a judge's answer was seen
    link = f'<a href="{page}" aria-label="What it was asked: {run.rater.code}">What it was asked</a>'
    assert link in author.get(f"/sheets/{sheet.pk}/lens/cell/", at).content.decode()
    assert label.option is not None
    assert label.option.label in shown
    retraced = retracing.retraced(items(run)[0], cell)
    assert retraced is not None
    assert escape(retraced.prompt) in shown
    assert "letter by letter what the model got" in shown
    labels = Label.objects.count()
    answer = author.post(f"{page}again/")
    assert answer.status_code == 200
    trial = Trial.objects.get()
    machine.take_up(trial)
    trial_item = trial.items.get()
    assert Label.objects.count() == labels
    assert trial_item.found["prompts"] == [retraced.prompt]
    assert trial_item.found["answer"] == label.option.label


def test_a_line_of_a_table_is_asked_again_below_what_was_written_above_it(
    study: Study, scripted: ScriptedBackend
) -> None:
    run = done(study, writing_judge())
    item = run.items.get()
    cell = (Column.objects.get(name="Bake").pk, "output")
    retraced = retracing.retraced(item, cell)
    assert retraced is not None
    assert "Output – dough; Flour" in retraced.prompt
    scripted.asked.clear()
    trial = actions.start_trial(
        study=study, described=retracing.described(item), row=item.assignment.row, cell=cell, by=None
    )
    machine.take_up(trial)
    assert [text for text, _sampling in scripted.asked] == [retraced.prompt]
    assert trial.items.get().found["answer"] == "bread"


@pytest.mark.parametrize("prompt", IN_EACH_WAY.values(), ids=IN_EACH_WAY)
def test_a_trial_of_a_line_asks_what_a_run_asks(
    study: Study, scripted: ScriptedBackend, client_of: ClientOf, prompt: str
) -> None:
    judge = writing_judge(prompt)
    cell = (Column.objects.get(name="Bake").pk, "output")
    described = trying.described_as_stored(judge)
    trial = actions.start_trial(study=study, described=described, row=Row.objects.get(), cell=cell, by=None)
    machine.take_up(trial)
    found = trial.items.get().found
    scripted.asked.clear()
    item = done(study, judge).items.get()
    retraced = retracing.retraced(item, cell)
    assert retraced is not None
    assert found["prompts"][-1] == retraced.prompt
    asked = [text for text, _sampling in scripted.asked]
    assert found["prompts"] == [text for text in asked if text in found["prompts"]]
    assert found["answer"] == retracing.answer_at(item.assignment, cell).get("answer")
    assert (len(found["prompts"]) == 1) == ("whole_table" in prompt)
    owner = builders.user("owner", superuser=True)
    page = client_of(owner).get(f"/studies/{study.slug}/judges/trials/{trial.pk}/").content.decode()
    assert ("for this cell and the lines above it" in page) == (len(found["prompts"]) > 1)


def test_a_cell_that_no_judge_with_a_model_answered_has_no_page(db: None, client_of: ClientOf) -> None:
    study = helpers.study_of_leases(n_rows=1)
    run = actions.start_run(study=study, judge=helpers.lexical_judge(), by=None)
    assert work(run) == 1
    pk, cell = items(run)[0].assignment_id, cells_of(run)[0]
    assert retracing.pages_at(study, *cell, [pk]) == {}
    manager = client_of(study.memberships.get(role=Role.MANAGER).user)
    assert manager.get(f"/studies/{study.slug}/judges/asked/{pk}/{cell[0]}/{cell[1]}/").status_code == 404


def test_programs_read_what_was_asked_of_the_lens_cells(
    scored: tuple[Run, list[RowPrompt]], author: Client, api_of: ApiOf
) -> None:
    run, (row,) = scored
    researcher, annotator = (builders.user(str(role)) for role in (Role.RESEARCHER, Role.ANNOTATOR))
    annotating.add_member(study=run.study, user=researcher, role=Role.RESEARCHER)
    annotating.add_member(study=run.study, user=annotator, role=Role.ANNOTATOR)
    program = api_of(researcher)
    below = f"/api/v1/studies/{run.study.slug}/runs/{run.pk}/asked/"
    sheet = items(run)[0].assignment.row.sheet
    code = run.rater.code
    cells = [cell for cell in program.get(f"/api/v1/sheets/{sheet.pk}/lens/").json()["cells"] if code in cell["judges"]]
    labels = Option.objects.filter(question__section__scheme=run.study.scheme)
    seen = set()
    for cell in cells:
        said = program.get(f"{below}{cell['row']}/{cell['column']}/{cell['question']}/").json()
        option = labels.get(question__key=cell["question"], key=cell["judges"][code])
        assert said["answer"] == option.label
        assert said["chat_template"] is False
        assert (said["why"], said["written"], said["as_asked"]) == (None, "", True)
        seen.add((said["prompt"], tuple(said["options"]), said["without_evidence"]))
    assert Look.objects.filter(sheet=sheet, user=researcher).exists()
    asked = {(row.shared + one.text, one.options, one.unconditional) for one in row.cells}
    assert len(seen) >= 4
    assert seen <= asked
    first = cells[0]
    for wrong in (
        f"{first['row']}/{first['column']}/nothing/",
        f"{first['row']}/999999/{first['question']}/",
        f"999999/{first['column']}/{first['question']}/",
        f"{first['row']}/{first['column']}/{first['question']}/?repeat=2",
    ):
        assert program.get(below + wrong).status_code == 404
    assert api_of(annotator).get(f"{below}{first['row']}/1/x/").status_code == 403


def test_programs_read_what_a_judge_wrote(study: Study, scripted: ScriptedBackend, api_of: ApiOf) -> None:
    scripted.says = lambda prompt, _seed: (
        SECOND if "“Bake”" in prompt else "OUTPUT: 3 loaves\nCHANGE: it rises\nMINUTES: 5"
    )
    run = done(study, writing_judge())
    manager = builders.user("manager")
    annotating.add_member(study=study, user=manager, role=Role.MANAGER)
    program = api_of(manager)
    below = f"/api/v1/studies/{study.slug}/runs/{run.pk}/asked/{items(run)[0].assignment.row_id}/"
    unread = UnreadableAnswer.objects.earliest("pk")
    said = program.get(f"{below}{unread.column_id}/{unread.question.key}/").json()
    assert (said["answer"], said["why"], said["written"]) == (None, unread.why, unread.raw)
    label = Label.objects.filter(column__name="Bake", question__key="output").get()
    said = program.get(f"{below}{label.column_id}/output/").json()
    assert (said["why"], said["options"]) == (None, [])
    assert said["answer"] == "bread"
    assert said["written"] == SECOND
    assert said["prompt"] in {text for text, _sampling in scripted.asked}


def test_a_cell_of_another_study_has_no_page_there(scored: tuple[Run, list[RowPrompt]], client_of: ClientOf) -> None:
    run, _asked = scored
    cell = cells_of(run)[0]
    both = builders.user("of-both")
    for of in (run.study, builders.study("loans")):
        annotating.add_member(study=of, user=both, role=Role.MANAGER)
    page = page_at(run, cell)
    assert client_of(both).get(page).status_code == 200
    assert client_of(both).get(page.replace(run.study.slug, "loans")).status_code == 404


def test_what_is_not_what_the_model_got_says_so(
    scored: tuple[Run, list[RowPrompt]], author: Client, api_of: ApiOf
) -> None:
    run, _asked = scored
    cell = cells_of(run)[0]
    row = items(run)[0].assignment.row
    row.evidence = [*row.evidence, {**row.evidence[-1], "text": "The keys were handed over in May."}]
    row.save()
    page = page_at(run, cell)
    shown = author.get(page).content.decode()
    assert "The keys were handed over in May." in shown
    assert "not what the model got" in shown
    assert "letter by letter" not in shown
    program = api_of(run.study.memberships.get(role=Role.MANAGER).user)
    below = f"/api/v1/studies/{run.study.slug}/runs/{run.pk}/asked/{row.pk}/{cell[0]}/{cell[1]}/"
    assert program.get(below).json()["as_asked"] is False
    # Of a run from before such digests were kept nothing is claimed.
    run.items.update(asked=[])
    shown = author.get(page).content.decode()
    assert "what the model got" not in shown
    assert "Made again from what the row holds now" in shown
    assert program.get(below).json()["as_asked"] is None


def test_a_digest_is_of_all_that_a_model_was_given() -> None:
    given = [
        digest_of("Rate it."),
        digest_of("Rate it. "),
        digest_of("Rate it.", ("Yes", "No")),
        digest_of("Rate it.", ("No", "Yes")),
        digest_of("Rate it.", ("YesNo",)),
        digest_of("Rate it.", ("Yes", "No"), "Rate"),
        digest_of("Rate it.", picture="data:image/png;base64,AAAA"),
    ]
    assert len(set(given)) == len(given)
    assert {len(one) for one in given} == {16}


def test_what_cannot_be_made_again_says_why(scored: tuple[Run, list[RowPrompt]], author: Client, api_of: ApiOf) -> None:
    run, _asked = scored
    cell = cells_of(run)[0]
    row = items(run)[0].assignment.row
    row.evidence = []
    row.save()
    page = author.get(page_at(run, cell)).content.decode()
    assert "Its prompt cannot be made again: It has no evidence to judge by." in page
    program = api_of(run.study.memberships.get(role=Role.MANAGER).user)
    said = program.get(f"/api/v1/studies/{run.study.slug}/runs/{run.pk}/asked/{row.pk}/{cell[0]}/{cell[1]}/")
    assert said.status_code == 409
    assert said.json()["detail"] == "Its prompt cannot be made again: It has no evidence to judge by."
