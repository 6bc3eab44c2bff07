"""All writes of this floor: models and prompts, each stored once, and the texts that models write."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, count
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from base.text import storable
from llm import doors, registry
from llm.backends.base import Backend, BackendError, Use
from llm.engine.prompt import Generated, OnProgress, PromptTooLong
from llm.engine.thoughts import only_thinks, without_thoughts
from llm.generating import signs
from llm.models import Generation, LanguageModel, Prompt
from llm.prompts import digest, with_plain_ends


def store_prompt(*, name: str, text: str) -> Prompt:
    """Store the text of a prompt file, or return the stored one with the same text. Whether it can be read as one is
    its readers' to say."""
    text = with_plain_ends(text)
    prompt, _created = Prompt.objects.get_or_create(digest=digest(text), defaults={"name": name, "text": text})
    return prompt


@transaction.atomic
def store_model(*, name: str = "", by: Any = None, study: Any = None, **named: Any) -> LanguageModel:
    """The stored model of these fields, or a new one with a name that says what it is; with `name`, the one of that
    name. Prices make no other model: one that is given becomes that of the stored model, from its next run on, and
    `llm.doors` tells that `by` has changed it, in `study`.

    Raises:
        BackendError: this installation has no such backend; or another model has that name.
    """
    prices = {key: named.pop(key, None) for key in ("price_read", "price_written")}
    given = {key: price for key, price in prices.items() if price is not None}
    known, model = _store_model(name=name, **named)
    if given:
        before = LanguageModel.objects.select_for_update().get(pk=model.pk).prices
        LanguageModel.objects.filter(pk=model.pk).update(**given)
        model.refresh_from_db()
        if known:
            doors.tell_new_price(model, before, by=by, study=study)
    return model


def _store_model(*, name: str, **named: Any) -> tuple[bool, LanguageModel]:
    """Whether it was stored already, and the model."""
    if name:
        made = LanguageModel(name=name, **named)
        known = LanguageModel.objects.filter(name=name).first()
        if known is None:
            registry.class_of(made.backend)
            made.save()
            return False, made
        if (known.backend, known.place) != (made.backend, made.place):
            raise BackendError(
                _("Another model is called “%(name)s” already: %(place)s.") % {"name": name, "place": known.location},
                permanent=True,
            )
        return True, known
    made = LanguageModel(**named)
    known = LanguageModel.objects.filter(backend=made.backend, **asdict(made.place)).first()
    if known is not None:
        return True, known
    # The end of a long path says more than its beginning.
    base = registry.class_of(made.backend).called(made.place)[-90:]
    names = chain([base], (f"{base} ({n})" for n in count(2)))
    made.name = next(name for name in names if not LanguageModel.objects.filter(name=name).exists())
    made.save()
    return False, made


def backend_of(generation: Generation) -> Backend:
    """The backend that writes it. Raises BackendError where it can never work."""
    return registry.backend_of(generation.model, Use.GENERATE, chat_template=generation.chat_template)


def write(generation: Generation, backend: Backend, on_progress: OnProgress | None = None) -> Generation:
    """Let the model write the text, and fill the record in; nothing is stored yet, that is `store_text`'s.

    It is written alone, not in a batch with others, whose company could change the last digit of a probability;
    `write_together` is for who would rather be fast.

    Raises:
        PromptTooLong: prompt and text do not fit the model's context.
        OnlyThought: as `filled`.
        BackendError: as `Backend.generate`. Whatever `on_progress` raises.
    """
    begun = time.monotonic()
    (answer,) = backend.generate([generation.asked], generation.sampling, on_progress)
    return filled(generation, answer, seconds=time.monotonic() - begun)


def write_together(
    generations: Sequence[Generation], backend: Backend, on_progress: OnProgress | None = None
) -> tuple[list[Generated | PromptTooLong], float]:
    """What the model answers to prompts that are sampled alike, in batches, and the seconds of one of them. Each has
    its own seed and draws; but company can change the last digit of a probability, and with it a token.

    Raises:
        BackendError: as `Backend.generate`. Whatever `on_progress` raises.
    """
    begun = time.monotonic()
    sampling = replace(generations[0].sampling, seed=1)
    answers = backend.generate(
        [one.asked for one in generations], sampling, on_progress, seeds=[one.sampling.seed for one in generations]
    )
    return answers, (time.monotonic() - begun) / len(generations)


class OnlyThought(ValueError):
    """A text was cut off while the model still thought. `tokens`: how many it wrote, None where nobody counted."""

    def __init__(self, tokens: int | None) -> None:
        self.tokens = tokens
        super().__init__(
            _(
                "The model thought until its text was cut off, so that there is none. Let texts be longer, or take a "
                "model that answers without thinking."
            )
        )


def filled(generation: Generation, answer: Generated | PromptTooLong, *, seconds: float) -> Generation:
    """The record with what the model answered, without what it thought before; nothing is stored yet.

    Raises:
        PromptTooLong: it is the answer.
        OnlyThought: the answer is cut off in a thought.
    """
    if isinstance(answer, PromptTooLong):
        raise answer
    if answer.cut and only_thinks(answer.said):
        raise OnlyThought(answer.tokens)
    text = without_thoughts(answer.text)
    generation.seconds = seconds
    generation.text = storable(text if text == answer.text else text.lstrip())
    generation.finish, generation.tokens = answer.finish, answer.tokens
    generation.signs = {str(seen.sign): seen.words for seen in signs.seen_in(generation.text, prompt=generation.asked)}
    return generation


def store_text(generation: Generation, *, identity: Mapping[str, str]) -> None:
    """Store what `write` filled in, once: a text that is there already stands."""
    Generation.objects.filter(pk=generation.pk, text=None).update(
        text=generation.text,
        finish=generation.finish,
        tokens=generation.tokens,
        seconds=generation.seconds,
        signs=generation.signs,
        identity=dict(identity),
        written_at=timezone.now(),
    )
