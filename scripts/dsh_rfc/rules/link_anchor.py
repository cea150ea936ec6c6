"""The fragment of a link names a heading, or something else with a name, of the page that it leads to.

A link to a heading that was reworded goes to the top of the page without a word. The anchors of headings are
GitHub's, and the site is built with the same: lower case, punctuation dropped, spaces as hyphens, `-1` on the
second of two equal ones. `{#id}` behind a heading and the `id` or `name` of raw HTML count as well. Fragments
of files that are no Markdown, such as the lines of a program, are not judged.
"""

from collections.abc import Iterator
from difflib import get_close_matches

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.rule import Rule, each_page
from dsh_rfc.targets import Reach, Target, read_target

_FRONT_PAGE = "README.md"  # GitHub shows it below the list of a folder


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each fragment that its page does not have."""
    for link in corpus.links_of(subject).links:
        target = read_target(link.target, subject.path)
        if link.is_image or target.reach is not Reach.HERE or target.shows_source:
            continue
        if target.fragment in {"", "top"}:
            continue
        page = _page(target, subject, corpus)
        if page is None:
            continue
        anchors = corpus.anchors_of(page)
        if target.fragment not in anchors:
            where = "this page" if page is subject else page.path
            near = get_close_matches(target.fragment.lower(), anchors, n=1, cutoff=0.5)
            yield Finding(
                path=subject.path,
                line=link.line,
                column=link.column,
                message=f"{where} has no anchor #{target.fragment}",
                hint=f"the nearest is #{near[0]}" if near else "",
            )


def _page(target: Target, subject: Document, corpus: Corpus) -> Document | None:
    if target.path == subject.path:
        return subject
    if corpus.worktree.has_folder(target.path):
        return corpus.page_at(f"{target.path}/{_FRONT_PAGE}" if target.path else _FRONT_PAGE)
    return corpus.page_at(target.path)


RULE = Rule(
    code="link-anchor",
    summary="The fragment of a link names something on the page that it leads to.",
    hint="link to a heading that the page has, or to the page",
    doc=__doc__,
    over=each_page,
    check=check,
    good={"README.md": "# Record\n\n## When to write one\n\nSee [when](#when-to-write-one).\n"},
    bad={"README.md": "# Record\n\n## When to write one\n\nSee [when](#when-to-write).\n"},
)
