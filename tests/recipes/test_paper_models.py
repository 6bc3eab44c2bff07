"""Tables 7 and 8 by one command: a study is carried in a file, models extract and judge, tables are printed."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Label, Row, Study
from recipes.cooking.models import Document
from recipes.memorization import carrying, demo_study
from recipes.memorization.management.commands import paper_models

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The demo's pancakes, as another machine gets them."""
    demo_study.build()
    found = tmp_path / "study.zip"
    call_command("carry_study", "demo", str(found), "--sheets", "Pancakes", stdout=io.StringIO())
    return found


def test_a_study_is_carried_whole(file: Path) -> None:
    demo = Study.objects.get(slug="demo")
    made = carrying.unpacked(file, slug="carried")

    def rows(study: Study) -> list[tuple[object, ...]]:
        of_sheet = Row.objects.filter(sheet__study=study, sheet__title="Pancakes").order_by("position")
        return list(of_sheet.values_list("name", "evidence", "facets", "document__sha256"))

    assert rows(made) == rows(demo)
    assert Document.objects.filter(row__sheet__study=made).count() == 6

    def said(study: Study) -> set[tuple[object, ...]]:
        labels = Label.objects.filter(assignment__rater__study=study, assignment__row__sheet__title="Pancakes")
        cell = ("assignment__rater__code", "assignment__row__name", "column__name", "question__key", "option__key")
        return set(labels.values_list(*cell))

    assert said(made) == said(demo) != set()
    assert carrying.carried(made) == carrying.carried(made)  # bears no time


def test_the_shipped_plans_are_the_papers_and_a_small_one() -> None:
    plan = paper_models._plan(paper_models.SHIPPED)
    assert (len(plan.ingredients), len(plan.extract), len(plan.tasks.judges)) == (5, 3, 4)  # 15 cells, and 4
    assert plan.tasks.by == "llama-3.1-8b"
    assert (plan.reads, plan.prompts) == ("html", "plain")
    small = paper_models._plan(paper_models.SHIPPED.with_name("paper_models_small.yaml"))
    assert small.used == {"smollm2-135m"}


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ("models: {}\nextract: [a]\ningredients: []\ntasks: {by: a, judges: []}", "“a” is not among its models"),
        ("models: {}\nextract: []", "tasks"),
        (
            "models: {a: {location: x, colour: red}}\nextract: [a]\ningredients: [a]\ntasks: {by: a, judges: [a]}",
            "colour",
        ),
    ],
)
def test_a_plan_that_cannot_work_is_refused(tmp_path: Path, plan: str, sentence: str) -> None:
    (tmp_path / "plan.yaml").write_text(plan, encoding="utf-8")
    with pytest.raises(CommandError, match=sentence):
        call_command("paper_models", str(tmp_path / "none.zip"), "--plan", str(tmp_path / "plan.yaml"))


def test_what_is_no_study_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no zip")
    small = str(paper_models.SHIPPED.with_name("paper_models_small.yaml"))
    with pytest.raises(CommandError, match="no study that was carried"):
        call_command("paper_models", str(tmp_path / "x.zip"), "--plan", small)
    assert not Study.objects.exists()


@pytest.mark.slow
@pytest.mark.model
def test_both_tables_are_printed_with_the_small_model(file: Path) -> None:
    out = io.StringIO()
    small = str(paper_models.SHIPPED.with_name("paper_models_small.yaml"))
    call_command("paper_models", str(file), "--plan", small, "--longest", "64", stdout=out, stderr=out)
    assert "Table 7 (ingredients.presence)" in out.getvalue()
    assert "smollm2" in out.getvalue()
