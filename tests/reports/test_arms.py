"""Arms of a judge: made, run, told in the report, averaged; and the lineage of judges. A simulated model has a known
liking for what stands first."""

from __future__ import annotations

import hashlib
import re
import uuid

import numpy as np
import pytest
from django.urls import reverse

from annotation import actions as annotating
from annotation.actions import Answer, Refused
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Column, Label, Option, Question, Rater, Study
from judges import actions
from judges.lineage import queries as lineage
from judges.models import Judge, Origin
from judges.runs import labelling
from llm.models import LanguageModel
from reports import queries
from reports.contents import contents_from
from reports.data.arrays import Filters
from reports.data.cells import study_data
from reports.data.label_table import unpacked
from reports.digests import study_digest
from reports.numbers.report import compute
from tests import builders
from tests.builders import ClientOf
from tests.judges import helpers
from tests.judges.helpers import ScriptedBackend

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
          - {key: yes-it-is, label: Stated}
          - {key: implied, label: Implied}
          - {key: absent, label: Absent}
"""
LABELS = ["Stated", "Implied", "Absent"]
PROMPT = """\
row: |
  Text $title:
  $evidence
questions:
  claims.made:
    writing:
      name: CLAIM
      wording: Is “$about” claimed?
"""
N_ROWS, N_COLUMNS = 12, 4
LIKING = 0.4


def chance(cell: str) -> float:
    return int.from_bytes(hashlib.sha256(cell.encode()).digest()[:4]) / 2**32


def cell_of(prompt: str) -> str:
    return re.findall(r"Text (page \d+)", prompt)[-1] + re.findall(r"“(claim \d+)”", prompt)[-1]


def truth(cell: str) -> str:
    return LABELS[int(chance("truth " + cell) * 3)]


def likes_the_first(cell: str) -> bool:
    return chance("liking " + cell) < LIKING


def says(prompt: str, _seed: int) -> str:
    """What stands first in the cells that it is not sure of, and the truth in the others."""
    cell = cell_of(prompt)
    first = re.findall(r"one of: (\w+)", prompt)[-1]
    return f"CLAIM: {first if likes_the_first(cell) else truth(cell)}"


CELLS = [f"page {row}claim {column}" for row in range(N_ROWS) for column in range(N_COLUMNS)]


@pytest.fixture
def study(db: None, monkeypatch: pytest.MonkeyPatch) -> Study:
    return labelled_study(monkeypatch)


def labelled_study(monkeypatch: pytest.MonkeyPatch) -> Study:
    """Anna has said the truth in all cells; every judge with a model likes the first place."""
    made = builders.study("claims", of=builders.scheme(SCHEME), by=builders.user("mara"))
    columns = {"claims": [{"claim": f"claim {n}"} for n in range(N_COLUMNS)]}
    sheet = annotating.add_sheet(study=made, title="Paper", columns=columns)
    for n in range(N_ROWS):
        annotating.add_row(sheet=sheet, name=f"page {n}", title=f"page {n}", evidence=[Block(PARAGRAPH, "It is so.")])
    backend = ScriptedBackend(says)
    monkeypatch.setattr(labelling, "backend_of", lambda _judge: backend)
    monkeypatch.setattr(labelling, "check_model", lambda *_of, **_how: None)
    question = Question.objects.get(key="made")
    options = {option.key: option for option in Option.objects.filter(question=question)}
    keys = dict(zip(LABELS, options, strict=True))
    anna = builders.rater(made, builders.user("anna"))
    for assignment in annotating.assign(rater=anna, rows=list(sheet.rows.order_by("position"))):
        answers = [
            Answer(column, question, options[keys[truth(f"{assignment.row.name}{column.name}")]])
            for column in Column.objects.filter(sheet=sheet)
        ]
        annotating.record(assignment=assignment, answers=answers, key=uuid.uuid4())
        annotating.submit(assignment=assignment)
    return made


@pytest.fixture
def judge(study: Study) -> Judge:
    return liking_judge()


def liking_judge() -> Judge:
    model = LanguageModel.objects.create(name="likes", location="/nowhere/likes")
    return actions.create_judge(name="likes", method="writing", model=model, prompt_text=PROMPT, temperature=0.0)


def run(study: Study, judge: Judge) -> Rater:
    started = actions.start_run(study=study, judge=judge, by=None, enqueue=False)
    helpers.work(started)
    return started.rater


def test_a_liking_for_the_first_place_is_found_and_averaged_out(study: Study, judge: Judge) -> None:
    run(study, judge)
    before = study_digest(study)
    arms = actions.create_arms(judge=judge, study=study)
    assert [arm.name for arm in arms] == ["likes-turn-1", "likes-turn-2"]
    for arm in arms:
        run(study, arm)
    average = actions.create_average(judge=judge, study=study)
    rater = run(study, average)
    assert study_digest(study) != before

    table = queries.label_table(study, Filters())
    assert unpacked(table.packed()).content == table.content
    assert [(arm.code, arm.of, arm.turn) for arm in table.arms] == [
        ("likes", "likes", 0),
        ("likes-turn-1", "likes", 1),
        ("likes-turn-2", "likes", 2),
    ]
    assert table.arms[1].orders == {"claims.made": ("implied", "absent", "yes-it-is")}

    report = compute(study_data(table, Filters()), Filters())
    [question] = report.sections[0].questions
    [result] = question.arms
    liked = np.mean([likes_the_first(cell) for cell in CELLS])
    assert 0.2 < liked < 0.6
    # In a cell that it is not sure of each arm says another option, in the others all say the truth.
    assert [of.value for of in result.flips.against_first] == [pytest.approx(liked)] * 2
    assert result.flips.pairwise.value == result.flips.any.value == pytest.approx(liked)
    assert result.flips.any.n_clusters == N_ROWS
    assert result.flips.any.low is not None
    assert 0 < result.flips.any.low < liked
    # The truth stands at each place in one of the three arms.
    assert [of.value for of in result.places] == [
        pytest.approx(liked + (1 - liked) / 3),
        pytest.approx((1 - liked) / 3),
        pytest.approx((1 - liked) / 3),
    ]

    # Averaged, it is right wherever it is sure; where the arms differ all three options tie, and one is drawn.
    labels = {
        f"{label.assignment.row.name}{label.column.name}": label
        for label in Label.objects.filter(assignment__rater=rater).select_related("assignment__row", "column", "option")
    }
    drawn: set[str] = set()
    sure: list[bool] = []
    for cell in CELLS:
        option = labels[cell].option
        assert option is not None
        if likes_the_first(cell):
            drawn.add(option.label)
        else:
            sure.append(option.label == truth(cell))
        assert isinstance(labels[cell].scores, dict)
        assert labels[cell].scores["tie"] == likes_the_first(cell)
    assert all(sure)
    assert len(drawn) == 3

    tables = {of.key: of for of in contents_from(table, Filters(), "en").tables}
    flipped = tables["claims.made.arms.likes"]
    assert flipped.rows[1][:2] == ("likes-turn-1", "the order: the first option stands last")
    assert flipped.rows[1][2] == pytest.approx(liked)
    assert tables["claims.made.places.likes"].rows[0][4] == pytest.approx(1 / 3)


def test_what_is_no_arm_is_refused(study: Study, judge: Judge) -> None:
    with pytest.raises(Refused, match="no arms to average"):
        actions.create_average(judge=judge, study=study)
    with pytest.raises(Refused, match="no copy"):
        actions.count_as_arm(judge=judge)
    [arm] = actions.create_arms(judge=judge, study=study, n=1)
    with pytest.raises(Refused, match="is an arm itself"):
        actions.create_arms(judge=arm, study=study)
    actions.create_average(judge=judge, study=study)
    with pytest.raises(Refused, match="is the average of these arms"):
        actions.create_average(judge=judge, study=study)
    assert len(actions.create_arms(judge=judge, study=study)) == 1
    assert actions.create_average(judge=judge, study=study).name == "likes-average-2"
    with pytest.raises(Refused, match="each order already"):
        actions.create_arms(judge=judge, study=study)
    # A wording that is all that is asked stays as it is: its arms would all be asked the same.
    bare = PROMPT.replace("wording:", "bare: true\n      wording:")
    whole = actions.create_judge(name="bare", method="writing", model=judge.model, prompt_text=bare, temperature=0.0)
    for other in (helpers.lexical_judge(), whole):
        with pytest.raises(Refused, match="reads no options in an order"):
            actions.create_arms(judge=other, study=study)


def test_a_copy_in_other_words_is_an_arm_and_its_chain_is_told(study: Study, judge: Judge, client_of: ClientOf) -> None:
    owner = builders.user("root")
    owner.is_superuser = owner.is_staff = True
    owner.save()
    annotating.add_member(study=study, user=owner, role="manager")
    client = client_of(owner)
    run(study, judge)
    reworded = PROMPT.replace("Is “$about” claimed?", "Does it claim “$about”?")
    form = {
        "name": "likes-2", "method": "writing", "normalisation": "none", "model": judge.model_id, "temperature": "0",
        "max_new_tokens": "64", "prompt_text": reworded,
    }  # fmt: skip
    page = client.post(reverse("judges:new-judge", args=[study.slug]) + f"?copy={judge.pk}", form)
    copy = Judge.objects.get(name="likes-2")
    assert page.status_code == 302
    assert (copy.origin.parent, copy.origin.how) == (judge, Origin.How.COPY)
    run(study, copy)

    first, second = lineage.chain(study, copy)
    assert (first.judge, second.judge) == (judge, copy)
    assert second.changed == ("temperature or longest answer", "wording")
    liked = [cell for cell in CELLS if likes_the_first(cell)]
    right = 1 - sum(truth(cell) != "Stated" for cell in liked) / len(CELLS)
    assert first.score is not None
    assert first.score.accuracy == pytest.approx(right)
    assert (first.score.n_cells, first.score.n_documents) == (len(CELLS), N_ROWS)

    # More than its words differs, so that it is no arm; a copy of the same length of answers is one.
    client.post(reverse("judges:count-as-arm", args=[study.slug, copy.pk]))
    assert lineage.arms_of(judge) == []
    form |= {"name": "likes-3", "max_new_tokens": judge.max_new_tokens}
    client.post(reverse("judges:new-judge", args=[study.slug]) + f"?copy={judge.pk}", form)
    other = Judge.objects.get(name="likes-3")
    # One that has arms is what these are compared with: as an arm it would hide them.
    [turned] = actions.create_arms(judge=other, study=study, n=1)
    with pytest.raises(Refused, match="has arms of its own"):
        actions.count_as_arm(judge=other)
    at = reverse("judges:judge", args=[study.slug, other.pk])
    assert "Count this copy" not in client.get(at).content.decode()
    turned.delete()
    client.post(reverse("judges:count-as-arm", args=[study.slug, other.pk]))
    assert lineage.arms_of(judge) == [other]
    client.post(reverse("judges:make-arms", args=[study.slug, judge.pk]))
    assert len(lineage.arms_of(judge)) == 3
    client.post(reverse("judges:average-arms", args=[study.slug, judge.pk]))
    made = lineage.average_of(judge)
    assert made is not None
    assert lineage.weighed(made) == ("likes", "likes-3", "likes-turn-1", "likes-turn-2")

    text = client.get(reverse("judges:judge", args=[study.slug, copy.pk])).content.decode()
    assert "likes</code></a>" in text
    assert f"{round(100 * right)} %" in text
    assert lineage.told(study, copy)[0]["development"]["cells"] == len(CELLS)
