"""The scheme file: what is asked of a rater, declared in one YAML file.

Pure Python: a file goes in; a checked `SchemeSpec` comes out, or a `SchemeError` whose problems name line and key.

    key: contract-clauses
    version: 1
    title: Contract clauses
    words: {sheet: contract, sheets: contracts, row: clause, rows: clauses}
    sections:
      - key: duties
        title: Duties
        column: {title: Duty, facets: [duty]}
        questions:
          - key: stated
            title: Is the duty stated?
            about: duty
            options:
              - {key: stated, label: Stated, sign: S, definition: The clause says it in so many words.}
              - {key: absent, label: Not stated, sign: "–"}

Three kinds of question share the machinery of options: a `choice` lists them, a `scale` has whole numbers from `min` to
`max`, a `flag` has yes and no. The others are answered by a value: a `number`, a `text`, a list of `items`, the
`transitions` of a step. What an answer of each kind is, is said in `annotation.answers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from annotation.evidence.kinds import BlockKind
from annotation.scheme import problems
from annotation.scheme.basis import Facet, Key, Level, Misplaced, Spec, Text, first_repeated, repeated_at
from annotation.scheme.block_specs import BlockSpec
from annotation.scheme.problems import Problem, SchemeError
from annotation.scheme.questions import Colour, Kind, Merge, OptionSpec, Preset, QuestionSpec
from annotation.scheme.rows import BenchmarkSpec, ComparisonSpec, RowFacet, RowSpec, facet_word
from annotation.scheme.rule_specs import OF_STATES, CheckSpec, Rule
from annotation.scheme.values import ItemField, ItemsSpec, NumberSpec, TextPattern, TextSpec, TransitionsSpec
from annotation.scheme.words import Words
from base.sentences import gettext as _

__all__ = [
    "BenchmarkSpec",
    "CheckSpec",
    "Colour",
    "ColumnSpec",
    "ComparisonSpec",
    "Facet",
    "ItemField",
    "ItemsSpec",
    "Key",
    "Kind",
    "Layout",
    "Level",
    "Merge",
    "NumberSpec",
    "OptionSpec",
    "Preset",
    "Problem",
    "QuestionSpec",
    "RowFacet",
    "RowSpec",
    "Rule",
    "SchemeError",
    "SchemeSpec",
    "SectionSpec",
    "TextPattern",
    "TextSpec",
    "TransitionsSpec",
    "Words",
    "facet_word",
    "load_scheme",
]


def _with_a_letter(phrase: str) -> str:
    if not any(character.isalpha() for character in phrase):
        raise ValueError(_("“%(phrase)s” has no letter that could be looked for") % {"phrase": phrase})
    return phrase


Place = tuple[str | int, ...]  # in a file: keys and positions
Phrase = Annotated[str, Field(max_length=120), AfterValidator(_with_a_letter)]


class ColumnSpec(Spec):
    """What columns are. `facets`: their texts, which name them and are shown; `aside`: texts that a column may have
    besides, for the prompts of judges alone."""

    title: Text
    facets: Annotated[tuple[Facet, ...], Field(min_length=1, max_length=6)]
    aside: Annotated[tuple[Facet, ...], Field(max_length=6)] = ()

    @model_validator(mode="after")
    def _check_aside(self) -> ColumnSpec:
        if twice := first_repeated([*self.facets, *self.aside]):
            raise ValueError(_("two facets have the key “%(twice)s”") % {"twice": twice})
        return self

    def told(self, facets: Mapping[str, str]) -> dict[str, str]:
        """The texts of a column as prompts have them: one that is set aside and that it has not is empty."""
        return {**dict.fromkeys(self.aside, ""), **facets}


def _of_one_form(title: str) -> dict[str, Any]:
    """The column of a section whose file says nothing of columns."""
    return {"title": title, "facets": ["about"]}


MOST_VERSION = 2**31 - 1  # what a database keeps


class Layout(StrEnum):
    """`across`: a line a document, a column an item. `down`: the columns are the lines of a table, read downwards."""

    ACROSS = "across"
    DOWN = "down"


class SectionSpec(Spec):
    key: Key
    title: Annotated[str, Field(min_length=1, max_length=120)]
    column: ColumnSpec
    layout: Layout = Layout.ACROSS
    # Questions whose answers in the lines above are shown with a line.
    shows_above: tuple[Key, ...] = ()
    checks: Annotated[tuple[CheckSpec, ...], Field(max_length=40)] = ()
    guideline: str = ""
    # Kinds of evidence block in which the items of this section are looked for; empty means all.
    evidence: tuple[str, ...] = ()
    questions: Annotated[tuple[QuestionSpec, ...], Field(min_length=1, max_length=8)]

    @model_validator(mode="before")
    @classmethod
    def _fill_in_column(cls, data: Any) -> Any:
        """A file that says nothing of columns asks one form a row; of its own ones the title may be left out too."""
        if not isinstance(data, dict):
            return data
        column = data.get("column", {})
        title = data.get("title")  # where there is none, that is what is wrong, and not the column
        one_form = _of_one_form(title if isinstance(title, str) and title else "—")
        return data | {"column": one_form | column if isinstance(column, dict) else column}

    @model_validator(mode="after")
    def _check_references(self) -> SectionSpec:
        keys = [question.key for question in self.questions]
        if twice := first_repeated(keys):
            said = _("two questions have the key “%(twice)s”") % {"twice": twice}
            raise Misplaced(said, "questions", repeated_at(keys), "key")
        for position, question in enumerate(self.questions):
            named: list[tuple[str | None, Place]] = [(question.about, ("about",))]
            named += [(question.preset.when_empty, ("preset", "when_empty"))] if question.preset else []
            for facet, place in named:
                if facet is not None and facet not in self.column.facets:
                    raise Misplaced(
                        _("question “%(key)s” names the facet “%(facet)s”, which the column has not")
                        % {"key": question.key, "facet": facet},
                        *("questions", position, *place),
                    )
            for other, options in question.ask_unless.items():
                at = ("questions", position, "ask_unless", other)
                if other not in keys[:position]:
                    raise Misplaced(
                        _("“%(key)s” can depend only on a question above it, not on “%(other)s”")
                        % {"key": question.key, "other": other},
                        *at,
                    )
                known = self.questions[keys.index(other)].words
                if unknown := [option for option in options if option not in known]:
                    raise Misplaced(
                        _("“%(key)s” names “%(unknown)s”, which is no option of “%(other)s”")
                        % {"key": question.key, "unknown": unknown[0], "other": other},
                        *at,
                    )
        return self

    @model_validator(mode="after")
    def _check_rules(self) -> SectionSpec:
        keys = [question.key for question in self.questions]
        texts = [(q.key, q.text, ("questions", at, "text", "from")) for at, q in enumerate(self.questions) if q.text]
        checks = [(str(check.rule), check, ("checks", at)) for at, check in enumerate(self.checks)]
        named: list[tuple[str, str, Place]] = [(key, "shows_above", ("shows_above",)) for key in self.shows_above]
        named += [(key, where, place) for where, text, place in texts for key in text.offered]
        named += [(key, where, place) for where, check, place in checks for key in check.questions]
        for key, where, place in named:
            if key not in keys:
                raise Misplaced(
                    _("“%(where)s” names “%(key)s”, which is no question of this section")
                    % {"where": where, "key": key},
                    *place,
                )
        of_column: list[tuple[str, str, Place]]
        of_column = [(facet, where, place) for where, check, place in checks for facet in check.facets_of("column")]
        of_column += [(facet, where, place) for where, text, place in texts for facet in text.facets_of("column")]
        for facet, where, place in of_column:
            if facet not in self.column.facets:
                raise Misplaced(
                    _("“%(where)s” names the facet “%(facet)s”, which the column has not")
                    % {"where": where, "facet": facet},
                    *place,
                )
        for where, check, place in checks:
            if check.rule in OF_STATES and not self.question(check.question).transitions:
                raise Misplaced(
                    _("“%(where)s” is a rule over transitions, and “%(key)s” takes none")
                    % {"where": where, "key": check.question},
                    *(*place, "rule"),
                )
            for key, words in check.when.items():
                question = self.question(key)
                if question.has_options and (unknown := [word for word in words if word not in question.words]):
                    raise Misplaced(
                        _("“%(key)s” names “%(unknown)s”, which is no option of “%(other)s”")
                        % {"key": where, "unknown": unknown[0], "other": key},
                        *(*place, "when", key),
                    )
        return self

    def facets_of_rows(self) -> Iterator[tuple[str, Place]]:
        """The facets of rows that its questions and checks name, each with where."""
        for at, question in enumerate(self.questions):
            for facet in question.transitions.start if question.transitions else ():
                yield facet, ("questions", at, "transitions", "start")
        for at, check in enumerate(self.checks):
            for facet in check.facets_of("row"):
                yield facet, ("checks", at, "in")
        for at, question in enumerate(self.questions):
            for facet in question.text.facets_of("row") if question.text else ():
                yield facet, ("questions", at, "text", "from")

    def question(self, key: str) -> QuestionSpec:
        return next(question for question in self.questions if question.key == key)

    @property
    def is_one_form(self) -> bool:
        """Whether its file says nothing of columns: each row is asked about as a whole."""
        return self.column == ColumnSpec(**_of_one_form(self.title))

    @property
    def warnable(self) -> frozenset[str]:
        """The questions whose answers can be warned of: a check is about them, a pattern of theirs warns, or they hold
        transitions, which can contradict each other."""
        checked = {check.question for check in self.checks}
        return frozenset(question.key for question in self.questions if question.key in checked or question.warns)

    @property
    def never_warns(self) -> bool:
        """Whether nothing here can be warned of."""
        return not self.warnable

    def asked(self, answers: Mapping[str, str]) -> list[QuestionSpec]:
        """The questions that a column asks, given its answers so far (question key -> `QuestionSpec.word`)."""
        asked: list[QuestionSpec] = []
        for question in self.questions:
            standing = {q.key for q in asked}
            if all(
                other in standing and answers.get(other) not in options
                for other, options in question.ask_unless.items()
            ):
                asked.append(question)
        return asked

    def presets(self, facets: Mapping[str, str]) -> dict[str, str]:
        """Answers that follow from the column alone: {question key: code}."""
        return {
            question.key: question.preset.code
            for question in self.questions
            if question.preset and not facets.get(question.preset.when_empty, "").strip()
        }


class SchemeSpec(Spec):
    model_config = ConfigDict(serialize_by_alias=True)

    key: Key
    version: Annotated[int, Field(ge=1, le=MOST_VERSION)]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""
    source: str = ""
    given_words: Annotated[Words, Field(alias="words")] = Words()
    guideline: str = ""
    # Kinds of evidence block beside those that are there everywhere and those that packs bring.
    blocks: Annotated[tuple[BlockSpec, ...], Field(max_length=20)] = ()
    # Groups of phrases that mean the same: where an item has one of them, the others are marked in the evidence too.
    synonyms: Annotated[tuple[Annotated[tuple[Phrase, ...], Field(min_length=2)], ...], Field(max_length=2000)] = ()
    row: RowSpec = RowSpec()
    benchmark: BenchmarkSpec | None = None
    comparison: ComparisonSpec | None = None
    sections: Annotated[tuple[SectionSpec, ...], Field(min_length=1, max_length=12)]

    @property
    def words(self) -> Words:
        """What the study calls its things, in the language of whoever reads."""
        return self.given_words.translated()

    @property
    def block_kinds(self) -> list[BlockKind]:
        return [BlockKind(**block.model_dump()) for block in self.blocks]

    @field_validator("synonyms")
    @classmethod
    def _check_synonyms(cls, groups: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        if twice := first_repeated([phrase.casefold() for group in groups for phrase in group]):
            raise ValueError(
                _("“%(twice)s” stands here twice; put what means the same into one group") % {"twice": twice}
            )
        return groups

    @model_validator(mode="after")
    def _check_sections(self) -> SchemeSpec:
        keys = [section.key for section in self.sections]
        if twice := first_repeated(keys):
            said = _("two sections have the key “%(twice)s”") % {"twice": twice}
            raise Misplaced(said, "sections", repeated_at(keys), "key")
        kinds = [block.key for block in self.blocks]
        if twice := first_repeated(kinds):
            said = _("two kinds of block have the key “%(twice)s”") % {"twice": twice}
            raise Misplaced(said, "blocks", repeated_at(kinds), "key")
        hidden = {facet.key for facet in self.row.facets if facet.hidden}
        for at, section in enumerate(self.sections):
            for facet, place in section.facets_of_rows():
                if facet in hidden or facet not in self.row.keys:
                    sentence = (
                        _("the section “%(key)s” names the facet “%(facet)s”, which is hidden from raters")
                        if facet in hidden
                        else _("the section “%(key)s” names the facet “%(facet)s”, which the row has not")
                    )
                    raise Misplaced(sentence % {"key": section.key, "facet": facet}, *("sections", at, *place))
        return self

    @model_validator(mode="after")
    def _check_benchmark(self) -> SchemeSpec:
        if self.benchmark is None:
            return self
        hidden = {facet.key: facet.hidden for facet in self.row.facets}
        named = (self.benchmark.generator, *self.benchmark.instruction, self.benchmark.length)
        for facet in named:
            if facet is not None and facet not in hidden:
                said = _("“benchmark” names the facet “%(facet)s”, which the row has not") % {"facet": facet}
                raise Misplaced(said, "benchmark")
        if self.benchmark.generator in self.benchmark.instruction:
            raise Misplaced(_("the generator is no part of an instruction"), "benchmark", "instruction")
        if not hidden[self.benchmark.generator]:
            raise Misplaced(
                _("raters must not see who wrote a text: say “hidden: true” of the facet “%(facet)s”")
                % {"facet": self.benchmark.generator},
                *("row", "facets", self.row.keys.index(self.benchmark.generator)),
            )
        if not any(question.kind == Kind.SCALE for section in self.sections for question in section.questions):
            raise Misplaced(_("a benchmark needs a question of the kind “scale”"), "benchmark")
        return self

    @model_validator(mode="after")
    def _check_comparison(self) -> SchemeSpec:
        of = self.comparison
        if of is None:
            return self
        hidden = {facet.key: facet.hidden for facet in self.row.facets}
        for facet in of.facets:
            if facet not in hidden:
                said = _("“comparison” names the facet “%(facet)s”, which the row has not") % {"facet": facet}
                raise Misplaced(said, "comparison")
        for facet in of.systems:
            if not hidden[facet]:
                raise Misplaced(
                    _("raters must not see who wrote a text: say “hidden: true” of the facet “%(facet)s”")
                    % {"facet": facet},
                    *("row", "facets", self.row.keys.index(facet)),
                )
        questions = {f"{one.key}.{question.key}": question for one in self.sections for question in one.questions}
        question = questions.get(of.question)
        if question is None or question.kind != Kind.CHOICE:
            raise Misplaced(
                _("“comparison” names the question “%(question)s”, which is no choice of this scheme")
                % {"question": of.question},
                *("comparison", "question"),
            )
        for option in of.options:
            if option not in [one.key for one in question.options]:
                raise Misplaced(
                    _("“comparison” names the option “%(option)s”, which the question “%(question)s” has not")
                    % {"option": option, "question": of.question},
                    *("comparison", "options"),
                )
        return self

    @property
    def sides(self) -> list[tuple[str, str]]:
        """Keys and labels of the two sides of a comparison, from the left; none where rows are no pairs."""
        if self.comparison is None:
            return []
        section, _dot, question = self.comparison.question.partition(".")
        labels = {option.key: option.label for option in self.section(section).question(question).options}
        return [(option, labels[option]) for option in self.comparison.options]

    def section(self, key: str) -> SectionSpec:
        return next(section for section in self.sections if section.key == key)

    def title_of(self, section: str, question: str) -> str:
        """What a question is called among all of them: sections may ask alike, and an only one tells nothing apart."""
        of = self.section(section)
        title = of.question(question).title
        return title if len(self.sections) == 1 or title == of.title else f"{of.title} · {title}"


def load_scheme(text: str) -> SchemeSpec:
    """Read a scheme file.

    Raises:
        SchemeError: with every problem that was found, each with its line and key.
    """
    return problems.read(text, SchemeSpec, begins=_("the file should be a mapping that starts with “key:”"))
