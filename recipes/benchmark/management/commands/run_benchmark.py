from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.models import Scheme, Study, User
from annotation.scheme.spec import SchemeError, SchemeSpec, load_scheme
from judges import doors as judge_doors
from judges import queries as judge_queries
from judges.generating import queries as texts
from judges.generating.planning import PlanRefused
from judges.methods.prompt_files import PromptError
from judges.models import GenerationRun, Run
from llm.backends.base import BackendError
from llm.generating import wordings
from llm.generating.wordings import PromptType, WordingsRefused
from recipes.benchmark import actions, lists
from recipes.benchmark.files import BenchmarkFile, FileRefused, read_benchmark, sampled
from recipes.benchmark.instructions import Instruction, InstructionsRefused, read_instructions
from work import queries as work
from work.management.in_process import RunCommand

_REFUSALS = (
    *(Refused, FileRefused, InstructionsRefused, WordingsRefused, PromptError, PlanRefused, SchemeError),
    *(BackendError, OSError),
)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise CommandError(f"A file is not UTF-8 text: {error}") from error
    except _REFUSALS as refused:
        raise CommandError(str(refused)) from refused


class Command(RunCommand):
    safe, chatty = "What is written and rated", ("work", "judges", "httpx")
    help = (
        "Run a benchmark from its file, in this process: instructions, texts of each generator, the study in which "
        "they are rated, ratings of each judge, a frozen report. What is done already is not done again: call it again "
        "after an interruption, or when the file names another generator or judge, and only what is missing is done."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="YAML; docs/benchmarks-of-your-own.md has its keys")
        parser.add_argument("--no-report", action="store_true", help="freeze no report at the end")

    def handle(self, *, file: Path, no_report: bool, verbosity: int, **options: Any) -> None:
        self.prepare(verbosity=verbosity)
        # All that can be wrong with the files is found before anything is written.
        with _told():
            spec = read_benchmark(file.read_text(encoding="utf-8"))
            scheme, source = _scheme(spec, file.parent)
            instructions = _instructions(spec, scheme, file.parent)
            types = _types(spec, scheme, file.parent)
            prompts = {judge.name: _prompt(judge.prompt or spec.prompt, scheme, file.parent) for judge in spec.judges}
            by = _user(spec.manager)
            actions.check(file=spec, scheme=scheme, prompts=prompts)
            stored = annotating.store_scheme(spec=scheme, source=source)
            written = self._write(spec, stored, instructions, types, by)
            study, n_new = actions.go_on_deriving(file=spec, source=written, by=by)
        self.stdout.write(f"{study.title}: {n_new} rows are new.")
        generators = {one.name: one for one in spec.generators}
        for judge in spec.judges:
            with _told():
                run = actions.go_on_judging(study=study, spec=judge, prompt=prompts[judge.name], generators=generators)
            self.stdout.write(f"{judge.name} {'rates' if run else 'has rated everything'}.")
            if run is not None:
                self.work(run)
        if no_report:
            return
        with _told():
            report, is_new = actions.freeze(file=spec, study=study, by=by)
        said = "Frozen" if is_new else "Nothing has changed since the report was frozen"
        self.stdout.write(f"{said}: /studies/{study.slug}/reports/{report.pk}/ (SHA-256 {report.results_digest[:16]}…)")

    def _write(
        self,
        spec: BenchmarkFile,
        scheme: Scheme,
        instructions: Sequence[Instruction],
        types: Sequence[PromptType],
        by: User | None,
    ) -> Study:
        study = actions.prepare(file=spec, scheme=scheme, instructions=instructions, by=by)
        self.stdout.write(f"{study.title}: {len(instructions)} instructions.")
        for generator in spec.generators:
            run = actions.go_on_writing(study=study, spec=generator, types=types, seed=spec.seed)
            self.stdout.write(f"{generator.name} {'writes' if run else 'has written everything'}.")
            if run is not None:
                self.work(run)
        return study

    # --- how far a run is ---

    def parts(self, run: Run | GenerationRun) -> Iterator[str]:
        if isinstance(run, Run):
            rated = judge_queries.progress(run)
            yield f"{rated.done}/{rated.rows} rows"
            yield f"{rated.cells:,} ratings"
            if rated.unreadable:
                yield f"{rated.unreadable:,} unreadable"
        else:
            progress = work.progress(run)
            yield f"{progress.done}/{progress.total} texts"
        said = work.progress(run)
        if said.failed:
            yield f"{said.failed} failed"
        if said.left is not None:
            yield f"{said.left} left"

    def problems(self, run: Run | GenerationRun) -> Iterator[str]:
        if isinstance(run, Run):
            for why, n in judge_queries.unreadable_reasons(run):
                yield f"{n:,} of the answers could not be read: {why}."
        else:
            for sign, n in texts.written(run).signs.items():
                yield f"{n:,} of the texts show a sign: {sign}."
        for item in run.items.exclude(error="")[:20]:
            yield f"{item}: {item.error}"


# --- what the file names ----------------------------------------------------------------------------------------------


def _scheme(spec: BenchmarkFile, folder: Path) -> tuple[SchemeSpec, str]:
    source = _named(spec.scheme, doors.shipped_schemes(), folder, "scheme").read_text(encoding="utf-8")
    scheme = load_scheme(source)
    if scheme.benchmark is None:
        raise CommandError(f"The scheme “{scheme.key}” has no key “benchmark”, which says what an instruction is.")
    return scheme, source


def _instructions(spec: BenchmarkFile, scheme: SchemeSpec, folder: Path) -> Sequence[Instruction]:
    file = folder / spec.instructions if spec.instructions else lists.list_for(scheme.key)
    if file is None:
        raise CommandError("The file has no key “instructions”, and the scheme brings no list of its own.")
    if not file.is_file():
        raise CommandError(f"“instructions” names the file “{spec.instructions}”, which is not there.")
    return sampled(read_instructions(file.read_text(encoding="utf-8"), scheme), spec.sample)


def _types(spec: BenchmarkFile, scheme: SchemeSpec, folder: Path) -> Sequence[PromptType]:
    """How models are asked: one wording in the file, or a file of types, or what comes with the scheme."""
    known, named_by = texts.placeholders(scheme), texts.named_by(scheme)
    if not spec.ask:
        files = judge_doors.wordings_for(scheme.key)
        if not files:
            raise CommandError("The file has no key “ask”, and the scheme brings no wording of its own.")
        return wordings.read(files[0].read_text(encoding="utf-8"), known=known, named_by=named_by)
    if "$" in spec.ask:
        own = PromptType("ask", "ask", (spec.ask.strip(),))
        return wordings.checked([own], known=known, named_by=named_by)
    if not (folder / spec.ask).is_file():
        asked = " and ".join(f"${facet}" for facet in named_by)
        raise CommandError(f"“ask” is a wording with {asked} in it, or names a file: there is no “{spec.ask}”.")
    return wordings.read((folder / spec.ask).read_text(encoding="utf-8"), known=known, named_by=named_by)


def _prompt(name: str, scheme: SchemeSpec, folder: Path) -> str:
    if not name:
        raise CommandError("A judge needs a prompt: name it with the judge, or once for all of them.")
    return _named(name, judge_doors.shipped_prompts(), folder, "prompt").read_text(encoding="utf-8")


def _named(name: str, shipped: dict[str, Path], folder: Path, what: str) -> Path:
    if name in shipped:
        return shipped[name]
    if not (folder / name).is_file():
        raise CommandError(f"There is no {what} “{name}”. Shipped: {', '.join(shipped)}; or name a file.")
    return folder / name


def _user(name: str) -> User | None:
    if not name:
        return None
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is no user “{name}”.")
    return user
