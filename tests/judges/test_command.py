"""`manage.py judge` and `manage.py import_folder`."""

from __future__ import annotations

import io
import os
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation import actions as annotating
from annotation.models import Label, Study
from judges import actions
from judges.models import Judge, Run
from judges.runs import labelling
from recipes.cooking.models import Document
from tests import builders
from tests.judges import helpers
from tests.judges.helpers import n_events, states

pytestmark = pytest.mark.django_db


def call(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=out)
    return out.getvalue()


def refusal(*arguments: str) -> str:
    with pytest.raises(CommandError) as refused:
        call(*arguments)
    return str(refused.value)


# --- judge ------------------------------------------------------------------------------------------------------------


def test_a_judge_labels_a_study_in_this_process(study: Study, judge: Judge) -> None:
    said = call("judge", study.slug, judge.name)
    assert "3/3 rows · 15 labels" in said
    assert "cells/s" in said
    run = Run.objects.get()
    assert (run.state, states(run)) == (Run.State.FINISHED, {"done": 3})


def test_a_model_tells_its_tokens(study: Study, tmp_path: Path) -> None:
    helpers.cloze_judge(helpers.save_tiny_model(tmp_path))
    assert "tokens/s" in call("judge", study.slug, "tiny")


def test_only_some_sheets(study: Study, judge: Judge) -> None:
    builders.sheet(study, "Loan", n_rows=2)
    assert "2/2 rows" in call("judge", study.slug, judge.name, "--sheets", "Loan")
    assert "no sheet called “Mortgage”" in refusal("judge", study.slug, judge.name, "--sheets", "Mortgage")


def test_what_is_not_there_is_named_beside_what_is(study: Study, judge: Judge) -> None:
    assert refusal("judge", "leeses", judge.name) == "There is no study “leeses”. Studies: leases."
    assert refusal("judge", study.slug, "wrods") == "There is no judge “wrods”. Judges: words."


def test_everything_is_labelled_already(study: Study, judge: Judge) -> None:
    call("judge", study.slug, judge.name)
    assert "has labelled everything already" in refusal("judge", study.slug, judge.name)


def test_ctrl_c_leaves_a_run_that_the_same_command_goes_on_with(
    study: Study, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_row = labelling.label_row
    rows = 0

    def pressed_at_the_second_row(*args: Any, **named: Any) -> Any:
        nonlocal rows
        rows += 1
        if rows == 2:
            raise KeyboardInterrupt
        return label_row(*args, **named)

    monkeypatch.setattr(labelling, "label_row", pressed_at_the_second_row)
    with pytest.raises(SystemExit) as stopped:
        call("judge", study.slug, judge.name)
    assert stopped.value.code == 130
    run = Run.objects.get()
    assert (run.state, states(run)) == (Run.State.CANCELLED, {"done": 1, "queued": 2})
    assert "3/3 rows" in call("judge", study.slug, judge.name)
    assert Run.objects.get().state == Run.State.FINISHED
    assert n_events(run.rater) == 15


def test_rows_that_fail_are_named_and_the_command_fails(study: Study, judge: Judge) -> None:
    annotating.add_row(sheet=study.sheets.get(), name="Empty", evidence=[])
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 of 4 rows failed"):
        call_command("judge", study.slug, judge.name, stdout=out, stderr=out)
    assert "Lease · Empty: It has no evidence to judge by." in out.getvalue()


def test_a_model_that_the_worker_does_not_find(study: Study) -> None:
    judge = helpers.gpu_judge("/no/such/folder")
    assert "There is no folder /no/such/folder" in refusal("judge", study.slug, judge.name)
    assert Run.objects.get().state == Run.State.FAILED


def test_repeats_of_a_judge_that_rates(study: Study, tmp_path: Path) -> None:
    helpers.rating_judge(helpers.save_tiny_model(tmp_path))
    out = io.StringIO()
    call_command("judge", study.slug, "rates", "--repeats", "2", stdout=out, stderr=out)
    # With random weights nothing can be read: 3 rows x 2 cells x 2 repeats.
    assert "6/6 rows · 0 labels · 12 unreadable" in out.getvalue()
    assert "12 of the answers could not be read: " in out.getvalue()
    run = Run.objects.get()
    assert (run.repeats, run.state) == (2, Run.State.FINISHED)
    assert "has labelled everything already" in refusal("judge", study.slug, "rates")
    assert "3/3 rows" in call("judge", study.slug, "rates", "--repeats", "3")


def test_repeats_that_would_all_be_equal(study: Study, judge: Judge) -> None:
    assert "all repeats would be equal" in refusal("judge", study.slug, judge.name, "--repeats", "3")


def test_an_unfinished_run_goes_on_unless_other_repeats_are_asked_for(study: Study, tmp_path: Path) -> None:
    judge = helpers.rating_judge(helpers.save_tiny_model(tmp_path))
    first = actions.start_run(study=study, judge=judge, by=None, repeats=2)
    actions.cancel_run(run=first)
    assert "9/9 rows" in call("judge", study.slug, "rates", "--repeats", "3")
    actions.cancel_run(run=first)
    assert Run.objects.count() == 2


# --- import_folder ----------------------------------------------------------------------------------------------------

PAGE = """<html><head><title>Pancakes</title></head><body><h1>Pancakes</h1>
<h2>Ingredients</h2><ul><li>2 cups flour</li><li>2 eggs</li><li>1 cup {milk}</li></ul>
<h2>Instructions</h2><ol><li>Whisk the eggs with the milk.</li><li>Stir in the flour and fry in a pan.</li></ol>
</body></html>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two dishes of two pages each, one of which is no recipe."""
    for dish in ("pancakes", "chili"):
        (tmp_path / "pages" / dish).mkdir(parents=True)
        (tmp_path / "pages" / dish / "01-a.example.html").write_text(PAGE.format(milk="milk"))
    (tmp_path / "pages" / "chili" / "02-b.example.html").write_text(PAGE.format(milk="buttermilk"))
    (tmp_path / "pages" / "pancakes" / "02-b.example.html").write_text("")
    return tmp_path / "pages"


def test_a_folder_becomes_a_study_with_a_sheet_a_dish(folder: Path) -> None:
    said = call("import_folder", "pages", str(folder))
    study = Study.objects.get(slug="pages")
    assert study.scheme.slug == "recipe-memorization"
    assert sorted(sheet.rows.count() for sheet in study.sheets.all()) == [1, 2]
    assert "3 pages are in, 1 were refused: /studies/pages/" in said
    assert "pancakes/02-b.example.html is empty" in said
    assert {judge.name for judge in Judge.objects.all()} == {"lexical", "embedding", "smollm2-135m"}


def test_called_again_it_takes_what_is_new(folder: Path) -> None:
    call("import_folder", "pages", str(folder))
    (folder / "chili" / "03-c.example.html").write_text(PAGE.format(milk="oat milk"))
    said = call("import_folder", "pages", str(folder))
    assert "1 pages are in, 4 were refused" in said
    assert "has the address of" not in said
    assert "chili/01-a.example.html is the same page as" in said
    assert Document.objects.count() == 4


def test_a_page_that_was_saved_twice_is_named(folder: Path) -> None:
    for name, milk in (("03-c.example", "oat milk"), ("04-c.example", "goat's milk")):
        html = PAGE.format(milk=milk).replace("<head>", '<head><link rel="canonical" href="https://c.example/cakes/">')
        (folder / "chili" / f"{name}.html").write_text(html)
    assert "“c.example (2)” has the address of “c.example”." in call("import_folder", "pages", str(folder))


def test_a_manager_for_a_new_study(folder: Path) -> None:
    builders.user("mara")
    call("import_folder", "pages", str(folder), "--manager", "mara")
    assert Study.objects.get().memberships.filter(user__username="mara", role="manager").exists()
    assert "no user “mora”" in refusal("import_folder", "other", str(folder), "--manager", "mora")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{folder}/nowhere"], "There is no folder"),
        (["{folder}/chili"], "has no folders in it"),
        (["{folder}", "--recipes", "{folder}"], "There is no recipe for “chili”"),
        (
            ["{folder}", "--scheme", "memory"],
            "no scheme “memory”. Shipped: cuisine-transfer-ash, ",
        ),
    ],
)
def test_what_cannot_be_imported_is_said_before_anything_is_written(
    folder: Path, arguments: list[str], said: str
) -> None:
    assert said in refusal("import_folder", "pages", *(argument.format(folder=folder) for argument in arguments))
    assert not Study.objects.exists()


def test_recipes_of_ones_own(folder: Path, tmp_path: Path) -> None:
    for dish in ("pancakes", "chili"):
        (tmp_path / f"{dish}.txt").write_text(
            f"My {dish}\n\nIngredients\nflour\nsugar\n\nSteps\nStir.\n\nTasks\nstir | spoon | flour\n"
        )
    call("import_folder", "pages", str(folder), "--recipes", str(tmp_path))
    assert {sheet.title for sheet in Study.objects.get().sheets.all()} == {"My pancakes", "My chili"}


# --- real pages, real weights -----------------------------------------------------------------------------------------

SHARED = Path(os.environ.get("PALATE_SHARED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "recipe-pages").is_dir(), reason="the folder shared/data/recipe-pages is not here")
def test_real_pages_are_labelled_with_the_real_weights(tmp_path: Path) -> None:
    for dish in ("brownies", "chili", "pancakes"):
        (tmp_path / dish).mkdir()
        copy(min((SHARED / "recipe-pages" / dish).glob("*.html.gz")), tmp_path / dish)
    assert "3 pages are in, 0 were refused" in call("import_folder", "real", str(tmp_path))
    assert "3/3 rows" in call("judge", "real", "lexical")
    assert "3/3 rows" in call("judge", "real", "smollm2-135m")
    model, words = (Run.objects.get(judge__name=name) for name in ("smollm2-135m", "lexical"))
    assert states(model) == states(words) == {"done": 3}
    worker = model.provenance["workers"][0]
    assert worker["mode"] == "tree"
    assert len(worker["weights_sha256"]) == 64
    # Every ingredient of every page has a label of both, with the scores of the three options that are offered.
    ingredients = sum(sheet.columns.filter(section__key="ingredients").count() for sheet in model.study.sheets.all())
    for run in (model, words):
        labels = Label.objects.filter(assignment__rater=run.rater, question__key="presence")
        assert labels.count() == ingredients
    for label in Label.objects.filter(assignment__rater=model.rater, question__key="presence"):
        assert label.scores is not None
        assert set(label.scores["options"]) == {"found", "found-not-perfect", "not-found"}
