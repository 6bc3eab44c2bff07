from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judges import estimating
from judges.management.telling import one_called, study_called
from judges.models import Judge
from judges.runs import labelling
from llm import sizing
from llm.backends.base import BackendError
from llm.backends.model_files import tokenizer_of
from llm.backends.transformers import TOKEN_BUDGETS, located
from llm.engine.encoding import PromptEncoder

_GIB = 2**30


class Command(BaseCommand):
    help = (
        "What a run of a cloze judge over a study would need of a GPU, and how long it would take there: from the "
        "prompts of eight rows, the model's configuration and a card's measured rate. Loads no weights, labels nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="short name of the study, as in its address")
        parser.add_argument("judge", help="name of the judge; its model's files must be on this machine")
        parser.add_argument("--card", choices=sorted(sizing.CARDS), default="h200", help="a card that was measured")
        parser.add_argument("--gib", type=float, help="memory of another card")
        parser.add_argument("--tflops", type=float, help="its rate of large matrix products in bfloat16")
        parser.add_argument("--cards", type=int, default=1, help="so many of them, over which the model is spread")
        parser.add_argument("--token-budget", type=int, default=TOKEN_BUDGETS["cuda"], help="tokens of one forward")

    def handle(
        self,
        *,
        study: str,
        judge: str,
        card: str,
        gib: float | None,
        tflops: float | None,
        cards: int,
        token_budget: int,
        **options: Any,
    ) -> None:
        if (gib is None) != (tflops is None) or min(gib or 1, tflops or 1, cards, token_budget) <= 0:
            raise CommandError("Another card has both --gib and --tflops, and all numbers are over 0.")
        on = sizing.CARDS[card] if gib is None else sizing.Card("the card", gib * _GIB, (tflops or 0) * 1e12)
        of_study = study_called(study)
        chosen = one_called(judge, Judge.objects.known_in(of_study).select_related("model", "prompt"))
        try:
            backend = labelling.backend_of(chosen) if chosen.method == Judge.Method.CLOZE else None
            files = located(backend) if backend is not None else None
            if backend is None or files is None:
                raise CommandError(f"{chosen.name} is no cloze judge with a model in a worker of this installation.")
            sizes = sizing.sizes_of(files)
            encoder = PromptEncoder(tokenizer_of(files), chat_template=chosen.chat_template)
        except BackendError as error:
            raise CommandError(str(error)) from error
        rows = estimating.prompts_of_some(of_study, chosen)
        work = sizing.work_of([[one for cell in encoder.encode(row) for part in cell for one in part] for row in rows])
        if not work.rows:
            raise CommandError("No row of the study has a prompt of this judge.")
        left = estimating.rows_left(of_study, chosen)
        how = sizing.PRECISIONS[str(chosen.model.dtype if chosen.model else "auto")]
        found = sizing.needs(sizes, work, token_budget=token_budget, how=how)
        self._tell(chosen, sizes, work, found, left, on, cards, how)

    def _tell(
        self,
        judge: Judge,
        sizes: sizing.Sizes,
        work: sizing.Work,
        found: sizing.Needs,
        left: int,
        on: sizing.Card,
        cards: int,
        how: sizing.Precision,
    ) -> None:
        tell = self.stdout.write
        tell(f"{judge.name}: {sizes.weights / 1e9:.2f} billion weights, in {how.name}.")
        tell(f"{left:,} rows are left, of about {work.tokens / work.rows:,.0f} tokens each (from {work.rows} rows).")
        memory = found.on_each(cards)
        for name, size in memory.items():
            tell(f"  {name:<18}{size / _GIB:8.2f} GiB")
        total = sum(memory.values())
        fits = "fits" if total <= on.memory else "does not fit"
        each = f"each of {cards}: {on.name}" if cards > 1 else on.name
        tell(f"  {'in all':<18}{total / _GIB:8.2f} GiB: {fits} {each} ({on.memory / _GIB:.0f} GiB).")
        floor = found.flops / work.rows * left / on.rate
        slow, fast = (floor / share for share in sizing.USUAL_SHARE)
        tell(f"{floor * on.rate / 1e15:.3g} PFLOP: {floor:.3g} s at least, at {on.rate / 1e12:.0f} TFLOP/s;")
        least, most = sizing.USUAL_SHARE
        tell(f"{fast:.3g} to {slow:.3g} s at {least:.0%} to {most:.0%} of that.")
        if cards > 1:
            tell("The cards compute in turn: several are no faster than one.")
        if sizes.weights < sizing.SMALL_WEIGHTS:
            tell("A small model takes longer: one of 0.6 billion weights took a tenth of an H200's rate.")
