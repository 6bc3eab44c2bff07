"""Documents of INCEpTION and WebAnno: spans in layers, each with features, of which one is the label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.exchange.marked.documents import Given, Span
from annotation.exchange.marked.texts import Utf16
from annotation.exchange.tables import Problems
from base.sentences import gettext_noop

# What programs say of each token or sentence, and of the document.
_OF_TOKENS = (
    "uima.",
    "de.tudarmstadt.ukp.dkpro.core.api.segmentation.",
    "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.",
    "de.tudarmstadt.ukp.dkpro.core.api.syntax.",
    "de.tudarmstadt.ukp.dkpro.core.api.metadata.",
    "de.tudarmstadt.ukp.dkpro.core.api.transform.",
    "de.tudarmstadt.ukp.clarin.webanno.api.type.",
    "de.tudarmstadt.ukp.inception.api.",
    "org.dkpro.core.api.xml.",
)


class Stretch(NamedTuple):
    """A span of a layer: units of UTF-16, and its features."""

    begin: int
    end: int
    said: Mapping[str, str]


@dataclass
class Layered:
    """A document. `layers`: spans by the layer's name; `passed_over`: relations, chains and slots that are in it."""

    text: str
    title: str = ""
    layers: dict[str, list[Stretch]] = field(default_factory=dict)
    passed_over: set[str] = field(default_factory=set)


def is_of_tokens(layer: str) -> bool:
    return layer.startswith(_OF_TOKENS)


def short(layer: str) -> str:
    return layer.rpartition(".")[2]


@dataclass
class Layers:
    """The layers that are used in some documents, and their features in the order in which they came."""

    features: dict[str, dict[str, None]] = field(default_factory=dict)
    passed_over: set[str] = field(default_factory=set)

    def add(self, document: Layered) -> None:
        self.passed_over |= document.passed_over
        for layer, stretches in document.layers.items():
            of = self.features.setdefault(layer, {})
            for stretch in stretches:
                of.update(dict.fromkeys(stretch.said))

    def label_of(self, layer: str) -> str:
        """The feature that has the labels of a layer: “value”, as of named entities, or its first; "" for none."""
        of = self.features[layer]
        return "value" if "value" in of else next(iter(of), "")

    @property
    def unread(self) -> list[str]:
        """Features and layers that no label is made of."""
        more = [
            f"{short(layer)}.{feature}"
            for layer, of in self.features.items()
            for feature in of
            if feature != self.label_of(layer)
        ]
        return [*more, *sorted(map(short, self.passed_over))]


def given_of(document: Layered, layers: Layers, *, line: int, name: str, problems: Problems) -> tuple[Given, ...]:
    """What is marked in a document: of a single layer without a name, of several each by its layer's."""
    units, several = Utf16.of(document.text), len(layers.features) > 1
    if not layers.features:
        return (Given(spans=()),)
    return tuple(
        Given(
            short(layer) if several else "",
            tuple(_spans(document.layers.get(layer, ()), units, layers.label_of(layer), line, name, problems)),
        )
        for layer in layers.features
    )


def _spans(
    stretches: Iterable[Stretch], units: Utf16, feature: str, line: int, name: str, problems: Problems
) -> Iterable[Span]:
    for one in stretches:
        start, end = units.code_point(one.begin), units.code_point(one.end)
        if start is None or end is None:
            problems.add(
                line,
                gettext_noop("From %(start)s to %(end)s (UTF-16) is no stretch of the text “%(row)s”."),
                start=one.begin,
                end=one.end,
                row=name,
            )
        else:
            yield Span(start, end, one.said.get(feature, ""))
