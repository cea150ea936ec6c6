"""Input that nobody wants to write and everybody meets: a finding, or exit code 2, and an end."""

import builtins
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dsh_rfc import tree
from dsh_rfc.check import check_record
from dsh_rfc.contract import Contract
from dsh_rfc.corpus import Corpus
from dsh_rfc.engine import run
from dsh_rfc.errors import RecordMissing
from dsh_rfc.formats import as_github, as_json, as_sarif, as_text
from dsh_rfc.record import Record
from dsh_rfc.rules import RULES
from dsh_rfc.tree import Entry, Kind
from dsh_rfc.worktree import of_repository

FOLDER = "proposed/feature"
PATH = f"{FOLDER}/2026-08-01-warm-start.md"
GOOD = f"{FOLDER}/2026-08-02-good.md"
WriteTree = Callable[[Mapping[str, str | bytes]], Path]


def findings(folder: Path) -> list[tuple[str, str]]:
    """Return path and code of what is found, apart from the index."""
    _, report = check_record(Record.open(folder), ignore=["index-stale"])
    assert report.crashes == ()
    return [(item.path, item.code) for item in report.diagnostics]


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000_000,
        "> " * 10_000 + "x\n",
        ">" * 10_000 + "\n# RFC: x\n",
        "- " * 10_000 + "x\n",
        "".join(f"{'  ' * depth}- x\n" for depth in range(500)),
        "[" * 50_000,
        "`" * 100_000 + "\n",
        "# RFC: " + "*a" * 50_000 + "\n",
        "|" * 100_000 + "\n" + "|-" * 50_000 + "\n",
        "<!--\n" * 10_000,
        "<!-- " * 50_000,
        "<div><![ " * 20_000,
        "<div><a " * 20_000,
        "<div><?" * 20_000,
        "<div></" * 20_000,
        "<div><a href='" * 10_000,
        "```\n" * 9_999,
        "[a]: b\n" * 5_000,
        "Status: proposed\n" * 5_000,
        "## Problem\n" * 3_000,
        "\r" * 10_000,
        "\u2028\u0085\x0b\x0c",
    ],
    ids=lambda text: f"{text[:6]!r}-{len(text)}",
)
def test_monstrous_text_ends_in_findings(
    corpus_of: Callable[..., Corpus], proposed: Callable[[str], str], text: str
):
    """A recursion error or a hang in a gate blocks everybody's work."""
    for content in (text, proposed("Warm start").replace("Keep one", f"{text}\n\nKeep one"), f"# RFC: x\n\n{text}"):
        report = run(corpus_of({PATH: content}), RULES)
        assert report.crashes == ()
        assert report.diagnostics


@example(data=b"Status:")
@example(data=b"#")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=80)
    | st.text(alphabet="#-=>`<!ST:atuspro \n\r\t|[]()\ufeff", max_size=80).map(str.encode)
)
def test_no_bytes_crash_a_rule(corpus_of: Callable[..., Corpus], data: bytes):
    """Every rule sees every kind of header, and answers."""
    corpus = corpus_of({PATH: data, "README.md": data, "INDEX.md": data})
    report = run(corpus, RULES)
    assert report.crashes == ()
    for item in report.diagnostics:
        assert item.line >= 1
        assert item.column >= 1
        document = corpus.documents.get(item.path)
        if document is not None:
            assert item.line <= len(document.lines)
            assert item.column <= len(document.lines[item.line - 1]) + 1


def test_things_that_are_no_regular_files_are_unreadable(write_tree: WriteTree, proposed: Callable[[str], str]):
    """Links are not followed and pipes not opened: either may lead anywhere, or nowhere, for ever."""
    folder = write_tree({GOOD: proposed("Good")})
    (folder / FOLDER / "2026-08-03-folder.md").mkdir()
    (folder / FOLDER / "2026-08-03-dangling.md").symlink_to("nowhere.md")
    (folder / FOLDER / "2026-08-03-loop.md").symlink_to("2026-08-03-loop.md")
    (folder / FOLDER / "2026-08-03-link.md").symlink_to("2026-08-02-good.md")
    (folder / "implemented").symlink_to("proposed")
    (folder / FOLDER / "up").symlink_to("..")
    os.mkfifo(folder / FOLDER / "2026-08-03-pipe.md")
    assert findings(folder) == [
        ("implemented", "unreadable"),
        *(
            (f"{FOLDER}/2026-08-03-{name}.md", "unreadable")
            for name in ("dangling", "folder", "link", "loop", "pipe")
        ),
        (f"{FOLDER}/up", "unreadable"),
    ]


@pytest.mark.parametrize("name", ["README.md", "INDEX.md"])
def test_a_folder_named_like_a_page_of_the_record_is_unreadable(
    write_tree: WriteTree, proposed: Callable[[str], str], name: str
):
    """Its files cannot be moved into a lifecycle: it is no misspelt one."""
    folder = write_tree({GOOD: proposed("Good")})
    (folder / name).mkdir()
    assert (name, "unreadable") in findings(folder)
    assert (name, "unknown-lifecycle") not in findings(folder)


def test_a_pipe_named_like_a_list_of_ignored_files_is_not_read(
    write_tree: WriteTree, proposed: Callable[[str], str]
):
    """It holds nothing, and whoever opens it waits."""
    folder = write_tree({f"docs/rfc/{GOOD}": proposed("Good"), "README.md": "[a](gone.md)\n"})
    os.mkfifo(folder / ".gitignore")
    around = of_repository(folder, exclude=(), max_file_bytes=1000)
    assert not around.ignores("gone.md")


def test_notes_of_a_lifecycle_may_be_links(write_tree: WriteTree, proposed: Callable[[str], str]):
    """One text under two names is how many repositories keep them."""
    folder = write_tree({GOOD: proposed("Good"), "proposed/AGENTS.md": "x\n"})
    (folder / "proposed/CLAUDE.md").symlink_to("AGENTS.md")
    assert findings(folder) == []


def test_a_record_reached_by_a_link_is_judged(
    write_tree: WriteTree, proposed: Callable[[str], str], tmp_path: Path
):
    """The caller named it, so the caller means it."""
    write_tree({f"real/{GOOD}": proposed("Good")})
    (tmp_path / "link").symlink_to("real")
    assert findings(tmp_path / "link") == []
    record = Record.open(tmp_path / "link")
    assert record.resolve(tmp_path / "link" / GOOD) == GOOD
    assert record.resolve(tmp_path / "real" / GOOD) == GOOD


def test_a_file_that_the_system_refuses_is_unreadable(
    write_tree: WriteTree, proposed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    """The others are judged, and the reason is the system's own."""
    folder = write_tree({GOOD: proposed("Good"), PATH: proposed("Warm start")})
    real = os.open

    def refusing(path: str, *arguments: int) -> int:
        if str(path).endswith("warm-start.md"):
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments)

    monkeypatch.setattr(tree.os, "open", refusing)
    _, report = check_record(Record.open(folder), ignore=["index-stale"])
    assert [(item.path, item.code, item.message) for item in report.diagnostics] == [
        (PATH, "unreadable", "cannot be read: Permission denied")
    ]


def test_a_folder_that_the_system_refuses_is_unreadable(
    write_tree: WriteTree, proposed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    """What stands in it is unknown, which is not the same as nothing."""
    folder = write_tree({GOOD: proposed("Good"), "rejected/feature/2026-08-03-x.md": "x"})
    real = os.scandir

    def refusing(path: Path) -> object:
        if str(path).endswith("rejected"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(tree.os, "scandir", refusing)
    assert findings(folder) == [("rejected", "unreadable")]


def test_a_folder_that_cannot_be_listed_does_not_make_the_index_stale(
    write_tree: WriteTree, proposed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    """Writing the index anew would drop the rows of what nobody could see."""
    folder = write_tree({GOOD: proposed("Good"), "INDEX.md": "# RFC index\n\nGenerated.\n"})
    assert [item.code for item in check_record(Record.open(folder))[1].diagnostics] == ["index-stale"]
    real = os.scandir

    def refuse(path: Path):
        if str(path).endswith("feature"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(tree.os, "scandir", refuse)
    assert [item.code for item in check_record(Record.open(folder))[1].diagnostics] == ["unreadable"]


@pytest.mark.parametrize("named", [False, True])
def test_a_record_behind_a_closed_door_is_missing(
    write_tree: WriteTree, proposed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, *, named: bool
):
    """The caller can open the door; a report of a bug would send them elsewhere."""
    folder = write_tree({f"docs/rfc/{GOOD}": proposed("Good"), ".git/HEAD": ""})
    real = os.stat

    def refuse(path: os.PathLike[str], **options: object) -> os.stat_result:
        if str(path).endswith("docs/rfc"):
            raise PermissionError(13, "Permission denied")
        return real(path, **options)

    monkeypatch.chdir(folder)
    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(RecordMissing):
        Record.open(folder / "docs/rfc" if named else None)


def test_a_file_that_turns_into_a_pipe_is_unreadable(write_tree: WriteTree, tmp_path: Path):
    """Between listing and opening, anything may happen."""
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(OSError, match="no regular file"):
        tree.read_file(str(tmp_path / "pipe.md"), 10)


def test_a_file_above_the_limit_is_not_parsed(write_tree: WriteTree):
    """A gigabyte with the name of a document is no document."""
    folder = write_tree({PATH: "x" * 11})
    entries = tree.read_tree(folder, max_file_bytes=10)
    assert [entry.fault for entry in entries if entry.path == PATH] == [
        "is larger than 10 bytes, which is no document"
    ]


def test_a_deep_tree_is_walked(write_tree: WriteTree, tmp_path: Path):
    """The walk does not recurse."""
    deep = "/".join(["d"] * 300)
    folder = write_tree({f"proposed/feature/{deep}/x.md": "x"})
    assert (f"proposed/feature/{deep}/x.md", "wrong-depth") in findings(folder)


@pytest.mark.skipif(sys.platform != "linux", reason="file names of any bytes")
def test_file_names_of_any_bytes_are_reported_in_one_printable_line(write_tree: WriteTree):
    """A name with a line feed could forge a finding, one that does not decode could crash the output."""
    folder = write_tree({f"{FOLDER}/a\nb.md": "x"})
    Path(os.fsdecode(os.fsencode(folder / FOLDER) + b"/\xff\x1b[31m.md")).write_text("x")
    record = Record.open(folder)
    rules, report = check_record(record)
    text = as_text(report, record.display)
    assert "a\\nb.md:1:1: file-name " in text
    assert "\x1b" not in text
    for output in (
        text,
        as_json(report, record.display),
        as_sarif(report, record.display, rules),
        as_github(report, record.display),
    ):
        output.encode("utf-8")


def test_nothing_outside_of_the_tree_module_opens_a_judged_file(
    write_tree: WriteTree, proposed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    """One door in: what holds for it holds for every file."""
    record = Record.open(write_tree({GOOD: proposed("Good"), "README.md": "x\n"}))

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a rule opened a file")

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", refuse)
        patch.setattr(os, "open", refuse)
        report = run(record.corpus, RULES)
    assert report.checked == 1


def test_a_flood_of_files_makes_a_finding_each(proposed: Callable[[str], str]):
    """Work grows with the files, not with their pairs: five thousand are a matter of seconds."""
    entries = [Entry(path=path, kind=Kind.FOLDER) for path in ("proposed", FOLDER)]
    entries += [
        Entry(path=f"{FOLDER}/2026-08-01-topic-{number:04}.md", data=f"# RFC: Topic {number}\n".encode())
        for number in range(5_000)
    ]
    report = run(Corpus(contract=Contract(), entries=tuple(entries)), RULES)
    assert report.crashes == ()
    assert report.checked == 5_000
    assert sum(item.code == "status-grammar" for item in report.diagnostics) == 5_000
