"""The command: exit codes, where it prints, which record it means."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dsh_rfc import __version__, check, cli, generated
from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rules import RULES

PATH = "docs/rfc/proposed/feature/2026-08-01-warm-start.md"
WriteTree = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture
def repository(write_tree: WriteTree, proposed: Callable[[str], str], run_command) -> Path:
    """A repository with one good RFC and a fresh index."""
    folder = write_tree({PATH: proposed("Warm start"), "src/code.py": ""})
    (folder / ".git").mkdir()
    assert run_command("index", cwd=folder).code == 0
    return folder


def test_a_clean_record_is_exit_code_0_with_nothing_on_stdout(repository: Path, run_command):
    """A pipe gets findings and nothing else; a person gets a summary."""
    outcome = run_command("check", cwd=repository)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "1 RFC checked, no findings\n")


def test_a_finding_is_exit_code_1_with_place_code_message_and_hint(repository: Path, run_command):
    """The form is the one that editors and people know from compilers."""
    file = repository / PATH
    file.write_text(file.read_text().replace("## Risks", "## Dangers"))
    outcome = run_command("check")
    assert outcome.code == 1
    assert outcome.out == (
        f"{PATH}:1:1: section-missing proposed/ requires a section `## Risks`\n"
        "    hint: add the section, under exactly this name\n"
    )
    assert outcome.err == "1 RFC checked, 1 finding in 1 file\n"


def test_paths_are_relative_to_where_one_stands(repository: Path, run_command):
    """A path that is printed can be opened."""
    (repository / PATH).write_text("x\n")
    outcome = run_command("check", "--select", "header-title", cwd=repository / "src")
    assert outcome.out.startswith(f"../{PATH}:1:1: header-title ")
    outcome = run_command("check", "--select", "header-title", cwd=(repository / PATH).parent)
    assert outcome.out.startswith("2026-08-01-warm-start.md:1:1: header-title ")


def test_a_root_is_judged_under_the_default_contract_from_anywhere(repository: Path, run_command):
    """Any tree can be judged, whatever the repository around it says."""
    (repository / "dsh-rfc.toml").write_text('classes = ["other"]\n')
    assert run_command("check", cwd=repository).code == 1
    assert run_command("check", "--root", "docs/rfc").code == 0
    outcome = run_command("check", "--root", repository / "docs" / "rfc", cwd=Path("/"))
    assert (outcome.code, outcome.out) == (0, "")


def test_paths_narrow_the_findings(repository: Path, proposed: Callable[[str], str], run_command):
    """A hook hands over the files of a commit."""
    other = repository / "docs/rfc/rejected/feature/2026-08-02-cold.md"
    other.parent.mkdir(parents=True)
    other.write_text(proposed("Cold"))
    assert run_command("check", PATH).code == 0
    assert run_command("check", repository / PATH).code == 0
    outcome = run_command("check", "docs/rfc/rejected")
    assert outcome.code == 1
    assert outcome.err.startswith("1 RFC checked, ")
    assert all("2026-08-02-cold.md" in line for line in outcome.out.splitlines() if not line.startswith(" "))
    assert run_command("check", ".").err.startswith("2 RFCs checked, ")


def test_a_path_below_an_unknown_folder_shows_the_finding_on_the_folder(repository: Path, run_command):
    """Asked about the file, the answer is that its folder is wrong."""
    file = repository / "docs/rfc/propsed/feature/2026-08-02-cold.md"
    file.parent.mkdir(parents=True)
    file.write_text("x")
    outcome = run_command("check", file)
    assert outcome.code == 1
    assert outcome.out.startswith("docs/rfc/propsed:1:1: unknown-lifecycle ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "no-such-file.md"],
        ["check", "src/code.py"],
        ["check", "--root", "no-such-folder"],
        ["check", "--root", PATH],
        ["check", "--root", "src"],
        ["check", "--select", "no-such-code"],
        ["check", "--ignore", "no-such-code"],
        ["check", "--format", "xml"],
        ["check", "--no-such-option"],
        ["index", "--root", "no-such-folder"],
        ["explain", "no-such-code"],
        ["explain", "a", "b"],
        ["no-such-command"],
        [],
    ],
    ids=" ".join,
)
def test_what_cannot_be_judged_is_exit_code_2_and_says_why(repository: Path, run_command, arguments: list[str]):
    """A caller that sees 1 must be able to trust that something was judged."""
    outcome = run_command(*arguments, cwd=repository)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err
    assert "Traceback" not in outcome.err


def test_a_wrong_configuration_is_exit_code_2_and_names_the_key(repository: Path, run_command):
    """It is no finding: nothing was judged."""
    (repository / "dsh-rfc.toml").write_text('clases = ["other"]\n')
    outcome = run_command("check", cwd=repository)
    assert outcome.code == 2
    assert "did you mean 'classes'" in outcome.err


def test_a_rule_of_the_configuration_is_ignored(repository: Path, run_command):
    """A repository may do without a rule; a misspelt one is refused."""
    (repository / "docs/rfc/INDEX.md").unlink()
    assert run_command("check", cwd=repository).code == 1
    (repository / "dsh-rfc.toml").write_text('ignore = ["index-stale"]\n')
    assert run_command("check").code == 0
    (repository / "dsh-rfc.toml").write_text('ignore = ["index-stal"]\n')
    assert run_command("check").code == 2


def test_no_repository_is_exit_code_2(write_tree: WriteTree, run_command):
    """Nor is a repository without a record clean."""
    folder = write_tree({"x": ""})
    (folder / ".git").mkdir()
    outcome = run_command("check", cwd=folder)
    assert outcome.code == 2
    assert "--root" in outcome.err


def test_an_empty_record_is_exit_code_2(write_tree: WriteTree, run_command):
    """No file matched is no verdict."""
    folder = write_tree({"docs/rfc/README.md": "# RFCs\n"})
    assert run_command("check", "--root", folder / "docs/rfc", "--ignore", "index-stale").code == 2


def test_help_and_version_are_exit_code_0(run_command):
    """They are answers."""
    assert run_command("--version").out.strip().endswith(__version__)
    assert "explain" in run_command("--help").out
    assert "--select" in run_command("check", "--help").out
    assert run_command("check", "--help").code == 0


def test_explain_prints_the_page_of_a_rule_and_the_list_of_all(run_command):
    """The code that a finding prints leads to its reason."""
    assert run_command("explain", "status-folder").out.startswith("# status-folder\n")
    assert all(run_command("explain", rule.code).code == 0 for rule in RULES)
    listing = run_command("explain")
    assert listing.code == 0
    assert len(listing.out.splitlines()) == len(RULES)


def test_json_holds_the_count_and_every_field(repository: Path, run_command):
    """The keys are an interface."""
    file = repository / PATH
    file.write_text(file.read_text().replace("Status: proposed", "Status: implemented"))
    outcome = run_command("check", "--format", "json")
    assert outcome.code == 1
    report = json.loads(outcome.out)
    assert list(report) == ["checked", "diagnostics"]
    assert report["checked"] == 1
    (diagnostic,) = report["diagnostics"]
    assert list(diagnostic) == ["path", "line", "column", "code", "severity", "message", "hint"]
    assert (diagnostic["path"], diagnostic["line"], diagnostic["column"]) == (PATH, 3, 9)
    assert (diagnostic["code"], diagnostic["severity"]) == ("status-folder", "error")


@pytest.mark.parametrize(
    ("format_name", "start"),
    [("text", f"{PATH}:3:9: "), ("sarif", "{"), ("github", f"::error file={PATH},line=3,col=9,")],
)
def test_every_format_leaves_through_stdout_with_the_same_exit_code(
    repository: Path, run_command, format_name: str, start: str
):
    """The format is for the reader; the verdict is the same."""
    file = repository / PATH
    file.write_text(file.read_text().replace("Status: proposed", "Status: implemented"))
    outcome = run_command("check", "--format", format_name)
    assert (outcome.code, outcome.err) == (1, "1 RFC checked, 1 finding in 1 file\n")
    assert outcome.out.startswith(start)


def test_a_crash_while_looking_for_obstacles_is_exit_code_2(
    repository: Path, run_command, monkeypatch: pytest.MonkeyPatch
):
    """An index over files that could not be judged might hide one."""

    def crashing(*_: object) -> Iterator[Finding]:
        raise ZeroDivisionError
        yield

    broken = tuple(replace(rule, check=crashing) if rule.code == "wrong-depth" else rule for rule in RULES)
    monkeypatch.setattr(check, "RULES", broken)
    assert run_command("index", "--check").code == 2


def test_a_path_outside_of_the_record_is_exit_code_2(repository: Path, run_command, tmp_path_factory):
    """It was asked about, and nothing was judged."""
    outside = tmp_path_factory.mktemp("outside") / "x.md"
    outside.write_text("x")
    outcome = run_command("check", outside)
    assert outcome.code == 2
    assert "outside" in outcome.err


def test_an_index_is_written_once_and_checked_without_writing(repository: Path, run_command):
    """The check is the same code path, so what was just written is fresh."""
    path = repository / "docs/rfc/INDEX.md"
    written = path.read_bytes()
    assert b"\r" not in written
    assert run_command("index").err == "docs/rfc/INDEX.md already up to date\n"
    path.write_bytes(written.replace(b"Warm", b"Cold"))
    stale = path.read_bytes()
    outcome = run_command("index", "--check")
    assert outcome.code == 1
    assert path.read_bytes() == stale
    assert "-| [Cold start](" in outcome.out
    assert "+| [Warm start](" in outcome.out
    assert outcome.err == "docs/rfc/INDEX.md is stale; run `dsh-rfc index`\n"
    assert run_command("index").code == 0
    assert path.read_bytes() == written
    assert run_command("index", "--check").code == 0


def test_the_check_of_an_index_sees_every_byte(repository: Path, run_command):
    """A banner, a line end or a missing newline is a difference too."""
    path = repository / "docs/rfc/INDEX.md"
    written = path.read_bytes()
    for changed in (
        written.replace(b"do not edit", b"edit at will"),
        written.replace(b"\n", b"\r\n"),
        written[:-1],
        written.replace(b"Warm", b"W\xfcrm"),
        b"",
    ):
        path.write_bytes(changed)
        outcome = run_command("index", "--check")
        assert (outcome.code, bool(outcome.out)) == (1, True)
    path.unlink()
    assert run_command("index", "--check").code == 1


def test_the_command_that_mends_a_rooted_index_names_the_root(repository: Path, run_command):
    """It can be copied."""
    (repository / "docs/rfc/INDEX.md").unlink()
    outcome = run_command("index", "--check", "--root", "docs/rfc")
    assert outcome.err.endswith("run `dsh-rfc index --root docs/rfc`\n")


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        ("proposed/feature/2026-02-30-x.md", "# RFC: X\n", "file-name"),
        ("proposed/2026-02-03-x.md", "# RFC: X\n", "wrong-depth"),
        ("propose/feature/2026-02-03-x.md", "# RFC: X\n", "unknown-lifecycle"),
        ("proposed/feat/2026-02-03-x.md", "# RFC: X\n", "unknown-class"),
        ("proposed/feature/2026-02-03-x.md", b"# RFC: \xff\n", "unreadable"),
        ("proposed/feature/2026-02-03-x.md", "no title\n", "header-title"),
        ("proposed/feature/2026-02-03-x.md", "", "header-title"),
    ],
)
def test_what_cannot_be_listed_refuses_the_index(
    repository: Path, run_command, path: str, text: str | bytes, code: str
):
    """An index that leaves a file out would hide it."""
    index = repository / "docs/rfc/INDEX.md"
    before = index.read_bytes()
    file = repository / "docs/rfc" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    for arguments in (["index"], ["index", "--check"]):
        outcome = run_command(*arguments)
        assert outcome.code == 1
        assert f" {code} " in outcome.out
    assert index.read_bytes() == before


def test_what_is_wrong_inside_a_file_does_not_refuse_the_index(repository: Path, run_command):
    """Whoever writes an RFC wants it listed before it is finished."""
    (repository / "docs/rfc/proposed/feature/2026-08-02-draft.md").write_text("# Draft\n\nStatus: none\n")
    (repository / "docs/rfc/README.md").write_bytes(b"\xff")
    (repository / "docs/rfc/INDEX.md").write_bytes(b"\xff")
    assert run_command("index").code == 0
    assert "| [Draft](proposed/feature/2026-08-02-draft.md) | 2026-08-02 |" in (
        repository / "docs/rfc/INDEX.md"
    ).read_text(encoding="utf-8")


def test_an_index_that_cannot_be_written_is_exit_code_2(
    repository: Path, run_command, monkeypatch: pytest.MonkeyPatch
):
    """And no half of it is left behind."""
    (repository / "docs/rfc/INDEX.md").unlink()

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(generated.os, "replace", refuse)
    outcome = run_command("index")
    assert outcome.code == 2
    assert "Read-only file system" in outcome.err
    assert [path.name for path in (repository / "docs/rfc").iterdir()] == ["proposed"]


def test_a_folder_in_place_of_the_index_is_exit_code_2(repository: Path, run_command):
    """It is not ours to remove."""
    (repository / "docs/rfc/INDEX.md").unlink()
    (repository / "docs/rfc/INDEX.md").mkdir()
    outcome = run_command("index")
    assert outcome.code in {1, 2}
    assert "INDEX.md" in outcome.out + outcome.err
    assert (repository / "docs/rfc/INDEX.md").is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in the file system")
def test_a_pipe_in_place_of_the_index_is_exit_code_2(repository: Path, run_command):
    """Reading it would wait for a writer that never comes."""
    (repository / "docs/rfc/INDEX.md").unlink()
    os.mkfifo(repository / "docs/rfc/INDEX.md")
    outcome = run_command("index")
    assert outcome.code == 2
    assert "INDEX.md is no regular file" in outcome.err


def test_a_link_that_leads_nowhere_is_replaced_by_the_index(repository: Path, run_command):
    """The index belongs in the record, and nothing is written where the link leads."""
    index = repository / "docs/rfc/INDEX.md"
    index.unlink()
    index.symlink_to(repository / "elsewhere.md")
    assert run_command("index").code == 0
    assert not index.is_symlink()
    assert not (repository / "elsewhere.md").exists()


@pytest.mark.parametrize(
    "arguments", [["--ignore", "*"], ["--select", "file-name", "--ignore", "file-name"], ["--ignore", "[!z]*"]]
)
def test_a_run_without_rules_is_exit_code_2(repository: Path, run_command, arguments: list[str]):
    """Nothing was judged, which is not the same as nothing was found."""
    outcome = run_command("check", *arguments)
    assert outcome.code == 2
    assert "every rule is left out" in outcome.err


def test_explain_prints_every_rule_that_fits_a_pattern(run_command):
    """One page for a pattern of eight would hide seven."""
    outcome = run_command("explain", "pair-*")
    assert outcome.code == 0
    assert [line for line in outcome.out.splitlines() if line.startswith("# pair-")] == [
        f"# {rule.code}" for rule in RULES if rule.code.startswith("pair-")
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize(
    ("redirection", "code"),
    [
        (">/dev/full", 2),
        ("2>/dev/full", 0),
        (">&-", 0),
        ("2>&-", 0),
        (">&- 2>&-", 0),
        (">/dev/full 2>/dev/full", 2),
    ],
)
def test_a_stream_that_takes_nothing_never_turns_into_a_finding(repository: Path, redirection: str, code: int):
    """Only an answer that is lost keeps the caller from a verdict, and it is no bug."""
    command = f"'{Path(sys.executable).parent / 'dsh-rfc'}' pairs {redirection}"
    done = subprocess.run(["sh", "-c", command], cwd=repository, capture_output=True, check=False)
    assert done.returncode == code
    assert b"bug" not in done.stderr


def test_a_crash_of_one_rule_is_exit_code_2_and_the_others_report(
    repository: Path, run_command, monkeypatch: pytest.MonkeyPatch
):
    """A run with a crash is no verdict, and what was found is not lost."""

    def crashing(subject: Rfc, _: Corpus) -> Iterator[Finding]:
        raise ZeroDivisionError(subject.path)
        yield

    broken = tuple(replace(rule, check=crashing) if rule.code == "problem-first" else rule for rule in RULES)
    monkeypatch.setattr(check, "RULES", broken)
    (repository / PATH).write_text((repository / PATH).read_text().replace("## Risks", "## Dangers"))
    outcome = run_command("check")
    assert outcome.code == 2
    assert " section-missing " in outcome.out
    assert f"the rule problem-first crashed on {PATH}: ZeroDivisionError" in outcome.err
    assert "Traceback" not in outcome.err
    assert "Traceback" in run_command("--debug", "check").err


def test_a_bug_of_the_command_is_exit_code_2_in_one_line(repository: Path, run_command, monkeypatch):
    """A traceback is for whoever asks for one; an uncaught one would exit with 1."""

    def broken(*_: object, **__: object) -> None:
        msg = "no\nsuch luck"
        raise RuntimeError(msg)

    monkeypatch.setattr(check, "run", broken)
    outcome = run_command("check")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert "RuntimeError: no such luck" in outcome.err
    assert cli.ISSUES in outcome.err
    assert "Traceback" in run_command("--debug", "check").err


def test_the_installed_command_judges_in_a_process_of_its_own(repository: Path):
    """The entry point, the exit code and a pipe, as a shell sees them."""
    (repository / PATH).write_text("x\n")
    command = [Path(sys.executable).parent / "dsh-rfc", "check", "--select", "header-title"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run(command, cwd=repository, capture_output=True, check=False, env=environment)
    assert done.returncode == 1
    assert done.stdout.decode().startswith(f"{PATH}:1:1: header-title ")
    assert b"\x1b" not in done.stdout
    assert done.stderr == b"1 RFC checked, 1 finding in 1 file\n"


def test_a_reader_that_goes_away_is_no_failure(repository: Path):
    """`dsh-rfc explain | head -1` is an ordinary thing to type."""
    command = [Path(sys.executable).parent / "dsh-rfc", "explain"]
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(command, cwd=repository, stdout=write, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals")
@pytest.mark.parametrize("no_colour", [False, True])
def test_colour_is_for_a_terminal_and_never_with_no_color(repository: Path, no_colour: bool):
    """A log file with escape codes is hard to read and hard to search."""
    import pty

    (repository / PATH).write_text("x\n")
    command = [Path(sys.executable).parent / "dsh-rfc", "check", "--select", "header-title"]
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    environment |= {"NO_COLOR": "1"} if no_colour else {}
    primary, secondary = pty.openpty()
    try:
        done = subprocess.run(
            command, cwd=repository, stdout=secondary, stderr=subprocess.DEVNULL, check=False, env=environment
        )
        output = os.read(primary, 65536)
    finally:
        os.close(primary)
        os.close(secondary)
    assert done.returncode == 1
    assert (b"\x1b[" in output) is not no_colour


def test_a_quick_start_imports_nothing_heavy():
    """The run is short because it leaves out what the default contract does not need."""
    program = (
        "import sys; from dsh_rfc import cli, check, record; "
        "print(sorted({'pydantic', 'griffe', 'yaml', 'pathspec'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
