from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpResponse, HttpResponseBadRequest
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation import doors
from annotation.forms.fields import field_of
from annotation.models import Rater, Study
from annotation.scheme.spec import Kind, QuestionSpec, SchemeSpec, SectionSpec
from annotation.scheme.words import Words
from base.text import natural
from judges.calibrations.queries import calibrations_in
from judges.lineage.queries import has_shown_rows
from judges.models import FittedCalibration, Judge
from llm import encoders
from reports import queries
from reports.data.arrays import (
    ABILITIES,
    DAWID_SKENE,
    INCLUDE,
    LEAVE_OUT,
    MAJORITY,
    PEOPLE,
    TOLD_APART,
    Filters,
    as_moment,
    voice_of,
    worded,
)
from reports.data.texts import separator_of
from reports.live import facet_words
from reports.models import Export, Report
from reports.numbers.report import found_or_not
from reports.numbers.texts import KINDS as TEXT_KINDS
from reports.stats.bootstrap import N_DRAWS
from reports.stats.graph.agreement import THRESHOLDS
from reports.stats.text.metrics import DEFAULT, OF_LISTS, VARIANTS
from reports.words import METRICS, asked_name, cap, code_of

_NO_WORD = "-"  # in a query, where a facet has no word
_THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_BOXES = 30  # at most as many boxes to tick; a list to choose from beyond


def _number(default: int) -> forms.NumberInput:
    return forms.NumberInput(attrs={"placeholder": str(default)})


class DottedForm(forms.Form):
    """A form with fields of single questions, judges or facets, whose keys stand behind a dot in the fields' names. One
    of none of them is refused: who misspells a key would get everything, and take it for a part.

    Attributes:
        dotted: what stands in front of the keys, with the dot.
    """

    dotted: ClassVar[tuple[str, ...]] = ()

    def clean(self) -> None:
        known = {self.add_prefix(name) for name in self.fields}
        for name in self.data:
            if name.startswith(tuple(map(self.add_prefix, self.dotted))) and name not in known:
                self.add_error(None, _("There is nothing to choose by “%(name)s” in this study.") % {"name": name[:80]})


class _Moment(forms.DateTimeInput):
    """A browser's field of a time takes none with an offset: one that a program gave stands there as the site's."""

    def format_value(self, value: Any) -> str | None:
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is not None:
                value = timezone.make_naive(moment).isoformat(timespec="seconds")
        except (TypeError, ValueError, OverflowError):  # no text, or no time: as it was given
            pass
        return super().format_value(value)


class _Box(forms.CheckboxInput):
    """It is ticked in a form; a program writes what a switch may be."""

    _words: ClassVar[dict[str, bool]] = {
        **dict.fromkeys(("true", "1", "yes", "on", "t", "y"), True),
        **dict.fromkeys(("false", "0", "no", "off", "f", "n", ""), False),
    }

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        said = data.get(name, False)
        return self._words.get(str(said).casefold(), said)


class SwitchField(forms.BooleanField):
    """A box to tick, whose words are those of the API's other switches."""

    widget = _Box

    def to_python(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise forms.ValidationError(_("“%(said)s” is neither yes nor no.") % {"said": str(value)[:80]})
        return value


class FiltersForm(DottedForm):
    """What a report is about. Nothing chosen means everything. Six queries, one more for facets of rows unless
    `facet_words` are known: see `live.facet_words`."""

    dotted = ("facet.", "found.", "merge.", "normalisation.")

    def __init__(
        self, *args: Any, study: Study, facet_words: Mapping[str, Sequence[str]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        scheme = study.scheme.parsed
        asked = [(section, question) for section in scheme.sections for question in section.questions]
        raters = sorted(study.raters.all(), key=lambda rater: natural(rater.code))
        self._add_parts(study, raters)
        self._add_voices(raters)
        self._add_facets(study, facet_words)
        self._add_questions(scheme, asked)
        self._add_found(scheme)
        self._add_texts(study, asked)
        scored = queries.scored_judges(study)
        fitted = calibrations_in(study) if scored else {}
        self._add_normalisations(scored, fitted)
        if any(question.kind == Kind.TRANSITIONS for _section, question in asked):
            self._add_graphs()
        self._add_intervals(scheme.words)
        self._add_what_counts(study, scheme.words, has_shown=bool(fitted) or has_shown_rows(study))

    def _add_parts(self, study: Study, raters: Sequence[Rater]) -> None:
        def named(kind: Rater.Kind) -> list[tuple[str, str]]:
            return [(rater.code, code_of(rater)) for rater in raters if rater.kind == kind]

        sheets = [(str(pk), title) for pk, title in study.sheets.order_by("position").values_list("pk", "title")]
        for name, label, choices in (
            ("person", _("People"), named(Rater.Kind.PERSON)),
            ("judge", _("Judges"), named(Rater.Kind.JUDGE)),
            ("sheet", cap(study.scheme.parsed.words.sheets), sheets),
        ):
            if choices:
                widget = forms.CheckboxSelectMultiple if len(choices) <= _BOXES else forms.SelectMultiple
                self.fields[name] = forms.MultipleChoiceField(
                    label=label, choices=choices, widget=widget, required=False
                )

    def _add_voices(self, raters: Sequence[Rater]) -> None:
        voices = [
            (PEOPLE, _("anybody among people")),
            (MAJORITY, _("what most people said")),
            (DAWID_SKENE, _("people weighed by their errors (Dawid and Skene)")),
            (ABILITIES, _("people weighed by ability (item-response model)")),
            *((voice_of(rater.code), code_of(rater)) for rater in raters),
        ]
        self.fields["voice"] = forms.MultipleChoiceField(
            label=_("Selections and coverage of"),
            choices=voices,
            widget=forms.CheckboxSelectMultiple if len(voices) <= _BOXES else forms.SelectMultiple,
            required=False,
        )

    def _add_questions(self, scheme: SchemeSpec, asked: Sequence[tuple[SectionSpec, QuestionSpec]]) -> None:
        if len(asked) > 1:
            self.fields["question"] = forms.MultipleChoiceField(
                label=_("Questions"),
                choices=[(f"{s.key}.{q.key}", asked_name(scheme, s, q)) for s, q in asked],
                widget=forms.CheckboxSelectMultiple,
                required=False,
            )
        for section, question in asked:
            if question.merges:
                self.fields[f"merge.{section.key}.{question.key}"] = forms.ChoiceField(
                    label=_("Options of “%(question)s”") % {"question": asked_name(scheme, section, question)},
                    choices=[
                        ("", _("as the scheme says")),
                        (TOLD_APART, _("all told apart")),
                        *((merge.key, merge.title) for merge in question.merges),
                    ],
                    required=False,
                )

    def _add_found(self, scheme: SchemeSpec) -> None:
        for section in scheme.sections:
            if not any(found_or_not(question) for question in section.questions):
                continue
            for question in section.questions:
                real = [option for option in question.options if not option.blank]
                if question.kind == Kind.CHOICE:
                    self.fields[f"found.{section.key}.{question.key}"] = forms.MultipleChoiceField(
                        label=_("Counts as found, “%(question)s”")
                        % {"question": asked_name(scheme, section, question)},
                        choices=[(option.key, option.label) for option in real],
                        widget=forms.CheckboxSelectMultiple,
                        help_text=_("Nothing ticked: “%(option)s” alone.") % {"option": real[0].label},
                        required=False,
                    )

    def _add_normalisations(self, scored: Sequence[str], fitted: Mapping[str, Sequence[FittedCalibration]]) -> None:
        for code in scored:
            self.fields[f"normalisation.{code}"] = forms.ChoiceField(
                label=_("Normalisation of %(judge)s") % {"judge": code},
                choices=[
                    ("", _("as it labelled")),
                    *Judge.Normalisation.choices,
                    *(
                        (one.key, gettext("calibration %(n)s, fitted %(day)s") % {"n": one.pk, "day": one.day})
                        for one in fitted.get(code, ())
                    ),
                ],
                required=False,
            )

    def _add_graphs(self) -> None:
        self._add_encoder(gettext("Names of things compared by"), encoders.here(), encoders.best())
        self.fields["threshold"] = forms.MultipleChoiceField(
            label=_("Alike from a cosine of"),
            choices=[(str(value), f"{value:.2f}") for value in _THRESHOLDS],
            widget=forms.CheckboxSelectMultiple,
            required=False,
        )

    def _add_intervals(self, words: Words) -> None:
        self.fields["by"] = forms.ChoiceField(
            label=_("Intervals"),
            choices=[
                ("", _("none")),
                ("document", _("resampling %(rows)s") % {"rows": words.rows}),
                ("sheet", _("resampling %(sheets)s") % {"sheets": words.sheets}),
            ],
            required=False,
        )
        self.fields["draws"] = forms.IntegerField(
            label=_("Bootstrap resamples"), min_value=100, max_value=20_000, required=False, widget=_number(N_DRAWS)
        )
        self.fields["seed"] = forms.IntegerField(
            label=_("Seed"), min_value=0, max_value=2**31 - 1, required=False, widget=_number(0)
        )

    def _add_what_counts(self, study: Study, words: Words, *, has_shown: bool) -> None:
        """`has_shown`: judges have seen rows with people's answers."""
        if earlier := study.scheme.earlier:
            self._add_wordings([*(version for version, _end in earlier[1:]), study.scheme.version])
        self.fields["as_of"] = forms.DateTimeField(
            label=_("As it stood on (time in %(zone)s)") % {"zone": timezone.get_current_timezone_name()},
            widget=_Moment(attrs={"type": "datetime-local", "step": "1"}),
            required=False,
        )
        self._began = study.created_at.replace(microsecond=0)
        self.fields["exposure"] = forms.ChoiceField(
            label=_("Non-blind labels: given after a look at others'"),
            choices=[(LEAVE_OUT, _("left out of comparisons")), (INCLUDE, _("counted like the others"))],
            required=False,
        )
        if doors.rows_apart(study):
            self.fields["apart"] = forms.ChoiceField(
                label=_("%(rows)s searched for by an item's name") % {"rows": cap(words.rows)},
                choices=[(LEAVE_OUT, _("left out")), (INCLUDE, _("counted like the others"))],
                required=False,
            )
        if has_shown:
            self.fields["seen"] = forms.ChoiceField(
                label=_("What judges say of %(rows)s that they have seen with people's answers") % {"rows": words.rows},
                choices=[("", _("counted like the others")), (LEAVE_OUT, _("left out"))],
                required=False,
            )
        self.fields["submitted"] = SwitchField(
            label=_("Only submitted %(rows)s") % {"rows": words.rows}, required=False
        )

    def clean_as_of(self) -> datetime | None:
        moment: datetime | None = self.cleaned_data["as_of"]
        if moment is not None and moment > timezone.now():
            raise forms.ValidationError(_("This moment is still to come."))
        if moment is not None and moment < self._began:
            said = _("This study began on %(began)s: nothing stood in it before.")
            raise forms.ValidationError(said % {"began": f"{timezone.localtime(self._began):%Y-%m-%d %H:%M:%S}"})
        return moment

    def clean(self) -> None:
        super().clean()
        if "wording" not in self.fields and self.data.get(self.add_prefix("wording")):
            self.add_error(None, _("What is asked in this study was never worded otherwise."))

    def _add_wordings(self, versions: Sequence[int]) -> None:
        """`versions`: of all wordings but the first."""
        *between, now = versions
        self.fields["wording"] = forms.ChoiceField(
            label=_("Labels by the wording of what is asked"),
            choices=[
                ("", _("all")),
                (worded(now, since=True), _("given under the present one, version %(version)s") % {"version": now}),
                *(
                    (worded(of, since=True), _("given from version %(version)s on") % {"version": of})
                    for of in between[::-1]
                ),
                *(
                    (worded(of, since=False), _("given before version %(version)s") % {"version": of})
                    for of in versions[::-1]
                ),
            ],
            required=False,
        )

    def _add_facets(self, study: Study, words: Mapping[str, Sequence[str]] | None) -> None:
        """A list for each facet of rows that has several words, and by which of them figures are told apart: hidden
        facets too, for who reads reports may see them."""
        facets = study.scheme.parsed.row.facets
        if not facets:
            return
        words = facet_words(study) if words is None else words
        for facet in facets:
            if several := words.get(facet.key):
                self.fields[f"facet.{facet.key}"] = forms.MultipleChoiceField(
                    label=facet.name,
                    choices=[(word or _NO_WORD, word or _("without one")) for word in several],
                    widget=forms.CheckboxSelectMultiple if len(several) <= _BOXES else forms.SelectMultiple,
                    required=False,
                )
        self.fields["group"] = forms.ChoiceField(
            label=_("Told apart by"),
            choices=[("", _("nothing")), *((facet.key, facet.name) for facet in facets)],
            required=False,
        )

    def _add_texts(self, study: Study, asked: Sequence[tuple[SectionSpec, QuestionSpec]]) -> None:
        """Where a question is answered by texts or lists: which metrics, and whose texts are the references."""
        of_texts = [question for _section, question in asked if question.kind in TEXT_KINDS]
        if not of_texts:
            return
        lists = any(separator_of(question) for question in of_texts)
        known = [key for key in VARIANTS if lists or key not in OF_LISTS]
        self.fields["metric"] = forms.MultipleChoiceField(
            label=_("Text metrics"),
            choices=[(key, METRICS[key][0]) for key in known],
            widget=forms.CheckboxSelectMultiple,
            help_text=_("Nothing ticked: %(metrics)s.")
            % {"metrics": ", ".join(str(METRICS[key][0]) for key in DEFAULT if key in known)},
            required=False,
        )
        if of_tokens := encoders.of_tokens():
            self._add_encoder(gettext("BERTScore computed with"), of_tokens, of_tokens[0])
        raters = sorted(study.raters.all(), key=lambda rater: natural(rater.code))
        if raters:
            self.fields["reference"] = forms.MultipleChoiceField(
                label=_("References of text metrics"),
                choices=[(rater.code, code_of(rater)) for rater in raters],
                widget=forms.CheckboxSelectMultiple if len(raters) <= _BOXES else forms.SelectMultiple,
                help_text=_("Nobody ticked: gold; without gold, what people wrote."),
                required=False,
            )
        self.fields["unanswered"] = SwitchField(
            label=_("Judges' cells without a text count as empty texts"), required=False
        )

    def _add_encoder(self, label: str, here: Sequence[str], first: str) -> None:
        self._first_encoder = first  # what is frozen names it: another may be the first one tomorrow
        self.fields["encoder"] = forms.ChoiceField(
            label=label,
            choices=[
                ("", _("the first that is here: %(encoder)s") % {"encoder": first}),
                *((name, gettext(encoders.encoder(name).label)) for name in here),
            ],
            required=False,
        )

    def filters(self) -> Filters:
        data = self.cleaned_data

        def chosen(prefix: str) -> dict[str, Any]:
            return {name.removeprefix(prefix): said for name, said in data.items() if name.startswith(prefix) and said}

        return Filters(
            people=tuple(data.get("person", ())),
            judges=tuple(data.get("judge", ())),
            sheets=tuple(int(pk) for pk in data.get("sheet", ())),
            questions=tuple(data.get("question", ())),
            merges=chosen("merge."),
            normalisations=chosen("normalisation."),
            submitted_only=data["submitted"],
            exposure=data["exposure"] or LEAVE_OUT,
            facets={
                name: tuple("" if word == _NO_WORD else word for word in words)
                for name, words in chosen("facet.").items()
            },
            group=data.get("group", ""),
            found={name: tuple(options) for name, options in chosen("found.").items()},
            voices=tuple(data.get("voice", ())),
            encoder=(data["encoder"] or self._first_encoder) if "encoder" in data else encoders.FALLBACK,
            thresholds=tuple(map(float, data.get("threshold", ()))) or THRESHOLDS,
            by=data["by"],
            n_draws=data["draws"] or N_DRAWS,
            seed=data["seed"] or 0,
            metrics=tuple(key for key in VARIANTS if key in data.get("metric", ())),
            references=tuple(data.get("reference", ())),
            unanswered=data.get("unanswered", False),
            apart=(data["apart"] or LEAVE_OUT) if "apart" in data else "",
            seen=data.get("seen", ""),
            wording=data.get("wording", ""),
            as_of=as_moment(data["as_of"]) if data["as_of"] else "",
        )


class FreezeForm(forms.Form):
    title = forms.CharField(label=_("Title"), max_length=200)


class CompareForm(forms.Form):
    """Another frozen report of the same study."""

    other = forms.ModelChoiceField(label=_("Compare with"), queryset=Report.objects.none())

    def __init__(self, *args: Any, report: Report, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._others = Report.objects.filter(study=report.study_id).exclude(pk=report.pk).defer("labels", "results")
        field_of(self, "other", forms.ModelChoiceField).queryset = self._others

    @property
    def has_others(self) -> bool:
        return self._others.exists()


class ExportForm(forms.Form):
    form = forms.ChoiceField(choices=Export.Form.choices)
    report = forms.ModelChoiceField(queryset=Report.objects.none(), required=False)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field_of(self, "report", forms.ModelChoiceField).queryset = Report.objects.filter(study=study)


def not_understood(*asked: forms.Form) -> HttpResponse:
    """What a download answers to a query that it does not understand: a file of everything would pass for what was
    asked for, so there is none."""
    said = [
        str(error) if name == NON_FIELD_ERRORS else f"{form.add_prefix(name)}: {error}"
        for form in asked
        for name, errors in form.errors.items()
        for error in errors
    ]
    text = [gettext("Nothing is downloaded, since these filters are not understood:"), *said]
    return HttpResponseBadRequest("\n".join(text), content_type="text/plain; charset=utf-8")
