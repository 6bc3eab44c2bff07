"""What a question of a scheme declares: kind, options or form of its values, when it is asked, merges."""

from __future__ import annotations

import itertools
import json
import re
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticKnownError

from annotation.scheme.basis import HOTKEY, Facet, Key, Level, Misplaced, Spec, Text, Word, first_repeated, repeated_at
from annotation.scheme.values import ItemsSpec, NumberSpec, TextSpec, TransitionsSpec
from base.sentences import gettext as _

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
    hotkey: Annotated[str, Field(pattern=HOTKEY)]
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


def _give_anchors(options: list[dict[str, Any]], anchors: Any) -> None:
    """What numbers of a scale mean, as the definitions of its options."""
    of = {option["value"]: option for option in options}
    if not isinstance(anchors, dict) or not all(
        type(n) is int and n in of and isinstance(meaning, str) for n, meaning in anchors.items()
    ):
        raise Misplaced(
            _("“anchors” says in texts what numbers of the scale mean, such as {1: not at all, 5: fully}"), "anchors"
        )
    for n, meaning in anchors.items():
        of[n]["definition"] = meaning


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
    # Its cells may stay open where a row is submitted.
    optional: bool = False
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
            if not (type(low) is int and type(high) is int and 1 < high - low + 1 <= MAX_OPTIONS):
                raise Misplaced(
                    _("a scale needs whole numbers min and max, min less than max, with at most %(max_options)s steps")
                    % {"max_options": MAX_OPTIONS},
                    "max" if type(low) is int else "min",
                )
            data["options"] = [
                {"key": str(n).replace("-", "minus-"), "label": str(n), "sign": str(n), "value": n}
                for n in range(low, high + 1)
            ]
            if (anchors := data.pop("anchors", None)) is not None:
                _give_anchors(data["options"], anchors)
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
            signs = _signs(data["options"])
            data["options"] = [
                _with_defaults(option, position, sign) if isinstance(option, dict) else option
                for position, (option, sign) in enumerate(zip(data["options"], signs, strict=True))
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
                raise Misplaced(sentence % {"kind": kind}, *([] if kind == self.kind else [kind]))
        if self.kind in _VALUE_KINDS and (self.merges or self.judge_merge):
            raise ValueError(_("only options can be merged"))
        return self

    @model_validator(mode="after")
    def _check_options(self) -> QuestionSpec:
        keys = [option.key for option in self.options]
        for what in ("key", "label", "hotkey"):
            values = [getattr(option, what) for option in self.options]
            if twice := first_repeated(values):
                said = _("two options have the %(what)s “%(twice)s”") % {"what": what, "twice": twice}
                raise Misplaced(said, "options", repeated_at(values), what)
        for option in self.options:
            if (self.kind == Kind.SCALE) != (option.value is not None):
                raise ValueError(_("options of a scale have a value, and only they"))
        if self.preset and self.preset.option is not None and self.preset.option not in keys:
            raise Misplaced(
                _("the preset names “%(option)s”, which is no option of this question")
                % {"option": self.preset.option},
                *("preset", "option"),
            )
        if self.preset and self.preset.value is not None and self.preset.value not in self.special:
            raise Misplaced(
                _("the preset names “%(value)s”, which is no special value of this question")
                % {"value": self.preset.value},
                *("preset", "value"),
            )
        for at, merge in enumerate(self.merges):
            for name in itertools.chain(merge.options, merge.options.values()):
                if name not in keys:
                    raise Misplaced(
                        _("the merge “%(key)s” names “%(name)s”, which is no option of this question")
                        % {"key": merge.key, "name": name},
                        *("merges", at, "options"),
                    )
        if self.judge_merge and self.judge_merge not in [merge.key for merge in self.merges]:
            raise Misplaced(
                _("judge_merge names “%(judge_merge)s”, which is no merge of this question")
                % {"judge_merge": self.judge_merge},
                "judge_merge",
            )
        return self

    def for_judges(self, option: str) -> str:
        """What an option counts as where judges are held against people: under `judge_merge`, else itself."""
        merge = next((merge for merge in self.merges if merge.key == self.judge_merge), None)
        return merge.options.get(option, option) if merge else option

    def option(self, key: str) -> OptionSpec:
        return next(option for option in self.options if option.key == key)

    @property
    def has_options(self) -> bool:
        """Whether it is answered by one of its options; else by a value."""
        return self.kind in OPTION_KINDS

    @property
    def warns(self) -> bool:
        """Whether it warns of answers by itself, without a check of its section."""
        patterns = self.text.patterns if self.text else ()
        return self.kind == Kind.TRANSITIONS or any(pattern.level == Level.WARN for pattern in patterns)

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

    @property
    def words(self) -> tuple[str, ...]:
        """The answers that rules can name: the keys of its options, or the special values of a text."""
        return tuple(option.key for option in self.options) if self.has_options else self.special


def _signs(options: list[Any]) -> list[str]:
    """What is shown of an option whose file gives no sign: its label's first letter, or as many letters, three at
    most, as tell all of them apart, else the first letters of its words."""
    labels = [str(option.get("label")) if isinstance(option, dict) else "" for option in options]
    given = [option.get("sign") if isinstance(option, dict) else None for option in options]
    ways = [[label[:n] for label in labels] for n in (1, 2, 3)]
    ways.append(["".join(word[0] for word in re.findall(r"\w+", label))[:3] for label in labels])
    for way in ways:
        signs = [str(own or short).strip() for own, short in zip(given, way, strict=True)]
        if len(set(signs) - {""}) == len(signs):
            return [short.strip() or short for short in way]
    return ways[0]


def _with_defaults(option: dict[str, Any], position: int, sign: str) -> dict[str, Any]:
    defaults = {
        "hotkey": _HOTKEYS[position % len(_HOTKEYS)],
        "sign": sign,
        "colour": list(Colour)[position % len(Colour)],
    }
    return {**defaults, **option}
