"""One of the options that the scheme lists. Pure."""

from __future__ import annotations

from annotation.answers.options import OptionAnswer


class Choice(OptionAnswer):
    pass
