"""What a judge judges by: the document as it was imported, or what an extractor took out of it. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from annotation.evidence.blocks import Block
from annotation.evidence.lines import without_gaps
from annotation.models import Row
from judges import doors
from judges.extraction import prompts
from judges.methods import prompting
from judges.methods.prompting import PromptError, PromptSpec
from judges.models import Correction, Extraction, Extractor, Judge


class NotExtracted(Exception):
    """A judge's evidence is not there, or holds nothing; `str()` says what to do."""


def kinds_of(extractor: Extractor) -> list[str]:
    """The kinds of list that it takes out; none where its parser is not installed."""
    if extractor.kind == Extractor.Kind.MODEL:
        return list(extractor.parsed_prompt.lists)
    parser = doors.parser(extractor.parser)
    return list(parser.kinds) if parser else []


def check_evidence(extractor: Extractor, spec: PromptSpec, method: str) -> None:
    """Whether an extractor takes out what a judge's prompt reads.

    Raises:
        PromptError: with the kind of evidence that there would be none of.
    """
    given = kinds_of(extractor)
    lacking = [kind for kind in prompting.kinds_read(spec, method) if kind not in given]
    if lacking:
        raise PromptError(
            _("The prompt reads evidence of the kind “%(kind)s”; “%(extractor)s” takes out %(given)s only.")
            % {"kind": lacking[0], "extractor": extractor.name, "given": ", ".join(given) or "–"}
        )


def evidence_of(judge: Judge, row: Row, *, corrected: bool = False) -> list[Block]:
    """What a judge reads of a row: the document's own blocks, or the items that its extractor took out. One query; two
    where lists are read as people have corrected them.

    Raises:
        NotExtracted: its extractor was not here yet, or has nothing of a kind that the judge's prompt reads.
    """
    if judge.evidence is None:
        return without_gaps(row.blocks)
    wanted = prompting.kinds_read(judge.prompt_spec, judge.method) or kinds_of(judge.evidence)
    found = {each.kind: each for each in Extraction.objects.filter(extractor=judge.evidence, row=row)}
    by_people = corrections_of(found.values()) if corrected else {}
    name = judge.evidence.name
    for kind in wanted:
        if kind not in found:
            raise NotExtracted(
                _(
                    "“%(extractor)s” has taken nothing out of this document yet. Start that extraction first, on the "
                    "page of judges or with “manage.py extract %(study)s %(extractor)s”, then resume this run."
                )
                % {"extractor": name, "study": row.sheet.study.slug}
            )
        if found[kind].refused and found[kind].pk not in by_people:
            raise NotExtracted(
                _("“%(extractor)s” took no list of the kind “%(kind)s” out of this document: %(why)s")
                % {"extractor": name, "kind": kind, "why": found[kind].refused}
            )
    return [block for kind in wanted for block in blocks_of(found[kind], by_people.get(found[kind].pk))]


def blocks_of(taken: Extraction, correction: Correction | None = None) -> list[Block]:
    items = taken.items if correction is None else correction.items
    return [Block(taken.kind, prompts.text_of(item["fields"])) for item in items]


def corrections_of(taken: Iterable[Extraction]) -> dict[int, Correction]:
    """The last correction of each list that has one, by the list's number. One query."""
    made = Correction.objects.filter(extraction__in=[each.pk for each in taken]).order_by("pk")
    return {each.extraction_id: each for each in made}


def record_of(extractor: Extractor | None) -> dict[str, Any] | None:
    """What a run's record says of its evidence; None where that is the document itself."""
    if extractor is None:
        return None
    return {
        "extractor": extractor.name,
        "kind": extractor.kind,
        "parser": extractor.parser,
        "model": extractor.model.name if extractor.model else "",
        "prompt_sha256": extractor.prompt_digest,
        "chat_template": extractor.chat_template,
        "max_new_tokens": extractor.max_new_tokens,
    }
