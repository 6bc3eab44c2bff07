"""How far a run is, and what that costs to know."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation import actions as annotating
from annotation.models import Study
from judges import actions, queries
from judges.models import Run, WorkItem
from tests import builders
from tests.builders import ClientOf
from tests.judges import helpers
from tests.judges.helpers import claim, fresh, items, later, work

State = WorkItem.State


def test_progress_counts_rows_and_labels(run: Run) -> None:
    first, second, third = items(run)
    actions.score_items(item_ids=[first.pk])
    claim(second)
    said = queries.progress(fresh(run))
    assert (said.rows, said.done, said.at_work, said.waiting, said.failed) == (3, 1, 1, 1, 0)
    assert (said.cells, said.tokens) == (5, 0)
    assert third.state == State.QUEUED


def test_the_pace_is_that_of_the_last_two_minutes(run: Run, study: Study) -> None:
    """Rows done 0 s, 10 s and 500 s before the last one, each in 6 s: 2 rows, 200 cells, 4,000 tokens in 10 + 6 s."""
    for number, item in enumerate(items(run)):
        ago = timedelta(seconds=(0, 10, 500)[number])
        run.items.filter(pk=item.pk).update(
            state=State.DONE, done_at=timezone.now() - ago, seconds=6, cells=100, tokens=2000
        )
    builders.row(study.sheets.get(), "Clause 4")
    more = WorkItem.objects.create(
        run=run,
        assignment=annotating.assign(rater=run.rater, rows=[study.sheets.get().rows.get(name="Clause 4")])[0],
    )
    said = queries.progress(fresh(run))
    assert said.cells_per_second == pytest.approx(200 / 16, rel=0.01)
    assert said.tokens_per_second == pytest.approx(4000 / 16, rel=0.01)
    assert said.left == timedelta(seconds=8)  # one row at 16 s / 2
    assert more.state == State.QUEUED


def test_no_pace_before_the_first_row(run: Run) -> None:
    said = queries.progress(run)
    assert (said.cells_per_second, said.tokens_per_second, said.left) == (None, None, None)


def test_a_run_that_no_worker_takes_up_says_so(run: Run) -> None:
    assert not queries.progress(fresh(run)).lacks_a_worker
    later(run, 31)
    assert queries.progress(fresh(run)).lacks_a_worker
    claim(items(run)[0])
    assert not queries.progress(fresh(run)).lacks_a_worker


@pytest.mark.parametrize(("seconds", "is_behind"), [(60, True), (-1, False)], ids=["held", "its worker is gone"])
def test_a_run_waits_behind_another_one_while_a_worker_is_at_that(
    study: Study, run: Run, seconds: int, is_behind: bool
) -> None:
    waits = actions.start_run(study=study, judge=helpers.lexical_judge("behind"), by=None)
    claim(items(run)[0])
    later(waits, 31)
    run.items.filter(state=State.CLAIMED).update(lease_until=timezone.now() + timedelta(seconds=seconds))
    said = queries.progress(fresh(waits))
    assert (said.is_behind, said.lacks_a_worker) == (is_behind, not is_behind)


def test_progress_and_the_list_of_runs_cost_a_fixed_number_of_queries(
    study: Study, run: Run, django_assert_num_queries: Any
) -> None:
    actions.score_items(item_ids=[items(run)[0].pk])
    run = fresh(run)
    with django_assert_num_queries(2):
        queries.progress(run)
    work(run)
    builders.row(study.sheets.get(), "Clause 4")
    actions.start_run(study=study, judge=run.judge, by=None)
    with django_assert_num_queries(1):
        rows = [(each.n_rows, each.n_done, each.n_cells) for each in queries.runs_with_counts(study)]
    assert rows == [(1, 0, 0), (3, 3, 15)]


def test_judges_that_fit_a_study(study: Study) -> None:
    fits = helpers.lexical_judge()
    text = "questions: {duties.kept: {cell: x}}"
    helpers.cloze_judge("/models/large", name="of-another-scheme", prompt_text=text)
    assert queries.judges_for(study) == [fits]


def test_models_with_long_places_get_names_of_their_own(db: None) -> None:
    places = [f"/models/{'deep/' * 40}{name}" for name in ("one", "two")]
    judges = [helpers.cloze_judge(place, name=f"j{n}") for n, place in enumerate(places)]
    again = helpers.cloze_judge(places[0], name="again")
    models = [judge.model for judge in judges]
    assert models[0] is not None
    assert models[1] is not None
    assert models[0].name != models[1].name
    assert again.model == models[0]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"mode": "tree"}, []),
        ({"mode": "batches"}, []),
        ({}, []),
        ({"mode": "each prompt alone: It is <odd>."}, ["given each prompt by itself", "It is &lt;odd&gt;."]),
        ({"mode": "branch by branch: It is odd."}, ["fed branch by branch", "It is odd."]),
        (
            {"mode": "tree", "rescued_mode": "each prompt alone: It is odd."},
            ["Of what is scored again in float32:", "given each prompt by itself", "It is odd."],
        ),
    ],
)
def test_the_page_says_how_a_model_is_fed_that_takes_no_tree(
    run: Run, client_of: ClientOf, record: dict[str, str], said: list[str]
) -> None:
    work(run)
    Run.objects.filter(pk=run.pk).update(provenance={**fresh(run).provenance, "workers": [record]})
    page = client_of(builders.user("root", superuser=True)).get(run.get_absolute_url()).content.decode()
    known = [
        "Of what is scored again in float32:",
        "given each prompt by itself",
        "fed branch by branch",
        '<q lang="en">',
    ]
    assert [one for one in known if one in page] == [
        *[one for one in known if one in said],
        *(known[3:] if said else []),
    ]
    assert all(one in page for one in said)
