"""What a study calls its sheets and rows, in sentences that people read."""

from __future__ import annotations

from annotation.scheme.basis import Spec, Text
from base.sentences import gettext as _
from base.sentences import gettext_noop


class Words(Spec):
    """What the study calls its things, in sentences that people read."""

    sheet: Text = "sheet"
    sheets: Text = "sheets"
    row: Text = "document"
    rows: Text = "documents"

    def translated(self) -> Words:
        """In the language of whoever reads, as far as these words are known; the others stay as they were given."""
        given = self.model_dump()
        return Words(**{name: _(word) if word in _KNOWN_WORDS else word for name, word in given.items()})


# The words of a scheme that names none, and those that packs use.
_KNOWN_WORDS = {
    gettext_noop("sheet"),
    gettext_noop("sheets"),
    gettext_noop("document"),
    gettext_noop("documents"),
    gettext_noop("row"),
    gettext_noop("rows"),
}


def know_words(*words: str) -> None:
    """Have these words for sheets and rows translated; whoever names them marks them for translation."""
    _KNOWN_WORDS.update(words)
