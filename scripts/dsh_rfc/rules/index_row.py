"""The curated page holds no rows of the index.

The index is generated; a row that was copied into the curated page is right until the next file is added. A
row is a table row with a link into a lifecycle folder, or a line that looks like one. In a code fence it is
an example.
"""

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from markdown_it.token import Token

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document, column_of_text
from dsh_rfc.rule import Rule, whole_record


def check(subject: Corpus, _: Corpus) -> Iterator[Finding]:
    """Report each run of lines of the curated page that are rows with a link into a lifecycle folder."""
    page = subject.curated
    if page is None:
        return
    rows: list[int] = []
    for number in (*_rows(page, subject), 0):
        if rows and number != rows[-1] + 1:
            first = page.lines[rows[0] - 1]
            what = "a row of the index stands" if len(rows) == 1 else f"{len(rows)} rows of the index stand"
            message = f"{what} in the curated page"
            yield Finding(path=page.path, line=rows[0], column=column_of_text(first), message=message)
            rows = []
        rows.append(number)


def _rows(page: Document, corpus: Corpus) -> list[int]:
    in_table, rows = False, set[int]()
    for token in page.blocks:
        if token.type in {"table_open", "table_close"}:
            in_table = token.type == "table_open"
        if token.type == "inline" and token.map is not None and _links_into_lifecycle(page, token, corpus):
            lines = range(token.map[0] + 1, token.map[1] + 1)
            rows.update(number for number in lines if in_table or _looks_like_row(page.lines[number - 1]))
    return sorted(rows)


def _looks_like_row(line: str) -> bool:
    return line.strip().startswith("|") and "](" in line


def _links_into_lifecycle(page: Document, token: Token, corpus: Corpus) -> bool:
    if "[" not in token.content:
        return False
    for child in page.inline(token):
        if child.type != "link_open":
            continue
        target = posixpath.normpath(unquote(str(child.attrs["href"])))
        here = corpus.record.rpartition("/")[2]
        parts = target.removeprefix(f"../{here}/").split("/") if here else target.split("/")
        if parts[0] in corpus.contract.lifecycles:
            return True
    return False


RULE = Rule(
    code="index-row",
    summary="The curated page holds no rows of the index.",
    hint="delete it; the index lists every RFC",
    doc=__doc__,
    over=whole_record,
    check=check,
    good={"README.md": "See [the index](INDEX.md).\n"},
    bad={
        "README.md": (
            "| Title | First proposed |\n"
            "|---|---|\n"
            "| [Warm start](proposed/feature/2026-08-01-warm-start.md) | 2026-08-01 |\n"
        )
    },
)
