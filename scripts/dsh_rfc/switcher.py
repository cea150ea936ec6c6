"""The line that leads from one language to the other.

Owns its text and its place. Refuses to judge.

Flow: pair and tag -> text; document -> where the line belongs, and which lines are one.
"""

from collections.abc import Iterator
from urllib.parse import quote

from dsh_rfc.contract import Contract
from dsh_rfc.document import Document
from dsh_rfc.header import Header, read_header
from dsh_rfc.pairs import UNTAGGED, Pair

_SAFE = "-_.~!$&'*+,;=:@"


def switcher_text(pair: Pair, tag: str, contract: Contract) -> str:
    """Return the line of a side: its own language in words, the others as links.

    Example:
        >>> pair = Pair(path="docs/a.md", sides={"": "docs/a.md", "zh": "docs/a.zh.md"})
        >>> switcher_text(pair, "zh", Contract())
        '[English](a.md) | 中文'
    """
    return " | ".join(
        language_name(other, contract)
        if other == tag
        else f"[{language_name(other, contract)}]({_target(pair.side(other))})"
        for other in (UNTAGGED, *contract.translations)
        if other in pair.sides
    )


def language_name(tag: str, contract: Contract) -> str:
    """Return what readers of a language call it."""
    tag = tag or contract.language
    return contract.language_names.get(tag, tag)


def _target(path: str) -> str:
    name = path.rpartition("/")[2]
    return "".join(part if part.isalnum() else quote(part, safe=_SAFE) for part in name)


def is_rfc(document: Document, contract: Contract) -> bool:
    """Say whether the document has the header block of an RFC, in whatever language the rest is."""
    return _is_of_rfc(read_header(document), contract)


def _is_of_rfc(header: Header, contract: Contract) -> bool:
    return (
        header.title is not None
        and header.title.name.startswith(contract.title_prefix.strip())
        and header.status is not None
        and header.status.line < header.first_section_line
    )


def line_above(document: Document, contract: Contract) -> int:
    """Return the 1-based line under which the switcher belongs; 0 for the top of a document without a title."""
    header = read_header(document)
    if header.status is not None and _is_of_rfc(header, contract):
        return header.status.line
    return header.title.last_line if header.title else 0


def find_switchers(document: Document, contract: Contract) -> Iterator[tuple[int, str]]:
    """Yield the 1-based line and the text of every paragraph of one line that is a switcher or means to be."""
    names = [language_name(tag, contract) for tag in (UNTAGGED, *contract.translations)]
    for token in document.blocks:
        if token.type == "inline" and token.level == 1 and token.map is not None and "\n" not in token.content:
            words = [part.strip().lstrip("[").partition("]")[0] for part in token.content.split("|")]
            if len(words) > 1 and sum(word in names for word in words) > 1:
                yield token.map[0] + 1, document.lines[token.map[0]]
