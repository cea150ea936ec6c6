"""The commands in a piece of shell.

Owns splitting a script into commands: continuations, quotes, pipes, substitutions, here-documents, prompts. It
reads what documents show, not everything that a shell accepts, and expands nothing. Refuses to know which
commands exist.

Flow: text -> logical lines -> words -> `Command`s with the line that each begins on.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PUNCTUATION = "();<>|&"
_HERE = re.compile(r"<<-?\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)")
_NESTED = re.compile(r"\$\((?P<inner>[^()]*)\)|`(?P<ticked>[^`]*)`")
_ASSIGNMENT = re.compile(r"\w+\+?=")
_LEADING = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"})
_STRUCTURE = frozenset({"for", "case", "esac", "done", "fi", "}", "in", "select", "function", "[[", "(("})
_LONGEST = 200  # lines of one command; what is longer has lost a quote
_WRAPPERS = frozenset({"command", "env", "exec", "nohup", "sudo", "xargs"})


class ShellUnreadable(ValueError):
    """The text does not split into words; `line` is 1-based."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command with its arguments, unquoted; `line` is 1-based."""

    words: tuple[str, ...]
    line: int

    @property
    def name(self) -> str:
        """What is run."""
        return self.words[0]


def read_commands(text: str, *, has_prompts: bool = False) -> tuple[Command, ...]:
    """Return the commands of a script, those in substitutions included.

    Args:
        text: The script.
        has_prompts: Whether commands stand behind `$` and everything else is what they printed.

    Raises:
        ShellUnreadable: A quote is open at the end.

    Example:
        >>> [command.words for command in read_commands("cd docs && ls | wc -l  # pages")]
        [('cd', 'docs'), ('ls',), ('wc', '-l')]
    """
    found: list[Command] = []
    for line, source in _logical_lines(_without_output(text) if has_prompts else text):
        for words in _commands_of(source, line):
            found.extend(Command(words=part, line=line) for part in _unwrapped(words))
    return tuple(found)


def _without_output(text: str) -> str:
    kept = []
    goes_on = False
    for line in text.split("\n"):
        behind = line.lstrip()
        if behind.startswith("$ "):
            kept.append(behind[2:])
        elif goes_on:
            kept.append(behind.removeprefix("> "))
        else:
            kept.append("")
        goes_on = bool(kept[-1]) and kept[-1].endswith("\\")
    return "\n".join(kept)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        first, source = index, lines[index]
        index += 1
        end = min(len(lines), first + _LONGEST)
        while index < end and (source.endswith("\\") or not _is_closed(source)):
            source = source[:-1] + lines[index] if source.endswith("\\") else f"{source}\n{lines[index]}"
            index += 1
        if not _is_closed(source):
            raise ShellUnreadable("a quote is not closed", first + 1)
        if here := _HERE.search(source):
            while index < len(lines) and lines[index].strip() != here["end"]:
                index += 1
            index += 1
            source = _HERE.sub("", source)
        yield first + 1, source


def _is_closed(source: str) -> bool:
    try:
        _split(source)
    except ValueError:
        return False
    return True


def _split(source: str) -> list[str]:
    lexer = shlex.shlex(_without_comment(source), posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _without_comment(source: str) -> str:
    """Cut a comment off: a hash that begins a word outside of quotes."""
    quote = ""
    for index, character in enumerate(source):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and source[index - 1 : index] != "\\":
            quote = character
        elif character == "#" and (index == 0 or source[index - 1].isspace()):
            end = source.find("\n", index)
            return source[:index] + (_without_comment(source[end:]) if end >= 0 else "")
    return source


def _commands_of(source: str, line: int) -> Iterator[tuple[str, ...]]:
    words: list[str] = []
    skips = False
    for token in _split(source):
        is_mark = set(token) <= set(_PUNCTUATION)
        if skips and not is_mark:
            skips = False  # where output goes to
        elif is_mark and set(token) & set("<>"):
            skips = True
            if words and words[-1].isdigit():
                words.pop()
        elif is_mark:
            if words:
                yield tuple(words)
            words = []
        else:
            words.append(token)
            for nested in _NESTED.finditer(token):
                inner = nested["inner"] or nested["ticked"] or ""
                if _is_closed(inner):  # else the substitution was cut at a bracket or tick inside of a quote
                    yield from _commands_of(inner, line)
    if words:
        yield tuple(words)


def _unwrapped(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    rest = list(words)
    while rest and (rest[0] in _LEADING or _ASSIGNMENT.match(rest[0]) or rest[0] == "$"):
        rest.pop(0)
    if not rest or rest[0] in _STRUCTURE:
        return
    yield tuple(rest)
    if rest[0] in _WRAPPERS:
        inner = rest[1:]
        while inner and (inner[0].startswith("-") or _ASSIGNMENT.match(inner[0])):
            inner.pop(0)
        if inner:
            yield from _unwrapped(inner)
