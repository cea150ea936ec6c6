"""Names in documents: what the readers of source, shell and fences make of a real repository and of anything."""

import importlib
import inspect
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dsh_rfc.check import check_record
from dsh_rfc.configuration import find_repository
from dsh_rfc.document import Document
from dsh_rfc.fences import fault_in, read_fences
from dsh_rfc.marks import read_marks
from dsh_rfc.record import Record
from dsh_rfc.references import path_absence, path_in, read_spans, symbol_in
from dsh_rfc.shell import ShellUnreadable, read_commands
from dsh_rfc.symbols import Symbols
from dsh_rfc.worktree import Worktree, of_folder, of_repository

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = (
    "dsh_rfc",
    "dsh_session",
    "dsh_session_persistence",
    "dsh_session_persistence_jsonl",
    "dsh_session_persistence_sqlite",
    "dsh_agent",
)
EMPTY = Worktree(documents=(), is_bounded=True, list_folder=lambda _: {}, read=lambda _: b"")

# What the rules say of the real record beside its links, and why it is right.
PACKAGE_MANAGER = {"pnpm", "tsc", "tsdown", "tsx"}  # a fence of its commands, which nobody granted


@pytest.fixture(scope="module")
def symbols() -> Symbols:
    """Return the names of this repository."""
    contract = find_repository(REPOSITORY).contract
    around = of_repository(REPOSITORY, exclude=(), max_file_bytes=10_000_000)
    return Symbols(worktree=around, sources=contract.python_sources)


def public(package: str) -> Iterator[tuple[str, object]]:
    """Yield the public names of a package, and of its classes, with what an import finds there."""
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        yield f"{package}.{name}", value
        if inspect.isclass(value) and value.__module__.startswith(PACKAGES) and not issubclass(value, Enum):
            for member in vars(value):
                if not member.startswith("_"):
                    yield f"{package}.{name}.{member}", vars(value)[member]


@pytest.mark.repository
@pytest.mark.parametrize("package", PACKAGES)
def test_what_can_be_imported_from_our_packages_is_found_without_importing_it(package: str, symbols: Symbols):
    """The interpreter is the judge: a name that it finds and we do not is a false finding."""
    missing = [name for name, _ in public(package) if symbols.absence(name)]
    assert missing == []


def _inherits_from_elsewhere(member: str) -> bool:
    """Tell whether a member's class has a base whose members nobody has read."""
    package, _, owner = member.rpartition(".")[0].rpartition(".")
    bases = getattr(getattr(importlib.import_module(package), owner, None), "__mro__", (object,))[:-1]
    return any(not base.__module__.startswith(PACKAGES) for base in bases)


@pytest.mark.repository
def test_what_cannot_be_imported_from_our_packages_is_not_found(symbols: Symbols):
    """The other half: without it, finding everything everywhere would pass."""
    for package in PACKAGES:
        assert symbols.absence(f"{package}.gone")
        for name, value in public(package):
            if isinstance(value, types.FunctionType):
                assert symbols.absence(f"{name}_gone") or _inherits_from_elsewhere(name), name
                assert symbols.absence(f"{name}.gone"), name


@pytest.mark.repository
def test_only_packages_of_the_repository_are_known(symbols: Symbols):
    """The names of others are not ours to judge."""
    assert set(symbols.packages) == set(PACKAGES)
    assert not symbols.owns("pydantic.BaseModel")


def test_source_is_read_and_never_run(write_tree: Callable[..., Path]):
    """A gate must not run the code of the change that it judges."""
    folder = write_tree({"src/trap/__init__.py": "raise SystemExit('run')\n\ndef start(): ...\n"})
    symbols = Symbols(worktree=of_folder(folder, inside="", is_bounded=True, max_file_bytes=1000), sources=("src",))
    assert symbols.absence("trap.start") is None
    assert symbols.absence("trap.stop")
    assert "trap" not in sys.modules


def test_names_that_go_round_in_circles_come_to_an_end(write_tree: Callable[..., Path]):
    """Two modules that import a name from each other define it nowhere."""
    folder = write_tree(
        {
            "src/ring/__init__.py": "from ring.a import x\nfrom ring.a import *\n",
            "src/ring/a.py": "from ring.b import x\nfrom ring import *\nclass A(B): ...\nclass B(A): ...\n",
            "src/ring/b.py": "from ring.a import x\n",
        }
    )
    symbols = Symbols(worktree=of_folder(folder, inside="", is_bounded=True, max_file_bytes=1000), sources=("src",))
    assert symbols.absence("ring.x")
    assert symbols.absence("ring.y")
    assert symbols.absence("ring.a.A.z")


def test_a_run_that_needs_no_member_does_not_load_griffe(write_tree: Callable[..., Path]):
    """It costs a fifth of a short run, and most records name no symbols."""
    folder = write_tree(
        {"docs/rfc/README.md": "See `pool.keeper`.\n", "src/pool/__init__.py": "", "src/pool/keeper.py": ""}
    )
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from dsh_rfc.configuration import find_repository\nfrom dsh_rfc.engine import run\n"
        "from dsh_rfc.record import Record\nfrom dsh_rfc.rules import RULES\n"
        "report = run(Record.of(find_repository(Path.cwd())).corpus, RULES)\n"
        "assert report.diagnostics == (), report\nassert 'griffe' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_what_a_gitignore_names_at_any_depth_counts_as_made(write_tree: Callable[..., Path]):
    """Build output is named in guides, and stands in no repository."""
    folder = write_tree({".gitignore": "/build/\n", "docs/.gitignore": "*.log\n", "docs/a.md": ""})
    around = of_repository(folder, exclude=(), max_file_bytes=1000)
    assert path_absence("build/site/index.html", "docs/a.md", around) is None
    assert path_absence("docs/x/today.log", "docs/a.md", around) is None
    assert path_absence("today.log/x.md", "README.md", around)


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("ab/.:*?[]()@~#-_…\\\n é"), max_size=30))
@example("../../../../x.py")
@example("a/**/b.py")
def test_no_span_breaks_the_reading_of_paths_and_names(text: str):
    """A code span holds anything."""
    symbols = Symbols(worktree=EMPTY, sources=("", "src"))
    assert symbol_in(text, symbols) == ""
    if path := path_in(text, "docs/a.md", EMPTY):
        path_absence(path, "docs/a.md", EMPTY)


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("ab'\"\\$()`|&;<>#\n= {}"), max_size=40), has_prompts=st.booleans())
@example(text="cat <<END\nx", has_prompts=False)
@example(text="a $(b `c` $(d", has_prompts=False)
@example(text='a "`\'`"', has_prompts=False)
@example(text="a \"$(b ')')\"", has_prompts=False)
def test_no_script_breaks_the_reading_of_commands(text: str, has_prompts: bool):
    """What cannot be split is a finding, not a crash."""
    try:
        lines = [command.line for command in read_commands(text, has_prompts=has_prompts) if command.words]
    except ShellUnreadable as error:
        lines = [error.line]
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)


@settings(max_examples=200, deadline=None)
@given(language=st.sampled_from(["json", "jsonl", "toml", "yaml", "python"]), text=st.text(max_size=60))
@example("json", "[" * 100_000)
@example("toml", "a = " + "[" * 100_000)
@example("yaml", "- " * 2_000)
@example("python", "(" * 5_000)
@example("python", "\x00")
@example("json", "9" * 5_000)
def test_no_text_breaks_a_parser_of_fences(language: str, text: str):
    """A fence holds anything, and a fault has a place."""
    fault = fault_in(language, text)
    assert fault is None or (fault.line >= 1 and fault.column >= 0 and fault.message)


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("<!-> dsh-rfc:absent — x`~\n"), max_size=80))
def test_no_document_breaks_the_reading_of_marks_and_fences(text: str):
    """They are read in every document, whatever stands in it."""
    page = Document(path="README.md", text=text)
    assert all(mark.line <= text.count("\n") + 1 for mark in read_marks(page))
    assert all(fence.line <= text.count("\n") + 1 for fence in read_fences(page))
    assert all(span.place(page)[0] <= text.count("\n") + 1 for span in read_spans(page))


def test_what_is_found_in_a_real_record_is_right(real_corpus: Path):
    """The slice holds the record without the code: each path that is found has to be one, and to be missing."""
    top = real_corpus / "conforming"
    codes = ("ref-path", "ref-symbol", "fence-syntax", "fence-command", "mark-invalid", "wrap")
    _, report = check_record(Record.of(find_repository(top)), select=codes)
    found = Counter(item.code for item in report.diagnostics)
    assert set(found) == {"ref-path", "fence-command"}
    assert {
        item.message.split()[0] for item in report.diagnostics if item.code == "fence-command"
    } == PACKAGE_MANAGER
    for item in report.diagnostics:
        if item.code == "ref-path":
            path = item.message.removesuffix(" does not exist")
            is_there = (top / path).exists() or (top / item.path).parent.joinpath(path).exists()
            assert not is_there, item
            assert Path(path).suffix or path.startswith(("packages/", "examples/", "docs/", "vendor/")), item
