from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from annotation.management.telling import unless_archived
from annotation.models import Scheme, Study
from judges.generating import actions, queries, signs_told
from judges.generating.planning import Wanted
from judges.management.telling import add_limits, limits_in, one_called, refusals_told, refuse_new_limits, study_called
from judges.models import GenerationRun
from llm import actions as llm
from llm import registry
from llm.backends.base import BackendError, Use
from llm.generating import wordings
from llm.generating.wordings import PromptType, WordingsRefused
from llm.models import LanguageModel
from work import queries as work
from work.management.in_process import RunCommand
from work.states import ItemState

TOGETHER = "several texts are written in one batch: faster, and less sure to come out the same again"


class Command(RunCommand):
    safe, chatty = "What is written", ("work", "judges", "httpx")
    help = (
        "Let a model write texts for the rows of a study in this process; no worker or queue is needed. A run that was "
        "stopped before its end goes on as it was asked for. Ctrl-C cancels it; call this again to resume it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study, as in its address")
        parser.add_argument(
            "model", help="name of a stored model; or a folder, a .gguf file, a hub id, or package:NAME of a new one"
        )
        add_where(parser)
        parser.add_argument(
            "--type", action="append", metavar="KEY", help="of the shipped types of prompts; all when left out"
        )
        parser.add_argument("--prompts", type=Path, metavar="FILE", help="types of your own, YAML or a table")
        parser.add_argument("--per-type", type=int, default=5, metavar="K", help="texts of each type (%(default)s)")
        parser.add_argument("--temperature", type=float, default=0.7, help="(%(default)s)")
        parser.add_argument("--longest", type=int, default=600, metavar="TOKENS", help="of a text (%(default)s)")
        parser.add_argument("--seed", type=int, default=1, help="the first one (%(default)s)")
        parser.add_argument("--plain", action="store_true", help="not in the model's chat form")
        parser.add_argument("--together", action="store_true", help=TOGETHER)
        parser.add_argument(
            "--rows", default="", metavar="ANSWER", help="those with a chosen answer, as choice.examined=yes"
        )
        add_limits(parser)

    def handle(self, *, study: str, model: str, verbosity: int, **asked: Any) -> None:
        self.prepare(verbosity=verbosity)
        of, by = unless_archived(study_called(study)), model_called(model, **where_of(asked))
        if announced := by.announced:
            self.stdout.write(f"Texts are written by {announced}.")
        run = self._run(of, by, **asked)
        self.work(run)
        if failed := work.progress(run).failed:
            raise CommandError(f"{failed} texts failed. The same command tries them again.")

    def _run(self, study: Study, model: LanguageModel, **asked: Any) -> GenerationRun:
        limits = limits_in(asked)
        last = study.generation_runs.filter(model=model).exclude(request__has_key="again").first()
        with refusals_told():
            if last is not None and last.is_running:
                refuse_new_limits(last, limits)
                return last
            if last is not None and last.items.exclude(state=ItemState.DONE).exists():
                actions.resume(run=last, enqueue=False, **limits)
                last.refresh_from_db()
                return last
            wanted = Wanted(
                types=types_of(study.scheme, asked["type"], asked["prompts"]),
                per_type=asked["per_type"],
                temperature=asked["temperature"],
                max_new_tokens=asked["longest"],
                seed=asked["seed"],
                chat_template=not asked["plain"],
                together=asked["together"],
            )
            if last is not None and _is_the_same(last, wanted, asked["rows"]):
                raise CommandError(
                    "These texts are written already. Ask for others: another --type, --seed or --temperature."
                )
            (run,) = actions.start(
                study=study, models=[model], wanted=wanted, answer=asked["rows"], by=None, enqueue=False, **limits
            )
            return run

    def problems(self, run: GenerationRun) -> Iterator[str]:
        for item in run.items.filter(state=ItemState.FAILED).select_related("generation"):
            yield f"{item.generation.input} · {item.prompt_type} {item.number}: {item.error}"

    def parts(self, run: GenerationRun) -> Iterator[str]:
        progress, written = work.progress(run), queries.written(run)
        yield f"{progress.done}/{progress.total} texts"
        yield from (f"{n} {signs_told.told(sign)}" for sign, n in written.signs.items())
        if written.cut:
            yield f"{written.cut} cut at the limit"
        if written.tokens_a_second:
            yield f"{written.tokens_a_second:.1f} tokens/s"
        if progress.failed:
            yield f"{progress.failed} failed"
        if progress.left is not None:
            yield f"{progress.left} left"


def _is_the_same(run: GenerationRun, wanted: Wanted, answer: str) -> bool:
    said = run.request
    return (
        [each["key"] for each in said["types"]] == [each.key for each in wanted.types]
        and (said["per_type"], said["temperature"], said["seed"], said["max_new_tokens"], said["rows"])
        == (wanted.per_type, wanted.temperature, wanted.seed, wanted.max_new_tokens, answer)
        and run.items.count() == len(queries.names_of(run.study, answer=answer)) * len(wanted.types) * wanted.per_type
    )


def add_where(parser: ArgumentParser) -> None:
    """Where a new model is: the arguments that `where_of` reads."""
    parser.add_argument("--gguf-file", default="", help="of a folder or package with several")
    parser.add_argument(
        "--server",
        default="",
        metavar="URL",
        help="of an OpenAI-compatible server, up to and with the version; the model is named as the server names it",
    )
    parser.add_argument(
        "--key-variable", default="", metavar="NAME", help="the environment variable that holds the server's key"
    )


def where_of(asked: Mapping[str, Any]) -> dict[str, str]:
    """What `add_where` asked for, for `model_called`."""
    return {key: asked[key] for key in ("gguf_file", "server", "key_variable")}


def model_called(name: str, *, gguf_file: str = "", server: str = "", key_variable: str = "") -> LanguageModel:
    """A stored model, by its name; else one at that place, or of that name on the server, stored now.

    Raises:
        CommandError: neither is there.
    """
    if server:
        place = {"backend": "openai", "location": server, "served_name": name, "api_key_env": key_variable}
        return _stored(gguf_file=gguf_file, **place)
    if key_variable:
        raise CommandError("A key is for a model on a server: give its --server.")
    found = LanguageModel.objects.filter(name=name).first()
    if found is not None:
        return found
    if ":" not in name and "/" not in name and not Path(name).exists():
        return one_called(name, LanguageModel.objects.all())  # tells which there are
    return _stored(location=name, gguf_file=gguf_file)


def _stored(**place: str) -> LanguageModel:
    """Stored unless it could never write."""
    model = LanguageModel(**place)
    try:
        model.clean()
        registry.refuse(model, Use.GENERATE, chat_template=True)
        return llm.store_model(**place)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from error
    except BackendError as error:
        raise CommandError(str(error)) from error


def types_of(scheme: Scheme, keys: list[str] | None, file: Path | None) -> tuple[PromptType, ...]:
    """The shipped types of these keys, all when None, and those of a file.

    Raises:
        CommandError: there is no such type, or the file cannot be read.
    """
    known, named_by = queries.placeholders(scheme.parsed), queries.named_by(scheme.parsed)
    own: list[PromptType] = []
    if file is not None:
        try:
            own = wordings.read(file.read_text(encoding="utf-8"), known=known, named_by=named_by)
        except (OSError, UnicodeDecodeError, WordingsRefused) as error:
            raise CommandError(f"{file}: {error}") from error
    shipped = {each.key: each for each in queries.shipped_types(scheme)}
    chosen = ([] if own else list(shipped)) if keys is None else keys
    if missing := [key for key in chosen if key not in shipped]:
        raise CommandError(f"There is no type of prompt “{missing[0]}”. Types: {', '.join(shipped) or 'none'}.")
    return (*(shipped[key] for key in chosen), *own)
