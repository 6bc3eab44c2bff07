"""A judge at one row: evidence and columns go to its backend, answers come back. Reads the database, writes nothing."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from annotation.actions import Answer
from annotation.evidence import LANGUAGES, Block
from annotation.models import Assignment, Column, Option, Question, Row
from annotation.scheme import QuestionSpec, SectionSpec
from judges import evidence, prompting, rating_cells
from judges.backends.base import Backend, BackendError
from judges.backends.lexical import LexicalJudge, LexicalVerdict
from judges.backends.openai import OpenAIBackend
from judges.backends.transformers import HUB_ID, TransformersBackend
from judges.engine.normalisation import Normalisation, choose
from judges.engine.prompt import OptionScore, OptionsNotPrefixFree, PromptTooLong, RowPrompt
from judges.evidence import NotExtracted
from judges.models import Judge, LanguageModel
from judges.prompting import Lexical, QuestionPrompt
from judges.rating_cells import Unread

# Whoever may create a judge names the variable, and the server gets its content: so no other secret of the workers.
_VARIABLE = re.compile("[A-Z][A-Z0-9_]*_API_KEY")


class RowFailed(Exception):
    """This row cannot be labelled by this judge; `str()` says why. Other rows can."""


@dataclass(frozen=True)
class Asked:
    """One cell that the judge answers."""

    column: Column
    question: Question
    section: SectionSpec
    spec: QuestionSpec
    prompt: QuestionPrompt
    options: dict[str, Option]


@dataclass(frozen=True)
class Labelled:
    answers: list[Answer]
    tokens: int
    unread: list[Unread] = field(default_factory=list)  # cells whose answer held no verdict


def backend_of(judge: Judge) -> Backend:
    """The backend of a judge with a model. Loads nothing yet, and asks no server.

    Raises:
        BackendError: it can never work; see `check_server`.
    """
    assert judge.model is not None
    return backend_for(judge.model, method=judge.method, chat_template=judge.chat_template)


def backend_for(model: LanguageModel, *, method: str, chat_template: bool) -> Backend:
    """The backend of a model for what a judge of this method asks of it; as `backend_of`."""
    if model.is_served:
        check_server(model, method=method, chat_template=chat_template)
        return _server(model, scores=method == Judge.Method.CLOZE)
    return _transformers(model, chat_template=chat_template)


def _server(model: LanguageModel, *, scores: bool = True) -> OpenAIBackend:
    return OpenAIBackend(
        model.location,
        model.served_name,
        api_key_env=model.api_key_env or None,
        requests_per_minute=model.requests_per_minute,
        scores=scores,
    )


def _transformers(model: LanguageModel, *, chat_template: bool = False) -> TransformersBackend:
    return TransformersBackend(
        location=model.location,
        revision=model.revision or None,
        gguf_file=model.gguf_file or None,
        dtype=model.dtype,  # type: ignore[arg-type]  # the field's choices are the backend's
        device=model.device,
        chat_template=chat_template,
        threads=settings.PALATE_TORCH_THREADS or None,
    )


def check_model(model: LanguageModel, *, method: str = Judge.Method.CLOZE, chat_template: bool = False) -> None:
    """Look whether a model is where it should be, as far as this process can tell without fetching anything.

    A model on the hub is fetched by the worker that needs it first, a GPU worker may have another disk than ours, and
    a server may be open to the workers only: what is wrong there comes out as the error of the run.

    Raises:
        BackendError: a package, folder or file that is not there; what names no place at all; a server that can never
            work, see `check_server`.
    """
    if model.is_served:
        check_server(model, method=method, chat_template=chat_template)
        return
    if model.location.startswith(("http://", "https://")):
        raise BackendError(
            _("%(url)s is the address of a server, not a place of weights. Say that the model is on a server.")
            % {"url": model.location},
            permanent=True,
        )
    is_here = model.location.startswith(("package:", "/", "~", ".")) or model.location.endswith(".gguf")
    if not is_here and not HUB_ID.fullmatch(model.location):
        raise BackendError(
            _(
                "“%(location)s” is no place of a model: a hub id is like google/gemma-2-9b-it, and a path begins at "
                "the root, like /models/gemma-2-9b-it."
            )
            % {"location": model.location},
            permanent=True,
        )
    if is_here and model.device == LanguageModel.Device.CPU:
        _transformers(model).locate()


def asks_in_chat_form(model: LanguageModel | None, *, method: str, chat_template: bool) -> bool:
    """As the judge says; but a server writes in its chat form only."""
    return chat_template or (method == Judge.Method.RATING and model is not None and model.is_served)


def check_server(model: LanguageModel, *, method: str = Judge.Method.CLOZE, chat_template: bool) -> None:
    """Whether a judge could work with this model on a server. Asks the server nothing.

    Raises:
        BackendError: an address that is not http or https, a model or key without a proper name; the chat form for
            what is scored, or another than the chat form for what is written.
    """
    _server(model)  # it knows addresses
    if not model.served_name:
        raise BackendError(_("Give the name by which the server knows the model."), permanent=True)
    named = model.api_key_env
    if named and not _VARIABLE.fullmatch(named) and named not in settings.PALATE_KEY_VARIABLES:
        raise BackendError(
            _(
                "The key belongs in an environment variable of the workers, and its name here: capital letters, digits "
                "and _ that end in _API_KEY, such as LAB_API_KEY, or a name that the installation's "
                "PALATE_KEY_VARIABLES lists. Never give the key itself."
            ),
            permanent=True,
        )
    if method == Judge.Method.RATING and not chat_template:
        raise BackendError(
            _("A server is asked for ratings in its chat form. Create the judge with the chat form."), permanent=True
        )
    if method == Judge.Method.CLOZE and chat_template:
        raise BackendError(
            _(
                "A server scores plain prompts only: it applies its chat form to what it is to answer, not to what it "
                "is to score. Create the judge without the chat form, or load the model in a worker."
            ),
            permanent=True,
        )


def lexical_identity() -> dict[str, str]:
    """What labels when no model does, for the run's record."""
    return {"snowballstemmer": importlib.metadata.version("snowballstemmer")}


def sections_of(judge: Judge) -> list[str]:
    """Keys of the sections in which the judge's prompt asks something."""
    asked = prompting.questions_for(judge.prompt.parsed, judge.method)
    return sorted({name.split(".")[0] for name in asked})


def cells_asked(judge: Judge, assignment: Assignment) -> list[Asked]:
    """The cells of a row that the judge answers: those that its prompt asks, and no preset answers. Three queries."""
    asked_of = prompting.questions_for(judge.prompt.parsed, judge.method)
    columns = list(
        assignment.row.sheet.columns.select_related("section__scheme").order_by("section__position", "position")
    )
    questions: dict[int, list[Question]] = {}
    for question in Question.objects.filter(section__in={c.section_id for c in columns}).prefetch_related("options"):
        questions.setdefault(question.section_id, []).append(question)
    specs = {column.section_id: column.section.spec for column in columns}
    asked = []
    for column in columns:
        section = specs[column.section_id]
        for question in questions[column.section_id]:
            of_question = asked_of.get(f"{section.key}.{question.key}")
            spec = section.question(question.key)
            if of_question and assignment.asks(column.section) and prompting.is_asked(section, spec, column.facets):
                options = {option.key: option for option in question.options.all()}
                asked.append(Asked(column, question, section, spec, of_question, options))
    return asked


def label_row(
    judge: Judge, assignment: Assignment, backend: Backend | None, on_progress: Callable[[int, int], None] | None = None
) -> Labelled:
    """Answer the cells of one row.

    Raises:
        RowFailed: the row has no evidence, or more than the model's context takes.
        BackendError: the model is missing or broken.
        Whatever `on_progress` raises.
    """
    asked = cells_asked(judge, assignment)
    if not asked:
        raise RowFailed(_("The judge's prompt asks none of the questions of this sheet."))
    try:
        blocks = evidence.evidence_of(judge, assignment.row)
    except NotExtracted as missing:
        raise RowFailed(str(missing)) from missing
    if not any(block.kind != "heading" for block in blocks):
        raise RowFailed(_("It has no evidence to judge by."))
    if judge.method == Judge.Method.LEXICAL:
        return Labelled(_without_rules_broken(_by_words(assignment.row, blocks, asked)), tokens=0)
    kinds = prompting.kinds_read(judge.prompt.parsed, judge.method)
    if kinds and not any(block.kind in kinds for block in blocks):  # it would be asked about nothing
        raise RowFailed(
            _("Its evidence is of other kinds than the prompt reads, which are: %(kinds)s.")
            % {"kinds": ", ".join(kinds)}
        )
    assert backend is not None
    if judge.method == Judge.Method.RATING:
        return _by_rating(judge, assignment, blocks, asked, backend, on_progress)
    return _by_model(judge, assignment.row, blocks, asked, backend, on_progress)


def _by_rating(
    judge: Judge,
    assignment: Assignment,
    blocks: Sequence[Block],
    asked: Sequence[Asked],
    backend: Backend,
    on_progress: Callable[[int, int], None] | None,
) -> Labelled:
    try:
        rated = rating_cells.rate(judge, assignment, blocks, asked, backend, on_progress)
    except PromptTooLong as error:
        raise RowFailed(str(error)) from error
    kept = _without_rules_broken(rated.answers)
    not_asked = _switched_off(kept)
    unread = [one for one in rated.unread if (one.column.pk, one.question.key) not in not_asked]
    return Labelled(kept, tokens=rated.tokens, unread=unread)


def _by_model(
    judge: Judge,
    row: Row,
    blocks: Sequence[Block],
    asked: Sequence[Asked],
    backend: Backend,
    on_progress: Callable[[int, int], None] | None,
) -> Labelled:
    shared = prompting.row_text(judge.prompt.parsed, title=row.title, blocks=blocks)
    normalisation: Normalisation = judge.normalisation  # type: ignore[assignment]  # the field's choices
    fed = 0

    def count(tokens: int, cells_done: int) -> None:
        nonlocal fed
        fed = tokens
        if on_progress is not None:
            on_progress(tokens, cells_done)

    try:
        cells = tuple(
            prompting.cell_prompt(cell.prompt, cell.spec, cell.column.facets, order=cell.section.column.facets)
            for cell in asked
        )
        (scores,) = backend.score([RowPrompt(shared=shared, cells=cells)], count)
        if isinstance(scores, PromptTooLong):
            raise RowFailed(str(scores))
        answers = [_chosen(cell, of_cell, normalisation) for cell, of_cell in zip(asked, scores, strict=True)]
    except OptionsNotPrefixFree as error:
        raise BackendError(str(error), permanent=True) from error  # so it is in every row
    except ValueError as error:  # this row's texts break the engine's rules
        raise RowFailed(str(error)) from error
    return Labelled(_without_rules_broken(answers), tokens=fed)


def _chosen(cell: Asked, scores: Sequence[OptionScore], normalisation: Normalisation) -> Answer:
    keys = prompting.asked_options(cell.spec)
    choice = choose(scores, normalisation)
    stored: dict[str, Any] = {
        "options": {key: asdict(score) for key, score in zip(keys, scores, strict=True)},
        "normalisation": normalisation,
        "margin_nats": choice.margin_nats,
        "tie": choice.tie,
        "unsure": choice.unsure,
    }
    return Answer(cell.column, cell.question, cell.options[keys[choice.index]], scores=stored)


def _by_words(row: Row, blocks: Sequence[Block], asked: Sequence[Asked]) -> list[Answer]:
    judge = LexicalJudge(LANGUAGES.get((row.language or "en").split("-")[0].lower(), "english"))
    lines = {kind: [block.text for block in blocks if block.kind == kind] for kind in {b.kind for b in blocks}}

    def look_up(item: str, kinds: Iterable[str]) -> tuple[LexicalVerdict, str]:
        """The best verdict over the kinds of block, and the line it rests on."""
        best, where = LexicalVerdict("none", None, ()), ""
        for kind in kinds:
            of_kind = lines.get(kind, [])
            verdict = judge.judge(item, of_kind, running_text=kind in ("step", "task", "paragraph"))
            if verdict.line is not None and (best.line is None or (verdict.match == "same" != best.match)):
                best, where = verdict, of_kind[verdict.line]
        return best, where

    answers = []
    for cell in asked:
        rule = cell.prompt.lexical
        assert rule is not None
        about = cell.column.facets.get(cell.spec.about or "", "")
        if rule.shares:
            key, note = _by_shares(rule, about, look_up)
        else:
            verdict, note = look_up(about, rule.kinds)
            key = {"same": rule.same, "part": rule.part, "none": rule.none}[verdict.match]
        answers.append(Answer(cell.column, cell.question, cell.options[key], note=note[:500]))
    return answers


def _by_shares(
    rule: Lexical, about: str, look_up: Callable[[str, Iterable[str]], tuple[LexicalVerdict, str]]
) -> tuple[str, str]:
    parts = [part.strip() for part in about.split(",") if part.strip()] or [about]
    found = [part for part in parts if look_up(part, rule.kinds)[0].match != "none"]
    share = len(found) / len(parts)
    key = next((key for least, key in rule.shares if share >= least), rule.none)
    return key, ", ".join(found)


def _without_rules_broken(answers: list[Answer]) -> list[Answer]:
    """Leave out the answers that the scheme's rules do not ask for, given the judge's other answers of the column."""
    not_asked = _switched_off(answers)
    return [answer for answer in answers if (answer.column.pk, answer.question.key) not in not_asked]


def _switched_off(answers: Iterable[Answer]) -> set[tuple[int, str]]:
    """The cells, as (column, question's key), that these answers leave unasked."""
    by_column: dict[int, list[Answer]] = {}
    for answer in answers:
        by_column.setdefault(answer.column.pk, []).append(answer)
    switched_off = set()
    for pk, of_column in by_column.items():
        section = of_column[0].column.section.spec
        asked = section.asked({answer.question.key: answer.option.key for answer in of_column if answer.option})
        standing = {question.key for question in asked}
        switched_off |= {(pk, question.key) for question in section.questions if question.key not in standing}
    return switched_off
