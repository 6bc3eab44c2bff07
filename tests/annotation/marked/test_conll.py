"""Texts of CoNLL-2003 and what is like it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.exchange.json_tables import open_rows
from annotation.exchange.marked.conll import ConllSource, can_say, is_conll, tokens_of, written
from annotation.exchange.marked.documents import Document, Span
from annotation.exchange.row_imports import ImportRefused
from annotation.exchange.tables import Problems, TableError
from annotation.models import Rater, Study
from tests.annotation.marked import studies
from tests.annotation.marked.studies import bring, bring_rows, packed, said

pytestmark = [pytest.mark.once]

IOB1 = """\
-DOCSTART- -X- O O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
German JJ I-NP I-MISC
Peter NNP I-NP B-MISC
Blackburn NNP I-NP I-PER

BRUSSELS NNP I-NP I-LOC
BRUSSELS NNP I-NP I-LOC

-DOCSTART- -X- O O

Nobody NN I-NP O
"""
FOUND = [(0, 2, "ORG"), (11, 17, "MISC"), (18, 23, "MISC"), (24, 33, "PER"), (34, 51, "LOC")]
IOB2 = IOB1.replace("I-ORG", "B-ORG").replace("German JJ I-NP I", "German JJ I-NP B").replace("I-PER", "B-PER")
IOB2 = IOB2.replace("I-LOC", "B-LOC", 1)
IOBES = IOB2.replace("B-ORG", "S-ORG").replace("B-MISC", "S-MISC").replace("B-PER", "S-PER").replace("I-LOC", "E-LOC")
BILOU = IOBES.replace(" S-", " U-").replace(" E-", " L-")


def read(file: str, *, problems: Problems | None = None) -> list[Document]:
    source = ConllSource(io.BytesIO(file.encode()), "news.conll")
    return list(source.documents(problems or Problems("news.conll")))


def spans(document: Document) -> list[Span]:
    return list(document.given[0].spans or ())


@pytest.mark.parametrize("file", [IOB1, IOB2, IOBES, BILOU], ids=["IOB1", "IOB2", "IOBES", "BILOU"])
@pytest.mark.parametrize("change", [(" ", " "), (" ", "  "), (" ", "\t"), ("\n", "\r\n")], ids=repr)
def test_all_schemes_say_the_same_whatever_is_between_the_columns(file: str, change: tuple[str, str]) -> None:
    problems = Problems("news.conll")
    first, second = read(file.replace(*change), problems=problems)
    assert is_conll(file.replace(*change).encode())
    assert first.text == "EU rejects German Peter Blackburn\nBRUSSELS BRUSSELS"
    assert spans(first) == FOUND
    assert (first.name, second.name, second.text, spans(second)) == ("1", "2", "Nobody", [])
    assert problems.total == 0


def test_where_no_document_begins_each_sentence_is_one_and_documents_may_have_names() -> None:
    found = read("\ufeff# id 4f\nLech\tB-PER\n\n\nAnn\tB\nmet\tO\n# O\n")
    assert [(one.name, one.text, spans(one)) for one in found] == [
        ("1", "Lech", [(0, 4, "PER")]),
        ("2", "Ann met #", [(0, 3, "")]),
    ]
    named = read("\ufeff-DOCSTART- (947testa CRICKET) O\n\nA O\n\nB O\n")
    assert [(one.name, one.text) for one in named] == [("947testa CRICKET", "A\nB")]


def test_a_comment_between_two_sentences_does_not_join_them() -> None:
    """Two names of two sentences were one."""
    [document] = read("-DOCSTART- O\n\n# id 1\nLech I-PER\n\n# id 2\nAnn I-PER\n# a comment\nLee I-PER\n")
    assert document.text == "Lech\nAnn Lee"
    assert spans(document) == [(0, 4, "PER"), (5, 12, "PER")]


@pytest.mark.parametrize("bracket", ["[", "{"])
def test_a_file_may_begin_with_a_bracket_that_is_a_token(bracket: str) -> None:
    """It was taken for JSON."""
    file = f"{bracket} -X- O O\nLech NNP I-NP B-PER\n".encode()
    table = open_rows(io.BytesIO(file), name="news.txt", max_bytes=2**20)
    assert [line.cells for line in table.lines(Problems("news.txt"))] == [["1", f"{bracket} Lech"]]


@pytest.mark.parametrize(
    ("start", "is_one"),
    [
        (b"Lech NNP B-PER\nmet VB", True),
        (b"rater\trow\tanswer\nann\t7\tO\n", False),
        (b"rater,row,answer\nann,7,O\n", False),
        (b"text\nB-PER\n", False),
        (b"", False),
        (b"\n\n", False),
        (b"# only a comment\n", False),
    ],
)
def test_it_is_known_by_the_tags_of_its_first_lines(start: bytes, is_one: bool) -> None:
    assert is_conll(start) is is_one


def test_what_is_no_token_and_what_ends_nothing_is_named_by_its_line() -> None:
    problems = Problems("news.conll")
    [document] = read("Lech B-PER\nmet\nAnn PER\nLee E-PER\nLi B-PER\nPo L-LOC\n", problems=problems)
    assert {str(one): lines.first for one, lines in problems.shown.items()} == {
        "“met” is no token with a tag in its last column, such as O, B-PER or I-PER.": [2],
        "“Ann PER” is no token with a tag in its last column, such as O, B-PER or I-PER.": [3],
        "“E-PER” ends a name that was not begun before it.": [4],
        "“L-LOC” ends a name that was not begun before it.": [6],
    }
    assert document.text == "Lech met Ann Lee Li Po"


def test_tokens_are_words_and_single_signs_with_the_marks_that_combine() -> None:
    text = "Gdan\u0301sk 3.5\u00a0🙂🙂 \u0928\u092e\u0938\u094d\u0924\u0947"
    assert [text[start:end] for start, end in tokens_of(text)] == [
        *("Gdan\u0301sk", "3", ".", "5", "🙂", "🙂", "\u0928\u092e\u0938\u094d\u0924\u0947")
    ]


@pytest.mark.parametrize(
    ("found", "can"),
    [
        ([Span(0, 3, "PER"), Span(3, 4, "X")], True),
        ([Span(0, 3, "PER"), Span(0, 4, "X")], False),
        ([Span(0, 4, "PER"), Span(2, 4, "X")], False),
        ([Span(3, 7, "PER")], False),
        ([Span(2, 4, "PER")], True),
        ([Span(3, 5, "PER")], False),
    ],
    ids=["beside", "inside", "overlapping", "two lines", "in a word", "a blank behind"],
)
def test_what_tags_can_say(found: list[Span], can: bool) -> None:
    assert can_say("Anns\nLee", found) is can


def test_what_is_written_is_read_as_it_was() -> None:
    text = "EU rejects German Peter Blackburn\nBRUSSELS BRUSSELS"
    file = written(text, [Span(*span) for span in FOUND], set())
    assert file.startswith("-DOCSTART- -X- O O\n\nEU -X- O B-ORG\nrejects -X- O O\n")
    [document] = read(file)
    assert (document.text, spans(document)) == (text, FOUND)
    assert [one.text for one in read(written("", [], ()) + written("A", [], ()))] == ["", "A"]


@pytest.mark.django_db
def test_rows_then_labels(tmp_path: Path) -> None:
    study = studies.study(scheme=studies.SCHEME.replace("ORG, LOC]", "ORG, LOC, MISC]"))
    data = IOB1.encode()
    assert bring_rows(study, data, "eng.testa").rows == 2
    with pytest.raises(TableError, match="does not say who marked its words"):
        bring(study, data, "eng.testa")
    bring(study, data, "eng.testa", every={"rater": "gold"})
    assert [entry["words"] for entry in said(study)["1", "gold", "names"]] == [
        *("EU", "German", "Peter", "Blackburn", "BRUSSELS BRUSSELS")
    ]
    assert said(study)["2", "gold", "names"] == []
    assert Rater.objects.get(study=study).kind == Rater.Kind.GOLD
    both = packed({"anna.conll": data, "ben.conll": IOBES.encode()})
    assert bring(study, both, "news.zip").raters_of_files == ("anna", "ben")
    assert said(study)["1", "anna", "names"] == said(study)["1", "ben", "names"]
    bad = packed({"anna.conll": data, "cid.conll": b"\nLech B-PER\nmet VB\n"})
    with pytest.raises(ImportRefused) as refused:
        bring(study, bad, "news.zip")
    assert "news.zip, cid.conll line 3: “met VB” is no token" in "\n".join(refused.value.problems)
    with pytest.raises(TableError, match=r"Line 2 of “x\.conll” is not UTF-8"):
        bring(study, b"Lech B-PER\n\xe4 O\n", "x.conll", every={"rater": "ann"})
    (tmp_path / "eng.conll").write_bytes(data)
    how = {"new_study": "Made", "every_rater": "anna", "stdout": io.StringIO()}
    call_command("import_labels", "made", tmp_path / "eng.conll", **how)
    [spec] = Study.objects.get(slug="made").scheme.parsed.sections[0].questions
    assert spec.items is not None
    assert spec.items.said[1].options == ("LOC", "MISC", "ORG", "PER")
