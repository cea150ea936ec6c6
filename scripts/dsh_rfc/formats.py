"""A report as text, JSON, SARIF or GitHub annotations.

Owns how findings are written down; one pure function a format. Refuses to print, to colour (the caller hands a
painter in) and to count.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Literal

from dsh_rfc import __version__
from dsh_rfc.diagnostics import Diagnostic, Report
from dsh_rfc.rule import Rule

FormatName = Literal["text", "json", "sarif", "github"]
Display = Callable[[str], str]
Paint = Callable[[str], str]

INFORMATION = "https://dsh-py.github.io/dsh/"
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def printable(text: str) -> str:
    """Return the text with control characters and undecodable bytes spelt out.

    File names may hold anything but a slash and a NUL; a report stays one line a finding.
    """
    return _UNPRINTABLE.sub(lambda match: ascii(match.group())[1:-1], text)


def as_text(report: Report, display: Display, paint: Paint = str) -> str:
    """Return `path:line:col: code message`, each followed by its indented hint."""
    return "".join(
        f"{display(item.path)}:{item.line}:{item.column}: {paint(item.code)} {printable(item.message)}\n"
        f"    hint: {printable(item.hint)}\n"
        for item in report.diagnostics
    )


def as_json(report: Report, display: Display) -> str:
    """Return one JSON object: the number of files judged and the diagnostics."""
    diagnostics = [
        {
            "path": display(item.path),
            "line": item.line,
            "column": item.column,
            "code": item.code,
            "severity": item.severity,
            "message": printable(item.message),
            "hint": printable(item.hint),
        }
        for item in report.diagnostics
    ]
    return json.dumps({"checked": report.checked, "diagnostics": diagnostics}, ensure_ascii=False, indent=2) + "\n"


def as_sarif(report: Report, display: Display, rules: Iterable[Rule[Any]]) -> str:
    """Return a SARIF 2.1.0 log with one run."""
    listed = list(rules)
    positions = {rule.code: position for position, rule in enumerate(listed)}
    driver = {
        "name": "dsh-rfc",
        "version": __version__,
        "informationUri": INFORMATION,
        "rules": [
            {
                "id": rule.code,
                "shortDescription": {"text": rule.summary},
                "fullDescription": {"text": (rule.doc or "").strip()},
                "help": {"text": rule.hint},
                "defaultConfiguration": {"level": rule.severity},
            }
            for rule in listed
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(item, positions[item.code], display) for item in report.diagnostics],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=2) + "\n"


def _sarif_result(item: Diagnostic, position: int, display: Display) -> dict[str, Any]:
    from urllib.parse import quote

    return {
        "ruleId": item.code,
        "ruleIndex": position,
        "level": item.severity,
        "message": {"text": f"{printable(item.message)}. Hint: {printable(item.hint)}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(display(item.path))},
                    "region": {"startLine": item.line, "startColumn": item.column},
                }
            }
        ],
    }


def as_github(report: Report, display: Display) -> str:
    """Return workflow commands that annotate the lines of a pull request."""
    return "".join(
        f"::{item.severity} file={_property(display(item.path))},line={item.line},col={item.column},"
        f"title={_property(item.code)}::{_data(f'{printable(item.message)} (hint: {printable(item.hint)})')}\n"
        for item in report.diagnostics
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
