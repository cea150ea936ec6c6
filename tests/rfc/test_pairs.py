"""The command `dsh-rfc pairs`: states, confirming, and what it refuses."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from dsh_rfc.contract import Contract
from dsh_rfc.document import Document
from dsh_rfc.pairs import Pair, read_record, render_record
from dsh_rfc.structure import Connection, first_difference, read_outline
from dsh_rfc.switcher import find_switchers, switcher_text

ENGLISH = "# Start\n\nEnglish | [中文](start.zh.md)\n\n## Why\n\nIt is quick.\n"
CHINESE = "# 开始\n\n[English](start.md) | 中文\n\n## 原因\n\n很快。\n"
TOML = """pairs-required = ["docs/index.md", "docs/start.md"]
pairs-excluded = ["docs/reference"]
ignore = ["index-stale"]
"""

Repository = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture
def repository(write_tree: Callable[..., Path], proposed: Callable[[str], str]) -> Path:
    """A repository with a pair that nobody has confirmed."""
    folder = write_tree(
        {
            "dsh-rfc.toml": TOML,
            "docs/rfc/proposed/feature/2026-08-01-warm-start.md": proposed("Warm start"),
            "docs/start.md": ENGLISH,
            "docs/start.zh.md": CHINESE,
            "docs/index.md": "# Index\n",
            "docs/other.md": "# Other\n",
            "docs/reference/cli.md": "# Command\n",
        }
    )
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


def test_every_document_is_listed_with_its_state_and_the_command_does_not_fail(repository: Path, run_command):
    """The list is what a translator works from, so what is missing is an answer and no fault."""
    outcome = run_command("pairs", cwd=repository)
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "required    docs/index.md",
        "single      docs/other.md",
        "excluded    docs/reference/cli.md",
        "single      docs/rfc/proposed/feature/2026-08-01-warm-start.md",
        "incomplete  docs/start.md  (there is no start.i18n.yaml)",
    ]
    assert outcome.err == "5 documents: 1 incomplete, 1 required, 2 single, 1 excluded\n"


def test_confirming_records_git_s_hashes_and_shows_them(repository: Path, run_command):
    """What was confirmed can be printed by git, and the line in the diff is the statement of a person."""
    outcome = run_command("pairs", "--confirm", "docs/start.zh.md", cwd=repository)
    assert outcome.code == 0
    recorded = yaml.safe_load((repository / "docs/start.i18n.yaml").read_text(encoding="utf-8"))
    names = ["start.md", "start.zh.md"]
    command = ["git", "hash-object", *(f"docs/{name}" for name in names)]
    theirs = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout.split()
    assert recorded == dict(zip(names, theirs, strict=True))
    assert outcome.out.splitlines() == [
        "confirmed  docs/start.md",
        f"    start.md  new -> {theirs[0][:12]}",
        f"    start.zh.md  new -> {theirs[1][:12]}",
    ]
    assert "confirmed   docs/start.md\n" in run_command("pairs").out


def test_a_pair_goes_stale_with_either_side_and_is_confirmed_again(repository: Path, run_command):
    """Neither language is the original, so either change needs a look at the other side."""
    run_command("pairs", "--confirm", cwd=repository)
    check = ("check", "--select", "pair-stale", "docs/start.md", "docs/start.zh.md")
    assert run_command(*check).code == 0
    for name, text in (("start.md", ENGLISH), ("start.zh.md", CHINESE)):
        (repository / "docs" / name).write_text(f"{text}\nMore.\n", encoding="utf-8")
        outcome = run_command(*check)
        assert outcome.code == 1
        assert outcome.out.startswith(f"docs/{name}:1:1: pair-stale ")
        assert f"stale       docs/start.md  ({name} changed)\n" in run_command("pairs").out
        outcome = run_command("pairs", "--confirm", "docs")
        assert outcome.err == "1 pair confirmed, 0 unchanged\n"
        assert run_command(*check).code == 0


def test_confirming_what_is_confirmed_changes_no_byte(repository: Path, run_command):
    """A record that changes without a reason would be noise in every diff."""
    run_command("pairs", "--confirm", cwd=repository)
    record = repository / "docs/start.i18n.yaml"
    before = (record.read_bytes(), record.stat().st_mtime_ns)
    outcome = run_command("pairs", "--confirm")
    assert outcome.out == "unchanged  docs/start.md\n"
    assert (record.read_bytes(), record.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("docs/index.md", "there is no index.zh.md beside it"),
        ("docs/absent.md", "does not exist"),
        ("dsh-rfc.toml", "is no document"),
        ("docs/reference/cli.md", "the document may have no counterpart"),
    ],
)
def test_what_is_no_pair_cannot_be_confirmed(path: str, words: str, repository: Path, run_command):
    """Somebody who names a document believes that it is one, and must hear otherwise."""
    (repository / "docs/reference/cli.zh.md").write_text("# 命令\n", encoding="utf-8")
    outcome = run_command("pairs", "--confirm", path, cwd=repository)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert not list(repository.glob("docs/**/*.i18n.yaml"))


def test_checking_one_file_of_a_pair_reports_what_is_wrong_with_that_file(repository: Path, run_command):
    """A hook hands over the files that changed, and those alone."""
    run_command("pairs", "--confirm", cwd=repository)
    for name, text in (("start.md", ENGLISH), ("start.zh.md", CHINESE)):
        (repository / "docs" / name).write_text(f"{text}\n- More\n", encoding="utf-8")
    english, chinese = (run_command("check", f"docs/{name}").out for name in ("start.md", "start.zh.md"))
    assert english.count("\n") == chinese.count("\n") == 2
    assert "pair-stale" in english
    assert "pair-stale" in chinese


def test_a_crlf_checkout_of_a_confirmed_pair_is_confirmed(repository: Path, run_command):
    """The same commit must have the same verdict on every machine."""
    (repository / ".gitattributes").write_text("* text=auto\n", encoding="utf-8")
    run_command("pairs", "--confirm", cwd=repository)
    for name in ("start.md", "start.zh.md", "start.i18n.yaml"):
        file = repository / "docs" / name
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert run_command("check", "--select", "pair-stale").code == 0
    (repository / ".gitattributes").write_text("* -text\n", encoding="utf-8")
    assert run_command("check", "--select", "pair-stale").code == 1


@pytest.mark.parametrize(
    "names",
    [
        ["start.md", "start.zh.md"],
        ["a: b.md", "a: b.zh.md"],
        ["# a.md", "'.zh.md"],
        ["\u4e00.md", "-.md"],
        ["true.md", "null"],
    ],
)
@pytest.mark.parametrize("digest", ["0" * 40, "1" * 40, "12e4" * 10, "abcd" * 16])
def test_a_record_reads_as_it_was_written(names: list[str], digest: str):
    """YAML takes digits for numbers, and file names may hold its punctuation."""
    text = render_record(dict.fromkeys(names, digest))
    record = read_record(text.encode())
    assert record.fault == ""
    assert [(item.name, item.digest) for item in record.confirmed] == [(name, digest) for name in names]
    assert [item.line for item in record.confirmed] == [3, 4]


@pytest.mark.parametrize("text", ["a: [", "- a", "a", "", "a: {b: c}", "a: 1\na: 2\n", "{[a]: b}", b"\xff: a"])
def test_a_broken_record_is_a_fault_and_not_a_crash(text: str | bytes):
    """A merge conflict in a record is an everyday thing."""
    assert read_record(text if isinstance(text, bytes) else text.encode()).fault


def test_a_merge_conflict_in_a_record_is_named(repository: Path, run_command):
    """Two branches that confirm the same pair collide in its record."""
    conflict = "<<<<<<< ours\nstart.md: 00\n=======\nstart.md: 11\n>>>>>>> theirs\n"
    (repository / "docs/start.i18n.yaml").write_text(conflict, encoding="utf-8")
    outcome = run_command("check", "--select", "pair-incomplete", cwd=repository)
    assert outcome.code == 1
    assert outcome.out.startswith("docs/start.i18n.yaml:")
    assert run_command("pairs", "--confirm", "docs/start.md").code == 0
    assert run_command("check", "--select", "pair-incomplete").code == 0


def test_the_switcher_of_three_languages_leads_to_both_others():
    """The contract names languages; two of them is a default and no limit."""
    contract = Contract(translations=("zh", "de"), language_names={"en": "English", "zh": "中文", "de": "Deutsch"})
    sides = {"": "docs/a b.md", "zh": "docs/a b.zh.md", "de": "docs/a b.de.md"}
    pair = Pair(path="docs/a b.md", sides=sides)
    text = switcher_text(pair, "zh", contract)
    assert text == "[English](a%20b.md) | 中文 | [Deutsch](a%20b.de.md)"
    document = Document(path="docs/a b.zh.md", text=f"# A\n\n{text}\n\nA | B\n")
    assert list(find_switchers(document, contract)) == [(3, text)]


def test_the_first_difference_is_found_before_later_ones_and_a_missing_section_before_its_links():
    """A missing section moves every link after it, and the section is what the reader must hear of."""
    ours = Document(path="a.zh.md", text="# 一\n\n## 二\n\n[x](x)\n[y](y)\n")
    theirs = Document(path="a.md", text="# A\n\n## B\n\n[x](x)\n\n## C\n\n[y](y)\n")
    links = [Connection(meaning=name, shown=name, line=line) for name, line in (("x", 5), ("y", 6))]
    others = [Connection(meaning=name, shown=name, line=line) for name, line in (("x", 5), ("y", 9))]
    found = first_difference(read_outline(ours, links), read_outline(theirs, others))
    assert found is not None
    assert (found.other_line, found.other_shown) == (7, "a heading of level 2")
    assert first_difference(read_outline(theirs, others), read_outline(theirs, reversed(others))) is None


def test_the_pairs_of_a_real_record_are_as_its_own_checker_left_them(real_corpus: Path, run_command):
    """Other people wrote, confirmed and checked them: what is found there is found by mistake."""
    rules = ("incomplete", "stale", "switcher", "structure", "required", "excluded")
    codes = [f"pair-{rule}" for rule in rules] + ["contract-prose"]
    selected = [word for code in codes for word in ("--select", code)]
    outcome = run_command("check", *selected, cwd=real_corpus / "conforming")
    assert (outcome.code, outcome.out) == (0, "")
    listed = run_command("pairs").out.splitlines()
    assert [line.split()[1] for line in listed if not line.startswith(("single", "excluded"))] == [
        "docs/i18n/README.md",
        "docs/i18n/translation-rules.md",
        "docs/rfc/implemented/process/2026-07-02-bilingual-docs-and-pairing-gate.md",
    ]
    assert sum(line.startswith("confirmed ") for line in listed) == 3
