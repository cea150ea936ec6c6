"""A record of 112 RFCs that other people wrote under the same contract."""

import json
from collections import Counter
from pathlib import Path

from dsh_rfc.check import check_record
from dsh_rfc.index import render_index
from dsh_rfc.record import Record

# What the line-based checker calls a breach, and the codes under which the same breach stands here.
CODES = {
    "format/line1-h1": {"header-title"},
    "format/line2-blank": {"header-blank-line"},
    "format/line3-status": {"status-grammar", "status-folder"},
    "format/line4-blank": {"header-blank-line"},
    "format/problem-first": {"problem-first"},
    "format/required-section": {"section-missing"},
    "format/banned-heading": {"section-banned"},
    "format/alternatives-missing": {"alternatives-missing"},
    "format/alternatives-both": {"alternatives-both"},
    "format/alternatives-fence": {"alternatives-fence"},
    "format/legacy-marker": {"legacy-marker"},
}
RULE_OF = {code: rule for rule, codes in CODES.items() for code in codes}

# Why a code is found that the checker has no word for: it judged one RFC at a time and nothing else.
NOT_ITS_BUSINESS = {
    "index-row": "the slice is from before the index had a file of its own: the rows stood in the curated page",
    "index-stale": "and so there is no index yet",
}


def test_a_conforming_record_has_no_findings(real_corpus: Path, run_command):
    """A false finding on a real record costs more trust than a true one earns."""
    outcome = run_command("check", "--root", real_corpus / "conforming/docs/rfc")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "112 RFCs checked, no findings\n")


def test_the_repository_around_a_named_record_is_judged_when_rules_are_selected(real_corpus: Path, run_command):
    """Whoever points at a folder asks about the folder; what is around it is another question."""
    outcome = run_command("check", "--root", real_corpus / "conforming/docs/rfc", "--select", "link-*")
    assert outcome.code == 1
    assert {line.split(" ")[1].removesuffix(":") for line in outcome.out.splitlines() if ".md:" in line} == {
        "link-anchor",
        "link-bare",
    }  # each of them is confirmed in test_links


def test_the_index_of_a_conforming_record_is_the_one_its_own_generator_wrote(real_corpus: Path):
    """Two programs that agree on every byte below the banner agree on what the record holds."""
    folder = real_corpus / "conforming/docs/rfc"
    ours = render_index(Record.open(folder).corpus).encode().split(b"\n\n", 2)
    theirs = (folder / "INDEX.md").read_bytes().split(b"\n\n", 2)
    assert ours[0] == theirs[0]
    assert ours[2] == theirs[2]


def test_a_record_from_before_the_format_gets_the_verdicts_of_a_checker_of_lines(real_corpus: Path):
    """Where the two differ, each difference is explained here; where Markdown says otherwise, there is a case."""
    folder = real_corpus / "mixed"
    theirs: Counter[tuple[str, str]] = Counter()
    for line in (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines():
        verdict = json.loads(line)
        theirs.update((verdict["file"], violation["rule"]) for violation in verdict["violations"])
    _, report = check_record(Record.open(folder / "docs/rfc"))
    ours: Counter[tuple[str, str]] = Counter()
    for item in report.diagnostics:
        code = RULE_OF.get(item.code, item.code)
        if code not in NOT_ITS_BUSINESS:
            ours[item.path.removeprefix("docs/rfc/"), code] += 1
    assert sum(theirs.values()) > 300
    assert ours - theirs == Counter()
    assert theirs - ours == Counter()
    assert {item.code for item in report.diagnostics} - set(RULE_OF) == set(NOT_ITS_BUSINESS)
    assert not (folder / "docs/rfc/INDEX.md").exists()
