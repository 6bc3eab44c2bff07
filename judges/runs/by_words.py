"""The judge without a model, at one row."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.utils.translation import gettext as _

from annotation.actions import Answer
from annotation.evidence import kinds
from annotation.evidence.blocks import LANGUAGES
from judges.methods import lexicons
from judges.methods.lexical import LexicalJudge, LexicalVerdict
from judges.methods.lexicons import Lexicon
from judges.methods.prompting import Lexical
from judges.models import Judge
from judges.runs.asking import AtRow, Labelled, RowFailed


def label(row: AtRow) -> Labelled:
    """What the words of the evidence say of each cell; the line it rests on is the label's note."""
    document = row.assignment.row
    language = LANGUAGES.get((document.language or "en").split("-")[0].lower(), "english")
    judge = LexicalJudge(language, _lexicon(row.judge))
    known = kinds.known(document.sheet.study.scheme.parsed.block_kinds)
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

    answers = []
    for cell in row.asked:
        rule = cell.prompt.lexical
        assert rule is not None
        about = cell.column.facets.get(cell.spec.about or "", "")
        if rule.shares:
            key, note = _by_shares(rule, about, look_up)
        else:
            verdict, note = look_up(about, rule.kinds)
            key = {"same": rule.same, "part": rule.part, "none": rule.none}[verdict.match]
        answers.append(Answer(cell.column, cell.question, cell.options[key], note=note[:500]))
    return Labelled(answers, tokens=0)


def _lexicon(judge: Judge) -> Lexicon:
    name = judge.prompt_spec.lexicon
    try:
        return lexicons.named(name)
    except KeyError:
        raise RowFailed(_("No pack that is installed here has the lexicon “%(name)s”.") % {"name": name}) from None


def _by_shares(
    rule: Lexical, about: str, look_up: Callable[[str, Iterable[str]], tuple[LexicalVerdict, str]]
) -> tuple[str, str]:
    parts = [part.strip() for part in about.split(",") if part.strip()] or [about]
    found = [part for part in parts if look_up(part, rule.kinds)[0].match != "none"]
    share = len(found) / len(parts)
    key = next((key for least, key in rule.shares if share >= least), rule.none)
    return key, ", ".join(found)
