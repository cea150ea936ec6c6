"""The recorded surface: equal to the source, and changed only together with a fragment that tells of it."""

import ast
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import api_surface

CHECK = (sys.executable, "scripts/api_surface.py", "--check")
RENEW = (sys.executable, "scripts/api_surface.py")
STORE = Path("packages/session/src/dsh_session/store.py")
RECORD = Path("packages/session/api.txt")


@pytest.fixture
def released(releasable, execute):
    """Return a clone that has just been released: the records are current and a tag says that they are promised."""
    for path in (releasable / "changelog.d").glob("*.*.md"):
        path.unlink()
    execute("git", "commit", "--quiet", "--all", "-m", "Released", cwd=releasable).ok()
    execute("git", "tag", "v0.1.0", cwd=releasable).ok()
    return releasable


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def fragment(clone: Path, kind: str, text: str) -> None:
    """Write a changelog fragment."""
    (clone / "changelog.d" / f"forks.{kind}.md").write_text(f"{text}\n", encoding="utf-8")


@pytest.mark.slow
def test_the_records_are_current_and_every_change_since_the_last_release_has_its_fragment(repository, execute):
    """A record that lags says nothing about the change that passed it by."""
    done = execute(*CHECK, cwd=repository)
    assert done.code == 0, done.out


@pytest.mark.slow
def test_every_distribution_records_what_it_exports(repository, execute):
    """An empty record would agree with anything."""
    for name in ("session", "persistence", "jsonl", "sqlite", "agent"):
        lines = (repository / "packages" / name / "api.txt").read_text(encoding="utf-8").splitlines()
        assert any(line.startswith("class ") for line in lines), name
    commands = (repository / "scripts" / "api.txt").read_text(encoding="utf-8").splitlines()
    assert "command dsh-rfc check" in commands
    assert "option dsh-rfc check --root" in commands


def test_every_name_that_a_page_imports_is_recorded(repository):
    """What a reader was told to import is promised, whether or not it stands at the top of the package."""
    records = [*repository.glob("packages/*/api.txt"), repository / "scripts" / "api.txt"]
    names = {
        api_surface._name(line).partition(" ")[0]
        for record in records
        for line in record.read_text(encoding="utf-8").splitlines()
    }
    pages = [repository / "README.md", *repository.glob("packages/*/README.md"), *repository.glob("docs/**/*.md")]
    unrecorded = {
        f"{page.relative_to(repository)}: {node.module}.{alias.name}"
        for page in pages
        for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
        if token.type == "fence" and token.info.split()[:1] == ["python"]
        for node in ast.walk(ast.parse(token.content))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dsh_")
        for alias in node.names
        if f"{node.module}.{alias.name}" not in names
    }
    assert unrecorded == set()


@pytest.mark.slow
@pytest.mark.xdist_group("surface")
def test_a_name_that_is_gone_needs_a_breaking_fragment_that_names_the_distribution(released, execute):
    """Who upgrades learns of it from the changelog, or from a traceback."""
    assert execute(*CHECK, cwd=released).code == 0
    edit(released / STORE, "def fork(", "def branch(")
    stale = execute(*CHECK, cwd=released)
    assert stale.code == 1
    assert "`python scripts/api_surface.py` renews it" in stale.out
    assert "-def dsh_session.SessionStore.fork(" in stale.out
    assert "+def dsh_session.SessionStore.branch(" in stale.out

    execute(*RENEW, cwd=released).ok()
    untold = execute(*CHECK, cwd=released)
    assert untold.code == 1
    assert "dsh-session: breaking changes and no fragment" in untold.out
    assert "gone: def dsh_session.SessionStore.fork(" in untold.out

    fragment(released, "feature", "`dsh-session`: forks are branches.")
    assert execute(*CHECK, cwd=released).code == 1
    fragment(released, "breaking", "`dsh-session-persistence`: forks are branches.")
    assert execute(*CHECK, cwd=released).code == 1
    fragment(released, "breaking", "`dsh-session`: `SessionStore.fork` is called `branch`.")
    assert execute(*CHECK, cwd=released).ok() == ""


@pytest.mark.slow
@pytest.mark.xdist_group("surface")
def test_a_new_name_needs_a_fragment_of_any_kind(released, execute):
    """A feature that nobody hears of is used by nobody."""
    edit(
        released / STORE,
        "    def fork(",
        '    def count(self) -> int:\n        """Count."""\n        return 0\n\n    def fork(',
    )
    execute(*RENEW, cwd=released).ok()
    untold = execute(*CHECK, cwd=released)
    assert untold.code == 1
    assert "new: def dsh_session.SessionStore.count(self) -> int" in untold.out
    fragment(released, "feature", "`dsh-session`: a store counts its sessions.")
    assert execute(*CHECK, cwd=released).ok() == ""


@pytest.mark.slow
@pytest.mark.xdist_group("surface")
def test_a_private_change_needs_nothing(released, execute):
    """A check that asks for words where nobody sees a change is soon worked around."""
    path = released / STORE
    path.write_text(path.read_text(encoding="utf-8") + "\n\ndef _private() -> None:\n    pass\n", encoding="utf-8")
    assert execute(*CHECK, cwd=released).ok() == ""


@pytest.mark.parametrize(
    ("before", "after", "accepted"),
    [
        ("def f(a: int) -> str", "def f(a: int, *, b: int = 0) -> str", True),
        ("def f(a: int) -> str", "def f(a: int, b: int = 0) -> str", True),
        ("def f(a: int) -> str", "def f(a: int = 1) -> str", True),
        ("def f(*, a: int, b: int) -> str", "def f(*, b: int, a: int) -> str", True),
        ("def f(a: int) -> str", "def f(a: int, b: int) -> str", False),
        ("def f(a: int) -> str", "def f(a: int, *, b: int) -> str", False),
        ("def f(a: int) -> str", "def f(b: int) -> str", False),
        ("def f(a: int) -> str", "def f(a: int, /) -> str", False),
        ("def f(a: int) -> str", "def f(*, a: int) -> str", False),
        ("def f(a: int, b: int) -> str", "def f(b: int, a: int) -> str", False),
        ("def f(a: int = 0) -> str", "def f(a: int) -> str", False),
        ("def f(a: int = 0) -> str", "def f(a: int = 1) -> str", False),
        ("def f(a: int) -> str", "def f(a: str) -> str", False),
        ("def f(a: int) -> str", "def f(a: int) -> bytes", False),
        ("def f(a: int) -> str", "async def f(a: int) -> str", False),
        ("def f(*a: int) -> str", "def f() -> str", False),
        ("@classmethod def f(cls) -> str", "def f(self) -> str", False),
        ("class m.A(Base)", "class m.A(Other)", False),
        ("m.x: int", "m.x: int = 0", True),
        ("m.x: int = 0", "m.x: int = 1", False),
        ("m.x: int", "m.x: str", False),
        ("option dsh-rfc check --format [text|json]", "option dsh-rfc check --format [text|json|sarif]", True),
        ("option dsh-rfc check --format [text|json]", "option dsh-rfc check --format [text]", False),
        ("option dsh-rfc check --root", "option dsh-rfc check --root (required)", False),
        ("def f(a: int) -> str\ndef f(a: str) -> str", "def f(a: bytes) -> str\ndef f(a: int) -> str", False),
    ],
)
def test_a_change_is_additive_when_every_use_still_works(before, after, accepted):
    """Called breaking too often, the word means nothing; too seldom, it protects nobody."""
    assert api_surface.accepts(after, before) is accepted
    assert api_surface.Change(name="f", before=before, after=after).breaking is not accepted
    assert api_surface.accepts(before, before)


def test_a_new_name_breaks_nothing_and_a_gone_one_does():
    """The two ends of the scale."""
    new, gone = api_surface.changes(["def m.f() -> None"], ["def m.g() -> None"])[::-1]
    assert (new.name, new.breaking) == ("m.g", False)
    assert (gone.name, gone.breaking) == ("m.f", True)
