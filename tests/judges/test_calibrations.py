"""Calibrations of stored scores: fitted by a manager, used by reports, made judges of."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.test import Client

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.models import Label, Question, Rater, Row, Sheet, Study
from annotation.scheme.spec import load_scheme
from judges import actions
from judges.calibrations import queries
from judges.lineage import queries as lineage
from judges.methods import prompting
from judges.models import FittedCalibration, Judge
from judges.runs import labelling
from reports.data.arrays import LEAVE_OUT, Filters
from reports.data.label_table import LabelTable, unpacked
from reports.forms import FiltersForm
from reports.hiring import actions as hiring_actions
from reports.hiring import queries as hiring
from reports.models import Split
from reports.queries import label_table
from tests import builders
from tests.builders import ClientOf, Leases
from tests.judges import helpers
from tests.judges.test_embedding import NEAREST, PROMPT

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# Under the thresholds of its prompt it says "implied" of the rent; people say "stated".
PEOPLE = {("Pay rent", "stated"): "stated", ("Insure", "stated"): "absent"}


@pytest.fixture
def rater(leases: Leases) -> Rater:
    """A judge with scores in both rows, of which people say otherwise in a way that a threshold mends."""
    judge = actions.create_judge(name="near", method=Judge.Method.EMBEDDING, prompt_text=PROMPT)
    run = actions.start_run(study=leases.study, judge=judge, by=None, enqueue=False)
    helpers.work(run)
    for assignment in leases.annas:
        builders.label(assignment, {**builders.COMPLETE, **PEOPLE})
        annotating.submit(assignment=assignment)
    return run.rater


def fit(leases: Leases, rater: Rater) -> FittedCalibration:
    return actions.calibrate(rater=rater, rows=queries.rows_of(leases.study, [leases.sheet]), by=leases.manager)


def test_a_calibration_is_fitted_to_peoples_labels_and_changes_none(leases: Leases, rater: Rater) -> None:
    before = list(Label.objects.order_by("pk").values_list("pk", "option", "scores"))
    made = fit(leases, rater)
    of = made.questions["duties.stated"]
    assert (of["n_cells"], of["n_documents"]) == (4, 2)
    assert of["how"] != "as scored"
    as_scored = next(each for each in of["candidates"] if each["how"] == "as scored")
    assert (of["candidates"][0]["accuracy"], as_scored["accuracy"]) == (1.0, 0.5)
    assert made.lineage["rows"] == sorted(row.pk for row in leases.sheet.rows.all())
    assert list(Label.objects.order_by("pk").values_list("pk", "option", "scores")) == before
    assert fit(leases, rater).lineage == made.lineage  # the same data, the same digests
    other = Label.objects.get(assignment=leases.annas[0], column__name="Pay rent").option
    Label.objects.filter(assignment=leases.annas[0], column__name="Insure").update(option=other)
    assert fit(leases, rater).lineage["labels_sha256"] != made.lineage["labels_sha256"]


def test_a_report_chooses_by_it(leases: Leases, rater: Rater) -> None:
    made = fit(leases, rater)

    def chosen(**normalisations: str) -> list[str]:
        table = label_table(leases.study, Filters(judges=("near",), normalisations=normalisations))
        mine = [n for n, a in enumerate(table.assignments) if table.raters[a.rater].code == "near"]
        labels = table.labels[[a in mine for a in table.labels[:, 0]]]
        return [table.questions[q][1].options[code].key for _a, _c, q, code, *_rest in labels.tolist()]

    assert chosen() == ["implied", "absent"] * 2
    assert chosen(near=made.key) == ["stated", "absent"] * 2
    entry = next(
        rater
        for rater in label_table(leases.study, Filters(normalisations={"near": made.key})).raters
        if rater.code == "near"
    )
    assert entry.anew
    assert entry.normalisation == made.said
    with pytest.raises(Refused, match="calibration-0"):
        chosen(near="calibration-0")


def test_scores_are_chosen_from_anew_after_an_option_was_added(leases: Leases, rater: Rater) -> None:
    """The scores are of three options, the question has four now; the added one was never offered, nor is it chosen."""
    made = fit(leases, rater)
    before = label_table(leases.study, Filters(judges=("near",), normalisations={"near": made.key}))
    more = "- {key: unclear, label: Unclear}\n          - {key: implied, label: Hinted}"
    text = builders.SCHEME.replace("version: 1", "version: 2").replace("- {key: implied, label: Implied}", more)
    annotating.reword_scheme(
        study=leases.study, spec=load_scheme(text), source=text, reason="It was missing.", by=leases.manager
    )
    study = Study.objects.select_related("scheme").get(pk=leases.study.pk)
    after = label_table(study, Filters(judges=("near",), normalisations={"near": made.key}))

    def keys(table: LabelTable) -> list[str]:
        options = [question.options for _section, question in table.questions]
        return [options[q][code].key if options[q] else "" for _a, _c, q, code, *_rest in table.labels.tolist()]

    assert keys(after) == keys(before)
    again = actions.calibrate(rater=Rater.objects.get(pk=rater.pk), rows=made.lineage["rows"], by=leases.manager)
    assert again.questions["duties.stated"]["candidates"] == made.questions["duties.stated"]["candidates"]


def test_a_judge_made_of_it_labels_by_it(leases: Leases, rater: Rater) -> None:
    made = fit(leases, rater)
    judge = actions.create_calibrated(calibration=made, name="near-2")
    run = actions.start_run(study=leases.study, judge=judge, by=None, enqueue=False)
    helpers.work(run)
    assert {option for (_r, c, _q), option in helpers.labels_of(run.rater).items() if c == "Pay rent"} == {"stated"}
    label = Label.objects.filter(assignment__rater=run.rater).first()
    assert label is not None
    assert label.scores["calibration"]["bias"] == made.questions["duties.stated"]["calibration"]["bias"]
    table = label_table(leases.study, Filters(judges=("near-2",)))
    assert [rater.normalisation for rater in table.raters if rater.code == "near-2"] == ["none, calibrated"]
    # By similarities and by what was calibrated a judge chooses in one way, which is its own.
    listed = {(one.judge, one.normalisation, one.own) for one in hiring.candidates(leases.study, epsilon=0.5)}
    assert listed == {("near", "none", True), ("near-2", "none, calibrated", True)}
    again = actions.create_calibrated(calibration=fit(leases, run.rater), name="near-3")
    assert again.prompt.text.count("\ncalibration:") == 1  # in the place of the first, not beside it
    with pytest.raises(Refused, match="near-3"):
        actions.create_calibrated(calibration=made, name="near-3")


def test_how_a_calibrated_judge_labelled_is_no_score_without_its_calibration(
    leases: Leases, rater: Rater, client_of: ClientOf
) -> None:
    judge = actions.create_calibrated(calibration=fit(leases, rater), name="near-2")
    run = actions.start_run(study=leases.study, judge=judge, by=None, enqueue=False)
    helpers.work(run)
    again = fit(leases, run.rater)
    as_scored = next(one for one in again.questions["duties.stated"]["candidates"] if one["how"] == "as scored")
    assert as_scored["accuracy"] == 0.5

    def as_it_labelled() -> list[str]:
        address = f"/studies/{leases.study.slug}/judges/raters/{run.rater.pk}/calibrations/"
        table = client_of(leases.manager).get(address).content.decode().split("<table")[1]
        return [cell.partition("<")[0] for cell in table.split('<td class="n">')][3:6:2]

    assert as_it_labelled() == ["1.000", "1.000"]
    del again.questions["duties.stated"]["labelled"]  # of before this was kept
    FittedCalibration.objects.filter(pk=again.pk).update(questions=again.questions)
    assert as_it_labelled() == ["–", "–"]


def test_a_normalisation_that_was_not_fitted_makes_no_judge(leases: Leases, rater: Rater) -> None:
    made = fit(leases, rater)
    Judge.objects.filter(name="near").update(normalisation="pmi")
    with pytest.raises(Refused, match="pmi"):
        actions.create_calibrated(calibration=made, name="near-2")


def test_only_what_was_set_aside_is_fitted_to(leases: Leases, rater: Rater, monkeypatch: pytest.MonkeyPatch) -> None:
    first = leases.sheet.rows.earliest("position")
    monkeypatch.setattr(doors, "_example_rows", [lambda study: frozenset({first.pk})])
    with pytest.raises(Refused, match="2 of the chosen documents"):
        fit(leases, rater)


def test_what_people_took_over_from_a_judge_or_saw_is_not_fitted_to(leases: Leases, rater: Rater) -> None:
    Label.objects.filter(assignment__in=leases.annas).update(exposed=True)
    with pytest.raises(Refused):
        fit(leases, rater)


def test_a_calibration_of_another_normalisation_is_refused(leases: Leases) -> None:
    prompt = f"{PROMPT}calibration:\n  duties.stated: {{normalisation: token, bias: {{stated: 1}}}}\n"
    with pytest.raises(prompting.PromptError, match="token"):
        prompting.check_against(prompting.load_prompt(prompt), leases.study.scheme.parsed, Judge.Method.EMBEDDING)
    with pytest.raises(prompting.PromptError, match="gone"):
        prompting.load_prompt(f"{PROMPT}calibration: {{duties.gone: {{}}}}\n")


def test_the_page_fits_shows_and_makes_a_judge(leases: Leases, rater: Rater, client_of: ClientOf) -> None:
    leases.manager.is_superuser = True  # may add judges
    leases.manager.save()
    client: Client = client_of(leases.manager)
    address = f"/studies/{leases.study.slug}/judges/raters/{rater.pk}/calibrations/"
    assert address in client.get(f"/studies/{leases.study.slug}/judges/").content.decode()
    assert "Choose where the development documents are." in client.post(address).content.decode()
    page = client.post(address, {"sheet": [leases.sheet.pk]}, follow=True).content.decode()
    made = FittedCalibration.objects.get()
    assert f"Calibration {made.pk}" in page
    assert "mean-centred: each option less its mean over the run" in page
    assert "It was fitted to documents of every sheet" in page
    assert f"normalisation.near={made.key}" not in page
    builders.sheet(leases.study, "Another")
    assert f"normalisation.near={made.key}" in client.get(address).content.decode()
    create = f"/studies/{leases.study.slug}/judges/calibrations/{made.pk}/judge/"
    assert "letters, digits" in client.post(create, {"name": "no name"}, follow=True).content.decode()
    client.post(create, {"name": "near-fitted"})
    judge = Judge.objects.get(name="near-fitted")
    assert labelling.cells_asked(judge, leases.annas[0])[0].calibration is not None
    report = client.get(f"/studies/{leases.study.slug}/report/?normalisation.near={made.key}").content.decode()
    assert f"chosen anew: {made.said}" in report


# --- a judge whose prompt has examples -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """Four documents that Anna and two judges have labelled; the first two are examples in the prompt of one."""

    study: Study
    sheet: Sheet
    examples: list[int]
    others: list[int]
    rater: Rater
    plain: Rater

    def fit(self) -> FittedCalibration:
        return actions.calibrate(rater=self.rater, rows=queries.rows_of(self.study, [self.sheet]), by=None)


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    study = helpers.study_of_leases(n_rows=4)
    sheet = study.sheets.get()
    for n, assignment in enumerate(builders.assignments(builders.rater(study, builders.user("anna")), sheet)):
        rent = "stated" if n % 2 else "implied"
        builders.label(assignment, {**builders.COMPLETE, ("Pay rent", "stated"): rent})
        annotating.submit(assignment=assignment)
    plain = actions.create_judge(
        name="plain", method=Judge.Method.CLOZE, location=helpers.save_tiny_model(tmp_path), prompt_text=NEAREST
    )
    rows = list(sheet.rows.order_by("position").values_list("pk", flat=True))
    judge = actions.create_with_examples(judge=plain, study=study, rows=rows[:2], each=2, name="shown")
    raters = []
    for one in (judge, plain):
        run = actions.start_run(study=study, judge=one, by=None, enqueue=False)
        helpers.work(run)
        raters.append(run.rater)
    return Shown(study, sheet, rows[:2], rows[2:], *raters)


def test_a_judge_is_not_fitted_to_its_own_examples(shown: Shown) -> None:
    made = shown.fit()
    assert (made.lineage["rows"], made.lineage["examples"]) == (shown.others, shown.examples)
    assert made.questions["duties.stated"]["n_documents"] == 2
    # What it says of its examples moves nothing: neither does it stand in the means that options are centred by.
    Label.objects.filter(assignment__rater=shown.rater, assignment__row__in=shown.examples).delete()
    again = shown.fit()
    assert again.questions == made.questions
    assert again.lineage["scores_sha256"] == made.lineage["scores_sha256"]
    assert "examples" not in again.lineage


def test_nor_is_what_was_made_of_it(shown: Shown) -> None:
    """A calibrated judge, and a copy with the same prompt, show the same examples; a judge given others shows those."""
    calibrated = actions.create_calibrated(calibration=shown.fit(), name="fitted")
    own = Judge.objects.get(name="shown")
    copy = actions.create_judge(
        name="copy", method=own.method, model=own.model, prompt_text=own.prompt.text, study=shown.study
    )
    other = actions.create_with_examples(
        judge=calibrated, study=shown.study, rows=shown.others[:1], each=2, name="other"
    )
    assert [lineage.examples_of([one]) for one in (own, calibrated, copy, other)] == [
        *[set(shown.examples)] * 3,
        set(shown.others[:1]),
    ]
    assert lineage.examples_of([Judge.objects.get(name="plain")]) == set()


def test_examples_alone_are_nothing_to_fit_to(shown: Shown) -> None:
    with pytest.raises(Refused, match="Those that stand as examples in its prompt do not count"):
        actions.calibrate(rater=shown.rater, rows=shown.examples, by=None)


def test_the_page_says_what_is_left_out(shown: Shown, client_of: ClientOf) -> None:
    builders.sheet(shown.study, "Another")
    made = shown.fit()
    manager = shown.study.memberships.get(role="manager").user
    client = client_of(manager)
    address = f"/studies/{shown.study.slug}/judges/raters/{shown.rater.pk}/calibrations/"
    page = client.get(address).content.decode()
    assert "2 documents labelled by people (without 2 that are examples in the judge&#x27;s prompt)" in page
    assert "fitted to 2 documents, without 2 that are examples in the judge&#x27;s prompt" in page
    other = client.get(address.replace(str(shown.rater.pk), str(shown.plain.pk))).content.decode()
    assert "4 documents labelled by people" in other
    assert "without" not in other.split("<form")[1].split("</form>")[0]
    assert made.said.startswith(f"calibration {made.pk}, fitted to 2 documents, ")


def test_a_sheet_of_its_examples_is_none_to_report_on(shown: Shown, client_of: ClientOf) -> None:
    """Its examples lie on a sheet that it is not fitted to: figures of that sheet would be of what it was shown."""
    apart = builders.sheet(shown.study, "Another", n_rows=0)
    Row.objects.filter(pk__in=shown.examples).update(sheet=apart)
    shown.fit()
    manager = shown.study.memberships.get(role="manager").user
    address = f"/studies/{shown.study.slug}/judges/raters/{shown.rater.pk}/calibrations/"
    assert "It was fitted to documents of every sheet" in client_of(manager).get(address).content.decode()


def test_judges_are_weighed_together_without_their_examples(shown: Shown, client_of: ClientOf) -> None:
    rows = queries.rows_of(shown.study, [shown.sheet])
    found = actions.weigh(study=shown.study, raters=[shown.rater, shown.plain], rows=rows)
    assert (found.rows, found.left_out) == (tuple(shown.others), tuple(shown.examples))
    manager = shown.study.memberships.get(role="manager").user
    chosen = {"judge": [shown.rater.pk, shown.plain.pk], "sheet": [shown.sheet.pk]}
    page = client_of(manager).post(f"/studies/{shown.study.slug}/judges/together/", chosen).content.decode()
    assert "2 documents are left out: they are examples in the prompt of one of these judges." in page


def test_a_judge_is_not_chosen_by_its_own_examples(shown: Shown, client_of: ClientOf) -> None:
    """Neither its figures where judges are compared, nor its development score, nor what tells a test's size."""
    found = {one.judge: (one.documents, one.examples) for one in hiring.candidates(shown.study, epsilon=0.5) if one.own}
    assert found == {"shown": (2, 2), "plain": (4, 0)}
    judges = {judge.pk: judge.name for judge in Judge.objects.select_related("prompt")}
    scores = lineage.development_scores(shown.study, list(Judge.objects.select_related("prompt")))
    assert {judges[pk]: score.n_documents for pk, score in scores.items()} == {"shown": 2, "plain": 4}
    question = Question.objects.get(key="stated")
    not_drawn = Split(study=shown.study, unit="row")
    cost = hiring.cost_of(not_drawn, shown.rater, question, epsilon=0.5, confidence=0.8)
    assert cost.development == 2
    manager = shown.study.memberships.get(role="manager").user
    page = client_of(manager).get(f"/studies/{shown.study.slug}/hiring/choose/").content.decode()
    assert "Clauses that stand as examples in a judge’s prompt do not count for it." in page
    Rater.objects.filter(code="shown").delete()
    page = client_of(manager).get(f"/studies/{shown.study.slug}/hiring/choose/").content.decode()
    assert "stand as examples" not in page


def test_nor_are_its_thresholds(shown: Shown) -> None:
    """A test leaves its examples out where it chooses thresholds, and says so."""
    hiring_actions.draw_split(study=shown.study, unit="row", share=50, seed=1, by=None)
    assert doors.example_rows(shown.study) == {*shown.examples}
    came = hiring_actions.certify(
        study=shown.study,
        rater=shown.rater,
        question=Question.objects.get(key="stated"),
        epsilon=0.2,
        confidence=0.8,
        until=datetime.date(2099, 1, 1),
        by=None,
    )
    assert json.loads(came.look.outcome["document"])["n_left_out"] == 2


def test_a_report_says_what_a_judge_has_seen_and_leaves_it_out_if_asked(shown: Shown, client_of: ClientOf) -> None:
    """Its examples count unless they are left out, for it alone; a calibration that is chosen has seen the others."""
    table = label_table(shown.study, Filters())
    assert [(table.raters[entry.rater].code, len(entry.rows)) for entry in table.seen] == [("shown", 2)]
    assert unpacked(table.packed()).content == table.content
    without = label_table(shown.study, Filters(seen=LEAVE_OUT))

    def rows_of(of: LabelTable) -> dict[str, int]:
        return dict(Counter(of.raters[one.rater].code for one in of.assignments))

    assert rows_of(table) == {"A1": 4, "plain": 4, "shown": 4}
    assert rows_of(without) == {"A1": 4, "plain": 4, "shown": 2}
    assert without.seen == table.seen
    manager = client_of(shown.study.memberships.get(role="manager").user)
    address = f"/studies/{shown.study.slug}/report/judges/"
    page = manager.get(address).content.decode()
    assert "or have them as examples: shown 2. There they do better than elsewhere." in page
    page = manager.get(f"{address}?seen=leave_out").content.decode()
    assert "or have them as examples" not in page
    assert "left out: shown 2" in page
    calibrated = Filters(normalisations={"shown": f"calibration-{shown.fit().pk}"})
    assert [len(entry.rows) for entry in label_table(shown.study, calibrated).seen] == [4]


def test_a_report_of_a_study_whose_judges_have_seen_nothing_is_as_it_was(leases: Leases, rater: Rater) -> None:
    table = label_table(leases.study, Filters())
    assert (table.seen, json.loads(table.content)["format"]) == ((), 1)
    assert "seen" not in json.loads(table.content)
    assert "seen" not in FiltersForm(study=leases.study).fields
