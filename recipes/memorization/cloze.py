"""The prompt of a cloze judge where nobody chooses one."""

from __future__ import annotations

from pathlib import Path

from judges.methods import prompting
from llm import encoders

PROMPTS = Path(__file__).resolve().parent / "prompts"
# The first gives ingredients the lines nearest to them in meaning, which is both righter and harder to steer, and wants
# an encoder; the second reads the whole page in each cell.
BEST, WITHOUT_ENCODER = "memorization-lines", "memorization-cloze"


def prompt_name() -> str:
    """Of this pack's prompts the best that works on this machine."""
    spec = prompting.load_prompt((PROMPTS / f"{BEST}.yaml").read_text(encoding="utf-8"))
    return BEST if encoders.encoder(spec.nearest.encoder).is_here() else WITHOUT_ENCODER
