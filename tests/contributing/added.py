"""What somebody can do who followed the checklists of CONTRIBUTING.md; run by `test_checklists` where they were."""

from __future__ import annotations

import uuid

import pytest
from django.core.management import call_command

from annotation import actions, doors
from annotation.answers import AnswerRefused, kind_of
from annotation.evidence.blocks import Block
from annotation.models import Label, Question, Rater
from annotation.scheme.spec import load_scheme
from judges import actions as judges
from judges import doors as judge_doors
from judges.models import Judge
from tests import builders
from tests.judges import helpers

DATES = """\
key: dates
version: 1
title: Dates
sections:
  - key: duties
    title: Duties
    column: {title: Duty, facets: [duty]}
    questions:
      - {key: until, title: Until, kind: date, date: {earliest: "2020-01-01"}}
"""


def sheet_of(study: actions.Study, block: Block) -> list[actions.Assignment]:
    """A sheet of one row and one duty, that one person labels."""
    sheet = actions.add_sheet(study=study, title="Lease", columns={"duties": [{"duty": "Pay rent"}]})
    actions.add_row(sheet=sheet, name="Clause 1", title="Clause 1", url="", evidence=[block])
    return builders.assignments(builders.rater(study, builders.user("anna")), sheet)


@pytest.mark.django_db
def test_a_study_is_made_with_the_packs_scheme_and_labelled() -> None:
    call_command("check")
    source = doors.shipped_schemes()["duties"].read_text(encoding="utf-8")
    study = builders.study(of=builders.scheme(source))
    [assignment] = sheet_of(study, Block("clause", "The tenant pays the rent monthly."))
    builders.label(assignment, {("Pay rent", "stated"): "stated"})
    assert builders.standing(assignment) == {("Pay rent", "stated"): "stated"}
    assert "duties" in judge_doors.shipped_prompts()


@pytest.mark.django_db
def test_a_judge_of_the_backend_labels() -> None:
    study = helpers.study_of_leases(n_rows=1)
    run = judges.start_run(study=study, judge=helpers.cloze_judge("anywhere", name="long", backend="long"), by=None)
    assert helpers.work(run) == 1
    found = helpers.labels_of(Rater.objects.get(pk=run.rater_id))
    assert {"absent", "reworded"} <= set(found.values())  # "Not stated" and "Other words" are the longest
    assert Judge.objects.get(name="long").runs.count() == 1


@pytest.mark.django_db
def test_the_kind_of_answer_is_labelled_with() -> None:
    study = builders.study(of=builders.scheme(DATES))
    [assignment] = sheet_of(study, Block("paragraph", "The lease ends on the last day of 2026."))
    question = Question.objects.get(key="until")
    column = assignment.row.sheet.columns.get()
    spec = load_scheme(DATES).sections[0].questions[0]
    kind = kind_of(spec)
    with pytest.raises(AnswerRefused, match="too early"):
        kind.canonical(spec, "2019-12-31")
    answer = actions.Answer(column=column, question=question, value=kind.canonical(spec, " 2026-12-31"))
    actions.record(assignment=assignment, answers=[answer], key=uuid.uuid4())
    label = Label.objects.get()
    assert (label.option, label.value, label.code) == (None, "2026-12-31", ':"2026-12-31"')
    assert kind.read(spec, kind.written(spec, label.value)) == label.value
