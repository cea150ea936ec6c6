"""What stands inside a paragraph, rewritten for Python-Markdown without changing what it says.

Owns reading inline Markdown left to right: code spans, raw HTML, escapes, line ends, link targets. Targets go
through a function that the caller gives. Refuses to know blocks and to know where links lead.

The differences that are mended, each measured against Python-Markdown: an escape of a character that it does not
escape; a backslash at the line's end; a brace, which its attribute lists would take; a bracket pair after a
bracket, which a cross-reference extension would take; a bare backtick.
"""

import re
from collections.abc import Callable, Container
from dataclasses import dataclass

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_ESCAPED_BY_PYTHON_MARKDOWN = frozenset("\\`*_{}[]()>#+-.!")
_HTML = re.compile(
    r"<!--.*?-->|</?[A-Za-z][A-Za-z0-9-]*(?:\s+[^<>\"']*(?:\"[^\"]*\"|'[^']*')?[^<>\"']*)*\s*/?>|<\?.*?\?>",
    re.DOTALL,
)
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>")
_BARE_URL = re.compile(r"https?://[^\s<>`\"']+")
_DESTINATION = re.compile(
    r"\(\s*(?:<(?P<angle>[^<>\n]*)>|(?P<plain>(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))"
    r"(?P<title>\s+(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)",
    re.DOTALL,
)
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]", re.DOTALL)
_ATTRIBUTE = re.compile(r"(\s(?:href|src)\s*=\s*)(\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPECIAL = re.compile(r"[\\`<{\]\nh]")


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Where links lead.

    Attributes:
        markdown: Maps the target of a Markdown link to the one to write.
        html: Maps the target of an HTML attribute to the one to write; a builder does not touch those.
    """

    markdown: Callable[[str], str]
    html: Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class Style:
    """How inline text is written.

    Attributes:
        targets: Where links lead.
        labels: The reference labels that are defined, normalized.
        for_builder: Whether Python-Markdown reads it; otherwise only targets change.
    """

    targets: Targets
    labels: Container[str]
    for_builder: bool


def rewrite(content: str, style: Style) -> str:
    """Return the inline text on one line, or with hard breaks at the line ends that are some."""
    out: list[str] = []
    at = 0
    while at < len(content):
        special = _SPECIAL.search(content, at)
        if special is None:
            out.append(content[at:])
            break
        out.append(content[at : special.start()])
        text, at = _READERS[special.group()](content, special.start(), style)
        if text == "\n" and not style.for_builder and out and out[-1].endswith("  "):
            text = "  \n"
        if text.startswith("\n"):
            text = _line_end(out, style) if text == "\n" else text
        out.append(text)
    return "".join(out)


def rewrite_html(html: str, targets: Targets) -> str:
    """Return raw HTML with the targets of its attributes rewritten."""
    return _ATTRIBUTE.sub(lambda match: f'{match[1]}"{targets.html(match[2][1:-1])}"', html)


def _line_end(out: list[str], style: Style) -> str:
    before = out[-1] if out else ""
    if before.endswith("  "):
        out[-1] = before.rstrip(" ")
        return "  \n" if style.for_builder else "\\\n"
    return " "


def _backslash(content: str, at: int, style: Style) -> tuple[str, int]:
    following = content[at + 1 : at + 2]
    if following == "\n":
        return ("  \n" if style.for_builder else "\\\n"), at + 2
    if following not in _PUNCTUATION or not following:
        return "\\", at + 1
    if not style.for_builder or following in _ESCAPED_BY_PYTHON_MARKDOWN - {"{"}:
        return f"\\{following}", at + 2
    return f"&#{ord(following)};", at + 2


def _code(content: str, at: int, style: Style) -> tuple[str, int]:
    ticks = len(content) - at - len(content[at:].lstrip("`"))
    end = at + ticks
    closing = re.compile(rf"(?<!`)`{{{ticks}}}(?!`)").search(content, end)
    if closing is None:
        return ("\\`" * ticks if style.for_builder else "`" * ticks), end
    return content[at : closing.end()].replace("\n", " "), closing.end()


def _less_than(content: str, at: int, style: Style) -> tuple[str, int]:
    if found := _AUTOLINK.match(content, at):
        return found.group(), found.end()
    if found := _HTML.match(content, at):
        return rewrite_html(found.group(), style.targets).replace("\n", " "), found.end()
    return ("&lt;" if style.for_builder else "<"), at + 1


def _brace(content: str, at: int, style: Style) -> tuple[str, int]:
    return ("&#123;" if style.for_builder else content[at]), at + 1


def _newline(content: str, at: int, _style: Style) -> tuple[str, int]:
    rest = content[at + 1 :]
    return "\n", at + 1 + len(rest) - len(rest.lstrip(" "))


def _bracket(content: str, at: int, style: Style) -> tuple[str, int]:
    if found := _DESTINATION.match(content, at + 1):
        given = found["angle"] if found["angle"] is not None else found["plain"]
        target = style.targets.markdown(_ESCAPE.sub(r"\1", given))
        shown = f"<{target}>" if re.search(r"[\s()]", target) else target
        return f"]({shown}{(found['title'] or '').replace(chr(10), ' ')})", found.end()
    label = _LABEL.match(content, at + 1)
    if label and style.for_builder and label[1] and _normal(label[1]) not in style.labels:
        return "]&#91;", at + 2
    return "]", at + 1


def _bare_url(content: str, at: int, style: Style) -> tuple[str, int]:
    """Turn an address in prose into a link, as GitHub does."""
    found = _BARE_URL.match(content, at)
    if not found or not style.for_builder or content[at - 1 : at] in {"[", "(", '"', "'"}:
        return "h", at + 1
    url = found.group().rstrip(".,;:!?*_~")
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1]
    if url.endswith("]") or "](" in url:
        return "h", at + 1
    return f"<{url}>", at + len(url)


def _normal(label: str) -> str:
    return " ".join(label.split()).upper()


_READERS: dict[str, Callable[[str, int, Style], tuple[str, int]]] = {
    "\\": _backslash,
    "`": _code,
    "<": _less_than,
    "{": _brace,
    "]": _bracket,
    "\n": _newline,
    "h": _bare_url,
}
