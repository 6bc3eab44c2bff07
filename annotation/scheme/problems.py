"""What is wrong in a scheme file, told with its line and key. Pure."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from typing import Any, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from annotation.scheme.basis import FACET, HOTKEY, KEY, OFFERING, QUESTION, SOURCE, Misplaced
from base import yaml_reading
from base.sentences import gettext as _
from base.yaml_reading import YamlRefused

Model = TypeVar("Model", bound=BaseModel)


# How what a mapping may be looks, by the model that reads it, or by its key.
_EXAMPLES = {
    "OptionSpec": "{key: good, label: Good}",
    "QuestionSpec": "{key: known, title: Known, kind: flag}",
    "ItemField": "{key: what}",
    "TextPattern": '{pattern: "[0-9]", message: No digits}',
    "NumberSpec": "{min: 0, max: 10}",
    "TextSpec": "{longest: 200}",
    "ItemsSpec": "{fields: [{key: what}]}",
    "TransitionsSpec": "{most: 20}",
    "CheckSpec": "{rule: no-number, question: remark}",
    "ask_unless": '{known: ["no"]}',
    "when": '{known: ["yes"]}',
}

_FORMS = {
    QUESTION: "section.question",
    OFFERING: "question, row.facet, column.facet",
    SOURCE: "above.question, line.question, row.facet, column.facet",
}

MOST = 200  # problems that are told; who reads a file of ten thousand mends it from its first ones


class Problem(NamedTuple):
    """One thing wrong in a scheme file; `line` counts from 1, `key` is the dotted path, "" for the file as a whole."""

    line: int
    key: str
    message: str

    def __str__(self) -> str:
        sentence = _("line %(line)s, %(key)s: %(message)s") if self.key else _("line %(line)s: %(message)s")
        return sentence % self._asdict()


class SchemeError(ValueError):
    """The file is no valid scheme. `problems` lists all that was found. `column`: where in the line of the only one,
    counted from 1; 0 where the line says enough."""

    def __init__(self, problems: list[Problem], column: int = 0) -> None:
        self.problems = problems
        self.column = column
        super().__init__("\n".join(str(problem) for problem in problems))


def read(text: str, model: type[Model], *, begins: str) -> Model:
    """Read a YAML file whose root is a mapping.

    Args:
        begins: what is said of a file that is no mapping.
    Raises:
        SchemeError: with every problem that was found, each with its line and key.
    """
    try:
        root = yaml_reading.compose(text)
        if not isinstance(root, yaml.MappingNode):
            raise SchemeError([Problem(1, "", begins)])
        if bad := list(itertools.islice(bad_keys(root, ()), MOST)):
            raise SchemeError(bad)
        data = yaml_reading.construct(root)
    except YamlRefused as refused:
        raise SchemeError([Problem(refused.line, "", refused.reason)], refused.column) from refused
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise SchemeError(told(root, error)) from error


def told(root: yaml.Node, error: ValidationError) -> list[Problem]:
    """The first problems that a file has, `MOST` at most, in the order of their lines: each that of the deepest node of
    its path that stands in the file."""
    details = error.errors()
    # A list that lost its items to errors of their own is "too short" as well; that follows and helps nobody.
    above = {d["loc"][:n] for d in details for n in range(len(d["loc"]))}
    causes = [d for d in details if d["type"] != "too_short" or d["loc"] not in above]
    # So is a question of an unknown kind said to lack its options.
    kinds = {d["loc"][:-1] for d in details if d["loc"][-1:] == ("kind",)}
    causes = [d for d in causes if not (d["loc"][-1:] == ("options",) and d["loc"][:-1] in kinds)]
    return sorted((_problem(root, d) for d in causes[:MOST]), key=lambda problem: problem.line)


def bad_keys(node: yaml.Node, path: tuple[str, ...]) -> Iterator[Problem]:
    """Keys that stand twice, of which PyYAML would drop one without a word, and keys that are no text."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                yield Problem(key.start_mark.line + 1, ".".join(path), _("a key should be a word, and nothing longer"))
                continue
            here = (*path, str(key.value))
            if key.value != key.value.strip():
                said = _(
                    "a blank stands beside this key, perhaps a no-break space, which looks like any other; type it anew"
                )
                yield Problem(key.start_mark.line + 1, ".".join(here), said)
            if key.value in seen:
                yield Problem(key.start_mark.line + 1, ".".join(here), _("this key stands here twice"))
            seen.add(key.value)
            yield from bad_keys(value, here)
    elif isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            yield from bad_keys(item, (*path, _name(node, position)))


def _problem(root: yaml.Node, details: Any) -> Problem:
    node, line, names = root, 1, []
    wrong = details.get("ctx", {}).get("error")
    for step in (*details["loc"], *(wrong.at if isinstance(wrong, Misplaced) else ())):
        if step == "[key]":  # pydantic's word for a key that is itself wrong, which stands before it
            break
        found = _child(node, step)
        if found is None:
            key = _key_read_as(node, details["input"]) if details["type"] == "invalid_key" else None
            names.append(str(key.value if key else step))
            line = key.start_mark.line + 1 if key else line
            break
        names.append(_name(node, step))
        node, line = found
    return Problem(line, ".".join(names), _sentence(details))


def _child(node: yaml.Node, step: str | int) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return value, key.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step].start_mark.line + 1
    return None


def _key_read_as(node: yaml.Node, given: object) -> yaml.ScalarNode | None:
    """The key that YAML reads as this, which is no text: as a date, or as yes or no."""
    keys = (key for key, _value in node.value) if isinstance(node, yaml.MappingNode) else ()
    return next((key for key in keys if repr(yaml_reading.construct(key)) == repr(given)), None)


def _name(node: yaml.Node, step: str | int) -> str:
    """What a step from a node is called: `sections.duties` says more than `sections.0`."""
    if isinstance(step, int) and isinstance(node, yaml.SequenceNode):
        item = node.value[step]
        for key, value in item.value if isinstance(item, yaml.MappingNode) else ():
            if key.value == "key" and isinstance(value, yaml.ScalarNode):
                return str(value.value)
    return str(step)


def _sentence(details: Any) -> str:
    given = details.get("input")
    of = details.get("ctx", {})
    match details["type"]:
        case "missing" if isinstance(details["loc"][-1], int):
            return _("another entry is missing here")
        case "missing":
            return _("this key is missing")
        case "extra_forbidden":
            return _("no such key here")
        case "invalid_key" if type(given) is int:
            return _("no such key here; a decimal number is written with a point, and a key that is a number in quotes")
        case "invalid_key":
            return _("no such key here; put a key in quotes that YAML does not read as text")
        case "string_type":
            return _no_text(given)
        case "tuple_type" if given is None:
            return _("a list should stand here, and there is nothing")
        case "tuple_type" if isinstance(given, dict):
            return _("this should be a list, each entry of which begins with “- ”")
        case "tuple_type":
            return _("this should be a list, such as [first, second]")
        case "dict_type" | "model_type":
            return _no_mapping(given, _EXAMPLES.get(of.get("class_name")) or _EXAMPLES.get(str(details["loc"][-1])))
        case "too_short":
            return _("at least %(n)s should stand here") % {"n": of["min_length"]}
        case "too_long":
            return _("at most %(n)s may stand here") % {"n": of["max_length"]}
        case "string_too_short":
            return _("this should not be empty")
        case "string_too_long":
            return _("at most %(n)s characters may stand here") % {"n": of["max_length"]}
        case "bool_type" | "bool_parsing":
            return _("this should be true or false")
        case "int_type" | "int_parsing" | "int_from_float":
            return _("this should be a whole number")
        case "float_type" | "float_parsing" | "finite_number":
            return _("this should be a number")
        case "greater_than_equal":
            return _("this should be at least %(n)s") % {"n": of["ge"]}
        case "greater_than":
            return _("this should be more than %(n)s") % {"n": f"{of['gt']:g}"}
        case "less_than_equal":
            return _("this should be at most %(n)s") % {"n": of["le"]}
        case "enum":
            words = re.findall("'([^']+)'", of["expected"])
            return _("this should be one of: %(words)s") % {"words": ", ".join(words)}
        case "string_pattern_mismatch":
            return _of_another_form(str(given), of["pattern"])
        case "value_error":
            return str(of["error"])
        case _:
            return str(details["msg"]).removeprefix("Input ").strip()


def _no_text(given: Any) -> str:
    """What is said of what is no text, as YAML reads it."""
    if isinstance(given, bool):
        return _("YAML reads this word as yes or no; put it in quotes")
    if isinstance(given, date):
        return _("YAML reads this as a date; put it in quotes")
    if given is None:
        return _("this should be text, and YAML reads nothing here; put “~” and “null” in quotes")
    return _("this should be text")


def _no_mapping(given: Any, example: str | None) -> str:
    """What is said where keys with values should stand."""
    said = _("keys should stand here, each with a colon and its value")
    if isinstance(given, str) and re.search(r":\S", given):
        said = _("%(said)s; behind a colon belongs a blank") % {"said": said}
    return _("%(said)s, such as %(example)s") % {"said": said, "example": example} if example else said


def _of_another_form(given: str, pattern: str) -> str:
    """What a word should be made of, with the nearest one that is."""
    plain = unicodedata.normalize("NFKD", given).encode("ascii", "ignore").decode().casefold()
    if pattern == KEY:
        nearest = re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "a-1"
        said = _("“%(text)s” should be of small letters, digits and hyphens, such as “%(nearest)s”")
    elif pattern == FACET:
        nearest = re.sub(r"[^a-z0-9]+", "_", plain).strip("_").lstrip("0123456789_") or "a_1"
        said = _("“%(text)s” should be of small letters, digits and underscores, such as “%(nearest)s”")
    elif pattern == HOTKEY:
        return _("“%(text)s” should be a digit or a hyphen") % {"text": given}
    elif pattern in _FORMS:
        return _("“%(text)s” is not understood here; write %(form)s") % {"text": given, "form": _FORMS[pattern]}
    else:
        return _("“%(text)s” should match %(pattern)s") % {"text": given, "pattern": pattern}
    return said % {"text": given, "nearest": nearest}
