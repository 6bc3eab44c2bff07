"""Rows that are asked about in one call: the same answers, each row's end its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from threading import Event, current_thread
from typing import Any

import pytest

from annotation import actions as annotating
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Label, Study
from judges import actions
from judges.actions import spending
from judges.methods import grammar, prompting, rating
from judges.models import Judge, Run, UnreadableAnswer
from judges.runs import by_cloze, labelling
from judges.runs.asking import Prompted
from llm.backends import transformers as transformers_backend
from llm.backends.base import BackendError
from llm.backends.transformers import TransformersBackend
from llm.engine.prompt import RowPrompt
from tests.databases import made_once
from tests.judges import helpers
from tests.judges.helpers import ScriptedBackend, claim, fresh, items, states, work
from tests.judges.test_grammar import written_by_chance
from work.outcomes import GiveUp

pytestmark = pytest.mark.once

GOOD = "STRICTNESS: 2\nReason: It says “shall”."


class Calls(ScriptedBackend):
    """Keeps how many prompts came with each call; `before` may do something while it is at one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.calls: list[int] = []
        self.before: Callable[[int], None] = lambda _n: None

    def generate(self, prompts: Sequence[str], *args: Any, **kwargs: Any) -> list[Any]:
        self.calls.append(len(prompts))
        self.before(len(prompts))
        return super().generate(prompts, *args, **kwargs)


@made_once
def study() -> Study:
    return helpers.study_of_leases(n_rows=5)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    backend = Calls(GOOD)
    monkeypatch.setattr(labelling, "backend_of", lambda judge: backend)
    return backend


@pytest.fixture
def judge(db: None) -> Judge:
    return helpers.rating_judge("nobody/model", chat_template=True)


def started(study: Study, judge: Judge, **options: Any) -> Run:
    return actions.start_run(study=study, judge=judge, by=None, **options)


def said(run: Run) -> list[tuple[Any, ...]]:
    labels = Label.objects.filter(assignment__rater=run.rater)
    names = ("assignment__row__name", "assignment__repeat", "column__name", "question__key", "option__key", "note")
    return sorted(labels.values_list(*names))


def test_rows_and_repeats_share_calls_and_each_item_ends_by_itself(study: Study, judge: Judge, calls: Calls) -> None:
    calls.says = lambda prompt, seed: f"STRICTNESS: {1 + (len(prompt) + seed) % 5}"
    run = started(study, judge, repeats=3)
    assert work(run) == 15
    assert calls.calls == [24, 6]  # twelve rows of two cells, then three
    assert sorted({sampling.seed for _prompt, sampling in calls.asked}) == [1, 2, 3]
    assert states(run) == {"done": 15}
    assert [item.attempts for item in items(run)] == [1] * 15
    assert sum(item.tokens for item in items(run)) == 100 * 30  # no token is lost or counted twice
    together = said(run)
    alone = started(study, helpers.rating_judge("nobody/model", name="alone", chat_template=True), repeats=3)
    for item in items(alone):
        actions.score_items(item_ids=[item.pk])
    assert said(alone) == together
    assert calls.calls[2:] == [2] * 15


def test_a_row_that_cannot_be_asked_fails_alone(study: Study, judge: Judge, calls: Calls) -> None:
    sheet = study.sheets.get()
    annotating.add_row(sheet=sheet, name="Empty", evidence=[Block("heading", "Nothing below")])
    run = started(study, judge)
    work(run)
    assert states(run) == {"done": 5, "failed": 1}
    assert run.items.get(state="failed").assignment.row.name == "Empty"
    assert calls.calls == [10]


def test_a_call_that_fails_leaves_each_row_to_itself(study: Study, judge: Judge, calls: Calls) -> None:
    def fails(n: int) -> None:
        if n > 2:
            raise BackendError("Out of memory.", permanent=True)

    calls.before = fails
    run = started(study, judge)
    assert work(run) == 5
    assert calls.calls == [10, 2, 2, 2, 2, 2]


def test_a_run_that_is_cancelled_meanwhile_gives_all_rows_back(
    study: Study, judge: Judge, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(study, judge)
    calls.before = lambda _n: actions.cancel_run(run=Run.objects.get(pk=run.pk))
    assert work(run) == 0
    assert states(run) == {"queued": 5}
    assert {item.attempts for item in items(run)} == {0}
    assert not Label.objects.filter(assignment__rater=run.rater).exists()
    calls.before = lambda _n: None
    actions.resume_run(run=fresh(run))
    assert work(run) == 5


def test_the_last_attempt_at_a_row_is_alone(study: Study, judge: Judge, calls: Calls) -> None:
    run = started(study, judge)
    first, *_others = items(run)
    claim(first, attempts=actions.JUDGING.most_attempts - 1, state="queued", token=None, lease_until=None)
    work(run)
    assert calls.calls == [2, 8]
    assert states(run) == {"done": 5}


def test_a_run_with_a_limit_takes_a_row_at_a_time(study: Study, judge: Judge, calls: Calls) -> None:
    run = started(study, judge, most_tokens=250)
    assert work(run) == 2  # 200 tokens each: after the second the limit is reached
    assert calls.calls == [2, 2]


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_a_real_model_answers_the_same_in_company(db: None, tmp_path: Path, temperature: float) -> None:
    """Whatever a model with random weights writes: it is kept as what could not be read, letter by letter."""
    location = helpers.save_tiny_model(tmp_path)
    found = []
    for name in ("together", "alone"):
        study = helpers.study_of_leases(n_rows=3, slug=name)
        run = started(study, helpers.rating_judge(location, name=name, temperature=temperature))
        pks = [item.pk for item in items(run)]
        for some in [pks] if name == "together" else [[pk] for pk in pks]:
            actions.score_items(item_ids=some)
        assert states(run) == {"done": 3}
        answers = UnreadableAnswer.objects.filter(assignment__rater=run.rater)
        raw = answers.order_by("assignment__row__name", "column__name").values_list("raw", flat=True)
        found.append([*raw, *said(run)])
        assert run.items.filter(written__gt=0).count() == 3
    assert found[0] == found[1]
    assert found[0]


# --- bound ratings ----------------------------------------------------------------------------------------------------

CRITERIA = [
    rating.Criterion("CLARITY", "Is it plain?", dict.fromkeys(range(11), "")),
    rating.Criterion("TONE OF VOICE", "Does it suit?", dict.fromkeys(range(1, 6), "")),
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("room", [60, 400])
def test_whatever_a_grammar_of_ratings_allows_is_read(seed: int, room: int) -> None:
    bound = grammar.of_ratings(CRITERIA, room=room)
    answer = written_by_chance(bound.lark, seed)
    for one, other in (CRITERIA, CRITERIA[::-1]):
        read = rating.read(answer, one, others=[other.name])
        assert isinstance(read, rating.Verdict), answer
        assert read.reason
    members = json.loads(bound.schema)["properties"]
    told = {name: {"rating": of["properties"]["rating"]["enum"][-1], "reason": "So."} for name, of in members.items()}
    for one, other in (CRITERIA, CRITERIA[::-1]):
        assert rating.read(json.dumps(told), one, others=[other.name]) == rating.Verdict(max(one.ratings), "So.")


def test_a_rating_judge_is_bound_where_its_prompt_says_so(study: Study, calls: Calls) -> None:
    bound = helpers.rating_judge(
        "nobody/model", name="bound", chat_template=True, prompt_text=helpers.RATING + "grammar: true\n"
    )
    work(started(study, bound))
    (said_of_all,) = {sampling.grammar for _prompt, sampling in calls.asked}
    assert said_of_all is not None
    assert '"STRICTNESS: "' in said_of_all.lark
    assert calls.calls == [10]  # bound alike, they are asked together


class TestScores:
    @pytest.fixture
    def counted(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Rows of each call that scores; as of a judge on a GPU worker."""
        counted: list[int] = []
        plain = TransformersBackend.score

        def score(self: TransformersBackend, rows: Sequence[RowPrompt], *args: Any) -> Any:
            counted.append(len(rows))
            return plain(self, rows, *args)

        monkeypatch.setattr(TransformersBackend, "score", score)
        monkeypatch.setattr(TransformersBackend, "scored_together", lambda place: 12)
        return counted

    def test_rows_are_scored_in_one_call_as_alone(self, study: Study, tmp_path: Path, counted: list[int]) -> None:
        location = helpers.save_tiny_model(tmp_path)
        together = started(study, helpers.cloze_judge(location, name="both", normalisation="pmi"))
        assert work(together) == 5
        assert counted == [5]
        alone = started(study, helpers.cloze_judge(location, name="alone", normalisation="pmi"))
        for item in items(alone):
            actions.score_items(item_ids=[item.pk])
        assert counted[1:] == [1] * 5
        assert said(alone) == said(together)
        both = zip(self.sums(alone), self.sums(together), strict=True)
        assert all(one == pytest.approx(other, abs=1e-4) for one, other in both)
        # What all rows begin with is fed once.
        fed = [sum(item.tokens for item in items(run)) for run in (together, alone)]
        assert 0 < fed[0] <= fed[1]

    def test_rows_are_scored_while_those_before_them_are_written(
        self, study: Study, tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(TransformersBackend, "scored_together", lambda place: 2)
        written, threads = Event(), []
        patched, record = TransformersBackend.score, annotating.record_and_submit

        def score(self: TransformersBackend, rows: Sequence[RowPrompt], *args: Any) -> Any:
            threads.append(current_thread())
            if len(threads) == 2:
                assert written.wait(30), "nothing was written meanwhile"
            return patched(self, rows, *args)

        def writes(**of: Any) -> Any:
            written.set()
            return record(**of)

        monkeypatch.setattr(TransformersBackend, "score", score)
        monkeypatch.setattr(annotating, "record_and_submit", writes)
        run = started(study, helpers.cloze_judge(helpers.save_tiny_model(tmp_path)))
        assert actions.score_items(item_ids=[item.pk for item in items(run)]) == 5
        assert counted == [2, 2, 1]
        assert [thread is current_thread() for thread in threads] == [False, False, True]
        assert states(run) == {"done": 5}

    def test_a_run_that_is_cancelled_meanwhile_stops_the_model(
        self, study: Study, tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told: list[BaseException | None] = []
        patched = TransformersBackend.score
        run = started(study, helpers.cloze_judge(helpers.save_tiny_model(tmp_path)))
        stopped = Event()

        def score(self: TransformersBackend, rows: Sequence[RowPrompt], on_progress: Any) -> Any:
            found = patched(self, rows)
            while not stopped.wait(0.05):
                try:
                    on_progress(1, 0)
                except BaseException as error:
                    told.append(error)
                    stopped.set()
                    raise
            return found

        def gives_up(_counter: Any, *_progress: Any) -> None:
            raise GiveUp

        monkeypatch.setattr(TransformersBackend, "score", score)
        monkeypatch.setattr(spending.Counter, "__call__", gives_up)
        work(run)
        assert stopped.wait(30)
        assert isinstance(told[0], CancelledError)

    def test_close_cells_of_a_call_are_rescued_in_one(
        self, study: Study, tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for constant in ("RESCUE_BELOW_NATS", "LEAST_RESCUE_BELOW_NATS"):
            monkeypatch.setattr(transformers_backend, constant, 1e9)
        rescue, rescued = TransformersBackend.rescue, []

        def counting(backend: TransformersBackend, rows: Sequence[Any], on_progress: Any = None) -> Any:
            rescued.append(len(rows))
            return rescue(backend, rows, on_progress)

        monkeypatch.setattr(TransformersBackend, "rescue", counting)
        run = started(study, helpers.cloze_judge(helpers.save_tiny_model(tmp_path), dtype="rescued"))
        assert work(run) == 5
        assert (counted, rescued) == ([5], [5])
        labels = Label.objects.filter(assignment__rater=run.rater, scores__isnull=False)
        told = [scores["rescued"] for scores in labels.values_list("scores", flat=True)]
        assert len(told) >= 5
        assert all(told)

    def test_a_column_that_is_added_meanwhile_is_asked_in_the_rows_that_follow(
        self, study: Study, tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sheet, acts = study.sheets.get(), study.scheme.sections.get(key="acts")
        record = annotating.record_and_submit

        def writes(**of: Any) -> Any:
            record(**of)
            if not sheet.columns.filter(name="Repair").exists():
                annotating.add_column(sheet=sheet, section=acts, spec=acts.spec, facets={"act": "Repair", "party": ""})

        monkeypatch.setattr(annotating, "record_and_submit", writes)
        run = started(study, helpers.cloze_judge(helpers.save_tiny_model(tmp_path)))
        assert work(run) == 5
        assert counted == [5, 1, 1, 1, 1]  # what was scored without it is not taken
        asked = [len({column for row, _repeat, column, *_of in said(run) if row == f"Clause {n}"}) for n in range(1, 6)]
        assert asked == [4, 5, 5, 5, 5]

    def test_the_prompt_of_a_row_is_written_out_once(
        self, study: Study, tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write, cells = prompting.cell_prompt, []

        def counting(*args: Any, **named: Any) -> Any:
            cells.append(write(*args, **named))
            return cells[-1]

        run = started(study, helpers.cloze_judge(helpers.save_tiny_model(tmp_path)))
        monkeypatch.setattr(prompting, "cell_prompt", counting)
        assert work(run) == 5
        assert counted == [5]
        assert len(cells) == 5 * 5  # two duties, two acts, and one party

    @pytest.mark.parametrize("what", ["nothing", "column", "evidence", "title", "cells"])
    def test_what_is_read_otherwise_by_then_is_written_out_anew(self, study: Study, what: str) -> None:
        text = helpers.CLOZE.replace("$evidence_paragraph", "$title: $evidence_paragraph")
        judge = helpers.cloze_judge("nobody/model", prompt_text=text)
        assignment = items(started(study, judge, enqueue=False))[0].assignment
        first = labelling.at_row(judge, assignment)
        before = Prompted(first, by_cloze.prompt_of(first), first.read())
        only = None
        match what:
            case "column":
                study.sheets.get().columns.filter(section__key="duties").update(facets={"duty": "Another"})
            case "evidence":
                assignment.row.evidence = [{"kind": "paragraph", "text": "Another."}]
            case "title":
                assignment.row.title = "Another"
            case "cells":
                only = {first.asked[0].key}
        row = labelling.at_row(judge, assignment, only=only)
        found = by_cloze.prompt_of(replace(row, before=before))
        assert found == by_cloze.prompt_of(row)
        assert (found is before.prompt) == (found == before.prompt) == (what == "nothing")

    def test_what_is_withdrawn_or_cancelled_behind_the_scores_is_not_written(
        self, study: Study, tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = started(study, helpers.cloze_judge(helpers.save_tiny_model(tmp_path)))
        _first, second, *_others = items(run)
        record, n_written = annotating.record_and_submit, 0

        def writes(**of: Any) -> Any:
            nonlocal n_written
            record(**of)
            n_written += 1
            if n_written == 1:
                Assignment.objects.filter(pk=second.assignment_id).update(state=Assignment.State.WITHDRAWN)
            else:
                actions.cancel_run(run=Run.objects.get(pk=run.pk))

        monkeypatch.setattr(annotating, "record_and_submit", writes)
        assert work(run) == 2  # the first and the third
        assert counted == [5]
        assert states(run) == {"done": 2, "queued": 2}
        assert {row for row, *_of in said(run)} == {"Clause 1", "Clause 3"}

    def test_a_row_that_cannot_be_scored_fails_alone(self, study: Study, tmp_path: Path, counted: list[int]) -> None:
        sheet = study.sheets.get()
        annotating.add_row(sheet=sheet, name="Long", evidence=[Block("paragraph", "rent " * 200)])
        run = started(study, helpers.cloze_judge(helpers.save_tiny_model(tmp_path)))
        work(run)
        assert counted == [6]
        assert states(run) == {"done": 5, "failed": 1}
        assert "over the model's context" in run.items.get(state="failed").error

    def test_a_limit_takes_one_row_after_the_other(self, study: Study, tmp_path: Path, counted: list[int]) -> None:
        judge = helpers.cloze_judge(helpers.save_tiny_model(tmp_path))
        work(started(study, judge, most_tokens=10_000_000))
        assert counted == [1] * 5

    def sums(self, run: Run) -> list[float]:
        """Of each option, in a fixed order."""
        labels = Label.objects.filter(assignment__rater=run.rater, scores__isnull=False)
        in_order = labels.order_by("assignment__row", "column", "question").values_list("scores", flat=True)
        return [of["logprob"] for scores in in_order for of in scores["options"].values()]
