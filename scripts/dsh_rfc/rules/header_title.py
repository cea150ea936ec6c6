"""The first line of an RFC is its title.

The line is `# RFC: ` and the title, as Markdown reads it: closing `#`s and outer spaces do not count. The
index takes the title from there. A file that starts with a byte-order mark starts with something else,
although most editors do not show it.
"""

from collections.abc import Iterator, Sequence

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Heading
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule

_PLACEHOLDER = "<title>"
"""What the skeletons of the contract have; a browser takes it for a tag and shows nothing."""


def each_file(corpus: Corpus) -> Sequence[Rfc]:
    """Every RFC, the empty ones too: this is their one finding."""
    return corpus.rfcs


def check(subject: Rfc, _: Corpus) -> Iterator[Finding]:
    """Report the first of the ways in which line 1 is no title."""
    path, prefix, document = subject.path, subject.contract.title_prefix, subject.document
    title, first = subject.header.title, document.lines[0].strip()
    if document.is_blank:
        yield Finding(path=path, message="the file is empty")
    elif document.has_bom:
        yield Finding(path=path, message="a byte-order mark stands before the title", hint="save it without one")
    elif title is None:
        yield Finding(path=path, message=f"line 1 is no title: {first[:60]!r}")
    elif title.line != 1:
        yield Finding(path=path, message=f"the title stands on line {title.line}, not on line 1")
    elif title.markup != "#":
        yield Finding(path=path, message="the title is an underlined heading")
    elif not title.name.startswith(prefix.rstrip()):
        column = _text_column(title, document.lines[0])
        yield Finding(path=path, column=column, message=f"the title does not start with {prefix!r}")
    elif not title.name.startswith(prefix):
        column = _text_column(title, document.lines[0]) + len(prefix.rstrip())
        if title.name == prefix.rstrip():
            message = f"nothing that reads as a title follows {prefix!r}"
        else:
            message = f"the title does not start with {prefix!r}: a space is missing"
        yield Finding(path=path, column=column, message=message)
    elif title.name.removeprefix(prefix) == _PLACEHOLDER:
        column = _text_column(title, document.lines[0]) + len(prefix)
        yield Finding(path=path, column=column, message="the title is still the placeholder", hint="write a title")


def _text_column(title: Heading, line: str) -> int:
    """Return where the text of a heading starts, or the heading itself when it has none."""
    return line.index(title.name, title.column) + 1 if title.name else title.column


RULE = Rule(
    code="header-title",
    summary="Line 1 of an RFC is `# RFC: <title>`.",
    hint="make the first line `# RFC: <title>`",
    doc=__doc__,
    over=each_file,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n"},
    bad={"proposed/feature/2026-08-01-warm-start.md": "# Warm start\n"},
)
