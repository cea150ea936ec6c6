"""A release up to its tag: dry it changes nothing, wet it is one commit, and it is refused for each reason."""

import sys
from pathlib import Path

import pytest

import dist as dist_script

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("release")]
RELEASE = (sys.executable, "scripts/release.py")


def committed(clone: Path, execute) -> Path:
    """Commit everything that stands in a clone."""
    execute("git", "add", "--all", cwd=clone).ok()
    execute("git", "commit", "--quiet", "--allow-empty", "-m", "Ready", cwd=clone).ok()
    return clone


def head(clone: Path, execute) -> str:
    """Return the commit, the tags and the state of a clone in one text."""
    commands = (("rev-parse", "HEAD"), ("tag",), ("status", "--porcelain", "--ignored"))
    return "\n".join(execute("git", *command, cwd=clone).ok() for command in commands)


def test_a_dry_run_takes_every_step_and_changes_nothing(releasable, execute):
    """One has to be able to try a release without having made one."""
    before = head(releasable, execute)
    out = execute(*RELEASE, "0.2.0", cwd=releasable, env={"PYTHONDONTWRITEBYTECODE": "1"}).ok()
    steps = [line[2:] for line in out.splitlines() if line.startswith("- ")]
    assert len(steps) >= 7
    assert "forks close the turn that is open" in out
    assert "dsh_session-0.2.0-py3-none-any.whl" in out
    assert "sqlite: a session outlives its process" in out
    assert "nothing here has changed" in out
    assert head(releasable, execute) == before


def test_a_release_is_one_commit_with_every_version_and_the_archives_but_no_tag(releasable, execute):
    """What is tagged later has been tried as it is."""
    before = execute("git", "rev-parse", "HEAD", cwd=releasable).ok()
    out = execute(*RELEASE, "--no-dry-run", "0.2.0", cwd=releasable).ok()
    assert "git tag -a v0.2.0" in out
    assert execute("git", "rev-parse", "HEAD~1", cwd=releasable).ok() == before
    assert execute("git", "log", "-1", "--format=%s", cwd=releasable).ok() == "Release 0.2.0\n"
    assert execute("git", "status", "--porcelain", cwd=releasable).ok() == ""
    assert execute("git", "tag", cwd=releasable).ok() == ""
    for one in dist_script.distributions(releasable):
        table = dist_script.project(releasable / one.folder)
        assert table["version"] == "0.2.0"
        assert '__version__ = "0.2.0"' in (releasable / one.source / "__init__.py").read_text(encoding="utf-8")
        for line in table["dependencies"]:
            assert not line.startswith("dsh-") or line.endswith(">=0.2.0,<0.3"), line
    assert "## 0.2.0 (" in (releasable / "CHANGELOG.md").read_text(encoding="utf-8")
    assert not list((releasable / "changelog.d").glob("*.feature.md"))
    assert len(list((releasable / "dist").glob("*-0.2.0*"))) == 12

    assert execute(*RELEASE, "--verify", "v0.2.0", cwd=releasable).code == 0
    wrong = execute(*RELEASE, "--verify", "v0.3.0", cwd=releasable)
    assert wrong.code == 1
    assert "says 0.2.0" in wrong.out


def dirty(clone: Path) -> None:
    """Leave an untracked file."""
    (clone / "notes.txt").write_text("x\n", encoding="utf-8")


def out_of_step(clone: Path) -> None:
    """Move one member ahead of the others."""
    path = clone / "packages" / "agent" / "pyproject.toml"
    path.write_text(
        path.read_text(encoding="utf-8").replace('version = "0.1.0"', 'version = "0.1.1"'), encoding="utf-8"
    )


def loose_bound(clone: Path) -> None:
    """Let one member accept any version of a sibling."""
    path = clone / "packages" / "agent" / "pyproject.toml"
    text = path.read_text(encoding="utf-8").replace('"dsh-session>=0.1.0,<0.2"', '"dsh-session>=0.1.0"')
    path.write_text(text, encoding="utf-8")


def untold(clone: Path) -> None:
    """Take all fragments away."""
    for fragment in (clone / "changelog.d").glob("*.*.md"):
        fragment.unlink()


@pytest.mark.parametrize(
    ("version", "change", "reason"),
    [
        ("0.2", None, "normal form"),
        ("", None, "is no version"),
        ("two", None, "is no version"),
        ("v0.2.0", None, "normal form"),
        ("0.0.9", None, "older than 0.1.0"),
        ("0.2.0", dirty, "the tree is not clean"),
        ("0.2.0", out_of_step, "lost their lockstep"),
        ("0.2.0", loose_bound, "lost their lockstep"),
        ("0.2.0", untold, "no fragment"),
    ],
)
def test_a_release_is_refused_with_the_reason(  # noqa: PLR0917 - pytest passes them by name
    releasable_origin, request, execute, version, change, reason
):
    """A refusal has to come before the first change, and say what to do about it."""
    place = request.getfixturevalue("releasable") if change else releasable_origin
    if change:
        change(place)
    if change not in {None, dirty}:
        committed(place, execute)
    before = head(place, execute)
    done = execute(*RELEASE, "--no-dry-run", version, cwd=place, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.code == 1, done.out
    assert reason in done.out
    assert "Traceback (most" not in done.out
    assert head(place, execute) == before


def test_an_existing_tag_is_not_released_again(releasable, execute):
    """A version on an index cannot be replaced."""
    execute("git", "tag", "v0.2.0", cwd=releasable).ok()
    done = execute(*RELEASE, "0.2.0", cwd=releasable)
    assert done.code == 1
    assert "v0.2.0 exists already" in done.out
