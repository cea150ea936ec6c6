"""A record on the disk: folder, contract, corpus, and how its paths are shown.

Owns where the caller stands, which record is meant, and turning paths of findings into paths that can be
opened from there. Refuses to judge.

Flow: `--root` or the repository -> contract -> tree -> `Corpus`.
"""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dsh_rfc.configuration import Repository, find_repository
from dsh_rfc.contract import Contract
from dsh_rfc.corpus import Corpus
from dsh_rfc.errors import PathUnknown, RecordMissing
from dsh_rfc.formats import printable
from dsh_rfc.storage import read_storage
from dsh_rfc.tree import read_tree
from dsh_rfc.worktree import of_folder, of_repository


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record that was read.

    Attributes:
        base: The folder that the paths of the corpus count from.
        folder: The record itself.
        corpus: What stands in it.
        is_rooted: Whether the caller named it, rather than the repository.
    """

    base: Path
    folder: Path
    corpus: Corpus
    is_rooted: bool

    @classmethod
    def open(cls, root: Path | None) -> "Record":
        """Return the record that is named, or the one of the repository around the working folder.

        Raises:
            RecordMissing: There is none.
            ContractInvalid: The configuration is wrong.
        """
        if root is not None:
            contract = Contract()
            entries = read_tree(root, max_file_bytes=contract.max_file_bytes)
            base, record = _repository_around(Path(os.path.abspath(root)), contract.root)  # noqa: PTH100 - links stay as the caller wrote them
            around = of_folder(base, inside=record, is_bounded=bool(record), max_file_bytes=contract.max_file_bytes)
            storage_of = partial(read_storage, base)
            corpus = Corpus(contract=contract, entries=entries, record=record, around=around, storage_of=storage_of)
            return cls(base=base, folder=root, corpus=corpus, is_rooted=True)
        return cls.of(find_repository(Path.cwd()))

    @classmethod
    def of(cls, repository: Repository) -> "Record":
        """Return the record of a repository.

        Raises:
            RecordMissing: There is none.
        """
        folder = repository.folder / repository.contract.root
        if not os.path.isdir(folder):  # noqa: PTH112 - a folder that may not be entered is an answer here too
            msg = f"{folder} is no folder that you may enter; name the record with --root or in the configuration"
            raise RecordMissing(msg)
        entries = read_tree(folder, max_file_bytes=repository.contract.max_file_bytes)
        contract = repository.contract
        around = of_repository(repository.folder, exclude=contract.exclude, max_file_bytes=contract.max_file_bytes)
        storage_of = partial(read_storage, repository.folder)
        corpus = Corpus(
            contract=contract, entries=entries, record=contract.root, around=around, storage_of=storage_of
        )
        return cls(base=repository.folder, folder=folder, corpus=corpus, is_rooted=False)

    def display(self, path: str) -> str:
        """Return the path as it can be opened from where the caller stands."""
        absolute = os.path.join(self.base, path)  # noqa: PTH118 - pathlib would drop a `..` that leaves a link
        try:
            shown = os.path.relpath(absolute)
        except ValueError:  # another drive
            shown = absolute
        return printable(shown.replace(os.sep, "/"))

    def resolve(self, path: Path) -> str:
        """Return how the corpus names a path on the command line; empty for all of it.

        Raises:
            PathUnknown: It does not exist, or is outside of what is judged.
        """
        if not os.path.lexists(path):
            msg = f"{path} does not exist"
            raise PathUnknown(msg)
        for base, given in (
            (self.base, Path(os.path.abspath(path))),  # noqa: PTH100 - a link is judged, not its target
            (self.base.resolve(), path.parent.resolve() / path.name if path.name else path.resolve()),
        ):
            if base == given or base.is_relative_to(given):
                return ""
            if given.is_relative_to(base):
                return given.relative_to(base).as_posix()
        msg = f"{path} is outside of {self.base}"
        raise PathUnknown(msg)


def _repository_around(root: Path, usual: str) -> tuple[Path, str]:
    """Return the repository that a record in the usual place stands in and its path there, else the record."""
    parts = usual.split("/")
    if root.parts[-len(parts) :] == tuple(parts):
        return root.parents[len(parts) - 1], usual
    return root, ""
