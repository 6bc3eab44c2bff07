"""The tasks of a recipe's steps: what is done, with what tool, to which ingredients, and the words that say it. Pure.

A task begins with a verb where one is told to do something: at the beginning of a sentence, behind a comma, “and” or
“then”. It ends where the next one begins. The preposition of where something is put belongs to the verb (“pour into”),
as in the memorization paper. A tool or ingredients that the words do not name are left empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.answers.places import Place
from recipes.cooking.taking_apart import words as of
from recipes.cooking.taking_apart.outline import Line, Part


@dataclass(frozen=True)
class Task:
    task: str
    tool: str
    ingredients: tuple[str, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True)
class _Token:
    text: str
    low: str
    start: int
    end: int
    after: str  # the sign between it and the token before: "," or ""


_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SENTENCE = re.compile(r"[^.!?\n;]+(?:\.(?=\d)[^.!?\n;]+)*")
_BRACKET = re.compile(r"\([^()]*\)")
_LEAD = re.compile(r"\**[^.:*]{2,50}:\**\s+|\*\*[^*]{2,50}\*\*[:.]?\s+")
_PLURAL = (("ies", "y"), ("oes", "o"), ("ches", "ch"), ("shes", "sh"), ("sses", "ss"), ("ves", "f"), ("s", ""))
_LONGEST_OBJECT = 3


def tasks_in(lines: Sequence[Line], names: Sequence[str]) -> list[Task]:
    """
    Args:
        names: of the recipe's ingredients; what a step calls by its head (“the flour”) is given by its whole name.
    """
    known = _Names(names)
    return [task for line in lines if line.part is Part.STEP for task in _of_line(line, known)]


def _of_line(line: Line, known: _Names) -> Iterator[Task]:
    text = _BRACKET.sub(lambda found: " " * len(found[0]), line.text)
    start = line.start
    lead = _LEAD.match(text, start)
    if lead and text[lead.end() :].strip():
        start = lead.end()
    for sentence in _SENTENCE.finditer(text, start):
        yield from _of_sentence(line.block, text, sentence.start(), sentence.end(), known)


def _of_sentence(block: int, text: str, start: int, end: int, known: _Names) -> Iterator[Task]:
    tokens, before = [], start
    for found in _TOKEN.finditer(text, start, end):
        sign = "," if re.search(r"[,:–—-]", text[before : found.start()]) else ""
        tokens.append(_Token(found[0], found[0].lower(), *found.span(), sign))
        before = found.end()
    begins = [at for at in range(len(tokens)) if _is_told(tokens, at)]
    if not begins:
        return
    ahead = tokens[: begins[0]]  # “In a large bowl, …”
    let: list[_Token] = []
    for n, at in enumerate(begins):
        stop = begins[n + 1] if n + 1 < len(begins) else len(tokens)
        clause = tokens[at:stop]
        while len(clause) > 1 and _ends_nothing(clause[-1]):
            clause.pop()
        if clause[0].low in _LET and n + 1 < len(begins) and _is_let(tokens, begins[n + 1]):
            let = clause  # what is done is the next verb
            continue
        fronted = ahead if n == 0 and any(token.after for token in tokens[1 : begins[0] + 1]) else []
        if (made := _task(block, clause, fronted, known, let)) is not None:
            yield made
        let = []


_LET = ("let", "allow", "leave")


def _ends_nothing(token: _Token) -> bool:
    return token.low in {"and", "then", "or", *of.ADVERBS} or bool(token.after and token.low.endswith("ing"))


# --- where a task begins ----------------------------------------------------------------------------------------------


def _is_told(tokens: Sequence[_Token], at: int) -> bool:
    """Whether a verb stands here that tells what to do."""
    token = tokens[at]
    if token.low not in of.VERBS:
        return False
    behind = tokens[at + 1] if at + 1 < len(tokens) else None
    ahead = at
    while ahead and tokens[ahead - 1].low in of.ADVERBS and not tokens[ahead].after:
        ahead -= 1
    if ahead == 0:
        return True
    conjoined = tokens[ahead - 1].low in ("and", "then", "or", "but")
    has_sign = bool(tokens[ahead].after) or bool(conjoined and ahead > 1 and tokens[ahead - 1].after)
    if not (conjoined or has_sign):
        return _is_let(tokens, at)
    if tokens[ahead - 1].low == "or":
        return False  # another way of the same task, or “or until”
    if token.low not in of.THINGS_TOO:
        return not _is_listed(tokens, at)
    # "salt and pepper", "flour, butter and oil": a thing, unless it has an object.
    if behind is None:
        return token.low not in of.FOODS_TOO
    if behind.after:
        return False
    if behind.low in of.DETERMINERS or ahead < at:
        return True
    return token.low not in of.FOODS_TOO and behind.low in (of.PREPOSITIONS | of.ADVERBS) - {"and", "or", "of"}


def _is_let(tokens: Sequence[_Token], at: int) -> bool:
    """“Let the dough rest”: what is done is to rest."""
    if tokens[at - 1].low in of.DETERMINERS:
        return False
    for back in range(at - 1, max(at - 7, -1), -1):
        if tokens[back].after or tokens[back + 1].after:
            return False
        if tokens[back].low in _LET:
            return True
        if tokens[back].low in of.PREPOSITIONS and tokens[back].low not in ("to", "and"):
            return False
    return False


def _is_listed(tokens: Sequence[_Token], at: int) -> bool:
    """Behind “until”, “to” and such one verb stands in a row with others: no task of its own."""
    for back in range(at - 1, max(at - 4, -1), -1):
        if tokens[back].low in ("to", "you", "not", "don't", "don’t"):
            return not tokens[at].after and back == at - 1
    return False


# --- what a task says -------------------------------------------------------------------------------------------------


def _task(
    block: int, clause: list[_Token], fronted: Sequence[_Token], known: _Names, let: Sequence[_Token]
) -> Task | None:
    """`let`: “let the dough” before the verb; `fronted`: what stands before the first verb of the sentence."""
    verb = clause[0]
    if verb.low in _LET and len(clause) < 6:
        # The verb behind it is the task; alone it says nothing.
        nothing = not any(token.low in ("stand", "sit", "cool", "rest", "rise", "soak") for token in clause[1:])
        if nothing:
            return None
    if verb.low in of.NO_TASK and (
        len(clause) < 2 or verb.low in ("enjoy", "make", "keep", "measure", "save", "start", "begin")
    ):
        return None
    tool, at_tool = _tool(clause[1:], known)
    fronted_tool, _at = ("", None) if tool else _tool(fronted, known)
    found = _ingredients([token for token in (*let[1:], *clause[1:]) if token not in at_tool], known)
    places = [Place(block, (let or clause)[0].start, clause[-1].end)]
    if fronted_tool:
        places.insert(0, Place(block, fronted[0].start, fronted[-1].end))
    return Task(_name(clause, at_tool), tool or fronted_tool, tuple(found), tuple(places))


def _name(clause: Sequence[_Token], at_tool: Sequence[_Token]) -> str:
    """The verb, with what belongs to it."""
    verb, rest = clause[0].low, clause[1:]
    lows = [token.low for token in rest]
    if verb == "bring":
        for what in ("boil", "simmer"):
            if what in lows[:8]:
                return f"bring to a {what}"
    if (
        verb in ("reduce", "lower", "turn")
        and "heat" in lows[:4]
        and (verb != "turn" or "down" in lows or "off" in lows)
    ):
        particle = next((low for low in lows if low in ("down", "off")), "")
        return " ".join(filter(None, (verb, particle, "the heat")))
    if verb in _LET:
        return next((low for low in lows if low in ("stand", "sit", "cool", "rest", "rise", "soak")), verb)
    if verb in ("set", "put") and "aside" in lows[:6]:
        return f"{verb} aside"
    if lows and lows[0] in of.PARTICLES and not rest[0].after:
        belongs = verb in of.MOVES or lows[0] in (
            "together",
            "aside",
            "away",
            "back",
            "down",
            "off",
            "out",
            "up",
            "through",
        )
        leads = len(rest) > 1 and rest[1].low in of.DETERMINERS and any(token in at_tool for token in rest[1:5])
        if belongs and not (leads and lows[0] == "on"):
            return f"{verb} {lows[0]}"
    if verb in of.MOVES or verb in ("drain", "brush", "bring"):
        for place, low in enumerate(lows):
            if low == "together" and place < 6:
                return f"{verb} together"
            if low in of.WHERE_TO and any(token in at_tool for token in rest[place + 1 : place + 6]):
                return f"{verb} {low}"
            if low in ("until", "for", "while", "so"):
                break
    return verb


def _tool(tokens: Sequence[_Token], known: _Names) -> tuple[str, list[_Token]]:
    """The first tool that is named, with its words; "" for none."""
    for at, token in enumerate(tokens):
        if token.after and token.low.endswith("ing"):  # "brown it, breaking it up with a spoon" is another action
            break
        if token.low not in of.TOOLS or (
            at + 1 < len(tokens) and not tokens[at + 1].after and tokens[at + 1].low in of.TOOLS
        ):
            continue
        if token.low in of.MEASURES and at and (tokens[at - 1].low[0].isdigit() or tokens[at - 1].low in _AMOUNTS):
            continue
        first = at
        while (
            first
            and not tokens[first].after
            and (tokens[first - 1].low in of.OF_TOOLS or tokens[first - 1].low in of.TOOLS)
        ):
            first -= 1
        if known.has(tokens[first : at + 1]):
            continue
        phrase = tokens[first : at + 1]
        while len(phrase) > 1 and phrase[0].low in of.NOT_OF_TOOLS:
            phrase = phrase[1:]
        if len(phrase) == 1 and phrase[0].low in (
            "paper",
            "glass",
            "box",
            "can",
            "iron",
            "pin",
            "wrap",
            "blade",
            "scale",
            "stick",
        ):
            continue
        return " ".join(one.low for one in phrase), list(tokens[first : at + 1])
    return "", []


_AMOUNTS = {"two", "three", "four", "half", "per", "each", "quarter", "remaining"}


def _ingredients(tokens: Sequence[_Token], known: _Names) -> list[str]:
    """What is taken: ingredients of the list, words that sum several up; else the object of the verb."""
    found: list[str] = []
    at = 0
    while at < len(tokens):
        low = tokens[at].low
        if low in ("until", "till", "so") and found:
            break
        length, name = known.at(tokens, at)
        if name:
            found.append(name)
            at += length
            continue
        if low in ("wet", "dry") and at + 1 < len(tokens) and tokens[at + 1].low == "ingredients":
            found.append(f"{low} ingredients")
            at += 2
            continue
        if low in of.SUMS and not _is_of(tokens, at):
            if at + 1 < len(tokens) and not tokens[at + 1].after and tokens[at + 1].low in of.SUMS:
                found.append(f"{low} {tokens[at + 1].low}")  # "curry paste"
                at += 2
                continue
            found.append(_whole(tokens, at))
        at += 1
    if not found and (name := _object(tokens)):
        found.append(name)
    return list(dict.fromkeys(found))


def _is_of(tokens: Sequence[_Token], at: int) -> bool:
    """Part of a longer word, as “water” of “water bath”; or “over simmering water”, which is no ingredient."""
    if tokens[at].low == "water" and any(token.low in ("over", "of") for token in tokens[max(at - 2, 0) : at]):
        return True
    return at + 1 < len(tokens) and not tokens[at + 1].after and tokens[at + 1].low in ("bath", "level", "temperature")


def _whole(tokens: Sequence[_Token], at: int) -> str:
    """A summing word with the one before it: “egg mixture”, “tomato sauce”."""
    if tokens[at].low in ("mixture", "sauce", "filling", "dough") and at and not tokens[at].after:
        before = tokens[at - 1]
        if before.low not in of.DETERMINERS | of.PREPOSITIONS | of.ADVERBS | of.VERBS | {
            "entire",
            "whole",
            "prepared",
            "same",
            "hot",
            "warm",
            "little",
            "more",
            "thick",
            "rest",
        }:
            return f"{before.low} {tokens[at].low}"
    return tokens[at].low


def _object(tokens: Sequence[_Token]) -> str:
    """“Flip the pancakes”: what stands behind the verb's article."""
    start = 0
    while start < len(tokens) and start < 2 and tokens[start].low in of.PARTICLES:
        start += 1
    if start >= len(tokens) or tokens[start].low not in of.DETERMINERS - of.PRONOUNS:
        return ""
    taken = []
    for token in tokens[start + 1 : start + 2 + _LONGEST_OBJECT]:
        if token.after or token.low in of.PREPOSITIONS or token.low in of.ADVERBS or token.low in of.PARTICLES:
            break
        taken.append(token.low)
    if not taken or len(taken) > _LONGEST_OBJECT or taken[-1] in of.NO_FOOD or taken[-1] in of.TOOLS:
        return ""
    return " ".join(taken)


class _Names:
    """The names of a recipe's ingredients, found by their words, or by their last word, or their first one."""

    def __init__(self, names: Sequence[str]) -> None:
        self._whole: dict[tuple[str, ...], str] = {}
        self._short: dict[str, list[str]] = {}
        for name in names:
            parts = tuple(_singular(word.lower()) for word in _TOKEN.findall(name))
            if not parts:
                continue
            self._whole.setdefault(parts, name)
            for part in dict.fromkeys((parts[-1], *(parts[:-1] if len(parts) > 1 else ()))):
                self._short.setdefault(part, []).append(name)
        self._longest = max(map(len, self._whole), default=0)

    def has(self, tokens: Sequence[_Token]) -> bool:
        return tuple(_singular(token.low) for token in tokens) in self._whole

    def at(self, tokens: Sequence[_Token], at: int) -> tuple[int, str]:
        """How many words from here on are an ingredient of the list, and its name; (0, "") for none."""
        singular = [_singular(token.low) for token in tokens[at : at + self._longest]]
        for length in range(len(singular), 0, -1):
            if name := self._whole.get(tuple(singular[:length])):
                return length, name
        # Words of one name in a row, as "ricotta" of "ricotta cheese"; a word that two names share says neither.
        best = (0, "")
        for name in self._short.get(singular[0], ()) if singular else ():
            parts = [_singular(word.lower()) for word in _TOKEN.findall(name)]
            length = 0
            while length < len(singular) and singular[length] in parts and not (length and tokens[at + length].after):
                length += 1
            if length > best[0]:
                best = (length, name)
            elif length == best[0]:
                best = (length, "") if parts[-1] != singular[length - 1] else (length, best[1] or "")
        if not best[1] or (best[0] == 1 and singular[0] in of.NEVER_ALONE):
            return 0, ""
        # "the chili" of a recipe with chili powder is the dish.
        is_last = singular[best[0] - 1] == _singular(_TOKEN.findall(best[1])[-1].lower())
        return best if is_last or tokens[at + best[0] - 1].low not in of.SUMS else (0, "")


def _singular(word: str) -> str:
    if len(word) > 3 and not word.endswith(("ss", "us")):
        for ending, instead in _PLURAL:
            if word.endswith(ending):
                return word[: -len(ending)] + instead
    return word
