"""The fenced blocks of a document, and whether what stands in them can be read.

Owns which languages have a parser here and the place of a fault inside a fence. Refuses to run anything.

Flow: fence tokens -> `Fence`s with the mark above them; language, text -> `Fault` or nothing.
"""

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dsh_rfc.document import Document
from dsh_rfc.marks import Mark, mark_above

SHELLS = frozenset({"sh", "shell", "bash", "zsh", "console", "shell-session"})
RUNNABLE = frozenset({"python", "py"})
"""What the tests of a repository can run: whether such a fence fails is seen there."""
CONSOLES = frozenset({"console", "shell-session"})
_WORD = re.compile(r"[\w+#-]+")
_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


@dataclass(frozen=True, kw_only=True)
class Fence:
    """One fenced block.

    Attributes:
        language: The first word behind the fence, in lower case; empty when there is none.
        text: What stands in it, without the indentation of the fence itself.
        mark: The mark directly above it.
        line: 1-based, of the opening fence.
        column: 1-based.
    """

    language: str
    text: str
    mark: Mark | None
    line: int
    column: int

    def is_marked(self, *words: str) -> bool:
        """Say whether the author marked it with one of these words."""
        return self.mark is not None and self.mark.word in words


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why a text cannot be read, and where in it: 1-based line and column."""

    message: str
    line: int = 1
    column: int = 1


def read_fences(document: Document) -> tuple[Fence, ...]:
    """Return the fenced blocks of a document, in order."""
    found = []
    for index, token in enumerate(document.blocks):
        if token.type != "fence" or token.map is None:
            continue
        word = _WORD.search(token.info)
        line = document.lines[token.map[0]]
        found.append(
            Fence(
                language=word.group().lower() if word else "",
                text=token.content,
                mark=mark_above(document, index),
                line=token.map[0] + 1,
                column=line.find(token.markup) + 1,
            )
        )
    return tuple(found)


def is_known(language: str) -> bool:
    """Say whether anything is judged in fences of a language."""
    return language in _PARSERS or language in SHELLS


def fault_in(language: str, text: str) -> Fault | None:
    """Return why a text cannot be read in its language; None when it can, or nobody here knows the language."""
    parser = _PARSERS.get(language)
    return parser(text) if parser else None


def _refuse_constant(name: str) -> object:
    msg = f"{name} is no JSON"
    raise ValueError(msg)


def _json(text: str) -> Fault | None:
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        return Fault(message=error.msg, line=error.lineno, column=error.colno)
    except ValueError as error:
        return Fault(message=str(error))
    except RecursionError:
        return Fault(message="nested too deeply")
    return None


def _json_lines(text: str) -> Fault | None:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and (fault := _json(line)):
            return Fault(message=fault.message, line=number, column=fault.column)
    return None


def _toml(text: str) -> Fault | None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        message = _TOML_PLACE.sub("", str(error)).removesuffix(" (at end of document)")
        line, column = (int(place[1]), int(place[2])) if place else (1, 1)
        return Fault(message=message, line=line, column=column)
    except RecursionError:
        return Fault(message="nested too deeply")
    return None


def _yaml(text: str) -> Fault | None:
    import yaml

    try:
        for _ in yaml.compose_all(text, Loader=yaml.SafeLoader):
            pass  # tags are the business of whoever loads it
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return Fault(message=error.problem or "cannot be read", line=place[0], column=place[1])
    except yaml.YAMLError as error:
        return Fault(message=str(error).partition("\n")[0])
    except RecursionError:
        return Fault(message="nested too deeply")
    return None


def _python(text: str) -> Fault | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<fence>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return Fault(message=error.msg, line=error.lineno or 1, column=error.offset or 1)
    except (RecursionError, MemoryError):
        return Fault(message="nested too deeply")
    return None


_PARSERS: Mapping[str, Callable[[str], Fault | None]] = {
    "json": _json,
    "jsonl": _json_lines,
    "ndjson": _json_lines,
    "toml": _toml,
    "yaml": _yaml,
    "yml": _yaml,
    "python": _python,
    "py": _python,
}
