"""What a judge is asked, and what comes back. No torch here: web processes import these names.

A row's prompts form a tree: the text that all cells of the row share, then the text of one cell, then one option. What
is scored for an option is `row.shared + cell.text + " " + option + terminator`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

from base.sentences import gettext as _


class OptionsNotPrefixFree(ValueError):
    """One option begins another one, so the longer could never win on the sum of its log-probabilities."""


class PromptTooLong(ValueError):
    """A row's longest prompt does not fit the model's context; nothing is ever cut to make it fit.

    `answer`: tokens that the context must hold besides, for what the model writes.
    """

    def __init__(self, *, tokens: int, context: int, answer: int = 0) -> None:
        self.tokens_over = tokens + answer - context
        sentence = (
            _(
                "The evidence is %(over)s tokens over the model's context: the longest prompt of this row has "
                "%(tokens)s tokens and %(answer)s more are kept free for the answer, the model takes %(context)s. "
                "Shorten the evidence or choose a judge with a longer context."
            )
            if answer
            else _(
                "The evidence is %(over)s tokens over the model's context: the longest prompt of this row has "
                "%(tokens)s tokens, the model takes %(context)s. Shorten the evidence or choose a judge with a longer "
                "context."
            )
        )
        super().__init__(sentence % {"over": self.tokens_over, "tokens": tokens, "answer": answer, "context": context})


@dataclass(frozen=True)
class CellPrompt:
    """One cell: the text that follows the row's shared text, and the options to choose from.

    `text` ends without white space and options begin and end without it: the space before an option belongs to the
    option (the harnesses' rule), and the engine adds it. `unconditional` is a whole prompt of its own that asks the
    same question without any evidence; the normalisation `pmi` needs it.

    Raises ValueError when a text breaks these rules.
    """

    text: str
    options: tuple[str, ...]
    unconditional: str | None = None

    def __post_init__(self) -> None:
        for name, text in (("text", self.text), ("unconditional", self.unconditional)):
            if text is not None and (not text or text != text.rstrip()):
                raise ValueError(
                    _("“%(name)s” of a cell's prompt must be filled and end without white space: %(text)s")
                    % {"name": name, "text": repr(text)}
                )
        if len(self.options) < 2 or len(set(self.options)) < len(self.options):
            raise ValueError(
                _("A cell needs at least two options, all different: %(options)s") % {"options": repr(self.options)}
            )
        for option in self.options:
            if not option or option != option.strip():
                raise ValueError(
                    _("An option must be filled and have no white space around it: %(option)s")
                    % {"option": repr(option)}
                )


@dataclass(frozen=True)
class RowPrompt:
    """All the cells of one row, behind the text they share: the instruction and the row's evidence."""

    shared: str
    cells: tuple[CellPrompt, ...]


@dataclass(frozen=True)
class OptionScore:
    """What the model says about one option of one cell.

    `logprob` and `unconditional` are natural logs, summed over the option's tokens and its terminator. `n_tokens`
    counts those same tokens, terminator included; `n_characters` counts the option as written, without delimiter or
    terminator, as the harnesses do.
    """

    logprob: float
    n_tokens: int
    n_characters: int
    unconditional: float | None


# Indexed by cell, then by option, in the order of the `RowPrompt`.
RowScores = tuple[tuple[OptionScore, ...], ...]


@dataclass(frozen=True)
class Grammar:
    """What an answer must be, in the notations of those who bind it.

    Attributes:
        lark: of `llm.grammars`, for models that are loaded here.
        gbnf: the same for servers, in the notation of llama.cpp that vLLM reads as well; "" where there is none.
        schema: a JSON schema of an object that says the same, for servers that take no grammar; "" where there is none.
    """

    lark: str
    gbnf: str = ""
    schema: str = ""


@dataclass(frozen=True)
class Sampling:
    """How an answer is written.

    `temperature` 0 takes the most probable token each time; otherwise tokens are drawn from the whole distribution,
    the same ones for the same prompt and `seed`, whatever other prompts come with it. `grammar`: what an answer must
    be; None lets the model write what it will. `picture`: a data: address of one that goes with each prompt; "" for
    none.

    `stop`: an answer ends before the first of these strings, for models that go on with something else when they have
    answered. A model that is loaded here passes over them in a thought (`<think>`), and before it has said anything;
    with a grammar, which says itself where an answer ends, there are none.
    """

    max_new_tokens: int
    temperature: float = 0.0
    seed: int = 1
    grammar: Grammar | None = None
    picture: str = ""
    stop: tuple[str, ...] = ()

    @property
    def stops_at(self) -> tuple[str, ...]:
        return self.stop if self.grammar is None else ()


@dataclass(frozen=True)
class Generated:
    """What a model wrote, without special tokens. `cut`: it had not finished, at `max_new_tokens` or for another
    reason of the server's. `tokens`: how many it wrote, None where nobody counted; `reason`: a server's own word for
    why it stopped; `stop`: the string of `Sampling.stop` that ended it, "" where none did or nobody said so;
    `thoughts`: what a server says apart that it thought before. None of these makes two answers different."""

    text: str
    cut: bool
    tokens: int | None = field(default=None, compare=False)
    reason: str = field(default="", compare=False)
    stop: str = field(default="", compare=False)
    thoughts: str = field(default="", compare=False)

    @property
    def said(self) -> str:
        """The text; where there is none, the thought that no answer came of, marked as one that did not end."""
        return f"<think>\n{self.thoughts}" if self.thoughts and not self.text.strip() else self.text

    @property
    def finish(self) -> str:
        """Why it stopped: “stop” at the end of its text, “length” at the limit, else the server's word."""
        return self.reason or ("length" if self.cut else "stop")


class Tokens(int):
    """How many tokens were fed, where it is known which of them the model `read` and which it has `written`: servers
    count, and charge, them apart. As a number it is both together."""

    read: int
    written: int

    def __new__(cls, *, read: int, written: int) -> Self:
        made = super().__new__(cls, read + written)
        made.read, made.written = read, written
        return made


# Called after each forward of a model with the tokens fed and the cells finished so far in this call. It may raise to
# cancel. Whoever counts what is read and what is written apart gives `Tokens`.
OnProgress = Callable[[int, int], None]


def refuse_prefixes(options: Sequence[str], scored: Sequence[Sequence[object]]) -> None:
    """`scored`: the tokens of each option that are scored, its terminator included.

    Raises:
        OptionsNotPrefixFree: those of one begin those of another.
    """
    for first, beginning in zip(options, scored, strict=True):
        for second, tokens in zip(options, scored, strict=True):
            if first is not second and tokens[: len(beginning)] == beginning:
                raise OptionsNotPrefixFree(
                    _(
                        "The option “%(first)s” begins the option “%(second)s”, which could then never win. Score them "
                        "with a terminator that neither contains, or reword one of them."
                    )
                    % {"first": first, "second": second}
                )


def common_prefix_length(first: Sequence[object], second: Sequence[object]) -> int:
    """How many leading members two sequences share, such as tokens."""
    length = min(len(first), len(second))
    if first[:length] == second[:length]:
        return length
    return next((index for index in range(length) if first[index] != second[index]), length)
