"""A label is defined once.

The first definition counts and the others are dropped without a word, so a link goes where its author did not
send it. Labels are compared as renderers do: in any case, with any space.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.rule import Rule, each_page


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each definition of a label that is defined above."""
    links = corpus.links_of(subject)
    for mark in links.repeated:
        first = next((other.line for other in links.definitions if other.label == mark.label), 0)
        yield Finding(
            path=subject.path,
            line=mark.line,
            column=mark.column,
            message=f"[{mark.label.lower()}] is defined in line {first} already",
        )


RULE = Rule(
    code="link-reference-repeated",
    summary="A label of a link or a footnote is defined once.",
    hint="delete one of the definitions, or give it a label of its own",
    doc=__doc__,
    over=each_page,
    check=check,
    good={"README.md": "See [the index][i].\n\n[i]: INDEX.md\n", "INDEX.md": "# Index\n"},
    bad={"README.md": "See [the index][i].\n\n[i]: INDEX.md\n[I]: README.md\n", "INDEX.md": "# Index\n"},
)
