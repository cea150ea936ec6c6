"""Every Python example in the documents and docstrings of the repository runs."""

import importlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from sybil.example import SybilFailure

ROOT = Path(__file__).resolve().parents[2]
EXCLUDED = ("tests/", "docs/reference/rules/")  # cases and pages of what breaks the rules


def listed(*patterns: str) -> list[Path]:
    """Return the files of the repository that git tracks or would track."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    names = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
    return sorted(ROOT / name for name in set(names) if name and not name.startswith(EXCLUDED))


def holds_python(path: Path) -> bool:
    """Say whether a Markdown file has a fence to run; rough, so that nothing is missed."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return "```py" in text or "~~~py" in text or "{.py" in text


def holds_example(path: Path) -> bool:
    """Say whether a module has an example in it."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return ">>> " in text or "```py" in text


DOCUMENTS = [path for path in listed("*.md") if holds_python(path)]
MODULES = [path for path in listed("packages/*/src/*.py", "scripts/dsh_rfc/*.py") if holds_example(path)]


def name_of(path: Path) -> str:
    """Name a file in a report."""
    return path.relative_to(ROOT).as_posix()


def dotted(path: Path) -> str:
    """Return the name under which a module is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    start = parts.index("src") + 1 if "src" in parts else parts.index("scripts") + 1
    return ".".join(part for part in parts[start:] if part != "__init__")


def test_there_are_documents_and_modules_with_examples():
    """A list that is empty by mistake would run nothing, and pass."""
    names = {name_of(path) for path in DOCUMENTS}
    assert {"README.md", "docs/guides/quickstart.md", "packages/session/README.md"} <= names
    assert {"scripts/dsh_rfc/slugs.py", "packages/session/src/dsh_session/store.py"} <= set(map(name_of, MODULES))


@pytest.mark.crash
@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_python_fence_of_a_document_runs_from_top_to_bottom(path: Path, run_examples: Callable[..., int]):
    """Whoever copies an example expects it to work."""
    assert run_examples(path)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_example_in_a_docstring_runs_and_prints_what_it_shows(path: Path, run_examples: Callable[..., int]):
    """They are shown in editors and on the site, where nobody can try them."""
    assert run_examples(path, importlib.import_module(dotted(path)))


def test_an_example_that_fails_is_a_failure(tmp_path: Path, run_examples: Callable[..., int]):
    """A runner that swallows errors would make every example pass."""
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```python\nassert x == 2\n```\n")
    with pytest.raises(AssertionError):
        run_examples(page)


def test_a_fence_that_is_marked_as_failing_has_to_fail(tmp_path: Path, run_examples: Callable[..., int]):
    """A mark that is no longer true would hide the next fault."""
    mark = "<!-- dsh-rfc: fails — shows an error -->\n\n"
    page = tmp_path / "page.md"
    page.write_text(f"{mark}```python\n1 / 0\n```\n")
    assert run_examples(page) == 1
    page.write_text(f"{mark}```python\n1 / 1\n```\n")
    with pytest.raises(SybilFailure, match="does not fail"):
        run_examples(page)


def test_a_fence_that_is_marked_as_not_run_is_not_run(tmp_path: Path, run_examples: Callable[..., int]):
    """Some examples need what a test has not."""
    page = tmp_path / "page.md"
    page.write_text("<!-- dsh-rfc: not-run — needs a network -->\n\n```python\n1 / 0\n```\n")
    assert run_examples(page) == 1


def test_a_docstring_that_shows_something_else_is_a_failure(tmp_path: Path, run_examples: Callable[..., int]):
    """The value below the prompt is part of the example."""
    module = tmp_path / "module.py"
    module.write_text('"""Adds.\n\n    >>> 1 + 1\n    3\n"""\n')
    with pytest.raises(SybilFailure):
        run_examples(module)
