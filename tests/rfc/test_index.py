"""The index: its text, its order, titles that are hard to put into a table."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dsh_rfc.corpus import Corpus
from dsh_rfc.index import link_text, render_index, untitled

PARSER = MarkdownIt("commonmark").enable("table")


def shown(tokens: list[Token] | None) -> list[tuple[str, str]]:
    """Return what a reader sees of inline tokens: text and code, neighbours joined."""
    parts: list[tuple[str, str]] = []
    for token in tokens or []:
        if token.type in {"text", "text_special"} and parts and parts[-1][0] == "text":
            parts[-1] = ("text", parts[-1][1] + token.content)
        elif token.type in {"text", "text_special"}:
            parts.append(("text", token.content))
        else:
            parts.append((token.type, token.content))
    return parts


def cells(row: str) -> list[list[Token]]:
    """Return the inline tokens of the cells of one row of a table."""
    tokens = PARSER.parse(f"| a | b |\n|---|---|\n{row}\n")
    return [token.children or [] for token in tokens if token.type == "inline"][2:]


def test_the_index_groups_by_lifecycle_and_class_and_sorts_by_date_then_name(corpus_of: Callable[..., Corpus]):
    """The exact text is what `--check` compares and what the site shows."""
    corpus = corpus_of(
        {
            "rejected/testing/2026-03-01-z.md": "# RFC: Z\n",
            "implemented/bug-fix/2026-02-02-b.md": "# B without a prefix\n",
            "implemented/feature/2026-02-02-b2.md": "# RFC: B two\n",
            "implemented/feature/2026-02-02-b1.md": "# RFC: B one\n",
            "implemented/feature/2025-12-31-c.md": "# RFC: C\n",
        }
    )
    banner, *rest = render_index(corpus).split("\n\n", 2)[1:]
    assert "README.md" in banner
    assert "`dsh-rfc index`" in banner
    assert "\n\n".join(rest) == (
        "## Proposed\n\n"
        "## Implemented\n\n"
        "### Feature\n\n"
        "| Title | First proposed |\n|---|---|\n"
        "| [C](implemented/feature/2025-12-31-c.md) | 2025-12-31 |\n"
        "| [B one](implemented/feature/2026-02-02-b1.md) | 2026-02-02 |\n"
        "| [B two](implemented/feature/2026-02-02-b2.md) | 2026-02-02 |\n\n"
        "### Bug-fix\n\n"
        "| Title | First proposed |\n|---|---|\n"
        "| [B without a prefix](implemented/bug-fix/2026-02-02-b.md) | 2026-02-02 |\n\n"
        "## Rejected\n\n"
        "### Testing\n\n"
        "| Title | First proposed |\n|---|---|\n"
        "| [Z](rejected/testing/2026-03-01-z.md) | 2026-03-01 |\n"
    )


def test_the_index_does_not_depend_on_the_order_in_which_files_are_found(corpus_of: Callable[..., Corpus]):
    """Every file system lists in an order of its own."""
    files = {f"proposed/feature/2026-01-01-{name}.md": f"# RFC: {name}\n" for name in ("a", "b", "a-1", "a1", "ab")}
    mixed = list(files.items())
    random.Random(7).shuffle(mixed)  # noqa: S311 - an order, not a secret
    assert render_index(corpus_of(dict(mixed))) == render_index(corpus_of(files))


@pytest.mark.parametrize(
    "title",
    [
        "Plain",
        "A pipe | between",
        "Code `a|b` with a pipe",
        "Escaped \\| pipe",
        "Balanced [brackets] stay",
        "Half ] closed",
        "Half [ open",
        "A [link](https://example.org) inside",
        "An image ![alt](x.png) inside",
        "A lone ` backtick",
        "Ends in a backslash \\",
        "An <https://example.org> autolink",
        "HTML <b>bold</b> and <i title=']'>",
        "*Emphasis* and **more**",
        "`[code](x)` and `]`",
        "日本語 — ünïcode 😀",
    ],
)
def test_a_title_that_is_hard_for_a_table_still_makes_one_row_with_one_link(title: str):
    """A broken row shifts the dates of a reader's table, and its link is dead."""
    title_cell, date_cell = cells(f"| [{link_text(title)}](proposed/feature/x.md) | 2026-01-01 |")
    assert shown(date_cell) == [("text", "2026-01-01")]
    opened = [token for token in title_cell if token.type == "link_open"]
    assert [token.attrs["href"] for token in opened] == ["proposed/feature/x.md"]
    assert title_cell[0] is opened[0]
    assert title_cell[-1].type == "link_close"


@pytest.mark.parametrize(
    "title", ["Pipes | and `a|b`", "Half ] closed", "Ends in \\", "Escaped \\| pipe", "`]` and ["]
)
def test_a_title_reads_in_the_index_as_it_reads_in_its_file(title: str):
    """Escaping is for the table, not for the reader."""
    heading = PARSER.parse(f"# {title}\n")[1].children
    title_cell, _ = cells(f"| [{link_text(title)}](x.md) | d |")
    assert shown(title_cell[1:-1]) == shown(heading)


@given(st.text(alphabet="ab|[]()`\\<>!*_& ", min_size=1, max_size=12).map(str.strip).filter(bool))
def test_no_title_breaks_its_row(title: str):
    """The titles above are those that somebody thought of."""
    parts = cells(f"| [{link_text(title)}](x.md) | d |")
    assert len(parts) == 2
    assert [token.type for token in parts[0]][:1] == ["link_open"]
    assert parts[0][-1].type == "link_close"
    assert shown(parts[1]) == [("text", "d")]


def test_files_without_a_title_are_named(corpus_of: Callable[..., Corpus]):
    """They cannot be listed, so the index is refused and says why."""
    corpus = corpus_of(
        {"proposed/feature/2026-01-01-a.md": "text\n", "proposed/feature/2026-01-01-b.md": "# RFC:\n"}
    )
    assert untitled(corpus) == {"proposed/feature/2026-01-01-a.md"}
