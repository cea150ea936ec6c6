"""A relative link leads to something that is in the repository.

A file that moves breaks every link to it, and its author sees only the file in hand. What counts is what git
tracks, every letter as it is written there: a name in the wrong case works on one machine and nowhere else, and
what git ignores reaches nobody. Images and the targets of raw HTML are links too; what stands in code is text.
"""

import posixpath
from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.rule import Rule, each_page
from dsh_rfc.targets import Reach, Target, read_target, way


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each link whose target is not there."""
    for link in corpus.links_of(subject).links:
        target = read_target(link.target, subject.path)
        what = "image" if link.is_image else "link"
        if target.reach is Reach.NOWHERE:
            message, hint = f"the {what} has no target", "write where it leads, or take the brackets away"
        elif target.reach is Reach.HERE and target.path != subject.path:
            message, hint = _fault(target, subject.path, corpus)
        else:
            continue
        if message:
            yield Finding(path=subject.path, line=link.line, column=link.column, message=message, hint=hint)


def _fault(target: Target, page: str, corpus: Corpus) -> tuple[str, str]:
    if corpus.worktree.has(target.path):
        is_file = target.is_folder and corpus.worktree.has_file(target.path)
        return (f"{target.path} is a file, not a folder", "take the slash away") if is_file else ("", "")
    if actual := corpus.worktree.respelled(target.path):
        return f"{target.path} is spelled {actual}", f"write {way(page, actual)}"
    name = posixpath.basename(target.path)
    moved = corpus.paths_by_name.get(name, ())
    if len(moved) == 1 and name not in {*corpus.contract.notes, corpus.contract.curated, corpus.contract.index}:
        return f"{target.path} does not exist", f"did it move? {way(page, moved[0])} has this name"
    return f"{target.path} does not exist", ""


RULE = Rule(
    code="link-missing",
    summary="A relative link leads to something that is in the repository.",
    hint="mend the path, or take the link away",
    doc=__doc__,
    over=each_page,
    check=check,
    good={"README.md": "See [the index](INDEX.md).\n", "INDEX.md": "# Index\n"},
    bad={"README.md": "See [the index](Index.md).\n", "INDEX.md": "# Index\n"},
)
