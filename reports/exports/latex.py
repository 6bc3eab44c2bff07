"""A table as LaTeX: `\\input` it, with the packages of `PREAMBLE`. One wider than the text is set smaller."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from reports.tables import Head, ReportTable, Value
from reports.tables.base import SMALLEST_P
from reports.tables.rounding import rounded

# Longer tables are for the appendix: with the package longtable they break over pages.
LONG = 40
_NO_WIDER = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_DECIMALS = {"share": 2, "number": 3, "count": 0}
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "κ": r"$\kappa$", "α": r"$\alpha$", "π": r"$\pi$", "ε": r"$\varepsilon$", "ω": r"$\omega$", "ρ": r"$\rho$",
    "χ": r"$\chi$", "²": r"$^2$", "×": r"$\times$", "·": r"$\cdot$", "≥": r"$\geq$", "≤": r"$\leq$", "→": r"$\to$",
    "−": r"$-$", "–": "--", "—": "---", "…": r"\dots{}", "“": "``", "”": "''", "’": "'", "‘": "`", "±": r"$\pm$",
    "\u00a0": "~",
}  # fmt: skip
_SPECIALS = re.compile("|".join(map(re.escape, _SPECIAL)))
# Letters beyond Latin need fonts that pdflatex has not; a sign in their place shows that something stood there.
_BEYOND = re.compile(r"[^\x00-\u024f]")
# A blank line ends a paragraph, and with it the command in whose argument it stands. Spaces before are looked for from
# the first of them alone.
_ENDS = re.compile(r"(?<! ) *[\x00-\x1f\x7f][\x00-\x20\x7f]*")
# What LaTeX takes for its own behind the end of a line or a rule, wherever the next line begins.
_TAKEN = ("[", "*")

PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{graphicx}
\begin{document}
"""


def escaped(text: str) -> str:
    """As it is read, in one line."""
    return _BEYOND.sub("?", _SPECIALS.sub(lambda sign: _SPECIAL[sign[0]], _ENDS.sub(" ", text)))


def latex(table: ReportTable) -> str:
    """A `table` with caption and label; a `longtable` where it has more than `LONG` lines."""
    kept = [
        place for place, head in enumerate(table.heads) if head.kind != "note" or any(row[place] for row in table.rows)
    ]
    heads = [table.heads[place] for place in kept]
    columns = "".join("l" if head.kind in ("text", "note") else "r" for head in heads)
    caption = rf"\caption{{{escaped(table.full_title)}. {escaped(table.how)}}}\label{{tab:{_label(table.key)}}}"
    top = [*_groups(heads), _line(escaped(head.title) for head in heads)]
    lines = [
        _line(_cell(table.heads[place], row[place], first=place == kept[0]) for place in kept) for row in table.rows
    ]
    if len(lines) > LONG:
        body = [rf"\begin{{longtable}}{{{columns}}}", caption + r" \\", r"\toprule", *top, r"\midrule", r"\endhead"]
        body += [r"\bottomrule", r"\endfoot", *lines, r"\end{longtable}"]
    else:
        body = [r"\begin{table}", r"\centering\small", caption, _NO_WIDER]
        body += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *top, r"\midrule", *lines, r"\bottomrule"]
        body += [r"\end{tabular}}", r"\end{table}"]
    return "\n".join(body) + "\n"


def document(keys: Sequence[str]) -> str:
    """A document that shows all tables, to be compiled beside them."""
    inputs = [rf"\input{{{key}.tex}}" for key in keys]
    return PREAMBLE + "\n\\clearpage\n".join(inputs) + "\n\\end{document}\n"


def _line(cells: Iterable[str]) -> str:
    line = " & ".join(cells)
    return ("{}" if line.startswith(_TAKEN) else "") + line + r" \\"


def _groups(heads: Sequence[Head]) -> list[str]:
    """The headings above the heads, with a rule under each."""
    if not any(head.group for head in heads):
        return []
    cells, rules, at = [], [], 1
    for group, members in groupby(heads, key=lambda head: head.group):
        width = len(list(members))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(group)}}}")
        rules += [rf"\cmidrule(lr){{{at}-{at + width - 1}}}"] if group else []
        at += width
    return [_line(cells), "".join(rules)]


def _cell(head: Head, value: Value, *, first: bool) -> str:
    if value is None:
        return "--"
    if isinstance(value, str):
        part = first and value.startswith(" ")
        return (r"\quad " if part else "") + escaped(value.strip())
    if head.is_small(value):
        return rf"$<$ {SMALLEST_P}"
    number = rounded(value, _DECIMALS[head.kind], per_cent=head.kind == "share")
    text = f"{number:,.{_DECIMALS[head.kind]}f}".replace("-", r"$-$").replace(",", r"\,")
    return text + (r"\,\%" if head.kind == "share" else "")


def _label(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", key)
