"""The numbers that a figure draws, as CSV: one line for each mark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.exchange.exports import safe_lines
from reports.figures.base import Figure

_MARK = "\ufeff"


def figure_csv(figure: Figure) -> str:
    lines = [[_text(value) for value in line] for line in _lines(figure.kind, figure.data)]
    return _MARK + "".join(safe_lines(lines[0], lines[1:]))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _lines(kind: str, data: Mapping[str, Any]) -> Iterator[list[Any]]:
    match kind:
        case "matrix":
            yield ["rater_a", "rater_b", data["label"]]
            for a, of_a in zip(data["names"], data["values"], strict=True):
                yield from ([a, b, value] for b, value in zip(data["names"], of_a, strict=True))
        case "confusion" | "heat":
            yield [data["row_title"], data["column_title"], "n" if kind == "confusion" else data["label"]]
            table = data["counts"] if kind == "confusion" else data["values"]
            for row, values in zip(data["rows"], table, strict=True):
                yield from ([row, column, value] for column, value in zip(data["columns"], values, strict=True))
        case "reliability":
            yield ["confidence", "accuracy", "low", "high", "n"]
            yield from (list(line) for line in data["bins"])
        case "coverage":
            yield ["curve", "n", "mean", "low", "high"]
            for curve in data["curves"]:
                for n, mean in enumerate(curve["mean"]):
                    ends = [curve[end][n] if curve.get(end) else None for end in ("low", "high")]
                    yield [curve["name"], n + 1, mean, *ends]
        case "multiples":
            yield ["panel", "n", "value"]
            for panel in data["panels"]:
                yield from ([panel["name"], n, value] for n, value in enumerate(panel["values"], 1))
        case "panels":
            yield ["panel", "name", "value", "low", "high"]
            for panel in data["panels"]:
                values = zip(data["names"], panel["values"], panel["low"], panel["high"], strict=True)
                yield from ([panel["name"], *line] for line in values)
        case "precision-recall":
            yield ["curve", "recall", "precision"]
            for curve in data["curves"]:
                pairs = zip(curve["recall"], curve["precision"], strict=True)
                yield from ([curve["name"], recall, precision] for recall, precision in pairs)
        case "selective":
            yield ["curve", "coverage", "accuracy"]
            for curve in data["curves"]:
                pairs = zip(curve["kept"], curve["accuracy"], strict=True)
                yield from ([curve["name"], kept, accuracy] for kept, accuracy in pairs)
        case "histogram":
            yield ["series", "from", "to", "share"]
            for of in data["series"]:
                bins = zip(data["edges"], data["edges"][1:], of["values"], strict=False)
                yield from ([of["name"], *line] for line in bins)
        case "differences":
            yield ["mean", "difference", "n"]
            yield from (list(point) for point in data["points"])
        case "areas":
            yield ["part", "n", "share"]
            for part in data["parts"]:
                yield from ([part["name"], n, share] for n, share in enumerate(part["values"], 1))
        case "bars":
            yield ["name", "part", "share"]
            for part in data["parts"]:
                yield from (
                    [name, part["name"], share] for name, share in zip(data["names"], part["values"], strict=True)
                )
        case "dots":
            yield ["name", "series", "value", "low", "high"]
            for of in data["series"]:
                values = zip(data["names"], of["values"], of["low"], of["high"], strict=True)
                yield from ([name, of["name"], *numbers] for name, *numbers in values)
        case _:  # intervals
            yield ["name", "value", "low", "high"]
            values = zip(data["names"], data["values"], data["low"], data["high"], strict=True)
            yield from (list(line) for line in values)
