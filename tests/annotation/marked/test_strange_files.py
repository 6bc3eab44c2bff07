"""Files of marked words that are broken, made to do harm, or no such files at all."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import pytest

from annotation.exchange.json_tables import open_labels, open_rows
from annotation.exchange.marked import webanno_tsv
from annotation.exchange.marked.texts import MarkedText
from annotation.exchange.row_imports import ImportRefused
from annotation.exchange.tables import Problems, TableError
from annotation.models import Row
from tests import builders
from tests.annotation.marked import studies
from tests.annotation.marked.studies import SPANS, TEXT, bring, bring_rows, lines, packed, said

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
    """As of a text that was saved with other ends of lines since, or with a mark of its encoding."""
    study = studies.study()
    at = TEXT.index("Lech")
    files = {"7.txt": f"\ufeff{TEXT}".encode(), "7.ann": f"T1\tPER {at + 1} {at + 5}\tLech\n".encode()}
    bring_rows(study, packed(files), "news.zip")
    with pytest.raises(ImportRefused) as refused:
        bring(study, packed(files), "news.zip", every={"rater": "anna"})
    assert refused.value.problems == [
        "news.zip, 7.ann line 1: From 3 to 7 “7” has not “Lech”, as is said here.",
    ]
    assert not said(study)


@pytest.mark.parametrize("how", [open_labels, open_rows])
def test_a_file_is_as_large_as_any_other_may_be(how: Any) -> None:
    data = lines({"id": 7, "text": TEXT, "label": SPANS})
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
