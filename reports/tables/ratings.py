"""A benchmark's tables: who rated whom how, which words are rated highest, agreement, judges' traits, order, enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from django.utils.translation import gettext as _

from reports.numbers.ratings import Criterion, OfWord, RatingsReport
from reports.stats.ratings.agreement import Together
from reports.stats.ratings.arrays import Estimate
from reports.stats.ratings.ranking import ratings_needed, reliability
from reports.tables.base import Head, ReportTable, Value
from reports.tables.estimates import three, three_heads
from reports.words import by_instructions, evaluators

_ENDS = 3  # words at the top and at the bottom
RELIABLE = 0.8
_REPEATS = (1, 3, 5, 10)


def ratings_tables(report: RatingsReport) -> Iterator[ReportTable]:
    for of in report.criteria:
        yield _cells(report, of)
    facets = list(dict.fromkeys(chain.from_iterable(of.facets for of in report.criteria)))
    if facets:
        yield _words(report, facets)
    if report.all_words and (long := [facet for facet in facets if _is_long(report, facet)]):
        yield _all_words(report, long)
    if report.frequent:
        yield _frequent(report)
    yield from _agreement(report)
    for of in report.criteria:
        if any(of.against):
            yield from _against(report, of)
    for of in report.criteria:
        if of.traits:
            yield from _traits(report, of)
    for of in report.criteria:
        if of.ranking is not None:
            yield _ranking(report, of)
            yield _compared(report, of)
    yield _enough(report)


def _titled(of: Criterion, title: str) -> str:
    """All criteria stand in one part of the report."""
    return f"{of.title}: {title}"


def _cells(report: RatingsReport, of: Criterion) -> ReportTable:
    rows: list[tuple[Value, ...]] = []
    for name, cells, margin in zip(evaluators(report, of), of.cells, of.margins, strict=True):
        rows.append((name, _("all"), *three(margin.mean), margin.deviation, margin.n))
        rows += [
            (f"    {name}", generator, *three(cell.mean), cell.deviation, cell.n)
            for generator, cell in zip(report.generators, cells, strict=True)
        ]
    return ReportTable(
        key=f"{of.name}.ratings",
        about="",
        title=_titled(of, _("Ratings of each generator by each evaluator")),
        heads=(
            Head("evaluator", _("Evaluator")),
            Head("generator", _("Generator")),
            *three_heads("mean", _("Mean")),
            Head("deviation", "SD", "number"),
            Head("ratings", _("Ratings"), "count"),
        ),
        rows=tuple(rows),
        how=_("All ratings count alike, repeats too. The deviation is that of single ratings.")
        + " "
        + by_instructions(report),
    )


def _words(report: RatingsReport, facets: Sequence[str]) -> ReportTable:
    titles = report.facets
    rows: list[tuple[Value, ...]] = []
    for facet in facets:
        for of in report.criteria:
            words = of.facets.get(facet, ())
            places = [(place, words[place]) for place in _shown(words)]
            rows += [
                (titles.get(facet, facet), of.title, place + 1, word.word, *three(word.mean), word.mean.n)
                for place, word in places
            ]
    return ReportTable(
        key=f"{report.section.key}.words",
        about="",
        title=_("Rated highest and lowest"),
        heads=(
            Head("facet", _("Facet")),
            Head("criterion", _("Criterion")),
            Head("rank", _("Rank"), "count"),
            Head("word", _("Word")),
            *three_heads("mean", _("Mean")),
            Head("texts", _("Texts"), "count"),
        ),
        rows=tuple(rows),
        how=_(
            "The mean over all judges, each alike, or over people where no judge rated: the three highest and the "
            "three lowest words of each facet, all of them where there are six or fewer."
        )
        + " "
        + by_instructions(report),
    )


def _is_long(report: RatingsReport, facet: str) -> bool:
    """Whether `_words` leaves some out."""
    return any(len(of.facets.get(facet, ())) > 2 * _ENDS for of in report.criteria)


def _all_words(report: RatingsReport, facets: Sequence[str]) -> ReportTable:
    """A line a word, so that its ranks by all criteria stand side by side."""
    rows: list[tuple[Value, ...]] = []
    for facet in facets:
        ranked = [
            {of.word: (place, of.mean) for place, of in enumerate(criterion.facets.get(facet, ()), start=1)}
            for criterion in report.criteria
        ]
        for word in dict.fromkeys(chain.from_iterable(ranked)):
            found = [of.get(word, (None, None)) for of in ranked]
            texts = min(mean.n for _rank, mean in found if mean is not None)
            told = [(rank, *three(mean)) for rank, mean in found]
            rows.append((word, report.facets.get(facet, facet), texts, *chain.from_iterable(told)))
    return ReportTable(
        key=f"{report.section.key}.all-words",
        about="",
        title=_("All words of each facet"),
        heads=(
            Head("word", _("Word")),
            Head("facet", _("Facet")),
            Head("texts", _("Texts"), "count"),
            *chain.from_iterable(_of_criterion(of) for of in report.criteria),
        ),
        rows=tuple(rows),
        how=_(
            "All words of the facets of which “Rated highest and lowest” leaves some out, in the order of the first "
            "criterion. The texts are those of the criterion with the fewest."
        )
        + " "
        + by_instructions(report),
        folded=True,
    )


def _of_criterion(of: Criterion) -> tuple[Head, ...]:
    """The columns of a word; all criteria have the same beneath their names."""
    key = of.data.spec.key
    return (
        Head(f"{key}_rank", _("Rank"), "count", of.title),
        Head(f"{key}_mean", _("Mean"), "number", of.title),
        Head(f"{key}_low", _("from"), "number", of.title),
        Head(f"{key}_high", _("to"), "number", of.title),
    )


def _frequent(report: RatingsReport) -> ReportTable:
    titles = report.facets
    if names := report.frequent[0].names:
        left_out = _(
            "Without stop words (NLTK's list of English ones) and the words of “%(facet)s”. Forms of a word count "
            "together. The page “Words” has more of them, in how many texts each stands, and can leave out more."
        ) % {"facet": titles.get(names, names)}
    else:
        left_out = _(
            "Without words of grammar, those that nearly any text has, and the names of instructions. Forms of a word "
            "count together. The page “Words” has more of them, and in how many texts each stands."
        )
    return ReportTable(
        key=f"{report.section.key}.frequent",
        about="",
        title=_("Most frequent words of each generator"),
        heads=(
            Head("facet", _("Facet")),
            Head("word", _("Word")),
            Head("generator", _("Generator")),
            Head("texts", _("Texts"), "count"),
            Head("words", _("Most frequent words, each with how often it stands there")),
        ),
        rows=tuple(
            (
                titles.get(of.facet, of.facet) if of.facet else _("all"),
                of.word or _("all"),
                of.generator,
                of.texts,
                ", ".join(f"{word} {n}" for word, n, _texts in of.words),
            )
            for of in report.frequent
        ),
        how=left_out,
    )


def _shown(words: Sequence[OfWord]) -> list[int]:
    n = len(words)
    return list(range(n)) if n <= 2 * _ENDS else [*range(_ENDS), *range(n - _ENDS, n)]


def _coefficients(of: Together) -> list[tuple[str, Estimate]]:
    return [
        (_("Krippendorff's α, ordinal"), of.alpha_ordinal),
        (_("Krippendorff's α, interval"), of.alpha_interval),
        (_("ICC(A,1): one rater, absolute agreement"), of.icc_agreement),
        (_("ICC(C,1): one rater, consistency"), of.icc_consistency),
        (_("ICC(A,k): the mean of all"), of.icc_mean),
        (_("ICC(1,1): one rater, whoever rated"), of.icc_one_way),
    ]


def _agreement(report: RatingsReport) -> Iterator[ReportTable]:
    rows: list[tuple[Value, ...]] = []
    for of in report.criteria:
        for who, together in ((_("judges"), of.together), (_("people"), of.people)):
            if together is not None:
                rows += [
                    (of.title, who, title, *three(found), found.n)
                    for title, found in _coefficients(together)
                    if found.n
                ]
    if rows:
        yield ReportTable(
            key=f"{report.section.key}.together",
            about="",
            title=_("Agreement on ratings"),
            heads=(
                Head("criterion", _("Criterion")),
                Head("who", _("Among")),
                Head("coefficient", _("Coefficient")),
                *three_heads("value", _("Agreement")),
                Head("n", _("Ratings"), "count"),
            ),
            rows=tuple(rows),
            how=_(
                "α is of first ratings; ICC of each rater's mean of repeats, and but for ICC(1,1) over texts that "
                "all of them rated."
            )
            + " "
            + by_instructions(report),
        )
    if any(of.pairs for of in report.criteria):
        yield _judge_pairs(report)


def _judge_pairs(report: RatingsReport) -> ReportTable:
    names = [judge.code for judge in report.judges]
    of_criteria = [(of.title, of.pairs) for of in report.criteria]
    if report.unweighted and len(of_criteria) > 1:
        of_criteria.insert(0, (_("Mean"), report.pairs))
    rows: list[tuple[Value, ...]] = [
        (
            *(title, names[pair.a], names[pair.b], *three(pair.kappa)),
            *(three(pair.unweighted) if report.unweighted else ()),
            *(*three(pair.pearson), *three(pair.exact), pair.kappa.n),
        )
        for title, pairs in of_criteria
        for pair in pairs
    ]
    how = [_("κ and the same number are of first ratings, r of means of repeats.")]
    if report.unweighted:
        how.append(
            _(
                "Unweighted is Cohen's κ of 1960, for which 1 and 4 are equally far from 5; for quadratic weights they "
                "are not."
            )
        )
        if len(report.criteria) > 1:
            how.append(_("Means are over the criteria in which a figure is defined, their texts those of the fewest."))
    return ReportTable(
        key=f"{report.section.key}.judge-pairs",
        about="",
        title=_("Agreement of each two judges"),
        heads=(
            Head("criterion", _("Criterion")),
            Head("first", _("Judge")),
            Head("second", _("Other judge")),
            *three_heads("kappa", _("κ, quadratic weights")),
            *(three_heads("unweighted", _("κ, unweighted")) if report.unweighted else ()),
            *three_heads("pearson", _("Pearson's r")),
            *three_heads("exact", _("Same number")),
            Head("n", _("Texts"), "count"),
        ),
        rows=tuple(rows),
        how=" ".join([*how, by_instructions(report)]),
        folded=True,
    )


def _against(report: RatingsReport, of: Criterion) -> Iterator[ReportTable]:
    found = [(judge.code, one) for judge, one in zip(report.judges, of.against, strict=True) if one is not None]
    if of.ceiling is not None:
        found.append((_("one person, by the others"), of.ceiling))
    yield ReportTable(
        key=f"{of.name}.against-people",
        about="",
        title=_titled(of, _("Difference between each judge and people")),
        heads=(
            Head("judge", _("Judge")),
            *three_heads("absolute", _("Mean absolute difference")),
            *three_heads("single", _("The same of single ratings")),
            *three_heads("root", _("Root mean square")),
            Head("apart", _("Means apart"), "number"),
            *three_heads("bias", _("Judge less people")),
            Head("texts", _("Texts"), "count"),
        ),
        rows=tuple(
            (
                *(name, *three(one.absolute), *three(one.single), *three(one.root)),
                *(one.apart, *three(one.bias), one.absolute.n),
            )
            for name, one in found
        ),
        how=_(
            "Of texts that people rated: a judge's mean of repeats against the mean of people. Of single ratings: each "
            "rating against each person's. The last line holds each person against the others, which no judge can be "
            "asked to better."
        )
        + " "
        + by_instructions(report),
    )
    yield ReportTable(
        key=f"{of.name}.on-people",
        about="",
        title=_titled(of, _("Each judge as a function of people")),
        heads=(
            Head("judge", _("Judge")),
            *three_heads("slope", _("Slope")),
            *three_heads("intercept", _("Intercept")),
            *three_heads("concordance", _("Lin's concordance")),
            *three_heads("pearson", _("Pearson's r")),
        ),
        rows=tuple(
            (name, *three(one.slope), *three(one.intercept), *three(one.concordance), *three(one.pearson))
            for name, one in found
        ),
        how=_(
            "Least squares of a judge's mean of repeats on the mean of people; the fewer people rated a text, the "
            "flatter the slope."
        )
        + " "
        + by_instructions(report),
    )


def _traits(report: RatingsReport, of: Criterion) -> Iterator[ReportTable]:
    judges = list(zip(report.judges, report.judge_families, of.traits, of.favour, of.effects, strict=False))
    yield ReportTable(
        key=f"{of.name}.judge-traits",
        about="",
        title=_titled(of, _("Leniency, spread and favour of each judge")),
        heads=(
            Head("judge", _("Judge")),
            Head("family", _("Family")),
            *three_heads("leniency", _("Leniency")),
            *three_heads("spread", _("Spread (SD)")),
            *three_heads("favour", _("Favour for its own family")),
        ),
        rows=tuple(
            (judge.code, family, *three(traits.leniency), *three(traits.spread), *three(favour))
            for judge, family, traits, favour, _effects in judges
        ),
        how=_(
            "Leniency: by how much it rates higher than judges do on average, of the same texts. Favour: what its own "
            "family's texts get beyond its leniency and beyond what the others give them; the others' ratings of their "
            "own families are left out. There is none where nobody of its family wrote."
        )
        + " "
        + by_instructions(report),
    )
    if any(traits.repeats is not None for traits in of.traits):
        yield ReportTable(
            key=f"{of.name}.repeats",
            about="",
            title=_titled(of, _("How equal the repeats of each judge are")),
            heads=(
                Head("judge", _("Judge")),
                *three_heads("same", _("Repeats all equal")),
                *three_heads("within", _("SD of repeats")),
                *three_heads("repeats", _("ICC(1,1) of repeats")),
            ),
            rows=tuple(
                (judge.code, *three(traits.same), *three(traits.within), *three(traits.repeats))
                for judge, _family, traits, _favour, _effects in judges
            ),
            how=_("Of texts that a judge rated several times.") + " " + by_instructions(report),
        )
    effects = [(judge.code, one) for judge, _family, _traits, _favour, one in judges]
    if len(of.effects) > len(report.judges):
        effects.append((_("People"), of.effects[-1]))
    yield ReportTable(
        key=f"{of.name}.effects",
        about="",
        title=_titled(of, _("What length and place have to do with ratings")),
        heads=(
            Head("judge", _("Rater")),
            *three_heads("length", _("Twice as long")),
            *three_heads("position", _("A place further back")),
        ),
        rows=tuple((name, *three(one.length), *three(one.position)) for name, one in effects),
        how=_(
            "By how much a text is rated higher for it, among the texts of one instruction, generators told apart. The "
            "place is that on the sheet."
        )
        + " "
        + by_instructions(report),
    )


def _ranking(report: RatingsReport, of: Criterion) -> ReportTable:
    assert of.ranking is not None
    rows: list[tuple[Value, ...]] = [
        (
            report.generators[one.generator],
            report.generator_families[one.generator],
            one.rank,
            one.rank_low,
            one.rank_high,
            *three(one.mean),
            *three(one.fair),
            *three(one.strength),
        )
        for one in of.ranking.ranked
    ]
    return ReportTable(
        key=f"{of.name}.ranking",
        about="",
        title=_titled(of, _("Generators in order")),
        heads=(
            Head("generator", _("Generator")),
            Head("family", _("Family")),
            Head("rank", _("Rank"), "count"),
            Head("rank_low", _("from"), "count", _("Rank, 95 % of draws")),
            Head("rank_high", _("to"), "count", _("Rank, 95 % of draws")),
            *three_heads("mean", _("Mean")),
            *three_heads("fair", _("Corrected mean")),
            *three_heads("strength", _("Bradley-Terry")),
        ),
        rows=tuple(rows),
        how=_(
            "The mean is over judges, each alike. Corrected: leniency and spread of judges made equal, and no judge "
            "of a "
            "generator's own family. Bradley-Terry: strengths in logits around nothing, from each judge's ratings of "
            "two texts for the same instruction, a tie counting half for both."
        )
        + " "
        + by_instructions(report),
    )


def _compared(report: RatingsReport, of: Criterion) -> ReportTable:
    assert of.ranking is not None
    names = report.generators
    return ReportTable(
        key=f"{of.name}.order",
        about="",
        title=_titled(of, _("Which order is known")),
        heads=(
            Head("first", _("Generator")),
            Head("second", _("Other generator")),
            *three_heads("difference", _("Difference of means")),
            Head("known", _("The order is")),
            Head("needed", _("Instructions needed"), "count"),
        ),
        rows=tuple(
            (
                names[one.first],
                names[one.second],
                *three(one.difference),
                _("known") if one.known else _("not known"),
                one.needed,
            )
            for one in of.ranking.compared
        ),
        how=(
            _(
                "The order of two is known where the interval of their difference leaves nothing out. Of many pairs "
                "one in twenty seems known by chance. Needed: with so many instructions the order would be known four "
                "times of five, if the difference is what it seems to be."
            )
            if report.power
            else _(
                "The order of two is known where the interval of their difference leaves nothing out. Of many pairs "
                "one in twenty seems known by chance. Needed: so many instructions would be enough, if the difference "
                "is what it seems to be."
            )
        )
        + " "
        + by_instructions(report),
        folded=len(of.ranking.compared) > 15,
    )


def _enough(report: RatingsReport) -> ReportTable:
    rows: list[tuple[Value, ...]] = []
    for of in report.criteria:
        for judge, traits in zip(report.judges, of.traits, strict=True):
            if traits.repeats is not None:
                rows.append(_line(of.title, _("repeats of %(judge)s") % {"judge": judge.code}, traits.repeats))
        if of.together is not None and of.together.icc_one_way.n:
            rows.append(_line(of.title, _("judges"), of.together.icc_one_way))
        if of.people is not None and of.people.icc_one_way.n:
            rows.append(_line(of.title, _("people"), of.people.icc_one_way))
    return ReportTable(
        key=f"{report.section.key}.enough",
        about="",
        title=_("How many would be enough"),
        heads=(
            Head("criterion", _("Criterion")),
            Head("of", _("Of")),
            *three_heads("single", _("Reliability of one")),
            *(Head(f"of_{n}", _("of %(n)s") % {"n": n}, "number", _("Reliability of the mean")) for n in _REPEATS[1:]),
            Head("needed", _("Needed for %(wanted)s") % {"wanted": RELIABLE}, "count"),
        ),
        rows=tuple(rows),
        how=_(
            "Reliability of one: ICC(1,1). Of the mean of several by Spearman and Brown's formula. None is needed "
            "where even many would not tell texts apart. How many instructions would be enough stands with each two "
            "generators."
        )
        + " "
        + by_instructions(report),
    )


def _line(criterion: str, of: str, single: Estimate) -> tuple[Value, ...]:
    value = single.value
    means = [None if value is None or value <= 0 else reliability(value, n) for n in _REPEATS[1:]]
    return (criterion, of, *three(single), *means, ratings_needed(value, RELIABLE))
