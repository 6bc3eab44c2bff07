"""The judge without a model, at one row."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.utils.translation import gettext as _

from annotation.actions import Answer
from annotation.answers import AnswerRefused, kind_of
from annotation.answers.places import placed
from annotation.evidence import kinds
from annotation.evidence.blocks import LANGUAGES
from judges import doors
from judges.doors import NothingStated
from judges.methods import lexicons
from judges.methods.answers import Why
from judges.methods.lexical import LexicalJudge, LexicalVerdict
from judges.methods.lexicons import Lexicon
from judges.methods.prompting import Lexical
from judges.models import Judge
from judges.runs.asking import Asked, AtRow, Labelled, RowFailed, Unread


def label(row: AtRow) -> Labelled:
    """What the words of the evidence say of each cell; the line it rests on is the label's note."""
    document = row.assignment.row
    language = LANGUAGES.get((document.language or "en").split("-")[0].lower(), "english")
    judge = LexicalJudge(language, lexicon_of(row.judge))
    known = kinds.known(row.scheme.block_kinds)
    lines = {kind: [block.text for block in row.blocks if block.kind == kind] for kind in {b.kind for b in row.blocks}}

    def look_up(item: str, where_to: Iterable[str]) -> tuple[LexicalVerdict, str]:
        """The best verdict over the kinds of block, and the line it rests on."""
        best, where = LexicalVerdict("none", None, ()), ""
        for kind in where_to:
            of_kind = lines.get(kind, [])
            verdict = judge.judge(item, of_kind, running_text=kind in known and known[kind].running)
            if verdict.line is not None and (best.line is None or (verdict.match == "same" != best.match)):
                best, where = verdict, of_kind[verdict.line]
        return best, where

    answers: list[Answer] = []
    unread: list[Unread] = []
    for cell in row.asked:
        rule = cell.prompt.lexical
        assert rule is not None
        if rule.parser:
            match _by_parser(rule.parser, cell, row):
                case Answer() as parsed:
                    answers.append(parsed)
                case missing:
                    unread.append(missing)
            continue
        about = cell.column.facets.get(cell.spec.about or "", "")
        if rule.shares:
            key, note = _by_shares(rule, about, look_up)
        else:
            verdict, note = look_up(about, rule.kinds or ())
            key = {"same": rule.same, "part": rule.part, "none": rule.none}[verdict.match]
        answers.append(Answer(cell.column, cell.question, cell.options[key], note=note[:500]))
    return Labelled(answers, tokens=0, unread=unread)


def _by_parser(key: str, cell: Asked, row: AtRow) -> Answer | Unread:
    parser = doors.item_parser(key)
    if parser is None:
        raise RowFailed(_("No pack that is installed here has the parser “%(name)s”.") % {"name": key})
    assert cell.spec.items is not None
    document = row.assignment.row
    try:
        records = parser.read(cell.spec.items, row.blocks, document.language or "en")
        if row.judge.evidence is not None:  # places are those of the document that people see
            records = placed(cell.spec.items, records, document.blocks)
        value = kind_of(cell.spec).canonical(cell.spec, records)
    except (NothingStated, AnswerRefused) as why:
        return Unread(cell.column, cell.question, Why.REFUSED, "", str(why))
    return Answer(cell.column, cell.question, value=value)


def lexicon_of(judge: Judge) -> Lexicon:
    """Whose words the judge knows. Raises RowFailed where no pack has them."""
    name = judge.prompt_spec.lexicon
    try:
        return lexicons.named(name)
    except KeyError:
        raise RowFailed(_("No pack that is installed here has the lexicon “%(name)s”.") % {"name": name}) from None


def _by_shares(
    rule: Lexical, about: str, look_up: Callable[[str, Iterable[str]], tuple[LexicalVerdict, str]]
) -> tuple[str, str]:
    parts = [part.strip() for part in about.split(",") if part.strip()] or [about]
    found = [part for part in parts if look_up(part, rule.kinds or ())[0].match != "none"]
    share = len(found) / len(parts)
    key = next((key for least, key in rule.shares if share >= least), rule.none)
    return key, ", ".join(found)
