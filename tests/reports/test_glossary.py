"""What figures mean, and that their headings lead there."""

from __future__ import annotations

import pytest
from django.utils import translation
from django.utils.translation import gettext as _

from reports import glossary
from reports.words import METRICS

pytestmark = pytest.mark.once


def test_each_entry_has_its_source_and_a_place_of_its_own() -> None:
    keys = [entry.key for entry in glossary.ENTRIES]
    assert len(set(keys)) == len(keys)
    assert all(str(entry.says) and str(entry.formula) and entry.source for entry in glossary.ENTRIES)


@pytest.mark.parametrize("language", ["en", "cs"])
@pytest.mark.parametrize("metric", sorted(METRICS))
def test_every_metric_of_texts_is_explained_as_a_column_and_as_a_line(metric: str, language: str) -> None:
    with translation.override(language):
        of_line = glossary.entry_of(str(METRICS[metric][0]))
        of_column = glossary.entry_of(str(METRICS[metric][0]), metric)
    assert of_line == of_column != ""


@pytest.mark.parametrize("language", ["en", "cs"])
@pytest.mark.parametrize(
    ("title", "key", "entry"),
    [
        ("Area under the risk-coverage curve", "risk", "uncertainty"),
        ("Macro-F1", "macro_f1", "precision-recall"),
        ("Macro recall", "macro_recall", "accuracy"),
        ("Average precision", "average_precision", "average-precision"),
        ("A person", "ceiling", "human-ceiling"),
        ("Flipped", "flipped", "flip-rate"),
        ("Ability", "ability", "ability"),
        ("Edit rate", "rate", "edit-rate"),
        ("Mean absolute difference", "difference", "difference"),
        ("Estimate", "value", "powered-share"),
        ("First is preferred", "probability", "spa"),
        ("F1", "exact_f1", "span-f1"),
        ("Precision", "overlap_precision", "span-f1"),
        ("F1", "characters_f1", "span-f1"),
    ],
)
def test_headings_lead_to_what_they_mean(title: str, key: str, entry: str, language: str) -> None:
    with translation.override(language):
        assert glossary.entry_of(_(title), key) == entry


@pytest.mark.parametrize("language", ["en", "cs"])
def test_what_is_filled_in_after_its_name_does_not_matter(language: str) -> None:
    with translation.override(language):
        assert glossary.entry_of(_("At precision %(precision)s") % {"precision": 0.8}) == "average-precision"


def test_one_sign_of_two_meanings_is_told_apart_by_its_column() -> None:
    """Spearman's ρ of a judge on numbers led to the ρ of the Alternative Annotator Test."""
    assert glossary.entry_of("ρ", "advantage") == "alternative-annotator-test"
    assert glossary.entry_of("ρ", "spearman") == "correlation"


def test_entries_of_what_a_report_has_go_by_the_columns_too() -> None:
    named = [("ρ", "spearman"), ("Nonsense", ""), ("F1", "bertscore")]
    assert [entry.key for entry in glossary.entries_of(named)] == ["correlation", "bertscore"]
