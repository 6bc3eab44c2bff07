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
`max`, a `flag` has yes and no.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from annotation import yaml_reading
from annotation.sentences import gettext as _
from annotation.sentences import gettext_noop
from annotation.yaml_reading import YamlRefused

Key = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)]
Facet = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Text = Annotated[str, Field(min_length=1, max_length=4000)]


def _with_a_letter(phrase: str) -> str:
    if not any(character.isalpha() for character in phrase):
        raise ValueError(_("“%(phrase)s” has no letter that could be looked for") % {"phrase": phrase})
    return phrase


Phrase = Annotated[str, Field(max_length=120), AfterValidator(_with_a_letter)]

MAX_OPTIONS = 10  # one number key each
_HOTKEYS = "1234567890"  # in the order of the keyboard; 0 is the tenth


class Problem(NamedTuple):
    """One thing wrong in a scheme file; `line` counts from 1, `key` is the dotted path, "" for the file as a whole."""

    line: int
    key: str
    message: str

    def __str__(self) -> str:
        sentence = _("line %(line)s, %(key)s: %(message)s") if self.key else _("line %(line)s: %(message)s")
        return sentence % self._asdict()


class SchemeError(ValueError):
    """The file is no valid scheme. `problems` lists all that was found."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


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


class OptionSpec(_Spec):
    key: Key
    label: Annotated[str, Field(min_length=1, max_length=80)]
    sign: Annotated[str, Field(min_length=1, max_length=3)]
    hotkey: Annotated[str, Field(pattern=r"^[0-9]$")]
    colour: Colour
    definition: str = ""
    example: str = ""
    # Means that there is nothing to annotate; reports count it under "Not filled in", and agreement leaves it out.
    blank: bool = False
    # The number on a scale; None for the options of a choice.
    value: int | None = None


class Preset(_Spec):
    """The answer of a cell whose column has no word for `when_empty`: there is nothing to look for."""

    when_empty: Facet
    option: Key


class Merge(_Spec):
    """A coarser reading of a question: the options named on the left count as the one on the right."""

    key: Key
    title: Text
    options: dict[Key, Key]


class QuestionSpec(_Spec):
    key: Key
    title: Annotated[str, Field(min_length=1, max_length=120)]
    kind: Kind = Kind.CHOICE
    about: Facet | None = None
    help: str = ""
    options: Annotated[tuple[OptionSpec, ...], Field(min_length=2, max_length=MAX_OPTIONS)]
    # {question: options}: not asked while that question of the same column has one of these answers.
    ask_unless: dict[Key, tuple[Key, ...]] = {}
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
        if kind == Kind.FLAG and "options" not in data:
            data["options"] = [{"key": "yes", "label": "Yes", "sign": "✓"}, {"key": "no", "label": "No", "sign": "–"}]
        if isinstance(data.get("options"), list):
            data["options"] = [
                _with_defaults(option, position) if isinstance(option, dict) else option
                for position, option in enumerate(data["options"])
            ]
        return data

    @model_validator(mode="after")
    def _check_options(self) -> QuestionSpec:
        keys = [option.key for option in self.options]
        for what in ("key", "label", "hotkey"):
            values = [getattr(option, what) for option in self.options]
            if twice := _first_repeated(values):
                raise ValueError(_("two options have the %(what)s “%(twice)s”") % {"what": what, "twice": twice})
        for option in self.options:
            if (self.kind == Kind.SCALE) != (option.value is not None):
                raise ValueError(_("options of a scale have a value, and only they"))
        if self.preset and self.preset.option not in keys:
            raise ValueError(
                _("the preset names “%(option)s”, which is no option of this question") % {"option": self.preset.option}
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


class ColumnSpec(_Spec):
    title: Text
    facets: Annotated[tuple[Facet, ...], Field(min_length=1, max_length=6)]


class SectionSpec(_Spec):
    key: Key
    title: Annotated[str, Field(min_length=1, max_length=120)]
    column: ColumnSpec
    guideline: str = ""
    # Kinds of evidence block in which the items of this section are looked for; empty means all.
    evidence: tuple[str, ...] = ()
    questions: Annotated[tuple[QuestionSpec, ...], Field(min_length=1, max_length=8)]

    @model_validator(mode="after")
    def _check_references(self) -> SectionSpec:
        keys = [question.key for question in self.questions]
        if twice := _first_repeated(keys):
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
                known = [option.key for option in self.questions[keys.index(other)].options]
                if unknown := [option for option in options if option not in known]:
                    raise ValueError(
                        _("“%(key)s” names “%(unknown)s”, which is no option of “%(other)s”")
                        % {"key": question.key, "unknown": unknown[0], "other": other}
                    )
        return self

    def question(self, key: str) -> QuestionSpec:
        return next(question for question in self.questions if question.key == key)

    def asked(self, answers: Mapping[str, str]) -> list[QuestionSpec]:
        """The questions that a column asks, given its answers so far (question key -> option key)."""
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
        """Answers that follow from the column alone: {question key: option key}."""
        return {
            question.key: question.preset.option
            for question in self.questions
            if question.preset and not facets.get(question.preset.when_empty, "").strip()
        }


class Words(_Spec):
    """What the study calls its things, in sentences that people read."""

    sheet: Text = "sheet"
    sheets: Text = "sheets"
    row: Text = "document"
    rows: Text = "documents"

    def translated(self) -> Words:
        """In the language of whoever reads, as far as these words are known; the others stay as they were given."""
        given = self.model_dump()
        return Words(**{name: _(word) if word in _KNOWN_WORDS else word for name, word in given.items()})


# The words of the schemes that come with Palate, and those of a scheme that names none.
_KNOWN_WORDS = {
    gettext_noop("sheet"),
    gettext_noop("sheets"),
    gettext_noop("document"),
    gettext_noop("documents"),
    gettext_noop("recipe"),
    gettext_noop("recipes"),
    gettext_noop("request"),
    gettext_noop("requests"),
}


class SchemeSpec(_Spec):
    model_config = ConfigDict(serialize_by_alias=True)

    key: Key
    version: Annotated[int, Field(ge=1)]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    description: str = ""
    source: str = ""
    given_words: Annotated[Words, Field(alias="words")] = Words()
    guideline: str = ""
    # Groups of phrases that mean the same: where an item has one of them, the others are marked in the evidence too.
    synonyms: Annotated[tuple[Annotated[tuple[Phrase, ...], Field(min_length=2)], ...], Field(max_length=2000)] = ()
    sections: Annotated[tuple[SectionSpec, ...], Field(min_length=1, max_length=12)]

    @property
    def words(self) -> Words:
        """What the study calls its things, in the language of whoever reads."""
        return self.given_words.translated()

    @field_validator("synonyms")
    @classmethod
    def _check_synonyms(cls, groups: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        if twice := _first_repeated([phrase.casefold() for group in groups for phrase in group]):
            raise ValueError(
                _("“%(twice)s” stands here twice; put what means the same into one group") % {"twice": twice}
            )
        return groups

    @model_validator(mode="after")
    def _check_sections(self) -> SchemeSpec:
        if twice := _first_repeated([section.key for section in self.sections]):
            raise ValueError(_("two sections have the key “%(twice)s”") % {"twice": twice})
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
    if bad := list(_bad_keys(root, ())):
        raise SchemeError(bad)
    try:
        data = yaml_reading.construct(root)
    except YamlRefused as refused:
        raise SchemeError([Problem(refused.line, "", refused.reason)]) from refused
    try:
        return SchemeSpec.model_validate(data)
    except ValidationError as error:
        details = error.errors()
        # A list that lost its items to errors of their own is "too short" as well; that follows and helps nobody.
        causes = [d for d in details if d["type"] != "too_short" or not _has_deeper(d["loc"], details)]
        raise SchemeError([_problem(root, cause) for cause in causes]) from error


def _has_deeper(loc: tuple[int | str, ...], details: list[Any]) -> bool:
    return any(len(other["loc"]) > len(loc) and other["loc"][: len(loc)] == loc for other in details)


def _with_defaults(option: dict[str, Any], position: int) -> dict[str, Any]:
    defaults = {
        "hotkey": _HOTKEYS[position % len(_HOTKEYS)],
        "sign": str(option.get("label"))[:1],
        "colour": list(Colour)[position % len(Colour)],
    }
    return {**defaults, **option}


def _first_repeated(values: list[str]) -> str | None:
    return next((value for position, value in enumerate(values) if value in values[:position]), None)


def _bad_keys(node: yaml.Node, path: tuple[str, ...]) -> Iterator[Problem]:
    """Keys that stand twice, of which PyYAML would drop one without a word, and keys that are no text."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                yield Problem(key.start_mark.line + 1, ".".join(path), _("a key should be a word, and nothing longer"))
                continue
            here = (*path, str(key.value))
            if key.value in seen:
                yield Problem(key.start_mark.line + 1, ".".join(here), _("this key stands here twice"))
            seen.add(key.value)
            yield from _bad_keys(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            yield from _bad_keys(item, (*path, str(position)))


def _problem(root: yaml.Node, details: Any) -> Problem:
    """A pydantic error, told with the line of the deepest node of its path that stands in the file."""
    node, line, names = root, 1, []
    for step in details["loc"]:
        found = _child(node, step)
        if found is None:
            names.append(str(step))
            break
        node, line = found
        names.append(_name(node, step))
    return Problem(line, ".".join(names), _sentence(details))


def _child(node: yaml.Node, step: str | int) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return value, key.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step].start_mark.line + 1
    return None


def _name(node: yaml.Node, step: str | int) -> str:
    """`sections[ingredients]` says more than `sections.0`."""
    if isinstance(step, int) and isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == "key" and isinstance(value, yaml.ScalarNode):
                return str(value.value)
    return str(step)


def _sentence(details: Any) -> str:
    given = details.get("input")
    match details["type"]:
        case "missing":
            return _("this key is missing")
        case "extra_forbidden":
            return _("no such key here")
        case "string_type" if isinstance(given, bool):
            return _("YAML reads this word as yes or no; put it in quotes")
        case "string_type":
            return _("this should be text")
        case "tuple_type":
            return _("this should be a list")
        case "string_pattern_mismatch":
            return _("“%(text)s” should match %(pattern)s") % {"text": given, "pattern": details["ctx"]["pattern"]}
        case "value_error":
            return str(details["ctx"]["error"])
        case _:
            return str(details["msg"]).removeprefix("Input ").strip()
