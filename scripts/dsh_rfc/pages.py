"""The page of a rule: pure renderer.

Owns turning a rule's data into Markdown, the same for `dsh-rfc explain` and for the documentation. Refuses to know
where pages are kept.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dsh_rfc.formats import printable
from dsh_rfc.rule import Rule

_LANGUAGES = {"md": "markdown", "py": "python", "toml": "toml", "yaml": "yaml"}


def render_rule_page(rule: Rule[Any]) -> str:
    """Return the page: summary, severity, what and why, how to mend, an example of both verdicts."""
    lines = [
        f"# {rule.code}",
        "",
        rule.summary,
        "",
        f"Severity: {rule.severity}",
        "",
        _what_and_why(rule),
        "",
        "## How to mend it",
        "",
        f"{rule.hint[:1].upper()}{rule.hint[1:]}.",
        "",
        "## An example that fails",
        "",
        *_example(rule.bad),
        "## An example that passes",
        "",
        *_example(rule.good),
    ]
    return "\n".join(lines).rstrip() + "\n"


def render_rule_list(rules: Iterable[Rule[Any]]) -> str:
    """Return one line a rule: code and summary."""
    listed = list(rules)
    width = max(len(rule.code) for rule in listed)
    return "".join(f"{rule.code.ljust(width)}  {rule.summary}\n" for rule in listed)


def _what_and_why(rule: Rule[Any]) -> str:
    """Return the docstring below its first line, a paragraph a line: the page has a summary of its own."""
    paragraphs = inspect.cleandoc(rule.doc or "").split("\n\n")[1:]
    return "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)


def _example(files: Mapping[str, str]) -> Iterator[str]:
    for path, text in sorted(files.items()):
        yield f"`{path}`"
        yield ""
        if text:
            fence = "````" if "```" in text else "```"
            yield f"{fence}{_LANGUAGES.get(path.rpartition('.')[2], 'text')}"
            yield from (printable(line) for line in text.rstrip("\n").split("\n"))
            yield fence
            yield ""
