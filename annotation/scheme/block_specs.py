"""What a scheme declares of its evidence. Pure."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from annotation.evidence import kinds
from annotation.scheme.basis import Spec


class BlockSpec(Spec):
    """A kind of evidence block of this scheme. `running`: its texts are sentences, not entries of a list."""

    key: Annotated[str, Field(pattern=kinds.PATTERN)]
    title: Annotated[str, Field(min_length=1, max_length=60)]
    shown: kinds.Shown = kinds.Shown.ITEMS
    running: bool = False
