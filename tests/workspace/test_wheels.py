"""The wheels in environments outside the workspace: the whole suite, alone, with the oldest dependencies, typed."""

import os
import shutil
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import dist as dist_script

pytestmark = pytest.mark.slow

KNOWN = dist_script.distributions(dist_script.ROOT)
NAMES = [one.name for one in KNOWN]

IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
assert package.__file__.startswith(sys.prefix), package.__file__
for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    if sys.argv[2] == "all" or ".testing" not in module.name:
        importlib.import_module(module.name)
"""


def wheel_of(dist: Path, name: str) -> Path:
    """Return the wheel of a distribution."""
    return next(dist.glob(f"{name.replace('-', '_')}-[0-9]*.whl"))


def requirements(dist: Path, name: str) -> list[Requirement]:
    """Return what a wheel declares, as parsed requirements."""
    with zipfile.ZipFile(wheel_of(dist, name)) as archive:
        member = next(entry for entry in archive.namelist() if entry.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(member))
    return [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]


def unpack(dist: Path, name: str, target: Path) -> Path:
    """Unpack an sdist and take the source out of it, so that its tests can only find what is installed."""
    one = next(one for one in KNOWN if one.name == name)
    with tarfile.open(next(dist.glob(f"{name.replace('-', '_')}-[0-9]*.tar.gz"))) as archive:
        archive.extractall(target, filter="data")
    (folder,) = target.iterdir()
    shutil.rmtree(folder / ("src" if (folder / "src").is_dir() else one.source))
    return folder


def pinned(*names: str) -> list[str]:
    """Return the locked versions of test tools, which have no bounds of ours to try."""
    lock = (dist_script.ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    return [line.split(" ")[0] for line in lock.splitlines() if line.partition("==")[0] in names]


@pytest.fixture(scope="session")
def oldest(shared_environment, dist, make):
    """Return an environment with the lowest versions that the bounds admit, and the locked test tools."""

    def fill(folder: Path) -> None:
        declared = [one for name in NAMES for one in requirements(dist, name) if one.name not in NAMES]
        tools = pinned("hypothesis", "pytest-timeout", "pytest-xdist", "jsonschema", "sybil")
        lines = sorted({*tools, *(f"{one.name}{one.specifier}" for one in declared)})
        wanted = folder.parent / "oldest.in"
        wanted.write_text("\n".join(lines) + "\n", encoding="utf-8")
        environment = make(folder, "--resolution", "lowest-direct", "-r", wanted)
        environment.install("--no-deps", *sorted(dist.glob("*.whl"))).ok()

    return shared_environment("oldest", fill)


def run_suite(environment, dist: Path, name: str, folder: Path, *arguments: str) -> str:
    """Run the tests that an sdist brings, against what is installed."""
    suite = unpack(dist, name, folder)
    return environment.python("-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, cwd=suite).ok()


@pytest.mark.parametrize("name", NAMES)
def test_the_suite_of_an_sdist_passes_against_the_wheels(locked, dist, tmp_path, name):
    """What passes in the checkout may lean on a file that no archive has."""
    out = run_suite(locked, dist, name, tmp_path / "sdist")
    assert " passed" in out


@pytest.mark.parametrize("name", NAMES)
def test_the_suite_passes_with_the_oldest_dependencies_that_are_admitted(oldest, dist, tmp_path, name):
    """A lower bound that was never tried is a guess, and whoever meets it cannot tell."""
    out = run_suite(oldest, dist, name, tmp_path / "sdist", *LESS)
    assert " passed" in out


@pytest.mark.parametrize("name", NAMES)
def test_each_distribution_installs_alone_and_imports_with_what_it_declares(make, dist, tmp_path, name):
    """In the workspace everything is installed, so a dependency that is not declared is not missed."""
    siblings = tmp_path / "siblings.txt"
    lines = [f"{other} @ {wheel_of(dist, other).as_uri()}\n" for other in NAMES if other != name]
    siblings.write_text("".join(lines), encoding="utf-8")
    environment = make(tmp_path / "alone", "--override", siblings, wheel_of(dist, name))
    module = name.replace("-", "_")
    environment.python("-I", "-W", "error", "-c", IMPORT_ALL, module, "own", cwd=tmp_path).ok()
    listed = environment.python("-c", LIST, cwd=tmp_path).ok().split()
    assert name in listed
    assert set(listed) & set(NAMES) == {name, *siblings_of(dist, name)}


# What tries our own machinery and no dependency: killed processes, and the contract against its mutants.
LESS = ("-m", "not slow and not crash", "-k", "not mutant")

LIST = "import importlib.metadata as m; print(*(d.metadata['Name'] for d in m.distributions()))"


def siblings_of(dist: Path, name: str) -> set[str]:
    """Return the siblings that a distribution needs, its needs' needs included."""
    direct = {one.name for one in requirements(dist, name) if one.name in NAMES and one.marker is None}
    return direct.union(*(siblings_of(dist, one) for one in direct))


def test_the_contract_installs_as_an_extra(make, dist, tmp_path):
    """A third-party backend gets the contract from the index and needs nothing else to run it."""
    siblings = tmp_path / "siblings.txt"
    siblings.write_text(f"dsh-session @ {wheel_of(dist, 'dsh-session').as_uri()}\n", encoding="utf-8")
    wheel = wheel_of(dist, "dsh-session-persistence").as_uri()
    environment = make(tmp_path / "alone", "--override", siblings, f"dsh-session-persistence[testing] @ {wheel}")
    environment.python("-I", "-W", "error", "-c", IMPORT_ALL, "dsh_session_persistence", "all", cwd=tmp_path).ok()


def other_pythons() -> list[Path]:
    """Return the interpreters of this machine that are supported and are not the one that runs the tests."""
    here = f"3.{sys.version_info.minor}"
    found: dict[str, Path] = {}
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for minor in range(11, 15):
        name = f"3.{minor}"
        managed = sorted(home.glob(f"versions/{name}.*/bin/python{name}"))
        system = Path(f"/usr/bin/python{name}")
        candidates = [*managed, *([system] if system.exists() else [])]
        if candidates and name != here:
            found[name] = candidates[-1]
    return list(found.values())


@pytest.mark.parametrize("python", other_pythons() or [None], ids=lambda path: path.name if path else "none")
def test_the_wheels_work_on_every_other_python_that_is_installed(dist, tmp_path, execute, python):
    """A wheel for any Python 3 is tried on more than the one it was built on."""
    if python is None:
        pytest.skip("no other supported Python is installed here; the matrix of the workflow has them all")
    execute(python, dist_script.ROOT / "scripts" / "smoke.py", dist, cwd=tmp_path).ok()


def test_a_strictly_typed_consumer_accepts_the_public_names(locked, tmp_path):
    """Types are part of what is published: a caller's checker sees them, not ours."""
    shutil.copytree(Path(__file__).parent / "consumer", tmp_path / "consumer")
    command = ("-m", "mypy", "--strict", "--no-incremental", "--config-file", "", "consumer")
    assert "Success" in locked.python(*command, cwd=tmp_path).ok()


def test_a_wrong_call_is_seen_by_the_consumers_checker(locked, tmp_path):
    """Without it, a package that lost its types would pass as one whose every call is right."""
    (tmp_path / "wrong.py").write_text(
        "from dsh_session import SessionStore\n\nSessionStore().create(cwd=5)\nSessionStore().create().events.x\n",
        encoding="utf-8",
    )
    done = locked.python(
        "-m", "mypy", "--strict", "--no-incremental", "--config-file", "", "wrong.py", cwd=tmp_path
    )
    assert done.code == 1
    assert "wrong.py:3: error" in done.out
    assert "wrong.py:4: error" in done.out


EXAMPLES = """
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=0), SkipParser()], patterns=["*.md"]
).pytest()
"""


def test_every_python_example_of_the_readmes_and_the_guides_runs_from_the_wheels(locked, repository, tmp_path):
    """A reader has the packages and no checkout."""
    pages = [
        page.relative_to(repository)
        for pattern in ("README.md", "packages/*/README.md", "docs/*.md", "docs/guides/**/*.md")
        for page in sorted(repository.glob(pattern))
    ]
    for page in pages:
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / page, tmp_path / page)
    (tmp_path / "conftest.py").write_text(EXAMPLES, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n", encoding="utf-8")
    out = locked.python("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path).ok()
    assert " passed" in out
