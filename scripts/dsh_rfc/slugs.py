"""The anchors of headings, as GitHub makes them.

Owns the one rule: the links of every page are judged by it, and the site is staged with its results written out, so
that a link to a heading is right on GitHub and on the site. Refuses to parse Markdown.
"""

import unicodedata
from collections import Counter

_KEPT_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_LETTERS_IN_CIRCLES = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))


def slug(text: str) -> str:
    """Return the anchor of a heading's rendered text.

    Letters, marks, decimal digits, connectors and hyphens stay, a space becomes a hyphen, everything else goes.
    Nothing is trimmed: what an emoji leaves behind is a hyphen.

    Example:
        >>> slug("What `load` does, and why")
        'what-load-does-and-why'
        >>> slug("为什么 — 一次")
        '为什么--一次'
    """
    lowered = "".join(character.lower() for character in text)  # letter by letter: a final sigma stays a sigma
    return "".join("-" if character == " " else character for character in lowered if _is_kept(character))


def _is_kept(character: str) -> bool:
    return (
        character in "- "
        or unicodedata.category(character) in _KEPT_CATEGORIES
        or any(first <= ord(character) <= last for first, last in _LETTERS_IN_CIRCLES)
    )


class Slugger:
    """Makes the anchors of one page: a repeated one gets `-1`, `-2`, and so on, past those that are taken."""

    def __init__(self) -> None:
        self._repeats: Counter[str] = Counter()
        self._taken: set[str] = set()

    def take(self, text: str) -> str:
        """Return the anchor of the next heading."""
        wanted = given = slug(text)
        while given in self._taken:
            self._repeats[wanted] += 1
            given = f"{wanted}-{self._repeats[wanted]}"
        self._taken.add(given)
        return given
