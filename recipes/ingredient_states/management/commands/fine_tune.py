from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judges.management.telling import one_called
from llm import actions, registry, tuning
from llm.backends.base import BackendError, Use
from llm.models import LanguageModel
from llm.tuning import Tuning, TuningRefused

_HELP = {
    "steps": "changes of the weights; 0 for as many as --epochs makes",
    "at_once": "examples of a batch in one forward",
    "longest": "tokens of a prompt and its answer; longer examples are left out",
}


class Command(BaseCommand):
    help = (
        "Train a LoRA adapter for a language model on examples (`state_examples` writes some), with loss on the "
        "answers alone, on one GPU or, of a small model, on a CPU. The adapter becomes a language model of its own."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", help="name of the language model")
        parser.add_argument("examples", type=Path, help="JSON lines with “prompt” and “answer”")
        parser.add_argument("folder", type=Path, help="where the adapter goes; workers must find it there too")
        for field in fields(Tuning):
            option = f"--{field.name.replace('_', '-')}"
            if isinstance(field.default, bool):
                parser.add_argument(option, action="store_true", help="in the form of the model's chat template")
            else:
                kind = type(field.default)
                parser.add_argument(
                    option, type=kind, default=field.default, help=f"{_HELP.get(field.name, '')} (%(default)s)".strip()
                )

    def handle(self, *, model: str, examples: Path, folder: Path, **options: Any) -> None:
        base = one_called(model, LanguageModel.objects.all())
        settings = Tuning(**{field.name: options[field.name] for field in fields(Tuning)})
        folder = folder.expanduser().resolve()

        def told(step: int, loss: float) -> None:
            self.stdout.write(f"step {step}: loss {loss:.4f}")
            self.stdout.flush()

        try:
            backend = registry.backend_of(base, Use.GENERATE, chat_template=settings.chat)
            with examples.open(encoding="utf-8") as file:
                given = tuning.examples_from(file)
            made = tuning.tune(backend, given, folder, settings, told)
        except (BackendError, TuningRefused, OSError) as error:
            raise CommandError(str(error)) from error
        stored = actions.store_model(location=str(folder), dtype=base.dtype, device=base.device)
        left = f", {made.n_too_long} too long" if made.n_too_long else ""
        self.stdout.write(f"Trained on {made.n_examples} examples{left}. The model is called “{stored.name}”.")
