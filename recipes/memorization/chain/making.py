"""A chain made, step by step, by the same actions as its pages. Each step looks first at what is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.deriving.actions import derive_study
from annotation.models import Assignment, Role, Row, Scheme, Study, User
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges import queries as judge_queries
from judges.generating import actions as generating
from judges.generating.planning import Wanted
from judges.models import GenerationRun, Judge, UnreadableAnswer
from llm.generating.wordings import PromptType
from llm.models import LanguageModel
from recipes.cooking import actions as cooking
from recipes.cooking import retrieval_queries
from recipes.cooking.models import Retrieval
from recipes.cooking.pages import read_folder
from recipes.memorization import candidates
from recipes.memorization.actions import add_names
from recipes.memorization.chain import PARSING
from recipes.memorization.chain.settings import ChainSettings, Step, Told
from recipes.memorization.names import SCHEME as NAMES
from recipes.memorization.names import DishName
from recipes.memorization.verdict import NONSENSE
from recipes.memorization.verdict import SCHEME as RECIPES
from work.models import Run
from work.states import ItemState, RunState

# Does the work of a run until none is left, or raises.
Worker = Callable[[Run], None]


class Chain:
    """Steps that are done in their order; each may be called again and does what is left of it.

    Args:
        work: what does a run's work. `enqueue`: whether Celery's workers are told of it, too.
        by: who becomes manager of the studies; None: administrators alone see them.
        people: who is given the documents, too, as annotators of their study.
        limits: `most_tokens` and `most_cost`, at which each run of a model pauses. Of money only where it has a price.
    """

    def __init__(
        self,
        settings: ChainSettings,
        *,
        models: Sequence[LanguageModel],
        types: Sequence[PromptType],
        judges: Mapping[str, Judge],
        work: Worker,
        by: User | None = None,
        enqueue: bool = False,
        limits: Mapping[str, Any] | None = None,
        people: Sequence[User] = (),
    ) -> None:
        self.settings, self.models, self.types, self.judges = settings, models, types, judges
        self.work, self.by, self.enqueue = work, by, enqueue
        self.limits = limits or {}
        self.people = people

    def go(self, names: Sequence[DishName], *, until: Step = Step.LABEL) -> Iterator[Told]:
        """Do each step up to `until`, and tell what came of it.

        Raises:
            Refused: a step can do nothing; the sentence says why. And what `work` raises.
        """
        done: dict[Step, Callable[[], Iterator[str]]] = {
            Step.NAMES: lambda: self.names(names),
            Step.GENERATE: self.generate,
            Step.CHOOSE: self.choose,
            Step.PARSE: self.parse,
            Step.FETCH: self.fetch,
            Step.LABEL: self.label,
            Step.EXAMINE: self.examine,
        }
        for step, do in done.items():
            began = time.monotonic()
            sentences = tuple(do())
            yield Told(step, time.monotonic() - began, sentences)
            if step == until:
                return

    # --- the steps ----------------------------------------------------------------------------------------------------

    def names(self, names: Sequence[DishName]) -> Iterator[str]:
        study = self._study(Step.NAMES)
        if study is None:
            with transaction.atomic():
                study = annotating.create_study(
                    slug=self.settings.study(Step.NAMES),
                    title=f"{self._title}: names",
                    scheme=scheme_called(NAMES),
                    by=self.by,
                )
                add_names(study=study, sheet="Dishes", names=names)
        else:
            add_names(study=study, sheet="Dishes", names=names)
        yield f"{Row.objects.filter(sheet__study=study, withdrawn_at=None).count()} dishes"

    def generate(self) -> Iterator[str]:
        study, asked = self._there(Step.GENERATE), self.settings
        wanted = Wanted(
            types=tuple(self.types),
            per_type=asked.per_type,
            temperature=asked.temperature,
            max_new_tokens=asked.longest,
            seed=asked.seed,
            chat_template=asked.chat_form,
            together=asked.together,
        )
        for model in self.models:
            run: GenerationRun | None = study.generation_runs.filter(model=model).order_by("pk").first()
            if run is None:
                (run,) = generating.start(
                    study=study,
                    models=[model],
                    wanted=wanted,
                    by=self.by,
                    enqueue=self.enqueue,
                    **self._limits_of(model),
                )
            elif not run.is_running and run.items.exclude(state=ItemState.DONE).exists():
                generating.resume(run=run, enqueue=self.enqueue, **self._limits_of(model))
                run.refresh_from_db()
            if run.is_running:
                self.work(run)
            signs = [signs for signs in run.items.values_list("generation__signs", flat=True) if signs]
            cut = run.items.filter(generation__text__isnull=False).exclude(generation__finish="stop").count()
            yield f"{run.items.count()} texts by {model.name}: {cut} cut at the limit, {len(signs)} with a sign"

    def choose(self) -> Iterator[str]:
        study = self._study(Step.CHOOSE) or self._derive(
            Step.CHOOSE, of=self._there(Step.GENERATE), deriver="candidates", scheme=candidates.SCHEME,
            settings={"texts": [candidates.ALL]} | ({"seed": [seed]} if (seed := self.settings.order_seed) else {}),
        )  # fmt: skip
        yield from self._judged(study, self.settings.chooser)

    def parse(self) -> Iterator[str]:
        study = self._study(Step.PARSE) or self._derive(
            Step.PARSE, of=self._there(Step.CHOOSE), deriver="best-candidates", scheme=PARSING,
            rater=self.settings.chooser,
            settings={"unsaid": [candidates.FIRST if self.settings.keep_all else candidates.LEAVE]},
        )  # fmt: skip
        n = Row.objects.filter(sheet__study=study).count()
        by_judge = study.lineage.filter(question__isnull=False).values("made_row").distinct().count()
        yield f"{n} recipes: {by_judge} chosen by answers, {n - by_judge} by lot"
        yield from self._judged(study, self.settings.parser)

    def fetch(self) -> Iterator[str]:
        study = self._study(Step.FETCH) or self._derive(
            Step.FETCH,
            of=self._there(Step.PARSE),
            deriver="parsed-recipes",
            scheme=RECIPES,
            rater=self.settings.parser,
        )
        if self.settings.folder:
            yield from self._saved(study, Path(self.settings.folder))
        else:
            self._search(study)
        self._give(study)
        fewest = [sheet.rows.filter(withdrawn_at=None).count() for sheet in study.sheets.all()]
        yield f"{sum(fewest)} documents of {len(fewest)} recipes, {min(fewest, default=0)} of one at least"

    def label(self) -> Iterator[str]:
        for judge in self.settings.judges:
            yield from self._judged(self._there(Step.LABEL), judge)

    def examine(self) -> Iterator[str]:
        study = self._study(Step.EXAMINE) or self._derive(
            Step.EXAMINE,
            of=self._there(Step.PARSE),
            deriver="examined-recipes",
            scheme=NONSENSE,
            rater=self.settings.parser,
        )
        yield from self._judged(study, self.settings.examiner)

    # --- what they share ----------------------------------------------------------------------------------------------

    @property
    def _title(self) -> str:
        return self.settings.slug.replace("-", " ").capitalize()

    def _study(self, step: Step) -> Study | None:
        return Study.objects.select_related("scheme").filter(slug=self.settings.study(step)).first()

    def _there(self, step: Step) -> Study:
        found = self._study(step)
        if found is None:
            raise Refused(f"There is no study “{self.settings.study(step)}” yet: begin with its steps before.")
        return found

    def _derive(
        self,
        step: Step,
        *,
        of: Study,
        deriver: str,
        scheme: str,
        rater: str = "",
        settings: Mapping[str, Sequence[str]] | None = None,
    ) -> Study:
        part = self.settings.study(step).removeprefix(self.settings.slug).strip("-")
        if rater and not of.raters.filter(code=rater).exists():
            rater = ""  # people alone have answered
        return derive_study(
            source=of,
            deriver=deriver,
            scheme=scheme_called(scheme),
            slug=self.settings.study(step),
            title=f"{self._title}: {part}" if part else self._title,
            rater=rater,
            settings=settings,
            by=self.by,
        )

    def _judged(self, study: Study, name: str) -> Iterator[str]:
        """A judge labels what is left, if one is named: else people do."""
        if not name:
            yield "No judge is named: people answer here."
            return
        judge = self.judges[name]
        run = judge_queries.unfinished_run(study, judge)
        if run is not None and not run.is_running:
            judging.resume_run(run=run, enqueue=self.enqueue, **self._limits_of(judge.model))
            run.refresh_from_db()
        elif run is None and _left(study, name).exists():
            run = judging.start_run(
                study=study, judge=judge, by=self.by, enqueue=self.enqueue, **self._limits_of(judge.model)
            )
        if run is not None:
            self.work(run)
        yield from _answers_told(study, name)

    def _limits_of(self, model: LanguageModel | None) -> dict[str, Any]:
        if model is None:
            return {}
        return {name: most for name, most in self.limits.items() if name != "most_cost" or model.prices is not None}

    def _search(self, study: Study) -> None:
        n = self.settings.documents
        run: Retrieval | None = study.retrievals.order_by("-pk").first()
        if run is None or not run.is_running:
            engines = list(self.settings.engines) or [name for name, _label in retrieval_queries.engines_for(study)]
            sheets = list(study.sheets.filter(closed_at=None).order_by("position"))
            asked = retrieval_queries.asked_of(sheets, engines, words=self.settings.words)
            if (stopped := retrieval_queries.to_go_on_with(study, asked, documents=n)) is not None:
                cooking.resume_retrieval(run=stopped, enqueue=self.enqueue)
                stopped.refresh_from_db()
                run = stopped
            elif run is None or (_is_another(run, n) and retrieval_queries.short_of(asked, n)):
                run = cooking.start_retrieval(study=study, asked=asked, documents=n, by=self.by, enqueue=self.enqueue)
        if run.is_running:
            self.work(run)

    def _give(self, study: Study) -> None:
        """The documents to people, each once: what somebody gave back or took from them is not given again."""
        for person in self.people:
            with transaction.atomic():
                annotating.add_member(study=study, user=person, role=Role.ANNOTATOR, by=self.by)
                rater = study.raters.get(user=person)
                rows = Row.objects.filter(sheet__study=study, sheet__closed_at=None, withdrawn_at=None)
                new = rows.exclude(assignments__rater=rater).order_by("sheet__position", "position")
                annotating.assign(rater=rater, rows=list(new))

    def _saved(self, study: Study, folder: Path) -> Iterator[str]:
        """The pages of each dish's folder; pages that are there already are passed over."""
        folders = {_key(path.name): path for path in sorted(folder.iterdir()) if path.is_dir()}
        for sheet in study.sheets.order_by("position"):
            path = folders.get(_key(sheet.title))
            if path is None:
                yield f"{sheet.title}: there is no folder of that name"
            elif not sheet.rows.exists():
                result = cooking.import_documents(sheet=sheet, pages=read_folder(path))
                if result.refused:
                    yield f"{sheet.title}: {len(result.refused)} pages are no recipes"


def _is_another(run: Retrieval, documents: int) -> bool:
    """Whether a search that ended leaves something to a new one: it was stopped, or more documents are wanted now."""
    return run.state != RunState.FINISHED or run.documents < documents


def _key(name: str) -> str:
    return name.casefold().replace("-", " ").replace("_", " ").removesuffix("s")


def scheme_called(key: str) -> Scheme:
    """A shipped scheme, stored."""
    source = doors.shipped_schemes()[key].read_text(encoding="utf-8")
    return annotating.store_scheme(spec=load_scheme(source), source=source)


def _left(study: Study, rater: str) -> QuerySet[Row]:
    done = Assignment.objects.filter(rater__study=study, rater__code=rater, repeat=1, state=Assignment.State.SUBMITTED)
    return Row.objects.filter(sheet__study=study, withdrawn_at=None).exclude(assignments__in=done)


def _answers_told(study: Study, rater: str) -> Iterator[str]:
    labels = Assignment.objects.filter(rater__study=study, rater__code=rater).values_list("labels", flat=True)
    n = sum(label is not None for label in labels)
    unread = UnreadableAnswer.objects.filter(assignment__rater__study=study, assignment__rater__code=rater).count()
    share = f" ({unread / (n + unread):.0%} of those asked)" if unread else ""
    yield f"{rater}: {n:,} answers, {unread:,} unreadable{share}"
