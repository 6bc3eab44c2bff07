from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms.fields import field_of
from annotation.models import Study
from recipes.benchmark import lists, queries
from recipes.benchmark.files import FileRefused, SampleSpec, sampled
from recipes.benchmark.instructions import InstructionsRefused, read_instructions

SHIPPED, OWN = "shipped", "own"
_LARGEST = 2_000_000  # bytes


class InstructionsForm(forms.Form):
    """Instructions: the list that comes with the scheme, one that is typed or pasted, or a file."""

    which = forms.ChoiceField(label=_("List"), widget=forms.RadioSelect)
    text = forms.CharField(
        label=_("Your own"),
        required=False,
        max_length=_LARGEST,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text=_(
            "A line of headings, the facets of rows, and an instruction a line; or YAML, “cross:” with a list of words "
            "for each facet, each with each."
        ),
    )
    file = forms.FileField(label=_("or a file"), required=False, help_text=_("The same, as CSV, TSV or YAML."))
    size = forms.IntegerField(
        label=_("Only so many"),
        required=False,
        min_value=1,
        help_text=_("Drawn by the seed, the sheets in turn. All, where it is empty."),
    )
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31, initial=1)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.scheme = study.scheme.parsed
        self.shipped = lists.list_for(study.scheme.slug)
        choices = [(OWN, _("my own, below"))]
        if self.shipped is not None:
            choices.insert(0, (SHIPPED, _("the one that comes with the scheme")))
        field_of(self, "which", forms.ChoiceField).choices = choices
        self.initial.setdefault("which", choices[0][0])
        facets = self.scheme.benchmark.instruction if self.scheme.benchmark else ()
        self.fields["text"].widget.attrs["placeholder"] = ",".join(facets) + "\n…"

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        at = "which"
        if cleaned["which"] == SHIPPED:
            assert self.shipped is not None
            text = self.shipped.read_text(encoding="utf-8")
        else:
            file, at = cleaned["file"], "text"
            if bool(cleaned["text"].strip()) == bool(file):
                raise forms.ValidationError(_("Write instructions or choose a file: one of the two."))
            text = cleaned["text"] if file is None else self._read(file)
        try:
            found = read_instructions(text, self.scheme)
            if cleaned["size"]:
                by = (self.scheme.benchmark.sheets,) if self.scheme.benchmark and self.scheme.benchmark.sheets else ()
                found = sampled(found, SampleSpec(size=cleaned["size"], by=by, seed=cleaned["seed"]))
            cleaned["instructions"] = found
        except (InstructionsRefused, FileRefused) as refused:
            self.add_error(at, str(refused))
        return cleaned

    @staticmethod
    def _read(file: Any) -> str:
        if file.size > _LARGEST:
            raise forms.ValidationError(_("A list has at most 2 MB."))
        try:
            text: str = file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise forms.ValidationError(_("The file is not in UTF-8.")) from error
        return text


class WordsForm(forms.Form):
    """Which texts are looked at: those with a word at a facet, or all; and which words are left out."""

    facet = forms.ChoiceField(label=_("Facet"), required=False)
    word = forms.CharField(label=_("Word"), required=False, max_length=200)
    without = forms.ChoiceField(label=_("Left out"), required=False)

    COMMON = "common"

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        shown = study.scheme.parsed.row.shown
        of = study.scheme.parsed.benchmark
        titles = {facet.key: facet.name for facet in study.scheme.parsed.row.facets}
        self.names = titles[queries.named_by(of)] if of else ""
        field_of(self, "without", forms.ChoiceField).choices = [
            ("", _("stop words, and the words of “%(facet)s”") % {"facet": self.names}),
            (self.COMMON, _("also the words of any list of steps, and all names of instructions")),
        ]
        field_of(self, "facet", forms.ChoiceField).choices = [
            ("", _("all texts")),
            *((facet.key, facet.name) for facet in shown),
        ]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors and cleaned["facet"]:
            cleaned["words"] = queries.words_of_facet(self.study, cleaned["facet"])
        return cleaned

    @property
    def chosen(self) -> dict[str, str]:
        facet, word = self.cleaned_data.get("facet"), self.cleaned_data.get("word")
        return {facet: word} if facet and word else {}

    @property
    def without_common(self) -> bool:
        return self.is_valid() and self.cleaned_data["without"] == self.COMMON
