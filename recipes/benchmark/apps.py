from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from recipes import packs


class Benchmark(packs.Pack):
    name = "recipes.benchmark"

    def register(self) -> None:
        from annotation import doors
        from annotation.deriving.making import Deriver
        from annotation.models import Role
        from annotation.queries import setup
        from recipes.benchmark import demo_study, deriver, following, pairs, queries
        from reports import doors as report_doors

        doors.register_demo(demo_study.DEMO)
        doors.register_documentation("benchmark", "benchmarks-of-your-own")
        doors.register_tab(
            position=15,
            label=_("Instructions"),
            url_name="benchmark:instructions",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=lambda study: study.scheme.parsed.benchmark is not None and study.derived_from_id is None,
        )
        doors.register_tab(
            position=75,
            label=_("Words"),
            url_name="benchmark:words",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=lambda study: study.scheme.parsed.benchmark is not None and study.derived_from_id is not None,
        )
        doors.register_next(following.next_in)
        doors.register_setup_step(
            doors.SetupStep(
                position=5,
                label=_("Instructions"),
                words=_("Add the instructions"),
                url_name="benchmark:instructions",
                is_done=setup.has_rows,
                fits=queries.has_instructions,
            )
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
                query=f"?deriver={pairs.OF_ROWS}",
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
