"""Files of marked words that are broken, made to do harm, or no such files at all."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
import zipfile
from functools import partial
from typing import Any

import pytest

from annotation.exchange.json_tables import open_labels, open_rows
from annotation.exchange.marked import webanno_tsv
from annotation.exchange.marked.texts import MarkedText
from annotation.exchange.row_imports import ImportRefused
from annotation.exchange.tables import Problems, TableError
from annotation.exchange.zips import is_hidden, size_unpacked
from annotation.models import Row
from tests import builders
from tests.annotation.marked import studies
from tests.annotation.marked.studies import TEXT, UNITS, bring, bring_rows, lines, many_files, packed, said

pytestmark = pytest.mark.once

HEAD = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Name|value\n\n\n"
HUGE = "9" * 5000


def webanno(body: str) -> list[tuple[str, str]]:
    """The words of each span, with its label."""
    found = webanno_tsv.read(f"{HEAD}{body}".encode(), "a.tsv")
    [spans] = found.layers.values()
    units = found.text.encode("utf-16-le")
    return [(units[2 * one.begin : 2 * one.end].decode("utf-16-le"), one.said.get("value", "")) for one in spans]


def test_blanks_before_the_first_token_of_a_sentence_count() -> None:
    assert webanno("#Text=  Ann met\n1-1\t2-5\tAnn\tPER\n1-2\t6-9\tmet\t_\n") == [("Ann", "PER")]
    body = "#Text=🙂 x\n1-1\t0-2\t🙂\t_\n1-2\t3-4\tx\t_\n\n#Text= 🙂 Ann\n2-1\t6-8\t🙂\t_\n2-2\t9-12\tAnn\tPER\n"
    assert webanno(body) == [("Ann", "PER")]


def test_a_backslash_before_the_number_of_an_annotation() -> None:
    tokens = "1-1\t0-3\tAnn\t{0}\n1-2\t4-6\tvan\t{0}\n"
    two = "#Text=Ann va\n1-1\t0-3\tAnn\t{0}\n1-2\t4-6\tva\t{0}\n"
    assert webanno(two.format(r"a\\[1]")) == [("Ann va", "a\\")]
    assert webanno(two.format(r"a\[1]")) == [("Ann", "a[1]"), ("va", "a[1]")]
    assert webanno(two.format(r"a\|b[1]|\*[2]|*[3]")) == [("Ann va", "a|b"), ("Ann va", "*"), ("Ann va", "")]
    with pytest.raises(TableError, match="from 4 to 6 .* there is no “van”"):
        webanno(f"#Text=Ann va\n{tokens.format('P')}")


@pytest.mark.parametrize(
    "body",
    [
        "#Text=Ann\n1-1\t1-3\tAnn\tPER\n",
        "#Text=Ann\n1-1\t300000000-300000003\tAnn\tPER\n",
        "#Text=Ann met\n1-1\t0-3\tAnn\t_\n\n#Text=Ben\n2-1\t5-8\tBen\tPER\n",
        "1-1\t0-3\tAnn\tPER\n",
        f"#Text=Ann\n1-1\t0-{HUGE}\tAnn\tPER\n",
    ],
    ids=["between", "far away", "in the sentence before", "without a text", "a huge number"],
)
def test_a_token_that_stands_nowhere_is_refused(body: str) -> None:
    with pytest.raises(TableError, match=r"Line \d+ of “a.tsv”"):
        webanno(body)


def test_long_files_are_read_in_the_time_of_their_length() -> None:
    sentences = "".join(
        f"#Text={'a' * 100}\n{n}-1\t{n * 101}-{n * 101 + 100}\t{'a' * 100}\tP\n\n" for n in range(20_000)
    )
    begun = time.process_time()
    assert len(webanno(sentences)) == 20_000
    assert len(webanno("#Text=Ann\n1-1\t0-3\tAnn\t" + "a" * 20_000 + "\\\n")) == 1
    assert time.process_time() - begun < 5  # it was half a minute


@pytest.mark.django_db
def test_numbers_of_thousands_of_digits_are_problems() -> None:
    study = studies.study()
    files = {"7.txt": TEXT.encode(), "7.ann": f"T1\tPER 2 {HUGE}\tLech\n".encode()}
    bring_rows(study, packed(files), "news.zip")
    with pytest.raises(ImportRefused) as refused:
        bring(study, packed(files), "news.zip", every={"rater": "anna"})
    assert "is no single stretch as brat has them" in refused.value.problems[0]
    cas = {"%TYPES": {}, "%FEATURE_STRUCTURES": {HUGE: {"%TYPE": "uima.cas.Sofa", "sofaString": "Ann"}}}
    assert bring_rows(study, json.dumps(cas).encode(), "cas.json").rows == 1


@pytest.mark.django_db
def test_marks_of_brat_on_other_words_than_they_say() -> None:
    """As of a text that was saved with other ends of lines since."""
    study = studies.study()
    files = {"7.txt": b"In\nGdansk.", "7.ann": b"T1\tLOC 3 9\tGdansk\nT2\tLOC 4 10\tGdansk\n"}
    bring_rows(study, packed(files), "news.zip")
    with pytest.raises(ImportRefused) as refused:
        bring(study, packed(files), "news.zip", every={"rater": "anna"})
    assert refused.value.problems == [
        "news.zip, 7.ann line 2: From 4 to 10 “7” has not “Gdansk”, as is said here.",
    ]
    assert not said(study)


@pytest.mark.django_db
@pytest.mark.parametrize("counted", [1, 0], ids=["as brat does", "by who takes it off"])
def test_a_byte_order_mark_of_a_text_of_brat(counted: int) -> None:
    study = studies.study()
    at = TEXT.index("Lech") + counted
    files = {"7.txt": f"\ufeff{TEXT}".encode(), "7.ann": f"\ufeffT1\tPER {at} {at + 4}\tLech\n".encode()}
    bring_rows(study, packed(files), "news.zip")
    bring(study, packed(files), "news.zip", every={"rater": "anna"})
    assert said(study) == {("7", "anna", "names"): [{"words": "Lech", "type": "PER", "at": "0:2-6"}]}


@pytest.mark.parametrize("how", [open_labels, open_rows])
def test_a_file_is_as_large_as_any_other_may_be(how: Any) -> None:
    data = lines({"id": 7, "text": TEXT, "label": UNITS})
    assert how(io.BytesIO(data), name="anna.jsonl", max_bytes=len(data))
    with pytest.raises(TableError, match="at most 0 MB go in at once"):
        how(io.BytesIO(data), name="anna.jsonl", max_bytes=len(data) - 1)


@pytest.mark.parametrize("starts", [[4, 0], [4], [-4, 0, 4, 10**30], [0, 4, 4]])
def test_blocks_begin_in_the_text_in_its_order(starts: list[int]) -> None:
    assert MarkedText("Ann met", starts).extents == [(0, 3), (4, 7)]


def test_a_line_of_labels_in_full_is_none_of_another_program() -> None:
    table = open_labels(
        io.BytesIO(lines({"row": "7", "rater": "anna", "question": "mood", "text": TEXT, "label": ["glad"]})),
        name="anna.jsonl",
        max_bytes=2**20,
    )
    assert table.header == ("row", "rater", "question", "text", "label")
    [line] = table.lines(Problems("anna.jsonl"))
    assert line.cells[-1] == '["glad"]'


@pytest.mark.django_db
def test_rows_keep_what_they_say_beside_their_labels() -> None:
    """A facet may be called as other programs call something of theirs; a list of texts is a line each."""
    scheme = studies.SCHEME.replace("sections:", "row: {facets: [score, priority]}\nsections:", 1)
    study = studies.study(scheme=scheme)
    of = {
        "id": 7,
        "text": "Ann",
        "label": ["glad"],
        "score": "3",
        "priority": 1,
        "answer": "x",
        "evidence_list": ["a", "b"],
    }
    assert bring_rows(study, lines(of)).unread == ()
    row = Row.objects.get()
    assert row.facets == {"score": "3", "priority": "1"}
    assert [block.text for block in row.blocks] == ["Ann", "a", "b"]


@pytest.mark.django_db
def test_a_text_that_looks_like_a_conversation_is_the_text_that_words_are_marked_in() -> None:
    study = builders.study("news", of=builders.scheme(studies.SCHEME))
    text = json.dumps([{"role": "user", "content": "Ann?"}])
    at = text.index("Ann")
    of = {"id": 7, "text": text, "label": [[at, at + 3, "PER"]]}
    bring_rows(study, lines(of))
    assert [block.text for block in Row.objects.get().blocks] == [text]
    assert bring(study, lines(of)).labels == 1


# --- what programs write that nobody expects ------------------------------------------------------------------------


@pytest.mark.django_db
def test_rows_that_came_without_the_blanks_of_their_lines_take_marks() -> None:
    """As imports made them before lines kept these; one that only looks so is another text."""
    study = studies.study()
    text = "Ann\n    met Lech\n\tin Oslo"
    of = {"id": 7, "text": text, "label": [[8, 16, "PER"], [4, 11, "ORG"], [18, 25, "LOC"]]}
    bring_rows(study, lines(of))
    row = Row.objects.get()
    row.evidence = [{**block, "text": block["text"].strip()} for block in row.evidence]
    row.save(update_fields=["evidence"])
    bring(study, lines(of))
    assert said(study) == {
        ("7", "anna", "names"): [
            {"words": "met", "type": "ORG", "at": "1:0-3"},
            {"words": "met Lech", "type": "PER", "at": "1:0-8"},
            {"words": "in Oslo", "type": "LOC", "at": "2:0-7"},
        ]
    }
    assert bring(study, lines(of)).nothing_new
    value = {"start": 8, "end": 16, "text": "met Lech", "labels": ["PER"]}
    by_ben = {"completed_by": "ben", "result": [{"type": "labels", "from_name": "names", "value": value}]}
    bring(study, json.dumps([{"id": 7, "data": {"text": text}, "annotations": [by_ben]}]).encode(), "ls.json")
    assert said(study)["7", "ben", "names"] == [{"words": "met Lech", "type": "PER", "at": "1:0-8"}]
    with pytest.raises(ImportRefused) as refused:
        bring(study, lines({**of, "label": [[4, 7, "PER"]]}), "cid.jsonl")
    assert "from 4 to 7 of “7” marks white space alone" in refused.value.problems[0]
    row.evidence[1]["text"] = "met  Lech"
    row.save(update_fields=["evidence"])
    with pytest.raises(ImportRefused) as refused:
        bring(study, lines(of), "cid.jsonl")
    assert "The text of “7” is another one here" in refused.value.problems[0]


@pytest.mark.django_db
def test_offsets_of_doccano_are_those_that_its_page_counts() -> None:
    """It has marked “Ann” from 3 on (https://github.com/doccano/doccano/issues/2290)."""
    study = studies.study()
    of = {"id": 7, "text": "🙂 Ann", "label": [[3, 6, "PER"]]}
    bring_rows(study, lines(of))
    bring(study, lines(of))
    assert said(study)["7", "anna", "names"] == [{"words": "Ann", "type": "PER", "at": "0:2-5"}]
    for label in ([1, 6, "PER"], [3, 7, "PER"]):
        with pytest.raises(ImportRefused) as refused:
            bring(study, lines({**of, "label": [label]}), "ben.jsonl")
        assert "is no stretch of the text as doccano counts" in refused.value.problems[0]


@pytest.mark.django_db
def test_offsets_of_label_studio_before_it_counted_code_points() -> None:
    study = studies.study()
    text = "🙂 Ann met 🙂 Lech."
    bring_rows(study, lines({"row": "7", "text": text}), "rows.jsonl")
    at, lech = text.index("Ann"), text.index("Lech")

    def task(*spans: tuple[int, int, str]) -> bytes:
        result = [
            {"type": "labels", "from_name": "names", "value": {"start": s, "end": e, "text": words, "labels": ["PER"]}}
            for s, e, words in spans
        ]
        of = {"data": {"row": "7", "text": text}, "annotations": [{"completed_by": "anna", "result": result}]}
        return json.dumps([of]).encode()

    bring(study, task((at + 1, at + 4, "Ann"), (lech + 2, lech + 6, "Lech")), "old.json")
    found = said(study)["7", "anna", "names"]
    assert [entry["at"] for entry in found] == ["0:2-5", f"0:{lech}-{lech + 4}"]
    assert bring(study, task((at, at + 3, "Ann"), (lech, lech + 4, "Lech")), "new.json").nothing_new


@pytest.mark.django_db
def test_a_task_of_prodigy_without_spans_says_that_there_are_none() -> None:
    """As where somebody accepts a text at once; it may be the first of the file."""
    study = studies.study()
    nothing = {"text": "Nobody.", "id": "a", "_view_id": "ner_manual", "answer": "accept", "_annotator_id": "anna"}
    one = {**nothing, "text": "Ann.", "id": "b", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    ignored = {**nothing, "text": "?", "id": "c", "answer": "ignore"}
    file = lines(nothing, {**one, "relations": [{"head": 0}]}, ignored)
    bring_rows(study, file)
    imported = bring(study, file)
    assert said(study) == {
        ("a", "anna", "names"): [],
        ("b", "anna", "names"): [{"words": "Ann", "type": "PER", "at": "0:0-3"}],
    }
    assert (imported.unmarked, imported.empty, imported.unread) == (1, 1, ("relations",))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.django_db
def test_json_in_utf_16_as_windows_keeps_what_programs_print(encoding: str) -> None:
    study = studies.study()
    data = lines({"id": 7, "text": TEXT, "label": UNITS}).decode()
    file = (data if encoding == "utf-16" else f"\ufeff{data}").encode(encoding)
    assert bring_rows(study, file).rows == 1
    assert bring(study, file).labels == 1
    with pytest.raises(TableError, match="no UTF-16 text"):
        bring(study, file[:-1] if encoding == "utf-16" else file + b"\xd8")
    with pytest.raises(TableError, match="at most 0 MB"):
        open_labels(io.BytesIO(file), name="anna.jsonl", max_bytes=len(file) - 1)


def test_signs_of_webanno_that_stand_for_others() -> None:
    """Java's numbers are of versions up to 3.1; a form feed is one sign."""
    found = webanno_tsv.read(f"{HEAD}#Text=G\\u0105ska\\f\\ud83d\\ude42 \\\\u0041\n".encode() + (
        b"1-1\t0-5\tG\\u0105ska\tPER\n1-2\t6-8\t\\ud83d\\ude42\tORG\n1-3\t9-15\t\\\\u0041\t_\n"
    ), "a.tsv")  # fmt: skip
    assert found.text == "Gąska\f🙂 \\u0041"


@pytest.mark.django_db
def test_names_and_labels_with_signs_that_no_database_keeps() -> None:
    scheme = studies.SCHEME.replace(", options: [PER, ORG, LOC]", "")
    study = studies.study(scheme=scheme)
    files = {"a\x01b.txt": b"Ann", "a\x01b.ann": b"T1\tP\x00ER 0 3\tAnn\n"}
    bring_rows(study, packed(files), "news.zip")
    bring(study, packed(files), "news.zip", every={"rater": "anna"})
    assert said(study) == {("ab", "anna", "names"): [{"words": "Ann", "type": "PER", "at": "0:0-3"}]}


@pytest.mark.django_db
def test_an_entry_over_more_paragraphs_than_it_takes() -> None:
    study = studies.study()
    text = "\n".join(f"Line {n}" for n in range(13))
    of = {"id": 7, "text": text, "label": [[0, len(text) - 8, "PER"]]}
    bring_rows(study, lines(of))
    assert bring(study, lines(of)).labels == 1
    with pytest.raises(ImportRefused) as refused:
        bring(study, lines({**of, "label": [[0, len(text), "PER"]]}), "ben.jsonl")
    assert "reaches over more than 12 paragraphs of the text" in refused.value.problems[0]


@pytest.mark.django_db
def test_texts_come_in_whatever_is_marked_in_them_and_a_line_without_one_is_told() -> None:
    study = studies.study()
    good = {"id": 1, "text": "Ann", "label": [[0, 3, "PER"]]}
    bad = [{**good, "id": 2, "label": [[0, "3", "PER"]]}, {**good, "id": 3, "text": "🙂", "label": [[0, 1, "PER"]]}]
    assert bring_rows(study, lines(good, *bad)).rows == 3
    binary = {"text": "Ben", "id": 4, "spans": [], "_view_id": "ner", "answer": "accept", "_is_binary": True}
    assert bring_rows(study, lines(binary)).rows == 1
    for data, name in ((lines(good, {"id": 9}), "a.jsonl"), (packed({"a.jsonl": lines(good, {"id": 9})}), "a.zip")):
        with pytest.raises(ImportRefused) as refused:
            bring_rows(study, data, name)
        assert "line 2: This line has no “text”." in refused.value.problems[0]


# --- ZIPs ------------------------------------------------------------------------------------------------------------

AT = lines({"id": 7, "text": "Ann", "label": [[0, 3, "PER"]]})
zipped = partial(packed, method=zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize("how", [open_labels, open_rows])
def test_a_zip_never_unpacks_to_more_than_it_says(how: Any) -> None:
    size = 60 * 2**20
    honest = zipped({"anna.jsonl": b"\n" * size})
    lying = honest.replace(size.to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="unpacks to 1 files of 60 MB; at most 20000 of 50 MB"):
            how(io.BytesIO(honest), name="news.zip", max_bytes=50 * 2**20)
        with pytest.raises(TableError, match="cannot be unpacked: it is locked or broken"):
            how(io.BytesIO(lying), name="news.zip", max_bytes=50 * 2**20)
        assert tracemalloc.get_traced_memory()[1] < 5 * 2**20
    finally:
        tracemalloc.stop()
    with pytest.raises(TableError, match="cannot be unpacked: it is locked or broken"):
        how(io.BytesIO(packed({"anna.jsonl": AT}, zipfile.ZIP_LZMA)), name="news.zip", max_bytes=2**20)


@pytest.mark.parametrize("how", [open_labels, open_rows])
@pytest.mark.parametrize("end", [0, 30, -1, -40], ids=str)
def test_a_broken_zip_is_called_so(how: Any, end: int) -> None:
    whole = zipped({"anna.jsonl": AT * 100})
    data = whole[:end] if end else whole.replace(b"anna.jsonl", b"anna.jsonn", 1)
    with pytest.raises(TableError, match="no ZIP that can be unpacked|cannot be unpacked: it is locked or broken"):
        how(io.BytesIO(data), name="news.zip", max_bytes=2**20)


@pytest.mark.parametrize("how", [open_labels, open_rows])
def test_a_zip_of_a_version_to_come(how: Any) -> None:
    data = bytearray(zipped({"anna.jsonl": AT}))
    at = data.index(b"PK\x01\x02")
    data[at + 6] = 200  # the version that is needed to unpack it
    for name in ("news.zip", "news.xlsx"):
        with pytest.raises(TableError):
            how(io.BytesIO(data), name=name, max_bytes=2**20)


@pytest.mark.parametrize("how", [open_labels, open_rows])
def test_a_long_list_of_files_is_not_read(how: Any) -> None:
    """Nine times as much as it takes in the file was in memory before the files were counted."""
    data = many_files(200_000)
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="holds more files than can be read at once"):
            how(io.BytesIO(data), name="news.zip", max_bytes=50 * 2**20)
        with pytest.raises(TableError):
            how(io.BytesIO(data), name="news.xlsx", max_bytes=50 * 2**20)
        assert size_unpacked(io.BytesIO(data)) == len(data)
        assert tracemalloc.get_traced_memory()[1] < 3 * len(data)
    finally:
        tracemalloc.stop()


def test_paths_that_begin_at_the_folder_they_were_packed_in() -> None:
    """They were taken for hidden files, and the ZIP for empty."""
    of_brat = packed({"./1.txt": b"Ann", "./1.ann": b"T1\tPER 0 3\tAnn\n"})
    table = open_labels(io.BytesIO(of_brat), name="news.zip", max_bytes=2**20)
    assert [line.cells[table.header.index("row")] for line in table.lines(Problems("news.zip"))] == ["1"]
    assert is_hidden(".git/1.txt")


def test_files_of_a_zip_that_would_be_lost() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("anna.jsonl", AT)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("anna.jsonl", AT)
    with pytest.raises(TableError, match="has the file “anna.jsonl” twice"):
        open_labels(out, name="news.zip", max_bytes=2**20)
    alone = zipped({"1.txt": b"Ann", "1.ann": b"", "2.ann": b"T1\tPER 0 3\tAnn\n"})
    with pytest.raises(TableError, match="“2.ann” of “news.zip” has no text “2.txt” beside it"):
        open_labels(io.BytesIO(alone), name="news.zip", max_bytes=2**20)


def test_names_in_a_zip_that_are_utf_8_without_saying_so() -> None:
    """As the programs of some systems pack them."""
    data = zipped({"jürgen.jsonl": AT})
    flags = bytearray(data)
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        flags[data.index(sign) + at + 1] &= 0xF7
    table = open_labels(io.BytesIO(flags), name="news.zip", max_bytes=2**20)
    assert table.raters_of_files == ("jürgen",)


def test_how_large_a_file_is_once_it_is_unpacked() -> None:
    data = lines({"id": 7, "text": "a" * 2**21, "label": []})
    assert size_unpacked(io.BytesIO(data)) == len(data)
    small = zipped({"anna.jsonl": data})
    assert len(small) < 10_000
    assert size_unpacked(io.BytesIO(small)) == len(data)
    assert size_unpacked(io.BytesIO(small[:-1])) == len(small) - 1
    workbook = zipped({"[Content_Types].xml": b"x" * 2**21})
    assert size_unpacked(io.BytesIO(workbook)) == len(workbook)
