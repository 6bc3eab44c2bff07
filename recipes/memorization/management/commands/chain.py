from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_slug

from annotation.models import Study, User
from judges.actions.spending import refuse_limits
from judges.management.commands import generate, judge
from judges.management.telling import add_limits, limits_in, one_called, refusals_told
from judges.models import GenerationRun, Judge
from judges.models import Run as JudgeRun
from llm.models import LanguageModel
from recipes.cooking.management.commands import retrieve
from recipes.cooking.models import Retrieval
from recipes.memorization.chain import judges, telling
from recipes.memorization.chain.making import Chain, scheme_called
from recipes.memorization.chain.settings import RULES, ChainSettings, Step
from recipes.memorization.names import SCHEME as NAMES
from recipes.memorization.names import DishName, NamesRefused, read_names
from work.management.in_process import RunCommand
from work.models import Run

# What a file may not be called.
_NOT_IN_FILES = re.compile(r'[\\/:*?"<>|\x00-\x1f]')

MODEL = "model"  # in place of a judge's name: that of --model


class Command(RunCommand):
    safe, chatty = "What is done", ("work", "judges", "recipes", "httpx")
    help = (
        "Go from a list of names to verdicts by models alone: recipes are written, the best is chosen, taken apart, "
        "looked for in documents, and examined for nonsense. Each step makes a study or a run like any other, which "
        "people can correct. Called again, it goes on where it ended."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("study", help="short name of the study to make; those of its steps begin with it")
        add("names", type=Path, help="a file of names, a line each: name; region")
        add("--model", metavar="MODEL", help="does each step that needs one and for which no other is named")
        generate.add_where(parser)
        add("--writer", action="append", metavar="MODEL", help="writes the recipes; may come several times")
        add("--type", action="append", metavar="KEY", help="of prompts; may come several times (default: general)")
        add("--prompts", type=Path, metavar="FILE", help="types of prompts of your own")
        add("--generations", type=int, default=5, metavar="K", help="recipes of each type a name (%(default)s)")
        add("--temperature", type=float, default=0.7, help="of the recipes (%(default)s)")
        add("--longest", type=int, default=600, metavar="TOKENS", help="of a recipe (%(default)s)")
        add("--seed", type=int, default=1, help="of the texts, the first one (%(default)s)")
        add("--order-seed", default="", metavar="SEED", help="numbers the candidates; drawn where none is named")
        add("--plain", action="store_true", help="not in the models' chat form")
        add("--together", action="store_true", help=generate.TOGETHER)
        add("--chooser", metavar="JUDGE", help="who says which recipe is the best")
        add("--leave-out", action="store_true", help="dishes of whose recipes none could be compared")
        add(
            "--parser",
            metavar="JUDGE",
            default=RULES,
            help="who takes recipes apart; “model”: --model does; by default rules",
        )
        add("--documents", type=int, default=6, help="of each engine for each dish (%(default)s)")
        add("--engine", action="append", help="by default all that are set up")
        add("--pages", metavar="FOLDER", help="of saved pages, a folder a dish, in place of engines")
        add(
            "--judge",
            action="append",
            help="who looks for the parts, may come several times; “model”: --model does; by default the lexical judge",
        )
        add(
            "--annotator",
            action="append",
            metavar="USERNAME",
            help="who is given the documents, too, as an annotator; may come several times",
        )
        add("--examiner", metavar="JUDGE", help="who says what is nonsense")
        add("--until", choices=[str(step) for step in Step], default=str(Step.VERDICT), help="the last step")
        add("--out", type=Path, metavar="FOLDER", help="put the verdict there, a ZIP for each judge")
        add("--freeze", action="store_true", help="keep each verdict as it is now")
        add("--workers", action="store_true", help="let Celery's workers help")
        add_limits(parser)
        add("--manager", metavar="USERNAME", help="of the studies; else administrators only see them")

    def handle(self, *, study: str, names: Path, verbosity: int, **asked: Any) -> None:
        self.prepare(verbosity=verbosity)
        dishes = self._names(study, names)
        until = Step(asked["until"])
        by = one_called(asked["manager"], User.objects.all(), key="username") if asked["manager"] else None
        people = [one_called(name, User.objects.all(), key="username") for name in asked["annotator"] or ()]
        limits = limits_in(asked)
        settings, models, named = self._settings(study, asked)
        with refusals_told():
            types = generate.types_of(scheme_called(NAMES), list(settings.types) or None, asked["prompts"])
            chain = Chain(
                settings,
                models=models,
                types=types,
                judges=named,
                work=self.work,
                by=by,
                enqueue=asked["workers"],
                limits=limits,
                people=people,
            )
            asked_models = [*chain.models, *(judge.model for judge in named.values() if judge.model is not None)]
            if not any(model.prices for model in asked_models):
                refuse_limits(None, **limits)
            for asks in dict.fromkeys(model.announced for model in asked_models if model.announced):
                self.stdout.write(f"Asked: {asks}.")
            last = Step.EXAMINE if until == Step.VERDICT else until
            for told in chain.go(dishes, until=last):
                self.stdout.write(f"{told.step:<9} {told.seconds:8.1f} s  {'; '.join(told.sentences)}")
        if until == Step.VERDICT:
            self._verdict(settings, by=by, out=asked["out"], freeze=asked["freeze"])

    def _names(self, study: str, file: Path) -> list[DishName]:
        try:
            validate_slug(study)
            return read_names(file.read_text(encoding="utf-8"))
        except ValidationError as error:
            raise CommandError(f"“{study}” cannot be part of an address. {error.messages[0]}") from error
        except (OSError, UnicodeDecodeError, NamesRefused) as error:
            raise CommandError(f"{file}: {error}") from error

    def _settings(
        self, study: str, asked: dict[str, Any]
    ) -> tuple[ChainSettings, list[LanguageModel], dict[str, Judge]]:
        where = generate.where_of(asked)
        if any(where.values()) and not asked["model"]:
            raise CommandError("--server, --key-variable and --gguf-file say where --model is: name it.")
        default = generate.model_called(asked["model"], **where) if asked["model"] else None
        writers = [generate.model_called(name) for name in asked["writer"] or ()] or ([default] if default else [])
        if not writers:
            raise CommandError("Name who writes the recipes: --model, or --writer.")
        with refusals_told():
            shipped = judges.of_model(default, chat_form=not asked["plain"]) if default else {}
        named: dict[str, Judge] = {}

        def who(role: str, name: str | None) -> str:
            if name == MODEL and default is None:
                raise CommandError("Name the model: --model.")
            known = Judge.objects.select_related("model", "prompt")
            found = one_called(name, known) if name and name != MODEL else shipped.get(role)
            if found is None:
                return ""
            named[found.name] = found
            return found.name

        if asked["parser"] == RULES:
            named[RULES] = judges.rules()
        looking = asked["judge"]
        if looking is None:
            looking = [judges.lexical().name]
        settings = ChainSettings(
            slug=study,
            types=tuple(asked["type"] or (() if asked["prompts"] else ("general",))),
            per_type=asked["generations"],
            temperature=asked["temperature"],
            longest=asked["longest"],
            seed=asked["seed"],
            chat_form=not asked["plain"],
            together=asked["together"],
            order_seed=asked["order_seed"],
            chooser=who(judges.CHOOSES, asked["chooser"]),
            keep_all=not asked["leave_out"],
            parser=RULES if asked["parser"] == RULES else who(judges.PARSES, asked["parser"]),
            documents=asked["documents"],
            engines=tuple(asked["engine"] or ()),
            folder=_folder(asked["pages"]),
            judges=tuple(who(judges.LOOKS, name) for name in looking),
            examiner=who(judges.EXAMINES, asked["examiner"]),
        )
        return settings, writers, named

    def _verdict(self, settings: ChainSettings, *, by: User | None, out: Path | None, freeze: bool) -> None:
        study, used = Study.objects.get(slug=settings.study(Step.VERDICT)), set[str]()
        for judge_name in settings.judges:
            verdict = telling.verdict_of(settings, judge_name)
            self.stdout.write(f"\nBy {judge_name}:")
            for line in telling.lines(verdict):
                self.stdout.write(f"  {line}")
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                name = _NOT_IN_FILES.sub("-", judge_name)
                while name in used:
                    name += "-2"
                used.add(name)
                file = out / f"{study.slug}-{name}.zip"
                file.write_bytes(telling.archive(verdict))
                self.stdout.write(f"  {file}")
            if freeze:
                with refusals_told():
                    kept = telling.freeze(settings, judge_name, by=by)
                self.stdout.write(f"  Frozen as “{kept.title}”: {kept.get_absolute_url()}")
        self.stdout.write(f"\n/studies/{study.slug}/verdict/")

    # --- what stands in the line while a run is at work ---------------------------------------------------------------

    def parts(self, run: Run) -> Iterator[str]:
        teller = _TELLERS[type(run)]
        yield run.maker if isinstance(run, GenerationRun | JudgeRun) else "documents"
        yield from teller.parts(run)

    def problems(self, run: Run) -> Iterator[str]:
        yield from _TELLERS[type(run)].problems(run)


_TELLERS: dict[type[Run], Any] = {
    GenerationRun: generate.Command(),
    JudgeRun: judge.Command(),
    Retrieval: retrieve.Command(),
}


def _folder(path: str | None) -> str:
    if path and not Path(path).is_dir():
        raise CommandError(f"There is no folder {path}.")
    return path or ""
