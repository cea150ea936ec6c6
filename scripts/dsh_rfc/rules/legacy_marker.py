"""A retired marker does not come back.

It marked files that had yet to be brought into the format. All of them have been, so one that reappears is
an old text that came in unread. A file that speaks of the marker puts it into code.
"""

from collections.abc import Iterator

from markdown_it.token import Token

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, corpus: Corpus) -> Iterator[Finding]:
    """Report each line that holds a retired marker outside code."""
    markers = [marker for marker in corpus.contract.retired_markers if marker in subject.document.text]
    for marker in markers:
        for token in subject.document.blocks:
            if token.map is None or marker not in token.content or not _is_said(token, marker, subject):
                continue
            for number in range(token.map[0] + 1, token.map[1] + 1):
                column = subject.document.lines[number - 1].find(marker) + 1
                if column:
                    yield Finding(path=subject.path, line=number, column=column, message=f"carries {marker!r}")


def _is_said(token: Token, marker: str, subject: Rfc) -> bool:
    """Tell a marker from a mention of it in code."""
    if token.type == "html_block":
        return True
    if token.type != "inline":
        return False
    children = subject.document.inline(token)
    return any(marker in child.content for child in children if child.type != "code_inline")


RULE = Rule(
    code="legacy-marker",
    summary="A retired marker does not come back.",
    hint="bring the file into the format and delete the marker",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={
        "proposed/feature/2026-08-01-warm-start.md": (
            "# RFC: Warm start\n\nThe `XXX: legacy ADR/RFC body format` marker is gone.\n"
        )
    },
    bad={
        "proposed/feature/2026-08-01-warm-start.md": (
            "# RFC: Warm start\n\n<!-- XXX: legacy ADR/RFC body format -->\n"
        )
    },
)
