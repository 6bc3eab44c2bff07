"""Prompts that are made of a scheme: each fits it as it stands."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from annotation.scheme.spec import SchemeSpec, load_scheme
from judges.methods import Method, prompting
from judges.methods.skeletons import skeleton
from tests import builders

pytestmark = pytest.mark.once

SHIPPED = sorted(Path("recipes").glob("*/schemes/*.yaml"))
LEASES = load_scheme(builders.SCHEME)
AWKWARD = """\
key: awkward
version: 1
title: Awkward
words: {sheet: list, sheets: lists, row: price list, rows: price lists}
row: {facets: [{key: shop, title: "Shop: which"}, {key: secret, hidden: true}]}
sections:
  - key: costs
    title: Costs
    column: {title: "Cost in $", facets: [cost]}
    questions:
      - key: reason
        title: "Why $5: \\"so\\" # much?"
        help: "A line\\n\\n  and another $one"
        kind: text
      - {key: q1, title: How dear, kind: scale, min: 1, max: 3}
      - {key: q2, title: How rare, kind: scale, min: 1, max: 3}
      - key: "1"
        title: Is it
        options: [{key: "yes", label: " Yes "}, {key: none, label: "No: $0"}, {key: empty, label: Empty, blank: true}]
  - key: more
    title: More
    column: {title: Thing, facets: [thing]}
    questions:
      - key: reason
        title: Only one
        options: [{key: a, label: A}, {key: b, label: B, blank: true}]
"""


def asked(scheme: SchemeSpec, method: str) -> dict[str, prompting.QuestionPrompt]:
    """What a skeleton asks, once it was checked; nothing of none."""
    text = skeleton(scheme, method)
    if not text:
        return {}
    spec = prompting.load_prompt(text)
    prompting.check_against(spec, scheme, method, normalisation="pmi" if method == "cloze" else "none")
    return prompting.questions_for(spec, method)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_skeleton_of_a_shipped_scheme_asks_all_that_its_method_can_answer(path: Path) -> None:
    scheme = load_scheme(path.read_text(encoding="utf-8"))
    questions = {f"{of.key}.{question.key}": question for of in scheme.sections for question in of.questions}
    chosen = {name: question for name, question in questions.items() if question.has_options}
    found = {name for name, question in chosen.items() if question.about and question.kind != "scale"}
    assert asked(scheme, "writing").keys() == questions.keys()
    assert asked(scheme, "cloze").keys() == chosen.keys()
    assert asked(scheme, "rating").keys() == {name for name in chosen if chosen[name].kind == "scale"}
    assert asked(scheme, "lexical").keys() == asked(scheme, "embedding").keys() == found
    assert not skeleton(scheme, Method.STACKER)


@pytest.mark.parametrize("method", Method)
def test_a_skeleton_of_an_awkward_scheme_fits_it(method: Method) -> None:
    scheme = load_scheme(AWKWARD)
    n_asked = {"cloze": 3, "rating": 2, "writing": 5}
    assert len(asked(scheme, method)) == n_asked.get(method, 0)


def test_names_have_letters_alone_and_none_is_read_as_a_reason() -> None:
    names = [prompt.writing.name for prompt in asked(load_scheme(AWKWARD), "writing").values() if prompt.writing]
    assert names == ["COSTS REASON", "Q", "COSTS Q", "COSTS", "MORE REASON"]


def test_a_skeleton_says_what_the_scheme_says() -> None:
    cell = asked(LEASES, "cloze")["duties.stated"].cell
    assert cell == (
        "Duty: $column\nQuestion: Stated\nStated: The clause says it in so many words.\nImplied\nNot stated\nAnswer:\n"
    )
    lexical = asked(LEASES, "lexical")["duties.stated"].lexical
    assert lexical is not None
    assert (lexical.same, lexical.part, lexical.none) == ("stated", "implied", "absent")
    assert "heading" not in (lexical.kinds or ())


def test_a_row_that_is_asked_about_as_a_whole_has_no_empty_line_in_its_prompt() -> None:
    scheme = load_scheme(AWKWARD.replace('    column: {title: "Cost in $", facets: [cost]}\n', ""))
    assert asked(scheme, "cloze")["costs.q1"].cell == "Question: How dear\nOne of: 1, 2, 3\nAnswer:\n"


def test_an_encoder_is_named_where_the_usual_one_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm.encoders.encoder", lambda _name: SimpleNamespace(is_here=lambda: False))
    assert prompting.load_prompt(skeleton(LEASES, "embedding")).encoder == "characters"


def guided(guideline: str) -> SchemeSpec:
    of_section = '    guideline: "Not what may be meant."\n    questions:'
    return load_scheme(
        builders.SCHEME.replace("sections:", f"guideline: {json.dumps(guideline)}\nsections:", 1).replace(
            "    questions:", of_section, 1
        )
    )


@pytest.mark.parametrize("method", ["cloze", "rating", "writing"])
def test_a_judge_is_given_the_rules_that_people_are_given(method: str) -> None:
    scheme = guided("Read the clause first.\n\n- At $5 and more: ask.")
    row = prompting.load_prompt(skeleton(scheme, method)).row

    assert asked(scheme, method)
    assert row == (
        "Read the clause first.\n- At $$5 and more: ask.\nNot what may be meant.\nClause: $title\n$evidence\n"
    )


def test_rules_too_long_to_be_read_with_each_row_are_left_out_and_it_is_said() -> None:
    text = skeleton(guided("word " * 400), "writing")

    assert prompting.load_prompt(text).row == "Clause: $title\n$evidence\n"
    assert text.splitlines()[2] == (
        "# The scheme's guideline is too long to stand here: add what a judge has to know of it."
    )
    assert "guideline" not in skeleton(LEASES, "writing")
    assert "guideline" not in skeleton(guided("word " * 400), "lexical")
