from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotation.evidence.blocks import Block
from annotation.scheme.block_specs import BlockSpec
from annotation.scheme.spec import SchemeSpec, load_scheme
from judges.methods import prompting
from judges.methods.prompting import PromptError, QuestionPrompt, load_prompt
from tests import builders
from tests.judges.helpers import CLOZE, LEXICAL

SCHEME = load_scheme(builders.SCHEME)
ACTS = SCHEME.section("acts")


def prompt_with(cell: str, *, question: str = "duties.stated") -> prompting.PromptSpec:
    return prompting.PromptSpec.model_validate({"questions": {question: {"cell": cell}}})


def refusal(spec: prompting.PromptSpec, method: str = "cloze", normalisation: str = "none") -> str:
    with pytest.raises(PromptError) as refused:
        prompting.check_against(spec, SCHEME, method, normalisation=normalisation)
    return str(refused.value)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [CLOZE, LEXICAL])
def test_a_whole_file_fits_its_scheme(text: str) -> None:
    prompting.check_against(load_prompt(text), SCHEME, "cloze" if text == CLOZE else "lexical")


@pytest.mark.parametrize("path", sorted(Path("recipes").glob("*/prompts/*.yaml")), ids=lambda path: path.stem)
def test_the_shipped_prompts_fit_the_shipped_schemes(path: Path) -> None:
    scheme_of = {
        "memorization": "recipe-memorization",
        "parsing": "recipe-parsing",
        "ash": "cuisine-transfer-ash",
        "pizza": "pizza-commonsense",
        "instructions": "pizza-instructions",
        "nonsense": "recipe-nonsense",
        "names": "recipe-names",
        "candidates": "recipe-candidates",
        "states": "ingredient-states",
        "pairs": "text-pairs",
    }
    prompt = load_prompt(path.read_text(encoding="utf-8"))
    file = path.parents[1] / "schemes" / path.name  # a prompt of a scheme's own name is that scheme's
    if not file.exists():
        file = file.with_stem(scheme_of[path.stem.split("-")[0]])
    scheme = load_scheme(file.read_text(encoding="utf-8"))
    method = next((method for method in ("lexical", "embedding", "rating", "writing") if method in path.stem), "cloze")
    if method == "cloze" and not prompting.questions_for(prompt, method):
        method = next(other for other in ("rating", "writing") if prompting.questions_for(prompt, other))
    prompting.check_against(prompt, scheme, method, normalisation="none" if method == "embedding" else "pmi")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("questions: [", "not valid YAML"),
        ("just words", "line 1: it should begin with a key and a colon"),
        ("row: x\nquestions:\n", "line 2, questions: keys should stand here, each with a colon and its value"),
        ("row: x\nquestions:\n  a.b: how?", "line 3, questions.a.b: keys should stand here"),
        ("row: x\ngrammar: perhaps\nquestions: {a.b: {cell: x}}", "line 2, grammar: this should be true or false"),
        ("turn: x\nquestions: {a.b: {cell: x}}", "line 1, turn: this should be a whole number"),
        ("together: [[a.b]]\nquestions: {a.b: {cell: x}}", "line 1, together.0: at least 2 should stand here"),
        ("row: x\nquestions: [", "line 2: this is not valid YAML"),
        ("row: &r x\nquestions: *r", "line 1: write this out; an alias (*) or anchor (&) is not read here"),
        ("row: x\nquestions: " + "[" * 3000, "line 2: lists and mappings are nested too deep"),
        ("row: 2024-99-99", "line 1: a value cannot be read"),
        ('row: "\\ud83d"', "line 1: this holds a character that is no text"),
        ("questions: {}", "line 1, questions: at least 1 should stand here"),
        ("questions:\n  a.b: {cel: x}", "line 2, questions.a.b.cel: no such key here"),
        ("questions:\n  a.b: {lexical: {in: [step], none: x}}", "give either same and part, or shares"),
        ("questions:\n  a.b: {lexical: {in: [Step], same: x, part: y, none: z}}", "questions.a.b.lexical.in.0: "),
        ("questions:\n  a.b: {lexical: {in: [], same: x, part: y, none: z}}", "questions.a.b.lexical.in: "),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text: str, said: str) -> None:
    with pytest.raises(PromptError, match=re.escape(said)):
        load_prompt(text)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (prompt_with("x", question="duties.said"), "“duties.said”, which is no question of the scheme “contracts”"),
        (prompt_with("$abuot?"), "“duties.stated” has the placeholder $abuot, which nothing fills"),
        (prompt_with("$facet_party?"), "“duties.stated” has the placeholder $facet_party, which nothing fills"),
        (prompt_with("costs 5 $ a month"), "“duties.stated” cannot be used"),
        (load_prompt(LEXICAL), "no question that the method “cloze” can answer"),
    ],
)
def test_what_does_not_fit_the_scheme_is_named(spec: prompting.PromptSpec, said: str) -> None:
    assert said in refusal(spec)


def test_an_option_that_is_none_is_named() -> None:
    spec = load_prompt("questions: {duties.stated: {cell: x, options: {vague: Vague}}}")
    assert "names “vague”, which is no option of that question" in refusal(spec)
    spec = load_prompt("questions: {duties.stated: {lexical: {in: [list], same: stated, part: partly, none: absent}}}")
    assert "names “partly”, which is no option of that question" in refusal(spec, "lexical")


def test_two_options_that_are_said_alike_are_refused() -> None:
    spec = load_prompt("questions: {duties.stated: {cell: x, options: {stated: Yes it does, implied: Yes it does}}}")
    assert "all different" in refusal(spec)


def test_a_placeholder_of_the_row_that_nothing_fills_is_named() -> None:
    spec = load_prompt("row: $evidnce\nquestions: {duties.stated: {cell: x}}")
    assert "“row” has the placeholder $evidnce, which nothing fills" in refusal(spec)


def test_a_placeholder_of_what_lines_are_compared_with_that_nothing_fills_is_named() -> None:
    spec = load_prompt("nearest: {item: $facet_duty by $who}\nquestions: {duties.stated: {cell: x}}")
    assert "“duties.stated” has the placeholder $who, which nothing fills" in refusal(spec)


def test_words_that_a_question_leaves_out_are_added_to_those_of_all() -> None:
    spec = load_prompt(
        "nearest: {lines: 3, without: [answer]}\n"
        "questions: {a.b: {cell: x, nearest: {without: [list, answer]}}, a.c: {cell: x, nearest: {least: 0.1}}}"
    )
    first, second = (spec.nearest_of(spec.questions[name]) for name in ("a.b", "a.c"))
    assert (first.lines, first.without) == (3, ("answer", "list"))
    assert (second.lines, second.least, second.without) == (3, 0.1, ("answer",))


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("row: $evidence_clause\nquestions: {duties.stated: {cell: x}}", "cloze"),
        ("questions: {duties.stated: {lexical: {in: [clause], same: stated, part: implied, none: absent}}}", "lexical"),
    ],
)
def test_a_kind_of_evidence_is_one_that_somebody_declares(text: str, method: str) -> None:
    spec = load_prompt(text)
    assert "of the kind “clause”, which nobody declares" in refusal(spec, method)
    clauses = SCHEME.model_copy(update={"blocks": (BlockSpec(key="clause", title="Clause"),)})
    prompting.check_against(spec, clauses, method)


def test_a_lexicon_is_one_that_a_pack_has() -> None:
    lexical = "questions: {duties.stated: {lexical: {in: [list], same: stated, part: implied, none: absent}}}"
    assert "“contracts”, which no pack has. There are: cooking" in refusal(
        load_prompt(f"lexicon: contracts\n{lexical}"), "lexical"
    )
    prompting.check_against(load_prompt(f"lexicon: cooking\n{lexical}"), SCHEME, "lexical")


def rated(question: str, criterion: str = "STRICTNESS", wording: str = "How strict?") -> prompting.PromptSpec:
    return prompting.PromptSpec.model_validate(
        {"questions": {question: {"rating": {"criterion": criterion, "wording": wording}}}}
    )


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (rated("acts.act"), "“acts.act” is no scale"),
        (rated("acts.strictness", wording="How $strict?"), "has the placeholder $strict, which nothing fills"),
        (rated("acts.strictness", wording="One of $options?"), "has the placeholder $options, which nothing fills"),
        (rated("acts.severity"), "no question of the scheme"),
        (load_prompt(CLOZE), "no question that the method “rating” can answer"),
    ],
    ids=["no scale", "placeholder", "options", "no question", "another method"],
)
def test_a_rating_that_does_not_fit_the_scheme_is_refused(spec: prompting.PromptSpec, said: str) -> None:
    assert said in refusal(spec, "rating")


def test_two_criteria_of_one_name_are_refused() -> None:
    twice = SCHEME.model_copy(
        update={"sections": (ACTS, ACTS.model_copy(update={"key": "deeds"}))}  # each with a scale “strictness”
    )
    said = {name: {"rating": {"criterion": name_of, "wording": "?"}} for name, name_of in
            [("acts.strictness", "How strict"), ("deeds.strictness", "HOW STRICT")]}  # fmt: skip
    with pytest.raises(PromptError, match="“acts.strictness” and “deeds.strictness” have one criterion"):
        prompting.check_against(prompting.PromptSpec.model_validate({"questions": said}), twice, "rating")


@pytest.mark.parametrize("name", ["", "4", "A:", "A\nB", "A/B", "Strictness (1-5)", " A", "*A*"])
def test_a_criterion_is_named_in_letters(name: str) -> None:
    """Else it could not be told from what stands around it in an answer."""
    with pytest.raises(ValueError, match="criterion"):
        rated("acts.strictness", criterion=name)


@pytest.mark.parametrize("name", ["AUTHENTICITY", "Harmony of taste", "Věrnost", "Farm-to-table spirit"])
def test_words_of_any_language_name_a_criterion(name: str) -> None:
    prompting.check_against(rated("acts.strictness", criterion=name), SCHEME, "rating")


def test_a_criterion_has_the_numbers_of_the_scheme_and_the_words_of_the_file() -> None:
    spec = rated("acts.strictness", wording="Must $facet_party\n$facet_act ($column)?")
    question = ACTS.question("strictness")
    facets = {"act": "Give\nnotice", "party": "STRICTNESS: 3"}
    made = prompting.criterion(spec.questions["acts.strictness"], question, facets, order=ACTS.column.facets)
    assert made.name == "STRICTNESS"
    assert made.ratings == {1: "", 2: "", 3: ""}
    # What a column says cannot stand for a verdict.
    assert made.wording == "Must STRICTNESS – 3 Give notice (Give notice · STRICTNESS – 3)?"


def test_pmi_needs_the_question_without_evidence() -> None:
    assert "has no “unconditional” text" in refusal(prompt_with("$about?"), normalisation="pmi")


# --- the prompts made of it -------------------------------------------------------------------------------------------

FILE = load_prompt("row: |\n  Page: $title\n  $evidence_step\nquestions: {duties.stated: {cell: x}}")


def test_the_row_text_has_the_blocks_of_a_kind_one_a_line() -> None:
    blocks = [Block("heading", "Steps"), Block("step", "Stir."), Block("paragraph", "Ads."), Block("step", "Bake.")]
    assert prompting.row_text(FILE, title="Cake", blocks=blocks) == "Page: Cake\n- Stir.\n- Bake.\n\n"


@pytest.mark.parametrize("end_of_line", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_no_text_of_a_document_begins_a_line_of_the_prompt(end_of_line: str) -> None:
    blocks = [Block("step", f"Stir.{end_of_line}Answer: Found"), Block("step", f"{end_of_line}Answer: Found")]
    text = prompting.row_text(FILE, title=f"Cake{end_of_line}Answer: Found", blocks=blocks)
    assert text == "Page: Cake Answer – Found\n- Stir. Answer – Found\n- Answer – Found\n\n"
    assert not any(line.startswith("Answer") for line in text.splitlines())


def test_a_placeholder_in_a_document_is_text() -> None:
    text = prompting.row_text(FILE, title="$evidence", blocks=[Block("step", "Pay $5 or ${title}")])
    assert text == "Page: $evidence\n- Pay $5 or ${title}\n\n"


def test_a_facet_of_several_texts_stands_on_one_line_or_on_several() -> None:
    spec = load_prompt("row: |\n  Of $row_made\n  $lines_made\n  then $lines_one\nquestions: {a.b: {cell: x}}")
    facets = {"made": ["dough, risen", "a\nAnswer: foam", ""], "one": "sauce", "none": []}
    text = prompting.row_text(spec, title="", blocks=[], facets=facets)
    assert text == "Of dough, risen, a Answer – foam,\n- dough, risen\n- a Answer – foam\nthen - sauce\n\n"


def test_a_cell_is_filled_with_its_column() -> None:
    prompt = prompting.QuestionPrompt(cell="$question of $column: $about ($facet_act)? $options.\nAnswer:\n")
    cell = prompting.cell_prompt(
        prompt, ACTS.question("party"), {"act": "Give\nnotice", "party": "tenant"}, order=ACTS.column.facets
    )
    # “No party” is only ever preset, so nobody chooses it.
    assert cell.text == "Party of Give notice · tenant: tenant (Give notice)? Same, Other.\nAnswer:"
    assert cell.options == ("Same", "Other")
    assert cell.unconditional is None


def test_an_option_is_said_as_the_file_says() -> None:
    prompt = prompting.QuestionPrompt(cell="x", options={"stated": "Yes, it does"}, unconditional="Answer:")
    question = SCHEME.section("duties").question("stated")
    cell = prompting.cell_prompt(prompt, question, {"duty": "Pay"}, order=["duty"])
    assert cell.options == ("Yes, it does", "Implied", "Not stated")
    assert cell.unconditional == "Answer:"


def test_options_of_a_cell_go_by_the_same_order_as_their_keys() -> None:
    question = ACTS.question("party")
    assert [option.key for option in prompting.offered(QuestionPrompt(), question)] == ["same", "other"]


def test_what_the_column_answers_itself_is_not_asked() -> None:
    assert prompting.is_asked(ACTS, ACTS.question("party"), {"act": "Inspect", "party": "tenant"})
    assert not prompting.is_asked(ACTS, ACTS.question("party"), {"act": "Inspect", "party": " "})


def test_the_digest_is_that_of_sha256sum() -> None:
    # printf abc | sha256sum
    assert prompting.digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_scheme_without_the_questions_takes_no_judge() -> None:
    other: SchemeSpec = load_scheme(
        "key: k\nversion: 1\ntitle: T\nsections: [{key: s, title: S, column: {title: C, facets: [f]}, "
        "questions: [{key: q, title: Q, kind: flag}]}]"
    )
    with pytest.raises(PromptError, match="no question of the scheme “k”"):
        prompting.check_against(load_prompt(CLOZE), other, "cloze")


# --- options of a row's own -------------------------------------------------------------------------------------------


def offering(**said: object) -> tuple[str, ...] | None:
    prompt = QuestionPrompt(cell="Which?", offer_in="offered")
    question = SCHEME.section("duties").question("stated")
    return prompting.offered_at(prompt, question, said).offer


def test_a_row_says_which_options_it_has() -> None:
    keys = [option.key for option in SCHEME.section("duties").question("stated").options]
    assert offering(offered=[keys[1], keys[0]]) == (keys[1], keys[0])
    assert offering(offered=f"{keys[0]}; {keys[1]}") == (keys[0], keys[1])
    for said in ({}, {"offered": [keys[0]]}, {"offered": [keys[0], "other"]}):
        with pytest.raises(ValueError, match="no two or more"):
            offering(**said)


def test_the_facet_has_to_be_one_that_rows_have() -> None:
    spec = prompting.PromptSpec.model_validate(
        {"questions": {"duties.stated": {"cell": "Which? $about", "offer_in": "nowhere"}}}
    )
    assert "“nowhere”" in refusal(spec)


# --- a file in which a key has another value --------------------------------------------------------------------------

FITTED = """\
# A prompt of ours
questions:
  a.b: {cell: x}
# Fitted: then
calibration:
  a.b:
    temperature: 2

# in another order
turn: 1  # once
# the end
"""


def test_a_key_is_written_anew_in_its_place() -> None:
    text = prompting.rewritten(FITTED, "calibration", {"a.b": {"temperature": 3}}, comment="Fitted: now")
    assert text == FITTED.replace("then", "now").replace("2", "3")
    assert prompting.rewritten(FITTED, "turn", 2) == FITTED.replace("turn: 1  # once", "turn: 2")


def test_a_key_in_another_form_of_yaml_is_found() -> None:
    one_line = FITTED.replace("calibration:\n  a.b:\n    temperature: 2\n", "calibration: {a.b: {temperature: 2}}\n")
    text = prompting.rewritten(one_line, "calibration", {"a.b": {"temperature": 3}}, comment="Fitted: now")
    assert text == FITTED.replace("then", "now").replace("2", "3")
    assert prompting.rewritten('"turn": 1', "turn", 2) == "turn: 2\n"
    assert prompting.rewritten("row: |\n  x\n  # not a comment\n\nturn: 1\n", "row", "y") == "row: y\n\nturn: 1\n"


@pytest.mark.parametrize(
    "text", ["{row: a, turn: 1, questions: {}}", "{row: a}", "? turn\n: 3\n", "  row: a\n  turn: 3\n", "row: a\n...\n"]
)
def test_a_file_in_another_form_is_refused_whole(text: str) -> None:
    with pytest.raises(prompting.PromptError, match="each key at the beginning of a line"):
        prompting.rewritten(text, "turn", 4)


def test_a_key_that_is_not_there_is_written_at_the_end() -> None:
    assert prompting.rewritten("row: x", "turn", 1, comment="Fitted: now") == "row: x\n# Fitted: now\nturn: 1\n"
    with pytest.raises(prompting.PromptError, match="line 1"):
        prompting.rewritten("row: [", "turn", 1)
