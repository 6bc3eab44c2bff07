"""Training data: what there is after each step, and the commands that write files."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.answers.states import graph_of
from annotation.models import Row
from llm.tuning import TuningRefused, examples_from
from recipes.ingredient_states.models import Picture
from recipes.ingredient_states.probing.tasks import Recipe
from recipes.ingredient_states.probing.training import WORDING, WordingRefused, examples
from tests.recipes.test_probing import CHANGES, annotated, omelette

__all__ = ["annotated"]


def test_each_step_is_an_example_with_what_there_is_then() -> None:
    made = list(examples([omelette()]))
    assert [one.step for one in made] == [1, 2, 3, 4]
    assert made[0].answer == "- 1 onion\n- oil\n- beaten mass"
    assert made[3].answer == "- dish"
    assert "Step 4. Serve with step 2 and step 3." in made[0].prompt
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
