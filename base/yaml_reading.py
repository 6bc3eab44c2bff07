"""YAML that strangers wrote: plain data of bounded depth and size, everything else refused with its line. Pure.

Anchors with aliases, which a few hundred bytes turn into gigabytes, and tags are refused; the callers bound the bytes.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from base.sentences import gettext as _
from base.text import UNSTORABLE

MAX_DEPTH = 50
# A scheme of as many sections, questions and options as are allowed has some 15 000.
MAX_NODES = 20_000
MAX_DIGITS = 40
# What PyYAML says where a text without quotes holds a sign that means something: “{title: How good is it?}”.
_SIGNS_IN_TEXTS = re.compile(r"but got '[?:]'|^mapping (keys|values) are not allowed|^found character '[@`%]'")
_ENDS = re.compile(r"^found unexpected (end of stream|document separator)|but got '<stream end>'")
_BREAKS = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # as PyYAML counts lines
_NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}


class YamlRefused(ValueError):
    """The text is not read. `line` and `column` count from 1, the column is 0 where it is not known; `reason` says why,
    in words that follow the line."""

    def __init__(self, line: int, reason: str, column: int = 0) -> None:
        self.line = line
        self.column = column
        self.reason = reason
        super().__init__(f"line {line}: {reason}")


class _Loader(yaml.SafeLoader):
    depth = nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise YamlRefused(line, _("write this out; an alias (*) or anchor (&) is not read here"))
        if event.tag:
            raise YamlRefused(line, _("put this in quotes if it is text; a tag (!) is not read here"))
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise YamlRefused(
                line, _("the file has too many entries; at most %(max_nodes)s are read") % {"max_nodes": MAX_NODES}
            )
        if self.depth == MAX_DEPTH:
            raise YamlRefused(
                line,
                _("lists and mappings are nested too deep; at most %(max_depth)s levels are read")
                % {"max_depth": MAX_DEPTH},
            )
        self.depth += 1
        node: yaml.Node | None = super().compose_node(parent, index)
        self.depth -= 1
        if isinstance(node, yaml.ScalarNode):
            if UNSTORABLE.search(node.value):
                raise YamlRefused(line, _("this holds a character that is no text"))
            if node.tag in _NUMBERS and len(node.value) > MAX_DIGITS:
                # Some of them take seconds to compute, and no number as long as that is meant as one.
                raise YamlRefused(
                    line,
                    _("a number has at most %(max_digits)s digits; put text in quotes") % {"max_digits": MAX_DIGITS},
                )
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except YamlRefused:
            raise
        except ValueError as error:  # a value that looks like a date or a number and is none
            raise YamlRefused(
                node.start_mark.line + 1, _("a value cannot be read: %(error)s") % {"error": error}
            ) from error


def compose(text: str) -> yaml.Node | None:
    """The nodes of a YAML document with their lines, None if it is empty.

    Raises:
        YamlRefused: it is no YAML, or more than plain data.
    """
    if found := UNSTORABLE.search(text):
        line = len(_BREAKS.findall(text, 0, found.start())) + 1
        raise YamlRefused(line, _("this holds a character that is no text"))
    try:
        node: yaml.Node | None = _Loader(text).get_single_node()
    except yaml.YAMLError as error:
        raise _refused(error) from error
    return node


def construct(node: yaml.Node) -> Any:
    """The data of a node that `compose` gave.

    Raises:
        YamlRefused: a value or a key is none.
    """
    try:
        return _Loader("").construct_document(node)
    except yaml.YAMLError as error:
        raise _refused(error) from error


def load(text: str) -> Any:
    """The data of a YAML document, None if it is empty.

    Raises:
        YamlRefused: it is no YAML, or more than plain data.
    """
    node = compose(text)
    return None if node is None else construct(node)


def _refused(error: yaml.YAMLError) -> YamlRefused:
    problem = getattr(error, "problem", None) or str(error)
    found, begun = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    reason, mark = _told(problem, getattr(error, "context", None) or "", found, begun)
    said = _("this is not valid YAML: %(reason)s") % {"reason": reason}
    if _SIGNS_IN_TEXTS.search(reason):
        said = _("%(problem)s; put texts with a colon, a question mark or the like in quotes") % {"problem": said}
    return YamlRefused(mark.line + 1, said, mark.column + 1) if mark else YamlRefused(1, said)


def _told(problem: str, context: str, found: yaml.Mark | None, begun: yaml.Mark | None) -> tuple[str, yaml.Mark | None]:
    """What PyYAML's words for the commonest mistakes mean to whoever writes, and the place to mend; else its own."""
    # By the mark itself: YAML has more line breaks than one.
    before = found.buffer[found.pointer - found.column : found.pointer] if found and found.buffer else ""
    if "'\\t'" in problem:
        return _("a tab stands here; indent with blanks"), found
    if _ENDS.search(problem) and begun:
        return _("what begins here, a quote or a bracket, has no end"), begun
    if problem.startswith("could not find expected ':'"):
        return _("a colon with a blank behind it is missing in this line"), begun
    if problem.startswith("mapping values") and ": " not in before and found and found.line:
        return _("this line goes on with the text above it; indent it as the keys that it belongs with"), found
    if problem.startswith("expected <block end>"):
        if before.strip():
            return _("the text goes on behind its closing quote or bracket; put all of it in other quotes"), found
        return _("this line is indented otherwise than those that it belongs with"), found
    if problem.startswith("sequence entries are not allowed"):
        return _("begin a list on a line of its own, and put text that begins with a hyphen in quotes"), found
    if re.match(r"expected ',' or '[\]}]', but got '[^?:]", problem):
        return _("a comma or a closing bracket is missing before this"), found
    if context.startswith(("while scanning an alias", "while scanning an anchor")):
        return _("text that begins with “*” or “&” belongs in quotes"), begun
    if problem.startswith("found unknown escape character"):
        return _("in double quotes a backslash has a meaning; take single quotes, or write it twice"), found
    if problem == "but found another document":
        return _("“---” begins another file, and one is read"), found
    return problem, found
