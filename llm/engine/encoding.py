"""From a row's texts to the token sequences that are scored: delimiter, terminator, chat template, BOS, merges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from base.sentences import gettext as _
from llm.chat_tokens import broken
from llm.engine.prompt import CellPrompt, RowPrompt, common_prefix_length, refuse_prefixes
from llm.engine.tree import TokenSequence

# What the texts of a row begin with alike is cut into tokens once where they are so many and it is so long, up to a
# line that begins so many letters before they part.
_FEWEST_ALIKE, _FEWEST_LETTERS, _WELL_BEFORE = 8, 400, 64


class PromptEncoder:
    """Encodes prompts for one tokeniser.

    Plain prompts are `prompt + " " + option + terminator`. With `chat_template` the prompt is the user's message, the
    option is the assistant's whole reply, and what stands before and after a reply is read off the model's own
    template: `terminator` is then the template's end of turn.

    Special tokens in the texts (`<|im_end|>` in a web page) are made inert by a space after their first character, so
    that evidence cannot end its own message.
    """

    def __init__(self, tokenizer: Any, *, terminator: str = "\n", chat_template: bool = False) -> None:
        self._tokenizer = tokenizer
        self._special = _pattern_of_special_tokens(tokenizer)
        begin = tokenizer("a")["input_ids"][:1]
        self._bos: list[int] = begin if begin == [tokenizer.bos_token_id] else []
        self._chat_template = chat_template
        self._cuts_lines_apart = True
        self.delimiter, self.terminator = self._around_a_reply() if chat_template else (" ", terminator)

    @property
    def ends_of_answers(self) -> set[int]:
        """The tokens with which an answer ends: the tokeniser's end of text and, in the chat form, of a turn."""
        ends = {self._tokenizer.eos_token_id} - {None}
        if self._chat_template:
            ends.add(self._tokenizer(self.terminator, add_special_tokens=False)["input_ids"][-1])
        return ends

    def encode(self, row: RowPrompt) -> list[tuple[tuple[TokenSequence, ...], tuple[TokenSequence, ...]]]:
        """The sequences of each cell: one an option, and one an option without evidence (empty if not asked for).

        Raises:
            OptionsNotPrefixFree: an option of a cell begins another one, even with the terminator.
            ValueError: nothing is left in front of an option to predict it from.
        """
        prompts = [(row.shared + cell.text, cell) for cell in row.cells]
        prompts += [(cell.unconditional, cell) for cell in row.cells if cell.unconditional is not None]
        texts = [text for prompt, cell in prompts for text in self._texts(prompt, cell)]
        ids = iter(self._encoded(texts))
        sequences = [self._sequences(ids, cell) for _, cell in prompts]
        unconditional = iter(sequences[len(row.cells) :])
        return [
            (conditional, next(unconditional) if cell.unconditional is not None else ())
            for conditional, cell in zip(sequences, row.cells, strict=False)
        ]

    def _encoded(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text: what most begin with alike is cut once, up to a line that begins well before they
        part. Whether a tokeniser cuts what follows as it does in the whole is looked at in two of the texts.
        """
        shared = _shared_lines(texts)
        if not shared or not self._cuts_lines_apart:
            return self._cut(texts)
        alike = [text for text in texts if text.startswith(shared)]
        head, *rest = self._cut([shared, *(text[len(shared) :] for text in alike)])
        joined = [[*head, *tail] for tail in rest]
        if self._cut([alike[0], alike[-1]]) != [joined[0], joined[-1]]:
            self._cuts_lines_apart = False
            return self._cut(texts)
        others = iter(self._cut([text for text in texts if not text.startswith(shared)]))
        in_order = iter(joined)
        return [next(in_order if text.startswith(shared) else others) for text in texts]

    def _cut(self, texts: Sequence[str]) -> list[list[int]]:
        # One call for all: the tokeniser works on a batch in parallel.
        ids: list[list[int]] = (
            self._tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"] if texts else []
        )
        return ids

    def encode_prompt(self, text: str) -> tuple[int, ...]:
        """A prompt that is to be answered; in the chat form up to where the reply begins."""
        return tuple(self._with_bos(self._tokenizer(self._context(text), add_special_tokens=False)["input_ids"]))

    def decode(self, ids: Sequence[int]) -> str:
        """What a model wrote, without special tokens."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    def _context(self, prompt: str) -> str:
        inert = self._inert(prompt)
        if not self._chat_template:
            return inert
        return self._render([{"role": "user", "content": inert}], add_generation_prompt=True)

    def _texts(self, prompt: str, cell: CellPrompt) -> list[str]:
        context = self._context(prompt)
        wholes = [context + self.delimiter + self._inert(option) + self.terminator for option in cell.options]
        return [context, *wholes]

    def _sequences(self, encoded: Iterator[list[int]], cell: CellPrompt) -> tuple[TokenSequence, ...]:
        context = self._with_bos(next(encoded))
        wholes = [self._with_bos(next(encoded)) for _ in cell.options]
        # Where a merge crosses the join, the context's last tokens are not the whole's. All options are then scored
        # from the last token that all of them keep, so that they stay comparable.
        start = min(common_prefix_length(context, whole) for whole in wholes)
        if start == 0:
            raise ValueError(
                _("The prompt before these options leaves no token to predict them from: %(options)s")
                % {"options": repr(cell.options)}
            )
        refuse_prefixes(cell.options, [whole[start:] for whole in wholes])
        return tuple(TokenSequence(ids=tuple(whole), start=start) for whole in wholes)

    def _with_bos(self, ids: list[int]) -> list[int]:
        # Templates often write the BOS token themselves: it must stand there once, however it came.
        return ids if ids[:1] == self._bos else self._bos + ids

    def _inert(self, text: str) -> str:
        return self._special.sub(broken, text)

    def _render(self, messages: list[dict[str, str]], *, add_generation_prompt: bool) -> str:
        rendered: str = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=add_generation_prompt
        )
        return rendered

    def _around_a_reply(self) -> tuple[str, str]:
        """What the template writes between its generation prompt and a reply, and the end-of-turn token after it."""
        if not self._tokenizer.chat_template:
            raise ValueError(_("This model carries no chat template; use it without one."))
        question, reply = {"role": "user", "content": "Q"}, "REPLY"
        prompt = self._render([question], add_generation_prompt=True)
        whole = self._render([question, {"role": "assistant", "content": reply}], add_generation_prompt=False)
        before, _between, after = whole.rpartition(reply)
        end = self._special.search(after)
        return before.removeprefix(prompt) if before.startswith(prompt) else "", (
            after[: end.end()] if end else self._tokenizer.eos_token
        )


def _shared_lines(texts: Sequence[str]) -> str:
    """Whole lines that more than the half of these texts begin with, some way before they part; "" where that is not
    worth while."""
    if len(texts) < _FEWEST_ALIKE:
        return ""
    middle = sorted(texts)[len(texts) // 2]
    alike = [text for text in texts if text[:_FEWEST_LETTERS] == middle[:_FEWEST_LETTERS]]
    if len(alike) < _FEWEST_ALIKE or len(alike) * 2 < len(texts):
        return ""
    first, last = min(alike), max(alike)  # no two of them part earlier
    n = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[: first.rfind("\n", 0, max(n - _WELL_BEFORE, 0)) + 1] if n > _FEWEST_LETTERS else ""


def _pattern_of_special_tokens(tokenizer: Any) -> re.Pattern[str]:
    added = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
    # A one-character token cannot be broken by a space; the longest first, lest a part of a token be taken for it.
    special = sorted((token for token in {*tokenizer.all_special_tokens, *added} if len(token) > 1), key=len)
    return re.compile("|".join(map(re.escape, reversed(special))) or r"(?!)")
