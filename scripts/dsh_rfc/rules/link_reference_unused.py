"""A definition is used.

A definition that no text uses is what a deleted sentence left behind, or has a typing error in its label that
another rule may not see. A label of two slashes, the usual way to write a comment, is none.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.rule import Rule, each_page


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each definition whose label stands nowhere else."""
    links = corpus.links_of(subject)
    for mark in links.definitions:
        if mark.label not in links.used:
            message = f"nothing uses [{mark.label.lower()}]"
            yield Finding(path=subject.path, line=mark.line, column=mark.column, message=message)


RULE = Rule(
    code="link-reference-unused",
    summary="A definition of a link or a footnote is used.",
    hint="delete the definition, or use its label",
    doc=__doc__,
    over=each_page,
    check=check,
    severity="warning",
    good={"README.md": "See [the index][i].\n\n[i]: INDEX.md\n", "INDEX.md": "# Index\n"},
    bad={"README.md": "See the index.\n\n[i]: INDEX.md\n", "INDEX.md": "# Index\n"},
)
