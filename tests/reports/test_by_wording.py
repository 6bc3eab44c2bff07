"""Reports of the labels from before another wording of what is asked, and since."""

from __future__ import annotations

import csv
import io
import json
import uuid
import zipfile

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.urls import reverse

from annotation import actions as annotating
from annotation.actions import Answer
from annotation.exchange.json_tables import open_labels
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.models import Label, Study
from annotation.queries import n_from_before, wordings
from annotation.scheme.spec import load_scheme
from reports import actions, queries
from reports.contents import contents_of
from reports.data.arrays import Filters, StudyData
from reports.data.cells import study_data
from reports.data.label_table import unpacked
from reports.exports.making import path_of
from reports.frozen.recomputing import labels_of, recompute
from reports.models import Export
from reports.numbers.report import compute
from tests import builders
from tests.builders import COMPLETE, ApiOf, ClientOf, Leases, label

pytestmark = [pytest.mark.django_db, pytest.mark.once]

BEFORE, SINCE = "before-2", "from-2"
RENT, ACT, INSPECT = ("Pay rent", "stated"), ("Give notice · tenant", "act"), ("Inspect", "act")
OTHERS = {**COMPLETE, RENT: "absent", INSPECT: "found", ("Inspect", "strictness"): "1"}


def reworded(leases: Leases, version: int = 2) -> None:
    source = builders.SCHEME.replace("version: 1", f"version: {version}")
    source = source.replace("label: Implied", f"label: Hinted {version}")
    annotating.reword_scheme(
        study=Study.objects.get(pk=leases.study.pk),
        spec=load_scheme(source),
        source=source,
        reason="Plainer.",
        by=leases.manager,
    )


def now(leases: Leases) -> Study:
    return Study.objects.select_related("scheme").get(pk=leases.study.pk)


def data(leases: Leases, wording: str = "", **filters: object) -> StudyData:
    return queries.load(now(leases), Filters(wording=wording, **filters))  # type: ignore[arg-type]


def said(data: StudyData, question: str) -> dict[str, object]:
    """What a report says people and judges answered to a question, and of how many cells of people's it is."""
    of = next(one for one in data.questions if one.name == question)
    codes, n = np.unique(of.selections, return_counts=True)
    return {
        "people": sorted(zip(of.people.rater.tolist(), of.people.cell.tolist(), of.people.code.tolist(), strict=True)),
        "judges": {code: sorted(zip(a.cell.tolist(), a.code.tolist(), strict=True)) for code, a in of.judges.items()},
        "selections": dict(zip(codes.tolist(), n.tolist(), strict=True)),
    }


@pytest.fixture
def twice(leases: Leases) -> Leases:
    """The first clause was labelled by two people and the judge under the first wording, the second by the people under
    the second one. Boris skipped one cell under each."""
    label(leases.annas[0])
    label(leases.boriss[0], {**OTHERS, ACT: None, ("Give notice · tenant", "party"): None,
                             ("Give notice · tenant", "strictness"): None})  # fmt: skip
    skip(leases, 0)
    label(leases.judges[0])
    reworded(leases)
    label(leases.annas[1], OTHERS)
    label(leases.boriss[1], {key: code for key, code in COMPLETE.items() if key[0] != ACT[0]})
    skip(leases, 1)
    return leases


def skip(leases: Leases, row: int) -> None:
    cell = builders.answer(leases.sheet, *ACT, None)
    answer = Answer(cell.column, cell.question, None, skip="Cut off.")
    annotating.record(assignment=leases.boriss[row], answers=[answer], key=uuid.uuid4())


def test_labels_from_before_are_those_that_stood_when_it_changed(leases: Leases) -> None:
    """All of agreement and judges comes out as it did before the change; cells that were answered since are not there
    to be filled."""
    label(leases.annas[0])
    label(leases.boriss[0], OTHERS)
    label(leases.judges[0])
    then = {name: said(data(leases), name) for name in ("duties.stated", "acts.act", "acts.party", "acts.strictness")}
    reworded(leases)
    for assignments in (leases.annas, leases.boriss, leases.judges):
        label(assignments[1], OTHERS)

    found = data(leases, BEFORE)

    for name, of in then.items():
        again = said(found, name)
        assert (again["people"], again["judges"]) == (of["people"], of["judges"])
        # The second clause was labelled since: of no cell in it is said that nobody reached it.
        reached = {code: n for code, n in of["selections"].items() if code != -1}  # type: ignore[attr-defined]
        assert again["selections"] == reached
    missing = [one for question in found.questions for one in question.missing if one.why == "not-reached"]
    assert not missing


def test_each_label_is_of_one_wording(twice: Leases) -> None:
    every, before, since = (data(twice, wording) for wording in ("", BEFORE, SINCE))
    assert before.n_labels + since.n_labels == every.n_labels
    assert before.n_of_other_wordings == since.n_labels
    assert since.n_of_other_wordings == before.n_labels
    assert every.n_of_other_wordings == 0
    first, last = wordings(now(twice))[::-1]
    presets = Label.objects.filter(preset=True)
    n = dict(zip(*np.unique(every.table.wordings, return_counts=True), strict=True))
    assert sum(n.values()) - presets.count() == first.n_people + first.n_judges + last.n_people + last.n_judges
    assert n_from_before(now(twice))[0] == first.n_people


def test_an_answer_that_is_given_again_is_of_the_wording_by_which_it_was(twice: Leases) -> None:
    before = data(twice, BEFORE).n_labels
    label(twice.annas[0], {RENT: COMPLETE[RENT]})  # the same once more
    found = data(twice, BEFORE)
    assert (found.n_labels, found.n_of_other_wordings) == (before - 1, data(twice, SINCE).n_labels)


def test_skips_and_what_answers_switch_off_go_with_their_wording(twice: Leases) -> None:
    """Anna found the act of the first clause and inspected nothing; in the second both."""
    for wording in (BEFORE, SINCE):
        found = data(twice, wording)
        [question] = [one for one in found.questions if one.name == "acts.act"]
        assert sorted(question.selections.tolist()) == [-3, 0, 0, 2]
        assert [(one.why, one.n, one.of) for one in question.missing if one.rater.kind == "person"] == [
            ("skipped", 1, 2)
        ]
        strictness = next(one for one in found.questions if one.name == "acts.strictness")
        assert (strictness.selections == -2).sum() == 1  # of the one that inspected nothing
        assert strictness.selections.size == 4
        assert {one.why for one in strictness.missing} == {"not-reached", "not-asked"}
        assert len(found.table.skips) == 1
        assert sum(work.skipped for work in found.work) == 1


@pytest.mark.parametrize("voice", ["majority", "dawid_skene", "abilities", "rater.A1"])
def test_other_voices_are_of_the_same_cells(twice: Leases, voice: str) -> None:
    for wording in (BEFORE, SINCE):
        found = data(twice, wording, voices=(voice,))
        stated = next(one for one in found.questions if one.name == "duties.stated")
        [heard] = stated.voices
        assert heard.selections.size == 2
        assert (heard.selections >= 0).all()


def test_a_judge_whose_labels_are_all_of_another_wording_is_not_in_the_report(twice: Leases) -> None:
    assert [judge.code for judge in data(twice, BEFORE).judges] == ["J1"]
    since = data(twice, SINCE)
    assert since.judges == ()
    assert all(not question.judges for question in since.questions)


def test_of_a_judge_cells_of_other_wordings_are_not_missing(twice: Leases) -> None:
    """Its label of one cell is of the second wording: in a report of the first it lacks nothing there."""
    label(twice.judges[0], {RENT: "absent"})
    for wording, n_cells in ((BEFORE, 1), (SINCE, 0)):
        report = compute(data(twice, wording), Filters(wording=wording))
        [duties] = [one for one in report.sections[0].questions if one.data.name == "duties.stated"]
        [judge] = duties.judges
        assert judge.accuracy.n_cells == n_cells
        assert judge.missing.others == (0 if wording == BEFORE else 2)  # the second clause it never saw


def test_text_and_table_come_back_as_they_were(twice: Leases) -> None:
    for wording in ("", BEFORE, SINCE):
        table = queries.label_table(now(twice), Filters(wording=wording), notes=True)
        again = unpacked(table.packed())
        assert json.loads(table.content)["format"] == 9
        assert again.digest == table.digest
        assert again.wordings.tolist() == table.wordings.tolist()
        assert again.of_other_wordings.tolist() == table.of_other_wordings.tolist()


def test_of_one_wording_the_table_is_written_as_it_always_was(leases: Leases) -> None:
    label(leases.annas[0])
    content = json.loads(queries.label_table(leases.study, Filters()).content)
    assert content["format"] == 1
    assert not {"wordings", "of_other_wordings"} & content.keys()


def test_a_frozen_report_of_one_wording_is_recomputed_equal_after_another(twice: Leases) -> None:
    frozen = [
        actions.freeze(study=now(twice), title=wording, filters=Filters(wording=wording), by=None)
        for wording in (BEFORE, SINCE)
    ]
    reworded(twice, version=3)
    for report, n in zip(frozen, (BEFORE, SINCE), strict=True):
        assert recompute(report).equal
        table = labels_of(report)
        left_out = int((table.of_other_wordings[:, 3] == 1).sum())
        about = dict(contents_of(compute(study_data(table, Filters(wording=n)), Filters(wording=n))).about)
        side = "before version 2 of the scheme" if n == BEFORE else "from version 2 of the scheme on"
        assert about["Labels by wording"] == f"only those given {side}; {left_out} others are left out"


def test_frozen_ones_from_before_there_was_such_a_filter_are_of_all_labels(twice: Leases) -> None:
    stored = {name: value for name, value in Filters().to_json().items() if name != "wording"}
    assert Filters.from_json(stored).wording == ""


def test_of_three_wordings_each_side_is_offered(twice: Leases, client_of: ClientOf) -> None:
    reworded(twice, version=5)
    label(twice.annas[1], {RENT: "stated"})
    reader = client_of(twice.researcher)
    page = reader.get(reverse("reports:report", args=["leases"]))
    offered = [value for value, _label in page.context["form"].fields["wording"].choices]
    assert offered == ["", "from-5", "from-2", "before-5", "before-2"]
    n = {wording: data(twice, wording).n_labels for wording in offered}
    assert n["from-5"] == 1
    assert n["before-2"] + n["from-2"] == n["before-5"] + n["from-5"] == n[""]
    assert (
        "Select a valid choice"
        in reader.get(reverse("reports:report", args=["leases"]), {"wording": "from-4"}).content.decode()
    )


# --- pages, files, programs ---


def test_the_page_says_of_which_labels_it_is(twice: Leases, client_of: ClientOf) -> None:
    reader = client_of(twice.researcher)
    left_out = data(twice, BEFORE).n_of_other_wordings
    for name in ("report", "questions", "people", "whole"):
        page = reader.get(reverse(f"reports:{name}", args=["leases"]), {"wording": BEFORE}).content.decode()
        sentence = "Labels that count here: only those given before version 2 of the scheme; "
        assert f"{sentence}{left_out} others are left out." in page
        assert "was changed meanwhile" not in page
    assert "Labels by other wordings" in page
    assert "Labels that count here" not in reader.get(reverse("reports:report", args=["leases"])).content.decode()


def test_before_and_since_stand_side_by_side(twice: Leases, client_of: ClientOf) -> None:
    reader = client_of(twice.researcher)
    page = reader.get(reverse("annotation:wordings", args=["leases"]))
    [pages] = [pages for _wording, pages in page.context["wordings"] if pages]
    addresses = {str(title): url for title, url in pages}
    told = {title: reader.get(url) for title, url in addresses.items()}
    assert [response.status_code for response in told.values()] == [200, 200, 200]
    compared = told["Agreement before and since"]
    assert compared.context["names"] == ("before version 2", "from version 2 on")
    assert [said.name for said in compared.context["said"] if said.differs] == ["Labels by wording"]
    first, second = (compared.context[side].contents.n_labels for side in ("first", "second"))
    assert (first, second) == (data(twice, BEFORE).n_labels, data(twice, SINCE).n_labels)
    assert told["Report of the labels before"].context["live"].n_labels == first
    first_page = reader.get(reverse("reports:report", args=["leases"]))
    assert first_page.context["reworded"]["compared"] == addresses["Agreement before and since"]


def test_a_scheme_that_never_changed_offers_none(leases: Leases, client_of: ClientOf, api_of: ApiOf) -> None:
    label(leases.annas[0])
    reader = client_of(leases.researcher)
    address = reverse("reports:report", args=["leases"])
    assert "wording" not in reader.get(address).context["form"].fields
    told = "What is asked in this study was never worded otherwise."
    assert told in reader.get(address, {"wording": BEFORE}).content.decode()
    refused = api_of(leases.researcher).get(reverse("api:report", args=["leases"]), {"wording": BEFORE})
    assert (refused.status_code, told in refused.content.decode()) == (400, True)


def test_programs_ask_for_it(twice: Leases, api_of: ApiOf) -> None:
    program = api_of(twice.researcher)
    address = reverse("api:report", args=["leases"])
    told = program.get(address, {"wording": SINCE}).json()
    assert told["filters"]["wording"] == SINCE
    [who] = [table for table in told["tables"] if table["key"] == "raters"]
    assert sum(row["labels"] for row in who["rows"]) == data(twice, SINCE).n_labels
    assert sum(row["of_other_wordings"] for row in who["rows"]) == data(twice, BEFORE).n_labels
    assert program.get(address, {"wording": "from-7"}).status_code == 400


def lines_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def test_files_of_labels_say_by_which_version_each_was_given(twice: Leases, client_of: ClientOf) -> None:
    reader = client_of(twice.researcher)
    address = reverse("reports:labels", args=["leases"])
    every = lines_of(b"".join(reader.get(address)))
    assert {(line["row"], line["scheme_version"]) for line in every} == {("Clause 1", "1"), ("Clause 2", "2")}
    assert len([line for line in every if line["skipped"]]) == 2
    for wording, version in ((BEFORE, "1"), (SINCE, "2")):
        some = lines_of(b"".join(reader.get(address, {"wording": wording})))
        assert some == [line for line in every if line["scheme_version"] == version]


def test_files_of_one_wording_are_as_they_were(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0])
    [first, *_more] = lines_of(b"".join(client_of(leases.researcher).get(reverse("reports:labels", args=["leases"]))))
    assert "scheme_version" not in first


def test_the_archive_has_it_in_all_forms_and_they_come_in_again(twice: Leases) -> None:
    made = {}
    for form in (Export.Form.ZIP, Export.Form.JSONL, Export.Form.LABEL_STUDIO):
        export = actions.ask_for_export(study=now(twice), form=form, filters=Filters(), by=None)
        actions.make_export(export_id=export.pk)
        export.refresh_from_db()
        made[form] = path_of(export).read_bytes()
    table = queries.label_table(now(twice), Filters())
    versions = table.wordings.tolist()
    with zipfile.ZipFile(io.BytesIO(made[Export.Form.ZIP])) as archive:
        of_csv = [line["scheme_version"] for line in lines_of(archive.read("labels/labels.csv"))]
        of_parquet = pq.read_table(io.BytesIO(archive.read("labels/labels.parquet")))["scheme_version"].to_pylist()
        assert "version of the scheme that stood" in archive.read("labels/codebook.csv").decode()
    assert of_csv == [*map(str, versions), "", ""]  # two skipped cells
    assert of_parquet == versions
    assert [json.loads(line)["scheme_version"] for line in made[Export.Form.JSONL].splitlines()] == versions
    tasks = json.loads(made[Export.Form.LABEL_STUDIO])
    results = [of for task in tasks for by in task["annotations"] for of in by["result"]]
    assert {of["meta"]["scheme_version"] for of in results} == {1, 2}
    for form, name in ((Export.Form.JSONL, "labels.jsonl"), (Export.Form.LABEL_STUDIO, "labels.json")):
        table_of = open_labels(io.BytesIO(made[form]), name=name, max_bytes=2**20)
        again = builders.study(f"again-{name[7:]}", of=now(twice).scheme)
        taken = import_labels(study=again, table=table_of, how=LabelImport(create=True))
        assert taken.labels
        assert "scheme_version" not in taken.unread
