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
        from recipes.benchmark import deriver, pairs, queries
        from reports import doors as report_doors

        doors.register_documentation("benchmark", "benchmarks-of-your-own")
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
        doors.register_setup_step(
            doors.SetupStep(
                position=15,
                label=_("Two texts side by side"),
                words=_("Make a study of pairs of this one, where the %(rows)s are to be compared and not rated."),
                url_name="annotation:derive",
                is_done=queries.has_pairs,
                optional=True,
                fits=queries.is_of_texts,
            )
        )
        doors.register_deriver(
            Deriver(
                key=pairs.OF_ROWS,
                title=_("Two texts side by side"),
                help=_(
                    "Where rows are texts of several systems: of each two, their texts for the same item become a row, "
                    "left and right drawn by lot. Who wrote them is kept, and hidden from people and judges."
                ),
                make=pairs.of_rows,
                reads_chosen=False,
                into=pairs.SCHEME,
                fits=pairs.has_texts,
                asks=pairs.rows_ask,
                also=("seed", "beside"),
            )
        )
        doors.register_deriver(
            Deriver(
                key=pairs.OF_WRITTEN,
                title=_("Written texts side by side"),
                help=_(
                    "Of each two models, what they wrote for the same row becomes a row, left and right drawn by lot. "
                    "Who wrote them is kept, and hidden from people and judges."
                ),
                make=pairs.of_written,
                reads_chosen=False,
                reads_texts=True,
                into=pairs.SCHEME,
                asks=pairs.written_ask,
                also=("seed", "beside"),
            )
        )
