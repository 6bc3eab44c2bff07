from __future__ import annotations

from pathlib import Path

from recipes import packs

SCHEME = "cuisine-transfer-ash"


class CuisineTransfer(packs.Pack):
    name = "recipes.cuisine_transfer"

    def register(self) -> None:
        from judges import doors as judge_doors
        from recipes.benchmark import lists

        folder = Path(self.path)
        judge_doors.register_wordings(folder / "prompts" / "generation" / "transfer.yaml", schemes={SCHEME})
        lists.register_list(SCHEME, folder / "instructions.yaml")
