"""Findings and their order.

Owns what a rule hands back and what a run reports. Refuses to print: `formats` renders, `cli` prints.
"""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One wrong thing, as a rule sees it.

    Attributes:
        path: File or folder, relative to the folder that the corpus starts from, with forward slashes.
        line: 1-based.
        column: 1-based, in characters.
        message: One sentence, without a full stop.
        hint: How to mend this very thing; the rule's own hint when empty.
    """

    path: str
    line: int = 1
    column: int = 1
    message: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True, order=True)
class Diagnostic:
    """A finding with the rule that made it; sorts by place, then by code."""

    path: str
    line: int
    column: int
    code: str
    message: str
    severity: Severity
    hint: str


@dataclass(frozen=True, kw_only=True)
class Crash:
    """A rule that raised instead of judging."""

    code: str
    path: str
    error: Exception


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a run found.

    Attributes:
        checked: Number of RFCs judged.
        pages: Number of other Markdown files judged, outside of the record.
        diagnostics: Sorted, each once.
        crashes: Rules that could not judge; a run with one is no verdict.
    """

    checked: int
    diagnostics: tuple[Diagnostic, ...]
    crashes: tuple[Crash, ...] = ()
    pages: int = 0
