"""From a list of names to the recipe that is taken apart: names, texts, candidates, the best, what a report says."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.deriving import making
from annotation.deriving.actions import derive_study
from annotation.deriving.forms import DeriveForm
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Rater, Row, Study, User
from annotation.scheme.spec import load_scheme
from judges.methods import prompting
from judges.models import GenerationItem
from llm.models import Generation
from recipes.memorization import actions, best, demo_study
from recipes.memorization.best import Candidate, Criterion
from recipes.memorization.faults import pieces
from recipes.memorization.names import DishName, NamesRefused, read_names
from reports.contents import contents_of
from reports.data.arrays import Filters
from reports.numbers.report import compute
from reports.queries import load
from tests import builders
from tests.annotation.lineage import rests_of
from tests.builders import ApiOf, ClientOf
from tests.judges.generations import BARE, GENERAL, dishes, model, started, wanted, work, writes

SCHEMES = demo_study.ROOT / "schemes"


def scheme_of(name: str) -> str:
    return (SCHEMES / f"{name}.yaml").read_text(encoding="utf-8")


# --- names ------------------------------------------------------------------------------------------------------------


def test_names_are_read_as_they_are_typed_pasted_or_kept_in_files() -> None:
    typed = [DishName("Koshari", "Egypt"), DishName("Fish and chips", "United Kingdom"), DishName("Coleslaw")]
    assert read_names("Koshari; Egypt\n\n  Fish  and chips ;United Kingdom\nColeslaw\nCOLESLAW\n") == typed
    assert read_names("Koshari\tEgypt\nFish and chips\tUnited Kingdom\nColeslaw\t\n") == typed
    assert read_names("\ufeffregion,name\nEgypt,Koshari\nUnited Kingdom,Fish and chips\n,Coleslaw\n") == typed
    assert read_names('Dish;Country\n"Dumplings; fried";China') == [DishName("Dumplings; fried", "China")]
    assert read_names("Pho, beef") == [DishName("Pho, beef")]  # without headings a comma is part of a name


@pytest.mark.parametrize(
    ("text", "said"),
    [(" \n", "a name on each line"), (";Egypt", "no name"), ("a" * 201, "at most 200"), ("a\x00", "no text")],
)
def test_a_list_that_cannot_be_read_is_refused(text: str, said: str) -> None:
    with pytest.raises(NamesRefused, match=said):
        read_names(text)


@pytest.mark.django_db
def test_the_page_of_names(client_of: ClientOf) -> None:
    mara = builders.user("mara")
    study = builders.study("dishes", of=builders.scheme(scheme_of("recipe-names")), by=mara)
    browser, page = client_of(mara), "/studies/dishes/names/"
    assert "type or paste them" in browser.get(page).content.decode()
    form = {"sheet": "Dishes", "text": "Koshari; Egypt\nColeslaw"}
    assert browser.post(f"{page}add/", form).status_code == 302
    told = browser.post(
        f"{page}add/", {"sheet": "More", "text": "coleslaw\nGyoza; Japan"}, follow=True
    ).content.decode()
    assert "1 dish added. 1 was in the study already." in told
    assert "from 2 regions" in told  # of three dishes one has none
    assert list(Row.objects.order_by("pk").values_list("name", "facets")) == [
        ("Koshari", {"region": "Egypt"}), ("Coleslaw", {}), ("Gyoza", {"region": "Japan"}),
    ]  # fmt: skip
    assert "one of the two" in browser.post(f"{page}add/", {"sheet": "Dishes"}).content.decode()
    assert Row.objects.count() == 3
    other = builders.study("leases")
    with pytest.raises(Refused, match="no region"):
        actions.add_names(study=other, sheet="x", names=[DishName("a", "b")])
    assert not study.sheets.filter(title="x").exists()


@pytest.mark.django_db
def test_a_program_adds_names_and_recipes(api_of: ApiOf) -> None:
    mara = builders.user("mara")
    builders.study("dishes", of=builders.scheme(scheme_of("recipe-names")), by=mara)
    api, address = api_of(mara), "/api/v1/studies/dishes/names/"

    assert list(api.post(address, {"text": "; Egypt"}, format="json").json()) == ["text"]
    added = api.post(address, {"text": "Koshari; Egypt\nColeslaw"}, format="json")
    rows = list(Row.objects.order_by("pk").values_list("pk", flat=True))
    assert (added.status_code, added.json()) == (201, {"rows": rows, "known": 0})
    again = api.post(address, {"text": "coleslaw\nGyoza", "sheet": "More"}, format="json")
    assert (again.status_code, again.json()["known"]) == (201, 1)
    assert api.get(address).json() == [
        {"sheet": "Dishes", "name": "Koshari", "region": "Egypt", "texts": 0},
        {"sheet": "Dishes", "name": "Coleslaw", "region": "", "texts": 0},
        {"sheet": "More", "name": "Gyoza", "region": "", "texts": 0},
    ]
    assert api.post("/api/v1/studies/dishes/recipes/", {"sheet": "x", "text": "y"}, format="json").status_code == 404

    study = builders.study("candidates", of=builders.scheme(scheme_of("recipe-candidates")), by=mara)
    address, recipe = "/api/v1/studies/candidates/recipes/", {"sheet": "Coleslaw", "text": "Shred it.\nEat it."}
    taken = api.post(address, recipe | {"written_by": "a model"}, format="json")
    row = Row.objects.get(sheet__study=study)
    assert (taken.status_code, taken.json()) == (201, {"sheet": row.sheet_id, "row": row.pk, "name": "1"})
    assert ([block.text for block in row.blocks], row.facets) == (["Shred it.", "Eat it."], {"generator": "a model"})
    same = api.post(address, recipe, format="json")
    assert (same.status_code, "has this text already" in same.json()["detail"]) == (409, True)


# --- the best ---------------------------------------------------------------------------------------------------------


def test_faults_come_before_correctness_and_correctness_before_preference() -> None:
    loved, right, sound = Candidate(1, 1, 5, 10), Candidate(2, 0, 4, 2), Candidate(3, 0, 3, 9)
    found = best.choose([loved, right, sound])
    assert ([one.key for (one,) in found.order], found.decided_by) == ([2, 3, 1], Criterion.CORRECTNESS)
    assert best.choose([loved, sound]).decided_by == Criterion.FAULTS
    assert best.choose([right, Candidate(4, 0, 4, 3)]).decided_by == Criterion.PREFERENCE


def test_ties_and_what_nobody_said_are_told() -> None:
    found = best.choose([Candidate(1, 0, 4, 7), Candidate(2, 0, 4, 7), Candidate(3, 2, 5, 9), Candidate(4, None, 5, 9)])
    assert ([one.key for one in found.best], found.is_tied) == ([1, 2], True)
    assert [one.key for one in found.unsaid] == [4]
    assert best.choose([Candidate(4, None, None, None)]).best == ()
    alone = best.choose([Candidate(1, 3, 1, 1)])
    assert (alone.best[0].key, alone.decided_by, alone.is_tied) == (1, None, False)


numbers = st.integers(0, 3)


@given(st.lists(st.tuples(numbers, numbers, numbers), max_size=12), st.randoms(use_true_random=False))
def test_no_candidate_that_is_better_in_the_stated_order_is_passed_over(of: list[tuple[int, ...]], rng: object) -> None:
    candidates = [Candidate(key, *said) for key, said in enumerate(of)]
    found = best.choose(candidates)
    assert {one.key for group in found.order for one in group} == set(range(len(of)))
    for one in found.best:
        assert all(
            (one.faults, -(one.correctness or 0), -(one.preference or 0)) <= other.rank_key for other in candidates
        )
    rng.shuffle(candidates)  # type: ignore[attr-defined]
    assert {one.key for one in best.choose(candidates).best} == {one.key for one in found.best}


@given(st.text("abc ", max_size=30), st.lists(st.tuples(st.text("abc ", max_size=5), st.just("why")), max_size=4))
def test_the_marked_pieces_are_the_text(text: str, faults: list[tuple[str, str]]) -> None:
    found = list(pieces(text, faults))
    assert "".join(piece.text for piece in found) == text
    words = {" ".join(of.split()) for of, _reason in faults}
    assert all(piece.text in words for piece in found if piece.reason)


# --- judges answer the same -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "scheme"),
    [
        ("names-writing", "recipe-names"),
        ("candidates-writing", "recipe-candidates"),
        ("parsing-writing", "recipe-parsing"),
    ],
)
def test_the_shipped_prompts_ask_all_questions_of_their_scheme(prompt: str, scheme: str) -> None:
    spec = prompting.load_prompt((demo_study.ROOT / "prompts" / f"{prompt}.yaml").read_text(encoding="utf-8"))
    of = load_scheme(scheme_of(scheme))
    prompting.check_against(spec, of, "writing", normalisation="none")
    asked = {f"{section.key}.{question.key}" for section in of.sections for question in section.questions}
    assert set(spec.questions) == asked


# --- the chain --------------------------------------------------------------------------------------------------------


def candidates_of(study: Study, **settings: list[str]) -> Study:
    return derive_study(
        source=study,
        deriver="candidates",
        scheme=builders.scheme(scheme_of("recipe-candidates")),
        slug="candidates",
        title="Candidates",
        settings=settings,
        by=User.objects.filter(memberships__study=study).first(),
    )


def say(rater: Rater, row: Row, faults: int, correctness: int, preference: int) -> None:
    assignment = (
        Assignment.objects.filter(rater=rater, row=row).first() or annotating.assign(rater=rater, rows=[row])[0]
    )
    column = row.sheet.columns.get().name
    marked = [{"words": f"fault {n}", "reason": "it falls apart"} for n in range(faults)]
    builders.label(
        assignment,
        {
            (column, "faults"): ":" + json.dumps(marked),
            (column, "correctness"): str(correctness),
            (column, "preference"): str(preference),
        },
    )


@pytest.mark.django_db
def test_texts_become_candidates_that_say_not_who_wrote_them(monkeypatch: pytest.MonkeyPatch) -> None:
    writes(
        monkeypatch, lambda prompt, seed: "I'm sorry, but I can't help." if seed == 8 else f"{prompt}\n\n1. Boil it."
    )
    study = dishes()
    run = started(study, wanted(GENERAL, BARE))
    work(run)
    made = candidates_of(study, texts=["all"])
    assert list(made.sheets.values_list("title", flat=True)) == ["Koshari", "Coleslaw"]
    rows = list(made.sheets.get(title="Koshari").rows.order_by("position"))
    assert [row.name for row in rows] == ["1", "2", "3", "4"]
    by_generation = {row.facets["generation"]: row for row in rows}
    for generation in Generation.objects.filter(input="Koshari"):
        row = by_generation[str(generation.pk)]
        assert "\n".join(block.text for block in row.blocks) == generation.text
        assert (row.facets["generator"], row.facets["region"]) == (generation.model.name, "Egypt")
        assert row.facets["prompt"] == generation.item.prompt_type
    hidden = {facet.key for facet in made.scheme.parsed.row.facets if facet.hidden}
    assert hidden == {"generator", "prompt", "generation"}
    (rest,) = rests_of(rows[0])
    assert rest.lineage.row == Row.objects.get(name="Koshari")
    Study.objects.filter(slug="candidates").delete()
    sound = candidates_of(study, texts=["sound"])
    assert [sheet.rows.count() for sheet in sound.sheets.all()] == [2, 2]


@pytest.mark.django_db
def test_the_best_of_k_is_of_the_type_of_prompt_that_was_chosen(
    monkeypatch: pytest.MonkeyPatch, client_of: ClientOf
) -> None:
    """The paper compares types of prompts first, and then takes K texts of the preferred one: in one list of names."""
    writes(monkeypatch, lambda prompt, _seed: f"About {prompt}")
    mara = builders.user("mara", superuser=True)
    study = dishes("Koshari", by=mara)
    work(started(study, wanted(GENERAL, BARE)))
    address = reverse("annotation:derive", args=[study.slug]) + "?deriver=candidates"
    form = client_of(mara).get(address).context["form"]
    # The scheme of candidates is chosen beforehand; which model wrote is not asked: there is one.
    assert form["scheme"].value() == "recipe-candidates"
    assert form.fields["set_types"].choices == [("freestyle", "freestyle"), ("general", "general")]
    assert "set_generators" not in form.fields
    stored = builders.scheme(scheme_of("recipe-candidates"))
    given = {"title": "General", "scheme": stored.pk, "set_texts": "all", "set_bare": "leave"}
    for slug, types in (("every", []), ("general", ["general"])):
        said = client_of(mara).post(address, {**given, "slug": slug, "set_types": types})
        assert said.status_code == 302, said.context["form"].errors
    kinds = Row.objects.order_by("pk").values_list("facets__prompt", flat=True)
    assert sorted(kinds.filter(sheet__study__slug="every")) == ["freestyle", "freestyle", "general", "general"]
    assert [*kinds.filter(sheet__study__slug="general")] == ["general", "general"]
    writer = model().name
    assert candidates_of(study, types=["general"], generators=[writer]).sheets.get().rows.count() == 2
    Study.objects.get(slug="candidates").delete()
    # A program that misspells a type got texts of the others, or sheets without any.
    for said in ({"generators": [f"not {writer}"]}, {"types": ["general", "freestyl"]}):
        with pytest.raises(Refused, match="is none of: "):
            candidates_of(study, bare=["keep"], **said)


@pytest.mark.django_db
def test_texts_are_read_once_for_all_that_is_asked_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A benchmark has thousands of texts, each of a page. What was written for withdrawn names alone is no choice."""
    writes(monkeypatch, lambda prompt, _seed: f"About {prompt}")
    study = dishes("Koshari\nGyoza")
    work(started(study, wanted(GENERAL, BARE)))
    Row.objects.filter(name="Gyoza").update(withdrawn_at=timezone.now())
    GenerationItem.objects.filter(row__name="Gyoza").update(prompt_type="another")
    deriver = making.deriver("candidates")
    assert deriver is not None
    with CaptureQueriesContext(connection) as asked:
        form = DeriveForm(study=study, deriver=deriver)
    assert sum('"llm_generation"."text"' in query["sql"].partition("FROM")[0] for query in asked) == 1
    assert form.fields["set_types"].choices == [("freestyle", "freestyle"), ("general", "general")]  # type: ignore[attr-defined]


@pytest.mark.django_db
def test_side_by_side_each_rater_sees_their_own_order_and_faults(
    client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes(monkeypatch, lambda prompt, seed: f"Dry it on paper, {seed}.")
    study = dishes("Koshari", by=builders.user("mara"))
    work(started(study))
    made = candidates_of(study)
    sheet = made.sheets.get()
    anna, boris = builders.user("anna"), builders.user("boris")
    rater = builders.rater(made, anna)
    builders.rater(made, boris)
    first, second = builders.assignments(rater, sheet)
    Assignment.objects.filter(pk=first.pk).update(order=2)
    Assignment.objects.filter(pk=second.pk).update(order=1)
    column = sheet.columns.get().name
    marked = [{"words": "on paper", "reason": "it tears"}]
    builders.label(first, {(column, "faults"): ":" + json.dumps(marked)})
    address = f"/sheets/{sheet.pk}/candidates/"
    page = client_of(anna).get(address).content.decode()
    assert page.index(f"candidate-{second.row_id}") < page.index(f"candidate-{first.row_id}")
    assert page.count('<mark title="it tears">on paper</mark>') == 1
    assert "writer" not in page
    assert f'href="{address}"' in client_of(anna).get(f"/sheets/{sheet.pk}/").content.decode()
    assert "No candidate of this dish is yours" in client_of(boris).get(address).content.decode()
    assert "on paper" in client_of(User.objects.get(username="mara")).get(address).content.decode()


@pytest.mark.django_db
def test_a_scheme_that_shows_who_wrote_a_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    study = dishes()
    with pytest.raises(Refused, match="No text has been written"):
        candidates_of(study)
    writes(monkeypatch, "Boil it.")
    work(started(study))
    text = scheme_of("recipe-candidates").replace("version: 1", "version: 2")
    shown = builders.scheme(text.replace("title: Written by, hidden: true", "title: Written by"))
    with pytest.raises(Refused, match="hide the facet"):
        derive_study(source=study, deriver="candidates", scheme=shown, slug="shown", title="Shown", by=None)


@pytest.mark.django_db
def test_each_rater_has_an_spa_and_they_agree_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    writes(monkeypatch, lambda prompt, _seed: f"About {prompt}")
    study = dishes("Koshari\nColeslaw\nGyoza")
    work(started(study, wanted(GENERAL, BARE, per_type=1)))
    made = candidates_of(study)
    anna, ben, eve = (
        Rater.objects.create(study=made, kind=Rater.Kind.PERSON, code=of) for of in ("anna", "ben", "eve")
    )
    # How gladly general and freestyle are cooked by, in each dish; eve saw one dish alone.
    likes = {anna: [(9, 5), (9, 5), (4, 4)], ben: [(2, 1), (1, 2), (3, 1)], eve: [(8, 2)]}
    for rater, of_dishes in likes.items():
        for sheet, (general, freestyle) in zip(made.sheets.order_by("position"), of_dishes, strict=False):
            for row in sheet.rows.all():
                say(rater, row, 0, 4, general if row.facets["prompt"] == "general" else freestyle)

    filters = Filters(methods=5)
    report = compute(load(made, filters), filters)
    tables = {table.key: table for table in contents_of(report).tables}
    own = tables["candidate.preference.spa.prompt.raters"]
    # freestyle before general: anna 0, 0, ½; ben 0, 1, 0; eve 0.
    assert [(line[2], line[3], line[6]) for line in own.rows] == [
        ("anna", pytest.approx(1 / 6), 3), ("ben", pytest.approx(1 / 3), 3), ("eve", 0.0, 1),
    ]  # fmt: skip
    assert own.rows[2][7] == "both are compared for one input alone"
    agreed = tables["candidate.preference.spa.prompt.agreement"]
    # anna and ben differ in Coleslaw (0, 1) and Gyoza (½, 0); eve says the same of Koshari as both.
    assert [line[:4] + line[5:6] for line in agreed.rows] == [
        ("all people", "", pytest.approx(3 / 5), pytest.approx(1.5 / 5), 3),
        ("anna", "ben", pytest.approx(1 / 3), 0.5, 3),
        ("anna", "eve", 1.0, 0.0, 1),
        ("ben", "eve", 1.0, 0.0, 1),
    ]
    alpha = agreed.rows[1][4]
    assert isinstance(alpha, float)
    assert alpha < 0
    assert agreed.rows[2][4] is None
    assert str(agreed.rows[2][6]).startswith("all assessments are the same")
    # A report frozen before is computed again as it was.
    before = contents_of(compute(load(made, Filters(methods=4)), Filters(methods=4)))
    assert [table.key for table in before.tables if ".spa." in table.key] == ["candidate.preference.spa.prompt"]


@pytest.mark.django_db
def test_from_candidates_to_the_best_the_report_and_the_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    writes(monkeypatch, lambda prompt, _seed: f"About {prompt}")
    study = dishes("Koshari\nColeslaw\nGyoza")
    work(started(study, wanted(GENERAL, BARE, per_type=1)))
    made = candidates_of(study)
    anna = Rater.objects.create(study=made, kind=Rater.Kind.PERSON, code="anna")
    for sheet in made.sheets.order_by("position"):
        for row in sheet.rows.all():
            of_general = row.facets["prompt"] == "general"
            # General is liked better twice; in Gyoza it has a fault, which comes first.
            say(anna, row, int(of_general and sheet.title == "Gyoza"), 4, 9 if of_general else 5)
    report = contents_of(compute(load(made, Filters()), Filters()))
    tables = {table.key: table for table in report.tables}
    chosen = tables["candidate.preference.best"]
    assert [(line[0], line[4], line[8]) for line in chosen.rows] == [
        ("Koshari", "general", "preference"), ("Coleslaw", "general", "preference"), ("Gyoza", "freestyle", "faults"),
    ]  # fmt: skip
    (compared,) = tables["candidate.preference.spa.prompt"].rows
    # freestyle before general: preferred in none of three dishes.
    assert compared[:4] == ("freestyle", "general", "People", 0.0)
    assert compared[-3:-1] == (3, 3)
    assert "candidate.preference.spa.generator" not in tables  # there is one generator
    parsing = derive_study(
        source=made,
        deriver="best-candidates",
        scheme=builders.scheme(scheme_of("recipe-parsing")),
        slug="parsing",
        title="Parsing",
        by=None,
    )
    gyoza = parsing.sheets.get(title="Gyoza").rows.get()
    assert [block.text for block in gyoza.blocks] == ["About Gyoza"]
    rests = rests_of(gyoza)
    assert {rest.lineage.question.key for rest in rests if rest.lineage.question} == {
        "faults",
        "correctness",
        "preference",
    }
    assert {rest.lineage.row.facets["prompt"] for rest in rests if rest.lineage.row} == {"freestyle"}


def _two_candidates(monkeypatch: pytest.MonkeyPatch) -> tuple[Study, Row, Row]:
    writes(monkeypatch, lambda prompt, _seed: f"About {prompt}")
    study = dishes("Koshari")
    work(started(study, wanted(GENERAL, BARE, per_type=1)))
    made = candidates_of(study)
    general, freestyle = (made.sheets.get().rows.get(facets__prompt=prompt) for prompt in ("general", "freestyle"))
    return made, general, freestyle


def _best_of(made: Study, slug: str, *, rater: str = "") -> tuple[str, str]:
    """By the report's table, and of what is taken apart next."""
    report = {table.key: table for table in contents_of(compute(load(made, Filters()), Filters())).tables}
    parsing = derive_study(
        source=made,
        deriver="best-candidates",
        scheme=builders.scheme(scheme_of("recipe-parsing")),
        slug=slug,
        title=slug,
        by=None,
        rater=rater,
    )
    (rests,) = {
        rest.lineage.row.facets["prompt"] for rest in rests_of(parsing.sheets.get().rows.get()) if rest.lineage.row
    }
    assert parsing.derivation["ties"]["n"] == 0
    return report["candidate.preference.best"].rows[0][4], rests


@pytest.mark.django_db
def test_the_best_of_several_raters_is_the_one_that_the_report_says(monkeypatch: pytest.MonkeyPatch) -> None:
    made, general, freestyle = _two_candidates(monkeypatch)
    # Both raters put general first; they say other numbers of it, so that no number of it has a majority.
    for code, correct, liked in (("anna", 5, 9), ("ben", 4, 8)):
        rater = Rater.objects.create(study=made, kind=Rater.Kind.PERSON, code=code)
        say(rater, general, 0, correct, liked)
        say(rater, freestyle, 0, 3, 4)
    assert _best_of(made, "both") == ("general", "general")
    # Faults come first, and their mean counts: ben alone has seen one. By anna alone nothing has changed.
    eve = Rater.objects.create(study=made, kind=Rater.Kind.PERSON, code="eve")
    say(eve, general, 1, 5, 9)
    say(eve, freestyle, 0, 3, 4)
    assert _best_of(made, "three") == ("freestyle", "freestyle")
    assert _best_of(made, "by-anna", rater="anna") == ("freestyle", "general")
    # Gold ends it.
    gold = Rater.objects.create(study=made, kind=Rater.Kind.GOLD, code="gold")
    say(gold, general, 0, 5, 9)
    say(gold, freestyle, 2, 5, 9)
    assert _best_of(made, "gold")[1] == "general"


@pytest.mark.django_db
def test_what_is_no_recipe_of_the_dish_is_filtered_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's third step also leaves out what was wrongly generated: the best of five such recipes is none."""
    made, general, freestyle = _two_candidates(monkeypatch)
    anna = Rater.objects.create(study=made, kind=Rater.Kind.PERSON, code="anna")
    say(anna, general, 0, 1, 9)
    say(anna, freestyle, 2, 3, 4)

    def best_of(slug: str, **settings: list[str]) -> str:
        scheme = builders.scheme(scheme_of("recipe-parsing"))
        parsing = derive_study(
            source=made, deriver="best-candidates", scheme=scheme, slug=slug, title=slug, settings=settings, by=None
        )
        return str(parsing.sheets.get().rows.get().facets["prompt"])

    assert best_of("any") == "general"  # it has the fewest faults
    assert best_of("two", least=["2"]) == "freestyle"
    for unsaid in ("leave", "first"):  # nor is a wrong one taken by lot
        with pytest.raises(Refused, match="is as correct as is asked"):
            best_of("four", least=["4"], unsaid=[unsaid])
    with pytest.raises(Refused, match="“7” is none of: 1, 2, 3, 4, 5"):
        best_of("seven", least=["7"])


@pytest.mark.django_db
def test_judges_choose_the_best_by_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made, general, freestyle = _two_candidates(monkeypatch)
    judge = Rater.objects.create(study=made, kind=Rater.Kind.JUDGE, code="judge")
    say(judge, general, 0, 3, 4)
    say(judge, freestyle, 0, 4, 4)
    with pytest.raises(Refused, match="No candidate has an answer of a person"):
        _best_of(made, "nobody")
    assert _best_of(made, "judge", rater="judge") == ("freestyle", "freestyle")


@pytest.mark.django_db
def test_a_verdict_leads_back_to_the_record_of_the_text(monkeypatch: pytest.MonkeyPatch, client_of: ClientOf) -> None:
    """From an item over the parsing, the candidate and the name to what the model was asked, and by which seed."""
    made, general, _freestyle = _two_candidates(monkeypatch)
    say(Rater.objects.create(study=made, kind=Rater.Kind.PERSON, code="anna"), general, 0, 5, 9)
    parsing = derive_study(
        source=made,
        deriver="best-candidates",
        scheme=builders.scheme(scheme_of("recipe-parsing")),
        slug="parsing",
        title="Parsing",
        by=None,
    )
    recipe = parsing.sheets.get().rows.get()
    (assignment,) = annotating.assign(
        rater=Rater.objects.create(study=parsing, kind="person", code="P1"), rows=[recipe]
    )
    builders.label(assignment, {(recipe.sheet.columns.get().name, "ingredients"): ':[{"ingredient":"lentils"}]'})
    looked = derive_study(
        source=parsing,
        deriver="parsed-recipes",
        scheme=demo_study.paper_scheme(),
        slug="looked",
        title="Looked for",
        by=None,
    )
    sheet = looked.sheets.get()
    page = annotating.add_row(sheet=sheet, name="Google 1", evidence=[Block("ingredient", "lentils")])
    (assignment,) = annotating.assign(rater=Rater.objects.create(study=looked, kind="person", code="L1"), rows=[page])
    builders.label(assignment, {("lentils", "presence"): "found"})
    mara = builders.user("mara")
    annotating.add_member(study=looked, user=mara, role="researcher")
    lentils = sheet.columns.get(name="lentils")
    address = reverse("memorization:verdict-item", args=[looked.slug, lentils.pk])
    item = Generation.objects.get(pk=int(general.facets["generation"])).item
    record = reverse("judges:generated-text", args=["dishes", item.run_id, item.pk])

    # Who may not read where it was written is led no further than to its text.
    assert record not in client_of(mara).get(address).content.decode()
    annotating.add_member(study=Study.objects.get(slug="dishes"), user=mara, role="researcher")
    told = client_of(mara).get(address).content.decode()
    assert f'<a href="{record}">' in told
    assert "Write a recipe for Koshari." in told
    assert client_of(mara).get(record).status_code == 200

    # A facet may say anything; a number that no database has ended in an error of the server.
    for row in Row.objects.filter(facets__generation=general.facets["generation"]):
        row.facets |= {"generation": "9" * 20}
        row.save(update_fields=["facets"])
    assert record not in client_of(mara).get(address).content.decode()
