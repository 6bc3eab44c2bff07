"""What a deriver gets and what it gives: a study with its chosen answers goes in, sheets come out. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.deriving.choosing import Choice
from annotation.evidence.blocks import Block
from annotation.scheme.spec import Kind, SchemeSpec
from base.sentences import gettext as _


class DerivingRefused(Exception):
    """Nothing can be made; `str()` is a sentence that says why."""


@dataclass(frozen=True)
class Answered:
    """A cell of the study before, with its chosen answer. Rows and columns by their numbers in the database."""

    row: int
    column: int
    section: str
    question: str
    choice: Choice

    @property
    def code(self) -> str:
        return self.choice.code


@dataclass(frozen=True)
class SourceColumn:
    number: int
    section: str
    facets: Mapping[str, str]


@dataclass(frozen=True)
class SourceText:
    """A text that was written for a row. `number`: of its record; `generator`, `prompt_type`: who wrote it, and how it
    was asked for; `finish`: why it stopped, “stop” where it came to its end; `signs`: what may be wrong with it."""

    number: int
    text: str
    generator: str
    prompt_type: str
    finish: str
    signs: Sequence[str] = ()


@dataclass(frozen=True)
class Given:
    """What one rater answers in one cell, in that rater's last round. `column`: its number in the database."""

    rater: str
    column: int
    section: str
    question: str
    choice: Choice


@dataclass(frozen=True)
class SourceRow:
    """A row that nobody withdrew. `answers`: of its cells that have a chosen answer, in the order of the sheet;
    `texts`, and what each rater has `given`: for derivers that read them."""

    number: int
    name: str
    title: str
    url: str
    language: str
    evidence: Sequence[Block]
    facets: Mapping[str, str]
    answers: Sequence[Answered] = ()
    texts: Sequence[SourceText] = ()
    given: Sequence[Given] = ()

    def of(self, question: str) -> list[Answered]:
        """The answers to one question, named `section.question`."""
        return [answer for answer in self.answers if f"{answer.section}.{answer.question}" == question]


@dataclass(frozen=True)
class SourceSheet:
    title: str
    columns: Sequence[SourceColumn]
    rows: Sequence[SourceRow]


@dataclass(frozen=True)
class Source:
    scheme: SchemeSpec
    sheets: Sequence[SourceSheet]


@dataclass(frozen=True)
class MadeColumn:
    """`answers`: what it rests on."""

    section: str
    facets: Mapping[str, str]
    answers: Sequence[Answered] = ()


@dataclass(frozen=True)
class MadeRow:
    """`answers`: what it rests on; `of`: the row that it was, if it was one."""

    name: str
    title: str = ""
    url: str = ""
    language: str = ""
    evidence: Sequence[Block] = ()
    facets: Mapping[str, str] = field(default_factory=dict)
    answers: Sequence[Answered] = ()
    of: int | None = None


@dataclass(frozen=True)
class MadeSheet:
    """A section of the scheme of which no column is made gets a single blank one: one form a row."""

    title: str
    columns: Sequence[MadeColumn] = ()
    rows: Sequence[MadeRow] = ()


@dataclass(frozen=True)
class Setting:
    """What a deriver asks before it begins.

    Attributes:
        choices: (value, name) of what can be chosen.
        several: any number of them can be chosen, not one alone.
        of_raters: the choices are the codes of the study's raters, and `choices` is empty.
        of_texts: a field of `SourceText`, “generator” or “prompt_type”: the choices are what it is in the texts that
            were written for the study's rows, and to choose none is to choose all.
        beginnings: a program may also give words that begin so, such as answers that are values.
    """

    key: str
    label: object
    choices: Sequence[tuple[str, str]]
    several: bool = False
    help: object = ""
    of_raters: bool = False
    of_texts: str = ""
    beginnings: Sequence[str] = ()

    def check(self, value: str) -> None:
        """Whether a value can be chosen, as far as that can be told without the study: any rater, text or number can.

        Raises:
            DerivingRefused: it is none of the choices.
        """
        words = [word for word, _name in self.choices]
        if self.of_raters or self.of_texts or value in words or value.startswith(tuple(self.beginnings)):
            return
        if all(map(str.isdecimal, words)) or (value.isdecimal() and not self.several):
            return
        shown = [*words[:_WORDS_SHOWN], *(["…"] if len(words) > _WORDS_SHOWN else [])]
        raise DerivingRefused(_("“%(said)s” is none of: %(words)s.") % {"said": value[:120], "words": ", ".join(shown)})


_WORDS_SHOWN = 40  # in a refusal: a scheme may have hundreds of options

Settings = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Deriver:
    """Makes sheets for a new study out of another one.

    Args:
        key: what programs call it by.
        title, help: what people read.
        make: of the source, the scheme of the new study and the settings, the sheets of the new study.
            Raises `DerivingRefused` where the schemes do not fit or nothing would be made.
        asks: the settings, given the scheme of the source.
        also: settings that programs alone may give.
        reads_texts: it makes something of the texts that were written for the rows.
        reads_raters: it holds the answers of single raters against each other.
        reads_chosen: it makes something of the answer that is chosen of each cell; else nobody is asked whose that is.
        into: the key of the shipped scheme that its studies have, if it is one; pages choose it beforehand.
        fits: whether studies of a scheme have what it reads; pages offer it for these alone.
        told_apart: of the scheme of the made study and a made row's facets, what tells it from the others that were
            made of the same row. Where a deriver says it, its studies can be gone on with: what is new is added.
    """

    key: str
    title: object
    help: object
    make: Callable[[Source, SchemeSpec, Settings], Iterable[MadeSheet]]
    asks: Callable[[SchemeSpec], Sequence[Setting]] = lambda scheme: ()
    also: Sequence[str] = ()
    reads_texts: bool = False
    reads_raters: bool = False
    reads_chosen: bool = True
    into: str = ""
    fits: Callable[[SchemeSpec], bool] = lambda scheme: True
    told_apart: Callable[[SchemeSpec, Mapping[str, str]], str] | None = None

    def check(self, scheme: SchemeSpec, settings: Settings) -> None:
        """Whether it knows what a program or a command sets; a page offers nothing else. Numbers are its own matter.

        Raises:
            DerivingRefused: there is no such setting, or it has other words.
        """
        asked = {setting.key: setting for setting in self.asks(scheme)}
        known = [*asked, *(key for key in self.also if key not in asked)]
        for key, values in settings.items():
            if key not in known:
                raise DerivingRefused(
                    _("There is no setting “%(key)s” here. There are: %(known)s.")
                    % {"key": key[:40], "known": ", ".join(known) or "–"}
                )
            for value in values if key in asked else ():
                asked[key].check(value)


_derivers: dict[str, Deriver] = {}


def register(deriver: Deriver) -> None:
    _derivers[deriver.key] = deriver


def derivers() -> list[Deriver]:
    return list(_derivers.values())


def asks(*names: str) -> Callable[[SchemeSpec], bool]:
    """For `Deriver.fits`: the scheme asks all of these questions, each named section.question."""

    def fits(scheme: SchemeSpec) -> bool:
        return set(names) <= {f"{one.key}.{question.key}" for one in scheme.sections for question in one.questions}

    return fits


def asks_for(*kinds: Kind) -> Callable[[SchemeSpec], bool]:
    """For `Deriver.fits`: some question of the scheme is of one of these kinds."""
    return lambda scheme: any(question.kind in kinds for one in scheme.sections for question in one.questions)


def deriver(key: str) -> Deriver | None:
    return _derivers.get(key)
