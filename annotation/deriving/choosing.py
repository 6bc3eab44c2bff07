"""Which of a cell's labels counts: the gold, else a named rater's, else what most people said. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class How(StrEnum):
    """By which rule an answer was chosen."""

    GOLD = "gold"
    RATER = "rater"
    MAJORITY = "majority"


class Vote(NamedTuple):
    """One label. `key` is equal for two answers that are the same in the question's own sense, `code` says them;
    `repeat` is the round of its rater."""

    rater: str
    kind: str  # "person", "judge" or "gold"
    key: str
    code: str
    assignment: int
    repeat: int = 1


@dataclass(frozen=True)
class Choice:
    """What a cell's votes come to.

    `code`: the answer, "" where none is chosen. `votes`: those that gave it. `tied`: where several answers were given
    equally often, their codes; none is chosen then.
    """

    code: str = ""
    how: How | None = None
    votes: tuple[Vote, ...] = ()
    tied: tuple[str, ...] = ()


def last_rounds(votes: Sequence[Vote]) -> list[Vote]:
    """Of each rater the vote of the last round."""
    last: dict[str, Vote] = {}
    for vote in votes:
        if vote.rater not in last or vote.repeat >= last[vote.rater].repeat:
            last[vote.rater] = vote
    return list(last.values())


def choose(votes: Sequence[Vote], *, rater: str = "") -> Choice:
    """The answer of a cell: the gold's, else `rater`'s, else that of most people; judges count only by name.

    A person counts once, by the last round that has a label there. Several labels of one source (two golds, a judge's
    repeats) are counted as people are. The one that was given first stands for equal answers that are written
    otherwise.
    """
    people = last_rounds([vote for vote in votes if vote.kind == "person"])
    votes = [*(vote for vote in votes if vote.kind != "person"), *people]
    sources = (
        (How.GOLD, [vote for vote in votes if vote.kind == "gold"]),
        (How.RATER, [vote for vote in votes if rater and vote.rater == rater]),
        (How.MAJORITY, people),
    )
    how, counted = next(((how, of_source) for how, of_source in sources if of_source), (None, []))
    if how is None:
        return Choice()
    by_answer: dict[str, list[Vote]] = {}
    for vote in counted:
        by_answer.setdefault(vote.key, []).append(vote)
    most = max(map(len, by_answer.values()))
    best = [given for given in by_answer.values() if len(given) == most]
    if len(best) > 1:
        return Choice(how=how, tied=tuple(given[0].code for given in best))
    return Choice(code=best[0][0].code, how=how, votes=tuple(best[0]))
