"""Starting from another rater's answers: drafts, and what becomes of them."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from datetime import datetime

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import actions, queries
from annotation.actions import NotNow, Refused
from annotation.exchange import exports
from annotation.labels import history
from annotation.lens import lens
from annotation.models import Label, LabelEvent
from annotation.queries import EditRate
from tests import builders
from tests.annotation.importing import labels_in
from tests.annotation.workshop import CUT, GLUE, STOOL, Workshop, answer, codes, fill, workshop
from tests.builders import ApiOf, ClientOf

DRAFTED = {cell: f"~{code}" for cell, code in STOOL.items()}


@pytest.fixture
def wood(db: None) -> Workshop:
    """The judge has finished the stool, from which Anna starts."""
    made = workshop()
    fill(made.judges_stool)
    actions.submit(assignment=made.judges_stool)
    return made


def draft(wood: Workshop, key: uuid.UUID | None = None) -> int:
    return actions.draft(assignment=wood.stool, rater=wood.judge, key=key or uuid.uuid4(), by=wood.manager)


def test_a_draft_brings_all_answers_of_the_other(wood: Workshop) -> None:
    assert draft(wood) == len(STOOL)

    assert codes(wood.stool) == DRAFTED
    labels = Label.objects.filter(assignment=wood.stool)
    assert {(label.drafted_from_id, label.exposed, label.is_draft) for label in labels} == {(wood.judge.pk, True, True)}
    wood.stool.refresh_from_db()
    assert wood.stool.state == "started"


def test_a_managers_draft_neither_begins_work_nor_shows_its_person(wood: Workshop) -> None:
    draft(wood)

    def seen() -> tuple[int, bool, bool, int]:
        board = queries.board(wood.study)
        [line] = queries.seen(line for line in board.lines if line.rater == wood.stool.rater)
        [mine] = queries.my_sheets(wood.anna)
        return line.total.started, line.last_at is not None, mine.touched_at is not None, mine.started

    assert seen() == (0, False, False, 0)
    one = answer(wood.sheet, CUT, "minutes", "")
    actions.confirm(assignment=wood.stool, cells=[(one.column.pk, one.question.pk)], key=uuid.uuid4())
    assert seen() == (1, True, True, 1)


def test_work_that_began_as_a_draft_is_begun_with_its_persons_first_answer(wood: Workshop) -> None:
    draft(wood)
    fill(wood.stool, {(CUT, "minutes"): ":5"})

    wood.stool.refresh_from_db()
    assert wood.stool.started_at is not None
    assert [line.total.started for line in queries.board(wood.study).lines if line.rater == wood.stool.rater] == [1]


def test_what_is_answered_already_stays(wood: Workshop) -> None:
    fill(wood.stool, {(CUT, "minutes"): ":5", (CUT, "remark"): "!torn page"})

    assert draft(wood) == len(STOOL) - 2
    assert {cell: code for cell, code in codes(wood.stool).items() if not code.startswith("~")} == {
        (CUT, "minutes"): ":5",
        (CUT, "remark"): "!torn page",
    }


def test_a_draft_sent_again_does_nothing(wood: Workshop) -> None:
    key = uuid.uuid4()

    assert (draft(wood, key), draft(wood, key)) == (len(STOOL), 0)


def test_a_draft_needs_finished_work_and_an_open_row(wood: Workshop) -> None:
    with pytest.raises(Refused, match="nothing to start from"):
        actions.draft(assignment=wood.bench, rater=wood.judge, key=uuid.uuid4())
    with pytest.raises(Refused, match="nothing to start from"):
        actions.draft(assignment=wood.stool, rater=wood.boriss_stool.rater, key=uuid.uuid4())
    fill(wood.stool)
    actions.submit(assignment=wood.stool)
    with pytest.raises(NotNow, match="take it back first"):
        draft(wood)


def test_a_drafted_answer_that_is_chosen_or_changed_is_ones_own(wood: Workshop) -> None:
    draft(wood)

    fill(wood.stool, {(CUT, "minutes"): ":2.5", (GLUE, "minutes"): ":20"})

    standing = codes(wood.stool)
    assert (standing[CUT, "minutes"], standing[GLUE, "minutes"]) == (":2.5", ":20")
    mine = Label.objects.get(assignment=wood.stool, column__name=GLUE, question__key="minutes")
    assert mine.drafted_from == wood.judge
    assert mine.confirmed_at is not None
    assert mine.exposed


def test_confirming_some_cells_and_all_that_is_left(wood: Workshop) -> None:
    draft(wood)
    one = answer(wood.sheet, CUT, "minutes", "")

    recorded = actions.confirm(assignment=wood.stool, cells=[(one.column.pk, one.question.pk)], key=uuid.uuid4())
    assert recorded.changed == {(one.column.pk, one.question.pk)}
    assert codes(wood.stool) == {**DRAFTED, (CUT, "minutes"): ":2.5"}

    actions.confirm(assignment=wood.stool, key=uuid.uuid4())
    assert codes(wood.stool) == STOOL


def test_a_row_with_drafts_is_not_submitted_unless_that_confirms_them(wood: Workshop) -> None:
    draft(wood)
    with pytest.raises(actions.Unconfirmed, match="18 cells of “Stool” hold drafts") as caught:
        actions.submit(assignment=wood.stool)
    assert len(caught.value.cells) == len(STOOL)

    submitted = actions.submit(assignment=wood.stool, confirm=True)

    assert submitted.state == "submitted"
    assert codes(wood.stool) == STOOL


def test_the_page_is_told_which_cells_hold_drafts(wood: Workshop, client_of: ClientOf) -> None:
    draft(wood)
    anna = client_of(wood.anna)

    refused = anna.post(reverse("annotation:submit", args=[wood.stool.pk]))
    assert refused.status_code == 409
    assert len(refused.json()["drafts"]) == len(STOOL)

    assert anna.post(reverse("annotation:submit", args=[wood.stool.pk]), {"confirm": "1"}).json() == {
        "state": "submitted"
    }


def save(client: object, wood: Workshop, value: str, seen: str) -> dict[str, object]:
    of = answer(wood.sheet, CUT, "minutes", "")
    changes = json.dumps([[wood.stool.pk, of.column.pk, of.question.pk, value, seen]])
    url = reverse("annotation:record-cells", args=[wood.sheet.pk])
    reply: dict[str, object] = client.post(url, {"key": str(uuid.uuid4()), "changes": changes}).json()  # type: ignore[attr-defined]
    return reply


def test_the_grid_confirms_by_choosing_the_same_and_undoes_it(wood: Workshop, client_of: ClientOf) -> None:
    draft(wood)
    anna = client_of(wood.anna)

    save(anna, wood, ":2.5", "~:2.5")
    assert codes(wood.stool)[CUT, "minutes"] == ":2.5"
    save(anna, wood, "~:2.5", ":2.5")
    assert codes(wood.stool)[CUT, "minutes"] == "~:2.5"
    save(anna, wood, "", "~:2.5")
    assert (CUT, "minutes") not in codes(wood.stool)
    save(anna, wood, "~:2.5", "")
    assert codes(wood.stool)[CUT, "minutes"] == "~:2.5"


def test_nobody_makes_a_draft_of_an_answer_of_their_own(wood: Workshop, client_of: ClientOf) -> None:
    save(client_of(wood.anna), wood, "~:5", "")

    assert codes(wood.stool) == {(CUT, "minutes"): ":5"}


def test_a_restore_brings_drafts_back(wood: Workshop) -> None:
    draft(wood)
    then = timezone.now()
    actions.confirm(assignment=wood.stool, key=uuid.uuid4())
    fill(wood.stool, {(CUT, "minutes"): ":9"})

    changes = history.changes(wood.sheet, to=then)
    actions.restore(sheet=wood.sheet, to=then, shown=lens.digest(changes), by=wood.manager)

    assert codes(wood.stool) == DRAFTED
    assert {label.drafted_from for label in Label.objects.filter(assignment=wood.stool)} == {wood.judge}


def test_the_history_says_whose_draft_it_was(wood: Workshop) -> None:
    draft(wood)
    actions.confirm(assignment=wood.stool, key=uuid.uuid4())

    events = LabelEvent.objects.filter(assignment=wood.stool, question__key="minutes", column__name=CUT).order_by("pk")
    assert [(e.code_before, e.code_after, e.drafted_from, e.confirmed_at is None, e.by) for e in events] == [
        ("", ":2.5", wood.judge, True, wood.manager),
        (":2.5", ":2.5", wood.judge, False, None),
    ]


def test_edit_rates(wood: Workshop) -> None:
    assert queries.edit_rates(wood.study) == []
    draft(wood)
    assert queries.edit_rates(wood.study) == []  # all of it waits
    fill(
        wood.stool,
        {
            (CUT, "work"): "cut",  # the same
            (CUT, "minutes"): ":14.5",  # 12 of 60 away
            (GLUE, "change"): ':[{"from":["foot","seat"],"to":["stool"]}]',  # one of two transitions
            (CUT, "tools"): "",  # gone
        },
    )

    [rate] = queries.edit_rates(wood.study)

    assert rate == EditRate("A1", "J1", 4, 3, pytest.approx((0 + 12 / 60 + 1 / 2 + 1) / 4))
    assert rate.share == 3 / 4


def restore(wood: Workshop, to: datetime) -> None:
    changes = history.changes(wood.sheet, to=to)
    actions.restore(sheet=wood.sheet, to=to, shown=lens.digest(changes), by=wood.manager)


def test_edit_rates_leave_out_what_a_manager_restored(wood: Workshop) -> None:
    """A draft that was taken away by a restore was not edited; one that came back counts as what it is."""
    before = timezone.now()
    draft(wood)
    fill(wood.stool, {(CUT, "minutes"): ":14.5"})
    edited = timezone.now()
    restore(wood, before)
    assert codes(wood.stool) == {}

    assert queries.edit_rates(wood.study) == []

    restore(wood, edited)
    [rate] = queries.edit_rates(wood.study)
    assert (rate.drafted, rate.changed) == (1, 1)


# --- by the manager -------------------------------------------------------------------------------------------------


def test_a_manager_starts_work_from_what_is_submitted(wood: Workshop, client_of: ClientOf) -> None:
    """The judge has submitted the stool and not the bench; Anna has the stool, with one answer of her own."""
    fill(wood.stool, {(CUT, "minutes"): ":5"})
    manager, url = client_of(wood.manager), reverse("annotation:drafts", args=[wood.study.slug])
    asked = {"rater": wood.stool.rater_id, "source": wood.judge.pk, "sheet": ""}

    board = manager.get(reverse("annotation:board", args=[wood.study.slug])).content.decode()
    shown = manager.get(url, asked)
    [startable] = shown.context["startable"]
    nothing_ticked = manager.post(url, asked)
    another = manager.post(url, {**asked, "work": [wood.stool.pk, wood.bench.pk]})

    assert f"{url}?rater={wood.stool.rater_id}" in board
    assert (startable.assignment, startable.is_begun) == (wood.stool, True)
    assert (startable.answers, startable.own) == (len(STOOL), 1)
    assert "Tick what is to start" in nothing_ticked.content.decode()
    assert "This has changed since it was shown" in another.content.decode()
    assert codes(wood.stool) == {(CUT, "minutes"): ":5"}

    done = manager.post(url, {**asked, "work": [wood.stool.pk]}, follow=True)

    assert f"{len(STOOL) - 1} answers of “J1” wait as drafts for “A1”." in done.content.decode()
    assert codes(wood.stool) == DRAFTED | {(CUT, "minutes"): ":5"}


def test_nobody_starts_from_their_own_answers_or_from_nothing(wood: Workshop, client_of: ClientOf) -> None:
    url = reverse("annotation:drafts", args=[wood.study.slug])
    fill(wood.stool)
    actions.submit(assignment=wood.stool)
    manager = client_of(wood.manager)

    own = manager.get(url, {"rater": wood.stool.rater_id, "source": wood.stool.rater_id, "sheet": wood.sheet.pk})
    unsubmitted = manager.get(url, {"rater": wood.stool.rater_id, "source": wood.boriss_stool.rater_id, "sheet": ""})

    assert list(own.context["form"].errors) == ["source"]
    assert list(unsubmitted.context["form"].errors) == ["source"]


def test_the_api_starts_work_from_answers(wood: Workshop, api_of: ApiOf) -> None:
    client, url = api_of(wood.manager), reverse("api:drafts", args=[wood.study.slug])
    asked = {"rater": "A1", "drafted_from": "J1"}

    unknown = client.post(url, {**asked, "rater": "A9"}, format="json")
    bench = client.post(url, {**asked, "rows": [wood.stool.row_id, wood.bench.row_id]}, format="json")
    assert (unknown.status_code, bench.status_code, codes(wood.stool)) == (400, 409, {})
    done = client.post(url, asked, format="json")

    assert done.json() == {"assignments": 1, "answers": len(STOOL)}
    [label, *_] = client.get(reverse("api:labels", args=[wood.study.slug]), {"rater": "A1"}).json()["results"]
    assert (label["drafted_from"], label["confirmed_at"]) == ("J1", None)


def test_the_lens_shows_which_answers_are_drafts(wood: Workshop, client_of: ClientOf, api_of: ApiOf) -> None:
    draft(wood)
    fill(wood.stool, {(CUT, "minutes"): ":9"})
    place = {"row": wood.stool.row_id, **cell_of(wood, CUT, "work")}

    page = client_of(wood.manager).get(reverse("annotation:lens", args=[wood.sheet.pk])).content.decode()
    detail = client_of(wood.manager).get(reverse("annotation:lens-cell", args=[wood.sheet.pk]), place).content.decode()
    url = reverse("api:lens", args=[wood.sheet.pk])
    drafts = api_of(wood.manager).get(url, {"kind": "draft", "rater": "A1"}).json()["cells"]
    of_boris = api_of(wood.manager).get(url, {"kind": "draft", "rater": "A2"}).json()["cells"]

    assert page.count("draft-0") == len(STOOL) - 1
    assert "draft of J1, not confirmed" in detail
    assert (len(drafts), of_boris) == (len(STOOL) - 1, [])


def cell_of(wood: Workshop, column: str, question: str) -> dict[str, int]:
    asked = answer(wood.sheet, column, question, "")
    return {"column": asked.column.pk, "question": asked.question.pk}


def test_drafts_survive_the_way_out_and_in(wood: Workshop) -> None:
    """Exported, imported into another study of the scheme, and exported again: who drafted what, and what waits."""
    draft(wood)
    fill(wood.stool, {(CUT, "minutes"): ":9"})
    header = exports.label_header(wood.study)
    table = list(exports.exported_labels(wood.study))
    copy = builders.study("copy", of=wood.study.scheme)

    labels_in(copy, "".join(exports.safe_lines(header, table)))

    keep = [n for n, name in enumerate(header) if name not in ("updated_at", "state")]
    again = list(exports.exported_labels(copy))
    assert [[line[n] for n in keep] for line in again] == [[line[n] for n in keep] for line in table]
    at = {name: header.index(name) for name in ("rater", "drafted_from", "confirmed", "state")}
    assert Counter(
        (line[at["drafted_from"]], line[at["confirmed"]]) for line in again if line[at["rater"]] == "A1"
    ) == {
        ("J1", "no"): len(STOOL) - 1,
        ("J1", "yes"): 1,
    }
    assert {line[at["rater"]]: line[at["state"]] for line in again} == {"A1": "started", "J1": "submitted"}
    assert queries.edit_rates(copy) == []  # what was drafted is not in the file


def test_over_the_api_drafts_are_confirmed_with_the_submission(wood: Workshop, api_of: ApiOf) -> None:
    draft(wood)
    assert wood.stool.rater.user is not None
    api, url = api_of(wood.stool.rater.user), reverse("api:submit", args=[wood.stool.pk])

    refused = api.post(url)
    assert (refused.status_code, "you have not confirmed" in refused.json()["detail"]) == (409, True)
    assert api.post(url, {"confirm": "perhaps"}).status_code == 400

    assert api.post(url, {"confirm": True}, format="json").json()["state"] == "submitted"
    assert codes(wood.stool) == STOOL
