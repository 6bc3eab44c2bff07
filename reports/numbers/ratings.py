"""A benchmark's numbers: the criteria of a section, each with means, agreement, judges' traits, and order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.scheme.spec import BenchmarkSpec, Kind, SectionSpec
from reports.data.arrays import Filters, QuestionData, StudyData
from reports.data.frequent import FrequentEntry
from reports.data.label_table import RaterEntry
from reports.stats.answers import Answers, IntArray
from reports.stats.pairs import FloatArray
from reports.stats.ratings import agreement, judges, ranking
from reports.stats.ratings.agreement import DrawnPairs, PairAgreement, Together
from reports.stats.ratings.arrays import Draws, Estimate, Ratings, column_means, mean
from reports.stats.ratings.judges import AgainstPeople, JudgeTraits
from reports.stats.ratings.ranking import Effects, Ranking

# A facet with more words is not told apart: each would have a text or two.
MOST_WORDS = 200
_FEWEST_TEXTS = 4  # of a word, on average


@dataclass(frozen=True)
class Pooled:
    """Ratings of one rater (or all people together) of one generator's texts. deviation: their standard deviation, each
    single rating alike; n: single ratings."""

    mean: Estimate
    deviation: float | None
    n: int


@dataclass(frozen=True)
class OfWord:
    word: str
    mean: Estimate


@dataclass(frozen=True)
class Criterion:
    """`cells[rater][generator]`: raters are the judges and, behind them, people together, where there are any;
    `margins`: of each rater over all generators. `facets`: of each facet that several instructions share a word of, the
    mean over judges (else people) of each word, the highest first. `people_pairs` and such are None where fewer than
    two people rated."""

    data: QuestionData
    scale: FloatArray
    cells: tuple[tuple[Pooled, ...], ...]
    margins: tuple[Pooled, ...]
    facets: Mapping[str, tuple[OfWord, ...]]
    traits: tuple[JudgeTraits, ...]
    favour: tuple[Estimate | None, ...]
    effects: tuple[Effects, ...]
    together: Together | None
    pairs: tuple[PairAgreement, ...]
    people: Together | None
    against: tuple[AgainstPeople | None, ...]
    ceiling: AgainstPeople | None
    ranking: Ranking | None

    @property
    def name(self) -> str:
        return self.data.name

    @property
    def title(self) -> str:
        return self.data.spec.title


@dataclass(frozen=True)
class RatingsReport:
    """`judges`, `people`: who rated; `generators`: who wrote; of judges and generators families stand together.
    `pairs`: each two judges, averaged over criteria."""

    section: SectionSpec
    spec: BenchmarkSpec
    judges: tuple[RaterEntry, ...]
    judge_families: tuple[str, ...]
    people: tuple[RaterEntry, ...]
    generators: tuple[str, ...]
    generator_families: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    pairs: tuple[PairAgreement, ...]
    facets: Mapping[str, str]  # titles of those that raters see
    frequent: tuple[FrequentEntry, ...]
    power: bool  # see `ranking.Compared`
    bounded: bool  # intervals stay within the scale, and there is none where nothing varies
    unweighted: bool  # of each two judges κ without weights and means over criteria stand in the table
    all_words: bool  # all words of a facet stand in a table
    n_texts: int
    n_instructions: int
    n_draws: int
    seed: int

    @property
    def matrix(self) -> FloatArray:
        """κ of each two judges, NaN where it is not defined."""
        found = np.full((len(self.judges), len(self.judges)), np.nan)
        for pair in self.pairs:
            if pair.kappa.value is not None:
                found[pair.a, pair.b] = found[pair.b, pair.a] = pair.kappa.value
        return found


def ratings_report(data: StudyData, section: SectionSpec, filters: Filters) -> RatingsReport | None:
    """None where the scheme is of no benchmark, or nothing of the section is a scale with ratings."""
    spec = data.scheme.benchmark
    questions = [of for of in data.questions if of.section.key == section.key and of.spec.kind == Kind.SCALE]
    if spec is None or not questions:
        return None
    texts = _Texts(data, spec)
    if not any(of.people.cell.size or any(one.cell.size for one in of.judges.values()) for of in questions):
        return None
    draws = Draws.of(texts.n_instructions, n_draws=filters.n_draws, seed=filters.seed)
    rating = tuple(judge for judge in data.judges if any(_has(of, judge) for of in questions))
    families = tuple(spec.family(judge.model or judge.code) for judge in rating)
    in_order = sorted(range(len(rating)), key=lambda place: (families[place], place))
    rating = tuple(rating[place] for place in in_order)
    families = tuple(families[place] for place in in_order)
    made = [
        _criterion(
            of,
            data,
            texts,
            rating,
            families,
            draws,
            power=not filters.before_each,
            exact=not filters.before_exact_leniency,
        )
        for of in questions
    ]
    return RatingsReport(
        section=section,
        spec=spec,
        judges=rating,
        judge_families=families,
        people=data.people,
        generators=texts.generators,
        generator_families=texts.families,
        criteria=tuple(of for of, _pairs in made),
        pairs=tuple(agreement.pair_agreement([pairs for _of, pairs in made], draws)),
        facets=texts.told_apart,
        frequent=data.table.frequent,
        power=not filters.before_each,
        bounded=not filters.before_equal_draws,
        unweighted=not filters.before_unweighted,
        all_words=not filters.before_all_words,
        n_texts=len(data.table.rows),
        n_instructions=texts.n_instructions,
        n_draws=filters.n_draws,
        seed=filters.seed,
    )


def _has(question: QuestionData, judge: RaterEntry) -> bool:
    return judge.code in question.judges and bool(question.judges[judge.code].cell.size)


class _Texts:
    """The rows of a table as texts of instructions."""

    def __init__(self, data: StudyData, spec: BenchmarkSpec) -> None:
        rows = data.table.rows
        said = [row.facets for row in rows]
        self.facets = said
        keys = [tuple(of.get(facet, "") for facet in spec.instruction) for of in said]
        number = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        self.cluster = np.array([number[key] for key in keys], dtype=np.int64)
        self.n_instructions = len(number)
        names = {of.get(spec.generator, "") for of in said} - {""}
        self.generators = tuple(sorted(names, key=lambda name: (spec.family(name), name)))
        self.families = tuple(spec.family(name) for name in self.generators)
        place = {name: at for at, name in enumerate(self.generators)}
        self.generator = np.array([place.get(of.get(spec.generator, ""), -1) for of in said], dtype=np.int64)
        self.words = np.array([_number(of.get(spec.length, "")) if spec.length else np.nan for of in said])
        seen: dict[int, int] = {}
        self.position = np.zeros(len(rows))
        for at, one in enumerate(self.cluster.tolist()):
            self.position[at] = seen.get(one, 0)
            seen[one] = seen.get(one, 0) + 1
        hidden = {facet.key for facet in data.scheme.row.facets if facet.hidden}
        self.told_apart = {facet.key: facet.name for facet in data.scheme.row.facets if facet.key not in hidden}

    def of(self, raters: Sequence[str], answers: Sequence[Answers], numbers: FloatArray, n_columns: int) -> Ratings:
        """`answers`: of each rater, with the number of the repeat (from 1) in the place of the rater. Of several
        columns of a row each is a text of its own, of the same instruction."""
        cells = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(of.cell for of in answers)]))
        n_repeats = max((int(of.rater.max()) for of in answers if of.rater.size), default=1)
        values = np.full((len(raters), cells.size, n_repeats), np.nan)
        for place, of_rater in enumerate(answers):
            values[place, np.searchsorted(cells, of_rater.cell), of_rater.rater - 1] = numbers[of_rater.code]
        row = cells // n_columns
        self.row = row
        return Ratings(
            raters=tuple(raters),
            values=values,
            cluster=self.cluster[row],
            generator=self.generator[row],
            position=self.position[row],
            words=self.words[row],
            ends=(float(numbers.min()), float(numbers.max())),
        )


def _number(said: str) -> float:
    try:
        return float(said)
    except ValueError:
        return np.nan


def _as_repeats(answers: Answers) -> Answers:
    """With 1 in the place of the rater."""
    return Answers(
        rater=np.ones(answers.cell.size, dtype=np.int64),
        cell=answers.cell,
        sheet=answers.sheet,
        code=answers.code,
        document=answers.document,
        n_options=answers.n_options,
    )


def _criterion(
    question: QuestionData,
    data: StudyData,
    texts: _Texts,
    rating: Sequence[RaterEntry],
    families: Sequence[str],
    draws: Draws,
    *,
    power: bool,
    exact: bool,
) -> tuple[Criterion, DrawnPairs]:
    """And its pairs of judges, of which means over criteria are taken."""
    scale = np.array([option.value or 0 for option in question.spec.options], dtype=np.float64)
    of_judges = [
        question.repeats.get(judge.code) or _as_repeats(question.judges[judge.code])
        if judge.code in question.judges
        else _as_repeats(question.people.where(np.zeros(question.people.cell.size, dtype=bool)))
        for judge in rating
    ]
    everybody = question.people
    of_people = [
        _as_repeats(everybody.where(everybody.rater == data.table.raters.index(person))) for person in data.people
    ]
    both = texts.of(
        [*(judge.code for judge in rating), *(person.code for person in data.people)],
        [*of_judges, *of_people],
        scale,
        data.n_columns,
    )
    whole, people = _part(both, range(len(rating))), _part(both, range(len(rating), len(both.raters)))
    has_people = bool((~np.isnan(people.means)).any())
    several = sum(bool(row.any()) for row in ~np.isnan(people.means)) > 1
    k = len(texts.generators)
    pooled = [whole.values[place] for place in range(len(rating))]
    if has_people:
        pooled.append(people.values[:, :, 0].T)
    voice = whole if rating else people
    levels = [*whole.means, *([column_means(people.means)] if has_people else [])]
    pairs = agreement.drawn_pairs(whole, draws)
    criterion = Criterion(
        data=question,
        scale=scale,
        cells=tuple(tuple(_pooled(of, both, both.generator == one) for one in range(k)) for of in pooled),
        margins=tuple(_pooled(of, both, np.ones(both.generator.size, dtype=bool)) for of in pooled),
        facets=dict(_facets(texts, both, voice)),
        traits=tuple(judges.traits(whole, draws, exact=exact)),
        favour=tuple(judges.self_preference(whole, families, texts.families, connected=power, exact=exact)),
        effects=tuple(ranking.effects(of, both) for of in levels),
        together=agreement.together(whole, scale, draws) if len(rating) > 1 else None,
        pairs=tuple(agreement.pair_agreement([pairs], draws)),
        people=agreement.together(people, scale, draws) if several else None,
        against=tuple(
            judges.against_people(whole.means[place], whole.values[place], people.means, both, draws)
            if has_people
            else None
            for place in range(len(rating))
        ),
        ceiling=judges.people_among_themselves(people, draws) if several else None,
        ranking=ranking.ranking(
            voice,
            families if rating else [""] * len(people.raters),
            texts.generators,
            draws,
            family_of=texts.families,
            power=power,
            exact=exact,
        )
        if k > 1
        else None,
    )
    return criterion, pairs


def _part(ratings: Ratings, raters: range) -> Ratings:
    return Ratings(
        raters=tuple(ratings.raters[place] for place in raters),
        values=ratings.values[raters.start : raters.stop],
        cluster=ratings.cluster,
        generator=ratings.generator,
        position=ratings.position,
        words=ratings.words,
        ends=ratings.ends,
    )


def _pooled(values: FloatArray, ratings: Ratings, chosen: IntArray) -> Pooled:
    """`values`: shape (n_items, n): ratings of each text, which counts as often as it was rated."""
    mine = values[chosen]
    cluster = np.repeat(ratings.cluster[chosen], values.shape[1])
    known = mine[~np.isnan(mine)]
    return Pooled(
        mean=mean(mine.ravel(), cluster).within(*ratings.ends),
        deviation=float(known.std(ddof=1)) if known.size > 1 else None,
        n=known.size,
    )


def _facets(texts: _Texts, ratings: Ratings, voice: Ratings) -> Iterator[tuple[str, tuple[OfWord, ...]]]:
    rows = texts.row.tolist()
    for facet in texts.told_apart:
        said = np.array([texts.facets[row].get(facet, "") for row in rows])
        words = [word for word in np.unique(said).tolist() if word]
        if not 1 < len(words) <= min(MOST_WORDS, len(rows) / _FEWEST_TEXTS):
            continue
        found = [
            OfWord(word, mean(voice.item_means[said == word], ratings.cluster[said == word]).within(*ratings.ends))
            for word in words
        ]
        found.sort(key=lambda of: (-(of.mean.value if of.mean.value is not None else -np.inf), of.word))
        yield facet, tuple(found)
