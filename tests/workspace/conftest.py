"""Fixtures of the tests that look at the repository from the outside: copies, archives, environments.

Nothing here writes into the repository. What is dear to make (a copy, the archives, an environment) is made once
for all workers of a run, under a lock, and is only read by the tests that share it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

REPOSITORY = Path(__file__).resolve().parents[2]
AUTHOR = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b.invalid", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z"}
COMMITTER = {key.replace("AUTHOR", "COMMITTER"): value for key, value in AUTHOR.items()}

# What uv and pip say when no index answers, as opposed to an index that has not what is asked for.
UNREACHABLE = re.compile(
    r"error sending request|dns error|failed to lookup address|Connection refused|Network is unreachable"
    r"|NewConnectionError|NameResolutionError|timed out|Could not connect",
    re.IGNORECASE,
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs git or uv where there is none, with the reason."""
    missing = [name for name, found in (("git", shutil.which("git")), ("uv", find_uv())) if found is None]
    for item in items:
        if missing and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=f"needs {' and '.join(missing)}"))


def find_uv() -> str | None:
    """Return the uv that set up this environment, or the one on the path."""
    local = REPOSITORY / ".tools" / "bin" / "uv"
    return os.environ.get("DSH_UV") or (str(local) if local.is_file() else shutil.which("uv"))


@dataclass(frozen=True, kw_only=True)
class Done:
    """A finished process: its exit code and what it printed, on both streams together in `out`."""

    code: int
    out: str

    def ok(self) -> str:
        """Return the output of a process that succeeded; a failed one fails the test, unless an index is away."""
        if self.code and UNREACHABLE.search(self.out):
            pytest.skip(f"no package index can be reached: {self.out.strip().splitlines()[-1]}")
        assert self.code == 0, self.out
        return self.out


def variables(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment that leads neither to this pytest nor to this Python's packages."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTEST_", "PYTHON", "COVERAGE", "GIT_"))
        and key not in {"VIRTUAL_ENV", "SOURCE_DATE_EPOCH"}
    }
    fixed = {"PYTHONUTF8": "1", "NO_COLOR": "1", "UV_NO_PROGRESS": "1", "UV_PYTHON_DOWNLOADS": "never"}
    uv = find_uv()
    return kept | fixed | AUTHOR | COMMITTER | ({"DSH_UV": uv} if uv else {}) | dict(extra or {})


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None, timeout_s: float = 280) -> Done:
    """Run a command to its end in an environment of its own."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=variables(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
    )
    return Done(code=done.returncode, out=done.stdout)


@dataclass(frozen=True, kw_only=True)
class Environment:
    """An environment outside the workspace, known by its folder."""

    folder: Path

    @property
    def programs(self) -> Path:
        """The folder of its programs."""
        return self.folder / ("Scripts" if sys.platform == "win32" else "bin")

    def python(self, *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> Done:
        """Run its Python."""
        return run(self.programs / "python", *arguments, cwd=cwd, env=env)

    def install(self, *arguments: str | Path) -> Done:
        """Install into it with uv; what is installed is what the arguments say and nothing else."""
        command = (
            find_uv() or "uv",
            "pip",
            "install",
            "--quiet",
            "--no-config",
            "--python",
            self.programs / "python",
        )
        return run(*command, *arguments, cwd=self.folder)


def make_environment(folder: Path, *arguments: str | Path) -> Environment:
    """Make an environment and install into it."""
    uv = find_uv() or "uv"
    run(uv, "venv", "--quiet", "--no-project", "--python", sys.executable, folder, cwd=folder.parent).ok()
    environment = Environment(folder=folder)
    if arguments:
        environment.install(*arguments).ok()
    return environment


Once = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Return a maker of folders that all workers of a run share: the first to ask makes it, the others wait."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "workspace"
    shared.mkdir(exist_ok=True)

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        folder, stamp = shared / name, shared / f"{name}.done"
        with FileLock(shared / f"{name}.lock"):
            if not stamp.exists():
                try:
                    fill(folder)
                except BaseException as error:
                    # Those who wait learn the outcome, instead of paying for the same failure again.
                    stamp.write_text(f"{'skip' if isinstance(error, pytest.skip.Exception) else 'fail'} {error}")
                    raise
                stamp.touch()
            verdict, _, reason = stamp.read_text().partition(" ")
        if verdict:
            (pytest.skip if verdict == "skip" else pytest.fail)(f"{name} could not be made: {reason}")
        return folder

    return make


@pytest.fixture(scope="session")
def repository(once: Once) -> Path:
    """Return a copy of the repository as it stands, as a git repository with one commit. Not to be changed."""

    def fill(folder: Path) -> None:
        listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=REPOSITORY).ok()
        for name in filter(None, listed.split("\0")):
            source, target = REPOSITORY / name, folder / name
            if source.is_symlink() or source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target, follow_symlinks=False)
        run("git", "init", "--quiet", "--initial-branch", "main", cwd=folder).ok()
        run("git", "add", "--all", cwd=folder).ok()
        run("git", "commit", "--quiet", "-m", "A copy", cwd=folder).ok()

    return once("repository", fill)


def clone_of(repository: Path, target: Path) -> Path:
    """Clone a repository of this machine."""
    run("git", "clone", "--quiet", repository, target, cwd=target.parent).ok()
    return target


@pytest.fixture
def clone(repository: Path, tmp_path: Path) -> Path:
    """Return a clone that the test may change."""
    return clone_of(repository, tmp_path / "clone")


@pytest.fixture(scope="session")
def releasable_origin(once: Once, repository: Path) -> Path:
    """Return a repository that could be released: current records, a fragment, a clean tree. Not to be changed."""

    def fill(folder: Path) -> None:
        clone_of(repository, folder)
        run(sys.executable, "scripts/api_surface.py", cwd=folder).ok()
        fragment = folder / "changelog.d" / "forks.feature.md"
        fragment.write_text("`dsh-session`: forks close the turn that is open.\n", encoding="utf-8")
        run("git", "add", "--all", cwd=folder).ok()
        run("git", "commit", "--quiet", "-m", "Ready", cwd=folder).ok()

    return once("releasable", fill)


@pytest.fixture
def releasable(releasable_origin: Path, tmp_path: Path) -> Path:
    """Return a clone of it that the test may change."""
    return clone_of(releasable_origin, tmp_path / "clone")


@pytest.fixture(scope="session")
def dist(once: Once, repository: Path) -> Path:
    """Return the folder of the archives, built as `make dist` builds them."""

    def fill(folder: Path) -> None:
        run(sys.executable, "scripts/dist.py", "--out", folder, cwd=repository).ok()

    return once("dist", fill)


@pytest.fixture(scope="session")
def shared_environment(once: Once) -> Callable[[str, Callable[[Path], None]], Environment]:
    """Return a maker of environments that all workers share and that no test changes."""
    return lambda name, fill: Environment(folder=once(name, fill))


@pytest.fixture(scope="session")
def locked(once: Once, dist: Path) -> Environment:
    """Return an environment with the wheels and with every locked tool and dependency. Not to be changed."""

    def fill(folder: Path) -> None:
        lock = REPOSITORY / "requirements" / "dev.txt"
        environment = make_environment(folder, "--require-hashes", "--no-deps", "-r", lock)
        environment.install("--no-deps", *sorted(dist.glob("*.whl"))).ok()

    return Environment(folder=once("locked", fill))


@pytest.fixture(scope="session")
def make() -> Callable[..., Environment]:
    """Return the maker of environments."""
    return make_environment


@pytest.fixture(scope="session")
def execute() -> Callable[..., Done]:
    """Return the runner of commands."""
    return run
