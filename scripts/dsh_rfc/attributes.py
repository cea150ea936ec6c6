"""What `.gitattributes` files say of a path.

Owns their grammar: quoting, macros, and which file and line wins. Refuses to read files and to know what an
attribute means. Patterns match as git's do, which is nearly how they do in `.gitignore`: a folder's pattern says
nothing of the files in it.

Flow: text of a file -> `AttributeFile` -> attributes of a path, the later file and line winning.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

Value = bool | str | None
_BUILT_IN: Mapping[str, tuple[tuple[str, Value], ...]] = {
    "binary": (("diff", False), ("merge", False), ("text", False))
}
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r'\\([0-7]{3}|[abfnrtv\\"])')
_NAMED_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"'}
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One pattern and what it says; in order."""

    pattern: str
    states: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, kw_only=True)
class AttributeFile:
    """A file of attributes.

    Attributes:
        folder: What its patterns count from, relative to the top of the work tree; empty for the top.
        lines: In order.
        macros: What it defines, by name.
    """

    folder: str
    lines: tuple[Line, ...]
    macros: Mapping[str, tuple[tuple[str, Value], ...]]


def read_attributes(text: str, folder: str) -> AttributeFile:
    """Return what the text of a file says."""
    lines: list[Line] = []
    macros: dict[str, tuple[tuple[str, Value], ...]] = {}
    for raw in text.split("\n"):
        line = raw.strip(" \t\r")
        if not line or line.startswith("#"):
            continue
        pattern, rest = _split(line)
        states = tuple(_state(word) for word in rest.split())
        if line.startswith("[attr]"):
            name, *_ = line.removeprefix("[attr]").split() or [""]
            macros[name] = tuple(_state(word) for word in line.removeprefix("[attr]").split()[1:])
        elif not pattern.startswith("!"):
            lines.append(Line(pattern=pattern, states=states))
    return AttributeFile(folder=folder, lines=tuple(lines), macros=macros)


def attributes_of(path: str, files: Iterable[AttributeFile]) -> Mapping[str, Value]:
    r"""Return the attributes of a path; None is an attribute that is unspecified again.

    Args:
        path: Relative to the top of the work tree.
        files: From the weakest to the strongest.

    Example:
        >>> rules = read_attributes("*.md text eol=lf\nraw/** -text", "")
        >>> dict(attributes_of("raw/a.md", [rules]))
        {'text': False, 'eol': 'lf'}
    """
    listed = list(files)
    macros = dict(_BUILT_IN)
    for file in listed:
        macros.update(file.macros)
    found: dict[str, Value] = {}
    for file in listed:
        prefix = f"{file.folder}/" if file.folder else ""
        if not path.startswith(prefix):
            continue
        inside = path.removeprefix(prefix)
        for line in file.lines:
            if _matches(line.pattern, inside):
                found.update(_expanded(line.states, macros))
    return found


def _expanded(
    states: Iterable[tuple[str, Value]], macros: Mapping[str, tuple[tuple[str, Value], ...]], depth: int = 0
) -> Iterator[tuple[str, Value]]:
    for name, value in states:
        yield name, value
        if value is True and name in macros and depth < len(macros):
            yield from _expanded(macros[name], macros, depth + 1)


def _split(line: str) -> tuple[str, str]:
    if quoted := _QUOTED.match(line):
        return _ESCAPE.sub(_unescape, quoted[1]), line[quoted.end() :]
    pattern, *rest = line.split(maxsplit=1)
    return pattern, rest[0] if rest else ""


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return _NAMED_ESCAPES[code] if code in _NAMED_ESCAPES else chr(int(code, 8))


def _state(word: str) -> tuple[str, Value]:
    if word.startswith("-"):
        return word[1:], False
    if word.startswith("!"):
        return word[1:], None
    name, equals, value = word.partition("=")
    return name, value if equals else True


def _matches(pattern: str, path: str) -> bool:
    if pattern.endswith("/"):
        return False
    if "/" in pattern:
        return _compiled(pattern.removeprefix("/")).fullmatch(path) is not None
    return _compiled(pattern).fullmatch(path.rpartition("/")[2]) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        text, at = _next(pattern, at)
        parts.append(text)
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error:
        return re.compile(r"(?!)")  # git's matcher gives up on it too


def _next(pattern: str, at: int) -> tuple[str, int]:
    """Return the expression of what stands at a place, and the place behind it."""
    starts_part = at == 0 or pattern[at - 1] == "/"
    if starts_part and pattern.startswith("**/", at):
        return "(?:.*/)?", at + 3
    if starts_part and pattern[at:] == "**":
        return ".*", at + 2
    character = pattern[at]
    if character == "*":
        end = at
        while end < len(pattern) and pattern[end] == "*":
            end += 1
        return "[^/]*", end
    if character == "?":
        return "[^/]", at + 1
    if character == "[":
        return _bracket(pattern, at)
    if character == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(character), at + 1


def _bracket(pattern: str, start: int) -> tuple[str, int]:
    at = start + 1
    negated = pattern[at : at + 1] in {"!", "^"}
    at += negated
    members: list[str] = []
    while at < len(pattern) and (pattern[at] != "]" or not members):
        if named := re.compile(r"\[:([a-z]+):\]").match(pattern, at):
            members.append(_CLASSES.get(named[1], ""))
            at = named.end()
        elif pattern[at] == "-" and members and pattern[at + 1 : at + 2] not in {"", "]"}:
            members.append("-")
            at += 1
        else:
            at += pattern[at] == "\\"
            members.append(re.escape(pattern[at : at + 1]))
            at += 1
    if at >= len(pattern):
        return "(?!)", len(pattern)  # a bracket without an end matches nothing
    return f"(?!/)[{'^' if negated else ''}{''.join(members)}]", at + 1
