"""The report as it stands, page by page: the answers first, then what they rest on.

What is kept comes at once. Where the intervals are not, a page comes without them and fetches itself again with them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from annotation.actions import Refused
from annotation.models import Experiment, Role, Study
from annotation.people.access import AppRequest, for_roles
from annotation.queries import n_from_before
from reports import glossary as entries
from reports import paragraphs, sentences, topics
from reports.answer_figures import answer_figures
from reports.answer_table import KEY, answer_table
from reports.answers import Answers, Estimate, JudgeAnswer, Line, Measure
from reports.data.arrays import Filters
from reports.forms import FiltersForm, not_understood
from reports.hiring.telling import certificates_told, with_certificates
from reports.live import Live, LiveReport, without_intervals
from reports.tables.overview import stood_on
from reports.tables.rounding import kept
from reports.views.comparing import before_and_since
from reports.views.pages import csv_of, keep

_KEPT_S = 7 * 86_400
READERS = (Role.RESEARCHER, Role.MANAGER)


@dataclass(frozen=True)
class Asked:
    """A report that was asked for. `key`: under which it is kept; `pending`: it has no intervals yet, and should;
    `query`: its filters, intervals too."""

    study: Study
    form: FiltersForm
    filters: Filters
    live: LiveReport
    key: str
    pending: bool
    query: QueryDict

    @property
    def filtered(self) -> bool:
        """Whether a reader chose something. Which encoder is here is nobody's choice."""
        filters = self.filters if self.query.get("encoder") else replace(self.filters, encoder=Filters().encoder)
        return without_intervals(filters) != Filters()


def asked_query(request: AppRequest) -> QueryDict:
    """The query of a page; intervals are drawn by document unless it says otherwise."""
    query = request.GET.copy()
    query.pop("now", None)
    query.pop("table", None)
    if "by" not in query:
        query["by"] = "document"
    return query


def asked(request: AppRequest, study: Study) -> Asked:
    """What a page shows: made with its intervals where they are kept or somebody waits for them, else without."""
    query, found = asked_query(request), Live(study)
    form = FiltersForm(query, study=study, facet_words=found.facet_words())
    filters = form.filters() if form.is_valid() else Filters(by="document")
    wait = bool(request.htmx) or "now" in request.GET
    try:
        live, key = _found(found, filters, wait=wait)
    except Refused as refused:
        form.add_error(None, str(refused))
        filters = Filters(by="document")
        live, key = _found(found, filters, wait=wait)
    pending = bool(filters.by) and not live.answers.drawn and bool(live.n_labels)
    return Asked(study, form, filters, live, key, pending, query)


def _found(found: Live, filters: Filters, *, wait: bool) -> tuple[LiveReport, str]:
    """The report, and the key under which it is kept."""
    if wait or not filters.by:
        return found.made(filters), found.key(filters)
    if (kept := found.kept(filters)) is not None:
        return kept, found.key(filters)
    fewer = without_intervals(filters)
    return found.made(fewer), found.key(fewer)


def show(request: AppRequest, of: Asked, template: str, here: str, **context: Any) -> HttpResponse:
    """A page of the report, with its navigation, filters and downloads. `here`: the name of its address."""
    figures = [*of.live.contents.figures, *answer_figures(of.live.answers)]
    query, moment = of.query.urlencode(), stood_on(of.filters)
    return render(
        request,
        template,
        {
            "study": of.study,
            "form": of.form,
            "live": of.live,
            "live_key": of.key,
            "templates": _templates(),
            "kept_s": _KEPT_S if of.live.stands and not settings.DEBUG else 0,
            "contents": of.live.contents,
            # Of which wording or moment labels are is told in a sentence, with the way to all of them.
            "about": [line for line in of.live.contents.about if line[1] not in (of.live.wording, moment)],
            "stood_on": moment,
            "digests": keep(of.study, figures, of.live.figures),
            "filtered": of.filtered,
            "pending": of.pending,
            "counts": _counts(of),
            "n_frozen": of.study.reports.count(),
            "query": query,
            "topics": topics.topics_of(of.live.contents),
            "here": here,
            **context,
        },
    )


@cache
def _templates() -> str:
    """A digest of what pages are made with, so that none that is kept outlives it."""
    digest = hashlib.sha256()
    made_with = [
        *(settings.BASE_DIR / "templates" / "reports").glob("*.html"),
        *settings.BASE_DIR.glob("locale/*/*/*.mo"),
    ]
    for file in sorted(made_with):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _counts(of: Asked) -> list[tuple[int, str]]:
    live, words = of.live, of.study.scheme.parsed.words
    return [
        (live.n_sheets, words.sheet if live.n_sheets == 1 else words.sheets),
        (live.n_people, ngettext("person", "people", live.n_people)),
        (live.n_judges, ngettext("judge", "judges", live.n_judges)),
        (live.n_labels, ngettext("label", "labels", live.n_labels)),
    ]


@require_GET
@for_roles(*READERS)
def report(request: AppRequest, study: Study) -> HttpResponse:
    """The answers: sentences and three figures."""
    of = asked(request, study)
    context = said_of(of.live.answers, study) if of.live.n_labels else {}
    if context:
        certified = [] if of.filters.as_of else certificates_told(study)
        context |= {
            "certified": certified,
            "tiles": with_certificates(context["tiles"], certified),
            # Like certificates they go on: what they say of the study is not of then.
            "has_experiments": not of.filters.as_of and Experiment.objects.filter(study=study).exists(),
        }
        if not (of.filters.wording or of.filters.as_of):
            before, n_labels = n_from_before(study)
            compared = before_and_since(study, study.scheme.version)
            context["reworded"] = {"before": before, "all": n_labels, "compared": compared}
    return show(request, of, "reports/answers.html", "reports:report", **context)


def said_of(answers: Answers, study: Study) -> dict[str, Any]:
    """What `_answers.html` shows."""
    nearest = answers.nearest()
    lines = [_line(line, nearest[0] if nearest else "") for line in answers.lines]
    return {
        "answers": answers,
        "tiles": sentences.tiles(answers),
        "about_people": sentences.about_people(answers, study.scheme.slug),
        "about_judges": sentences.about_judges(answers),
        "lines": lines,
        "has_levels": any(line.level for line in lines),
        "nearest": nearest,
        "figures": answer_figures(answers),
        "of_judges": bool(answers.judges),
        "table": answer_table(answers),
    }


@dataclass(frozen=True)
class _Figure:
    """A number as it is read, line under line: the value, its interval, what it is to be read by. `number`: the same
    value, by which a table is sorted and which is copied."""

    lines: list[str]
    number: float | None = None


_NONE = _Figure(["–"])


@dataclass(frozen=True)
class _Row:
    """A line of the table of answers, as text. Where `agreement` has no lines, `reason` may say why. `beside`: what it
    is to be read by."""

    name: str
    table: str
    is_mean: bool
    sign: str
    entry: str
    agreement: _Figure
    beside: list[str]
    reason: str
    level: str
    accuracy: _Figure
    judge: _Figure
    ceiling: _Figure
    verdict: str
    verdict_key: str
    judge_table: str


# The entries of the glossary that lines lead to.
_ENTRIES: Mapping[Measure, str] = {
    "kappa": "cohen-kappa",
    "weighted-kappa": "cohen-kappa",
    "alpha": "krippendorff-alpha",
    "node-f1": "graph-agreement",
}


def _line(line: Line, nearest: str) -> _Row:
    judge = next((judge for judge in line.judges if judge.code == nearest), None)
    agreement = line.agreement
    return _Row(
        name=line.name,
        table=line.table,
        is_mean=line.is_mean,
        sign=str(sentences.MEASURES[line.measure]) if line.measure == "weighted-kappa" else sentences.sign(line),
        entry=_ENTRIES[line.measure],
        agreement=_Figure([])
        if agreement.value is None
        else _figure(agreement.value, sentences.number(agreement.value), sentences.between(agreement)),
        beside=_beside(line),
        reason=agreement.reason,
        level=sentences.level_of(line),
        accuracy=_share(line.accuracy),
        judge=_of_judge(judge) if judge else _NONE,
        ceiling=_share(judge.of_person, _cells(judge)) if judge else _NONE,
        verdict=str(sentences.VERDICTS[judge.verdict]) if judge else "",
        verdict_key=judge.verdict if judge else "",
        judge_table=sentences.table_of_test(line, judge) if judge else "",
    )


def _beside(line: Line) -> list[str]:
    """What `sentences.beside_kappa` says, a line each."""
    coefficient = sentences.gwet(line)
    if not coefficient or line.majority is None:
        return []
    share = _("most frequent %(share)s") % {"share": sentences.percent(line.majority)}
    return [coefficient, share]


def _figure(value: float, *lines: str) -> _Figure:
    return _Figure([line.strip() for line in lines if line], kept(value))


def _share(of: Estimate, under: str = "") -> _Figure:
    if of.value is None:
        return _NONE
    return _figure(of.value, sentences.percent(of.value), sentences.between(of, as_percent=True), under)


def _of_judge(judge: JudgeAnswer) -> _Figure:
    """The judge beside the human ceiling; where there is none, its accuracy."""
    if judge.beside_person.value is None:
        return _share(judge.accuracy, "A_m")
    return _share(judge.beside_person, _baseline(judge))


def _baseline(judge: JudgeAnswer) -> str:
    if judge.baseline_beside is None:
        return ""
    return _("baseline %(share)s") % {"share": sentences.percent(judge.baseline_beside)}


def _cells(judge: JudgeAnswer) -> str:
    return ngettext("%(n)s cell", "%(n)s cells", judge.n_cells) % {"n": number_format(judge.n_cells)}


@require_GET
@for_roles(*READERS)
def whole(request: AppRequest, study: Study) -> HttpResponse:
    """Everything on one page, to be printed or searched."""
    return show(request, asked(request, study), "reports/whole.html", "reports:whole")


@require_GET
@for_roles(*READERS)
def questions(request: AppRequest, study: Study) -> HttpResponse:
    of = asked(request, study)
    table = topics.overview_of(of.live.contents)
    groups = [topics.Group("overview-page", "", [table])] if table else []
    return show(
        request, of, "reports/shelf.html", "reports:questions", title=_("Questions"), groups=groups, lists_topics=True
    )


@require_GET
@for_roles(*READERS)
def question(request: AppRequest, study: Study, key: str) -> HttpResponse:
    of, topic = _topic(request, study, key)
    group = topic.on("question")
    links = []
    if topic.on("judge-details"):
        links.append((_("Judges on this question"), reverse("reports:judges-on", args=[study.slug, key])))
    for name, shelf, label in (
        ("reports:judges", "judges", _("How far judges agree with people")),
        ("reports:people", "people", _("Pairs of raters")),
        ("reports:coverage", "coverage", _("Coverage")),
    ):
        if topic.on(shelf):  # type: ignore[arg-type]
            links.append((label, f"{reverse(name, args=[study.slug])}#{key}"))
    return show(
        request,
        of,
        "reports/shelf.html",
        "reports:questions",
        title=topic.title,
        groups=[group],
        links=links,
        topic=key,
    )


@require_GET
@for_roles(*READERS)
def judges(request: AppRequest, study: Study) -> HttpResponse:
    of = asked(request, study)
    every = topics.topics_of(of.live.contents)
    groups = [group for topic in every if (group := topic.on("judges"))]
    more = {
        topic.key: reverse("reports:judges-on", args=[study.slug, topic.key])
        for topic in every
        if topic.on("judge-details")
    }
    empty = _("No judge has labelled anything that people answered.")
    return show(
        request,
        of,
        "reports/shelf.html",
        "reports:judges",
        title=_("Judge performance"),
        counted=_(
            "Counted here, as A_m: each cell that the judge and anybody among people have answered, right in full "
            "where one of them said it, the mean over sheets; options merged as a table's title says. The first page "
            "counts the cells that two people have answered."
        ),
        groups=groups,
        more=more,
        empty=empty,
    )


@require_GET
@for_roles(*READERS)
def judges_on(request: AppRequest, study: Study, key: str) -> HttpResponse:
    of, topic = _topic(request, study, key)
    title = _("Judges on “%(question)s”") % {"question": topic.title}
    return show(
        request, of, "reports/shelf.html", "reports:judges", title=title, groups=topic.judge_groups(), topic=key
    )


@require_GET
@for_roles(*READERS)
def people(request: AppRequest, study: Study) -> HttpResponse:
    of = asked(request, study)
    groups = [topics.Group("who", "", topics.closing_of(of.live.contents))]
    groups += [group for topic in topics.topics_of(of.live.contents) if (group := topic.on("people"))]
    return show(request, of, "reports/shelf.html", "reports:people", title=_("Raters"), groups=groups)


@require_GET
@for_roles(*READERS)
def coverage(request: AppRequest, study: Study) -> HttpResponse:
    of = asked(request, study)
    groups = [group for topic in topics.topics_of(of.live.contents) if (group := topic.on("coverage"))]
    empty = _("No question says which of its options mean that something was found, so there is no coverage.")
    return show(request, of, "reports/shelf.html", "reports:coverage", title=_("Coverage"), groups=groups, empty=empty)


@dataclass(frozen=True)
class Paragraph:
    language: str
    title: str
    text: str


@require_GET
@for_roles(*READERS)
def methods(request: AppRequest, study: Study) -> HttpResponse:
    """A methods and a results paragraph for a paper, in each language, and how the numbers were made."""
    of = asked(request, study)
    written = []
    for language, answers in of.live.answers_in.items() if of.live.n_labels else ():
        with translation.override(language):
            written += [
                Paragraph(language, _("Methods"), paragraphs.methods(answers, study.scheme.parsed.words)),
                Paragraph(language, _("Results"), paragraphs.results(answers, study.scheme.slug)),
            ]
    return show(request, of, "reports/methods.html", "reports:methods", paragraphs=written, methods=of.filters.methods)


@require_GET
@for_roles(*READERS)
def glossary(request: AppRequest, study: Study) -> HttpResponse:
    context = {"study": study, "entries": entries.ENTRIES, "here": "reports:glossary", "query": request.GET.urlencode()}
    return render(request, "reports/glossary.html", context)


@require_GET
@for_roles(*READERS)
def at(request: AppRequest, study: Study) -> HttpResponse:
    """The page that has a table, figure or part, whose key `table` is: where old links of one long page lead now."""
    key = request.GET.get("table", "")
    of = asked(request, study)
    place = topics.place_of(of.live.contents, key)
    if place is None:
        raise Http404
    query = request.GET.copy()
    query.pop("table", None)
    found = redirect(place.url_name, study.slug, *place.arguments)
    found["Location"] += (f"?{query.urlencode()}" if query else "") + f"#{key}"
    return found


@require_GET
@for_roles(*READERS)
def table_csv(request: AppRequest, study: Study) -> HttpResponse:
    """One table as a spreadsheet reads it. A filter that is not understood is no download."""
    query = asked_query(request)
    form = FiltersForm(query, study=study)
    if not form.is_valid():
        return not_understood(form)
    try:
        live = Live(study).made(form.filters())
    except Refused as refused:
        form.add_error(None, str(refused))
        return not_understood(form)
    if request.GET.get("table") == KEY:
        return csv_of(answer_table(live.answers))
    return csv_of(next((table for table in live.contents.tables if table.key == request.GET.get("table")), None))


def _topic(request: AppRequest, study: Study, key: str) -> tuple[Asked, topics.Topic]:
    of = asked(request, study)
    topic = topics.topic_called(topics.topics_of(of.live.contents), key)
    if topic is None:
        raise Http404
    return of, topic
