"""A server with OpenAI's HTTP interface over models of transformers, for tests.

`python -m tests.judges.completion_server` serves tiny models with random weights; with a folder as argument it serves
the model in there as "smollm2", and `--port` says where it listens. It prints the port that it listens on, and computes
with nothing of ours. `POST /tell` says how it behaves from then on; see `Behaviour`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import llguidance
import torch
import transformers
from llguidance.gbnf_to_lark import gbnf_to_lark

from tests.llm import tiny

LEAST_FLOAT = -3.4028234663852886e38
LEAST_LOGPROB = -103.3  # in nats, of a probability in float32


@dataclass
class Behaviour:
    """How the server answers. `failures` are used up one a request, before anything else is looked at:

    "429", "429 after 2" (with Retry-After), "500", "401", "silence" (no answer for 3 s), "garbage" (no JSON),
    "hang up" (the connection closes in the middle of the answer), "drip" (a space ten times a second, for ever),
    "drip in the headers", "flood" (400 MB of spaces), "no quota" (429, for who has paid for no more), and the names of
    `OF_LITELLM`.
    """

    failures: list[str] = field(default_factory=list)
    forms: list[str] = field(default_factory=lambda: ["prompt_logprobs", "echo"])  # of prompt log-probabilities
    # What it says of next tokens, as vLLM (logprob_token_ids), SGLang (score) and llama.cpp (n_probs) do; with any of
    # them it cuts texts into tokens, too.
    next_tokens: list[str] = field(default_factory=list)
    only: str = "llama"  # the model that a server with "n_probs" has; "" where it has several, as a router
    tempered: float = 1.0  # what the log-probabilities of next tokens are multiplied with
    key: str = ""  # what it wants to be shown
    # In whose words it refuses a long prompt: vllm, llama.cpp, words; or silent: it cuts it. "vllm 0.32" counts no more
    # tokens of a prompt than one over its context, and writes into what room a prompt leaves.
    too_long: str = "vllm"
    shared_context: bool = False  # it fails all that it is asked at the same time, as too long together
    # In whose words it lists its models: vllm, llama.cpp, transformers (what its cache holds, which is another model),
    # "transformers without a cache". The last two name the model in their answers with its revision.
    listing: str = "vllm"
    one_seed: bool = False  # what is asked at the same time is drawn by the seed that came last (transformers)
    folder: str = "weights"  # where it says that its models come from
    leaves_stops: bool = False  # the string that ends an answer stays in it, with the rest of its token
    lose: int = 0  # log-probabilities that it drops; below 0 those that it makes up
    lose_in: str = ""  # of prompts with this text alone
    lose_times: int | None = None  # of so many answers alone
    replace: float | str | None = None  # what it returns in the place of every log-probability; "null" for none
    replace_in: str = ""  # of prompts with this text alone
    replace_times: int | None = None  # of so many answers alone
    extra: bool = False  # adds the most probable token to each of the prompt's, as vLLM does if asked for one
    no_usage: bool = False
    counts: dict[str, Any] = field(default_factory=dict)  # of tokens, in place of the true ones
    apart: float = 0.0  # each prompt's log-probabilities are that much lower than the last one's, as with a stale cache
    repeats_key: bool = False  # it sends back the key that it was shown, wherever a server says something
    biased: bool = False  # a bias counts in what a server with "n_probs" says of next tokens
    draws: str = ""  # the token that a server with "n_probs" writes, unless a bias of the request is greater
    binds: list[str] = field(default_factory=list)  # fields of a grammar that it obeys; the others it does not know
    # Where its model's thoughts go: reasoning_content (llama.cpp, LiteLLM), reasoning (vLLM), text; "": it has none.
    thinks: str = ""
    thinks_always: bool = False  # whatever a request says of it
    binds_thoughts: list[str] = field(default_factory=list)  # of `binds`, those that a thought obeys in its place
    pictures: str = "refused"  # what it does with them: refused, read, or dropped
    strict: bool = False  # it refuses fields that it does not know
    no_temperature: bool = False  # it refuses any temperature, as servers of some models do
    no_content: bool = False  # a chat's reply holds nothing, as of a model that thought until the limit
    die_after: int | None = None  # requests that it still answers; the next one kills it


@dataclass(frozen=True, eq=False)
class Served:
    model: Any
    tokenizer: Any

    @property
    def context(self) -> int:
        return int(self.model.config.max_position_embeddings)


class Computed(NamedTuple):
    """What a model makes of some tokens."""

    own: list[float]  # the log-probability of each but the first behind those before it
    best: list[int]  # the likeliest token behind each
    last: torch.Tensor  # of every token behind the last


COMPUTING = threading.Lock()


@lru_cache(maxsize=2048)  # most tests ask about the same prompts again
@torch.inference_mode()
def computed(it: Served, ids: tuple[int, ...]) -> Computed:
    with COMPUTING:
        logprobs = it.model(torch.tensor([ids])).logits[0].log_softmax(-1)
    own = logprobs[:-1].gather(1, torch.tensor(ids[1:], dtype=torch.int64).unsqueeze(1)).squeeze(1)
    return Computed(own.tolist(), logprobs.argmax(-1).tolist(), logprobs[-1].clone())


@lru_cache(maxsize=4096)
def decoded(it: Served, token: int) -> str:
    text: str = it.tokenizer.decode([token])
    return text


def tiny_models() -> dict[str, Served]:
    llama = tiny.model("llama")
    return {
        "llama": Served(llama, tiny.tokenizer()),
        "chat": Served(llama, tiny.tokenizer(chat=True)),
        "qwen2": Served(tiny.model("qwen2"), tiny.tokenizer(bos=False)),
        # An option of one letter is one token, with the join's space.
        "words": Served(llama, tiny.tokenizer(merges=((" ", "Y"), (" ", "N")))),
        # The colon of "Answer:", the join's space and an option's F become one token.
        "merging": Served(llama, tiny.tokenizer(merges=((":", " "), (": ", "F")))),
        "bytes": Served(llama, tiny.tokenizer(in_bytes="é")),
    }


def model_in(folder: str) -> dict[str, Served]:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return {"smollm2": Served(model.eval(), tokenizer)}


class Refusal(Exception):
    def __init__(self, status: int, body: dict[str, Any], **headers: str) -> None:
        super().__init__(body)
        self.status, self.body, self.headers = status, body, headers


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, models: dict[str, Served], port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.models = models
        self.behaviour = Behaviour()
        self.seen: list[dict[str, Any]] = []
        self.poured = 0  # parts of answers that were poured out
        self.completed = self.seed = 0
        self.answering: set[int] = set()  # the requests under way

    def handle_error(self, *_: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # who asked has gone
            super().handle_error(*_)


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/seen":
            self.reply(200, {"seen": self.server.seen, "poured": self.server.poured})
        elif self.path == "/props" and self.server.behaviour.listing == "llama.cpp":
            self.reply(200, {"total_slots": 1, "model_path": f"/models/{self.server.behaviour.folder}/smollm2.gguf"})
        elif self.path == "/v1/models":
            self.guarded({}, lambda: {"object": "list", "data": cards(self.server)})
        else:
            self.reply(404, {"detail": "Not Found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tell":
            self.server.behaviour, self.server.seen, self.server.poured = Behaviour(**body), [], 0
            self.server.completed = 0
            self.reply(200, {})
        elif self.path == "/v1/completions":
            self.guarded(body, lambda: complete(self.server, body))
        elif self.path == "/tokenize" and self.server.behaviour.next_tokens:
            self.guarded(body, lambda: tokenize(self.server, body))
        elif self.path == "/v1/score" and "score" in self.server.behaviour.next_tokens:
            self.guarded(body, lambda: score(self.server, body))
        elif self.path == "/completion" and "n_probs" in self.server.behaviour.next_tokens:
            self.guarded(body, lambda: listed(self.server, body))
        elif self.path == "/v1/chat/completions":
            self.guarded(body, lambda: chat(self.server, body))
        else:
            self.reply(404, {"detail": "Not Found"})

    def guarded(self, body: dict[str, Any], answer: Any) -> None:
        behaviour = self.server.behaviour
        self.server.seen.append({"path": self.path, "at": time.monotonic(), "body": body})
        if behaviour.die_after is not None and len(self.server.seen) > behaviour.die_after:
            os._exit(1)
        failure = behaviour.failures.pop(0) if behaviour.failures else ""
        try:
            if failure == "silence":
                time.sleep(3)
            elif failure == "garbage":
                self.reply(200, None, raw=b"<html>Bad gateway</html>")
                return
            elif failure in ("drip", "drip in the headers", "flood"):
                self.pour(failure)
                return
            elif failure == "hang up":
                self.reply(200, None, raw=b'{"choices": [', length=1000)
                self.close_connection = True
                return
            elif failure == "no quota":
                raise Refusal(429, {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}})
            elif failure in OF_LITELLM:
                status, error = OF_LITELLM[failure]
                raise Refusal(status, {"error": error | {"param": None, "code": str(status)}})
            elif failure:
                status, _, after = failure.partition(" after ")
                headers = {"Retry-After": after} if after else {}
                raise Refusal(int(status), {"error": {"message": f"Told to fail with {status}."}}, **headers)
            shown = self.headers.get("Authorization", "")
            if behaviour.key and shown != f"Bearer {behaviour.key}":
                raise Refusal(401, {"error": {"message": f"Incorrect API key provided: {shown}."}})
            self.reply(200, self.with_key(self.apart_from_others(answer)))
        except Refusal as refusal:
            self.reply(refusal.status, self.with_key(refusal.body), **refusal.headers)

    def apart_from_others(self, answer: Callable[[], Any]) -> Any:
        if not self.server.behaviour.shared_context:
            return answer()
        me, under_way = threading.get_ident(), self.server.answering
        under_way.add(me)
        try:
            time.sleep(0.05)
            alone = under_way == {me}
            answered = answer()
            alone &= under_way == {me}
            time.sleep(0.05)
        finally:
            under_way.discard(me)
        if not alone:
            error = {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}
            raise Refusal(500, {"error": error})
        return answered

    def with_key(self, said: Any) -> Any:
        """Texts that a server makes up or keeps, with the key in them; also across where a reader may cut them."""
        if not self.server.behaviour.repeats_key:
            return said
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if isinstance(said, list):
            return [self.with_key(each) for each in said]
        if isinstance(said, dict):
            told = {"message": "x" * 290 + " ", "root": "", "content": "HARMONY: 4 ", "finish_reason": "stop "}
            return {
                name: told[name] + key if name in told and isinstance(value, str | None) else self.with_key(value)
                for name, value in said.items()
            } | ({"id": f"{said['id']} {key}"} if said.get("id") == "merging" else {})
        return said

    def pour(self, how: str) -> None:
        self.close_connection = True
        try:
            if how == "drip in the headers":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            else:
                self.send_response(200)
                self.send_header("Content-Length", str(400 * 10**6))
                self.end_headers()
            for _ in range(400):
                self.wfile.write(b" " * (10**6 if how == "flood" else 1))
                self.server.poured += 1
                time.sleep(0 if how == "flood" else 0.1)
        except OSError:
            pass  # who asked has gone

    def reply(self, status: int, body: Any, raw: bytes | None = None, length: int | None = None, **more: str) -> None:
        content = json.dumps(body).encode() if raw is None else raw
        try:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **more}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(length or len(content)))
            self.end_headers()
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # who asked has gone


def cards(server: Server) -> list[dict[str, Any]]:
    listing = server.behaviour.listing
    if listing == "transformers without a cache":
        raise Refusal(500, {})
    if listing == "transformers":
        return [{"owned_by": "lab", "id": "lab/another", "object": "model", "created": 1795829162.5}]
    of_gguf_file = listing == "llama.cpp"
    return [
        {"id": name, **(of_gguf(served) if of_gguf_file else of_weights(server.behaviour, name, served))}
        for name, served in server.models.items()
    ]


# What LiteLLM's proxy (1.108) answers where the server behind it is away, by the client that it asks it with, and to a
# key that is not its own where it has no database.
_BEHIND = "litellm.InternalServerError: InternalServerError: "
_NO_FALLBACK = "\n\nLiteLLM: model group 'llama' failed with the error above. No fallback was attempted."
OF_LITELLM: dict[str, tuple[int, dict[str, Any]]] = {
    "nobody behind it": (
        500,
        {"message": f"{_BEHIND}OpenAIException - Connection error.{_NO_FALLBACK}", "type": "internal_server_error"},
    ),
    "no host behind it": (
        500,
        {
            "message": f"{_BEHIND}Hosted_vllmException - Cannot connect to host REDACTED:8391 ssl:<ssl.SSLContext "
            f"object at 0x7f4212445880> [Connect call failed ('REDACTED', 8391)]{_NO_FALLBACK}",
            "type": "internal_server_error",
        },
    ),
    "no database": (400, {"message": "No connected db.", "type": "no_db_connection"}),
}


def of_weights(behaviour: Behaviour, name: str, served: Served) -> dict[str, Any]:
    return {"root": f"{behaviour.folder}/{name}", "max_model_len": served.context}


def of_gguf(served: Served) -> dict[str, Any]:
    meta = {"n_vocab": 128, "n_ctx": served.context, "n_ctx_train": 8192, "n_params": 134515008, "size": 96576768}
    return {"object": "model", "owned_by": "llamacpp", "meta": {**meta, "ftype": "Q4_1"}}


def served(server: Server, body: dict[str, Any]) -> Served:
    if body["model"] not in server.models:
        raise Refusal(404, {"object": "error", "message": f"The model `{body['model']}` does not exist.", "code": 404})
    return server.models[body["model"]]


def fitting(server: Server, it: Served, ids: list[int], more: int) -> list[int]:
    """The ids, or, as the server behaves, a refusal or the end of them."""
    style = server.behaviour.too_long
    if len(ids) + more <= it.context or (style == "vllm 0.32" and len(ids) < it.context):
        return ids
    if style == "vllm 0.32":
        message = (
            f"This model's maximum context length is {it.context} tokens. However, your prompt contains at least "
            f"{it.context + 1} input tokens, which exceeds this limit even without any output tokens. Please reduce "
            f"the length of the input prompt. (parameter=input_tokens, value={it.context + 1})"
        )
        details = {"message": message, "type": "BadRequestError", "param": "input_tokens", "code": 400}
        raise Refusal(400, {"error": details})
    if style == "silent":
        return ids[len(ids) + more - it.context :]
    if style == "llama.cpp":
        message = f"request ({len(ids)} tokens) exceeds the available context size ({it.context} tokens)"
        error = {"code": 400, "message": f"{message}, try increasing it", "type": "exceed_context_size_error"}
        raise Refusal(400, {"error": {**error, "n_prompt_tokens": len(ids), "n_ctx": it.context}})
    if style == "words":
        raise Refusal(400, {"error": {"message": "The prompt is too long."}})
    raise Refusal(
        400,
        {
            "error": {
                "message": f"This model's maximum context length is {it.context} tokens. However, you requested "
                f"{len(ids) + more} tokens ({len(ids)} in the messages, {more} in the completion).",
                "type": "BadRequestError",
            }
        },
    )


@torch.inference_mode()
def next_logprobs(server: Server, it: Served, ids: list[int], more: int = 1) -> tuple[list[int], list[float]]:
    """What is read of the ids, and the log-probability of each token behind them."""
    ids = fitting(server, it, ids, more)
    found = computed(it, tuple(ids)).last
    server.completed += 1
    return ids, (found * server.behaviour.tempered).tolist()


def only_model(server: Server, body: dict[str, Any]) -> Served:
    """Of a server that knows one and is not told which, or of a router that has to be told: llama.cpp."""
    if not server.behaviour.only and "model" not in body:
        error = {"code": 400, "message": "model name is missing from the request", "type": "invalid_request_error"}
        raise Refusal(400, {"error": error})
    return server.models[server.behaviour.only or body["model"]]


def tokenize(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    as_llama_cpp = server.behaviour.next_tokens == ["n_probs"]
    it = only_model(server, body) if as_llama_cpp else served(server, body)
    ids = it.tokenizer(body["content" if as_llama_cpp else "prompt"])["input_ids"]
    return {"tokens": ids} | ({} if as_llama_cpp else {"count": len(ids), "max_model_len": it.context})


def complete_many(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    """As vLLM: several prompts, with the log-probabilities of the tokens asked for, and of the one written."""
    it, choices, n_read = served(server, body), [], 0
    for index, asked in enumerate(body["prompt"]):
        ids, values = next_logprobs(server, it, asked)
        written = max(range(len(values)), key=values.__getitem__)
        known = body.get("logprob_token_ids", []) if "logprob_token_ids" in server.behaviour.next_tokens else []
        told = replaced(server.behaviour, it.tokenizer.decode(asked), [values[token] for token in (written, *known)])
        top = {f"token_id:{token}": value for token, value in zip((written, *known), told, strict=True)}
        logprobs = {"tokens": [f"token_id:{written}"], "token_logprobs": [values[written]], "top_logprobs": [top]}
        choices.append({"index": index, "text": "", "finish_reason": "length", "logprobs": logprobs})
        n_read += len(ids)
    n_read -= losing(server.behaviour, it.tokenizer.decode(body["prompt"][0]), n_read)
    answered = answer(choices[0], server.behaviour, n_read, len(choices))
    return answered | {"choices": choices[::-1]}  # in an order of their own


def score(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    """As SGLang: probabilities of the labels behind the query and each item, among all tokens or among themselves."""
    if "items" not in body:
        raise Refusal(422, {"detail": [{"loc": ["body", "items"], "msg": "Field required"}]})
    it, scores = served(server, body), []
    for item in body["items"]:
        _ids, values = next_logprobs(server, it, [*body["query"], *item], more=0)
        of_labels = torch.tensor([values[label] for label in body["label_token_ids"]], dtype=torch.float64)
        scores.append((of_labels.softmax(-1) if body["apply_softmax"] else of_labels.exp()).tolist())
    return {"scores": scores, "model": body["model"], "object": "scoring"}


def listed(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    """As llama.cpp: the most probable tokens, as many as were asked for, and the one that was drawn. Nothing of them
    where that one is the beginning of a character."""
    it, asked, behaviour = only_model(server, body), body["prompt"], server.behaviour
    ids, values = next_logprobs(server, it, asked)
    best = sorted(range(len(values)), key=values.__getitem__, reverse=True)[: body["n_probs"]]
    biased = torch.tensor(values)
    for token, bias in body.get("logit_bias", ()):
        biased[token] += bias
    if behaviour.biased:
        values = biased.log_softmax(-1).tolist()
        best = sorted(range(len(values)), key=values.__getitem__, reverse=True)[: body["n_probs"]]
    if behaviour.draws:
        biased[it.tokenizer.convert_tokens_to_ids(behaviour.draws)] += 100
    torch.manual_seed(body["seed"])
    drawn = int(biased.softmax(-1).multinomial(1))
    told = replaced(behaviour, it.tokenizer.decode(asked), [values[token] for token in (drawn, *best)])
    first, *top = [
        {"id": token, "token": text.decode(errors="replace"), "bytes": list(text), "logprob": value}
        for token, value in zip((drawn, *best), map(in_float32, told), strict=True)
        for text in [bytes_of(it, token)]
    ]
    lost = losing(behaviour, it.tokenizer.decode(asked), len(ids))
    answered = {
        "content": first["token"],
        "tokens_predicted": 1,
        "tokens_evaluated": len(ids) - lost,
        # Also where its own token is the last that fits.
        "truncated": len(ids) < len(asked) or len(ids) + 1 >= it.context,
    }
    if is_begun(bytes_of(it, drawn)):
        return answered
    return answered | {"completion_probabilities": [{**first, "top_logprobs": top}]}


def bytes_of(it: Served, token: int) -> bytes:
    piece: str = it.tokenizer.convert_ids_to_tokens(token) or ""
    byte = re.fullmatch("<0x(..)>", piece)
    return bytes.fromhex(byte[1]) if byte else piece.encode()


def is_begun(text: bytes) -> bool:
    """Whether its last character lacks bytes."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return "end of data" in error.reason
    return False


def in_float32(logprob: Any) -> Any:
    """What the logarithm of a probability in float32 is written as: the least number where that is 0."""
    return LEAST_FLOAT if isinstance(logprob, float) and logprob < LEAST_LOGPROB else logprob


def losing(behaviour: Behaviour, prompt: str, n_tokens: int) -> int:
    """How many log-probabilities of this prompt get lost."""
    if not behaviour.lose or behaviour.lose_in not in prompt or behaviour.lose_times == 0:
        return 0
    if behaviour.lose_times is not None:
        behaviour.lose_times -= 1
    return min(behaviour.lose, n_tokens)


def replaced(behaviour: Behaviour, prompt: str, values: list[Any]) -> list[Any]:
    """The log-probabilities of this prompt, or what comes in their place."""
    if behaviour.replace is None or behaviour.replace_in not in prompt or behaviour.replace_times == 0:
        return values
    if behaviour.replace_times is not None:
        behaviour.replace_times -= 1
    return [None if behaviour.replace == "null" else float(behaviour.replace) for _ in values]


@torch.inference_mode()
def complete(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    if isinstance(body["prompt"], list):
        return complete_many(server, body)
    it, behaviour = served(server, body), server.behaviour
    ids = fitting(server, it, it.tokenizer(body["prompt"])["input_ids"], body.get("max_tokens", 16))
    found = computed(it, tuple(ids))
    own: list[float | None] = [None, *found.own]
    server.completed += 1
    if behaviour.apart:
        own = [None, *(value - behaviour.apart * server.completed for value in found.own)]
    own = [None, *(replaced(behaviour, body["prompt"], own[1:]))]
    lost = losing(behaviour, body["prompt"], len(ids))
    texts = [decoded(it, token) for token in ids]
    written = found.best[-1:] if body.get("max_tokens", 16) else []
    choice: dict[str, Any] = {"index": 0, "text": it.tokenizer.decode(written), "finish_reason": "length"}
    if body.get("prompt_logprobs") is not None and "prompt_logprobs" in behaviour.forms:
        entries: list[Any] = [None]
        for at in range(1, len(ids)):
            entry = {str(ids[at]): {"logprob": own[at], "rank": 1, "decoded_token": texts[at]}}
            if behaviour.extra:
                best = found.best[at - 1]
                entry.setdefault(str(best), {"logprob": 0.0, "rank": 1, "decoded_token": decoded(it, best)})
            entries.append(entry)
        choice["prompt_logprobs"] = entries[: len(entries) - lost] + entries[-1:] * -lost
    if body.get("logprobs") is not None:
        echoed = bool(body.get("echo")) and "echo" in behaviour.forms
        tokens, values = (texts, own) if echoed else ([], [])
        if lost and echoed:
            tokens, values = (
                of[: len(of) - lost] + of[-1:] * -lost
                for of in (tokens, values)  # type: ignore[attr-defined]
            )
        last = [float(found.last[token]) for token in written]
        choice["logprobs"] = {
            "tokens": [*tokens, *map(it.tokenizer.decode, written)],
            "token_logprobs": [*values, *last],
            "text_offset": [0] * (len(tokens) + len(written)),
        }
    return answer(choice, behaviour, len(ids), len(written))


@torch.inference_mode()
def chat(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    it, behaviour = served(server, body), server.behaviour
    text = it.tokenizer.apply_chat_template(
        in_text(body["messages"], behaviour), tokenize=False, add_generation_prompt=True
    )
    if behaviour.no_temperature and "temperature" in body:
        raise Refusal(400, {"error": {"message": "Unsupported value: temperature"}})
    limit = body["max_tokens"]
    ids = fitting(server, it, it.tokenizer(text, add_special_tokens=False)["input_ids"], limit)
    limit = min(limit, it.context - len(ids))
    temperature = body.get("temperature", 0)
    drawn = {"do_sample": True, "temperature": temperature, "top_k": 0}
    greedy = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    unknown = [name for name in GRAMMARS if name in body and name not in behaviour.binds]
    if behaviour.strict and unknown:
        raise Refusal(400, {"error": {"message": f"Unrecognized request argument supplied: {unknown[0]}"}})
    thinks = behaviour.thinks and (behaviour.thinks_always or not is_thought_off(body))
    binds_thought = thinks and any(name in body for name in behaviour.binds_thoughts)
    thought = THOUGHT[:limit] if thinks and not binds_thought else ""
    server.seed = body.get("seed", 0)
    if behaviour.one_seed:
        time.sleep(0.05)
    with COMPUTING:
        torch.manual_seed(server.seed if behaviour.one_seed else body.get("seed", 0))
        written = it.model.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.int64),
            max_new_tokens=limit - len(thought) or 1,
            eos_token_id=it.tokenizer.eos_token_id,
            pad_token_id=it.tokenizer.eos_token_id,
            prefix_allowed_tokens_fn=binding(it, body, behaviour, len(ids)),
            **(drawn if temperature else greedy),
        )[0, len(ids) :].tolist()
    if len(thought) == limit:
        written = []
    ended = written[-1:] == [it.tokenizer.eos_token_id]
    content = None if behaviour.no_content else it.tokenizer.decode(written, skip_special_tokens=True)
    for string in body.get("stop", ()):
        if content and string in content:
            rest = content.index(string) + (len(string) + 1 if behaviour.leaves_stops else 0)
            content, ended = content[:rest], True
    if binds_thought:
        thought, content = content or "", ""
    choice = {
        "index": 0,
        "message": {"role": "assistant", **in_parts(behaviour, thought, content)},
        "finish_reason": "stop" if ended else "length",
    }
    return answer(choice, behaviour, len(ids), len(thought) + len(written)) | {
        "object": "chat.completion",
        "model": body["model"] + ("@main" if behaviour.listing.startswith("transformers") else ""),
    }


# A token each letter, as of the tiny tokenisers, and longer than what tries out a grammar has room for.
THOUGHT = "Is it 4 or is it 5? Both are in it, and so is x."


def is_thought_off(body: dict[str, Any]) -> bool:
    return body.get("chat_template_kwargs", {}).get("enable_thinking") is False


def in_parts(behaviour: Behaviour, thought: str, content: str | None) -> dict[str, Any]:
    """What a message holds. In the text, a thought that is turned off is an empty one (llama.cpp)."""
    if behaviour.thinks != "text":
        return {"content": content} | ({behaviour.thinks: thought} if thought else {})
    return {"content": f"<think>\n{thought}" + (f"\n</think>\n\n{content}" if content or not thought else "")}


def in_text(messages: list[dict[str, Any]], behaviour: Behaviour) -> list[dict[str, Any]]:
    """Messages of texts alone: a picture that is read counts as some tokens that depend on it."""
    read = []
    for message in messages:
        parts = message["content"]
        if isinstance(parts, str):
            parts = [{"type": "text", "text": parts}]
        if behaviour.pictures == "refused" and any(part["type"] != "text" for part in parts):
            raise Refusal(400, {"error": {"message": "This model does not support image input."}})
        texts = [
            part["text"]
            if part["type"] == "text"
            else hashlib.sha256(part["image_url"]["url"].encode()).hexdigest()[:8]
            if behaviour.pictures == "read"
            else ""
            for part in parts
        ]
        read.append({**message, "content": "".join(texts)})
    return read


# What a request has for a grammar, by the field that has it: as text for llguidance.
GRAMMARS: dict[str, Callable[[Any], str]] = {
    "structured_outputs": lambda told: gbnf_to_lark(told["grammar"]),
    "grammar": gbnf_to_lark,
    "ebnf": gbnf_to_lark,
    "guided_grammar": gbnf_to_lark,
    "response_format": lambda told: llguidance.LLMatcher.grammar_from_json_schema(told["json_schema"]["schema"]),
}


class _Pieces:
    """A tokeniser of `tests/llm/tiny.py` as llguidance takes one."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.eos_token_id, self.bos_token_id = tokenizer.eos_token_id, tokenizer.bos_token_id
        self.tokens = [piece.encode() for piece in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))]
        self.special_token_ids = tokenizer.all_special_ids

    def __call__(self, text: str | bytes) -> list[int]:
        told = text.decode() if isinstance(text, bytes) else text
        ids: list[int] = self._tokenizer(told, add_special_tokens=False)["input_ids"]
        return ids


def binding(it: Served, body: dict[str, Any], behaviour: Behaviour, n_prompt: int) -> Any:
    """Which tokens may come next, by the grammar of the request that this server obeys; None without one."""
    told = next((read(body[name]) for name, read in GRAMMARS.items() if name in body and name in behaviour.binds), None)
    if told is None:
        return None
    end = it.tokenizer.eos_token_id
    tokens = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Pieces(it.tokenizer)))
    matcher = llguidance.LLMatcher(tokens, told)
    read = [0]

    def allowed(_batch: int, ids: torch.Tensor) -> list[int]:
        matcher.consume_tokens(ids[n_prompt + read[0] :].tolist())
        read[0] = len(ids) - n_prompt
        if matcher.is_stopped():
            return [end]
        packed = matcher.compute_bitmask()
        return [at for at in range(len(packed) * 8) if packed[at // 8] >> at % 8 & 1 and at < len(it.tokenizer)]

    return allowed


def answer(choice: dict[str, Any], behaviour: Behaviour, prompt: int, written: int) -> dict[str, Any]:
    true = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
    usage = true | behaviour.counts
    return {"object": "completion", "choices": [choice]} | ({} if behaviour.no_usage else {"usage": usage})


if __name__ == "__main__":
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--port", type=int, default=0)
    asked = parser.parse_args()
    listening = Server(model_in(asked.folder) if asked.folder else tiny_models(), asked.port)
    print(listening.server_port, flush=True)  # noqa: T201  the one who started it reads it
    listening.serve_forever()
