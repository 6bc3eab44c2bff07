"""Files of prompt types: several wordings of one way to ask for a text. Pure.

    types:
      - key: general
        title: General
        wordings:
          - How do you make $name?
          - Tell me about $name.

or, as CSV or TSV, a wording a line:

    type,wording
    general,How do you make $name?

A wording has $name, what the text is asked about, and may have other placeholders that whoever asks can fill. For
$name, “[name]” is understood as well, with a word before it or not (“[city name]”), as papers print it.
"""

from __future__ import annotations

import csv
import io
import re
import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from base import yaml_reading
from base.sentences import gettext as _
from base.text import UNSTORABLE
from base.yaml_reading import YamlRefused

NAME = "name"
LONGEST = 4000  # characters of a wording
_PRINTED = re.compile(r"\[(?:\w+ )?name\]", re.IGNORECASE)
_NO_KEY = re.compile(r"[^a-z0-9]+")


class WordingsRefused(ValueError):
    """The file or text holds no prompt types; `str()` is a sentence that says why."""


@dataclass(frozen=True)
class PromptType:
    """One way to ask. Which of its wordings is taken is a matter of the text's number."""

    key: str
    title: str
    wordings: tuple[str, ...]

    def wording(self, number: int) -> str:
        """Of the text with this number, from 0: the wordings one after the other, then again."""
        return self.wordings[number % len(self.wordings)]


class _TypeSpec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    key: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    title: Annotated[str, Field(max_length=80)] = ""
    wordings: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=LONGEST)], ...], Field(min_length=1)]


class _FileSpec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    types: Annotated[tuple[_TypeSpec, ...], Field(min_length=1)]

    @field_validator("types")
    @classmethod
    def _each_once(cls, types: tuple[_TypeSpec, ...]) -> tuple[_TypeSpec, ...]:
        keys = [each.key for each in types]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise ValueError(_("two types have the key “%(twice)s”") % {"twice": twice})
        return types


def read(text: str, *, known: Collection[str] = (), named_by: Collection[str] = ()) -> list[PromptType]:
    """The prompt types of a YAML file or of a table, whichever `text` is.

    Args:
        known: the placeholders beside $name that can be filled.
        named_by: those of them that together say as much as $name does; a wording that has all of them needs no $name.
    Raises:
        WordingsRefused: it is neither, or a wording has no $name, or a placeholder that nothing fills.
    """
    if UNSTORABLE.search(text):
        raise WordingsRefused(_("The prompts hold a character that is no text."))
    first = next((line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return checked(
        _from_yaml(text) if re.match(r"types\s*:", first) else _from_table(text), known=known, named_by=named_by
    )


def checked(
    types: Sequence[PromptType], *, known: Collection[str] = (), named_by: Collection[str] = ()
) -> list[PromptType]:
    """`types` with the printed forms of $name written out. Raises as `read`."""
    found = [PromptType(each.key, each.title, _wordings(each.wordings)) for each in types]
    for each in found:
        for wording in each.wordings:
            _check(each, wording, known, named_by)
    return found


def fill(wording: str, values: Mapping[str, str]) -> str:
    """What the model is asked. `values`: of $name and the others; each in one line."""
    return string.Template(wording).substitute({key: " ".join(text.split()) for key, text in values.items()}).strip()


def placeholders_of(wording: str) -> list[str]:
    """
    >>> placeholders_of("Tell of $name as in $region, $name!")
    ['name', 'region']
    """
    return string.Template(wording).get_identifiers()


def _from_yaml(text: str) -> list[PromptType]:
    try:
        spec = _FileSpec.model_validate(yaml_reading.load(text))
    except YamlRefused as refused:
        raise WordingsRefused(
            _("The prompts cannot be read, line %(line)s: %(reason)s")
            % {"line": refused.line, "reason": refused.reason}
        ) from refused
    except ValidationError as error:
        problem = error.errors()[0]
        raise WordingsRefused(f"{'.'.join(map(str, problem['loc'])) or 'types'}: {problem['msg']}") from error
    return [PromptType(one.key, one.title or one.key, one.wordings) for one in spec.types]


def _from_table(text: str) -> list[PromptType]:
    lines = text.lstrip("\ufeff").splitlines()
    heading = next((line for line in lines if line.strip()), "")
    delimiter = max("\t;,", key=heading.count)
    table = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter))
    names = [cell.strip().casefold() for cell in table[0]] if table else []
    if "type" not in names or "wording" not in names:
        raise WordingsRefused(
            _("Prompts are YAML that begins with “types:”, or a table with the headings “type” and “wording”.")
        )
    titles: dict[str, str] = {}
    wordings: dict[str, list[str]] = {}
    for number, cells in enumerate(table[1:], start=2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(names):
            raise WordingsRefused(
                _("Line %(line)s has more cells than headings: put a wording with “%(mark)s” in quotation marks.")
                % {"line": number, "mark": delimiter}
            )
        cells = [cell.strip() for cell in cells] + [""] * len(names)
        title, wording = cells[names.index("type")], cells[names.index("wording")]
        key = _NO_KEY.sub("-", title.casefold()).strip("-")[:40]
        if not key or not wording:
            raise WordingsRefused(_("Line %(line)s has no type, or no wording.") % {"line": number})
        if len(wording) > LONGEST:
            raise WordingsRefused(
                _("Line %(line)s: a wording has at most %(longest)s characters.") % {"line": number, "longest": LONGEST}
            )
        titles.setdefault(key, title[:80])
        wordings.setdefault(key, []).append(wording)
    if not wordings:
        raise WordingsRefused(_("There is no wording in the table."))
    return [PromptType(key, titles[key], tuple(of_type)) for key, of_type in wordings.items()]


def _wordings(texts: Sequence[str]) -> tuple[str, ...]:
    """Each once, in their order."""
    return tuple(dict.fromkeys(_PRINTED.sub(f"${NAME}", text).strip() for text in texts))


def _check(of: PromptType, wording: str, known: Collection[str], named_by: Collection[str]) -> None:
    template = string.Template(wording)
    if not template.is_valid():
        raise WordingsRefused(_("A single $ stands in “%(wording)s”; a dollar is written $$.") % {"wording": wording})
    names = set(placeholders_of(wording))
    if unknown := sorted(names - {NAME, *known}):
        raise WordingsRefused(
            _("“%(wording)s” has the placeholder $%(placeholder)s, which nothing fills. There are: %(known)s.")
            % {"wording": wording, "placeholder": unknown[0], "known": _listed([NAME, *known])}
        )
    if NAME not in names and not (named_by and set(named_by) <= names):
        if named_by:
            sentence = _("“%(wording)s” (%(type)s) does not say all that is asked for: put %(names)s there, or $name.")
        else:
            sentence = _("“%(wording)s” (%(type)s) does not say where the name goes: put $name there.")
        raise WordingsRefused(sentence % {"wording": wording, "type": of.title, "names": _listed(named_by)})


def _listed(placeholders: Collection[str]) -> str:
    return ", ".join(f"${one}" for one in placeholders)
