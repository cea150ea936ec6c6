"""Code spans that name something: paths of the repository and dotted names of its packages.

Owns which spans are shaped like either and what is wrong with one. The shapes are narrow on purpose: what is prose,
a wire name or a placeholder is not judged.

Flow: inline tokens -> `Span`s; span -> path or dotted name -> nothing, or an `Absence`.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it.token import Token

from dsh_rfc.document import Document
from dsh_rfc.symbols import Absence, Symbols
from dsh_rfc.tree import Kind
from dsh_rfc.worktree import Worktree

_PATH = re.compile(r"(?:\.\./)*[\w.@+*?~-]+(?:/[\w.@+*?~-]+)*/?")
_INTO_FILE = re.compile(r"(?:::[\w:.\[\]-]+|:\d+(?:[-:]\d+)?|#L\d+(?:-L\d+)?)$")
_HOST = re.compile(r"[^.].*\.[A-Za-z]{2,}$")
_PLACEHOLDER = re.compile(r"(^|/)(\.\.\.|\*\*|path/to|~)(/|$)|yyyy")
_DOTTED = re.compile(r"(?:python3? -m )?(?P<name>[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)+)(?:\([^()]*\))?")
_ENDINGS = """
bash bat c cc cfg cjs conf cpp cs css csv db env ex go h hpp htm html ico in ini ipynb java jinja jpeg jpg js json
json5 jsonc jsonl jsx kt less lock log lua md mdx mjs mk pdf php pl png proto ps1 py pyi rb rs rst sass scala scss
sh sql svg svelte swift tar template tf toml ts tsv tsx txt typed vue wasm webp whl xml yaml yml zig zip zsh
"""
_FILE_ENDINGS = frozenset(_ENDINGS.split())
_SEARCHED = 5000


@dataclass(frozen=True, kw_only=True)
class Span:
    """A code span: its text, and where in the content of its inline token it starts."""

    text: str
    token: Token
    start: int

    def place(self, document: Document) -> tuple[int, int]:
        """Return its 1-based line and column in its document."""
        return document.place(self.token, self.start)


def read_spans(document: Document) -> Iterator[Span]:
    """Yield the code spans of a document that could name something."""
    for token in document.blocks:
        if token.type == "inline" and "`" in token.content:
            for child in document.inline(token):
                if child.type == "code_inline" and ("/" in child.content or "." in child.content):
                    yield Span(text=child.content.strip(), token=token, start=child.meta["start"])


def symbol_in(text: str, symbols: Symbols) -> str:
    """Return the dotted name of one of the packages that a span is; empty when it is something else."""
    match = _DOTTED.fullmatch(text)
    if match is None or not symbols.owns(match["name"].replace(":", ".")):
        return ""
    parts = match["name"].replace(":", ".").split(".")
    return "" if len(parts) == 2 and parts[1] in _FILE_ENDINGS else ".".join(parts)


def path_in(text: str, page: str, worktree: Worktree) -> str:
    """Return the path that a span is shaped like, as written; empty when it is something else.

    Args:
        text: Of the span.
        page: Path of the document that it stands in.
        worktree: Where a path begins, unless it ends like a file.
    """
    text = _INTO_FILE.sub("", text)
    if "/" not in text or not _PATH.fullmatch(text) or _PLACEHOLDER.search(text):
        return ""
    first = text.split("/")[0]
    if first == ".":
        return ""  # seen from wherever something runs
    if worktree.has(first):
        return text if first != ".." or _is_file_name(text) else ""
    if not _is_file_name(text) or (first != ".." and not worktree.is_bounded):
        return ""  # a wire name, a branch, two words; or who knows what stands around
    is_elsewhere = first.startswith("@") or (bool(_HOST.match(first)) and not worktree.has(_near(page, first)))
    return "" if is_elsewhere else text


def _is_file_name(path: str) -> bool:
    return path.rpartition("/")[2].rpartition(".")[2] in _FILE_ENDINGS and "." in path.rpartition("/")[2]


def path_absence(path: str, page: str, worktree: Worktree) -> Absence | None:
    """Return why a path does not exist, seen from the document and from the top; None when it does."""
    seen = [_near(page, path)]
    if not path.startswith("../"):
        seen.append(posixpath.normpath(path))
    inside = [item for item in seen if item != ".." and not item.startswith("../")]
    if not inside or any(_exists(item, worktree) for item in inside):
        return None
    return Absence(message=f"{path} does not exist", hint=_suggest(inside[-1], worktree))


def _near(page: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path))


def _exists(path: str, worktree: Worktree) -> bool:
    if path == ".":
        return True
    if "*" in path or "?" in path:
        return next(worktree.match(path), None) is not None
    return worktree.has(path) or worktree.ignores(path)


def _suggest(path: str, worktree: Worktree) -> str:
    """Return where else a file of this name stands, when there is one place below the deepest folder there is."""
    name = posixpath.basename(path)
    folder = posixpath.dirname(path)
    while folder and not worktree.has_folder(folder):
        folder = posixpath.dirname(folder)
    if not folder:
        return ""
    found: list[str] = []
    pending, looked = [folder], 0
    while pending and looked < _SEARCHED:
        around = pending.pop()
        for item, kind in worktree.names(around).items():
            looked += 1
            if item == name:
                found.append(f"{around}/{item}")
            if kind is Kind.FOLDER:
                pending.append(f"{around}/{item}")
    return f"did it move? {found[0]} has this name" if len(found) == 1 else ""
