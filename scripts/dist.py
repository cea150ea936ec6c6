"""Build sdist and wheel of every distribution, with the same bytes for the same commit.

Owns what a published archive contains and what must be true of it. Refuses to choose versions (release.py) and
to install anything (smoke.py). Flow: commit -> export -> one staged project a distribution -> hatchling ->
archives -> checks -> a table with sizes and hashes.

An archive is built from the commit, never from the folder in which one works, so neither an untracked file nor an
unfinished change gets in; `--tree` builds from the files as they stand, to try something before it is committed.
A staged project is the member's folder and, so that an sdist can be tested by whoever packages it, its tests
from `tests/<noun>` with a `pytest.ini` made from the root's configuration. Relative links of a README lead
nowhere on an index and are staged as links to the repository at the version's tag.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from packaging.metadata import Metadata

ROOT = Path(__file__).resolve().parent.parent
GIT = shutil.which("git") or "git"

# Files of the tests of one distribution that those of another run as well.
SHARED_TESTS = {"dsh-session-persistence-sqlite": (Path("tests/jsonl/crashing.py"),)}


class DistFailure(Exception):
    """Something that must be true of what is published is not."""


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """One published project: where it lies in the repository and what it is called outside of it.

    Attributes:
        name: The name on an index, such as `dsh-session`.
        folder: The project's folder, relative to the repository.
        source: The folder of the import package, relative to the repository.
        tests: The folder of its tests, relative to the repository.
    """

    name: str
    folder: Path
    source: Path
    tests: Path

    @property
    def module(self) -> str:
        """The import name."""
        return self.source.name


def distributions(root: Path) -> tuple[Distribution, ...]:
    """Return the distributions of a repository: the members in order of their folders, then the root project."""
    members = [_member(path.parent, root) for path in sorted(root.glob("packages/*/pyproject.toml"))]
    gates = Distribution(
        name=str(project(root)["name"]),
        folder=Path(),
        source=Path("scripts/dsh_rfc"),
        tests=Path("tests/rfc"),
    )
    return (*members, gates)


def project(folder: Path) -> dict[str, Any]:
    """Return the `project` table of a folder's pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def _member(folder: Path, root: Path) -> Distribution:
    name = str(project(folder)["name"])
    return Distribution(
        name=name,
        folder=folder.relative_to(root),
        source=folder.relative_to(root) / "src" / name.replace("-", "_"),
        tests=Path("tests") / folder.name,
    )


def git(*arguments: str, root: Path = ROOT) -> str:
    """Return what a git command prints, without the last newline."""
    done = subprocess.run([GIT, *arguments], cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.rstrip("\n")


def export(root: Path, ref: str | None, target: Path) -> None:
    """Write a commit's files into an empty folder, or the files of the tree as they stand when there is no ref."""
    if ref is not None:
        done = subprocess.run([GIT, "archive", ref], cwd=root, check=True, stdout=subprocess.PIPE)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(target, filter="data")
        return
    for name in git("ls-files", "-z", "--cached", "--others", "--exclude-standard", root=root).split("\0"):
        if name and (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, target / name, follow_symlinks=False)


def stage(distribution: Distribution, tree: Path, target: Path) -> None:
    """Lay out one project as its sdist shall hold it."""
    if distribution.folder == Path():
        target.mkdir()
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(tree / name, target / name)
        shutil.copytree(tree / distribution.source, target / distribution.source, symlinks=True)
    else:
        shutil.copytree(tree / distribution.folder, target, symlinks=True)
        (target / "pytest.ini").write_text(_pytest_ini(tree, distribution), encoding="utf-8")
    if (tree / distribution.tests).is_dir():
        shutil.copytree(tree / distribution.tests, target / distribution.tests, symlinks=True)
    for shared in (Path("tests/conftest.py"), *SHARED_TESTS.get(distribution.name, ())):
        if (tree / shared).is_file():
            (target / shared).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tree / shared, target / shared)
    readme = target / "README.md"
    table = project(target)
    base = f"{table['urls']['Source']}/blob/v{table['version']}"
    readme.write_text(
        absolute_links(readme.read_text(encoding="utf-8"), base, distribution.folder), encoding="utf-8"
    )


def absolute_links(text: str, base: str, folder: Path) -> str:
    """Return a README whose relative links lead into the repository at `base`; fragments and URLs stay."""
    for href in sorted(_hrefs(text)):
        if "://" in href or href.startswith(("#", "mailto:", "/")):
            continue
        place = os.path.normpath(folder / href).replace(os.sep, "/")
        text = text.replace(f"]({href})", f"]({base}/{place})")
    return text


def _hrefs(text: str) -> Iterator[str]:
    for block in MarkdownIt("commonmark").parse(text):
        for token in block.children or ():
            if token.type == "link_open":
                yield str(token.attrGet("href"))


def _pytest_ini(tree: Path, distribution: Distribution) -> str:
    """Return the root's pytest configuration for the tests of one distribution, in the oldest form pytest reads."""
    root: dict[str, Any] = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))
    options: dict[str, Any] = root["tool"]["pytest"]["ini_options"] | {"testpaths": [distribution.tests.as_posix()]}
    lines = ["[pytest]"]
    for key, value in options.items():
        values = value if isinstance(value, list) else [str(value).lower() if isinstance(value, bool) else value]
        lines.append(f"{key} =" + "".join(f"\n    {item}" for item in values))
    return "\n".join(lines) + "\n"


def build(root: Path, ref: str | None, out: Path) -> list[Path]:
    """Build every distribution into `out`.

    Args:
        root: A git working tree.
        ref: The commit to build, or None for the files as they stand.
        out: The folder for the archives, made when it is missing; archives of earlier builds in it are removed.

    Returns:
        The archives, sorted by name.

    Raises:
        DistFailure: A build failed, or an archive lacks what it must have.
    """
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("*.whl"), *out.glob("*.tar.gz")):
        old.unlink()
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct", ref or "HEAD", root=root)
    with tempfile.TemporaryDirectory(prefix="dsh-dist-") as scratch:
        tree = Path(scratch) / "tree"
        tree.mkdir()
        export(root, ref, tree)
        known = distributions(tree)
        for distribution in known:
            stage(distribution, tree, Path(scratch) / distribution.name)
        with ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(lambda one: _build_one(Path(scratch) / one.name, out, epoch), known))
    check(known, out)
    return sorted((*out.glob("*.whl"), *out.glob("*.tar.gz")))


def _build_one(staged: Path, out: Path, epoch: str) -> None:
    """Build the sdist, and the wheel from that sdist, with the build backend of the running environment."""
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(staged)],
        env=os.environ | {"SOURCE_DATE_EPOCH": epoch, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DistFailure(f"{staged.name} does not build:\n{done.stdout}")


def check(known: Iterable[Distribution], out: Path) -> None:
    """Refuse archives whose metadata or content is not complete, with everything that is wrong with all of them."""
    faults = [f"{one.name}: {fault}" for one in known for fault in archive_faults(one, out)]
    if faults:
        raise DistFailure("\n".join(faults))


def archive_faults(distribution: Distribution, out: Path) -> Iterator[str]:
    """Yield what the two archives of a distribution lack."""
    stem = distribution.name.replace("-", "_")
    wheels, sdists = list(out.glob(f"{stem}-[0-9]*.whl")), list(out.glob(f"{stem}-[0-9]*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        yield f"one wheel and one sdist expected, found {[path.name for path in wheels + sdists]}"
        return
    yield from wheel_faults(distribution, wheels[0])
    yield from sdist_faults(distribution, sdists[0])


def wheel_faults(distribution: Distribution, wheel: Path) -> Iterator[str]:
    """Yield what a wheel lacks or has too much."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = next(name.split("/")[0] for name in names if name.endswith(".dist-info/METADATA"))
        raw = archive.read(f"{info}/METADATA")
    if f"{distribution.module}/py.typed" not in names:
        yield "the wheel has no py.typed, so type checkers ignore its annotations"
    if f"{info}/licenses/LICENSE" not in names:
        yield "the wheel does not hold the licence"
    yield from (
        f"a stray file in the wheel: {n}" for n in names if n.split("/")[0] not in {distribution.module, info}
    )
    yield from (f"a left-over in the wheel: {n}" for n in names if "__pycache__" in n)
    yield from metadata_faults(raw)


def metadata_faults(raw: bytes) -> Iterator[str]:
    """Yield what core metadata lacks: fields that a reader of an index relies on."""
    metadata = Metadata.from_email(raw, validate=True)
    if not metadata.summary:
        yield "no description in one line"
    if not metadata.description or len(metadata.description) < 200:
        yield "the README says next to nothing"
    if metadata.description_content_type != "text/markdown":
        yield f"the README is of type {metadata.description_content_type}"
    if metadata.license_expression != "MIT":
        yield f"the licence is {metadata.license_expression}"
    if str(metadata.requires_python) != ">=3.11":
        yield f"it requires Python {metadata.requires_python}"
    for label in ("Documentation", "Source", "Issues", "Changelog"):
        if label not in (metadata.project_urls or {}):
            yield f"no project URL {label}"
    classifiers = metadata.classifiers or []
    wanted = ["Typing :: Typed", *(f"Programming Language :: Python :: 3.{minor}" for minor in range(11, 15))]
    yield from (f"no classifier {classifier}" for classifier in wanted if classifier not in classifiers)
    for line in message_from_bytes(raw).get_all("Requires-Dist", []):
        if " @ " in line:
            yield f"a dependency by address cannot be published: {line}"


def sdist_faults(distribution: Distribution, sdist: Path) -> Iterator[str]:
    """Yield what an sdist lacks to be built and tested by someone else."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    yield from (
        f"the sdist lacks {n}" for n in ("pyproject.toml", "README.md", "LICENSE", "PKG-INFO") if n not in names
    )
    tests = [name for name in names if name.startswith(f"{distribution.tests.as_posix()}/test_")]
    if not tests:
        yield "the sdist holds no tests"
    if distribution.folder != Path() and "pytest.ini" not in names:
        yield "the sdist lacks the configuration of its tests"


def main() -> int:
    """Build into dist/ and print a table with the size and hash of each archive."""
    parser = argparse.ArgumentParser(description="Build sdist and wheel of every distribution, reproducibly.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the archives (default: dist)")
    parser.add_argument("--ref", default="HEAD", help="commit to build (default: HEAD)")
    parser.add_argument("--tree", action="store_true", help="build the files as they stand instead of a commit")
    arguments = parser.parse_args()
    ref: str | None = None if arguments.tree else arguments.ref
    if ref is not None and git("status", "--porcelain"):
        print(
            f"the tree differs from the commit; what is built is {git('describe', '--always', ref)}",
            file=sys.stderr,
        )
    try:
        archives = build(ROOT, ref, arguments.out.resolve())
    except DistFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    for archive in archives:
        data = archive.read_bytes()
        print(f"{hashlib.sha256(data).hexdigest()}  {len(data):>8}  {archive.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
