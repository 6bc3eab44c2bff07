"""A judge at one row: evidence and columns go to its method, answers come back. Reads the database, writes nothing."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from django.utils.translation import gettext as _

from annotation import queries
from annotation.models import Assignment, Column, Question
from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec
from judges.methods import USES, Method, addressing, prompting, shapes
from judges.methods.calibration import Calibration
from judges.methods.prompting import QuestionPrompt
from judges.models import Judge
from judges.runs import by_cloze, by_embedding, by_judges, by_rating, by_words, by_writing, evidence, nearest
from judges.runs.asking import Answering, Asked, AtRow, Labelled, Prompted, Respondent, RowFailed, Unread, texts_read
from judges.runs.evidence import NotExtracted
from judges.runs.rules import settled
from llm import registry
from llm.backends.base import Backend, Use
from llm.engine.normalisation import Normalisation
from llm.engine.prompt import Generated, OnProgress
from llm.models import LanguageModel

__all__ = [
    "Asked",
    "Labelled",
    "RowFailed",
    "Unread",
    "backend_of",
    "cells_asked",
    "check_model",
    "columns_of",
    "label_row",
]

_METHODS: dict[Method, Answering] = {
    Method.CLOZE: by_cloze.label,
    Method.RATING: by_rating.label,
    Method.WRITING: by_writing.label,
    Method.LEXICAL: by_words.label,
    Method.EMBEDDING: by_embedding.label,
    Method.STACKER: by_judges.label,
}


def backend_of(judge: Judge) -> Backend:
    """The backend of a judge with a model. Loads nothing yet, and asks no server.

    Raises:
        BackendError: it can never work.
    """
    assert judge.model is not None
    return registry.backend_of(judge.model, _use(judge.method), chat_template=judge.chat_template)


def check_model(model: LanguageModel, *, method: str = Judge.Method.CLOZE, chat_template: bool = False) -> None:
    """Look whether a model is where it should be, as far as this process can tell; see `registry.check`.

    Raises:
        BackendError: with what to do.
    """
    registry.check(model, _use(method), chat_template=chat_template)


def refuse(model: LanguageModel, *, method: str, chat_template: bool) -> None:
    """Refuse a judge that could never work with this model. Asks nobody, and looks at no disk.

    Raises:
        BackendError: with what to do.
    """
    registry.refuse(model, _use(method), chat_template=chat_template)


def refuse_grammar(model: LanguageModel) -> None:
    """Refuse a judge whose prompt binds its answers to a grammar, where this model's backend cannot do it.

    Raises:
        BackendError: with what to do.
    """
    registry.class_of(model.backend).refuse_grammar()


def refuse_picture(model: LanguageModel) -> None:
    """Refuse a judge whose prompt shows it pictures, where its backend cannot read any.

    Raises:
        BackendError: with what to do.
    """
    registry.class_of(model.backend).refuse_picture()


def asks_in_chat_form(model: LanguageModel | None, *, method: str, chat_template: bool) -> bool:
    """As the judge says; but some backends write in their chat form only."""
    return (
        chat_template if model is None else registry.asks_in_chat_form(model, _use(method), chat_template=chat_template)
    )


def _use(method: str) -> Use:
    use = USES[Method(method)]
    assert use is not None  # a judge with a model
    return use


def identity_without_model(judge: Judge) -> dict[str, str]:
    """What labels when no language model does, for the run's record.

    Raises:
        BackendError: the judge's encoder is not here.
    """
    words = {"snowballstemmer": importlib.metadata.version("snowballstemmer")}
    if judge.method == Method.EMBEDDING:
        return {**by_embedding.identity(judge.prompt_spec.encoder), **words}
    return words


def check_encoders(judge: Judge) -> None:
    """Refuse a judge whose encoder is not on this machine.

    Raises:
        BackendError: with what to do.
    """
    its_own = [judge.prompt_spec.encoder] if judge.method == Method.EMBEDDING else []
    for name in {*nearest.encoders_of(judge), *its_own}:
        by_embedding.check(name)


def nearest_of(judge: Judge) -> dict[str, dict[str, object]]:
    """What a run's record says of the lines that are chosen for each cell; empty where all evidence is read."""
    return nearest.record_of(judge)


def offer_of(judge: Judge, scheme: SchemeSpec) -> dict[str, dict[str, list[str]]]:
    """What a run's record says of questions of which a part of the options is offered: which part. Empty for none."""
    parts = prompting.parts_offered(judge.prompt_spec, scheme, judge.method)
    return {"offered": parts} if parts else {}


def sections_of(judge: Judge) -> list[str]:
    """Keys of the sections in which the judge's prompt asks something."""
    asked = prompting.questions_for(judge.prompt_spec, judge.method)
    return sorted({name.split(".")[0] for name in asked})


def columns_of(assignments: Iterable[Assignment]) -> dict[int, list[Column]]:
    """The columns of their sheets, by the sheet's number: read once for all rows of a call. Where a row is labelled
    they are read again, as its evidence is, and what is asked otherwise by then is written out and asked anew."""
    return queries.whole_columns({assignment.row.sheet_id for assignment in assignments})


def cells_asked(judge: Judge, assignment: Assignment, columns: Sequence[Column] | None = None) -> list[Asked]:
    """The cells of a row that the judge answers: those that its prompt asks, and no preset answers.

    `columns`: of the row's sheet, as `columns_of` has them; else they are asked for, in one query.
    """
    asked_of = prompting.questions_for(judge.prompt_spec, judge.method)
    columns = columns_of([assignment])[assignment.row.sheet_id] if columns is None else columns
    # Of each section that is asked, what is asked in it.
    of_section: dict[int, list[tuple[SectionSpec, Question, QuestionSpec, QuestionPrompt, Calibration | None]]] = {}
    for section in {column.section_id: column.section for column in columns}.values():
        spec = section.spec
        of_section[section.pk] = [
            (spec, question, section.specs[question.pk], asked_of[name], _calibration(judge, name))
            for question in section.questions.all()
            if assignment.asks(section) and (name := f"{spec.key}.{question.key}") in asked_of
        ]
    return [
        Asked(column, question, section, spec, prompt, question.by_key, calibration, judge.prompt_spec.candidates)
        for column in columns
        for section, question, spec, prompt, calibration in of_section[column.section_id]
        if prompting.is_asked(section, spec, column.facets)
    ]


def _calibration(judge: Judge, question: str) -> Calibration | None:
    """By which a cell's option is chosen. Where a prompt calibrates some of its questions the others have one that
    changes nothing, so that all labels of a judge are told alike."""
    fitted = judge.prompt_spec.calibration
    unchanged = Calibration(normalisation=cast(Normalisation, judge.normalisation))
    return fitted.get(question, unchanged) if fitted else None


def label_row(
    judge: Judge,
    assignment: Assignment,
    backend: Respondent | None,
    on_progress: OnProgress | None = None,
    corrected: bool = False,
    only: Collection[tuple[int, str]] | None = None,
    only_sized: bool = False,
    replies: Mapping[tuple[int, str], Generated] | None = None,
    columns: Sequence[Column] | None = None,
    before: Prompted | None = None,
) -> Labelled:
    """Answer the cells of one row; `corrected`, `only`, `columns`: as of `at_row`; `only_sized`, `replies`, `before`:
    as of `AtRow`.

    Raises:
        RowFailed: the row has no evidence, or more than the model's context takes.
        BackendError: the model is missing or broken.
        Whatever `on_progress` raises.
    """
    row = replace(
        at_row(judge, assignment, corrected=corrected, only=only, columns=columns),
        backend=backend,
        on_progress=on_progress,
        only_sized=only_sized,
        replies=replies or {},
        before=before,
    )
    method = Method(judge.method)
    labelled = _METHODS[method](row)
    found, unread = settled(labelled.answers, labelled.unread, facets=assignment.row.facets)
    found = [replace(answer, scores=shapes.stored(method, answer.scores)) for answer in found]
    speaks = addressing.first_that_speaks(texts_read(judge, assignment.row, row.blocks, row.scheme))
    return Labelled(found, tokens=labelled.tokens, unread=unread, speaks=speaks, written=row.written)


def at_row(
    judge: Judge,
    assignment: Assignment,
    *,
    corrected: bool = False,
    only: Collection[tuple[int, str]] | None = None,
    columns: Sequence[Column] | None = None,
) -> AtRow:
    """The judge at this row, who asks nobody yet.

    `corrected`: by extracted lists as people have corrected them; `only`: these cells, each a column and the key of a
    question; `columns`: as of `cells_asked`.

    Raises:
        RowFailed: it has nothing to answer there, or nothing to read.
    """
    every = cells_asked(judge, assignment, columns)
    asked = [cell for cell in every if only is None or cell.key in only]
    if not asked:
        raise RowFailed(_("The judge's prompt asks none of the questions of this sheet."))
    try:
        blocks = evidence.evidence_of(judge, assignment.row, corrected=corrected)
    except NotExtracted as missing:
        raise RowFailed(str(missing)) from missing
    if judge.prompt_spec.candidates is not None:
        try:
            blocks = judge.prompt_spec.candidates.turned(blocks)
        except ValueError as error:
            raise RowFailed(str(error)) from error
    method = Method(judge.method)
    if method != Method.STACKER and not any(block.kind != "heading" for block in blocks):
        raise RowFailed(_("It has no evidence to judge by."))
    kinds = prompting.kinds_read(judge.prompt_spec, method) if method != Method.LEXICAL else []
    if kinds and not any(block.kind in kinds for block in blocks):  # it would be asked about nothing
        raise RowFailed(
            _("Its evidence is of other kinds than the prompt reads, which are: %(kinds)s.")
            % {"kinds": ", ".join(kinds)}
        )
    try:
        asked = [
            replace(cell, prompt=prompting.offered_at(cell.prompt, cell.spec, assignment.row.facets)) for cell in asked
        ]
    except ValueError as error:
        raise RowFailed(str(error)) from error
    answers = frozenset(said for cell in every for said in prompting.answers_said(cell.prompt, cell.spec))
    return AtRow(judge, assignment, blocks, asked, answers=answers)
