"""Tables 7 and 8 by one command: a study is carried in a file, models extract and judge, tables are printed."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import AuditEvent, Label, Row, Study
from judges.extraction import extracting
from judges.models import Run
from llm.engine.prompt import Generated, PromptTooLong
from recipes.cooking.models import Document
from recipes.memorization import carrying, demo_study
from recipes.memorization.management.commands import paper_models
from tests.judges.extractors import Written
from tests.llm import tiny

pytestmark = [pytest.mark.django_db, pytest.mark.once]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The demo's pancakes, as another machine gets them."""
    demo_study.build()
    found = tmp_path / "study.zip"
    call_command("carry_study", "demo", str(found), "--sheets", "Pancakes", stdout=io.StringIO())
    return found


def test_a_study_is_carried_whole(file: Path) -> None:
    demo = Study.objects.get(slug="demo")
    assert AuditEvent.objects.get(kind=AuditEvent.Kind.EXPORT, study=demo).what == "carry_study"
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
    assert plan.tasks.four == plan.tasks.judges
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
        (
            "models: {a: {location: x}}\nextract: [a]\ningredients: [a]\ntasks: {by: a, judges: [a], four: [a]}\n"
            "prompts: extracted",
            "only plain prompts offer all four options of a task",
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


class Lists(Written):
    """Takes one ingredient and two tasks out of every page."""

    def generate(self, prompts: Sequence[str], *args: Any, **kwargs: Any) -> list[Generated | PromptTooLong]:
        found: list[Generated | PromptTooLong] = []
        for prompt in prompts:
            self.answers = [TASKS if "Write the tasks" in prompt else INGREDIENTS]
            found += super().generate([prompt], *args, **kwargs)
        return found


INGREDIENTS = "<ingredients><ingredient>flour</ingredient></ingredients>"
TASKS = "<tasks><task><name>whisk</name><tool>bowl</tool></task><task><name>fry</name></task></tasks>"


def test_four_options_of_a_task_stand_beside_two(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with weights by chance judges by lists that are written down: its answers are real, and say nothing."""
    monkeypatch.setattr(extracting, "backend_of", lambda _extractor: Lists())
    place, plan, tables = tmp_path / "tiny", tmp_path / "plan.yaml", tmp_path / "tables"
    tiny.model("llama", max_position_embeddings=2048).save_pretrained(place)
    tiny.tokenizer().save_pretrained(place)
    plan.write_text(
        f"models: {{tiny: {{location: {place}}}}}\nextract: [tiny]\ningredients: [tiny]\n"
        "tasks: {by: tiny, judges: [tiny], four: [tiny]}\nreads: document\nchat_template: false\n"
    )
    out = io.StringIO()
    call_command("paper_models", str(file), "--plan", str(plan), "--out", str(tables), stdout=out, stderr=out)

    study = Study.objects.get(slug="paper-models")
    two, four = (study.runs.get(judge__prompt__name=f"memorization-plain-{part}") for part in ("tasks", "tasks-four"))
    assert [len(run.judge.prompt_spec.questions["tasks.task"].offer or ()) for run in (two, four)] == [2, 4]
    said = {
        run: {
            (label.assignment.row_id, label.column_id): str(label.option and label.option.key)
            for label in Label.objects.filter(assignment__rater=run.rater, question__key="task").select_related(
                "option", "assignment"
            )
        }
        for run in (two, four)
    }
    people = [
        ((label.assignment.row_id, label.column_id), str(label.option and label.option.key))
        for label in Label.objects.filter(
            assignment__rater__study=study, assignment__rater__kind="person", question__key="task"
        ).select_related("option", "assignment")
    ]
    merged = {"task-found-not-exact-wording": "task-found", "task-found-wrong-context": "task-not-found"}

    def accuracy(run: Run, merge: Mapping[str, str]) -> float:
        """Of the cells of the one sheet the share in which the judge answered as anybody did: the paper's A_m."""
        alike: dict[tuple[int, int], list[bool]] = {}
        for cell, option in people:
            judges = said[run][cell]
            alike.setdefault(cell, []).append(merge.get(judges, judges) == merge.get(option, option))
        return sum(map(any, alike.values())) / len(alike)

    found = {name: table for question, name, table in paper_models.tables(study) if question == "tasks.task"}
    assert list(found) == ["Table 8", "Section 7 four classes", "Section 7 four classes merged"]
    values = {name: [row[2] for row in table.rows] for name, table in found.items()}
    assert values["Table 8"] == [pytest.approx(accuracy(two, merged))]
    assert values["Section 7 four classes"] == [pytest.approx(accuracy(four, {}))]
    assert values["Section 7 four classes merged"] == [pytest.approx(accuracy(four, merged))]
    assert "Section 7 four classes (tasks.task)" in out.getvalue()
    written = sorted(file.name for file in tables.iterdir())
    assert written == ["section-7-four-classes-merged.tex", "section-7-four-classes.tex", "table-7.tex", "table-8.tex"]


@pytest.mark.slow
@pytest.mark.model
def test_both_tables_are_printed_with_the_small_model(file: Path) -> None:
    out = io.StringIO()
    small = str(paper_models.SHIPPED.with_name("paper_models_small.yaml"))
    call_command("paper_models", str(file), "--plan", small, "--longest", "64", stdout=out, stderr=out)
    assert "Table 7 (ingredients.presence)" in out.getvalue()
    assert "smollm2" in out.getvalue()
