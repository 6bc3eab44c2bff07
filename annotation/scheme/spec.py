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

import itertools
import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import yaml
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticKnownError

from annotation.evidence.kinds import BlockKind
from annotation.scheme.basis import Facet, Key, Level, Spec, Text, Word, first_repeated
from annotation.scheme.block_specs import BlockSpec
from annotation.scheme.problems import Problem, SchemeError, bad_keys, told
from annotation.scheme.rule_specs import OF_STATES, CheckSpec, Rule
from annotation.scheme.values import ItemField, ItemsSpec, NumberSpec, TextPattern, TextSpec, TransitionsSpec
from base import yaml_reading
from base.sentences import gettext as _
from base.sentences import gettext_noop
from base.yaml_reading import YamlRefused


def _with_a_letter(phrase: str) -> str:
    if not any(character.isalpha() for character in phrase):
        raise ValueError(_("“%(phrase)s” has no letter that could be looked for") % {"phrase": phrase})
    return phrase


__all__ = [
    "BenchmarkSpec",
    "CheckSpec",
    "Colour",
    "ColumnSpec",
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

Phrase = Annotated[str, Field(max_length=120), AfterValidator(_with_a_letter)]

MAX_OPTIONS = 11  # a key each: the ten digits, and the hyphen, which stands right of them
_HOTKEYS = "1234567890-"  # in the order of the keyboard; 0 is the tenth
_FROM_NOUGHT = "0123456789-"  # of a scale from 0 to 10: each number by its own digit, 10 by the key after them


class Colour(StrEnum):
    """Tints of the options, which colour-blind people can tell apart (Okabe-Ito). Never the only mark: see `sign`."""

    GREEN = "green"
    ORANGE = "orange"
    RED = "red"
    VIOLET = "violet"
    BLUE = "blue"
    PINK = "pink"
    SKY = "sky"
    GREY = "grey"


class Kind(StrEnum):
    CHOICE = "choice"
    SCALE = "scale"
    FLAG = "flag"
    NUMBER = "number"
    TEXT = "text"
    ITEMS = "items"
    TRANSITIONS = "transitions"


OPTION_KINDS = frozenset({Kind.CHOICE, Kind.SCALE, Kind.FLAG})
_VALUE_KINDS = (Kind.NUMBER, Kind.TEXT, Kind.ITEMS, Kind.TRANSITIONS)  # each has a key of its own in a question


class OptionSpec(Spec):
    key: Key
    label: Annotated[str, Field(min_length=1, max_length=80)]
    sign: Annotated[str, Field(min_length=1, max_length=3)]
    hotkey: Annotated[str, Field(pattern=r"^[0-9-]$")]
    colour: Colour
    definition: str = ""
    example: str = ""
    # Means that there is nothing to annotate; reports count it under "Not filled in", and agreement leaves it out.
    blank: bool = False
    # The number on a scale; None for the options of a choice.
    value: int | None = None


class Preset(Spec):
    """The answer of a cell whose column has no word for `when_empty`: there is nothing to look for.

    An option, or a special value of a text.
    """

    when_empty: Facet
    option: Key | None = None
    value: Word | None = None

    @property
    def code(self) -> str:
        return self.option if self.option is not None else f":{json.dumps(self.value, ensure_ascii=False)}"

    @model_validator(mode="after")
    def _check_one(self) -> Preset:
        if (self.option is None) == (self.value is None):
            raise ValueError(_("a preset names an option, or a special value of a text: one of the two"))
        return self


class Merge(Spec):
    """A coarser reading of a question: the options named on the left count as the one on the right."""

    key: Key
    title: Text
    options: dict[Key, Key]


class QuestionSpec(Spec):
    key: Key
    title: Annotated[str, Field(min_length=1, max_length=120)]
    kind: Kind = Kind.CHOICE
    about: Facet | None = None
    help: str = ""
    # Two at least; none where the answers are values.
    options: Annotated[tuple[OptionSpec, ...], Field(max_length=MAX_OPTIONS)]
    number: NumberSpec | None = None
    text: TextSpec | None = None
    items: ItemsSpec | None = None
    transitions: TransitionsSpec | None = None
    # {question: options or special values}: not asked while that question of the same column has one of these answers.
    ask_unless: dict[Key, tuple[Word, ...]] = {}
    preset: Preset | None = None
    merges: tuple[Merge, ...] = ()
    # The merge under which judges are held against people, when the paper says so.
    judge_merge: Key | None = None

    @model_validator(mode="before")
    @classmethod
    def _fill_in_options(cls, data: Any) -> Any:
        """Write out what the file may leave away: options of scales and flags, hotkeys by position, signs, colours."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
        kind = data.get("kind", Kind.CHOICE)
        if kind == Kind.SCALE and "options" not in data:
            low, high = data.pop("min", None), data.pop("max", None)
            if not (isinstance(low, int) and isinstance(high, int) and 1 < high - low + 1 <= MAX_OPTIONS):
                raise ValueError(
                    _("a scale needs whole numbers min and max, with at most %(max_options)s steps")
                    % {"max_options": MAX_OPTIONS}
                )
            data["options"] = [
                {"key": str(n).replace("-", "minus-"), "label": str(n), "sign": str(n), "value": n}
                for n in range(low, high + 1)
            ]
            if (low, high) == (0, 10):
                for option, hotkey in zip(data["options"], _FROM_NOUGHT, strict=True):
                    option["hotkey"] = hotkey
        if kind == Kind.FLAG and "options" not in data:
            data["options"] = [{"key": "yes", "label": "Yes", "sign": "✓"}, {"key": "no", "label": "No", "sign": "–"}]
        if kind in _VALUE_KINDS:
            data.setdefault("options", [])
            if kind != Kind.ITEMS:  # whose fields have to be given
                data[kind] = data.get(kind) or {}
        if isinstance(data.get("options"), list):
            data["options"] = [
                _with_defaults(option, position) if isinstance(option, dict) else option
                for position, option in enumerate(data["options"])
            ]
        return data

    @field_validator("options")
    @classmethod
    def _check_number_of_options(cls, options: tuple[OptionSpec, ...], info: ValidationInfo) -> tuple[OptionSpec, ...]:
        kind = info.data.get("kind")
        if kind in OPTION_KINDS and len(options) < 2:
            raise PydanticKnownError(
                "too_short", {"field_type": "Tuple", "min_length": 2, "actual_length": len(options)}
            )
        if kind in _VALUE_KINDS and options:
            raise ValueError(_("a question of the kind “%(kind)s” has no options") % {"kind": kind})
        return options

    @model_validator(mode="after")
    def _check_kind(self) -> QuestionSpec:
        for kind in _VALUE_KINDS:
            if (getattr(self, kind) is not None) != (kind == self.kind):
                sentence = (
                    _("a question of the kind “%(kind)s” needs a key “%(kind)s” that says what its answers are")
                    if kind == self.kind
                    else _("only a question of the kind “%(kind)s” has a key “%(kind)s”")
                )
                raise ValueError(sentence % {"kind": kind})
        if self.kind in _VALUE_KINDS and (self.merges or self.judge_merge):
            raise ValueError(_("only options can be merged"))
        return self

    @model_validator(mode="after")
    def _check_options(self) -> QuestionSpec:
        keys = [option.key for option in self.options]
        for what in ("key", "label", "hotkey"):
            values = [getattr(option, what) for option in self.options]
            if twice := first_repeated(values):
                raise ValueError(_("two options have the %(what)s “%(twice)s”") % {"what": what, "twice": twice})
        for option in self.options:
            if (self.kind == Kind.SCALE) != (option.value is not None):
                raise ValueError(_("options of a scale have a value, and only they"))
        if self.preset and self.preset.option is not None and self.preset.option not in keys:
            raise ValueError(
                _("the preset names “%(option)s”, which is no option of this question") % {"option": self.preset.option}
            )
        if self.preset and self.preset.value is not None and self.preset.value not in self.special:
            raise ValueError(
                _("the preset names “%(value)s”, which is no special value of this question")
                % {"value": self.preset.value}
            )
        for merge in self.merges:
            for name in itertools.chain(merge.options, merge.options.values()):
                if name not in keys:
                    raise ValueError(
                        _("the merge “%(key)s” names “%(name)s”, which is no option of this question")
                        % {"key": merge.key, "name": name}
                    )
        if self.judge_merge and self.judge_merge not in [merge.key for merge in self.merges]:
            raise ValueError(
                _("judge_merge names “%(judge_merge)s”, which is no merge of this question")
                % {"judge_merge": self.judge_merge}
            )
        return self

    def option(self, key: str) -> OptionSpec:
        return next(option for option in self.options if option.key == key)

    @property
    def has_options(self) -> bool:
        """Whether it is answered by one of its options; else by a value."""
        return self.kind in OPTION_KINDS

    @property
    def special(self) -> tuple[str, ...]:
        """The answers of a text that have a meaning of their own."""
        return self.text.special if self.text else ()

    def word(self, code: str) -> str:
        """What rules know an answer by: the key of an option, a special value, or ":" for any other value."""
        if not code.startswith(":"):
            return code
        value = json.loads(code[1:]) if self.special else None
        return value if value in self.special else ":"


class ColumnSpec(Spec):
    title: Text
    facets: Annotated[tuple[Facet, ...], Field(min_length=1, max_length=6)]


def facet_word(said: Any) -> str:
    """What a facet of a row says as one text; it may be a list of texts."""
    return "; ".join(map(str, said)) if isinstance(said, list | tuple) else str(said)


class RowFacet(Spec):
    """What rows are described by, such as the engine that found a page. `hidden`: no rater is shown it."""

    key: Facet
    title: Annotated[str, Field(max_length=120)] = ""
    hidden: bool = False

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, data: Any) -> Any:
        return {"key": data} if isinstance(data, str) else data

    @property
    def name(self) -> str:
        return self.title or self.key.replace("_", " ").capitalize()


class RowSpec(Spec):
    facets: Annotated[tuple[RowFacet, ...], Field(max_length=12)] = ()

    @model_validator(mode="after")
    def _check_facets(self) -> RowSpec:
        if twice := first_repeated([facet.key for facet in self.facets]):
            raise ValueError(_("two facets have the key “%(twice)s”") % {"twice": twice})
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(facet.key for facet in self.facets)

    def facets_of(self, given: Mapping[str, object]) -> dict[str, str | list[str]]:
        """Facets as they are stored: those that say something, in the order of the scheme.

        Raises:
            ValueError: one is not declared.
        """
        if unknown := given.keys() - set(self.keys):
            raise ValueError(_("The rows of this scheme have no facet “%(facet)s”.") % {"facet": min(unknown)})
        found: dict[str, str | list[str]] = {}
        for key in self.keys:
            value = given.get(key)
            if isinstance(value, list | tuple):
                texts = [text for one in value if (text := " ".join(str(one).split()))]
                found |= {key: texts} if texts else {}
            elif text := " ".join(str("" if value is None else value).split()):
                found[key] = text
        return found

    @property
    def shown(self) -> tuple[RowFacet, ...]:
        """Those that raters, people and judges alike, may see."""
        return tuple(facet for facet in self.facets if not facet.hidden)


class BenchmarkSpec(Spec):
    """That rows are texts which models wrote for instructions, and questions of the kind `scale` rate them.

    `generator`: the facet that says who wrote a row, which no rater may see. `instruction`: the facets that together
    say what it was written for; what was written for the same instruction belongs together in intervals. `sheets`: the
    one of them by which instructions are put on sheets. `length`: the facet with the number of words of a text.
    `families`: what a model's name begins with -> its family, where that is not the name's first letters.
    """

    generator: Facet
    instruction: Annotated[tuple[Facet, ...], Field(min_length=1, max_length=6)]
    sheets: Facet | None = None
    length: Facet | None = None
    families: dict[Text, Text] = {}

    @model_validator(mode="after")
    def _check_sheets(self) -> BenchmarkSpec:
        if self.sheets is not None and self.sheets not in self.instruction:
            raise ValueError(_("“sheets” is one of the facets of “instruction”"))
        return self

    @property
    def by_name(self) -> tuple[str, ...]:
        """The facets that name an instruction on its sheet."""
        return tuple(facet for facet in self.instruction if facet != self.sheets) or self.instruction

    def family(self, model: str) -> str:
        """
        >>> BenchmarkSpec(generator="by", instruction=("letter",)).family("google/gemma-2-9b-it")
        'gemma'
        """
        name = model.rsplit("/", 1)[-1].removeprefix("package:").casefold()
        begins = [start for start in self.families if name.startswith(start.casefold())]
        if begins:
            return self.families[max(begins, key=len)]
        letters = re.match(r"[^\W\d_]+", name)
        return letters[0] if letters else name


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

    @model_validator(mode="after")
    def _check_references(self) -> SectionSpec:
        keys = [question.key for question in self.questions]
        if twice := first_repeated(keys):
            raise ValueError(_("two questions have the key “%(twice)s”") % {"twice": twice})
        for position, question in enumerate(self.questions):
            for facet in (question.about, question.preset.when_empty if question.preset else None):
                if facet is not None and facet not in self.column.facets:
                    raise ValueError(
                        _("question “%(key)s” names the facet “%(facet)s”, which the column has not")
                        % {"key": question.key, "facet": facet}
                    )
            for other, options in question.ask_unless.items():
                if other not in keys[:position]:
                    raise ValueError(
                        _("“%(key)s” can depend only on a question above it, not on “%(other)s”")
                        % {"key": question.key, "other": other}
                    )
                known = _words(self.questions[keys.index(other)])
                if unknown := [option for option in options if option not in known]:
                    raise ValueError(
                        _("“%(key)s” names “%(unknown)s”, which is no option of “%(other)s”")
                        % {"key": question.key, "unknown": unknown[0], "other": other}
                    )
        return self

    @model_validator(mode="after")
    def _check_rules(self) -> SectionSpec:
        keys = [question.key for question in self.questions]
        named = [(key, "shows_above") for key in self.shows_above]
        named += [(key, question.key) for question in self.questions if question.text for key in question.text.offered]
        named += [(key, str(check.rule)) for check in self.checks for key in check.questions]
        for key, where in named:
            if key not in keys:
                raise ValueError(
                    _("“%(where)s” names “%(key)s”, which is no question of this section")
                    % {"where": where, "key": key}
                )
        of_column = [(str(check.rule), facet) for check in self.checks for facet in check.facets_of("column")]
        of_column += [(q.key, facet) for q in self.questions if q.text for facet in q.text.facets_of("column")]
        for where, facet in of_column:
            if facet not in self.column.facets:
                raise ValueError(
                    _("“%(where)s” names the facet “%(facet)s”, which the column has not")
                    % {"where": where, "facet": facet}
                )
        for check in self.checks:
            if check.rule in OF_STATES and not self.question(check.question).transitions:
                raise ValueError(
                    _("“%(where)s” is a rule over transitions, and “%(key)s” takes none")
                    % {"where": check.rule, "key": check.question}
                )
            for key, words in check.when.items():
                question = self.question(key)
                if question.has_options and (unknown := [word for word in words if word not in _words(question)]):
                    raise ValueError(
                        _("“%(key)s” names “%(unknown)s”, which is no option of “%(other)s”")
                        % {"key": check.rule, "unknown": unknown[0], "other": key}
                    )
        return self

    def question(self, key: str) -> QuestionSpec:
        return next(question for question in self.questions if question.key == key)

    @property
    def never_warns(self) -> bool:
        """Whether nothing here can be warned of."""
        return not self.checks and all(question.has_options for question in self.questions)

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


class Words(Spec):
    """What the study calls its things, in sentences that people read."""

    sheet: Text = "sheet"
    sheets: Text = "sheets"
    row: Text = "document"
    rows: Text = "documents"

    def translated(self) -> Words:
        """In the language of whoever reads, as far as these words are known; the others stay as they were given."""
        given = self.model_dump()
        return Words(**{name: _(word) if word in _KNOWN_WORDS else word for name, word in given.items()})


# The words of a scheme that names none, and those that packs use.
_KNOWN_WORDS = {
    gettext_noop("sheet"),
    gettext_noop("sheets"),
    gettext_noop("document"),
    gettext_noop("documents"),
}


def know_words(*words: str) -> None:
    """Have these words for sheets and rows translated; whoever names them marks them for translation."""
    _KNOWN_WORDS.update(words)


class SchemeSpec(Spec):
    model_config = ConfigDict(serialize_by_alias=True)

    key: Key
    version: Annotated[int, Field(ge=1)]
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
        if twice := first_repeated([section.key for section in self.sections]):
            raise ValueError(_("two sections have the key “%(twice)s”") % {"twice": twice})
        if twice := first_repeated([block.key for block in self.blocks]):
            raise ValueError(_("two kinds of block have the key “%(twice)s”") % {"twice": twice})
        facets = [
            (section.key, facet)
            for section in self.sections
            for facet in (
                *(f for q in section.questions if q.transitions for f in q.transitions.start),
                *(source[4:] for check in section.checks for source in check.in_ if source.startswith("row.")),
                *(facet for q in section.questions if q.text for facet in q.text.facets_of("row")),
            )
        ]
        hidden = {facet.key for facet in self.row.facets if facet.hidden}
        for section_key, facet in facets:
            if facet in hidden:
                raise ValueError(
                    _("the section “%(key)s” names the facet “%(facet)s”, which is hidden from raters")
                    % {"key": section_key, "facet": facet}
                )
            if facet not in self.row.keys:
                raise ValueError(
                    _("the section “%(key)s” names the facet “%(facet)s”, which the row has not")
                    % {"key": section_key, "facet": facet}
                )
        return self

    @model_validator(mode="after")
    def _check_benchmark(self) -> SchemeSpec:
        if self.benchmark is None:
            return self
        hidden = {facet.key: facet.hidden for facet in self.row.facets}
        named = (self.benchmark.generator, *self.benchmark.instruction, self.benchmark.length)
        for facet in named:
            if facet is not None and facet not in hidden:
                raise ValueError(_("“benchmark” names the facet “%(facet)s”, which the row has not") % {"facet": facet})
        if self.benchmark.generator in self.benchmark.instruction:
            raise ValueError(_("the generator is no part of an instruction"))
        if not hidden[self.benchmark.generator]:
            raise ValueError(
                _("raters must not see who wrote a text: say “hidden: true” of the facet “%(facet)s”")
                % {"facet": self.benchmark.generator}
            )
        if not any(question.kind == Kind.SCALE for section in self.sections for question in section.questions):
            raise ValueError(_("a benchmark needs a question of the kind “scale”"))
        return self

    def section(self, key: str) -> SectionSpec:
        return next(section for section in self.sections if section.key == key)


def load_scheme(text: str) -> SchemeSpec:
    """Read a scheme file.

    Raises:
        SchemeError: with every problem that was found, each with its line and key.
    """
    try:
        root = yaml_reading.compose(text)
    except YamlRefused as refused:
        raise SchemeError([Problem(refused.line, "", refused.reason)]) from refused
    if not isinstance(root, yaml.MappingNode):
        raise SchemeError([Problem(1, "", _("the file should be a mapping that starts with “key:”"))])
    if bad := list(bad_keys(root, ())):
        raise SchemeError(bad)
    try:
        data = yaml_reading.construct(root)
    except YamlRefused as refused:
        raise SchemeError([Problem(refused.line, "", refused.reason)]) from refused
    try:
        return SchemeSpec.model_validate(data)
    except ValidationError as error:
        raise SchemeError(told(root, error)) from error


def _with_defaults(option: dict[str, Any], position: int) -> dict[str, Any]:
    defaults = {
        "hotkey": _HOTKEYS[position % len(_HOTKEYS)],
        "sign": str(option.get("label"))[:1],
        "colour": list(Colour)[position % len(Colour)],
    }
    return {**defaults, **option}


def _words(question: QuestionSpec) -> tuple[str, ...]:
    """The answers of a question that rules can name."""
    return tuple(option.key for option in question.options) if question.has_options else question.special
