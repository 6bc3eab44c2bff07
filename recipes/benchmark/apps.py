from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from recipes import packs

if TYPE_CHECKING:
    from annotation.models import Study


def _has_instructions(study: Study) -> bool:
    return study.scheme.parsed.benchmark is not None and study.derived_from_id is None


def _rates_texts(study: Study) -> bool:
    return study.scheme.parsed.benchmark is not None and study.derived_from_id is not None


class Benchmark(packs.Pack):
    name = "recipes.benchmark"

    def register(self) -> None:
        from annotation import doors
        from annotation.deriving.making import Deriver
        from annotation.models import Role
        from recipes.benchmark import deriver, queries
        from reports import doors as report_doors

        doors.register_tab(
            position=15,
            label=_("Instructions"),
            url_name="benchmark:instructions",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=_has_instructions,
        )
        doors.register_tab(
            position=75,
            label=_("Words"),
            url_name="benchmark:words",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=_rates_texts,
        )
        report_doors.register_words(queries.words_for_report)
        doors.register_deriver(
            Deriver(
                key=deriver.KEY,
                title=_("Written texts are rated"),
                help=_(
                    "What each model wrote for an instruction becomes a row of the same sheet, in an order drawn by "
                    "lot. Who wrote it is kept, and hidden from people and judges."
                ),
                make=deriver.rated_texts,
                asks=deriver.asks,
                also=("seed",),
                reads_texts=True,
                told_apart=deriver.told_apart,
            )
        )
