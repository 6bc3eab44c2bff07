"""Checks: rules over the answers of one table, those of one assignment to one section. Pure.

Cells that are not answered, or skipped, are no mistake: a check looks at answers alone. It compares the parts of
answers: of a list its parts, of transitions what they make, of records all their texts, of anything else the answer
itself; a special value, or an option that says there is nothing, has none. The script of the grid has the same checks;
`tests/rules/checks.json` is read by the tests of both.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from annotation.answers import transitions
from annotation.answers.states import Fault, graph_of
from annotation.scheme.rule_specs import OF_STATES, CheckSpec, Rule
from annotation.scheme.spec import Level, QuestionSpec, SectionSpec
from base.sentences import gettext, gettext_noop

# What a rule says where the scheme has no sentence of its own.
SENTENCES = {
    Rule.EQUAL_TO: gettext_noop("“%(question)s” should be the same as “%(other)s”."),
    Rule.CONTAINED_IN: gettext_noop("This comes from nowhere: %(parts)s."),
    Rule.CARRIED: gettext_noop("This was there before and is not taken along: %(parts)s."),
    Rule.NO_NUMBER: gettext_noop("“%(question)s” should have no number in it."),
    Rule.NOT_EMPTY_IF: gettext_noop("“%(question)s” should say something where “%(other)s” does."),
    Rule.EXISTS: gettext_noop("This is used, and is not there at this step: %(parts)s."),
    Rule.SOURCED: gettext_noop("This is made of nothing: %(parts)s."),
    Rule.DISTINCT: gettext_noop("Something else that is there has this name: %(parts)s."),
    Rule.REACHED: gettext_noop("No step uses this: %(parts)s."),
    Rule.USED_BELOW: gettext_noop("No line below goes on with this: %(parts)s."),
}

Table = Mapping[tuple[int, str], Any]  # (position of the column, question key) -> value; of an option its key


class Finding(NamedTuple):
    """An answer that breaks a check; `message` is for whoever reads."""

    position: int
    question: str
    rule: Rule
    level: Level
    message: str


def findings(
    section: SectionSpec,
    table: Table,
    *,
    row: Mapping[str, Any] | None = None,
    columns: Mapping[int, Mapping[str, str]] | None = None,
) -> list[Finding]:
    """What the checks of a section find, line by line.

    Args:
        table: the answers.
        row: the facets of the row.
        columns: the facets of the columns by their position: of all of the section, for what a line leaves open.
    """
    lines: dict[int, dict[str, Any]] = {}
    if any(check.rule == Rule.USED_BELOW for check in section.checks):
        lines = {position: {} for position in sorted({*(columns or {}), *(position for position, _q in table)})}
    for position, question in sorted(table):
        lines.setdefault(position, {})[question] = table[position, question]
    found = []
    faults = _faults(section, table, row or {}, columns or {})
    for number, (position, line) in enumerate(lines.items()):
        above, below = list(lines.values())[:number], list(lines.values())[number + 1 :]
        for check in section.checks:
            if check.question in line and _holds(section, check, line):
                if check.rule in OF_STATES:
                    missing = faults.get((check.question, check.rule, position))
                    told = {"parts": ", ".join(missing)} if missing else None
                else:
                    of_column = (columns or {}).get(position, {})
                    told = _broken(section, check, line, above, below, row or {}, of_column)
                if told is not None:
                    message = check.message or gettext(SENTENCES[check.rule]) % told
                    found.append(Finding(position, check.question, check.rule, check.level, message))
    return found


def parts(question: QuestionSpec, value: Any) -> list[str]:
    """What of an answer is compared; see above."""
    if question.has_options:
        return [] if question.option(value).blank else [value]
    if question.text:
        return question.text.parts(value)
    if question.items:
        fields = (record[field.key] for record in value for field in question.items.said)
        return [text for field in fields for text in ([field] if isinstance(field, str) else field) if text]
    if question.transitions:
        return [name for one in value for name in one["to"]]
    return [str(value)]


def _folded(texts: list[str]) -> set[str]:
    return {text.casefold() for text in texts}


def _holds(section: SectionSpec, check: CheckSpec, line: Mapping[str, Any]) -> bool:
    """Whether a check is about this line."""
    for key, words in check.when.items():
        if key not in line:
            return False
        question = section.question(key)
        said = {line[key].casefold()} if line[key] in question.special else set()
        said |= {line[key]} if question.has_options else _folded(parts(question, line[key]))
        if not said & {word if question.has_options else word.casefold() for word in words}:
            return False
    return True


def _broken(
    section: SectionSpec,
    check: CheckSpec,
    line: Mapping[str, Any],
    above: list[dict[str, Any]],
    below: list[dict[str, Any]],
    row: Mapping[str, Any],
    column: Mapping[str, str],
) -> dict[str, str] | None:
    """What the sentence of a check that a line breaks has in its gaps; None where the line keeps it."""
    question = section.question(check.question)
    own = parts(question, line[check.question])
    other = section.question(check.other) if check.other is not None else question
    titles = {"question": question.title, "other": other.title}
    missing: list[str] = []
    match check.rule:
        case Rule.EQUAL_TO:
            is_broken = other.key in line and _folded(own) != _folded(parts(other, line[other.key]))
            return titles if is_broken else None
        case Rule.CONTAINED_IN:
            missing = _not_contained(section, check, own, line, above, row, column)
        case Rule.CARRIED:
            was = next((had for one in reversed(above) if (had := _parts_of(section, question.key, one))), [])
            touched = _folded([*own, *_parts_of(section, str(check.from_), line)])
            missing = [part for part in was if own and part.casefold() not in touched]
        case Rule.USED_BELOW:
            # What a line leaves open may still go on with it; what the last line has is left at the end.
            if below and all(other.key in one for one in below):
                used = {part for one in below for part in _folded(_parts_of(section, other.key, one))}
                missing = [part for part in own if part.casefold() not in used]
        case Rule.NO_NUMBER:
            has_number = any(unicodedata.category(sign).startswith("N") for part in own for sign in part)
            return titles if has_number else None
        case Rule.NOT_EMPTY_IF:
            return titles if not own and _parts_of(section, other.key, line) else None
    return {"parts": ", ".join(missing)} if missing else None


_RULE_OF = {
    Fault.UNKNOWN: Rule.EXISTS,
    Fault.EARLY: Rule.EXISTS,
    Fault.SAME_STEP: Rule.EXISTS,
    Fault.CONSUMED: Rule.EXISTS,
    Fault.CREATED: Rule.SOURCED,
    Fault.ALIKE: Rule.DISTINCT,
    Fault.UNREACHED: Rule.REACHED,
}


def _faults(
    section: SectionSpec, table: Table, row: Mapping[str, Any], columns: Mapping[int, Mapping[str, str]]
) -> dict[tuple[str, Rule, int], list[str]]:
    """{(question, rule, position): the things that break it}, of the rules over what exists."""
    asked = dict.fromkeys(check.question for check in section.checks if check.rule in OF_STATES)
    positions = sorted({position for position, _question in table} | columns.keys()) if asked else []
    found: dict[tuple[str, Rule, int], list[str]] = {}
    for key in asked:
        start = transitions.start(section.question(key), row)
        graph = graph_of(start, [table.get((position, key)) for position in positions])
        for problem in graph.problems:
            if (rule := _RULE_OF.get(problem.fault)) is not None:
                things = found.setdefault((key, rule, positions[max(problem.step, 1) - 1]), [])
                things += [problem.name] if problem.name not in things else []
    return found


def _parts_of(section: SectionSpec, key: str, line: Mapping[str, Any]) -> list[str]:
    return parts(section.question(key), line[key]) if key in line else []


def _not_contained(
    section: SectionSpec,
    check: CheckSpec,
    own: list[str],
    line: Mapping[str, Any],
    above: list[dict[str, Any]],
    row: Mapping[str, Any],
    column: Mapping[str, str],
) -> list[str]:
    known: set[str] = set()
    texts: list[str] = []
    for source in check.in_:
        of, _dot, name = source.partition(".")
        if of in ("above", "line"):
            for one in above if of == "above" else [line]:
                known |= _folded(_parts_of(section, name, one))
        else:
            given = (row if of == "row" else column).get(name) or ""
            texts += [str(text).casefold() for text in (given if isinstance(given, list) else [given])]
    return [
        part
        for part in own
        if part.casefold() not in known and not any(_stands_in(part.casefold(), text) for text in texts)
    ]


def _stands_in(phrase: str, text: str) -> bool:
    """Whether a phrase stands in a text with no letter or digit right before or after it."""
    start = text.find(phrase)
    while start >= 0:
        end = start + len(phrase)
        if not (start and text[start - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        start = text.find(phrase, start + 1)
    return False
