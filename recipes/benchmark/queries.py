"""Reads of this pack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.evidence.blocks import blocks_from_json
from annotation.models import Assignment, Row, Study
from annotation.scheme.spec import BenchmarkSpec, facet_word
from judges.models import GenerationItem, GenerationRun, Judge, Run
from recipes.benchmark import pairs, words
from reports.data.frequent import FrequentEntry
from work.states import ItemState, RunState


def instructions_slug(benchmark: str) -> str:
    return f"{benchmark}-instructions"


def is_unfinished(run: Run | GenerationRun) -> bool:
    """At work, or stopped before its end. One query."""
    return run.state == RunState.RUNNING or run.items.exclude(state=ItemState.DONE).exists()


def left_to_judge(study: Study, judge: Judge, repeats: int) -> bool:
    """Whether a row lacks one of its repeats. One query a repeat, at most."""
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None)
    done = Assignment.objects.filter(rater__study=study, rater__code=judge.name, state=Assignment.State.SUBMITTED)
    return any(rows.exclude(assignments__in=done.filter(repeat=n)).exists() for n in range(1, repeats + 1))


def has_pairs(study: Study) -> bool:
    """Its texts were made into pairs. One query."""
    return Study.objects.filter(derived_from=study, derivation__deriver=pairs.OF_ROWS).exists()


def has_instructions(study: Study) -> bool:
    """Of a benchmark, and not yet texts: those come in a study that is made of it, or by an import that says who wrote
    them. One query at most."""
    of = study.scheme.parsed.benchmark
    if of is None or study.derived_from_id is not None:
        return False
    return not Row.objects.filter(sheet__study=study, facets__has_key=of.generator).exists()


def is_of_texts(study: Study) -> bool:
    return study.scheme.slug == pairs.TEXTS


# --- instructions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """Instructions of a sheet. `texts`: how many of them each generator has written, in the order of `Overview`."""

    sheet: str
    instructions: int
    texts: tuple[int, ...]


@dataclass(frozen=True)
class Overview:
    """Which instructions there are and who has written how many. `facets`: title, different words, the first of
    them.
    """

    parts: tuple[Part, ...]
    generators: tuple[str, ...]
    facets: tuple[tuple[str, int, tuple[str, ...]], ...]

    @property
    def instructions(self) -> int:
        return sum(part.instructions for part in self.parts)

    @property
    def texts(self) -> tuple[int, ...]:
        return tuple(sum(of) for of in zip(*(part.texts for part in self.parts), strict=True))


_SHOWN_WORDS = 6


def overview(study: Study) -> Overview:
    """Three queries."""
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None)
    sheets = dict(
        rows.order_by("sheet__position")
        .values_list("sheet__title")
        .annotate(n=Count("pk"))
        .values_list("sheet__title", "n")
    )
    written = GenerationItem.objects.filter(
        run__study=study, generation__text__isnull=False, row__withdrawn_at=None, generation__same_as=None
    )
    counted: dict[tuple[str, str], int] = {}
    generators: dict[str, None] = {}
    for sheet, model, n in (
        written.order_by("row__sheet__title", "run__model__name")
        .values_list("row__sheet__title", "run__model__name")
        .annotate(n=Count("row", distinct=True))
    ):
        counted[sheet, model] = n
        generators[model] = None
    of = study.scheme.parsed
    filled = {of.benchmark.generator, of.benchmark.length, "generation"} if of.benchmark else set()
    seen: dict[str, Counter[str]] = {facet.key: Counter() for facet in of.row.facets if facet.key not in filled}
    for facets in rows.order_by("sheet__position", "position").values_list("facets", flat=True):
        for key, said in facets.items():
            if key in seen:
                seen[key][facet_word(said)] += 1
    return Overview(
        parts=tuple(
            Part(sheet, n, tuple(counted.get((sheet, model), 0) for model in generators)) for sheet, n in sheets.items()
        ),
        generators=tuple(generators),
        facets=tuple(
            (facet.name, len(seen[facet.key]), tuple([*seen[facet.key]][:_SHOWN_WORDS]))
            for facet in of.row.facets
            if seen.get(facet.key)
        ),
    )


# --- words ------------------------------------------------------------------------------------------------------------


def named_by(of: BenchmarkSpec) -> str:
    """The facet whose words are left out of those that are frequent: that which makes sheets, such as the cuisine, or
    else the first of an instruction."""
    return of.sheets or of.instruction[0]


def frequent_words(
    study: Study, facets: Mapping[str, str], *, most: int = 15, without_common: bool = False
) -> dict[str, list[words.Frequent]]:
    """{generator: its most frequent words} in the texts that have these facets, without stop words and all words of
    the facet that `named_by` says. Two queries.

    `without_common`: also without the words that any list of steps has, and the names of these instructions, in which
    dishes are.
    """
    of = study.scheme.parsed.benchmark
    if of is None:
        return {}
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None, facets__has_key=of.generator)
    chosen = rows.filter(Q(**{f"facets__{key}": word for key, word in facets.items()}) if facets else Q())
    texts: dict[str, list[str]] = {}
    names = set(words_of_facet(study, named_by(of)))
    for said, evidence in chosen.values_list("facets", "evidence").iterator(chunk_size=500):
        if without_common:
            names |= {facet_word(said.get(key, "")) for key in of.instruction}
        texts.setdefault(facet_word(said.get(of.generator, "")), []).append(_text(evidence))
    stop = words.COMMON if without_common else words.STOP
    return {
        generator: words.most_frequent(texts[generator], names=names, most=most, stop=stop)
        for generator in sorted(texts)
    }


_IN_REPORTS = 10


def words_for_report(study: Study, rows: Sequence[int]) -> list[FrequentEntry]:
    """What generators write most in these rows: in all of them, and in those of each word of the facet that makes
    sheets, or else of the first of an instruction. Rows of which nobody is named who wrote them, as instructions, have
    none. At most one query for each five hundred rows, and one."""
    of = study.scheme.parsed.benchmark
    if of is None:
        return []
    facet = named_by(of)
    tallies: dict[str, dict[str, words.Tally]] = {}  # of a word of the facet, by generator
    names = words_of_facet(study, facet)
    for start in range(0, len(rows), 500):
        some = Row.objects.filter(pk__in=rows[start : start + 500], withdrawn_at=None)
        some = some.filter(facets__has_key=of.generator)
        for said, evidence in some.values_list("facets", "evidence"):
            word = facet_word(said.get(facet, ""))
            generator = facet_word(said.get(of.generator, ""))
            tallies.setdefault(word, {}).setdefault(generator, words.Tally(names=names)).add(_text(evidence))
    everything: dict[str, words.Tally] = {}
    for by_generator in tallies.values():
        for generator, tally in by_generator.items():
            everything.setdefault(generator, words.Tally()).update(tally)
    groups = [("", everything)]
    if len(tallies) > 1:
        groups += [(word, tallies[word]) for word in sorted(tallies)]
    return [
        FrequentEntry(
            facet if word else "",
            word,
            generator,
            by_generator[generator].texts,
            tuple((one.word, one.n, one.texts) for one in by_generator[generator].most_frequent(most=_IN_REPORTS)),
            facet,
        )
        for word, by_generator in groups
        for generator in sorted(by_generator)
    ]


def _text(evidence: list[object]) -> str:
    return "\n".join(block.text for block in blocks_from_json(evidence))  # type: ignore[arg-type]


def first_words(study: Study) -> dict[str, str]:
    """What is shown first: the texts of the first sheet, where a facet makes sheets, since all may be thousands.
    One query."""
    of = study.scheme.parsed.benchmark
    first = study.sheets.order_by("position").first() if of is not None and of.sheets else None
    return {"facet": of.sheets, "word": first.title} if of is not None and of.sheets and first is not None else {}


def words_of_facet(study: Study, facet: str) -> list[str]:
    """The words that rows have at a facet, each once, in the order of the rows. One query."""
    rows = Row.objects.filter(sheet__study=study).order_by("sheet__position", "position")
    return list(dict.fromkeys(_words(rows.values_list(f"facets__{facet}", flat=True))))


def _words(said: Iterable[object]) -> Iterator[str]:
    return (facet_word(word) for word in said if word)
