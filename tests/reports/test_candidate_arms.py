"""A judge of two texts side by side that likes the first place: its arm reads them the other way round, and the report
finds what its place had to do with it."""

from __future__ import annotations

import hashlib
import re
import uuid

import pytest
from django.urls import reverse

from annotation import actions as annotating
from annotation.actions import Answer, Refused
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING, PARAGRAPH
from annotation.models import Column, Label, Option, Question, Rater, Role, Row, Study
from judges import actions
from judges.lineage import queries as lineage
from judges.models import Judge, Run, UnreadableAnswer
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
key: answers
version: 1
title: Answers side by side
words: {sheet: topic, sheets: topics, row: pair, rows: pairs}
sections:
  - key: side
    title: Each side
    column: {title: Side, facets: [side]}
    questions:
      - {key: polite, title: Polite, kind: flag}
  - key: pair
    title: Both
    column: {title: Comparison, facets: [pair]}
    questions:
      - key: better
        title: Better
        options:
          - {key: first, label: First}
          - {key: tie, label: Tie}
          - {key: second, label: Second}
"""
PROMPT = """\
row: |
  $evidence
questions:
  side.polite:
    writing: {name: POLITE, wording: "Is the $facet_side one polite?"}
  pair.better:
    writing: {name: BETTER, wording: "Which is better?"}
"""
N_ROWS = 12
LIKING = 0.5


def chance(of: str) -> float:
    return int.from_bytes(hashlib.sha256(of.encode()).digest()[:4]) / 2**32


def likes_the_first(pair: int) -> bool:
    return chance(f"liking {pair}") < LIKING


def truth(pair: int) -> str:
    """The better answer of a pair stands first, second, or neither is better."""
    return ("First", "Second", "Tie")[int(chance(f"truth {pair}") * 3)]


def is_polite(pair: int, side: str) -> bool:
    return chance(f"polite {pair} {side}") < 0.5


def quality(pair: int, side: str) -> int:
    return {"First": (2, 1), "Second": (1, 2), "Tie": (1, 1)}[truth(pair)][side == "second"]


def text_of(pair: int, side: str) -> str:
    return f"Pair {pair}: {'please' if is_polite(pair, side) else 'no'}, quality {quality(pair, side)}."


def says(prompt: str, _seed: int) -> str:
    """It reads the texts that stand below the headings in its prompt, and of pairs that it is not sure of takes what
    stands first."""
    below = dict(re.findall(r"- (first|second)\n- (Pair .*)\n", prompt))
    assert list(below) == ["first", "second"]
    if asked := re.findall(r"Is the (\w+) one polite", prompt):
        return f"POLITE: {'Yes' if 'please' in below[asked[-1]] else 'No'}"
    pair = int(re.findall(r"Pair (\d+)", below["first"])[0])
    one, two = (int(text[-2]) for text in below.values())
    if likes_the_first(pair) or one > two:
        return "BETTER: First"
    return "BETTER: Tie" if one == two else "BETTER: Second"


@pytest.fixture
def study(db: None, monkeypatch: pytest.MonkeyPatch) -> Study:
    return study_of_pairs(monkeypatch)


def study_of_pairs(monkeypatch: pytest.MonkeyPatch) -> Study:
    """Anna has said the truth of every pair."""
    made = builders.study("answers", of=builders.scheme(SCHEME), by=builders.user("mara"))
    columns = {"side": [{"side": "first"}, {"side": "second"}], "pair": [{"pair": "first or second"}]}
    sheet = annotating.add_sheet(study=made, title="Rent", columns=columns)
    for n in range(N_ROWS):
        blocks = [
            block
            for side in ("first", "second")
            for block in (Block(HEADING, side), Block(PARAGRAPH, text_of(n, side)))
        ]
        blocks += [Block(HEADING, "Asked was"), Block(PARAGRAPH, "When is the rent due?")]
        annotating.add_row(sheet=sheet, name=f"pair {n}", title=f"pair {n}", evidence=blocks)
    backend = ScriptedBackend(says)
    monkeypatch.setattr(labelling, "backend_of", lambda _judge: backend)
    monkeypatch.setattr(labelling, "check_model", lambda *_of, **_how: None)
    better = Question.objects.get(key="better")
    options = {option.label: option for option in Option.objects.filter(question=better)}
    column = Column.objects.get(section=better.section)
    polite = Question.objects.get(key="polite")
    flags = list(Option.objects.filter(question=polite).order_by("position"))
    sides = Column.objects.filter(section=polite.section)
    anna = builders.rater(made, builders.user("anna"))
    for assignment in annotating.assign(rater=anna, rows=list(sheet.rows.order_by("position"))):
        n = int(assignment.row.name.split()[1])
        answers = [Answer(column, better, options[truth(n)])]
        answers += [Answer(side, polite, flags[not is_polite(n, side.facets["side"])]) for side in sides]
        annotating.record(assignment=assignment, answers=answers, key=uuid.uuid4())
        annotating.submit(assignment=assignment)
    return made


def liking_judge() -> Judge:
    model = LanguageModel.objects.create(name="likes", location="/nowhere/likes")
    return actions.create_judge(name="likes", method="writing", model=model, prompt_text=PROMPT, temperature=0.0)


def run(study: Study, judge: Judge) -> Rater:
    started: Run = actions.start_run(study=study, judge=judge, by=None, enqueue=False)
    helpers.work(started)
    return started.rater


def said(rater: Rater, question: str) -> dict[tuple[str, str], str]:
    labels = Label.objects.filter(assignment__rater=rater, question__key=question)
    return {
        (label.assignment.row.name, label.column.facets.get("side", "")): str(label.option.label)
        for label in labels.select_related("assignment__row", "column", "option")
        if label.option is not None
    }


def test_a_liking_for_the_first_candidate_is_found_and_averaged_out(study: Study) -> None:
    judge = liking_judge()
    base = run(study, judge)
    before = study_digest(study)
    [arm] = actions.create_candidate_arms(judge=judge, study=study)
    assert (arm.name, list(lineage.changes(judge, arm))) == ("likes-candidates-1", ["candidates"])
    of_arm = run(study, arm)
    assert not UnreadableAnswer.objects.exists()
    assert study_digest(study) != before

    # What it says of each text does not depend on the place; the column names the place where that text stands.
    assert said(of_arm, "polite") == said(base, "polite")
    # In pairs that it is not sure of it takes the other text; what it says is counted for that.
    for n in range(N_ROWS):
        cell = (f"pair {n}", "")
        assert said(base, "better")[cell] == ("First" if likes_the_first(n) else truth(n))
        assert said(of_arm, "better")[cell] == ("Second" if likes_the_first(n) else truth(n))

    table = queries.label_table(study, Filters())
    assert unpacked(table.packed()).content == table.content
    assert [(entry.code, entry.shift, entry.stood["pair.better"]) for entry in table.arms] == [
        ("likes", 0, (("first", "second"),)),
        ("likes-candidates-1", 1, (("second", "first"),)),
    ]
    report = compute(study_data(table, Filters()), Filters())
    better = next(of for section in report.sections for of in section.questions if of.data.name == "pair.better")
    [result] = better.arms
    liked = sum(map(likes_the_first, range(N_ROWS))) / N_ROWS
    assert 0.2 < liked < 0.8
    assert result.flips.any.value == pytest.approx(liked)
    assert result.swapped is not None
    assert result.swapped.consistent.value == pytest.approx(1 - liked)
    assert result.swapped.first.value == pytest.approx(liked + (1 - liked) / 2)
    assert result.swapped.first_if_not.value == 1.0
    # Of the verdicts for a text: those that it likes go to the first place twice, sure ones once to each.
    sure = sum(not likes_the_first(n) and truth(n) != "Tie" for n in range(N_ROWS)) / N_ROWS
    assert result.standing[0].value == pytest.approx((liked + sure / 2) / (liked + sure))
    polite = next(of for section in report.sections for of in section.questions if of.data.name == "side.polite")
    assert polite.arms[0].flips.any.value == 0.0
    assert polite.arms[0].swapped is None

    # The mean of both orders is right wherever the judge is sure.
    average = run(study, actions.create_average(judge=judge, study=study))
    assert {
        cell: label for cell, label in said(average, "better").items() if not likes_the_first(int(cell[0].split()[1]))
    } == {(f"pair {n}", ""): truth(n) for n in range(N_ROWS) if not likes_the_first(n)}

    tables = {of.key: of for of in contents_from(table, Filters(), "en").tables}
    assert tables["pair.better.arms.likes"].rows[1][1] == "the candidates: the first stands last"
    assert tables["pair.better.candidates.likes"].rows[2][1] == pytest.approx(1 - liked)


def test_the_arms_of_options_and_of_candidates_do_not_mix(study: Study) -> None:
    judge = liking_judge()
    run(study, judge)
    for arm in (
        *actions.create_candidate_arms(judge=judge, study=study),
        *actions.create_arms(judge=judge, study=study),
    ):
        run(study, arm)
    table = queries.label_table(study, Filters())
    report = compute(study_data(table, Filters()), Filters())
    [result] = next(of for section in report.sections for of in section.questions if of.data.name == "pair.better").arms
    assert len(result.arms) == 4
    assert len(result.places) == 3  # over the three orders of options, without the other order of candidates
    assert result.swapped is not None
    assert result.swapped.consistent.n == N_ROWS


def test_what_cannot_change_places_is_refused(study: Study) -> None:
    judge = liking_judge()
    [arm] = actions.create_candidate_arms(judge=judge, study=study)
    with pytest.raises(Refused, match="each order of the candidates already"):
        actions.create_candidate_arms(judge=judge, study=study)
    with pytest.raises(Refused, match="is an arm itself"):
        actions.create_candidate_arms(judge=arm, study=study)
    row = Row.objects.order_by("pk").first()
    assert row is not None
    row.evidence = [{"kind": PARAGRAPH, "text": "Nothing stands here."}]
    row.save()
    started = actions.start_run(study=study, judge=arm, by=None, enqueue=False)
    helpers.work(started)
    assert "nothing that is called “first”" in started.items.get(assignment__row=row).error
    assert started.items.filter(error="").count() == N_ROWS - 1
    Row.objects.update(evidence=[{"kind": PARAGRAPH, "text": "One text."}])
    other = actions.create_judge(
        name="other", method="writing", model=judge.model, prompt_text=PROMPT.replace("Which", "Who"), temperature=0.0
    )
    with pytest.raises(Refused, match="no candidates side by side"):
        actions.create_candidate_arms(judge=other, study=study)


def test_the_page_of_the_judge_makes_them(study: Study, client_of: ClientOf) -> None:
    owner = builders.user("root")
    owner.is_superuser = owner.is_staff = True
    owner.save()
    annotating.add_member(study=study, user=owner, role=Role.MANAGER)
    client, judge = client_of(owner), liking_judge()
    page = reverse("judges:judge", args=[study.slug, judge.pk])
    assert "Candidates in the documents: first, second." in client.get(page).content.decode()
    client.post(reverse("judges:make-candidate-arms", args=[study.slug, judge.pk]))
    [arm] = lineage.arms_of(judge)
    text = client.get(page).content.decode()
    assert "the first candidate stands last" in text
    assert "make-candidate-arms" not in text
    assert "candidate-arms/" not in text
    assert "order of the candidates" in client.get(reverse("judges:judge", args=[study.slug, arm.pk])).content.decode()
