"""All writes of this room: runs in which models write texts for rows, and what they do to one text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.actions import Refused, lock_study, lock_to_resume, note_key, refuse_while_shown
from annotation.models import Study, User
from judges.actions import spending
from judges.actions.keeping import hold_model
from judges.actions.spending import refuse_limits, stored_prices
from judges.actions.work import loaded, telling_of_backends
from judges.generating import planning, queries
from judges.generating.planning import PlanRefused, Text, Wanted
from judges.models import GenerationItem, GenerationRun
from judges.spending.queries import divided, written_in
from llm import actions as llm
from llm import registry
from llm.backends.base import BackendError, Use
from llm.engine.prompt import Generated, PromptTooLong, Tokens
from llm.models import Generation, LanguageModel
from work import actions as work
from work.actions import Held
from work.kinds import Kind
from work.outcomes import ItemFailed, NotWanted


@transaction.atomic
def start(
    *,
    study: Study,
    models: Sequence[LanguageModel],
    wanted: Wanted,
    answer: str = "",
    only_missing: bool = False,
    by: User | None,
    most_tokens: int | None = None,
    most_cost: Decimal | None = None,
    enqueue: bool = True,
) -> list[GenerationRun]:
    """Let models write texts for rows of a study, a run each; `answer` as for `queries.names_of`. `only_missing`: each
    for those rows alone for which it was not asked for a text yet. Texts that it was asked for before, which would come
    out the same (`queries.asked_before`), are left out. `most_tokens`, `most_cost`: where each run pauses.

    `enqueue` False leaves the work to the caller (`work.actions.take_up`); workers take it over if that goes silent.

    Raises:
        Refused: no model or name, texts that would be the same again or too many, a model that could never write or is
            deleted, or a limit that is none.
    """
    if not models:
        raise Refused(_("Choose a model."))
    lock_study(study.pk)  # of two starts at once, the second waits, and sees what the first has asked for
    refuse_while_shown(study.pk)
    for model in sorted(models, key=lambda one: one.pk):  # in one order, whoever else holds some of them
        hold_model(model)
    runs = []
    for model in models:
        refuse_limits(model.prices, most_tokens=most_tokens, most_cost=most_cost)
        names = queries.names_of(study, answer=answer, without=model if only_missing else None)
        try:
            texts = planning.texts(names, wanted)
        except PlanRefused as refused:
            raise Refused(str(refused)) from refused
        chat_form = check_model(model, chat_template=wanted.chat_template)
        texts = _new(study, model, wanted, texts)
        if not texts:
            continue
        run = GenerationRun.objects.create(
            study=study,
            model=model,
            started_by=by,
            request=_request(wanted, answer, model, chat_form),
            most_tokens=most_tokens,
            most_cost=most_cost,
            provenance={**stored_prices(model.prices), "workers": []},
        )
        note_key(model=model, study=study, by=by)
        work.start(run, _items(run, wanted, texts, chat_form), enqueue=enqueue)
        runs.append(run)
    if not runs:
        raise Refused(
            _(
                "All of these texts were asked for before, by the same wordings, seeds and settings: they would come "
                "out the same. Take another first seed, temperature or type of prompt."
            )
        )
    return runs


def _items(run: GenerationRun, wanted: Wanted, texts: Sequence[Text], chat_form: bool) -> list[GenerationItem]:
    """A record of each text, which is stored, and its item, which is not yet."""
    prompts = {text.wording: llm.store_prompt(name=text.type, text=text.wording) for text in texts}
    generations = Generation.objects.bulk_create(
        Generation(
            model=run.model,
            prompt=prompts[text.wording],
            input=text.name[:200],
            asked=text.asked,
            chat_template=chat_form,
            temperature=wanted.temperature,
            seed=text.seed,
            max_new_tokens=wanted.max_new_tokens,
        )
        for text in texts
    )
    return [
        GenerationItem(run=run, row_id=text.row, generation=generation, prompt_type=text.type, number=text.number)
        for text, generation in zip(texts, generations, strict=True)
    ]


def _new(study: Study, model: LanguageModel, wanted: Wanted, texts: Sequence[Text]) -> list[Text]:
    """Those that were not asked for before."""
    before = queries.asked_before(study, model, wanted)
    return [
        text for text in texts if queries.asked_of(wanted, text.row, text.type, text.wording, text.seed) not in before
    ]


def check_model(model: LanguageModel, *, chat_template: bool) -> bool:
    """Whether it is asked in its chat form.

    Raises:
        Refused: it could never write.
    """
    chat_form = registry.asks_in_chat_form(model, Use.GENERATE, chat_template=chat_template)
    try:
        registry.check(model, Use.GENERATE, chat_template=chat_form)
    except BackendError as error:
        raise Refused(f"{model.name}: {error}") from error
    return chat_form


def _request(wanted: Wanted, answer: str, model: LanguageModel, chat_form: bool) -> dict[str, object]:
    """What was asked for, as it is done: a server makes its batches itself, whatever was chosen here."""
    return {
        "types": [{"key": each.key, "title": each.title, "wordings": list(each.wordings)} for each in wanted.types],
        "per_type": wanted.per_type,
        "temperature": wanted.temperature,
        "max_new_tokens": wanted.max_new_tokens,
        "seed": wanted.seed,
        "chat_template": chat_form,
        "together": wanted.together and registry.class_of(model.backend).together > 1,
        "rows": answer,
    }


@transaction.atomic
def write_again(*, item: GenerationItem, by: User | None, enqueue: bool = True) -> GenerationRun:
    """Let the same model write a text again from its record, in a run of its own. Both are kept, and compared.

    Raises:
        Refused: the text is not written yet, or its model could not write it now.
    """
    first = item.generation.same_as or item.generation
    if first.text is None:
        raise Refused(_("This text is not written yet."))
    check_model(first.model, chat_template=first.chat_template)
    run = GenerationRun.objects.create(
        study=item.run.study,
        model=first.model,
        started_by=by,
        request={**item.run.request, "again": first.pk, "together": False},
        most_tokens=item.run.most_tokens,
        most_cost=item.run.most_cost if first.model.prices else None,
        provenance={**stored_prices(first.model.prices), "workers": []},
    )
    fields = ("model", "prompt", "input", "asked", "chat_template", "temperature", "seed", "max_new_tokens")
    again = Generation.objects.create(same_as=first, **{name: getattr(first, name) for name in fields})
    copy = GenerationItem(
        run=run, row_id=item.row_id, generation=again, prompt_type=item.prompt_type, number=item.number
    )
    note_key(model=first.model, study=item.run.study, by=by)
    work.start(run, [copy], enqueue=enqueue)
    return run


@transaction.atomic
def cancel(*, run: GenerationRun) -> None:
    """Stop a run. What is written stays; a worker gives up its text at its next look, within seconds."""
    work.cancel(run)


@transaction.atomic
def resume(
    *,
    run: GenerationRun,
    by: User | None = None,
    most_tokens: int | None = None,
    most_cost: Decimal | None = None,
    without: Collection[str] = (),
    enqueue: bool = True,
) -> None:
    """Go on with the texts that are left, failed ones included. `enqueue`: as for `start`; `most_tokens`, `most_cost`,
    `without`: as for `spending.resume`.

    Raises:
        Refused: nothing is left, it is at work, or it has spent what it may.
    """
    lock_to_resume(run)
    spending.resume(run, most_tokens=most_tokens, most_cost=most_cost, without=without, enqueue=enqueue)
    note_key(model=run.model, study=run.study, by=by)


# --- what a worker does -----------------------------------------------------------------------------------------------


def write(held: Held[GenerationItem]) -> None:
    """Let the model write the text of an item; it is stored in the transaction that ends the item."""
    item, generation = held.item, held.item.generation
    if item.row.withdrawn_at:
        raise NotWanted
    spending.pause_if_spent(item.run)
    with telling_of_backends(held), spending.counted(held) as counter:
        backend = llm.backend_of(generation)
        identity = loaded(held, backend)
        held.note_worker(identity)
        try:
            if isinstance(held.found, _Answer):
                counter(held.found.tokens, 1)
                llm.filled(generation, held.found.answer, seconds=held.found.seconds)
            else:
                llm.write(generation, backend, counter)
                counter.counted(generation.tokens or 0)
        except PromptTooLong as too_long:
            raise ItemFailed(str(too_long)) from too_long
        except llm.OnlyThought as thought:
            counter.counted(thought.tokens or 0)
            raise ItemFailed(str(thought)) from thought
        with held.finishing(**counter.added):
            llm.store_text(generation, identity=identity)


class _Answer(NamedTuple):
    answer: Generated | PromptTooLong
    seconds: float
    tokens: Tokens


def write_together(helds: Sequence[Held[GenerationItem]]) -> None:
    """Let the model write the texts of several items of a run in one call, and leave each with its item."""
    due = [held for held in helds if not held.item.row.withdrawn_at]
    backend = llm.backend_of(due[0].item.generation)
    loaded(helds[0], backend)
    with spending.counted(helds[0]) as counter:
        answers, seconds = llm.write_together([held.item.generation for held in due], backend, counter)
        counter.counted(written_in(answers))
    tokens = divided(counter.tokens, counter.written, [[answer] for answer in answers])
    for held, answer, of_it in zip(due, answers, tokens, strict=True):
        held.found = _Answer(answer, seconds, of_it)


def _together(run: GenerationRun) -> int:
    """A run with a limit has one text after the other written, so that it stops at it."""
    if run.is_limited or not run.request.get("together"):
        return 1
    try:
        return registry.class_of(run.model.backend).together
    except BackendError:
        return 1


GENERATING = Kind(
    GenerationItem,
    write,
    name=lambda item: f"{item.generation.input} · {item.prompt_type} {item.number}",
    related=("run__study", "run__model", "row__sheet", "generation__model", "generation__prompt"),
    batch=4,
    together=_together,
    ahead=write_together,
    died=gettext_lazy("%(n)s workers died at this text, or fell silent."),
    is_void=Q(row__withdrawn_at__isnull=False),
    leaving=spending.keep,
)
