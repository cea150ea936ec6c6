"""Every case folder: the input tree and, byte for byte, what the command says of it."""

from pathlib import Path

import pytest

from dsh_rfc.check import check_record
from dsh_rfc.configuration import OWN_FILE, find_repository
from dsh_rfc.formats import as_text
from dsh_rfc.record import Record
from dsh_rfc.rules import RULES

CASES = Path(__file__).parent / "cases"
FOLDERS = sorted(path for path in CASES.glob("*/*") if path.is_dir())
CODES = {rule.code for rule in RULES}


def verdict(case: Path) -> str:
    """Judge with every rule, so that a case also shows what is not reported beside its own finding."""
    folder = case / "input"
    is_repository = (folder / OWN_FILE).exists()  # otherwise it is a record
    record = Record.of(find_repository(folder)) if is_repository else Record.open(folder)
    has_index = (record.folder / "INDEX.md").exists() or case.parent.name == "index-stale"
    _, report = check_record(record, select=["*"], ignore=[] if has_index else ["index-stale"])
    assert not report.crashes
    return as_text(report, lambda path: path)


@pytest.mark.parametrize("case", FOLDERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_report_on_a_case_is_exactly_what_its_folder_says(case: Path):
    """The output is what users read and tools parse: a change of one character is a change."""
    expected = (case / "expected.txt").read_text(encoding="utf-8")
    assert verdict(case) == expected


@pytest.mark.parametrize("case", FOLDERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_case_expects_what_its_name_promises(case: Path):
    """A bad case that expects nothing would pass with a rule that never speaks."""
    expected = (case / "expected.txt").read_text(encoding="utf-8")
    kind = case.name.partition("-")[0]
    assert kind in {"good", "bad"}
    assert case.parent.name in CODES
    if kind == "good":
        assert expected == ""
    else:
        assert f" {case.parent.name} " in expected


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_rule_has_a_good_and_a_bad_case(code: str):
    """A rule without both is one that nobody has seen fail, or one that may fail on everything."""
    kinds = {case.name.partition("-")[0] for case in FOLDERS if case.parent.name == code}
    assert kinds == {"good", "bad"}
