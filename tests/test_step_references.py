"""References of steps to earlier ones, in English and in Japanese."""

from __future__ import annotations

import pytest

from base.step_references import MASK, all_references, masked, references, referred


@pytest.mark.parametrize(
    ("text", "step", "steps"),
    [
        ("Pour the sauce of step 2 over it.", 5, [2]),
        ("Combine Steps 1, 3 and 4.", 5, [1, 3, 4]),
        ("Mix steps 1-3.", 5, [1, 2, 3]),
        ("Repeat steps 2 to 4 twice.", 6, [2, 3, 4]),
        ("Bake for 2 minutes with 3 eggs.", 5, []),
        ("See step 7.", 5, []),
        ("Use {{2}} here.", 3, [2]),
        ("①の鍋に②を加える。", 3, [1, 2]),
        ("3の水気をしぼる。", 4, [3]),
        ("6に4と5を加えて混ぜる。", 7, [4, 5, 6]),
        ("１を器に盛り、手順2のソースをかける。", 3, [1, 2]),
        ("【1】に卵3個と牛乳200mlを加え、5分煮る。", 6, [1]),
        ("4で取り出した肉を戻す。", 8, [4]),
        ("生地を24個に切り分ける。", 30, []),
        ("大さじ2の油を熱する。", 3, []),
        ("2番のたれをかける。", 3, [2]),
    ],
)
def test_referred(text: str, step: int, steps: list[int]) -> None:
    assert referred(text, step) == steps


def test_a_number_is_masked_and_all_else_stays() -> None:
    text = "6に4と5を加える。"
    assert [masked(text, one) for one in references(text, 7)] == [
        f"{MASK}に4と5を加える。",
        f"6に{MASK}と5を加える。",
        f"6に4と{MASK}を加える。",
    ]


def test_all_of_a_recipe() -> None:
    found = all_references(["Boil.", "Add step 1.", "Serve steps 1 and 2."])
    assert [(number, one.step) for number, one in found] == [(2, 1), (3, 1), (3, 2)]
