"""How far back steps refer, and samples in which all distances are about as frequent."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.models import AuditEvent, Sheet
from recipes.ingredient_states import demo_study
from recipes.ingredient_states.recipe_files import RecipeFile, read_json, to_json
from recipes.ingredient_states.step_distances import Distances, distances_in, flat_sample, total
from tests.recipes.test_ingredient_states import study

__all__ = ["study"]


def a_recipe(n: int, rng: random.Random) -> RecipeFile:
    """Of up to ten steps; two in five refer back, mostly to the step before."""
    steps = ["Boil the water."]
    for step in range(2, rng.randint(3, 11)):
        back = min(1 + int(rng.expovariate(0.9)), step - 1)
        steps.append(f"Add it to what step {step - back} made." if rng.random() < 0.4 else "Stir.")
    return RecipeFile(f"recipe {n}", ("water",), tuple(steps), "en")


RECIPES = [a_recipe(n, random.Random(n)) for n in range(400)]
COUNTS = distances_in([recipe.steps for recipe in RECIPES])
NAMES = [recipe.title for recipe in RECIPES]


def away(places: list[int]) -> float:
    found = total(COUNTS[places]).from_uniform
    assert found is not None
    return found


def test_distances_are_counted_by_recipe() -> None:
    steps = ["Boil.", "Peel.", "Add step 1 to step 2.", "Stir.", "Serve with {{1}} and steps 3 and 4."]
    # Step 3: 2 and 1 back; step 5: 4, 2 and 1 back.
    assert distances_in([steps, ["Eat."]]).tolist() == [[2, 2, 0, 1], [0, 0, 0, 0]]
    assert distances_in([steps], longest=3).tolist() == [[2, 2, 1]]
    assert distances_in([steps], longest=6).tolist() == [[2, 2, 0, 1, 0, 0]]
    assert distances_in([["Eat."]]).shape == (1, 0)


def test_how_far_it_is_from_uniform() -> None:
    assert Distances((5, 5, 5)).from_uniform == 0
    assert Distances((9, 0, 0)).from_uniform == pytest.approx(2 / 3)  # all at one of three: half of 2/3 + 1/3 + 1/3
    assert Distances((6, 3, 3)).from_uniform == pytest.approx(1 / 6)  # half of 1/6 + 1/12 + 1/12
    assert Distances((0, 0)).from_uniform is None


def test_a_sample_is_nearer_to_uniform_than_any_of_a_thousand_random_ones() -> None:
    some = [place for place in range(len(RECIPES)) if COUNTS[place].sum()]
    for size in (20, 60):
        sample = flat_sample(COUNTS, NAMES, size, seed=1)
        assert len(set(sample)) == size
        rng = random.Random(size)
        randoms = [away(rng.sample(some, size)) for _ in range(1000)]
        assert away(sample) < min(randoms)
        assert away(sample) < 0.65 * sum(randoms) / 1000
        assert away(sample) < away(list(range(len(RECIPES))))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 50), st.integers(0, 40), st.integers(0, 20), st.randoms(use_true_random=False))
def test_a_sample_is_its_seed_s_alone(seed: int, size: int, more: int, rng: random.Random) -> None:
    sample = flat_sample(COUNTS, NAMES, size, seed=seed)
    assert flat_sample(COUNTS, NAMES, size + more, seed=seed)[:size] == sample
    order = list(range(len(RECIPES)))
    rng.shuffle(order)
    other = flat_sample(COUNTS[order], [NAMES[place] for place in order], size, seed=seed)
    assert [order[place] for place in other] == sample


def test_seeds_differ_and_recipes_without_a_reference_are_never_taken() -> None:
    samples = {frozenset(flat_sample(COUNTS, NAMES, 30, seed=seed)) for seed in range(5)}
    assert len(samples) == 5
    counts = np.array([[0, 0], [3, 0], [0, 1], [0, 0], [1, 1]])
    # 1 + 1 is uniform; then 0 + 1 is nearer to it (1 of 3 against 2 of 3) than 3 + 0 (4 of 5 against 1 of 5).
    assert flat_sample(counts, list("abcde"), 5, seed=0) == [4, 2, 1]


def test_the_command_tells_the_distribution_and_writes_the_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "all.json").write_text(json.dumps(to_json(RECIPES)), encoding="utf-8")
    for out in ("one.json", "two.json"):
        how = ["--sample", "25", "--seed", "3", "--table", str(tmp_path / "far.csv"), "--out", str(tmp_path / out)]
        call_command("step_distances", str(tmp_path / "all.json"), *how)
    told = capsys.readouterr().out.splitlines()
    sample = flat_sample(COUNTS, NAMES, 25, seed=3)
    assert told[0].startswith(f"all 400: 1 {COUNTS[:, 0].sum()} (")
    assert told[1] == f"  total variation distance from uniform: {away(list(range(400))):.3f}"
    assert told[3] == f"  total variation distance from uniform: {away(sample):.3f}"
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    written = read_json((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert written == [RECIPES[place] for place in sorted(sample)]
    table = (tmp_path / "far.csv").read_text(encoding="utf-8-sig")
    assert f"step-distances,1,all 400: References,{COUNTS[:, 0].sum()}," in table

    pooled = ["--longest", "2", "--sample", "4", "--table", str(tmp_path / "far.tex")]
    call_command("step_distances", str(tmp_path / "all.json"), *pooled)
    assert f"2+ {COUNTS[:, 1:].sum()} (" in capsys.readouterr().out
    assert "sample of 4" in (tmp_path / "far.tex").read_text(encoding="utf-8")

    drawn = ["--sample", "25", "--seed", "3", "--table", str(tmp_path / "far.json"), "--figure"]
    for name in ("far.svg", "again.svg", "far.pdf"):
        call_command("step_distances", str(tmp_path / "all.json"), *drawn, str(tmp_path / name))
    assert (tmp_path / "far.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
    assert "How far back steps refer" in (tmp_path / "far.svg").read_text(encoding="utf-8")
    assert (tmp_path / "far.pdf").read_bytes().startswith(b"%PDF")
    [part] = json.loads((tmp_path / "far.json").read_text(encoding="utf-8"))["parts"]
    assert part["tables"][0]["rows"][0][1] == COUNTS[:, 0].sum()

    with pytest.raises(CommandError, match="cannot be written"):
        call_command("step_distances", str(tmp_path / "all.json"), "--sample", "1", "--out", str(tmp_path / "one.json"))
    with pytest.raises(CommandError, match=r"Only \d+ of the recipes"):
        call_command("step_distances", str(tmp_path / "all.json"), "--sample", "401")
    with pytest.raises(CommandError, match="either files of recipes or a --study"):
        call_command("step_distances")
    with pytest.raises(CommandError, match="No such file"):
        call_command("step_distances", str(tmp_path / "nowhere.json"))
    (tmp_path / "none.json").write_text(json.dumps(to_json([RecipeFile("Tea", ("tea",), ("Boil.",))])))
    with pytest.raises(CommandError, match="should end in .svg or .pdf"):
        call_command("step_distances", str(tmp_path / "none.json"), "--figure", str(tmp_path / "a.png"))
    with pytest.raises(CommandError, match="No step of these recipes"):
        call_command("step_distances", str(tmp_path / "none.json"))


@pytest.mark.usefixtures("study")
def test_of_a_study_and_back_into_one(tmp_path: Path) -> None:
    recipes = demo_study.demo_recipes()
    (tmp_path / "demo.json").write_text(json.dumps(to_json(recipes)), encoding="utf-8")
    call_command("graphs", "states", "--bring", str(tmp_path / "demo.json"))
    of_study, of_file = (
        ["--study", "states", "--out", str(tmp_path / "s")],
        [str(tmp_path / "demo.json"), "--out", str(tmp_path / "f")],
    )
    for how in (of_study, of_file):
        call_command("step_distances", *how, "--sample", "3")
    assert (tmp_path / "s").read_bytes() == (tmp_path / "f").read_bytes()
    assert AuditEvent.objects.get(kind=AuditEvent.Kind.EXPORT).what == "step_distances"
    call_command("graphs", "few", "--new", "Few", "--bring", str(tmp_path / "s"))
    taken = {recipe.title for recipe in read_json((tmp_path / "s").read_text(encoding="utf-8"))}
    assert len(taken) == 3
    assert set(Sheet.objects.filter(study__slug="few").values_list("title", flat=True)) == taken
