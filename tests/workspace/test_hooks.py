"""The pre-commit hooks, used from another repository that points at this one."""

import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

GOOD = """\
# RFC: Keep one process warm

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


def test_both_hooks_install_from_a_clone_and_judge_another_repository(clone, tmp_path, execute):
    """A hook that only runs in its own repository is none."""
    commit = execute("git", "rev-parse", "HEAD", cwd=clone).ok().strip()
    other = tmp_path / "other"
    rfc = other / "docs" / "rfc" / "proposed" / "feature" / "2026-08-01-warm-start.md"
    rfc.parent.mkdir(parents=True)
    rfc.write_text(GOOD, encoding="utf-8")
    hooks = [{"id": "dsh-rfc-check"}, {"id": "dsh-rfc-index"}]
    config = {"repos": [{"repo": str(clone), "rev": commit, "hooks": hooks}]}
    (other / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    execute("git", "init", "--quiet", cwd=other).ok()
    execute("git", "add", "--all", cwd=other).ok()
    env = {"PRE_COMMIT_HOME": str(tmp_path / "pre-commit"), "PRE_COMMIT_COLOR": "never"}
    pre_commit = (sys.executable, "-m", "pre_commit")
    execute(*pre_commit, "install-hooks", cwd=other, env=env).ok()

    def judge(hook: str) -> tuple[int, str]:
        done = execute(*pre_commit, "run", hook, "--all-files", cwd=other, env=env)
        return done.code, done.out

    code, out = judge("dsh-rfc-index")
    assert code == 1
    assert "dsh-rfc index" in out
    program = next((tmp_path / "pre-commit").glob("*/py_env-*/bin/dsh-rfc"))
    execute(program, "index", cwd=other).ok()
    execute("git", "add", "--all", cwd=other).ok()
    assert judge("dsh-rfc-index")[0] == 0
    assert judge("dsh-rfc-check")[0] == 0

    rfc.write_text(GOOD.replace("Status: proposed", "Status: implemented"), encoding="utf-8")
    code, out = judge("dsh-rfc-check")
    assert code == 1
    assert "status-folder" in out
    assert "docs/rfc/proposed/feature/2026-08-01-warm-start.md:3:" in out
    # Nothing but our own edit: a checker changes nothing.
    assert execute("git", "diff", "--name-only", cwd=other).ok().split() == [str(rfc.relative_to(other))]


def test_a_commit_without_markdown_runs_no_hook():
    """A hook that judges documents must not slow down every other commit."""
    hooks = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [hook["id"] for hook in hooks] == ["dsh-rfc-check", "dsh-rfc-index"]
    for hook in hooks:
        assert hook["pass_filenames"] is False
        assert hook["files"] == r"\.(md|MD)$"
        assert hook["language"] == "python"
