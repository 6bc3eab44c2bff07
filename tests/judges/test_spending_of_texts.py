"""What extraction runs and runs that write texts take and cost: estimated before, counted after, limited."""

from __future__ import annotations

import io
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.actions import Refused
from annotation.models import Study
from judges import actions
from judges.extraction import extracting
from judges.extraction.estimating import estimate
from judges.generating import actions as generating
from judges.generating import queries
from judges.models import ExtractionRun, Extractor, GenerationRun
from judges.spending import queries as spending
from llm import actions as llm
from llm.models import LanguageModel
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases
from tests.judges import extractors, generations
from tests.judges.helpers import CountingBackend, ScriptedBackend
from work import actions as machine
from work.states import RunState

pytestmark = pytest.mark.once


class Alike(ScriptedBackend):
    """Counts all tokens alike, as an own worker does, and those of each answer."""

    def generate(self, prompts: Any, sampling: Any, on_progress: Any = None, *, seeds: Any = None) -> Any:
        answers = super().generate(prompts, sampling, seeds=seeds)
        on_progress(100 * len(prompts), len(prompts))
        return [replace(answer, tokens=7) for answer in answers]


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> CountingBackend:
    backend = CountingBackend(extractors.RENT)
    monkeypatch.setattr(extracting, "backend_of", lambda _extractor: backend)
    monkeypatch.setattr(llm, "backend_of", lambda _generation: backend)
    return backend


@pytest.fixture
def manager(leases: Leases, client_of: ClientOf) -> Client:
    return client_of(leases.manager)


def priced_extractor(**options: Any) -> Extractor:
    return actions.create_extractor(
        name="writer", location="/models/writer", device="cuda", prompt_text=extractors.PROMPT, chat_template=True,
        price_read=Decimal(2), price_written=Decimal(10), **options,
    )  # fmt: skip


def priced_model() -> LanguageModel:
    return llm.store_model(location="/models/writer", device="cuda", price_read=Decimal(2), price_written=Decimal(10))


def work(run: ExtractionRun | GenerationRun) -> None:
    while machine.take_up(run):
        pass
    run.refresh_from_db()


def texts(study: Study, *, together: bool = False, **limits: Any) -> GenerationRun:
    wanted = replace(generations.wanted(), together=together)
    (run,) = generating.start(study=study, models=[priced_model()], wanted=wanted, by=None, enqueue=False, **limits)
    return run


# --- extraction -------------------------------------------------------------------------------------------------------


def test_an_extraction_counts_what_it_spends_by_the_prices_of_its_start(
    leases: Leases, counting: CountingBackend
) -> None:
    run = actions.start_extraction(study=leases.study, extractor=priced_extractor(), by=None, enqueue=False)
    LanguageModel.objects.update(price_read=Decimal(1000))
    counting.failing = 1
    work(run)
    n = run.items.count()
    used = spending.spent(run)
    # All documents were asked about together in vain, then each by itself.
    assert (used.read, used.written) == (2 * n * 90, 2 * n * 10)
    assert used.cost == (2 * Decimal(used.read) + 10 * Decimal(used.written)) / 1_000_000
    assert run.state == RunState.FINISHED


def test_documents_of_one_call_share_its_tokens(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Alike(extractors.RENT)
    monkeypatch.setattr(extracting, "backend_of", lambda _extractor: backend)
    run = actions.start_extraction(study=leases.study, extractor=priced_extractor(), by=None, enqueue=False)
    work(run)
    assert {(item.tokens, item.written) for item in run.items.all()} == {(100, 7)}
    written = texts(generations.dishes())
    written.items.update(tokens=50, written=5)
    told = Client().get("/metrics").content.decode()
    assert f'palate_tokens_total{{work="extracting"}} {100.0 * run.items.count()}' in told
    assert written.items.exists()
    assert f'palate_tokens_total{{work="generating"}} {50.0 * written.items.count()}' in told


@pytest.mark.parametrize("limit", [{"most_tokens": 100}, {"most_cost": Decimal("0.0002")}])
def test_an_extraction_pauses_at_its_limit_and_goes_on_with_a_higher_one(
    leases: Leases, counting: CountingBackend, manager: Client, limit: dict[str, Any]
) -> None:
    by = priced_extractor()
    at = f"/studies/{leases.study.slug}/judges/extractors/{by.pk}"
    assert (
        "A limit is a number over 0" in manager.post(f"{at}/start/", {"most_tokens": "0"}, follow=True).content.decode()
    )
    assert manager.post(f"{at}/start/", limit).status_code == 302
    run = ExtractionRun.objects.get()
    work(run)
    assert (run.state, run.paused, run.get_state_display()) == (RunState.CANCELLED, True, "paused")
    assert "paused at its limit" in run.error
    assert [item.state for item in run.items.order_by("pk")] == ["done", "queued"]
    page = manager.get(run.get_absolute_url()).content.decode()
    for said in ('name="most_cost"', "paused at its limit", "tokens written", "0.0003 USD", "2 USD read"):
        assert said in page
    with pytest.raises(Refused, match="higher limit"):
        actions.resume_extraction(run=run)
    response = manager.post(f"{run.get_absolute_url()}resume/", {"most_tokens": "9000", "most_cost": "1"})
    assert response.status_code == 302
    run.refresh_from_db()
    assert not run.paused
    work(run)
    assert (run.state, spending.spent(run).tokens) == (RunState.FINISHED, 200)


def test_programs_and_commands_limit_an_extraction(leases: Leases, counting: CountingBackend, api_of: ApiOf) -> None:
    by = priced_extractor()
    at = f"/api/v1/studies/{leases.study.slug}"
    begun = api_of(leases.manager).post(f"{at}/extractors/{by.pk}/start/", {"most_tokens": 100}, format="json")
    assert (begun.status_code, begun.json()["most_tokens"]) == (201, 100)
    run = ExtractionRun.objects.get()
    work(run)
    assert run.paused
    out = io.StringIO()
    with pytest.raises(CommandError, match="higher limit"):
        call_command("extract", leases.study.slug, by.name, stdout=out)
    call_command("extract", leases.study.slug, by.name, "--most-tokens", "9000", stdout=out)
    run.refresh_from_db()
    assert (run.state, run.most_tokens) == (RunState.FINISHED, 9000)


def test_before_an_extraction_its_page_says_what_it_would_take(
    leases: Leases, counting: CountingBackend, manager: Client, api_of: ApiOf
) -> None:
    by = priced_extractor(max_new_tokens=50)
    before = estimate(leases.study, by)
    assert (before.rows, before.cells, before.spent.written, before.measured) == (2, 2, 2 * 50, False)
    letters = sum(len(extracting.asked_of(by, row).prompts["paragraph"]) for row in leases.sheet.rows.all())
    assert before.spent.read == round(letters / 3.5) + 2 * 20
    page = manager.get(f"/studies/{leases.study.slug}/judges/extractors/{by.pk}/").content.decode()
    for said in ("<strong>2</strong> clauses", "At most about", 'name="most_cost"', "2 USD read"):
        assert said in page
    run = actions.start_extraction(study=leases.study, extractor=by, by=None, most_tokens=1, enqueue=False)
    work(run)
    after = estimate(leases.study, by)
    assert (after.rows, after.spent.read, after.spent.written, after.measured) == (1, 90, 10, True)
    told = api_of(leases.manager).get(f"/api/v1/studies/{leases.study.slug}/extractions/{run.pk}/").json()
    assert told["spent"] == {"read": 90, "written": 10, "cost": "0.00028", "currency": "USD"}


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [False, True])
def test_texts_count_what_they_spend(db: None, counting: CountingBackend, together: bool) -> None:
    counting.failing = 1
    run = texts(generations.dishes(), together=together)
    work(run)
    machine.recover()
    run.items.update(not_before=None)
    work(run)
    used = spending.spent(run)
    failed = 4 if together else 1  # all in one call, or the first alone
    assert (used.read, used.written) == ((4 + failed) * 90, (4 + failed) * 10)
    assert used.cost == (2 * Decimal(used.read) + 10 * Decimal(used.written)) / 1_000_000
    assert run.state == RunState.FINISHED


def test_an_own_worker_wrote_what_its_answers_have(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Alike("Boil it.")
    monkeypatch.setattr(llm, "backend_of", lambda _generation: backend)
    for together in (False, True):
        run = texts(generations.dishes(slug=f"dishes-{together}"), together=together)
        work(run)
        assert {(item.tokens, item.written) for item in run.items.all()} == {(100, 7)}


def test_texts_pause_at_their_limit_and_go_on_with_a_higher_one(
    db: None, counting: CountingBackend, client_of: ClientOf
) -> None:
    mara = builders.user("mara")
    study, model = generations.dishes(by=mara), priced_model()
    browser, base = client_of(mara), f"/studies/{study.slug}/texts/"
    form = {
        "models": [model.pk], "own": "type;wording\nLetter;How is $name made?", "per_type": 2, "temperature": 0.7,
        "max_new_tokens": 50, "seed": 1, "answer": "", "together": "on", "most_tokens": 150,
    }  # fmt: skip
    told = browser.post(f"{base}estimate/", form).content.decode()
    letters = 2 * (len("How is Koshari made?") + len("How is Coleslaw made?"))
    estimated = queries.estimate(
        study=study, names=queries.names_of(study), models=[model],
        wanted=generations.wanted(replace(generations.GENERAL, wordings=("How is $name made?",)), longest=50),
    )  # fmt: skip
    assert (estimated.read, estimated.tokens) == (round(letters / 3.5) + 4 * 20, 4 * 50)
    assert "At most about <strong>0.002 USD</strong>" in told
    assert "in USD" in browser.get(f"{base}new/").content.decode()
    address = browser.post(f"{base}new/", form).headers["Location"]
    run = GenerationRun.objects.get()
    work(run)
    assert (run.state, run.paused, run.get_state_display()) == (RunState.CANCELLED, True, "paused")
    assert spending.spent(run).tokens == 200  # the second text was begun under the limit
    page = browser.get(address).content.decode()
    for said in ('name="most_cost"', "paused at its limit of 150 tokens", "tokens read", "0.0006 USD"):
        assert said in page
    with pytest.raises(Refused, match="higher limit"):
        generating.resume(run=run)
    browser.post(f"{address}resume/", {"most_tokens": "9000"})
    run.refresh_from_db()
    work(run)
    assert (run.state, run.paused, run.items.filter(state="done").count()) == (RunState.FINISHED, False, 4)


def test_a_limit_of_money_wants_a_price(db: None, leases: Leases) -> None:
    with pytest.raises(Refused, match="has no price"):
        generating.start(
            study=generations.dishes(), models=[generations.model()], wanted=generations.wanted(), by=None,
            most_cost=Decimal(1),
        )  # fmt: skip
    with pytest.raises(Refused, match="has no price"):
        actions.start_extraction(study=leases.study, extractor=extractors.extractor(), by=None, most_cost=Decimal(1))
    assert not GenerationRun.objects.exists()
    assert not ExtractionRun.objects.exists()
