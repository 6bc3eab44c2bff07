"""What a judge was asked at a cell that it has answered: the same, letter by letter, and the same once more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils.html import escape

from annotation.models import Column, Label, Look, Role, Study
from judges import actions, retracing
from judges.models import Judge, Run, Trial, UnreadableAnswer
from llm.backends.transformers import TransformersBackend
from llm.engine.prompt import RowPrompt
from llm.models import Prompt
from tests.builders import ClientOf
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
    assert page in author.get(f"/sheets/{sheet.pk}/lens/cell/", at).content.decode()
    assert label.option is not None
    assert label.option.label in shown
    retraced = retracing.retraced(items(run)[0], cell)
    assert retraced is not None
    assert escape(retraced.prompt) in shown
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


def test_a_cell_that_no_judge_with_a_model_answered_has_no_page(db: None, client_of: ClientOf) -> None:
    study = helpers.study_of_leases(n_rows=1)
    run = actions.start_run(study=study, judge=helpers.lexical_judge(), by=None)
    assert work(run) == 1
    pk, cell = items(run)[0].assignment_id, cells_of(run)[0]
    assert retracing.pages_at(study, *cell, [pk]) == {}
    manager = client_of(study.memberships.get(role=Role.MANAGER).user)
    assert manager.get(f"/studies/{study.slug}/judges/asked/{pk}/{cell[0]}/{cell[1]}/").status_code == 404


def test_what_cannot_be_made_again_says_why(scored: tuple[Run, list[RowPrompt]], author: Client) -> None:
    run, _asked = scored
    cell = cells_of(run)[0]
    row = items(run)[0].assignment.row
    row.evidence = []
    row.save()
    page = author.get(page_at(run, cell)).content.decode()
    assert "Its prompt cannot be made again: It has no evidence to judge by." in page
