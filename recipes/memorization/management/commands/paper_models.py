from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from pydantic import BaseModel, ConfigDict, ValidationError

from annotation.models import Study
from base import yaml_reading
from base.yaml_reading import YamlRefused
from judges import actions as judging
from judges import doors as judge_doors
from judges.management.commands import extract, judge
from judges.management.telling import refusals_told
from judges.models import ExtractionRun, Extractor, Judge
from judges.models import Run as JudgeRun
from llm import actions as llm
from llm.backends.base import BackendError
from llm.models import LanguageModel
from recipes.memorization.carrying import unpacked
from recipes.memorization.demo_study import ROOT
from reports import queries as report_queries
from reports.data.arrays import TOLD_APART, Filters
from reports.data.cells import study_data
from reports.exports.latex import latex
from reports.numbers.report import QuestionReport, compute
from reports.tables import ReportTable
from reports.tables.models import model_tables
from work.management.in_process import RunCommand
from work.models import Run
from work.states import ItemState, RunState

SHIPPED = ROOT / "paper_models.yaml"
_COOKING = ROOT.parent / "cooking" / "prompts" / "extraction" / "recipe.yaml"
_TASK = "tasks.task"
_QUESTIONS = {"ingredients.presence": "Table 7", _TASK: "Table 8"}
_FOUR = "tasks-four"  # a part, and the end of its prompt's name


class Tasks(BaseModel):
    """`judges` are offered two options, `four` all four."""

    model_config = ConfigDict(extra="forbid")
    by: str
    judges: list[str]
    four: list[str] = []


class Place(BaseModel):
    model_config = ConfigDict(extra="forbid")
    location: str
    revision: str = ""
    gguf_file: str = ""
    device: str = "cpu"
    dtype: str = "auto"


class Plan(BaseModel):
    """Which models extract and which judge; see paper_models.yaml."""

    model_config = ConfigDict(extra="forbid")
    models: dict[str, Place]
    extract: list[str]
    ingredients: list[str]
    tasks: Tasks
    reads: str = "html"
    prompts: str = "plain"
    chat_template: bool = True

    @property
    def used(self) -> set[str]:
        """The models that are loaded; extractors may also be parsers, which need none."""
        return {*self.extract, *self.ingredients, self.tasks.by, *self.tasks.judges, *self.tasks.four} - {
            parser.key for parser in judge_doors.parsers()
        }


class Command(RunCommand):
    safe, chatty = "What is extracted and labelled", ("work", "judges", "httpx")
    help = (
        "Tables 7 and 8 of the memorization paper, and the four classes of its section 7: each model that extracts "
        "takes the lists out of a study's pages, each model that judges labels by them, and the tables are printed. "
        "The study comes from `carry_study`. "
        "Called again, it goes on where it ended."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="what carry_study wrote")
        parser.add_argument("--study", default="paper-models", help="short name of the study to make (%(default)s)")
        parser.add_argument("--plan", type=Path, default=SHIPPED, help="which models do what (the paper's)")
        parser.add_argument("--longest", type=int, default=2048, metavar="TOKENS", help="of a list (%(default)s)")
        parser.add_argument("--out", type=Path, metavar="FOLDER", help="put the tables there, as LaTeX")

    def handle(
        self, *, file: Path, study: str, plan: Path, longest: int, out: Path | None, verbosity: int, **_o: Any
    ) -> None:
        self.prepare(verbosity=verbosity)
        wanted = _plan(plan)
        with refusals_told():
            models = {name: _model(wanted.models[name]) for name in sorted(wanted.used)}
            of = Study.objects.filter(slug=study).first() or unpacked(file, slug=study)
            extractors = {}
            for name in dict.fromkeys([*wanted.extract, wanted.tasks.by]):
                extractors[name] = _extractor(name, models.get(name), wanted, longest)
                self._extract(of, extractors[name])
            # One model after the other: a process holds one.
            for name in dict.fromkeys([*wanted.ingredients, *wanted.tasks.judges, *wanted.tasks.four]):
                if name in wanted.ingredients:
                    for by in wanted.extract:
                        self._judge(of, _judge(name, "ingredients", models[name], extractors[by], wanted))
                by_one = extractors[wanted.tasks.by]
                if name in wanted.tasks.judges:
                    self._judge(of, _judge(name, "tasks", models[name], by_one, wanted))
                if name in wanted.tasks.four:
                    self._judge(of, _judge(name, _FOUR, models[name], by_one, wanted))
        for question, name, table in tables(of):
            self.stdout.write(f"\n{name} ({question}): {table.title}\n")
            for line in as_text(table):
                self.stdout.write(line)
            self.stdout.write(table.how)
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                (out / f"{name.lower().replace(' ', '-')}.tex").write_text(latex(table), encoding="utf-8")

    def _extract(self, study: Study, extractor: Extractor) -> None:
        last = study.extraction_runs.filter(extractor=extractor).first()
        if last is not None and last.state == RunState.FINISHED:
            return  # what it refused, it would refuse again
        if last is not None and not last.is_running and last.items.exclude(state=ItemState.DONE).exists():
            judging.resume_extraction(run=last, enqueue=False)
            last.refresh_from_db()
        self.work(last or judging.start_extraction(study=study, extractor=extractor, by=None, enqueue=False))

    def _judge(self, study: Study, chosen: Judge) -> None:
        last = study.runs.filter(judge=chosen).first()
        if last is not None and last.state == RunState.FINISHED:
            return
        if last is not None and not last.is_running:
            judging.resume_run(run=last, enqueue=False)
            last.refresh_from_db()
        self.work(last or judging.start_run(study=study, judge=chosen, by=None, enqueue=False))

    def parts(self, run: Run) -> Iterator[str]:
        yield run.maker
        yield from _TELLERS[type(run)].parts(run)

    def problems(self, run: Run) -> Iterator[str]:
        yield from _TELLERS[type(run)].problems(run)


_TELLERS: dict[type[Run], Any] = {ExtractionRun: extract.Command(), JudgeRun: judge.Command()}


def _plan(file: Path) -> Plan:
    try:
        found = Plan.model_validate(yaml_reading.load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, YamlRefused, ValidationError) as error:
        raise CommandError(f"{file}: {error}") from error
    if missing := sorted(found.used - set(found.models)):
        raise CommandError(f"{file}: “{missing[0]}” is not among its models.")
    if found.reads not in ("html", "page", "document") or found.prompts not in ("plain", "extracted"):
        raise CommandError(f"{file}: reads is html, page or document; prompts is plain or extracted.")
    if found.tasks.four and found.prompts != "plain":
        raise CommandError(f"{file}: only plain prompts offer all four options of a task; leave out tasks.four.")
    return found


def _model(place: Place) -> LanguageModel:
    try:
        return llm.store_model(**place.model_dump())
    except BackendError as error:
        raise CommandError(str(error)) from error


def _extractor(name: str, model: LanguageModel | None, plan: Plan, longest: int) -> Extractor:
    if model is None:
        return Extractor.objects.filter(name=name).first() or judging.create_extractor(name=name, parser=name)
    called = f"{name} reads {plan.reads}"
    found = Extractor.objects.filter(name=called).first()
    prompt = _COOKING.read_text(encoding="utf-8").replace("$document", f"${plan.reads}")
    return found or judging.create_extractor(
        name=called, model=model, prompt_text=prompt, chat_template=plan.chat_template, max_new_tokens=longest
    )


def _judge(name: str, part: str, model: LanguageModel, by: Extractor, plan: Plan) -> Judge:
    called = f"{name} {part} by {by.name}"[:60]
    if found := Judge.objects.filter(name=called).first():
        return found
    file = f"memorization-{plan.prompts}-{part}"
    text = (ROOT / "prompts" / f"{file}.yaml").read_text(encoding="utf-8")
    return judging.create_judge(
        name=called,
        method=Judge.Method.CLOZE,
        model=model,
        prompt=judging.store_prompt(name=file, text=text),
        evidence=by,
    )


def tables(study: Study) -> Iterator[tuple[str, str, ReportTable]]:
    """Question, name in the paper, and table, of those that the study's judges give.

    Judges who are offered four options of a task stand in tables of their own: all told apart, and merged into the two
    that the others are offered.
    """
    runs = study.runs.select_related("judge__prompt")
    judges = {run.judge.name: run.judge.prompt.name.endswith(_FOUR) for run in runs}
    of_two, of_four = (tuple(name for name, four in judges.items() if four == wanted) for wanted in (False, True))
    if of_two:
        yield from _tables(study, Filters(judges=of_two), _QUESTIONS)
    if of_four:
        apart = Filters(judges=of_four, merges={_TASK: TOLD_APART})
        yield from _tables(study, apart, {_TASK: "Section 7 four classes"})
        yield from _tables(study, Filters(judges=of_four), {_TASK: "Section 7 four classes merged"})


def _tables(study: Study, filters: Filters, names: Mapping[str, str]) -> Iterator[tuple[str, str, ReportTable]]:
    report = compute(study_data(report_queries.label_table(study, filters), filters), filters)
    for section in report.sections:
        for question in section.questions:
            if isinstance(question, QuestionReport) and question.data.name in names:
                for table in model_tables(question, even_one=True):
                    yield question.data.name, names[question.data.name], table


def as_text(table: ReportTable) -> Iterator[str]:
    lines = [[head.title for head in table.heads]]
    lines += [[_cell(value) for value in row] for row in table.rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(table.heads))]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def _cell(value: object) -> str:
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
