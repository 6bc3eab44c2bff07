"""Files of text that people bring, as text. Pure Python: no Django, no database."""

from __future__ import annotations

from codecs import BOM_UTF8

from annotation.exchange.tables import TableError
from base.sentences import gettext_noop

_NOT_TEXT = gettext_noop("Line %(line)s of “%(file)s” is not UTF-8 text.")


def decoded(data: bytes, name: str, line: int = 1) -> str:
    """What begins on a line of a file, without the byte order mark of the file.

    Raises:
        TableError: it is not UTF-8; with the line that is not.
    """
    if line == 1:
        data = data.removeprefix(BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise TableError(_NOT_TEXT, line=line + data.count(b"\n", 0, error.start), file=name) from error
