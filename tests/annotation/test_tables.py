from __future__ import annotations

import io
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.evidence import kinds
from annotation.evidence.blocks import Block
from annotation.exchange.records import LabelRecord, label_headings, label_records
from annotation.exchange.row_records import RowRecord, column_records, row_headings, row_records
from annotation.exchange.tables import (
    MAX_PROBLEMS_SHOWN,
    FileLine,
    FileTable,
    Problems,
    TableError,
    open_table,
    safe_cell,
    safe_cells,
    unsafe_cell,
)
from annotation.scheme.inference import infer_scheme
from annotation.scheme.spec import Kind, load_scheme
from base.text import whole_number

CROWD = ("!amt_annotation_ids", "!amt_worker_ids", "orig_id", "response", "gold")


def table(text: str | bytes, name: str = "file.csv", max_bytes: int = 2**20) -> FileTable:
    return open_table(io.BytesIO(text.encode() if isinstance(text, str) else text), name=name, max_bytes=max_bytes)


def lines_of(text: str | bytes) -> list[tuple[int, list[str]]]:
    problems = Problems("file.csv")
    found = [(line.number, list(line.cells)) for line in table(text).lines(problems)]
    assert not problems.total
    return found


def sentences(problems: Problems) -> list[tuple[list[int], str]]:
    return [(lines.first, str(sentence)) for sentence, lines in problems.shown.items()]


# --- cells that a spreadsheet could take for formulas ---------------------------------------------------------------


@pytest.mark.parametrize("risky", ["=1+1", "+1+1", "-A1", "-1.", "-1e", "-1\n", "+1,5", "@SUM(A1)", "\t=1", "\r-1"])
def test_safe_cell_puts_an_apostrophe_before_what_could_be_a_formula(risky: str) -> None:
    assert safe_cell(risky) == "'" + risky


def test_safe_cell_leaves_other_text_alone() -> None:
    assert [safe_cell(text) for text in ("", "2 eggs", "a=b", "'quoted'")] == ["", "2 eggs", "a=b", "'quoted'"]


@pytest.mark.parametrize("number", ["-1", "+1", "-0.25", "-1.5e-07", "+2E+3", "0.5"])
def test_safe_cell_leaves_numbers_numbers(number: str) -> None:
    assert safe_cell(number) == number


def test_a_number_that_an_older_export_protected_is_still_read() -> None:
    assert unsafe_cell("'-1") == "-1"


@given(st.text(alphabet="'=+-@\t\rab1.e", max_size=6))
def test_unsafe_cell_undoes_safe_cell(text: str) -> None:
    assert unsafe_cell(safe_cell(text)) == text


@given(st.lists(st.text(alphabet="'=+-@\t\rab1.e", max_size=6)))
def test_safe_cells_are_each_a_safe_cell(texts: list[str]) -> None:
    assert safe_cells(texts) == [safe_cell(text) for text in texts]


# --- reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    ["row;note\nA;é, è\n".encode(), "row;note\nA;é, è\n".encode("utf-8-sig"), "row;note\nA;é, è\n".encode("utf-16")],
    ids=["utf-8", "utf-8 with mark", "utf-16 with mark"],
)
def test_open_table_reads_unicode_by_its_mark(data: bytes) -> None:
    assert table(data).header == ("row", "note")
    assert lines_of(data) == [(2, ["A", "é, è"])]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_open_table_finds_the_separator(delimiter: str) -> None:
    assert lines_of(f"row{delimiter}answer\nA{delimiter}yes\n") == [(2, ["A", "yes"])]


def test_lines_are_numbered_as_an_editor_does_through_blank_lines_and_breaks_in_cells() -> None:
    # 1 headings, 2-3 one record, 4 blank, 5 the next
    assert lines_of('row,text\nA,"one\ntwo"\n\nB,three\n') == [(2, ["A", "one\ntwo"]), (5, ["B", "three"])]


def test_lines_can_be_read_twice() -> None:
    twice = table("row\nA\nB\n")
    assert [list(twice.lines(Problems("f"))) for _ in range(2)] == [[FileLine(2, ["A"]), FileLine(3, ["B"])]] * 2


def test_lines_fill_up_a_short_line_and_refuse_a_long_one() -> None:
    problems = Problems("file.csv")
    found = list(table("a,b\n1\n1,2,3\n1,2,\n").lines(problems))
    assert [line.number for line in found] == [2, 4]
    assert found[0].cells == ["1", ""]
    assert sentences(problems)[0][0] == [3]


def test_lines_take_the_protecting_apostrophe_off() -> None:
    assert lines_of("row,note\nA,'=1+1\n") == [(2, ["A", "=1+1"])]


def zipped(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name in names:
            packed.writestr(name, "text")
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"PK\x03\x04rest", "workbook"),
        (zipped("page.html"), "is a ZIP. Unpack it"),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "is a workbook"),
        (zipped("mimetype", "content.xml"), "is a workbook"),
        ("row,n\nA,é\n".encode("latin-1"), "Line 2 of “file.csv” is not UTF-8"),
        (b"row,n\nA,\x00\n", "Line 2 of “file.csv” has a NUL"),
        (b'row,n\nA,1\nB,"open\nC,2\n', "from line 3 on"),
        (b'row,n\nA,"x"y\n', "from line 2 on"),
    ],
    ids=[
        "empty",
        "blank",
        "workbook",
        "ZIP",
        "Excel",
        "LibreOffice",
        "latin-1",
        "nul",
        "open quotation",
        "text after a quotation",
    ],
)
def test_a_file_that_is_no_table_is_refused_with_its_reason(data: bytes, part: str) -> None:
    with pytest.raises(TableError, match=part):
        list(table(data).lines(Problems("file.csv")))


def test_open_table_refuses_what_is_too_large() -> None:
    with pytest.raises(TableError, match="“file.csv” has 2 MB; at most 1 MB"):
        table("a" * (2**20 + 1), max_bytes=2**20)


def test_problems_count_all_and_keep_the_first() -> None:
    problems = Problems("f")
    for line in range(2, 102):
        problems.add(line, "“%(x)s” is wrong", x=line)
        problems.add(line, "the same")
    # 100 sentences of their own and one that all lines share
    assert problems.total == 200
    assert len(problems.shown) == MAX_PROBLEMS_SHOWN
    shared = next(lines for sentence, lines in problems.shown.items() if str(sentence) == "the same")
    assert (shared.total, shared.first) == (100, list(range(2, 12)))


def test_what_is_wrong_twice_in_a_line_is_one_problem() -> None:
    problems = Problems("f")
    for line in (2, 2, 2, 3):
        problems.add(line, "the same")
    assert problems.total == sum(lines.total for lines in problems.shown.values()) == 2


# --- headings -------------------------------------------------------------------------------------------------------


def test_label_headings_recognise_a_crowd_file() -> None:
    headings = label_headings(CROWD)
    assert headings.at == {"rater": 1, "row": 2, "answer": 3, "gold": 4}
    assert headings.unread == ("!amt_annotation_ids",)


@pytest.mark.parametrize(
    "header",
    [("WorkerId", "item_id", "Label"), ("annotator", "Task ID", "rating"), ("coder code", "document", "choice")],
)
def test_label_headings_recognise_the_words_of_others(header: tuple[str, ...]) -> None:
    assert label_headings(header).at == {"rater": 0, "row": 1, "answer": 2}


def test_label_headings_prefer_our_own_word() -> None:
    assert label_headings(("worker", "item", "row", "answer")).at == {"rater": 0, "row": 2, "answer": 3}


def test_label_headings_ask_when_two_could_be_meant() -> None:
    with pytest.raises(TableError, match="Both “worker” and “annotator” could be the rater"):
        label_headings(("worker", "annotator", "row", "answer"))


def test_label_headings_take_what_they_are_given() -> None:
    headings = label_headings(
        ("who", "what", "said", "truth"), given={"rater": "who", "row": "what", "answer": "said", "gold": ""}
    )
    assert headings.at == {"rater": 0, "row": 1, "answer": 2}
    assert headings.unread == ("truth",)


@pytest.mark.parametrize(
    ("header", "given_", "sentence"),
    [
        (("row", "answer"), {}, "No heading tells the rater"),
        (("rater", "answer"), {}, "No heading tells the row"),
        (
            ("rater", "row", "answer"),
            {"rater": "coder"},
            "No column is headed “coder”. The file has: rater, row, answer",
        ),
        (("rater", "rater", "row", "answer"), {"rater": "rater"}, "Two columns are headed “rater”"),
    ],
)
def test_label_headings_say_what_is_missing(header: tuple[str, ...], given_: dict[str, str], sentence: str) -> None:
    with pytest.raises(TableError, match=sentence):
        label_headings(header, given=given_)


def test_label_headings_of_the_wide_form_take_the_rest_as_raters() -> None:
    headings = label_headings(("item", "text", "ann", "bob", "gold"), wide=True, ignore=["text"])
    assert (headings.at, headings.raters) == ({"row": 0, "gold": 4}, ((2, "ann"), (3, "bob")))


# --- labels ---------------------------------------------------------------------------------------------------------


def records_of(text: str, **options: bool) -> tuple[list[LabelRecord], Problems]:
    problems = Problems("file.csv")
    read = table(text)
    return list(label_records(read, label_headings(read.header, **options), problems)), problems  # type: ignore[arg-type]


def test_label_records_give_gold_once_a_cell_as_a_rater_of_its_own() -> None:
    records, problems = records_of("rater,row,answer,gold\nann,A,1,2\nbob,A,2,2\n")
    assert [(r.line, r.rater, r.rater_kind, r.answer) for r in records] == [
        (2, "ann", "", "1"),
        (2, "gold", "gold", "2"),
        (3, "bob", "", "2"),
    ]
    assert not problems.total


def test_label_records_name_the_line_of_contradictory_gold() -> None:
    _records, problems = records_of("rater,row,answer,gold\nann,A,1,2\nbob,A,2,1\n")
    assert sentences(problems) == [([3], "The gold of “A” is “1” here and “2” on line 2.")]


def test_label_records_of_the_wide_form_are_one_a_rater() -> None:
    records, _problems = records_of("item,ann,bob\nA,1,\nB,2,1\n", wide=True)
    assert [(r.row, r.rater, r.answer) for r in records] == [
        ("A", "ann", "1"),
        ("A", "bob", ""),
        ("B", "ann", "2"),
        ("B", "bob", "1"),
    ]


def test_label_records_tell_which_lines_are_no_answers() -> None:
    text = "rater,row,answer,rater_kind,repeat\n,A,1,,\nann,,1,,\nann,A,1,robot,\nann,A,1,,0\n"
    records, problems = records_of(text)
    assert records == []
    assert [first for first, _sentence in sentences(problems)] == [[2], [3], [4], [5]]


def test_label_records_read_gold_alone() -> None:
    records, problems = records_of("row,gold\nA,1\nB,\n")
    assert [(r.row, r.rater, r.answer) for r in records] == [("A", "gold", "1")]
    assert not problems.total


# --- rows and columns -----------------------------------------------------------------------------------------------


def test_row_records_make_blocks_of_the_evidence_columns_in_their_order() -> None:
    read = table('sheet,row,heading,text,evidence_step,text,other\nS,A,Title,"one\n\ntwo",Stir,end,x\n')
    headings = row_headings(read.header, kinds.known())
    (record,) = row_records(read, headings, Problems("f"))
    blocks = (
        Block("heading", "Title"),
        Block("paragraph", "one"),
        Block("paragraph", "\ntwo"),
        Block("step", "Stir"),
        Block("paragraph", "end"),
    )
    assert record == RowRecord(2, "S", "A", "", "", "", blocks, {}, frozenset({"sheet", "row", "blocks"}))
    assert headings.unread == ("other",)


def test_row_headings_need_the_name_of_the_row() -> None:
    with pytest.raises(TableError, match="needs a column headed “row” or “id”"):
        row_headings(("sheet", "title"), ())


def test_column_records_give_facets_by_their_names() -> None:
    read = table("section,Facet_Task,tool\ntasks,shred,knife\n")
    (record,) = column_records(read, Problems("f"))
    assert record == (2, None, "tasks", (("task", "shred"), ("tool", "knife")))


# --- a scheme out of answers ----------------------------------------------------------------------------------------


def options_of(answers: list[str], *, nominal: bool = False) -> tuple[Kind, list[tuple[str, str, int | None]]]:
    source = infer_scheme(answers, key="k", version=1, title="T", question="Q", nominal=nominal)
    question = load_scheme(source).sections[0].questions[0]
    return question.kind, [(option.key, option.label, option.value) for option in question.options]


def test_infer_scheme_makes_a_scale_of_whole_numbers_without_a_gap() -> None:
    assert options_of(["2", "1.0", "", "NA", "0", "2"]) == (Kind.SCALE, [("0", "0", 0), ("1", "1", 1), ("2", "2", 2)])
    kind, steps = options_of([str(n) for n in range(11)])  # ratings from 0 to 10
    assert (kind, len(steps)) == (Kind.SCALE, 11)
    assert options_of([str(n) for n in range(12)]) == (Kind.NUMBER, [])


def test_infer_scheme_sorts_numbers_with_a_gap_as_numbers() -> None:
    assert options_of(["10", "-5", "2"]) == (
        Kind.CHOICE,
        [("minus-5", "-5", None), ("2", "2", None), ("10", "10", None)],
    )


def test_infer_scheme_takes_numbers_for_names_when_told() -> None:
    assert options_of(["2", "1"], nominal=True) == (Kind.CHOICE, [("1", "1", None), ("2", "2", None)])


def test_infer_scheme_sorts_words_and_folds_their_capitals() -> None:
    assert options_of(["not found", "Found", "found", "日"]) == (
        Kind.CHOICE,
        [("found", "Found", None), ("not-found", "not found", None), ("option-3", "日", None)],
    )


def test_infer_scheme_takes_more_numbers_than_options_for_numbers() -> None:
    assert options_of([*(str(n) for n in range(-5, 6)), "2.5", "NA"]) == (Kind.NUMBER, [])


@pytest.mark.parametrize(
    ("last", "kind"),
    [("4,00", Kind.NUMBER), ("1.5", Kind.NUMBER), ("1,234", Kind.TEXT), ("1,2,3", Kind.TEXT)],
)
def test_infer_scheme_takes_a_decimal_comma_for_a_point(last: str, kind: Kind) -> None:
    assert options_of([*(f"{number},75" for number in range(12)), last]) == (kind, [])


def test_infer_scheme_takes_more_words_than_options_for_a_text() -> None:
    assert options_of([f"word {n}" for n in range(11)]) == (Kind.TEXT, [])
    assert options_of([str(n) for n in range(11)], nominal=True) == (Kind.TEXT, [])
    with pytest.raises(TableError, match="an answer of 20001 characters"):
        options_of([*(f"word {n}" for n in range(11)), "x" * 20_001])


def test_infer_scheme_refuses_a_single_answer() -> None:
    with pytest.raises(TableError, match="and the file has 1"):
        infer_scheme(["yes", "YES"], key="k", version=1, title="T", question="Q")


@pytest.mark.parametrize(
    ("text", "number"), [("2", 2), ("+2", 2), ("-3.0", -3), ("2.5", None), ("two", None), ("", None)]
)
def test_whole_number(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_tables_load_without_django() -> None:
    for name in ("exchange/tables", "exchange/records", "exchange/row_records", "scheme/inference"):
        source = (Path(__file__).parents[2] / "annotation" / f"{name}.py").read_text(encoding="utf-8")
        assert "django" not in source.replace("no Django", "")


def test_many_headings_are_understood_soon() -> None:
    facets = [f"facet_x{number}" for number in range(9_000)]
    begin = time.process_time()

    label_headings(["rater", "row", "answer", *facets])
    label_headings(["row", *facets, *(f"w{number}" for number in range(900))], wide=True)
    list(column_records(table(",".join(facets)), Problems("file.csv")))

    assert time.process_time() - begin < 2
