"""Fixtures of the gates' tests: a corpus in memory, the command in this process, the real corpus."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dsh_rfc import cli
from dsh_rfc.configuration import OWN_FILE, overlay
from dsh_rfc.contract import Contract
from dsh_rfc.corpus import Corpus
from dsh_rfc.tree import Entry, Kind
from dsh_rfc.worktree import of_entries

PROPOSED = """# RFC: {title}

Status: proposed

## Problem

A cold start takes four seconds.

## Proposal

Keep one process warm.

## Alternatives considered

**Start faster.** Two seconds are the floor.

## Acceptance criteria

A start takes less than a second.

## Risks

A warm process costs memory.
"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run of the command left behind."""

    code: int
    out: str
    err: str


RunCommand = Callable[..., Outcome]


@pytest.fixture
def proposed() -> Callable[[str], str]:
    """Return a maker of complete proposed RFCs."""
    return lambda title: PROPOSED.format(title=title)


@pytest.fixture
def corpus_of() -> Callable[..., Corpus]:
    """Return a maker of corpora from paths and texts, folders included.

    With a `dsh-rfc.toml` among them the paths are those of a repository, otherwise those of a record.
    """

    def make(files: Mapping[str, str | bytes], contract: Contract | None = None) -> Corpus:
        entries: dict[str, Entry] = {}
        for path, text in files.items():
            data = text if isinstance(text, bytes) else text.encode()
            entries[path] = Entry(path=path, data=data)
            parts = path.split("/")
            for depth in range(1, len(parts)):
                folder = "/".join(parts[:depth])
                entries[folder] = Entry(path=folder, kind=Kind.FOLDER)
        ordered = tuple(entries[path] for path in sorted(entries))
        if OWN_FILE not in files:
            return Corpus(contract=contract or Contract(), entries=ordered)
        configured = overlay(tomllib.loads(str(files[OWN_FILE])), source=OWN_FILE)
        top = f"{configured.root}/"
        inside = tuple(
            replace(entry, path=entry.path.removeprefix(top)) for entry in ordered if entry.path.startswith(top)
        )
        around = of_entries(ordered, str)
        return Corpus(contract=configured, entries=inside, record=configured.root, around=around)

    return make


@pytest.fixture
def write_tree(tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Path]:
    """Return a writer of files below a fresh folder."""

    def write(files: Mapping[str, str | bytes]) -> Path:
        for path, text in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> RunCommand:
    """Return a runner of `dsh-rfc` in this process, from any folder."""

    def run(*arguments: str | Path, cwd: Path | None = None) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["dsh-rfc", *map(str, arguments)])
        if cwd is not None:
            monkeypatch.chdir(cwd)
        capfdbinary.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        captured = capfdbinary.readouterr()
        assert isinstance(exit_info.value.code, int)
        return Outcome(code=exit_info.value.code, out=captured.out.decode(), err=captured.err.decode())

    return run


@pytest.fixture
def real_corpus() -> Path:
    """Return the folder of real RFCs, or skip."""
    folder = os.environ.get("DSH_CORPUS")
    if not folder:
        pytest.skip("DSH_CORPUS names no corpus")
    return Path(folder)


@pytest.fixture(scope="session")
def copy_repository() -> Callable[[Path], Path]:
    """Return a maker of copies of what git tracks here or would track, each a git repository without commits."""
    top = Path(__file__).resolve().parents[2]

    def copy(folder: Path) -> Path:
        command = ["git", "-C", str(top), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0"):
            source, target = top / name, folder / name
            if name and not name.startswith("tests/rfc/cases/") and source.is_file() and not source.is_symlink():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        subprocess.run(["git", "init", "-q", str(folder)], capture_output=True, check=True)
        return folder

    return copy
