"""A whole table in one answer: what is asked, what of it is which line's, and what holds it to its form."""

from __future__ import annotations

import pytest

from annotation.actions import Refused
from annotation.models import Label, Study
from judges import actions
from judges.methods import prompting, whole_tables
from judges.methods.answers import Why
from judges.methods.prompting import PromptError
from judges.methods.writing import Unreadable, Written
from judges.models import UnreadableAnswer
from tests.judges.test_grammar import as_json, asked, in_notation, written_by_chance
from tests.judges.test_writing import PROMPT, ScriptedBackend, done, scripted, study, writing_judge

__all__ = ["scripted", "study"]  # fixtures

BOTH: list[list[object]] = [["dough", 5], ["bread", 40]]
ASKED = [one for one in asked() if one.name in ("OUTPUT", "MINUTES")]
LINES = ["Mix flour", "Bake it", "Serve"]
WHOLE = """\
row: A recipe
questions:
  steps.output:
    writing: {name: OUTPUT, wording: "What is there after the line?"}
  steps.minutes:
    writing: {name: MINUTES, wording: "How long does it take?"}
whole_table: true
"""


def parts(answer: str, lines: list[str], *, opened: bool = False) -> list[whole_tables.Part | None]:
    return whole_tables.parts(answer, lines, [one.name for one in ASKED], opened=opened)


def test_the_lines_are_listed_before_the_questions() -> None:
    told = whole_tables.request(LINES, ASKED)
    assert told.startswith("The lines:\n1. Mix flour\n2. Bake it\n3. Serve\n\nOf each of these 3 lines:\n")
    assert told.endswith("1.\nOUTPUT: <answer>\nMINUTES: <answer>\n2.\nOUTPUT: <answer>\nMINUTES: <answer>\n…")


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("1.\nOUTPUT: dough\nMINUTES: 5\n2.\nOUTPUT: bread\nMINUTES: 40", BOTH),
        ("**Line 1:**\nOUTPUT: dough\nMINUTES: 5\n\n**Line 2:**\nOUTPUT: bread\nMINUTES: 40", BOTH),
        ("1. OUTPUT: dough\n   MINUTES: 5\n2. OUTPUT: bread\n   MINUTES: 40", BOTH),
        ("2.\nOUTPUT: bread\nMINUTES: 40", [[Why.NO_VERDICT] * 2, ["bread", 40]]),
        ("1.\nOUTPUT: dough\nMINUTES:\n2.\nOUTPUT: bread\nMINUTES: 40", [["dough", Why.EMPTY], ["bread", 40]]),
        ("OUTPUT: dough\nMINUTES: 5", [[Why.NO_VERDICT] * 2] * 2),
        ("1. Mix flour\nOUTPUT: dough\nMINUTES: 5\n2. **Bake it.**\nOUTPUT: bread\nMINUTES: 40", BOTH),
        ("1\nOUTPUT: dough\nMINUTES: 5\n2\nOUTPUT: bread\nMINUTES:\n40", BOTH),
        ("2.\nOUTPUT: bread\nMINUTES: 40\n1.\nOUTPUT: dough\nMINUTES: 5", BOTH),
        ("1.\nOUTPUT: <answer>\n1.\nOUTPUT: dough\nMINUTES: 5\n2.\nOUTPUT: bread\nMINUTES: 40", BOTH),
        # Whose answers are whose nobody can say: two of one number, a number that no line has, lines without a number.
        ("1. OUTPUT: dough\n2. MINUTES: 5\n1. OUTPUT: bread\n2. MINUTES: 40", [[Why.NO_VERDICT] * 2] * 2),
        ("1.\nOUTPUT: dough\nMINUTES: 5\n3.\nOUTPUT: bread\nMINUTES: 40", [["dough", 5], [Why.NO_VERDICT] * 2]),
        ("1.\nOUTPUT: dough\nMINUTES: 5\nOUTPUT: bread\nMINUTES: 40", [["dough", 5], [Why.NO_VERDICT] * 2]),
        ("1.\nOUTPUT: dough\nMINUTES:\n2\nOUTPUT: bread\nMINUTES: 40", [["dough", 2], [Why.NO_VERDICT] * 2]),
        ("1. Rest\nOUTPUT: dough\nMINUTES: 5\n2.\nOUTPUT: bread\nMINUTES: 40", [[Why.NO_VERDICT] * 2, ["bread", 40]]),
        ('{"1": {"OUTPUT": "dough", "MINUTES": 5}, "2": {"OUTPUT": "bread", "MINUTES": 40}}', BOTH),
        ('```json\n[{"OUTPUT": "dough", "MINUTES": 5}, {"OUTPUT": "bread", "MINUTES": 40}]\n```', BOTH),
    ],
)  # fmt: skip
def test_each_line_has_its_part(answer: str, found: list[list[object]]) -> None:
    read = [whole_tables.read_line(part, ASKED) for part in parts(answer, LINES[:2])]
    assert [[one.value if isinstance(one, Written) else one.why for one in line] for line in read] == found


def test_what_was_thought_first_is_no_line() -> None:
    told = whole_tables.request(LINES, ASKED, thinking="Think first.")
    assert "Think first. Then write the word ANSWER on a line of its own, and below it your answer in this form for all 3 lines" in told  # fmt: skip # noqa: E501
    thoughts = "1. Mix flour\nOUTPUT: flour, I think\nMINUTES: 1\n2. Bake it\n"
    answer = "1.\nOUTPUT: dough\nMINUTES: 5\n2.\nOUTPUT: bread\nMINUTES: 40"
    names = [one.name for one in ASKED]
    found = whole_tables.parts(f"{thoughts}ANSWER:\n{answer}", LINES[:2], names, thinking=True)
    read = [whole_tables.read_line(part, ASKED) for part in found]
    assert [[one.value if isinstance(one, Written) else one.why for one in line] for line in read] == BOTH
    assert whole_tables.parts("It is dough.", LINES[:1], names, thinking=True) == [None]


def test_what_an_answer_never_came_to_is_cut_off() -> None:
    (*_first, last) = parts("1.\nOUTPUT: dough\nMINUTES: 5\n2.\nOUTPUT: br", LINES)
    assert whole_tables.read_line(last, ASKED, cut=True) == [Unreadable(Why.CUT_OFF)] * 2


def test_a_number_that_is_left_out_gives_its_line_no_other_answers() -> None:
    answer = "1.\nOUTPUT: dough\nMINUTES: 5\n3.\nOUTPUT: bread\nMINUTES: 40"
    read = [whole_tables.read_line(part, ASKED) for part in parts(answer, LINES)]
    said = [[one.value if isinstance(one, Written) else one.why for one in line] for line in read]
    assert said == [["dough", 5], [Why.NO_VERDICT] * 2, ["bread", 40]]


def test_what_a_plain_model_goes_on_with_is_no_answer() -> None:
    answer = "1.\nOUTPUT: dough\nMINUTES: 5\n2.\nMINUTES: 40\nOUTPUT: bread\n\nThe next recipe is “Soup”.\n"
    answer += "1.\nOUTPUT: broth\nMINUTES: 9\n2.\nOUTPUT: soup\nMINUTES: 9"
    for of in (answer, answer.replace("The next recipe is “Soup”.", "")):
        read = [whole_tables.read_line(part, ASKED, opened=True) for part in parts(of, LINES[:2], opened=True)]
        assert [[one.value if isinstance(one, Written) else one for one in line] for line in read] == BOTH


@pytest.mark.parametrize("notation", ["lark", "gbnf", "json"])
@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_grammar_of_a_table_allows_is_read(notation: str, seed: int) -> None:
    of = [ASKED, ASKED[1:], ASKED]
    if notation == "json":
        of = [line[-1:] for line in of]  # texts of a schema may have any signs
    made = whole_tables.grammar(of, room=400, digitless={"output"})
    answer = written_by_chance(as_json(made) if notation == "json" else in_notation(made, notation), seed)
    for line, part in zip(of, parts(answer, LINES), strict=True):
        read = whole_tables.read_line(part, line)
        assert [one for one in read if not isinstance(one, Written)] == [], answer


def test_a_wording_for_one_line_is_refused(study: Study) -> None:
    spec = prompting.load_prompt(WHOLE.replace("after the line", "after “$facet_instruction”"))
    with pytest.raises(PromptError, match="is worded for one line"):
        prompting.check_against(spec, study.scheme.parsed, "writing")
    assert not prompting.load_prompt(PROMPT).whole_table


@pytest.mark.django_db
def test_a_judge_fills_a_table_in_one_answer(study: Study, scripted: ScriptedBackend) -> None:
    columns = study.sheets.get().columns.filter(section__key="steps").order_by("position")
    n = columns.count()
    assert n > 1
    scripted.says = "\n".join(
        f"{at}.\nOUTPUT: dough {'x' * at}\nMINUTES: {at if at < n else 'long'}" for at in range(1, n + 1)
    )
    run = done(study, writing_judge(WHOLE))
    rows = {label.assignment_id for label in Label.objects.filter(assignment__rater=run.rater)}
    assert len(scripted.asked) == len(rows)
    assert "1. " + columns[0].name in scripted.asked[0][0]
    said = Label.objects.filter(assignment=next(iter(rows)), question__key="output").order_by("column__position")
    assert [label.value for label in said] == [f"dough {'x' * at}" for at in range(1, n + 1)]
    assert said[0].scores["answer"] == "OUTPUT: dough x\nMINUTES: 1"
    assert {(one.column.position, one.question.key) for one in UnreadableAnswer.objects.all()} == {(n - 1, "minutes")}
    scripted.asked.clear()
    done(study, writing_judge(WHOLE + "grammar: true\n", name="bound"))
    [grammar] = {sampling.grammar for _prompt, sampling in scripted.asked}
    assert grammar is not None
    assert f'"\\n{n}.\\n"' in grammar.lark


@pytest.mark.django_db
def test_of_a_table_that_cannot_be_split_all_that_was_written_is_kept(study: Study, scripted: ScriptedBackend) -> None:
    scripted.says = "The dough is mixed, and then it is baked."
    run = done(study, writing_judge(WHOLE))
    assert not Label.objects.filter(assignment__rater=run.rater).exists()
    kept = set(UnreadableAnswer.objects.values_list("why", "raw"))
    assert kept == {(Why.NO_VERDICT, scripted.says)}


@pytest.mark.django_db
@pytest.mark.parametrize("whole", [False, True])
def test_a_judge_that_thinks_first(study: Study, scripted: ScriptedBackend, whole: bool) -> None:
    prompt = WHOLE if whole else WHOLE.replace("whole_table: true\n", "together: [[steps.output, steps.minutes]]\n")
    n = study.sheets.get().columns.filter(section__key="steps").count()
    lines = (
        [f"{at}.\nOUTPUT: dough\nMINUTES: {at}" for at in range(1, n + 1)] if whole else ["OUTPUT: dough\nMINUTES: 3"]
    )
    scripted.says = "OUTPUT: flour, at first.\nANSWER\n" + "\n".join(lines)
    run = done(study, writing_judge(f"{prompt}thinking: Think step by step first.\n"))
    assert all("Think step by step first. Then write the word ANSWER" in asked for asked, _how in scripted.asked)
    said = Label.objects.filter(assignment__rater=run.rater)
    assert set(said.filter(question__key="output").values_list("value", flat=True)) == {"dough"}
    assert said.count() == 2 * n
    assert not UnreadableAnswer.objects.exists()


@pytest.mark.django_db
def test_who_cannot_think_first(study: Study) -> None:
    thinking = f"{WHOLE}thinking: Think first.\n"
    with pytest.raises(Refused, match="takes the chat form"):
        writing_judge(thinking, chat=False)
    with pytest.raises(PromptError, match="take one"):
        writing_judge(f"{thinking}grammar: true\n")
    with pytest.raises(Refused, match="Only a judge that writes"):
        actions.create_judge(
            name="x", method="rating", location="nobody/model", prompt_text=thinking, chat_template=True
        )


@pytest.mark.django_db
def test_a_plain_prompt_is_read_as_one(study: Study, scripted: ScriptedBackend) -> None:
    n = study.sheets.get().columns.filter(section__key="steps").count()
    table = "\n".join(f"{at}.\nOUTPUT: dough {'x' * at}\nMINUTES: {at}" for at in range(1, n + 1))
    scripted.says = table.removeprefix("1.\n") + "\n\nThe next recipe\n1.\nOUTPUT: soup\nMINUTES: 9"
    run = done(study, writing_judge(WHOLE, chat=False))
    said = Label.objects.filter(assignment__rater=run.rater, question__key="output").order_by("column__position")
    assert [label.value for label in said] == [f"dough {'x' * at}" for at in range(1, n + 1)]
    assert not UnreadableAnswer.objects.exists()
