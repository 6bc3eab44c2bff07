"""What a verdict is made of: who found what in which document, what was called nonsense, where a recipe is from."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import Q

from annotation.deriving import queries as deriving
from annotation.models import Column, Label, Lineage, Rater, Role, Row, Study, User
from annotation.queries import roles
from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec, facet_word
from judges.models import GenerationItem
from recipes.cooking.retrieval_queries import opted_out_rows, searched_by_item
from recipes.memorization.verdict import NONSENSE
from recipes.memorization.verdict.outcomes import Closest, Item, closest
from reports import queries
from reports.data.arrays import Filters, QuestionData, StudyData, Voice
from reports.data.cells import study_data
from reports.numbers.report import found_or_not
from reports.stats.coverage import item_documents

EVERY = 0
WHOLE = "recipe"  # the section of a scheme in which a recipe is examined as a whole
SENSIBLE, NONSENSICAL = "sensible", "nonsensical"
# Facets of the row that a recipe was, wherever it was generated.
ORIGINS = ("generator", "prompt")
_GENERATIONS = 8  # of studies that were made of each other


def verdict_questions(scheme: SchemeSpec) -> list[tuple[SectionSpec, QuestionSpec]]:
    """Of each section the question that says whether an item was found, where there is one."""
    return [
        (section, question)
        for section in scheme.sections
        if (question := next(filter(found_or_not, section.questions), None)) is not None
    ]


@dataclass(frozen=True)
class Examination:
    """What a study that examined the recipes for nonsense says. `said`: (sheet, section, column, which of that name in
    the sheet, from 1 on; `EVERY` for all of them, as it was frozen once) -> whether it is sensible, and the reason.
    whole: of the recipe as a whole, by its sheet."""

    title: str
    said: Mapping[tuple[str, str, str, int], tuple[bool, str]]
    whole: Mapping[str, tuple[bool, str]]
    n_ties: int
    study: Study | None = None  # none where it was frozen


@dataclass(frozen=True)
class Origin:
    """Where a recipe comes from: the row that it was, and what generated it, as far as its facets say."""

    row: Row | None = None
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SectionItems:
    """The items of one section that somebody looked for. `n_open`: those that nobody has answered for yet; `set_off`:
    labels of the answers that count as not found and say more than that."""

    section: SectionSpec
    data: QuestionData
    voice: Voice
    items: Sequence[Item]
    n_open: int
    set_off: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class VerdictData:
    """`origins`: by the number of the recipe. reserved: by the place of a row the kinds of reservation that its site
    makes (`recipes.cooking.web.optouts.KINDS`); only what was fetched here is known of. has_closest: single documents
    are told of, as they were not in verdicts frozen before."""

    data: StudyData
    sections: Sequence[SectionItems]
    examination: Examination | None
    origins: Sequence[Origin]
    reserved: Mapping[int, Sequence[str]] = field(default_factory=dict)
    has_closest: bool = True

    @property
    def filled(self) -> list[SectionItems]:
        """The sections that have an item."""
        return [of for of in self.sections if of.items]

    @cached_property
    def closest(self) -> Sequence[Closest]:
        """Counted once: a page has it as a sentence and as a table."""
        return closest([of.items for of in self.filled]) if self.has_closest else ()


def load(study: Study, filters: Filters, examination: Examination | None) -> VerdictData:
    """Items with what was found of them, by the first voice of the filters. Queries as `reports.queries.label_table`,
    four for the origins, and two for what is reserved."""
    data = study_data(queries.label_table(study, filters), filters)
    return of_labels(data, filters, examination, _origins(study, data), _reserved(study, data))


def of_labels(
    data: StudyData,
    filters: Filters,
    examination: Examination | None,
    origins: Sequence[Origin],
    reserved: Mapping[int, Sequence[str]],
    *,
    has_closest: bool = True,
) -> VerdictData:
    """The same of labels that are at hand; asks nobody."""
    wanted = {f"{section.key}.{question.key}" for section, question in verdict_questions(data.scheme)}
    sections = [
        _items(data, question, examination, filters)
        for question in data.questions
        if question.name in wanted and question.voices
    ]
    return VerdictData(data, sections, examination, origins, reserved, has_closest)


def _items(data: StudyData, question: QuestionData, examination: Examination | None, filters: Filters) -> SectionItems:
    spec, voice, table = question.spec, question.voices[0], data.table
    real = [option.key for option in spec.options if not option.blank]
    merge = found_or_not(spec)
    assert merge is not None
    exactly = [key for key in real if key in filters.found.get(question.name, ())] or real[:1]
    somehow = [key for key in real if merge.options.get(key, key) == real[0] or key in exactly]
    set_off = [key for key in real if key in merge.options and key not in somehow]
    codes = {option.key: code for code, option in enumerate(spec.options)}
    answers = voice.answers
    column = answers.cell % data.n_columns
    exact: dict[int, set[int]] = defaultdict(set)
    near: dict[int, set[int]] = defaultdict(set)
    off: dict[int, set[int]] = defaultdict(set)
    for found, keys in ((exact, exactly), (near, somehow), (off, set_off)):
        wanted = {codes[key] for key in keys}
        for at, row, code in zip(column.tolist(), answers.document.tolist(), answers.code.tolist(), strict=True):
            if code in wanted:
                found[at].add(row)
    documents = item_documents(answers, column, [])
    which = numbered((table.sheets[of.sheet], of.section, of.name) for of in table.columns)
    items = []
    for sheet, at, n in zip(
        documents.sheet.tolist(), documents.item.tolist(), documents.n_documents.tolist(), strict=True
    ):
        if not table.columns[at].name:  # of a recipe without such parts, which has one blank column in their place
            continue
        sensible, reason = said_of(examination, which[at])
        items.append(
            Item(
                recipe=sheet,
                column=at,
                n_documents=n,
                exact=tuple(sorted(exact[at])),
                inexact=tuple(sorted(near[at] - exact[at])),
                sensible=sensible,
                reason=reason,
                set_off=tuple(sorted(off[at])),
            )
        )
    n_columns = sum(column.section == question.section.key and bool(column.name) for column in table.columns)
    told = [option.label for option in spec.options if option.key in set_off]
    return SectionItems(question.section, question, voice, items, n_columns - len(items), told)


# --- nonsense ---------------------------------------------------------------------------------------------------------


def numbered(named: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str, int]]:
    """Each with which of its name it is, from 1 on: a recipe may stir twice."""
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for name in named:
        seen[name] += 1
        found.append((*name, seen[name]))
    return found


def said_of(examination: Examination | None, item: tuple[str, str, str, int]) -> tuple[bool | None, str]:
    if examination is None:
        return None, ""
    return examination.said.get(item) or examination.said.get((*item[:3], EVERY)) or (None, "")


def examinations(study: Study, user: User) -> list[Study]:
    """The studies that examined the recipes of this one for nonsense and whose answers `user` may read, the latest
    first: made of it, or of what it was made of. Two queries, and one for each."""
    made_of = [study.pk, *([study.derived_from_id] if study.derived_from_id else [])]
    found = Study.objects.visible_to(user).filter(scheme__slug=NONSENSE, derived_from__in=made_of)
    return [
        each
        for each in found.select_related("scheme").order_by("-pk")
        if roles(user, each) & {Role.MANAGER, Role.RESEARCHER}
    ]


def examination(study: Study, *, rater: str = "") -> Examination:
    """What is said there: of each item the gold's answer, else that of `rater`, else that of most people. Five queries.
    A judge's answers count only where the judge is named, or a person has taken them over."""
    chosen = deriving.chosen(study, rater=rater)
    said: dict[tuple[str, str, str, int], tuple[bool, str]] = {}
    whole: dict[str, tuple[bool, str]] = {}
    for sheet in chosen.source.sheets:
        named = numbered(
            (sheet.title, column.section, " · ".join(text for text in column.facets.values() if text))
            for column in sheet.columns
        )
        names = {column.number: name for column, name in zip(sheet.columns, named, strict=True)}
        for row in sheet.rows:
            verdicts: dict[int, bool] = {}
            reasons: dict[int, str] = {}
            for answer in row.answers:
                if answer.question == "sense":
                    verdicts[answer.column] = answer.code == SENSIBLE
                elif answer.question == "reason":
                    reasons[answer.column] = str(json.loads(answer.code.removeprefix(":")))
            for column, sensible in verdicts.items():
                name = names[column]
                if name[1] == WHOLE:
                    whole[sheet.title] = (sensible, reasons.get(column, ""))
                else:
                    said[name] = (sensible, reasons.get(column, ""))
    return Examination(study.title, said, whole, len(chosen.ties), study)


# --- what was searched for by its name --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Searched:
    """An item for which documents were searched by its name. `documents`: how many that found; `looked_at`: in how many
    of them people have looked for it; `found`: the names of those in which somebody found it as it stands."""

    recipe: str
    item: str
    documents: int
    looked_at: int
    found: tuple[str, ...]


def searched(study: Study, filters: Filters) -> list[Searched]:
    """The paper's repeated search (its section 6.1): whether what no drawn document has stands in others. One query,
    three where there are such documents."""
    by_item = searched_by_item(study)
    if not by_item:
        return []
    exact = {
        f"{section.key}.{question.key}": filters.found.get(f"{section.key}.{question.key}")
        or tuple(option.key for option in question.options if not option.blank)[:1]
        for section, question in verdict_questions(study.scheme.parsed)
    }
    answers = Label.objects.filter(
        assignment__row__in={row for rows in by_item.values() for row in rows},
        assignment__row__withdrawn_at=None,
        assignment__rater__kind=Rater.Kind.PERSON,
        assignment__repeat=1,
        column__in=by_item,
        option__isnull=False,
    ).filter(Q(drafted_from=None) | Q(confirmed_at__isnull=False))
    looked: dict[int, dict[str, bool]] = defaultdict(dict)
    said = answers.order_by("assignment__row__position").values_list(
        "column", "assignment__row", "assignment__row__name", "column__section__key", "question__key", "option__key"
    )
    for column, row, name, section, question, option in said:
        if row in by_item[column] and (wanted := exact.get(f"{section}.{question}")):
            looked[column][name] = looked[column].get(name, False) or option in wanted
    columns = Column.objects.filter(pk__in=by_item).select_related("sheet")
    return [
        Searched(
            column.sheet.title,
            column.name,
            len(by_item[column.pk]),
            len(looked[column.pk]),
            tuple(name for name, has_it in looked[column.pk].items() if has_it),
        )
        for column in columns.order_by("sheet__position", "section__position", "position")
    ]


# --- what a rightholder has reserved ---------------------------------------------------------------------------------


def _reserved(study: Study, data: StudyData) -> dict[int, list[str]]:
    """By the place of a row. Two queries, one where nothing is reserved."""
    if not (found := opted_out_rows(study)):
        return {}
    named = Row.objects.filter(pk__in=found).values_list("pk", "sheet__title", "name")
    kinds = {(title, name): found[pk] for pk, title, name in named}
    places = {(data.table.sheets[row.sheet], row.name): place for place, row in enumerate(data.table.rows)}
    return {place: kinds[key] for key, place in places.items() if key in kinds}


# --- where recipes come from ------------------------------------------------------------------------------------------


def _origins(study: Study, data: StudyData) -> list[Origin]:
    """Of each recipe the row that its columns were made of, back to where a generator or a prompt is named; else what
    all of its documents say."""
    sheets = {title: pk for pk, title in study.sheets.values_list("pk", "title")}
    rows_of: dict[int, int] = {}
    made = Lineage.objects.filter(study=study, made_column__isnull=False, row__isnull=False).order_by("pk")
    for sheet, row in made.values_list("made_column__sheet_id", "row_id"):
        rows_of.setdefault(sheet, row)
    told: dict[int, Origin] = {}
    waiting = {row: row for row in rows_of.values()}
    for _generation in range(_GENERATIONS):
        if not waiting:
            break
        of_rows = Row.objects.select_related("sheet__study").defer("evidence").in_bulk(set(waiting.values()))
        further = dict(
            Lineage.objects.filter(made_row__in=of_rows, row__isnull=False).values_list("made_row_id", "row_id")
        )
        before = waiting
        waiting = {}
        for first, at in before.items():
            words = {key: facet_word(said) for key in ORIGINS if (said := of_rows[at].facets.get(key))}
            if words or first not in told:
                told[first] = Origin(of_rows[at], words)
            if not words and at in further:
                waiting[first] = further[at]
    origins = []
    for place, title in enumerate(data.sheets):
        origin = told.get(rows_of.get(sheets.get(title, 0), 0), Origin())
        if not origin.words:
            facets = [row.facets for row in data.table.rows if row.sheet == place]
            said = {key: {of_row.get(key, "") for of_row in facets} for key in ORIGINS}
            alike = {key: words.pop() for key, words in said.items() if len(words) == 1}
            origin = Origin(origin.row, {key: word for key, word in alike.items() if word})
        origins.append(origin)
    return origins


def written(origin: Origin, user: User) -> GenerationItem | None:
    """The text that a recipe was, with its record, where a model wrote it in this installation and `user` may read what
    was written there. Two queries for each study that was made of another, and two."""
    row = origin.row
    for _generation in range(_GENERATIONS):
        if row is None:
            return None
        further = Lineage.objects.filter(made_row=row, row__isnull=False).select_related("row__sheet__study").first()
        before = further.row if further else None
        number = facet_word(row.facets.get("generation", ""))
        if before is not None and number.isdecimal() and len(number) < 19:
            items = GenerationItem.objects.filter(row=before, generation=int(number))
            found = items.select_related("generation__prompt", "generation__model", "run__study").first()
            if found is not None:
                return found if roles(user, found.run.study) & {Role.MANAGER, Role.RESEARCHER} else None
        row = before
    return None
