from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.exchange.row_imports import translated
from annotation.forms.fields import field_of
from annotation.forms.many import ManyField
from annotation.models import Column, Rater, Sheet, Study, User
from base.text import UNSTORABLE
from recipes.cooking import actions
from recipes.cooking import retrieval_queries as queries
from recipes.cooking.models import Retrieval
from recipes.cooking.parsing import RecipeRefused, has_tasks, parse_recipe, recipe_of
from recipes.cooking.retrieval_queries import Asked
from recipes.cooking.taking_apart.proposing import Proposal, propose, propose_of


class TextFileField(forms.FileField):
    """A file of UTF-8 text; `cleaned_data` is the text, "" where no file was given."""

    def __init__(self, *, max_bytes: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.max_bytes = max_bytes

    def clean(self, data: Any, initial: Any = None) -> str:
        file = super().clean(data, initial)
        if not file:
            return ""
        if file.size > self.max_bytes:
            raise forms.ValidationError(
                _("“%(name)s” has more than %(limit)s kB. Give a file with the recipe alone.")
                % {"name": file.name, "limit": self.max_bytes // 1000}
            )
        try:
            text: str = file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise forms.ValidationError(
                _("“%(name)s” is not UTF-8 text. Save it as UTF-8 and try again.") % {"name": file.name}
            ) from error
        return text


class RecipeForm(forms.Form):
    """A generated recipe, as a file or as text: in the form of `parsing`, or as a model answered."""

    MAX_BYTES = 200_000

    def __init__(self, *args: Any, asks_tasks: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asks_tasks = asks_tasks

    file = TextFileField(max_bytes=MAX_BYTES, label=_("File"), required=False, help_text=_("YAML or text."))
    text = forms.CharField(
        label=_("or text"),
        required=False,
        help_text=_("As a model answered: amounts are taken off, tasks are proposed, and you read it over."),
        max_length=MAX_BYTES,
        widget=forms.Textarea(
            attrs={
                "rows": 14,
                "placeholder": "Coleslaw\n\nIngredients\n- white cabbage\n- carrots\n\nSteps\n1. Shred the cabbage.\n\n"
                "Tasks\nshred | knife | cabbage",
            }
        ),
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        file, text = cleaned["file"], cleaned["text"]
        if bool(file) == bool(text):
            raise forms.ValidationError(_("Give a file or write the recipe below: one of the two."))
        cleaned |= self._read(file or text)
        return cleaned

    def _read(self, text: str) -> dict[str, Any]:
        """`recipe` where the text says all of it in the form that is asked for; else `proposal`."""
        try:
            recipe = parse_recipe(text)
        except RecipeRefused as refused:
            proposal = None if UNSTORABLE.search(text) or has_tasks(text) else propose(text)
            if proposal is None or not (proposal.ingredients and proposal.steps):
                raise forms.ValidationError(translated(refused.sentence)) from refused
            return {"proposal": proposal}
        proposal = propose_of(recipe)
        is_plain = all(not written for _name, written in proposal.ingredients) or has_tasks(text)
        is_complete = bool(recipe.tasks) or not self.asks_tasks
        if is_complete and (is_plain or text.lstrip().startswith(("name:", "{"))):
            return {"recipe": recipe}
        return {"proposal": proposal}


class ProposedRecipeForm(forms.Form):
    """What a recipe's text came to, to be read over and changed before it is added."""

    name = forms.CharField(label=_("Name"), max_length=200)
    ingredients = forms.CharField(
        label=_("Ingredients"),
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text=_("One a line: its name alone is looked for. Behind a bar stands the line it was taken from."),
    )
    steps = forms.CharField(
        label=_("Steps"), required=False, max_length=100_000, widget=forms.Textarea(attrs={"rows": 10})
    )
    tasks = forms.CharField(
        label=_("Tasks"),
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 14}),
        help_text=_("One a line: task | tool | ingredients. What is not named stays empty."),
    )

    def __init__(self, *args: Any, asks_tasks: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not asks_tasks:
            del self.fields["tasks"]
        self.asks_tasks = asks_tasks

    @staticmethod
    def initial_of(proposal: Proposal) -> dict[str, str]:
        return {
            "name": proposal.name,
            "ingredients": "\n".join(f"{name} | {line}" if line else name for name, line in proposal.ingredients),
            "steps": "\n".join(proposal.steps),
            "tasks": "\n".join(" | ".join((task.task, task.tool, task.ingredients)) for task in proposal.tasks),
        }

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        pairs = [line.partition("|") for line in _lines(cleaned["ingredients"])]
        try:
            cleaned["recipe"] = recipe_of(
                cleaned["name"],
                [name.strip() for name, _bar, _written in pairs],
                _lines(cleaned["steps"]),
                _lines(cleaned.get("tasks", "")),
            )
        except RecipeRefused as refused:
            raise forms.ValidationError(translated(refused.sentence)) from refused
        cleaned["written"] = {name.strip(): written.strip() for name, _bar, written in pairs}
        if self.asks_tasks and not cleaned["recipe"].tasks:
            self.add_error("tasks", _("This study asks about tasks: write at least one, as task | tool | ingredients."))
        return cleaned


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several uploads in one field; `cleaned_data` is a list."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        if not data:
            raise forms.ValidationError(self.error_messages["required"])
        files = [
            super(ManyFilesField, self).clean(item, initial) for item in (data if isinstance(data, list) else [data])
        ]
        if sum(file.size for file in files) > settings.PALATE_MAX_IMPORT_BYTES:
            raise forms.ValidationError(
                _("These files are over %(size)s MB together. Import them in parts.")
                % {"size": settings.PALATE_MAX_IMPORT_BYTES // 2**20}
            )
        return files


class DocumentsForm(forms.Form):
    sheet = forms.ModelChoiceField(Sheet.objects.none(), label=_("Recipe"), empty_label=None)
    # An empty one is refused by its name, as any other that is no page, and the others go in.
    pages = ManyFilesField(
        allow_empty_file=True,
        label=_("Web pages"),
        help_text=_(
            "Pages of one recipe each (others are refused): HTML files as saved by a browser, gzipped or not, "
            "or a ZIP of them."
        ),
    )

    def __init__(self, *args: Any, study: Study, at: str = "", **kwargs: Any) -> None:
        """`at`: the number of the sheet that was worked on last; without it the first that has no documents."""
        super().__init__(*args, **kwargs)
        sheets = study.sheets.order_by("position")
        self.fields["sheet"].label = study.scheme.parsed.words.translated().sheet.capitalize()
        field_of(self, "sheet", forms.ModelChoiceField).queryset = sheets
        self.fields["sheet"].initial = at if at.isdecimal() else sheets.filter(rows=None).first()


# --- searching ------------------------------------------------------------------------------------------------------


class RecordedForm(forms.Form):
    results = forms.FileField(
        label=_("File"), help_text=_("CSV with query, url, rank and engine, or JSON as SearXNG answers it.")
    )


@dataclass(frozen=True)
class Outlook:
    """What a search would do. `queries`: each once; `at_most`: documents that it can bring; `standing`: that stay."""

    queries: list[str]
    engines: list[str]
    at_most: int
    standing: int


class _AskingForm(forms.Form):
    """What each search asks: which engines, for how many documents, and who is given them."""

    engines = forms.MultipleChoiceField(label=_("Engines"), widget=forms.CheckboxSelectMultiple)
    documents = forms.IntegerField(
        min_value=1,
        max_value=actions.MAX_DOCUMENTS,
        help_text=_(
            "For each query, with those that it has. Where a page is no recipe or dead, the next rank comes up."
        ),
    )
    raters = ManyField(
        Rater.objects.none(),
        label=_("Give the new ones to"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("As soon as each is there. Nobody: they are planned later."),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        words = study.scheme.parsed.words.translated()
        self.fields["documents"].label = _("%(rows)s per engine") % {"rows": words.rows.capitalize()}
        self.choices = queries.engines_for(study)
        field_of(self, "engines", forms.ChoiceField).choices = self.choices
        self.fields["engines"].initial = [name for name, _label in self.choices]
        raters = study.raters.given_more().exclude(kind=Rater.Kind.GOLD)
        field_of(self, "raters", forms.ModelChoiceField).queryset = raters.order_by("kind", "code")

    def asked(self) -> list[Asked]:
        """What is asked; nothing where the form does not say."""
        raise NotImplementedError

    def chosen(self, name: str) -> Any:
        """What a field has, chosen or at first."""
        if self.is_bound:
            return self.cleaned_data.get(name) if self.is_valid() or name in self.cleaned_data else None
        return self.get_initial_for_field(self.fields[name], name)

    def outlook(self) -> Outlook | None:
        """What the form would do as it stands; None where it cannot be said."""
        documents, asked = self.chosen("documents"), self.asked()
        if not documents or not asked:
            return None
        labels = dict(self.choices)
        standing = queries.standing(asked)
        return Outlook(
            queries=list(dict.fromkeys(one.query for one in asked)),
            engines=[labels[name] for name in dict.fromkeys(one.engine for one in asked)],
            at_most=sum(max(0, documents - standing[one.sheet.pk, one.engine, one.query]) for one in asked),
            standing=standing.total(),
        )


class SearchForm(_AskingForm):
    """Documents for whole sheets."""

    field_order = ["sheets", "words", "engines", "documents", "raters"]

    sheets = ManyField(Sheet.objects.none(), label=_("Sheets"), widget=forms.CheckboxSelectMultiple)
    words = forms.CharField(
        label=_("Query"),
        initial="{name} recipe",
        max_length=200,
        help_text=_("{name} stands for the title of each sheet."),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, study=study, **kwargs)
        sheets = study.sheets.filter(closed_at=None).order_by("position")
        self.fields["sheets"].label = study.scheme.parsed.words.translated().sheets.capitalize()
        field_of(self, "sheets", forms.ModelChoiceField).queryset = sheets
        self.fields["documents"].initial = 6
        if not self.initial.get("sheets"):
            self.initial["sheets"] = [sheet.pk for sheet in sheets]

    def clean_words(self) -> str:
        words: str = self.cleaned_data["words"]
        if "{name}" not in words:
            raise forms.ValidationError(_("Write {name} where the title of each sheet is to stand."))
        return words

    def asked(self) -> list[Asked]:
        sheets, words, names = self.chosen("sheets"), self.chosen("words"), self.chosen("engines")
        if not sheets or not words or not names:
            return []
        if not self.is_bound:
            chosen = set(map(str, sheets))
            sheets = [each for each in self.fields["sheets"].queryset if str(each.pk) in chosen]  # type: ignore[attr-defined]
        return queries.asked_of(list(sheets), names, words=words)

    def start(self, *, by: User) -> Retrieval:
        return actions.start_retrieval(
            study=self.study,
            asked=self.asked(),
            documents=self.cleaned_data["documents"],
            given=[actions.Given(rater) for rater in self.cleaned_data["raters"]],
            by=by,
        )


class ItemsForm(_AskingForm):
    """Documents for items that were found nowhere."""

    def __init__(self, *args: Any, study: Study, columns: Sequence[Column], **kwargs: Any) -> None:
        super().__init__(*args, study=study, **kwargs)
        self.columns = columns
        self.fields["documents"].initial = 2
        ready = [name for name, _label in self.choices if name in queries.ready()]
        field_of(self, "engines", forms.ChoiceField).choices = [
            (name, label) for name, label in self.choices if name in ready
        ]
        self.fields["engines"].initial = ready

    @classmethod
    def filled(cls, data: QueryDict, *, study: Study, columns: Sequence[Column]) -> Self:
        """The form with what was sent; what was not is as it is at first."""
        whole = data.copy()
        plain = cls(study=study, columns=columns)
        if "documents" not in whole:
            whole["documents"] = str(plain.fields["documents"].initial)
            if "engines" not in whole:
                whole.setlist("engines", plain.fields["engines"].initial)
        return cls(whole, study=study, columns=columns)

    def asked(self) -> list[Asked]:
        return [
            Asked(column.sheet, name, queries.query_of(column.sheet, column), column)
            for column in self.columns
            for name in self.chosen("engines") or []
        ]

    def start(self, *, by: User) -> Retrieval:
        return actions.search_for_items(
            study=self.study,
            columns=self.columns,
            documents=self.cleaned_data["documents"],
            names=self.cleaned_data["engines"],
            raters=list(self.cleaned_data["raters"]),
            by=by,
        )
