"""Whose work each step was, of the studies that were made of one another from a list of names on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation.models import Assignment, Label, Rater, Role, Row, Study, User
from annotation.queries import roles
from judges.generating.queries import runs_with_counts
from judges.models import UnreadableAnswer
from recipes.cooking.models import Document, Hit
from recipes.cooking.retrieval_queries import STANDING
from recipes.memorization.candidates import SCHEME as CANDIDATES
from recipes.memorization.chain import PARSING, SCHEMES
from recipes.memorization.names import SCHEME as NAMES
from recipes.memorization.verdict import NONSENSE
from recipes.memorization.verdict import SCHEME as RECIPES

_TITLES: dict[str, Promise] = {
    NAMES: _("Names"),
    CANDIDATES: _("The best recipe of each"),
    PARSING: _("Taken apart"),
    RECIPES: _("Looked for in documents"),
    NONSENSE: _("Examined for nonsense"),
}


@dataclass(frozen=True)
class Who:
    """Somebody's share of a step. `kind`: person, judge, gold, model or search; `drafted`: answers that began as
    drafts and were confirmed or changed."""

    kind: str
    name: str
    n: int
    drafted: int = 0
    unreadable: int = 0
    note: str = ""


@dataclass(frozen=True)
class StepLine:
    """A step: what it is called, where it is done, how many it has of what, in words, and who did it."""

    title: Promise | str
    study: Study
    so_far: str
    who: Sequence[Who]

    @property
    def by(self) -> str:
        """“people”, “models”, “both” (people correcting or beside models), or “” for nobody."""
        kinds = {"people" if one.kind in ("person", "gold") else "models" for one in self.who if one.n}
        return "both" if len(kinds) == 2 else kinds.pop() if kinds else ""


def family(study: Study, user: User) -> list[Study]:
    """The studies of one chain that `user` may read: from the first one on, all that were made of it."""
    first, seen = study, {study.pk}
    while first.derived_from is not None and first.derived_from.pk not in seen:
        first = first.derived_from
        seen.add(first.pk)
    found, waiting = [first], [first.pk]
    while waiting:
        made = list(Study.objects.filter(derived_from__in=waiting).exclude(pk__in=[one.pk for one in found]))
        found += made
        waiting = [one.pk for one in made]
    return [one for one in found if one.scheme.slug in SCHEMES and roles(user, one) & {Role.MANAGER, Role.RESEARCHER}]


def steps(study: Study, user: User) -> list[StepLine]:
    """The steps that there are, in the paper's order."""
    studies = sorted(family(study, user), key=lambda one: (SCHEMES.index(one.scheme.slug), one.pk))
    return [line for one in studies for line in _lines(one)]


def _lines(study: Study) -> Iterator[StepLine]:
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None).count()
    title, labelled = _TITLES[study.scheme.slug], list(_raters(study))
    if study.scheme.slug == NAMES:
        yield StepLine(title, study, ngettext("%(n)s name", "%(n)s names", rows) % {"n": rows}, labelled)
        written = [
            Who(
                "model",
                run.model.name,
                run.n_done,
                note="" if run.n_done == run.n_texts else f"{run.n_done}/{run.n_texts}",
            )
            for run in runs_with_counts(study)
        ]
        texts = sum(one.n for one in written)
        yield StepLine(
            _("Recipes written"), study, ngettext("%(n)s text", "%(n)s texts", texts) % {"n": texts}, written
        )
    elif study.scheme.slug == RECIPES:
        documents = ngettext("%(n)s document", "%(n)s documents", rows) % {"n": rows}
        yield StepLine(_("Documents fetched"), study, documents, list(_fetched(study)))
        yield StepLine(title, study, documents, labelled)
    else:
        yield StepLine(title, study, ngettext("%(n)s recipe", "%(n)s recipes", rows) % {"n": rows}, labelled)


def _raters(study: Study) -> Iterator[Who]:
    """Everybody who answered something. Two queries."""
    unread = dict(
        UnreadableAnswer.objects.filter(assignment__rater__study=study)
        .order_by()
        .values_list("assignment__rater")
        .annotate(n=Count("pk"))
    )
    standing = Label.objects.filter(assignment__rater__study=study).exclude(
        assignment__state=Assignment.State.WITHDRAWN
    )
    counted = (
        standing.order_by()
        .values_list("assignment__rater", "assignment__rater__kind", "assignment__rater__code")
        .annotate(
            n=Count("pk", filter=Q(drafted_from=None) | Q(confirmed_at__isnull=False)),
            drafted=Count("pk", filter=Q(drafted_from__isnull=False, confirmed_at__isnull=False)),
        )
    )
    answered = {pk: (kind, code, n, drafted) for pk, kind, code, n, drafted in counted}
    silent = Rater.objects.filter(pk__in=set(unread) - set(answered)).values_list("pk", "kind", "code")
    answered |= {pk: (kind, code, 0, 0) for pk, kind, code in silent}
    for pk, (kind, code, n, drafted) in sorted(answered.items(), key=lambda one: (one[1][0] != "person", one[1][1])):
        yield Who(kind, code, n, drafted, unread.get(pk, 0))


def _fetched(study: Study) -> Iterator[Who]:
    """By engines, and saved pages; and how many hits a person confirmed or overruled. Three queries."""
    hits = Hit.objects.filter(search__sheet__study=study)
    found = hits.filter(STANDING).order_by().values_list("search__engine").annotate(n=Count("pk"))
    by_engine = sorted(found)
    for engine, n in by_engine:
        yield Who("search", str(engine), n)
    saved = Document.objects.filter(row__sheet__study=study, row__withdrawn_at=None, hit=None).count()
    if saved:
        yield Who("search", str(_("saved pages")), saved)
    if decided := hits.filter(decided_by__isnull=False).count():
        yield Who("person", str(_("confirmed or overruled")), decided)
