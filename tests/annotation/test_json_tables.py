"""Labels as JSON: what becomes which column, and what is wrong, by its line."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import pytest
from openpyxl import Workbook

from annotation.answers import AnswerRefused, kind_of
from annotation.evidence import kinds
from annotation.exchange.json_tables import open_columns, open_labels, open_rows
from annotation.exchange.records import label_headings, label_records
from annotation.exchange.row_records import row_headings, row_records
from annotation.exchange.tables import FileLine, Problems, TableError
from annotation.scheme.spec import QuestionSpec
from tests import workbooks


def read(text: str) -> tuple[list[dict[str, str]], Problems, list[int]]:
    """The lines by their headings, what is wrong, and their numbers in the file."""
    table = open_labels(io.BytesIO(text.encode()), name="labels", max_bytes=10_000)
    problems = Problems("labels")
    lines = list(table.lines(problems))
    return (
        [
            {k: table.in_words(v) if k == "answer" else v for k, v in zip(table.header, line.cells, strict=True) if v}
            for line in lines
        ],
        problems,
        [line.number for line in lines],
    )


def result(name: str, value: dict[str, Any], kind: str = "choices", **more: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": kind, "value": value, **more}


def task(**of: Any) -> str:
    return json.dumps([{"id": 7, "data": {"text": "A text."}, **of}])


def test_json_lines_are_read_as_a_table() -> None:
    text = '{"rater": "A", "row": 7, "answer": "yes", "preset": false, "scores": [1]}\n\n{"rater": "B", "note": null}\n'
    lines, _problems, numbers = read("\ufeff" + text)

    assert lines == [{"rater": "A", "row": "7", "answer": "yes", "preset": "no"}, {"rater": "B"}]
    assert numbers == [1, 3]


def test_csv_is_still_read() -> None:
    assert read("rater,row,answer\nA,7,yes\n")[0] == [{"rater": "A", "row": "7", "answer": "yes"}]


def test_a_task_of_another_project() -> None:
    """People by who completed them, gold, a prediction; the row is the task where its data name none."""
    text = task(
        annotations=[
            {"completed_by": 3, "result": [result("mood", {"choices": ["Glad"]})]},
            {"completed_by": {"email": "b@example.org"}, "result": [result("mood", {"rating": 4}, "rating")]},
            {"was_cancelled": True, "result": [result("mood", {"choices": ["Sad"]})]},
            {"ground_truth": True, "result": [result("mood", {"choices": ["Sad"]})]},
        ],
        predictions=[{"model_version": "m1", "result": [result("mood", {"choices": ["Sad"]})]}, 12],
    )
    lines, problems, _numbers = read(text)

    assert [(line["row"], line["rater"], line.get("rater_kind", ""), line["answer"]) for line in lines] == [
        ("7", "3", "", "Glad"),
        ("7", "b@example.org", "", "4"),
        ("7", "gold", "gold", "Sad"),
        ("7", "m1", "judge", "Sad"),
    ]
    assert problems.total == 0


def test_our_own_names_and_remarks_come_back() -> None:
    meta = {"rater": "A1", "rater_kind": "person", "repeat": 2, "preset": True, "text": ["why"]}
    [line] = read(task(annotations=[{"result": [result("items__presence", {"choices": ["Found"]}, meta=meta)]}]))[0]

    assert {**line, "text": ""} == {
        "text": "", "row": "7", "rater": "A1", "rater_kind": "person", "section": "items", "question": "presence",
        "answer": "Found", "repeat": "2", "preset": "yes", "note": "why",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        ([result("mood", {"choices": ["Glad", "Sad"]})], "“mood” has several answers (Glad, Sad)"),
        ([result("box", {"x": 1}, "rectanglelabels")], "“box” is of the type “rectanglelabels”"),
    ],
)
def test_what_a_question_cannot_take_is_named_by_its_line(results: list[Any], sentence: str) -> None:
    other = json.dumps({"id": 8, "data": {}, "annotations": []})
    text = f"[\n{other},\n{task(annotations=[{'completed_by': 1, 'result': results}])[1:-1]}\n]"
    _lines, problems, _numbers = read(text)
    [(said, where)] = problems.shown.items()

    assert sentence in str(said)
    assert where.first == [3]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"rater": "A"}\n{"rater": ', "Line 2 of “labels” is no JSON object"),
        ('{"rater": "A"}\n[1]\n', "Line 2 of “labels” is no JSON object"),
        ("[\n 1\n]", "Line 2 of “labels” is no task of Label Studio"),
        ('[\n{"data": {}},\n{"data": ', "“labels” is no JSON from line 3 on"),
        ('[{"data": {"row": "1"}}', "ends in the middle"),
        ('{"rater": ' + 5_000 * "[", "Line 1 of “labels” is no JSON object"),
        ('[{"data": ' + 5_000 * "[", "“labels” is no JSON from line 1 on"),
        ("[]", "“labels” is empty"),
        ("{" + " " * 11_000, "MB go in at once"),
    ],
)
def test_what_cannot_be_read_says_where(text: str, sentence: str) -> None:
    with pytest.raises(TableError, match=sentence):
        read(text)


@pytest.mark.parametrize(
    ("said", "read_as"),
    [("NaN", ""), ('"NaN"', "NaN"), ("1e999", "inf"), ('"\\ud800yes\\u0000"', "yes")],
    ids=["no number", "a text", "no end", "what no database holds"],
)
def test_what_json_says_and_no_file_of_text_could(said: str, read_as: str) -> None:
    [line], problems, _numbers = read(f'{{"rater": "A", "row": 7, "answer": {said}}}')

    assert (line.get("answer", ""), problems.total) == (read_as, 0)


@pytest.mark.parametrize("odd", [None, 5, "text", {"a": 1}, ["text", None, 5]])
def test_what_stands_where_a_task_has_lists_of_objects_says_nothing(odd: Any) -> None:
    good = {"completed_by": 1, "result": [result("mood", {"choices": ["Glad"]})]}
    lines, problems, _numbers = read(task(annotations=[{"result": odd}, good], predictions=odd))

    assert [line["answer"] for line in lines] == ["Glad"]
    assert problems.total == 0


def test_texts_and_numbers_of_tasks_are_read_by_their_question() -> None:
    """Several texts of a list are its parts; of records a line each, or the JSON that the export writes."""
    foods = QuestionSpec.model_validate({"key": "foods", "title": "Foods", "kind": "text", "text": {"separator": ";"}})
    parts = QuestionSpec.model_validate(
        {"key": "parts", "title": "Parts", "kind": "items", "items": {"fields": [{"key": "part"}, {"key": "of"}]}}
    )
    grams = QuestionSpec.model_validate({"key": "grams", "title": "Grams", "kind": "number", "number": {}})
    said = [
        (foods, result("s__foods", {"text": ["flour", "water"]}, "textarea"), "flour; water"),
        (parts, result("s__parts", {"text": "crust | bread"}, "textarea"), [{"part": "crust", "of": "bread"}]),
        (
            parts,
            result("s__parts", {"text": ['[{"part":"crumb","of":""}]']}, "textarea"),
            [{"part": "crumb", "of": ""}],
        ),
        (grams, result("s__grams", {"number": 2.5}, "number"), 2.5),
        (grams, result("s__grams", {}, "number"), None),
    ]
    file = task(annotations=[{"completed_by": 1, "result": [of for _spec, of, _value in said]}])
    table = open_labels(io.BytesIO(file.encode()), name="labels", max_bytes=10_000)
    at = table.header.index("answer")
    answers = [line.cells[at] for line in table.lines(Problems("labels"))]
    for (spec, _of, value), answer in zip(said, answers, strict=True):
        assert table.value(kind_of(spec), spec, answer) == value


def test_a_list_of_json_lines_is_a_value() -> None:
    options = [{"key": "glad", "label": "Glad"}, {"key": "sad", "label": "Sad"}]
    asked = {
        "mood": {"key": "mood", "title": "Mood", "options": options},
        "foods": {"key": "foods", "title": "Foods", "kind": "text", "text": {"separator": ";"}},
        "remark": {"key": "remark", "title": "Remark", "kind": "text", "text": {}},
        "parts": {"key": "p", "title": "P", "kind": "items", "items": {"fields": [{"key": "part"}, {"key": "of"}]}},
        "grams": {"key": "grams", "title": "Grams", "kind": "number", "number": {}},
    }
    specs = {key: QuestionSpec.model_validate(of) for key, of in asked.items()}
    said: list[tuple[str, Any, Any]] = [
        ("mood", ["Glad"], "glad"),
        ("mood", [], None),
        ("mood", ["Glad", "Sad"], AnswerRefused("“['Glad', 'Sad']” is no answer to “Mood”")),
        ("foods", ["flour", "water"], "flour; water"),
        ("foods", "flour;water", "flour; water"),
        ("foods", [], None),
        ("parts", [{"part": "crust", "of": "bread"}], [{"part": "crust", "of": "bread"}]),
        ("parts", ["crust"], AnswerRefused("“P” takes a list")),
        ("remark", '["so"]', '["so"]'),
        ("remark", ["why", "not"], AnswerRefused("“Remark” takes a text")),
        ("grams", {"of": 2}, AnswerRefused("is no number")),
    ]
    lines = "\n".join(json.dumps({"rater": "A", "row": "7", "answer": answer}) for _key, answer, _value in said)
    table = open_labels(io.BytesIO(lines.encode()), name="labels", max_bytes=10_000)
    answers = [line.cells[table.header.index("answer")] for line in table.lines(Problems("labels"))]
    assert table.in_words(answers[0]) == "Glad"
    for (key, _answer, value), answer in zip(said, answers, strict=True):
        if isinstance(value, AnswerRefused):
            with pytest.raises(AnswerRefused, match=re.escape(str(value))):
                table.value(kind_of(specs[key]), specs[key], answer)
        else:
            assert table.value(kind_of(specs[key]), specs[key], answer) == value


def workbook(**sheets: list[list[object]]) -> io.BytesIO:
    book, made = Workbook(), io.BytesIO()
    book.remove(book.active)  # type: ignore[arg-type]
    for title, lines in sheets.items():
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append(line)
    book.save(made)
    return made


def test_the_sheet_of_labels_is_found_in_a_workbook() -> None:
    lines = [["rater", "row", "answer", None], ["A", 7, 2.0], [], ["B", 8, "'=1+1"], ["C", 9, "_x005F_x0041_"]]
    file = workbook(Contents=[["Study", "Kitchen"]], Labels=lines)
    table = open_labels(file, name="labels", max_bytes=100_000)
    assert table.header == ("rater", "row", "answer")
    assert [(line.number, *line.cells) for line in table.lines(Problems("labels"))] == [
        (2, "A", "7", "2"), (4, "B", "8", "=1+1"), (5, "C", "9", "_x0041_"),
    ]  # fmt: skip


def test_rows_and_columns_may_be_sheets_of_a_workbook() -> None:
    file = workbook(
        About=[["Read me"]],
        Texts=[["Row", "text"], [7, "Über „uns“;\nline two"]],
        Sought=[["section", "duty"], ["duties", "Pay"]],
    )
    rows, columns = (opened(file, name="all", max_bytes=100_000) for opened in (open_rows, open_columns))
    assert (rows.header, list(rows.lines(Problems("all")))) == (
        ("Row", "text"),
        [FileLine(2, ["7", "Über „uns“;\nline two"])],
    )
    assert list(columns.lines(Problems("all"))) == [FileLine(2, ["duties", "Pay"])]


LINES = '{"id": 1, "text": "One.", "topic": "tea"}\n{"id": 2, "text": ["Two.", "Three."], "meta": {"n": 1}}\n'


@pytest.mark.parametrize(
    "text",
    [
        LINES,
        "\ufeff" + LINES,
        f"[{','.join(LINES.splitlines())}]",
        '[{"id": 1, "data": {"text": "One.", "topic": "tea"}},\n {"id": 2, "data": {"text": "Two.\\nThree."}}]',
        '[{"data": {"id": 1, "text": "One.", "topic": "tea"}}, {"data": {"id": 2, "text": "Two.\\nThree."}}]',
        'doc_id,text,topic\n1,One.,tea\n2,"Two.\nThree.",\n',
    ],
    ids=["lines", "byte order mark", "list", "tasks", "tasks to be imported", "CSV"],
)
def test_rows_of_other_programs_are_read(text: str) -> None:
    table = open_rows(io.BytesIO(text.encode()), name="rows", max_bytes=10_000)
    problems = Problems("rows")
    rows = list(row_records(table, row_headings(table.header, kinds.known(), ["topic"]), problems))

    assert [(row.name, [block.text for block in row.blocks], row.facets["topic"]) for row in rows] == [
        ("1", ["One."], "tea"),
        ("2", ["Two.", "Three."], ""),
    ]
    assert problems.total == 0


def test_columns_may_be_json() -> None:
    table = open_columns(io.BytesIO(b'[{"section": "duties", "duty": "Pay"}]'), name="columns", max_bytes=100)

    assert (table.header, list(table.lines(Problems("columns")))) == (
        ("section", "duty"),
        [FileLine(1, ["duties", "Pay"])],
    )


def test_a_heading_that_may_be_a_text_names_no_row() -> None:
    assert row_headings(("id", "document"), {}).at == {"row": 0}
    assert row_headings(("row", "id"), {}).unread == ("id",)
    for header in (("document", "text"), ("id", "doc_id", "text")):
        with pytest.raises(TableError, match="needs a column headed “row” or “id”"):
            row_headings(header, kinds.known())
    assert row_headings(("row_name", "facet_id"), {}, ["id"]).at == {"row": 0}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"row": 1}\n{"row"\n', 'Line 2 of “rows” is no JSON object; each line is one, such as {"row": "7",'),
        ("[1]", "Line 1 of “rows” is no JSON object."),
        ('[{"row": 1},\n {"row"', "“rows” is no JSON from line 2 on."),
        ('[{"row": 1},', "“rows” ends in the middle of its list."),
        ("[]", "“rows” is empty."),
        ("{" + " " * 200, "“rows” has 1 MB; at most 0 MB go in at once."),
    ],
)
def test_json_that_holds_no_rows_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(TableError, match=re.escape(sentence)):
        open_rows(io.BytesIO(text.encode()), name="rows", max_bytes=100)


def test_what_a_workbook_does_not_hold_is_refused_where_it_is_read() -> None:
    """Names of more digits than a float has, and formulas that no program has computed."""
    exact, rounded = 2**53 - 1, 1.747582393847562e18
    lines = [
        ["row", "rater", "answer", "seen"],
        [float(exact), "A", "yes", rounded],
        [rounded, "A", "yes", ""],
        [7, "A", "=1+1", ""],
        [8, "A", "no", "=1+1"],
        ["1747582393847562341", "A", "yes", ""],
        [9, "A", None, ""],
    ]
    table = open_labels(workbook(Labels=[*lines]), name="labels", max_bytes=100_000)
    problems = Problems("labels")
    read = list(label_records(table, label_headings(table.header), problems))
    assert [(one.row, one.answer) for one in read] == [
        (str(exact), "yes"),
        ("8", "no"),
        ("1747582393847562341", "yes"),
        ("9", ""),
    ]
    assert [(str(said)[:18], lines.first) for said, lines in problems.shown.items()] == [
        ("A name is a number", [3]),
        ("A cell is a formul", [4]),
    ]

    rows = open_rows(workbook(Rows=[["row", "text"], [rounded, "x"], [1, "=A2"], [2, "y"]]), name="r", max_bytes=10_000)
    problems = Problems("rows")
    read_rows = list(row_records(rows, row_headings(rows.header, {}), problems))
    assert ([one.name for one in read_rows], problems.total) == (["2"], 2)


def test_a_table_of_rows_is_still_read_and_another_zip_still_refused() -> None:
    assert open_rows(io.BytesIO(b"row;text\n7;x\n"), name="rows", max_bytes=100).header == ("row", "text")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("page.html", "text")
    with pytest.raises(TableError, match="is a ZIP. Unpack it"):
        open_rows(packed, name="rows", max_bytes=1000)
    with pytest.raises(TableError, match="No sheet of “rows” has the headings row. Save"):
        open_rows(workbook(One=[["a"]], Two=[["b"]]), name="rows", max_bytes=100_000)


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (workbook(One=[["a"]], Two=[["rater"]]), "No sheet of “labels” has the headings row, rater, answer"),
        (workbook(One=[]), "“labels” is empty"),
        (io.BytesIO(b"PK\x03\x04 and no more"), "is no workbook that can be read"),
    ],
    ids=["no labels", "empty", "broken"],
)
def test_a_workbook_without_labels_is_refused(file: io.BytesIO, sentence: str) -> None:
    with pytest.raises(TableError, match=sentence):
        open_labels(file, name="labels", max_bytes=100_000)


HEADINGS = {"A": "row", "B": "rater", "C": "answer"}
LABEL = {"A": "item 1", "B": "w1", "C": "yes"}


@pytest.mark.parametrize(
    ("lines", "read_at"),
    [
        (workbooks.line(10**12, LABEL), [10**12]),  # openpyxl would make up a billion lines before it
        ('<row><c/><c t="inlineStr"><is><t>w1</t></is></c></row>', [2]),  # without any numbers
        (workbooks.line(7, LABEL) + workbooks.line(7, LABEL), [7, 7]),
    ],
)
def test_lines_that_are_not_in_a_workbook_are_not_made_up(lines: str, read_at: list[int]) -> None:
    data = workbooks.of_sheet(workbooks.line(1, HEADINGS) + lines)

    table = open_labels(io.BytesIO(data), name="labels", max_bytes=2**20)

    assert [line.number for line in table.lines(Problems("labels"))] == read_at


def test_a_workbook_that_is_broken_inside_is_refused() -> None:
    data = workbooks.of_sheet(workbooks.line(1, HEADINGS) + '<row r="x"><c r="ZZZZZZ9" t="s"><v>99</v></c></row>')

    with pytest.raises(TableError, match="is no workbook that can be read"):
        open_labels(io.BytesIO(data), name="labels", max_bytes=2**20)


def test_cells_far_to_the_right_take_no_room() -> None:
    lines = "".join(workbooks.line(number, {**LABEL, "XFD": "x"}) for number in range(2, 2000))
    data = workbooks.of_sheet(workbooks.line(1, HEADINGS) + lines)

    table = open_labels(io.BytesIO(data), name="labels", max_bytes=2**20)

    assert table.header == ("row", "rater", "answer")
    assert next(iter(table.lines(Problems("labels")))) == FileLine(2, ["item 1", "w1", "yes"])


def test_a_small_workbook_with_more_cells_than_it_has_room_for_is_refused() -> None:
    data = workbooks.of_sheet(workbooks.line(1, HEADINGS) + "<row><c/></row>" * 400_000)

    assert len(data) < 100_000
    with pytest.raises(TableError, match="is too large a workbook"):
        open_labels(io.BytesIO(data), name="labels", max_bytes=2**20)


def test_a_file_of_hardly_any_cells_makes_no_huge_table() -> None:
    names = [f"x{number}" for number in range(5000)]
    csv = ",".join([*HEADINGS.values(), *names]) + "\n" + "a,b,c\n" * 3000
    json_lines = "\n".join(json.dumps({**dict.fromkeys(HEADINGS.values(), "a"), name: 1}) for name in names)

    for text in (csv, json_lines):
        table = open_labels(io.BytesIO(text.encode()), name="labels", max_bytes=2**20)
        with pytest.raises(TableError, match="“labels” has 5003 headings and hardly any cells below"):
            list(table.lines(Problems("labels")))


@pytest.mark.parametrize(
    "text",
    [
        ",".join(f"x{number}" for number in range(10_001)),
        json.dumps({f"x{number}": 1 for number in range(10_001)}),
    ],
)
def test_more_headings_than_anybody_has_are_refused(text: str) -> None:
    with pytest.raises(TableError, match="“labels” has more than 10000 headings"):
        open_labels(io.BytesIO(text.encode()), name="labels", max_bytes=2**20)
