"""Candidates that stand side by side in the evidence, read in another order. Pure.

A judge that is shown two texts may like the one that stands first. An arm of it reads them the other way round: what
stood second stands below the first heading, and an answer that names a place is counted for the text that stood there.
Names of places stay where they are, so that neither a heading nor a question tells which arm it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING
from annotation.scheme.spec import QuestionSpec
from base.sentences import gettext as _

_Key = Annotated[str, Field(min_length=1, max_length=200)]


class Candidates(BaseModel):
    """What the evidence calls the places at which candidates stand, and what the options make of them.

    names: headings, each with a candidate below it, or kinds of evidence; in the order of their places. until: the
    heading that ends the last candidate; "" where it goes to the end. options: by question, options that name a
    candidate, one for each place; several such rows where options are graded. Of a question that is not named the
    options whose keys are the names. turn: how many candidates stand last that would stand first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    names: Annotated[tuple[_Key, ...], Field(min_length=2, max_length=10)]
    until: Annotated[str, Field(max_length=200)] = ""
    options: dict[str, tuple[tuple[_Key, ...], ...]] = {}
    turn: Annotated[int, Field(ge=0, le=100)] = 0

    @model_validator(mode="after")
    def _each_place_once(self) -> Self:
        if len(set(map(_folded, self.names))) < len(self.names):
            raise ValueError(_("“candidates” names one place twice"))
        for question, rows in self.options.items():
            named = [key for row in rows for key in row]
            if any(len(row) != len(self.names) for row in rows) or len(set(named)) < len(named):
                raise ValueError(
                    _("“candidates” needs of “%(question)s” one option for each place, each option once")
                    % {"question": question}
                )
        return self

    @property
    def shift(self) -> int:
        """Which candidate stands at the first place."""
        return self.turn % len(self.names)

    def rows_of(self, name: str, question: QuestionSpec) -> tuple[tuple[str, ...], ...]:
        """The options of a question that name a candidate, by place; none where none does."""
        if name in self.options:
            return self.options[name]
        key_of = {_folded(option.key): option.key for option in question.options}
        own = tuple(key_of.get(_folded(place), "") for place in self.names)
        return (own,) if all(own) else ()

    def stood(self, name: str, question: QuestionSpec) -> tuple[tuple[str, ...], ...]:
        """`rows_of` in the order in which this arm showed the candidates."""
        return tuple((*row[self.shift :], *row[: self.shift]) for row in self.rows_of(name, question))

    def meant(self, name: str, question: QuestionSpec) -> dict[str, str]:
        """What an option that the judge chose means, where that is another one: by the place that it names, the option
        of the candidate that stood there."""
        if not self.shift:
            return {}
        shown = self.stood(name, question)
        return {
            said: own
            for row, of_row in zip(self.rows_of(name, question), shown, strict=True)
            for said, own in zip(row, of_row, strict=True)
        }

    def facets(self, facets: Mapping[str, str]) -> Mapping[str, str]:
        """A column's facets: where one names a candidate, it names the place at which that one stands now."""
        if not self.shift:
            return facets
        k = len(self.names)
        place_of = {_folded(name): self.names[(n - self.shift) % k] for n, name in enumerate(self.names)}
        return {facet: place_of.get(_folded(text), text) for facet, text in facets.items()}

    def turned(self, blocks: Sequence[Block]) -> list[Block]:
        """The evidence with its candidates in this order.

        Raises:
            ValueError: with the candidate of which there is nothing, or that stands there twice.
        """
        if not self.shift:
            return list(blocks)
        place_of = {_folded(name): n for n, name in enumerate(self.names)}
        found: list[list[Block]] = [[] for _name in self.names]
        # The evidence without the candidates' texts: a number stands where those of a place belong.
        frame: list[Block | int] = []
        kinds: dict[int, str] = {}
        at: int | None = None
        for block in blocks:
            heads = place_of.get(_folded(block.text)) if block.kind == HEADING else None
            if heads is not None:
                if heads in frame:
                    raise ValueError(_("“%(name)s” heads two parts of this document.") % {"name": self.names[heads]})
                frame += [block, heads]
                at = heads
            elif block.kind == HEADING and self.until and _folded(block.text) == _folded(self.until):
                frame.append(block)
                at = None
            elif (own := place_of.get(_folded(block.kind))) is not None:
                if own not in frame:
                    frame.append(own)
                kinds[own] = block.kind
                found[own].append(block)
            elif at is None:
                frame.append(block)
            else:
                found[at].append(block)
        if missing := [name for name, own in zip(self.names, found, strict=True) if not own]:
            raise ValueError(
                _(
                    "This document has nothing that is called “%(name)s”, so that its candidates cannot change places: "
                    "they stand below headings, or are evidence of a kind, of that name."
                )
                % {"name": missing[0]}
            )
        turned: list[Block] = []
        for part in frame:
            if isinstance(part, Block):
                turned.append(part)
            else:
                shown = found[(part + self.shift) % len(self.names)]
                turned += [Block(kinds[part], block.text) for block in shown] if part in kinds else shown
        return turned


def detected(documents: Sequence[Sequence[Block]], questions: Mapping[str, QuestionSpec]) -> Candidates | None:
    """The candidates of a study, where an option is what each document calls one of them: by its key or label a heading
    or a kind of evidence. The first question that has such options says which they are; None where none has.

    Args:
        questions: those that are asked, by name.
    """
    if not documents:
        return None
    called = [
        {_folded(block.text): block.text for block in blocks if block.kind == HEADING}
        | {_folded(block.kind): block.kind for block in blocks if block.kind != HEADING}
        for blocks in documents
    ]
    everywhere = set(called[0]).intersection(*called)
    places: dict[str, str] = {}  # folded name -> as the documents have it
    options: dict[str, tuple[tuple[str, ...], ...]] = {}
    for name, question in questions.items():
        own = {
            folded: option.key
            for option in question.options
            for folded in [next((f for f in (_folded(option.key), _folded(option.label)) if f in everywhere), "")]
            if folded
        }
        if len(own) < 2 or (places and set(own) != set(places)):
            continue
        if not places:
            order = list(called[0])
            places = {folded: called[0][folded] for folded in sorted(own, key=order.index)}
        options[name] = (tuple(own[folded] for folded in places),)
    if not places or len(places) > 10:
        return None
    return Candidates(names=tuple(places.values()), until=_until(documents, set(places)), options=options)


def _until(documents: Sequence[Sequence[Block]], places: set[str]) -> str:
    """The first heading behind the last candidate, where all documents have it: what stands below it is of none."""
    behind = []
    for blocks in documents:
        headings = [_folded(block.text) for block in blocks if block.kind == HEADING]
        last = max((n for n, text in enumerate(headings) if text in places), default=-1)
        named = [block.text for block in blocks if block.kind == HEADING]
        before = {text for n, text in enumerate(headings) if n < last}
        # A heading that other candidates have too is a part of the candidate.
        behind.append([named[n] for n in range(last + 1, len(named)) if headings[n] not in before])
    if not all(behind) or any(not of for of in behind):
        return ""
    first = behind[0][0]
    return first if all(_folded(of[0]) == _folded(first) for of in behind) else ""


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
