"""What answers that are values may be: the settings of numbers, texts, items and transitions. Pure."""

from __future__ import annotations

import re
from typing import Annotated

import regex
from pydantic import ConfigDict, Field, FiniteFloat, field_validator, model_validator

from annotation.scheme.basis import OFFERING, Facet, Level, Misplaced, Spec, Text, Word, first_repeated, repeated_at
from base.sentences import gettext as _


class NumberSpec(Spec):
    """Which numbers are answers. With `step`, only those that lie whole steps from `min` (from 0 without it)."""

    min: FiniteFloat | None = None
    max: FiniteFloat | None = None
    step: Annotated[FiniteFloat, Field(gt=0)] | None = None
    unit: Annotated[str, Field(max_length=20)] = ""

    @model_validator(mode="after")
    def _check_bounds(self) -> NumberSpec:
        if self.min is not None and self.max is not None and self.min >= self.max:
            raise Misplaced(_("min should be less than max"), "max")
        return self


class TextPattern(Spec):
    """A regular expression that no answer should match anywhere."""

    pattern: Annotated[str, Field(min_length=1, max_length=200)]
    message: Text
    level: Level = Level.WARN

    @field_validator("pattern")
    @classmethod
    def _check_pattern(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
            regex.compile(pattern)  # which looks for it, since it can be stopped
        except (re.error, regex.error) as error:
            raise ValueError(_("this is no regular expression: %(error)s") % {"error": error}) from error
        return pattern


Offering = Annotated[str, Field(pattern=OFFERING)]


class TextSpec(Spec):
    """Which texts are answers.

    Attributes:
        longest: in characters.
        lines: may have several lines; else a line break counts as a blank.
        special: whole answers with a meaning of their own, such as NA; compared without regard to case.
        separator: one character between the parts of a list; two lists with the same parts are the same answer.
        patterns: what is refused or warned about.
        completions: what is offered to whoever types.
        from_: questions of the section whose earlier answers of the same table are offered too, and facets of the row
            or the column whose words are: row.FACET, column.FACET; `from` in the file.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    longest: Annotated[int, Field(ge=1, le=20_000)] = 2000
    lines: bool = False
    special: Annotated[tuple[Word, ...], Field(max_length=10)] = ()
    separator: Annotated[str, Field(max_length=1)] = ""
    patterns: Annotated[tuple[TextPattern, ...], Field(max_length=20)] = ()
    completions: Annotated[tuple[Word, ...], Field(max_length=2000)] = ()
    from_: Annotated[tuple[Offering, ...], Field(alias="from")] = ()

    @field_validator("separator")
    @classmethod
    def _check_separator(cls, separator: str) -> str:
        if separator.isalnum() or separator.isspace() or separator == "\\":
            raise ValueError(_("a separator is one sign, such as “;”"))
        return separator

    @property
    def offered(self) -> list[str]:
        """The questions among `from_`."""
        return [name for name in self.from_ if "." not in name]

    def facets_of(self, place: str) -> set[str]:
        """The facets of the `row` or the `column` among `from_`."""
        return {name for of, _dot, name in (source.partition(".") for source in self.from_) if of == place and name}

    def special_of(self, text: str) -> str | None:
        """The special value that a text is, in the scheme's spelling."""
        return next((special for special in self.special if special.casefold() == text.casefold()), None)

    def parts(self, text: str) -> list[str]:
        """The parts of a list in its order; a text without separator is one part, and a special value has none."""
        if text in self.special:
            return []
        return [part.strip() for part in text.split(self.separator)] if self.separator else [text]


class ItemField(Spec):
    """One field of the records of `items`. `list`: several short texts instead of one.

    Attributes:
        completions: offered to whoever types, after what was written before.
        options: the only words that are taken, without regard to case; each text of a list is one of them.
        place: it holds where the words of the document stand that the entry comes from (`annotation.answers.places`);
            it is no part of what the entry says.
        carried: what an earlier entry says here is proposed in later ones that say nothing.
        carried_into: what is proposed only in entries whose first field has one of these words: {oven: [bake, roast]}.
        sums: words that stand for several texts of earlier entries, where these are carried; the first when in doubt.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    key: Facet
    title: Annotated[str, Field(max_length=120)] = ""
    is_list: Annotated[bool, Field(alias="list")] = False
    required: bool = False
    completions: Annotated[tuple[Word, ...], Field(max_length=2000)] = ()
    options: Annotated[tuple[Word, ...], Field(max_length=200)] = ()
    place: bool = False
    carried: bool = False
    carried_into: Annotated[dict[Word, tuple[Word, ...]], Field(max_length=200)] = {}
    sums: Annotated[tuple[Word, ...], Field(max_length=100)] = ()

    @property
    def name(self) -> str:
        return self.title or self.key.replace("_", " ").capitalize()

    def option_of(self, text: str) -> str | None:
        """The option that a text is, in the scheme's spelling."""
        return next((option for option in self.options if option.casefold() == text.casefold()), None)

    @model_validator(mode="after")
    def _check_uses(self) -> ItemField:
        if self.place and (self.is_list or self.required or self.completions or self.carried):
            raise ValueError(_("a place is no list, not required, not carried, and has no completions"))
        if self.options and (self.place or self.completions):
            raise ValueError(_("options are all that a field takes: it is no place, and has no completions"))
        if twice := first_repeated([option.casefold() for option in self.options]):
            raise Misplaced(_("two options are the word “%(twice)s”") % {"twice": twice}, "options")
        if (self.carried_into or self.sums) and not self.carried:
            raise ValueError(_("carried_into and sums are of a field that is carried"))
        if self.sums and not self.is_list:
            raise ValueError(_("sums are of a list"))
        return self


class ItemsSpec(Spec):
    """An ordered list of records. `longest`: characters of one text in it."""

    fewest: Annotated[int, Field(ge=0)] = 0
    most: Annotated[int, Field(ge=1, le=500)] = 100
    longest: Annotated[int, Field(ge=1, le=4000)] = 400
    fields: Annotated[tuple[ItemField, ...], Field(min_length=1, max_length=8)]

    @model_validator(mode="after")
    def _check_fields(self) -> ItemsSpec:
        keys = [field.key for field in self.fields]
        if twice := first_repeated(keys):
            raise Misplaced(
                _("two fields have the key “%(twice)s”") % {"twice": twice}, "fields", repeated_at(keys), "key"
            )
        if self.fewest > self.most:
            raise Misplaced(_("fewest should not be more than most"), "fewest")
        if long := next((one for field in self.fields for one in field.options if len(one) > self.longest), None):
            raise ValueError(_("the option “%(option)s” is longer than `longest`") % {"option": long})
        places = [field.key for field in self.fields if field.place]
        if places and (len(self.fields) == 1 or places != [self.fields[-1].key]):
            raise Misplaced(_("the place is one field, the last, behind others"), "fields", keys.index(places[0]))
        if self.fields[0].carried:
            raise Misplaced(_("the first field says what an entry is, and is not carried"), "fields", 0, "carried")
        return self

    @property
    def said(self) -> tuple[ItemField, ...]:
        """The fields that an entry says something in: all but the place."""
        return tuple(field for field in self.fields if not field.place)

    @property
    def place(self) -> ItemField | None:
        return self.fields[-1] if self.fields[-1].place else None


class TransitionsSpec(Spec):
    """What a step makes of what is there.

    Attributes:
        start: the facets of the row that name what is there at the beginning.
        longest: characters of one name.
        completions: names that are offered to whoever types.
    """

    start: Annotated[tuple[Facet, ...], Field(max_length=6)] = ()
    longest: Annotated[int, Field(ge=1, le=1000)] = 120
    most: Annotated[int, Field(ge=1, le=200)] = 50
    completions: Annotated[tuple[Word, ...], Field(max_length=2000)] = ()
