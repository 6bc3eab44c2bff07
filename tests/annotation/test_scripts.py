"""Modules of scripts, joined into one text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from annotation import scripts
from annotation.scripts import CannotJoin, joined

COUNT = "export const count = (cells) => cells.length;\n"
START = 'import { count } from "./count.js";\n\nconsole.log(count([]));\n'


def written(folder: Path, modules: Mapping[str, str]) -> Path:
    """The folder's `start.js`, beside what else there is."""
    for name, text in modules.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "start.js"


def test_a_module_stands_after_those_that_it_needs_and_each_once(tmp_path: Path) -> None:
    start = written(
        tmp_path,
        {
            "start.js": 'import { Line } from "./grid/line.js";\nimport { count } from "./core/count.js";\n\n'
            "new Line(count);\n",
            "grid/line.js": 'import { count } from "../core/count.js";\n\nexport class Line {\n  n = count([]);\n}\n',
            "core/count.js": COUNT,
        },
    )

    text = joined(start)

    assert [line for line in text.splitlines() if line and not line.startswith("//")] == [
        "const count = (cells) => cells.length;",
        "class Line {",
        "  n = count([]);",
        "}",
        "new Line(count);",
    ]


def test_imports_of_several_lines_and_functions_that_wait(tmp_path: Path) -> None:
    start = written(
        tmp_path,
        {
            "start.js": 'import {\n  ask,\n  LONGEST,\n} from "./asking.js";\n\nask(LONGEST);\n',
            "asking.js": "export const LONGEST = 9;\n\nexport async function ask() {\n  await import('node:fs');\n}\n",
        },
    )

    assert [line for line in joined(start).splitlines() if line and not line.startswith("//")] == [
        "const LONGEST = 9;",
        "async function ask() {",
        "  await import('node:fs');",
        "}",
        "ask(LONGEST);",
    ]


def test_comments_on_lines_of_their_own_stay_behind_and_nothing_else(tmp_path: Path) -> None:
    module = """\
// What it is for.

/** @typedef {{n: number}} Count */
/**
 * @param {Count} count
 * @returns {string}
 */
const told = (count) =>
  // In English.
  `${/** @type {any} */ (count).n} of // all /** of them */`; // at the end
const address = "https://example.org/";
"""

    assert joined(written(tmp_path, {"start.js": module})).split("\n", 1)[1] == (
        "\nconst told = (count) =>\n"
        "  `${/** @type {any} */ (count).n} of // all /** of them */`; // at the end\n"
        'const address = "https://example.org/";\n'
    )


@pytest.mark.parametrize(
    ("modules", "why"),
    [
        ({"start.js": START}, "imports ./count.js, which is not there"),
        ({"start.js": START, "count.js": "const count = 1;\n"}, "imports count, which count.js does not export"),
        ({"start.js": START, "count.js": START.replace("count.js", "start.js")}, "start.js needs itself"),
        ({"start.js": f"const count = 1;\n{START}", "count.js": COUNT}, "both declare count"),
        ({"start.js": START.replace("count }", "count as n }"), "count.js": COUNT}, "imports count as n, which"),
        ({"start.js": 'import count from "./count.js";\n', "count.js": COUNT}, "cannot be joined: import count"),
        ({"start.js": 'import "./count.js";\n', "count.js": COUNT}, 'cannot be joined: import "./count.js"'),
        ({"start.js": START.replace("./count.js", "count"), "count.js": COUNT}, "cannot be joined: import"),
        ({"start.js": START, "count.js": f"{COUNT}export default count;\n"}, "cannot be joined: export default"),
        ({"start.js": START, "count.js": f"{COUNT}export {{ count as n }};\n"}, "cannot be joined: export {"),
        ({"start.js": START, "count.js": f"{COUNT}const {{ a }} = count;\n"}, "cannot be joined: const {"),
    ],
    ids=[
        "missing",
        "not exported",
        "cycle",
        "twice",
        "renamed",
        "default import",
        "import alone",
        "bare",
        "default",
        "list",
        "taken apart",
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path: Path, modules: Mapping[str, str], why: str) -> None:
    with pytest.raises(CannotJoin) as refused:
        joined(written(tmp_path, modules))

    assert why in str(refused.value)


@pytest.mark.parametrize("page", scripts.PAGES)
def test_every_page_has_its_scripts(page: str) -> None:
    text = scripts.bundle(page).text.decode()

    assert not re.search(r"^(?:import|export)\b", text, re.M)
    assert text.rindex("// --- ") == text.index(f"// --- {scripts.PAGES[page]} ---")  # what starts it comes last


FOLDERS = [
    "core",
    "page",
    "sheet",
    "grid",
    "lens",
]  # each may import from those before it, but the lens not from the grid
ROOT = Path(__file__).parent.parent.parent / "static" / "palate"
MODULES = sorted(ROOT.glob("*/*.js"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_folders_import_downwards_only(module: Path) -> None:
    here = module.parent.name
    allowed = {*FOLDERS[: FOLDERS.index(here) + 1]} - ({"grid"} if here == "lens" else set())
    text = module.read_text(encoding="utf-8")

    addresses = re.findall(r'(?:from |import\()"(\.{1,2}/[^"]+)"', text)  # types too
    assert {(module.parent / address).resolve().parent.name for address in addresses} <= allowed
    if here == "core":  # it runs in Node
        code = re.sub(r"^ *(?://|/?\*).*", "", text, flags=re.M)
        assert not re.search(r"\b(?:document|window|localStorage|navigator)\b", code)
