"""Text that can be stored. Pure."""

from __future__ import annotations

import re

# Control characters that are no white space, and halves of surrogate pairs: PostgreSQL refuses NUL, UTF-8 the halves.
UNSTORABLE = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` without what a database or a page cannot hold."""
    return UNSTORABLE.sub("", text)
