"""Reads about texts that models write for the rows of a study, and about their runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypedDict, cast

from django.db.models import Q, QuerySet, Sum

from annotation.deriving.making import SourceText
from annotation.deriving.queries import chosen
from annotation.models import Row, Scheme, Study
from annotation.scheme.spec import SchemeSpec
from judges import doors
from judges.generating.planning import Named, Wanted
from judges.models import GenerationItem, GenerationRun
from llm.backends.base import Use
from llm.generating import signs, wordings
from llm.generating.wordings import NAME, PromptType
from llm.models import Generation, LanguageModel
from llm.prices import Spent, tokens_read
from llm.prompts import with_plain_ends
from llm.registry import asks_in_chat_form
from work import queries as work
from work.queries import whole_seconds
from work.states import ItemState, RunState

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

# Texts of a model that say how fast it writes: the last ones.
_PACE_OF = 50
# Names whose prompts say how much is read.
_LOOKED_AT = 40


# --- before a run -----------------------------------------------------------------------------------------------------


def answers_of(scheme: SchemeSpec) -> list[tuple[str, str]]:
    """The answers by which rows can be chosen, as `section.question=option`, with what people read."""
    return [
        (f"{section.key}.{question.key}={option.key}", f"{question.title}: {option.label}")
        for section in scheme.sections
        for question in section.questions
        for option in question.options
    ]


def placeholders(scheme: SchemeSpec) -> list[str]:
    """What a wording may name beside $name: the facets of rows."""
    filled = {scheme.benchmark.generator, scheme.benchmark.length} if scheme.benchmark else set()
    return [key for key in scheme.row.keys if key.isidentifier() and key not in filled]


def named_by(scheme: SchemeSpec) -> Sequence[str]:
    """The facets that together say as much as a row's name: of an instruction all that make it."""
    return scheme.benchmark.instruction if scheme.benchmark else ()


def shipped_types(scheme: Scheme) -> list[PromptType]:
    """The types of prompts that packs bring for a scheme."""
    known, named = placeholders(scheme.parsed), named_by(scheme.parsed)
    return [
        each
        for file in doors.wordings_for(scheme.slug)
        for each in wordings.read(file.read_text(encoding="utf-8"), known=known, named_by=named)
    ]


def names_of(study: Study, *, answer: str = "", without: LanguageModel | None = None) -> list[Named]:
    """The rows of a study as names to write about; with `answer` (`section.question=option`) those that have it as a
    chosen answer: the gold's, else what most people said; `without` a text of that model. One query; with `answer` five
    more."""
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None).order_by("sheet__position", "position")
    if without is not None:
        rows = rows.exclude(generation_items__run__model=without)
    if answer:
        source = chosen(study).source
        having = {
            row.number
            for sheet in source.sheets
            for row in sheet.rows
            if any(f"{one.section}.{one.question}={one.code}" == answer for one in row.answers)
        }
        rows = rows.filter(pk__in=having)
    known = placeholders(study.scheme.parsed)
    return [
        Named(pk, name, {key: _text(facets.get(key, "")) for key in known})
        for pk, name, facets in rows.values_list("pk", "name", "facets")
    ]


def _text(facet: str | list[str]) -> str:
    return facet if isinstance(facet, str) else ", ".join(facet)


# Row, type, wording, seed: what a text of a model hangs on, its settings being the same.
Asked = tuple[int, str, str, int]


def asked_of(wanted: Wanted, row: int, of_type: str, wording: str, seed: int) -> Asked:
    """At temperature 0 nothing is drawn, so that seeds make no difference."""
    return row, of_type, with_plain_ends(wording).strip(), seed if wanted.temperature else 0


def asked_before(study: Study, model: LanguageModel, wanted: Wanted) -> set[Asked]:
    """What the model has written for rows of a study, or is being asked for, by the settings that are wanted now: asked
    again it would write the same. One query."""
    texts = GenerationItem.objects.filter(
        Q(generation__text__isnull=False) | Q(run__state=RunState.RUNNING),
        run__study=study,
        generation__model=model,
        generation__same_as=None,
        generation__temperature=wanted.temperature,
        generation__max_new_tokens=wanted.max_new_tokens,
        generation__chat_template=asks_in_chat_form(model, Use.GENERATE, chat_template=wanted.chat_template),
    )
    asked = texts.values_list("row", "prompt_type", "generation__prompt__text", "generation__seed")
    return {asked_of(wanted, *text) for text in asked}


def generators(models: QuerySet[LanguageModel] | None = None) -> QuerySet[LanguageModel]:
    return (LanguageModel.objects.all() if models is None else models).order_by("name")


@dataclass(frozen=True)
class ModelEstimate:
    """What the run of one model will take. `time`: at the pace of its last texts, None before its first; `spent`: what
    is read, about, and what is written, at most."""

    model: LanguageModel
    time: timedelta | None
    spent: Spent


@dataclass(frozen=True)
class Estimate:
    """What the runs will take. `texts`: all that are wanted; `before`: of them, those that were asked for before, which
    are left out."""

    names: int
    texts: int
    before: int
    by_model: tuple[ModelEstimate, ...]
    several_wordings: bool

    @property
    def tokens(self) -> int:
        """That are written, at most."""
        return sum(each.spent.written for each in self.by_model)

    @property
    def read(self) -> int:
        return sum(each.spent.read for each in self.by_model)


def estimate(*, study: Study, names: Sequence[Named], models: Sequence[LanguageModel], wanted: Wanted) -> Estimate:
    """Two queries a model. What is read goes by the letters of the prompts of some names."""
    a_model = len(names) * len(wanted.types) * wanted.per_type
    some = names[:: max(1, len(names) // _LOOKED_AT)][:_LOOKED_AT]
    letters = sum(
        len(wordings.fill(of_type.wording(number), {**each.facets, NAME: each.name}))
        for each in some
        for of_type in wanted.types
        for number in range(wanted.per_type)
    )
    of_all = letters * len(names) / len(some) if some else 0.0
    read = tokens_read(of_all, chats=a_model if wanted.chat_template else 0)
    by_model, before = [], 0
    for model in models:
        n = a_model - _n_before(study, model, names, wanted)
        spent = Spent(round(read * (n / a_model)) if a_model else 0, n * wanted.max_new_tokens, model.prices)
        by_model.append(ModelEstimate(model, _takes(model, n, wanted.max_new_tokens), spent))
        before += a_model - n
    return Estimate(
        names=len(names),
        texts=a_model * len(models),
        before=before,
        by_model=tuple(by_model),
        several_wordings=all(len(each.wordings) >= wanted.per_type for each in wanted.types),
    )


def _n_before(study: Study, model: LanguageModel, names: Sequence[Named], wanted: Wanted) -> int:
    before = asked_before(study, model, wanted)
    if not before:
        return 0
    return sum(
        asked_of(wanted, each.row, of_type.key, of_type.wording(number), wanted.seed + number) in before
        for each in names
        for of_type in wanted.types
        for number in range(wanted.per_type)
    )


def _takes(model: LanguageModel, texts: int, longest: int) -> timedelta | None:
    """A text is taken to be as long as this model's last ones, and no longer than allowed."""
    written = Generation.objects.filter(model=model, tokens__gt=0, seconds__gt=0).order_by("-pk")[:_PACE_OF]
    tokens = seconds = n = 0.0
    for of_tokens, of_seconds in written.values_list("tokens", "seconds"):
        tokens, seconds, n = tokens + (of_tokens or 0), seconds + (of_seconds or 0), n + 1
    if not n:
        return None
    return whole_seconds(timedelta(seconds=texts * min(tokens / n, longest) * seconds / tokens))


# --- runs -------------------------------------------------------------------------------------------------------------


class RunCounts(TypedDict):
    n_texts: int
    n_done: int
    n_failed: int


def runs_with_counts(study: Study) -> QuerySet[WithAnnotations[GenerationRun, RunCounts]]:
    """The runs of a study, the last one first, each with `n_texts`, `n_done` and `n_failed`."""
    runs = GenerationRun.objects.filter(study=study).select_related("model", "study", "started_by")
    counted = runs.order_by("-started_at", "-pk").annotate(**work.counts("n_texts"))
    return cast("QuerySet[WithAnnotations[GenerationRun, RunCounts]]", counted)  # the names of `counts` are made


@dataclass(frozen=True)
class Written:
    """What a run gave so far. `signs`: texts by what may be wrong with them; `cut`: those that hit the limit."""

    texts: int
    tokens: int
    seconds: float
    cut: int
    signs: dict[signs.Sign, int]

    @property
    def tokens_a_second(self) -> float | None:
        return self.tokens / self.seconds if self.tokens and self.seconds else None


def written(run: GenerationRun) -> Written:
    """Two queries."""
    of_run = Generation.objects.filter(item__run=run, text__isnull=False)
    sums = of_run.aggregate(tokens=Sum("tokens"), seconds=Sum("seconds"))
    seen: Counter[str] = Counter()
    texts = cut = 0
    for finish, found in of_run.values_list("finish", "signs"):
        texts += 1
        cut += finish != "stop"
        seen.update(list(found))
    return Written(
        texts=texts,
        tokens=sums["tokens"] or 0,
        seconds=sums["seconds"] or 0.0,
        cut=cut,
        signs={sign: seen[sign] for sign in signs.Sign if seen[sign]},
    )


def texts_of(run: GenerationRun) -> QuerySet[GenerationItem]:
    """The texts of a run in the order in which they were asked for."""
    return run.items.select_related("generation__prompt", "generation__model", "row__sheet").order_by("pk")


def last_written(run: GenerationRun, most: int) -> list[GenerationItem]:
    """The texts that were written last, and what failed. One query."""
    ended = texts_of(run).filter(state__in=[ItemState.DONE, ItemState.FAILED])
    return list(ended.order_by("-done_at", "-pk")[:most])


def having(texts: QuerySet[GenerationItem], *, sign: str = "", of_type: str = "") -> QuerySet[GenerationItem]:
    """`sign`: of `signs.Sign`, or “cut”, or “none” for texts without any."""
    if of_type:
        texts = texts.filter(prompt_type=of_type)
    if sign == "cut":
        return texts.filter(generation__text__isnull=False).exclude(generation__finish="stop")
    if sign == "none":
        return texts.filter(generation__finish="stop", generation__signs={})
    if sign:
        return texts.filter(generation__signs__has_key=sign)
    return texts


@dataclass(frozen=True)
class Again:
    """A text that was written again from the same record. `differs_at`: the first character that is another one, None
    where they are the same, or it is not written yet."""

    item: GenerationItem
    is_written: bool
    differs_at: int | None
    same_weights: bool

    @property
    def is_same(self) -> bool:
        return self.is_written and self.differs_at is None


def written_again(generation: Generation) -> list[Again]:
    """What became of this record each other time it was written. One query."""
    again = GenerationItem.objects.filter(generation__same_as=generation).select_related("generation", "run__study")
    return [_compared(generation, item) for item in again.order_by("pk")]


def _compared(first: Generation, item: GenerationItem) -> Again:
    other = item.generation
    if first.text is None or other.text is None:
        return Again(item, False, None, False)
    return Again(item, True, first_difference(first.text, other.text), first.weights == other.weights)


def first_difference(one: str, other: str) -> int | None:
    """The place of the first character in which two texts differ, None where they are the same."""
    if one == other:
        return None
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


# --- for who makes studies of texts -----------------------------------------------------------------------------------


def source_texts(study: Study) -> dict[int, list[SourceText]]:
    """{row: its texts}, those that were written first, for derivers. One query."""
    found: dict[int, list[SourceText]] = {}
    items = GenerationItem.objects.filter(
        Q(generation__same_as=None), run__study=study, generation__text__isnull=False
    ).select_related("generation__model")
    for item in items.order_by("pk"):
        found.setdefault(item.row_id, []).append(_source_text(item))
    return found


def _source_text(item: GenerationItem) -> SourceText:
    generation = item.generation
    return SourceText(
        number=generation.pk,
        text=generation.text or "",
        generator=generation.model.name,
        prompt_type=item.prompt_type,
        finish=generation.finish,
        signs=tuple(generation.signs),
    )


def rows_for_files(texts: QuerySet[GenerationItem]) -> Iterator[dict[str, object]]:
    """Each text with its whole record, for downloads and programs."""
    for item in texts.iterator(chunk_size=200):
        yield record_of(item)


def record_of(item: GenerationItem) -> dict[str, object]:
    one = item.generation
    return {
        "id": one.pk,
        "row": item.row_id,
        "sheet": item.row.sheet.title,
        "input": one.input,
        "prompt_type": item.prompt_type,
        "number": item.number,
        "model": one.model.name,
        "location": one.model.location,
        "weights_sha256": one.weights,
        "wording": one.prompt.text.strip(),
        "wording_sha256": one.prompt.digest,
        "prompt": one.asked,
        "prompt_sha256": one.asked_digest,
        "chat_template": one.chat_template,
        "temperature": one.temperature,
        "seed": one.seed,
        "max_new_tokens": one.max_new_tokens,
        "state": item.state,
        "error": item.error,
        "finish": one.finish,
        "tokens": one.tokens,
        "seconds": one.seconds,
        "signs": one.signs,
        "same_as": one.same_as_id,
        "written_at": one.written_at.isoformat(timespec="seconds") if one.written_at else None,
        "text": one.text,
    }


def types_of(run: GenerationRun) -> Collection[str]:
    return [each["key"] for each in run.request.get("types", [])]
