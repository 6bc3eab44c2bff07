"""Servers that mean no good, or are broken: slow without end, endless, out of step with themselves, talkative."""

from __future__ import annotations

import gc
import itertools
import json
import logging
import socket
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from judges import actions
from judges.models import Run, UnreadableAnswer
from llm.backends.base import Backend, BackendError
from llm.backends.openai import OpenAIBackend
from llm.backends.openai_answers import logprob_of, read_too_long
from llm.backends.openai_wire import Closed, Wire
from llm.backends.secrets import HIDDEN, Secret
from llm.engine.prompt import CellPrompt, RowPrompt, Sampling, Tokens
from tests.builders import ClientOf, Leases
from tests.judges import helpers
from tests.judges.helpers import fresh, items, labels_of, states, work
from tests.judges.serving import Running
from work.actions import holding

pytestmark = [pytest.mark.usefixtures("servers_forgotten"), pytest.mark.once]

KEY = "sk-a-key-that-nobody-may-see"
ROW = RowPrompt("Page: salt, flour\n", (CellPrompt("Item: salt\nAnswer:", ("Yes", "No")),))


# --- the same tokens, other numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["prompt_logprobs", "echo"])
def test_a_server_whose_numbers_depend_on_the_order_is_refused_with_what_to_set(server: Running, form: str) -> None:
    server.tell(forms=[form], apart=0.6)
    with pytest.raises(BackendError, match=r"0\.6 nat apart.*--no-enable-prefix-caching.*TOLERANCE") as caught:
        server.backend().score([ROW])
    assert caught.value.permanent


def test_rounding_is_no_fault_and_the_installation_says_what_is(server: Running) -> None:
    server.tell(apart=0.0009)
    assert server.backend().score([ROW])
    server.tell(apart=0.02)
    assert server.backend(tolerance_nats=0.05).score([ROW])


def test_a_run_on_such_a_server_fails_before_it_has_a_label(leases: Leases, server: Running, settings: Any) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    server.tell(apart=0.6)
    run = actions.start_run(study=leases.study, judge=helpers.served_judge(server.address), by=None)
    work(run)
    assert fresh(run).state == Run.State.FAILED
    assert "--no-enable-prefix-caching" in fresh(run).error
    assert labels_of(run.rater) == {}
    assert states(run) == {"queued": 2}


# --- slow without end, and endless ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["drip", "drip in the headers"])
def test_a_server_that_drips_is_left_in_time(server: Running, how: str) -> None:
    backend = server.backend(total_s=0.6)
    backend.identity()
    server.tell(failures=[how] * 4)
    beats: list[float] = []
    began = time.monotonic()
    with pytest.raises(BackendError, match=r"not finished its answer after 0\.6 s.*PALATE_SERVER_SECONDS") as caught:
        backend.score([ROW], lambda *_: beats.append(time.monotonic()))
    assert time.monotonic() - began < 5
    assert not caught.value.permanent  # tried again a few times by the machine, and then the row fails
    time.sleep(0.5)
    poured = server.poured()
    time.sleep(0.5)
    assert server.poured() == poured  # the connections were closed: nobody is served any more


def test_what_is_under_way_is_stopped_when_a_run_is_cancelled(server: Running) -> None:
    backend = server.backend()
    backend.identity()
    server.tell(failures=["drip"] * 4)

    def cancel(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backend.score([ROW], cancel)
    time.sleep(0.5)
    poured = server.poured()
    time.sleep(0.4)
    assert server.poured() == poured


def cancelled_at_beat(n: int, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody cancels the run while a worker waits, before it looks for the nth time."""
    beats = itertools.count(1)
    beat = holding.Held.beat

    def look(held: Any, *progress: object) -> None:
        if next(beats) == n:
            actions.cancel_run(run=run)
            held._renewed = 0.0
        beat(held, *progress)

    monkeypatch.setattr(holding.Held, "beat", look)


def stopped(server: Running) -> bool:
    time.sleep(0.5)
    poured = server.poured()
    time.sleep(0.4)
    return server.poured() == poured > 0


@pytest.mark.parametrize("before", [0, 1, 3])
@pytest.mark.sample(1)
def test_a_run_is_cancelled_while_a_server_drips_what_it_is(
    leases: Leases, server: Running, settings: Any, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    server.tell(failures=[*[""] * before, "drip"], next_tokens=["logprob_token_ids"])  # of /models, /tokenize, a probe
    run = actions.start_run(study=leases.study, judge=helpers.served_judge(server.address), by=None)
    cancelled_at_beat(2, run, monkeypatch)
    began = time.monotonic()
    assert work(run) == 0
    assert time.monotonic() - began < 10
    assert fresh(run).state == Run.State.CANCELLED
    assert states(run) == {"queued": 2}
    assert stopped(server)


def test_a_run_is_cancelled_in_its_middle_and_a_server_is_asked_once_what_it_is(
    leases: Leases, server: Running, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    run = actions.start_run(study=leases.study, judge=helpers.served_judge(server.address), by=None)
    first, second = items(run)
    assert actions.score_items(item_ids=[first.pk]) == 1
    assert [one["path"] for one in server.seen()].count("/v1/models") == 1
    server.tell(failures=["drip"] * 4)
    cancelled_at_beat(2, run, monkeypatch)
    assert actions.score_items(item_ids=[second.pk]) == 0
    assert states(run) == {"done": 1, "queued": 1}
    assert stopped(server)
    assert "/v1/models" not in [one["path"] for one in server.seen()]


def test_the_binding_of_answers_is_asked_once_too(
    leases: Leases, server: Running, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    server.tell(failures=["", "drip"])  # behind the list of models
    judge = actions.create_judge(
        name="bound", method="rating", backend="openai", location=server.address, served_name="chat",
        prompt_text=f"{helpers.RATING}grammar: true\n", temperature=0.5, max_new_tokens=8,
    )  # fmt: skip
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    cancelled_at_beat(3, run, monkeypatch)
    assert work(run) == 0
    assert fresh(run).state == Run.State.CANCELLED
    assert stopped(server)


def test_what_is_stopped_while_it_connects_leaves_no_task_half_begun() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://localhost:{listening.getsockname()[1]}/"
        for round_ in range(60):
            wire = Wire({}, silence_s=5, total_s=5, max_bytes=1000, connections=8)
            with ThreadPoolExecutor(6) as threads:
                asked = [threads.submit(wire.fetch, "GET", url, None) for _ in range(6)]
                time.sleep(0.004 + 0.0003 * round_)
                wire.close()
            assert {type(one.exception(timeout=5)) for one in asked} <= {Closed, httpx.ConnectError}
    gc.collect()  # a coroutine that nobody awaited is told of here, and fails the test


def test_a_body_without_end_is_not_read(server: Running) -> None:
    """400 MB are offered; what is held stays near the limit."""
    backend = server.backend("chat", max_bytes=2**20, scores=False, concurrency=1)
    server.tell(failures=["flood"])
    tracemalloc.start()
    try:
        with pytest.raises(BackendError, match="more than 1 MiB in one answer.*PALATE_SERVER_MAX_BYTES") as caught:
            backend.generate(["Rate it."], Sampling(8))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not caught.value.permanent
    assert peak < 8 * 2**20
    assert server.poured() < 40  # of 400 parts of 1 MB; some lie in the buffers between the two


# --- the key ----------------------------------------------------------------------------------------------------------


@pytest.mark.once
@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"with {KEY} and {KEY}.", f"with {HIDDEN} and {HIDDEN}."),
        (
            {"a": [KEY, {"b": f"x{KEY}"}], "n": 1.5, "t": None},
            {"a": [HIDDEN, {"b": f"x{HIDDEN}"}], "n": 1.5, "t": None},
        ),
        ({f"id {KEY}": {KEY: 1}}, {f"id {HIDDEN}": {HIDDEN: 1}}),
        (f"cut by the server in {KEY[:14]}", f"cut by the server in {HIDDEN}"),
        (f"{KEY[6:]} is the end of it", f"{HIDDEN} is the end of it"),
        ("sk-a is no secret", "sk-a is no secret"),
        ("", ""),
    ],
)
def test_a_key_is_taken_out(said: Any, left: Any) -> None:
    assert Secret(KEY).out_of(said) == left
    assert Secret("").out_of(said) == said


@pytest.mark.once
def test_a_key_that_is_a_word_changes_no_label() -> None:
    assert Secret("none").out_of_answer({"content": "none"}) == {"content": "none"}
    assert Secret("none").out_of("none is no key") == f"{HIDDEN} is no key"
    assert Secret(KEY).out_of_answer({"content": KEY}) == {"content": HIDDEN}
    assert Secret("token").out_of_answer({"usage": {"prompt_tokens": 3}}) == {"usage": {"prompt_tokens": 3}}


@pytest.mark.once
def test_a_short_key_stays_in_what_a_model_wrote_alone() -> None:
    key = "s3cret-key"
    answer = {
        "id": key,
        key: [key],
        "choices": [
            {"finish_reason": key, "message": {"role": key, "content": f"HARMONY: {key}"}, "text": key},
            {"logprobs": {"tokens": [key], "top_logprobs": [{key: -1.0}]}, "prompt_logprobs": [{"1": {"rank": key}}]},
        ],
    }
    left = Secret(key).out_of_answer(answer)
    assert left == {
        "id": HIDDEN,
        HIDDEN: [HIDDEN],
        "choices": [
            {"finish_reason": HIDDEN, "message": {"role": HIDDEN, "content": f"HARMONY: {key}"}, "text": key},
            answer["choices"][1],
        ],
    }


@pytest.mark.once
def test_a_key_is_taken_out_as_others_write_it() -> None:
    key = "a+b/c&d=12345"
    for written in ("a%2Bb/c%26d%3D12345", "a%2Bb%2Fc%26d%3D12345", "a+b/c&amp;d=12345"):
        assert Secret(key).out_of(f"no {written} here") == f"no {HIDDEN} here"


def keyed(server: Running, monkeypatch: pytest.MonkeyPatch, model: str = "chat", **settings: Any) -> OpenAIBackend:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    return server.backend(model, api_key_env="LAB_API_KEY", max_retries=0, **settings)


def hidden(text: str) -> bool:
    return not any(KEY[at : at + 8] in text for at in range(len(KEY) - 8))


def test_what_a_server_says_holds_no_part_of_the_key(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    server.tell(repeats_key=True)
    identity = keyed(server, monkeypatch, scores=False).identity()
    assert hidden(json.dumps(identity))
    assert identity["served_model"] == HIDDEN
    (answer,) = keyed(server, monkeypatch).generate(["Rate it."], Sampling(8))
    assert getattr(answer, "text", "") == f"HARMONY: 4 {HIDDEN}"
    assert hidden(getattr(answer, "reason", KEY))
    with pytest.raises(BackendError, match="It offers: bytes, chat") as offered:
        keyed(server, monkeypatch, "gpt").identity()
    assert hidden(str(offered.value))
    for status in ("400", "401", "500"):
        server.tell(repeats_key=True, failures=[status])
        with pytest.raises(BackendError, match="x{200}") as caught:
            keyed(server, monkeypatch).generate(["Rate it."], Sampling(8))
        assert hidden(str(caught.value))


def test_a_short_key_is_in_no_record_and_no_refusal(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    short = "s3cret-key"
    monkeypatch.setenv("LAB_API_KEY", short)
    server.tell(repeats_key=True)

    def asking(model: str, **settings: Any) -> OpenAIBackend:
        return server.backend(model, api_key_env="LAB_API_KEY", max_retries=0, **settings)

    assert asking("chat", scores=False).identity()["served_model"] == HIDDEN
    with pytest.raises(BackendError, match=f"merging {HIDDEN}") as offered:  # the server puts the key into a name
        asking("gpt").identity()
    assert short not in str(offered.value)
    (answer,) = asking("chat").generate(["Rate it."], Sampling(8))
    assert getattr(answer, "text", "") == f"HARMONY: 4 {short}"  # it may be a word of an answer
    assert getattr(answer, "reason", short) == f"stop {HIDDEN}"


def test_a_key_may_be_a_part_of_the_models_name(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "chat")
    backend = server.backend("chat", api_key_env="LAB_API_KEY", scores=False)
    assert backend.identity()["served_model"] == f"weights/{HIDDEN}"


def test_the_key_reaches_no_record_page_or_log_of_a_run(
    leases: Leases,
    server: Running,
    client_of: ClientOf,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    settings: Any,
) -> None:
    caplog.set_level(logging.DEBUG)
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    monkeypatch.setenv("LAB_API_KEY", KEY)
    server.tell(repeats_key=True)
    judge = actions.create_judge(
        name="talks", method="rating", backend="openai", location=server.address, served_name="chat",
        api_key_env="LAB_API_KEY", prompt_text=helpers.RATING, temperature=0.5, max_new_tokens=8,
    )  # fmt: skip
    run = actions.start_run(study=leases.study, judge=judge, by=None)
    assert work(run) == 2
    raws = list(UnreadableAnswer.objects.values_list("raw", flat=True))
    assert raws
    page = client_of(leases.manager).get(f"/studies/{leases.study.slug}/judges/runs/{run.pk}/").content.decode()
    assert HIDDEN in page
    for text in (json.dumps(fresh(run).provenance), *raws, page, caplog.text):
        assert hidden(text)


# --- what is counted --------------------------------------------------------------------------------------------------


def test_what_is_read_and_what_is_written_are_counted_apart(server: Running) -> None:
    told: list[int] = []
    backend: Backend = server.backend("chat", scores=False)
    (answer,) = backend.generate(["Rate it."], Sampling(8), lambda tokens, _done: told.append(tokens))
    last = told[-1]
    assert isinstance(last, Tokens)
    assert last == last.read + last.written
    # The answer, and the one that is asked with a little more to see whether prompts are cut.
    assert last.written == 8 * 2
    assert getattr(answer, "tokens", None) == 8


NONSENSE = [-1, 10**12, True, "8", 1.5, None]


@pytest.mark.parametrize("count", NONSENSE)
def test_a_count_that_can_be_none_is_as_if_not_told(server: Running, count: Any) -> None:
    server.tell(counts={"completion_tokens": count, "total_tokens": count})
    told: list[int] = []
    (answer,) = server.backend("chat", scores=False).generate(["Rate it."], Sampling(8), lambda n, _: told.append(n))
    assert getattr(answer, "tokens", 0) is None
    last = told[-1]
    assert isinstance(last, Tokens)
    assert 0 < last.written <= 2 * 8  # by its letters: a limit would never be reached otherwise
    assert 0 < last.read < 1000
    server.tell(counts={"prompt_tokens": count})  # which tells whether a prompt was read whole
    with pytest.raises(BackendError, match="no usable “prompt_tokens”"):
        server.backend("chat", scores=False).generate(["Rate it."], Sampling(8))


def test_what_a_server_counts_fails_no_row(leases: Leases, server: Running, settings: Any) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    judge = actions.create_judge(
        name="counts", method="rating", backend="openai", location=server.address, served_name="chat",
        prompt_text=helpers.RATING, temperature=0.5, max_new_tokens=8,
    )  # fmt: skip
    for study, count in ((leases.study, -1), (helpers.study_of_leases(slug="other"), 10**12)):
        server.tell(counts={"completion_tokens": count})
        run = actions.start_run(study=study, judge=judge, by=None)
        work(run)
        assert set(states(run)) == {"done"}
        assert all(0 < n < 100 for n in run.items.values_list("written", flat=True))


@pytest.mark.once
@pytest.mark.parametrize("value", [10**400, -(10**400), -1e308, float("nan"), 0.5])
def test_what_is_no_log_probability_is_refused(value: float) -> None:
    with pytest.raises(BackendError, match="as a log-probability"):
        logprob_of(value)


@pytest.mark.once
def test_a_context_that_is_no_number_is_not_compared() -> None:
    assert str(read_too_long("The prompt is too long.", {"n_ctx": "x", "n_prompt_tokens": 7})).startswith(
        "The evidence is over the model's context."
    )
