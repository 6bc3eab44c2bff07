"""Reads for examples in a judge's prompt: cells of development documents on which people agree, as it asks them; or,
for a judge that writes, whole documents with their chosen answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Q

from annotation.answers import kind_of, transitions
from annotation.answers.base import AnswerRefused
from annotation.deriving.choosing import Vote, choose
from annotation.models import Assignment, Column, Label, Rater, Row, Study
from annotation.scheme.spec import Layout, SectionSpec
from judges.calibrations.queries import counted_as, peoples_labels, sha256_of
from judges.methods import Method, addressing, demonstrations, nearest, prompting
from judges.methods.prompting import PromptSpec
from judges.methods.writing import Written
from judges.models import Judge
from judges.runs import evidence
from judges.runs.asking import facets_read, texts_read
from judges.runs.evidence import NotExtracted

_CELL = ("assignment__row_id", "column_id", "question__section__key", "question__key")


@dataclass(frozen=True)
class Drawn:
    """Examples by the question's name, each the text that stands before its cells; how many there are of each option,
    where there are options; the documents that they are of, and a digest of the labels that they were drawn from."""

    texts: dict[str, str]
    counts: dict[str, dict[str, int]]
    rows: tuple[int, ...]
    labels_sha256: str


def questions_with_examples(spec: PromptSpec) -> dict[str, set[str]]:
    """The questions whose cells bring a few lines of evidence, so that a cell of another document can be an example;
    with the kinds of evidence that they bring."""
    asked = prompting.questions_for(spec, Method.CLOZE)
    return {
        name: kinds
        for name, of in asked.items()
        if (kinds := prompting.kinds_near(of.cell)) and not prompting.kinds_named(of.cell)
    }


def questions_with_examples_of(judge: Judge) -> bool:
    """Whether a judge's prompt can be given examples."""
    if judge.method == Method.WRITING:
        return True
    return judge.method == Method.CLOZE and bool(questions_with_examples(judge.prompt_spec))


def drawn(judge: Judge, study: Study, rows: Collection[int], *, each: int, seed: int = 0) -> Drawn:
    """At most `each` examples of every option that the prompt offers, of `rows`, as many documents as can be.

    A cell counts where all people who answered it chose the same. Documents that speak to whoever labels them give
    none. The same labels and seed give the same examples.

    Raises:
        EncoderError: the encoder by which lines are chosen is not here.
    """
    spec = study.scheme.parsed
    sections = {f"{s.key}.{q.key}": (s, q) for s in spec.sections for q in s.questions}
    wanted = questions_with_examples(judge.prompt_spec)
    said: dict[str, dict[tuple[int, int], set[str]]] = {}
    lines: list[list[Any]] = []
    labels = peoples_labels(study, rows).values_list(*_CELL, "option__key", "assignment__rater__code")
    for row, column, section, key, option, code in labels:
        if (name := f"{section}.{key}") in wanted:
            offered = {each.key for each in prompting.offered(judge.prompt_spec.questions[name], sections[name][1])}
            said.setdefault(name, {}).setdefault((row, column), set()).add(
                counted_as(sections[name][1], option, offered)
            )
            lines.append([row, column, name, code, option])
    documents = {
        row.pk: row
        for row in Row.objects.filter(pk__in={line[0] for line in lines}).select_related("sheet__study__scheme")
    }
    columns = {column.pk: column for column in Column.objects.filter(pk__in={line[1] for line in lines})}
    blocks = _blocks(judge, documents)
    texts: dict[str, str] = {}
    counts: dict[str, dict[str, int]] = {}
    used: set[int] = set()
    for name in sorted(said):
        section_spec, question = sections[name]
        prompt = prompting.questions_for(judge.prompt_spec, judge.method)[name]
        chosen = _chosen(said[name], set(blocks), each, random.Random(f"{seed} {name}"))  # noqa: S311  no secret
        answers = {
            option.key: prompt.options.get(option.key, option.label) for option in prompting.offered(prompt, question)
        }
        made = []
        for (row, column), option in chosen:
            if option not in answers:
                continue
            facets = section_spec.column.told(columns[column].facets)
            of_kind = {kind: [b.text for b in blocks[row] if b.kind == kind] for kind in wanted[name]}
            by = judge.prompt_spec.nearest_of(prompt)
            order = section_spec.column.facets
            item = prompting.nearest_item(by, question, facets, order=order)
            (near,) = nearest.nearest_to([item], of_kind, by, answers=prompting.answers_said(prompt, question))
            asked = prompting.cell_prompt(prompt, question, facets, order=order, nearest=near)
            made.append(f"{asked.text} {answers[option]}")
            used.add(row)
            counts.setdefault(name, {}).setdefault(option, 0)
            counts[name][option] += 1
        if made:
            texts[name] = "\n\n".join(made)
    return Drawn(texts, counts, tuple(sorted(used)), sha256_of(lines))


def demonstrated(judge: Judge, study: Study, rows: Collection[int], *, each: int, seed: int = 0) -> Drawn:
    """Of a judge that writes: `each` documents of `rows`, each with the answers to all that the judge is asked of it.

    An answer is the gold's, else that of most people who submitted (`annotation.deriving.choosing`); a document in
    which one is missing, or several were given equally often, is no example, nor is one that speaks to whoever labels
    it. The same labels and seed give the same examples.

    Raises:
        PromptError: the judge asks what the scheme of the study has not.
    """
    prompting.check_against(judge.prompt_spec, study.scheme.parsed, judge.method)
    answers = _chosen_answers(judge, study, rows)
    documents = {row.pk: row for row in Row.objects.filter(pk__in=answers).select_related("sheet__study__scheme")}
    order = sorted(documents)
    random.Random(str(seed)).shuffle(order)  # noqa: S311  no secret
    columns: dict[int, list[Column]] = {}
    of_sheets = Column.objects.filter(sheet__in={documents[pk].sheet_id for pk in order}).select_related("section")
    for column in of_sheets.order_by("position"):
        columns.setdefault(column.sheet_id, []).append(column)
    asked = prompting.questions_for(judge.prompt_spec, judge.method)
    answers_said = {
        said
        for section in study.scheme.parsed.sections
        for question in section.questions
        if (prompt := asked.get(f"{section.key}.{question.key}"))
        for said in prompting.answers_said(prompt, question)
    }
    blocks: dict[int, list[Any] | None] = {}  # of the documents that were drawn; None where one is not to be shown
    texts: dict[str, str] = {}
    used: set[int] = set()
    for section, group in _asked_together(judge, study):
        made: list[str] = []
        for pk in order:
            row = documents[pk]
            lines = _lines(judge, row, section, group, columns.get(row.sheet_id, ()), answers[pk])
            if lines and pk not in blocks:
                blocks[pk] = _blocks(judge, {pk: row}).get(pk)
            if not lines or (own := blocks[pk]) is None:
                continue
            told = prompting.document_text(
                judge.prompt_spec, title=row.title, blocks=own, facets=facets_read(judge, row), answers=answers_said
            )
            whole = judge.prompt_spec.whole_table and section.layout == Layout.DOWN
            made.append(demonstrations.of_document(told, lines, title=section.column.title, whole_table=whole))
            used.add(pk)
            if len(made) == each:
                break
        if made:
            texts[f"{section.key}.{group[0]}"] = "\n\n".join(made)
    sha = sha256_of([[pk, *cell, *answer] for pk in sorted(used) for cell, answer in sorted(answers[pk].items())])
    return Drawn(texts, {}, tuple(sorted(used)), sha)


# The chosen answers of a row: {(column, section, question): (code, note)}
_Answers = dict[tuple[int, str, str], tuple[str, str]]


def _asked_together(judge: Judge, study: Study) -> list[tuple[SectionSpec, list[str]]]:
    """The questions that one answer is to hold, by their keys."""
    spec = judge.prompt_spec
    found: dict[tuple[str, ...], tuple[SectionSpec, list[str]]] = {}
    for name in prompting.questions_for(spec, Method.WRITING):
        key, _dot, question = name.partition(".")
        section = study.scheme.parsed.section(key)
        group = (key,) if spec.whole_table and section.layout == Layout.DOWN else spec.group_of(name)
        found.setdefault(group, (section, []))[1].append(question)
    return list(found.values())


def _chosen_answers(judge: Judge, study: Study, rows: Collection[int]) -> dict[int, _Answers]:
    """What is chosen of the gold's answers and of those that people submitted, by row. One query."""
    sections = {section.key: section for section in study.scheme.parsed.sections}
    asked = prompting.questions_for(judge.prompt_spec, Method.WRITING)
    submitted = Q(assignment__rater__kind=Rater.Kind.PERSON, assignment__state=Assignment.State.SUBMITTED)
    labels = (
        Label.objects.filter(assignment__rater__study=study, assignment__row__in=rows, assignment__repeat=1)
        .filter(Q(assignment__rater__kind=Rater.Kind.GOLD) | submitted)
        .filter(Q(drafted_from=None) | Q(confirmed_at__isnull=False))
        .exclude(assignment__state=Assignment.State.WITHDRAWN)
        .select_related("assignment__rater", "question__section", "option")
        .order_by("pk")
    )
    votes: dict[int, dict[tuple[int, str, str], list[Vote]]] = {}
    notes: dict[tuple[int, int, str], str] = {}
    for label in labels:
        key = (label.question.section.key, label.question.key)
        if ".".join(key) not in asked:
            continue
        question = sections[key[0]].question(key[1])
        same = kind_of(question).key(question, kind_of(question).value(question, label.code))
        vote = Vote(label.assignment.rater.code, label.assignment.rater.kind, same, label.code, label.assignment_id)
        votes.setdefault(label.assignment.row_id, {}).setdefault((label.column_id, *key), []).append(vote)
        notes[label.assignment_id, label.column_id, key[1]] = label.note
    found: dict[int, _Answers] = {}
    for row, of_row in votes.items():
        for cell, of_cell in of_row.items():
            choice = choose(of_cell)
            if choice.code:
                note = notes[choice.votes[0].assignment, cell[0], cell[2]]
                found.setdefault(row, {})[cell] = (choice.code, " ".join(note.split()))
    return found


def _lines(
    judge: Judge,
    row: Row,
    section: SectionSpec,
    group: Sequence[str],
    columns: Sequence[Column],
    answers: _Answers,
) -> list[demonstrations.Line]:
    """The columns of a document with what is said of them; none where something that is asked has no answer."""
    spec = judge.prompt_spec
    lines: list[demonstrations.Line] = []
    things: list[str] | None = None
    mine = [column for column in columns if column.section.key == section.key]
    names = prompting.table_lines(spec, [column.name for column in mine])
    for column, name in zip(mine, names, strict=True):
        asked, said = [], []
        before = things
        for key in group:
            question, prompt = section.question(key), spec.questions[f"{section.key}.{key}"]
            code, note = answers.get((column.pk, section.key, key), ("", ""))
            if question.transitions:
                before = transitions.start(question, row.facets) if things is None else things
            if not prompting.is_asked(section, question, column.facets):
                continue
            if not code:
                if question.ask_unless:
                    continue  # what another answer switches off has none
                return []
            value = kind_of(question).value(question, code)
            try:
                told = section.column.told(column.facets)
                asking = prompting.asking(prompt, question, told, order=section.column.facets)
                kind_of(asking.spec).canonical(asking.spec, value)
            except AnswerRefused:
                return []  # an option that the prompt does not offer
            if question.transitions:
                assert before is not None
                things = transitions.after(before, cast("list[transitions.Transition]", value))
            asked.append(asking)
            said.append(Written(value, note))
        if asked:
            there = before if any(one.spec.transitions for one in asked) else None
            inert = None if there is None else prompting.names_there(spec, there)
            lines.append(demonstrations.Line(name, asked, said, inert))
    return lines


def _blocks(judge: Judge, documents: Mapping[int, Row]) -> dict[int, list[Any]]:
    """The evidence of each document that has what the judge reads and does not speak to its reader."""
    found = {}
    for pk, row in documents.items():
        try:
            of_row = evidence.evidence_of(judge, row)
        except NotExtracted:
            continue
        if (of_row or judge.method == Method.WRITING) and not addressing.first_that_speaks(
            texts_read(judge, row, of_row)
        ):
            found[pk] = of_row
    return found


def _chosen(
    said: Mapping[tuple[int, int], set[str]], rows: Collection[int], each: int, draw: random.Random
) -> list[tuple[tuple[int, int], str]]:
    """Cells with the option that all chose, at most `each` of an option, in an order that tells nothing."""
    agreed = [(cell, next(iter(options))) for cell, options in sorted(said.items()) if len(options) == 1]
    agreed = [one for one in agreed if one[0][0] in rows]
    draw.shuffle(agreed)
    of_document: Counter[int] = Counter()
    chosen = []
    for option in sorted({option for _cell, option in agreed}):
        left = [one for one in agreed if one[1] == option]
        for _n in range(min(each, len(left))):
            best = min(left, key=lambda one: of_document[one[0][0]])  # the first of those that are as little used
            left.remove(best)
            of_document[best[0][0]] += 1
            chosen.append(best)
    draw.shuffle(chosen)
    return chosen
