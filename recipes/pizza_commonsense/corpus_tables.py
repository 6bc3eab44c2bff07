"""How large the tables of a study are (Table 6 of the paper), and what the parts of a split have in common (its
Appendix D), as the page, downloads, the API and the command share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Study
from recipes.pizza_commonsense import clusters, corpus, queries
from recipes.pizza_commonsense.corpus import Corpus, Overlap, Size
from recipes.pizza_commonsense.records import Table, TablesRefused
from reports.contents import Contents, ContentsPart
from reports.tables import Head, ReportTable

SIZES = {
    corpus.INSTRUCTIONS: gettext_lazy("Instructions of a recipe"),
    corpus.WORDS: gettext_lazy("Words of an instruction"),
    corpus.INPUT_THINGS: gettext_lazy("Things in an input"),
    corpus.INPUT_WORDS: gettext_lazy("Words of an input"),
    corpus.OUTPUT_THINGS: gettext_lazy("Things in an output"),
    corpus.OUTPUT_WORDS: gettext_lazy("Words of an output"),
}
TEXTS = {
    corpus.OF_INSTRUCTIONS: gettext_lazy("Instructions"),
    corpus.OF_INGREDIENTS: gettext_lazy("Ingredients"),
    corpus.OF_DISHES: gettext_lazy("Last outputs"),
}


@dataclass(frozen=True)
class Statistics:
    """`parts`: how many tables are in each part of the split; it and `overlaps` are empty where these are fewer recipes
    than parts, which have nothing in common."""

    study: str
    rater: str
    way: str
    seed: int
    corpus: Corpus
    parts: dict[str, int]
    overlaps: tuple[Overlap, ...]

    @property
    def sizes(self) -> list[Size]:
        return [size for size in self.corpus.sizes if size.n]

    @property
    def contents(self) -> Contents:
        """As downloads take it."""
        about = [
            (_("Study"), self.study),
            (_("Answers of"), self.rater or _("nobody: open tables")),
            (_("Recipes"), str(self.corpus.n_recipes)),
            (_("Instructions"), str(self.corpus.n_instructions)),
        ]
        if self.parts:
            about.append((_("Way"), self.way))
            about += [(_("Seed"), str(self.seed))] if self.way != clusters.GIVEN else []
            about += [(_("Part “%(part)s”") % {"part": part}, str(n)) for part, n in self.parts.items()]
        tables = (_sizes(self.sizes), *([_overlaps(self.overlaps)] if self.overlaps else []))
        return Contents(tuple(about), 0, (ContentsPart("corpus", "", 0, tables),)).rounded


def statistics_of(
    study: Study, *, rater: str, way: str, seed: int, given: Mapping[str, Sequence[Table]] | None = None
) -> Statistics:
    """Of the tables with the answers of a rater; of none named without answers. Four queries.

    Args:
        given: the tables of each part of a published split, the one that is trained on first; else it is drawn.
    Raises:
        TablesRefused: as from `clusters.given`.
    """
    found = queries.tables_of(study, rater=rater)
    split = None
    if given is not None:
        way, split = clusters.GIVEN, clusters.given(found, given)
    else:
        with suppress(TablesRefused):
            split = clusters.split(found, seed=seed, way=way)
    parts = {part: [found[place] for place in places] for part, places in split.parts.items()} if split else {}
    return Statistics(
        study=study.title,
        rater=rater,
        way=way,
        seed=seed,
        corpus=corpus.corpus(found),
        parts={part: len(of) for part, of in parts.items()},
        overlaps=tuple(one for one in corpus.overlaps(parts) if one.n) if parts else (),
    )


def _sizes(sizes: list[Size]) -> ReportTable:
    return ReportTable(
        key="corpus.sizes",
        about="",
        title=_("Sizes"),
        heads=(
            Head("of", _("Of")),
            Head("mean", _("Mean"), "number"),
            Head("median", _("Median"), "number"),
            Head("n", _("Counted"), "count"),
        ),
        rows=tuple((str(SIZES[size.key]), float(size.mean or 0), float(size.median or 0), size.n) for size in sizes),
        how=_("Things stand between semicolons; NA counts as one. The paper calls them words."),
    )


def _overlaps(overlaps: tuple[Overlap, ...]) -> ReportTable:
    return ReportTable(
        key="corpus.overlaps",
        about="",
        title=_("What parts have in common"),
        heads=(
            Head("texts", _("Texts")),
            Head("part", _("Part")),
            Head("of_all", _("Of all, also in the training part"), "share"),
            Head("of_different", _("Of the different ones"), "share"),
            Head("n", _("Counted"), "count"),
        ),
        rows=tuple((str(TEXTS[one.key]), one.part, one.of_all, one.of_different, one.n) for one in overlaps),
        how=_("Two texts are the same if their letters and digits are, whatever their case."),
    )
