"""A judge at one cell, stored or not: what it is asked, what it answers, what that takes. Writes nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from annotation.answers import kind_of
from annotation.models import Assignment, Row
from annotation.scheme.spec import Layout
from base.text import storable
from judges.extraction.models import Extractor
from judges.methods import cloze
from judges.models import Judge
from judges.runs import labelling
from judges.runs.asking import Asked, Labelled, RowFailed, answered_together
from judges.runs.hearing import Overheard
from judges.trial_models import MODEL_FIELDS, model_of
from llm.backends.base import Backend
from llm.engine.prompt import Generated, OnProgress, Tokens
from llm.models import Prompt
from llm.prompts import digest, with_plain_ends

Cell = tuple[int, str]  # column, question's key


@dataclass(frozen=True)
class Given:
    """What a cell is asked under beside the judge's own words.

    Attributes:
        assignment: the one that is asked about, whose repeat seeds draws; none is one that nobody stores.
        corrected, replies: as `labelling.label_row` has them.
        above: cells that are asked before it, or that the replies answer, those included that another switched off.
    """

    assignment: Assignment | None = None
    corrected: bool = False
    replies: Mapping[Cell, Generated] = field(default_factory=dict)
    above: frozenset[Cell] = frozenset()


def described(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """A judge as a form gave it, as JSON."""
    model = cleaned.get("model")
    named = {
        name: str(value) if isinstance(value := cleaned.get(name), Decimal) else value
        for name in MODEL_FIELDS
        if cleaned.get(name) not in (None, "")
    }
    prompt = cleaned.get("prompt")
    return {
        "name": cleaned.get("name") or "",
        "method": cleaned["method"],
        "model": model.pk if model else (named if cleaned.get("location") else None),
        "prompt_text": prompt.text if prompt else cleaned["prompt_text"],
        "evidence": cleaned["evidence"].pk if cleaned.get("evidence") else None,
        **{name: cleaned.get(name) for name in ("normalisation", "chat_template", "temperature", "max_new_tokens")},
    }


def described_as_stored(judge: Judge) -> dict[str, Any]:
    """The same of a judge that is stored."""
    names = ("name", "method", "model", "prompt", "evidence", "normalisation", "chat_template", "temperature")
    return described({name: getattr(judge, name) for name in (*names, "max_new_tokens")})


def judge_of(said: Mapping[str, Any]) -> Judge:
    """The judge that is described, unsaved."""
    text = with_plain_ends(said["prompt_text"])
    model, method = model_of(dict(said)), said["method"]
    made = Judge(
        name=said["name"],
        method=method,
        prompt=Prompt(name=said["name"], text=text, digest=digest(text)),
        normalisation=said["normalisation"] or Judge.Normalisation.NONE,
        temperature=said["temperature"],
        max_new_tokens=said["max_new_tokens"],
        evidence=Extractor.objects.filter(pk=said["evidence"]).first(),
        chat_template=labelling.asks_in_chat_form(model, method=method, chat_template=bool(said["chat_template"])),
    )
    if model is not None:
        made.model = model
    return made


def at(row: Row) -> Assignment:
    """An assignment that nobody stores."""
    return Assignment(row=row, sections=[])


def cells_of(judge: Judge, row: Row) -> list[Asked]:
    """The cells that it would answer in a row. Three queries."""
    return labelling.cells_asked(judge, at(row))


def cells_with(judge: Judge, asked: Sequence[Asked], cell: Cell) -> set[Cell]:
    """A cell and those that share its answer; empty where the judge does not answer it."""
    together = ({one.key for one in group} for group in answered_together(judge, asked))
    return next((cells for cells in together if cell in cells), set())


def lines_above(judge: Judge, asked: Sequence[Asked], cell: Cell) -> set[Cell]:
    """The cells whose answers a cell is asked below: those of the lines above it, in a table that is written line by
    line."""
    about = next((one for one in asked if one.key == cell), None)
    if (
        about is None
        or about.section.layout != Layout.DOWN
        or judge.method != Judge.Method.WRITING
        or judge.prompt_spec.whole_table
    ):
        return set()
    of_table = (one for one in asked if one.section.key == about.section.key)
    return {one.key for one in of_table if one.column.position < about.column.position}


def try_cell(
    judge: Judge,
    row: Row,
    cell: Cell,
    backend: Backend | None,
    on_progress: OnProgress | None = None,
    given: Given | None = None,
) -> dict[str, Any]:
    """What the judge is asked at one cell, what it answers, and what that took; as JSON. Without `given` it is asked
    about the lines above first, as in a run.

    Raises:
        RowFailed, BackendError, and whatever `on_progress` raises: as `labelling.label_row`.
    """
    through = Overheard(backend) if backend is not None else None
    assignment = (given.assignment if given else None) or at(row)
    asked = labelling.cells_asked(judge, assignment)
    given = given or Given(above=frozenset(lines_above(judge, asked, cell)))
    only = cells_with(judge, asked, cell) | given.above
    begun = time.monotonic()
    spent = Tokens(read=0, written=0)

    def progress(tokens: int, done: int) -> None:
        nonlocal spent
        spent = tokens if isinstance(tokens, Tokens) else Tokens(read=tokens, written=0)
        if on_progress is not None:
            on_progress(tokens, done)

    labelled = labelling.label_row(
        judge, assignment, through, progress, given.corrected, only=only, replies=given.replies
    )
    seconds = time.monotonic() - begun
    written = max(spent.written, labelled.written)
    return {
        "prompts": list(dict.fromkeys(storable(text) for text in through.shown)) if through else [],
        "letters": through.letters(shares=True) if through else 0,
        "letters_apart": through.letters(shares=False) if through else 0,
        "seconds": seconds,
        "read": labelled.tokens - written,
        "written": written,
        "speaks": storable(labelled.speaks[:500]),
        **_said(labelled, cell),
    }


def _said(labelled: Labelled, cell: Cell) -> dict[str, Any]:
    unread = next((one for one in labelled.unread if (one.column.pk, one.question.key) == cell), None)
    if unread is not None:
        return {"answer": None, "why": str(unread.why), "detail": unread.detail, "raw": unread.raw, "note": ""}
    answer = next((one for one in labelled.answers if (one.column.pk, one.question.key) == cell), None)
    if answer is None:
        raise RowFailed(_("The scheme's rules leave this cell without an answer of the judge's."))
    spec = answer.column.section.spec.question(answer.question.key)
    if answer.option is not None:
        shown = answer.option.label
    else:
        assert answer.value is not None
        shown = kind_of(spec).shown(spec, answer.value)
    stored = answer.scores or {}
    return {
        "answer": str(shown),
        "why": "",
        "detail": "",
        "raw": stored.get("answer", "") if isinstance(stored, dict) else "",
        "note": answer.note or "",
        **_scored(stored, {option.key: option.label for option in answer.question.options.all()}),
    }


def _scored(stored: Any, labels: Mapping[str, str]) -> dict[str, Any]:
    options = cloze.stored_options(stored)
    if options is None:
        return {}
    highest = max(each["logprob"] for each in options.values())
    weights = {key: math.exp(each["logprob"] - highest) for key, each in options.items()}
    whole = sum(weights.values())
    return {
        "options": [
            {"label": labels.get(key, key), "share": weights[key] / whole, **asdict(cloze.score_of(each))}
            for key, each in options.items()
        ],
        "margin_nats": stored.get("margin_nats"),
        "unsure": bool(stored.get("unsure")),
    }
