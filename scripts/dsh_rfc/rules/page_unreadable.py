"""Every Markdown file of the repository is UTF-8 text that can be read.

Links, references and examples are judged in all of them, and what cannot be read cannot be judged. The RFCs
themselves have a rule of their own, `unreadable`, because an index cannot be made without them.
"""

from collections.abc import Iterator, Sequence

from dsh_rfc.corpus import Corpus, Unread
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rule import Rule


def each_unread(corpus: Corpus) -> Sequence[Unread]:
    """The pages that did not decode."""
    return corpus.unread_pages


def check(subject: Unread, _: Corpus) -> Iterator[Finding]:
    """Report why a page is no text."""
    flaw = subject.flaw
    yield Finding(path=subject.path, line=flaw.line, column=flaw.column, message=flaw.message)


RULE = Rule(
    code="page-unreadable",
    summary="Every Markdown file of the repository is UTF-8 text that can be read.",
    hint="make it UTF-8 text that you may read, or exclude its folder if it is generated or vendored",
    doc=__doc__,
    over=each_unread,
    check=check,
    good={"README.zh.md": "# 记录\n"},
    bad={"README.zh.md": "# Rec\x00rd\n"},
)
