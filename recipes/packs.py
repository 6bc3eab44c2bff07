"""What a domain pack is: a folder with an `apps.py`, whose class says what the pack brings.

    recipes/contracts/
      __init__.py
      apps.py        class Contracts(packs.Pack): name = "recipes.contracts"
      schemes/*.yaml      offered where a study is made
      prompts/*.yaml      offered where a judge is made
      urls.py, api_urls.py, models.py, migrations/, management/commands/, templates/   as in any Django app

What else it brings it registers in `register`, at the doors of the floors below: `annotation.doors` (tabs, panels,
kinds of block, derivers, a demo, who finds stored pages), `judges.doors` (parsers, readers of pages, lexicons) and
`reports.doors` (tables and figures of its own).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from django.apps import AppConfig, apps
from django.urls import URLResolver, include, path
from django.utils.module_loading import module_has_submodule

import recipes

HERE = Path(__file__).resolve().parent


def installed(elsewhere: Sequence[Path] = ()) -> list[str]:
    """The apps of all packs: the folders beside this file and in the folders `elsewhere`, each in alphabetical order.

    Raises:
        FileNotFoundError: one of `elsewhere` is no folder.
    """
    found: list[str] = []
    for folder in (HERE, *elsewhere):
        if folder != HERE and str(folder) not in recipes.__path__:
            recipes.__path__.append(str(folder))
        found += [f"recipes.{each.parent.name}" for each in sorted(folder.iterdir()) for each in each.glob("apps.py")]
    return list(dict.fromkeys(found))


class Pack(AppConfig):
    """A domain pack. Its `name` is `recipes.` and its folder."""

    def ready(self) -> None:
        from annotation import doors
        from judges import doors as judge_doors

        for file in sorted(Path(self.path, "schemes").glob("*.yaml")):
            doors.register_scheme(file)
        for file in sorted(Path(self.path, "prompts").glob("*.yaml")):
            judge_doors.register_prompt(file)
        self.register()

    def register(self) -> None:
        """Register what the pack brings beside the files that its folder is searched for."""


def urls(name: str) -> Iterator[URLResolver]:
    """The `urls` or `api_urls` of each pack that has them."""
    for app in apps.get_app_configs():
        if isinstance(app, Pack) and app.module is not None and module_has_submodule(app.module, name):
            yield path("", include(f"{app.name}.{name}"))
