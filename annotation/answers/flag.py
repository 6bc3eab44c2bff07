"""Yes or no. Pure."""

from __future__ import annotations

from annotation.answers.options import OptionAnswer


class Flag(OptionAnswer):
    pass
