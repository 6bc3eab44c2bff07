"""Servers that answer with what no library makes: packed, dense, unstorable, out of step, or with the key disguised."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import logging
import re
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.utils import timezone

from judges import actions
from judges.methods import writing
from judges.models import Judge, Run
from judges.spending import queries as spending
from llm.backends.base import BackendError, Unavailable
from llm.backends.openai import OpenAIBackend
from llm.backends.openai_answers import logprob_of, read_echo, read_too_long, retry_after_s
from llm.backends.secrets import HIDDEN, Secret
from llm.engine.prompt import CellPrompt, Generated, PromptTooLong, RowPrompt, Sampling, Tokens
from tests.builders import Leases
from tests.judges import helpers
from tests.judges.helpers import fresh, items, states, work

pytestmark = [pytest.mark.usefixtures("servers_forgotten"), pytest.mark.once]

KEY = "sk-Zx9QwErTy7uIoP3aSdFgH1jKl"
MIB = 2**20
ROW = RowPrompt("Page: salt, flour\n", (CellPrompt("Item: salt\nAnswer:", ("Yes it is", "No it is", "Perhaps")),))
MODELS = {"data": [{"id": "m", "root": "weights/m", "max_model_len": 4096}]}

# Path and body of a request, and its number, to status, body and further headers.
Says = Callable[[str, dict[str, Any], int], tuple[int, Any, dict[str, str]]]


@contextmanager
def speaking(says: Says, *, reason: str = "OK") -> Iterator[str]:
    """The address of a server that answers so."""
    numbers = iter(range(1, 10_000))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, body, headers = says(self.path, json.loads(sent or b"{}"), next(numbers))
            written = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status, reason)
            for name, value in {"Content-Length": str(len(written)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(written)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Who was left in the middle of an answer."""

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()


def chat(text: Any = "STRICTNESS: 2", **other: Any) -> dict[str, Any]:
    return {
        "choices": [{"finish_reason": "stop", "message": {"content": text}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
        **other,
    }


def longer(body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """With a count of the prompt that grows with it, so that it is known to be read whole."""
    answer["usage"]["prompt_tokens"] = len(json.dumps(body)) // 4
    return answer


def always(answer: Any, headers: dict[str, str] | None = None, *, status: int = 200) -> Says:
    """The same to whatever is asked of the model."""

    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        if path.endswith("/models"):
            return 200, MODELS, {}
        return status, answer, headers or {}

    return says


def backend(address: str, **settings: Any) -> OpenAIBackend:
    asked = {"back_off_s": 0.01, "timeout_s": 20.0, "max_retries": 0, "concurrency": 1, "scores": False, **settings}
    return OpenAIBackend(address, "m", **asked)


def written(address: str, **settings: Any) -> Any:
    (answer,) = backend(address, **settings).generate(["Rate it."], Sampling(8))
    return answer


# --- small on the wire, large when it is read -------------------------------------------------------------------------


def zeros(n: int) -> bytes:
    return gzip.compress(b"\0" * n, 9)


MUCH: dict[str, Callable[[], bytes]] = {  # made where it is sent: each process that collects the tests reads this
    "200 MB of zeros in 200 kB": lambda: zeros(200 * MIB),
    "a million empty objects, which take 70 MB": lambda: b'{"choices": [' + b"{}," * MIB + b"{}]}",
    "as many texts": lambda: b'"ab",' * (800 * 1024),
}


@pytest.mark.parametrize("much", MUCH)
def test_little_that_would_become_much_is_left_at_the_limit(much: str) -> None:
    body = MUCH[much]()
    packed = {"Content-Encoding": "gzip"} if body.startswith(b"\x1f\x8b") else {}
    with speaking(always(body, packed)) as address:
        tracemalloc.start()
        try:
            with pytest.raises(BackendError, match="more than 4 MiB in one answer, or more values.*PALATE_SERVER_MAX"):
                written(address, max_bytes=4 * MIB)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 20 * MIB


def test_what_follows_the_end_of_what_is_packed_is_not_read() -> None:
    body = gzip.compress(json.dumps(chat()).encode()) + b"\0" * (32 * MIB)
    with speaking(always(body, {"Content-Encoding": "gzip"})) as address:
        tracemalloc.start()
        try:
            with pytest.raises(BackendError, match="packed otherwise than by gzip"):
                written(address)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 8 * MIB


@pytest.mark.parametrize("status", [400, 500])
def test_of_a_refusal_little_is_read(status: int) -> None:
    body = json.dumps({"error": {"message": "No such tokens. " + "sk-Zx9QwErTy " * MIB}}).encode()
    with speaking(always(body, status=status)) as address:
        tracemalloc.start()
        try:
            with pytest.raises(BackendError, match="No such tokens"):
                written(address)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 4 * MIB


def test_a_list_of_numbers_without_end_is_left_too() -> None:
    body = b'{"choices": [' + b"1," * (2 * MIB) + b"1]}"
    with speaking(always(body)) as address, pytest.raises(BackendError, match="or more values"):
        written(address, max_bytes=4 * MIB + 64)


@pytest.mark.parametrize("packed", ["br", "gzip, gzip", "deflate", "zstd"])
def test_what_is_packed_otherwise_is_not_unpacked(packed: str) -> None:
    with (
        speaking(always(gzip.compress(zeros(MIB)), {"Content-Encoding": packed})) as address,
        pytest.raises(BackendError, match="packed otherwise than by gzip") as caught,
    ):
        written(address)
    assert not caught.value.permanent


def test_an_answer_may_be_packed() -> None:
    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        answer = MODELS if path.endswith("/models") else longer(body, chat())
        return 200, gzip.compress(json.dumps(answer).encode()), {"Content-Encoding": "gzip"}

    with speaking(says) as address:
        assert written(address).text == "STRICTNESS: 2"


def test_the_densest_log_probabilities_are_read_up_to_the_limit() -> None:
    entries = [None, *({f"{n}": {"logprob": -1, "rank": 1, "decoded_token": "a"}} for n in range(60_000))]
    body = json.dumps({"choices": [{"prompt_logprobs": entries}]}, separators=(",", ":")).encode()
    with speaking(always(body)) as address, pytest.raises(BackendError, match="no usable “message”"):
        written(address, max_bytes=len(body))


def test_a_text_that_nobody_asked_for_at_that_length_is_not_read() -> None:
    with (
        speaking(always(chat("word " * 50_000))) as address,
        pytest.raises(BackendError, match="wrote 250000") as caught,
    ):
        written(address)
    assert not caught.value.permanent
    assert len(str(caught.value)) < 200


def test_names_of_a_server_are_kept_short() -> None:
    told = {"data": [{"id": "m", "root": "r" * 100_000, "max_model_len": [1] * 100_000}]}
    with speaking(lambda *_: (200, told, {})) as address:
        identity = backend(address).identity()
    assert (len(identity["served_model"]), len(identity["context"])) == (300, 300)


@pytest.mark.parametrize("marks", ["\n", "*", "\n ", '"', "1.\n", "reason\n", "**\n"])
def test_marks_without_end_are_read_in_passing(marks: str) -> None:
    """Two minutes for 50 000 empty lines, were they looked through from each of them again."""
    began = time.monotonic()
    text = marks * (50_000 // len(marks))
    assert writing._parts(text, ["strict ness", "why"], opened=False, first=False) == {}
    assert writing._REASON.search(text) is None
    assert time.monotonic() - began < 5


# --- what no database holds, and what is no number --------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 500])
def test_an_error_that_cannot_be_stored_fails_as_any_other(leases: Leases, settings: Any, status: int) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    with speaking(always(b'{"error": "a\\u0000b\\ud800c"}', status=status)) as address:
        run = actions.start_run(study=leases.study, judge=rating(address), by=None)
        assert work(run) == 0
    said = items(run)[0].error
    assert "“abc”" in said
    assert "claimed" not in states(run)


@pytest.mark.parametrize("gap", ["\0", "\x01", "\ud800", "\u200b", "\u00ad", "\n", "\r\n  "])
def test_a_key_is_found_between_what_is_no_text_or_is_not_seen(monkeypatch: pytest.MonkeyPatch, gap: str) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    spaced = gap.join(KEY)

    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        if path.endswith("/models"):
            return 200, {"data": [{"id": "m", "root": spaced, "max_model_len": spaced}]}, {}
        answer = longer(body, chat(f"It is {spaced}"))
        answer["choices"][0]["finish_reason"] = spaced
        return 200, answer, {}

    with speaking(says) as address:
        identity = backend(address, api_key_env="LAB_API_KEY").identity()
        answer = written(address, api_key_env="LAB_API_KEY")
    assert (identity["served_model"], identity["context"]) == (HIDDEN, HIDDEN)
    assert (answer.text, answer.reason) == (f"It is {HIDDEN}", HIDDEN)
    with (
        speaking(always({"error": {"message": f"No {spaced}"}}, status=400)) as address,
        pytest.raises(BackendError, match=f"“No {HIDDEN}”"),
    ):
        written(address, api_key_env="LAB_API_KEY")


@pytest.mark.parametrize("cut", [4, 7, 11])
def test_of_a_key_that_is_broken_no_end_stays(cut: int) -> None:
    broken = f"{KEY[:cut]}\n{KEY[cut:-cut]}\n{KEY[-cut:]}"
    assert Secret(KEY).out_of(f"one\n{broken}\ntwo") == f"one\n{HIDDEN}\ntwo"
    assert Secret(KEY).out_of_answer({"content": f"one\n{broken}\ntwo"}) == {"content": f"one\n{HIDDEN}\ntwo"}


def test_lines_stay_where_a_key_stands_in_one_of_them() -> None:
    assert Secret(KEY).out_of(f"first\nsecond {KEY}\nthird") == f"first\nsecond {HIDDEN}\nthird"
    answer = Secret(KEY).out_of_answer({"content": f"NAME: a\nNOTE: {KEY[:14]}\nEND: b"})
    assert answer == {"content": f"NAME: a\nNOTE: {HIDDEN}\nEND: b"}


@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_key_is_found_in_other_encodings(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    with (
        speaking(always(f"No {KEY} here".encode(form), status=400)) as address,
        pytest.raises(BackendError, match=f"No {HIDDEN} here"),
    ):
        written(address, api_key_env="LAB_API_KEY")


def test_parts_of_a_key_are_found_in_any_case_and_as_others_write_them() -> None:
    packed = base64.b64encode(f"Bearer {KEY}".encode()).decode()
    parts = [KEY[3:17].upper(), KEY[:20].lower(), KEY.encode().hex()[:40], packed[14:34], packed[:30]]
    for part in [*parts, "".join(f"%{ord(one):02X}" for one in KEY[:12])]:
        left = Secret(KEY).out_of(f"no {part}*** here")
        assert HIDDEN in left
        assert len(left) < 30
    for word in ("required", "not-required", "annotation"):
        assert Secret("sk-no-key-required-annotation").out_of_answer({"content": word}) == {"content": word}


@pytest.mark.parametrize("length", [40, 130, 1_700])  # its parts are sought in two ways
@pytest.mark.parametrize("around", ["", "so many words " * 500])
def test_each_part_of_a_key_of_any_length_is_found_in_short_and_long_texts(length: int, around: str) -> None:
    # Mixed by a fixed rule, so that no part stands in it twice.
    key = base64.b64encode(b"".join(hashlib.sha256(bytes([at])).digest() for at in range(52))).decode()[:length]
    secret = Secret(key)
    for at in range(0, length - 12, max(1, length // 40)):
        part = key[at : at + 12]
        assert secret.out_of(f"{around}«{part}»{around}") == f"{around}«{HIDDEN}»{around}"
        assert secret.out_of_answer({"content": f"«{part}»{around}"}) == {"content": f"«{HIDDEN}»{around}"}
        assert secret.out_of_answer({"content": f"{around}«{part[:11]}»"}) == {"content": f"{around}«{part[:11]}»"}


def test_names_and_endings_that_cannot_be_stored_are_stored_without_that() -> None:
    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        if path.endswith("/models"):
            return 200, b'{"data": [{"id": "m", "root": "a\\u0000b\\ud800c"}]}', {}
        answer = longer(body, chat())
        answer["choices"][0]["finish_reason"] = "st\x00op\ud800"
        return 200, answer, {}

    with speaking(says) as address:
        assert backend(address).identity()["served_model"] == "abc"
        assert written(address).reason == "stop"


@pytest.mark.parametrize("told", [5, "mmm", {"id": "m"}, None])
def test_a_list_of_models_that_is_none_offers_nothing(told: Any) -> None:
    with (
        speaking(lambda *_: (200, {"data": told}, {})) as address,
        pytest.raises(BackendError, match="offers no model “m”. It offers: nothing"),
    ):
        backend(address).identity()


@pytest.mark.parametrize(
    "header", ["Mon, 01 Jan 2024 00:00:00 +99999999999999999999", "Wed, 21 Oct 2015 07:28:00 GMT", "-5", "nan", "soon"]
)
def test_a_wait_that_is_none_is_as_if_not_told(header: str) -> None:
    assert retry_after_s(header) == 0
    with (
        speaking(always({"error": "slow"}, {"Retry-After": header}, status=429)) as address,
        pytest.raises(Unavailable, match="slow"),
    ):
        written(address)


def test_numbers_that_can_be_none_are_in_no_sentence() -> None:
    said = str(read_too_long("The prompt is too long.", {"n_ctx": 10**100, "n_prompt_tokens": 10**200}))
    assert "000" not in said
    with pytest.raises(BackendError) as caught:
        logprob_of(-(10**400))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("places", [(0, 1.0), (0, True), (0, 0)])
def test_prompts_that_a_server_numbers_otherwise_are_refused(places: tuple[Any, Any]) -> None:
    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        if path.endswith("/tokenize"):
            return 200, {"tokens": [len(word) for word in body["prompt"].split()]}, {}
        if "logprob_token_ids" not in body:
            return 400, {"error": "unknown"}, {}
        listed = {f"token_id:{each}": -1.0 for each in body["logprob_token_ids"]}
        choices = [{"index": place, "logprobs": {"top_logprobs": [listed]}} for place in places]
        return 200, {"choices": choices, "usage": {"prompt_tokens": sum(map(len, body["prompt"]))}}, {}

    with speaking(says) as address, pytest.raises(BackendError, match="cannot return prompt log-probabilities"):
        backend(address, scores=True).score([ROW])


# --- log-probabilities out of step ------------------------------------------------------------------------------------


def scoring(change: Callable[[dict[str, Any], int], None], *, scored: int = 10_000) -> Says:
    """Words are tokens; `change` gets each entry of an answer whose prompt is no probe, and the request's number. After
    so many of these it answers no more."""
    asked = iter(range(10_000))

    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        if not path.endswith("/completions") or body.keys() & {"logprob_token_ids", "echo"}:
            return 404, {"error": "unknown"}, {}
        words = re.findall(r"\s?\S+|\s", body["prompt"])
        entries = [
            {str(place * 100 + len(word)): {"logprob": -1.0, "decoded_token": word}} for place, word in enumerate(words)
        ]
        if "Item" in body["prompt"]:
            if next(asked) >= scored:
                return 400, {"error": "no more"}, {}
            for entry in entries:
                change(entry, n)
        usage = {"prompt_tokens": len(words), "completion_tokens": 1}
        return 200, {"choices": [{"prompt_logprobs": [None, *entries[1:]]}], "usage": usage}, {}

    return says


def renamed_and_moved(entry: dict[str, Any], n: int) -> None:
    """At each request all tokens have other numbers, and log-probabilities besides."""
    (name,) = entry
    token = entry.pop(name)
    entry[f"{name}{n}"] = token | {"logprob": -1.0 - n / 10}


def test_tokens_that_have_another_number_each_time_are_compared_all_the_same() -> None:
    with (
        speaking(scoring(renamed_and_moved)) as address,
        pytest.raises(BackendError, match="nat apart from one request to the next") as caught,
    ):
        backend(address, scores=True).score([ROW])
    assert caught.value.permanent


def by_cell() -> Callable[[dict[str, Any], int], None]:
    """A cell's options are asked one behind the other, and their numbers are alike; those of the next cell are not."""
    scored: dict[int, int] = {}

    def change(entry: dict[str, Any], n: int) -> None:
        (token,) = entry.values()
        token["logprob"] = -1.0 - scored.setdefault(n, len(scored)) // len(ROW.cells[0].options) / 100

    return change


def test_what_the_cells_of_a_row_share_is_compared_too() -> None:
    row = RowPrompt(ROW.shared, (*ROW.cells, CellPrompt("Item: flour\nAnswer:", ROW.cells[0].options)))
    with (
        speaking(scoring(by_cell())) as address,
        pytest.raises(BackendError, match=r"0\.01 nat apart from one request to the next") as caught,
    ):
        backend(address, scores=True).score([row])
    assert caught.value.permanent
    with speaking(scoring(by_cell())) as address:  # of two rows with other evidence nothing is alike
        assert len(backend(address, scores=True).score([ROW, RowPrompt("Site: lard\n", row.cells[1:])])) == 2


def test_what_was_answered_before_a_failure_is_counted() -> None:
    def counted(scored: int) -> int:
        told: list[Tokens | int] = []
        with (
            speaking(scoring(lambda *_: None, scored=scored)) as address,
            pytest.raises(BackendError, match="no more"),
        ):
            backend(address, scores=True).score([ROW], lambda tokens, _done: told.append(tokens))
        return int(told[-1])

    assert counted(2) > counted(0) + 10


# --- money ------------------------------------------------------------------------------------------------------------


def rating(address: str, prompt: str = helpers.RATING, **settings: Any) -> Judge:
    return actions.create_judge(
        name="asks", method="rating", backend="openai", location=address, served_name="m", prompt_text=prompt,
        temperature=0.5, max_new_tokens=8, **settings,
    )  # fmt: skip


@pytest.mark.parametrize("count", [0, -3, None])
def test_a_limit_of_money_holds_where_a_server_does_not_say_what_it_wrote(leases: Leases, count: int | None) -> None:
    """What is read costs nothing here."""

    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        if path.endswith("/models"):
            return 200, MODELS, {}
        answer = longer(body, chat("STRICTNESS: 2\nReason: it says must."))
        answer["usage"]["completion_tokens"] = answer["usage"]["total_tokens"] = count
        return 200, answer, {}

    with speaking(says) as address:
        judge = rating(address, price_read=Decimal(0), price_written=Decimal(1000))
        run = actions.start_run(study=leases.study, judge=judge, by=None, most_cost=Decimal("0.01"))
        assert work(run) == 1
        assert (fresh(run).state, fresh(run).paused) == (Run.State.CANCELLED, True)
        one = spending.spent(fresh(run))
        assert one.written == 2 * 8  # its two cells, by their letters, and no more than the room for each
        actions.resume_run(run=fresh(run), most_cost=Decimal(1))
        assert work(run) == 1
    assert fresh(run).state == Run.State.FINISHED
    assert spending.spent(fresh(run)).written == 2 * one.written


# --- the key in disguise ----------------------------------------------------------------------------------------------


def percent(key: str) -> str:
    return "".join(f"%{ord(each):02X}" for each in key)


@pytest.mark.parametrize(
    "said",
    [
        KEY.upper(),
        KEY.lower(),
        KEY.encode().hex(),
        percent(KEY),
        "".join(f"\\u{ord(each):04x}" for each in KEY),
        "".join(f"&#{ord(each)};" for each in KEY),
        *(base64.b64encode(ahead + KEY.encode()).decode() for ahead in (b"", b":", b"a:")),
        *(base64.b64encode(ahead + KEY.encode() + b"!").decode() for ahead in (b"", b":", b"a:")),
        f"{KEY[:8]}****",
        f"****{KEY[-8:]}",
        f"{KEY[5:17]}…",
    ],
)  # fmt: skip
def test_a_key_that_is_written_otherwise_or_masked_is_taken_out(said: str) -> None:
    for left in (Secret(KEY).out_of(f"no {said} here"), Secret(KEY).out_of({said: [f"no {said} here"]})):
        text = json.dumps(left, ensure_ascii=False)
        assert HIDDEN in text
        assert not any(said[at : at + 10] in text for at in range(max(1, len(said) - 10)))


def test_of_what_a_model_wrote_only_long_parts_of_a_key_go() -> None:
    key = "annotation-lab-key-7731"
    answer = {"choices": [{"message": {"content": "An annotation in it."}}], "model": "for annotation use"}
    left = Secret(key).out_of_answer(answer)
    assert left == {
        "choices": [{"message": {"content": "An annotation in it."}}],
        "model": f"for {HIDDEN} use",
    }
    assert Secret(key).out_of_answer({"content": "It is lab-key-7731, it says."}) == {
        "content": f"It is {HIDDEN}, it says."
    }


def test_the_words_behind_a_status_are_in_no_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where everything is logged, as in a worker's text log at LOG_LEVEL=DEBUG."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="httpx")  # a worker has it say less, once it has begun
    monkeypatch.setenv("LAB_API_KEY", KEY)
    with (
        speaking(always({"error": "no"}, {"X-Seen": KEY}, status=400), reason=f"No {KEY}") as address,
        pytest.raises(BackendError),
    ):
        written(address, api_key_env="LAB_API_KEY")
    assert "HTTP Request: POST" in caplog.text
    assert KEY not in caplog.text


def test_a_masked_key_in_a_refusal_is_in_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    with (
        speaking(always({"detail": [{"msg": f"for {KEY[:20]}***", KEY: KEY.upper()}]}, status=422)) as address,
        pytest.raises(BackendError, match="refused the request") as caught,
    ):
        written(address, api_key_env="LAB_API_KEY")
    said = str(caught.value).lower()
    assert not any(KEY.lower()[at : at + 8] in said for at in range(len(KEY) - 7))


# --- one prompt's doing, or everybody's -------------------------------------------------------------------------------


def one_in(n_asked: int, answer: Any, status: int) -> Says:
    """That answer to the `n_asked`th request, and a fine one to the others."""

    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        if path.endswith("/models"):
            return 200, MODELS, {}
        return (status, answer, {}) if n == n_asked else (200, longer(body, chat()), {})

    return says


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_row_that_a_server_refuses_fails_and_the_others_go_on(leases: Leases, settings: Any, status: int) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    refused = {"error": {"message": "Not this content."}}

    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        if path.endswith("/models"):
            return 200, MODELS, {}
        is_first = "Clause 1" in json.dumps(body)
        return (status, refused, {}) if is_first else (200, longer(body, chat()), {})

    prompt = helpers.RATING.replace("row: |\n", "row: |\n  $title\n")
    for row in leases.sheet.rows.all():
        row.title = row.name
        row.save()
    with speaking(says) as address:
        run = actions.start_run(study=leases.study, judge=rating(address, prompt), by=None)
        for _time in range(3):
            work(run)
        assert states(run) == {"failed": 1, "done": 1}
        assert fresh(run).state == Run.State.FINISHED
        assert "Not this content." in items(run)[0].error
        actions.resume_run(run=fresh(run))
        work(run)
    assert states(run) == {"failed": 1, "done": 1}


def test_a_server_that_refuses_every_row_is_left_after_some(settings: Any, db: None) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    study = helpers.study_of_leases(n_rows=30)
    with speaking(always({"error": {"message": "No such field."}}, status=400)) as address:
        run = actions.start_run(study=study, judge=rating(address), by=None)
        work(run)
    assert (fresh(run).state, "No such field." in fresh(run).error) == (Run.State.FAILED, True)
    assert states(run) == {"failed": 9, "queued": 21}


def test_a_passing_failure_behind_rows_that_could_not_be_asked_is_tried_again(settings: Any, db: None) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    study = helpers.study_of_leases(n_rows=12)
    with speaking(always({"error": "full"}, status=500)) as address:
        run = actions.start_run(study=study, judge=rating(address), by=None)
        one, *others = items(run)
        type(one).objects.filter(pk__in=[item.pk for item in others]).update(state="failed", done_at=timezone.now())
        work(run)
        assert (fresh(run).state, states(run)) == (Run.State.RUNNING, {"failed": 11, "queued": 1})
        for _time in range(2):
            helpers.later(run, 1000)
            work(run)
    assert fresh(run).state == Run.State.FAILED


def test_what_a_server_refuses_before_a_row_is_asked_is_no_rows_doing(leases: Leases, settings: Any) -> None:
    settings.PALATE_BACKENDS = {"openai": "tests.judges.serving.Impatient"}
    with speaking(lambda *_: (400, {"error": "no such path"}, {})) as address:
        run = actions.start_run(study=leases.study, judge=rating(address), by=None)
        work(run)
    assert (fresh(run).state, states(run)) == (Run.State.FAILED, {"queued": 2})


@pytest.mark.parametrize(
    ("answer", "said"),
    [({"error": {"message": "Upstream is full.", "code": 429}}, "429, “Upstream is full.”"),
     ({"error": "Upstream is full."}, "500, “Upstream is full.”"),
     ({"error": {"message": "Upstream is full."}, "choices": []}, "500, “Upstream is full.”")],
)  # fmt: skip
def test_an_error_that_comes_as_a_success_is_told_and_tried_again(answer: Any, said: str) -> None:
    with speaking(always(answer)) as address, pytest.raises(BackendError, match=said) as caught:
        written(address, max_retries=1)
    assert not caught.value.permanent
    with speaking(one_in(1, answer, 200)) as address:
        assert written(address, max_retries=1).text == "STRICTNESS: 2"


def test_an_answer_of_nothing_fails_no_run() -> None:
    with speaking(always({"choices": []})) as address, pytest.raises(BackendError, match="“choices”") as caught:
        written(address)
    assert not caught.value.permanent


# --- addresses that are none ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "led_to", ["javascript:alert(1)", "http:\\\\evil", "http://xn--/", "http://h:99999999/", "\x7f"]
)
def test_where_a_redirect_leads_is_not_read(led_to: str) -> None:
    with (
        speaking(always(b"", {"Location": led_to}, status=302)) as address,
        pytest.raises(BackendError, match="sends us to another address") as caught,
    ):
        written(address)
    assert led_to not in str(caught.value)


def test_a_host_whose_name_is_none_is_no_address() -> None:
    with pytest.raises(BackendError, match="no valid address"):
        backend("http://xn--/v1")


def test_a_proxy_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "no-scheme://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "")
    with pytest.raises(BackendError, match="of proxies and certificates cannot be used") as caught:
        written("http://127.0.0.1:9/v1")
    assert caught.value.permanent


# --- what changes behind a name, and what is not counted --------------------------------------------------------------


def test_a_shorter_context_behind_the_same_name_is_found_out() -> None:
    context = 3000

    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        if path.endswith("/models"):
            return 200, MODELS, {}
        answer = chat()
        answer["usage"]["prompt_tokens"] = min(context, len(body["messages"][0]["content"].split()))
        return 200, answer, {}

    with speaking(says) as address:
        server = backend(address)
        (whole,) = server.generate(["word " * 2500], Sampling(8))
        context = 200
        server.identity()  # as at the first row of a run
        (cut,) = server.generate(["word " * 2000], Sampling(8))
    assert isinstance(whole, Generated)
    assert isinstance(cut, PromptTooLong)


def test_what_a_server_does_not_count_is_counted_by_letters() -> None:
    told: list[Tokens] = []
    answer = chat()
    answer["usage"] |= {"prompt_tokens": 0, "total_tokens": 0}

    def says(path: str, body: dict[str, Any], n: int) -> tuple[int, Any, dict[str, str]]:
        return 200, MODELS if path.endswith("/models") else answer, {}

    with speaking(says) as address:
        backend(address).generate(["x" * 350], Sampling(8), lambda tokens, _done: told.append(tokens))  # type: ignore[arg-type]
    assert told[-1].read == told[-1] - told[-1].written >= 100


def test_an_echo_of_fewer_tokens_than_were_written_is_no_echo() -> None:
    answer = {
        "choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs": [None, -1.0]}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    }
    with pytest.raises(BackendError, match="part of a prompt only"):
        read_echo(answer, "c")
