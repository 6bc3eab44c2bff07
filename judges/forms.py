from __future__ import annotations

from typing import Any, NamedTuple

from django import forms
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.actions import Refused
from annotation.forms.fields import field_of
from annotation.models import Row, Study
from annotation.people.access import AppRequest
from annotation.queries.schemes import block_kinds
from judges import doors, queries
from judges.extraction import prompts
from judges.methods import USES, WRITES, Method, prompting, skeletons
from judges.methods.needs import fields_of
from judges.model_forms import NamesAModel
from judges.models import Extractor, Judge
from judges.runs.evidence import check_evidence
from judges.spending.models import SpendingRun
from llm.models import Prompt
from llm.prompts import with_plain_ends

# As in the database.
_LARGEST_TEMPERATURE, _MOST_NEW_TOKENS = 2, 100_000
_NAME_RULE = _("Letters from a to z, digits, hyphens and underscores only; it is the code in reports.")


class NameField(forms.SlugField):
    """The name of a judge or an extractor; what is said before it is typed is what is said of a wrong one."""

    default_error_messages = {"invalid": _NAME_RULE}

    def __init__(self) -> None:
        super().__init__(label=_("Name"), max_length=60, help_text=_NAME_RULE)


class Beginning(NamedTuple):
    """A prompt to begin from. `key`: where it comes from, and which of these it is; `name`: what people read."""

    key: str
    name: str
    text: str
    spec: prompting.PromptSpec


class JudgeForm(NamesAModel):
    """A new judge: a model that is there, or lies somewhere, and a prompt that fits the scheme."""

    field_order = ["name", "method"]
    makes = Judge
    name_is_taken = _("There is a judge called “%(name)s” already.")

    name = NameField()
    method = forms.ChoiceField(label=_("Method"), choices=Judge.Method.choices)
    normalisation = forms.ChoiceField(
        label=_("Normalisation"), choices=Judge.Normalisation.choices, required=False, initial=Judge.Normalisation.NONE
    )
    temperature = forms.FloatField(
        label=_("Temperature"),
        required=False,
        min_value=0,
        max_value=_LARGEST_TEMPERATURE,
        help_text=_("0: the same answer each time, so that repeats make no sense. Empty: 0.7."),
    )
    max_new_tokens = forms.IntegerField(
        label=_("Longest answer, in tokens"),
        required=False,
        min_value=1,
        max_value=_MOST_NEW_TOKENS,
        help_text=_("A longer answer is cut there. Empty: 256; more if the model thinks."),
    )
    evidence = forms.ModelChoiceField(
        Extractor.objects.filter(archived_at=None),
        label=_("Judges by"),
        required=False,
        empty_label=_("— the documents themselves —"),
        help_text=_("Or by what an extractor took out of them; its run must come first."),
    )
    prompt = forms.ModelChoiceField(
        Prompt.objects.none(), label=_("Prompt"), required=False, empty_label=_("— the text below —")
    )
    shipped = forms.ChoiceField(label=_("or one that comes with Palate"), required=False)
    prompt_text = forms.CharField(
        label=_("Prompt text"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 22, "class": "code", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.scheme = scheme = study.scheme.parsed
        self._prompts = queries.prompts_in(study)
        field_of(self, "prompt", forms.ModelChoiceField).queryset = self._prompts
        stored = set(self._prompts.values_list("digest", flat=True))
        brought = prompting.fitting(doors.shipped_prompts().values(), scheme)
        self._begins: dict[Method, list[Beginning]] = {}  # by the method, once they were made
        self._brought = {name: fits.text for name, fits in brought.items()}
        self._of_packs = {name: fits for name, fits in brought.items() if prompting.digest(fits.text) not in stored}
        field_of(self, "shipped", forms.ChoiceField).choices = [("", "–"), *((name, name) for name in brought)]

    @property
    def chosen_method(self) -> Method:
        """The first of all where what was chosen is none."""
        chosen = self.value("method")
        return Method(chosen) if chosen in set(Method) else Method.CLOZE

    @property
    def needs(self) -> frozenset[str]:
        """The fields of the method that is chosen."""
        return fields_of(self.chosen_method)

    @property
    def asks_a_model(self) -> bool:
        return bool(self.shown("model", wanted=self.needs))

    @property
    def how(self) -> list[forms.BoundField]:
        """How a judge of this method asks and chooses."""
        return self.shown("chat_template", "normalisation", "temperature", "max_new_tokens", wanted=self.needs)

    @property
    def beginnings(self) -> list[tuple[str, list[Beginning]]]:
        """Prompts that ask a judge of the chosen method something, to begin from: of this installation, of its packs,
        and one that is made of the scheme."""
        titles = {
            "stored": _("Of judges that are here"),
            "shipped": _("That come with Palate"),
            "made": _("Made of the scheme"),
        }
        every = self._beginnings_of(self.chosen_method)
        titled = ((title, [each for each in every if each.key.startswith(f"{of}:")]) for of, title in titles.items())
        return [(str(title), found) for title, found in titled if found]

    @property
    def looks_for_items(self) -> bool:
        """Whether judges of the chosen method answer only what is about a column's item."""
        return self.chosen_method in (Method.LEXICAL, Method.EMBEDDING)

    def beginning(self, key: str) -> Beginning | None:
        """The one of that key; None where the chosen method has none."""
        return next((each for each in self._beginnings_of(self.chosen_method) if each.key == key), None)

    def first_of(self, method: Method) -> Beginning | None:
        """What a judge of this method begins with where nobody chooses: what a pack recommends for the scheme, else the
        first that a pack brings, else what is made of the scheme."""
        every = self._beginnings_of(method)
        told = [each for each in every if each.text in self._recommended]
        brought = [each for each in every if each.text in self._brought.values()]
        return next(iter([*told, *brought, *(each for each in every if each.key.startswith("made:"))]), None)

    @property
    def offered(self) -> list[tuple[Beginning, str]]:
        """The stored prompts and those of packs, whatever the method; with each the name under which a pack brings it,
        or “”."""
        called = {text: name for name, text in self._brought.items()}
        return [(each, called.get(each.text, "")) for each in self._there]

    @property
    def begun(self) -> str:
        """The key of what the prompt was begun from."""
        return str(self.data.get("begin_with", "") if self.is_bound else self.initial.get("begin_with", ""))

    @property
    def was_edited(self) -> bool:
        """Whether the prompt that came back is another one than it was begun from."""
        if not self.is_bound:
            return False
        begun = self.beginning(self.begun)
        return with_plain_ends(self.value("prompt_text")) != with_plain_ends(begun.text if begun else "")

    @cached_property
    def _recommended(self) -> set[str]:
        return {fits.text for fits in prompting.fitting(doors.recommended_prompts(), self.scheme).values()}

    def _beginnings_of(self, method: Method) -> list[Beginning]:
        if method in self._begins:
            return self._begins[method]
        found = [each for each in self._there if prompting.questions_for(each.spec, method)]
        if text := skeletons.skeleton(self.scheme, method):
            name = str(_("a skeleton for this scheme"))
            found.append(Beginning(f"made:{method}", name, text, prompting.load_prompt(text)))
        self._begins[method] = found
        return found

    @cached_property
    def _there(self) -> list[Beginning]:
        """The stored prompts and those of packs that ask nothing but questions of the scheme, whatever the method."""
        asked = {f"{section.key}.{question.key}" for section in self.scheme.sections for question in section.questions}
        stored = [
            Beginning(f"stored:{prompt.pk}", str(prompt), prompt.text, spec)
            for prompt in self._prompts
            if (spec := _spec_of(prompt.text)) is not None and set(spec.questions) <= asked
        ]
        return [*stored, *(Beginning(f"shipped:{name}", name, *fits) for name, fits in self._of_packs.items())]

    def clean_normalisation(self) -> str:
        return self.cleaned_data["normalisation"] or Judge.Normalisation.NONE

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        shipped = cleaned.pop("shipped", "")
        if shipped and not cleaned.get("prompt_text"):
            cleaned["prompt_text"] = self._brought[shipped]  # the stored one, where it is stored
        if self.errors:
            return cleaned
        has_model = bool(cleaned["model"]) + bool(cleaned["location"])
        asks_a_model = USES[Method(cleaned["method"])] is not None
        if not asks_a_model and has_model:
            self.add_error("model", _("A judge of this method has no language model."))
        elif asks_a_model and has_model != 1:
            self.add_error("model", _("Choose a model or name another: one of the two."))
        elif has_model:
            self.check_model(cleaned, method=cleaned["method"])
        if cleaned["prompt_text"]:
            cleaned["prompt"] = None  # it was begun from, and may have been edited
        if bool(cleaned["prompt"]) == bool(cleaned["prompt_text"]):
            self.add_error("prompt", _("Choose a prompt or write one: one of the two."))
        else:
            self._check_prompt(cleaned)
        self._check_writing(cleaned)
        return cleaned

    def _check_writing(self, cleaned: dict[str, Any]) -> None:
        if cleaned["method"] in WRITES:
            if cleaned["normalisation"] != Judge.Normalisation.NONE:
                self.add_error("normalisation", _("A judge that writes has no probabilities of options to normalise."))
            return
        for field in ("temperature", "max_new_tokens"):
            if cleaned[field] is not None:
                self.add_error(field, _("Only a judge that rates or writes has this. Leave it empty."))

    def _check_prompt(self, cleaned: dict[str, Any]) -> None:
        text = cleaned["prompt"].text if cleaned["prompt"] else cleaned["prompt_text"]
        try:
            spec = prompting.load_prompt(text)
            prompting.check_against(spec, self.scheme, cleaned["method"], normalisation=cleaned["normalisation"])
            if cleaned["evidence"]:
                check_evidence(cleaned["evidence"], spec, cleaned["method"])
        except prompting.PromptError as error:
            self.add_error("prompt" if cleaned["prompt"] else "prompt_text", str(error))


def _spec_of(text: str) -> prompting.PromptSpec | None:
    """What a stored prompt asks; None where it is no judge's."""
    try:
        return prompting.load_prompt(text)
    except prompting.PromptError:
        return None


class TrialForm(JudgeForm):
    """A judge that is tried before it has a name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].required = False

    def clean_name(self) -> str:
        return str(self.cleaned_data["name"] or "trial")


class _RowField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, row: Row) -> str:
        return f"{row.sheet.title} · {row.name}"


class CellForm(forms.Form):
    """The cell on which a judge is tried: a row of the study, and in its sheet a column and a question."""

    row = _RowField(Row.objects.none(), label=_("Row"), empty_label=None)
    cell = forms.ChoiceField(label=_("Cell"), required=False)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **{"prefix": "try", **kwargs})
        rows = Row.objects.filter(sheet__study=study, withdrawn_at=None).select_related("sheet")
        rows = rows.order_by("sheet__position", "position").defer("evidence")
        field_of(self, "row", forms.ModelChoiceField).queryset = rows
        pk = str(self["row"].value() or "")
        chosen = rows.filter(pk=pk).first() if pk.isdecimal() and len(pk) < 19 else rows.first()
        field_of(self, "cell", forms.ChoiceField).choices = [("", _("— the first that it answers —")), *_cells(chosen)]

    def clean_cell(self) -> tuple[int, str] | None:
        column, _of, question = str(self.cleaned_data["cell"]).partition(":")
        return (int(column), question) if question else None


def _cells(row: Row | None) -> list[tuple[str, str]]:
    if row is None:
        return []
    columns = row.sheet.columns.select_related("section__scheme").order_by("section__position", "position")
    scheme = row.sheet.study.scheme.parsed
    return [
        (
            f"{column.pk}:{question.key}",
            f"{column.name} · {question.title}" if column.name else scheme.title_of(column.section.key, question.key),
        )
        for column in columns
        for question in column.section.spec.questions
    ]


class NameForm(forms.Form):
    """Another name of a judge or an extractor."""

    name = NameField()


class LimitForm(forms.Form):
    """Where a run pauses."""

    most_tokens = forms.IntegerField(label=_("Pause at, in tokens"), required=False, min_value=1)
    most_cost = forms.DecimalField(
        label=_("Pause at a cost of"), required=False, min_value=0, max_digits=12, decimal_places=4
    )


def limit_refused() -> str:
    return gettext("A limit is a number over 0, of tokens a whole one. Nothing was started.")


def resumed_by(request: AppRequest, _run: SpendingRun) -> dict[str, Any]:
    """By whom and with which limits a run is resumed: without one whose field was emptied.

    Raises:
        Refused: one is none.
    """
    form = LimitForm(request.POST)
    if not form.is_valid():
        raise Refused(limit_refused())
    emptied = {name for name, most in form.cleaned_data.items() if most is None and name in request.POST}
    return {"by": request.user, "without": emptied, **form.cleaned_data}


class ExtractorForm(NamesAModel):
    """A new extractor: a parser of this installation, or a model with a prompt."""

    field_order = ["name", "parser"]
    makes = Extractor
    name_is_taken = _("There is an extractor called “%(name)s” already.")

    name = NameField()
    parser = forms.ChoiceField(label=_("Parser"), required=False)
    max_new_tokens = forms.IntegerField(
        label=_("Longest answer, in tokens"),
        min_value=16,
        max_value=32_768,
        initial=2048,
        help_text=_("An answer that is longer is cut there; the item that it breaks off in is left out."),
    )
    prompt_text = forms.CharField(
        label=_("Prompt"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text=_("Which lists the model is asked for, and how; only for a model."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["chat_template"].initial = True
        parsers = [(parser.key, parser.label) for parser in doors.parsers()]
        field_of(self, "parser", forms.ChoiceField).choices = [("", _("— none: a model —")), *parsers]

    @property
    def asks_a_model(self) -> bool:
        return bool(self.shown("model", wanted=() if self.value("parser") else ("model",)))

    @property
    def of_prompts(self) -> list[forms.BoundField]:
        """What a model is asked, and how."""
        return [self[name] for name in ("chat_template", "max_new_tokens", "prompt_text")]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        n_named = bool(cleaned["parser"]) + bool(cleaned["model"]) + bool(cleaned["location"])
        if n_named != 1:
            self.add_error("parser", _("Choose a parser, choose a model, or name another model: one of the three."))
        elif not cleaned["parser"]:
            self.check_model(cleaned, method=Judge.Method.RATING)
            try:
                prompts.load_extraction_prompt(cleaned["prompt_text"], known=block_kinds())
            except prompting.PromptError as error:
                self.add_error("prompt_text", str(error))
        return cleaned


class StartForm(LimitForm):
    """How often a judge labels each row, once if nothing is said; and where it pauses."""

    repeats = forms.IntegerField(label=_("Repeats"), required=False)
    corrected = forms.BooleanField(label=_("Lists as people corrected them"), required=False)

    def clean_repeats(self) -> int:
        return self.cleaned_data["repeats"] or 1
