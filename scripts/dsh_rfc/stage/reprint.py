"""A document printed again so that Python-Markdown reads what CommonMark says.

Owns the block structure: it is taken from the tokens, not from the lines, and written in the one form that both
dialects read alike. Refuses to decide where links lead (`inline.Targets`).

The differences that vanish this way: a list, table or quote right after a paragraph; nesting by two or three
spaces; fences in lists; `1)` as a marker; consecutive lines; lists and quotes that touch; headings underlined or
with an anchor of GitHub's; indented code; raw HTML around Markdown; alerts.

Flow: block tokens -> nested blocks of lines -> text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from markdown_it.token import Token

from dsh_rfc.anchors import heading_words
from dsh_rfc.document import Document
from dsh_rfc.slugs import Slugger
from dsh_rfc.stage.inline import Style, Targets, rewrite, rewrite_html

Lines = list[str]
_INDENT = "    "
_LANGUAGE = re.compile(r"[A-Za-z0-9_#.+-]+")
_EXPLICIT_ID = re.compile(r"\s*\{\s*#(?P<id>[^\s{}]+)\s*\}\s*$")
_TAKEN_AT_START = re.compile(r"#|!!!|\?\?\?|:::|===|\[TOC\]$")
_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*(?:\n|$)")
_ALERT_KIND = {"IMPORTANT": "info", "CAUTION": "danger"}
_OPENING = re.compile(r"<(details|div|section|aside|figure|blockquote|center)\b([^<>]*)>", re.IGNORECASE)
_SEPARATOR = ["<!-- -->"]


@dataclass(frozen=True, kw_only=True)
class Reprinted:
    """A document in the dialect of the builder.

    Attributes:
        title: The text of the first heading of level 1, without markup.
        heading: That heading as Markdown, without its marker; empty when there is none.
        body: Everything else.
        anchors: Of its headings, in order.
        has_diagram: Whether a diagram is drawn on it.
    """

    title: str
    heading: str
    body: str
    anchors: tuple[str, ...]
    has_diagram: bool


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What the text is written for.

    Attributes:
        for_builder: Python-Markdown with the extensions of the site; otherwise CommonMark, for readers of source.
        draws_diagrams: Whether fences named `mermaid` stay diagrams; otherwise they are shown as their source.
    """

    for_builder: bool = True
    draws_diagrams: bool = True


def plain_text(children: Sequence[Token]) -> str:
    """Return the words of inline tokens, code included."""
    parts: list[str] = []
    for child in children:
        if child.type in {"text", "code_inline", "text_special"}:
            parts.append(child.content)
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        elif child.type == "image":
            parts.append(plain_text(child.children or []))
    return "".join(parts)


def reprint(
    document: Document,
    targets: Targets,
    dialect: Dialect | None = None,
    *,
    omit: frozenset[int],
    aliases: Sequence[str] = (),
) -> Reprinted:
    """Return the document printed again.

    Args:
        document: With its tokens.
        targets: Where its links lead.
        dialect: What to write for.
        omit: 1-based lines; a paragraph that starts on one is left out.
        aliases: The anchors of the same headings in another language, under which they can be reached too; passed
            over when their number differs.
    """
    printer = _Printer(document, targets, dialect or Dialect(), omit, aliases)
    return printer.document_text()


class _Printer:
    def __init__(
        self,
        document: Document,
        targets: Targets,
        dialect: Dialect,
        omit: frozenset[int],
        aliases: Sequence[str],
    ) -> None:
        self._document = document
        self._tokens = document.blocks
        self._dialect = dialect
        self._omit = omit
        self._style = Style(targets=targets, labels=document.references, for_builder=dialect.for_builder)
        self._slugger = Slugger()
        self._anchors: list[str] = []
        count = sum(token.type == "heading_open" for token in self._tokens)
        self._aliases = tuple(aliases) if len(aliases) == count and dialect.for_builder else ()
        self._at = 0
        self._title: tuple[str, str] | None = None
        self._has_diagram = False

    def document_text(self) -> Reprinted:
        blocks = self._blocks("")
        definitions = [
            f"[{label.lower()}]: <{self._style.targets.markdown(item['href'])}>" + _title_of(item)
            for label, item in self._document.references.items()
        ]
        lines = _join([*blocks, definitions] if definitions else blocks)
        title, heading = self._title or ("", "")
        return Reprinted(
            title=title,
            heading=heading,
            body="\n".join(lines).strip("\n") + "\n",
            anchors=tuple(self._anchors),
            has_diagram=self._has_diagram,
        )

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _blocks(self, end: str) -> list[Lines]:
        blocks: list[Lines] = []
        before = ""
        while self._at < len(self._tokens):
            token = self._take()
            if token.type == end:
                break
            lines = self._block(token)
            if not lines:
                continue
            if _touches(before, token.type):
                blocks.append(list(_SEPARATOR))
            blocks.append(lines)
            before = token.type
        return blocks

    def _block(self, token: Token) -> Lines:
        match token.type:
            case "heading_open":
                return self._heading(token)
            case "paragraph_open":
                return self._paragraph(token)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token)
            case "blockquote_open":
                return self._quote()
            case "fence":
                return self._fence(token.content, token.info)
            case "code_block":
                return self._fence(token.content, "")
            case "html_block":
                return self._html(token.content)
            case "table_open":
                return self._table()
            case "hr":
                return ["---"]
        raise NotImplementedError(token.type)

    def _heading(self, token: Token) -> Lines:
        inline = self._take()
        self._at += 1
        content = inline.content
        explicit = _EXPLICIT_ID.search(content)
        if explicit:
            content = content[: explicit.start()]
        words = _EXPLICIT_ID.sub("", plain_text(self._document.inline(inline)))
        taken = self._slugger.take(_EXPLICIT_ID.sub("", heading_words(self._document.inline(inline))))
        anchor = explicit["id"] if explicit else taken
        self._anchors.append(anchor)
        alias = self._aliases[len(self._anchors) - 1] if self._aliases else anchor
        text = rewrite(content, self._style)
        if token.tag == "h1" and token.level == 0 and self._title is None:
            self._title = (words.strip(), text)
            return []
        if self._dialect.for_builder:
            text = f"{text} {{ #{anchor} }}"
        heading = f"{'#' * int(token.tag[1:])} {text}"
        return [heading] if alias == anchor else [f'<a id="{escape(alias)}"></a>', "", heading]

    def _paragraph(self, token: Token) -> Lines:
        inline = self._take()
        self._at += 1
        if token.map is not None and token.map[0] + 1 in self._omit:
            return []
        text = rewrite(inline.content, self._style)
        if self._dialect.for_builder and _TAKEN_AT_START.match(text):
            text = f"&#{ord(text[0])};{text[1:]}"
        return text.split("\n")

    def _list(self, opening: Token) -> Lines:
        is_ordered = opening.type == "ordered_list_open"
        number = int(opening.attrs.get("start", 1)) if is_ordered else 0
        end = opening.type.replace("open", "close")
        items: list[Lines] = []
        is_loose = False
        while (token := self._take()).type != end:
            if token.type != "list_item_open":
                continue
            start = self._at
            blocks = self._blocks("list_item_close")
            is_loose = is_loose or any(
                inner.type == "paragraph_open" and not inner.hidden and inner.level == token.level + 1
                for inner in self._tokens[start : self._at]
            )
            items.append(_item(f"{number}." if is_ordered else "-", blocks, is_loose=is_loose))
            number += 1
        lines: Lines = []
        before: Lines = []
        for item in items:
            if before and (is_loose or "" in before):
                lines.append("")
            lines += item
            before = item
        return lines

    def _quote(self) -> Lines:
        following = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else None
        alert = _ALERT.match(following.content) if following is not None and following.type == "inline" else None
        if following is not None and alert and self._dialect.for_builder:
            kind = alert[1]
            shortened = replace_content(following, following.content[alert.end() :])
            tokens = list(self._tokens)
            tokens[self._at + 1] = shortened
            self._tokens = tuple(tokens)
            inner = _join(self._blocks("blockquote_close"))
            head = f'!!! {_ALERT_KIND.get(kind, kind.lower())} "{kind.capitalize()}"'
            return [head, "", *_indented(inner)]
        inner = _join(self._blocks("blockquote_close"))
        return [f"> {line}".rstrip() for line in inner] or [">"]

    def _fence(self, content: str, info: str) -> Lines:
        words = info.split()
        language = words[0] if words and _LANGUAGE.fullmatch(words[0]) else ""
        if language == "mermaid":
            if self._dialect.draws_diagrams:
                self._has_diagram = True
            elif self._dialect.for_builder:
                language = "text"
        longest = max((len(run) for run in re.findall(r"`+", content)), default=0)
        fence = "`" * max(3, longest + 1)
        return [fence + language, *content.removesuffix("\n").split("\n"), fence]

    def _html(self, content: str) -> Lines:
        html = rewrite_html(content.rstrip("\n"), self._style.targets)
        if self._dialect.for_builder:
            html = _OPENING.sub(lambda match: _with_markdown(match, html), html)
        return html.split("\n")

    def _table(self) -> Lines:
        rows: list[list[str]] = []
        ruler: list[str] = []
        while (token := self._take()).type != "table_close":
            if token.type == "tr_open":
                rows.append([])
            elif token.type in {"th_open", "td_open"}:
                if token.type == "th_open":
                    ruler.append(_ruler(str(token.attrs.get("style", ""))))
                rows[-1].append(_cell(rewrite(self._take().content, self._style)))
        head, *body = [f"| {' | '.join(row)} |" for row in rows]
        return [head, f"|{'|'.join(ruler)}|", *body]


def replace_content(token: Token, content: str) -> Token:
    """Return an inline token that holds other text."""
    return replace(token, content=content)


def _join(blocks: Sequence[Lines]) -> Lines:
    lines: Lines = []
    for block in blocks:
        if lines:
            lines.append("")
        lines += block
    return lines


def _indented(lines: Sequence[str]) -> Lines:
    return [f"{_INDENT}{line}" if line else "" for line in lines]


def _item(marker: str, blocks: Sequence[Lines], *, is_loose: bool) -> Lines:
    starts_inline = bool(blocks) and not re.match(r"`{3}|<|#{1,6} |> |- {3}|\d+\.|\||!!!|---$", blocks[0][0])
    if not starts_inline:
        blocks = [list(_SEPARATOR), *blocks]
    lines: Lines = []
    for block in blocks:
        if lines and (is_loose or not re.match(r"- {3}|\d+\. ", block[0])):
            lines.append("")
        lines += block
    first, *rest = lines
    return [f"{marker:<3} {first}".rstrip(), *_indented(rest)]


def _touches(before: str, now: str) -> bool:
    lists = {"bullet_list_open", "ordered_list_open"}
    return (before in lists and now in lists | {"code_block"}) or (before == now == "blockquote_open")


def _with_markdown(match: re.Match[str], html: str) -> str:
    name, attributes = match[1], match[2]
    rest = html[match.end() :].lower()
    is_open = rest.count(f"</{name.lower()}") <= len(re.findall(rf"<{name}\b", rest, re.IGNORECASE))
    if not is_open or "markdown" in attributes:
        return match.group()
    return f"<{name}{attributes} markdown>"


def _ruler(style: str) -> str:
    side = style.partition("text-align:")[2].strip()
    return {"left": ":---", "right": "---:", "center": ":---:"}.get(side, "---")


def _cell(text: str) -> str:
    r"""Return a cell's text with a backslash before each pipe outside code, where it would end the cell."""
    parts = re.split(r"((?<!`)(`+)(?!`).*?(?<!`)\2(?!`))", text)
    return "".join(
        part if index % 3 == 1 else re.sub(r"(?<!\\)\|", r"\\|", part)
        for index, part in enumerate(parts)
        if index % 3 != 2
    ).replace("\n", " ")


def _title_of(item: dict[str, str]) -> str:
    title = item.get("title", "").replace('"', "&quot;")
    return f' "{title}"' if title else ""
