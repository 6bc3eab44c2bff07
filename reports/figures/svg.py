"""Figures as SVG and PDF, by matplotlib. Equal data give equal bytes: no date, no random ids. No Django in here.

What each kind of figure takes as data stands at its function.
"""

from __future__ import annotations

import io
import logging
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from fontTools import subset
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from reports.figures.base import Figure

Form = Literal["svg", "pdf"]
Theme = Literal["light", "dark"]

mpl.use("agg")
logging.getLogger("fontTools").setLevel(logging.WARNING)  # else a hundred lines for each PDF
# Texts are drawn as shapes, so that a figure looks alike where a font is missing.
mpl.rcParams.update({"svg.hashsalt": "palate", "svg.fonttype": "path", "pdf.fonttype": 42})
mpl.rcParams["font.family"] = "DejaVu Sans"
# A PDF says where each letter stands: what a font knows of ligatures and distances is not needed in it, and took a
# third of the time.
subset.Options._drop_tables_default += ["GDEF", "GPOS", "GSUB", "MATH", "kern"]
# Names are of people and files: two dollar signs make no formula of what stands between, which may be none.
mpl.rcParams["text.parse_math"] = False

_WIDTH = 6.4  # inches, as wide as a column of text
_MOST_NUMBERED = 16  # raters: in a larger matrix no number would be readable
_MOST_NAMED = 40
_ACROSS = 4  # panels of small multiples
_LONGEST = 28  # letters of a name on one line
_LONGEST_BESIDE, _TITLE = 18, 24  # beside panels, and above one


@dataclass(frozen=True)
class _Look:
    ink: str
    quiet: str
    paper: str
    line: str
    tint: str
    series: tuple[str, ...]  # Okabe-Ito, in an order in which neighbours differ for everybody


LOOKS: Mapping[Theme, _Look] = {
    "light": _Look(
        ink="#1c2330", quiet="#5a6374", paper="#ffffff", line="#e2e4e8", tint="#0072b2",
        series=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a68c8"),
    ),
    "dark": _Look(
        ink="#e6e9ef", quiet="#a0a9b8", paper="#14171d", line="#2b3039", tint="#56b4e9",
        series=("#56b4e9", "#e69f00", "#3fc49a", "#cc79a7", "#f07a3c", "#8fb0ff", "#a999f0"),
    ),
}  # fmt: skip
_MARKERS = "os^Dv*P"
_LINES = ("-", "--", "-.", ":")
_HATCHES = ("", "//", "..", "xx", "\\\\")  # colour is never alone


def draw(figure: Figure, form: Form = "svg", theme: Theme = "light") -> bytes:
    return drawn(figure, (form,), theme)[form]


def drawn(figure: Figure, forms: Sequence[Form], theme: Theme = "light") -> dict[Form, bytes]:
    """In several forms at once, which are laid out once: of the first."""
    look = LOOKS[theme]
    canvas = Canvas(figsize=(_WIDTH, _height(figure)), layout="constrained", facecolor=look.paper)
    _KINDS[figure.kind](canvas, figure.data, look)
    for axes in canvas.axes:
        _calm(axes, look)
    made: dict[Form, bytes] = {}
    for form in forms:
        out = io.BytesIO()
        dateless = {"Date": None} if form == "svg" else {"CreationDate": None, "ModDate": None}
        canvas.savefig(out, format=form, facecolor=look.paper, metadata={**dateless, "Title": figure.full_title})
        made[form] = out.getvalue()
        canvas.set_layout_engine(None)  # the next stands as this one
    return made


def _height(figure: Figure) -> float:
    data = figure.data
    match figure.kind:
        case "matrix":
            return min(1.2 + 0.34 * len(data["names"]), _WIDTH)
        case "confusion":
            return 1.2 + 0.1 * _lines(data["columns"], _across(data)) + 0.42 * len(data["rows"])
        case "intervals":
            return 0.9 + max(0.21, 0.14 * _lines(data["names"], _LONGEST)) * len(data["names"])
        case "multiples":
            return 0.7 + 1.25 * -(-len(data["panels"]) // _ACROSS)
        case "panels":
            line, step = _panel_step(data)
            return 0.75 + line * step * -(-len(data["panels"]) // _across_panels(data))
        case "dots":
            return 1.3 + 0.2 * len(data["names"]) * max(len(data["series"]), 1.4)
        case "bars":
            return 1.3 + max(0.24, 0.16 * _lines(data["names"], _LONGEST)) * len(data["names"])
        case "heat":
            return 1.6 + 0.44 * len(data["rows"])
        case "reliability":
            return 4.4
        case _:
            return 3.8


def _wrapped(names: Sequence[str], width: int) -> list[str]:
    """Names on as many lines as they need, so that no figure cuts one off."""
    return [textwrap.fill(name, width) for name in names]


def _lines(names: Sequence[str], width: int) -> int:
    """The lines of the longest name."""
    return max((name.count("\n") + 1 for name in _wrapped(names, width)), default=1)


def _across(data: Mapping[str, Any]) -> int:
    """Letters that a column of a confusion matrix has room for."""
    return max(8, 64 // max(len(data["columns"]), 1))


def _calm(axes: Axes, look: _Look) -> None:
    axes.set_facecolor(look.paper)
    for side, spine in axes.spines.items():
        spine.set_color(look.line)
        spine.set_visible(side in ("left", "bottom"))
    axes.tick_params(colors=look.quiet, labelcolor=look.ink, labelsize=8, length=0)
    for text in (axes.xaxis.label, axes.yaxis.label):
        text.set_color(look.quiet)
        text.set_fontsize(9)
    if legend := axes.get_legend():
        legend.get_frame().set(facecolor=look.paper, edgecolor="none", alpha=0.9)
        for text in legend.get_texts():
            text.set_color(look.ink)
            text.set_fontsize(8)


def _grid(axes: Axes, look: _Look, axis: Literal["both", "x", "y"] = "both") -> None:
    axes.grid(True, axis=axis, color=look.line, linewidth=0.8)
    axes.set_axisbelow(True)


def _tints(look: _Look) -> LinearSegmentedColormap:
    return LinearSegmentedColormap.from_list("tint", [look.paper, look.tint])


def _matrix(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """names; values[a][b] from -1 to 1 or None; n[a][b] what each rests on; label: what is shown."""
    names: Sequence[str] = data["names"]
    values = np.array([[np.nan if v is None else v for v in row] for row in data["values"]], dtype=np.float64)
    axes = canvas.subplots()
    shown = np.ma.masked_invalid(values)
    image = axes.imshow(shown, cmap=_tints(look), vmin=0, vmax=1, alpha=0.55, aspect="equal")
    ticks = range(len(names)) if len(names) <= _MOST_NAMED else ()
    if len(names) > 8:
        axes.set_xticks(ticks, [names[t] for t in ticks], rotation=90)
    elif max(map(len, names), default=0) > 8:  # longer than a field is wide
        axes.set_xticks(ticks, [names[t] for t in ticks], rotation=30, ha="right", rotation_mode="anchor")
    else:
        axes.set_xticks(ticks, [names[t] for t in ticks])
    axes.set_yticks(ticks, [names[t] for t in ticks])
    if len(names) <= _MOST_NUMBERED:
        for a, b in np.argwhere(~np.isnan(values)):
            axes.text(b, a, f"{values[a, b]:.2f}", ha="center", va="center", color=look.ink, size=7.5)
    else:  # no number tells 0 from nothing
        empty = np.ma.masked_where(~np.isnan(values), np.zeros_like(values))
        axes.imshow(empty, cmap=ListedColormap([look.quiet]), alpha=0.25, aspect="equal")
    bar = canvas.colorbar(image, ax=axes, shrink=0.7, label=data["label"])
    bar.outline.set_visible(False)


def _confusion(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """rows, columns: options; counts[row][column]; row_title, column_title."""
    counts = np.array(data["counts"], dtype=np.float64)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    axes = canvas.subplots()
    axes.imshow(shares, cmap=_tints(look), vmin=0, vmax=1, alpha=0.55, aspect="auto")
    axes.set_xticks(range(len(data["columns"])), _wrapped(data["columns"], _across(data)))
    axes.set_yticks(range(len(data["rows"])), _wrapped(data["rows"], _LONGEST))
    axes.set(xlabel=data["column_title"], ylabel=data["row_title"])
    for (row, column), count in np.ndenumerate(counts):
        text = f"{count:,.0f}\n{100 * shares[row, column]:.0f} %"
        axes.text(column, row, text, ha="center", va="center", color=look.ink, size=8, linespacing=1.1)


def _heat(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """rows, columns: names; values[row][column] or None; deviations likewise; low, high: the scale; row_title,
    column_title; label: what is shown."""
    values = np.array([[np.nan if v is None else v for v in row] for row in data["values"]], dtype=np.float64)
    axes = canvas.subplots()
    shown = np.ma.masked_invalid(values)
    image = axes.imshow(shown, cmap=_tints(look), vmin=data["low"], vmax=data["high"], alpha=0.55, aspect="auto")
    long = max(map(len, data["columns"]), default=0) * len(data["columns"]) > 60
    turned: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if long else {}
    axes.set_xticks(range(len(data["columns"])), data["columns"], **turned)
    axes.set_yticks(range(len(data["rows"])), data["rows"])
    axes.set(xlabel=data["column_title"], ylabel=data["row_title"])
    if len(data["columns"]) <= _MOST_NUMBERED:
        for row, column in np.argwhere(~np.isnan(values)):
            deviation = data["deviations"][row][column]
            text = f"{values[row, column]:.2f}" + ("" if deviation is None else f"\n±{deviation:.2f}")
            axes.text(column, row, text, ha="center", va="center", color=look.ink, size=7, linespacing=1.1)
    bar = canvas.colorbar(image, ax=axes, shrink=0.7, label=data["label"])
    bar.outline.set_visible(False)


def _reliability(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """bins: [confidence, accuracy, its low and high end, n] of those that hold a cell; x_title, y_title, n_title."""
    confidence, accuracy, low, high, n = np.array(data["bins"], dtype=np.float64).reshape(-1, 5).T
    upper, lower = canvas.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    upper.plot([0, 1], [0, 1], color=look.quiet, linewidth=1, linestyle="--")
    upper.vlines(confidence, low, high, color=look.series[0], alpha=0.5, linewidth=1.4)
    upper.plot(confidence, accuracy, color=look.series[0], marker="o", markersize=4, linewidth=1.6)
    upper.set(ylabel=data["y_title"], xlim=(0, 1), ylim=(0, 1.02))
    lower.bar(confidence, n, width=0.018, color=look.series[0], alpha=0.6)
    lower.set(xlabel=data["x_title"], ylabel=data["n_title"])
    for axes in (upper, lower):
        _grid(axes, look, "y")


def _coverage(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """curves: name, mean, low, high, each for 1, 2, … documents; x_title, y_title."""
    axes = canvas.subplots()
    for number, curve in enumerate(data["curves"]):
        x = np.arange(1, len(curve["mean"]) + 1)
        colour = look.series[number % len(look.series)]
        if curve.get("low"):
            axes.fill_between(x, curve["low"], curve["high"], color=colour, alpha=0.16, linewidth=0)
        axes.plot(
            x, curve["mean"], color=colour, label=curve["name"], linewidth=1.6, markersize=3.5,
            marker=_MARKERS[number % len(_MARKERS)], linestyle=_LINES[number % len(_LINES)],
        )  # fmt: skip
        axes.set_xlim(1, max(len(curve["mean"]), axes.get_xlim()[1]))
    axes.set(xlabel=data["x_title"], ylabel=data["y_title"], ylim=(0, 1.02))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if len(data["curves"]) > 1:
        axes.legend(loc="lower right")
    _grid(axes, look)


def _intervals(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """names; values, and low, high or None for each; line: a value to compare with, or None; x_title, line_title;
    x_high: the end of the scale, 1.02 where it is not given."""
    y = np.arange(len(data["names"]))[::-1]
    axes = canvas.subplots()
    if data["line"] is not None:
        axes.axvline(data["line"], color=look.series[1], linewidth=1.2, linestyle="--", label=data["line_title"])
        canvas.legend(loc="outside lower center", frameon=False, fontsize=8, labelcolor=look.ink)
    for at, low, high in zip(y, data["low"], data["high"], strict=True):
        if low is not None:
            axes.plot([low, high], [at, at], color=look.series[0], linewidth=1.4, alpha=0.7)
    known = [(value, at) for value, at in zip(data["values"], y, strict=True) if value is not None]
    if known:
        axes.plot(*zip(*known, strict=True), linestyle="", marker="o", markersize=4.5, color=look.series[0])
    axes.set_yticks(y, _wrapped(data["names"], _LONGEST))
    axes.set(xlabel=data["x_title"], ylim=(-0.7, len(y) - 0.3))
    axes.set_xlim(right=data.get("x_high", 1.02))
    _grid(axes, look, "x")


def _precision_recall(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """curves: name, precision, recall; x_title, y_title."""
    _share_over_share(canvas, data, look, "recall", "precision")


def _selective(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """curves: name, kept, accuracy; x_title, y_title."""
    _share_over_share(canvas, data, look, "kept", "accuracy")


def _share_over_share(canvas: Canvas, data: Mapping[str, Any], look: _Look, x: str, y: str) -> None:
    axes = canvas.subplots()
    for number, curve in enumerate(data["curves"]):
        axes.step(
            curve[x], curve[y], where="post", label=curve["name"], linewidth=1.6,
            color=look.series[number % len(look.series)], linestyle=_LINES[number % len(_LINES)],
        )  # fmt: skip
    axes.set(xlabel=data["x_title"], ylabel=data["y_title"], xlim=(0, 1.01), ylim=(0, 1.02))
    axes.legend(loc="lower left")
    _grid(axes, look)


def _histogram(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """edges of the bins; series: name, and values, the share in each bin: the first as bars, others as lines; x_title,
    y_title."""
    axes = canvas.subplots()
    (first, *others), edges = data["series"], data["edges"]
    axes.stairs(first["values"], edges, fill=True, color=look.series[0], alpha=0.4, label=first["name"])
    for number, of in enumerate(others, start=1):
        axes.stairs(
            of["values"], edges, color=look.series[number % len(look.series)], linewidth=1.6, label=of["name"],
            linestyle=_LINES[(number - 1) % len(_LINES)],
        )  # fmt: skip
    axes.set(xlabel=data["x_title"], ylabel=data["y_title"], xlim=(edges[0], edges[-1]))
    if others:
        canvas.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=look.ink)
    _grid(axes, look, "y")


def _signed(number: float) -> str:
    return f"{number:.3g}".replace("-", "−")


def _differences(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """points: [mean, difference, how many]; bias, low and high or None, with bias_title, limits_title; x_title,
    y_title."""
    x, y, n = np.array(data["points"], dtype=np.float64).reshape(-1, 3).T
    axes = canvas.subplots()
    axes.axhline(0, color=look.quiet, linewidth=0.8)
    axes.scatter(x, y, s=np.minimum(9 * n, 300), color=look.series[0], alpha=0.6, linewidths=0)
    axes.axhline(
        data["bias"], color=look.series[1], linewidth=1.4, label=f"{data['bias_title']}: {_signed(data['bias'])}"
    )
    if data["low"] is not None:
        label = f"{data['limits_title']}: {_signed(data['low'])}, {_signed(data['high'])}"
        axes.axhline(data["low"], color=look.series[1], linewidth=1.2, linestyle="--", label=label)
        axes.axhline(data["high"], color=look.series[1], linewidth=1.2, linestyle="--")
    axes.set(xlabel=data["x_title"], ylabel=data["y_title"])
    canvas.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8, labelcolor=look.ink)
    _grid(axes, look)


def _areas(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """parts: name and values, shares that make 1 together, each for 1, 2, … documents; x_title, y_title."""
    axes = canvas.subplots()
    n = max(len(part["values"]) for part in data["parts"])
    x = np.arange(1, n + 1)
    low = np.zeros(n)
    for number, part in enumerate(data["parts"]):
        high = low + np.array(part["values"], dtype=np.float64)
        colour, hatch = look.series[number % len(look.series)], _HATCHES[number % len(_HATCHES)]
        axes.fill_between(
            x, low, high, facecolor=colour, alpha=0.45, hatch=hatch, edgecolor=look.paper, linewidth=0,
            label=part["name"],
        )  # fmt: skip
        axes.plot(x, high, color=colour, linewidth=1.4)
        low = high
    axes.set(xlabel=data["x_title"], ylabel=data["y_title"], xlim=(1, max(n, 2)), ylim=(0, 1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    canvas.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=look.ink)


def _bars(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """names; parts: name and values, of each name a share, which make 1 together; x_title."""
    axes = canvas.subplots()
    y = np.arange(len(data["names"]))[::-1]
    left = np.zeros(y.size)
    for number, part in enumerate(data["parts"]):
        values = np.array(part["values"], dtype=np.float64)
        colour, hatch = look.series[number % len(look.series)], _HATCHES[number % len(_HATCHES)]
        axes.barh(
            y, values, left=left, height=0.72, color=(colour, 0.55), hatch=hatch, edgecolor=look.paper,
            label=part["name"],
        )  # fmt: skip
        left += values
    axes.set_yticks(y, _wrapped(data["names"], _LONGEST))
    axes.set(xlabel=data["x_title"], xlim=(0, 1), ylim=(-0.6, y.size - 0.4))
    canvas.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=look.ink)


def _multiples(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """panels: name and values, each for 1, 2, … documents; mean: drawn in every panel, or None; x_title, y_title. All
    on one scale."""
    panels = data["panels"]
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    grid = canvas.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    longest = max(len(panel["values"]) for panel in panels)
    for axes, panel in zip(grid.flat, panels, strict=False):
        if data["mean"]:
            axes.plot(range(1, len(data["mean"]) + 1), data["mean"], color=look.quiet, linewidth=1, linestyle="--")
        x = range(1, len(panel["values"]) + 1)
        axes.plot(x, panel["values"], color=look.series[0], linewidth=1.4, marker="o", markersize=2)
        axes.set_title(textwrap.fill(panel["name"], 22), size=7.5, color=look.ink)
        axes.set(xlim=(0.8, longest + 0.2), ylim=(0, 1.04))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
        _grid(axes, look)
    for place, axes in enumerate(grid.flat):
        axes.set_visible(place < len(panels))
        if place + across >= len(panels):  # nothing below it
            axes.tick_params(labelbottom=True)
    canvas.supxlabel(data["x_title"], size=9, color=look.quiet)
    canvas.supylabel(data["y_title"], size=9, color=look.quiet)


def _across_panels(data: Mapping[str, Any]) -> int:
    return min(3, len(data["panels"]))


def _panel_step(data: Mapping[str, Any]) -> tuple[float, float]:
    """Of a panel: inches of a line, and how many lines it takes with its title."""
    line = 0.05 + 0.15 * _lines(data["names"], _LONGEST_BESIDE)
    title = 0.22 + 0.13 * _lines([of["name"] for of in data["panels"]], _TITLE)
    return line, len(data["names"]) + title / line


def _panels(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """names: lines, the same in every panel; panels: name, and values, low, high for each line or None; line: a value
    to compare with, or None, with line_title; x_title, x_low. All on one scale.

    All stand in one pair of axes: a pair for each would take a hundred times as long to lay out.
    """
    panels, names, low = data["panels"], data["names"], data["x_low"]
    across, (_inches, step) = _across_panels(data), _panel_step(data)
    width = 1.04 - low
    axes = canvas.subplots()
    ticks = [tick for tick in (-1.0, -0.5, 0.0, 0.5, 1.0) if tick >= low]
    marks: list[list[tuple[float, float]]] = [[] for _name in names]
    spans: list[list[tuple[float, float, float]]] = [[] for _name in names]
    for place, panel in enumerate(panels):
        row, column = divmod(place, across)
        left, top = column * 1.12 * width - low, -row * step
        bottom = top - len(names) + 0.4
        axes.vlines([left + tick for tick in ticks], bottom, top + 0.6, color=look.line, linewidth=0.8, zorder=0)
        if data["line"] is not None:
            axes.vlines(left + data["line"], bottom, top + 0.6, color=look.quiet, linewidth=1, linestyle="--", zorder=1)
        title = textwrap.fill(panel["name"], _TITLE)
        axes.text(left + low + width / 2, top + 0.7, title, size=7.5, color=look.ink, ha="center", va="bottom")
        if place + across >= len(panels):  # nothing below it
            for tick in ticks:
                axes.text(left + tick, bottom - 0.15, f"{tick:g}", size=8, color=look.ink, ha="center", va="top")
        for number, value in enumerate(panel["values"]):
            ends = panel["low"][number], panel["high"][number]
            if None not in ends:
                spans[number].append((left + ends[0], left + ends[1], top - number))
            if value is not None:
                marks[number].append((left + value, top - number))
    for number, (of_marks, of_spans) in enumerate(zip(marks, spans, strict=True)):
        colour = look.series[number % len(look.series)]
        if of_spans:
            starts, stops, heights = zip(*of_spans, strict=True)
            axes.hlines(heights, starts, stops, color=colour, linewidth=1.4, alpha=0.7)
        if of_marks:
            marker = _MARKERS[number % len(_MARKERS)]
            axes.plot(*zip(*of_marks, strict=True), linestyle="", marker=marker, markersize=4.2, color=colour, zorder=3)
    down = -(-len(panels) // across)
    heights_of_names = [-row * step - number for row in range(down) for number in range(len(names))]
    axes.set_yticks(heights_of_names, _wrapped(names, _LONGEST_BESIDE) * down)
    axes.set_xticks([])
    axes.set(xlabel=data["x_title"], xlim=(-0.02 * width, (1.12 * across - 0.12) * width))
    axes.set_ylim(-(down - 1) * step - len(names) - 0.5, step - len(names) + 0.3)
    for spine in axes.spines.values():
        spine.set_linewidth(0)


def _dots(canvas: Canvas, data: Mapping[str, Any], look: _Look) -> None:
    """names: lines; series: name, and values, low, high for each line or None; bands: [from, to, name] of the scale;
    line: a value to compare with, or None, with line_title; x_title, x_low, x_high; first_colour: of the first
    series."""
    names, series = data["names"], data["series"]
    y = np.arange(len(names))[::-1].astype(np.float64)
    axes = canvas.subplots()
    axes.set_xlim(data["x_low"], data["x_high"])
    for number, (low, high, name) in enumerate(data["bands"]):
        axes.axvspan(low, high, color=look.tint, alpha=0.05 + 0.03 * number, linewidth=0)
        middle = (max(low, data["x_low"]) + min(high, data["x_high"])) / 2
        if data["x_low"] < middle < data["x_high"]:
            axes.text(middle, len(names) - 0.38, name, ha="center", va="bottom", size=7, color=look.quiet)
    if data["line"] is not None:
        axes.axvline(data["line"], color=look.quiet, linewidth=1.2, linestyle="--", label=data["line_title"])
    step = 0.62 / max(len(series), 1)
    for place, of in enumerate(series):
        number = place + data.get("first_colour", 0)
        colour = look.series[number % len(look.series)]
        at = y + (len(series) - 1) * step / 2 - place * step
        for height, low, high in zip(at, of["low"], of["high"], strict=True):
            if low is not None and high is not None:
                axes.plot([low, high], [height, height], color=colour, linewidth=1.6, alpha=0.7)
        known = [(value, height) for value, height in zip(of["values"], at, strict=True) if value is not None]
        if known:
            axes.plot(
                *zip(*known, strict=True), linestyle="", marker=_MARKERS[number % len(_MARKERS)], markersize=5.5,
                color=colour, label=of["name"], zorder=3,
            )  # fmt: skip
    axes.set_yticks(y, _wrapped(names, _LONGEST))
    axes.set(xlabel=data["x_title"], ylim=(-0.6, len(names) - 0.4))
    if len(series) > 1 or data["line"] is not None:
        canvas.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=look.ink)
    _grid(axes, look, "x")


_KINDS: Mapping[str, Callable[[Canvas, Mapping[str, Any], _Look], None]] = {
    "matrix": _matrix,
    "confusion": _confusion,
    "reliability": _reliability,
    "coverage": _coverage,
    "intervals": _intervals,
    "precision-recall": _precision_recall,
    "selective": _selective,
    "histogram": _histogram,
    "differences": _differences,
    "areas": _areas,
    "bars": _bars,
    "heat": _heat,
    "dots": _dots,
    "multiples": _multiples,
    "panels": _panels,
}
