"""The names of the repository's Python packages, without importing them.

Owns which packages there are and whether a dotted name could be imported from one: modules by their files,
everything in a module by griffe's reading of its source. Only modules on the way to a name are read, each once
in a run, and griffe itself is loaded for the first name that is more than a module. What a base class from
elsewhere, a wildcard from elsewhere, or the `__getattr__` of a module without `__all__` adds cannot be known this
way, and counts as there.

Flow: sources -> packages; dotted name -> modules by path -> members, aliases followed -> nothing, or an `Absence`.
"""

import builtins
import difflib
import posixpath
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dsh_rfc.tree import Kind
from dsh_rfc.worktree import Worktree

if TYPE_CHECKING:
    from griffe import Alias, Module, Object

_SUFFIXES = (".py", ".pyi")
_WITHOUT_NAMES = frozenset({"object", "abc.ABC", "typing.Protocol", "typing.Generic", "typing_extensions.Protocol"})


@dataclass(frozen=True, kw_only=True)
class Absence:
    """That something does not exist, in a sentence, and where it may be."""

    message: str
    hint: str


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A module: its dotted name, its file (empty for a folder without one), its folder when it is a package."""

    name: str
    file: str
    folder: str


@dataclass(frozen=True, kw_only=True)
class Symbols:
    """The packages of a repository.

    Attributes:
        worktree: Where their files are.
        sources: Folders that packages stand in, from the top; a part may be `*`, the empty path is the top.
    """

    worktree: Worktree
    sources: Iterable[str]
    _modules: "dict[str, Module | Absence]" = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def packages(self) -> Mapping[str, str]:
        """The folders of the packages, by name; the first source that has one counts."""
        found: dict[str, str] = {}
        for source in self.sources:
            for folder in self.worktree.match(source):
                for name in sorted(self.worktree.names(folder)):
                    path = f"{folder}/{name}" if folder else name
                    if name.isidentifier() and self._file_of(f"{path}/__init__"):
                        found.setdefault(name, path)
        return found

    def owns(self, dotted: str) -> bool:
        """Say whether a dotted name begins with one of the packages."""
        return dotted.partition(".")[0] in self.packages

    def absence(self, dotted: str) -> Absence | None:
        """Return why a dotted name of one of the packages does not exist; None when it does."""
        return self._absent(dotted.split("."), frozenset())

    def _absent(self, parts: Sequence[str], seen: frozenset[str]) -> Absence | None:
        dotted = ".".join(parts)
        if dotted in seen:
            return Absence(message=f"{dotted} is imported from itself", hint="")
        name = parts[0]
        folder = self.packages[name]
        place = _Place(name=name, file=self._file_of(f"{folder}/__init__"), folder=folder)
        return self._absent_in_module(place, parts[1:], seen | {dotted})

    def _absent_in_module(self, place: _Place, parts: Sequence[str], seen: frozenset[str]) -> Absence | None:
        if not parts:
            return None
        below = self._submodule(place, parts[0])
        absent = self._absent_in_module(below, parts[1:], seen) if below else None
        if below and absent is None:
            return None
        module = self._module(place)
        if isinstance(module, Absence):
            return absent or module
        if absent is not None and parts[0] not in module.members:
            return absent
        return self._absent_member(module, parts, seen)

    def _absent_member(self, scope: "Object | Alias", parts: Sequence[str], seen: frozenset[str]) -> Absence | None:
        member = scope.members.get(parts[0])
        if member is None:
            return self._absent_elsewhere(scope, parts, seen)
        if not member.runtime and "__getattr__" not in scope.members:  # which loads what is named for checkers
            message = f"{scope.path}.{parts[0]} exists for type checkers only"
            return Absence(message=message, hint="name it where it is defined")
        if member.is_alias:
            return self._absent_target(member, parts[1:], seen)
        if len(parts) == 1 or member.is_attribute:
            return None  # what a value has is known when it runs
        if member.is_class:
            return self._absent_member(member, parts[1:], seen)
        return Absence(message=f"{scope.path}.{parts[0]} is a function and has no {parts[1]}", hint="")

    def _absent_target(self, alias: "Object | Alias", rest: Sequence[str], seen: frozenset[str]) -> Absence | None:
        target = str(getattr(alias, "target_path", ""))
        return self._absent([*target.split("."), *rest], seen) if self.owns(target) else None

    def _absent_elsewhere(
        self, scope: "Object | Alias", parts: Sequence[str], seen: frozenset[str]
    ) -> Absence | None:
        """Look where names come from that are not written down: wildcards, bases, a module's `__getattr__`."""
        if scope.is_module:
            if "__getattr__" in scope.members and parts[0] in _exports(scope, parts[0]):
                return None
            for name, member in scope.members.items():
                if name.endswith("/*") and self._absent_target(member, parts, seen) is None:
                    return None
        elif scope.is_class and any(self._has_base_with(base, parts, seen) for base in _bases(scope)):
            return None
        hint = self._suggest(scope, parts[0])
        return Absence(message=f"{scope.path} has no {parts[0]}", hint=hint)

    def _has_base_with(self, base: str, parts: Sequence[str], seen: frozenset[str]) -> bool:
        if self.owns(base):
            return self._absent([*base.split("."), *parts], seen) is None
        if base in _WITHOUT_NAMES:
            return False
        builtin = getattr(builtins, base, None)
        return builtin is None or hasattr(builtin, parts[0])

    def _suggest(self, scope: "Object | Alias", name: str) -> str:
        own = [member for member in scope.members if member.isidentifier()]
        if close := difflib.get_close_matches(name, own, n=1):
            return f"is it {scope.path}.{close[0]}?"
        moved = [path for path in self._all_modules(scope.path.partition(".")[0]) if path.endswith(f".{name}")]
        return f"did it move? {moved[0]} has this name" if len(moved) == 1 else ""

    def _all_modules(self, package: str) -> Iterator[str]:
        pending = [(package, self.packages[package])]
        while pending:
            dotted, folder = pending.pop()
            for name, kind in sorted(self.worktree.names(folder).items()):
                stem, suffix = posixpath.splitext(name)
                if kind is Kind.FOLDER:
                    pending.append((f"{dotted}.{name}", f"{folder}/{name}"))
                    yield f"{dotted}.{name}"
                elif suffix in _SUFFIXES and stem != "__init__":
                    yield f"{dotted}.{stem}"

    def _submodule(self, place: _Place, name: str) -> _Place | None:
        if not place.folder:
            return None
        path = f"{place.folder}/{name}"
        dotted = f"{place.name}.{name}"
        if self.worktree.has_folder(path):
            init = self._file_of(f"{path}/__init__")
            names = self.worktree.names(path)
            if init or any(item.endswith(_SUFFIXES) for item in names):
                return _Place(name=dotted, file=init, folder=path)
        file = self._file_of(path)
        return _Place(name=dotted, file=file, folder="") if file else None

    def _file_of(self, stem: str) -> str:
        return next((stem + suffix for suffix in _SUFFIXES if self.worktree.has_file(stem + suffix)), "")

    def _module(self, place: _Place) -> "Module | Absence":
        if place.name not in self._modules:
            self._modules[place.name] = self._read(place)
        return self._modules[place.name]

    def _read(self, place: _Place) -> "Module | Absence":
        import griffe

        above: griffe.Module | None = None
        *parents, own = place.name.split(".")
        for parent in parents:  # relative imports count from them
            above = griffe.Module(parent, filepath=Path(parent, "__init__.py"), parent=above)
        if not place.file:
            return griffe.Module(own, filepath=Path(own, "__init__.py"), parent=above)
        try:
            code = self.worktree.read(place.file).decode("utf-8-sig")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return griffe.visit(own, filepath=Path(place.file), code=code, parent=above)
        except OSError as error:
            reason = error.strerror or str(error)
        except SyntaxError as error:
            reason = f"line {error.lineno}: {error.msg}"
        except (ValueError, RecursionError) as error:
            reason = str(error)
        return Absence(message=f"{place.file} cannot be read: {reason}", hint="mend the module")


def _exports(module: "Object | Alias", name: str) -> frozenset[str]:
    """Return what a module says it exports; a module that says nothing may load any name."""
    exports = getattr(module, "exports", None)
    return frozenset([name] if exports is None else map(str, exports))


def _bases(scope: "Object | Alias") -> Iterator[str]:
    for base in getattr(scope, "bases", ()):
        yield base if isinstance(base, str) else str(base.canonical_path)
