"""Running rules: isolation, order, selection, one parse a file."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from dsh_rfc import document
from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.engine import choose, run
from dsh_rfc.errors import CodeUnknown
from dsh_rfc.rfc import Rfc
from dsh_rfc.rules import RULES

FILES = {f"proposed/feature/2026-08-0{day}-topic-{day}.md": f"# RFC: Topic {day}\n" for day in range(1, 6)}
TITLE = next(rule for rule in RULES if rule.code == "header-title")


def test_a_rule_that_crashes_on_one_file_still_judges_the_others(corpus_of: Callable[..., Corpus]):
    """A bug in one rule must not hide what is wrong elsewhere."""

    def check(subject: Rfc, _: Corpus) -> Iterator[Finding]:
        yield Finding(path=subject.path, message="seen")
        if subject.path.endswith("topic-3.md"):
            raise ZeroDivisionError

    report = run(corpus_of(FILES), [replace(TITLE, check=check), *RULES])
    assert [(crash.code, crash.path) for crash in report.crashes] == [
        ("header-title", "proposed/feature/2026-08-03-topic-3.md")
    ]
    assert isinstance(report.crashes[0].error, ZeroDivisionError)
    assert sum(item.message == "seen" for item in report.diagnostics) == len(FILES) - 1
    assert any(item.code == "section-missing" for item in report.diagnostics)


def test_a_rule_that_cannot_list_its_subjects_is_named(corpus_of: Callable[..., Corpus]):
    """The crash is the rule's, wherever in it the bug is."""

    def over(_: Corpus) -> Any:
        raise KeyError("x")

    report = run(corpus_of(FILES), [replace(TITLE, over=over)])
    assert [crash.code for crash in report.crashes] == ["header-title"]


def test_diagnostics_are_sorted_whatever_the_order_of_the_rules(corpus_of: Callable[..., Corpus]):
    """Two runs can be compared line by line."""
    corpus = corpus_of(FILES)
    forward, backward = run(corpus, RULES), run(corpus, tuple(reversed(RULES)))
    assert forward == backward
    assert list(forward.diagnostics) == sorted(forward.diagnostics)


def test_a_file_is_parsed_once_whatever_the_number_of_rules(
    corpus_of: Callable[..., Corpus], monkeypatch: pytest.MonkeyPatch
):
    """Parsing is nearly all of the cost: a second parse doubles the run."""
    parsed: list[str] = []
    parse = document._PARSER.parse

    def counting(text: str, env: Any = None) -> Any:
        parsed.append(text)
        return parse(text, env)

    monkeypatch.setattr(document._PARSER, "parse", counting)
    run(corpus_of(FILES), [*RULES, *RULES])
    assert sorted(parsed) == sorted(FILES.values())


def test_a_run_is_narrowed_to_the_paths_that_are_wanted(corpus_of: Callable[..., Corpus]):
    """An editor or a hook asks for the file at hand."""
    one = "proposed/feature/2026-08-02-topic-2.md"
    report = run(corpus_of(FILES), RULES, wanted=lambda path: path == one)
    assert report.checked == 1
    assert {item.path for item in report.diagnostics} == {one}


def test_an_unknown_code_is_refused_with_what_was_meant():
    """A misspelt --ignore would silently ignore nothing."""
    with pytest.raises(CodeUnknown) as raised:
        choose(RULES, ignore=["section-misssing"])
    assert raised.value.code == "section-misssing"
    assert "section-missing" in str(raised.value)


def test_rules_are_selected_and_ignored_by_code():
    """Both may be combined."""
    assert [rule.code for rule in choose(RULES, select=["index-row", "file-name"], ignore=["index-row"])] == [
        "file-name"
    ]
    assert len(choose(RULES, ignore=["index-row"])) == len(RULES) - 1
