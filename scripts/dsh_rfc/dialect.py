"""The one Markdown parser: CommonMark with GitHub's tables, and with places.

Owns what the parser is told to keep beside its tokens: where in a paragraph a link, an image, a code span or a tag
starts and ends, which label a reference used, and which references lead nowhere. Targets stay as they were written.
Refuses to know what any of it is for.

Flow: inline rule of the parser -> the same rule, with its tokens marked (`meta["start"]`, `meta["end"]`).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_inline import StateInline, autolink, backtick, html_inline, image, link

UNRESOLVED = "unresolved"
_FOOTNOTE = re.compile(r"\[(\^[^\]\s]+)\](:?)")
_Inline = Callable[[StateInline, bool], bool]


@dataclass(frozen=True, kw_only=True)
class Unresolved:
    """A reference without a definition, or a footnote's mark, in the text of one inline token.

    Attributes:
        start: Offset in the token's content.
        label: Normalized; a footnote's starts with a caret.
        is_definition: Whether it is the mark in front of a footnote's own text.
    """

    start: int
    label: str
    is_definition: bool = False


def make_parser() -> MarkdownIt:
    """Return the parser, which does blocks at once and paragraphs when asked."""
    parser = MarkdownIt("commonmark", {"store_labels": True}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.normalizeLink = _as_written  # type: ignore[method-assign]  # what cannot be a link's target is a finding
    parser.validateLink = _any_target  # type: ignore[method-assign]  # as above
    for name, rule, marked, opening in (
        ("backticks", backtick, "code_inline", ""),
        ("link", link, "link_open", "["),
        ("image", image, "image", "!"),
        ("autolink", autolink, "link_open", ""),
        ("html_inline", html_inline, "html_inline", ""),
    ):
        parser.inline.ruler.at(name, _marking(rule, marked, opening))
    return parser


def _as_written(url: str) -> str:
    return url


def _any_target(url: str) -> bool:  # noqa: ARG001 - the parser's own signature
    return True


def _marking(rule: _Inline, marked: str, opening: str) -> _Inline:
    """Return the rule, which marks its token, and notes what it declined if that starts with the opening."""

    def run(state: StateInline, silent: bool) -> bool:
        if silent:
            return rule(state, silent)
        start, count = state.pos, len(state.tokens)
        unresolved: list[Unresolved] = state.env.get(UNRESOLVED, [])
        known = len(unresolved)
        if not rule(state, silent):
            if state.src[start] == opening:
                unresolved.extend(_unresolved_at(state, start))
            return False
        if marked == "image":
            del unresolved[known:]  # the description was parsed as a text of its own, and makes no links
        for token in state.tokens[count:]:
            if token.type == marked:
                token.meta["start"], token.meta["end"] = start, state.pos
                break
        return True

    return run


def _unresolved_at(state: StateInline, start: int) -> Iterator[Unresolved]:
    if footnote := _FOOTNOTE.match(state.src, start):
        opens_line = start == 0 or state.src[start - 1] == "\n"
        label = normalizeReference(footnote[1])
        yield Unresolved(start=start, label=label, is_definition=opens_line and bool(footnote[2]))
        return
    bracket = start + state.src.startswith("![", start)
    before = state.src[start - 1 : start]
    if state.src[bracket] != "[" or before.isalnum() or before in {"]", "!"}:
        return  # `rows[i][j]` is prose
    end = state.md.helpers.parseLinkLabel(state, bracket)
    if end < 0 or state.src[end + 1 : end + 2] != "[":
        return
    close = state.md.helpers.parseLinkLabel(state, end + 1)
    label = state.src[end + 2 : close] or state.src[bracket + 1 : end] if close >= 0 else ""
    if label.strip():
        yield Unresolved(start=start, label=normalizeReference(label))
