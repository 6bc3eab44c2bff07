"""A study with known truth: two answers to each of four cells a document; a judge that is sure where it is right.

`label` lets a rater say the truth, or something else in a part of the cells; all that is drawn is drawn by a seed.
"""

from __future__ import annotations

import datetime
import hashlib
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from annotation import actions
from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Assignment, Column, Option, Question, Rater, Role, Row, Study, User
from judges.actions import create_judge
from judges.models import Judge, Run
from llm.models import LanguageModel
from reports.hiring import actions as hiring
from reports.hiring import queries
from reports.hiring.documents import test_judge
from reports.models import Certificate, TestLook
from tests import builders
from work.states import RunState

SCHEME = """\
key: claims
version: 1
title: Claims
words: {sheet: paper, sheets: papers, row: page, rows: pages}
sections:
  - key: claims
    title: Claims
    column: {title: Claim, facets: [claim]}
    questions:
      - key: made
        title: Made
        about: claim
        options:
          - {key: made, label: Made}
          - {key: other, label: Not made}
"""
PROMPT = """\
row: |
  Text:
  $evidence_paragraph
questions:
  claims.made:
    cell: |
      Is "$about" claimed?
      Answer:
"""
CELLS = 4
OTHER = {"made": "other", "other": "made"}


@dataclass(frozen=True)
class World:
    """`truth`: (row, column) -> key of the right option."""

    study: Study
    manager: User
    people: tuple[Rater, ...]
    judge: Judge
    rater: Rater
    question: Question
    truth: dict[tuple[int, int], str]

    @cached_property
    def columns(self) -> dict[int, list[Column]]:
        found: dict[int, list[Column]] = {}
        for column in Column.objects.filter(sheet__study=self.study).select_related("section__scheme"):
            found.setdefault(column.sheet_id, []).append(column)
        return found

    @cached_property
    def options(self) -> dict[str, Option]:
        return {option.key: option for option in Option.objects.filter(question=self.question)}

    @property
    def rows(self) -> list[Row]:
        return list(Row.objects.filter(sheet__study=self.study).order_by("sheet__position", "position"))

    def assign(self, rater: Rater, rows: Sequence[Row]) -> list[Assignment]:
        return actions.assign(rater=rater, rows=rows)

    def say(self, assignment: Assignment, *, wrong: float = 0.0, unsure: float = 0.0, seed: int = 0) -> None:
        """Answer a row and submit it. In the share `unsure` of its cells a judge guesses, with a small margin."""
        rng = random.Random(f"{seed}:{assignment.row_id}:{assignment.rater.code}")
        answers = []
        for column in self.columns[assignment.row.sheet_id]:
            right = self.truth[assignment.row_id, column.pk]
            doubts = rng.random() < unsure
            is_wrong = rng.random() < (0.5 if doubts else wrong)
            said = OTHER[right] if is_wrong else right
            scores = _scores(said, 0.1 if doubts else 4.0) if assignment.rater.kind == Rater.Kind.JUDGE else None
            answers.append(Answer(column, self.question, self.options[said], scores=scores))
        actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())
        actions.submit(assignment=assignment)


def _scores(said: str, margin: float) -> dict[str, object]:
    other = OTHER[said]
    options = {
        key: {"logprob": logprob, "n_tokens": 1, "n_characters": 3, "unconditional": None}
        for key, logprob in ((said, -0.1), (other, -0.1 - margin))
    }
    return {"options": options, "normalisation": "none", "margin_nats": margin, "tie": False, "unsure": margin < 0.5}


def world(
    *,
    n_sheets: int = 2,
    n_rows: int = 30,
    n_labelled: int = 20,
    unsure: float = 0.15,
    scheme: str = SCHEME,
    users: Mapping[str, User] = MappingProxyType({}),
) -> World:
    """The judge has labelled everything, the first person the first `n_labelled` rows of each sheet. Those of mara,
    anna, boris and rene who are not among the `users` are made."""

    def user(name: str) -> User:
        return users.get(name) or builders.user(name)

    manager = user("mara")
    study = builders.study("claims", of=builders.scheme(scheme), by=manager)
    people = tuple(builders.rater(study, user(name)) for name in ("anna", "boris"))
    model = LanguageModel.objects.create(name="small", location="/nowhere/small")
    judge = create_judge(name="scorer", method="cloze", model=model, prompt_text=PROMPT)
    rater = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, code=judge.name)
    run = Run.objects.create(
        study=study, judge=judge, rater=rater, provenance={"workers": [{"weights_sha256": "a" * 64}]}
    )
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, ended_at=run.started_at)
    question = Question.objects.select_related("section__scheme").get(key="made")
    rng = random.Random(7)
    truth: dict[tuple[int, int], str] = {}
    for sheet_number in range(n_sheets):
        columns = {"claims": [{"claim": f"claim {n}"} for n in range(1, CELLS + 1)]}
        sheet = actions.add_sheet(study=study, title=f"Paper {sheet_number + 1}", columns=columns)
        for n in range(1, n_rows + 1):
            row = actions.add_row(sheet=sheet, name=f"Page {n}", evidence=[Block(PARAGRAPH, "It is so.")])
            for column in sheet.columns.all():
                truth[row.pk, column.pk] = rng.choice(["made", "other"])
    made = World(study, manager, people, judge, rater, question, truth)
    for assignment in made.assign(rater, made.rows):
        made.say(assignment, unsure=unsure)
    first = [row for row in made.rows if row.position < n_labelled]
    for assignment in made.assign(people[0], first):
        made.say(assignment)
    actions.add_member(study=study, user=user("rene"), role=Role.RESEARCHER)
    return made


def certificate_of(study: Study) -> Certificate:
    return Certificate.objects.select_related("study__scheme", "rater", "question__section__scheme").get(study=study)


def bare_certificate(study: Study, rater: Rater, question: Question) -> Certificate:
    """A certificate for pages that need one, of a judge that may have no label: nothing was shown of it."""
    name = queries.question_name(question)
    split = queries.split_of(study) or hiring.draw_split(study=study, unit="row", share=50, seed=1, by=None)
    if (found := Certificate.objects.filter(study=study).first()) is not None:
        return found
    table = queries.study_table(study, judges=[rater.code], question=name)
    request = {
        "judge": rater.code,
        "question": name,
        "epsilon": 0.1,
        "confidence": 0.9,
        "most": queries.most_cells(study, question, split.unit),
        "identity": queries.identity(study, rater),
        "issued": {"at": "2026-01-01T00:00:00+00:00", "by": "", "until": "2099-01-01", "code": ""},
        "looks_before": {"tests": 0, "tests_of_this": 0, "others": 0},
        "split": {"unit": split.unit, "share": split.share, "seed": split.seed, "test": []},
        "left_out": [],
    }
    content = test_judge(table, request).content
    outcome = {"document": content.decode(), "holds": True}
    look = TestLook.objects.create(
        study=study, what=TestLook.What.TEST, judge=rater.code, question=name, outcome=outcome
    )
    return Certificate.objects.create(
        study=study,
        rater=rater,
        question=question,
        labels=table.packed(),
        request=request,
        document=content.decode(),
        digest=hashlib.sha256(content).hexdigest(),
        data_digest=table.digest,
        threshold=0.5,
        epsilon=0.1,
        confidence=0.9,
        until=datetime.date(2099, 1, 1),
        look=look,
    )
