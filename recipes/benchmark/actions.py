"""Writes of this pack: instructions become rows; a benchmark is gone on with, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.deriving.actions import derive_study, extend_study
from annotation.exchange import arrivals
from annotation.models import Row, Scheme, Study, User
from annotation.scheme.spec import SchemeSpec
from judges import actions as judging
from judges.generating import actions as generating
from judges.generating import queries as texts
from judges.generating.planning import Wanted
from judges.methods import prompting
from judges.models import GenerationRun, Judge, Run
from judges.runs import labelling
from llm import actions as llm
from llm.backends.base import BackendError
from llm.generating.wordings import PromptType
from llm.models import LanguageModel
from recipes.benchmark import deriver, queries
from recipes.benchmark.files import BenchmarkFile, GeneratorSpec, JudgeSpec, ModelSpec
from recipes.benchmark.instructions import Instruction
from reports import actions as reporting
from reports import queries as report_queries
from reports.data.arrays import Filters
from reports.models import Report


@transaction.atomic
def add_instructions(*, study: Study, instructions: Sequence[Instruction]) -> int:
    """Add instructions to a study, each to its sheet, which is made where it is missing; returns how many were new.

    Raises:
        Refused: the study was made of another one, whose instructions these would not be, or a file is being imported.
    """
    if study.derived_from_id is not None:
        raise Refused(_("This study rates texts; instructions go into the study that it was made of."))
    annotating.lock_study(study.pk)
    arrivals.refuse_if_coming(study.pk)  # it may bring these instructions, or be taken back
    spec = study.scheme.parsed.row
    sheets = {sheet.title: sheet for sheet in study.sheets.all()}
    known = set(Row.objects.filter(sheet__study=study).values_list("sheet__title", "name"))
    last: dict[str, int] = dict(
        Row.objects.filter(sheet__study=study).values_list("sheet__title").annotate(place=Max("position"))
    )
    new = []
    for one in instructions:
        if (one.sheet, one.name) in known:
            continue
        known.add((one.sheet, one.name))
        if one.sheet not in sheets:
            sheets[one.sheet] = annotating.add_sheet(study=study, title=one.sheet, columns={})
        last[one.sheet] = last.get(one.sheet, -1) + 1
        new.append(
            Row(
                sheet=sheets[one.sheet],
                position=last[one.sheet],
                name=one.name[:200],
                title=one.name[:500],
                facets=spec.facets_of(one.facets),
            )
        )
    Row.objects.bulk_create(new, batch_size=500)
    return len(new)


# --- one step after the other; each finds what is done already --------------------------------------------------------


@transaction.atomic
def check(*, file: BenchmarkFile, scheme: SchemeSpec, prompts: Mapping[str, str]) -> None:
    """Whether the models and judges of a file can do what it asks, as far as that is known without loading them: a
    judge is reached hours after the first text. They are stored as they will be, and taken back.

    Raises:
        Refused, BackendError: a model or judge could never work, or has the name of another one.
        PromptError: a prompt does not fit the scheme.
    """
    generators = {one.name: one for one in file.generators}
    for generator in file.generators:
        generating.check_model(model_of(generator), chat_template=generator.chat)
    for spec in file.judges:
        judge = _judge(spec, prompts[spec.name], generators)
        prompting.check_against(judge.prompt_spec, scheme, judge.method)
        if judge.model is not None:
            labelling.check_model(judge.model, method=judge.method, chat_template=judge.chat_template)
    transaction.set_rollback(True)


@transaction.atomic
def prepare(*, file: BenchmarkFile, scheme: Scheme, instructions: Sequence[Instruction], by: User | None) -> Study:
    """The study of instructions of a benchmark, made or added to.

    Raises:
        Refused: the study is there with another scheme.
    """
    slug = queries.instructions_slug(file.benchmark)
    study = Study.objects.filter(slug=slug).select_related("scheme").first()
    if study is None:
        title = _("%(title)s: instructions") % {"title": file.title or file.benchmark}
        study = annotating.create_study(slug=slug, title=title[:200], scheme=scheme, by=by)
    elif study.scheme_id != scheme.pk:
        raise Refused(
            _("“%(slug)s” is there with the scheme %(scheme)s. Give this benchmark another name.")
            % {"slug": slug, "scheme": study.scheme}
        )
    add_instructions(study=study, instructions=instructions)
    return study


def model_of(spec: ModelSpec) -> LanguageModel:
    """
    Raises:
        Refused: another model has this name, or there is no such backend.
    """
    try:
        return llm.store_model(name=spec.name, **spec.place)
    except BackendError as error:
        raise Refused(str(error)) from error


def go_on_writing(*, study: Study, spec: GeneratorSpec, types: Sequence[PromptType], seed: int) -> GenerationRun | None:
    """The run in which a generator writes what it has not written yet; None where nothing is left.

    Raises:
        Refused: the model could never write.
    """
    model = model_of(spec)
    for run in study.generation_runs.filter(model=model).order_by("pk"):
        if queries.is_unfinished(run):
            if not run.is_running:
                generating.resume(run=run, enqueue=False)
            return run
    if not texts.names_of(study, without=model):
        return None
    wanted = Wanted(
        types=tuple(types),
        per_type=1,
        temperature=spec.temperature,
        max_new_tokens=spec.longest,
        seed=seed,
        chat_template=spec.chat,
        together=spec.together,
    )
    (run,) = generating.start(study=study, models=[model], wanted=wanted, only_missing=True, by=None, enqueue=False)
    return run


@transaction.atomic
def go_on_deriving(*, file: BenchmarkFile, source: Study, by: User | None) -> tuple[Study, int]:
    """The study of texts, made or added to, and how many rows are new.

    Raises:
        Refused: no text is written; or there is another study of that address.
    """
    study = Study.objects.filter(slug=file.benchmark).select_related("scheme", "derived_from").first()
    if study is None:
        study = derive_study(
            source=source,
            deriver=deriver.KEY,
            scheme=source.scheme,
            slug=file.benchmark,
            title=file.title or file.benchmark,
            settings={"texts": [file.texts], **({"seed": [str(file.seed)]} if "seed" in file.model_fields_set else {})},
            by=by,
        )
        return study, int(study.derivation["made"]["rows"])
    if study.derived_from_id != source.pk:
        raise Refused(
            _("“%(slug)s” is a study of something else. Give this benchmark another name.") % {"slug": file.benchmark}
        )
    return study, extend_study(study)


def go_on_judging(*, study: Study, spec: JudgeSpec, prompt: str, generators: dict[str, GeneratorSpec]) -> Run | None:
    """The run in which a judge rates what it has not rated yet; None where nothing is left.

    Raises:
        Refused: it could never work; or a judge of this name asks otherwise.
        PromptError: `prompt` is no prompt file.
    """
    judge = _judge(spec, prompt, generators, study)
    for run in study.runs.filter(judge=judge).order_by("pk"):
        if queries.is_unfinished(run):
            if not run.is_running:
                judging.resume_run(run=run, enqueue=False)
            return run
    if not queries.left_to_judge(study, judge, spec.repeats):
        return None
    return judging.start_run(study=study, judge=judge, by=None, repeats=spec.repeats, enqueue=False)


def _judge(spec: JudgeSpec, prompt: str, generators: dict[str, GeneratorSpec], study: Study | None = None) -> Judge:
    """`study`: where a judge stays whose prompt has examples; None where it is only tried, and taken back."""
    model = model_of(generators[spec.model] if spec.model else spec)
    stored = judging.store_prompt(name=spec.prompt or spec.name, text=prompt)
    known = Judge.objects.filter(name=spec.name).first()
    if known is None:
        return judging.create_judge(
            name=spec.name,
            method=spec.method,
            model=model,
            prompt=stored,
            study=study,
            chat_template=spec.chat,
            temperature=spec.temperature if spec.method in ("rating", "writing") else None,
            max_new_tokens=spec.longest if spec.method in ("rating", "writing") else None,
        )
    same = known.model_id == model.pk and known.prompt_id == stored.pk and known.method == spec.method
    if known.writes:
        same = same and (known.temperature, known.max_new_tokens) == (spec.temperature, spec.longest)
    if not same:
        raise Refused(
            _(
                "A judge “%(judge)s” is there, with another model, prompt, temperature or longest answer. Call yours "
                "otherwise."
            )
            % {"judge": spec.name}
        )
    return known


def freeze(*, file: BenchmarkFile, study: Study, by: User | None) -> tuple[Report, bool]:
    """A frozen report of all ratings, and whether it is new: where the last one rests on the same labels, it stands.

    Raises:
        Refused: there is no label.
    """
    filters = Filters()
    last = study.reports.order_by("-created_at", "-pk").first()
    if last is not None and last.filters == filters.to_json():
        table = report_queries.label_table(study, filters, notes=True, frequent=True)
        if table.digest == last.data_digest:
            return last, False
    title = _("%(title)s, report %(n)s") % {"title": file.title or file.benchmark, "n": study.reports.count() + 1}
    return reporting.freeze(study=study, title=title[:200], filters=filters, by=by), True
