"""What a scheme's rules and checks leave of a judge's answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.actions import Answer
from annotation.answers import kind_of
from annotation.scheme.checks import findings
from annotation.scheme.spec import Level, SectionSpec
from judges.methods.answers import Scores, Why
from judges.runs.asking import Unread

_Cell = tuple[int, str]  # column, question's key


def settled(
    answers: list[Answer], unread: list[Unread], *, facets: Mapping[str, Any]
) -> tuple[list[Answer], list[Unread]]:
    """The answers that stand by the rules, and the cells without one; `facets`: those of the row.

    Left out are answers that the scheme does not ask for, given the judge's other answers of the column, and those that
    break a check which refuses: these count as unreadable, with the check's sentence.
    """
    kept = without_rules_broken(answers)
    refused: list[Unread] = []
    while broken := _refused(kept, facets):
        refused += [_unread(answer, broken[_cell(answer)]) for answer in kept if _cell(answer) in broken]
        kept = without_rules_broken([answer for answer in kept if _cell(answer) not in broken])
    off = switched_off(kept)
    return kept, [one for one in [*unread, *refused] if (one.column.pk, one.question.key) not in off]


def without_rules_broken(answers: list[Answer]) -> list[Answer]:
    """Leave out the answers that the scheme's rules do not ask for, given the judge's other answers of the column."""
    off = switched_off(answers)
    return [answer for answer in answers if _cell(answer) not in off]


def switched_off(answers: Iterable[Answer]) -> set[_Cell]:
    """The cells that these answers leave unasked."""
    off = set()
    for pk, of_column in _by_column(answers).items():
        section = of_column[0].column.section.spec
        words = {
            answer.question.key: section.question(answer.question.key).word(answer.code)
            for answer in of_column
            if answer.code
        }
        standing = {question.key for question in section.asked(words)}
        off |= {(pk, question.key) for question in section.questions if question.key not in standing}
    return off


def _refused(answers: list[Answer], facets: Mapping[str, Any]) -> dict[_Cell, str]:
    """The answers that break a check which refuses, and what the check says."""
    broken: dict[_Cell, str] = {}
    by_section: dict[int, list[Answer]] = {}
    for answer in answers:
        by_section.setdefault(answer.column.section_id, []).append(answer)
    for of_section in by_section.values():
        section = of_section[0].column.section.spec
        if not any(check.level == Level.REFUSE for check in section.checks):
            continue
        columns = {answer.column.position: answer.column for answer in of_section}
        table = {
            (position, key): value
            for position, column in columns.items()
            for key, value in _preset_values(section, column.facets).items()
        }
        table |= {(answer.column.position, answer.question.key): _value(answer) for answer in of_section}
        told = findings(
            section, table, row=facets, columns={position: column.facets for position, column in columns.items()}
        )
        for finding in told:
            if finding.level == Level.REFUSE:
                broken.setdefault((columns[finding.position].pk, finding.question), finding.message)
    mine = {_cell(answer) for answer in answers}
    return {cell: message for cell, message in broken.items() if cell in mine}


def _preset_values(section: SectionSpec, facets: Mapping[str, str]) -> dict[str, Any]:
    questions = {key: section.question(key) for key in section.presets(facets)}
    codes = section.presets(facets)
    return {key: kind_of(question).value(question, codes[key]) for key, question in questions.items()}


def _value(answer: Answer) -> Any:
    return answer.option.key if answer.option is not None else answer.value


def _unread(answer: Answer, message: str) -> Unread:
    raw = answer.scores.answer if isinstance(answer.scores, Scores) else ""
    return Unread(answer.column, answer.question, Why.REFUSED, raw, message)


def _cell(answer: Answer) -> _Cell:
    return answer.column.pk, answer.question.key


def _by_column(answers: Iterable[Answer]) -> dict[int, list[Answer]]:
    by_column: dict[int, list[Answer]] = {}
    for answer in answers:
        by_column.setdefault(answer.column.pk, []).append(answer)
    return by_column
