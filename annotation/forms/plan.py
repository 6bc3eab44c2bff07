"""The manager's form of a plan: who labels what."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation import actions, doors, queries
from annotation.forms.fields import field_of
from annotation.forms.many import ManyField
from annotation.models import Plan, Rater, Row, Sheet, Study, User
from annotation.models.people import RaterQuerySet
from annotation.planning import BY_SHEET, Design, ImpossibleDesign, OverlapRequest, RowChoice, balanced_design
from annotation.planning.sampling import Sample
from annotation.queries import Given, SheetToPlan
from annotation.queries.plan_picture import Spread, rating_spread
from annotation.scheme.spec import Kind, SchemeSpec, Words
from base.sentences import Sentence, gettext_noop

MOST_SEED = 2**31 - 1
_NO_WORD = "-"  # in a form, where a facet has no word
_BOXES = 12  # at most as many boxes to tick; a list to choose from beyond


class RatersField(ManyField):
    """Raters by code and name, as the board has them."""

    def label_from_instance(self, obj: Rater) -> str:
        return f"{obj.code} · {obj.user.username}" if obj.user else obj.code


class SheetsField(ManyField):
    """Sheets with the number of their rows that are free."""

    words = Words()
    counts: dict[int, SheetToPlan]

    def label_from_instance(self, sheet: Sheet) -> str:
        count = self.counts[sheet.pk]
        sentence = ngettext(
            "%(title)s · %(free)s of %(n)s %(row)s free", "%(title)s · %(free)s of %(n)s %(rows)s free", count.rows
        )
        return sentence % {"title": sheet.title, "free": count.free, "n": count.rows, **self.words.model_dump()}


def sheets_of(sheets: QuerySet[Sheet], keys: Collection[int], every: Iterable[int]) -> QuerySet[Sheet]:
    """Of all sheets those with these keys, by whichever list is shorter: that of thousands takes longer than its
    answer."""
    others = {pk for pk in every if pk not in keys}
    return sheets.exclude(pk__in=others) if len(others) < len(keys) else sheets.filter(pk__in=keys)


ALL_GIVEN = gettext_noop(
    "All %(rows)s of these %(sheets)s are given to people already. Tick no raters to give them to a "
    "judge, hand work on by “Reassign work”, or give them to more people by “More raters”."
)


def in_words_of(study: Study, sentence: Sentence) -> str:
    return gettext(sentence.template) % {**study.scheme.parsed.words.model_dump(), **dict(sentence.numbers)}


def one_by_one(raters: RaterQuerySet, crowd: Collection[int]) -> RaterQuerySet:
    """Without those of a crowd, where they are many: their link gives them what they label."""
    return raters.of_no_crowd() if crowd else raters


class PlanForm(forms.Form):
    """What the planner is asked for.

    Offers active people with an open account who are not paused, the judges that can work here, and the sheets on which
    somebody of them can be given something.
    """

    raters = RatersField(Rater.objects.none(), label=_("Raters"), widget=forms.CheckboxSelectMultiple, required=False)
    sheets = SheetsField(Sheet.objects.none(), label=_("Sheets"), widget=forms.CheckboxSelectMultiple)
    sections = forms.MultipleChoiceField(label=_("Sections"), widget=forms.CheckboxSelectMultiple)
    raters_per_sheet = forms.IntegerField(label=_("Raters per sheet"), min_value=1, max_value=100)
    share_twice = forms.IntegerField(label=_("Labelled twice (%)"), min_value=0, max_value=100)
    share_thrice = forms.IntegerField(
        label=_("Labelled three times (%)"), min_value=0, max_value=100, initial=0, required=False
    )
    raters_per_row = forms.ChoiceField(
        required=False, help_text=_("Where the same number is chosen for all, the shares do not count.")
    )
    own_order = forms.BooleanField(
        label=_("Each rater in an order of their own"),
        required=False,
        initial=True,
        help_text=_("Drawn from the seed and kept. Otherwise everybody sees the order of the sheet."),
    )
    kappa = forms.DecimalField(
        label=_("Agreement to expect (κ)"),
        min_value=0,
        max_value=0.98,
        decimal_places=2,
        initial="0.70",
        required=False,
        help_text=_("Changes the expected interval alone."),
    )
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=MOST_SEED, initial=1, help_text=_("The same seed gives the same plan.")
    )

    EVERYBODY = "all"  # of the sheet
    MOST_PER_ROW = 10  # people, but for all of a sheet

    class Judged(forms.ChoiceField):
        """What a judge labels."""

        NOTHING, SHARED, ALL = "", "shared", "all"

    def __init__(self, *args: Any, study: Study, deviation: float | None = None, **kwargs: Any) -> None:
        """`deviation`: of ratings, as it was when the plan was shown that is to be applied."""
        super().__init__(*args, **kwargs)
        self._deviation = deviation
        scheme = study.scheme.parsed
        words = scheme.words
        self.crowd = queries.of_crowd(study)
        raters = one_by_one(study.raters.plannable(), self.crowd).select_related("user")
        self.judges = doors.judge_names(study)
        self.study = study
        self.given_to_judges = queries.given_to_judges(study)
        every = [section.key for section in scheme.sections]
        labelled_by: Counter[str] = Counter()
        for code, sections, n in self.given_to_judges:
            labelled_by[code] += n * all(queries.asks(sections, section) for section in every)
        self.work = queries.work_given(study)
        all_rows = sum(count.rows for count in self.work.sheets.values())
        judges_lack = any(labelled_by[judge] < all_rows for judge in self.judges)
        self.counts = {pk: count for pk, count in self.work.sheets.items() if count.free or judges_lack}
        sheets = sheets_of(study.sheets.order_by("position"), self.counts, self.work.rows.sheets)
        field_of(self, "raters", forms.ModelChoiceField).queryset = raters
        of_sheets = field_of(self, "sheets", SheetsField)
        of_sheets.queryset, of_sheets.words, of_sheets.counts = sheets, words, self.counts
        of_sheets.label = words.sheets.capitalize()
        self.fields["raters_per_sheet"].label = _("Raters per %(sheet)s") % {"sheet": words.sheet}
        self.fields["raters_per_row"].label = _("Raters per %(row)s") % {"row": words.row}
        field_of(self, "raters_per_row", forms.ChoiceField).choices = [
            ("", _("one, two or three, by the shares")),
            (self.EVERYBODY, _("all raters of the %(sheet)s") % {"sheet": words.sheet}),
            *((n, n) for n in range(1, self.MOST_PER_ROW + 1)),
        ]
        self.section_keys = [section.key for section in scheme.sections]
        if len(self.section_keys) > 1:
            field_of(self, "sections", forms.ChoiceField).choices = [
                (section.key, section.title) for section in scheme.sections
            ]
        else:
            del self.fields["sections"]
        for n, judge in enumerate(self.judges):
            self.fields[f"judge_{n}"] = self.Judged(
                label=_("Judge “%(name)s” labels") % {"name": judge},
                required=False,
                choices=[
                    (self.Judged.NOTHING, _("nothing for now")),
                    (self.Judged.SHARED, _("the %(rows)s that several people label") % {"rows": words.rows}),
                    (self.Judged.ALL, _("every %(row)s") % {"row": words.row}),
                ],
            )
        self._add_choice(scheme)
        self.order_fields([name for name in self.fields if name not in ("own_order", "kappa", "seed")])
        # A plan that can be drawn to begin with: one rater alone can label nothing twice, and of few sheets each goes
        # to so many that everybody gets something.
        everybody = list(raters.order_by().values_list("pk", flat=True))
        self.has_raters = bool(everybody)
        alone = len(everybody) < 2
        free = [pk for pk, count in self.counts.items() if count.free]
        self.initial = {
            "raters": everybody,
            "sheets": free,
            "sections": self.section_keys,
            "raters_per_sheet": 1 if alone else min(100, max(2, math.ceil(len(everybody) / max(1, len(free))))),
            "share_twice": 0 if alone else 50,
            # Where there are no people to plan for, the judges are who is left.
            **{f"judge_{n}": "" if everybody else self.Judged.ALL for n in range(len(self.judges))},
            **self.initial,
        }

    def _add_choice(self, scheme: SchemeSpec) -> None:
        """Which rows the plan is about: a list for each facet that has several words, and a sample. One query where the
        scheme has facets of rows, hidden ones too: managers may see them."""
        words = scheme.words
        facets = scheme.row.facets
        rows = Row.objects.filter(sheet__in=self.counts)
        found = queries.facet_words(rows, [facet.key for facet in facets])
        for facet in facets:
            if said := found.get(facet.key):
                self.fields[f"facet.{facet.key}"] = forms.MultipleChoiceField(
                    label=facet.name,
                    choices=[(word or _NO_WORD, word or _("without one")) for word in said],
                    widget=forms.CheckboxSelectMultiple if len(said) <= _BOXES else forms.SelectMultiple,
                    required=False,
                )
        self.fields["size"] = forms.IntegerField(
            label=_("How many %(rows)s are drawn") % words.model_dump(),
            min_value=1,
            required=False,
            widget=forms.NumberInput(attrs={"placeholder": _("all")}),
            help_text=_("By the seed. The same seed with a larger number adds to what is drawn."),
        )
        if any(question.kind == Kind.SCALE for section in scheme.sections for question in section.questions):
            self.fields["within"] = forms.DecimalField(
                label=_("… or as many as let the mean rating be known to ±"),
                min_value=Decimal("0.01"),
                max_digits=5,
                decimal_places=2,
                required=False,
                widget=forms.NumberInput(attrs={"step": "0.05"}),
                help_text=_("Half of its 95 % interval: of all, or of each group. One rating of each is counted on."),
            )
        self.fields["each"] = forms.ChoiceField(
            label=_("So many"),
            choices=[("", _("in all, each group by its size")), ("each", _("of each group"))],
            required=False,
        )
        self.fields["by"] = forms.MultipleChoiceField(
            label=_("Groups"),
            choices=[*((facet.key, facet.name) for facet in facets), (BY_SHEET, words.sheet.capitalize())],
            widget=forms.CheckboxSelectMultiple,
            required=False,
        )

    @property
    def of_choice(self) -> list[forms.BoundField]:
        """The fields that say which rows the plan is about."""
        return [
            field for field in self if field.name in ("size", "within", "each", "by") or field.name.startswith("facet.")
        ]

    @property
    def narrows(self) -> bool:
        """Whether anything is asked of the rows, sensible or not."""
        return any(self.data.get(field.html_name) for field in self.of_choice)

    @property
    def of_design(self) -> list[forms.BoundField]:
        choice = {field.name for field in self.of_choice}
        return [field for field in self if field.name not in choice]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if (cleaned.get("size") or cleaned.get("within")) and cleaned.get("each") and not cleaned.get("by"):
            self.add_error("by", _("Say of which groups, or draw so many in all."))
        if cleaned.get("size") and cleaned.get("within"):
            self.add_error("within", _("Give a number, or what is to be known, not both."))
        if not cleaned.get("raters") and not any(cleaned.get(f"judge_{n}") for n in range(len(self.judges))):
            self.add_error("raters", _("Choose somebody who labels: people, a judge, or both."))
        return cleaned

    @property
    def chosen_sections(self) -> list[str]:
        """Keys as assignments store them: none means all."""
        chosen = self.cleaned_data.get("sections", self.section_keys)
        return [] if len(chosen) == len(self.section_keys) else list(chosen)

    @cached_property
    def choice(self) -> RowChoice | None:
        """Which rows the plan is about; None means all."""
        data = self.cleaned_data
        chosen = {name.removeprefix("facet."): data[name] for name in data if name.startswith("facet.") and data[name]}
        choice = RowChoice(
            words={facet: tuple("" if word == _NO_WORD else word for word in words) for facet, words in chosen.items()},
            size=data["size"],
            within=float(data["within"]) if data.get("within") else None,
            deviation=self.deviation,
            each=bool(data["each"]),
            by=tuple(data["by"]),
            seed=data["seed"],
        )
        return choice if choice.narrows else None

    @property
    def deviation(self) -> float:
        """Of ratings: what a preview counted with, where its plan is applied, so that people who label meanwhile do not
        move it; else as they lie now."""
        if not self.cleaned_data.get("within"):
            return 0.0
        if self._deviation is not None:
            return self._deviation
        return self.spread.deviation if self.spread else 0.0

    @cached_property
    def spread(self) -> Spread | None:
        """How far ratings lie apart, where the sample is sized by what is to be known. At most six queries."""
        return rating_spread(self.study) if self.cleaned_data.get("within") else None

    @cached_property
    def sample(self) -> Sample | None:
        """The rows that the choice draws, free or not; None where the plan is about all. One query."""
        return queries.sample(self.cleaned_data["sheets"], self.choice) if self.choice else None

    @cached_property
    def free(self) -> list[list[int]]:
        """The numbers of the free rows of each sheet that was chosen. Two queries."""
        sheets = self.cleaned_data["sheets"]
        # Of those that were there when the rest was read: what is drawn is counted by their sheets.
        free = queries.free_rows(sheets, self.chosen_sections, among=self.work.rows.to_label)
        return [free.get(sheet.pk, []) for sheet in sheets]

    @cached_property
    def rows(self) -> list[list[int]]:
        """Of the free rows those that the plan is about."""
        if self.sample is None:
            return self.free
        return [[row_id for row_id in of_sheet if row_id in self.sample.rows] for of_sheet in self.free]

    @property
    def standing(self) -> list[Given]:
        """The seats of people before the plan."""
        return self.work.seats

    @property
    def digest(self) -> str:
        """Stands for all that the design follows from: the same digest is the same plan."""
        request = self.overlap_request()
        data = self.cleaned_data
        drawn = [
            [rater.pk for rater in data["raters"]],
            self.rows,
            [request.raters_per_sheet, str(request.share_twice), str(request.share_thrice), request.seed],
            request.raters_per_row,
            [self.chosen_sections, data["own_order"]],
            [data[f"judge_{n}"] for n in range(len(self.judges))],
            request.standing,
        ]
        if self.sample is not None and self.choice is not None:
            drawn.append(sorted(self.sample.rows))  # judges label those of them that people have, too
            drawn.append([self.choice.deviation])
        return hashlib.sha256(json.dumps(drawn).encode()).hexdigest()

    def overlap_request(self) -> OverlapRequest:
        data = self.cleaned_data
        per_row = data["raters_per_row"]
        rows = Counter(seat.rater_id for seat in self.standing)
        return OverlapRequest(
            raters=len(data["raters"]),
            sheets=tuple(map(len, self.rows)),
            raters_per_sheet=data["raters_per_sheet"],
            share_twice=Fraction(data["share_twice"], 100),
            share_thrice=Fraction(data["share_thrice"] or 0, 100),
            seed=data["seed"],
            standing=tuple(rows[rater.pk] for rater in data["raters"]),
            raters_per_row=data["raters_per_sheet"] if per_row == self.EVERYBODY else int(per_row or 0),
        )

    def design(self) -> Design | None:
        """Who of the people labels what; None where the plan is one for judges alone.

        Raises:
            ImpossibleDesign: nothing is left to give, or no design can be what is asked.
        """
        if not self.cleaned_data["raters"]:
            return None
        if self.choice is not None and any(self.free) and not any(self.rows):
            raise ImpossibleDesign(
                gettext_noop("All %(rows)s that this chooses have somebody already, or there are none.")
            )
        if not any(self.free) and any(self.counts[sheet.pk].rows for sheet in self.cleaned_data["sheets"]):
            raise ImpossibleDesign(ALL_GIVEN)
        return balanced_design(self.overlap_request())

    def apply(self, design: Design | None, judges: Mapping[str, Sequence[int]], *, by: User) -> Plan:
        """Assign what was drawn. Raises `Refused` as `actions.apply_design` does."""
        return actions.apply_design(
            study=self.study,
            design=design,
            request=self.overlap_request(),
            raters=list(self.cleaned_data["raters"]),
            sheets=list(self.cleaned_data["sheets"]),
            by=by,
            rows=self.rows,
            sections=self.chosen_sections,
            own_order=self.cleaned_data["own_order"],
            choice=self.choice,
            judges=judges,
        )

    def new_seats(self, design: Design | None) -> list[Given]:
        """The seats that the design makes, of people."""
        if design is None:
            return []
        raters, sections = list(self.cleaned_data["raters"]), tuple(self.chosen_sections)
        return [Given(self.rows[sheet][row], raters[rater].pk, sections) for sheet, row, rater in design.assignments]

    def seats_after(self, new: list[Given]) -> list[Given]:
        """The seats of people once the plan is applied."""
        return queries.seats_after(self.standing, new)

    def rows_of_judges(self, after: list[Given]) -> dict[str, list[int]]:
        """What each judge gets of the chosen sheets, besides what it has. Two queries, where one gets anything.

        `after`: the seats of people once the plan is applied.
        """
        if not any(self.cleaned_data[f"judge_{n}"] for n in range(len(self.judges))):
            return {}
        sections = self.chosen_sections or self.section_keys
        people: dict[int, set[int]] = {}
        for seat in after:
            if any(queries.asks(seat.sections, section) for section in sections):
                people.setdefault(seat.row_id, set()).add(seat.rater_id)
        every = queries.rows_to_label(self.cleaned_data["sheets"])
        if self.sample is not None:
            every = [row_id for row_id in every if row_id in self.sample.rows]
        have = queries.rows_of_judges(self.study, sections)
        given = {}
        for n, judge in enumerate(self.judges):
            if chosen := self.cleaned_data[f"judge_{n}"]:
                given[judge] = [
                    row_id
                    for row_id in every
                    if row_id not in have[judge] and (chosen == self.Judged.ALL or len(people.get(row_id, ())) > 1)
                ]
        return given
