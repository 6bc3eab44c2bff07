from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Set
from typing import Any, Self

from django import forms
from django.core.validators import URLValidator, validate_email
from django.utils.text import Truncator, slugify
from django.utils.translation import gettext_lazy as _

from annotation import queries
from annotation.actions import Answer, Edit, Refused, owed_of_sheet
from annotation.forms.fields import field_of
from annotation.forms.schemes import SchemeField, SchemeFileField, SchemeText, SchemeTextField
from annotation.labels.answer import seen_code
from annotation.models import Assignment, Column, Study
from annotation.scheme.background import load_background
from annotation.scheme.spec import SchemeError


class _Kept:
    """A field of a form that no page shows. Nothing changes it, so that it need not be made anew for each form: of many
    changes that travel together that would take longer than reading them."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class KeyField(_Kept, forms.UUIDField):
    pass


class FlagField(_Kept, forms.BooleanField):
    pass


class ScriptField(_Kept, forms.JSONField):
    """JSON of our scripts; what they never send, nested for ever or with endless numbers, is invalid like any other."""

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except (RecursionError, ValueError) as error:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from error


NO_CHANGES = _("This is no list of changes. Nothing was saved; reload the page.")


class EditsForm(forms.Form):
    """Several changes that travel together; each of them is read by `ChangeForm`."""

    edits = ScriptField()
    submit = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)  # an assignment, behind them

    MOST = 200

    def clean_edits(self) -> list[dict[str, Any]]:
        edits = self.cleaned_data["edits"]
        if not (
            isinstance(edits, list) and 0 < len(edits) <= self.MOST and all(isinstance(one, dict) for one in edits)
        ):
            raise forms.ValidationError(NO_CHANGES)
        return edits


class Reach:
    """What one person's changes of one sheet may be about: their assignments, and the sheet's columns.

    Changes that travel together are looked up together, by `prepare`.
    """

    def __init__(self, *, sheet_id: int, user_id: int) -> None:
        self.sheet_id = sheet_id
        self.user_id = user_id
        self.owes = False  # whether their study seems to owe them a page to fill in
        self._assignments: dict[int, Assignment | None] = {}
        self._columns: dict[int, Column | None] = {}

    def prepare(self, edits: Iterable[Mapping[str, Any]]) -> Set[int]:
        """Two queries for all of them; what is no change is left to the form that refuses it. Gives the assignments."""
        changes = [change for edit in edits for change in _changes_in(edit)]
        self.columns({change[1] for change in changes})
        return self.assignments({change[0] for change in changes}).keys()

    def assignments(self, ids: Set[int]) -> dict[int, Assignment]:
        if new := ids - self._assignments.keys():
            found = queries.mine_to_change(user_id=self.user_id, sheet_id=self.sheet_id, ids=new)
            self._assignments |= {pk: found.assignments.get(pk) for pk in new}
            self.owes |= found.owes
        return {pk: one for pk in ids if (one := self._assignments[pk]) is not None}

    def columns(self, ids: Set[int]) -> dict[int, Column]:
        if new := ids - self._columns.keys():
            found = queries.columns_to_change(sheet_id=self.sheet_id, ids=new)
            self._columns |= {pk: found.get(pk) for pk in new}
        return {pk: one for pk in ids if (one := self._columns[pk]) is not None}


def _changes_in(edit: Mapping[str, Any]) -> list[list[Any]]:
    changes = edit.get("changes")
    if not isinstance(changes, list) or len(changes) > ChangeForm.MOST:
        return []
    return changes if all(map(_is_change, changes)) else []


class ChangeForm(forms.Form):
    """Answers of one person to cells of one sheet, as the grid's script sends them: one choice, or a whole range.

    `changes` is a list of [assignment, column, question, value, seen]. A value is a code with its prefix (see
    `annotation.answers.codes`), or "" to clear; `seen` is the code that the page showed before.
    """

    key = KeyField()
    restore = FlagField(required=False)  # an undo or a redo: all of it or nothing
    reopen = FlagField(required=False)  # a correction: a submitted row is opened for it
    changes = ScriptField()

    MOST = 20_000

    def __init__(self, *args: Any, reach: Reach, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reach = reach
        self.left_out = ""  # why some of the changes are not among the answers
        # The assignments of these; of all, where a page is to be filled in first or is behind the sheet.
        self.not_mine: list[int] = []

    def clean_changes(self) -> list[tuple[int, int, int, str, str]]:
        """Checks the form alone; what the numbers stand for is looked up by `answers`."""
        changes = self.cleaned_data["changes"]
        if not (isinstance(changes, list) and 0 < len(changes) <= self.MOST and all(map(_is_change, changes))):
            raise forms.ValidationError(NO_CHANGES)
        return [tuple(change) for change in changes]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            cleaned["answers"] = self._resolve(cleaned["changes"])
        return cleaned

    def _resolve(self, changes: list[tuple[int, int, int, str, str]]) -> dict[Assignment, list[Answer]]:
        """The answers of each assignment, a question before those that depend on it. Two queries at most."""
        ids = {change[0] for change in changes}
        assignments = self.reach.assignments(ids)
        if self.reach.owes and (refusal := owed_of_sheet(sheet_id=self.reach.sheet_id, user_id=self.reach.user_id)):
            self.not_mine = sorted(ids)  # the browser keeps them
            raise forms.ValidationError(refusal)
        columns = self.reach.columns({change[1] for change in changes})
        sections = queries.whole_sections(columns.values()).values()
        questions = {
            question.pk: (question, section.specs[question.pk])
            for section in sections
            for question in section.by_key.values()
        }
        answers: dict[Assignment, list[Answer]] = {}
        for assignment_id, column_id, question_id, value, seen in changes:
            assignment, column = assignments.get(assignment_id), columns.get(column_id)
            question, spec = questions.get(question_id, (None, None))
            if assignment is None:
                continue
            if column is None or question is None or spec is None:
                self.not_mine = sorted(ids)  # the browser keeps them, so that nothing is lost that somebody wrote
                raise forms.ValidationError(_("This sheet has other columns by now. Reload the page."))
            try:
                answer = Answer.of_code(column, question, value, spec=spec, seen=seen_code(spec, seen))
            except Refused as refused:
                raise forms.ValidationError(str(refused)) from refused
            answers.setdefault(assignment, []).append(answer)
        self.not_mine = sorted(ids - assignments.keys())
        if self.not_mine:
            self.left_out = str(_("This row is not assigned to you any more. What was saved before is safe."))
            if not answers or self.cleaned_data["restore"]:
                raise forms.ValidationError(self.left_out)
        for of_one in answers.values():
            of_one.sort(key=lambda answer: answer.question.position)
        return answers

    @property
    def edit(self) -> Edit:
        """What is asked for; of a valid form."""
        asked = self.cleaned_data
        return Edit(asked["answers"], asked["key"], whole=asked["restore"], reopen=asked["reopen"])

    @property
    def refusal(self) -> str:
        return _told(self)


def _told(form: forms.Form) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)


def _is_change(change: Any) -> bool:
    return (
        isinstance(change, list)
        and [type(part) for part in change] == [int, int, int, str, str]
        and all(0 < number < 2**63 for number in change[:3])
        # Half of a pair of UTF-16, as a text that was cut may end with, and the zero character fit in no database.
        and not any("\ud800" <= letter <= "\udfff" or letter == "\0" for text in change[3:] for letter in text)
    )


class SubmitForm(forms.Form):
    """The answered cells as the page of who submits shows them: [[column, question, code], …], or nothing.

    `confirm`: what is still a draft there is confirmed with it.
    """

    seen = ScriptField(required=False)
    confirm = FlagField(required=False)

    def clean_seen(self) -> dict[tuple[int, int], str] | None:
        seen = self.cleaned_data["seen"]
        if seen is None:
            return None
        if not isinstance(seen, list) or not all(
            isinstance(cell, list)
            and [type(part) for part in cell] == [int, int, str]
            and all(0 < number < 2**63 for number in cell[:2])
            for cell in seen
        ):
            raise forms.ValidationError(_("This is no list of answers. Nothing was submitted; reload the page."))
        return {(column, question): code for column, question, code in seen}

    @property
    def refusal(self) -> str:
        return _told(self)


class BeatForm(forms.Form):
    """What a page of the grid has counted: {assignment: seconds of active time since it was opened}."""

    page = forms.UUIDField()
    seconds = ScriptField()

    MOST = 10_000_000

    def clean_seconds(self) -> dict[int, int]:
        seconds = self.cleaned_data["seconds"]
        if not isinstance(seconds, dict) or not all(
            key.isdecimal() and len(key) < 19 and type(n) is int and 0 <= n <= self.MOST for key, n in seconds.items()
        ):
            raise forms.ValidationError(_("These are no seconds of documents."))
        return {int(key): n for key, n in seconds.items()}


class PayForm(forms.Form):
    """What an hour of active work is paid; nothing shows hours alone."""

    use_required_attribute = False

    hourly_rate = forms.DecimalField(
        label=_("Pay per hour"), required=False, min_value=0, max_digits=9, decimal_places=2, localize=True
    )
    currency = forms.CharField(label=_("Currency"), required=False, max_length=8)


def _short(slug: str, longest: int = 50) -> str:
    """At most so many characters of a title's address, and no half word at its end."""
    whole = slug[: longest + 1].rpartition("-")[0] if len(slug) > longest else slug
    return whole or slug[:longest]


LEFT_EMPTY = _("Short name in links: small letters, digits and hyphens. Left empty, it is made of the title.")
ADDRESS = {"invalid": _("An address has letters without accents, digits and hyphens alone.")}


def new_address(given: str, title: str) -> str:
    """The address of a new study: what was given, or made of its title, with a number behind it where another study has
    that; of a title without a letter “study”."""
    if given == "new":
        raise forms.ValidationError(_("“new” is the address of this page. Choose another."))
    if given:
        return _free_address(given)
    slug = _short(slugify(title))
    slug = slug if slug not in ("", "new") else "study"
    taken = set(Study.objects.filter(slug__startswith=slug).values_list("slug", flat=True))
    numbered = (f"{slug}-{n}" for n in itertools.count(2))
    return next(one for one in itertools.chain([slug], numbered) if one not in taken)


def _free_address(slug: str, study: Study | None = None) -> str:
    """`slug`, unless another study than `study` has it: Django's own sentence calls it a slug, which no page does."""
    there = Study.objects.filter(slug=slug)
    if (there.exclude(pk=study.pk) if study else there).exists():
        raise forms.ValidationError(_("Another study has the address “%(slug)s”.") % {"slug": slug})
    return slug


OTHERS_CHANGED = _(
    "Somebody else has changed this since the page was opened. Save again to replace what it says now: %(now)s"
)
_HTTPS = URLValidator(schemes=["https"])


class StudySettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """What can be changed of a study at any time.

    Its page sends along what each field showed, so that two who change settings at the same time keep each other's:
    only what somebody changed is saved, and what another one changed meanwhile is not replaced unseen.
    """

    class Meta:
        model = Study
        fields = [
            "title",
            "slug",
            "guideline",
            "consent",
            "background",
            "contact",
            "contact_address",
            "licence",
            "publishes_texts",
            "publishes_contact",
            "submit_complete",
            "shows_setup",
        ]
        labels = {
            "title": _("Title"),
            "slug": _("Address"),
            "guideline": _("Guideline"),
            "consent": _("Consent text"),
            "background": _("Background form"),
            "contact": _("Contact"),
            "contact_address": _("Address of the contact"),
            "licence": _("Licence of the labels"),
            "publishes_texts": _("Downloads have the texts that were labelled"),
            "publishes_contact": _("Downloads name the contact"),
            "submit_complete": _("A person's last answer submits"),
            "shows_setup": _("Steps of setting it up"),
        }
        error_messages = {"slug": ADDRESS}
        help_texts = {
            "slug": _("Small letters, digits and hyphens. Links with the old address lead nowhere."),
            "contact": _(
                "A person or a role, such as “Anna Novak, study coordinator”. Shown with its address to everybody who "
                "has a link of this study or a role in it: on invitations and the pages of a crowd, with the consent "
                "text and the background form, in the guide of a sheet, on My work and in mails."
            ),
            "publishes_contact": _(
                "In their README and dataset card. Who publishes a download publishes the contact too: ask the person, "
                "or name a role."
            ),
            "submit_complete": _("Saves a key for each document; whoever wants to look again corrects afterwards."),
        }
        widgets = {
            "guideline": forms.Textarea(attrs={"rows": 8}),
            "consent": forms.Textarea(attrs={"rows": 8}),
            "background": forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.show_hidden_initial = True

    @property
    def changed(self) -> dict[str, Any]:
        """What is to be saved of a valid form; whatever is sent without what was shown, too."""
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if self.add_initial_prefix(name) not in self.data or name in self.changed_data
        }

    def clean(self) -> dict[str, Any]:
        super().clean()
        for name in self.changed:
            if (now := self._changed_by_others(name)) is not None:
                self.add_error(name, OTHERS_CHANGED % {"now": Truncator(now).chars(500)})
                # Whoever has read that and saves again means it.
                self.data = dict(self.data.items()) | {self.add_initial_prefix(name): now}
        return self.cleaned_data

    def _changed_by_others(self, name: str) -> str | None:
        """What a field says now, if that is neither what was shown nor what is sent."""
        shown = self.data.get(self.add_initial_prefix(name))
        field, now = self.fields[name], self.initial[name]
        if shown is None or isinstance(now, bool):  # of two answers that were changed both are the same one
            return None
        known = {_in_lines(str(field.to_python(shown))), _in_lines(self.cleaned_data[name])}
        return None if _in_lines(now) in known else str(now)

    def clean_slug(self) -> str:
        return _free_address(self.cleaned_data["slug"], self.instance)

    def clean_background(self) -> str:
        text: str = self.cleaned_data["background"]
        if text.strip():
            try:
                load_background(text)
            except SchemeError as error:
                raise forms.ValidationError([str(problem) for problem in error.problems]) from error
        return text

    def clean_contact(self) -> str:
        return " ".join(self.cleaned_data["contact"].split())

    def clean_contact_address(self) -> str:
        text: str = self.cleaned_data["contact_address"]
        check = _HTTPS if "://" in text else validate_email
        try:
            if text:
                check(text)
        except forms.ValidationError as error:
            raise forms.ValidationError(
                _(
                    "This is neither an e-mail address, such as study@example.org, nor a web address that begins with "
                    "https://."
                )
            ) from error
        return text


def _in_lines(text: str) -> str:
    """As forms send it: lines end in two characters there."""
    return "\r\n".join(text.strip().splitlines())


class DeleteStudyForm(forms.Form):
    """Asks for the address of the study, since it cannot be brought back."""

    address = forms.CharField(label=_("Address of the study, typed again"), max_length=60)

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study

    def clean_address(self) -> str:
        typed: str = self.cleaned_data["address"]
        if typed != self.study.slug:
            raise forms.ValidationError(_("That is not the address of this study."))
        return typed


class StudyForm(forms.ModelForm):  # type: ignore[type-arg]
    scheme = SchemeField(label=_("Scheme"), required=False, empty_label=_("— the file or text below —"))
    scheme_file = SchemeFileField(
        label=_("Scheme file"), required=False, help_text=_("A YAML file, if the scheme is not in the list.")
    )
    scheme_text = SchemeTextField(
        label=_("or its text"), required=False, max_length=SchemeFileField.MAX_BYTES, strip=False
    )

    class Meta:
        model = Study
        fields = ["title", "slug", "scheme", "scheme_file", "scheme_text", "guideline"]
        labels = {"slug": _("Address"), "title": _("Title"), "guideline": _("Guideline")}
        error_messages = {"slug": ADDRESS}
        help_texts = {"slug": LEFT_EMPTY}
        widgets = {"guideline": forms.Textarea(attrs={"rows": 4})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field_of(self, "scheme", SchemeField).offer()
        self.fields["slug"].required = False

    def clean_slug(self) -> str:
        return new_address(self.cleaned_data["slug"], self.cleaned_data.get("title", ""))

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        given = [name for name in ("scheme", "scheme_file", "scheme_text") if cleaned.get(name)]
        if not self.errors and len(given) != 1:
            raise forms.ValidationError(
                _("Choose a scheme from the list, give a file, or write its text: one of the three.")
            )
        if cleaned.get("scheme_text"):
            cleaned["scheme_file"] = cleaned["scheme_text"]
        if isinstance(cleaned.get("scheme"), SchemeText):
            cleaned["scheme"], cleaned["scheme_file"] = None, cleaned["scheme"]
        return cleaned
