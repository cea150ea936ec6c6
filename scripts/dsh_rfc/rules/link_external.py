"""A link to another host leads somewhere.

By itself the rule reads the address only: one without a host, or with a character that an address cannot hold,
leads nowhere. With `dsh-rfc check --external` it asks the hosts as well, and reports what is dead. That is never
part of the gates, because the answer depends on the weather: a gate that fails for reasons outside of a change is
ignored, and then it is ignored when it is right. Addresses of this machine and names that are kept for examples
are not asked.
"""

from collections.abc import Iterator

from dsh_rfc.addresses import fault_of_address
from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.rule import Rule, each_page
from dsh_rfc.targets import Reach, read_target


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each address that cannot be followed, and each that was asked and is dead."""
    for link in corpus.links_of(subject).links:
        if read_target(link.target, subject.path).reach is not Reach.WEB:
            continue
        fault = fault_of_address(link.target) or corpus.answers.get(link.target, "")
        if fault:
            message = f"{link.target} {fault}"
            yield Finding(path=subject.path, line=link.line, column=link.column, message=message)


RULE = Rule(
    code="link-external",
    summary="A link to another host leads somewhere.",
    hint="mend the address, link to a page that took its place, or take the link away",
    doc=__doc__,
    over=each_page,
    check=check,
    good={"README.md": "See [the standard](https://www.rfc-editor.org/rfc/rfc3339).\n"},
    bad={"README.md": "See [the standard](https:///rfc/rfc3339).\n"},
)
