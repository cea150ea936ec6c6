"""The questions that the command line asks of a record.

Owns which rules answer them and which paths they are about. Refuses to print.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dsh_rfc.diagnostics import Report
from dsh_rfc.engine import choose, run
from dsh_rfc.errors import NothingAsked, PathUnknown, RecordMissing
from dsh_rfc.generated import Generated
from dsh_rfc.index import render_index, untitled
from dsh_rfc.record import Record
from dsh_rfc.rule import Rule
from dsh_rfc.rules import RECORD_RULES, RULES
from dsh_rfc.targets import Reach, read_target

Probe = Callable[[Iterable[str]], Mapping[str, str]]


def check_record(
    record: Record,
    *,
    paths: Sequence[Path] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    probe: Probe | None = None,
) -> tuple[tuple[Rule[Any], ...], Report]:
    """Return the rules that were asked and what they found.

    Args:
        record: What is judged.
        paths: Findings elsewhere are left out; all when empty.
        select: Codes to run, or patterns of codes such as `link-*`. When empty all are run, of a tree that the
            caller named those that judge a record on its own.
        ignore: Codes to leave out, beside those that the contract leaves out; patterns too.
        probe: Asks other hosts; nobody is asked without it.

    Raises:
        CodeUnknown: A code that no rule has.
        NothingAsked: No rule is left to run.
        PathUnknown: A path names nothing that is judged.
        RecordMissing: The record holds nothing to judge.
    """
    ignored = (*ignore, *record.corpus.contract.ignore)
    rules = choose(RULES, select=select, ignore=ignored)
    if record.is_rooted and not select:
        rules = tuple(rule for rule in rules if rule in RECORD_RULES)
    if not rules:
        msg = "every rule is left out, so nothing would be judged; see select and ignore"
        raise NothingAsked(msg)
    wanted = _wanted(record, paths)
    if probe is not None:
        record.corpus.answers.update(probe(_addresses(record, wanted)))
    report = run(record.corpus, rules, wanted=wanted)
    if not report.checked and not (report.pages and paths) and not report.diagnostics and not report.crashes:
        if paths:
            msg = f"nothing that is judged stands at {' '.join(str(path) for path in paths)}"
            raise PathUnknown(msg)
        msg = f"{record.folder} holds no RFC"
        raise RecordMissing(msg)
    return rules, report


def _addresses(record: Record, wanted: Callable[[str], bool]) -> Iterator[str]:
    for page in record.corpus.pages:
        if wanted(page.path):
            for link in record.corpus.links_of(page).links:
                if read_target(link.target, page.path).reach is Reach.WEB:
                    yield link.target


def _wanted(record: Record, paths: Sequence[Path]) -> Callable[[str], bool]:
    if not paths:
        return lambda _: True
    names = [record.resolve(path) for path in paths]
    return lambda path: any(
        not name or path == name or path.startswith(f"{name}/") or name.startswith(f"{path}/") for name in names
    )


def index_obstacles(record: Record) -> Report:
    """Return what keeps the index from being generated: misplaced, unreadable and untitled files."""
    corpus = record.corpus
    pages = {corpus.locate(corpus.contract.curated), corpus.locate(corpus.contract.index)}
    placement = run(corpus, [rule for rule in RULES if rule.refuses_index], wanted=lambda path: path not in pages)
    titles = run(corpus, choose(RULES, select=["header-title"]), wanted=untitled(corpus).__contains__)
    return Report(
        checked=placement.checked,
        diagnostics=tuple(sorted({*placement.diagnostics, *titles.diagnostics})),
        crashes=(*placement.crashes, *titles.crashes),
    )


def index_of(record: Record) -> Generated:
    """Return the index as a generated file."""
    corpus = record.corpus
    path = record.display(corpus.locate(corpus.contract.index))
    root = f" --root {os.path.relpath(record.folder)}" if record.is_rooted else ""
    return Generated(
        path=path,
        file=record.folder / corpus.contract.index,
        render=lambda: render_index(corpus),
        command=f"dsh-rfc index{root}",
    )
