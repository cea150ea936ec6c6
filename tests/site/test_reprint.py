# ruff: noqa: RUF001 - Chinese punctuation is what Chinese text has
from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import markdown
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from dsh_rfc.document import Document
from dsh_rfc.stage.inline import Targets
from dsh_rfc.stage.reprint import Dialect, reprint

ROOT = Path(__file__).resolve().parents[2]
KEEP = Targets(markdown=str, html=str)
CASES = {
    "list after paragraph": "Text:\n- one\n- two\n",
    "ordered list after paragraph": "Text:\n1. one\n2. two\n",
    "nested by two": "- a\n  - b\n    - c\n- d\n",
    "nested by three": "1. a\n   - b\n   - c\n2. d\n",
    "paren markers": "1) a\n2) b\n",
    "start number": "3. c\n4. d\n",
    "fence in list": "- a\n\n  ```py\n  x = 1\n\n  y = 2\n  ```\n- b\n",
    "fence right after item": "1. a\n   ```sh\n   ls\n   ```\n2. b\n",
    "paragraphs in list": "- a\n\n  b\n\n- c\n",
    "consecutive lines": "one\ntwo\nthree\n",
    "hard breaks": "one  \ntwo\\\nthree\n",
    "table after paragraph": "Text\n\n| a | b |\n|:--|--:|\n| 1 | `x\\|y` |\n| \\| | 4 |\n",
    "quote after paragraph": "Text\n> quote\n> more\n\nText\n",
    "lazy quote": "> one\ntwo\n",
    "list in quote": "> - a\n>   - b\n",
    "fence in quote": "> ```\n> code\n> ```\n",
    "heading after text": "Text\n## Not a title\nText\n",
    "underlined heading": "Head\n----\n\nText\n",
    "no space heading": "#hashtag is text\n",
    "indented code": "Text\n\n    code <b>\n\nText\n",
    "fence with backticks": "````\n```\ninner\n```\n````\n",
    "tilde fence": "~~~\ncode\n~~~\n",
    "fence with odd language": "```{.py}\ncode\n```\n",
    "escapes": '\\* \\_ \\< \\& \\| \\~ \\{ \\[x\\] \\\\ \\` \\" \\$\n',
    "braces": "a {b} `{c}` **d** {e}\n",
    "brackets": "a[i][j] and [x][ y ]\n",
    "less than": "a < b and c <d and 1<2\n",
    "lone backtick": "a ` b and ``c\n",
    "double backticks": "`` a`b `` and ` x `\n",
    "autolink": "<https://example.org/a_b_c>\n",
    "links": '[a](b.md) [c](<d e.md> "t") ![i](p.png)\n',
    "link with parentheses": "[a](b_(c).md) after\n",
    "reference": '[a][r] and [r]\n\n[r]: target.md "Title"\n',
    "html block": "<div>\n<b>raw</b>\n</div>\n\nText\n",
    "html inline": "a <kbd>b</kbd> <!-- c --> d\n",
    "touching lists": "- a\n\n* b\n",
    "list then code": "- a\n\n<!-- -->\n\n    code\n",
    "underscores": "snake_case_name and __init__ and _emphasis_\n",
    "numbers": "1986\\. A year\n",
    "admonition text": "!!! note\n",
    "directive text": "::: module\n",
    "toc text": "[TOC]\n",
    "rule": "a\n\n***\n\nb\n",
    "empty item": "- a\n-\n- c\n",
    "item that is a fence": "- ```\n  code\n  ```\n- b\n",
    "item that is a list": "- - a\n  - b\n",
    "ten items": "".join(f"{number}. item\n" for number in range(1, 12)),
    "chinese": "**重点**和`代码`：\n- 第一\n- 第二\n",
}


class _Shape(HTMLParser):
    """What a reader sees: tags without attributes but targets, and words."""

    TAGS = frozenset(
        {
            "tr",
            "td",
            "th",
            "ul",
            "ol",
            "li",
            "pre",
            "code",
            "blockquote",
            "em",
            "strong",
            "a",
            "img",
            "hr",
            "br",
            "kbd",
            "b",
        }
    )

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._in_pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_pre += tag == "pre"
        if tag in self.TAGS or re.fullmatch(r"h[1-6]", tag):
            kept = {key: unquote(value or "") for key, value in attrs if key in {"href", "src", "start"}}
            if not (tag == "code" and self._in_pre):
                self.parts.append(f"<{tag}{kept or ''}>")

    def handle_endtag(self, tag: str) -> None:
        self._in_pre -= tag == "pre"
        if (tag in self.TAGS or re.fullmatch(r"h[1-6]", tag)) and not (tag == "code" and self._in_pre):
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.parts).split()).replace("> ", ">").replace(" <", "<")


def shape(html: str) -> str:
    """Return what a reader sees of a page."""
    parser = _Shape()
    parser.feed(html)
    parser.close()
    return parser.text


def as_github(text: str) -> str:
    """Return what GitHub shows."""
    return shape(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


def as_site(text: str) -> str:
    """Return what the site shows."""
    extensions = yaml.unsafe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["markdown_extensions"]
    extensions = {**extensions, "toc": {}, "pymdownx.highlight": {"use_pygments": False}}
    printed = reprint(Document(path="page.md", text=text), KEEP, Dialect(), omit=frozenset())
    title = f"# {printed.heading}\n\n" if printed.heading else ""
    builder = markdown.Markdown(extensions=list(extensions), extension_configs=extensions)
    return shape(builder.convert(title + printed.body))


@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_the_site_shows_what_github_shows(text: str) -> None:
    """A document is written once, for the dialect of the place where it is reviewed."""
    assert as_site(text) == as_github(text)


WORDS = st.sampled_from(
    ["word", "`code`", "*em*", "**strong**", "[link](a.md)", "snake_case", "a{b}", "x\\_y", "1 < 2", "中文"]
)
LINES = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0) -> str:
    """A document of nested blocks, indented as CommonMark wants it."""
    kind = draw(
        st.sampled_from(["text", "fence", "heading", "list", "ordered"] if depth < 3 else ["text", "fence"])
    )
    if kind == "text":
        return draw(LINES)
    if kind == "fence":
        return "```py\n" + "\n".join(draw(st.lists(LINES, min_size=1, max_size=2))) + "\n```"
    if kind == "heading":
        return "## " + draw(LINES)
    items = draw(st.lists(st.lists(blocks(depth=depth + 1), max_size=2), min_size=1, max_size=3))
    lines = []
    for number, item in enumerate(items, start=1):
        marker = "- " if kind == "list" else f"{number}. "
        body = "\n\n".join([draw(LINES), *item]).replace("\n", "\n" + " " * len(marker))
        lines.append(marker + re.sub(r"^ +$", "", body, flags=re.MULTILINE))
    return draw(st.sampled_from(["\n", "\n\n"])).join(lines)


@given(st.lists(blocks(), min_size=1, max_size=4).map("\n\n".join))
@settings(max_examples=60, deadline=None)
@example("- word\n\n  - word\n\n    ```py\n    word\n    ```")
def test_nested_documents_look_the_same_in_both_places(text: str) -> None:
    """Nesting is where the two dialects part, and cases cannot name every depth."""
    assert as_site(text) == as_github(text)


def test_only_the_targets_change_for_readers_of_source() -> None:
    """They read CommonMark, for which nothing has to be evened out."""
    text = "# T\n\nA {brace}, [a](b.md) and a\nline.\n"
    targets = Targets(markdown=lambda href: f"to/{href}", html=str)
    printed = reprint(Document(path="page.md", text=text), targets, Dialect(for_builder=False), omit=frozenset())
    assert printed.body == "A {brace}, [a](to/b.md) and a line.\n"


def test_a_target_in_code_is_no_link() -> None:
    """An example must be shown as it was written."""
    targets = Targets(markdown=lambda _: "changed", html=lambda _: "changed")
    text = "`[a](b.md)`\n\n```\n[c](d.md)\n```\n\n[e](f.md) <a href='g.md'>h</a>\n"
    body = reprint(Document(path="page.md", text=text), targets, Dialect(), omit=frozenset()).body
    assert "`[a](b.md)`" in body
    assert "[c](d.md)" in body
    assert "[e](changed)" in body
    assert '<a href="changed">' in body


def test_markdown_inside_open_html_stays_markdown() -> None:
    """GitHub reads Markdown after an empty line inside a details element; the builder has to be told."""
    text = "<details>\n<summary>More</summary>\n\n- **a**\n\n</details>\n"
    assert as_site(text) == as_github(text)


def test_an_explicit_anchor_stays() -> None:
    """Somebody may have linked to it."""
    printed = reprint(Document(path="page.md", text="# T\n\n## Head {#mine}\n"), KEEP, Dialect(), omit=frozenset())
    assert printed.body == "## Head { #mine }\n"
