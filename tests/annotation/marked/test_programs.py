"""Texts and marked words of doccano, Prodigy and INCEpTION, in the forms that these write."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.exchange.row_imports import ImportRefused
from annotation.exchange.tables import TableError
from annotation.models import Rater, Row, Study
from tests.annotation.marked import studies
from tests.annotation.marked.studies import (
    BLOCKS,
    ENTRIES,
    FILES,
    SPANS,
    TEXT,
    UNITS,
    bring,
    bring_rows,
    lines,
    packed,
    said,
)

pytestmark = [pytest.mark.django_db, pytest.mark.once]

TRIPLES = {"id": 7, "text": TEXT, "source": "wire", "label": UNITS, "Comments": ["looks odd"]}
ENTITIES = {
    "id": 7,
    "text": TEXT,
    "Comments": [],
    "entities": [
        {"id": n, "label": label, "start_offset": start, "end_offset": end}
        for n, (start, end, label) in enumerate(reversed(UNITS))
    ],
    "relations": [],
}
OLDER = {"id": 7, "data": TEXT, "label": UNITS}  # as versions up to 1.6 wrote it
LABELS = {"id": 7, "text": TEXT, "meta": {}, "annotation_approver": "boss", "labels": UNITS}
TASK = {
    "text": TEXT,
    "meta": {"source": "wire"},
    "_input_hash": -91551573,
    "_task_hash": -1162253049,
    "_is_binary": False,
    "tokens": [{"text": "🙂", "start": 0, "end": 1, "id": 0, "ws": True}],
    "_view_id": "ner_manual",
    "spans": [
        {"start": start, "end": end, "token_start": 0, "token_end": 0, "label": label} for start, end, label in SPANS
    ],
    "answer": "accept",
    "_timestamp": 1707211049,
    "_annotator_id": "news-anna",
    "_session_id": "news-anna",
}


def blocks(row: str = "7") -> list[str]:
    return [block.text for block in Row.objects.get(name=row).blocks]


@pytest.mark.parametrize("of", [TRIPLES, ENTITIES, OLDER, LABELS], ids=["triples", "entities", "data", "labels"])
def test_doccano(of: dict[str, Any]) -> None:
    """Row and text by the same file; the annotator is called as the file is."""
    study = studies.study()
    assert bring_rows(study, lines(of)).rows == 1
    assert blocks() == BLOCKS
    imported = bring(study, lines(of), "anna (1).jsonl")
    assert said(study) == {("7", "anna", "names"): ENTRIES}
    assert imported.unread == ()
    assert "Who answered, by the names of files: anna." in imported.sentences()


def test_doccano_as_a_list_and_zipped_as_it_exports() -> None:
    study = studies.study()
    one, other = {"id": 1, "text": "Ann.", "label": [[0, 3, "PER"]]}, {"id": 2, "text": "Nobody.", "label": []}
    both = packed({"anna.jsonl": lines(one, other), "ben.jsonl": lines({**one, "label": []}, other)})
    assert bring_rows(study, both, "news.zip").rows == 2
    imported = bring(study, both, "news.zip")
    ann = {"words": "Ann", "type": "PER", "at": "0:0-3"}
    assert said(study) == {
        ("1", "anna", "names"): [ann],
        ("2", "anna", "names"): [],
        ("1", "ben", "names"): [],
        ("2", "ben", "names"): [],
    }
    assert (imported.unmarked, imported.raters_of_files) == (3, ("anna", "ben"))
    whole = b"[" + b",\n".join(lines(one, other).splitlines()) + b"]"
    assert bring(study, whole, "anna.json").nothing_new


def test_doccano_of_everybody_in_one_file_asks_who_it_is() -> None:
    study = studies.study()
    bring_rows(study, lines(TRIPLES))
    with pytest.raises(TableError, match="does not say who marked its words"):
        bring(study, lines(TRIPLES), "all.jsonl")
    assert bring(study, lines(TRIPLES), "all.jsonl", every={"rater": "anna"}).labels == 1
    assert bring(study, lines(TRIPLES), "other.jsonl", every={"rater": "anna"}).raters_of_files == ()


def test_doccano_with_relations_says_that_they_are_not_read() -> None:
    study = studies.study()
    of = {**ENTITIES, "relations": [{"id": 1, "from_id": 1, "to_id": 2, "type": "met"}]}
    bring_rows(study, lines(of))
    assert bring(study, lines(of)).unread == ("relations",)


def test_doccano_with_categories_beside() -> None:
    """Intent detection and slot filling: each goes to the question that can take it."""
    study = studies.study()
    of = {"id": 7, "text": TEXT, "entities": UNITS, "cats": ["Glad"]}
    bring_rows(study, lines(of))
    bring(study, lines(of))
    assert said(study) == {("7", "anna", "names"): ENTRIES, ("7", "anna", "mood"): "glad"}


def test_prodigy() -> None:
    """Two people at one text; rejected and ignored ones are no answers."""
    study = studies.study()
    file = lines(
        TASK,
        {**TASK, "_annotator_id": "news-ben", "_session_id": "news-ben", "spans": []},
        {**TASK, "_annotator_id": "news-cid", "_session_id": "news-cid", "answer": "reject"},
        {**TASK, "_annotator_id": "news-dan", "_session_id": "news-dan", "answer": "ignore"},
    )
    rows = bring_rows(study, file, "news.jsonl")
    assert (rows.rows, rows.unread) == (1, ("source",))
    assert blocks("-91551573") == BLOCKS
    imported = bring(study, file, "news.jsonl")
    assert said(study) == {
        ("-91551573", "news-anna", "names"): ENTRIES,
        ("-91551573", "news-ben", "names"): [],
    }
    assert (imported.empty, imported.unmarked, imported.unread) == (2, 1, ())


def test_prodigy_names_no_person_by_when_a_session_began() -> None:
    study = studies.study()
    file = lines({**TASK, "id": "a", "_annotator_id": "2024-02-06_10-17-19", "_session_id": "2024-02-06_10-17-19"})
    bring_rows(study, file)
    with pytest.raises(TableError, match="does not say who marked its words"):
        bring(study, file, "news.jsonl")
    bring(study, file, "news.jsonl", every={"rater": "anna"})
    assert said(study) == {("a", "anna", "names"): ENTRIES}


CHOICE = {
    "text": "Good news.",
    "id": "b",
    "options": [{"id": "glad", "text": "Glad"}, {"id": "sad", "text": "Sad"}],
    "_view_id": "choice",
    "accept": ["glad"],
    "answer": "accept",
    "_task_hash": 1,
    "_annotator_id": "anna",
}


def test_prodigy_of_choices_and_the_headings_named_as_before() -> None:
    for slug, how in (("a", {}), ("b", {"headings": {"row": "id", "answer": "accept"}, "every": {"question": "mood"}})):
        study = studies.study(slug)
        bring_rows(study, lines(CHOICE))
        bring(study, lines(CHOICE), **how)
        assert said(study) == {("b", "anna", "mood"): "glad"}, slug
    with pytest.raises(ImportRefused) as refused:
        bring(studies.study("c"), lines({**CHOICE, "accept": ["glad", "sad"]}))
    assert "“Mood” has several answers (glad, sad)" in str(refused.value.problems)


def test_inception_as_cas_json_made_by_its_own_library() -> None:
    """An emoji before a span is two units there, and one character here."""
    study = studies.study()
    data = (FILES / "inception-cas.json").read_bytes()
    assert bring_rows(study, data, "download.json").rows == 1
    assert blocks("doc1.txt") == ["🙂 Lech met Ann.", "In Gdańsk."]
    imported = bring(study, data, "download.json", every={"rater": "anna"})
    assert said(study) == {
        ("doc1.txt", "anna", "names"): [
            {"words": "Lech", "type": "PER", "at": "0:2-6"},
            {"words": "Ann", "type": "PER", "at": "0:11-14"},
            {"words": "Gdańsk", "type": "LOC", "at": "1:3-9"},
        ]
    }
    assert imported.unread == ("NamedEntity.identifier", "Knows")


def test_inception_with_structures_by_their_numbers_and_marked_offsets() -> None:
    """As earlier drafts of the format have them."""
    study = studies.study()
    cas = json.loads((FILES / "inception-cas.json").read_bytes())
    cas["%FEATURE_STRUCTURES"] = {
        str(of.pop("%ID")): {{"begin": "^begin", "end": "^end"}.get(key, key): said for key, said in of.items()}
        for of in cas["%FEATURE_STRUCTURES"]
    }
    data = json.dumps(cas).encode()
    bring_rows(study, data, "download.json")
    bring(study, data, "download.json", every={"rater": "anna"})
    assert [entry["words"] for entry in said(study)["doc1.txt", "anna", "names"]] == ["Lech", "Ann", "Gdańsk"]


def test_inception_as_webanno_tsv() -> None:
    """Spans of several tokens, stacked ones, a part of a token, a sentence of two lines."""
    study = studies.study(scheme=studies.SCHEME.replace("options: [PER", "options: [family_name, PER"))
    data = (FILES / "webanno.tsv").read_bytes()
    bring_rows(study, data, "doc1.tsv")
    assert blocks("doc1") == ["🙂 Lech Wałęsa met Ann .", "In Gdańsk", "or IBMs ."]
    imported = bring(study, data, "doc1.tsv", every={"rater": "anna"})
    assert said(study)["doc1", "anna", "names"] == [
        {"words": "Lech Wałęsa", "type": "PER", "at": "0:2-13"},
        {"words": "Wałęsa", "type": "family_name", "at": "0:7-13"},
        {"words": "Ann", "type": "PER", "at": "0:18-21"},
        {"words": "Gdańsk", "type": "LOC", "at": "1:3-9"},
        {"words": "IBM", "type": "ORG", "at": "2:3-6"},
    ]
    assert imported.unread == ("NamedEntity.identifier", "Knows")


def test_the_export_of_a_project_of_inception() -> None:
    study = studies.study()
    data = (FILES / "inception-cas.json").read_bytes()
    nothing = data.replace(b'"PER"', b'"ORG"')
    project = packed(
        {
            "exportedproject.json": b"{}",
            "source/doc1.txt": b"text",
            "annotation/doc1.txt/INITIAL_CAS.json": data,
            "annotation/doc1.txt/anna.json": data,
            "annotation/doc1.txt/ben.json": nothing,
            "annotation_ser/doc1.txt/anna.ser": b"\0",
            "curation/doc1.txt/CURATION_USER.json": data,
            "curation/doc1.txt/INITIAL_CAS.json": data,
        }
    )
    assert bring_rows(study, project, "project.zip").rows == 1
    assert bring(study, project, "project.zip").raters_of_files == ("anna", "ben", "gold")
    assert sorted(said(study)) == [("doc1.txt", who, "names") for who in ("anna", "ben", "gold")]
    assert Rater.objects.get(study=study, code="gold").kind == Rater.Kind.GOLD
    xmi = packed({"annotation/doc1.txt/anna.zip": b"PK"})
    with pytest.raises(TableError, match="secondary format"):
        bring(study, xmi, "project.zip")


def test_several_layers_go_to_the_questions_that_are_called_as_they_are() -> None:
    scheme = studies.SCHEME + studies.SCHEME[studies.SCHEME.index("      - key: names") :].replace(
        "names", "NamedEntity"
    ).replace("Names", "Entities").replace("key: NamedEntity", "key: named-entity")
    study = studies.study(scheme=scheme)
    data = (FILES / "inception-cas.json").read_bytes()
    token = (
        b'"%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token",\n      "@sofa": 1,\n      "begin": 8'
    )
    assert token in data
    more = data.replace(token, b'"%TYPE": "webanno.custom.Names",\n      "@sofa": 1,\n      "begin": 8')
    bring_rows(study, more, "download.json")
    bring(study, more, "download.json", every={"rater": "anna"})
    assert {question: len(value) for (_row, _who, question), value in said(study).items()} == {
        "named-entity": 3,
        "names": 1,
    }
    with pytest.raises(ImportRefused) as refused:
        bring(study, data.replace(b"NamedEntity", b"Chunk"), "download.json", every={"rater": "ben"})
    assert "one of names, named-entity" in str(refused.value.problems)


AT = {"id": 7, "text": "Ann met Lech.\n\n Ann.", "label": [[0, 3, "PER"]]}


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ([AT, {**AT, "id": 8, "label": [[0, 3, "GPE"]]}], "line 2: “Type” of “Names” is one of these, not “GPE”: PER"),
        ([{**AT, "label": [[16, 21, "PER"]]}], "“PER” from 16 to 21 is no stretch of “7”, whose text has 20"),
        ([{**AT, "label": [[3, 3, "PER"]]}], "“PER” from 3 to 3 is no stretch"),
        ([{**AT, "label": [[-1, 3, "PER"]]}], "“PER” from -1 to 3 is no stretch"),
        ([{**AT, "label": [[13, 16, "PER"]]}], "“PER” from 13 to 16 of “7” marks white space alone"),
        ([AT, {**AT, "label": [[0, 3, "PER"], [0, "3", "PER"]]}], "line 2: “[0, \"3\", \"PER\"]” is no marked stretch"),
        ([{**AT, "label": [[0, 3, "PER"], [0, 3, "PER"]]}], "“Ann”, from 0 to 3 of “7”, is marked as “PER” 2 times"),
        ([{**AT, "text": "Ann met Eve."}], "line 1: The text of “7” is another one here"),
        ([{**AT, "id": 9}], "line 1: The study has no text of this row in which words could be marked"),
        ([AT, {"id": 8, "label": [[0, 3, "PER"]]}], "line 2: This line has no “text”"),
        ([{**TASK, "_view_id": "ner", "_is_binary": True}], "line 1: This is a yes or no to one suggestion"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_come_in_is_named_by_its_line_and_nothing_does(file: list[dict[str, Any]], sentence: str) -> None:
    study = studies.study()
    bring_rows(study, lines(AT, {**AT, "id": 8}))
    with pytest.raises(ImportRefused) as refused:
        bring(study, lines(*file))
    assert sentence in "\n".join(refused.value.problems)
    assert said(study) == {}
    assert not Rater.objects.filter(study=study).exists()


def test_a_row_may_have_more_to_read_behind_its_text_and_a_text_may_be_empty() -> None:
    study = studies.study()
    file = lines({"id": 7, "heading": "News", "text": TEXT, "label": UNITS}, {"id": 8, "text": " \n", "label": []})
    bring_rows(study, file)
    assert blocks() == [*BLOCKS, "News"]
    bring(study, file)
    assert said(study) == {("7", "anna", "names"): ENTRIES, ("8", "anna", "names"): []}


def test_overlapping_words_come_in() -> None:
    """In an order of their own, whatever that of the file."""
    study = studies.study()
    of = {**AT, "label": [[8, 12, "PER"], [0, 12, "ORG"], [0, 3, "PER"]]}
    bring_rows(study, lines(of))
    bring(study, lines(of))
    assert [entry["at"] for entry in said(study)["7", "anna", "names"]] == ["0:0-3", "0:0-12", "0:8-12"]


def test_a_label_that_no_field_takes_is_a_problem() -> None:
    scheme = studies.SCHEME.replace("            - {key: type, options: [PER, ORG, LOC]}\n", "")
    study = studies.study(scheme=scheme)
    bring_rows(study, lines(AT))
    with pytest.raises(ImportRefused) as refused:
        bring(study, lines(AT))
    assert "“Names” has no field for the label “PER”" in str(refused.value.problems)
    assert bring(study, lines({**AT, "label": [[0, 3, "names"]]})).labels == 1


def test_a_problem_in_a_zip_names_the_file_and_its_line() -> None:
    study = studies.study()
    bring_rows(study, lines(AT))
    bad = {**AT, "label": [[0, 3, "GPE"]]}
    with pytest.raises(ImportRefused) as refused:
        bring(study, packed({"anna.jsonl": lines(AT), "ben.jsonl": b"\n" + lines(bad)}), "news.zip")
    [problem] = refused.value.problems
    assert problem.startswith("news.zip, ben.jsonl line 2: “Type” of “Names”")


def test_what_else_a_line_says_is_not_taken_for_what_is_asked_here() -> None:
    study = studies.study()
    of = {**AT, "question": "Who met whom?", "section": "2", "note": "n", "repeat": "3"}
    bring_rows(study, lines(of))
    assert bring(study, lines(of)).labels == 1


def test_a_file_of_a_zip_that_cannot_be_read_is_not_passed_over() -> None:
    study = studies.study()
    bring_rows(study, lines(AT))
    for bad, sentence in ((b"{", "“ben.jsonl” of “news.zip” has no texts"), (b"[1]", "has no texts")):
        with pytest.raises(TableError, match=sentence):
            bring(study, packed({"anna.jsonl": lines(AT), "ben.jsonl": bad}), "news.zip")
    assert bring(study, packed({"anna.jsonl": lines(AT), "ben.jsonl": b""}), "news.zip").labels == 1
    data = (FILES / "inception-cas.json").read_bytes()
    broken = bytearray(packed({"annotation/doc1.txt/anna.json": data}))
    at = broken.index(b"sofaString")
    broken[at : at + 4] = b"xxxx"
    with pytest.raises(TableError, match="cannot be unpacked"):
        bring(study, bytes(broken), "project.zip")
    for wrong, why in (
        (data.replace(b'"%VIEWS"', b""), "is no JSON"),
        (data.replace(b"sofaString", b"other"), "no text"),
    ):
        with pytest.raises(TableError, match=why):
            bring(study, wrong, "doc.json", every={"rater": "anna"})
    with pytest.raises(TableError, match="Line 4 of “doc.tsv” is no token"):
        bring(study, b"#FORMAT=WebAnno TSV 3.3\n\n\n1-1 0-3 Ann\n", "doc.tsv", every={"rater": "anna"})


def test_a_zip_of_something_else_is_still_refused_and_one_that_unpacks_to_too_much() -> None:
    study = studies.study()
    with pytest.raises(TableError, match="is no workbook"):
        bring(study, packed({"labels.csv": b"rater,row,answer\n"}), "x.zip")
    with pytest.raises(TableError, match="unpacks to"):
        bring(study, packed({"anna.jsonl": lines({**AT, "text": "x" * 2**21})}), "x.zip")


def test_a_text_that_was_labelled_here_and_is_another_one_in_label_studio_is_a_problem() -> None:
    study = studies.study()
    bring_rows(study, lines(AT))
    value = {"start": 0, "end": 3, "text": "Eve", "labels": ["PER"]}
    result = {"from_name": "names", "to_name": "text", "type": "labels", "value": value}
    task = {"id": 7, "data": {"text": "Eve."}, "annotations": [{"completed_by": "ann", "result": [result]}]}
    with pytest.raises(ImportRefused) as refused:
        bring(study, b"[" + lines(task) + b"]", "tasks.json")
    assert "The text of “7” is another one here" in str(refused.value.problems)


def test_a_new_study_asks_for_the_words_and_labels_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "news.zip").write_bytes(packed({"anna.jsonl": lines(TRIPLES), "ben.jsonl": lines(ENTITIES)}))
    out = io.StringIO()
    call_command("import_labels", "made", tmp_path / "news.zip", "--new-study", "Made", stdout=out)
    assert "New: 1 sheet, 1 row, 2 raters, 2 labels." in out.getvalue()
    study = Study.objects.get(slug="made")
    [spec] = study.scheme.parsed.sections[0].questions
    assert spec.items is not None
    assert spec.items.said[1].options == ("LOC", "ORG", "PER")
    told = [{"words": entry["words"], "label": entry["type"], "place": entry["at"]} for entry in ENTRIES]
    assert said(study) == {("7", who, "spans"): told for who in ("anna", "ben")}
    bad = {**TRIPLES, "label": [[0, 999, "PER"]]}
    (tmp_path / "anna.jsonl").write_bytes(lines(bad))
    with pytest.raises(CommandError, match="is no stretch of"):
        call_command("import_labels", "other", tmp_path / "anna.jsonl", "--new-study", "Other", stdout=out)
    (tmp_path / "both.jsonl").write_bytes(lines({**TRIPLES, "entities": UNITS, "cats": ["Glad"]}))
    with pytest.raises(CommandError, match="answers several questions"):
        call_command("import_labels", "other", tmp_path / "both.jsonl", "--new-study", "Other", stdout=out)
    (tmp_path / "none.jsonl").write_bytes(lines({**TRIPLES, "label": []}))
    with pytest.raises(CommandError, match="marked with 0 labels"):
        call_command("import_labels", "other", tmp_path / "none.jsonl", "--new-study", "Other", stdout=out)
    assert not Study.objects.filter(slug="other").exists()


def test_a_new_study_of_choices_has_their_options(tmp_path: Path) -> None:
    file = lines(CHOICE, {**CHOICE, "id": "c", "accept": ["sad"]}, {**CHOICE, "id": "d", "answer": "ignore"})
    (tmp_path / "choices.jsonl").write_bytes(file)
    call_command("import_labels", "made", tmp_path / "choices.jsonl", "--new-study", "Made", stdout=io.StringIO())
    study = Study.objects.get(slug="made")
    assert said(study) == {("b", "anna", "answer"): "glad", ("c", "anna", "answer"): "sad"}


def test_brat() -> None:
    """Texts and marks side by side in a ZIP; nobody is named in it."""
    study = studies.study()
    marks = "".join(
        f"T{n}\t{label} {start} {end}\t{TEXT[start:end]}\n" for n, (start, end, label) in enumerate(SPANS, 1)
    )
    files = {"news/7.txt": TEXT.encode(), "news/7.ann": f"{marks}R1\tmet Arg1:T1 Arg2:T2\n#1\tNote T1\todd\n".encode()}
    assert bring_rows(study, packed(files), "news.zip").rows == 1
    assert blocks("news/7") == BLOCKS
    with pytest.raises(TableError, match="does not say who marked its words"):
        bring(study, packed(files), "news.zip")
    assert bring(study, packed(files), "news.zip", every={"rater": "anna"}).unread == ("relations",)
    assert said(study) == {("news/7", "anna", "names"): ENTRIES}
    apart = {**files, "news/7.ann": b"T1\tPER 2 6\tLech\nT2\tPER 2 6;11 14\tLech Ann\n"}
    with pytest.raises(ImportRefused) as refused:
        bring(study, packed(apart), "news.zip", every={"rater": "ben"})
    assert refused.value.problems == [
        "news.zip, news/7.ann line 2: “T2\tPER 2 6;11 14\tLech Ann” is no single stretch as brat has them."
    ]
