"""What is asked of somebody who brings tables: the files, and how labels are read."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, BinaryIO, cast

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.exchange.json_tables import open_columns, open_labels, open_rows
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.records import EVERY_FIELDS
from annotation.exchange.row_imports import Imported
from annotation.exchange.rows_and_columns import import_rows
from annotation.exchange.workbooks import has_columns_too
from annotation.models import Study


class RowsForm(forms.Form):
    rows = forms.FileField(label=gettext_lazy("Rows"), required=False)
    columns = forms.FileField(label=gettext_lazy("Columns"), required=False)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors and not any(cleaned.values()):
            raise forms.ValidationError(_("Choose a file of rows, a file of columns, or both."))
        rows = cleaned.get("rows")
        if rows and not cleaned.get("columns") and has_columns_too(rows.file):
            cleaned["columns"] = rows
        return cleaned

    def bring(self, study: Study) -> Imported:
        """Import the files. Raises `TableError` and `Refused` as `import_rows` does."""
        files = [(self.cleaned_data["rows"], open_rows), (self.cleaned_data["columns"], open_columns)]
        with ExitStack() as stack:
            rows, columns = (
                file and opened(_stream(stack, file), name=file.name or "", max_bytes=_most()) for file, opened in files
            )
            return import_rows(study=study, rows=rows, columns=columns)


class LabelsForm(forms.Form):
    HEADINGS = ("rater", "row", "answer", "gold")

    labels = forms.FileField(label=gettext_lazy("Labels"))
    create = forms.BooleanField(
        label=gettext_lazy("Create the raters, rows, columns and sheets that are missing"), required=False, initial=True
    )
    wide = forms.BooleanField(label=gettext_lazy("One line an item, one column a rater"), required=False)
    pseudonyms = forms.BooleanField(
        label=gettext_lazy("Call the raters R1, R2, … (who was who is not kept)"), required=False
    )
    replace = forms.BooleanField(
        label=gettext_lazy("Answers that differ replace those imported before"), required=False
    )
    rater = forms.CharField(label=gettext_lazy("Heading of the raters"), required=False, max_length=200)
    row = forms.CharField(label=gettext_lazy("Heading of the rows"), required=False, max_length=200)
    answer = forms.CharField(label=gettext_lazy("Heading of the answers"), required=False, max_length=200)
    gold = forms.CharField(label=gettext_lazy("Heading of the right answers"), required=False, max_length=200)
    ignore = forms.CharField(
        label=gettext_lazy("Headings to leave out"),
        required=False,
        max_length=2000,
        help_text=gettext_lazy("With commas between them."),
    )
    every_rater = forms.CharField(
        label=gettext_lazy("Rater of all lines"),
        required=False,
        max_length=80,
        help_text=gettext_lazy("Where the file does not say who answered."),
    )
    every_question = forms.CharField(
        label=gettext_lazy("Question of all lines"),
        required=False,
        max_length=200,
        help_text=gettext_lazy("Key or title, where the file is about one of several."),
    )

    def switches(self) -> list[forms.BoundField]:
        return [field for field in self if isinstance(field.field, forms.BooleanField)]

    def headings(self) -> list[forms.BoundField]:
        return [field for field in self if isinstance(field.field, forms.CharField)]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("every_rater") and (cleaned["wide"] or cleaned.get("rater")):
            self.add_error("every_rater", _("The file says who answered. Leave one of the two empty."))
        return cleaned

    def how(self) -> LabelImport:
        data = self.cleaned_data
        return LabelImport(
            headings={name: data[name] for name in self.HEADINGS if data[name]},
            every={name: said for name in EVERY_FIELDS if (said := data[f"every_{name}"])},
            ignore=tuple(name for part in data["ignore"].split(",") if (name := part.strip())),
            create=data["create"],
            wide=data["wide"],
            pseudonyms=data["pseudonyms"],
            replace=data["replace"],
        )

    def bring(self, study: Study) -> Imported:
        """Import the file. Raises `TableError` and `Refused` as `import_labels` does."""
        with ExitStack() as stack:
            file = self.cleaned_data["labels"]
            table = open_labels(_stream(stack, file), name=file.name or "", max_bytes=_most())
            return import_labels(study=study, table=table, how=self.how())


def _stream(stack: ExitStack, file: UploadedFile[bytes]) -> BinaryIO:
    return cast(BinaryIO, stack.enter_context(file.open("rb")).file)


def _most() -> int:
    most: int = settings.PALATE_MAX_IMPORT_BYTES
    return most
