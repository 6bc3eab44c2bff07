"""Ratings by free generation: the request of a criterion, and what is read in the answer. Pure.

The form of the ASH benchmark: the model writes the criterion, a whole number, and a brief reason; one criterion an
answer, or several, each read by its name.

    AUTHENTICITY: 4
    Reason: The layers and the oven stay; only the sauce changes.

Nothing is guessed. A rating counts if it stands alone behind the criterion's name and was offered. “4/5”, “3-4” and
“3.5” may each mean two things and are refused. The last rating that counts is the verdict, since models repeat the
format that they are shown, and think aloud, before they answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from judges.methods.answers import Scores, Why
from llm.engine.thoughts import without_thoughts

__all__ = ["Criterion", "Scores", "Unreadable", "Verdict", "Why", "ends", "opening", "read", "request", "request_all"]


@dataclass(frozen=True)
class Criterion:
    """What is rated. `name`: a word or some, as the model shall write it; `ratings`: each number that is offered, and
    what it means where the number does not say it."""

    name: str
    wording: str
    ratings: Mapping[int, str]


@dataclass(frozen=True)
class Verdict:
    rating: int
    reason: str


@dataclass(frozen=True)
class Unreadable:
    why: Why


def request(criterion: Criterion) -> str:
    """The question after the evidence."""
    numbers = _numbers(criterion)
    return "\n".join(
        [
            # Only the form has the name and a colon: models write again what stood behind them.
            f"Rate one criterion, {criterion.name}, with a whole number {numbers}, and give a brief reason.",
            criterion.wording,
            *_meanings(criterion),
            "",
            "Write your answer in this form:",
            *_form(criterion),
        ]
    )


def request_all(criteria: Sequence[Criterion]) -> str:
    """The question after the evidence, where one answer is to rate several criteria."""
    if len(criteria) == 1:
        return request(criteria[0])
    asked = [
        line
        for criterion in criteria
        for line in ("", f"{criterion.name}, {_numbers(criterion)}", criterion.wording, *_meanings(criterion))
    ]
    return "\n".join(
        [
            f"Rate {len(criteria)} criteria, each with a whole number, and give a brief reason for each.",
            *asked,
            "",
            "Write your answer in this form:",
            *(line for criterion in criteria for line in _form(criterion)),
        ]
    )


def _numbers(criterion: Criterion) -> str:
    offered = sorted(criterion.ratings)
    gapless = offered == list(range(offered[0], offered[-1] + 1))
    return f"from {offered[0]} to {offered[-1]}" if gapless else f"out of {', '.join(map(str, offered))}"


def _meanings(criterion: Criterion) -> list[str]:
    return [f"{number} = {meaning}" for number, meaning in sorted(criterion.ratings.items()) if meaning]


PLACE = "<rating>"  # in the form that a model is shown


def _form(criterion: Criterion) -> list[str]:
    return [f"{criterion.name}: {PLACE}", "Reason: <brief reason>"]


def opening(criterion: Criterion) -> str:
    """What a plain prompt ends in, so that a model which only continues texts continues with the rating."""
    return f"{criterion.name}:"


def ends(criteria: Sequence[Criterion]) -> tuple[str, ...]:
    """Where the answer to a plain prompt ends, whose model goes on when it has answered: a single verdict at the first
    empty line, as its reason does; several where the first of them begins again."""
    return ("\n\n",) if len(criteria) == 1 else (f"\n{opening(criteria[0])}",)


def read(answer: str, criterion: Criterion, *, others: Sequence[str] = (), cut: bool = False) -> Verdict | Unreadable:
    """The last valid verdict on the criterion, else why there is none.

    Args:
        answer: what the model wrote; of a plain prompt with its `opening` in front.
        others: names of the criteria that are asked beside this one.
        cut: the answer was not finished, so that a number at its very end may lack its next digit.
    """
    text = _in_lines(without_thoughts(answer).rstrip())
    if not text.strip():
        return Unreadable(Why.CUT_OFF if cut else Why.EMPTY)
    found = list(_mentions(text, [criterion.name, *others]))
    mine = [mention for mention in found if mention.name == criterion.name]
    readings = [_rating(mention.rest, criterion.ratings) for mention in mine]
    if cut and mine and mine[-1].is_last and not re.search(r"\w", _remainder(mine[-1].rest)):
        readings[-1] = Why.CUT_OFF
    for mention, reading in zip(reversed(mine), reversed(readings), strict=True):
        if isinstance(reading, int):
            return Verdict(reading, _reason(mention))
    if readings:
        return Unreadable(next(why for why in reversed(readings) if isinstance(why, Why)))
    if cut:
        return Unreadable(Why.CUT_OFF)
    rated = any(isinstance(_rating(mention.rest, criterion.ratings), int) for mention in found)
    return Unreadable(Why.OTHER_CRITERION if rated else Why.NO_VERDICT)


def _in_lines(text: str) -> str:
    """An answer that is one JSON object, with an object of rating and reason for each name, as lines; else the text."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(told, dict) or not all(isinstance(said, dict) and "rating" in said for said in told.values()):
        return text
    return "\n".join(f"{name}: {said['rating']}\nReason: {said.get('reason', '')}" for name, said in told.items())


class _Mention(NamedTuple):
    """A criterion named where a verdict would be. `rest`: what follows on its line, or, if nothing does, on the next;
    `after`: the lines below, up to the next mention; `is_last`: no text comes after `rest`."""

    name: str
    rest: str
    after: tuple[str, ...]
    is_last: bool


# Underscores are looked for where they begin alone: from each of many, the others would be looked through again.
_MARKUP = re.compile(r"[*`]|(?<!\w)_+|(?<!_)_+(?!\w)")
# The beginning of a line with what lists, headings, tables and JSON put there; or the end of another verdict.
_HEAD = r"(?:^[\s#>•|{\"“„+-]*(?:\(?\d{1,2}[.)]\s*)?|[|;,]\s+)(?:(?:rating|score)\s+(?:for|of)\s+)?"
# A remark, “(1-5)”, but not the rating itself, “(4)”; and the word rating.
_TAIL = r"[\"”“]?(?:\s*\((?!\s*[-−]?[0-9]+\s*\))[^()]*\))?(?:\s+(?:rating|score))?"
_SEPARATOR = r"(?:(?:\s*(?:[:=|→]|->|[-–—](?!\d)))+\s*|\s*(?=\(\s*[-−]?[0-9])|\s+(?=[<\[\"“]?\s*[-−]?[0-9])|\s*$)"
_SAYS_RATING = re.compile(r"^[\s\-+>|]*(?:rating|score)\s*[:=|]?\s*", re.IGNORECASE)
_NUMBER = re.compile(r"^[<\[(\"“]?\s*([-−]?[0-9]+)(?:\s*[>\])\"”“])?")
# What may follow a number that is a rating: nothing, the punctuation before a reason, or the word itself.
_ALONE = re.compile(r"^\s*(?:$|[.,;:|!}–—-]|\([^()0-9/]*\)|(?=reason\b|explanation\b|rationale\b))", re.IGNORECASE)
_MORE_NUMBERS = re.compile(
    r"^\s*(?:/|[-–—~.,|&+;]\s*[0-9]|(?:to|or|and|of|out\s+of)\b|\([^()]*[0-9/]|\(?\s*out\s+of|[½¼¾%+])", re.IGNORECASE
)
_SAYS_REASON = re.compile(
    r"^[\s\-+>|.,;:!}–—]*(?:\"?(?:a\s+)?(?:brief\s+|short\s+)?(?:reason(?:ing)?|explanation|rationale|justification)s?"
    r"\"?\s*[:=|–—-]+\s*)?",
    re.IGNORECASE,
)


_QUOTED = re.compile(r"^\"([^\"]*)\"$")  # as JSON has it


def _mentions(text: str, names: Sequence[str]) -> Iterator[_Mention]:
    """In the order of the text. White space without end is one space: from each of it, the rest would be looked through
    again."""
    patterns = {name: r"[\s_-]+".join(map(re.escape, name.split())) for name in names}
    one_of = "|".join(f"(?P<n{place}>{pattern})" for place, pattern in enumerate(patterns.values()))
    anywhere = re.compile(f"{_HEAD}(?:{one_of})(?!\\w){_TAIL}{_SEPARATOR}", re.IGNORECASE)
    lines = [" ".join(_MARKUP.sub("", line).split()) for line in text.splitlines()]
    places = [(number, match) for number, line in enumerate(lines) for match in anywhere.finditer(line)]
    for index, (number, match) in enumerate(places):
        name = list(patterns)[next(place for place in range(len(patterns)) if match[f"n{place}"] is not None)]
        until, next_match = places[index + 1] if index + 1 < len(places) else (len(lines), None)
        line, below = lines[number], lines[number + 1 : until]
        rest = line[match.end() : next_match.start() if until == number and next_match else len(line)]
        if not rest.strip():
            # A heading; the rating stands under it.
            under = next((place for place, said in enumerate(below) if said), len(below))
            rest, below = (below[under], below[under + 1 :]) if under < len(below) else ("", [])
        is_row = line.startswith("|")
        is_last = next_match is None and not any(below)
        yield _Mention(name, _SAYS_RATING.sub("", rest).strip(), () if is_row else tuple(below), is_last)


def _rating(rest: str, offered: Mapping[int, str]) -> int | Why:
    number = _NUMBER.match(rest)
    if number is None:
        return Why.NO_NUMBER
    after = rest[number.end() :]
    if _MORE_NUMBERS.match(after):
        return Why.AMBIGUOUS
    if not _ALONE.match(after):
        return Why.NO_NUMBER
    # By its text: 04 was not offered where 4 was.
    return {str(rating): rating for rating in offered}.get(number[1].replace("−", "-"), Why.NOT_OFFERED)


def _remainder(rest: str) -> str:
    """What follows the number."""
    number = _NUMBER.match(rest)
    return rest[number.end() :].strip() if number else rest


def _reason(mention: _Mention) -> str:
    """The rest of the line and the lines below it, up to the next paragraph."""
    said: list[str] = []
    for line in (_remainder(mention.rest), *mention.after):
        text = (line if said else _SAYS_REASON.sub("", line)).strip().rstrip("|}").strip()
        if said and not text:
            break
        if text:
            said.append(text)
    return _QUOTED.sub(r"\1", " ".join(" ".join(said).split()))
