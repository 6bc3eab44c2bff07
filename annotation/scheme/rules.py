"""What follows from the answers of a column: what is asked of it, what is preset, what goes. Pure.

One column of one assignment is {question key: code}, as `annotation.answers.codes` says codes: "found", ':"flour"',
"=no" for a preset that nobody chose, "~found" for an unconfirmed draft, "!why" for a skip. Questions without an answer
are left out. The script of the grid has the same rules; `tests/rules/examples.json` is read by the tests of both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from annotation.scheme.spec import SectionSpec

_PREFIXES = ("=", "~")


def words(section: SectionSpec, codes: Mapping[str, str]) -> dict[str, str]:
    """What the rules of a section know the answers by, skips left out: see `QuestionSpec.word`."""
    found = {}
    for key, code in codes.items():
        bare = code[1:] if code.startswith(_PREFIXES) else code
        if not bare.startswith("!"):
            found[key] = section.question(key).word(bare) if bare.startswith(":") else bare
    return found


def asked(section: SectionSpec, codes: Mapping[str, str]) -> set[str]:
    """The keys of the questions that a column asks, given its answers."""
    return {question.key for question in section.asked(words(section, codes))}


def owed(section: SectionSpec, codes: Mapping[str, str]) -> set[str]:
    """Of these, the keys of those that have to be answered before a row is submitted."""
    return {question.key for question in section.asked(words(section, codes)) if not question.optional}


def presets(
    section: SectionSpec, facets: Mapping[str, str], codes: Mapping[str, str], cleared: Collection[str] = ()
) -> dict[str, str]:
    """The presets that a column lacks, {question key: code}; `cleared` are those that somebody has just cleared."""
    missing = {key: code for key, code in section.presets(facets).items() if key not in codes and key not in cleared}
    return {key: missing[key] for key in missing.keys() & asked(section, {**codes, **missing})} if missing else {}


def settle(
    section: SectionSpec, facets: Mapping[str, str], codes: Mapping[str, str], cleared: Collection[str] = ()
) -> dict[str, str]:
    """What changes of itself after somebody has answered or cleared: {question key: code}, "" where an answer goes.

    A column that nobody has answered, or nobody any more, has no presets either.
    """
    if not any(code and not code.startswith("=") for code in codes.values()):
        return dict.fromkeys(codes, "")
    filled = {
        key: f"={code}" for key, code in section.presets(facets).items() if key not in codes and key not in cleared
    }
    standing = {**codes, **filled}
    stays = asked(section, standing)
    changed = {key: "" for key in codes if key not in stays}
    return changed | {key: code for key, code in filled.items() if key in stays}
