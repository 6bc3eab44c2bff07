"""Fine-tuning of a language model by LoRA: a small adapter is trained, and the loss is that of the answers alone.

On one GPU or, for small models, on a CPU. torch, transformers and peft are imported when training begins.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from base.sentences import gettext as _
from llm.backends import adapters
from llm.backends.base import Backend, BackendError
from llm.backends.transformers import TransformersBackend, loaded_alone
from llm.chat_tokens import SPECIAL, broken

IGNORED = -100  # no loss at this token


class TuningRefused(ValueError):
    """Nothing can be trained; `str()` says why."""


@dataclass(frozen=True)
class Example:
    """What a model is given, and what it shall write."""

    prompt: str
    answer: str


@dataclass(frozen=True)
class Tuning:
    """
    steps: changes of the weights; 0 for `epochs` times all examples. batch: examples a step, `at_once` of them in one
    forward. longest: tokens of prompt and answer; longer examples are left out, since what would be cut is the answer.
    rank, alpha, dropout: of LoRA, on all linear layers. chat: in the form of the model's chat template.
    """

    steps: int = 0
    epochs: int = 3
    batch: int = 8
    at_once: int = 1
    learning_rate: float = 1e-4
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    longest: int = 2048
    chat: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Tuned:
    """losses: the mean loss of an answer's token, one a step, in nats. n_examples: trained on; n_too_long: left out."""

    losses: tuple[float, ...]
    n_examples: int
    n_too_long: int


Encoded = tuple[list[int], list[int]]  # tokens, and of each what it is to be; `IGNORED` in the prompt


def examples_from(lines: Iterable[str]) -> list[Example]:
    """Of JSON lines with `prompt` and `answer`.

    Raises:
        TuningRefused: a line is none, by its number.
    """
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            is_chat = "messages" in data
            prompt, answer = ("", "") if is_chat else (data["prompt"], data["answer"])
        except (ValueError, KeyError, TypeError) as error:
            raise TuningRefused(_("Line %(n)d is no JSON with “prompt” and “answer”.") % {"n": number}) from error
        if is_chat:
            raise TuningRefused(
                _("Line %(n)d is a chat, which may have a picture; what is trained here reads texts alone.")
                % {"n": number}
            )
        if not (isinstance(prompt, str) and isinstance(answer, str) and prompt.strip() and answer.strip()):
            raise TuningRefused(_("Line %(n)d has an empty “prompt” or “answer”.") % {"n": number})
        found.append(Example(prompt, answer))
    if not found:
        raise TuningRefused(_("There is no example."))
    return found


def tune(
    base: Backend,
    examples: Sequence[Example],
    folder: Path,
    tuning: Tuning,
    on_step: Callable[[int, float], None] = lambda step, loss: None,
) -> Tuned:
    """Train an adapter and write it into a new folder, whose path is then a model's location.

    Equal examples, settings and seed give equal weights on a CPU, as far as torch does.

    Raises:
        TuningRefused: the model is none that workers load, the folder holds something, or no example is short enough.
        BackendError: the model cannot be loaded, or peft is not installed.
    """
    if not isinstance(base, TransformersBackend):
        raise TuningRefused(_("The model is on a server; only one that workers load can be trained."))
    if folder.exists() and any(folder.iterdir()):
        raise TuningRefused(_("%(folder)s is not empty.") % {"folder": folder})
    import torch

    peft = adapters.peft()
    model, tokenizer, device = loaded_alone(base)
    if tuning.chat and not tokenizer.chat_template:
        raise TuningRefused(_("This model has no chat template; train it without."))
    encoded = [encode(tokenizer, one, chat=tuning.chat) for one in examples]
    short = [one for one in encoded if len(one[0]) <= tuning.longest]
    if not short:
        raise TuningRefused(_("All examples are longer than %(n)d tokens.") % {"n": tuning.longest})
    torch.manual_seed(tuning.seed)
    config = peft.LoraConfig(
        r=tuning.rank,
        lora_alpha=tuning.alpha,
        lora_dropout=tuning.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    trained = peft.get_peft_model(model, config)
    if device != "cpu":
        trained.enable_input_require_grads()
        trained.gradient_checkpointing_enable()
    trained.train()
    weights = [weight for weight in trained.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=tuning.learning_rate, weight_decay=0.0)
    steps = tuning.steps or -(-len(short) * tuning.epochs // tuning.batch)
    order = _order(len(short), steps * tuning.batch, tuning.seed)
    losses = []
    for step in range(steps):
        chosen = [short[n] for n in order[step * tuning.batch : (step + 1) * tuning.batch]]
        loss = _step(trained, optimizer, weights, chosen, device, tuning, rest=(steps - step) / steps)
        losses.append(loss)
        on_step(step + 1, loss)
    folder.mkdir(parents=True, exist_ok=True)
    trained.save_pretrained(folder, safe_serialization=True, save_embedding_layers=False)
    adapters.write_base(folder, adapters.Base(base.location, base.revision, base.gguf_file))
    told = {"settings": asdict(tuning), "losses": losses, "examples": len(short), "too_long": len(encoded) - len(short)}
    (folder / "palate_tuning.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return Tuned(tuple(losses), len(short), len(encoded) - len(short))


def encode(tokenizer: Any, example: Example, *, chat: bool) -> Encoded:
    """Tokens of prompt and answer with the end of text, or of the turn; what is a special token to the model is made
    harmless in both. The answer stands behind the prompt as a judge that writes is asked: after an empty line."""
    prompt, answer = (SPECIAL.sub(broken, text).strip() for text in (example.prompt, example.answer))
    if chat:
        user = {"role": "user", "content": prompt}
        before = tokenizer.apply_chat_template([user], tokenize=False, add_generation_prompt=True)
        whole = tokenizer.apply_chat_template([user, {"role": "assistant", "content": answer}], tokenize=False)
        end = whole[len(before) :] if whole.startswith(before) else answer + (tokenizer.eos_token or "")
        given = tokenizer(before, add_special_tokens=False)["input_ids"]
        said = tokenizer(end, add_special_tokens=False)["input_ids"]
    else:
        given = tokenizer(f"{prompt}\n\n")["input_ids"]
        if given and given[-1] == tokenizer.eos_token_id and len(given) > 1:
            given = given[:-1]
        said = [*tokenizer(answer, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    return [*given, *said], [IGNORED] * len(given) + said


def _order(n: int, wanted: int, seed: int) -> list[int]:
    """All examples in an order drawn by lot, again and again."""
    drawn = random.Random(seed)  # noqa: S311  # no secret
    order: list[int] = []
    while len(order) < wanted:
        again = list(range(n))
        drawn.shuffle(again)
        order += again
    return order[:wanted]


def _step(
    model: Any,
    optimizer: Any,
    weights: Sequence[Any],
    chosen: Sequence[Encoded],
    device: str,
    tuning: Tuning,
    *,
    rest: float,
) -> float:
    """One change of the weights; the mean loss over all answers' tokens of its examples. The rate falls to nothing."""
    import torch

    n_tokens = sum(label != IGNORED for _tokens, labels in chosen for label in labels[1:])
    total = 0.0
    precise = device == "cpu"
    for begin in range(0, len(chosen), tuning.at_once):
        tokens, labels, attended = _padded(chosen[begin : begin + tuning.at_once], device)
        with nullcontext() if precise else torch.autocast("cuda", dtype=torch.bfloat16):
            logits = model(input_ids=tokens, attention_mask=attended).logits
        loss = torch.nn.functional.cross_entropy(
            logits[:, :-1].float().flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORED, reduction="sum"
        ) / max(n_tokens, 1)
        if not torch.isfinite(loss):
            raise BackendError(_("The loss is no number any more. Take a lower learning rate."), permanent=True)
        loss.backward()  # type: ignore[no-untyped-call]
        total += float(loss.detach())
    torch.nn.utils.clip_grad_norm_(weights, 1.0)
    for group in optimizer.param_groups:
        group["lr"] = tuning.learning_rate * rest
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total


def _padded(chosen: Sequence[Encoded], device: str) -> tuple[Any, Any, Any]:
    import torch

    longest = max(len(tokens) for tokens, _labels in chosen)
    tokens = torch.zeros(len(chosen), longest, dtype=torch.long)
    labels = torch.full((len(chosen), longest), IGNORED, dtype=torch.long)
    attended = torch.zeros(len(chosen), longest, dtype=torch.long)
    for n, (of, wanted) in enumerate(chosen):
        tokens[n, : len(of)] = torch.tensor(of)
        labels[n, : len(wanted)] = torch.tensor(wanted)
        attended[n, : len(of)] = 1
    return tokens.to(device), labels.to(device), attended.to(device)
