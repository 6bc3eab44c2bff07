"""A table as LaTeX: `\\input` it, with the packages of `PREAMBLE`. One a little wider than the text is set
smaller; in one much wider, texts and headings break into lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from reports.tables import Head, ReportTable, Value
from reports.tables.base import SMALLEST_P
from reports.tables.rounding import rounded

# Longer tables are for the appendix: with the package longtable they break over pages.
LONG = 40
_NO_WIDER = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
# How many letters a line has room for at each size, the space between columns being worth so many a column.
_SIZES = {"small": 100, "footnotesize": 108, "scriptsize": 122}
_BETWEEN = 2
# A single word may have wider letters than most.
_WORD = 1.08
# Up to here a table in columns of their own width has no smaller letters than these when it is set as wide as the text.
_SHRUNK = _SIZES["scriptsize"]
_MARKUP = re.compile(r"\\[a-zA-Z]+(?:\{\})?|[\\{}$]")
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
_ACCURACY = re.compile(r"\bA\\_([hm])\b")
# What LaTeX takes for its own behind the end of a line or a rule, wherever the next line begins.
_TAKEN = ("[", "*")

PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=2cm]{geometry}
\usepackage{array}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{graphicx}
\begin{document}
"""


def escaped(text: str) -> str:
    """As it is read, in one line."""
    text = _BEYOND.sub("?", _SPECIALS.sub(lambda sign: _SPECIAL[sign[0]], _ENDS.sub(" ", text)))
    return _ACCURACY.sub(r"$A_\1$", text)


def latex(table: ReportTable) -> str:
    """A `table` with caption and label; a `longtable` where it has more than `LONG` lines."""
    kept = [
        place for place, head in enumerate(table.heads) if head.kind != "note" or any(row[place] for row in table.rows)
    ]
    heads = [table.heads[place] for place in kept]
    caption = rf"\caption{{{escaped(table.full_title)}. {escaped(table.how)}}}\label{{tab:{_label(table.key)}}}"
    titles = [escaped(head.title) for head in heads]
    cells = [[_cell(table.heads[place], row[place], first=place == kept[0]) for place in kept] for row in table.rows]
    columns, size, n_lines = _columns(heads, [titles, *cells])
    top = [r"\toprule", *_groups(heads), _line(titles), r"\midrule"]
    lines = [_line(row) for row in cells]
    if n_lines > LONG:
        again = rf"\multicolumn{{{len(heads)}}}{{@{{}}l}}{{\tablename~\thetable}} \\"
        body = [r"\begingroup" + size, rf"\begin{{longtable}}{{{columns}}}"]
        body += [caption + r" \\", *top, r"\endfirsthead", again, *top, r"\endhead", r"\bottomrule", r"\endfoot"]
        body += [*lines, r"\end{longtable}", r"\endgroup"]
    else:
        body = [r"\begin{table}", r"\centering" + size, caption, _NO_WIDER]
        body += [rf"\begin{{tabular}}{{{columns}}}", *top, *lines, r"\bottomrule", r"\end{tabular}}", r"\end{table}"]
    return "\n".join(body) + "\n"


def document(keys: Sequence[str]) -> str:
    """A document that shows all tables, to be compiled beside them."""
    inputs = [rf"\input{{{key}.tex}}" for key in keys]
    return PREAMBLE + "\n\\clearpage\n".join(inputs) + "\n\\end{document}\n"


def _columns(heads: Sequence[Head], lines: Sequence[Sequence[str]]) -> tuple[str, str, int]:
    """The columns of a table, the size of its letters, and how many lines of text it takes."""
    texts = [[_MARKUP.sub("", line[place]) for line in lines] for place in range(len(heads))]
    is_text = [head.kind in ("text", "note") for head in heads]
    widest = [max(map(len, column)) for column in texts]
    if sum(widest) + _BETWEEN * len(heads) <= _SHRUNK:
        return "".join("l" if text else "r" for text in is_text), r"\small", len(lines)
    least = [_WORD * max(1, *(len(word) for text in column for word in text.split(" "))) for column in texts]
    for group, members in groupby(range(len(heads)), key=lambda place: heads[place].group):
        places = list(members)
        lacking = _WORD * len(group) - sum(least[place] for place in places) - _BETWEEN * (len(places) - 1)
        for place in places:
            least[place] += max(0.0, lacking / len(places))
    needed = sum(least) + _BETWEEN * len(heads)
    # Headings of numbers break into words; what room is left is for texts.
    wanted = [max(0.0, most - fewest) * text for most, fewest, text in zip(widest, least, is_text, strict=True)]
    of_size = (of for of in _SIZES.items() if needed + sum(wanted) / 2 <= of[1])
    size, room = next(of_size, ("scriptsize", max(needed, _SIZES["scriptsize"])))
    given = min(1.0, (room - needed) / (sum(wanted) or 1))
    widths = [fewest + given * more for fewest, more in zip(least, wanted, strict=True)]
    columns = "".join(
        rf">{{\{'raggedright' if text else 'raggedleft'}\arraybackslash}}"
        rf"p{{\dimexpr{math.floor((width + _BETWEEN) / room * 1e4) / 1e4:.4f}\linewidth-2\tabcolsep}}"
        for text, width in zip(is_text, widths, strict=True)
    )
    n_lines = sum(
        max(math.ceil(len(text) / width) for text, width in zip(line, widths, strict=True))
        for line in zip(*texts, strict=True)
    )
    return columns, rf"\{size}\setlength{{\tabcolsep}}{{3pt}}", n_lines


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
