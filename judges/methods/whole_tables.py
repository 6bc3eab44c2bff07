"""A whole table in one answer: what is asked of all its lines at once, and which part of it is which line's. Pure.

    1.
    INPUT: flour; water
    OUTPUT: dough
    2.
    INPUT: dough
    OUTPUT: baked bread

The paper of PizzaCommonsense asks its models so; a line after the other, each with what was answered above it, is the
other way (`judges.methods.writing`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from base.sentences import gettext as _
from judges.methods import grammar_forms
from judges.methods.answers import Why, behind_answer
from judges.methods.grammar import Begun, forms_of, written_out
from judges.methods.prompt_files import PromptError, PromptSpec
from judges.methods.writing import (
    PLACE,
    Asking,
    Unreadable,
    Written,
    fenced,
    form_lines,
    into_form,
    pattern_of,
    questions_of,
    read,
)
from llm.engine.prompt import Grammar
from llm.engine.thoughts import without_thoughts

_FORM_LINES = 2  # of a table that the form shows


def check(spec: PromptSpec) -> None:
    """
    Raises:
        PromptError: a question is worded for one line, where all are asked at once.
    """
    for name, prompt in spec.questions.items():
        if spec.whole_table and prompt.writing and re.search(r"\$\{?(?:facet_|column|about)", prompt.writing.wording):
            raise PromptError(
                _(
                    "“%(question)s” is worded for one line, and with whole_table all lines are asked at once. Leave "
                    "$about, $column and $facet_… out of its wording; the lines are listed before the questions."
                )
                % {"question": name}
            )


def request(lines: Sequence[str], asked: Sequence[Asking], *, thinking: str = "") -> str:
    """The question after the evidence: the lines with their numbers, and what is asked of each of them. `thinking`: as
    in `writing.into_form`."""
    listed = [f"{number}. {text}" for number, text in enumerate(lines, start=1)]
    told = ["The lines:", *listed, "", f"Of each of these {len(lines)} lines:", *questions_of(asked)]
    told += ["", into_form(thinking, f" for all {len(lines)} lines")]
    for number in range(1, min(_FORM_LINES, len(lines)) + 1):
        told += [f"{number}.", *form_lines(asked)]
    return "\n".join([*told, "…"] if len(lines) > _FORM_LINES else told)


def ends(n: int) -> tuple[str, ...]:
    """Where the answer to a plain prompt ends: at a line more than there are, or where the table begins again."""
    return (f"\n{n + 1}.\n", "\n1.\n")


def grammar(
    lines: Sequence[Sequence[Asking]], *, room: int, opened: bool = False, digitless: Collection[str] = ()
) -> Grammar:
    """The grammar of one answer to all lines, each with its own questions; `room`: characters of the whole; `opened`:
    the prompt ends with the first line's number already."""
    each = room // max(len(lines), 1) - 5
    lark, gbnf = Begun(), Begun()
    members: dict[str, dict[str, Any]] = {}
    for place, asked in enumerate(lines):
        in_lark, in_gbnf, of_line = forms_of(asked, room=each, digitless=digitless, prefix=f"l{place}x")
        head = grammar_forms.literal(("\n" if place else "") + f"{place + 1}.\n")
        for whole, line in ((lark, in_lark), (gbnf, in_gbnf)):
            whole.start += [*([] if opened and not place else [head]), *line.start]
            whole.rules += line.rules
        members[str(place + 1)] = grammar_forms.object_of(of_line)
    return written_out(lark, gbnf, members)


@dataclass(frozen=True)
class Part:
    """What an answer has of a line, and whether the answer ends with it."""

    text: str
    is_last: bool = False


def parts(
    answer: str, lines: Sequence[str], names: Sequence[str], *, opened: bool = False, thinking: bool = False
) -> list[Part | None]:
    """What belongs to each line, by its number; None where the answer has nothing of a line.

    A line begins with its number, with or without its text, before one of `names`, the names of the questions; other
    numbers are part of an answer. What stands below a number that no line has belongs to none. Of two parts with one
    number and different answers none counts, but of the form that was shown and an answer the answer does.

    Args:
        opened: the answer is that of a plain prompt, its opening in front. A model that only continues texts goes on
            with another table, so of parts with one number the first counts.
        thinking: the model was asked to think first; what stands above the line ANSWER belongs to no line.

    >>> told = parts("1.\\nOUTPUT: dough\\n3) OUTPUT: bread", ["Mix", "Wait", "Bake"], ["OUTPUT"])
    >>> [part and part.text for part in told]
    ['OUTPUT: dough', None, 'OUTPUT: bread']
    """
    n = len(lines)
    text = (answer if opened else without_thoughts(answer)).strip()
    below = behind_answer(text) if thinking else None
    text = text if below is None else below
    if (told := _members(text, n)) is not None:
        return told
    heads = [head for head in _heads(tuple(names)).finditer(text) if _begins_line(head, text, lines)]
    if not heads and n == 1 and (not thinking or below is not None):
        return [Part(text, is_last=True)]
    found: dict[int, list[Part]] = {}
    for head, end in zip(heads, [*(head.start() for head in heads[1:]), len(text)], strict=False):
        part = Part(text[head.end() : end].strip(), is_last=end == len(text))
        found.setdefault(int(head["n"]), []).append(part)
    return [_the_one(found.get(number, []), opened=opened) for number in range(1, n + 1)]


def read_line(
    part: Part | None, asked: Sequence[Asking], *, opened: bool = False, cut: bool = False
) -> list[Written | Unreadable]:
    """What is said to each question of a line. `opened`: as in `parts`; `cut`: the answer was not finished, and this is
    its last line or one that it never came to. Of two answers to one question that below the line's number counts: the
    other is one of a line without a number."""
    if part is None:
        return [Unreadable(Why.CUT_OFF if cut else Why.NO_VERDICT)] * len(asked)
    return read(part.text, asked, opened=opened, first=True, cut=cut)


@lru_cache(maxsize=64)
def _heads(names: tuple[str, ...]) -> re.Pattern[str]:
    """Where lines may begin: `n`, a number before the name of a question, with `text` between them or none."""
    name = "|".join(map(pattern_of, names))
    before = rf"[\s>*_#•{{\"“,-]*(?:{name})[*_\"”]*(?:[ \t]*\([^()\n]*\))?[*_\"”]*[ \t]*[:=]"
    return re.compile(
        r"^[ \t>*_#]*(?:(?:line|step)[ \t]+)?\(?(?P<n>\d{1,3})(?:"
        rf"[.):]+[*_]*[ \t]*(?P<text>[^\n]*?)[ \t*_]*(?={before}|\s*\Z)|[ \t]*(?=\n{before}))",
        re.IGNORECASE | re.MULTILINE,
    )


def _begins_line(head: re.Match[str], text: str, lines: Sequence[str]) -> bool:
    """Whether what stands behind a number is nothing, or the text of the line that has it. A number without a dot is an
    answer where a colon stands before it."""
    if head["text"] is None:
        return not text[: head.start()].rstrip().endswith((":", "="))
    said, number = _folded(head["text"]), int(head["n"])
    return not said or (1 <= number <= len(lines) and said == _folded(lines[number - 1]))


def _folded(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _the_one(of: Sequence[Part], *, opened: bool) -> Part | None:
    if opened or len(of) < 2:
        return of[0] if of else None
    said = [part for part in of if PLACE not in part.text] or of
    return said[-1] if len({part.text for part in said}) == 1 else None


def _members(text: str, n: int) -> list[Part | None] | None:
    """The lines of an answer that is JSON: an object by their numbers, or a list of all."""
    try:
        told = json.loads(fenced(text))
    except (ValueError, RecursionError):
        return None
    if isinstance(told, list):
        told = {str(number): one for number, one in enumerate(told, start=1)} if len(told) == n else {}
    if not isinstance(told, dict) or not all(isinstance(one, dict) for one in told.values()):
        return None
    return [
        Part(json.dumps(told[key], ensure_ascii=False)) if (key := str(number)) in told else None
        for number in range(1, n + 1)
    ]
