"""Documents with people's answers, as a judge that writes is asked about them and as it shall answer. Pure.

    This is “Flat bread”. What is there: flour; water

    Step: mix flour with the water
    INPUT: flour; water
    OUTPUT: dough

A table that is asked all at once has its lines first, and the answers below their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judges.methods import writing
from judges.methods.writing import Asking, Written


@dataclass(frozen=True)
class Line:
    """A column of a document: its text, what is asked of it and said there; `there`: what exists before it, where a
    question asks what it makes of that."""

    text: str
    asked: Sequence[Asking]
    said: Sequence[Written]
    there: Sequence[str] | None = None


def of_document(document: str, lines: Sequence[Line], *, title: str, whole_table: bool) -> str:
    """The text of one document. `document`: what the prompt tells of it; `title`: of its columns."""
    told = [document, ""] if document else []
    if whole_table:
        told += ["The lines:", *(f"{number}. {line.text}" for number, line in enumerate(lines, start=1)), ""]
        for number, line in enumerate(lines, start=1):
            told += [f"{number}.", *writing.answer_lines(line.asked, line.said)]
        return "\n".join(told)
    for line in lines:
        told += [f"{title}: {line.text}"] if line.text else []
        told += [writing.there(line.there).strip()] if line.there is not None else []
        told += [*writing.answer_lines(line.asked, line.said), ""]
    return "\n".join(told).strip()
