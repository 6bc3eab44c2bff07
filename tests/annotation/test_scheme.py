from __future__ import annotations

from pathlib import Path

import pytest
from django.utils.translation import override

from annotation.scheme.spec import Kind, Layout, QuestionSpec, SchemeError, SchemeSpec, load_scheme
from annotation.views.palette import options_for_script
from tests.builders import SCHEME

PAPER = Path(__file__).resolve().parents[2] / "recipes" / "memorization" / "schemes" / "recipe-memorization.yaml"


def line_of(text: str, words: str) -> int:
    """The number of the line, from 1, on which `words` first stand."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


def problems_of(text: str) -> list[tuple[int, str, str]]:
    with pytest.raises(SchemeError) as caught:
        load_scheme(text)
    return [tuple(problem) for problem in caught.value.problems]  # type: ignore[misc]


def test_load_scheme_reads_a_valid_file() -> None:
    spec = load_scheme(SCHEME)

    assert (spec.key, spec.version, spec.words.row) == ("contracts", 1, "clause")
    assert [section.key for section in spec.sections] == ["duties", "acts"]
    assert [question.key for question in spec.section("acts").questions] == ["act", "party", "strictness"]
    assert spec.section("duties").question("stated").option("implied").label == "Implied"


def test_a_question_goes_by_its_section_too_where_there_are_several() -> None:
    spec = load_scheme(SCHEME)
    alone = spec.model_copy(update={"sections": spec.sections[1:]})

    assert (spec.title_of("acts", "party"), alone.title_of("acts", "party")) == ("Acts · Party", "Party")


def test_a_section_may_say_nothing_of_columns_and_asks_one_form_a_row_then() -> None:
    text = SCHEME.replace("    column: {title: Duty, facets: [duty]}\n", "").replace("        about: duty\n", "")
    duties, acts = load_scheme(text).sections

    assert (duties.column.title, duties.column.facets, duties.is_one_form) == ("Duties", ("about",), True)
    assert (acts.column.facets, acts.is_one_form) == (("act", "party"), False)


@pytest.mark.parametrize(
    ("title", "wrong"),
    [
        ("", "this key is missing"),
        ("    title:\n", "this should be text, and YAML reads nothing here; put “~” and “null” in quotes"),
    ],
)
def test_a_section_without_a_title_lacks_that_alone(title: str, wrong: str) -> None:
    text = SCHEME.replace("    column: {title: Duty, facets: [duty]}\n", "").replace("        about: duty\n", "")
    text = text.replace("    title: Duties\n", title)

    assert [(key, said) for _line, key, said in problems_of(text)] == [("sections.duties.title", wrong)]


def test_columns_may_go_without_a_title() -> None:
    duties = load_scheme(SCHEME.replace("{title: Duty, facets: [duty]}", "{facets: [duty]}")).section("duties")
    assert (duties.column.title, duties.column.facets) == ("Duties", ("duty",))


def test_synonyms_are_read() -> None:
    text = SCHEME.replace("sections:\n", "synonyms: [[rent, lease money], [notice, warning, word]]\nsections:\n", 1)

    assert load_scheme(text).synonyms == (("rent", "lease money"), ("notice", "warning", "word"))


def test_options_get_hotkeys_signs_and_colours_by_position() -> None:
    options = load_scheme(SCHEME).section("duties").question("stated").options

    assert [option.hotkey for option in options] == ["1", "2", "3"]
    assert [option.sign for option in options] == ["S", "I", "–"]  # the third is given in the file
    assert len({option.colour for option in options}) == 3


@pytest.mark.parametrize(
    ("labels", "signs"),
    [
        (["Positive", "Neutral", "Negative"], ["Pos", "Neu", "Neg"]),
        (["Agree", "Abstain", "Deny"], ["Ag", "Ab", "De"]),
        (["Not found", "Not sure", "Found"], ["Nf", "Ns", "F"]),
        (["Same", "Same as above"], ["S", "Saa"]),
        (["Grade one", "Grade other"], ["G", "G"]),
    ],
    ids=["three letters", "two letters", "words", "one word and more", "nothing tells"],
)
def test_signs_that_are_left_out_tell_the_options_apart(labels: list[str], signs: list[str]) -> None:
    """“Neutral” and “Negative” were both an N, in the grid and in the lens."""
    options = [{"key": f"o{n}", "label": label} for n, label in enumerate(labels)]

    question = QuestionSpec.model_validate({"key": "q", "title": "Q", "options": options})

    assert [option.sign for option in question.options] == signs


def test_a_sign_that_is_given_stays_and_others_keep_off_it() -> None:
    options = [{"key": "no", "label": "Nothing", "sign": "S"}, {"key": "some", "label": "Some"}]

    question = QuestionSpec.model_validate({"key": "q", "title": "Q", "options": options})

    assert [option.sign for option in question.options] == ["S", "So"]


def test_the_tenth_option_has_the_key_zero() -> None:
    text = SCHEME.replace("max: 3", "max: 10")

    assert [option.hotkey for option in load_scheme(text).section("acts").question("strictness").options] == list(
        "1234567890"
    )


def test_a_scale_is_written_out() -> None:
    question = load_scheme(SCHEME).section("acts").question("strictness")

    assert question.kind == Kind.SCALE
    assert [(option.key, option.label, option.value) for option in question.options] == [
        ("1", "1", 1),
        ("2", "2", 2),
        ("3", "3", 3),
    ]


def test_a_scale_may_go_below_zero() -> None:
    options = load_scheme(SCHEME.replace("min: 1", "min: -1")).section("acts").question("strictness").options

    assert [(option.key, option.value) for option in options] == [
        ("minus-1", -1),
        ("0", 0),
        ("1", 1),
        ("2", 2),
        ("3", 3),
    ]


def test_a_flag_is_yes_and_no() -> None:
    text = SCHEME.replace("kind: scale\n        min: 1\n        max: 3", "kind: flag")
    question = load_scheme(text).section("acts").question("strictness")

    assert [(option.key, option.value) for option in question.options] == [("yes", None), ("no", None)]


FIRST = "- {key: stated, label: Stated, definition: The clause says it in so many words.}"
MISTAKES = {
    # id: (what is replaced, by what, words of the line that is named, the key that is named, words of the message)
    "unknown key": (FIRST, "- {key: stated, lable: X, label: X}", "lable", "options.stated.lable", "no such key"),
    "missing key": ("- key: acts\n    title: Acts\n", "- key: acts\n", "- key: acts", "acts.title", "missing"),
    "duplicate key": ("version: 1\n", "version: 1\nversion: 2\n", "version: 2", "version", "twice"),
    "yes without quotes": (FIRST, "- {key: yes, label: Y}", "key: yes", "options.yes.key", "put it in quotes"),
    "no without quotes in a rule": (
        "ask_unless: {act: [absent]}\n        preset",
        "ask_unless: {act: [no]}\n        preset",
        "act: [no]",
        "ask_unless.act.0",
        "put it in quotes",
    ),
    "not a number": ("version: 1", "version: one", "version: one", "version", "whole number"),
    "key with a space": ("key: duties", "key: the duties", "key: the duties", "the duties.key", "such as “the-duties”"),
    "key with an underscore": ("key: act\n", "key: act_of\n", "key: act_of", "act_of.key", "hyphens, such as “act-of”"),
    "rule about a key with an underscore": (
        "ask_unless: {act: [absent]}\n        preset",
        "ask_unless: {act_of: [absent]}\n        preset",
        "act_of: [absent]",
        "party.ask_unless.act_of",
        "hyphens, such as “act-of”",
    ),
    "facet with a space": ("facets: [duty]", "facets: [the duty]", "facets: [the duty]", "facets.0", "as “the_duty”"),
    "hotkey of two keys": (FIRST, "- {key: stated, label: X, hotkey: F1}", "hotkey: F1", "hotkey", "a digit or"),
    "too few options": (
        '          - {key: implied, label: Implied}\n          - {key: absent, label: Not stated, sign: "–"}\n',
        "",
        "options:",
        "stated.options",
        "at least 2",
    ),
    "preset of an unknown option": (
        "option: no-party}",
        "option: nobody}",
        "option: nobody}",
        "questions.party.preset.option",
        "the preset names “nobody”",
    ),
    "preset of an unknown facet": ("when_empty: party", "when_empty: side", "when_empty: side", "when_empty", "“side”"),
    "about an unknown facet": ("about: duty", "about: task", "about: task", "stated.about", "“task”"),
    "ask_unless of an unknown option": (
        "ask_unless: {act: [absent]}\n        preset",
        "ask_unless: {act: [gone]}\n        preset",
        "{act: [gone]}",
        "questions.party.ask_unless.act",
        "“gone”, which is no option of “act”",
    ),
    "ask_unless of a question below": (
        "ask_unless: {act: [absent]}\n        preset",
        "ask_unless: {strictness: ['1']}\n        preset",
        "{strictness: ['1']}",
        "questions.party.ask_unless.strictness",
        "only on a question above it",
    ),
    "ask_unless of itself": (
        "ask_unless: {act: [absent]}\n        preset",
        "ask_unless: {party: [same]}\n        preset",
        "{party: [same]}",
        "questions.party.ask_unless.party",
        "only on a question above it",
    ),
    "merge of an unknown option": (
        "        about: duty\n",
        "        about: duty\n        merges: [{key: two, title: Two, options: {implied: missing}}]\n",
        "merges: [",
        "questions.stated.merges.two.options",
        "the merge “two” names “missing”",
    ),
    "judge_merge that is no merge": (
        "        about: duty\n",
        "        about: duty\n        judge_merge: two\n",
        "judge_merge: two",
        "questions.stated.judge_merge",
        "judge_merge names “two”",
    ),
    "two options of a key": (
        "key: implied, label: Implied",
        "key: stated, label: Implied",
        "key: stated, label: Implied",
        "questions.stated.options.stated.key",
        "two options have the key “stated”",
    ),
    "two options of a hotkey": (
        "key: implied, label: Implied",
        "key: implied, label: Implied, hotkey: 1",
        "hotkey: 1",
        "questions.stated.options.implied.hotkey",
        "two options have the hotkey “1”",
    ),
    "a facet twice": (
        "facets: [act, party]",
        "facets: [act, party], aside: [party]",
        "title: Act, facets",
        "acts.column",
        "two facets have the key “party”",
    ),
    "two questions of a key": ("- key: party\n", "- key: act #\n", "- key: act #", "act.key", "two questions"),
    "two sections of a key": ("- key: acts", "- key: duties #", "- key: duties #", "duties.key", "two sections"),
    "scale without bounds": ("        min: 1\n", "", "- key: strictness", "strictness.min", "numbers min and max"),
    "anchors off the scale": (
        "        max: 3\n",
        "        max: 3\n        anchors: {4: strict}\n",
        "anchors:",
        "strictness.anchors",
        "“anchors” says in texts",
    ),
    "anchors that are a text": (
        "        max: 3\n",
        "        max: 3\n        anchors: strict\n",
        "anchors:",
        "strictness.anchors",
        "“anchors” says in texts",
    ),
    "anchors of a choice": (
        "        about: act\n",
        "        about: act\n        anchors: {1: a}\n",
        "anchors:",
        "anchors",
        "no such key here",
    ),
    "scale upside down": ("max: 3", "max: 0", "max: 0", "strictness.max", "min less than max"),
    "scale of twelve steps": ("max: 3", "max: 12", "max: 12", "strictness.max", "at most 11 steps"),
    "unknown kind": ("kind: scale", "kind: range", "kind: range", "strictness.kind", "one of: choice, scale"),
    "a synonym of nothing": (
        "sections:\n",
        "synonyms:\n  - [rent, lease money]\n  - [notice]\nsections:\n",
        "  - [notice]",
        "synonyms.1",
        "at least 2",
    ),
    "a synonym without letters": (
        "sections:\n",
        "synonyms:\n  - [rent, lease money]\n  - [notice, '14']\nsections:\n",
        "  - [notice, '14']",
        "synonyms.1.1",
        "“14” has no letter",
    ),
    "a synonym in two groups": (
        "sections:\n",
        "synonyms:\n  - [rent, lease money]\n  - [Rent, payment]\nsections:\n",
        "synonyms:",
        "synonyms",
        "“rent” stands here twice",
    ),
    "a list of synonyms that is no list": (
        "sections:\n",
        "synonyms: rent\nsections:\n",
        "synonyms:",
        "synonyms",
        "a list",
    ),
    "bad YAML": ("title: Contract clauses", "title: [Contract", "words:", "", "not valid YAML"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "key", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_load_scheme_names_line_and_key_of_a_mistake(old: str, new: str, line: str, key: str, message: str) -> None:
    text = SCHEME.replace(old, new, 1)
    assert text != SCHEME

    problems = problems_of(text)

    where = line_of(text + "\n", line.strip()) if line else 1
    assert any(p[0] == where and p[1].endswith(key) and message in p[2] for p in problems), problems


def test_anchors_say_what_numbers_of_a_scale_mean() -> None:
    text = SCHEME.replace("        max: 3\n", "        max: 3\n        anchors: {1: a wish, 3: an order}\n", 1)
    meant = {
        option.value: option.definition
        for section in load_scheme(text).sections
        for question in section.questions
        if question.kind == "scale"
        for option in question.options
    }

    assert meant == {1: "a wish", 2: "", 3: "an order"}


def test_load_scheme_tells_all_mistakes_at_once() -> None:
    text = SCHEME.replace("version: 1", "version: one").replace(FIRST, "- {key: stated, lable: X, label: X}")

    assert len(problems_of(text)) == 2


def test_a_question_of_an_unknown_kind_is_told_that_alone() -> None:
    """It was said to lack its options as well, and whoever wanted yes and no went on to write some."""
    text = "key: a\nversion: 1\ntitle: A\nsections:\n  - key: s\n    title: S\n    questions:\n"
    text += "      - {key: q, title: Q, kind: boolean}\n"

    assert [key for _line, key, _message in problems_of(text)] == ["sections.s.questions.q.kind"]


ODD = {
    "alias": ("title: &t T\nsource: *t\n", 1, "an alias (*) or anchor (&) is not read here"),
    "alias of nothing": ("title: T\nsource: *t\n", 2, "an alias (*) or anchor (&) is not read here"),
    "depth": ("title: T\nsections: " + "[" * 3000, 2, "lists and mappings are nested too deep"),
    "many entries": ("title: T\nsections: {" + "a," * 90_000 + "}", 2, "the file has too many entries"),
    "tag": ("title: T\nversion: !!int x\n", 2, "a tag (!) is not read here"),
    "no date": ("title: T\nsource: 2024-99-99\n", 2, "a value cannot be read"),
    "long number": ("title: T\nversion: 1" + ":59" * 50_000, 2, "a number has at most 40 digits"),
    "NUL": ("title: T\nsource: a\0b\n", 2, "a character that is no text"),
    "NUL below old line ends": ("title: T\rsource: a\0b\r", 2, "a character that is no text"),
    "half a surrogate pair": ('title: T\nsource: "\\ud83d"\n', 2, "a character that is no text"),
    "a question mark between braces": (
        "title: T\nsections: [{title: How good?}]",
        2,
        "a question mark or the like in quotes",
    ),
    "a colon in a text": ("title: Good: or not\n", 1, "put texts with a colon"),
    "a sign that begins no text": ("title: T\nsource: @home\n", 2, "put texts with a colon"),
    "two documents": ("title: T\n---\ntitle: T\n", 2, "this is not valid YAML"),
}


@pytest.mark.parametrize(("text", "line", "message"), ODD.values(), ids=ODD.keys())
def test_load_scheme_refuses_what_is_more_than_plain_data_with_its_line(text: str, line: int, message: str) -> None:
    [problem] = problems_of(text)

    assert problem[:2] == (line, "")
    assert message in problem[2]


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words"], ids=["empty", "list", "text"])
def test_load_scheme_refuses_what_is_no_mapping(text: str) -> None:
    assert problems_of(text) == [(1, "", "the file should be a mapping that starts with “key:”")]


def test_a_problem_reads_as_a_line() -> None:
    with pytest.raises(SchemeError, match=r"^line 2, version: this should be a whole number"):
        load_scheme(SCHEME.replace("version: 1", "version: one"))


ASKED = {
    "nothing answered": ({}, ["act", "party", "strictness"]),
    "act found": ({"act": "found"}, ["act", "party", "strictness"]),
    "act absent": ({"act": "absent"}, ["act"]),
    "act absent, an old answer stands": ({"act": "absent", "party": "same"}, ["act"]),
}


@pytest.mark.parametrize(("answers", "keys"), ASKED.values(), ids=ASKED.keys())
def test_asked(answers: dict[str, str], keys: list[str]) -> None:
    assert [question.key for question in load_scheme(SCHEME).section("acts").asked(answers)] == keys


def test_asked_follows_a_chain() -> None:
    """What depends on a question that is not asked is not asked either."""
    text = SCHEME.replace(
        "        max: 3\n        ask_unless: {act: [absent]}", "        max: 3\n        ask_unless: {party: [other]}"
    )
    section = load_scheme(text).section("acts")

    assert [question.key for question in section.asked({"act": "absent"})] == ["act"]
    assert [question.key for question in section.asked({"act": "found", "party": "other"})] == ["act", "party"]


PRESETS = {
    "a party": ({"act": "Give notice", "party": "tenant"}, {}),
    "no party": ({"act": "Inspect", "party": ""}, {"party": "no-party"}),
    "white space": ({"act": "Inspect", "party": "  "}, {"party": "no-party"}),
    "facet left out": ({"act": "Inspect"}, {"party": "no-party"}),
}


@pytest.mark.parametrize(("facets", "presets"), PRESETS.values(), ids=PRESETS.keys())
def test_presets(facets: dict[str, str], presets: dict[str, str]) -> None:
    assert load_scheme(SCHEME).section("acts").presets(facets) == presets


def test_a_stored_scheme_is_read_back_as_it_was() -> None:
    spec = load_scheme(SCHEME)

    assert SchemeSpec.model_validate(spec.model_dump(mode="json")) == spec


# --- the paper's own scheme -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paper() -> SchemeSpec:
    return load_scheme(PAPER.read_text(encoding="utf-8"))


# The options of the paper's Appendix D, in its order.
PAPER_OPTIONS = {
    ("ingredients", "presence"): ["Found", "Found (not perfect)", "Not found", "Implied"],
    ("tasks", "task"): [
        "Task Found",
        "Task Found (Not Exact Wording)",
        "Task Found (Wrong Context)",
        "Task Not Found",
    ],
    ("tasks", "tool"): ["Found", "Found (Not Exact)", "Not Found", "No Tool Involved", "Tool Implied"],
    ("tasks", "ingredients"): [
        "Ingredients Match",
        "Most Ingredients Match",
        "Some Ingredients Match",
        "No Ingredients Match",
        "Ingredients Implied",
        "No Ingredients Used",
    ],
}


def test_the_paper_scheme_has_the_papers_options(paper: SchemeSpec) -> None:
    assert {
        (section.key, question.key): [option.label for option in question.options]
        for section in paper.sections
        for question in section.questions
    } == PAPER_OPTIONS


def test_the_paper_scheme_asks_only_the_task_when_it_is_not_found(paper: SchemeSpec) -> None:
    tasks = paper.section("tasks")

    assert [question.key for question in tasks.asked({"task": "task-not-found"})] == ["task"]
    assert len(tasks.asked({"task": "task-found-wrong-context"})) == 3


def test_the_paper_scheme_presets_what_a_task_has_not(paper: SchemeSpec) -> None:
    assert paper.section("tasks").presets({"task": "wait", "tool": "", "ingredients": ""}) == {
        "tool": "no-tool-involved",
        "ingredients": "no-ingredients-used",
    }


def test_each_option_of_the_paper_scheme_is_defined(paper: SchemeSpec) -> None:
    options = [o for section in paper.sections for question in section.questions for o in question.options]

    assert [option.key for option in options if not option.definition] == []


def test_the_paper_scheme_holds_judges_against_implied_as_not_found(paper: SchemeSpec) -> None:
    presence = paper.section("ingredients").question("presence")

    merge = next(merge for merge in presence.merges if merge.key == presence.judge_merge)
    assert merge.options == {"implied": "not-found"}


def test_words_that_are_known_are_said_in_the_language_of_whoever_reads() -> None:
    ours = load_scheme(SCHEME.replace("row: clause, rows: clauses", "row: document, rows: documents"))

    with override("cs"):
        assert (ours.words.row, ours.words.rows) == ("dokument", "dokumenty")
        # A word of the study's own stands as it was given.
        assert ours.words.sheet == "contract"
    assert (ours.words.row, ours.words.rows) == ("document", "documents")
    assert ours.model_dump(mode="json")["words"]["rows"] == "documents"


TABLE = """
key: pizza
version: 1
title: Steps
row: {facets: [engine, rank, {key: generator, hidden: true}]}
sections:
  - key: steps
    title: Steps
    layout: down
    column: {title: Step, facets: [instruction]}
    shows_above: [output]
    checks:
      - {rule: equal-to, question: output, other: input, when: {action: [carry]}, message: The same comes out.}
      - {rule: contained-in, question: input, in: [above.output, row.engine, column.instruction], level: warn}
      - {rule: carried, question: output, from: input}
      - {rule: no-number, question: output, level: refuse}
      - {rule: not-empty-if, question: output, other: input, level: refuse}
    questions:
      - key: action
        title: Action
        options: [{key: carry, label: Carry}, {key: mix, label: Mix}]
      - key: input
        title: Input
        kind: text
        text: {special: [NA], separator: ";", from: [output], patterns: [{pattern: "\\\\d", message: No numbers.}]}
      - key: output
        title: Output
        kind: text
        text: {special: [NA], separator: ";"}
        ask_unless: {input: [NA]}
        preset: {when_empty: instruction, value: NA}
      - {key: weight, title: Weight, kind: number, number: {min: 0, max: 500, step: 0.5, unit: g}}
      - {key: parts, title: Parts, kind: items, items: {fields: [{key: task}, {key: with, list: true}]}}
      - {key: change, title: Change, kind: transitions, transitions: {start: [rank]}}
"""


def test_a_scheme_of_answers_that_are_values() -> None:
    scheme = load_scheme(TABLE)
    steps = scheme.section("steps")

    assert [facet.key for facet in scheme.row.shown] == ["engine", "rank"]
    assert scheme.row.keys == ("engine", "rank", "generator")
    assert (steps.layout, steps.shows_above) == (Layout.DOWN, ("output",))
    assert [question.has_options for question in steps.questions] == [True, False, False, False, False, False]
    assert [check.level for check in steps.checks] == ["warn", "warn", "warn", "refuse", "refuse"]
    assert steps.question("input").text.from_ == ("output",)  # type: ignore[union-attr]
    assert steps.question("weight").number.unit == "g"  # type: ignore[union-attr]
    assert steps.question("parts").items.fields[1].is_list  # type: ignore[union-attr]


def test_a_stored_scheme_is_read_back_whatever_its_kinds() -> None:
    scheme = load_scheme(TABLE)

    assert SchemeSpec.model_validate(scheme.model_dump(mode="json")) == scheme


def test_special_values_take_part_in_rules() -> None:
    steps = load_scheme(TABLE).section("steps")
    given = steps.question("input")

    assert (given.word(':"NA"'), given.word(':"flour"'), given.word("")) == ("NA", ":", "")
    assert steps.presets({"instruction": " "}) == {"output": ':"NA"'}
    assert "output" not in {question.key for question in steps.asked({"input": "NA"})}
    assert "output" in {question.key for question in steps.asked({"input": ":"})}


VALUE_MISTAKES = {
    "options of a number": (
        "kind: number, number: {min: 0, max: 500, step: 0.5, unit: g}",
        "kind: number, options: [{key: a, label: A}, {key: b, label: B}]",
        "has no options",
    ),
    "settings of another kind": (
        "kind: number, number: {",
        "kind: text, number: {",
        "only a question of the kind “number”",
    ),
    "bounds": ("min: 0, max: 500", "min: 500, max: 500", "min should be less than max"),
    "items without fields": (
        "kind: items, items: {fields: [{key: task}, {key: with, list: true}]}",
        "kind: items",
        "needs a key “items”",
    ),
    "a field twice": ("{key: with, list: true}", "{key: task}", "two fields have the key “task”"),
    "options beside completions": (
        "{key: with, list: true}",
        "{key: with, options: [a, b], completions: [c]}",
        "it is no place, and has no completions",
    ),
    "options of a place": (
        "{key: with, list: true}",
        "{key: with, place: true, options: [a, b]}",
        "it is no place, and has no completions",
    ),
    "an option twice": ("{key: with, list: true}", "{key: with, options: [a, A]}", "two options are the word “a”"),
    "an option that is too long": (
        "{fields: [{key: task}, {key: with, list: true}]}",
        "{longest: 3, fields: [{key: task}, {key: with, options: [abcd]}]}",
        "the option “abcd” is longer than `longest`",
    ),
    "a pattern": ('"\\\\d"', '"("', "no regular expression"),
    "a separator": ('separator: ";", from', 'separator: "a", from', "one sign"),
    "a preset of another value": ("value: NA", "value: none", "no special value"),
    "a preset of nothing": ("value: NA}", "}", "one of the two"),
    "a rule of another value": (
        "ask_unless: {input: [NA]}",
        "ask_unless: {input: [flour]}",
        "“flour”, which is no option of “input”",
    ),
    "completions of another question": ("from: [output]", "from: [result]", "“result”, which is no question"),
    "what is shown above": ("shows_above: [output]", "shows_above: [result]", "“result”, which is no question"),
    "a check without its other": ("other: input, when", "when", "the rule “equal-to” needs a key “other”"),
    "a check with too much": (
        "rule: no-number, question: output",
        "rule: no-number, question: output, other: input",
        "has no key “other”",
    ),
    "a check of another question": (
        "rule: no-number, question: output",
        "rule: no-number, question: result",
        "“result”, which is no question",
    ),
    "a check of another facet": ("column.instruction]", "column.step]", "“step”, which the column has not"),
    "a check of another row facet": ("row.engine", "row.site", "“site”, which the row has not"),
    "a source that is none": ("row.engine", "sheet.engine", "write above.question, line.question, row.facet"),
    "a condition that is never met": (
        "when: {action: [carry]}",
        "when: {action: [move]}",
        "“move”, which is no option of “action”",
    ),
    "things at the start": ("start: [rank]", "start: [things]", "“things”, which the row has not"),
    "a row facet twice": ("[engine, rank,", "[engine, engine,", "two facets have the key “engine”"),
}


@pytest.mark.parametrize(("old", "new", "message"), VALUE_MISTAKES.values(), ids=VALUE_MISTAKES.keys())
def test_mistakes_in_questions_of_values_are_told(old: str, new: str, message: str) -> None:
    text = TABLE.replace(old, new, 1)
    assert text != TABLE

    assert any(message in problem[2] for problem in problems_of(text)), problems_of(text)


def test_the_line_below_the_grid_says_what_numbers_mean_and_no_other_option() -> None:
    text = SCHEME.replace("        max: 3\n", "        max: 3\n        anchors: {1: a wish}\n", 1)
    scheme = load_scheme(text)

    assert [one.get("meaning") for one in options_for_script(scheme.section("acts").question("strictness"))] == [
        "a wish",
        None,
        None,
    ]
    assert "meaning" not in options_for_script(scheme.section("duties").question("stated"))[0]
