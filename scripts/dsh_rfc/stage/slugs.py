"""The anchors of headings, as GitHub makes them.

Owns the one rule, so that a link to a heading is right on GitHub and on the site. Refuses to parse Markdown.
"""

import unicodedata
from collections import Counter


def slug(text: str) -> str:
    """Return the anchor of a heading's rendered text.

    Example:
        >>> slug("What `load` does, and why")
        'what-load-does-and-why'
        >>> slug("为什么 — 一次")
        '为什么--一次'
    """
    kept = (character for character in text.strip().lower() if _is_kept(character))
    return "".join("-" if character == " " else character for character in kept)


def _is_kept(character: str) -> bool:
    return character in "-_ " or character.isalnum() or unicodedata.category(character) in {"Mn", "Mc", "Me", "Pc"}


class Slugger:
    """Makes the anchors of one page; a repeated heading gets `-1`, `-2`, and so on."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def take(self, text: str) -> str:
        """Return the anchor of the next heading."""
        wanted = slug(text)
        given = wanted
        while given in self._seen:
            given = f"{wanted}-{self._seen[wanted]}"
            self._seen[wanted] += 1
        self._seen[given] += 1
        return given
