"""Several judges weighed together: fitted by a manager, made a judge of, which labels by what the others said."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.models import Assignment, Label, Rater
from judges import actions
from judges.calibrations import queries as calibrations
from judges.methods import fitting, prompting, stacking
from judges.methods.fitting import Cells
from judges.methods.prompt_files import Stacker
from judges.models import Judge, UnreadableAnswer
from judges.stacking import queries as stacking_queries
from tests import builders
from tests.builders import ClientOf, Leases
from tests.judges import helpers
from tests.judges.test_calibrations import PEOPLE
from tests.judges.test_embedding import PROMPT

RULE = Stacker(judges={"a": 1.0, "b": 0.5}, options={"stated": 0.0, "absent": 0.2})
OPTION = {"n_tokens": 1, "n_characters": 4, "unconditional": None}


def test_a_judge_without_scores_speaks_for_what_it_chose() -> None:
    assert stacking.numbers(None, "absent", ["stated", "absent"]) == [-1.0, 0.0]


def test_a_judge_with_scores_speaks_as_it_chose() -> None:
    stored = {"stated": {"logprob": -4.0, **OPTION}, "absent": {"logprob": -4.0 + math.log(3), **OPTION}}
    scores = {"options": stored, "normalisation": "none"}
    assert stacking.numbers(scores, "absent", ["stated", "absent"]) == pytest.approx([math.log(0.25), math.log(0.75)])
    calibrated = {**scores, "calibration": {"normalisation": "none", "bias": {"stated": math.log(3)}}}
    assert stacking.numbers(calibrated, "absent", ["stated", "absent"]) == pytest.approx([math.log(0.5)] * 2)
    # What was not offered, and what is next to impossible, are as unlikely as one another.
    stored["absent"]["logprob"] = -400.0
    assert stacking.numbers(scores, "stated", ["absent", "other"]) == [stacking.FLOOR] * 2


def test_the_highest_weighted_sum_wins_and_shares_sum_to_one() -> None:
    scores = stacking.option_scores({"a": [-1.0, 0.0], "b": [0.0, -1.0]}, RULE)
    assert scores["absent"].logprob - scores["stated"].logprob == pytest.approx(0.2 + 1.0 - 0.5)
    assert sum(math.exp(score.logprob) for score in scores.values()) == pytest.approx(1)
    alone = stacking.option_scores({"b": [0.0, -1.0]}, RULE)  # the other has no answer to this cell
    assert alone["stated"].logprob - alone["absent"].logprob == pytest.approx(0.5 - 0.2)


def test_judges_that_err_in_different_cells_are_better_together() -> None:
    draw = np.random.default_rng(4)
    truth = draw.integers(3, size=300)
    said = []
    for _judge in range(3):
        wrong = draw.random(300) < 0.3
        said.append(np.eye(3)[np.where(wrong, (truth + draw.integers(1, 3, size=300)) % 3, truth)] - 1)
    scores = np.stack(said, axis=1)
    cells = Cells(np.empty((300, 3, 0)), np.eye(3, dtype=np.int64)[truth], np.repeat(np.arange(30), 10))
    whole = fitting.fit(scores, cells.people)
    *alone, together = stacking.candidates(scores, cells, whole)
    assert together[0] > max(accuracy for accuracy, _f1 in alone) + 0.05
    agreed = stacking.agreements(scores, cells)
    assert [pair[:2] for pair in agreed] == [(0, 1), (0, 2), (1, 2)]
    assert all(right > 0.85 > same for _one, _other, same, right in agreed)

    inside, _outside = next(fitting.left_out(cells.document))
    anew, from_whole = (fitting.fit(scores[inside], cells.people[inside], begin=begin) for begin in (None, whole))
    assert from_whole.weight == pytest.approx(anew.weight, abs=1e-6)
    assert from_whole.bias == pytest.approx(anew.bias, abs=1e-6)


def test_many_documents_are_left_out_in_groups_each_once() -> None:
    document = np.repeat(np.arange(7, 7 + 250), 2)
    folds = list(fitting.left_out(document))
    assert len(folds) == fitting.MOST_FOLDS
    assert (np.sum([outside for _inside, outside in folds], axis=0) == 1).all()
    assert all(not set(document[inside]) & set(document[outside]) for inside, outside in folds)
    many = np.repeat(np.arange(250), 400)  # 100,000 cells
    assert len(list(fitting.left_out(many))) == 2_000_000 // 100_000
    assert [outside.sum() for _inside, outside in fitting.left_out(np.array([5, 3, 5]))] == [1, 2]


@pytest.fixture
def raters(leases: Leases) -> list[Rater]:
    """Judges with scores and without in both rows; people have labelled the same cells."""
    judges = [actions.create_judge(name="near", method=Judge.Method.EMBEDDING, prompt_text=PROMPT)]
    judges.append(helpers.lexical_judge())
    runs = [actions.start_run(study=leases.study, judge=judge, by=None, enqueue=False) for judge in judges]
    for run in runs:
        helpers.work(run)
    for assignment in leases.annas:
        builders.label(assignment, {**builders.COMPLETE, **PEOPLE})
        annotating.submit(assignment=assignment)
    return [run.rater for run in runs]


def create(leases: Leases, raters: list[Rater], name: str = "together") -> Judge:
    rows = calibrations.rows_of(leases.study, [leases.sheet])
    found = actions.weigh(study=leases.study, raters=raters, rows=rows)
    return actions.create_stacker(study=leases.study, found=found, name=name)


@pytest.mark.django_db
@pytest.mark.once
class TestInAStudy:
    def test_a_judge_offers_the_cells_that_count_in_a_fit(self, leases: Leases, raters: list[Rater]) -> None:
        def offered() -> list[int]:
            return [rater.n_cells for rater in stacking_queries.stackable(leases.study)]  # type: ignore[attr-defined]

        before = offered()
        [first, *_rest] = raters[0].assignments.order_by("pk")
        [again] = annotating.assign(rater=raters[0], rows=[first.row], repeat=2)
        for label in first.labels.all():
            label.pk, label.assignment = None, again
            label.save()
        again.state, again.submitted_at = Assignment.State.SUBMITTED, first.submitted_at
        again.save()
        assert offered() == before

    def test_its_run_labels_by_what_the_others_said(self, leases: Leases, raters: list[Rater]) -> None:
        judge = create(leases, raters)
        assert judge.model is None
        rule = judge.prompt_spec.questions["duties.stated"].stacker
        assert rule is not None
        assert list(rule.judges) == ["near", "words"]
        run = actions.start_run(study=leases.study, judge=judge, by=None, enqueue=False)
        helpers.work(run)
        run.refresh_from_db()
        assert run.state == run.State.FINISHED
        said = helpers.labels_of(run.rater)
        assert {option for (_r, column, _q), option in said.items() if column == "Pay rent"} == {"stated"}
        assert {option for (_r, column, _q), option in said.items() if column == "Insure"} == {"absent"}
        label = Label.objects.filter(assignment__rater=run.rater, column__name="Pay rent").earliest("pk")
        theirs = {
            other.assignment.rater.code: stacking.numbers(other.scores, other.option.key, list(rule.options))
            for other in Label.objects.filter(
                assignment__rater__in=raters, assignment__row=label.assignment.row, column=label.column
            )
            if other.option
        }
        expected = stacking.option_scores(theirs, rule)
        stored = {key: of["logprob"] for key, of in label.scores["options"].items()}
        assert stored == pytest.approx({key: score.logprob for key, score in expected.items()})

    def test_a_row_that_one_of_them_has_not_labelled_waits(self, leases: Leases, raters: list[Rater]) -> None:
        judge = create(leases, raters)
        first = leases.sheet.rows.earliest("position")
        Assignment.objects.filter(rater=raters[1], row=first).delete()
        run = actions.start_run(study=leases.study, judge=judge, by=None, enqueue=False)
        helpers.work(run)
        failed = Assignment.objects.get(rater=run.rater, row=first)
        assert "have not labelled this row: words." in failed.failure
        assert run.rater.assignments.filter(state=Assignment.State.SUBMITTED).count() == 1

    def test_a_cell_that_none_of_them_answered_is_unreadable(self, leases: Leases, raters: list[Rater]) -> None:
        judge = create(leases, raters)
        first = leases.sheet.rows.earliest("position")
        Label.objects.filter(assignment__rater__in=raters, assignment__row=first, column__name="Insure").delete()
        run = actions.start_run(study=leases.study, judge=judge, by=None, enqueue=False)
        helpers.work(run)
        unread = UnreadableAnswer.objects.get(assignment__rater=run.rater)
        assert (unread.assignment.row, unread.column.name) == (first, "Insure")

    def test_too_little_is_refused(self, leases: Leases, raters: list[Rater]) -> None:
        with pytest.raises(Refused, match="two judges"):
            create(leases, raters[:1])
        Label.objects.filter(assignment__in=leases.annas).update(exposed=True)
        with pytest.raises(Refused, match="2 of the chosen documents"):
            create(leases, raters)

    def test_a_prompt_that_names_no_option_of_the_question_is_refused(self, leases: Leases) -> None:
        text = "questions:\n  duties.stated:\n    stacker: {judges: {a: 1, b: 1}, options: {stated: 0, gone: 0}}\n"
        with pytest.raises(prompting.PromptError, match="gone"):
            prompting.check_against(prompting.load_prompt(text), leases.study.scheme.parsed, Judge.Method.STACKER)
        fits = prompting.load_prompt(text.replace("gone", "absent"))
        with pytest.raises(prompting.PromptError, match="none"):
            prompting.check_against(
                fits, leases.study.scheme.parsed, Judge.Method.STACKER, normalisation=Judge.Normalisation.TOKEN
            )

    def test_the_page_weighs_shows_and_makes_a_judge(
        self, leases: Leases, raters: list[Rater], client_of: ClientOf
    ) -> None:
        leases.manager.is_superuser = True  # may add judges
        leases.manager.save()
        client: Client = client_of(leases.manager)
        address = f"/studies/{leases.study.slug}/judges/together/"
        assert address in client.get(f"/studies/{leases.study.slug}/judges/").content.decode()
        assert "Choose two judges at least." in client.post(address, {"sheet": [leases.sheet.pk]}).content.decode()
        chosen = {"judge": [rater.pk for rater in raters], "sheet": [leases.sheet.pk]}
        one = client.post(address, {**chosen, "judge": [raters[0].pk]}).content.decode()
        assert "Choose two judges at least." in one
        page = client.post(address, chosen).content.decode()
        assert "<code>near</code>, <code>words</code>" in page
        assert not Judge.objects.filter(method=Judge.Method.STACKER).exists()  # looking makes nothing
        assert "letters, digits" in client.post(address, {**chosen, "name": "no name"}).content.decode()
        client.post(address, {**chosen, "name": "both"})
        assert Judge.objects.get(name="both").method == Judge.Method.STACKER
        assert "There is a judge called" in client.post(address, {**chosen, "name": "both"}).content.decode()
        # Both choose the same in all four cells and are right in two of them, the interval being Wilson's of 2 of 4.
        assert '<td class="n">1.000</td><td class="n">4</td><td class="n">0.500 [0.150, 0.850]</td>' in page
        client = client_of(leases.anna)
        assert client.get(address).status_code in {403, 404}

    def test_the_page_says_where_the_stack_is_no_better_and_which_judge_lacks_labels(
        self, leases: Leases, raters: list[Rater], client_of: ClientOf
    ) -> None:
        client, address = client_of(leases.manager), f"/studies/{leases.study.slug}/judges/together/"
        chosen = {"judge": [rater.pk for rater in raters], "sheet": [leases.sheet.pk]}
        found = actions.weigh(
            study=leases.study, raters=raters, rows=calibrations.rows_of(leases.study, [leases.sheet])
        )
        [weighed] = found.questions
        page = client.post(address, chosen).content.decode()
        no_better = "All together are no better here than the best of them alone"
        assert (no_better in page) == (weighed.together[0] <= weighed.best_alone)
        Label.objects.filter(assignment__rater=raters[1], assignment__row=leases.sheet.rows.first()).delete()
        page = client.post(address, chosen).content.decode()
        assert "Nothing can be fitted" in page
        assert "these judges have answered too few: words (1)." in page

    def test_it_takes_four_queries_whatever_the_cells(
        self, leases: Leases, raters: list[Rater], django_assert_num_queries: Any
    ) -> None:
        rows = calibrations.rows_of(leases.study, [leases.sheet])
        assert leases.study.scheme.parsed
        with django_assert_num_queries(4):
            stacking_queries.stacked(leases.study, raters, rows)
