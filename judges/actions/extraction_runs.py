"""Extractors, and their runs over the documents of a study: created, started, cancelled, resumed."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions import Refused, note_key, refuse_while_shown
from annotation.models import Row, Study, User
from annotation.queries.schemes import block_kinds
from judges.actions import spending
from judges.actions.keeping import hold, hold_model, refuse_archived
from judges.actions.spending import refuse_limits, stored_prices
from judges.extraction import extracting, prompts
from judges.extraction import queries as extraction_queries
from judges.methods import prompting
from judges.models import ExtractionItem, ExtractionRun, Extractor, Judge
from judges.runs import evidence, labelling
from llm.actions import store_model as model_of
from llm.backends.base import BackendError
from llm.models import LanguageModel
from work import actions as work
from work.states import RunState


@transaction.atomic
def create_extractor(
    *,
    name: str,
    parser: str = "",
    model: LanguageModel | None = None,
    prompt_text: str = "",
    chat_template: bool = False,
    max_new_tokens: int = 2048,
    study: Study | None = None,
    by: User | None = None,
    **new_model: str | int | None,
) -> Extractor:
    """Create an extractor: a parser by its key, or a model, stored or (with `location`) new, with a prompt. `by`: who
    makes it in `study`, for the audit log, where a stored model gets another price by that.

    Raises:
        Refused: its parser is not installed, or its model could never work or is deleted.
        PromptError: the text is no prompt file of an extractor.
    """
    if new_model.get("location"):
        model = model_of(name="", by=by, study=study, **new_model)
    made = Extractor(name=name, max_new_tokens=max_new_tokens)
    if model is None:
        made.kind, made.parser = Extractor.Kind.PARSER, parser
    else:
        hold_model(model)
        text = prompting.with_plain_ends(prompt_text)
        prompts.load_extraction_prompt(text, known=block_kinds())
        made.kind, made.model = Extractor.Kind.MODEL, model
        made.chat_template = labelling.asks_in_chat_form(model, method=Judge.Method.RATING, chat_template=chat_template)
        made.prompt, made.prompt_digest = text, prompting.digest(text)
    try:
        extracting.check_extractor(made)
    except BackendError as error:
        raise Refused(str(error)) from error
    made.save()
    return made


@transaction.atomic
def start_extraction(
    *,
    study: Study,
    extractor: Extractor,
    by: User | None,
    most_tokens: int | None = None,
    most_cost: Decimal | None = None,
    enqueue: bool = True,
) -> ExtractionRun:
    """Let an extractor take its lists out of all documents of the study where it has not done so yet.

    `most_tokens`, `most_cost`: where the run pauses. `enqueue` False leaves the work to the caller
    (`work.actions.take_up`); workers take it over if that goes silent.

    Raises:
        Refused: it is at work already, nothing is left for it, its model or parser is missing, a limit is none, or
            it is deleted.
    """
    hold(extractor)
    Study.objects.select_for_update().get(pk=study.pk)  # of two starts at once, the second sees the first
    _refuse_if_at_work(study, extractor)
    _refuse_unready(study, extractor)
    prices = extractor.model.prices if extractor.model is not None else None
    refuse_limits(prices, most_tokens=most_tokens, most_cost=most_cost)
    if not Row.objects.filter(sheet__study=study, withdrawn_at=None).exists():
        raise Refused(_("There are no documents here yet. Import them first."))
    left = list(extraction_queries.rows_left(study, extractor).values_list("pk", flat=True))
    if not left:
        raise Refused(_("“%(extractor)s” has been at all documents already.") % {"extractor": extractor.name})
    run = ExtractionRun.objects.create(
        study=study,
        extractor=extractor,
        started_by=by,
        most_tokens=most_tokens,
        most_cost=most_cost,
        provenance={
            **(evidence.record_of(extractor) or {}),
            "prompt": extractor.prompt,
            **stored_prices(prices),
            "workers": [],
        },
    )
    note_key(model=extractor.model, study=study, by=by)
    work.start(run, [ExtractionItem(run=run, row_id=pk) for pk in left], enqueue=enqueue)
    return run


def _refuse_unready(study: Study, extractor: Extractor) -> None:
    """
    Raises:
        Refused: the extractor is archived, its model or parser is missing, or an import is being shown.
    """
    refuse_archived(extractor)
    refuse_while_shown(study.pk)
    try:
        extracting.check_extractor(extractor)
    except BackendError as error:
        raise Refused(str(error)) from error


def _refuse_if_at_work(study: Study, extractor: Extractor) -> None:
    if study.extraction_runs.filter(extractor=extractor, state=RunState.RUNNING).exists():
        raise Refused(_("“%(extractor)s” is at work in this study already.") % {"extractor": extractor.name})


@transaction.atomic
def cancel_extraction(*, run: ExtractionRun) -> None:
    """Stop a run. What was taken out stays; a worker gives up its document at its next look, within seconds."""
    work.cancel(run)


@transaction.atomic
def resume_extraction(
    *,
    run: ExtractionRun,
    by: User | None = None,
    most_tokens: int | None = None,
    most_cost: Decimal | None = None,
    without: Collection[str] = (),
    enqueue: bool = True,
) -> None:
    """Go on with the documents that are left, failed ones included. `enqueue`: as for `start_extraction`;
    `most_tokens`, `most_cost`, `without`: as for `spending.resume`.

    Raises:
        Refused: nothing is left, another run of the extractor is at work, the run has spent what it may, or the
            extractor could not be started.
    """
    Study.objects.select_for_update().get(pk=run.study_id)
    _refuse_if_at_work(run.study, run.extractor)
    _refuse_unready(run.study, run.extractor)
    spending.resume(run, most_tokens=most_tokens, most_cost=most_cost, without=without, enqueue=enqueue)
    note_key(model=run.extractor.model, study=run.study, by=by)
