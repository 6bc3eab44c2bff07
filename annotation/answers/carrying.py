"""What earlier entries of a list say that may hold for a later one which says nothing there: proposals. Pure.

A tool that a step names is used in the next steps until another one is named; what several things have become is
called by one word, such as “mixture”. Nothing is filled in: whoever takes a document apart takes a proposal, or leaves
it. The scripts have the same in `static/palate/core/carrying.js`; both are held to `tests/rules/carrying.json`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.scheme.values import ItemField, ItemsSpec

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def proposals(
    own: ItemsSpec, records: Sequence[Mapping[str, Any]], at: int, words: Sequence[str] = ()
) -> dict[str, str | list[str]]:
    """What is proposed in the empty fields of the record at this place, by field.

    Args:
        words: of each record the words of the document that it comes from, "" or too few where nothing is known.
    """
    record = records[at]
    first = own.said[0]
    if not record.get(first.key):
        return {}
    verb = _words(str(record[first.key]))
    found: dict[str, str | list[str]] = {}
    for field in own.said:
        if field.carried and not record.get(field.key):
            proposed = _several(own, field, records, at, words) if field.is_list else _one(field, records, at, verb)
            if proposed:
                found[field.key] = proposed
    return found


def carried(own: ItemsSpec, records: Sequence[Mapping[str, Any]], words: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The records with everything taken that is proposed, from the first on."""
    filled: list[dict[str, Any]] = [dict(record) for record in records]
    for at, record in enumerate(filled):
        record.update(proposals(own, filled, at, words))
    return filled


def _one(field: ItemField, records: Sequence[Mapping[str, Any]], at: int, verb: Sequence[str]) -> str:
    """The last earlier text that belongs to this entry's verb; else the last one that belongs to no verb."""
    free = ""
    for record in reversed(records[:at]):
        text = str(record.get(field.key) or "")
        if not text:
            continue
        into = _into(field, text)
        if into is None:
            free = free or text
        elif any(word in verb for word in into):
            return text
    return free


def _into(field: ItemField, text: str) -> list[str] | None:
    """The verbs that a text is carried to, None where the scheme says nothing of it."""
    of_text = _words(text)
    for named, verbs in field.carried_into.items():
        if of_text[-len(_words(named)) :] == _words(named):
            return [word for verb in verbs for word in _words(verb)]
    return None


def _several(
    own: ItemsSpec, field: ItemField, records: Sequence[Mapping[str, Any]], at: int, words: Sequence[str]
) -> list[str]:
    """One thing is carried as it is, several by the word that sums them up."""
    earlier = [place for place in range(at - 1, -1, -1) if records[place].get(field.key)]
    if not earlier:
        return []
    last = list(records[earlier[0]][field.key])
    sums = {word.casefold(): word for word in field.sums}
    if not sums:
        return last
    together = len(last) > 1
    if len(last) == 1 and len(earlier) > 1 and last[0].casefold() not in sums:
        # What is put to something else: it is one with it from then on, unless it is somewhere else.
        together = not _elsewhere(own, records[earlier[0]], records[earlier[1]])
    if not together:
        return last
    said = [words[place] for place in (at, *earlier) if place < len(words)]
    return [next((sums[word] for text in said for word in _words(text) if word in sums), _known(last, sums, field))]


def _known(last: Sequence[str], sums: Mapping[str, str], field: ItemField) -> str:
    """A summing word that is among the things themselves, else the field's first."""
    return next((sums[text.casefold()] for text in last if text.casefold() in sums), field.sums[0])


def _elsewhere(own: ItemsSpec, later: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Two entries name two texts in a field that is carried and no list: other tools, and so other things."""
    return any(
        later.get(field.key) and before.get(field.key) and later[field.key] != before[field.key]
        for field in own.said
        if field.carried and not field.is_list
    )


def _words(text: str) -> list[str]:
    return [match[0].casefold() for match in _WORD.finditer(text)]
