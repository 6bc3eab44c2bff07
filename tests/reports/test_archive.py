"""The ZIP and the labels in other programs' forms, opened as people open them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest
import yaml
from django.core.management import call_command
from pytest_django import Settings

from annotation import actions as annotating
from annotation.exchange.label_imports import LabelImport, import_labels
from annotation.exchange.rows_and_columns import import_rows
from annotation.exchange.tables import open_table, unsafe_cell
from annotation.models import Delivery, Label, LabelEvent, Rater, Row, Study
from annotation.models import Label as LabelModel
from annotation.queries import wordings
from annotation.scheme.spec import load_scheme
from reports import actions, queries
from reports.data.arrays import Filters
from reports.data.label_table import unpacked
from reports.exports import making
from reports.exports.latex import escaped, latex
from reports.figures import svg
from reports.figures.base import Figure, digest_of
from reports.models import Export
from reports.tables import Head, ReportTable
from reports.templatetags.reports import shown
from tests import builders
from tests.annotation.receiving import made_hook
from tests.databases import made_once
from tests.reports import studies
from tests.reports.studies import answered, gold, judge, rater, sheet

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.once,
]  # the ZIP is made of arrays; what reads them runs on both databases


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    settings.PALATE_EXPORTS = tmp_path / "exports"


@pytest.fixture(scope="module")
def drawings() -> dict[tuple[str, ...], dict[svg.Form, bytes]]:
    return {}


@pytest.fixture(autouse=True)
def _equal_figures_are_drawn_once(
    drawings: dict[tuple[str, ...], dict[svg.Form, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most of what a ZIP takes, and of little interest to most of these tests."""
    draw = svg.drawn

    def drawn(figure: Figure, forms: Sequence[svg.Form], theme: svg.Theme = "light") -> dict[svg.Form, bytes]:
        key = (digest_of(figure), *forms, theme)
        if key not in drawings:
            drawings[key] = draw(figure, forms, theme)
        return drawings[key]

    monkeypatch.setattr(svg, "drawn", drawn)


@made_once
def study() -> Study:
    """Two people, a judge with scores, a gold; names that are hard for each of the forms."""
    study = studies.study()
    soup = sheet(study, "Soup & <salt> 100 %", items=4, rows=2)
    answered(rater(study, "A1"), soup, ["fnai", "ffaa"])
    answered(rater(study, "A_2", simulated=True), soup, ["fnaa", "fn.a"])
    answered(judge(study), soup, ["fffa", None])
    answered(gold(study), soup, ["fnai", None])
    Label.objects.filter(assignment__rater__code="A1", option__key="near").update(note='Said "nearly",\nnot quite')
    scores = {
        key: {"logprob": -n - 0.25, "n_tokens": 2, "n_characters": 5, "unconditional": None}
        for n, key in enumerate(("found", "near", "absent"))
    }
    stored = {"options": scores, "normalisation": "none", "margin_nats": 1.0}
    Label.objects.filter(assignment__rater__code="J1").update(scores=stored)
    return study


def export(study: Study, form: str = "zip", **of: object) -> Path:
    asked = actions.ask_for_export(study=study, form=form, filters=Filters(), by=None, **of)  # type: ignore[arg-type]
    actions.make_export(export_id=asked.pk)
    asked.refresh_from_db()
    assert asked.state == Export.State.FINISHED, asked.error
    return making.path_of(asked)


@pytest.fixture
def archive(study: Study) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(export(study)) as archive:
        yield archive


def standing(study: Study) -> set[tuple[str, ...]]:
    """The labels of a study by names, and who gave them."""
    labels = LabelModel.objects.filter(assignment__rater__study=study)
    return set(
        labels.values_list(
            "assignment__row__sheet__title",
            "assignment__row__name",
            "assignment__rater__code",
            "assignment__rater__kind",
            "assignment__rater__simulated",
            "column__name",
            "question__key",
            "option__key",
            "note",
        )
    )


# --- the ZIP ---


def test_the_zip_says_what_is_in_it(archive: zipfile.ZipFile) -> None:
    names = archive.namelist()
    readme = archive.read("README.md").decode()

    assert {"README.md", "report.json", "report.csv", "report.xlsx", "tables/all.tex", "label-table.json"} <= set(names)
    assert {f"labels/{name}" for name in ("labels.csv", "labels.parquet", "labels.jsonl", "README.md")} <= set(names)
    assert "not frozen" in readme
    for table in json.loads(archive.read("report.json"))["parts"][0]["tables"]:
        assert table["how"] in readme
    figures = [name for name in names if name.startswith("figures/")]
    assert len(figures) % 3 == 0
    assert archive.testzip() is None


def test_the_readme_of_a_frozen_report_says_how_to_cite_it(study: Study) -> None:
    report = actions.freeze(study=study, title="For the paper", filters=Filters(), by=None)
    with zipfile.ZipFile(export(study, report=report)) as archive:
        readme = archive.read("README.md").decode()

    assert f"“For the paper”, frozen report {report.pk} of the study" in readme
    assert report.data_digest in readme
    assert f"recompute_report {report.pk}" in readme


def test_equal_reports_give_equal_bytes(study: Study, drawings: dict[tuple[str, ...], dict[svg.Form, bytes]]) -> None:
    drawings.clear()
    first = export(study).read_bytes()
    drawings.clear()
    assert export(study).read_bytes() == first


def test_webhooks_are_told_of_a_report_once(study: Study) -> None:
    made_hook(study, "https://hooks.example", by=None)
    by = builders.user("freezer")
    reports = {actions.freeze(study=study, title="Then", filters=Filters(), by=by).pk for _twice in range(2)}
    [one] = Delivery.objects.all()
    assert (one.event, {one.body["data"]["report"]}) == ("report.frozen", reports)
    assert one.body["url"].endswith(f"/api/v1/studies/{study.slug}/reports/{one.body['data']['report']}/")


def test_a_frozen_report_is_downloaded_as_it_was(study: Study) -> None:
    report = actions.freeze(study=study, title="Then", filters=Filters(), by=None)
    before = export(study, report=report).read_bytes()
    Rater.objects.filter(code="A1").delete()

    assert export(study, report=report).read_bytes() == before


def test_labels_are_the_same_in_all_forms(archive: zipfile.ZipFile) -> None:
    of_csv = list(csv.DictReader(io.StringIO(archive.read("labels/labels.csv").decode("utf-8-sig"), newline="")))
    of_parquet = pq.read_table(io.BytesIO(archive.read("labels/labels.parquet"))).to_pylist()
    of_jsonl = [json.loads(line) for line in archive.read("labels/labels.jsonl").decode().splitlines()]
    book = openpyxl.load_workbook(io.BytesIO(archive.read("report.xlsx")))

    assert len(of_csv) == len(of_parquet) == len(of_jsonl) == book["Labels"].max_row - 1 == 23
    for names in ("sheet", "row", "rater", "question", "answer", "note"):
        assert [a[names] for a in of_csv] == [b[names] for b in of_parquet] == [c[names] for c in of_jsonl]
    judged = [line for line in of_parquet if line["rater"] == "J1"]
    assert dict(judged[0]["scores"]) == {"found": -0.25, "near": -1.25, "absent": -2.25}
    assert {tuple(line) for line in of_jsonl} == {tuple(of_jsonl[0])}


def test_the_codebook_explains_every_column_and_answer(archive: zipfile.ZipFile) -> None:
    book = list(csv.DictReader(io.StringIO(archive.read("labels/codebook.csv").decode())))
    columns = pq.read_schema(io.BytesIO(archive.read("labels/labels.parquet"))).names

    assert {*columns, "skipped"} == {line["column"] for line in book}
    assert "items.presence.near" in {line["value"] for line in book}
    assert all(line["meaning"] for line in book)


def test_the_codebook_says_what_a_reader_needs_to_compute_agreement_again(archive: zipfile.ZipFile) -> None:
    """The order of the options, which of them do not count, and which count as another one."""
    book = {
        line["value"]: line["meaning"]
        for line in csv.DictReader(io.StringIO(archive.read("labels/codebook.csv").decode()))
    }

    assert book["items.presence"] == "Presence: one of its options, which stand in no order"
    assert book["tasks.level"] == "Level: a number of a scale, each an option"
    assert "agreement leaves it out" in book["tasks.tool.none"]
    assert "counts as absent where judges are held against people" in book["items.presence.implied"]


def test_the_readme_defines_the_figures_of_the_tables_and_no_others(archive: zipfile.ZipFile) -> None:
    """The tables say what they count; formula and source stood on a page of the platform alone."""
    readme = archive.read("README.md").decode()

    assert "    AC1 = (p_o − p_e) / (1 − p_e)" in readme
    assert "Source: Krippendorff (2011)" in readme
    assert "Toyooka" not in readme


def test_the_dataset_card_names_those_who_labelled() -> None:
    study = studies.study()
    soup = sheet(study, items=2)
    answered(rater(study, "A1", simulated=True), soup, ["fn"])
    judge(study, "idle")
    with zipfile.ZipFile(export(study)) as archive:
        card = archive.read("labels/README.md").decode()

    assert "2 labels by 1 person, in 1 recipe with 1 document." in card
    assert yaml.safe_load(card.split("---")[1])["annotations_creators"] == ["machine-generated"]


def test_the_dataset_card_opens_at_the_hub(archive: zipfile.ZipFile) -> None:
    card = archive.read("labels/README.md").decode()
    front = yaml.safe_load(card.split("---")[1])

    assert front["configs"] == [{"config_name": "default", "data_files": "labels.jsonl"}]
    assert front["size_categories"] == ["n<1K"]
    table = unpacked(zlib.compress(archive.read("label-table.json")))
    by_kind = Counter(table.raters[table.assignments.rater[place]].kind for place in table.labels[:, 0])
    labelled = {table.raters[table.assignments.rater[place]].code for place in table.labels[:, 0]}
    rows = {table.assignments.row[place] for place in table.labels[:, 0]}
    n_people = sum(rater.kind == "person" and rater.code in labelled for rater in table.raters)
    assert f"{len(table.labels):,} labels by {n_people} people" in card
    assert f" with {len(rows)} " in card
    assert (f" {by_kind['gold']} of them are gold." in card) == (by_kind["gold"] > 1)
    assert "A_2" in card.split("Simulated")[1]


def test_gold_that_was_decided_in_the_lens_is_exposed_in_labels_and_changes_no_number(study: Study) -> None:
    label = LabelModel.objects.filter(assignment__rater__kind="gold").select_related("assignment__row").first()
    assert label is not None
    cell = {"row": label.assignment.row, "column": label.column, "question": label.question}
    annotating.adjudicate(**cell, option=label.option, reason="So it says.", by=builders.user("mara"))

    with zipfile.ZipFile(export(study)) as archive:
        lines = [json.loads(line) for line in archive.read("labels/labels.jsonl").splitlines()]
        table = unpacked(zlib.compress(archive.read("label-table.json")))

    of_gold = [line["exposed"] for line in lines if line["rater_kind"] == "gold"]
    assert (sum(of_gold), sum(line["exposed"] for line in lines)) == (1, 1)
    assert len(of_gold) > 1
    assert not table.labels[:, 5].any()


def test_the_dataset_card_has_the_licence_of_the_study(study: Study) -> None:
    def card() -> str:
        with zipfile.ZipFile(export(study)) as archive:
            return archive.read("labels/README.md").decode()

    before = card()
    annotating.change_study(study=study, licence="CC-BY-4.0")
    after = card()

    assert [yaml.safe_load(said.split("---")[1])["license"] for said in (before, after)] == ["unknown", "cc-by-4.0"]
    assert ["Set the licence above" in said for said in (before, after)] == [True, False]


def test_downloads_name_the_contact_where_the_study_says_so(study: Study) -> None:
    def named() -> list[bool]:
        with zipfile.ZipFile(export(study)) as archive:
            texts = [archive.read(name).decode() for name in ("README.md", "labels/README.md")]
            others = [name for name in archive.namelist() if not name.endswith("README.md")]
            assert not any(b"study@example.org" in archive.read(name) for name in others)
        return ["Anna Novak, study@example.org" in text for text in texts]

    annotating.change_study(study=study, contact="Anna Novak", contact_address="study@example.org")
    assert named() == [False, False]
    annotating.change_study(study=study, publishes_contact=True)
    assert named() == [True, True]
    annotating.change_study(study=study, contact="", contact_address="")
    assert named() == [False, False]


def test_a_download_of_before_the_contact_was_changed_is_not_given_again(study: Study) -> None:
    by = builders.user("asks")
    annotating.change_study(study=study, contact="Anna Novak", publishes_contact=True)
    first = actions.ask_for_export(study=study, form="zip", filters=Filters(), by=by)
    assert actions.ask_for_export(study=study, form="zip", filters=Filters(), by=by) == first
    annotating.change_study(study=study, contact="Study office")
    assert actions.ask_for_export(study=study, form="zip", filters=Filters(), by=by) != first


def test_the_texts_go_along_where_the_study_says_so(study: Study) -> None:
    for publishes in (False, True):
        annotating.change_study(study=study, publishes_texts=publishes)
        with zipfile.ZipFile(export(study)) as archive:
            card = archive.read("labels/README.md").decode()
            names = archive.namelist()
            lines = archive.read("labels/texts.jsonl").decode().splitlines() if publishes else []
        configs = [one["config_name"] for one in yaml.safe_load(card.split("---")[1])["configs"]]
        assert configs == (["default", "texts"] if publishes else ["default"])
        assert ("labels/texts.jsonl" in names) == publishes
        assert ("are not in here" in card) == (not publishes)
    told = {(one["sheet"], one["row"]): one for one in map(json.loads, lines)}
    assert len(told) == len(lines) == Row.objects.filter(sheet__study=study).count()
    for row in Row.objects.filter(sheet__study=study).select_related("sheet"):
        one = told[row.sheet.title, row.name]
        assert one["text"] == "\n".join(block.text for block in row.blocks)
        assert one["blocks"] == [{"kind": block.kind, "text": block.text} for block in row.blocks]
        assert row.blocks


def test_the_dataset_card_tells_that_the_wording_was_changed(study: Study) -> None:
    """With how many labels are from before; that of a report that was frozen before it does not."""
    frozen = actions.freeze(study=study, title="Before", filters=Filters(), by=None)
    source = study.scheme.source
    text = re.sub(r"version: \d+", "version: 90", source, count=1).replace("title: ", "title: Rather ", 1)
    text += "guideline: |\n" + "".join(f"  Line {n} of many.\n" for n in range(1000))
    by = builders.user("root", superuser=True)
    annotating.reword_scheme(study=study, spec=load_scheme(text), source=text, reason="Plainer.", by=by)
    cards = []
    for of in ({}, {"report": frozen}):
        with zipfile.ZipFile(export(study, **of)) as archive:
            cards.append(archive.read("labels/README.md").decode())

    now, before = wordings(Study.objects.select_related("scheme").get(pk=study.pk))
    assert before.n_people > now.n_people == 0
    assert f"{before.n_people} by people and {before.n_judges} by judges are from then" in cards[0]
    assert "Plainer." in cards[0]
    [guideline] = [line for line in cards[0].splitlines() if line.startswith("- `guideline`")]
    assert "Line 0 of many. Line 1" in guideline
    assert len(guideline) < 1000
    assert "The wording was changed" not in cards[1]


def test_raters_whose_names_are_files_of_one_name_have_two(study: Study) -> None:
    """One of the two was lost to who unpacked it."""
    Rater.objects.filter(code="J1").update(code="google/gemma")
    answered(judge(study, "google gemma"), study.sheets.get(), ["ffaa", None])
    with zipfile.ZipFile(export(study)) as archive:
        names = archive.namelist()
        of_both = [archive.read(name).decode() for name in names if re.search("confusion.google-gemma(-2)?.tex", name)]

    assert len({name.lower() for name in names}) == len(names)
    assert sorted(re.findall("google.gemma", made)[0] for made in of_both) == ["google gemma", "google/gemma"]


# --- LaTeX ---


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("50 % & more_ #1 {x} $", r"50 \% \& more\_ \#1 \{x\} \$"),
        ("a\\b ~ ^", r"a\textbackslash{}b \textasciitilde{} \textasciicircum{}"),
        ("Cohen's κ ≥ 0.6", r"Cohen's $\kappa$ $\geq$ 0.6"),
        ("“crème brûlée” – 漢", "``crème brûlée'' -- ?"),
    ],
)
def test_latex_is_made_harmless(text: str, said: str) -> None:
    assert escaped(text) == said


def test_spaces_without_end_are_written_in_passing() -> None:
    """Eleven minutes for these, when they were looked through again from each of them."""
    began = time.process_time()
    assert escaped(f"a{' ' * 300_000}b  \n c") == f"a{' ' * 300_000}b c"
    assert time.process_time() - began < 5


@pytest.mark.parametrize("key", ["p", "p_value", "p_bootstrap", "p_randomisation", "first_better", "usage.better"])
def test_no_p_value_is_nothing(key: str) -> None:
    head = Head(key, "p", "number")
    assert [shown(value, head, "") for value in (0.0, 1 / 2001, 0.001)] == ["< 0.001", "< 0.001", "0.001"]
    assert shown(0.0, Head("pearson", "r", "number"), "") == "0.000"
    assert "$<$ 0.001" in latex(ReportTable(key="t", about="", title="T", heads=(head,), rows=((0.0,),), how="H"))


def test_a_table_in_latex() -> None:
    heads = (Head("a", "A_1"), Head("b", "B", "share", "G"), Head("c", "C", "number", "G"))
    rows = (("whole", 0.5, -0.25), ("    part", None, 1.0))
    made = latex(ReportTable(key="t.x_y", about="", title="T", heads=heads, rows=rows, how="H"))

    assert r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{G} \\" in made
    assert r"\cmidrule(lr){2-3}" in made
    assert "whole & 50.00\\,\\% & $-$0.250 \\\\\n\\quad part & -- & 1.000 \\\\" in made
    assert r"\label{tab:t.x-y}" in made
    assert [made.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]


@pytest.mark.parametrize("name", ["[3cm] of rope", "*salt"])
def test_a_name_that_begins_a_line_is_no_option_of_the_line_before(name: str) -> None:
    """LaTeX would take `[3cm]` for a length of the line that ends before it, and `*` for a star of it."""
    heads = (Head("a", "[A]"), Head("b", "B"))
    made = latex(ReportTable(key="t", about="", title="T", heads=heads, rows=(("x", "y"), (name, "z")), how="H"))

    assert "\\toprule\n{}[A] & B" in made
    assert f"x & y \\\\\n{{}}{name} & z" in made


def test_a_text_of_several_lines_stays_in_its_cell() -> None:
    """A blank line ends a paragraph, and the command in which it stands."""
    heads = (Head("a", "A"), Head("b", "B"))
    made = latex(ReportTable(key="t", about="", title="T\n\nU", heads=heads, rows=(("x\n\n y", "z"),), how="H"))

    assert r"\caption{T U. H}" in made
    assert "\nx y & z" in made


def texts_and_counts(n_rows: int) -> ReportTable:
    """Never-found items of long names and seven options: three times as wide as a page."""
    options = [Head(f"option{number}", "Found (Not Exact Wording)", "count", "Answers") for number in range(7)]
    item = "Prepare · cutting board · vegetable oil, sesame oil, soy sauce, green onions"
    return ReportTable(
        key="t", about="", title="Never found", how="H",
        heads=(Head("recipe", "Recipe"), Head("item", "Task"), *options, Head("because", "Because", "note")),
        rows=tuple(("orange chicken", item, *range(7), "") for _ in range(n_rows)),
    )  # fmt: skip


@pytest.mark.parametrize("n_rows", [3, 100])
def test_texts_of_a_table_wider_than_the_page_break_into_lines(n_rows: int) -> None:
    """A long table ran 20 cm over the edge, its numbers with it; a short one was set in letters of 4 pt."""
    made = latex(texts_and_counts(n_rows))

    widths = [float(share) for share in re.findall(r"p\{\\dimexpr([0-9.]+)\\linewidth-2\\tabcolsep\}", made)]
    assert len(widths) == 9
    assert 0.9 < sum(widths) <= 1
    assert widths[1] == max(widths)


def test_a_table_becomes_long_by_lines_of_text() -> None:
    assert latex(texts_and_counts(10)).startswith(r"\begin{table}")
    assert r"\begin{longtable}" in latex(texts_and_counts(30))


def test_a_long_table_has_its_caption_once() -> None:
    heads = (Head("a", "A"), Head("b", "B", "count"))
    made = latex(ReportTable(key="t", about="", title="T", heads=heads, rows=(("x", 1),) * 60, how="H"))
    first, _, rest = made.partition(r"\endfirsthead")

    assert r"\caption{T. H}\label{tab:t}" in first
    assert r"\caption" not in rest
    assert r"\label" not in rest
    assert "A & B" in rest.partition(r"\endhead")[0]


def test_a_column_may_be_empty_beside_a_word_wider_than_the_page() -> None:
    heads = (Head("a", ""), Head("b", "B" * 130))
    assert "B" * 130 in latex(ReportTable(key="t", about="", title="T", heads=heads, rows=(("", ""),), how="H"))


def test_every_table_has_as_many_cells_as_columns(archive: zipfile.ZipFile) -> None:
    for name in archive.namelist():
        if name.startswith("tables/") and not name.endswith("all.tex"):
            made = archive.read(name).decode()
            [columns] = re.findall(r"\\begin\{(?:tabular|longtable)\}\{(.+)\}$", made, flags=re.MULTILINE)
            n_columns = len(re.sub(r">\{[^}]*\}p\{[^}]*\}", "p", columns))
            body = made.rpartition(r"\midrule")[2]
            for line in re.findall(r"^(.*) \\\\$", body, flags=re.MULTILINE):
                assert len(re.findall(r"(?<!\\)&", line)) == n_columns - 1, (name, line)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_tables_compile(study: Study, tmp_path: Path) -> None:
    with zipfile.ZipFile(export(study)) as archive:
        archive.extractall(tmp_path)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path / "tables", capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


# --- and in again ---


@pytest.mark.parametrize(("form", "name"), [("jsonl", "labels.jsonl"), ("label-studio", "tasks.json")])
def test_what_goes_out_comes_in_again(study: Study, tmp_path: Path, form: str, name: str) -> None:
    before = standing(study)
    file = tmp_path / name
    file.write_bytes(export(study, form).read_bytes())
    twin = builders.study("twin", of=study.scheme)
    call_command("import_labels", "twin", file, "--create", stdout=io.StringIO())

    assert standing(twin) == before
    assert LabelEvent.objects.filter(assignment__rater__study=twin).count() == len(before)


# --- what was labelled ---

PAGE = "https://cooking.example/soup?a=1&b=2"


@pytest.fixture
def found_on_the_web(study: Study) -> Study:
    """The first row has a title and an address, the second none."""
    row = Row.objects.filter(sheet__study=study).order_by("position").first()
    assert row is not None
    row.title, row.url, row.language = "=Soup, “the best”", PAGE, "en"
    row.save()
    return study


def abouts(lines: Iterable[Mapping[str, str]]) -> set[tuple[str, str, str]]:
    return {(line["row"], unsafe_cell(line["row_title"]), line["row_url"]) for line in lines}


def test_each_form_says_what_rows_are_called_and_where_they_are(found_on_the_web: Study) -> None:
    expected = set(Row.objects.filter(sheet__study=found_on_the_web).values_list("name", "title", "url"))
    with zipfile.ZipFile(export(found_on_the_web)) as archive:
        of_csv = csv.DictReader(io.StringIO(archive.read("labels/labels.csv").decode("utf-8-sig"), newline=""))
        of_parquet = pq.read_table(io.BytesIO(archive.read("labels/labels.parquet"))).to_pylist()
        book = openpyxl.load_workbook(io.BytesIO(archive.read("report.xlsx")))["Labels"]
        head, *lines = ([cell or "" for cell in line] for line in book.iter_rows(values_only=True))
        jsonl = [json.loads(line) for line in archive.read("labels/labels.jsonl").decode().splitlines()]
        tasks = [task["data"] for task in json.loads(archive.read("labels/label-studio.json"))]

    assert abouts(of_csv) == abouts(of_parquet) == abouts(jsonl) == abouts(tasks) == expected
    assert abouts(dict(zip(head, line, strict=True)) for line in lines) == expected


def test_the_zip_has_a_file_of_rows_that_an_import_of_rows_reads(found_on_the_web: Study) -> None:
    with zipfile.ZipFile(export(found_on_the_web)) as archive:
        file = archive.read("rows.csv")
        assert "rows.csv" in archive.read("README.md").decode()
    lines = list(csv.DictReader(io.StringIO(file.decode("utf-8-sig"), newline="")))
    twin = builders.study("twin", of=found_on_the_web.scheme)
    import_rows(study=twin, rows=open_table(io.BytesIO(file), name="rows.csv", max_bytes=2**20))

    assert list(lines[0]) == ["sheet", "row", "title", "url", "language", "withdrawn"]
    assert [line["withdrawn"] for line in lines] == ["no", "no"]
    told = ("sheet__title", "name", "title", "url", "language")
    of_both = [set(Row.objects.filter(sheet__study=one).values_list(*told)) for one in (found_on_the_web, twin)]
    assert of_both[0] == of_both[1]


def test_the_labels_and_the_rows_of_a_zip_make_the_study_again(db: None) -> None:
    scheme = builders.scheme(builders.SCHEME.replace("sections:", "row: {facets: [topic]}\nsections:", 1))
    study = builders.study(of=scheme)
    sheet = builders.sheet(study)
    for work in builders.assignments(builders.rater(study, builders.user("anna")), sheet):
        builders.label(work)
    Row.objects.filter(sheet=sheet).update(
        title="The lease", url=PAGE, language="en", facets={"topic": ["rent", "notice"]}
    )
    with zipfile.ZipFile(export(study)) as archive:
        labels, rows = (io.BytesIO(archive.read(name)) for name in ("labels/labels.csv", "rows.csv"))
    twin = builders.study("twin", of=scheme)
    table = open_table(labels, name="labels.csv", max_bytes=2**20)
    imported = import_labels(study=twin, table=table, how=LabelImport(create=True))
    assert imported.unread == ("row_facet_topic",)
    assert import_rows(study=twin, rows=open_table(rows, name="rows.csv", max_bytes=2**20)).filled == 2

    told = ("sheet__title", "name", "title", "url", "language")
    of_both = [list(Row.objects.filter(sheet__study=one).values_list(*told)) for one in (study, twin)]
    assert of_both[0] == of_both[1]
    assert {row.facets["topic"] for row in Row.objects.filter(sheet__study=twin)} == {"rent; notice"}
    assert import_rows(study=study, rows=open_table(rows, name="rows.csv", max_bytes=2**20)).nothing_new


def test_titles_and_addresses_are_no_part_of_the_label_table(study: Study) -> None:
    before = queries.label_table(study, Filters()).digest
    Row.objects.filter(sheet__study=study).update(title="Soup", url=PAGE)
    with zipfile.ZipFile(export(study)) as archive:
        assert PAGE not in archive.read("label-table.json").decode()

    assert queries.label_table(study, Filters()).digest == before


def test_a_frozen_report_says_where_its_rows_are(found_on_the_web: Study) -> None:
    report = actions.freeze(study=found_on_the_web, title="Then", filters=Filters(), by=None)
    with zipfile.ZipFile(export(found_on_the_web, report=report)) as archive:
        assert PAGE in archive.read("rows.csv").decode()
        assert PAGE in archive.read("labels/labels.jsonl").decode()


@pytest.mark.parametrize(("form", "name"), [("jsonl", "labels.jsonl"), ("label-studio", "tasks.json")])
def test_titles_and_addresses_come_in_again(found_on_the_web: Study, tmp_path: Path, form: str, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(export(found_on_the_web, form).read_bytes())
    twin = builders.study("twin", of=found_on_the_web.scheme)
    call_command("import_labels", "twin", file, "--create", stdout=io.StringIO())
    of_both = [
        set(Row.objects.filter(sheet__study=one).values_list("name", "title", "url"))
        for one in (found_on_the_web, twin)
    ]

    assert of_both[0] == of_both[1]


# --- the work of the worker ---


def test_a_download_is_made_once(study: Study) -> None:
    asked = actions.ask_for_export(study=study, form="jsonl", filters=Filters(), by=None)
    actions.make_export(export_id=asked.pk)
    asked.refresh_from_db()
    first = asked.file
    actions.make_export(export_id=asked.pk)
    asked.refresh_from_db()

    assert asked.file == first


def test_a_download_that_fails_says_so(study: Study, settings: Settings, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    settings.PALATE_EXPORTS = blocked / "exports"
    asked = actions.ask_for_export(study=study, form="jsonl", filters=Filters(), by=None)
    actions.make_export(export_id=asked.pk)
    asked.refresh_from_db()

    assert (asked.state, asked.error) == ("failed", "It could not be made; the log says why. Try it again.")


def test_old_downloads_are_deleted_with_their_files(study: Study, settings: Settings) -> None:
    path = export(study, "jsonl")
    settings.PALATE_EXPORT_DAYS = 0

    assert actions.clean_exports() == 1
    assert not Export.objects.exists()
    assert path.exists()  # a file that nothing names may be one that is being written
    other = path.with_name("2024-minutes.txt")  # somebody else's
    other.touch()
    for file in (path, other):
        os.utime(file, (0, 0))
    actions.clean_exports()
    assert not path.exists()
    assert other.exists()
