"""A link stays in the repository, and is relative to the page that it stands on.

A path from the root of a file system is right on the machine of whoever wrote it. A path from the root of the
repository is right on GitHub and wrong on the site. A relative path that climbs out of the repository is wrong
wherever something else lies around it. Where only a record is judged, and not the repository that it stands in,
nobody can say what is outside, and climbing is not judged.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.rule import Rule, each_page
from dsh_rfc.targets import Reach, read_target, way


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each link to an absolute path, and each that leaves the repository."""
    for link in corpus.links_of(subject).links:
        target = read_target(link.target, subject.path)
        if target.reach is Reach.ABSOLUTE:
            message = f"{link.target} is an absolute path"
            is_here = bool(target.path) and corpus.worktree.has(target.path)
            hint = f"write {way(subject.path, target.path)}" if is_here else ""
        elif target.reach is Reach.OUTSIDE and corpus.worktree.is_bounded:
            message, hint = f"{link.target} leaves the repository", ""
        else:
            continue
        yield Finding(path=subject.path, line=link.line, column=link.column, message=message, hint=hint)


RULE = Rule(
    code="link-escapes",
    summary="A link stays in the repository and is relative.",
    hint="link to something in the repository by a relative path, or to another host by https",
    doc=__doc__,
    over=each_page,
    check=check,
    good={"README.md": "See [the index](INDEX.md).\n", "INDEX.md": "# Index\n"},
    bad={"README.md": "See [the index](/home/ada/record/INDEX.md).\n", "INDEX.md": "# Index\n"},
)
