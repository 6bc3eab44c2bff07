"""What the lexical judge knows of the words of a domain. Pure: packs register theirs, a prompt may name one.

In a line such as "2 tbsp olive oil, divided (optional)" most words name nothing: which those are, the domain knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# Words that name nothing in any domain, by the language as Snowball calls it.
_EVERYWHERE = {
    "english": """a an the and or of to for in into at as on your about approximately around up half quarter
        one two three four five six small medium large big very well""",
}
ANY = ""  # in place of a language: all of them


@dataclass(frozen=True)
class Lexicon:
    """
    Args:
        name: what a prompt calls it by.
        not_names: words that name nothing, apart by blanks, by the language as Snowball calls it, or `ANY`.
        joined: patterns of several words that count as one; of these the first is the word.
    """

    name: str
    not_names: Mapping[str, str] = field(default_factory=dict)
    joined: tuple[str, ...] = ()

    def words_of(self, language: str) -> frozenset[str]:
        """The words that name nothing in this language."""
        texts = (_EVERYWHERE.get(language, ""), self.not_names.get(ANY, ""), self.not_names.get(language, ""))
        return frozenset(word for text in texts for word in text.split())


_lexicons: dict[str, Lexicon] = {}


def register(lexicon: Lexicon) -> None:
    _lexicons[lexicon.name] = lexicon


def known() -> list[str]:
    return sorted(_lexicons)


def named(name: str) -> Lexicon:
    """The lexicon of that name; of no name the words of all together.

    Raises:
        KeyError: no pack that is installed has it.
    """
    if name:
        return _lexicons[name]
    every = list(_lexicons.values())
    languages = {language for lexicon in every for language in lexicon.not_names}
    return Lexicon(
        name="",
        not_names={
            language: " ".join(lexicon.not_names.get(language, "") for lexicon in every) for language in languages
        },
        joined=tuple(pattern for lexicon in every for pattern in lexicon.joined),
    )
