"""The page that holds two verdicts against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from annotation.actions import note_looks
from annotation.models import Column, Label, Membership, Rater, Role, Study, User
from annotation.people.access import AppRequest, for_roles
from base.text import natural
from recipes.memorization.verdict import comparing, files, queries
from recipes.memorization.verdict.comparing import Compared, Pair
from recipes.memorization.verdict.looks import examination_was_read
from recipes.memorization.verdict.outcomes import Item
from recipes.memorization.verdict.queries import VerdictData
from reports.data.arrays import MAJORITY, PEOPLE, Filters, voice_of
from reports.exports.files import tables_file
from reports.exports.making import origin_of
from reports.hiring import actions as hiring
from reports.models import TestLook
from reports.words import cap, code_of

_MOST_STUDIES = 30
_READERS = (Role.MANAGER, Role.RESEARCHER)


def others(study: Study, user: User) -> list[Study]:
    """This study, then others of its scheme whose answers `user` may read, the latest first. One query."""
    found = Study.objects.filter(scheme__slug=study.scheme.slug, archived_at=None).exclude(pk=study.pk).order_by("-pk")
    if not user.is_superuser:
        found = found.filter(Exists(Membership.objects.filter(study=OuterRef("pk"), user=user, role__in=_READERS)))
    return [study, *found[:_MOST_STUDIES]]


class CompareForm(forms.Form):
    """Whose two verdicts are compared. A side is a study and whose answers count in it, and who says there what is
    nonsense; without a choice it is people against the first judge. Three queries, and those
    of `queries.examinations` for each study."""

    recipe = forms.ChoiceField(required=False)
    only = forms.ChoiceField(
        label=gettext_lazy("Items"),
        choices=[("", gettext_lazy("all")), ("unlike", gettext_lazy("with two verdicts"))],
        required=False,
    )
    field_order = ("first", "first_examiner", "second", "second_examiner", "recipe", "only")

    def __init__(self, *args: Any, study: Study, studies: Sequence[Study], user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        answered = Exists(Label.objects.filter(assignment__rater=OuterRef("pk")))
        raters = list(Rater.objects.filter(answered, study__in=studies))
        examinations = {examined.pk for one in studies for examined in queries.examinations(one, user)}
        codes = Rater.objects.filter(answered, study__in=examinations)
        examiners = sorted(
            {(one.code, one.kind) for one in codes.exclude(kind=Rater.Kind.GOLD)}, key=lambda of: natural(of[0])
        )
        sides = [(one.title, list(_voices(one, raters))) for one in studies]
        default = [(voice, rater) for voice, rater in _ordered(study, raters)]
        judge = next((code for code, kind in examiners if kind == Rater.Kind.JUDGE), "")
        second = next((voice for voice, rater in default if rater.kind == Rater.Kind.JUDGE), "")
        people = any(rater.kind == Rater.Kind.PERSON for _voice, rater in default)
        first = (
            f"{study.slug} {PEOPLE}" if people else next((voice for voice, _rater in default if voice != second), "")
        )
        for name, label, initial, examiner in (
            ("first", _("One side"), first or second, "" if people else judge),
            ("second", _("The other side"), second or first, judge),
        ):
            self.fields[name] = forms.ChoiceField(label=label, choices=sides, required=False, initial=initial)
            self.fields[f"{name}_examiner"] = forms.ChoiceField(
                label=_("nonsense, as said by"),
                choices=[("", _("gold, else what most people said")), *((code, code) for code, _kind in examiners)],
                required=False,
                initial=examiner,
            )
        sheets = study.sheets.order_by("position").values_list("title", flat=True)
        self.fields["recipe"] = forms.ChoiceField(
            label=cap(study.scheme.parsed.words.sheet),
            choices=[("", _("all")), *((title, title) for title in sheets)],
            required=False,
        )
        self.order_fields(self.field_order)
        # What was not asked for stands as it is at first.
        self.data = {name: self.data.get(name, field.initial or "") for name, field in self.fields.items()}

    def said(self, name: str) -> str:
        return str(self.cleaned_data.get(name, ""))

    def name_of(self, side: str) -> str:
        """A side in words: whose answers, and of which study where there are several."""
        chosen = self.said(side)
        groups: Any = self.fields[side].choices  # type: ignore[attr-defined]
        told = {value: (title, label) for title, voices in groups for value, label in voices}
        title, label = told.get(chosen, ("", "–"))
        return (
            f"{label} ({title})"
            if self.said("first").split(" ")[0] != self.said("second").split(" ")[0]
            else str(label)
        )


def _ordered(study: Study, raters: Sequence[Rater]) -> list[tuple[str, Rater]]:
    mine = sorted((rater for rater in raters if rater.study_id == study.pk), key=lambda rater: natural(rater.code))
    return [(f"{study.slug} {voice_of(rater.code)}", rater) for rater in mine]


def _voices(study: Study, raters: Sequence[Rater]) -> list[tuple[str, str]]:
    ordered = _ordered(study, raters)
    people = [
        (f"{study.slug} {PEOPLE}", _("anybody among people")),
        (f"{study.slug} {MAJORITY}", _("what most people said")),
    ]
    has_people = any(rater.kind == Rater.Kind.PERSON for _voice, rater in ordered)
    return [*(people if has_people else []), *((voice, code_of(rater)) for voice, rater in ordered)]


@dataclass(frozen=True)
class _Line:
    """An item of the list, with the way back from each side where it has one."""

    pair: Pair
    pks: tuple[int | None, int | None]


@dataclass(frozen=True)
class _Made:
    form: CompareForm
    studies: tuple[Study, Study]
    verdicts: tuple[VerdictData, VerdictData]
    sections: Sequence[Compared]

    @property
    def names(self) -> tuple[str, str]:
        return self.form.name_of("first"), self.form.name_of("second")


def _made(request: AppRequest, study: Study) -> _Made | None:
    """None where the sides are not understood, or nobody has answered yet."""
    studies = others(study, request.user)
    form = CompareForm(request.GET, study=study, studies=studies, user=request.user)
    if not form.is_valid() or not form.said("first") or not form.said("second"):
        return None
    by_slug = {one.slug: one for one in studies}
    of, verdicts = [], []
    for side in ("first", "second"):
        slug, _space, voice = form.said(side).partition(" ")
        of.append(by_slug[slug])
        found, code = queries.examinations(by_slug[slug], request.user), form.said(f"{side}_examiner")
        knows = [examined for examined in found if examined.raters.filter(code=code).exists()]
        examination = queries.examination((knows or found)[0], rater=code if knows else "") if found else None
        verdicts.append(queries.load(by_slug[slug], Filters(voices=(voice,)), examination))
    sections = comparing.compared(*verdicts, recipe=form.said("recipe"))
    return _Made(form, (of[0], of[1]), (verdicts[0], verdicts[1]), sections)


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def compare(request: AppRequest, study: Study) -> HttpResponse:
    made = _made(request, study)
    if made is None:
        form = CompareForm(request.GET, study=study, studies=others(study, request.user), user=request.user)
        form.is_valid()
        return render(request, "recipes/verdict_compare.html", {"study": study, "form": form, "sections": None})
    _was_read(made, what=TestLook.What.REPORT, by=request.user)
    columns = [_columns(one) for one in made.studies]
    only = made.form.said("only")
    sections = [
        {
            "of": of,
            "agreement": comparing.agreement_table(of),
            "cross": comparing.cross_table(of, made.names),
            "lines": [
                _Line(
                    pair,
                    (
                        _pk(columns[0], made.verdicts[0], of, pair.first),
                        _pk(columns[1], made.verdicts[1], of, pair.second),
                    ),
                )
                for pair in of.pairs
                if not only or not pair.alike
            ],
        }
        for of in made.sections
    ]
    context = {
        "study": study,
        "form": made.form,
        "words": study.scheme.parsed.words,
        "names": made.names,
        "studies": made.studies,
        "sections": sections,
        "endings": files.ENDINGS,
        "query": request.GET.urlencode(),
    }
    return render(request, "recipes/verdict_compare.html", context)


def _was_read(made: _Made, *, what: str, by: User) -> None:
    """Both sides, of whichever studies they are, and what examiners say of them."""
    for one, verdict in zip(made.studies, made.verdicts, strict=True):
        hiring.note_look(slug=one.slug, what=what, by=by)
        examination_was_read(verdict, what=what, by=by)


Columns = dict[tuple[str, str, int], int]


def _columns(study: Study) -> Columns:
    found = Column.objects.filter(sheet__study=study)
    return {
        (sheet, section, position): pk
        for sheet, section, position, pk in found.values_list("sheet__title", "section__key", "position", "pk")
    }


def _pk(columns: Columns, verdict: VerdictData, of: Compared, item: Item | None) -> int | None:
    if item is None:
        return None
    entry = verdict.data.table.columns[item.column]
    return columns.get((verdict.data.sheets[item.recipe], of.key, entry.position))


@require_GET
@for_roles(Role.RESEARCHER, Role.MANAGER)
def download(request: AppRequest, study: Study, ending: str) -> HttpResponse:
    """The comparison as CSV, XLSX, JSON or LaTeX."""
    if ending not in files.ENDINGS:
        raise Http404
    made = _made(request, study)
    if made is None:
        sentence = _("Nothing is downloaded, since it is not known which two verdicts are compared.")
        return HttpResponseBadRequest(sentence, content_type="text/plain; charset=utf-8")
    about = [(_("One side"), made.names[0]), (_("The other side"), made.names[1])]
    contents = comparing.contents_of(made.sections, made.names, about)
    _was_read(made, what=TestLook.What.DOWNLOAD, by=request.user)
    for one in made.studies:
        note_looks(sheets=one.sheets.all(), user=request.user)
    if len({one.pk for one in made.studies}) > 1:  # a sheet of labels would have those of one side
        content = tables_file(contents, ending)
    else:
        table = made.verdicts[0].data.table
        content = files.content(ending, contents, table, origin_of(None, table, contents, Filters()))
    return files.response(content, ending, f"{study.slug}-compared-{timezone.localdate().isoformat()}")
