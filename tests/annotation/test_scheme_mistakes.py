"""A scheme as somebody may write it who has never seen one: each mistake is told where it is, with what to write."""

from __future__ import annotations

import pytest

from annotation.scheme.spec import SchemeError, load_scheme
from tests.annotation.test_scheme import problems_of
from tests.builders import SCHEME

BEGUN = """key: first
version: 1
title: First
sections:
  - key: text
    title: The text
    questions:
"""
# id: (what is asked, line, column, key, words of the sentence)
FIRST_TRIES = {
    "tab": ("- key: a\n\ttitle: A", 9, 7, "", "a tab stands here; indent with blanks"),
    "open quote": (
        '- key: a\n  title: "A\n  kind: flag',
        9,
        16,
        "",
        "what begins here, a quote or a bracket, has no end",
    ),
    "quote in a quote": ('- {key: a}\n- key: b\n  title: "Is "it" so"', 10, 21, "", "behind its closing quote"),
    "text behind a bracket": ("- key: a\n  title: [you] and me", 9, 22, "", "behind its closing quote or bracket"),
    "open bracket": ("- {key: a\n- {key: b}", 9, 9, "", "a comma or a closing bracket is missing before this"),
    "no colon": (
        "- key: a\n  title A\n  kind: flag",
        9,
        9,
        "",
        "a colon with a blank behind it is missing in this line",
    ),
    "too deep": ("- key: a\n   title: A", 9, 15, "", "this line goes on with the text above it"),
    "not deep enough": ("- key: a\n title: A", 9, 8, "", "this line is indented otherwise"),
    "star": ("- key: a\n  title: *A*", 9, 16, "", "belongs in quotes"),
    "question mark": (
        "- key: a\n  title: ? so",
        9,
        16,
        "",
        "put texts with a colon, a question mark or the like in quotes",
    ),
    "hyphen": ("- key: a\n  title: - so", 9, 16, "", "text that begins with a hyphen in quotes"),
    "backslash": ('- key: a\n  title: "\\d"', 9, 18, "", "take single quotes"),
    "no-break space": ("- key: a\n  title: A\n  \xa0kind: flag", 10, 0, "questions.a.\xa0kind", "no-break space"),
    "blank in quotes": (
        '- key: a\n  title: A\n  " kind": flag',
        10,
        0,
        "questions.a. kind",
        "a blank stands beside this key,",
    ),
    "no blanks": ("- key:a", 8, 0, "questions.0", "behind a colon belongs a blank, such as {key: known,"),
    "nothing": ("", 7, 0, "text.questions", "a list should stand here, and there is nothing"),
    "no hyphens": ("key: a\n  title: A", 9, 14, "", "indent it as the keys that it belongs with"),
    "one mapping": ("  key: a\n  title: A", 7, 0, "text.questions", "each entry of which begins with “- ”"),
    "words as options": (
        "- key: a\n  title: A\n  options: [good, bad]",
        10,
        0,
        "a.options.0",
        "such as {key: good, label:",
    ),
    "options as a text": ("- key: a\n  title: A\n  options: good, bad", 10, 0, "a.options", "such as [first, second]"),
    "words as fields": (
        "- {key: a, title: A, kind: items, items: {fields: [what]}}",
        8,
        0,
        "items.fields.0",
        "such as {key: what}",
    ),
    "a date": ("- key: a\n  title: 2024-01-01\n  kind: flag", 9, 0, "a.title", "YAML reads this as a date"),
    "no number": ("- {key: a, title: A, kind: number, number: {max: .nan}}", 8, 0, "number.max", "should be a number"),
    "endless": (
        "- {key: a, title: A, kind: number, number: {max: 1.0e+400}}",
        8,
        0,
        "number.max",
        "should be a number",
    ),
    "a decimal comma": ("- {key: a, title: A, kind: number, number: {min: 0,5}}", 8, 0, "number.5", "with a point"),
    "a key of yes": ("- key: a\n  title: A\n  kind: flag\n  on: x", 11, 0, "questions.a.on", "put a key in quotes"),
    "a date for a key": (
        "- key: a\n  title: A\n  kind: flag\n  2024-01-01: x",
        11,
        0,
        "questions.a.2024-01-01",
        "put a key in quotes",
    ),
    "bounds of yes": (
        "- {key: a, title: A, kind: scale, min: no, max: yes}",
        8,
        0,
        "a.min",
        "whole numbers min and max",
    ),
    "upside down": (
        "- key: a\n  title: A\n  kind: number\n  number:\n    min: 5\n    max: 1",
        13,
        0,
        "number.max",
        "less than max",
    ),
    "a facet of no row": (
        "- key: a\n  title: A\n  kind: text\n  text:\n    from: [row.b]",
        12,
        0,
        "a.text.from",
        "which the row has not",
    ),
    "a twin field": (
        "- key: a\n  title: A\n  kind: items\n  items:\n    fields:\n      - {key: b}\n      - {key: b}",
        14,
        0,
        "items.fields.b.key",
        "two fields have the key “b”",
    ),
}


@pytest.mark.parametrize(("asked", "line", "column", "key", "message"), FIRST_TRIES.values(), ids=FIRST_TRIES.keys())
def test_a_first_try_is_told_where_it_is_wrong_and_what_to_write(
    asked: str, line: int, column: int, key: str, message: str
) -> None:
    with pytest.raises(SchemeError) as caught:
        load_scheme(BEGUN + "".join(f"      {one}\n" for one in asked.splitlines()))
    first = caught.value.problems[0]
    assert (first.line, caught.value.column) == (line, column)
    assert first.key.endswith(key)
    assert message in first.message


@pytest.mark.parametrize("end", ["\r", "\r\n", "\x85", "\u2028", "\u2029"], ids=ascii)
def test_a_file_with_line_ends_of_any_kind_is_told_its_mistakes(end: str) -> None:
    """The sentence looks at the line before the mistake, and looked for it by the line ends of Unix alone."""
    with pytest.raises(SchemeError) as caught:
        load_scheme(end.join(["key: first", "version: 1", "title: so: it is"]))
    [found] = caught.value.problems
    assert (found.line, caught.value.column) == (3, 10)
    assert "put texts with a colon" in found.message


def test_mistakes_are_told_in_the_order_of_their_lines() -> None:
    """A section's checks come before its questions where they are read, and behind them in the file."""
    asked = "      - {key: B, title: B, kind: flag}\n    checks: [{rule: a, question: b}]\n"
    assert [line for line, _key, _said in problems_of(BEGUN + asked)] == [8, 9]


def test_a_version_is_one_that_is_kept() -> None:
    (found,) = problems_of(SCHEME.replace("version: 1", "version: 99999999999"))
    assert found == (2, "version", "this should be at most 2147483647")


def test_a_second_file_behind_a_scheme_is_told() -> None:
    (found,) = problems_of(SCHEME + "---\nkey: more\n")
    assert found[0] == len(SCHEME.splitlines()) + 1
    assert "“---” begins another file" in found[2]
