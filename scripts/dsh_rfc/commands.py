"""Which commands a reader of the repository has.

Owns what is taken for granted (a POSIX shell, git, make, Python with pip), what the repository adds (scripts of its
projects, targets of its Makefile, executables at a path), and what is wrong with a command of a document. Looks at
files through the tree only, and never at the PATH of whoever runs the check: the verdict is the same everywhere.

Flow: configured names, project files, Makefile -> `Commands`; a command of a fence -> what is wrong with it.
"""

import posixpath
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dsh_rfc.symbols import Absence, Symbols
from dsh_rfc.worktree import Worktree

_SHELL = """
. : [ alias bg break cd command continue echo eval exec exit export false fg getopts hash jobs kill local printf pwd
read readonly return set shift source test times trap true type ulimit umask unalias unset wait
"""
_POSIX = """
ar awk basename bc cat chgrp chmod chown cksum cmp comm cp crontab csplit cut date dd df diff
dirname du ed env expand expr file find fold getconf grep head iconv id join less ln locale ls man mkdir mkfifo
mktemp more mv nice nl nohup od paste patch pax pr ps realpath rm rmdir sed sh sleep sort split stat stty tail
tar tee time touch tput tr tty uname unexpand uniq vi wc which who xargs bash zsh sudo
"""
_TOOLS = "git make python python3 pip pip3 pipx"
GRANTED = frozenset(f"{_SHELL} {_POSIX} {_TOOLS}".split())
"""What every reader is supposed to have."""

_DYNAMIC = re.compile(r"[$`<>*?{}…]")
_TARGET = re.compile(r"^(?P<names>[^\s:#=][^:#=]*?)\s*:(?![:=])", re.MULTILINE)
_INCLUDES = re.compile(r"^-?s?include\b", re.MULTILINE)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_MAKE_OPTIONS_WITH_VALUE = frozenset({"-C", "-f", "-I", "-o", "-W"})
_PYTHON = re.compile(r"python(3(\.\d+)?)?")


@dataclass(frozen=True, kw_only=True)
class Commands:
    """The commands of a repository.

    Attributes:
        worktree: Where projects, the Makefile and executables stand.
        symbols: The repository's packages, for `python -m`.
        granted: Names beside those that are taken for granted.
    """

    worktree: Worktree
    symbols: Symbols
    granted: Iterable[str]

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that can be run without a path."""
        return GRANTED.union(self.granted, *(self._scripts(folder) for folder in self._projects()))

    @cached_property
    def targets(self) -> frozenset[str] | None:
        """The targets of the Makefile at the top; None when nobody can know them."""
        name = next((name for name in _MAKEFILES if self.worktree.has_file(name)), "")
        text = self._read(name) if name else ""
        if not text or _INCLUDES.search(text):
            return None
        return frozenset(target for match in _TARGET.finditer(text) for target in match["names"].split())

    def absence(self, words: Sequence[str]) -> Absence | None:
        """Return what does not exist in a command; None when all that can be known does."""
        name, *arguments = words
        if _DYNAMIC.search(name):
            return None
        if "/" in name:
            return self._absent_path(name)
        if name not in self.names:
            hint = (
                "is it spelled right? list what readers are expected to have under `commands` in the configuration"
            )
            return Absence(message=f"{name} is no command that this repository has or grants", hint=hint)
        if name == "make":
            return self._absent_target(arguments)
        if _PYTHON.fullmatch(name):
            return self._absent_program(arguments)
        return None

    def _absent_path(self, path: str) -> Absence | None:
        if path.startswith(("/", "~")) or posixpath.basename(path) in self.names:
            return None
        normal = posixpath.normpath(path)
        if normal.startswith("../") or self.worktree.has(normal) or self.worktree.ignores(normal):
            return None
        return Absence(message=f"{path} does not exist", hint="commands are run from the top of the repository")

    def _absent_target(self, arguments: Sequence[str]) -> Absence | None:
        if self.targets is None:
            return None
        before = ""
        for argument in arguments:
            if not argument.startswith("-") and "=" not in argument and before not in _MAKE_OPTIONS_WITH_VALUE:
                if argument not in self.targets and not argument.isdigit() and not _DYNAMIC.search(argument):
                    return Absence(message=f"the Makefile has no target {argument}", hint="")
            elif argument == "-C":
                return None  # another Makefile
            before = argument
        return None

    def _absent_program(self, arguments: Sequence[str]) -> Absence | None:
        for index, argument in enumerate(arguments):
            if argument == "-m":
                module = arguments[index + 1] if index + 1 < len(arguments) else ""
                return self.symbols.absence(module) if self.symbols.owns(module) else None
            if argument == "-c":
                return None
            if not argument.startswith("-"):
                is_file = argument.endswith(".py") and not _DYNAMIC.search(argument)
                return self._absent_path(argument) if is_file else None
        return None

    def _projects(self) -> Iterator[str]:
        folders = {""}
        for folder in self.symbols.packages.values():
            parts = folder.split("/")
            folders.update("/".join(parts[:depth]) for depth in range(len(parts)))
        for folder in sorted(folders):
            path = f"{folder}/pyproject.toml" if folder else "pyproject.toml"
            if self.worktree.has_file(path):
                yield path

    def _scripts(self, path: str) -> frozenset[str]:
        text = self._read(path)
        if "scripts" not in text:
            return frozenset()
        try:
            project = tomllib.loads(text).get("project", {})
            return frozenset(project.get("scripts", {})) | frozenset(project.get("gui-scripts", {}))
        except (tomllib.TOMLDecodeError, AttributeError, TypeError):
            return frozenset()  # whoever builds it hears of that

    def _read(self, path: str) -> str:
        try:
            return self.worktree.read(path).decode("utf-8", errors="replace")
        except OSError:
            return ""
