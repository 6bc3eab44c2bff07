"""What runs take and cost: estimated before, counted after, limited; and judges tried, copied, renamed and put away."""

from __future__ import annotations

import io
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.documentation import address_of
from annotation.models import AuditEvent, Delivery, Label, Role
from judges import actions, doors, estimating, queries, trying
from judges.methods import Method
from judges.methods.needs import fields_of
from judges.models import Extractor, Judge, Run, Trial
from judges.runs import labelling, nearest
from judges.runs.hearing import Overheard
from judges.spending import queries as spending
from judges.templatetags.judging import as_money
from llm import prices
from llm.engine.prompt import CellPrompt, RowPrompt
from llm.models import LanguageModel
from tests import builders
from tests.annotation.receiving import made_hook
from tests.builders import ApiOf, ClientOf, Leases
from tests.judges import helpers
from tests.judges.helpers import CountingBackend, fresh, states, work
from work import actions as machine

pytestmark = pytest.mark.once

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> CountingBackend:
    backend = CountingBackend("STRICTNESS: 3")
    monkeypatch.setattr(labelling, "backend_of", lambda judge: backend)
    return backend


def priced(**options: Any) -> Judge:
    return helpers.rating_judge("nobody/model", price_read=Decimal(2), price_written=Decimal(10), **options)


@pytest.fixture
def author(leases: Leases, client_of: ClientOf) -> Client:
    leases.manager.user_permissions.add(Permission.objects.get(codename="add_judge"))
    return client_of(leases.manager)


# --- tokens and money -------------------------------------------------------------------------------------------------


def test_a_run_counts_what_it_spends_by_the_prices_of_its_start(leases: Leases, counting: CountingBackend) -> None:
    judge = priced()
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    LanguageModel.objects.update(price_read=Decimal(1000))
    assert work(run) == 2
    spent = spending.spent(fresh(run))
    assert (spent.read, spent.written) == (2 * 2 * 90, 2 * 2 * 10)  # rows x cells
    assert spent.cost == Decimal("0.00112")
    assert fresh(run).provenance["prices"]["read"] == "2"


def test_what_a_failed_row_took_is_counted_too(leases: Leases, counting: CountingBackend) -> None:
    counting.failing = 1
    run = actions.start_run(study=leases.study, judge=priced(), by=None)
    work(run)
    assert spending.spent(run).tokens == 400 + 400  # both rows were asked together in vain, then each by itself
    assert states(run) == {"done": 2}


def test_what_a_row_took_that_could_not_be_written_is_counted_too(
    leases: Leases, counting: CountingBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_what: Any) -> None:
        raise Refused("No such option.")

    monkeypatch.setattr("annotation.actions.record_and_submit", refuse)
    run = actions.start_run(study=leases.study, judge=priced(), by=None, most_tokens=10_000)
    assert work(run) == 0
    assert states(run) == {"failed": 2}
    assert (spending.spent(run).read, spending.spent(run).written) == (360, 40)


def test_what_a_row_took_that_was_withdrawn_since_stays_with_the_run(
    leases: Leases, counting: CountingBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_what: Any) -> None:
        raise Refused("No such option.")

    with monkeypatch.context() as patched:
        patched.setattr("annotation.actions.record_and_submit", refuse)
        run = actions.start_run(study=leases.study, judge=priced(), by=None, most_tokens=10_000)
        work(run)
    first = leases.sheet.rows.all()[0]
    annotating.withdraw_row(row=first, reason="gone", by=leases.manager)
    actions.resume_run(run=fresh(run), by=None)
    assert (spending.spent(run).read, spending.spent(run).written) == (360, 40)
    work(run)
    assert states(run) == {"done": 1}
    assert (spending.spent(run).read, spending.spent(run).written) == (540, 60)


def test_what_a_row_takes_that_is_withdrawn_meanwhile_stays_with_the_run(
    leases: Leases, counting: CountingBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = leases.sheet.rows.all()[0]
    answered = counting.generate

    def meanwhile(*asked: Any, **more: Any) -> Any:
        answers = answered(*asked, **more)
        annotating.withdraw_row(row=first, reason="gone", by=leases.manager)
        return answers

    monkeypatch.setattr(counting, "generate", meanwhile)
    run = actions.start_run(study=leases.study, judge=priced(), by=None, most_tokens=10_000)
    assert work(run) == 1
    assert states(run) == {"done": 1}
    assert (spending.spent(run).read, spending.spent(run).written) == (360, 40)


def test_what_one_worker_has_begun_is_finished_where_another_pauses_the_run(
    leases: Leases, counting: CountingBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = actions.start_run(study=leases.study, judge=priced(), by=None, most_tokens=150)
    mine, theirs = run.items.all()

    def another_worker() -> None:
        type(theirs).objects.filter(pk=theirs.pk).update(tokens=200)
        held = machine.claim(actions.JUDGING, theirs.pk)
        assert held is not None
        assert machine.do_held(held) is False  # it finds the limit reached

    answered = counting.generate

    def meanwhile(*asked: Any, **more: Any) -> Any:
        monkeypatch.setattr(counting, "generate", answered)
        another_worker()
        return counting.generate(*asked, **more)

    monkeypatch.setattr(counting, "generate", meanwhile)
    held = machine.claim(actions.JUDGING, mine.pk)
    assert held is not None
    assert machine.do_held(held) is True
    assert (fresh(run).state, fresh(run).paused) == (Run.State.CANCELLED, True)
    assert states(run) == {"done": 1, "queued": 1}
    assert spending.spent(run).tokens == 200 + 200
    assert machine.claim(actions.JUDGING, theirs.pk) is None


@pytest.mark.parametrize("limit", [{"most_tokens": 150}, {"most_cost": Decimal("0.0003")}])
def test_a_run_pauses_at_its_limit_and_goes_on_with_a_higher_one(
    leases: Leases, counting: CountingBackend, author: Client, limit: dict[str, Any]
) -> None:
    run = actions.start_run(study=leases.study, judge=priced(), by=None, **limit)
    assert work(run) == 1
    run = fresh(run)
    assert (run.state, run.paused, run.get_state_display()) == (Run.State.CANCELLED, True, "paused")
    assert "paused at its limit" in run.error
    assert states(run) == {"done": 1, "queued": 1}
    page = author.get(run.get_absolute_url()).content.decode()
    assert 'name="most_cost"' in page
    assert "Resume it with a higher limit." in page
    assert "When this is mended" not in page  # nothing is broken
    with pytest.raises(Refused, match="higher limit"):
        actions.resume_run(run=run)
    response = author.post(f"{run.get_absolute_url()}resume/", {"most_tokens": "9000", "most_cost": "1"})
    assert response.status_code == 302
    assert work(run) == 1
    assert (fresh(run).state, fresh(run).paused) == (Run.State.FINISHED, False)


def limits_on(page: str) -> dict[str, str]:
    """What stands in the fields of a paused run's form."""
    fields = {name: re.search(rf'name="{name}"[^>]* value="([^"]*)"', page) for name in ("most_tokens", "most_cost")}
    return {name: found[1] for name, found in fields.items() if found}


@pytest.mark.parametrize(
    ("limit", "proposed"),
    [
        # A row takes 2 cells x 100 tokens, at 2 x (90 x 2 + 10 x 10) / 1,000,000 = 0.00056.
        ({"most_tokens": 150}, {"most_tokens": "350", "most_cost": ""}),
        ({"most_cost": Decimal("0.0003")}, {"most_tokens": "", "most_cost": "0.0009"}),
        ({"most_tokens": 150, "most_cost": Decimal(7)}, {"most_tokens": "350", "most_cost": "7"}),
    ],
    ids=["tokens", "money", "the other limit stays"],
)
def test_a_paused_run_goes_on_by_resuming_it_as_its_page_proposes(
    leases: Leases, counting: CountingBackend, author: Client, limit: dict[str, Any], proposed: dict[str, str]
) -> None:
    run = actions.start_run(study=leases.study, judge=priced(), by=None, **limit)
    work(run)
    at = run.get_absolute_url()
    page = author.get(at).content.decode()
    assert limits_on(page) == proposed
    assert "The limit that is proposed allows as much again." in page
    author.post(f"{at}resume/", proposed)
    assert not fresh(run).paused
    assert work(run) == 1
    assert fresh(run).state == Run.State.FINISHED


@pytest.mark.parametrize("limit", [{"most_tokens": 150}, {"most_cost": Decimal("0.0003")}])
def test_a_run_goes_on_without_a_limit_whose_field_was_emptied(
    leases: Leases, counting: CountingBackend, author: Client, limit: dict[str, Any]
) -> None:
    run = actions.start_run(study=leases.study, judge=priced(), by=None, **limit)
    work(run)
    # A run that was cancelled has no fields for its limits, and keeps them.
    author.post(f"{run.get_absolute_url()}resume/", {})
    assert fresh(run).paused
    author.post(f"{run.get_absolute_url()}resume/", {"most_tokens": "", "most_cost": ""})
    assert work(run) == 1
    run = fresh(run)
    assert (run.state, run.most_tokens, run.most_cost) == (Run.State.FINISHED, None, None)


def test_a_program_sets_the_limit_and_raises_it(leases: Leases, counting: CountingBackend, api_of: ApiOf) -> None:
    manager, at = api_of(leases.manager), f"/api/v1/studies/{leases.study.slug}"
    judge = priced()
    refused = manager.post(f"{at}/judges/{judge.pk}/start/", {"most_tokens": 0, "most_cost": "x"}, format="json")
    assert (refused.status_code, set(refused.json())) == (400, {"most_tokens", "most_cost"})
    begun = manager.post(f"{at}/judges/{judge.pk}/start/", {"most_cost": "0.0002"}, format="json")
    assert (begun.status_code, begun.json()["most_cost"], begun.json()["most_tokens"]) == (201, "0.0002", None)
    run = Run.objects.get()
    work(run)
    there = f"{at}/runs/{run.pk}/"
    assert manager.get(there).json()["paused"] is True
    assert "higher limit" in manager.post(f"{there}resume/").json()["detail"]
    assert manager.post(f"{there}resume/", {"most_cost": "-1"}, format="json").status_code == 400
    gone_on = manager.post(f"{there}resume/", {"most_cost": "1", "most_tokens": 9000}, format="json")
    assert (gone_on.status_code, gone_on.json()["paused"], gone_on.json()["most_tokens"]) == (200, False, 9000)
    work(run)
    assert fresh(run).state == Run.State.FINISHED


def test_a_command_sets_the_limit_and_raises_it(leases: Leases, counting: CountingBackend) -> None:
    judge = priced()

    def called(*limits: str) -> None:
        call_command("judge", leases.study.slug, judge.name, *limits, stdout=io.StringIO(), stderr=io.StringIO())

    with pytest.raises(CommandError, match="“much” is none"):
        called("--most-cost", "much")
    with pytest.raises(CommandError, match="paused at its limit of 100 tokens"):
        called("--most-tokens", "100")
    with pytest.raises(CommandError, match="higher limit"):
        called()
    called("--most-tokens", "9000")
    run = Run.objects.get()
    assert (run.state, run.most_tokens) == (Run.State.FINISHED, 9000)


def test_a_run_at_work_keeps_its_limits(leases: Leases, counting: CountingBackend) -> None:
    judge = priced()
    run = actions.start_run(study=leases.study, judge=judge, by=None, most_tokens=9000)
    with pytest.raises(CommandError, match="with the limits it has"):
        call_command("judge", leases.study.slug, judge.name, "--most-tokens", "1", stdout=io.StringIO())
    assert fresh(run).most_tokens == 9000


def test_an_estimate_asks_for_the_columns_of_all_its_rows_at_once(leases: Leases, counting: CountingBackend) -> None:
    for n in range(7):
        builders.sheet(leases.study, f"Lease {n}", n_rows=1)
    judge = helpers.cloze_judge("/models/large")
    with CaptureQueriesContext(connection) as asked:
        assert estimating.estimate(leases.study, judge).cells > 0
    assert sum('AS "column"' in query["sql"] for query in asked) == 1


def test_what_a_plan_gave_is_what_is_estimated(leases: Leases, counting: CountingBackend) -> None:
    judge = priced()
    builders.plan_for_judge(leases, judge.name, [leases.sheet.rows.earliest("position").pk])
    assert (estimating.rows_left(leases.study, judge), estimating.rows_left(leases.study, judge, repeats=3)) == (1, 3)
    run = actions.start_run(study=leases.study, judge=judge, by=None, repeats=3)
    assert run.items.count() == 3


def test_a_limit_that_is_none_starts_nothing(leases: Leases, author: Client) -> None:
    free = helpers.rating_judge("nobody/model", name="free")
    with pytest.raises(Refused, match="has no price"):
        actions.start_run(study=leases.study, judge=free, by=None, most_cost=Decimal(1))
    start = f"/studies/{leases.study.slug}/judges/{free.pk}/start/"
    assert "A limit is a number over 0" in author.post(start, {"most_tokens": "0"}, follow=True).content.decode()
    assert not Run.objects.exists()


def test_before_a_run_its_page_says_what_it_would_take(
    leases: Leases, counting: CountingBackend, author: Client
) -> None:
    judge = priced(max_new_tokens=50)
    before = estimating.estimate(leases.study, judge)
    assert (before.rows, before.cells, before.spent.written) == (2, 4, 2 * 4 * 50)
    assert not before.measured
    assert 50 < before.spent.read < 2000  # four prompts of one row of evidence and a form
    assert before.cost == before.spent.cost is not None
    page = author.get(f"/studies/{leases.study.slug}/judges/{judge.pk}/").content.decode()
    assert "At most about" in page
    assert 'name="most_cost"' in page
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    actions.score_items(item_ids=[run.items.earliest("pk").pk])
    after = estimating.estimate(leases.study, judge)
    assert (after.rows, after.spent.read, after.spent.written, after.measured) == (1, 180, 20, True)


def test_the_last_trial_of_such_a_judge_says_its_pace(
    leases: Leases, counting: CountingBackend, author: Client
) -> None:
    judge = priced(max_new_tokens=50)
    at = f"/studies/{leases.study.slug}/judges/new/try/"
    row = leases.sheet.rows.earliest("position")
    asked = {"method": "rating", "model": str(judge.model_id), "prompt_text": judge.prompt.text, "temperature": "0.7",
             "max_new_tokens": "50", "try-row": str(row.pk)}  # fmt: skip
    author.post(at, asked, **HTMX)
    trial = Trial.objects.get()
    machine.take_up(trial)
    found = estimating.estimate(leases.study, judge)
    assert found.measured
    assert found.seconds is not None
    # A cell by itself is no pace of a run, which asks twelve rows in one call.
    assert (
        "of one worker at the pace of the cell that was tried by itself"
        in author.get(f"/studies/{leases.study.slug}/judges/{judge.pk}/").content.decode()
    )
    assert found.spent.read == estimating.estimate(leases.study, judge, trial=trial.items.get().found).spent.read
    other = priced(name="other", max_new_tokens=51)
    assert not estimating.estimate(leases.study, other).measured


def test_a_plain_answer_may_be_asked_for_twice(leases: Leases, counting: CountingBackend) -> None:
    plain, chat = priced(max_new_tokens=50), priced(name="chats", max_new_tokens=50, chat_template=True)
    assert estimating.estimate(leases.study, plain).spent.written == 2 * 4 * 50
    assert estimating.estimate(leases.study, chat).spent.written == 4 * 50


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ("0", "0.00"),
        ("1.234", "1.23"),
        ("0.01", "0.01"),
        ("0.00042", "0.0004"),
        ("1.999", "2.00"),
        ("0.00096", "0.0010"),
    ],
)
def test_a_small_cost_is_not_rounded_to_nothing_and_none_is_cut_off(cost: str, said: str) -> None:
    assert as_money(Decimal(cost)) == said


def test_a_judge_that_always_says_the_same_is_told(leases: Leases, author: Client) -> None:
    for n in range(3, 40):
        builders.row(leases.sheet, f"Clause {n}")
    text = "questions: {duties.stated: {lexical: {in: [paragraph], same: absent, part: absent, none: absent}}}"
    judge = actions.create_judge(name="no", method=Judge.Method.LEXICAL, prompt_text=text)
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    work(run)
    (found,) = queries.answered(run)
    assert (found.options, found.is_constant) == ([("Not stated", found.n)], True)
    page = author.get(run.get_absolute_url()).content.decode()
    assert f"it gave the same answer in all {found.n} cells" in page
    both = actions.start_run(study=leases.study, judge=helpers.lexical_judge(), by=None)
    work(both)
    assert not any(one.is_constant for one in queries.answered(both) if len(one.options) > 1)
    assert sum(one.n for one in queries.answered(both)) == sum(item.cells for item in both.items.all())


def test_labels_that_follow_from_columns_are_counted_apart(leases: Leases, client_of: ClientOf) -> None:
    study = helpers.study_of_leases(n_rows=3, slug="presets")
    text = "questions: {acts.act: {lexical: {in: [paragraph], same: found, part: found, none: found}}}"
    judge = actions.create_judge(name="yes", method=Judge.Method.LEXICAL, prompt_text=text)
    run = actions.start_run(study=study, judge=judge, by=None)
    work(run)
    every = Label.objects.filter(assignment__rater=run.rater).count()
    assert queries.n_presets(run) == 3
    assert sum(one.n for one in queries.answered(run)) == every - 3
    page = client_of(study.memberships.filter(role="manager").get().user).get(run.get_absolute_url()).content.decode()
    assert "3 more labels follow from their columns" in page


def test_lines_are_chosen_by_no_encoder_where_only_their_length_matters(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of a judge is drawn by a web process, which would load and keep it."""
    monkeypatch.setattr("llm.encoders.encoder", lambda _name: pytest.fail("an encoder was asked"))
    prompt = "row: 'A lease.'\nquestions: {duties.stated: {cell: '$nearest_paragraph Duty: $about Answer:'}}"
    judge = helpers.cloze_judge("nobody/model", prompt_text=prompt)
    found = estimating.estimate(leases.study, judge)
    line = len("The tenant pays the rent monthly and gives notice in writing.")
    assert found.spent.read > found.rows * line / prices.LETTERS_A_TOKEN


def test_what_cells_begin_with_alike_is_counted_once() -> None:
    heard, evidence = Overheard(), "- Fold the dough.\n" * 50
    cells = tuple(CellPrompt(f"{evidence}Task: {task}\nAnswer:", ("Yes", "No")) for task in ("fold", "boil", "bake"))
    heard.rows = [RowPrompt("A recipe.\n", cells)]
    assert len(evidence) < heard.letters(shares=True) < len(evidence) + 150
    assert heard.letters(shares=False) > 6 * len(evidence)


def test_the_prompt_without_evidence_is_counted_once_too() -> None:
    """It was counted with each cell, so that twice as much was said as was read."""
    without = "Is this task in the recipe, yes or no? Answer:"
    cells = tuple(CellPrompt(f"Task: {task}\nAnswer:", ("Yes", "No"), without) for task in ("fold", "boil", "bake"))
    heard = Overheard()
    heard.rows = [RowPrompt("", cells)]
    assert len(without) < heard.letters(shares=True) < len(without) + 50
    assert heard.letters(shares=False) > 6 * len(without)


def test_what_a_chat_template_adds_is_counted(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run by SmolLM2, a judge of the demo read a tenth more than was said."""
    judge = helpers.rating_judge("nobody/model", chat_template=True)
    found = estimating.estimate(leases.study, judge)
    monkeypatch.setattr(prices, "TOKENS_A_CHAT", 0)
    assert found.spent.read - estimating.estimate(leases.study, judge).spent.read == 20 * found.cells


# --- a form by the method ---------------------------------------------------------------------------------------------


@pytest.mark.once
def test_every_method_says_what_it_needs() -> None:
    assert {method.value: bool(fields_of(method)) for method in Method} == {
        "cloze": True, "rating": True, "writing": True, "lexical": False, "embedding": False, "stacker": False
    }  # fmt: skip
    assert "temperature" in fields_of("writing")
    assert "temperature" not in fields_of("cloze")
    assert fields_of("lexical") == frozenset()


def test_the_form_shows_what_the_method_and_the_backend_take(leases: Leases, author: Client) -> None:
    at = f"/studies/{leases.study.slug}/judges/new/"

    def shown(**chosen: str) -> str:
        return author.get(at, {"name": "typed", **chosen}, **HTMX).content.decode()

    lexical, rating, served = shown(method="lexical"), shown(method="rating"), shown(method="cloze", backend="openai")
    assert 'name="model"' not in lexical
    assert 'name="temperature"' in rating
    assert 'name="normalisation"' not in rating
    assert 'name="normalisation"' in served
    assert 'name="served_name"' in served
    assert 'name="gguf_file"' not in served
    assert all('value="typed"' in page and "<html" not in page for page in (lexical, rating, served))
    assert 'name="normalisation"' in shown(method="no-such-method")


def test_a_prompt_is_read_copied_and_edited(leases: Leases, author: Client) -> None:
    judge = helpers.lexical_judge()
    at = f"/studies/{leases.study.slug}/judges/new/"
    assert 'data-insert="$evidence_paragraph"' in author.get(at).content.decode()
    chosen = {"begin_with": f"stored:{judge.prompt_id}", "method": "lexical"}
    begun = author.get(f"{at}prompt/", chosen, **HTMX).content.decode()
    assert "duties.stated" in begun
    copy = author.get(at, {"copy": str(judge.pk)}).content.decode()
    assert 'value="words-copy"' in copy
    assert f'<option value="stored:{judge.prompt_id}" selected>' in copy
    edited = helpers.LEXICAL.replace("none: absent", "none: implied", 1)
    author.post(at, {"name": "words-copy", "method": "lexical", "prompt_text": edited})
    assert Judge.objects.get(name="words-copy").prompt.text == edited
    assert Judge.objects.get(name="words").prompt.text == helpers.LEXICAL


# --- tried on one cell ------------------------------------------------------------------------------------------------


def test_a_judge_without_a_model_is_tried_at_once_and_leaves_nothing(leases: Leases, author: Client) -> None:
    row = leases.sheet.rows.earliest("position")
    asked = {"name": "", "method": "lexical", "prompt_text": helpers.LEXICAL, "try-row": str(row.pk)}
    page = author.post(f"/studies/{leases.study.slug}/judges/new/try/", asked, **HTMX).content.decode()
    assert estimating.estimate(leases.study, helpers.lexical_judge()).seconds is not None  # the trial's pace
    Judge.objects.all().delete()
    assert "It answers <strong>Implied</strong>." in page
    assert "clauses to label" in page
    assert not Label.objects.filter(assignment__rater__kind="judge").exists()
    assert not Judge.objects.exists()
    assert Trial.objects.count() == 1


def test_a_judge_with_a_model_is_tried_by_a_worker(
    leases: Leases, author: Client, tmp_path: Path, model_forgotten: None
) -> None:
    row = leases.sheet.rows.earliest("position")
    column = leases.sheet.columns.get(name="Insure")
    asked = {
        "method": "cloze", "location": helpers.save_tiny_model(tmp_path), "backend": "transformers",
        "normalisation": "pmi", "prompt_text": helpers.CLOZE, "price_read": "5",
        "try-row": str(row.pk), "try-cell": f"{column.pk}:stated",
    }  # fmt: skip
    at = f"/studies/{leases.study.slug}/judges/new/try/"
    assert "It waits for a worker." in author.post(at, asked, **HTMX).content.decode()
    trial = Trial.objects.get()
    assert machine.take_up(trial)
    page = author.get(trial.get_absolute_url(), **HTMX).content.decode()
    for said in (
        "It answers",
        "Duty: Insure",
        "Not stated",
        "Log-probability",
        "tokens read",
        "At most about",
        "USD",
        "of one worker at the pace of the cell that was tried by itself.",
    ):
        assert said in page
    found = trial.items.get().found
    assert sum(option["share"] for option in found["options"]) == pytest.approx(1)
    assert found["read"] > 0
    assert not LanguageModel.objects.exists()


def test_a_trial_that_cannot_work_says_why(leases: Leases, author: Client) -> None:
    row = leases.sheet.rows.earliest("position")
    at = f"/studies/{leases.study.slug}/judges/new/try/"
    asked = {"method": "lexical", "prompt_text": "questions: [", "try-row": str(row.pk)}
    assert "not valid YAML" in author.post(at, asked, **HTMX).content.decode()
    column = leases.sheet.columns.get(name="Inspect")
    strict = {**asked, "prompt_text": helpers.LEXICAL, "try-cell": f"{column.pk}:strictness"}
    assert "does not ask about this cell" in author.post(at, strict, **HTMX).content.decode()
    assert not Trial.objects.exists()


def test_a_described_judge_is_the_judge(leases: Leases, tmp_path: Path) -> None:
    model = helpers.rating_judge(str(tmp_path)).model
    said = trying.described(
        {"name": "x", "method": "rating", "model": model, "prompt_text": helpers.RATING, "temperature": 0.5,
         "max_new_tokens": 9, "normalisation": "none", "chat_template": True}
    )  # fmt: skip
    made = trying.judge_of(said)
    assert (made.model, made.temperature, made.max_new_tokens, made.chat_template) == (model, 0.5, 9, True)


# --- renamed and put away ---------------------------------------------------------------------------------------------


def test_a_renamed_judge_keeps_its_labels_under_its_new_code(leases: Leases, author: Client) -> None:
    judge = helpers.lexical_judge()
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    at = f"/studies/{leases.study.slug}/judges/{judge.pk}/rename/"
    assert "is at work" in author.post(at, {"name": "other"}, follow=True).content.decode()
    work(run)
    assert "called “other” now" in author.post(at, {"name": "other"}, follow=True).content.decode()
    assert run.study.raters.get(runs=run).code == "other"
    with pytest.raises(Refused, match="labelled everything already"):
        actions.start_run(study=leases.study, judge=Judge.objects.get(), by=None)
    helpers.lexical_judge("words")
    with pytest.raises(Refused, match="is taken"):
        actions.rename(judge, name="words", study=leases.study)


def test_a_tools_pages_name_nothing_of_another_study(leases: Leases, author: Client) -> None:
    """An extractor and a judge that all studies share: neither a judge of another one, nor its title, is told of."""
    other, judge = builders.study("private"), helpers.lexical_judge()
    other.title = "Private matters"
    other.save()
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    elsewhere = {"study": other, "rater": builders.judge(other, judge.name)}
    Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED, ended_at=run.started_at, **elsewhere)
    builders.rater(other, leases.anna)
    taken = other.raters.people().get().code
    extractor = Extractor.objects.create(name="lists", kind=Extractor.Kind.PARSER, parser="nothing")
    Judge.objects.create(name="confidential", method=judge.method, prompt=judge.prompt, evidence=extractor, study=other)
    at = f"/studies/{leases.study.slug}/judges/"

    refused = author.post(f"{at}{judge.pk}/rename/", {"name": taken}, follow=True).content.decode()
    page = author.get(f"{at}extractors/{extractor.pk}/").content.decode()

    assert "A rater of another study has the code" in refused
    assert "Private matters" not in refused
    assert "confidential" not in page


def test_a_judge_keeps_its_name_where_who_renames_it_manages_nothing(leases: Leases, author: Client) -> None:
    """A manager of one study gave raters of another one other codes, and no log of it said so."""
    other, judge = builders.study("private"), helpers.lexical_judge()
    builders.sheet(other)
    for study in (leases.study, other):
        work(actions.start_run(study=study, judge=judge, by=None))
    at = f"/studies/{leases.study.slug}/judges/{judge.pk}/rename/"

    refused = author.post(at, {"name": "nonsense"}, follow=True).content.decode()
    assert "It has worked in a study that you do not manage" in refused
    assert other.raters.judges().get().code == leases.study.raters.get(runs__judge=judge).code == judge.name
    annotating.add_member(study=other, user=leases.manager, role=Role.MANAGER)
    author.post(at, {"name": "plain"})

    assert other.raters.judges().get().code == "plain"
    said = AuditEvent.objects.filter(kind="admin", what="judge renamed: words → plain", by=leases.manager.pk)
    assert set(said.values_list("study", flat=True)) == {leases.study.pk, other.pk}


def test_an_archived_judge_is_offered_nowhere_and_can_be_taken_back(leases: Leases, author: Client) -> None:
    judge = helpers.lexical_judge()
    at = f"/studies/{leases.study.slug}/judges/"
    author.post(f"{at}{judge.pk}/archive/")
    judge.refresh_from_db()
    assert queries.judges_for(leases.study) == []
    assert "<summary>Archived</summary>" in author.get(at).content.decode()
    with pytest.raises(Refused, match="is archived"):
        actions.start_run(study=leases.study, judge=judge, by=None)
    author.post(f"{at}{judge.pk}/take-back/")
    assert queries.judges_for(leases.study) == [judge]


def test_a_finished_run_leads_to_its_labels_and_a_failed_one_to_the_documentation(
    leases: Leases, author: Client
) -> None:
    run = actions.start_run(study=leases.study, judge=helpers.lexical_judge(), by=None)
    work(run)
    page = author.get(run.get_absolute_url()).content.decode()
    assert f'href="/sheets/{leases.sheet.pk}/lens/"' in page
    assert f'href="/studies/{leases.study.slug}/report/"' in page
    failed = actions.start_run(study=leases.study, judge=helpers.gpu_judge("/no/such/folder"), by=None)
    work(failed)
    assert f'href="{address_of("judges/models")}"' in author.get(failed.get_absolute_url()).content.decode()


# --- a price that somebody changes ------------------------------------------------------------------------------------

PLACE = {"backend": "transformers", "location": "nobody/model", "device": "cpu", "dtype": "auto"}


def noted() -> list[tuple[int | None, str, str]]:
    events = AuditEvent.objects.filter(what__startswith="price").order_by("pk").select_related("study")
    return [(event.by, event.study.slug if event.study else "", event.what) for event in events]


def test_the_audit_log_says_who_changed_the_price_of_a_model(
    leases: Leases, author: Client, client_of: ClientOf
) -> None:
    """By a new judge, a new extractor, a model that shall write, and in the administration."""
    model, study, mara = priced().model, leases.study, leases.manager.pk
    assert model is not None
    at = f"/studies/{study.slug}"
    asked = {**PLACE, "name": "second", "method": "rating", "prompt_text": helpers.RATING, "max_new_tokens": 12}
    author.post(f"{at}/judges/new/", {**asked, "price_read": "3.5", "price_written": "10"})
    assert Judge.objects.get(name="second").model == model
    extractor = {**PLACE, "name": "takes", "prompt_text": doors.suggested_prompt(), "max_new_tokens": 100}
    author.post(f"{at}/judges/extractors/new/", {**extractor, "price_written": "0"})
    assert Extractor.objects.get(name="takes").model == model
    author.post(f"{at}/texts/new-model/", {**PLACE, "price_read": "4"})
    root = builders.user("root", superuser=True)
    client_of(root).post(f"/admin/llm/languagemodel/{model.pk}/change/", {**PLACE, "name": model.name})

    name = f"price of {model.name}:"
    assert noted() == [
        (mara, study.slug, f"{name} 2 read, 10 written (USD) -> 3.5 read, 10 written (USD)"),
        (mara, study.slug, f"{name} 3.5 read, 10 written (USD) -> 3.5 read, 0 written (USD)"),
        (mara, study.slug, f"{name} 3.5 read, 0 written (USD) -> 4 read, 0 written (USD)"),
        (root.pk, "", f"{name} 4 read, 0 written (USD) -> none"),
    ]
    page = author.get(f"{at}/people/log/").content.decode()
    file = b"".join(author.get(f"{at}/people/log/csv/").streaming_content).decode()  # type: ignore[attr-defined]
    for said in (f"{name} 2 read, 10 written (USD) ", f"{name} 3.5 read, 0 written (USD) "):
        assert said in page
        assert f'admin,mara,,leases,"{said}' in file


def test_a_new_model_and_a_price_that_stays_are_not_noted(leases: Leases, author: Client) -> None:
    assert priced().model == priced(name="again").model
    author.post(
        f"/studies/{leases.study.slug}/texts/new-model/", {**PLACE, "location": "another/model", "price_read": 1}
    )
    author.post(f"/studies/{leases.study.slug}/texts/new-model/", PLACE)  # leaves the price as it is
    assert LanguageModel.objects.exclude(price_read=None).count() == 2
    assert noted() == []


def test_a_price_of_a_judge_that_is_not_made_stays_and_is_not_noted(leases: Leases) -> None:
    priced()
    thinks = f"{helpers.RATING}thinking: Think first.\n"
    with pytest.raises(Refused, match="asked to think first"):
        helpers.rating_judge("nobody/model", name="other", price_read=Decimal(5), prompt_text=thinks, by=leases.manager)
    assert LanguageModel.objects.get().price_read == 2
    assert noted() == []


def test_the_webhooks_of_a_study_are_told_that_a_run_pauses(leases: Leases, counting: CountingBackend) -> None:
    made_hook(leases.study, "https://hooks.example", "run.paused", "run.finished")
    run = actions.start_run(study=leases.study, judge=priced(), by=None, most_tokens=150)
    work(run)
    assert fresh(run).paused
    [one] = Delivery.objects.all()
    assert (one.event, one.body["data"]["run"]) == ("run.paused", run.pk)
    actions.resume_run(run=fresh(run), by=None, most_tokens=10_000)
    work(run)
    assert [one.event for one in Delivery.objects.all()] == ["run.finished", "run.paused"]


def test_lines_that_stand_for_the_nearest_differ_from_cell_to_cell() -> None:
    """Where all cells had the same, the engine would read once what it reads for each."""
    assert [nearest._some("abcd", 2, begin=n) for n in range(5)] == [
        ["a", "b"],
        ["b", "c"],
        ["c", "d"],
        ["d", "a"],
        ["a", "b"],
    ]
    assert nearest._some("ab", 3, begin=1) == ["b", "a"]
    assert nearest._some("", 3, begin=1) == []
