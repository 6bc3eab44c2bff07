"""What comes next in a study that stands in a row from names to a verdict, for who manages it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from annotation.doors import Next
from annotation.models import Assignment, Label, Rater, Role, Row, Study, User
from annotation.queries import roles
from llm.models import LanguageModel
from recipes.memorization import candidates
from recipes.memorization.candidates import SCHEME as CANDIDATES
from recipes.memorization.chain import PARSING, SCHEMES
from recipes.memorization.chain.settings import LEXICAL, RULES
from recipes.memorization.names import SCHEME as NAMES
from recipes.memorization.verdict import NONSENSE
from recipes.memorization.verdict import SCHEME as RECIPES
from work.states import ItemState, RunState

Way = tuple[Promise | str, str]

# What is made of a study of each scheme: the deriver, the scheme, and the end of the address.
_MADE = {
    CANDIDATES: ("candidates", "candidates"),
    PARSING: ("best-candidates", "parsing"),
    RECIPES: ("parsed-recipes", "documents"),
    NONSENSE: ("examined-recipes", "nonsense"),
}
_ASKED: dict[str, Promise] = {
    CANDIDATES: _("Say of each recipe what is wrong in it, how right it is, and how gladly you would cook by it."),
    PARSING: _("Take the recipes apart, into ingredients and tasks."),
    RECIPES: _("Look for each ingredient and task in each document."),
    NONSENSE: _("Say of each recipe, ingredient and task whether it makes sense."),
}


def next_in(study: Study, user: User) -> Next | None:
    """None for studies of other schemes, and for those with recipes that come from no row. Up to eleven queries."""
    scheme = study.scheme.slug
    if scheme not in SCHEMES or (scheme in (RECIPES, NONSENSE) and study.derived_from_id is None):
        return None
    if scheme == NAMES:
        return _of_names(study, user)
    if (before := _before_answers(study, user)) is not None:
        return before
    if scheme == CANDIDATES:
        return _go_on(study, user, PARSING) or Next(
            _("The best recipe of each dish is taken apart."),
            list(_made(study, user, PARSING, _("Go on with the best"))),
        )
    if scheme == PARSING:
        return _of_parsed(study, user)
    return _verdict(study, user)


def _of_names(study: Study, user: User) -> Next:
    if not _rows(study).exists():
        return Next(_("Type or paste the dishes."), [(_("Names"), _url("memorization:names", study))])
    if (there := _go_on(study, user, CANDIDATES)) is not None:
        return there
    runs = study.generation_runs.all()
    if runs.filter(state=RunState.RUNNING).exists():
        return Next(_("Recipes are being written."), [(_("Texts"), _url("judges:generations", study))], waits=True)
    write = (_("Have recipes written by models"), _url("judges:new-generation", study))
    if runs.filter(items__state=ItemState.DONE).exists():
        made = _made(study, user, CANDIDATES, _("Put them side by side"), set_bare=candidates.KEEP)
        return Next(_("The recipes of each dish are held against each other."), [*made, write])
    own = _made(
        study, user, CANDIDATES, _("Or paste recipes that you have"), set_bare=candidates.KEEP, set_texts=candidates.ALL
    )
    choose = (_("Say yourself which are examined"), _url("memorization:myself", study))
    asked = Assignment.objects.filter(row__sheet__study=study).exists()
    return Next(_("Each dish needs a recipe or several."), [write, *own], does=[] if asked else [choose])


def _before_answers(study: Study, user: User) -> Next | None:
    """What is missing before all rows of a study have an answer of somebody."""
    scheme = study.scheme.slug
    rows = _rows(study)
    if scheme in (CANDIDATES, PARSING):
        empty = study.sheets.filter(archived_at=None).exclude(Exists(rows.filter(sheet=OuterRef("pk")))).first()
        if empty is not None:
            words = format_lazy(_("“{dish}” has no recipe yet."), dish=empty.title)
            return Next(words, [(_("Paste a recipe"), f"{_url('memorization:paste', study)}?sheet={empty.pk}")])
        if not rows.exists():
            return Next(_("Bring the recipes."), [(_("Paste a recipe"), _url("memorization:paste", study))])
    if scheme == RECIPES:
        if study.retrievals.filter(state=RunState.RUNNING).exists():
            return Next(_("Documents are being searched for."), [(_("Search"), _url("recipes:searches", study))], True)
        empty = study.sheets.filter(archived_at=None).exclude(Exists(rows.filter(sheet=OuterRef("pk")))).first()
        if empty is not None:
            words = format_lazy(_("“{dish}” has no documents yet."), dish=empty.title)
            ways = [
                (_("Search for documents"), _url("recipes:new-search", study)),
                (_("Bring saved pages"), _url("recipes:documents", study)),
            ]
            return Next(words, ways)
    if study.runs.filter(state=RunState.RUNNING).exists():
        return Next(_("A judge is at work."), [(_("Judges"), _url("judges:runs", study))], True)
    given = Assignment.objects.filter(row=OuterRef("pk")).exclude(rater__kind=Rater.Kind.GOLD)
    if not rows.exclude(Exists(given.filter(state=Assignment.State.SUBMITTED))).exists():
        return None
    people = (_("Plan which people do it"), _url("annotation:plan", study))
    judges = (_("Let a judge do it"), _url("judges:runs", study))
    does = [(_("Do it yourself"), _url("memorization:myself", study)), *_by_judges(study, user)]
    if not rows.filter(Exists(given)).exists():
        return Next(_ASKED[scheme], [people, judges], does=does)
    ways = [(_("Board"), _url("annotation:board", study)), judges]
    return Next(format_lazy(_("{asked} Not all is answered and submitted yet."), asked=_ASKED[scheme]), ways, does=does)


def _by_judges(study: Study, user: User) -> Iterator[Way]:
    """Judges that can begin at once: those without a model, and the model that wrote the recipes."""
    if not user.has_perm("judges.add_judge"):
        return
    at = _url("memorization:by-judge", study)
    if study.scheme.slug == PARSING:
        yield _("Let the rules do it (English only)"), f"{at}?judge={RULES}"
    elif study.scheme.slug == RECIPES:
        yield _("Let the lexical judge do it"), f"{at}?judge={LEXICAL}"
    if study.scheme.slug != RECIPES and (writer := writer_of(study)) is not None:
        yield format_lazy(_("Let {model} do it"), model=writer.name), at


def writer_of(study: Study) -> LanguageModel | None:
    """The model that last wrote recipes for the list of names that a study comes from."""
    first = study
    for _step in SCHEMES:
        if first.derived_from is None:
            break
        first = first.derived_from
    run = first.generation_runs.select_related("model").order_by("-pk").first()
    return run.model if run is not None else None


def _of_parsed(study: Study, user: User) -> Next:
    nonsense = (
        []
        if _child(study, user, NONSENSE) is not None
        else list(_made(study, user, NONSENSE, _("Examine them for nonsense")))
    )
    there = _go_on(study, user, RECIPES)
    if there is not None:
        return Next(there.words, [*there.ways, *nonsense])
    made = _made(study, user, RECIPES, _("Look for the parts in documents"))
    return Next(_("The parts are looked for in documents, and examined for nonsense."), [*made, *nonsense])


def _verdict(study: Study, user: User) -> Next:
    """Of a study that looks in documents, or that examined the same recipes."""
    parsed = study.derived_from
    found = study if study.scheme.slug == RECIPES else parsed and _child(parsed, user, RECIPES)
    ways: list[Way] = []
    examined = parsed and _child(parsed, user, NONSENSE)
    if found:
        by = _alone(examined) if examined else None
        asked = f"?{urlencode({'examined': examined.slug, 'examiner': by.code})}" if examined and by else ""
        ways.append((_("Read the verdict"), _url("memorization:verdict", found) + asked))
        if {Rater.Kind.PERSON, Rater.Kind.JUDGE} <= _answered_by(found):
            words = _("Hold by hand against by models")
            ways.append((words, _url("memorization:compare-verdicts", found)))
    if study.scheme.slug == RECIPES and parsed is not None and parsed.scheme.slug == PARSING:
        if examined is not None:
            ways.append((examined.title, _url("annotation:study", examined)))
        elif Role.MANAGER in roles(user, parsed):
            ways += _made(parsed, user, NONSENSE, _("Examine them for nonsense"))
    # What people did alone a judge can do besides, so that one is held against the other.
    besides = [] if Rater.Kind.JUDGE in _answered_by(study) else list(_by_judges(study, user))
    return Next(_("Read what was memorised, what is creative, and what is nonsense."), ways, does=besides)


def _go_on(study: Study, user: User, scheme: str) -> Next | None:
    child = _child(study, user, scheme)
    if child is None:
        return None
    return Next(_("The next step has its own study."), [(child.title, _url("annotation:study", child))])


def _child(study: Study, user: User, scheme: str) -> Study | None:
    found = Study.objects.visible_to(user).filter(derived_from=study, scheme__slug=scheme, archived_at=None)
    return found.order_by("-pk").first()


def _made(study: Study, user: User, scheme: str, label: Promise, **settings: str) -> Iterator[Way]:
    """The form that makes the next study, filled in; nothing for who may make none."""
    if not user.has_perm("annotation.add_study"):
        return
    deriver, part = _MADE[scheme]
    base = study.slug
    for _deriver, end in _MADE.values():
        base = base.removesuffix(f"-{end}")
    slugs = {f"{base[:45]}-{part}{number}" for number in ("", *(f"-{n}" for n in range(2, 30)))}
    free = sorted(
        slugs - set(Study.objects.filter(slug__in=slugs).values_list("slug", flat=True)), key=lambda s: (len(s), s)
    )
    title = f"{study.title.partition(': ')[0][:150]}: {part}"
    given = {"deriver": deriver, "scheme": scheme, "slug": free[0] if free else "", "title": title, **settings}
    if study.scheme.slug != NAMES and (judge := _alone(study)) is not None:
        given["rater"] = str(judge.pk)  # else nobody's answers would count
        if study.scheme.slug == CANDIDATES:
            given["set_unsaid"] = candidates.FIRST  # of a judge some answers may be unreadable
    yield label, f"{_url('annotation:derive', study)}?{urlencode(given)}"


def _answered_by(study: Study) -> set[str]:
    """The kinds of raters that have answered."""
    answered = study.raters.filter(Exists(Label.objects.filter(assignment__rater=OuterRef("pk"))))
    return set(answered.order_by().values_list("kind", flat=True))


def _alone(study: Study) -> Rater | None:
    """The judge that answered last, where no person did."""
    answered = study.raters.filter(Exists(Label.objects.filter(assignment__rater=OuterRef("pk"))))
    if answered.exclude(kind=Rater.Kind.JUDGE).exists():
        return None
    return answered.order_by("-pk").first()


def _rows(study: Study) -> QuerySet[Row]:
    return Row.objects.filter(sheet__study=study, sheet__archived_at=None, withdrawn_at=None)


def _url(name: str, study: Study) -> str:
    return reverse(name, args=[study.slug])
