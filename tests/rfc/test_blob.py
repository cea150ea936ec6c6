"""The hashes of files, held to what git itself computes."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsh_rfc.attributes import attributes_of, read_attributes
from dsh_rfc.blob import as_stored, blob_hash
from dsh_rfc.storage import Hashes, Storage, read_storage
from dsh_rfc.worktree import of_repository

CONTENTS: Mapping[str, bytes] = {
    "lf.md": b"one\ntwo\n",
    "crlf.md": b"one\r\ntwo\r\n",
    "mixed.md": b"one\r\ntwo\nthree",
    "lone-cr.md": b"one\rtwo\r\n",
    "nul.md": b"one\0\r\n",
    "escape.md": b"\x1b[0m\f\b\t one\r\n",
    "controls.md": b"\x01\x02\x03 one\r\n",
    "few-controls.md": b"x" * 400 + b"\x01\r\n",
    "end-of-file.md": b"one\r\n\x1a",
    "empty.md": b"",
    "ident.md": b"$Id: something$ and $Id$ and $Id: open\r\n$\r\n",
    "chinese.md": "一\r\n二\r\n".encode(),
}

ATTRIBUTES = [
    "",
    "* text=auto",
    "* text",
    "* -text",
    "* binary",
    "* text=auto eol=crlf",
    "*.md eol=lf",
    "*.md crlf",
    "* -crlf",
    "* text=auto\n*.md !text",
    "* text ident",
    "[attr]prose text eol=lf\n*.md prose",
    "*.md -text\nd* text=auto",
    "docs/ text\ndocs text",
    "docs/** text",
    "/docs/sub/*.md text\n**/sub/crlf.md -text",
    "docs/**/crlf.md text",
    "[cm]*.md text\n[!a-z]* -text",
    '"docs/sub/cr\\154f.md" text',
    "**/*.md text=input",
    "*[[:alpha:]]f.md text",
    "!*.md text",
    "sub/*.md text",
]


@pytest.fixture
def make_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a maker of repositories that no configuration of this machine reaches."""
    settings_of_user = tmp_path / "user"
    settings_of_user.mkdir()
    monkeypatch.setenv("HOME", str(settings_of_user))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(settings_of_user / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_ATTR_NOSYSTEM", "1")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)

    def make(object_format: str = "sha1", **config: str) -> Path:
        top = tmp_path / f"repository-{len(list(tmp_path.iterdir()))}"
        git("init", "--quiet", f"--object-format={object_format}", str(top), cwd=tmp_path)
        for key, value in config.items():
            git("config", key.replace("_", "."), value, cwd=top)
        return top

    return make


def git(*arguments: str, cwd: Path, stdin: str | None = None) -> str:
    """Run git and return what it prints."""
    done = subprocess.run(["git", *arguments], cwd=cwd, input=stdin, capture_output=True, text=True, check=True)
    return done.stdout


def fill(folder: Path) -> list[Path]:
    """Write every content into a folder and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in CONTENTS.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in CONTENTS]


def hashes_of(top: Path) -> Hashes:
    """Return our hashes of a repository's files."""
    tree = of_repository(top, exclude=(), max_file_bytes=1 << 20)
    return Hashes(worktree=tree, storage_of=lambda: read_storage(top))


def assert_as_git_does(top: Path, files: list[Path], base: Path | None = None) -> None:
    """Compare our hashes with those of `git hash-object`."""
    base = base or top
    names = [file.relative_to(top).as_posix() for file in files]  # git reads absolute ones under fewer attributes
    theirs = git("hash-object", "--stdin-paths", cwd=top, stdin="\n".join(names)).split()
    hashes = hashes_of(base)
    ours = [hashes.of(file.relative_to(base).as_posix()) for file in files]
    assert dict(zip(names, ours, strict=True)) == dict(zip(names, theirs, strict=True))


@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_the_hash_is_git_s_under_every_way_of_saying_what_text_is(
    attributes: str, make_repository: Callable[..., Path]
):
    """A pair that is confirmed on one machine must not be stale on another with other line ends."""
    top = make_repository()
    files = fill(top / "docs/sub")
    (top / ".gitattributes").write_text(f"{attributes}\n", encoding="utf-8")
    assert_as_git_does(top, files)


@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
@pytest.mark.parametrize("attributes", ["", "*.md -text", "c*.md text=auto"])
def test_the_hash_is_git_s_when_only_the_configuration_speaks_of_line_ends(
    autocrlf: str, attributes: str, make_repository: Callable[..., Path]
):
    """Most checkouts with CRLF come from this setting, not from an attribute."""
    top = make_repository(core_autocrlf=autocrlf)
    files = fill(top)
    (top / ".gitattributes").write_text(f"{attributes}\n", encoding="utf-8")
    assert_as_git_does(top, files)


def test_the_hash_is_git_s_in_a_repository_of_sha256(make_repository: Callable[..., Path]):
    """The function of the objects is the repository's choice."""
    top = make_repository("sha256")
    files = fill(top)
    (top / ".gitattributes").write_text("* text=auto\n", encoding="utf-8")
    assert hashes_of(top).algorithm == "sha256"
    assert_as_git_does(top, files)


def test_a_deeper_file_of_attributes_wins_and_the_repository_s_own_wins_over_all(
    make_repository: Callable[..., Path],
):
    """Attributes come from five places, and a wrong order shows in one hash of a hundred."""
    top = make_repository()
    files = [*fill(top), *fill(top / "docs"), *fill(top / "docs/sub")]
    (top / ".gitattributes").write_text("* text\n", encoding="utf-8")
    (top / "docs/.gitattributes").write_text("* -text\n/crlf.md text\n", encoding="utf-8")
    (top / "docs/sub/.gitattributes").write_text("m*.md !text\nsub/*.md text\n", encoding="utf-8")
    (top / ".git/info/attributes").write_text("docs/lone-cr.md text\n", encoding="utf-8")
    users = Path(os.environ["XDG_CONFIG_HOME"]) / "git"
    users.mkdir(parents=True)
    (users / "attributes").write_text("*.md text ident\n", encoding="utf-8")
    assert_as_git_does(top, files)


def test_the_settings_of_the_user_count_and_those_of_the_repository_win(make_repository: Callable[..., Path]):
    """A setting that is made once for a machine is the usual one."""
    top = make_repository()
    files = fill(top)
    user = Path(os.environ["HOME"]) / ".gitconfig"
    user.write_text(
        '[core]\n\tautocrlf = input ; as always\n[remote "core"]\n\tautocrlf = false\n', encoding="utf-8"
    )
    assert_as_git_does(top, files)
    git("config", "core.autocrlf", "false", cwd=top)
    assert_as_git_does(top, files)


def test_a_project_below_the_top_of_its_repository_heeds_what_stands_above(make_repository: Callable[..., Path]):
    """Documents may be configured in a folder of a larger repository."""
    top = make_repository()
    files = fill(top / "part/project/docs")
    (top / ".gitattributes").write_text("project/** text\n/part/project/docs/c*.md text\n", encoding="utf-8")
    (top / "part/.gitattributes").write_text("mixed.md text\n", encoding="utf-8")
    assert_as_git_does(top, files, top / "part/project")


def test_a_linked_work_tree_shares_the_settings_of_its_repository(make_repository: Callable[..., Path]):
    """There `.git` is a file that leads to the settings."""
    top = make_repository("sha256", core_autocrlf="true", user_name="a", user_email="a@example.org")
    git("commit", "--quiet", "--allow-empty", "--message", "start", cwd=top)
    git("worktree", "add", "--quiet", "../linked", cwd=top)
    linked = top.parent / "linked"
    assert_as_git_does(linked, fill(linked))


def test_outside_of_a_repository_git_s_defaults_hold(tmp_path: Path):
    """An export of the sources can be judged as well."""
    assert read_storage(tmp_path) == Storage()
    (tmp_path / "a.md").write_bytes(b"one\r\n")
    hashes = hashes_of(tmp_path)
    assert hashes.of("a.md") == blob_hash(b"one\r\n", "sha1")
    assert hashes.of("missing.md") is None


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.lists(st.sampled_from([b"\r\n", b"\n", b"\r", b"a", b"\0", b"\x01", b"\x1a", "\u4e00".encode()])))
def test_what_is_stored_is_stored_as_it_is(data: list[bytes]):
    """A checkout with LF and one with CRLF of the same blob are the same document."""
    whole = b"".join(data)
    for attributes in ({"text": True}, {"text": "auto"}, {"text": False}, {}):
        stored = as_stored(whole, attributes, autocrlf=True)
        if b"\r" not in whole.replace(b"\r\n", b""):
            assert as_stored(stored, attributes, autocrlf=True) == stored
        if attributes == {"text": False}:
            assert stored == whole


@given(text=st.text(alphabet='*?[]!\\/"# abc=-\n[attr]'), path=st.text(alphabet="abc/.", min_size=1))
def test_no_text_of_attributes_is_a_crash(text: str, path: str):
    """The file is anybody's, and git is lenient about it."""
    assert isinstance(attributes_of(path, [read_attributes(text, "")]), dict)
