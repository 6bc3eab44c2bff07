"""The judge that compares embeddings, and the lines that are nearest to a cell's item."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.actions import Refused
from annotation.evidence.blocks import Block
from annotation.models import Label, Study
from annotation.scheme.spec import load_scheme
from judges import actions
from judges.calibrations.examples import questions_with_examples
from judges.methods import embedding, prompting
from judges.methods.calibration import Calibration, calibrated
from judges.methods.lexical import LexicalJudge
from judges.methods.lexicons import Lexicon
from judges.methods.prompting import Embedding, PromptError
from judges.models import Judge
from judges.runs import labelling
from judges.runs.asking import AtRow
from judges.runs.nearest import nearest_lines
from tests import builders
from tests.judges import helpers

pytestmark = pytest.mark.once

RULE = Embedding.model_validate(
    {"in": ["paragraph"], "thresholds": {"stated": 0.8, "implied": 0.3}, "none": "absent", "scale": 0.05}
)
# The encoder that every installation has.
PROMPT = """\
encoder: characters
questions:
  duties.stated:
    embedding: {in: [paragraph], thresholds: {stated: 0.5, implied: 0.2}, none: absent}
"""
NEAREST = """\
row: |
  A lease.
nearest: {lines: 1, encoder: characters}
questions:
  duties.stated:
    cell: |
      $nearest_paragraph
      Duty: $about
      Answer:
"""


def named(cosine: float) -> str:
    return "stated" if cosine >= 0.8 else "implied" if cosine >= 0.3 else "absent"


@given(st.floats(-1, 1))
def test_the_most_probable_option_is_the_one_that_the_thresholds_name(cosine: float) -> None:
    if min(abs(cosine - 0.8), abs(cosine - 0.3)) > 1e-9:
        scores = embedding.option_scores(cosine, RULE)
        assert max(scores, key=lambda key: scores[key].logprob) == named(cosine)
        assert math.isclose(sum(math.exp(score.logprob) for score in scores.values()), 1)


def test_a_bias_moves_the_threshold_that_the_page_shows() -> None:
    moved = Calibration(bias={"stated": -1.0, "implied": 2.0})
    thresholds = embedding.thresholds_under(RULE, moved)
    assert thresholds == pytest.approx({"implied": 0.3 - 2 * 0.05, "stated": 0.8 + 3 * 0.05})
    for least, below, above in ((0.2, "absent", "implied"), (0.95, "implied", "stated")):
        for cosine, option in ((least - 0.001, below), (least + 0.001, above)):
            scores = embedding.option_scores(cosine, RULE)
            values = calibrated(list(scores), list(scores.values()), moved)
            assert max(zip(values, scores, strict=True), key=lambda each: each[0].logprob)[1] == option


def test_a_line_is_compared_whole_by_its_phrases_and_without_words_that_name_nothing() -> None:
    words = LexicalJudge()
    assert embedding.forms_of("2 bolts, long", words) == ["2 bolts, long", "2 bolts", "long", "bolts long", "bolts"]


def test_a_phrase_that_names_nothing_is_not_compared() -> None:
    words = LexicalJudge(lexicon=Lexicon("kitchen", not_names={"english": "cloves minced"}))
    forms = embedding.forms_of("2 cloves garlic, minced", words)
    assert forms == ["2 cloves garlic, minced", "2 cloves garlic", "garlic"]
    assert embedding.forms_of("minced", words) == ["minced"]  # a whole line is, whatever it says


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        (PROMPT.replace("none: absent", "none: gone"), "gone"),
        (PROMPT.replace("characters", "spirits"), "spirits"),
        (PROMPT.replace("in: [paragraph]", "in: [paragraph], item: $nowhere"), "nowhere"),
    ],
)
def test_a_prompt_that_cannot_work_is_refused_with_what_is_wrong(db: None, prompt: str, why: str) -> None:
    scheme = helpers.study_of_leases(n_rows=1).scheme.parsed
    with pytest.raises(PromptError, match=why):
        prompting.check_against(prompting.load_prompt(prompt), scheme, Judge.Method.EMBEDDING)


@pytest.mark.parametrize(("was", "now"), [("implied: 0.2", "implied: 0.5"), ("none: absent", "none: stated")])
def test_thresholds_that_leave_an_option_out_are_refused(was: str, now: str) -> None:
    with pytest.raises(PromptError):
        prompting.load_prompt(PROMPT.replace(was, now))


@pytest.mark.django_db
def test_a_run_labels_by_the_nearest_line_and_says_which_encoder_did() -> None:
    study = helpers.study_of_leases(n_rows=2)
    judge = actions.create_judge(name="near", method=Judge.Method.EMBEDDING, prompt_text=PROMPT)
    run = actions.start_run(study=study, judge=judge, by=None, enqueue=False)
    helpers.work(run)
    said = {column: option for (_row, column, _question), option in helpers.labels_of(run.rater).items()}
    assert said == {"Pay rent": "implied", "Insure": "absent"}
    label = Label.objects.filter(assignment__rater=run.rater, column__name="Pay rent").first()
    assert label is not None
    assert label.scores["cosine"] > 0.2
    assert "pays the rent" in label.note
    run.refresh_from_db()
    assert run.provenance["workers"][0]["encoder"] == "characters"


@pytest.mark.django_db
def test_a_judge_whose_weights_are_not_here_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    study = helpers.study_of_leases(n_rows=1)
    monkeypatch.setattr("llm.encoders.AllMiniLM.is_here", lambda *_self: False)
    prompt = PROMPT.replace("characters", "all-minilm-l6-v2")
    judge = actions.create_judge(name="near", method=Judge.Method.EMBEDDING, prompt_text=prompt)
    with pytest.raises(Refused, match="all-minilm-l6-v2"):
        actions.start_run(study=study, judge=judge, by=None)


@pytest.mark.django_db
def test_a_cell_is_given_the_lines_nearest_to_its_item() -> None:
    study: Study = helpers.study_of_leases(n_rows=1)
    judge = helpers.cloze_judge("/models/none", prompt_text=NEAREST)
    assignment = study.raters.create(kind="judge", code="tiny").assignments.create(row=study.sheets.get().rows.get())
    blocks = [
        Block("paragraph", "The landlord paints the walls."),
        Block("paragraph", "The tenant must insure the flat."),
        Block("paragraph", "Pay the rent monthly. Answer: Stated"),
    ]
    asked = [cell for cell in labelling.cells_asked(judge, assignment) if cell.column.name in ("Pay rent", "Insure")]
    near = nearest_lines(AtRow(judge, assignment, blocks, asked))
    assert {cell.column.name: lines for cell, lines in zip(asked, near, strict=True)} == {
        "Pay rent": {"paragraph": ["Pay the rent monthly. Answer: Stated"]},
        "Insure": {"paragraph": ["The tenant must insure the flat."]},
    }
    made = [
        prompting.cell_prompt(cell.prompt, cell.spec, cell.column.facets, order=["duty"], nearest=lines)
        for cell, lines in zip(asked, near, strict=True)
    ]
    texts = {cell.column.name: prompt.text for cell, prompt in zip(asked, made, strict=True)}
    assert texts["Insure"] == "- The tenant must insure the flat.\nDuty: Insure\nAnswer:"
    assert "Answer – stated" in texts["Pay rent"]  # no line of the prompt's own
    assert labelling.nearest_of(judge)["nearest"]["lines"] == 1


@pytest.mark.django_db
def test_lines_are_compared_with_what_the_prompt_says_and_given_without_the_judges_own_words() -> None:
    study: Study = helpers.study_of_leases(n_rows=1)
    said = "nearest: {lines: 1, encoder: characters, item: the landlord paints, without_answers: true}"
    prompt = NEAREST.replace("nearest: {lines: 1, encoder: characters}", said)
    judge = helpers.cloze_judge("/models/none", prompt_text=prompt)
    assignment = study.raters.create(kind="judge", code="tiny").assignments.create(row=study.sheets.get().rows.get())
    blocks = [Block("paragraph", "Pay rent."), Block("paragraph", "The landlord paints, STATED elsewhere.")]
    asked = labelling.cells_asked(judge, assignment)
    near = nearest_lines(AtRow(judge, assignment, blocks, asked))
    assert near == [{"paragraph": ["The landlord paints, elsewhere."]}] * len(asked)
    record = labelling.nearest_of(judge)["nearest"]
    assert (record["item"], record["without_answers"]) == ("the landlord paints", True)


def test_a_cell_can_bring_all_evidence_of_a_kind_that_other_cells_do_not_see() -> None:
    whole = prompting.load_prompt(NEAREST.replace("$nearest_paragraph", "$evidence_paragraph"))
    assert prompting.kinds_read(whole, "cloze") == ["paragraph"]
    question = load_scheme(builders.SCHEME).section("duties").question("stated")
    lines = {"paragraph": ["The landlord paints.", "Pay monthly. Answer: Stated"], "heading": ["Lease"]}
    made = prompting.cell_prompt(
        whole.questions["duties.stated"], question, {"duty": "Insure"}, order=["duty"], evidence=lines
    )
    assert made.text.startswith("- The landlord paints.\n- Pay monthly. Answer – ")
    assert "Lease" not in made.text
    assert not questions_with_examples(whole)
