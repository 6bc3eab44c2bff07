"""Texts with code, lists and headings, as language models write them: from a file to the page and to a judge."""

from __future__ import annotations

import pytest

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import LIST
from annotation.evidence.lines import laid_out, lines_of, paragraphs_of
from annotation.exchange.rows_and_columns import import_rows
from annotation.models import Row, Study
from annotation.scheme.spec import load_scheme
from annotation.views import work
from judges.methods.prompt_files import load_prompt
from judges.methods.prompt_texts import row_text
from judges.models import Judge
from judges.runs.evidence import evidence_of
from tests import builders
from tests.annotation.importing import table
from tests.annotation.marked import studies
from tests.builders import ClientOf
from tests.databases import made_once

ANSWER = """\
## Steps

1. **First** rub it:
   - with oil
      and a cloth
   - twice
2. Then:

```python
def rub(pan):
    # dry
    return pan
```
Done. 1) no entry within a line.

    a verse, set in
| a | b |"""

SCHEME = """
key: texts
version: 1
title: Texts
sections:
  - {key: text, title: Text, questions: [{key: good, title: Good, options: [{key: a, label: A}, {key: b, label: B}]}]}
"""

DOWN = SCHEME.replace("title: Text, questions", "title: Text, layout: down, column: {facets: [step]}, questions")
DOWN = DOWN.replace("version: 1", "version: 2")


def looks(text: str) -> list[tuple[str, int]]:
    return [(line.look.value, line.depth) for line in laid_out(paragraphs_of(text))]


def test_how_the_lines_of_an_answer_are_laid_out() -> None:
    assert looks(ANSWER) == [
        ("head", 0), ("item", 0), ("item", 1), ("more", 1), ("item", 1), ("item", 0),
        ("fence", 0), ("code", 0), ("code", 0), ("code", 0), ("fence", 0),
        ("", 0), ("kept", 0), ("code", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Plain words.\n- and 3 - 2 = 1", [("", 0), ("item", 0)]),
        ("2024. was a year", [("", 0)]),  # no list has so many entries
        ("#nolabel and #another", [("", 0)]),
        ("```\nnever closed\n# no heading", [("fence", 0), ("code", 0), ("code", 0)]),
        ("````\n```\ninside\n````\nout", [("fence", 0), ("code", 0), ("code", 0), ("fence", 0), ("", 0)]),
        ("\n".join(f"{'  ' * n}- b" for n in range(8)), [("item", min(n, 4)) for n in range(8)]),
        ("- one\nwords\n  words", [("item", 0), ("", 0), ("kept", 0)]),
    ],
    ids=["dashes", "years", "hashtags", "open", "fence in a fence", "deep", "after a list"],
)  # fmt: skip
def test_what_is_no_markdown_stays_as_it_is(text: str, found: list[tuple[str, int]]) -> None:
    assert looks(text) == found


@made_once
def study() -> Study:
    return builders.study("texts", of=builders.scheme(SCHEME))


def written(text: str, heading: str = "text") -> str:
    quoted = text.replace('"', '""')
    return f'row,{heading}\n1,"{quoted}"\n'


def test_a_file_keeps_the_blanks_that_lines_begin_with_but_those_of_entries(study: Study) -> None:
    import_rows(study=study, rows=table(written(ANSWER)))
    row = Row.objects.get()
    assert [block.text for block in row.blocks] == lines_of(ANSWER, gaps=True)
    assert "    return pan" in [block.text for block in row.blocks]
    import_rows(study=study, rows=table('row,list\n2,"flour\n  eggs"'))
    assert Row.objects.get(name="2").blocks == [Block(LIST, "flour"), Block(LIST, "eggs")]


def test_rows_of_before_are_those_of_the_same_file_still(study: Study) -> None:
    import_rows(study=study, rows=table(written(ANSWER)))
    row = Row.objects.get()
    row.evidence = [{**block, "text": block["text"].strip()} for block in row.evidence]
    row.save()
    again = import_rows(study=study, rows=table(written(ANSWER)))
    assert (again.nothing_new, again.unchanged) == (True, 1)


def test_the_page_and_a_judge_have_code_as_it_was_written(study: Study, client_of: ClientOf) -> None:
    import_rows(study=study, rows=table(written(ANSWER)))
    anna = builders.user("anna")
    [work] = builders.assignments(builders.rater(study, anna), study.sheets.get())
    page = client_of(anna).get(f"/assignments/{work.pk}/evidence/").content.decode()
    assert '<p data-b dir="auto" data-look="code">    return pan</p>' in page
    assert '<p data-b dir="auto" data-look="item" data-depth="1">   - with oil</p>' in page
    assert page.count("data-b ") == len(work.row.blocks)
    prompt = load_prompt("row: $evidence\nquestions: {text.good: {cell: 'Good? $options'}}")
    said = row_text(prompt, title="", blocks=work.row.blocks, facets={})
    assert "\n-     return pan\n" in said


CODE = """\
So:

```python
def rub(pan):
    dry(pan)


    return pan
```

Done."""


def test_empty_lines_of_a_text_are_kept_and_its_page_has_room_for_them(study: Study, client_of: ClientOf) -> None:
    import_rows(study=study, rows=table(written(CODE)))
    row = Row.objects.get()
    assert "\n".join(block.text for block in row.blocks) == CODE
    anna = builders.user("anna")
    [work] = builders.assignments(builders.rater(study, anna), study.sheets.get())
    page = client_of(anna).get(f"/assignments/{work.pk}/evidence/").content.decode()
    assert '<p data-b dir="auto" data-look="code" data-gap>\n\n    return pan</p>' in page
    assert '<p data-b dir="auto" data-gap>\nDone.</p>' in page
    assert page.count("data-gap") == 3


def test_what_a_judge_reads_has_no_empty_lines(study: Study) -> None:
    """As of rows that were brought before these were kept."""
    import_rows(study=study, rows=table(written(CODE)))
    read = evidence_of(Judge(method=Judge.Method.CLOZE), Row.objects.get())
    assert [block.text for block in read] == lines_of(CODE)


def test_a_text_that_is_read_down_keeps_its_empty_lines_and_its_lines_are_found(study: Study) -> None:
    """It lost them, where criteria stand below each other too, and no column is a line of the text."""
    actions.change_scheme(study=study, spec=load_scheme(DOWN), source=DOWN)
    import_rows(study=study, rows=table(written(CODE)))
    row = Row.objects.get()
    assert "\n".join(block.text for block in row.blocks) == CODE

    section = study.scheme.sections.get()
    line = actions.add_column(sheet=row.sheet, section=section, spec=section.spec, facets={"step": "Done."})
    [(_block, *_place, kind, _share)] = work.evidence_of(row)["hits"][line.pk]["step"]
    assert kind == work.LINE


def test_where_words_are_marked_texts_are_their_lines_alone(study: Study) -> None:
    """However they come, and where such a scheme takes the place of another one."""
    others = builders.study("others", of=builders.scheme(studies.SCHEME))
    import_rows(study=study, rows=table(written(CODE)))
    actions.change_scheme(study=study, spec=load_scheme(studies.SCHEME), source=studies.SCHEME)
    import_rows(study=others, rows=table(written(CODE)))
    actions.add_row(sheet=others.sheets.get(), name="2", evidence=paragraphs_of(CODE))
    for row in Row.objects.all():
        assert [block.text for block in row.blocks] == lines_of(CODE)


def test_words_that_were_marked_elsewhere_fit_texts_that_came_before_their_question(study: Study) -> None:
    """They were said to be of another text."""
    file = studies.lines({"id": 7, "text": "One.\n\nLech came.", "label": [[6, 10, "PER"]]})
    studies.bring_rows(study, file)
    actions.change_scheme(study=study, spec=load_scheme(studies.SCHEME), source=studies.SCHEME)
    studies.bring(Study.objects.get(), file)
    assert studies.said(study)["7", "anna", "names"] == [{"words": "Lech", "type": "PER", "at": "1:0-4"}]
