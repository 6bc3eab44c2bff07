"""What is drawn in several forms at once is what each of them is alone."""

from __future__ import annotations

import base64
import io
import re
import zlib
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from reports.contents import contents_from
from reports.data.arrays import Filters
from reports.figures.base import Figure
from reports.figures.svg import Theme, draw, drawn
from tests.reports.make_frozen import label_table

FIGURE = Figure(
    key="duties.stated.kappa",
    kind="intervals",
    about="Stated",
    title="Cohen's κ",
    data={
        "names": ["Anna and Boris", "Anna and a model whose name takes more than one line"],
        "values": [0.62, None],
        "low": [0.4, None],
        "high": [0.8, None],
        "line": 0.5,
        "line_title": "of the plan",
        "x_title": "κ",
    },
    how="",
    alt="",
)


def streams(pdf: bytes) -> list[bytes]:
    found = []
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        with suppress(zlib.error):
            found.append(zlib.decompress(packed))
    return found


def numbers_of(pdf: bytes) -> list[float]:
    """All on its page: where lines and letters stand, and their colours."""
    (page,) = (stream for stream in streams(pdf) if stream.startswith(b"/DeviceRGB"))
    return [float(number) for number in re.findall(rb"(?<=\s)-?[0-9]+(?:\.[0-9]*)?(?=\s)", page)]


def test_forms_that_are_drawn_at_once_are_those_that_are_drawn_alone() -> None:
    both = drawn(FIGURE, ("svg", "pdf"))

    assert both["svg"] == draw(FIGURE)
    assert both == drawn(FIGURE, ("svg", "pdf"))
    alone = draw(FIGURE, "pdf")
    size = rb"/MediaBox \[[^]]*\]"
    assert re.findall(size, both["pdf"]) == re.findall(size, alone) != []
    # The same signs in the same order, within half a point of where they stand alone.
    here, there = (numbers_of(pdf) for pdf in (both["pdf"], alone))
    assert len(here) > 100
    assert here == pytest.approx(there, abs=0.5)


def test_a_pdf_has_its_letters_and_no_more_of_their_font() -> None:
    fonts = [TTFont(io.BytesIO(part)) for part in streams(draw(FIGURE, "pdf")) if part.startswith(b"\0\1\0\0")]

    assert fonts
    for font in fonts:
        assert "glyf" in font
        assert not {"GSUB", "GPOS", "GDEF", "kern"} & set(font.keys())
        assert font["maxp"].numGlyphs < 100


@pytest.mark.parametrize(("theme", "paper"), [("light", "#ffffff"), ("dark", "#14171d")])
def test_where_no_numbers_are_written_a_pair_without_agreement_is_no_empty_field(theme: Theme, paper: str) -> None:
    """A κ of 0 was as white as a pair that shares no cell."""
    names = [f"R{number}" for number in range(40)]
    values: list[list[float | None]] = [[None] * 40 for _name in names]
    values[3][5] = values[5][3] = 0.0
    figure = Figure("matrix", "matrix", "", "", {"names": names, "values": values, "label": "Cohen's κ"}, "", "")
    images = re.findall(rb"data:image/png;base64,\s*([^\"]+)\"", draw(figure, "svg", theme))
    fields = [Image.open(io.BytesIO(base64.b64decode(image))).convert("RGBA") for image in images]
    matrix = max(fields, key=lambda image: image.width)
    shown = Image.new("RGBA", matrix.size, paper)
    shown.alpha_composite(matrix)
    total = matrix.width * matrix.height
    shares = sorted(n / total for n, _colour in shown.getcolors(total) or [] if n > total / 2000)

    assert shares == pytest.approx([2 / 1600, 1598 / 1600], rel=0.3)


def test_accuracy_over_coverage_says_how_many_cells_are_kept_at_least_half() -> None:
    """Where cells are equally sure, they are kept together, which may be many more than half."""
    table = label_table(1, 3, 6)
    flat = np.where(np.isnan(table.scores[..., 0]), np.nan, -5.0)
    flat[np.arange(len(flat)), table.labels[table.scored, 3]] = np.where(np.arange(len(flat)) % 5, -1.0, -3.0)
    table = replace(table, scores=np.concatenate([flat[..., np.newaxis], table.scores[..., 1:]], axis=-1))
    figures = {of.key: of for of in contents_from(table, Filters(), "en").figures if of.kind == "selective"}
    assert figures
    for figure in figures.values():
        [curve] = figure.data["curves"]
        kept = next(share for share in curve["kept"] if share >= 0.5)
        assert f"of the {100 * kept:.0f} % of cells of which it is surest" in figure.alt
    assert any(next(x for x in of.data["curves"][0]["kept"] if x >= 0.5) > 0.6 for of in figures.values())
