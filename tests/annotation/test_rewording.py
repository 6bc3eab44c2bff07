"""The wording of a scheme is changed under answers: what may change, what is refused, who is told, what is kept."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import connection, transaction
from django.urls import reverse
from django.utils.html import escape

from annotation import actions, queries
from annotation.actions import Refused
from annotation.models import AuditEvent, Label, Option, Role, Scheme, SchemeRevision, Study
from annotation.queries.schemes import shipped
from annotation.scheme.rewording import differences, refusals
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges.models import Judge
from reports.data.arrays import Filters
from reports.queries import label_table
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.builders import SCHEME, ApiOf, ClientOf, Leases
from tests.judges.test_embedding import PROMPT

WHY = "Two of you asked what “implied” means."
# The label, the sign and the definition of an option, the title of a question, and an option that was forgotten.
NEXT = (
    SCHEME.replace("version: 1", "version: 2")
    .replace("title: Stated\n        about", "title: Said\n        about")
    .replace(
        "- {key: implied, label: Implied}",
        "- {key: implied, label: Between the lines, definition: It follows from what is said.}\n"
        "          - {key: unclear, label: Unclear}",
    )
)


def reworded(leases: Leases, text: str = NEXT, **by: object) -> SchemeRevision:
    given = {"reason": WHY, "by": leases.manager, **by}
    return actions.reword_scheme(study=leases.study, spec=load_scheme(text), source=text, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        ("key: contracts", "key: deeds", "key"),
        ("- {key: implied, label: Implied}", "- {key: hinted, label: Implied}", "options.implied"),
        ("facets: [duty]", "facets: [duty, by]", "sections.duties.column.facets"),
        ("        about: duty\n", "", "sections.duties.questions.stated.about"),
        ("  - key: acts\n", "  - key: deeds\n", "sections"),
        ("          - {key: absent, label: Absent}", "          - {key: absent, label: Absent, blank: true}", "blank"),
        # An option that is called as another one was, whose answers it would be taken for.
        (
            "{key: found, label: Found}\n          - {key: reworded, label: Other words}",
            "{key: found, label: other words}\n          - {key: reworded, label: Found}",
            "options.found.label",
        ),
        (
            "{key: found, label: Found}",
            "{key: found, label: Verbatim}\n          - {key: more, label: Found}",
            "options.more",
        ),
    ],
)
def test_what_an_answer_is_cannot_change(before: str, after: str, where: str) -> None:
    assert before in SCHEME
    found = differences(load_scheme(SCHEME), load_scheme(SCHEME.replace(before, after, 1)))
    assert any(where in sentence for sentence in refusals(found))


def test_a_check_that_refuses_may_become_weaker_and_not_stronger() -> None:
    checked = SCHEME.replace(
        "    column: {title: Duty, facets: [duty]}\n",
        "    column: {title: Duty, facets: [duty]}\n"
        "    checks: [{rule: equal-to, question: stated, other: stated, level: LEVEL}]\n",
    )
    none, warns, strict = SCHEME, checked.replace("LEVEL", "warn"), checked.replace("LEVEL", "refuse")
    told = strict.replace("level: refuse", "level: refuse, message: Say so.")
    for before, after, may in (
        (strict, warns, True),
        (strict, none, True),
        (none, warns, True),
        (strict, told, True),
        (warns, strict, False),
        (none, strict, False),
    ):
        found = differences(load_scheme(before), load_scheme(after))
        assert found
        assert (not refusals(found)) == may


def test_a_scale_gets_no_further_step() -> None:
    scale = SCHEME.replace("min: 1", "min: 0", 1)
    assert scale != SCHEME
    assert refusals(differences(load_scheme(SCHEME), load_scheme(scale)))


LISTED = """\
key: names
version: 1
title: Names
sections:
  - key: text
    title: Text
    questions:
      - {key: names, title: Names, kind: items, items: {fields: [{key: words}, {key: type, FIELD}]}}
"""


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ("options: [person, place]", "options: [person, place, thing]", []),
        ("options: [person, place]", "options: [place, person]", []),
        ("options: [person, place]", "options: [person]", ["options.place cannot be taken away"]),
        (
            "options: [person, place]",
            "options: [person, Place]",
            ["options.place cannot be taken away"],
        ),
        ("completions: [person]", "options: [person, place]", ["type.options cannot be added"]),
        ("options: [person, place]", "completions: [person]", ["type.options cannot be taken away"]),
    ],
    ids=["one more", "another order", "one less", "another spelling", "closed", "opened"],
)
def test_an_option_of_a_field_may_be_added_and_none_taken_away(before: str, after: str, refused: list[str]) -> None:
    """An entry that stands may be any of them, and any word where there were none."""
    old, new = (load_scheme(LISTED.replace("FIELD", field)) for field in (before, after))
    found = differences(old, new)
    assert found
    sentences = refusals(found)
    assert len(sentences) == len(refused)
    assert all(part in sentence for part, sentence in zip(refused, sentences, strict=True)), sentences
    assert any(one.adds_option for one in found) == ("thing" in after or "Place" in after)


def test_the_answers_stand_under_the_new_words(leases: Leases) -> None:
    """Labels keep their options, whose words are others; what was said before is kept with who changed it and why."""
    builders.label(leases.annas[0])
    labels = Label.objects.order_by("pk").values_list("pk", "question", "option", "revision", "updated_at")
    before = list(labels)
    revision = reworded(leases)
    assert before
    assert list(labels.all()) == before
    study = Study.objects.select_related("scheme").get(pk=leases.study.pk)
    assert (study.scheme.pk, study.scheme.version, study.scheme.source) == (leases.study.scheme.pk, 2, NEXT)
    of_stated = Option.objects.filter(question__key="stated")
    assert list(of_stated.values_list("key", "label", "hotkey", "position")) == [
        ("stated", "Stated", "1", 0),
        ("implied", "Between the lines", "2", 1),
        ("unclear", "Unclear", "3", 2),
        ("absent", "Not stated", "4", 3),
    ]
    assert (revision.version, revision.reason, revision.changed_by) == (1, WHY, leases.manager)
    assert revision.parsed == load_scheme(SCHEME)
    said = AuditEvent.objects.filter(study=study, kind=AuditEvent.Kind.ADMIN).values_list("what", flat=True)
    assert "wording changed: contracts version 2" in said


def test_keys_change_places(leases: Leases) -> None:
    swapped = SCHEME.replace("version: 1", "version: 2").replace(
        "{key: stated, label: Stated,", '{key: stated, label: Stated, hotkey: "2",'
    )
    swapped = swapped.replace("- {key: implied, label: Implied}", '- {key: implied, label: Implied, hotkey: "1"}')
    reworded(leases, swapped)
    found = Option.objects.filter(question__key="stated").values_list("key", "hotkey")
    assert dict(found) == {"stated": "2", "implied": "1", "absent": "3"}


def test_the_grid_speaks_the_new_words_at_once_and_takes_the_new_option(leases: Leases, client_of: ClientOf) -> None:
    anna = client_of(leases.anna)
    address = reverse("annotation:sheet", args=[leases.sheet.pk])
    assert "Between the lines" not in anna.get(address).content.decode()
    reworded(leases)
    page = anna.get(address).content.decode()
    assert "Between the lines" in page
    assert "Unclear" in page
    builders.label(leases.annas[0], {("Pay rent", "stated"): "unclear"})
    assert builders.standing(leases.annas[0])["Pay rent", "stated"] == "unclear"


def test_raters_who_had_begun_are_told_until_they_have_read_it(leases: Leases, client_of: ClientOf) -> None:
    anna, boris = client_of(leases.anna), client_of(leases.boris)
    sheet, read = (reverse(f"annotation:{name}", args=[leases.sheet.pk]) for name in ("sheet", "read-wording"))
    builders.label(leases.annas[0])
    reworded(leases)
    told = anna.get(sheet).content.decode()
    assert "What is asked is worded otherwise." in told
    assert escape(WHY) in told
    assert "sections.duties.questions.stated.options.implied.label" in told
    assert "worded otherwise." not in boris.get(sheet).content.decode()
    anna.post(read, {"version": 2})
    assert "worded otherwise." not in anna.get(sheet).content.decode()
    reworded(leases, NEXT.replace("version: 2", "version: 3").replace("label: Unclear", "label: Open"))
    told = anna.get(sheet).content.decode()
    assert "options.unclear.label" in told
    assert "options.implied.label" not in told


def test_what_came_while_a_page_stood_open_is_not_read_with_it(leases: Leases, client_of: ClientOf) -> None:
    anna = client_of(leases.anna)
    sheet, read = (reverse(f"annotation:{name}", args=[leases.sheet.pk]) for name in ("sheet", "read-wording"))
    builders.label(leases.annas[0])
    reworded(leases)
    assert 'name="version" value="2"' in anna.get(sheet).content.decode()
    later = NEXT.replace("version: 2", "version: 3").replace("label: Unclear", "label: Open")
    reworded(leases, later, reason="Once more.")
    both = anna.get(sheet).content.decode()
    assert escape(WHY) in both
    assert "Once more." in both
    anna.post(read, {"version": 2})
    told = anna.get(sheet).content.decode()
    assert "options.unclear.label" in told
    assert "options.implied.label" not in told
    anna.post(read, {"version": "x"})
    anna.post(read, {"version": 3})
    assert "worded otherwise." not in anna.get(sheet).content.decode()


def test_raters_are_not_told_of_a_hidden_facet(leases: Leases, client_of: ClientOf) -> None:
    hidden = "row: {facets: [{key: writer, title: Ghost writer, hidden: true}, {key: place, title: Place}]}\n"
    first = SCHEME.replace("key: contracts", "key: hiding").replace("sections:\n", f"{hidden}sections:\n", 1)
    study = builders.study("hiding", of=builders.scheme(first), by=leases.manager)
    sheet = builders.sheet(study)
    builders.label(builders.assignments(builders.rater(study, leases.anna), sheet)[0])
    text = first.replace("version: 1", "version: 2").replace("Ghost writer", "Phantom").replace("Place}", "Where}")
    actions.reword_scheme(study=study, spec=load_scheme(text), source=text, reason=WHY, by=leases.manager)
    told = client_of(leases.anna).get(reverse("annotation:sheet", args=[sheet.pk])).content.decode()
    assert "<ins>Where</ins>" in told
    assert "Ghost writer" not in told
    assert "Phantom" not in told
    assert "Phantom" in client_of(leases.manager).get(reverse("annotation:wordings", args=["hiding"])).content.decode()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (NEXT.replace("version: 2", "version: 1"), "version 2 or a higher one"),
        (SCHEME.replace("version: 1", "version: 2"), "Nothing was changed"),
        (
            NEXT.replace("- {key: absent, label: Not stated", "- {key: missing, label: Not stated"),
            "taken away under",
        ),
    ],
)
def test_what_is_refused_changes_nothing(leases: Leases, text: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        reworded(leases, text)
    assert not SchemeRevision.objects.exists()
    scheme = Scheme.objects.get(pk=leases.study.scheme.pk)
    assert (scheme.version, scheme.source) == (1, SCHEME)
    assert Option.objects.filter(question__key="stated").values_list("label", flat=True)[1] == "Implied"


def test_a_reason_is_owed(leases: Leases) -> None:
    with pytest.raises(Refused, match="Say why"):
        reworded(leases, reason="  ")


def test_a_run_at_work_is_waited_for(leases: Leases) -> None:
    """Its judge would read some rows by one wording and some by the other."""
    judge = judging.create_judge(name="near", method=Judge.Method.EMBEDDING, prompt_text=PROMPT)
    run = judging.start_run(study=leases.study, judge=judge, by=None, enqueue=False)
    assert run.provenance["scheme"] == "contracts 1"
    with pytest.raises(Refused, match="is at work in “Leases”"):
        reworded(leases)
    judging.cancel_run(run=run)
    reworded(leases)
    judging.resume_run(run=run, enqueue=False)
    run.refresh_from_db()
    assert run.provenance["scheme"] == "contracts 1, contracts 2"  # what is left is asked otherwise


def test_what_was_read_before_the_change_counts_each_answer_as_what_it_is(leases: Leases) -> None:
    """A page reads the study, an option is added before another one, and the page goes on to count."""
    builders.label(leases.annas[0], {("Pay rent", "stated"): "absent"})
    read_before = Study.objects.select_related("scheme").get(pk=leases.study.pk)
    before = label_table(read_before, Filters())
    reworded(leases)
    after = label_table(read_before, Filters())
    assert (after.spec, after.labels.tolist()) == (before.spec, before.labels.tolist())


def test_a_run_that_waited_for_the_change_says_by_what_it_asks(leases: Leases) -> None:
    read_before = Study.objects.select_related("scheme").get(pk=leases.study.pk)
    reworded(leases)
    judge = judging.create_judge(name="near", method=Judge.Method.EMBEDDING, prompt_text=PROMPT)
    run = judging.start_run(study=read_before, judge=judge, by=None, enqueue=False)
    assert run.provenance["scheme"] == "contracts 2"


def test_all_studies_that_ask_by_it_change_and_their_managers_decide(leases: Leases) -> None:
    other = builders.study("other", of=leases.study.scheme, by=builders.user("mona"))
    with pytest.raises(Refused, match="1 other study asks by this version, and you do not manage it"):
        reworded(leases)
    actions.add_member(study=other, user=leases.manager, role=Role.MANAGER, by=None)
    other.archived_at = leases.study.created_at
    other.save()
    with pytest.raises(Refused, match="bring it back first"):
        reworded(leases)
    other.archived_at = None
    other.save()
    reworded(leases)
    assert Study.objects.select_related("scheme").get(pk=other.pk).scheme.version == 2


def test_a_version_that_was_is_not_given_again(leases: Leases) -> None:
    reworded(leases)
    again = NEXT.replace("label: Unclear", "label: Not clear")
    with pytest.raises(Refused, match="version 3 or a higher"):
        reworded(leases, again)
    reworded(leases, again.replace("version: 2", "version: 7"))
    assert [one.version for one in queries.wordings(Study.objects.get(pk=leases.study.pk))] == [7, 2, 1]


def test_a_scheme_that_comes_with_palate_says_the_same_everywhere(leases: Leases) -> None:
    spec, source = next(iter(shipped().values()))
    study = builders.study("shipped", of=actions.store_scheme(spec=spec, source=source), by=leases.manager)
    text = source.replace(f"version: {spec.version}", f"version: {spec.version + 1}").replace("title: ", "title: A ", 1)
    with pytest.raises(Refused, match="comes with Palate"):
        actions.reword_scheme(study=study, spec=load_scheme(text), source=text, reason=WHY, by=leases.manager)


def test_labels_are_counted_under_the_wording_by_which_they_were_given(leases: Leases) -> None:
    first, second = leases.annas
    builders.label(first)
    n = Label.objects.filter(assignment=first, preset=False).count()
    reworded(leases)
    builders.label(second)
    m = Label.objects.filter(assignment=second, preset=False).count()
    now, before = queries.wordings(Study.objects.get(pk=leases.study.pk))
    assert (before.version, before.n_people, before.since) == (1, n, None)
    assert (now.version, now.n_people, now.until) == (2, m, None)
    assert [one.where.rpartition(".")[2] for one in before.changed][:2] == ["title", "label"]


def test_by_the_page(leases: Leases, client_of: ClientOf) -> None:
    """The text comes with the next version; what changes is shown; the same text again is taken, another one shown."""
    manager, address = client_of(leases.manager), reverse("annotation:change-scheme", args=["leases"])
    assert address in manager.get(reverse("annotation:settings", args=["leases"])).content.decode()
    assert escape(SCHEME.replace("version: 1", "version: 2")) in manager.get(address).content.decode()

    wrong = NEXT.replace("key: stated, label", "key: statd, label")
    said = manager.post(address, {"scheme_text": wrong}).content.decode()
    assert "cannot be taken away under answers" in said
    shown = manager.post(address, {"scheme_text": NEXT.replace("\n", "\r\n")})
    assert "Between the lines" in shown.content.decode()
    assert "could not be the added option" in shown.content.decode()
    assert not SchemeRevision.objects.exists()
    looked_at = shown.context["form"].data["looked_at"]
    another = {"scheme_text": NEXT.replace("Unclear", "Open"), "looked_at": looked_at, "reason": WHY}
    assert "What changes" in manager.post(address, another).content.decode()
    assert not SchemeRevision.objects.exists()
    taken = {"scheme_text": NEXT, "looked_at": looked_at, "reason": WHY}
    assert "Say why" in manager.post(address, {**taken, "reason": ""}).content.decode()
    page = manager.post(address, taken, follow=True).content.decode()
    assert "asks by version 2 now" in page
    assert escape(WHY) in page
    assert Scheme.objects.get(pk=leases.study.scheme.pk).source == NEXT
    for version, source in ((1, SCHEME), (2, NEXT)):
        file = manager.get(reverse("annotation:scheme-file", args=["leases", version]))
        assert file.content.decode() == source
    assert manager.get(reverse("annotation:scheme-file", args=["leases", 3])).status_code == 404


def test_by_the_api(leases: Leases, api_of: ApiOf) -> None:
    program, address = api_of(leases.manager), reverse("api:change-scheme", args=["leases"])
    assert program.get(address).json()["wordings"] == []
    refused = program.post(address, {"scheme_text": NEXT}, format="json")
    assert (refused.status_code, "Say why" in refused.json()["detail"]) == (409, True)
    done = program.post(address, {"scheme_text": NEXT, "reason": WHY}, format="json")
    assert (done.status_code, done.json()["scheme_version"]) == (200, 2)
    told = program.get(address).json()
    assert (told["scheme_version"], told["scheme_text"]) == (2, NEXT)
    now, before = told["wordings"]
    assert (now["version"], now["reason"], now["changed"]) == (2, None, [])
    assert (before["version"], before["reason"]) == (1, WHY)
    assert {"where": "sections.duties.questions.stated.title", "before": "Stated", "after": "Said"} in before["changed"]


@postgresql
@pytest.mark.django_db(transaction=True)
def test_who_saves_answers_and_who_changes_keys_do_not_wait_for_each_other() -> None:
    """As two answers are saved: the database holds one option, and then wants another one."""
    leases = builders.leases()
    keys = dict(Option.objects.filter(question__key="stated").values_list("key", "pk"))
    moved = NEXT.replace("{key: stated, label: Stated,", '{key: stated, label: Stated, hotkey: "9",')
    said: list[object] = []
    with transaction.atomic(), connection.cursor() as cursor:
        hold = "SELECT id FROM annotation_option WHERE id = %s FOR KEY SHARE"
        cursor.execute(hold, [keys["absent"]])
        thread = in_another_connection(partial(reworded, leases, moved), said)
        thread.join(timeout=1)
        assert not said  # it waits
        cursor.execute(hold, [keys["stated"]])
    thread.join()
    assert [type(one).__name__ for one in said] == ["SchemeRevision"]
    assert Option.objects.get(pk=keys["stated"]).hotkey == "9"
