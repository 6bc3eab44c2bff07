"""The documentation's own Markdown as HTML: paragraphs, lists, tables, code, and what is set off in a line.

Pure. All of a text is escaped, so that nothing of it is HTML of its own; links into the documentation, which no page
here has, are their words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_ITEM = re.compile(r"(?:[-*]|(\d+)\.) +")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", re.DOTALL)
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)(.+?)(?<=\S)\*(?![\w*])", re.DOTALL)
_CELL = re.compile(r"(?<!\\)\|")


def html_of(text: str) -> str:
    """As HTML that may be put into a page as it is."""
    return "\n".join(_block(lines) for lines in _blocks(text.splitlines()))


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines that belong together; a fence of code with its fences."""
    block: list[str] = []
    fenced = False
    for line in lines:
        is_fence = line.startswith("```")
        if fenced:
            block.append(line)
            fenced = not is_fence
            if not fenced:
                yield block
                block = []
        elif is_fence or not line.strip():
            if block:
                yield block
            block, fenced = ([line], True) if is_fence else ([], False)
        else:
            block.append(line)
    if block:
        yield block


def _block(lines: list[str]) -> str:
    if lines[0].startswith("```"):
        return f"<pre>{escape(chr(10).join(lines[1:-1]))}</pre>"
    if all(line.startswith("    ") for line in lines):
        return f"<pre>{escape(chr(10).join(line[4:] for line in lines))}</pre>"
    if lines[0].startswith("|"):
        return _table(lines)
    begins = [n for n, line in enumerate(lines) if _ITEM.match(line)]
    if not begins:
        return f"<p>{_inline(' '.join(lines))}</p>"
    before = f"<p>{_inline(' '.join(lines[: begins[0]]))}</p>" if begins[0] else ""
    items = (lines[n:end] for n, end in zip(begins, [*begins[1:], len(lines)], strict=True))
    numbered = _ITEM.match(lines[begins[0]])
    tag = "ol" if numbered and numbered[1] else "ul"
    whole = "".join(f"<li>{_inline(_ITEM.sub('', ' '.join(map(str.strip, item)), count=1))}</li>" for item in items)
    return f"{before}<{tag}>{whole}</{tag}>"


def _table(lines: list[str]) -> str:
    head, _rule, *body = ([cell.strip() for cell in _CELL.split(line.strip()[1:-1])] for line in lines)
    heads = "".join(f'<th scope="col">{_inline(cell)}</th>' for cell in head)
    rows = "".join(f"<tr>{''.join(f'<td>{_inline(cell)}</td>' for cell in row)}</tr>" for row in body)
    return f'<div class="scroll"><table class="list"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'


def _inline(text: str) -> str:
    codes: list[str] = []

    def kept(code: re.Match[str]) -> str:
        """Nothing in it is a sign; it may stand in what is set off."""
        codes.append(f"<code>{escape(code[2].replace(chr(92) + '|', '|'))}</code>")
        return f"\0{len(codes) - 1}\0"

    shown = escape(_CODE.sub(kept, text.replace("\0", "")))
    shown = _LINK.sub(_link, shown)
    shown = _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", shown))
    return re.sub("\0([0-9]+)\0", lambda place: codes[int(place[1])], shown)


def _link(link: re.Match[str]) -> str:
    return f'<a href="{link[2]}">{link[1]}</a>' if link[2].startswith("https://") else link[1]
