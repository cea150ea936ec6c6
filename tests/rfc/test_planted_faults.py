"""Every rule, on a copy of this very repository that is broken in one place.

The case folders show what a rule says of small records. Here the record is real, the configuration is the one in
force, and everything else is right: the fault that was planted has to be found, and nothing beside it.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from dsh_rfc import corpus as corpus_module
from dsh_rfc.check import check_record
from dsh_rfc.configuration import find_repository
from dsh_rfc.confirmation import confirm
from dsh_rfc.diagnostics import Report
from dsh_rfc.index import render_index
from dsh_rfc.record import Record
from dsh_rfc.rules import RULES

pytestmark = pytest.mark.repository
ARCHITECTURE = "docs/rfc/implemented/architecture"
RFC = f"{ARCHITECTURE}/2026-11-30-torn-against-corrupt.md"
OLD = f"{ARCHITECTURE}/2026-06-14-session-persistence.md"
GUIDE = "docs/guides/sessions.md"
CONTRACT = "docs/rfc/README.md"
INDEX = "docs/rfc/INDEX.md"
FRONT = "docs/index.md"
COMMENT = "<!-- rfc-format: alternatives-not-recorded (pre-format RFC) -->"
ROW = "| [ACP](proposed/feature/2026-06-14-acp-session-loading.md) | 2026-06-14 |\n"
NEW = """# RFC: Warm start

Status: proposed

## Problem

A cold start takes four seconds.

## Proposal

Keep one process warm.

## Alternatives considered

**Start faster.** Two seconds are the floor.

## Acceptance criteria

A start takes less than a second.

## Risks

A warm process costs memory.
"""

Edit = Callable[[bytes], bytes | None]
Found = list[tuple[str, str]]


def replacing(old: str, new: str) -> Edit:
    """Return an edit of the one place that holds a text."""

    def edit(data: bytes) -> bytes:
        assert data.count(old.encode()) >= 1, f"nothing holds {old!r} any more: plant the fault elsewhere"
        return data.replace(old.encode(), new.encode(), 1)

    return edit


def adding(text: str | bytes) -> Edit:
    """Return an edit that adds a paragraph at the end, or makes the file."""
    more = text if isinstance(text, bytes) else text.encode()
    return lambda data: data + b"\n" + more if data else more


def deleting(_: bytes) -> None:
    """Take the file away."""


@dataclass(frozen=True, kw_only=True)
class Plant:
    """A fault in one place.

    Attributes:
        edits: What is done to which file.
        at: Where the findings stand; the edited file when empty.
        also: What is wrong too, and is said by another rule: (code, path).
        indexed: Whether the index is renewed after the edit, as its author would.
        confirmed: Documents whose pairs are confirmed again after it.
    """

    edits: Mapping[str, Edit]
    at: Sequence[str] = ()
    also: Found = field(default_factory=list)
    indexed: bool = False
    confirmed: Sequence[str] = ()

    def expected(self, code: str) -> Found:
        """Return what the run has to report, no more and no less."""
        return sorted([(code, path) for path in self.at or self.edits] + self.also)


def one(path: str, edit: Edit, **more: object) -> Plant:
    """Plant a fault in one file."""
    return Plant(edits={path: edit}, **more)  # type: ignore[arg-type]  # the fields of a plant


PLANTS: Mapping[str, Plant] = {
    "file-name": one("docs/rfc/proposed/feature/2026-02-30-warm-start.md", adding(NEW)),
    "unknown-lifecycle": one(
        "docs/rfc/accepted/feature/2026-12-01-warm-start.md", adding(NEW), at=["docs/rfc/accepted"]
    ),
    "unknown-class": one(
        "docs/rfc/proposed/features/2026-12-01-warm-start.md", adding(NEW), at=["docs/rfc/proposed/features"]
    ),
    "wrong-depth": one("docs/rfc/proposed/2026-12-01-warm-start.md", adding(NEW)),
    "unreadable": one(RFC, adding(b"\xff")),
    "header-title": one(RFC, replacing("# RFC: ", "# ")),
    "header-blank-line": one(RFC, replacing("\n\nStatus", "\nStatus")),
    "status-grammar": one(RFC, replacing("Status: implemented", "Status: implemented (2026)")),
    "status-folder": one(RFC, replacing("Status: implemented", "Status: proposed")),
    "status-repeated": one(RFC, adding("Status: implemented\n")),
    "problem-first": one(RFC, replacing("## Problem", "## Aside\n\nFirst.\n\n## Problem")),
    "section-missing": one(RFC, replacing("## Consequences", "## Results")),
    "section-empty": one(RFC, replacing("## Consequences", "## Consequences\n\n## Results")),
    "section-repeated": one(RFC, adding("## Decision\n\nOnce more.\n")),
    "section-banned": one(RFC, adding("## Plan\n\nLater.\n")),
    "alternatives-missing": one(RFC, replacing("## Alternatives considered", "## What else")),
    "alternatives-both": one(OLD, adding(COMMENT + "\n")),
    "alternatives-fence": one(RFC, replacing("## Alternatives considered", COMMENT + "\n\n## What else")),
    "legacy-marker": one(RFC, adding("<!-- XXX: legacy ADR/RFC body format -->\n")),
    "duplicate-topic": one(
        "docs/rfc/proposed/feature/2026-11-30-torn-against-corrupt.md",
        adding(NEW),
        at=[RFC, "docs/rfc/proposed/feature/2026-11-30-torn-against-corrupt.md"],
        indexed=True,
    ),
    "index-stale": one(INDEX, replacing("| 2026-06-11 |", "| 2026-06-12 |")),
    "index-row": Plant(
        edits={CONTRACT: adding(ROW), "docs/rfc/README.zh.md": adding(ROW)}, at=[CONTRACT], confirmed=[CONTRACT]
    ),
    "contract-prose": one(  # the form that is there is wrong, and the right one is missing
        CONTRACT,
        replacing("- `Status: implemented`", "- `Status: done`"),
        at=[CONTRACT, CONTRACT],
        also=[("pair-stale", CONTRACT)],
    ),
    "page-unreadable": one(GUIDE, adding(b"\xff")),
    "link-missing": one(GUIDE, adding("See [this](gone.md).\n")),
    "link-anchor": one(GUIDE, adding("See [this](quickstart.md#gone).\n")),
    "link-escapes": one(GUIDE, adding("See [this](../../../gone.md).\n")),
    "link-image": one(GUIDE, adding("![A page](quickstart.md)\n")),
    "link-bare": one(RFC, adding("RFC-012 says more.\n")),
    "link-external": one(GUIDE, adding("See [this](https://dead.example/).\n")),
    "link-reference-missing": one(GUIDE, adding("See [this][gone].\n")),
    "link-reference-unused": one(GUIDE, adding("[gone]: quickstart.md\n")),
    "link-reference-repeated": one(GUIDE, adding("See [this][a].\n\n[a]: quickstart.md\n[a]: wire-format.md\n")),
    "pair-incomplete": one("docs/index.i18n.yaml", deleting, at=["docs/index.zh.md"]),
    "pair-stale": one(FRONT, adding("One more thing.\n")),
    "pair-switcher": one(
        FRONT,
        replacing("English | [中文]", "English, [中文]"),
        confirmed=[FRONT],
        also=[("pair-structure", "docs/index.zh.md")],
    ),
    "pair-structure": one(
        FRONT, adding("## One more thing\n\nIt is here.\n"), at=["docs/index.zh.md"], confirmed=[FRONT]
    ),
    "pair-required": Plant(
        edits={"docs/index.zh.md": deleting, "docs/index.i18n.yaml": deleting},
        at=[FRONT],
        also=[("link-missing", FRONT)],
    ),
    "pair-excluded": one("docs/i18n/README.zh.md", adding("# 配对\n")),
    "ref-path": one(GUIDE, adding("See `packages/session/src/dsh_session/gone.py`.\n")),
    "ref-symbol": one(GUIDE, adding("See `dsh_session.SessionStore.gone`.\n")),
    "fence-syntax": one(GUIDE, adding('```json\n{"seq": 0,}\n```\n')),
    "fence-command": one("CONTRIBUTING.md", adding("```shell\nmake gone\n```\n")),
    "mark-invalid": one(GUIDE, adding("<!-- dsh-rfc: absent src/gone.py — never mentioned -->\n")),
    "wrap": one(GUIDE, adding("A paragraph\nin two lines.\n")),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory, copy_repository: Callable[[Path], Path]) -> Path:
    """Return a copy of this repository."""
    return copy_repository(tmp_path_factory.mktemp("repository"))


@pytest.fixture(autouse=True)
def parse_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the runs share what they parse: one file of a hundred differs."""
    monkeypatch.setattr(corpus_module, "decode", DECODE)


DECODE = cache(corpus_module.decode)


def judge(folder: Path) -> Report:
    """Judge the copy with every rule; of other hosts, one is dead."""
    _, report = check_record(
        Record.of(find_repository(folder)),
        probe=lambda addresses: {address: "no such host" for address in addresses if "dead.example" in address},
    )
    assert not report.crashes
    return report


@pytest.fixture(scope="module")
def found_before(copy: Path) -> Found:
    """Return what is found in the copy as it is; nothing, when the repository is clean."""
    return [(item.code, item.path) for item in judge(copy).diagnostics]


@contextmanager
def planted(folder: Path, plant: Plant) -> Iterator[None]:
    """Plant a fault, and put everything back."""
    before: dict[Path, bytes | None] = {}

    def write(path: Path, data: bytes | None) -> None:
        before.setdefault(path, path.read_bytes() if path.exists() else None)
        if data is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    try:
        for name, edit in plant.edits.items():
            path = folder / name
            write(path, edit(path.read_bytes() if path.exists() else b""))
        if plant.indexed:
            write(folder / INDEX, render_index(Record.of(find_repository(folder)).corpus).encode())
        for name in plant.confirmed:
            path = folder / f"{name.removesuffix('.md')}.i18n.yaml"
            write(path, path.read_bytes())
            confirm(Record.of(find_repository(folder)), [folder / name])
        yield
    finally:
        for path, data in before.items():
            if data is None:
                path.unlink(missing_ok=True)
                while path.parent != folder and not any(path.parent.iterdir()):
                    path = path.parent  # noqa: PLW2901 - upwards, as long as the folder was made for it
                    path.rmdir()
            else:
                path.write_bytes(data)


def test_a_fault_is_planted_for_every_rule():
    """A rule that nobody has seen speak in a real repository may have stopped to."""
    assert sorted(PLANTS) == sorted(rule.code for rule in RULES)


@pytest.mark.parametrize("code", [rule.code for rule in RULES])
def test_a_fault_in_one_place_is_found_there_and_nothing_else_is(code: str, copy: Path, found_before: Found):
    """A gate has to name what is wrong, and to leave alone what is not."""
    plant = PLANTS[code]
    with planted(copy, plant):
        found = [(item.code, item.path) for item in judge(copy).diagnostics]
    for known in found_before:
        if known in found:
            found.remove(known)
    assert sorted(found) == plant.expected(code)


def test_a_module_that_moves_turns_the_documents_red_that_name_it(copy: Path, found_before: Found):
    """This is what keeps implemented RFCs true: the change that moves a name owes them the new one."""
    module = copy / "scripts/dsh_rfc/contract.py"
    naming = [
        path.relative_to(copy).as_posix()
        for path in (copy / "docs/rfc/implemented").rglob("*.md")
        if "`dsh_rfc.contract`" in path.read_text(encoding="utf-8")
    ]
    assert naming
    moved = Plant(edits={"scripts/dsh_rfc/contract.py": deleting, "scripts/dsh_rfc/rules/contract.py": adding("")})
    assert module.exists()
    with planted(copy, moved):
        report = judge(copy)
    red = [item for item in report.diagnostics if (item.code, item.path) not in found_before]
    assert {item.code for item in red} == {"ref-symbol"}
    assert {item.path for item in red} >= set(naming)
    assert {item.hint for item in red} == {"did it move? dsh_rfc.rules.contract has this name"}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("A sentence.\n- and an item of one renderer\n", "MD032"),
        ("A sentence.\n```text\na fence\n```\n", "MD031"),
        ("#no heading on GitHub\n", "MD018"),
        ("| a |\n|---|\n| b | lost |\n", "MD056"),
        ("* a\n- another list\n", "MD004"),
    ],
)
def test_markdown_that_two_renderers_read_in_two_ways_is_found_by_the_gate_of_its_own(
    text: str, rule: str, copy: Path
):
    """The rules of that gate are chosen one by one, and a list can lose one."""
    command = [str(Path(sys.executable).with_name("rumdl")), "check", "--no-cache", "--deny-config-warnings", "."]
    before = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    with planted(copy, one(GUIDE, adding(text))):
        after = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert after.returncode == 1
    new = set(after.stdout.splitlines()) - set(before.stdout.splitlines())
    assert [line for line in new if line.startswith(f"{GUIDE}:") and f"[{rule}]" in line]
