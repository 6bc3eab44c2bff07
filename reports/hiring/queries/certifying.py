"""What a certificate is bound to and what it would rest on."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy

from annotation.models import Label, Question, Rater, Row, Study
from judges.lineage.queries import weighed
from judges.methods.prompt_files import questions_for
from judges.models import Judge, Run
from judges.runs import evidence
from llm.models import LanguageModel
from reports import doors
from reports.data.label_table import LabelTable, canonical_json
from reports.hiring.cells import JudgeCells, items_of, judge_cells, part_of
from reports.hiring.documents import APPROXIMATE, clusters_of, judged_of
from reports.hiring.queries.labels import question_name, study_table
from reports.hiring.queries.splitting import Name, groups_of, left_out_names, shown_names, test_names
from reports.models import Certificate, Split, TestLook

if TYPE_CHECKING:
    from reports.stats.hiring.planning import Plan, PlanMethod


def judge_behind(rater: Rater) -> Judge | None:
    """The judge of a rater's last run; None where its labels came from a file. One query."""
    run = Run.objects.filter(rater=rater).select_related("judge__model", "judge__prompt", "judge__evidence__model")
    last = run.order_by("-started_at").first()
    return last.judge if last is not None else None


def answered_questions(study: Study, rater: Rater) -> set[str]:
    """By name, what a judge answers: what its prompt asks of its method; where its labels came from a file, what they
    answer. At most two queries."""
    judge = judge_behind(rater)
    if judge is not None:
        return set(questions_for(judge.prompt_spec, judge.method))
    asked = Question.objects.filter(section__scheme=study.scheme).select_related("section")
    return {question_name(question) for question in asked.filter(Exists(_labels_to(rater)))}


def _labels_to(rater: Rater) -> QuerySet[Label]:
    return Label.objects.filter(question=OuterRef("pk"), assignment__rater=rater)


def identity(study: Study, rater: Rater) -> dict[str, Any]:
    """All that a certificate is bound to: a change of any of it revokes it. Three queries, three more for each judge
    that it weighs."""
    return {
        "scheme": {
            "key": study.scheme.slug,
            "version": study.scheme.version,
            "sha256": hashlib.sha256(canonical_json(study.scheme.spec)).hexdigest(),
        },
        "evidence_readers": doors.evidence_readers(study),
        **_of_rater(study, rater),
    }


def _of_rater(study: Study, rater: Rater) -> dict[str, Any]:
    judge = judge_behind(rater)
    if judge is None:
        return {"name": rater.code, "origin": "file"}
    runs = list(Run.objects.filter(rater=rater).values_list("provenance", "corrected"))
    workers = [worker for provenance, _corrected in runs for worker in provenance.get("workers", [])]
    model, extractor = judge.model, judge.evidence
    found: dict[str, Any] = {
        "name": rater.code,
        "method": judge.method,
        "normalisation": judge.normalisation,
        "chat_template": judge.chat_template,
        "temperature": judge.temperature,
        "max_new_tokens": judge.max_new_tokens,
        "prompt_sha256": judge.prompt.digest,
        "model": _place_of(model) if model is not None else None,
        "backend": model.backend if model is not None else "",
        "weights": sorted({next((worker[key] for key in _WEIGHTS if worker.get(key)), "") for worker in workers}),
        "extractor": evidence.record_of(extractor),
        "corrected": sorted({corrected for _provenance, corrected in runs}),
    }
    if extractor is not None and extractor.model is not None:
        found["extractor_model"] = _place_of(extractor.model)
    if codes := weighed(judge):
        raters = {one.code: one for one in study.raters.judges().filter(code__in=codes)}
        found["weighed"] = {code: _of_rater(study, raters[code]) for code in codes if code in raters}
    return found


def _place_of(model: LanguageModel) -> dict[str, Any]:
    return {name: value for name, value in vars(model.place).items() if name not in _NO_SCORE}


# What of a model's place moves no score; what of a worker's record stands for the weights.
_NO_SCORE = ("api_key_env", "requests_per_minute", "device")
# What certificates from before do not hold; it revokes none of them.
_LATER = ("extractor_model", "weighed")
_WEIGHTS = ("weights_sha256", "served_model", "snowballstemmer", "model")
_CALLED = {
    "scheme": gettext_lazy("the scheme"),
    "evidence_readers": gettext_lazy("the reader of the evidence"),
    "method": gettext_lazy("the method"),
    "normalisation": gettext_lazy("the normalisation"),
    "prompt_sha256": gettext_lazy("the prompt"),
    "model": gettext_lazy("the model"),
    "backend": gettext_lazy("the model"),
    "weights": gettext_lazy("the weights of the model"),
    "extractor": gettext_lazy("the extractor"),
    "extractor_model": gettext_lazy("the model of the extractor"),
    "weighed": gettext_lazy("a judge that it weighs"),
    "corrected": gettext_lazy("whether extracted lists are read as people corrected them"),
}


def changes(certificate: Certificate) -> list[str]:
    """What is not any more as it was when the certificate was given, in words. Queries as of `identity`."""
    then = _without_names(certificate.request["identity"])
    now = _without_names(json.loads(canonical_json(identity(certificate.study, certificate.rater))))
    names = sorted(then.keys() | (now.keys() - {*_LATER}))
    differing = [name for name in names if then.get(name) != now.get(name)]
    return list(dict.fromkeys(str(_CALLED.get(name, gettext_lazy("how it is asked"))) for name in differing))


def _without_names(identity: Mapping[str, Any]) -> dict[str, Any]:
    """A judge and an extractor judge by another name as they did."""
    found = {key: value for key, value in identity.items() if key != "name"}
    if found.get("extractor"):
        found["extractor"] = {key: value for key, value in found["extractor"].items() if key != "extractor"}
    if found.get("weighed"):
        found["weighed"] = {code: _without_names(of) for code, of in found["weighed"].items()}
    return found


def most_cells(study: Study, question: Question, unit: str) -> int:
    """Cells of the largest document (row, item or sheet) that the judge can be asked to answer, so that it is known
    before anybody labels. One query, three by items."""
    sheets = study.sheets.annotate(
        n_columns=Count("columns", filter=Q(columns__section=question.section_id), distinct=True),
        n_rows=Count("rows", distinct=True),
    )
    found = list(sheets.values_list("pk", "n_columns", "n_rows"))
    if unit == Split.Unit.ITEM:
        columns_of = {sheet: columns for sheet, columns, _rows in found}
        of_item: Counter[str] = Counter()
        groups = groups_of(study, unit)
        for pk, sheet in Row.objects.filter(sheet__study=study).values_list("pk", "sheet_id"):
            of_item[groups[pk]] += columns_of[sheet]
        return max([1, *of_item.values()])
    by_sheet = unit == Split.Unit.SHEET
    return max([1, *(columns * (rows if by_sheet else 1) for _sheet, columns, rows in found)])


@dataclass(frozen=True)
class TestSize:
    """What the test part has: documents with a label of a person and of the judge, and those that could still get them:
    neither withdrawn nor taken over without being drawn, which tells nothing of others."""

    __test__ = False

    labelled: int
    unlabelled: int


@dataclass(frozen=True)
class Cost:
    """What a certificate would cost, by what development documents tell.

    Attributes:
        planned: the thresholds that a test would try, with the documents that each needs.
        development: how many documents tell it.
        size: what the test part has.
        tests: how often this judge was tested on this question.
    """

    planned: Plan
    development: int
    size: TestSize
    tests: int

    @property
    def least(self) -> int | None:
        """The fewest test documents with which a test is likely to hold; None where no number is."""
        needed = (option.needed.n_documents for option in self.planned.options)
        return min((n for n in needed if n is not None), default=None)

    @property
    def lacking(self) -> int:
        """How many more should be labelled first."""
        return 0 if self.least is None else max(0, self.least - self.size.labelled)


def cost_of(
    split: Split,
    rater: Rater,
    question: Question,
    *,
    epsilon: float,
    confidence: float,
    bound: PlanMethod = APPROXIMATE,
) -> Cost:
    """What it would take to certify a judge, before anything is paid for; no look at the test part. `bound`: the one
    that decides, as in `documents.BOUNDS`."""
    from reports.stats.hiring.planning import plan

    study, unit, name = split.study, split.unit, question_name(question)
    table = study_table(study, judges=[rater.code], question=name)
    made = judge_cells(table, rater.code, name)
    test, left_out = test_names(study), left_out_names(study)
    # Nor do documents that its prompt shows it tell anything.
    outside = test | left_out | shown_names(study, judge_behind(rater))
    cells = made.at(made.known & ~part_of(made.row, table, outside))
    planned = plan(
        judged_of(cells, unit),
        epsilon=epsilon,
        delta=round(1 - confidence, 12),
        method=bound,
        most=most_cells(study, question, unit),
    )
    tests = TestLook.objects.filter(study=study, judge=rater.code, question=name)
    development = int(np.unique(clusters_of(cells, unit)).size)
    return Cost(planned, development, _test_size(table, made, test - left_out, unit), tests.count())


def _test_size(table: LabelTable, made: JudgeCells, names: Collection[Name], unit: str) -> TestSize:
    """How many documents a test would rest on, of the rows with these `names`; it says nothing of what is right there,
    so that it is no look."""
    inside = made.at(part_of(made.row, table, names) & made.known)
    labelled = set(np.unique(clusters_of(inside, unit)).tolist())
    # Of rows that are of no item each is one.
    of_items = items_of(table).tolist() if unit == Split.Unit.ITEM else range(len(table.rows))
    could = {
        row.sheet if unit == Split.Unit.SHEET else of_items[place]
        for place, row in enumerate(table.rows)
        if not row.withdrawn and (table.sheets[row.sheet], row.name) in names
    }
    return TestSize(len(labelled), len(could - labelled))
