"""An extractor's prompt file, the prompts made of it, and what its answers become. Pure.

    lists:
      ingredient:                       # the kind of evidence block that the items become
        ask: |
          Write the ingredients of this page as <ingredients><ingredient>…</ingredient></ingredients>.
          <page>
          $document
          </page>
      task:
        fields: [name, tool, ingredients]   # the tags in an item; without them an item is one text
        ask: …

One answer is asked for a list. Placeholders: $title; $document, the blocks of the document as imported, one a line; and
$page, all the text that the saved page shows, where the installation keeps it (else as $document).
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from annotation.evidence import Block, BlockKind
from annotation.matching import stem
from annotation.sentences import gettext as _
from judges import neutralising
from judges.engine.extraction import Item, Shape
from judges.prompting import PromptError, read_as

_FRACTION = re.compile("[¼-¾⅐-⅞]")
_WORD = re.compile(r"[^\W\d_]+|\d+/\d+|\d+(?:[.,]\d+)*")


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ListPrompt(_Spec):
    ask: Annotated[str, Field(min_length=1)]
    fields: tuple[Annotated[str, Field(pattern="^[a-z][a-z_-]{0,30}$")], ...] = ()


class ExtractionPrompt(_Spec):
    lists: Annotated[dict[BlockKind, ListPrompt], Field(min_length=1)]

    @model_validator(mode="after")
    def _can_be_told_apart(self) -> Self:
        for kind, of_kind in self.lists.items():
            if kind == BlockKind.HEADING:
                raise ValueError(_("a heading is no item of a list"))
            if len({kind, f"{kind}s", *of_kind.fields}) < 2 + len(of_kind.fields):
                raise ValueError(
                    _("the fields of %(kind)s must differ from each other, “%(kind)s” and “%(kind)ss”") % {"kind": kind}
                )
        return self


def load_extraction_prompt(text: str) -> ExtractionPrompt:
    """Read the prompt file of an extractor.

    Raises:
        PromptError: with the key that is wrong.
    """
    spec = read_as(ExtractionPrompt, text)
    for kind in spec.lists:
        try:
            asked = request(spec, kind, title="", blocks=[], page=["x"])
        except KeyError as error:
            raise PromptError(
                _("%(list)s has the placeholder $%(placeholder)s, which nothing fills.")
                % {"list": f"lists.{kind}", "placeholder": error.args[0]}
            ) from error
        except ValueError as error:
            raise PromptError(
                _("%(list)s cannot be used: %(error)s") % {"list": f"lists.{kind}", "error": error}
            ) from error
        if not asked.strip() or not re.search(r"\$\{?(?:document|page)\b", spec.lists[kind].ask):
            raise PromptError(
                _("%(list)s shows no document: put $document or $page into it.") % {"list": f"lists.{kind}"}
            )
    return spec


def shape(kind: str, of_kind: ListPrompt) -> Shape:
    return Shape(kind, of_kind.fields)


def request(
    spec: ExtractionPrompt, kind: BlockKind, *, title: str, blocks: Sequence[Block], page: Sequence[str] = ()
) -> str:
    """What the model is asked for one list of a document. `page`: the lines of the whole page, if they are known."""
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


def _stems(text: str, *, language: str) -> frozenset[str]:
    # "1½" is "1 1/2", however it is typed.
    plain = unicodedata.normalize("NFKC", _FRACTION.sub(r" \g<0>", text)).casefold().replace("⁄", "/")
    return frozenset(stem(word, language=language) for word in _WORD.findall(plain))
