"""What readers of the record see around its documents: the list of RFCs, and the facts on each of their pages.

Owns these as plain Markdown; a script of the theme enhances the table, which is complete without it. Refuses to
read files and dates.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from dsh_rfc.stage.catalogue import Catalogue, Entry
from dsh_rfc.stage.languages import Language
from dsh_rfc.stage.page import literal
from dsh_rfc.stage.sources import relative_page, relative_url, url_of


def render_explorer(catalogue: Catalogue, language: Language, page: str, contract_page: str) -> str:
    """Return the list of RFCs, newest first."""
    words = {key: language.say(key) for key in language.words if key.startswith("filter_")}
    words |= {key: language.say(key) for key in ("status", "class", "year")}
    data = " ".join(f'data-{key.replace("_", "-")}="{escape(value)}"' for key, value in words.items())
    columns = [language.say(key) for key in ("title", "status", "class", "first_proposed", "last_changed")]
    lead = language.say(
        "explorer_lead", count=str(len(catalogue.rfcs)), contract=relative_page(contract_page, page)
    )
    rows = [_row(entry, language, page) for entry in reversed(catalogue.rfcs)]
    return "\n".join(
        [
            lead,
            "",
            f'<div class="rfc-explorer" {data} markdown>',
            "",
            f"| {' | '.join(columns)} |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "</div>",
            "",
        ]
    )


def _row(entry: Entry, language: Language, page: str) -> str:
    cells = (
        f"[{literal(entry.title)}]({relative_page(entry.page, page)})" + _language_mark(entry, language),
        badge(entry, language),
        _class(entry, language),
        _day(entry.first_proposed.isoformat()),
        _changed(entry, language),
    )
    return f"| {' | '.join(cells)} |"


def _language_mark(entry: Entry, language: Language) -> str:
    return "" if entry.title_language == language.tag else f"{{ lang={entry.title_language} }}"


def badge(entry: Entry, language: Language) -> str:
    """Return the status as a word in a frame."""
    value = escape(entry.lifecycle)
    return (
        f'<span class="rfc-badge rfc-badge--{value}" data-value="{value}">{_word(entry.lifecycle, language)}</span>'
    )


def _class(entry: Entry, language: Language) -> str:
    value = escape(entry.class_name)
    return f'<span class="rfc-class" data-value="{value}">{_word(entry.class_name, language)}</span>'


def _word(name: str, language: Language) -> str:
    return language.words.get(name, escape(name))


def _day(day: str) -> str:
    return f'<time datetime="{day}">{day}</time>'


def _changed(entry: Entry, language: Language) -> str:
    if entry.last_changed is None:
        return language.say("unknown")
    moment = entry.last_changed
    return f'<time datetime="{moment.isoformat()}">{moment.date().isoformat()}</time>'


def render_facts(entry: Entry, language: Language) -> str:
    """Return what stands under the title of an RFC: status, class, dates, its counterpart."""
    other = "zh" if language.tag == "en" else "en"
    parts = [
        badge(entry, language),
        _class(entry, language),
        f"{language.say('first_proposed')}: {_day(entry.first_proposed.isoformat())}",
        f"{language.say('last_changed')}: {_changed(entry, language)}",
    ]
    if other in entry.languages:
        up = relative_url("", entry.page)
        target = f"{up}zh/{url_of(entry.page)}" if other == "zh" else f"{up}../{url_of(entry.page)}"
        name = language.say("counterpart")
        parts.append(f'<a href="{escape(target)}" hreflang="{other}" lang="{other}">{name}</a>')
    items = "\n".join(f"<li>{part}</li>" for part in parts)
    label = escape(language.say("facts"))
    text = f'<ul class="rfc-facts" aria-label="{label}" lang="{language.tag}">\n{items}\n</ul>\n'
    if entry.reason:
        text += f'\n<p class="rfc-reason">{escape(entry.reason)}</p>\n'
    return text


def render_relations(
    entry: Entry, catalogue: Catalogue, references: Iterable[tuple[str, str]], language: Language
) -> str:
    """Return what stands under the text of an RFC: pages that refer to it, and its neighbours.

    Args:
        entry: The RFC.
        catalogue: All of them.
        references: Page and title of each page that links to it.
        language: Of the tree.
    """
    listed = [f"-   [{literal(title)}]({relative_page(page, entry.page)})" for page, title in references]
    lines = [f"## {language.say('references')} {{ #referenced-by }}", ""]
    lines += listed or [language.say("no_references")]
    neighbours = list(_neighbours(catalogue.neighbours(entry), entry, language))
    if neighbours:
        name = _word(entry.class_name, language)
        lines += ["", f"## {language.say('neighbours')}: {name} {{ #same-class }}", "", *neighbours]
    inner = "\n".join(lines)
    return f'\n<div class="rfc-relations" lang="{language.tag}" markdown>\n\n{inner}\n\n</div>\n'


def _neighbours(pair: Sequence[Entry | None], entry: Entry, language: Language) -> Iterator[str]:
    for key, other in zip(("earlier", "later"), pair, strict=True):
        if other is not None:
            link = f"[{literal(other.title)}]({relative_page(other.page, entry.page)})"
            yield f"-   {language.say(key)}: {link}, {other.first_proposed.isoformat()}"
