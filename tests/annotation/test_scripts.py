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

    text = joined(start)["page"]

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

    assert [line for line in joined(start)["page"].splitlines() if line and not line.startswith("//")] == [
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

    assert joined(written(tmp_path, {"start.js": module}))["page"].split("\n", 1)[1] == (
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
    own, _, given = text.partition("\nexport { ")

    assert not re.search(r"^(?:import|export)\b", own, re.M)
    assert bool(given) == (len(scripts.bundles(page)) > 1)
    assert text.rindex("// --- ") == text.index(f"// --- {scripts.PAGES[page]} ---")  # what starts it comes last


def test_what_is_imported_while_a_page_runs_is_a_part_of_its_own(tmp_path: Path) -> None:
    start = written(
        tmp_path,
        {
            "start.js": 'import { count } from "./count.js";\n\ncount([]);\n'
            'console.log(await import("./later.js"));\n/** @type {import("./count.js").Count} */\n'
            'await import("./others.js");\n',
            "count.js": f"{COUNT}export const twice = (n) => 2 * n;\n",
            "both.js": "export const both = 2;\n",
            "alone.js": 'import { twice } from "./count.js";\n\nexport const alone = twice(1);\n',
            "later.js": 'import { alone } from "./alone.js";\nimport { both } from "./both.js";\n\n'
            "export const more = both + alone;\n",
            "others.js": 'import { both } from "./both.js";\n\nexport const other = both;\n',
        },
    )

    texts = joined(start, "grid")

    assert set(texts) == {"grid", "grid-later", "grid-others"}
    modules = {name: re.findall(r"^// --- .*/(\S+) ---$", text, re.M) for name, text in texts.items()}
    assert modules == {
        "grid": ["count.js", "start.js", "both.js"],
        "grid-later": ["alone.js", "later.js"],
        "grid-others": ["others.js"],
    }
    assert texts["grid"].endswith("export { both, twice };\n")
    assert re.match(r'import \{ both, twice \} from "\./grid-[\w-]+\.js";\n', texts["grid-later"])
    assert re.search(r'await import\("\./grid-later-[\w-]+\.js"\)', texts["grid"])
    assert texts["grid-later"].endswith("export { more };\n")
    assert "import(" not in texts["grid"].replace('import("./grid-', "")


def test_a_part_is_needed_by_nobody_else(tmp_path: Path) -> None:
    modules = {"start.js": 'import { n } from "./n.js";\n\nawait import("./n.js");\n', "n.js": "export const n = 1;\n"}

    with pytest.raises(CannotJoin, match=r"n\.js is a part of the page and needed by another one"):
        joined(written(tmp_path, modules))


def test_the_parts_of_a_page_find_each_other_by_one_digest() -> None:
    page, later = scripts.bundle("grid"), scripts.part("grid-later")

    assert later is not None
    assert f'import("./grid-later-{page.digest}.js")' in page.text.decode()
    assert f'from "./grid-{page.digest}.js"' in later.text.decode()
    assert later.digest == page.digest
    # Asked for by a page of an older version they name each other as it does, and none is loaded twice.
    assert 'from "./grid-older.js"' in later.asked_as("older").text.decode()
    assert scripts.part("grid-none") is None
    assert scripts.part("none") is None


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
