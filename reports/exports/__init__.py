"""Downloads of a report, made of its contents and its label table alone."""

from __future__ import annotations

from reports.exports.spreadsheets import MAX_LABELS, labels_csv, report_csv, report_xlsx

__all__ = ["MAX_LABELS", "labels_csv", "report_csv", "report_xlsx"]
