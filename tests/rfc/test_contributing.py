"""The commands that our pages show: those of the contributing guide are run, those of the gates are parsed."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from dsh_rfc.cli import cli
from dsh_rfc.configuration import find_repository
from dsh_rfc.corpus import Corpus
from dsh_rfc.fences import SHELLS
from dsh_rfc.record import Record
from dsh_rfc.rules import RULES
from dsh_rfc.shell import read_commands

REPOSITORY = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.repository
CODES = {rule.code for rule in RULES}
DRY_MAKE = 'make() { command make --dry-run "$@" > /dev/null; }\n'  # its targets are run elsewhere
FINDING = re.compile(r"^\S+:\d+:\d+: (?P<code>\S+) ", re.MULTILINE)


@pytest.fixture(scope="module")
def here() -> Corpus:
    """Return the documents of this repository."""
    return Record.of(find_repository(REPOSITORY)).corpus


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "git", "make"))), reason="needs bash, git and make")
def test_the_ten_minutes_of_the_contributing_guide_lead_to_a_clean_record(
    here: Corpus, tmp_path: Path, copy_repository: Callable[[Path], Path], proposed: Callable[[str], str]
):
    """Every command is run as it stands there, in its order, in a copy; only writing the text is left to us."""
    folder = copy_repository(tmp_path / "repository")
    (folder / ".venv").mkdir()
    (folder / ".venv/bin").symlink_to(Path(sys.executable).parent)
    page = next(page for page in here.pages if page.path == "CONTRIBUTING.md")
    seen: set[str] = set()
    path = os.environ["PATH"]
    for fence in here.fences_of(page):
        assert fence.language in SHELLS
        done = subprocess.run(
            ["bash", "-euc", f'{DRY_MAKE}{fence.text}printf "%s" "$PATH" >&3\n'.replace(">&3", "> .venv/path")],
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        if (folder / ".venv/path").exists():
            path = (folder / ".venv/path").read_text()  # what is exported stays
        seen.update(command.name for command in read_commands(fence.text))
        if fence.text == "dsh-rfc check\n":  # the index is renewed in the next step
            assert {match["code"] for match in FINDING.finditer(done.stdout)} == {"index-stale"}
        else:
            assert done.returncode == 0, f"{fence.text}\n{done.stdout}{done.stderr}"
        for written in (folder / "docs/rfc/proposed/feature").glob("*-shorter-topic.md"):
            if not written.read_bytes():
                written.write_text(proposed("Shorter topics"))
    assert {"make", "git", "mkdir", "touch", "dsh-rfc"} <= seen
    done = subprocess.run(
        [Path(sys.executable).with_name("dsh-rfc"), "check"], cwd=folder, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert "Shorter topics" in (folder / "docs/rfc/INDEX.md").read_text()


def commands_in(corpus: Corpus) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of the gates that stand in fences and code spans of pages about the present."""
    for page in corpus.facts:
        for fence in corpus.fences_of(page):
            if fence.language in SHELLS:
                for command in read_commands(fence.text):
                    if command.name == "dsh-rfc":
                        yield f"{page.path}:{fence.line + command.line}", list(command.words[1:])
        for token in page.blocks:
            if token.type == "inline" and "`dsh-rfc " in token.content:
                for child in page.inline(token):
                    if child.type == "code_inline" and child.content.startswith("dsh-rfc "):
                        yield page.path, child.content.split()[1:]


def taking_a_value(command: click.Command) -> set[str]:
    """Return the options that a sentence may name without their value."""
    options = [option for option in command.params if isinstance(option, click.Option) and not option.is_flag]
    return {name for option in options for name in option.opts}


def test_every_command_of_the_gates_in_our_pages_is_one(here: Corpus):
    """An option that was renamed lives on in the pages that show it."""
    shown = list(commands_in(here))
    assert len(shown) > 10
    for place, words in shown:
        arguments = ["code" if word.isupper() else word for word in words]
        try:
            context = click.Context(cli, info_name="dsh-rfc")
            _, command, rest = cli.resolve_command(context, arguments)
            assert command is not None
            names_an_option = len(rest) == 1 and rest[0].startswith("--") and place.endswith(".md")
            values = ["value"] if names_an_option and rest[0] in taking_a_value(command) else []
            command.make_context(command.name, [*rest, *values], parent=context).close()
        except click.exceptions.Exit:
            pass  # --help and --version
        except click.ClickException as error:
            pytest.fail(f"{place}: dsh-rfc {' '.join(words)}: {error.format_message()}")
        if arguments[:1] == ["explain"] and len(arguments) > 1 and arguments[1] != "code":
            assert arguments[1] in CODES, place
