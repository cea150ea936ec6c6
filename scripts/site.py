# ruff: noqa: A005 - a command that nobody imports is named for what it makes
"""Build the documentation site, or serve it on loopback with live reload.

Owns what surrounds the builder: fetching the diagram library, running one builder per language, and putting the
results together. Refuses to prepare pages: `dsh_rfc.stage` does.

Flow: diagram library -> staged trees -> one strict build per language, side by side -> one folder.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIN = Path(__file__).with_name("mermaid.json")
WATCHED = ("docs", "packages", "scripts/dsh_rfc", "mkdocs.yml")
LANGUAGES = {"en": "", "zh": "zh"}
_NPM_TIMEOUT_S = 90
# The builder keeps what it makes until it ends, so looking for garbage finds little and takes long.
_BUILDER = "import gc; gc.set_threshold(200_000, 20, 100); from mkdocs.__main__ import cli; cli()"


class SiteNotBuilt(Exception):
    """The site could not be built; the message is what the builder said."""


@dataclass(frozen=True, kw_only=True)
class Built:
    """What a build took, in seconds, and what a reader should know."""

    staged_s: float
    total_s: float
    pages: dict[str, int]
    notes: tuple[str, ...]


def diagram_library(cache: Path) -> Path | None:
    """Return the diagram library, from the cache or from npm; nothing where npm cannot get it.

    Raises:
        SiteNotBuilt: What npm brought is not what is pinned.
    """
    pin = json.loads(PIN.read_text(encoding="utf-8"))
    cached = cache / f"{pin['name']}-{pin['version']}.min.js"
    if cached.is_file():
        return cached
    npm = shutil.which("npm")
    if npm is None:
        return None
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        command = [npm, "pack", f"{pin['name']}@{pin['version']}", "--pack-destination", folder]
        options = ["--ignore-scripts", "--fetch-retries=1", "--fetch-timeout=20000", "--loglevel=error"]
        try:
            subprocess.run(
                [*command, *options], cwd=folder, capture_output=True, check=True, timeout=_NPM_TIMEOUT_S
            )
        except (OSError, subprocess.SubprocessError):
            return None
        (archive,) = Path(folder).glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if f"sha512-{digest}" != pin["integrity"]:
            msg = f"{pin['name']} {pin['version']} is not the file that {PIN.name} pins"
            raise SiteNotBuilt(msg)
        with tarfile.open(archive) as package:
            member = package.extractfile(pin["file"])
            if member is None:
                msg = f"{pin['name']} {pin['version']} has no {pin['file']}"
                raise SiteNotBuilt(msg)
            unpacked = Path(folder) / "library.js"
            unpacked.write_bytes(member.read())
        unpacked.replace(cached)
    return cached


def build(root: Path, out: Path, *, with_diagrams: bool = True) -> Built:
    """Stage and build everything into `out/site`.

    Args:
        root: The repository.
        out: Folder for what is staged, cached and built.
        with_diagrams: Whether to get the diagram library.

    Raises:
        SiteNotBuilt: A builder warned or failed.
        CannotJudge: Staging could not read the documents.
    """
    from dsh_rfc.cli import cli
    from dsh_rfc.configuration import find_repository
    from dsh_rfc.stage.staging import stage

    started = time.perf_counter()
    with _alone(out):
        library = diagram_library(out / "cache") if with_diagrams else None
        before = time.perf_counter()
        staged = stage(find_repository(root), out / "stage", command=cli, diagram_script=library)
        staged_s = time.perf_counter() - before
        _run_builders(out / "stage")
        _assemble(out)
    notes = []
    if library is None:
        pin = json.loads(PIN.read_text(encoding="utf-8"))
        shown = "diagrams are shown as their source"
        notes.append(
            f"{pin['name']} {pin['version']} was not to be had from npm: {shown}" if with_diagrams else shown
        )
    return Built(
        staged_s=staged_s,
        total_s=time.perf_counter() - started,
        pages=dict(staged.pages),
        notes=tuple(notes),
    )


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Wait until no other build writes to the folder."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # no such locks on this system; two builds at once are the caller's affair
        yield
        return
    with (out / ".site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run_builders(staged: Path) -> None:
    # The theme greets with a notice of its own end of life, which docs/rfc records; this is its documented switch.
    environment = os.environ | {
        "NO_MKDOCS_2_WARNING": "1",
        "PYTHONUTF8": "1",
        "PYTHONPYCACHEPREFIX": str(staged.parent / "cache" / "bytecode"),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling the builder takes longer than a hundred pages
    running = {
        tag: subprocess.Popen(
            [
                sys.executable,
                "-c",
                _BUILDER,
                "build",
                "--strict",
                "--config-file",
                str(staged / tag / "mkdocs.yml"),
            ],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        for tag in LANGUAGES
    }
    failed = []
    for tag, process in running.items():
        output, _ = process.communicate()
        if process.returncode or "WARNING" in output:
            kept = [line for line in output.splitlines() if not line.startswith("INFO")]
            failed.append(f"{tag}: mkdocs exit {process.returncode}\n" + "\n".join(kept))
    if failed:
        raise SiteNotBuilt("\n".join(failed))


def _assemble(out: Path) -> None:
    """Put the languages into one folder, lay the Markdown sources beside the pages, and put it in place at once."""
    ready = out / "site.new"
    shutil.rmtree(ready, ignore_errors=True)
    for tag, prefix in LANGUAGES.items():
        built = out / "stage" / tag / "site"
        shutil.move(built, ready / prefix if prefix else ready)
        shutil.copytree(out / "stage" / tag / "public", ready / prefix, dirs_exist_ok=True)
    (ready / ".nojekyll").touch()
    old = out / "site.old"
    shutil.rmtree(old, ignore_errors=True)
    if (out / "site").exists():
        (out / "site").rename(old)
    ready.rename(out / "site")
    shutil.rmtree(old, ignore_errors=True)


def serve(root: Path, out: Path, port: int) -> None:
    """Build, serve on loopback, and build again after each change; a failed build leaves the last good site."""
    from mkdocs.livereload import LiveReloadServer

    def rebuild() -> None:
        try:
            _say(build(root, out))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a page, the server goes on
            print(f"not built: {error}", file=sys.stderr, flush=True)

    _say(build(root, out))
    server = LiveReloadServer(builder=rebuild, host="127.0.0.1", port=port, root=str(out / "site"))
    for path in WATCHED:
        if (root / path).exists():
            server.watch(str(root / path))
    print(f"serving on {server.url} (stop with Ctrl-C)", flush=True)
    try:
        server.serve()  # type: ignore[no-untyped-call] # the builder annotates it no further
    except KeyboardInterrupt:
        print("stopped", flush=True)
    finally:
        server.shutdown()


def _say(built: Built) -> None:
    pages = ", ".join(f"{number} pages in {tag}" for tag, number in built.pages.items())
    print(f"{pages}; staged in {built.staged_s:.1f} s, built in {built.total_s:.1f} s", flush=True)
    for note in built.notes:
        print(f"note: {note}", flush=True)


def main() -> int:
    """Build or serve; exit 1 when the site is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["build", "serve"])
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--out", type=Path, help="folder for what is staged and built (default: build)")
    parser.add_argument("--port", type=int, default=8000, help="port to serve on")
    parser.add_argument("--without-diagrams", action="store_true", help="do not ask npm for the diagram library")
    chosen = parser.parse_args()
    root = chosen.root.resolve()
    out = (chosen.out or root / "build").resolve()
    from dsh_rfc.errors import CannotJudge

    try:
        if chosen.action == "serve":
            serve(root, out, chosen.port)
        else:
            _say(build(root, out, with_diagrams=not chosen.without_diagrams))
    except (SiteNotBuilt, CannotJudge) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
