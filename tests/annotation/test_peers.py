"""What the comparison with other tools counts, and what it configures them with."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from benchmarks.peers import INGREDIENTS, OPTIONS, Effort, Step, labelling_config, write_potato

KEYS = [Step("1"), Step("Ctrl+Enter")]
MIXED = [Step("a", click=True), Step("1"), Step("b", click=True)]


@pytest.mark.parametrize(
    ("steps", "effort", "seconds"),
    [
        (KEYS, Effort(keys=3, clicks=0, ways=0), 3 * 0.2),
        # To the mouse, back to the key, to the mouse, and back where hands began.
        (MIXED, Effort(keys=1, clicks=2, ways=4), 0.2 + 2 * (1.1 + 0.2) + 4 * 0.4),
    ],
    ids=["keys", "keys-and-clicks"],
)
def test_effort_is_that_of_the_keystroke_level_model(steps: list[Step], effort: Effort, seconds: float) -> None:
    assert Effort.of(steps) == effort
    assert effort.seconds() == pytest.approx(seconds)


def test_peers_have_a_key_of_its_own_for_each_option_of_each_ingredient(tmp_path: Path) -> None:
    choices = [choice.attrib for choice in ET.fromstring(labelling_config()).iter("Choice")]
    write_potato(tmp_path)
    config = yaml.safe_load((tmp_path / "config.yaml").read_text(encoding="utf-8"))
    labels = [label for scheme in config["annotation_schemes"] for label in scheme["labels"]]

    assert [choice["value"] for choice in choices] == list(OPTIONS) * len(INGREDIENTS)
    assert len({choice["hotkey"] for choice in choices}) == len(OPTIONS) * len(INGREDIENTS)
    assert [label["name"] for label in labels] == list(OPTIONS) * len(INGREDIENTS)
    assert len({label["key_value"] for label in labels}) == len(OPTIONS) * len(INGREDIENTS)
