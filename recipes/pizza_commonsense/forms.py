from __future__ import annotations

import re
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.utils.translation import gettext_lazy as _

from annotation.exchange.workbooks import is_workbook
from annotation.forms.fields import field_of
from annotation.models import Rater, Study
from base.text import UNSTORABLE
from recipes.pizza_commonsense import examples, sheets
from recipes.pizza_commonsense.clusters import ALL, APART, CHANCE, DEV, TEST, TRAIN, WITHIN
from recipes.pizza_commonsense.exporting import Wanted
from recipes.pizza_commonsense.records import Table, TablesRefused, read_json_lines, text_of, without_underscores
from recipes.pizza_commonsense.training import MOST_DEMONSTRATIONS, Masks

MAX_BYTES = 8_000_000
# Recipes that somebody waits for: a sheet, and the answers in its cells, take some hundredths of a second each.
AT_ONCE = 20
_BULLETS = "-–—•* "  # a word processor makes a dash of a hyphen
_HEADINGS = {*sheets.COLUMNS, *sheets.ALSO}
WAYS = [
    (WITHIN, _("each cluster gives to each part (the paper's)")),
    (APART, _("whole clusters go to one part")),
    (CHANCE, _("by chance")),
]


def read_tables(data: bytes, name: str = "") -> list[Table]:
    """The tables of a file in any of the forms: JSON lines or a JSON list, CSV or TSV, a workbook, or plain
    instructions.

    Args:
        name: what sentences call the file, if it has one.
    Raises:
        TablesRefused: with a sentence.
    """
    if is_workbook(data):
        return sheets.read(data, name)
    text = text_of(data)
    if UNSTORABLE.search(text):
        raise TablesRefused(str(_("The file holds a character that is no text.")))
    if text.lstrip()[:1] in ("{", "["):
        return read_json_lines(text)
    headings = {cell.strip().strip('"').casefold() for cell in re.split(r"[,;\t|]", text.split("\n", 1)[0])}
    if (headings & {"recipe", "title"} and len(headings & _HEADINGS) > 1) or sheets.looks_like_one(text):
        return sheets.read(text.encode(), name)
    return pasted(text)


def pasted(text: str) -> list[Table]:
    """Recipes as they are typed: a title, then a line for each instruction; an empty line ends a recipe. Lines that
    begin with a hyphen are ingredients."""
    tables = []
    for block in (part.strip() for part in text.replace("\r\n", "\n").split("\n\n")):
        lines = [" ".join(line.split()) for line in block.split("\n") if line.strip()]
        if not lines:
            continue
        ingredients = tuple(line.lstrip(_BULLETS) for line in lines[1:] if line[0] in _BULLETS)
        instructions = tuple(without_underscores(line) for line in lines[1:] if line[0] not in _BULLETS)
        if not instructions:
            raise TablesRefused(str(_("“%(title)s” has no instructions below its title.") % {"title": lines[0][:80]}))
        tables.append(Table(without_underscores(lines[0]), "", instructions, {}, ingredients))
    if not tables:
        raise TablesRefused(str(_("There is nothing to read.")))
    return tables


class TablesForm(forms.Form):
    """Recipes or whole tables, pasted or in a file."""

    text = forms.CharField(
        label=_("Recipes"),
        required=False,
        max_length=MAX_BYTES,
        widget=forms.Textarea(
            attrs={
                "rows": 9,
                "placeholder": "White pizza\n- 1 cup flour\n- 2 oz mozzarella\nMix flour and water.\nBake.",
            }
        ),
        help_text=_("The title, ingredients behind hyphens, an instruction a line; an empty line ends a recipe."),
    )
    file = forms.FileField(
        label=_("or a file"),
        required=False,
        help_text=_("JSON lines as published, CSV or XLSX as downloaded here, or the same as text."),
    )
    rater = forms.SlugField(
        label=_("Whose answers"),
        max_length=60,
        initial="gold",
        help_text=_("“gold”, or the name of a system whose tables these are. Only where the file has answers."),
    )
    example = forms.BooleanField(
        label=_("Fill in first lines without food"),
        required=False,
        help_text=_(
            "The rater “example” answers them with NA, as in “preheat the oven”; people get it by “Start from another "
            "rater's answers” under “Plan”."
        ),
    )
    replace = forms.BooleanField(label=_("Answers that differ replace those imported before"), required=False)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        file = cleaned["file"]
        if bool(cleaned["text"].strip()) == bool(file):
            raise forms.ValidationError(_("Paste recipes or choose a file: one of the two."))
        if file:
            _refuse_too_large(file)
        if self.large is not None:
            return cleaned  # a worker reads it
        try:
            if file:
                cleaned["tables"] = read_tables(file.read(), file.name or "")
            else:
                cleaned["tables"] = read_tables(cleaned["text"].encode(), str(_("pasted text")))
        except TablesRefused as refused:
            self.add_error("file" if file else "text", str(refused))
        return cleaned

    @property
    def large(self) -> UploadedFile[bytes] | None:
        """The file, or the text as one, where a page would have to wait for it for long."""
        file, text = self.cleaned_data["file"], self.cleaned_data["text"].encode()
        size = file.size or 0 if file else len(text)
        if size <= settings.PALATE_IMPORT_AT_ONCE and len(self.cleaned_data.get("tables", ())) <= AT_ONCE:
            return None
        return file or SimpleUploadedFile(str(_("pasted text")), text)

    @property
    def how(self) -> dict[str, Any]:
        """What of the form `actions.import_tables` takes."""
        said = self.cleaned_data
        return {"rater": said["rater"], "kind": self.kind, "example": said["example"], "replace": said["replace"]}

    @property
    def kind(self) -> str:
        return Rater.Kind.GOLD if self.cleaned_data["rater"] == "gold" else Rater.Kind.JUDGE


class SystemForm(forms.Form):
    """What a system elsewhere wrote of the tables of a study: JSON lines with an id and the text."""

    predictions = forms.FileField(
        label=_("Predictions"), help_text=_("JSON lines with “id” and “output”, the text that the system wrote.")
    )
    system = forms.SlugField(label=_("System"), max_length=60)
    replace = forms.BooleanField(label=_("Answers that differ replace those imported before"), required=False)

    def clean_predictions(self) -> UploadedFile[bytes]:
        file: UploadedFile[bytes] = self.cleaned_data["predictions"]
        _refuse_too_large(file)
        return file


def _refuse_too_large(file: UploadedFile[bytes]) -> None:
    if (file.size or 0) > settings.PALATE_MAX_IMPORT_BYTES:
        raise forms.ValidationError(
            _("The file has more than %(mb)s MB. Use the command pizza_tables.")
            % {"mb": settings.PALATE_MAX_IMPORT_BYTES // 2**20}
        )


class ExportForm(forms.Form):
    """What is downloaded: whose answers, in which form, with which masks."""

    FORMS = [
        ("jsonl", _("JSON lines as published")),
        ("csv", _("CSV")),
        ("xlsx", _("XLSX")),
        ("txt", _("serialised, as models read it")),
        ("chat", _("training data: chat")),
        ("text", _("training data: text to text")),
        ("t5", _("training data: text to text, with T5's masks")),
        ("requests", _("requests without targets: chat")),
    ]
    rater = forms.ChoiceField(label=_("Answers of"), required=False)
    form = forms.ChoiceField(label=_("Form"), choices=FORMS)
    masks = forms.ChoiceField(
        label=_("Masked"),
        required=False,
        choices=[
            (Masks.ALL, _("all inputs and outputs")),
            (Masks.INPUTS, _("all inputs")),
            (Masks.OUTPUTS, _("all outputs")),
            (Masks.LINES, _("step by step")),
            (Masks.CELLS, _("one cell at a time")),
            (Masks.SOME, _("a quarter, drawn")),
            ("none", _("nothing")),
        ],
        help_text=_("Of serialised tables, training data and requests."),
    )
    seed = forms.IntegerField(
        label=_("Seed"), required=False, initial=1, help_text=_("By which masks and demonstrations are drawn.")
    )
    part = forms.ChoiceField(
        label=_("Part"),
        required=False,
        choices=[
            (ALL, _("all tables")),
            (TRAIN, _("for training")),
            (DEV, _("for validation")),
            (TEST, _("for testing")),
        ],
        help_text=_("Of the split that the next two say; the same parts as the split that is downloaded."),
    )
    way = forms.ChoiceField(label=_("Way to split"), required=False, choices=WAYS)
    split_seed = forms.IntegerField(label=_("Seed of the split"), required=False, initial=1)
    demonstrations = forms.IntegerField(
        label=_("Demonstrations"),
        required=False,
        initial=0,
        min_value=0,
        max_value=MOST_DEMONSTRATIONS,
        help_text=_(
            "Of requests: other tables with their answers before each, drawn for it from the part for training."
        ),
    )
    thinking = forms.BooleanField(
        label=_("Ask to think step by step first"), required=False, help_text=_("Of requests.")
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        codes = [rater.code for rater in study.raters.order_by("kind", "code")]
        field_of(self, "rater", forms.ChoiceField).choices = [
            ("", _("nobody: open tables")),
            *((code, code) for code in codes),
        ]
        if "gold" in codes:
            self.fields["rater"].initial = "gold"

    @property
    def wanted(self) -> Wanted:
        """What is asked for; what is left empty is as it is by default."""
        said = {key: value for key, value in self.cleaned_data.items() if key != "rater" and value not in ("", None)}
        return Wanted(**said)


class SplitForm(forms.Form):
    """How recipes are split into parts."""

    way = forms.ChoiceField(label=_("Way"), choices=WAYS)
    seed = forms.IntegerField(label=_("Seed"), initial=1)


class ExamplesForm(forms.Form):
    """Whose lines are shown beside what is right, and which of them."""

    truth = forms.ChoiceField(label=_("What is right"), help_text=_("Answers of this rater"))
    systems = forms.MultipleChoiceField(
        label=_("Held against it"), widget=forms.CheckboxSelectMultiple, help_text=_("People, judges, and systems")
    )
    which = forms.ChoiceField(
        label=_("Lines"),
        choices=[
            (examples.ANY, _("on which one of them is wrong")),
            (examples.ALL, _("on which all of them are wrong")),
            (examples.OPEN, _("of which one of them left a cell open")),
        ],
        initial=examples.ANY,
    )
    n = forms.IntegerField(label=_("How many"), min_value=1, max_value=200, initial=10)
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31 - 1, initial=1)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        codes = study.raters.filter(assignments__isnull=False).distinct().order_by("kind", "code")
        known = [(rater.code, rater.code) for rater in codes]
        for name in ("truth", "systems"):
            field_of(self, name, forms.ChoiceField).choices = known
        self.fields["truth"].initial = "gold" if ("gold", "gold") in known else None

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if said.get("truth") and said["truth"] in said.get("systems", ()):
            self.add_error("systems", _("Who is right cannot be held against it as well."))
        return said


class StatisticsForm(SplitForm):
    """Of whose answers a corpus is, and the split whose parts are held against each other."""

    rater = forms.ChoiceField(label=_("Answers of"))
    field_order = ["rater", "way", "seed"]

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        codes = [rater.code for rater in study.raters.order_by("kind", "code")]
        field_of(self, "rater", forms.ChoiceField).choices = [
            ("", _("nobody: open tables")),
            *((code, code) for code in codes),
        ]
        self.fields["rater"].required = False
