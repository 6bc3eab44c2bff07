"""Questions of every kind, as a scheme file gives them."""

from __future__ import annotations

from typing import Any

from annotation.scheme.spec import QuestionSpec


def question(kind: str, **given: Any) -> QuestionSpec:
    return QuestionSpec.model_validate({"key": "asked", "title": "Asked", "kind": kind, **given})


CHOICE = question(
    "choice",
    options=[
        {"key": "found", "label": "Found"},
        {"key": "not-found", "label": "Not found", "sign": "–"},
        {"key": "no", "label": "Neither"},
    ],
)
SCALE = question("scale", min=-1, max=3)
FLAG = question("flag")
NUMBER = question("number", number={"min": 0, "max": 500, "step": 0.5, "unit": "g"})
ANY_NUMBER = question("number")
TEXT = question(
    "text",
    text={
        "longest": 30,
        "special": ["NA", "no change"],
        "separator": ";",
        "patterns": [
            {"pattern": r"\d", "message": "No numbers.", "level": "warn"},
            {"pattern": "<", "message": "No tags.", "level": "refuse"},
        ],
        "completions": ["salt", "water"],
    },
)
PLAIN_TEXT = question("text")
LONG_TEXT = question("text", text={"lines": True})
ITEMS = question(
    "items", items={"most": 3, "fields": [{"key": "task"}, {"key": "tool"}, {"key": "ingredients", "list": True}]}
)
NAMED = question("items", items={"fewest": 1, "fields": [{"key": "name", "required": True}, {"key": "why"}]})
TRANSITIONS = question("transitions", transitions={"longest": 20, "most": 3})

ALL = {
    "choice": CHOICE,
    "scale": SCALE,
    "flag": FLAG,
    "number": NUMBER,
    "any number": ANY_NUMBER,
    "text": TEXT,
    "plain text": PLAIN_TEXT,
    "long text": LONG_TEXT,
    "items": ITEMS,
    "named items": NAMED,
    "transitions": TRANSITIONS,
}
