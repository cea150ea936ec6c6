"""An image shows a picture.

An image whose target is a page, a folder or a program shows an empty frame, and the link that was meant cannot
be followed. A video or a sound counts as a picture, since GitHub and the site play both.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.rule import Rule, each_page
from dsh_rfc.targets import Reach, read_target

_PICTURES = {"apng", "avif", "bmp", "gif", "ico", "jpeg", "jpg", "png", "svg", "webp"}
_PLAYED = {"m4a", "mov", "mp3", "mp4", "ogg", "ogv", "wav", "webm"}


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each image whose target is there and is none."""
    for link in corpus.links_of(subject).links:
        target = read_target(link.target, subject.path)
        if not link.is_image or target.reach is not Reach.HERE:
            continue
        is_folder = corpus.worktree.has_folder(target.path)
        is_shown = target.path.rpartition(".")[2].lower() in _PICTURES | _PLAYED
        if is_folder or (corpus.worktree.has_file(target.path) and not is_shown):
            what = "a folder" if is_folder else "no picture"
            message = f"{target.path or 'the top of the repository'} is {what}"
            yield Finding(path=subject.path, line=link.line, column=link.column, message=message)


RULE = Rule(
    code="link-image",
    summary="An image shows a picture.",
    hint="take the exclamation mark away to make it a link, or name a picture",
    doc=__doc__,
    over=each_page,
    check=check,
    good={"README.md": "See [the index](INDEX.md).\n", "INDEX.md": "# Index\n"},
    bad={"README.md": "See ![the index](INDEX.md).\n", "INDEX.md": "# Index\n"},
)
