"""Links in whole repositories: what git tracks, letter cases, folders that are excluded, and a real record."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dsh_rfc.anchors import read_anchors
from dsh_rfc.check import check_record
from dsh_rfc.document import Document
from dsh_rfc.links import HtmlReader, read_links
from dsh_rfc.record import Record
from dsh_rfc.targets import Reach, read_target, way

LINK_CODES = (
    "link-missing",
    "link-anchor",
    "link-escapes",
    "link-image",
    "link-bare",
    "link-reference-missing",
    "link-reference-unused",
    "link-reference-repeated",
)
RFC = "docs/rfc/proposed/feature/2026-08-01-warm-start.md"

# What the rules say of the real record, each looked at by hand, and why it is right.
CONFIRMED = {
    (
        "docs/rfc/implemented/architecture/2026-06-11-microkernel-event-taxonomy.md",
        "link-anchor",
        "docs/cookbook/extension-cookbook.md has no anchor #the-feature--mechanism-map",
    ): "the page is an empty placeholder in this copy, so it has no headings",
    (
        "docs/rfc/implemented/feature/2026-06-30-interception-seams.md",
        "link-anchor",
        "docs/core-data-structures/core.md has no anchor #interception-decisions",
    ): "the page is an empty placeholder in this copy, so it has no headings",
    (
        "docs/rfc/proposed/architecture/2026-06-16-typed-event-schemas.md",
        "link-bare",
        "'RFC-009' names an RFC by number and does not link to it",
    ): "the record gave its numbers up for dates; nobody can tell which file is meant",
}

Found = list[tuple[str, str, str]]


@pytest.fixture
def find(write_tree: Callable[..., Path], proposed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch):
    """Return a judge of the links of a repository with one RFC in it."""

    def judge(
        files: Mapping[str, str | bytes], *, with_git: bool = False, untracked: tuple[str, ...] = ()
    ) -> Found:
        folder = write_tree({RFC: proposed("Warm start"), **files})
        if with_git:
            git(folder, "init", "-q")
            git(folder, "add", "-A")
            for path in untracked:
                git(folder, "rm", "-q", "--cached", path)
        monkeypatch.chdir(folder)
        return findings(Record.open(None))

    return judge


def git(folder: Path, *arguments: str) -> None:
    """Run git there."""
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def findings(record: Record) -> Found:
    """Return path, code and message of what the rules of links find."""
    _, report = check_record(record, select=LINK_CODES)
    assert not report.crashes
    return [(item.path, item.code, item.message) for item in report.diagnostics]


@pytest.mark.parametrize("with_git", [False, True])
def test_a_link_is_judged_in_every_markdown_file_of_the_repository(find, with_git):
    """A record is entered from READMEs and guides, and those rot as well."""
    pages = ("README.md", "docs/guides/a.md", "packages/x/README.md", ".github/NOTES.md", "a.markdown")
    found = find(dict.fromkeys(pages, "[x](gone.md)\n"), with_git=with_git)
    assert sorted(path for path, _, _ in found) == sorted(pages)


@pytest.mark.parametrize("with_git", [False, True])
def test_what_git_ignores_is_not_judged(find, with_git):
    """Caches and environments are full of the Markdown of others."""
    files = {".gitignore": "/build/\n*.tmp.md\n", "build/a.md": "[x](gone.md)\n", "b.tmp.md": "[x](gone.md)\n"}
    assert find({**files, "docs/.gitignore": "own/\n", "docs/own/c.md": "[x](gone.md)\n"}, with_git=with_git) == []


def test_what_git_ignores_is_missing_to_everybody_else(find):
    """The link works here, on this disk, and on no other."""
    files = {".gitignore": "/build/\n", "build/a.md": "# A\n", "README.md": "[x](build/a.md)\n"}
    assert find(files, with_git=True) == [("README.md", "link-missing", "build/a.md does not exist")]


def test_a_new_file_counts_before_it_is_added(find):
    """Its author runs the gates first and git second."""
    files = {"README.md": "[x](new.md)\n", "new.md": "[x](gone.md)\n"}
    assert find(files, with_git=True, untracked=("new.md",)) == [
        ("new.md", "link-missing", "gone.md does not exist")
    ]


def test_a_file_that_was_deleted_and_not_committed_is_missing(find, tmp_path):
    """Git lists it still."""
    find({"README.md": "[x](a.md)\n", "a.md": "# A\n"}, with_git=True)
    (tmp_path / "a.md").unlink()
    assert findings(Record.open(None)) == [("README.md", "link-missing", "a.md does not exist")]


@pytest.mark.parametrize("with_git", [False, True])
def test_a_folder_can_be_linked_to_and_a_letter_case_cannot_be_guessed(find, with_git):
    """File systems that fold case hide the fault from whoever makes it."""
    files = {"README.md": "[a](docs/) [b](docs/rfc) [c](Docs/rfc/) [d](docs/A.md)\n", "docs/a.md": "# A\n"}
    assert find(files, with_git=with_git) == [
        ("README.md", "link-missing", "Docs/rfc is spelled docs/rfc"),
        ("README.md", "link-missing", "docs/A.md is spelled docs/a.md"),
    ]


@pytest.mark.parametrize("with_git", [False, True])
def test_excluded_folders_are_not_judged_and_can_be_linked_to(find, with_git):
    """Vendored pages have dead links of their own, and live anchors."""
    files = {
        "vendor/a.md": "# A\n\n[x](gone.md)\n",
        "docs/made/b.md": "[x](gone.md)\n",
        "other/made/c.md": "[x](gone.md)\n",
        "README.md": "[a](vendor/a.md#a) [b](vendor/a.md#b)\n",
        "dsh-rfc.toml": 'exclude = ["vendor", "docs/made"]\n',
    }
    assert find(files, with_git=with_git) == [
        ("README.md", "link-anchor", "vendor/a.md has no anchor #b"),
        ("other/made/c.md", "link-missing", "other/made/gone.md does not exist"),
    ]


def test_a_link_that_climbs_out_of_the_repository_is_refused(find):
    """What lies around a clone is different on every machine."""
    files = {"README.md": "[x](../x.md)\n", "docs/a.md": "[x](../../x.md) [y](../README.md) [z](..) [w](../..)\n"}
    assert find(files) == [
        ("README.md", "link-escapes", "../x.md leaves the repository"),
        ("docs/a.md", "link-escapes", "../../x.md leaves the repository"),
        ("docs/a.md", "link-escapes", "../.. leaves the repository"),
    ]


def test_what_lies_behind_a_symbolic_link_is_not_judged(find, tmp_path):
    """It is not ours to know, and may not be there tomorrow."""
    (tmp_path / "away").symlink_to("/nowhere")
    assert find({"README.md": "[a](away) [b](away/x.md#y)\n"}, with_git=True) == []


def test_the_fragment_of_a_folder_is_one_of_its_front_page(find):
    """GitHub shows the front page below the list of files."""
    files = {"README.md": "[a](docs#b) [c](docs#d)\n", "docs/README.md": "# B\n"}
    assert find(files) == [("README.md", "link-anchor", "docs/README.md has no anchor #d")]


def test_a_named_record_in_its_usual_place_is_judged_with_what_lies_around_it(find, tmp_path, proposed):
    """Its links into the code are as dead when the record is named by its folder."""
    files = {
        RFC: proposed("Warm start") + "\n[a](../../../../src/a.py) [b](../../../../src/b.py)\n",
        "README.md": "[x](gone.md)\n",
        "src/a.py": "",
    }
    find(files)
    found = findings(Record.open(tmp_path / "docs/rfc"))
    assert found == [(RFC, "link-missing", "src/b.py does not exist")]


def test_a_path_on_the_command_line_may_be_a_page_that_is_no_rfc(find, tmp_path, run_command):
    """An editor asks about the file in hand."""
    find({"docs/guides/a.md": "[x](gone.md)\n", "README.md": "[x](gone.md)\n"})
    outcome = run_command("check", "docs/guides/a.md", cwd=tmp_path)
    assert outcome.code == 1
    assert outcome.out.splitlines()[0] == "docs/guides/a.md:1:1: link-missing docs/guides/gone.md does not exist"
    assert outcome.err == "0 RFCs and 1 other page checked, 1 finding in 1 file\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a [b](c)\n", (1, 3)),
        ("- a\n  > b\n  > [c](d)\n", (3, 5)),
        ("| a | b |\n|---|---|\n| c \\| d | e [f](g) |\n", (3, 14)),
        ("| a |\n|---|\n| c \\| [f](g) |\n", (3, 8)),
        ("a\n# [b](c) #\n", (2, 3)),
        ("a\n[b\nc](d)\n---\n", (2, 1)),
        ("<div>\n  <a\n   href='b'>\n</div>\n", (2, 3)),
        ("中 [b](c)\n", (1, 3)),
        ("a \\[b\\] &amp; [c](d)\n", (1, 15)),
    ],
)
def test_a_link_is_found_where_it_is_written(text, place):
    """An editor jumps there."""
    (link,) = read_links(Document(path="a.md", text=text)).links
    assert (link.line, link.column) == place


@pytest.mark.parametrize(
    ("written", "reach", "path", "fragment"),
    [
        ("b.md", Reach.HERE, "docs/b.md", ""),
        ("./b.md#c", Reach.HERE, "docs/b.md", "c"),
        ("../b%20c.md#d%20e", Reach.HERE, "b c.md", "d e"),
        ("b%23c.md", Reach.HERE, "docs/b#c.md", ""),
        ("100%.md", Reach.HERE, "docs/100%.md", ""),
        ("#c", Reach.HERE, "docs/a.md", "c"),
        ("", Reach.NOWHERE, "", ""),
        ("..", Reach.HERE, "", ""),
        ("../../x", Reach.OUTSIDE, "../x", ""),
        ("/x", Reach.ABSOLUTE, "x", ""),
        ("\\\\host\\x", Reach.ABSOLUTE, "host\\x", ""),
        ("//example.org/x", Reach.OTHER, "", ""),
        ("HTTPS://example.org", Reach.WEB, "", ""),
        ("mailto:ada@example.org", Reach.OTHER, "", ""),
        ("data:image/png;base64,AA", Reach.OTHER, "", ""),
        ("file:///etc/hosts", Reach.ABSOLUTE, "etc/hosts", ""),
        ("D:\\x", Reach.ABSOLUTE, "x", ""),
        ("b.md#c:~:text=d", Reach.HERE, "docs/b.md", "c"),
        ("a:b", Reach.ABSOLUTE, "b", ""),
    ],
)
def test_a_target_means_what_a_browser_takes_it_for(written, reach, path, fragment):
    """A path that is read differently is looked for in the wrong place."""
    target = read_target(written, "docs/a.md")
    assert (target.reach, target.path, target.fragment) == (reach, path, fragment)


WORDS = "[a] (b.md) [^1] ![ ]( ] [ <a <h2> </h2> <!-- --> ` ``` | # \\ &amp; https://g.h/ < > 中 {#i} * _ \" ' x"
LINES = ["[c]: d.md", "[^1]: e", "\n", "\n\n", "> ", "- ", "1. ", "|---|\n", "    ", "\t", "\u00a0", " ", "---\n"]
PIECES = st.sampled_from([*WORDS.split(" "), *LINES, " href='f'>", " srcset='j 1x, k'>"])


@given(st.lists(PIECES, max_size=30).map("".join))
@example("| a\\|b | [c](d) |\n|---|---|\n| \\| [e](f) | g |\n")
@example("<h2><![[a]")
@example("\xa0\n[a][a]")
@example("> - a\n> [b](c)\n")
def test_whatever_is_typed_every_link_stands_where_its_text_starts(text):
    """A crash on odd Markdown is a run without a verdict, and a place outside of the file helps nobody."""
    document = Document(path="a.md", text=text)
    links = read_links(document)
    read_anchors(document)
    for item in (*links.links, *links.definitions, *links.repeated, *links.missing):
        line = document.lines[item.line - 1]
        assert 1 <= item.column <= len(line)
        assert line[item.column - 1] in "[!<h"


@pytest.mark.parametrize("folder", ["a/../b", "*.md", "", "/", "./a"])
def test_a_folder_that_cannot_be_excluded_is_refused(find, tmp_path, run_command, folder):
    """A pattern that excludes nothing, because it means something else, would go unnoticed."""
    find({"dsh-rfc.toml": ""})
    (tmp_path / "dsh-rfc.toml").write_text(f"exclude = [{folder!r}]\n", encoding="utf-8")
    outcome = run_command("check", cwd=tmp_path)
    assert outcome.code == 2
    assert f"exclude.0 = {folder!r}" in outcome.err


@pytest.mark.skipif(sys.platform != "linux", reason="file names that are not UTF-8")
def test_a_percent_encoded_name_may_hold_any_bytes(find, tmp_path, monkeypatch):
    """An old repository has names in Latin-1, and a link to one is written this way."""
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("# A\n", encoding="utf-8")
    assert find({"README.md": "[x](caf%e9.md)\n"}) == []


@pytest.mark.parametrize("opening", ["<a ", "</", "<?", "<![", "<!x", "<!--"])
def test_what_is_never_closed_is_read_once(opening: str):
    """A reader that starts anew behind each opening needs hours for a page of them."""
    steps = []

    class Counting(HtmlReader):
        def updatepos(self, i: int, j: int) -> int:
            steps.append(i)
            return super().updatepos(i, j)

    reader = Counting()
    reader.feed(opening * 50)
    reader.close()
    assert len(steps) < 10


def test_a_way_leads_back_to_where_it_was_asked_for():
    """A hint that is pasted has to be right."""
    for path in ("a.md", "docs/b.md", "docs/c/d e.md", "x/(y).md", ""):
        target = read_target(way("docs/guides/a.md", path).strip("<>"), "docs/guides/a.md")
        assert (target.reach, target.path) == (Reach.HERE, path)


def test_every_finding_in_a_real_repository_was_confirmed_by_hand(real_corpus: Path, monkeypatch):
    """A false finding on a real record costs more trust than a true one earns."""
    monkeypatch.chdir(real_corpus / "conforming")
    record = Record.open(None)
    assert sorted(findings(record)) == sorted(CONFIRMED)
    for _, _, message in CONFIRMED:
        if "has no anchor" in message:
            page = record.corpus.page_at(message.split(" ", 1)[0])
            assert page is not None
            assert page.is_blank
