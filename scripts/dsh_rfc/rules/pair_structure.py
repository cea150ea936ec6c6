"""Both sides of a pair have the same structure, section for section.

Depth and order of headings, code blocks with their content, the number of columns of tables, the kinds of lists
and the targets of links are equal, and so are the title's prefix and the status line of an RFC. A section that was
added on one side, and a link that leads elsewhere, then show without anybody reading both. Links between two
headings, blocks or lists may stand in another order, since a sentence does; a link may lead to the counterpart of a
page, and to the heading there that stands at the same place.
"""

from collections.abc import Hashable, Iterator, Sequence

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.header import read_header
from dsh_rfc.pairs import UNTAGGED, Member, each_member, split_tag
from dsh_rfc.rule import Rule
from dsh_rfc.structure import Connection, Outline, first_difference, read_outline
from dsh_rfc.switcher import find_switchers, is_rfc
from dsh_rfc.targets import Reach, read_target

_ENGLISH = "# Warm start\n\nEnglish | [中文](start.zh.md)\n\n## Why\n\n1. It is quick.\n"


def each_counterpart(corpus: Corpus) -> Sequence[Member]:
    """The sides with a language tag of every pair that has both: they are compared with the one that has none."""
    return tuple(member for member in each_member(corpus.pairs) if member.tag and member.pair.is_whole)


def check(subject: Member, corpus: Corpus) -> Iterator[Finding]:
    """Report the first place where a side parts from the other."""
    ours, theirs = corpus.page_at(subject.path), corpus.page_at(subject.pair.sides[UNTAGGED])
    if ours is None or theirs is None:
        return
    found = next(_header_differences(ours, theirs, corpus), None)
    if found is not None:
        yield found
        return
    difference = first_difference(_outline(ours, corpus), _outline(theirs, corpus))
    if difference is None:
        return
    if difference.shown == difference.other_shown:
        message = f"{difference.shown} is not the same as the one at {theirs.path}:{difference.other_line}"
    else:
        there = f"{theirs.path}:{difference.other_line}"
        message = f"here stands {difference.shown}, and at {there} stands {difference.other_shown}"
    yield Finding(path=ours.path, line=difference.line, message=message)


def _header_differences(ours: Document, theirs: Document, corpus: Corpus) -> Iterator[Finding]:
    if not is_rfc(theirs, corpus.contract):
        return
    mine, other = read_header(ours), read_header(theirs)
    prefix = corpus.contract.title_prefix
    if mine.title is not None and not f"{mine.title.name} ".startswith(prefix):
        message = f"the title does not start with {prefix.strip()!r}, as at {theirs.path}:{other.title_line}"
        yield Finding(path=ours.path, line=mine.title.line, column=mine.title.column, message=message)
    if other.status is None:
        return
    if mine.status is None:
        message = f"there is no {other.status.text!r}, as at {theirs.path}:{other.status.line}"
        yield Finding(path=ours.path, line=mine.title_line, message=message)
    elif mine.status.text != other.status.text or (
        mine.status.line != other.status.line and other.status.line == other.status_line_expected
    ):
        message = f"the status line is not {other.status.text!r}, as at {theirs.path}:{other.status.line}"
        yield Finding(path=ours.path, line=mine.status.line, message=message)


def _outline(document: Document, corpus: Corpus) -> Outline:
    switchers = {line for line, _ in find_switchers(document, corpus.contract)}
    links = [
        Connection(meaning=_meaning(link.target, document, corpus), shown=link.target, line=link.line)
        for link in corpus.links_of(document).links
        if link.line not in switchers
    ]
    return read_outline(document, links)


def _meaning(written: str, document: Document, corpus: Corpus) -> Hashable:
    """Return the same value for the same place in either language."""
    target = read_target(written, document.path)
    if target.reach is not Reach.HERE:
        return written
    page = corpus.page_at(target.path)
    fragment: str | int = target.fragment
    if page is not None and target.fragment:
        anchors = corpus.anchors_of(page)
        fragment = anchors.index(target.fragment) if target.fragment in anchors else target.fragment
    return split_tag(target.path, corpus.contract)[0], fragment


RULE = Rule(
    code="pair-structure",
    summary="Both sides of a pair have the same structure, section for section.",
    hint="give both sides the same sections, blocks, lists and links at the same place, then confirm the pair",
    doc=__doc__,
    over=each_counterpart,
    check=check,
    good={"start.md": _ENGLISH, "start.zh.md": "# 热启动\n\n[English](start.md) | 中文\n\n## 原因\n\n1. 快。\n"},
    bad={"start.md": _ENGLISH, "start.zh.md": "# 热启动\n\n[English](start.md) | 中文\n\n## 原因\n\n- 快。\n"},
)
