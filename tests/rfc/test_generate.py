"""The command `dsh-rfc generate`: one table of paths and renderers."""

import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from dsh_rfc.contract import Contract, GeneratedPart, Lifecycle, kebab
from dsh_rfc.renderers import render_command_line, render_configuration, render_packages, render_rule_pages
from dsh_rfc.rules import RULES

RENDERERS = """
def page():
    return "# Page\\n"

def named(folder):
    return f"# {folder.name}\\n"

def optional(folder=None):
    return f"# {folder}\\n"

def pages():
    return {"a.md": "# A\\n", "b.md": "# B\\n"}

def broken():
    raise ValueError("no")

def number():
    return 1

def leaving():
    raise SystemExit(0)

def half():
    return "\\ud83d"

def escaping():
    return {"../a.md": ""}

constant = 1
"""


@pytest.fixture
def repository(
    write_tree: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Callable[..., Path]:
    """Return a maker of repositories whose table names functions of a module of their own."""
    module = f"renderers_of_{abs(hash(request.node.nodeid))}"

    def make(**table: str) -> Path:
        parts = ",\n".join(
            f'{{ path = "{path}", renderer = "{name if ":" in name else f"{module}:{name}"}" }}'
            for path, name in table.items()
        )
        folder = write_tree({"dsh-rfc.toml": f"generated = [\n{parts}\n]\n", f"{module}.py": RENDERERS})
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        return folder

    return make


def test_files_and_folders_are_written_and_then_up_to_date(repository: Callable[..., Path], run_command):
    """The same table writes and compares, so that the two cannot disagree."""
    folder = repository(**{"docs/page.md": "page", "docs/sub/": "pages", "docs/o.md": "optional", "n.md": "named"})
    outcome = run_command("generate", "--check", cwd=folder)
    assert outcome.code == 1
    assert "+# Page" in outcome.out
    assert "5 generated files out of date; run `dsh-rfc generate`" in outcome.err
    assert not (folder / "docs").exists()
    assert run_command("generate").code == 0
    assert (folder / "docs/page.md").read_text(encoding="utf-8") == "# Page\n"
    assert (folder / "docs/sub/b.md").read_text(encoding="utf-8") == "# B\n"
    assert (folder / "docs/o.md").read_text(encoding="utf-8") == "# None\n"
    assert (folder / "n.md").read_text(encoding="utf-8") == f"# {folder.name}\n"
    outcome = run_command("generate", "--check")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "5 generated files up to date\n")


def test_an_edit_of_a_generated_file_is_shown_and_undone(repository: Callable[..., Path], run_command):
    """What a person writes into a generated file is lost with the next run, so the gate says it first."""
    folder = repository(**{"docs/page.md": "page"})
    run_command("generate", cwd=folder)
    (folder / "docs/page.md").write_text("# Mine\n", encoding="utf-8")
    outcome = run_command("generate", "--check")
    assert outcome.code == 1
    assert "-# Mine\n+# Page\n" in outcome.out
    assert run_command("generate").err == "docs/page.md written\n1 generated file up to date\n"


def test_what_no_renderer_writes_any_more_is_named_and_not_deleted(repository: Callable[..., Path], run_command):
    """A folder that was named by mistake holds somebody's work."""
    folder = repository(**{"docs/sub/": "pages"})
    run_command("generate", cwd=folder)
    (folder / "docs/sub/gone.md").write_text("# Gone\n", encoding="utf-8")
    for arguments in (("generate", "--check"), ("generate",)):
        outcome = run_command(*arguments)
        assert outcome.code == 1
        assert "docs/sub/gone.md is written by nothing any more; delete it\n" in outcome.err
    assert (folder / "docs/sub/gone.md").exists()


@pytest.mark.parametrize(
    ("path", "renderer", "words"),
    [
        ("a.md", "broken", "failed: ValueError: no"),
        ("a.md", "number", "returned int"),
        ("a.md", "leaving", "failed: SystemExit: 0"),
        ("a.md", "half", "returned half a character for a.md"),
        ("a.md", "absent", "cannot be imported"),
        ("a.md", "constant", "is no function"),
        ("a.md", "no_such_module:page", "cannot be imported"),
        ("a/", "page", "must return texts by file name"),
        ("a/", "escaping", "must return texts by file name"),
    ],
)
def test_a_renderer_that_fails_is_named_and_the_others_still_run(
    path: str, renderer: str, words: str, repository: Callable[..., Path], run_command
):
    """No verdict on one file is no verdict, and no reason to leave the rest stale."""
    folder = repository(**{path: renderer, "docs/page.md": "page"})
    outcome = run_command("generate", cwd=folder)
    assert outcome.code == 2
    assert words in outcome.err
    assert (folder / "docs/page.md").exists()
    assert not (folder / path).exists()


def test_nothing_is_written_through_a_link_that_leaves_the_repository(
    repository: Callable[..., Path], run_command, tmp_path_factory: pytest.TempPathFactory
):
    """What lies outside belongs to somebody else."""
    outside = tmp_path_factory.mktemp("outside")
    folder = repository(**{"docs/page.md": "page"})
    (folder / "docs").symlink_to(outside, target_is_directory=True)
    outcome = run_command("generate", cwd=folder)
    assert outcome.code == 2
    assert "leaves the repository" in outcome.err
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('[{ path = "../a.md", renderer = "a:b" }]', "a path below the repository"),
        ('[{ path = "a.md", renderer = "a" }]', "module:function"),
        ('[{ path = "a.md", renderer = "a:b" }, { path = "a.md", renderer = "a:c" }]', "stands twice"),
        ('[{ path = "a.md", rendrer = "a:b" }]', "did you mean 'renderer'"),
    ],
)
def test_a_wrong_table_is_refused_with_what_is_allowed(table: str, words: str, write_tree, run_command):
    """A path that leaves the repository would let a configuration write anywhere."""
    folder = write_tree({"dsh-rfc.toml": f"generated = {table}\n"})
    outcome = run_command("generate", cwd=folder)
    assert outcome.code == 2
    assert words in outcome.err


def test_an_empty_table_is_no_success(write_tree, run_command):
    """A check that has nothing to check must not look like one that passed."""
    outcome = run_command("generate", "--check", cwd=write_tree({"dsh-rfc.toml": ""}))
    assert outcome.code == 2
    assert "nothing is generated" in outcome.err


def test_every_rule_has_a_page_and_the_list_links_to_each():
    """The code that a finding prints leads to its page."""
    pages = render_rule_pages()
    assert set(pages) == {"README.md", *(f"{rule.code}.md" for rule in RULES)}
    assert all(f"({rule.code}.md)" in pages["README.md"] for rule in RULES)


def test_the_command_line_page_is_the_same_whatever_ran_before(run_command):
    """The page is compared by the very command that it describes."""
    before = render_command_line()
    run_command("explain", "--help")
    run_command("generate", "-h")
    assert render_command_line() == before
    for command in ("check", "explain", "generate", "index", "pairs"):
        assert f"## `dsh-rfc {command}`\n" in before


def test_the_configuration_page_explains_every_key_with_its_default():
    """A key that nobody can look up is a key that nobody sets."""
    text = render_configuration()
    for shape in (Contract, Lifecycle, GeneratedPart):
        for item in fields(shape):
            row = next(line for line in text.splitlines() if line.startswith(f"| `{kebab(item.name)}` |"))
            assert len(row.split(" | ")[2].split()) > 2, row
    assert '| `language-names` | `{ en = "English", zh = "中文" }` |' in text
    assert "| `alternatives-since` | `2026-07-05` |" in text


def test_the_package_graph_has_the_arrows_of_the_project_files(write_tree):
    """A dependency that is added shows in the graph, or the gate says so."""
    folder = write_tree(
        {
            "pyproject.toml": '[project]\nname = "top"\n[tool.uv.workspace]\nmembers = ["packages/*"]\n',
            "packages/one/pyproject.toml": '[project]\nname = "a-one"\ndescription = "x | y"\n',
            "packages/two/pyproject.toml": (
                '[project]\nname = "a-two"\ndependencies = ["a-three>=1", "rich[extra]>1"]\n'
                '[project.optional-dependencies]\nmore = ["a-one"]\n'
            ),
            "packages/three/pyproject.toml": '[project]\nname = "a-three"\ndependencies = ["a-one"]\n',
            "packages/no-project/README.md": "",
        }
    )
    text = render_packages(folder)
    assert "    a_three --> a_one\n" in text
    assert "    a_two --> a_three\n" in text
    assert "    a_two -.->|more| a_one\n" in text
    assert "a_one -->" not in text
    assert "| `a-two` | `a_two` | [packages/two](../../packages/two/README.md) |  | `a-three`, `rich` |" in text
    assert "x \\| y" in text
    order = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert order == ["a-one", "a-three", "a-two", "top"]
