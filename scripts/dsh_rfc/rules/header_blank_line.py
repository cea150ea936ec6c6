"""A blank line stands before the status line and after it.

Without the first, Markdown still reads the title alone; without the second, the status and what follows
become one paragraph, or, above a line of dashes, a heading. The header is four lines so that people and
programs find each part without searching.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, _: Corpus) -> Iterator[Finding]:
    """Report a missing or a superfluous blank line around the status line."""
    header, lines, path = subject.header, subject.document.lines, subject.path
    if header.status is None or not header.status.is_exact:
        return
    if not header.title_line < header.status.line < header.first_section_line:
        return
    after_title, status = header.title_line + 1, header.status.line
    if lines[after_title - 1].strip() and (status == after_title or status == after_title + 1):
        yield Finding(path=path, line=after_title, message="no blank line stands after the title")
    elif status > after_title + 1 and not any(line.strip() for line in lines[after_title - 1 : status - 1]):
        message = f"{status - after_title} blank lines stand after the title"
        yield Finding(path=path, line=after_title + 1, message=message, hint="leave one blank line")
    follows = lines[status].strip() if status < len(lines) else ""
    if follows and all(other.line != status + 1 for other in header.repeated):
        yield Finding(path=path, line=status + 1, message="no blank line stands after the status line")


RULE = Rule(
    code="header-blank-line",
    summary="One blank line stands before the status line and one after it.",
    hint="put a blank line here",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\nStatus: proposed\n\n## Problem\n"},
    bad={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\nStatus: proposed\n\n## Problem\n"},
)
