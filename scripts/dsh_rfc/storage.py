"""How git stores the files of a repository, read from git's own files.

Owns asking the disk for it, at most once in a run and only when a hash is wanted. Follows no `include` of a
configuration. Refuses to call git.

Flow: folder -> `.git` upwards -> configuration and attributes outside of the tree -> `Storage`; with the attributes
in the tree, path -> hash.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from dsh_rfc.attributes import AttributeFile, attributes_of, read_attributes
from dsh_rfc.blob import Algorithm, as_stored, blob_hash
from dsh_rfc.tree import Kind
from dsh_rfc.worktree import Worktree

ATTRIBUTES = ".gitattributes"
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(\s+"[^"]*")?\s*\]\s*(.*)')
_KEY = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?")
_TRUE = {"", "true", "yes", "on", "1"}


@dataclass(frozen=True, kw_only=True)
class Storage:
    """What a repository says of how its files are stored.

    Attributes:
        algorithm: The hash function of its objects.
        autocrlf: Whether git converts line ends of what it guesses to be text.
        prefix: Where the folder that paths count from stands in the work tree; empty when it is the top.
        weaker: Attributes that those in the tree override, weakest first.
        stronger: Attributes that override those in the tree.
    """

    algorithm: Algorithm = "sha1"
    autocrlf: bool = False
    prefix: str = ""
    weaker: tuple[AttributeFile, ...] = ()
    stronger: tuple[AttributeFile, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Hashes:
    """The hashes of the files of one work tree, each computed at most once."""

    worktree: Worktree
    storage_of: Callable[[], Storage]
    _known: dict[str, str | None] = field(default_factory=dict, repr=False, compare=False)
    _files: dict[str, AttributeFile | None] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def storage(self) -> Storage:
        """How the files are stored."""
        return self.storage_of()

    @property
    def algorithm(self) -> Algorithm:
        """The hash function."""
        return self.storage.algorithm

    def of(self, path: str) -> str | None:
        """Return the hash under which git would store the file; None when it cannot be read."""
        if path not in self._known:
            try:
                data = self.worktree.read(path)
            except (OSError, KeyError):
                self._known[path] = None
            else:
                files = (*self.storage.weaker, *self._on_the_way(path), *self.storage.stronger)
                attributes = attributes_of(_join(self.storage.prefix, path), files)
                stored = as_stored(data, attributes, autocrlf=self.storage.autocrlf)
                self._known[path] = blob_hash(stored, self.storage.algorithm)
        return self._known[path]

    def _on_the_way(self, path: str) -> Iterator[AttributeFile]:
        parts = path.split("/")[:-1]
        for depth in range(len(parts) + 1):
            folder = "/".join(parts[:depth])
            if folder not in self._files:
                self._files[folder] = self._read(folder)
            if (file := self._files[folder]) is not None:
                yield file

    def _read(self, folder: str) -> AttributeFile | None:
        if self.worktree.names(folder).get(ATTRIBUTES) is not Kind.FILE:
            return None
        try:
            data = self.worktree.read(_join(folder, ATTRIBUTES))
        except OSError:
            return None
        return read_attributes(data.decode("utf-8", errors="replace"), _join(self.storage.prefix, folder))


def read_storage(base: Path) -> Storage:
    """Return how git stores files below a folder; git's defaults where there is no repository."""
    top = next((folder for folder in (base, *base.parents) if (folder / ".git").exists()), None)
    if top is None:
        return Storage()
    git = _common_folder(top / ".git")
    settings: dict[str, str] = {}
    for file in (*_outer_configurations(), git / "config"):
        settings.update(_read_configuration(file))
    prefix = base.relative_to(top).as_posix() if base != top else ""
    above = [top, *(top.joinpath(*Path(prefix).parts[:depth]) for depth in range(1, len(Path(prefix).parts)))]
    weaker = [_attribute_file(_users_attributes(settings), "")]
    if prefix:
        weaker += [_attribute_file(folder / ATTRIBUTES, _below(folder, top)) for folder in above]
    algorithm: Algorithm = "sha256" if settings.get("extensions.objectformat", "").lower() == "sha256" else "sha1"
    return Storage(
        algorithm=algorithm,
        autocrlf=settings.get("core.autocrlf", "false").lower() in {*_TRUE, "input"},
        prefix=prefix,
        weaker=tuple(item for item in weaker if item is not None),
        stronger=tuple(item for item in [_attribute_file(git / "info" / "attributes", "")] if item is not None),
    )


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _below(folder: Path, top: Path) -> str:
    return "" if folder == top else folder.relative_to(top).as_posix()


def _common_folder(git: Path) -> Path:
    """Return the folder that the work trees of a repository have in common."""
    if git.is_dir():
        return git
    own = git.parent / _text(git).removeprefix("gitdir:").strip()
    common = _text(own / "commondir").strip()
    return own / common if common else own


def _outer_configurations() -> Iterator[Path]:
    if os.environ.get("GIT_CONFIG_NOSYSTEM", "").lower() not in _TRUE - {""}:
        yield Path(os.environ.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"))
    if "GIT_CONFIG_GLOBAL" in os.environ:
        yield Path(os.environ["GIT_CONFIG_GLOBAL"])
    else:
        yield _users_folder() / "config"
        yield Path("~/.gitconfig").expanduser()


def _users_folder() -> Path:
    given = os.environ.get("XDG_CONFIG_HOME")
    return (Path(given) if given else Path("~/.config").expanduser()) / "git"


def _users_attributes(settings: Mapping[str, str]) -> Path:
    given = settings.get("core.attributesfile")
    return Path(given).expanduser() if given else _users_folder() / "attributes"


def _attribute_file(path: Path, folder: str) -> AttributeFile | None:
    text = _text(path)
    return read_attributes(text, folder) if text else None


def _read_configuration(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the settings of a file by lower-case section and name, in order."""
    section = ""
    for raw in _text(path).splitlines():
        line = raw
        if opened := _SECTION.match(line):
            section, line = opened[1].lower() + (opened[2] or ""), opened[3]
        if line.lstrip().startswith(("#", ";")):
            continue
        if key := _KEY.match(line):
            value = re.split(r"\s[#;]", key[2] or "", maxsplit=1)[0].strip().strip('"')
            yield f"{section}.{key[1].lower()}", value


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, RuntimeError):  # expanduser raises the latter for a user without a home
        return ""
