"""The registry, and what every rule module owes."""

import ast
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsh_rfc import rules
from dsh_rfc.corpus import Corpus
from dsh_rfc.engine import run
from dsh_rfc.pages import render_rule_list, render_rule_page
from dsh_rfc.rule import Rule
from dsh_rfc.rules import RULES

FOLDER = Path(rules.__file__).parent
EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
IMPURE = {"os", "pathlib", "io", "shutil", "subprocess", "socket", "tempfile", "sys", "time", "random", "datetime"}


def test_the_registry_lists_every_module_of_the_folder():
    """A rule that is written and not listed is not in force, and nobody would notice."""
    modules = {module.name.replace("_", "-") for module in pkgutil.iter_modules([str(FOLDER)])}
    codes = [rule.code for rule in RULES]
    assert set(codes) == modules
    assert len(codes) == len(set(codes))


@EVERY_RULE
def test_the_bad_example_of_a_rule_breaks_it_and_the_good_one_does_not(
    rule: Rule[Any], corpus_of: Callable[..., Corpus]
):
    """The page shows both: an example that shows nothing misleads."""
    assert run(corpus_of(rule.bad), [rule]).diagnostics
    assert run(corpus_of(rule.good), [rule]).diagnostics == ()


@EVERY_RULE
def test_a_rule_says_what_why_and_how_to_mend(rule: Rule[Any]):
    """A finding that does not say what to do costs its reader a search."""
    assert rule.doc is not None
    assert rule.doc.count("\n\n") >= 1
    assert rule.summary.endswith(".")
    assert rule.hint
    assert not rule.hint.endswith(".")


@EVERY_RULE
def test_a_rule_does_no_io_and_imports_no_other_rule(rule: Rule[Any]):
    """Rules are pure so that one cannot slow, change or break another."""
    source = (FOLDER / f"{rule.code.replace('-', '_')}.py").read_text(encoding="utf-8")
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
        elif isinstance(node, ast.Name):
            assert node.id not in {"open", "print", "input", "__import__"}
    assert not {name for name in imported if name.split(".")[0] in IMPURE}
    assert not {name for name in imported if name.startswith("dsh_rfc.rules")}
    assert "dsh_rfc.tree" not in imported


@EVERY_RULE
def test_the_page_of_a_rule_shows_its_parts_and_is_the_same_each_time(rule: Rule[Any]):
    """The page is generated into the documentation and compared there."""
    page = render_rule_page(rule)
    assert page == render_rule_page(rule)
    assert page.startswith(f"# {rule.code}\n\n{rule.summary}\n")
    assert "\n## How to mend it\n" in page
    assert all(f"`{path}`" in page for path in (*rule.good, *rule.bad))
    assert "\x00" not in page


def test_the_list_of_rules_has_a_line_for_each():
    """It is how one finds the code that a configuration needs."""
    assert [line.split()[0] for line in render_rule_list(RULES).splitlines()] == [rule.code for rule in RULES]
