"""Free generation: the answers to many prompts, written in batches.

Prompts are padded at the left, and those of like length share a batch. A batch's keys and values take at most
`cache_budget` tokens (prompts, padding and the answers' room together; a single prompt may take more, at most the
model's context), and no forward is fed more than `token_budget` tokens: long prompts go in by pieces. An answer that is
finished leaves its batch at once.

What prompts begin with alike is computed once: of the prompts in a batch, those that share a beginning get its keys
and values from one forward, and equal prompts are read once however many answers they are to have. The beginning that
a call ended with is kept for the next one, which often asks about the same text again.

What a prompt is answered does not depend on its batch but for rounding: greedy takes the most probable token, and the
draws of a prompt come from a generator of its own, seeded by the prompt's tokens and the sampling's seed. With a
grammar only tokens that it allows are taken, or drawn, whatever the model makes of the others.

Greedy answers go on by guesses where there are some (`lookup`): the model is fed several tokens of an answer at once,
and those that it would not have written are taken back.

On a GPU a step of the answers is captured, and started as a whole (`captured`).

Whether a model takes padding, positions and pieces is tried out before its first answer; one that does not is answered
prompt by prompt by transformers itself (`one_by_one`).
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from transformers import DynamicCache

from base.sentences import gettext as _
from llm.engine import batch_probing, captured
from llm.engine.captured import Steps
from llm.engine.cloze import LEAST_TOKEN_BUDGET
from llm.engine.encoding import PromptEncoder
from llm.engine.lookup import Guess, Lookup, Text
from llm.engine.one_by_one import write
from llm.engine.padded import Padded
from llm.engine.probing import context_of
from llm.engine.prompt import Generated, Grammar, OnProgress, PromptTooLong, Sampling, common_prefix_length
from llm.engine.stopping import Stop, Watch
from llm.grammars import BoundAnswer, GrammarRefused

# Tokens that a shared beginning has at least; less is not worth a forward of its own.
LEAST_SHARED = 32
# A forward by itself costs as much as so many more tokens that it is fed: it reads the model's weights, and starts its
# products.
PRICES = {"cpu": 24, "cuda": 200}
# Logits of a forward, at most, as far as guesses make them more.
_LOGITS = 2**26
# Tokens of a beginning that is kept for the next call are read so many at a time, and taken up again by such pieces.
KEPT_PIECE = 256


@dataclass
class _Answer:
    """One prompt on its way. `draws`: numbers from [0, 1), one for each token that may be drawn."""

    place: int  # among the prompts of the call
    prompt: tuple[int, ...]
    draws: torch.Tensor
    bound: BoundAnswer | None = None
    written: list[int] = field(default_factory=list)
    stopped: bool = False
    stop: Stop | None = None  # the string that ended it
    last: int = -1  # the token taken last, one that ends the answer too
    text: Text | None = None  # in which guesses are looked up


class AnswerGenerator:
    """Writes answers with one causal language model of transformers. An answer ends with the model's end of text, or,
    in the chat form, of its turn, or before a string of the sampling's.

    `bind` begins an answer that is bound to a grammar, given the tokens that end answers.
    """

    def __init__(
        self,
        model: Any,
        encoder: PromptEncoder,
        *,
        token_budget: int,
        cache_budget: int,
        bind: Callable[[str, frozenset[int]], BoundAnswer] | None = None,
    ) -> None:
        self._model = model
        self._encoder = encoder
        self.token_budget = token_budget
        self._cache_budget = cache_budget
        self._context = context_of(model)
        self._stops = _stops(model) | encoder.ends_of_answers
        self._bind = bind
        self._kept: tuple[tuple[int, ...], DynamicCache] | None = None
        self._steps = Steps(model)

    @cached_property
    def alone_because(self) -> str | None:
        """Why prompts are answered one by one, in a sentence; None if they go in batches.

        Raises CannotGenerate for a model that answers neither way.
        """
        why = batch_probing.why_no_batches(self._model)
        if why is not None:
            # Two tokens more than a prompt: a model that keeps nothing between tokens fails at the second.
            write(self._model, (2, 3, 4, 5), [], 3, lambda logits: int(logits.argmax(-1)))
        return why

    @property
    def _takes_batches(self) -> bool:
        return self.alone_because is None

    @property
    def _shares(self) -> bool:
        return self._takes_batches and batch_probing.only_full_attention(self._model)

    @cached_property
    def keeps_prefixes(self) -> bool:
        """Whether answers go on with their prompts' keys as they were read, in place of a copy of their own."""
        return self._shares and batch_probing.takes_prefixes(self._model)

    @cached_property
    def by_steps(self) -> bool:
        """Whether what a step of answers starts is captured, and started again as a whole."""
        return self._takes_batches and batch_probing.takes_steps(self._model)

    @cached_property
    def looks_up(self) -> bool:
        """Whether greedy answers go on by several tokens a forward, guesses that are looked up."""
        return self.by_steps or self._takes_back

    @cached_property
    def _takes_back(self) -> bool:
        """Whether guesses can be taken back of answers that are not written by steps."""
        return self.keeps_prefixes or (self._shares and batch_probing.takes_guesses(self._model))

    @property
    def _price(self) -> int:
        return PRICES.get(self._model.device.type, PRICES["cuda"])

    def generate(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
        on_progress: OnProgress | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Generated | PromptTooLong]:
        """The answer to each prompt, or in its place what to say if it and its answer do not fit the model's context.

        `seeds`: of each prompt its own in place of the sampling's, so that one prompt can be answered several times.

        Where a batch does not fit a GPU's memory, both budgets are halved, for good, and the call begins anew.

        Raises:
            CannotGenerate: the model writes in no way that is known here.
            FloatingPointError: the model returned something that is not a number.
            GrammarRefused: answers cannot be bound by this grammar, or with this tokeniser.
            torch.OutOfMemoryError: not even steps of `LEAST_TOKEN_BUDGET` tokens fit.
            Whatever `on_progress` raises.
        """
        while True:
            try:
                return self._generate(prompts, sampling, on_progress, seeds)
            except torch.OutOfMemoryError:
                if self.token_budget <= LEAST_TOKEN_BUDGET:
                    raise
                self.token_budget = max(self.token_budget // 2, LEAST_TOKEN_BUDGET)
                self._cache_budget //= 2  # a batch has one prompt at least, whatever is left of it
            self._kept = None
            self.release()
            # Out of the handler, where the error's traceback keeps the failed forward's tensors.
            torch.cuda.empty_cache()  # nothing happens where there is no GPU

    def release(self) -> None:
        """Give back the buffers that the next call would write in."""
        self._steps.release()

    def _generate(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
        on_progress: OnProgress | None,
        seeds: Sequence[int] | None,
    ) -> list[Generated | PromptTooLong]:
        found: list[Generated | PromptTooLong | None] = [None] * len(prompts)
        answers: list[_Answer] = []
        same: dict[tuple[tuple[int, ...], int], int] = {}  # prompt and seed -> the answer that both have
        of: dict[int, int] = {}  # a place -> the place whose answer it shares
        encoded: dict[str, tuple[int, ...]] = {}
        for place, text in enumerate(prompts):
            ids = encoded.get(text) or encoded.setdefault(text, tuple(self._encoder.encode_prompt(text)))
            seed = sampling.seed if seeds is None else seeds[place]
            # Without draws the seed makes no difference.
            known = same.setdefault((ids, seed if sampling.temperature else 0), place)
            if known != place:
                of[place] = known
            elif len(ids) + sampling.max_new_tokens > self._context:
                found[place] = PromptTooLong(tokens=len(ids), context=self._context, answer=sampling.max_new_tokens)
            else:
                draws = _draws(ids, replace(sampling, seed=seed))
                answers.append(_Answer(place, ids, draws, self._begin(sampling.grammar)))
        progress = _Progress(on_progress)
        lookup = Lookup(self._price) if sampling.temperature == 0 and self.looks_up else None
        with torch.inference_mode():
            for batch in self._batches(answers, sampling):
                self._write(batch, sampling, progress, lookup)
        for answer in answers:
            text, at = self._encoder.decode(answer.written), answer.stop
            found[answer.place] = Generated(
                text if at is None else text[: at.place],
                cut=not answer.stopped,
                tokens=len(answer.written),
                stop="" if at is None else at.string,
            )
        for place, known in of.items():
            found[place] = found[known]
        return [one for one in found if one is not None]

    def _begin(self, grammar: Grammar | None) -> BoundAnswer | None:
        if grammar is None:
            return None
        if self._bind is None:
            raise GrammarRefused(_("This model cannot be bound to a grammar."))
        return self._bind(grammar.lark, frozenset(self._stops))

    def _batches(self, answers: Sequence[_Answer], sampling: Sampling) -> list[list[_Answer]]:
        left = sorted(answers, key=lambda answer: len(answer.prompt), reverse=True)
        if self._shares:  # those with one beginning side by side, the longest first
            groups = _groups([answer.prompt for answer in answers])
            longest = {group: max(len(answers[one].prompt) for one in of) for group, of in enumerate(groups)}
            in_turn = sorted(range(len(groups)), key=lambda group: -longest[group])
            left = [answers[one] for group in in_turn for one in groups[group]]
        batches = []
        while left:
            size = 1
            room = len(left[0].prompt)
            while self._takes_batches and size < len(left):
                room = max(room, len(left[size].prompt))
                if self._tokens_held(size + 1, room + sampling.max_new_tokens) > self._cache_budget:
                    break
                size += 1
            batches.append(left[:size])
            left = left[size:]
        return batches

    def _tokens_held(self, answers: int, tokens: int) -> int:
        """Of how many tokens a batch holds keys and values: so many answers, of so many tokens with their prompts."""
        return captured.tokens_held(answers, tokens) if self.by_steps else answers * tokens

    def _write(
        self, batch: list[_Answer], sampling: Sampling, progress: _Progress, lookup: Lookup | None = None
    ) -> None:
        if not self._takes_batches:
            for answer in batch:
                self._write_alone(answer, sampling, progress)
            return
        forwards = Padded(self._model)
        logits = self._read(forwards, batch, progress, room=sampling.max_new_tokens)
        if lookup is not None and not forwards.stepping and not self._takes_back:
            lookup = None
        if lookup is not None:
            for answer in batch:
                answer.text = lookup.begin(answer.prompt)
        guesses = [Guess() for _answer in batch]
        while True:
            taken = self._take(logits, batch, guesses, sampling, lookup)
            going = [
                place
                for place, answer in enumerate(batch)
                if not answer.stopped and len(answer.written) < sampling.max_new_tokens
            ]
            if any(guess.tokens for guess in guesses):
                forwards.take_back(taken)
            if len(going) < len(batch):
                progress.count(answers=len(batch) - len(going))
                batch = [batch[place] for place in going]
                if not batch:
                    return
                forwards.keep(torch.tensor(going))
            guesses = self._guess(batch, sampling, lookup, padded=not forwards.beside)
            fed = [[answer.written[-1], *guess.tokens] for answer, guess in zip(batch, guesses, strict=True)]
            logits = forwards.go(fed)
            progress.count(tokens=sum(map(len, fed)))

    def _guess(
        self, batch: Sequence[_Answer], sampling: Sampling, lookup: Lookup | None, *, padded: bool
    ) -> list[Guess]:
        """How each answer may go on beyond its next token."""
        if lookup is None:
            return [Guess() for _answer in batch]
        texts, room = [], []
        for answer in batch:
            assert answer.text is not None
            answer.text.forced = answer.bound.forced() if answer.bound is not None else ()
            texts.append(answer.text)
            room.append(sampling.max_new_tokens - len(answer.written) - 1)
        n_vocab = self._model.config.get_text_config().vocab_size
        most = min(self.token_budget, _LOGITS // n_vocab)
        guesses = lookup.guess(texts, room, most=most, padded=padded)
        for answer, guess in zip(batch, guesses, strict=True):
            if answer.bound is not None:
                del guess.tokens[answer.bound.fitting(guess.tokens) :]
        return guesses

    def _write_alone(self, answer: _Answer, sampling: Sampling, progress: _Progress) -> None:
        answer.written.clear()  # of a try that did not fit the memory
        answer.stopped, answer.stop = False, None

        def choose(logits: torch.Tensor) -> int:
            progress.count(tokens=1 if answer.written else len(answer.prompt))
            self._take(logits, [answer], [Guess()], sampling)
            return answer.last

        write(self._model, answer.prompt, sorted(self._stops), sampling.max_new_tokens, choose, lambda: answer.stopped)
        progress.count(answers=1)

    def _take(
        self,
        logits: torch.Tensor,
        batch: Sequence[_Answer],
        guesses: Sequence[Guess],
        sampling: Sampling,
        lookup: Lookup | None = None,
    ) -> list[int]:
        """Go on with each answer as far as its guess is what the model writes, and a token further; how many tokens
        that are. `logits` (N, V): of each answer those after its last token, and after each one of its guess."""
        logits = logits.float()
        likeliest = logits.argmax(-1)
        if logits.gather(-1, likeliest[:, None]).isnan().any():  # where one is not a number, it is the greatest
            raise FloatingPointError(_("The model returned something that is not a number."))
        tokens = likeliest.tolist() if sampling.temperature == 0 else self._drawn(logits, batch, sampling)
        watch = Watch(sampling.stops_at, self._encoder.decode)
        taken = []
        row = 0
        for answer, guess in zip(batch, guesses, strict=True):
            before = len(answer.written)
            n = 0
            for guessed in (*guess.tokens, None):
                token = tokens[row + n]
                if answer.bound is not None and sampling.temperature == 0:
                    token = int(_allowed(logits[row + n], answer.bound).argmax())
                n += 1
                answer.last = token
                if answer.bound is not None:
                    answer.bound.take(token)
                if token in self._stops:
                    answer.stopped = True
                else:
                    answer.written.append(token)
                    answer.stop = watch.ends(answer.written)
                    answer.stopped = answer.stop is not None
                if answer.stopped or token != guessed:
                    break
            row += len(guess.tokens) + 1
            taken.append(n)
            if lookup is not None and answer.text is not None:
                lookup.write(answer.text, answer.written[before:])
                lookup.learn(guess, n if answer.last in guess.tokens[n - 1 : n] else n - 1)
        return taken

    def _read(self, forwards: Padded, batch: Sequence[_Answer], progress: _Progress, *, room: int) -> torch.Tensor:
        """Feed the prompts of a batch, each once, their shared beginnings before them; the logits after each
        answer's, which gets so many tokens at most.
        """
        prompts = list(dict.fromkeys(answer.prompt for answer in batch))
        groups = _groups(prompts) if self._shares else [[place] for place in range(len(prompts))]
        shared = [_beginning([prompts[place] for place in group]) if self._shares else 0 for group in groups]
        if len(groups) == 1 and self._shares:
            shared = [self._from_kept(forwards, prompts, shared[0], progress)]
        elif any(shared):
            first = [prompts[group[0]][:n] for group, n in zip(groups, shared, strict=True)]
            self._feed(forwards, first, progress)
            self._kept = None
        if any(shared):
            group_of = {place: number for number, group in enumerate(groups) for place in group}
            forwards.keep(torch.tensor([group_of[place] for place in range(len(prompts))]))
            shared_of = [shared[group_of[place]] for place in range(len(prompts))]
        else:
            shared_of = [0] * len(prompts)
        logits = self._feed(forwards, [p[n:] for p, n in zip(prompts, shared_of, strict=True)], progress)
        number = {prompt: place for place, prompt in enumerate(prompts)}
        places = torch.tensor([number[answer.prompt] for answer in batch])
        if self.by_steps and self._tokens_held(len(batch), max(map(len, prompts)) + room) <= self._cache_budget:
            forwards.by_steps(self._steps, places, room)
        elif len(batch) > 1 and self.keeps_prefixes:
            forwards.go_on(places)
        elif places.tolist() != list(range(len(prompts))):
            forwards.keep(places)
        return logits[places.to(logits.device)]

    def _from_kept(self, forwards: Padded, prompts: Sequence[tuple[int, ...]], shared: int, progress: _Progress) -> int:
        """Begin with what the last call ended with, as far as these prompts begin so too, and keep their own beginning.
        How many tokens of it are there then."""
        shared = shared or (len(prompts[0]) - 1 if len(prompts) == 1 else 0)
        if shared < LEAST_SHARED:
            self._kept = None
            return 0
        beginning = prompts[0][:shared]
        piece = min(KEPT_PIECE, self.token_budget)
        known = 0
        if self._kept is not None:
            known = common_prefix_length(self._kept[0], beginning)
            if known < shared:  # in the pieces in which it is read anew: a text is the same whatever was asked before
                known -= known % piece
            if known >= LEAST_SHARED:
                forwards.begin_with(self._kept[1], known)
            else:
                known = 0
        if known < shared:
            self._feed(forwards, [beginning[known:]], progress, piece=piece)
        self._kept = (beginning, forwards.copied())
        return shared

    def _feed(
        self, forwards: Padded, texts: Sequence[Sequence[int]], progress: _Progress, *, piece: int | None = None
    ) -> torch.Tensor:
        """Feed texts of different lengths, which end together, by pieces; the logits after them."""
        longest = max(map(len, texts))
        fed = torch.tensor([[0] * (longest - len(text)) + list(text) for text in texts])
        seen = torch.tensor([[0] * (longest - len(text)) + [1] * len(text) for text in texts], dtype=torch.long)
        piece = piece or max(1, self.token_budget // len(texts))
        for begin in range(0, longest, piece):
            part = fed[:, begin : begin + piece]
            logits = forwards.feed(part, seen[:, begin : begin + piece])
            progress.count(tokens=part.numel())
        return logits

    def _drawn(self, logits: torch.Tensor, batch: Sequence[_Answer], sampling: Sampling) -> list[int]:
        """The next token of each answer, drawn; `logits` are of shape (B, V)."""
        for place, answer in enumerate(batch):
            if answer.bound is not None:
                logits[place] = _allowed(logits[place], answer.bound)
        below = (logits / sampling.temperature).softmax(-1).double().cumsum(-1)
        drawn = torch.stack([answer.draws[len(answer.written)] for answer in batch]).to(below.device)
        # The first token up to which there is more probability than was drawn: never one of probability 0.
        tokens = torch.searchsorted(below, drawn[:, None] * below[:, -1:], right=True)
        return [min(token, logits.shape[-1] - 1) for token in tokens[:, 0].tolist()]


def _allowed(logits: torch.Tensor, bound: BoundAnswer) -> torch.Tensor:
    return logits.masked_fill(~bound.allowed().to(logits.device), float("-inf"))


class _Progress:
    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._tokens = self._answers = 0

    def count(self, *, tokens: int = 0, answers: int = 0) -> None:
        self._tokens += tokens
        self._answers += answers
        if self._on_progress is not None:
            self._on_progress(self._tokens, self._answers)


def _beginning(prompts: Sequence[Sequence[int]]) -> int:
    """How many tokens the prompts of a group share, which leaves at least one of each; 0 of a single prompt."""
    if len(prompts) < 2:
        return 0
    n = min(common_prefix_length(prompts[0], other) for other in prompts[1:])
    n = min(n, *(len(prompt) - 1 for prompt in prompts))
    return n if n >= LEAST_SHARED else 0


def _groups(prompts: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """Places of prompts with a common beginning together. Where neighbours in the order of their tokens share much less
    than the ones beside them do, another group begins: questions about one text, not all that begin with the same
    instruction."""
    order = sorted(range(len(prompts)), key=lambda place: prompts[place])
    shared = [common_prefix_length(prompts[a], prompts[b]) for a, b in itertools.pairwise(order)]
    groups = [[order[0]]] if order else []
    for place, n in enumerate(shared):
        beside = max(shared[max(place - 1, 0) : place + 2])
        if n < LEAST_SHARED or 2 * n < beside:
            groups.append([])
        groups[-1].append(order[place + 1])
    return groups


def _draws(prompt: Sequence[int], sampling: Sampling) -> torch.Tensor:
    named = f"{sampling.seed}:{','.join(map(str, prompt))}".encode()
    seed = int.from_bytes(hashlib.sha256(named).digest()[:8], signed=True)
    return torch.rand(sampling.max_new_tokens, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def _stops(model: Any) -> set[int]:
    """The tokens that end a text, as the model's own files say."""
    named = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return set(named) if isinstance(named, list) else set() if named is None else {named}
