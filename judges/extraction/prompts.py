"""An extractor's prompt file, the prompts made of it, and what its answers become. Pure.

    lists:
      clause:                           # the kind of evidence block that the items become
        ask: |
          Write the clauses of this page as <clauses><clause>…</clause></clauses>.
          <page>
          $document
          </page>
      duty:
        fields: [name, party, until]        # the tags in an item; without them an item is one text
        ask: …

One answer is asked for a list. Placeholders: $title; $document, the blocks of the document as imported, one a line;
$page, all the text that the saved page shows, where the installation keeps it (else as $document); and $html, the saved
page's own HTML without what a reader of it never sees (scripts, styles, attributes). A prompt with $html reads no
document whose page is not kept: it would not be what the prompt says.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from annotation.evidence import kinds
from annotation.evidence.blocks import Block
from annotation.evidence.matching import stem
from base.sentences import gettext as _
from judges.extraction.answers import Item, Shape
from judges.methods.prompting import PromptError, read_as
from llm import neutralising

_FRACTION = re.compile("[¼-¾⅐-⅞]")
_WORD = re.compile(r"[^\W\d_]+|\d+/\d+|\d+(?:[.,]\d+)*")


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ListPrompt(_Spec):
    ask: Annotated[str, Field(min_length=1)]
    fields: tuple[Annotated[str, Field(pattern="^[a-z][a-z_-]{0,30}$")], ...] = ()


class ExtractionPrompt(_Spec):
    lists: Annotated[dict[Annotated[str, Field(pattern=kinds.PATTERN)], ListPrompt], Field(min_length=1)]

    @model_validator(mode="after")
    def _can_be_told_apart(self) -> Self:
        for kind, of_kind in self.lists.items():
            if kind == kinds.HEADING:
                raise ValueError(_("a heading is no item of a list"))
            if len({kind, f"{kind}s", *of_kind.fields}) < 2 + len(of_kind.fields):
                raise ValueError(
                    _("the fields of %(kind)s must differ from each other, “%(kind)s” and “%(kind)ss”") % {"kind": kind}
                )
        return self


def load_extraction_prompt(text: str, *, known: Collection[str] | None = None) -> ExtractionPrompt:
    """Read the prompt file of an extractor.

    Args:
        known: the kinds of evidence block that there are; None where the file was stored once, whatever is known now.
    Raises:
        PromptError: with the key that is wrong.
    """
    spec = read_as(ExtractionPrompt, text)
    for kind in spec.lists:
        if known is not None and kind not in known:
            raise PromptError(
                _("%(list)s: nobody declares a kind of evidence of this name. There are: %(known)s.")
                % {"list": f"lists.{kind}", "known": ", ".join(known)}
            )
        try:
            asked = request(spec, kind, title="", blocks=[], page=["x"], html=["x"])
        except KeyError as error:
            raise PromptError(
                _("%(list)s has the placeholder $%(placeholder)s, which nothing fills.")
                % {"list": f"lists.{kind}", "placeholder": error.args[0]}
            ) from error
        except ValueError as error:
            raise PromptError(
                _("%(list)s cannot be used: %(error)s") % {"list": f"lists.{kind}", "error": error}
            ) from error
        if not asked.strip() or not sources(spec, kind):
            raise PromptError(
                _("%(list)s shows no document: put $document, $page or $html into it.") % {"list": f"lists.{kind}"}
            )
    return spec


def shape(kind: str, of_kind: ListPrompt) -> Shape:
    return Shape(kind, of_kind.fields)


def sources(spec: ExtractionPrompt, kind: str) -> set[str]:
    """What a list is taken from: "document", "page" or "html"."""
    return set(re.findall(r"\$\{?(document|page|html)\b", spec.lists[kind].ask))


def request(
    spec: ExtractionPrompt,
    kind: str,
    *,
    title: str,
    blocks: Sequence[Block],
    page: Sequence[str] = (),
    html: Sequence[str] = (),
) -> str:
    """What the model is asked for one list of a document. `page`, `html`: the lines of the whole page, if they are
    known."""
    of_kind = spec.lists[kind]
    inert = partial(
        neutralising.inert,
        beginnings=neutralising.beginnings([of_kind.ask]),
        tags={*re.findall(r"</?([A-Za-z][\w.-]*)", of_kind.ask), f"{kind}s", kind, *of_kind.fields},
    )
    document = [block.text for block in blocks]
    values = {
        "title": inert(title),
        "document": "\n".join(map(inert, document)),
        "page": "\n".join(map(inert, page or document)),
        "html": "\n".join(map(inert, html)),
    }
    return string.Template(of_kind.ask).substitute(values).strip()


# --- what became of it ------------------------------------------------------------------------------------------------


def text_of(item: Mapping[str, str]) -> str:
    """An item as one line of evidence: "whisk · large bowl · eggs, milk"."""
    return " · ".join(text for text in item.values() if text)


def unsupported(items: Sequence[Item], lines: Iterable[str], *, language: str) -> list[list[str]]:
    """For each item its fields that the document has not.

    A text is there if the words and numbers of each of its parts (between commas) stand together in one line of the
    document, in any order and inflection.
    """
    stems = partial(_stems, language=language)
    known = [stems(line) for line in lines]
    found: dict[frozenset[str], bool] = {}

    def is_there(part: str) -> bool:
        wanted = stems(part)
        if wanted not in found:
            found[wanted] = any(wanted <= line for line in known)
        return found[wanted]

    return [[name for name, text in item.items() if not all(map(is_there, re.split(r"[,;]", text)))] for item in items]


def echoes(items: Sequence[Item], missing: Sequence[Sequence[str]], ask: str, *, language: str) -> list[bool]:
    """Of each item whether a model took it from the prompt: the document has none of its fields, and the prompt's own
    text has the words of them all, as those of an example or of the form.

    Args:
        missing: the fields that the document has not, as of `unsupported`.
        ask: the prompt as it is written, with its placeholders.
    """
    own = _stems(re.sub(r"\$\w+|\$\{\w+\}", " ", ask), language=language)
    return [
        bool(given := [name for name, text in item.items() if text.strip()])
        and set(given) <= set(nowhere)
        and all(_stems(item[name], language=language) <= own for name in given)
        for item, nowhere in zip(items, missing, strict=True)
    ]


def _stems(text: str, *, language: str) -> frozenset[str]:
    # "1½" is "1 1/2", however it is typed.
    plain = unicodedata.normalize("NFKC", _FRACTION.sub(r" \g<0>", text)).casefold().replace("⁄", "/")
    return frozenset(stem(word, language=language) for word in _WORD.findall(plain))
