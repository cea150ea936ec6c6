"""A reference has a definition, and a footnote has a text.

`[text][label]` without a line `[label]: target` is shown as it was typed, brackets and all. So is `[^1]` without
its text. A label alone in brackets is prose, unless it has a definition.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.rule import Rule, each_page


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each use of a label that nothing defines."""
    for mark in corpus.links_of(subject).missing:
        yield Finding(
            path=subject.path,
            line=mark.line,
            column=mark.column,
            message=f"nothing defines [{mark.label.lower()}]",
        )


RULE = Rule(
    code="link-reference-missing",
    summary="A reference has a definition, and a footnote has a text.",
    hint="define the label below, or write the target in place",
    doc=__doc__,
    over=each_page,
    check=check,
    good={"README.md": "See [the index][i].\n\n[i]: INDEX.md\n", "INDEX.md": "# Index\n"},
    bad={"README.md": "See [the index][i].\n\n[j]: INDEX.md\n", "INDEX.md": "# Index\n"},
)
