"""The record as an Atom feed and the site as a list for language models.

Owns both texts, pure. Refuses to know where they are written.
"""

from collections.abc import Iterable, Mapping, Sequence
from xml.etree import ElementTree as ET

from dsh_rfc.stage.catalogue import Catalogue
from dsh_rfc.stage.languages import Language
from dsh_rfc.stage.page import Page
from dsh_rfc.stage.settings import Settings

FEED_NAME = "feed.xml"
_ATOM = "http://www.w3.org/2005/Atom"


def render_feed(catalogue: Catalogue, language: Language, settings: Settings) -> str:
    """Return the Atom feed, latest change first."""
    entries = sorted(catalogue.rfcs, key=lambda entry: (entry.changed_or_proposed, entry.path), reverse=True)
    feed = ET.Element("feed", {"xmlns": _ATOM, "xml:lang": language.tag})
    _text(feed, "title", language.say("feed_title", site=settings.name))
    _text(feed, "id", catalogue.url)
    ET.SubElement(feed, "link", {"rel": "self", "href": f"{catalogue.url}{FEED_NAME}"})
    ET.SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": catalogue.url})
    updated = entries[0].changed_or_proposed.isoformat() if entries else "1970-01-01T00:00:00+00:00"
    _text(feed, "updated", updated)
    author = ET.SubElement(feed, "author")
    _text(author, "name", settings.name)
    for entry in entries:
        item = ET.SubElement(feed, "entry")
        title = _text(item, "title", entry.title)
        title.set("xml:lang", entry.title_language)
        _text(item, "id", entry.url)
        ET.SubElement(item, "link", {"rel": "alternate", "type": "text/html", "href": entry.url})
        ET.SubElement(item, "category", {"term": entry.class_name, "scheme": f"{catalogue.url}#class"})
        ET.SubElement(item, "category", {"term": entry.lifecycle, "scheme": f"{catalogue.url}#lifecycle"})
        _text(item, "published", f"{entry.first_proposed.isoformat()}T00:00:00+00:00")
        _text(item, "updated", entry.changed_or_proposed.isoformat())
        status = f"{language.words.get(entry.lifecycle, entry.lifecycle)}"
        _text(item, "summary", f"{status} — {entry.reason}" if entry.reason else status)
    ET.indent(feed)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(feed, encoding="unicode")}\n'


def _text(parent: ET.Element, name: str, text: str) -> ET.Element:
    element = ET.SubElement(parent, name)
    element.text = text
    return element


def render_llms(
    settings: Settings, language: Language, sections: Mapping[str, Sequence[Page]], generated: Iterable[str]
) -> str:
    """Return `llms.txt`: what the site holds, each page as the address of its Markdown.

    Args:
        settings: Of the site.
        language: Of the tree.
        sections: Pages with published Markdown, by the title of their section.
        generated: Addresses of files for programs.
    """
    base = f"{settings.url}{language.prefix}"
    lines = [f"# {settings.name}", "", f"> {settings.description}"]
    for title, pages in sections.items():
        if pages:
            lines += ["", f"## {title}", ""]
            lines += [f"- [{page.title}]({base}{page.path})" for page in pages]
    lines += ["", "## Optional", "", *(f"- <{address}>" for address in generated)]
    return "\n".join(lines) + "\n"
