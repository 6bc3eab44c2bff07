"""An extractor at one document. Reads the database, writes nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.evidence.kinds import HEADING
from annotation.evidence.lines import without_gaps
from annotation.models import Row
from base.text import storable
from judges import doors
from judges.doors import NothingStated
from judges.extraction import answers, prompts
from judges.extraction.answers import ExtractionRefused, Item, Repair, Shape
from judges.models import Extractor
from llm import registry
from llm.backends.base import Backend, BackendError, Use
from llm.engine.prompt import Generated, PromptTooLong, Sampling

# How each repair is told to people.
REPAIRS: dict[str, str | Promise] = {
    Repair.CONTROLS: gettext_lazy("control characters taken away"),
    Repair.THOUGHTS: gettext_lazy("the model's thoughts before its answer left out"),
    Repair.FENCE: gettext_lazy("a code fence around the list taken away"),
    Repair.AROUND: gettext_lazy("text before or after the list left out"),
    Repair.BETWEEN: gettext_lazy("text between items left out"),
    Repair.ENTITIES: gettext_lazy("a bare & or < taken as it stands"),
    Repair.NO_LIST: gettext_lazy("the list's own tags were missing"),
    Repair.UNCLOSED: gettext_lazy("a tag that was not closed ended where the next item begins"),
    Repair.EXTRA_CLOSING: gettext_lazy("a closing tag too many passed over"),
    Repair.UNKNOWN_TAGS: gettext_lazy("tags that were not asked for taken away, their text kept"),
    Repair.REPEATED_FIELDS: gettext_lazy("a field given twice joined with a comma"),
    Repair.SAME_LIST: gettext_lazy("the same list given again counted once"),
    Repair.SAME_ITEM: gettext_lazy("an item right after itself counted once"),
    Repair.EMPTY_ITEMS: gettext_lazy("items without text left out"),
    Repair.NAMELESS: gettext_lazy("items without a name left out"),
    Repair.ECHOED: gettext_lazy("items left out that only repeat the prompt's own words"),
    Repair.CUT_OFF: gettext_lazy("the answer broke off: what it had begun is left out, and the rest is missing"),
}


@dataclass(frozen=True)
class Taken:
    """One list of one document, as `Extraction` has it."""

    kind: str
    items: list[dict[str, Any]] = field(default_factory=list)
    raw: str = ""
    repairs: dict[str, int] = field(default_factory=dict)
    refused: str = ""

    @property
    def unsupported(self) -> int:
        return sum(bool(item["unsupported"]) for item in self.items)


def backend_of(extractor: Extractor) -> Backend:
    """The backend of an extractor with a model. Loads nothing yet.

    Raises:
        BackendError: it can never work.
    """
    assert extractor.model is not None
    return registry.backend_of(extractor.model, Use.GENERATE, chat_template=extractor.chat_template)


def check_extractor(extractor: Extractor) -> None:
    """Whether it could work, as far as this process can tell without asking anybody.

    Raises:
        BackendError: its model is not there, or its parser.
    """
    if extractor.model is not None:
        registry.check(extractor.model, Use.GENERATE, chat_template=extractor.chat_template)
    elif doors.parser(extractor.parser) is None:
        raise BackendError(
            _("The parser “%(key)s” is not part of this installation.") % {"key": extractor.parser}, permanent=True
        )


@dataclass(frozen=True)
class Asked:
    """What a model is asked about one document: a prompt for each list; or, where it need not be asked, `taken`."""

    prompts: Mapping[str, str]
    lines: Sequence[str] = ()
    taken: Sequence[Taken] = ()


def asked_of(extractor: Extractor, row: Row) -> Asked:
    """What an extractor with a model asks about one document."""
    prompt, blocks = extractor.parsed_prompt, without_gaps(row.blocks)
    if not any(block.kind != HEADING for block in blocks):
        return Asked({}, taken=[Taken(kind, refused=_("The document has no text.")) for kind in prompt.lists])
    page, html = doors.page_of(row), []
    if any("html" in prompts.sources(prompt, kind) for kind in prompt.lists):
        html = doors.html_of(row)
        if not html:
            refused = _("There is no saved page behind this row, and the prompt reads its HTML.")
            return Asked({}, taken=[Taken(kind, refused=refused) for kind in prompt.lists])
    return Asked(
        {
            kind: prompts.request(prompt, kind, title=row.title, blocks=blocks, page=page, html=html)
            for kind in prompt.lists
        },
        [row.title, *(block.text for block in blocks), *page],
    )


def sampling_of(extractor: Extractor) -> Sampling:
    """How its prompts are answered. Asked in plain form, a model that has finished a list goes on with something else;
    there the end of a list is the answer's. One sampling for all lists, so that they are written together; what ends a
    field of one of them (as where the parts of an item are called by another list) ends no answer then."""
    lists = extractor.parsed_prompt.lists
    fields = {field for of_kind in lists.values() for field in of_kind.fields}
    ends = tuple(f"</{kind}s>" for kind in lists if f"{kind}s" not in fields)
    return Sampling(max_new_tokens=extractor.max_new_tokens, stop=() if extractor.chat_template else ends)


def by_parser(extractor: Extractor, row: Row) -> list[Taken]:
    """The lists of one document that its own data state, each with its items or why there are none."""
    parser = doors.parser(extractor.parser)
    assert parser is not None
    try:
        stated = parser.read(row)
    except NothingStated as nothing:
        return [Taken(kind, refused=str(nothing)) for kind in parser.kinds]
    taken = []
    for kind in parser.kinds:
        items: list[Item] = [{str(kind): text} for line in stated.get(kind, ()) if (text := storable(line).strip())]
        if items:
            raw = answers.write(items, Shape(kind))
            # What a page states for programs is its own text, whether it shows it or not.
            taken.append(Taken(kind, [{"fields": item, "unsupported": []} for item in items], raw))
        else:
            taken.append(Taken(kind, refused=_("The document states none.")))
    return taken


def by_model(extractor: Extractor, row: Row, asked: Asked, written: Sequence[Generated | PromptTooLong]) -> list[Taken]:
    """The lists of one document, read of what a model wrote to each prompt."""
    prompt = extractor.parsed_prompt
    taken = list(asked.taken)
    for (kind, request), answer in zip(asked.prompts.items(), written, strict=True):
        if isinstance(answer, PromptTooLong):
            taken.append(Taken(kind, refused=str(answer)))
            continue
        shape = prompts.shape(kind, prompt.lists[kind])
        raw = storable(answer.said + answer.stop)
        try:
            read = answers.read(_answer(raw, request, shape, in_turns=extractor.chat_template), shape)
        except ExtractionRefused as refused:
            taken.append(Taken(kind, raw=raw, refused=str(refused)))
            continue
        nowhere = prompts.unsupported(read.items, asked.lines, language=row.language or "en")
        echoed = prompts.echoes(read.items, nowhere, prompt.lists[kind].ask, language=row.language or "en")
        items = [
            {"fields": item, "unsupported": missing}
            for item, missing, echo in zip(read.items, nowhere, echoed, strict=True)
            if not echo
        ]
        if not items:
            taken.append(Taken(kind, raw=raw, refused=_("The answer only repeats the prompt's own words.")))
            continue
        repairs = {str(repair): n for repair, n in read.repairs.items()}
        if any(echoed):
            repairs[str(Repair.ECHOED)] = sum(echoed)
        taken.append(Taken(kind, items, raw, repairs))
    return taken


def _answer(raw: str, request: str, shape: Shape, *, in_turns: bool) -> str:
    """The answer in what a model wrote.

    A prompt may end with the list's opening tag, for the model to go on from. Asked in plain form, a model that has
    finished goes on with something else; there the list's end is the answer's.
    """
    begun = f"<{shape.list}>" if request.endswith(f"<{shape.list}>") else ""
    end = None if in_turns else re.search(rf"</{shape.list}\s*>", raw, re.IGNORECASE)
    return begun + (raw[: end.end()] if end else raw)


def told(repairs: Mapping[str, int]) -> list[tuple[str | Promise, int]]:
    """Each repair in words, and how often."""
    return [(REPAIRS.get(code, code), n) for code, n in repairs.items()]
