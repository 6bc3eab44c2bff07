"""Makes the databases in `data/`, of the version of 2026-11-21 (ff10cfd), by that version's own actions.

    PALATE_ENV=test DATABASE_URL=… python -m tests.upgrade.make_data

It was run at ff10cfd, once on SQLite and once on PostgreSQL, each time on an empty database. It is kept to say what
the data are; it need not run against later code, and running it there would make data of the wrong version.

    pancakes, chili   the memorization paper's study: Anna, Boris and Cyril by a plan, Cyril pauses and Dana, who came
                      by an invitation, takes over; Emil leaves; chili is closed in the end
    curry             cuisine transfer: Anna, and a judge that rates each recipe twice
    judges            words: finished · words-again: in the middle, one row with a worker that died · by-list: judges by
                      what an extractor took out · options: a model's log-probabilities, one row failed · rates
"""

from __future__ import annotations

import json
import lzma
import os
import random
import sqlite3
import subprocess
import uuid
from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import django

DATA = Path(__file__).resolve().parent / "data"
DISHES = ("pancakes", "chili")


class Model:
    """Answers as a language model would, but from a digest of what it is asked: the same each time."""

    def score(self, rows: Sequence[Any], on_progress: Any = None) -> list[Any]:
        from judges.engine.prompt import OptionScore, PromptTooLong

        def scored(text: str, cell: Any, option: str) -> OptionScore:
            draws = random.Random(f"{text}{cell.text}{option}")
            unconditional = -20 * draws.random() if cell.unconditional else None
            return OptionScore(-20 * draws.random(), len(option.split()) + 1, len(option), unconditional)

        return [
            PromptTooLong(tokens=2100, context=2048)
            if "uttermilk" in row.shared
            else tuple(tuple(scored(row.shared, cell, option) for option in cell.options) for cell in row.cells)
            for row in rows
        ]

    def generate(self, prompts: Sequence[str], sampling: Any, on_progress: Any = None) -> list[Any]:
        from judges.engine.prompt import Generated

        answers = []
        for prompt in prompts:
            draw = random.Random(f"{prompt}{sampling.seed}").randrange(6)
            if "<ingredients>" in prompt:
                lists = "<ingredients><ingredient>2 eggs</ingredient><ingredient>a spoon of mercury</ingredients>"
                answers.append("I cannot do that." if draw == 0 else lists)
            elif "<tasks>" in prompt:
                answers.append("<tasks><task><name>whisk</name><tool>bowl</tool><ingredients>eggs</ingredients></task>")
            else:
                answers.append("Rather good." if draw == 0 else f" {draw}\nReason: it is {draw} of 5, I would say.")
        return [Generated(answer, cut=False) for answer in answers]

    def identity(self) -> dict[str, str]:
        return {"model": "written", "revision": "1", "dtype": "float32"}


def build() -> dict[str, str]:
    """Returns what is stored nowhere, or as a digest only: secrets that must stay good."""
    from annotation.overlap import OverlapRequest, balanced_design
    from django.test import Client
    from recipes.demo_study import ENGINES, ROOT, demo_recipe, paper_scheme
    from recipes.documents import read_folder
    from rest_framework.authtoken.models import Token

    from annotation import actions, queries
    from annotation.models import Assignment, Membership, Role
    from recipes import actions as recipes
    from tests import builders

    names = ("mara", "rene", "anna", "boris", "cyril", "emil")
    mara, rene, anna, boris, cyril, emil = (builders.user(name) for name in names)
    study = actions.create_study(
        slug="memorization", title="Recipe memorization", scheme=paper_scheme(), guideline="Look twice.", by=mara
    )
    actions.add_member(study=study, user=rene, role=Role.RESEARCHER)
    raters = [builders.rater(study, of) for of in (anna, boris, cyril)]
    actions.set_pay(study=study, hourly_rate=Decimal("11.50"), currency="EUR")
    sheets = []
    for dish in DISHES:
        sheet = recipes.add_recipe(study=study, recipe=demo_recipe(dish))
        folder = ROOT / "demo" / "pages" / dish
        pages = sorted(read_folder(folder), key=lambda page: ENGINES.index(page.source.split("-")[0]))
        assert not recipes.import_documents(sheet=sheet, pages=pages).refused
        sheets.append(sheet)
    words, again, by_list, options, rates = judges()

    # The plan: three people, half of the documents twice; a judge gets one sheet only.
    request = OverlapRequest(raters=3, sheets=(6, 6), raters_per_sheet=3, share_twice=Fraction(1, 2), seed=7)
    of_words = list(sheets[0].rows.values_list("pk", flat=True))
    actions.apply_design(
        study=study,
        design=balanced_design(request),
        request=request,
        raters=raters,
        sheets=sheets,
        own_order=True,
        judges={words.name: of_words},
        by=mara,
    )
    actions.assign(rater=builders.rater(study, emil), rows=sheets[1].rows.all()[:2], sections=["ingredients"])

    invitation, secret = actions.invite(study=study, role=Role.ANNOTATOR, by=mara, email="dana@example.org")
    dana = actions.sign_up(invite=invitation, username="dana", password="dana")
    _open, open_secret = actions.invite(study=study, role=Role.RESEARCHER, by=mara, days=36_500)
    gone, _secret = actions.invite(study=study, role=Role.ANNOTATOR, by=mara)
    actions.revoke_invite(invite=gone, by=mara)
    actions.pause(rater=raters[2], by=mara)
    replan = queries.ReplanRequest(takers=(study.raters.get(user=dana).pk,), leaving=(raters[2].pk,), seed=3)
    actions.apply_replan(study=study, request=replan, drawn=queries.draw_replan(study, replan).digest, by=mara)
    assert Assignment.objects.exclude(handed_to=None).exists()

    people(study, sheets, mara)
    actions.remove_member(membership=Membership.objects.get(study=study, user=emil))
    actions.withdraw_row(row=sheets[1].rows.last(), reason="The page is gone.", by=mara)
    gold(study, sheets[0], mara)
    runs(study, words, again, by_list, options, mara)
    actions.close_sheet(sheet=sheets[1], by=mara)
    curry(anna, mara, rates)
    reports(study, rene)

    browser = Client()
    browser.force_login(anna)
    session = browser.session
    session.set_expiry(36_500 * 86_400)
    session.save()
    token = Token.objects.create(user=rene)
    return {"invitation": open_secret, "used": secret, "session": session.session_key or "", "token": token.key}


def people(study: Any, sheets: Sequence[Any], mara: Any) -> None:
    """Labels, and all that happens to labels."""
    import yaml
    from django.utils import timezone
    from recipes.demo_study import ROOT

    from annotation import actions, history, lens
    from annotation.actions import Answer
    from annotation.models import Assignment, Option, Question

    options: dict[tuple[str, str], dict[str, Any]] = {}
    questions = {}
    for option in Option.objects.filter(question__section__scheme=study.scheme).select_related("question__section"):
        name = (option.question.section.key, option.question.key)
        options.setdefault(name, {})[option.key] = option
        questions[name] = option.question
    work = Assignment.objects.filter(row__sheet__in=sheets, rater__kind="person").exclude(state="withdrawn")
    for number, assignment in enumerate(work.select_related("rater", "row__sheet", "row__document").order_by("pk")):
        dish, source = assignment.row.sheet, assignment.row.document.source
        truths = ROOT / "demo" / "pages" / DISHES[dish.position] / "truth.yaml"
        truth = yaml.safe_load(truths.read_text())[source.removesuffix(".html").rsplit("/", 1)[-1]]
        draws = random.Random(number)

        def chosen(of: tuple[str, str], right: str, draws: random.Random = draws) -> Any:
            others = [option for option in options[of].values() if not option.key.startswith("no-")]
            return draws.choice(others) if draws.random() < 0.15 else options[of][right]

        if number % 9 == 8:
            continue  # nobody began it
        columns = list(dish.columns.select_related("section").order_by("section__position", "position"))
        if assignment.sections:
            columns = [column for column in columns if column.section.key in assignment.sections]
        for place, column in enumerate(columns):
            key = column.section.key
            if number % 9 == 7 and place > 3:
                break  # begun
            if key == "ingredients":
                right = chosen((key, "presence"), truth["ingredients"][column.facets["ingredient"]])
                answers = [Answer(column, questions[key, "presence"], right)]
            else:
                of_task = truth["tasks"][column.position]
                task = chosen((key, "task"), of_task["task"])
                answers = [Answer(column, questions[key, "task"], task)]
                for facet, fallback in (("tool", "not-found"), ("ingredients", "no-ingredients-match")):
                    if task.key != "task-not-found" and column.facets[facet]:
                        answers.append(
                            Answer(column, questions[key, facet], chosen((key, facet), of_task.get(facet, fallback)))
                        )
            actions.change(answers={assignment: answers}, key=uuid.uuid4())
        if number % 9 < 5:
            actions.submit(assignment=assignment)

    pancakes = sheets[0]
    presence, task = questions["ingredients", "presence"], questions["tasks", "task"]
    flour, sugar, soda, salt = pancakes.columns.filter(section__key="ingredients").order_by("position")[:4]
    whisk = pancakes.columns.filter(section__key="tasks").order_by("position").first()
    anna = study.raters.get(code="A1")
    own = list(anna.assignments.filter(row__sheet=pancakes).order_by("pk"))
    for assignment in own:
        actions.reopen(assignment=assignment)

    def say(column: Any, question: Question, key: str | None, *, of: int = 0, **more: Any) -> None:
        option = Option.objects.get(question=question, key=key) if key else None
        actions.change(answers={own[of]: [Answer(column, question, option, **more)]}, key=uuid.uuid4())

    # A change, its undo, its redo; a clear; a change with a note; a skip, and one that was taken back by an answer.
    say(flour, presence, "implied")
    say(flour, presence, "found", seen="implied")
    say(flour, presence, "implied", seen="found")
    say(sugar, presence, None)
    say(soda, presence, "found-not-perfect", note="“raising agent”, says page 2; ‘soda’ – not the same?")
    say(salt, presence, None, skip="The page is cut off here.")
    say(sugar, presence, None, of=1, skip="Which sugar?")
    say(sugar, presence, "not-found", of=1)
    say(whisk, task, "task-not-found")  # switches tool and ingredients off, which clears them
    say(whisk, task, "task-found")  # and presets come back
    moment = timezone.now()
    say(flour, presence, "not-found", of=1)
    say(soda, presence, None, of=1)
    say(salt, presence, None, of=1, skip="A mistake that will be restored.")
    shown = lens.digest(history.changes(pancakes, to=moment, rater=anna))
    assert actions.restore(sheet=pancakes, to=moment, rater=anna, shown=shown, by=mara) == 3
    for assignment in own[2:]:
        actions.submit(assignment=assignment, allow_open=True)

    boris = study.raters.get(code="A2")
    actions.note_look(sheet=pancakes, user=boris.user)
    [exposed] = boris.assignments.filter(row__sheet=pancakes).order_by("pk")[:1]
    actions.reopen(assignment=exposed)
    actions.record(
        assignment=exposed,
        answers=[Answer(flour, presence, Option.objects.get(question=presence, key="found-not-perfect"))],
        key=uuid.uuid4(),
    )
    by = {"assignment": own[0], "by": anna.user}
    asked = actions.ask(**by, column=flour, question=presence, text="Is spelt flour flour?")
    actions.answer_note(note=asked, answer="Yes, in this recipe.", by=mara)
    actions.read_answers(assignment=own[0], column=flour, question=presence)
    asked = actions.ask(**by, column=soda, question=presence, text="And soda?")
    actions.answer_note(note=asked, answer="Not perfect.", by=mara)
    actions.ask(**by, column=whisk, question=task, text="Which bowl?")
    actions.withdraw_note(note=actions.ask(**by, column=sugar, question=presence, text="Never mind."))
    page, start = uuid.uuid4(), timezone.now()
    for minute in range(4):
        now = start + timedelta(minutes=minute)
        actions.beat(rater=anna, page=page, seconds={own[0].pk: 40 * minute, own[1].pk: 15 * minute}, now=now)


def gold(study: Any, sheet: Any, mara: Any) -> None:
    from annotation import actions, lens
    from annotation.models import Option

    found = lens.agreed(lens.of_sheet(sheet), judges=False)
    actions.accept_agreed(sheet=sheet, judges=False, shown=lens.digest(found), by=mara)
    disputed = [
        cell
        for table in lens.of_sheet(sheet).tables
        for line in table.lines
        for cell in line.cells
        if cell.gold is None and len(cell.by_people) > 1
    ][:4]
    decided = 0
    for cell in disputed:
        row, column = sheet.rows.get(pk=cell.row_id), sheet.columns.get(pk=cell.column_id)
        options = Option.objects.filter(question=cell.question_id, key__in=cell.by_people).order_by("pk")
        for option in options:  # decided, and decided again
            try:
                actions.adjudicate(
                    row=row, column=column, question=option.question, option=option, reason="Seen on the page", by=mara
                )
            except actions.Refused:  # the gold's own answers switch it off
                continue
            decided += 1
    assert decided > 2
    last = study.raters.get(kind="gold").assignments.first().labels.last()
    actions.adjudicate(row=last.assignment.row, column=last.column, question=last.question, option=None, by=mara)


RATING = """\
row: |
  Recipe: $title
  $evidence
questions:
  transfer.authenticity:
    rating: {criterion: AUTHENTICITY, wording: "How much of $facet_dish is kept?"}
  transfer.sensitivity:
    rating: {criterion: SENSITIVITY, wording: "How well is $facet_cuisine understood?"}
"""
OPTIONS = """\
row: |
  Web page: $title
  $evidence_step
  $evidence_ingredient
questions:
  ingredients.presence:
    cell: |
      Is "$about" in this list?
      Answer:
    unconditional: "Answer:"
  tasks.task:
    cell: |
      Is "$column" in these steps?
      Answer:
    unconditional: "Answer:"
"""
WORDS_OF_LIST = """\
questions:
  ingredients.presence:
    lexical: {in: [ingredient], same: found, part: found-not-perfect, none: not-found}
"""


def judges() -> tuple[Any, ...]:
    from recipes.demo_study import ROOT

    from judges import actions
    from judges.models import Judge, LanguageModel

    text = (ROOT / "prompts" / "memorization-lexical.yaml").read_text(encoding="utf-8")
    prompt = actions.store_prompt(name="memorization-lexical", text=text)
    parser = actions.create_extractor(name="stated", parser="schema-org")
    model = {"location": "/models/small", "device": LanguageModel.Device.CUDA}
    lexical, cloze, rating = Judge.Method.LEXICAL, Judge.Method.CLOZE, Judge.Method.RATING
    made = (
        actions.create_judge(name="words", method=lexical, prompt=prompt),
        actions.create_judge(name="words-again", method=lexical, prompt=prompt),
        actions.create_judge(name="by-list", method=lexical, prompt_text=WORDS_OF_LIST, evidence=parser),
        actions.create_judge(name="options", method=cloze, normalisation="pmi", prompt_text=OPTIONS, **model),
        actions.create_judge(name="rates", method=rating, temperature=0.5, prompt_text=RATING, **model),
    )
    # Never started: on a server, with a key and a limit; and of a commit of the hub.
    actions.create_judge(
        name="served",
        method=cloze,
        backend=LanguageModel.Backend.OPENAI,
        location="http://gpu-box:8000/v1",
        served_name="llama",
        api_key_env="LAB_API_KEY",
        requests_per_minute=60,
        prompt_text=OPTIONS,
    )
    actions.create_judge(name="hub", method=cloze, location="lab/small", revision="abc", prompt_text=OPTIONS)
    return made


def runs(study: Any, words: Any, again: Any, by_list: Any, options: Any, by: Any) -> None:
    from recipes.demo_study import ROOT

    from judges import actions
    from judges.actions import claims, extraction_work
    from judges.models import ExtractionItem, Extractor, LanguageModel, Run, WorkItem

    def finished(judge: Any) -> Any:
        run = actions.start_run(study=study, judge=judge, by=by, enqueue=False)
        while actions.take_up(run=run):
            pass
        run.refresh_from_db()
        assert run.state == Run.State.FINISHED, run.error
        return run

    finished(words)
    stated = actions.start_extraction(study=study, extractor=Extractor.objects.get(name="stated"), by=by, enqueue=False)
    while actions.extract_next(run_id=stated.pk):
        pass
    finished(by_list)
    run = finished(options)
    assert {"failed", "done"} == set(run.items.values_list("state", flat=True))

    # In the middle: some rows done, one cancelled and resumed, one with a worker that died, the others waiting.
    run = actions.start_run(study=study, judge=again, by=by, enqueue=False)
    for _row in range(3):
        actions.take_up(run=run)
    actions.cancel_run(run=run)
    run.refresh_from_db()
    actions.resume_run(run=run, enqueue=False)
    actions.take_up(run=run)
    left = run.items.filter(state="queued").order_by("pk")
    assert claims.claim(WorkItem, left.first().pk)
    prompt = (ROOT / "prompts" / "extraction" / "recipe.yaml").read_text(encoding="utf-8")
    writer = actions.create_extractor(
        name="writer", model=LanguageModel.objects.get(location="/models/small"), prompt_text=prompt
    )
    extraction = actions.start_extraction(study=study, extractor=writer, by=by, enqueue=False)
    for _document in range(4):
        actions.extract_next(run_id=extraction.pk)
    assert extraction_work._claim_next(extraction.pk)
    assert set(ExtractionItem.objects.values_list("state", flat=True)) == {"done", "claimed", "queued"}


def curry(anna: Any, mara: Any, rates: Any) -> None:
    from recipes.demo_study import ROOT

    from annotation import actions
    from annotation.evidence import Block, BlockKind
    from annotation.models import Option
    from annotation.scheme import load_scheme
    from judges import actions as judging
    from judges.models import UnreadableAnswer
    from tests import builders

    source = (ROOT / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8")
    scheme = actions.store_scheme(spec=load_scheme(source), source=source)
    study = actions.create_study(slug="transfer", title="Cuisine transfer", scheme=scheme, by=mara)
    rater = builders.rater(study, anna)
    columns = {"transfer": [{"dish": "lasagne", "cuisine": "Thai"}]}
    sheet = actions.add_sheet(study=study, title="Thai lasagne", columns=columns)
    for number in range(1, 5):
        text = f"Recipe {number}: layers of pasta, coconut milk and basil."
        actions.add_row(sheet=sheet, name=f"Recipe {number}", evidence=[Block(BlockKind.PARAGRAPH, text)])
    [column] = sheet.columns.all()
    for number, assignment in enumerate(actions.assign(rater=rater, rows=sheet.rows.all()), 1):
        answers = [
            actions.Answer(column, option.question, option)
            for option in Option.objects.filter(question__section=column.section, value=number)
        ]
        actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())
        actions.submit(assignment=assignment)
    run = judging.start_run(study=study, judge=rates, by=mara, repeats=2, enqueue=False)
    while judging.take_up(run=run):
        pass
    assert UnreadableAnswer.objects.exists()


def reports(study: Any, by: Any) -> None:
    from reports.arrays import Filters

    from annotation.models import Study
    from reports import actions
    from reports.models import Export

    actions.freeze(study=study, title="For the paper", filters=Filters(by="document", n_draws=200, seed=5), by=by)
    some = Filters(
        people=("A1", "A2", "A4"),
        judges=("words", "options"),
        sheets=(study.sheets.get(position=0).pk,),
        questions=("ingredients.presence", "tasks.tool"),
        merges={"ingredients.presence": "two-classes"},
        normalisations={"options": "token"},
        submitted_only=True,
        exposure="include",
    )
    actions.freeze(study=study, title="Pancakes · two classes", filters=some, by=by)
    actions.freeze(study=Study.objects.get(slug="transfer"), title="Transfer", filters=Filters(), by=by)
    export = actions.ask_for_export(study=study, form=Export.Form.JSONL, filters=some, by=by)
    actions.make_export(export_id=export.pk)
    actions.ask_for_export(study=study, form=Export.Form.ZIP, filters=Filters(), by=by)


def dumped() -> str:
    """The database as SQL that makes it again in an empty one."""
    from django.db import connection

    if connection.vendor == "sqlite":
        with sqlite3.connect(connection.settings_dict["NAME"]) as raw:
            return "\n".join(raw.iterdump()) + "\n"
    settings = connection.settings_dict
    words = ["--inserts", "--rows-per-insert=50", "--no-owner", "--no-privileges", "-h", settings["HOST"]]
    words += ["-p", str(settings["PORT"] or 5432), "-U", settings["USER"], settings["NAME"]]
    text = subprocess.run(["pg_dump", *words], check=True, capture_output=True, text=True).stdout
    return "\n".join(_for_any_server(text.splitlines())) + "\n"


def _for_any_server(lines: Iterable[str]) -> Iterable[str]:
    """Without the settings of the session, which differ between versions of PostgreSQL, and what is for psql alone."""
    for line in lines:
        if not line.startswith(("SET ", "SELECT pg_catalog.set_config", "\\", "--")):
            yield line


def main() -> None:
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from judges import extracting, labelling, processes
    from tests.upgrade import facts

    call_command("migrate", verbosity=0)
    with (
        patch.object(labelling, "backend_of", lambda _judge: Model()),
        patch.object(extracting, "backend_of", lambda _extractor: Model()),
        patch.object(processes, "this_process", lambda: "worker-1/4026531836:4711"),  # of a host that is not there
    ):
        secrets = build()
    DATA.mkdir(exist_ok=True)
    text = json.dumps({**facts.collected(), "secrets": secrets}, ensure_ascii=False, indent=0)
    for name, content in ((f"{connection.vendor}.sql.xz", dumped()), (f"{connection.vendor}.json.xz", text)):
        (DATA / name).write_bytes(lzma.compress(content.encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    assert os.environ["DATABASE_URL"]
    main()
