from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db.models.signals import post_migrate
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from recipes import packs

if TYPE_CHECKING:
    from reports.numbers.report import QuestionReport, StudyReport
    from reports.tables.base import ReportTable


def _of_candidates(report: StudyReport, question: QuestionReport) -> Iterable[ReportTable]:
    from recipes.memorization import tables  # statistics are loaded with the first report

    return tables.tables(report, question)


def _guard_verdicts(using: str, **_signal: Any) -> None:
    from reports.frozen.guards import guard

    guard(
        using,
        table="memorization_frozenverdict",
        trigger="frozen_verdict_is_frozen",
        says="A frozen verdict is never changed.",
    )


class Memorization(packs.Pack):
    name = "recipes.memorization"

    def register(self) -> None:
        from annotation import doors
        from annotation.deriving.making import Deriver, asks
        from annotation.models import Role
        from annotation.queries import undoing
        from judges import doors as judge_doors
        from recipes.cooking import rows
        from recipes.memorization import candidates, chain, cloze, demo_study, derivers, names, verdict
        from recipes.memorization.chain import following
        from recipes.memorization.models import FrozenVerdict
        from reports import doors as report_doors

        post_migrate.connect(_guard_verdicts, sender=self)
        undoing.NAMES |= {FrozenVerdict: _("frozen verdicts")}
        rows.register_other_rows(names.SCHEME, candidates.SCHEME, chain.PARSING, verdict.NONSENSE)
        verdicts = ["verdict", "verdict-item", "compare-verdicts"]
        doors.register_documentation(
            "memorization",
            "chain",
            {
                "paste": "parsing",
                **dict.fromkeys(verdicts, "chain#two-verdicts"),
                **dict.fromkeys(["frozen-verdicts", "frozen-verdict"], "chain#a-frozen-verdict"),
            },
        )
        doors.register_tab(
            position=15,
            label=_("Names"),
            url_name="memorization:names",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=lambda study: study.scheme.slug == names.SCHEME,
        )
        doors.register_tab(
            position=16,
            label=_("Steps"),
            url_name="memorization:steps",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=lambda study: study.scheme.slug in chain.SCHEMES,
        )
        doors.register_tab(
            position=17,
            label=_("Recipes"),
            url_name="memorization:paste",
            roles={Role.MANAGER},
            fits=lambda study: study.scheme.slug in (candidates.SCHEME, chain.PARSING),
        )
        doors.register_next(following.next_in)
        judge_doors.recommend_prompt(cloze.prompt_name)
        judge_doors.register_wordings(Path(self.path, "prompts", "generation", "recipes.yaml"), schemes={names.SCHEME})
        report_doors.register_part(schemes={candidates.SCHEME}, tables=_of_candidates)
        paper = _("Kvapil and Fajčík, section 6")
        report_doors.register_published(
            scheme=verdict.SCHEME,
            values=[
                report_doors.Published("ingredients.presence", kappa=0.77, accuracy=0.8523, source=paper),
                report_doors.Published("tasks", kappa=0.63, accuracy=0.7415, source=paper),
            ],
        )
        doors.register_sheet_page(
            doors.SheetPage(
                label=_("Side by side"),
                find=lambda sheet: (
                    reverse("memorization:beside", args=[sheet.pk])
                    if sheet.study.scheme.slug == candidates.SCHEME
                    else None
                ),
            )
        )
        doors.register_deriver(
            Deriver(
                key="candidates",
                title=_("Written texts become candidates"),
                help=_(
                    "Each dish becomes a sheet, and the recipes that models wrote for it become its rows, in an order "
                    "drawn by lot. Who wrote them and by which type of prompt is kept, and hidden from who labels."
                ),
                make=candidates.candidates,
                into=candidates.SCHEME,
                asks=candidates.candidates_ask,
                also=("seed",),
                reads_texts=True,
            )
        )
        doors.register_deriver(
            Deriver(
                key="best-candidates",
                title=_("The best candidates are taken apart"),
                help=_(
                    "Of each dish the best candidate becomes a row with its text: the one with the fewest faults, then "
                    "the most correct one, then the one that is liked best."
                ),
                make=candidates.best_candidates,
                into=chain.PARSING,
                reads_raters=True,
                fits=asks(candidates.FAULTS, candidates.CORRECTNESS, candidates.PREFERENCE),
                asks=candidates.best_candidates_ask,
            )
        )
        doors.register_demo(demo_study.DEMO)
        doors.register_deriver(
            Deriver(
                key="parsed-recipes",
                title=_("Parsed recipes become sheets"),
                help=_(
                    "Each recipe becomes a sheet, and what it was taken apart into becomes its columns: ingredients, "
                    "and tasks with tool and ingredients. Its documents are imported afterwards."
                ),
                make=derivers.parsed_recipes,
                into=verdict.SCHEME,
                fits=derivers.takes_recipes_apart,
            )
        )
        doors.register_deriver(
            Deriver(
                key="examined-recipes",
                title=_("Recipes are examined for nonsense"),
                help=_(
                    "Each recipe becomes a sheet with its text, its ingredients and tasks as columns. The verdict of "
                    "the study that looks for them in documents reads what is said there."
                ),
                make=derivers.examined_recipes,
                into=verdict.NONSENSE,
                fits=derivers.has_parts,
            )
        )
        doors.register_tab(
            position=85,
            label=_("Verdict"),
            url_name="memorization:verdict",
            roles={Role.MANAGER, Role.RESEARCHER},
            fits=lambda study: study.scheme.slug == verdict.SCHEME,
        )
