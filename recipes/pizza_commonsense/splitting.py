"""Long instructions split into atomic ones, each about one cooking action (section 3 of the paper). Pure.

A rule in place of the paper's dependency parser: an instruction is cut at the ends of its sentences, and before a
cooking verb in its base form that “and”, “then”, a semicolon or a comma puts beside the verb before it. A verb
in a clause of its own stays: “stir to mix”, “after you heat, stir”. What the rule gets wrong a person corrects.
"""

from __future__ import annotations

import re

VERBS = frozenset(
    """add adjust allow arrange assemble bake baste beat blanch blend boil braise bring broil brown brush carve
    chill chop coat combine cook cool cover crimp crumble crush cube cut deglaze dice dip discard dissolve
    divide dot drain dredge drizzle drop dry dust empty enjoy fill flatten flip fold form freeze fry garnish
    glaze grate grease grill grind heat invert julienne keep knead ladle lay layer leave let lift line lower
    make marinate mash measure melt microwave mince mix moisten mound move open pack pat peel pinch pit place
    poach poke pound pour preheat prepare press prick proof puree put raise reduce refrigerate reheat remove
    repeat reserve rest return rinse rise roast roll rotate rub saute sauté scatter scoop scrape sear season
    seal separate serve set shake shape shred sift simmer skim slather slice slide smear soak soften spoon
    spray spread sprinkle squeeze steam stir strain stretch stuff substitute swirl take taste tear thaw thin
    thread throw tilt top toss transfer trim turn unroll use warm wash whip whisk wipe work wrap""".split()  # noqa: SIM905
)
_ADVERBS = r"(?:then|carefully|gently|lightly|slowly|immediately|evenly|thoroughly|quickly|generously|also|now|finally)"
# Behind these a verb is not told to anybody: “until you can roll and cut it”.
_HELD = re.compile(r"\b(?:can|will|may|should|you|it|they|that|which)(?:\s+\w+){0,2}$", re.IGNORECASE)
_JOINT = re.compile(
    rf"(?:\s*[;,]?\s+(?:and\s+then|and|then|&)\s+|\s*[;,]\s*)(?:{_ADVERBS}\s+)*(?=([a-zé]+)\b)", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[a-z)°\d])[.!](?:\s+(?=[A-Z(\"])|\s*$)|\n+")
_ABBREVIATED = re.compile(
    r"(?:\b(?:tbsps?|tsps?|oz|lbs?|pkgs?|pkt|approx|min|mins|hrs?|in|deg|c|t|no))$", re.IGNORECASE
)
_FOODLESS = frozenset(
    {"preheat", "grease", "line", "prepare", "position", "adjust", "set", "heat", "spray", "butter", "oil"}
)
_TOOLS = re.compile(
    r"\b(?:oven|grill|broiler|pan|pans|sheet|sheets|stone|rack|skillet|dish|racks|steel|griddle)\b", re.IGNORECASE
)


def atomic(instruction: str) -> list[str]:
    """The atomic instructions of a long one, in its own words and order; none of an empty one.

    >>> atomic("Heat and stir to mix evenly. After you heat, stir.")
    ['Heat', 'Stir to mix evenly.', 'After you heat, stir.']
    """
    found = [part for sentence in _sentences(instruction) for part in _coordinated(sentence)]
    return [part[:1].upper() + part[1:] for part in found if re.search(r"\w", part)]


def _sentences(text: str) -> list[str]:
    pieces: list[str] = []
    begin = 0
    for end in _SENTENCE.finditer(text):
        if not _ABBREVIATED.search(text[begin : end.start()]):
            pieces.append(text[begin : end.end()].strip())
            begin = end.end()
    pieces.append(text[begin:].strip())
    return [piece for piece in pieces if piece]


def _coordinated(sentence: str) -> list[str]:
    parts: list[str] = []
    begin = 0
    if not _begins_with_verb(sentence):
        return [sentence]
    # Of spaces in a row `_JOINT` would look through the rest from each of them: a thousand take it seven seconds.
    sentence = " ".join(sentence.split())
    for joint in _JOINT.finditer(sentence):
        before = sentence[begin : joint.start()]
        if joint[1].casefold() not in VERBS or not before.strip() or _HELD.search(before):
            continue
        parts.append(before.strip())
        begin = joint.end()
    parts.append(re.sub(rf"^(?:{_ADVERBS}\s+)+", "", sentence[begin:].strip(), flags=re.IGNORECASE) or sentence[begin:])
    return parts


def _begins_with_verb(sentence: str) -> bool:
    """Only what is told as a command is split: a sentence that begins with another clause stays whole."""
    words = [word for word in re.findall(r"[a-zé]+", sentence.casefold()) if not re.fullmatch(_ADVERBS, word)]
    return bool(words) and words[0] in VERBS


def foodless(instruction: str) -> str:
    """The verb of an instruction that is about a tool and no food, such as “preheat the oven”; else “”."""
    words = re.findall(r"[a-zé]+", instruction.casefold())
    tool = next((place for place, word in enumerate(words[:6]) if _TOOLS.fullmatch(word)), 0)
    return words[0] if tool and words[0] in _FOODLESS and not {"in", "on", "into"} & set(words[:tool]) else ""
