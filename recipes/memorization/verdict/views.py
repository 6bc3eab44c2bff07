"""The verdict of a study: its page, the way back from each item, and its downloads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.actions import Refused, note_looks
from annotation.deriving import queries as deriving
from annotation.evidence.matching import WordIndex
from annotation.models import Column, Label, Rater, Role, Row, Study
from annotation.people.access import AppRequest, for_roles
from base.text import natural
from recipes.cooking.web import optouts
from recipes.memorization.actions import freeze_verdict
from recipes.memorization.verdict import contents as says
from recipes.memorization.verdict import files, queries
from recipes.memorization.verdict.asking import made_of
from recipes.memorization.verdict.looks import examination_was_read
from recipes.memorization.verdict.outcomes import Item, Outcome
from recipes.memorization.verdict.queries import SectionItems, VerdictData
from reports import doors
from reports.exports.making import origin_of
from reports.forms import FreezeForm
from reports.models import TestLook
from reports.queries import rows_about
from reports.views.pages import figure_response, keep, kept

_LINES = 60  # of the list of items on a page
_SHOWN_LINES = 3  # of a document, beside the answers to one item


@dataclass(frozen=True)
class _Line:
    """An item as the list shows it; `pk` is its column in the database."""

    item: Item
    name: str
    recipe: str
    verdict: str
    pk: int | None


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def verdict(request: AppRequest, study: Study) -> HttpResponse:
    made = made_of(request.GET, study=study, user=request.user)
    examination_was_read(made.verdict, what=TestLook.What.REPORT, by=request.user)
    contents = says.contents_of(made.verdict, seed=made.filters.seed)
    said = made.form.cleaned_data if made.understood else {}
    recipe, outcome = said.get("recipe", ""), said.get("outcome", "")
    lines = [
        line
        for of in made.verdict.sections
        for line in _lines(study, made.verdict, of)
        if (not recipe or line.recipe == recipe) and _listed(line.item, outcome)
    ]
    page = Paginator(lines, _LINES).get_page(request.GET.get("page"))
    query = request.GET.copy()
    query.pop("page", None)
    rests_on = [(key, value) for key in query if key not in ("recipe", "outcome") for value in query.getlist(key)]
    context: dict[str, Any] = {
        "study": study,
        "words": study.scheme.parsed.words,
        "form": made.form,
        "rests_on": rests_on,
        "told": says.told(made.verdict, seed=made.filters.seed),
        "closest": says.closest_sentence(made.verdict),
        "names": says.NAMES,
        "contents": contents,
        "digests": keep(study, contents.figures),
        "examination": made.verdict.examination,
        "page": page,
        "actions": doors.item_actions_for(study.roles),
        "searched": (searched := queries.searched(study, made.filters)),
        "n_found_then": sum(bool(each.found) for each in searched),
        "n_frozen": study.frozen_verdicts.count(),
        "may_derive": deriving.may_derive(study, request.user),
        "endings": files.ENDINGS,
        "query": query.urlencode(),
    }
    return render(request, "recipes/verdict.html", context)


def _listed(item: Item, outcome: str) -> bool:
    if outcome == "never":
        return item.outcome not in (Outcome.MEMORISED, Outcome.INEXACT)
    return not outcome or item.outcome == outcome


def _lines(study: Study, made: VerdictData, of: SectionItems) -> Iterator[_Line]:
    columns = Column.objects.filter(sheet__study=study, section__key=of.section.key)
    pks = {(sheet, position): pk for sheet, position, pk in columns.values_list("sheet__title", "position", "pk")}
    for item in of.items:
        entry = made.data.table.columns[item.column]
        recipe = made.data.sheets[item.recipe]
        yield _Line(item, entry.name, recipe, str(says.NAMES[item.outcome]), pks.get((recipe, entry.position)))


@dataclass(frozen=True)
class _Found:
    """A document in which an item was looked for: who answered what, the lines that have its words, and what its site
    has reserved."""

    row: Row
    answers: Sequence[Label]
    lines: Sequence[str]
    reserved: Sequence[str]


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def item(request: AppRequest, study: Study, pk: int) -> HttpResponse:
    """The way back from one item: the documents, their lines, and who answered what there; where the recipe is from."""
    column = get_object_or_404(Column.objects.select_related("sheet", "section"), pk=pk, sheet__study=study)
    made = made_of(request.GET, study=study, user=request.user)
    found = next(
        (
            (of, each)
            for of in made.verdict.sections
            for each in of.items
            if of.section.key == column.section.key
            and made.verdict.data.sheets[each.recipe] == column.sheet.title
            and made.verdict.data.table.columns[each.column].position == column.position
        ),
        None,
    )
    if found is None:
        raise Http404
    of, each = found
    note_looks(sheets=[column.sheet], user=request.user)
    examination_was_read(made.verdict, what=TestLook.What.REPORT, by=request.user, sheet=column.sheet.title)
    origin = made.verdict.origins[each.recipe]
    context = {
        "study": study,
        "words": study.scheme.parsed.words,
        "column": column,
        "item": each,
        "verdict": says.NAMES[each.outcome],
        "meaning": says.MEANINGS[each.outcome],
        "origin": origin,
        "origin_names": [(says.ORIGIN_NAMES[key], word) for key, word in origin.words.items()],
        "written": queries.written(origin, request.user),
        "examination": made.verdict.examination,
        "documents": list(_documents(column, of, each, made.verdict)),
        "query": request.GET.urlencode(),
    }
    return render(request, "recipes/verdict_item.html", context)


def _documents(column: Column, of: SectionItems, each: Item, made: VerdictData) -> Iterator[_Found]:
    """Those in which it was found exactly, then inexactly, then the others. Two queries."""
    spec = of.data.spec
    answers = Label.objects.filter(
        column=column, question__key=spec.key, assignment__repeat=1, assignment__row__sheet=column.sheet
    )
    by_row: dict[str, list[Label]] = {}
    for label in answers.select_related("assignment__rater", "assignment__row", "option"):
        by_row.setdefault(label.assignment.row.name, []).append(label)
    for of_row in by_row.values():
        of_row.sort(key=_by_rater)
    rank = {made.data.table.rows[row].name: n for n, rows in enumerate((each.exact, each.inexact)) for row in rows}
    kinds = {
        made.data.table.rows[place].name: [_(optouts.KINDS[kind]) for kind in kinds]
        for place, kinds in made.reserved.items()
        if made.data.sheets[made.data.table.rows[place].sheet] == column.sheet.title
    }
    item_name = column.facets.get(spec.about or "", "") or column.name
    rows = [row for row in column.sheet.rows.order_by("position") if row.name in by_row]
    for row in sorted(rows, key=lambda row: rank.get(row.name, 2)):
        lines = _lines_of(row, item_name, of, made) if row.name in rank else []
        yield _Found(row, by_row[row.name], lines, kinds.get(row.name, []))


def _by_rater(label: Label) -> tuple[int, tuple[tuple[int, int | str], ...]]:
    """People, judges, gold; each by their codes."""
    rater = label.assignment.rater
    return list(Rater.Kind).index(Rater.Kind(rater.kind)), natural(rater.code)


def _lines_of(row: Row, item_name: str, of: SectionItems, made: VerdictData) -> list[str]:
    """The lines of a document that have most of an item's words: where to look, no answer."""
    blocks, synonyms = row.blocks, made.data.scheme.synonyms
    index = WordIndex(blocks, language=row.language or "en", kinds=of.section.evidence, synonyms=synonyms)
    hits = index.find(item_name)
    best = max((hit.share for hit in hits), default=0.0)
    numbers = dict.fromkeys(hit.block for hit in hits if hit.share == best)
    return [blocks[number].text for number in numbers][:_SHOWN_LINES]


@require_POST
@for_roles(Role.RESEARCHER, Role.MANAGER)
def freeze(request: AppRequest, study: Study) -> HttpResponse:
    """Freeze what the page shows: what it rests on comes in the query, the title in the form."""
    made, form = made_of(request.GET, study=study, user=request.user), FreezeForm(request.POST)
    back = redirect("memorization:verdict", study.slug)
    back["Location"] += f"?{request.GET.urlencode()}" if request.GET else ""
    if not form.is_valid() or not made.understood:
        messages.error(request, _("Nothing is frozen: give the verdict a title, and filters that are understood."))
        return back
    try:
        frozen = freeze_verdict(
            study=study,
            title=form.cleaned_data["title"],
            filters=made.filters,
            examination=made.verdict.examination,
            by=request.user,
        )
    except Refused as refused:
        messages.error(request, str(refused))
        return back
    messages.success(request, _("Frozen. It stays as it is, whatever is labelled from now on."))
    return redirect(frozen)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def figure(request: AppRequest, study: Study, key: str, ending: str) -> HttpResponse:
    """A figure of the page, which kept it under its digest; made again where it is not kept any more."""
    found = kept(study, request.GET.get("v", ""))
    if found is None or found.key != key:
        made = made_of(request.GET, study=study, user=request.user)
        examination_was_read(made.verdict, what=TestLook.What.REPORT, by=request.user)
        contents = says.contents_of(made.verdict, seed=made.filters.seed)
        found = next((each for each in contents.figures if each.key == key), None)
    return figure_response(request, found, ending)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def download(request: AppRequest, study: Study, ending: str) -> HttpResponse:
    """The verdict as CSV, XLSX, JSON, LaTeX, or everything with figures in a ZIP."""
    if ending not in files.TYPES:
        raise Http404
    made = made_of(request.GET, study=study, user=request.user)
    if not made.understood:
        sentence = _("Nothing is downloaded, since these filters are not understood.")
        return HttpResponseBadRequest(sentence, content_type="text/plain; charset=utf-8")
    contents = says.contents_of(made.verdict, seed=made.filters.seed)
    table = made.verdict.data.table
    examination_was_read(made.verdict, what=TestLook.What.DOWNLOAD, by=request.user)
    if ending in ("xlsx", "zip"):
        note_looks(sheets=study.sheets.all(), user=request.user)
    origin = origin_of(None, table, contents, made.filters)
    content = files.content(ending, contents, table, origin, rows_about(study, table))
    day = timezone.localdate().isoformat()
    return files.response(content, ending, f"{study.slug}-verdict-{day}")
