"""A server with OpenAI's HTTP interface over models of transformers, for tests.

`python -m tests.judges.completion_server` serves tiny models with random weights; with a folder as argument it serves
the model in there as "smollm2", and `--port` says where it listens. It prints the port that it listens on, and computes
with nothing of ours. `POST /tell` says how it behaves from then on; see `Behaviour`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch
import transformers

from tests.judges import tiny


@dataclass
class Behaviour:
    """How the server answers. `failures` are used up one a request, before anything else is looked at:

    "429", "429 after 2" (with Retry-After), "500", "401", "silence" (no answer for 3 s), "garbage" (no JSON),
    "hang up" (the connection closes in the middle of the answer).
    """

    failures: list[str] = field(default_factory=list)
    forms: list[str] = field(default_factory=lambda: ["prompt_logprobs", "echo"])  # of prompt log-probabilities
    key: str = ""  # what it wants to be shown
    too_long: str = "vllm"  # in whose words it refuses a long prompt: vllm, llama.cpp, words; or silent: it cuts it
    lose: int = 0  # log-probabilities that it drops
    replace: float | str | None = None  # what it returns in the place of every log-probability
    extra: bool = False  # adds the most probable token to each of the prompt's, as vLLM does if asked for one
    no_usage: bool = False
    no_content: bool = False  # a chat's reply holds nothing, as of a model that thought until the limit
    die_after: int | None = None  # requests that it still answers; the next one kills it


@dataclass
class Served:
    model: Any
    tokenizer: Any

    @property
    def context(self) -> int:
        return int(self.model.config.max_position_embeddings)


def tiny_models() -> dict[str, Served]:
    return {
        "llama": Served(tiny.model("llama"), tiny.tokenizer()),
        "chat": Served(tiny.model("llama"), tiny.tokenizer(chat=True)),
        "qwen2": Served(tiny.model("qwen2"), tiny.tokenizer(bos=False)),
        # The colon of "Answer:", the join's space and an option's F become one token.
        "merging": Served(tiny.model("llama"), tiny.tokenizer(merges=((":", " "), (": ", "F")))),
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
        self.computing = threading.Lock()

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
            self.reply(200, {"seen": self.server.seen})
        elif self.path == "/v1/models":
            cards = [
                {"id": name, "root": f"weights/{name}", "max_model_len": served.context}
                for name, served in self.server.models.items()
            ]
            self.guarded({}, lambda: {"object": "list", "data": cards})
        else:
            self.reply(404, {"detail": "Not Found"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tell":
            self.server.behaviour, self.server.seen = Behaviour(**body), []
            self.reply(200, {})
        elif self.path == "/v1/completions":
            self.guarded(body, lambda: complete(self.server, body))
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
            elif failure == "hang up":
                self.reply(200, None, raw=b'{"choices": [', length=1000)
                self.close_connection = True
                return
            elif failure:
                status, _, after = failure.partition(" after ")
                headers = {"Retry-After": after} if after else {}
                raise Refusal(int(status), {"error": {"message": f"Told to fail with {status}."}}, **headers)
            shown = self.headers.get("Authorization", "")
            if behaviour.key and shown != f"Bearer {behaviour.key}":
                raise Refusal(401, {"error": {"message": f"Incorrect API key provided: {shown}."}})
            self.reply(200, answer())
        except Refusal as refusal:
            self.reply(refusal.status, refusal.body, **refusal.headers)

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


def served(server: Server, body: dict[str, Any]) -> Served:
    if body["model"] not in server.models:
        raise Refusal(404, {"object": "error", "message": f"The model `{body['model']}` does not exist.", "code": 404})
    return server.models[body["model"]]


def fitting(server: Server, it: Served, ids: list[int], more: int) -> list[int]:
    """The ids, or, as the server behaves, a refusal or the end of them."""
    if len(ids) + more <= it.context:
        return ids
    style = server.behaviour.too_long
    if style == "silent":
        return ids[len(ids) + more - it.context :]
    if style == "llama.cpp":
        message = "the request exceeds the available context size, try increasing it"
        error = {"message": message, "type": "exceed_context_size_error", "n_prompt_tokens": len(ids)}
        raise Refusal(400, {"error": {**error, "n_ctx": it.context}})
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
def complete(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    it, behaviour = served(server, body), server.behaviour
    ids = fitting(server, it, it.tokenizer(body["prompt"])["input_ids"], body.get("max_tokens", 16))
    with server.computing:
        logprobs = it.model(torch.tensor([ids])).logits[0].log_softmax(-1)
    own = [None, *(float(logprobs[at - 1, token]) for at, token in enumerate(ids) if at)]
    if behaviour.replace is not None:
        own = [None, *(float(behaviour.replace) for _ in own[1:])]
    texts = [it.tokenizer.decode([token]) for token in ids]
    written = [int(logprobs[-1].argmax())] if body.get("max_tokens", 16) else []
    choice: dict[str, Any] = {"index": 0, "text": it.tokenizer.decode(written), "finish_reason": "length"}
    if body.get("prompt_logprobs") is not None and "prompt_logprobs" in behaviour.forms:
        entries: list[Any] = [None]
        for at in range(1, len(ids)):
            entry = {str(ids[at]): {"logprob": own[at], "rank": 1, "decoded_token": texts[at]}}
            if behaviour.extra:
                best = int(logprobs[at - 1].argmax())
                entry.setdefault(str(best), {"logprob": 0.0, "rank": 1, "decoded_token": it.tokenizer.decode([best])})
            entries.append(entry)
        choice["prompt_logprobs"] = entries[: len(entries) - behaviour.lose]
    if body.get("logprobs") is not None:
        echoed = bool(body.get("echo")) and "echo" in behaviour.forms
        tokens, values = (texts, own) if echoed else ([], [])
        if behaviour.lose:
            tokens, values = tokens[: -behaviour.lose], values[: -behaviour.lose]
        last = [float(logprobs[-1, token]) for token in written]
        choice["logprobs"] = {
            "tokens": [*tokens, *map(it.tokenizer.decode, written)],
            "token_logprobs": [*values, *last],
            "text_offset": [0] * (len(tokens) + len(written)),
        }
    return answer(choice, behaviour, len(ids), len(written))


@torch.inference_mode()
def chat(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    it, behaviour = served(server, body), server.behaviour
    text = it.tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
    limit = body["max_tokens"]
    ids = fitting(server, it, it.tokenizer(text, add_special_tokens=False)["input_ids"], limit)
    drawn = {"do_sample": True, "temperature": body["temperature"], "top_k": 0}
    greedy = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    with server.computing:
        torch.manual_seed(body["seed"])
        written = it.model.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.int64),
            max_new_tokens=limit,
            eos_token_id=it.tokenizer.eos_token_id,
            pad_token_id=it.tokenizer.eos_token_id,
            **(drawn if body["temperature"] else greedy),
        )[0, len(ids) :].tolist()
    ended = written[-1:] == [it.tokenizer.eos_token_id]
    content = None if behaviour.no_content else it.tokenizer.decode(written, skip_special_tokens=True)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop" if ended else "length",
    }
    return answer(choice, behaviour, len(ids), len(written)) | {"object": "chat.completion"}


def answer(choice: dict[str, Any], behaviour: Behaviour, prompt: int, written: int) -> dict[str, Any]:
    usage = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
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
