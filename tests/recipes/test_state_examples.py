"""Training data: what there is after each step, and the commands that write files."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation import actions as annotating
from annotation.answers.states import graph_of
from annotation.models import AuditEvent, Rater, Row, Study
from judges import actions as judging
from judges.models import Judge
from judges.runs import labelling
from judges.runs.hearing import Overheard
from llm.tuning import TuningRefused, examples_from
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.probing.tasks import Recipe
from recipes.ingredient_states.probing.training import WORDING, WordingRefused, examples
from tests.recipes.test_probing import CHANGES, annotated, derived, omelette, prompt_text

__all__ = ["annotated"]


def test_each_step_is_an_example_with_what_there_is_then() -> None:
    made = list(examples([omelette()]))
    assert [one.step for one in made] == [1, 2, 3, 4]
    assert made[0].answer == "- 1 onion\n- oil\n- beaten mass"
    assert made[3].answer == "- dish"
    assert "\n- Step 4. Serve with step 2 and step 3.\n" in made[0].prompt
    assert "has just finished step 1." in made[0].prompt
    thrown = Recipe(
        "r", "R", "en", ("peel",), ("Throw it away.",), graph_of(["peel"], [[{"from": ["peel"], "to": []}]])
    )
    assert not list(examples([thrown]))


def test_other_words_have_the_same_places() -> None:
    words = "$title|$ingredients|$steps|$step"
    (first, *_rest) = examples([omelette()], wording=words)
    assert first.prompt.startswith("Omelette|- 2 eggs\n")
    with pytest.raises(WordingRefused, match=r"lacks the placeholder \$steps"):
        list(examples([], wording="$title $ingredients $step"))
    with pytest.raises(WordingRefused, match=r"placeholder \$dish"):
        list(examples([], wording=WORDING + "$dish"))


def test_a_dollar_that_is_written_twice_stays_one() -> None:
    (first, *_rest) = examples([omelette()], wording="$$5 ${title}\n$ingredients\n$steps\n$step")
    assert first.prompt.startswith("$5 Omelette\n- 2 eggs\n")
    odd = Recipe("r", "$title: 5 $", "en", ("peel\nAnswer: True",), ("Eat\u2028it.",), graph_of(["peel"], [[]]))
    (only,) = examples([odd])
    assert only.prompt.startswith("A recipe: $title: 5 $\n\nWhat it takes:\n- peel Answer – True\n\n")
    assert "\n- Step 1. Eat it.\n" in only.prompt


def test_a_model_is_trained_on_recipes_as_the_judges_of_the_tasks_are_told_them(annotated: Study) -> None:
    """Letter by letter up to the step that is finished; what is asked then is another question."""
    trained = {one.step: one for one in examples([omelette()])}
    before = {step: re.split(rf"(?<= step {step}\.) Say ", one.prompt)[0] for step, one in trained.items()}
    told = {name: asked(derived(annotated, f"probing-{name}")) for name in ("usage", "tracing", "step-number")}
    assert {name: len(some) for name, some in told.items()} == {
        "usage": 33,
        "tracing": 33,
        "step-number": 36,
    }

    for row, prompt in told["usage"]:
        assert prompt.startswith(f"{before[int(row.facets['step'])]}\nThey look at this ingredient – ")
    for row, prompt in told["tracing"]:
        step = int(row.facets["step"])
        rest = prompt.removeprefix(f"{before[step]} Now there is –\n")
        # And what there is stands as a trained model writes it, but for the letters.
        things = rest[: rest.index("\n\n")].splitlines()
        assert [thing[:5] for thing in things] == [f"- {letter}) " for letter in "abc"[: len(things)]]
        assert sorted(f"- {thing[5:]}" for thing in things) == sorted(trained[step].answer.splitlines())
    for row, prompt in told["step-number"]:
        recipe, _sep, _rest = prompt.replace("[masked]", row.facets["answer"]).partition("\n\nIn one of the steps")
        assert before[1].startswith(f"{recipe}\n\nSomebody cooks by it")


def asked(study: Study) -> list[tuple[Row, str]]:
    """What a judge that writes is asked at each row of a probing study."""
    name = study.scheme.slug
    judge = judging.create_judge(
        name=f"of-{name}",
        method=Judge.Method.WRITING,
        location="nobody/model",
        prompt_text=prompt_text(name),
        chat_template=True,
        temperature=0,
        max_new_tokens=8,
    )
    rater = Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, code=judge.name)
    rows = Row.objects.filter(sheet__study=study).select_related("sheet__study__scheme")
    found = []
    for assignment in annotating.assign(rater=rater, rows=list(rows)):
        heard = Overheard()
        labelling.label_row(judge, assignment, heard)
        found.append((assignment.row, heard.shown[-1]))
    return found


@pytest.mark.usefixtures("annotated")
def test_pictures_go_with_their_recipes(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No recipe of the study has a picture"):
        call_command("state_examples", "states-here", str(tmp_path / "none"), "--part", "all", "--pictures")
    row = Row.objects.filter(sheet__study__slug="states-here").order_by("pk")[0]
    Picture.objects.create(row=row, media_type="image/png", data=b"\x89PNG drawn")
    shown = "data:image/png;base64," + base64.b64encode(b"\x89PNG drawn").decode()
    call_command("state_examples", "states-here", str(tmp_path / "e"), "--part", "all", "--pictures")
    told = [json.loads(line) for line in (tmp_path / "e").read_text(encoding="utf-8").splitlines()]
    assert {one["recipe"] for one in told if isinstance(one["messages"][0]["content"], list)} == {row.sheet.title}
    (asked, answered) = next(one["messages"] for one in told if one["recipe"] == row.sheet.title)
    assert [part["type"] for part in asked["content"]] == ["image_url", "text"]
    assert asked["content"][0]["image_url"]["url"] == shown
    assert answered["content"].startswith("- ")
    plain = next(one["messages"] for one in told if one["recipe"] != row.sheet.title)
    assert isinstance(plain[0]["content"], str)
    with pytest.raises(TuningRefused, match=r"Line 1 is a chat.* reads texts alone"):
        examples_from((tmp_path / "e").read_text(encoding="utf-8").splitlines())
    call_command("probing_tasks", "states-here", str(tmp_path / "t"), "--task", "tracing", "--pictures")
    tasks = [json.loads(line) for line in (tmp_path / "t").read_text(encoding="utf-8").splitlines()]
    assert {one["recipe"] for one in tasks if one.get("picture") == shown} == {row.sheet.title}
    assert any("picture" not in one for one in tasks)


@pytest.mark.usefixtures("annotated")
def test_the_commands_write_the_same_bytes_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for n in (1, 2):
        call_command("state_examples", "states-here", str(tmp_path / f"e{n}"), "--seed", "4")
        call_command("probing_tasks", "states-here", str(tmp_path / f"t{n}"), "--task", "tracing", "--seed", "4")
    assert (tmp_path / "e1").read_bytes() == (tmp_path / "e2").read_bytes()
    assert (tmp_path / "t1").read_bytes() == (tmp_path / "t2").read_bytes()
    noted = AuditEvent.objects.filter(kind=AuditEvent.Kind.EXPORT, study__slug="states-here").order_by("pk")
    assert [event.what for event in noted] == ["examples", "instances"] * 2
    assert "By chance 0." in capsys.readouterr().out
    lines = (tmp_path / "e1").read_text(encoding="utf-8").splitlines()
    assert len(examples_from(lines)) == len(lines)
    recipes = {json.loads(line)["recipe"] for line in lines}
    assert len(recipes) == 7  # 11 are annotated at each step, and 60 in 100 of them are 6.6
    assert len(lines) == len(recipes) * len(CHANGES)
    tested = {json.loads(line)["recipe"] for line in (tmp_path / "t1").read_text(encoding="utf-8").splitlines()}
    assert tested == {f"Omelette {n}" for n in range(11)}
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("state_examples", "states-here", str(tmp_path / "e1"))
    with pytest.raises(CommandError, match="no rater"):
        call_command("state_examples", "states-here", str(tmp_path / "new"), "--rater", "nobody")
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("annotated")
def test_a_published_split_is_taken_by_the_names_of_its_recipes(tmp_path: Path) -> None:
    def recipes_in(command: str, part: str, *how: str) -> set[str]:
        call_command(command, "states-here", str(tmp_path / f"{command}-{part}"), "--part", part, *how)
        lines = (tmp_path / f"{command}-{part}").read_text(encoding="utf-8").splitlines()
        return {json.loads(line)["recipe"] for line in lines}

    names = tmp_path / "names"
    names.write_text("Omelette 3\n\n  Omelette 0  \n", encoding="utf-8")
    split = ("--training", str(names))
    others = {f"Omelette {n}" for n in range(11)} - {"Omelette 0", "Omelette 3"}

    assert recipes_in("state_examples", "training", *split) == {"Omelette 0", "Omelette 3"}
    references = ("--task", "step-reference", *split)
    assert recipes_in("probing_tasks", "test", *references) == others
    # The twelfth is not annotated, and has references all the same.
    assert recipes_in("probing_tasks", "all-but-training", *references) == others | {"Omelette 11"}
    names.write_text("Omelette 12", encoding="utf-8")
    with pytest.raises(CommandError, match="no recipe “Omelette 12”"):
        recipes_in("probing_tasks", "training", *references)
    names.write_text("\n", encoding="utf-8")
    with pytest.raises(CommandError, match="names no recipes"):
        recipes_in("probing_tasks", "training", *references)
