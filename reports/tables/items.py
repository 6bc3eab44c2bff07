"""Two raters' lists held against each other, entry by entry, and by the words that entries are tied to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotation.answers import kind_of
from reports.data.label_table import RaterEntry
from reports.numbers.items import SpanLine, TwoParsers
from reports.numbers.report import StudyReport
from reports.numbers.values import ValueReport
from reports.stats.items import Edit
from reports.stats.places import Counted, Figure
from reports.tables.base import Head, ReportTable, Value, interval_heads, words_of
from reports.tables.coefficients import ends, first_of, interval_how
from reports.words import UNDEFINED, code_of, name_of


def item_tables(report: StudyReport, question: ValueReport) -> Iterator[ReportTable]:
    if question.items:
        yield _entries(report, question)
        if any(of.found.edits for of in question.items):
            yield _edits(question)
    to_gold = [line for line in question.spans if line.b is not None]
    among = [line for line in question.spans if line.b is None]
    if among:
        yield _spans(report, question, among, to_gold=False)
    if to_gold:
        yield _spans(report, question, to_gold, to_gold=True)


def _entries(report: StudyReport, question: ValueReport) -> ReportTable:
    own = question.spec.items
    assert own is not None
    intervals = [of.found.intervals for of in question.items]
    shown = any(intervals)
    fields = own.said if len(own.said) > 1 else ()

    def line(of: TwoParsers) -> tuple[Value, ...]:
        found = of.found
        between = found.intervals
        return (
            code_of(of.a),
            code_of(of.b),
            found.n_lists,
            found.n_equal,
            found.n_a,
            found.n_b,
            found.same,
            found.changed,
            found.dropped,
            found.added,
            found.f_same,
            *ends(between.get("f_same"), shown=shown),
            found.f_matched,
            *ends(between.get("f_matched"), shown=shown),
            found.edit_rate,
            *ends(between.get("edit_rate"), shown=shown),
            *(found.fields if fields else ()),
        )

    entries, same, matched, rate = _("Entries"), _("Same (F1)"), _("Matched (F1)"), _("Edit rate")
    alike = _("Of matched entries, the same")
    return ReportTable(
        key=f"{question.data.name}.entries",
        about=name_of(question),
        title=_("Lists held against each other, entry by entry"),
        heads=(
            Head("rater_a", _("One")),
            Head("rater_b", _("Other")),
            Head("lists", _("Lists"), "count"),
            Head("equal", _("Equal lists"), "count"),
            Head("entries_a", _("of the one"), "count", entries),
            Head("entries_b", _("of the other"), "count", entries),
            Head("same", _("Same"), "count", entries),
            Head("changed", _("Changed"), "count", entries),
            Head("dropped", _("Dropped"), "count", entries),
            Head("added", _("Added"), "count", entries),
            Head("f_same", _("Value") if shown else same, "number", same if shown else ""),
            *interval_heads(shown, key="f_same_", group=same),
            Head("f_matched", _("Value") if shown else matched, "number", matched if shown else ""),
            *interval_heads(shown, key="f_matched_", group=matched),
            Head("edit_rate", _("Value") if shown else rate, "number", rate if shown else ""),
            *interval_heads(shown, key="edit_rate_", group=rate),
            *(Head(f"field_{field.key}", field.name, "number", alike) for field in fields),
        ),
        rows=tuple(line(of) for of in question.items),
        how=" ".join(
            filter(
                None,
                (
                    _(
                        "Entries of two lists are paired one to one, the most alike first; a pair has half of what it "
                        "says in common or more. Same: all fields say the same. Changed: a pair that does not. "
                        "Dropped: of the one alone. Added: of the other alone. F1 is twice the pairs over the entries "
                        "of both; the edit rate is what was changed, dropped and added over the entries of both "
                        "together, a pair once. Order and letter case do not count."
                    ),
                    interval_how(first_of(of["f_same"] for of in intervals if of), words_of(report)),
                ),
            )
        ),
    )


def _edits(question: ValueReport) -> ReportTable:
    """What was changed, dropped and added, the most frequent first."""
    said = {"changed": _("changed"), "dropped": _("dropped"), "added": _("added")}
    rows: list[tuple[Value, ...]] = [
        (
            code_of(of.a),
            code_of(of.b),
            said[_kind(edit)],
            _told(question, edit.before),
            _told(question, edit.after),
            edit.n,
        )
        for of in question.items
        for edit in of.found.edits
    ]
    return ReportTable(
        key=f"{question.data.name}.edits",
        about=name_of(question),
        title=_("What was changed, dropped and added"),
        heads=(
            Head("rater_a", _("One")),
            Head("rater_b", _("Other")),
            Head("edit", _("Edit")),
            Head("before", _("The one has")),
            Head("after", _("The other has")),
            Head("count", _("Count"), "count"),
        ),
        rows=tuple(rows),
        how=_("Of each two raters the most frequent edits of each kind."),
    )


def _kind(edit: Edit) -> str:
    return "added" if edit.before is None else "dropped" if edit.after is None else "changed"


def _told(question: ValueReport, record: Mapping[str, Any] | None) -> str:
    if record is None:
        return ""
    spec = question.spec
    return kind_of(spec).shown(spec, [{**record}])


# --- words of the document --------------------------------------------------------------------------------------------


def _spans(report: StudyReport, question: ValueReport, lines: Sequence[SpanLine], *, to_gold: bool) -> ReportTable:
    """People with each other, and each judge with people; or everybody with gold, of whom it is known who is right."""
    shown = any(figure.interval for line in lines for figure in _in_line(line))
    named = [("precision", _("Precision")), ("recall", _("Recall"))] if to_gold else []
    rates = [*named, ("f1", "F1")]
    figures = ("exact", _("Exact")), ("overlap", _("Overlapping")), ("characters", _("Characters"))
    heads = [Head("rater_a", _("One")), Head("rater_b", _("Other")), Head("compared", _("What has to be equal"))]
    if not to_gold:
        heads.append(Head("pairs", _("Pairs"), "count"))
    for key, name in figures:
        heads += [Head(f"{key}_{rate}", title, "number", name) for rate, title in rates]
        heads += interval_heads(shown, key=f"{key}_f1_", group=name)
    rows: list[tuple[Value, ...]] = []
    for line in lines:
        cells: list[Value] = [_who(line.a), _who(line.b), _compared(line.counted)]
        if not to_gold:
            cells.append(line.found.n_pairs if report.filters.before_pairs_with_spans else line.found.n_marked_pairs)
        for figure in _in_line(line):
            cells += [*(getattr(figure, rate) for rate, _title in rates), *ends(figure.interval, shown=shown)]
        rows.append((*cells, *_counts(line), str(UNDEFINED[line.found.because])))
    how = [_spans_how()]
    if not to_gold:
        how.append(
            _(
                "Each two raters have their F1 of all their lists; that of people, and of a judge with people, "
                "is the mean over pairs, and counts are sums over them."
            )
            if report.filters.before_pairs_with_spans
            else _(
                "Each two raters have their F1 of all their lists; that of people, and of a judge with people, is the "
                "mean over the pairs that marked anything. Counts are sums over all pairs."
            )
        )
    return ReportTable(
        key=f"{question.data.name}.{'spans-gold' if to_gold else 'spans'}",
        about=name_of(question),
        title=_("Marked words against gold") if to_gold else _("Marked words held against each other"),
        heads=(*heads, *_count_heads(), Head("because", _("Not defined because"), "note")),
        rows=tuple(rows),
        how=" ".join(filter(None, [*how, _drawn_how(report, lines)])),
    )


def _who(rater: RaterEntry | None) -> str:
    return _("People") if rater is None else code_of(rater)


def _in_line(line: SpanLine) -> tuple[Figure, Figure, Figure]:
    return line.found.exact, line.found.overlap, line.found.characters


def _count_heads() -> tuple[Head, ...]:
    spans, without = _("Spans"), _("Entries without a place")
    return (
        Head("lists", _("Lists"), "count"),
        Head("spans_a", _("of the one"), "count", spans),
        Head("spans_b", _("of the other"), "count", spans),
        Head("without_a", _("of the one"), "count", without),
        Head("without_b", _("of the other"), "count", without),
    )


def _counts(line: SpanLine) -> tuple[int, ...]:
    found = line.found
    return found.n_lists, found.n_a, found.n_b, found.without_a, found.without_b


def _compared(counted: Counted) -> str:
    """What two spans have to have in common."""
    if counted.option:
        return f"{counted.fields[0].name}: {counted.option}"
    return ", ".join([_("place"), *(field.name for field in counted.fields)])


def _drawn_how(report: StudyReport, lines: Sequence[SpanLine]) -> str:
    defined = (line.found.exact for line in lines if line.found.exact.f1 is not None)
    return interval_how(first_of(figure.interval for figure in defined), words_of(report))


def _spans_how() -> str:
    return _(
        "Exact: spans with the same first and last character. Overlapping: pairs that share a character, each span in "
        "one pair. Characters: those that both marked. F1 is twice what is in common over what both have. A line that "
        "names an option is of entries with this option alone. Entries without a place are left out."
    )
