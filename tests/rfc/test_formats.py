"""The formats for machines."""

import json
from collections.abc import Callable

import pytest

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Diagnostic, Report
from dsh_rfc.engine import run
from dsh_rfc.formats import as_github, as_json, as_sarif, printable
from dsh_rfc.rules import RULES

ODD = Report(
    checked=1,
    diagnostics=(
        Diagnostic(
            path="a:b,c 100%.md",
            line=2,
            column=3,
            code="file-name",
            message="50% of\nit",
            severity="warning",
            hint="mend é",
        ),
    ),
)


def test_an_annotation_is_one_line_with_its_separators_escaped():
    """An unescaped colon or percent sign moves the annotation, or loses it."""
    assert as_github(ODD, lambda path: path) == (
        "::warning file=a%3Ab%2Cc 100%25.md,line=2,col=3,title=file-name::50%25 of\\nit (hint: mend é)\n"
    )


def test_a_sarif_log_names_tool_rules_and_places(corpus_of: Callable[..., Corpus]):
    """Code scanning refuses a log whose results point at no rule or no place."""
    report = run(corpus_of({"proposed/feature/2026-08-01-ä b.md": "# RFC: X\n"}), RULES)
    log = json.loads(as_sarif(report, lambda path: path, RULES))
    assert log["version"] == "2.1.0"
    (result_run,) = log["runs"]
    rules = result_run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    assert len(result_run["results"]) == len(report.diagnostics) > 3
    for result in result_run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        location = result["locations"][0]["physicalLocation"]
        assert location["region"]["startLine"] >= 1
        assert location["artifactLocation"]["uri"].isascii()
        assert " " not in location["artifactLocation"]["uri"]


def test_json_keeps_characters_as_they_are():
    """A reader of the file is a reader too."""
    assert '"mend é"' in as_json(ODD, lambda path: path)
    assert json.loads(as_json(ODD, lambda path: path))["diagnostics"][0]["column"] == 3


@pytest.mark.parametrize(
    ("text", "shown"), [("a\nb", "a\\nb"), ("\x1b[31m", "\\x1b[31m"), ("\udcff", "\\udcff"), ("é—", "é—")]
)
def test_what_does_not_print_is_spelt_out(text: str, shown: str):
    """One finding is one line, and no file name drives the terminal."""
    assert printable(text) == shown
