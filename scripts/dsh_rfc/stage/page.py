"""One staged page: front matter, heading, body.

Owns the text that a builder reads and the notice over a text in another language. Refuses to know what the body
says.
"""

import json
import re
from dataclasses import dataclass

from dsh_rfc.stage.languages import Language
from dsh_rfc.stage.sources import relative_url

_MARKUP = re.compile(r"[\\`*_{}\[\]<>|&#~]")


def literal(text: str) -> str:
    """Return plain text as Markdown that shows it, in a table too.

    Example:
        >>> literal("a|b and `c`")
        'a&#124;b and &#96;c&#96;'
    """
    return _MARKUP.sub(lambda match: f"&#{ord(match.group())};", text)


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of a language's tree.

    Attributes:
        path: In the tree, as Markdown.
        title: Without markup.
        heading: As Markdown, without its marker.
        body: Everything below the heading.
        text_tag: The language that the body is written in.
        edit_url: Where its source is edited; empty when it is generated.
        has_source: Whether its Markdown is published beside it.
        has_diagram: Whether a diagram is drawn on it.
        is_wide: Whether it needs the room of the table of contents.
    """

    path: str
    title: str
    heading: str
    body: str
    text_tag: str
    edit_url: str = ""
    has_source: bool = True
    has_diagram: bool = False
    is_wide: bool = False


def render_page(page: Page, language: Language) -> str:
    """Return the page as a builder reads it."""
    facts: dict[str, str | bool | list[str]] = {"title": page.title}
    if page.text_tag != language.tag:
        facts["text_language"] = page.text_tag
    if page.edit_url:
        facts["edit"] = page.edit_url
    if page.has_source:
        facts["markdown"] = relative_url(page.path, page.path)
    if page.has_diagram:
        facts["diagram"] = True
    if page.is_wide:
        facts["hide"] = ["toc"]
    # what is JSON is YAML
    front = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts.items()]
    lines = ["---", *front, "---", "", f"# {page.heading}", ""]
    if page.text_tag != language.tag:
        lines += [
            f'<div class="dsh-fallback" lang="{language.tag}" markdown>',
            "",
            f"**{language.say('other_title')}** {language.say('other_text')}",
            "",
            "</div>",
            "",
        ]
    return "\n".join(lines) + f"\n{page.body.strip()}\n"
