"""Agreement on graphs: Node F1 and Edge F1 by threshold, of people, judges and gold, and graph by graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.numbers.graphs import GraphReport, Pair
from reports.numbers.report import StudyReport
from reports.numbers.values import ValueReport
from reports.stats.graph.agreement import MEASURES, GraphAgreement
from reports.tables.base import Head, ReportTable, Value, interval_heads, words_of
from reports.tables.coefficients import ends, first_of, interval_how
from reports.words import code_of, count, name_of, naming_gold


def graph_tables(report: StudyReport, question: ValueReport, graphs: GraphReport) -> Iterator[ReportTable]:
    if graphs.problem:
        yield _problem(question, graphs)
        return
    if graphs.people is not None:
        yield _people(report, question, graphs, graphs.people)
    if any(pair.agreement.n_compared for pair in graphs.judges):
        yield _raters(report, question, graphs, graphs.judges, gold="")
    for gold in dict.fromkeys(code_of(pair.second) for pair in graphs.golds if pair.second is not None):
        of_gold = [pair for pair in graphs.golds if pair.second is not None and code_of(pair.second) == gold]
        yield _raters(report, question, graphs, of_gold, gold=gold)
    if graphs.each:
        yield _each(report, question, graphs)


def _problem(question: ValueReport, graphs: GraphReport) -> ReportTable:
    return ReportTable(
        key=f"{question.data.name}.graphs",
        about=name_of(question),
        title=_("Agreement on graphs"),
        heads=(
            Head("statistic", _("Statistic")),
            Head("value", _("Value"), "number"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=((_("Node F1"), None, graphs.problem), (_("Edge F1"), None, graphs.problem)),
    )


def _people(report: StudyReport, question: ValueReport, graphs: GraphReport, people: GraphAgreement) -> ReportTable:
    shown = bool(report.filters.by)
    rows: list[tuple[Value, ...]] = []
    for threshold in graphs.thresholds:
        rows.append((_at(threshold), *_values(people, threshold, shown, pooled=True), people.n_compared))
        for pair in graphs.pairs if len(graphs.pairs) > 1 else ():
            values = _values(pair.agreement, threshold, shown, pooled=True)
            rows.append((f"    {_named(pair)}", *values, pair.agreement.n_compared))
    return ReportTable(
        key=f"{question.data.name}.graphs",
        about=name_of(question),
        title=_("How far people agree on graphs"),
        heads=(
            Head("threshold", _("Threshold")),
            *_heads(shown, pooled=True),
            Head("compared", _("Compared"), "count"),
        ),
        rows=tuple(rows),
        how=" ".join(
            filter(
                None,
                [
                    _how(report, graphs),
                    _("Pooled, the counts of all are put together."),
                    _undefined(people),
                    _interval(report, people),
                ],
            )
        ),
    )


def _raters(
    report: StudyReport, question: ValueReport, graphs: GraphReport, pairs: tuple[Pair, ...] | list[Pair], *, gold: str
) -> ReportTable:
    shown = bool(report.filters.by)
    nodes = _("Nodes")
    rows = []
    for pair in pairs:
        for threshold in graphs.thresholds:
            of_nodes = (pair.agreement.precision.get(threshold), pair.agreement.recall.get(threshold)) if gold else ()
            line = _values(pair.agreement, threshold, shown)
            rows.append((code_of(pair.first), _at(threshold), *line, *of_nodes, pair.agreement.n_compared))
    if not gold and graphs.people is not None:
        people = graphs.people
        rows += [
            (_("people among themselves"), _at(threshold), *_values(people, threshold, shown), people.n_compared)
            for threshold in graphs.thresholds
        ]
    said = [_how(report, graphs)]
    if gold:
        said.append(_("Precision and recall are of nodes: the share of what was drawn, and of gold, that was matched."))
    else:
        said.append(_("Of a graph that several people drew, the mean over them is taken."))
    if graphs.n_unanswered:
        said.append(
            ngettext(
                "%(n)s step that a judge has no answer to counts as one that changes nothing.",
                "%(n)s steps that judges have no answer to count as ones that change nothing.",
                graphs.n_unanswered,
            )
            % {"n": count(graphs.n_unanswered)}
        )
    right: tuple[Head, ...] = ()
    if gold:
        right = (Head("precision", _("Precision"), "number", nodes), Head("recall", _("Recall"), "number", nodes))
    first = next((pair.agreement for pair in pairs if pair.agreement.n_compared), None)
    return ReportTable(
        key=f"{question.data.name}.graphs.gold.{gold}" if gold else f"{question.data.name}.graphs.judges",
        about=name_of(question),
        title=naming_gold(_("Graphs against gold %(rater)s"), gold)
        if gold
        else _("How far judges draw people's graphs"),
        heads=(
            Head("rater", _("Who")),
            Head("threshold", _("Threshold")),
            *_heads(shown),
            *right,
            Head("compared", _("Compared"), "count"),
        ),
        rows=tuple(rows),
        how=" ".join([*said, *([_interval(report, first)] if first and shown else [])]),
    )


def _each(report: StudyReport, question: ValueReport, graphs: GraphReport) -> ReportTable:
    table, words = report.data.table, words_of(report)
    nodes, edges = _("Nodes"), _("Edges")
    rows = []
    for score in graphs.each:
        of = table.rows[score.row]
        counts = score.counts
        node, matched, every = counts.values
        rows.append(
            (
                f"{table.sheets[of.sheet]} · {of.name}",
                f"{code_of(score.first)} · {code_of(score.second)}",
                *counts.nodes,
                counts.n_matched,
                *counts.edges,
                *counts.inner,
                counts.shared,
                node,
                None if matched != matched else matched,
                every,
            )
        )
    return ReportTable(
        key=f"{question.data.name}.graphs.each",
        about=name_of(question),
        title=_("Graphs one by one, threshold %(threshold)s") % {"threshold": f"{graphs.shown:.2f}"},
        heads=(
            Head("row", f"{words.sheet} · {words.row}"),
            Head("raters", _("Who")),
            Head("nodes_first", _("first"), "count", nodes),
            Head("nodes_second", _("second"), "count", nodes),
            Head("nodes_matched", _("matched"), "count", nodes),
            Head("edges_first", _("first"), "count", edges),
            Head("edges_second", _("second"), "count", edges),
            Head("inner_first", _("first, between matched"), "count", edges),
            Head("inner_second", _("second, between matched"), "count", edges),
            Head("edges_shared", _("in both"), "count", edges),
            Head("node_f1", _("Node F1"), "number"),
            Head("edge_f1_matched", _("Edge F1 (matched)"), "number"),
            Head("edge_f1_all", _("Edge F1 (all)"), "number"),
        ),
        rows=tuple(rows),
        how=_(
            "Node F1 is twice the matched nodes by the nodes of both; Edge F1 (matched) twice the edges in both by "
            "those between matched nodes, Edge F1 (all) by all edges."
        ),
        folded=len(rows) > 12,
    )


def _at(threshold: float) -> str:
    return f"{threshold:.2f}"


def _named(pair: Pair) -> str:
    return f"{code_of(pair.first)} · {code_of(pair.second)}" if pair.second is not None else code_of(pair.first)


def _heads(shown: bool, *, pooled: bool = False) -> list[Head]:
    titles = {
        "nodes": ("node_f1", _("Node F1")),
        "matched": ("edge_f1_matched", _("Edge F1 (matched)")),
        "all": ("edge_f1_all", _("Edge F1 (all)")),
    }
    heads: list[Head] = []
    for measure in MEASURES:
        key, title = titles[measure]
        heads += [
            Head(key, _("Mean"), "number", title),
            *interval_heads(shown, key=f"{key}_", group=title),
        ]
        if pooled:
            heads.append(Head(f"{key}_pooled", _("pooled"), "number", title))
    return heads


def _values(of: GraphAgreement, threshold: float, shown: bool, *, pooled: bool = False) -> list[Value]:
    line: list[Value] = []
    for measure in MEASURES:
        mean = of.means.get((threshold, measure))
        line += [mean.value if mean else None, *ends(mean.interval if mean else None, shown=shown)]
        if pooled:
            line.append(mean.pooled if mean else None)
    return line


def _how(report: StudyReport, graphs: GraphReport) -> str:
    words = words_of(report)
    said = [
        _(
            "Nodes are what steps made, matched step by step: as many as possible of those whose names have a cosine "
            "of at least the threshold. The mean is over %(rows)s."
        )
        % {"rows": words.rows},
        _("Encoder: %(encoder)s.") % {"encoder": ", ".join(encoder_told(graphs.encoder))},
    ]
    if graphs.is_fallback:
        said.append(
            _("It is a fallback that compares spellings, not meanings: two names of one thing are seldom alike to it.")
        )
    if graphs.n_left_out:
        said.append(
            ngettext(
                "%(n)s graph that lacks an answer to a step is left out.",
                "%(n)s graphs that lack an answer to a step are left out.",
                graphs.n_left_out,
            )
            % {"n": count(graphs.n_left_out)}
        )
    if graphs.n_unknown:
        said.append(
            ngettext(
                "%(n)s use of a thing that was not there counts as an edge that nobody else has.",
                "%(n)s uses of things that were not there count as edges that nobody else has.",
                graphs.n_unknown,
            )
            % {"n": count(graphs.n_unknown)}
        )
    return " ".join(said)


def encoder_told(identity: Mapping[str, str]) -> list[str]:
    """What the encoder says of itself; digests by their first digits, which is enough to tell two files apart."""
    named = {"encoder": "", "weights_sha256": "SHA-256"}
    return [
        f"{named.get(key, key)} {value[:16] if key.endswith('sha256') else value.strip(' :')}".strip()
        for key, value in identity.items()
        if value
    ]


def _undefined(of: GraphAgreement) -> str:
    n = max((mean.n_undefined for mean in of.means.values()), default=0)
    said = []
    if n:
        said.append(
            ngettext(
                "In at most %(n)s comparison no edge lies between matched nodes; Edge F1 (matched) is without it.",
                "In at most %(n)s comparisons no edge lies between matched nodes; Edge F1 (matched) is without them.",
                n,
            )
            % {"n": count(n)}
        )
    if of.n_empty:
        said.append(
            ngettext(
                "In %(n)s comparison nobody made anything, which counts as 1.",
                "In %(n)s comparisons nobody made anything, which counts as 1.",
                of.n_empty,
            )
            % {"n": count(of.n_empty)}
        )
    return " ".join(said)


def _interval(report: StudyReport, of: GraphAgreement) -> str:
    return interval_how(first_of(mean.interval for mean in of.means.values()), words_of(report))
