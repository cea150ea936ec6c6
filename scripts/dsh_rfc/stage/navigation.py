"""The navigation and the builder's configuration of one language.

Owns where each page stands in the menu, and the few keys that differ between languages; the rest is inherited from
the repository's `mkdocs.yml`. Refuses to leave a page out: what has no place of its own stands under "more".
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from dsh_rfc.stage.api_pages import FOLDER as API_FOLDER
from dsh_rfc.stage.api_pages import INDEX as API_INDEX
from dsh_rfc.stage.api_pages import Api
from dsh_rfc.stage.catalogue import Catalogue
from dsh_rfc.stage.languages import LANGUAGES, Language
from dsh_rfc.stage.reference import INDEX as REFERENCE_INDEX
from dsh_rfc.stage.reference import RULES_FOLDER, RULES_INDEX
from dsh_rfc.stage.settings import CONFIGURATION, Settings
from dsh_rfc.stage.sources import CONTRACT_PAGE, CONTRIBUTING_PAGE

HOME = "index.md"
Nav = list[Any]
_BREAK = "_\u200b"  # where a name may go on in the next line of the narrow menu


class _Menu:
    """Hands out pages, each once."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._titles = dict(titles)

    def take(self, path: str) -> Nav:
        """Return the page as an entry, or nothing when there is none or it was handed out before."""
        title = self._titles.pop(path, None)
        return [] if title is None else [{title: path}]

    def index(self, path: str) -> Nav:
        """Return the page as the front page of the section around it."""
        return [] if self._titles.pop(path, None) is None else [path]

    def below(self, folder: str, order: Sequence[str] = ()) -> Nav:
        """Return what stands in a folder, at any depth: first what `order` names, then by path."""
        places = {path: at for at, path in enumerate(order)}
        found = sorted(
            (path for path in self._titles if path.startswith(folder)),
            key=lambda path: (places.get(path, len(places)), path),
        )
        return [entry for path in found for entry in self.take(path)]


def make_nav(
    titles: Mapping[str, str],
    *,
    catalogue: Catalogue,
    api: Api,
    language: Language,
    record: str,
    order: Sequence[str],
) -> Nav:
    """Return the menu.

    Args:
        titles: Title of every page, by path.
        catalogue: The record.
        api: The packages.
        language: Whose words the sections are named in.
        record: Where the record stands.
        order: Pages in the order in which front pages name them.
    """
    menu = _Menu(titles)
    nav: Nav = [{language.say("home"): HOME}] if menu.index(HOME) else []
    guides = [*menu.index("guides/index.md"), *menu.below("guides/", order)]
    record_nav: Nav = [
        *menu.index(f"{record}/index.md"),
        *_named(language.say("contract"), menu.take(f"{record}/{CONTRACT_PAGE}")),
    ]
    for lifecycle in catalogue.lifecycles:
        classes: Nav = []
        for class_name in catalogue.classes:
            entries = [
                item
                for rfc in catalogue.rfcs
                if (rfc.lifecycle, rfc.class_name) == (lifecycle, class_name)
                for item in menu.take(rfc.page)
            ]
            if entries:
                classes.append({_section(class_name, language): entries})
        if classes:
            record_nav.append({_section(lifecycle, language): classes})
    record_nav += menu.below(f"{record}/")
    api_nav: Nav = menu.index(API_INDEX)
    for package in api.packages:
        inner: Nav = menu.index(package.page)
        for module in api.below(package):
            inner += _named(module.name.removeprefix(f"{package.name}."), menu.take(module.page))
        api_nav.append({package.name.replace("_", _BREAK): inner})
    api_nav += menu.below(f"{API_FOLDER}/")
    rules = [*menu.index(RULES_INDEX), *menu.below(f"{RULES_FOLDER}/")]
    reference: Nav = [*menu.index(REFERENCE_INDEX), *menu.below("reference/", order)]
    reference += [{language.say("rules"): rules}] if rules else []
    reference += [{language.say("api"): api_nav}] if api_nav else []
    contributing = [*menu.index(CONTRIBUTING_PAGE), *menu.below("i18n/")]
    sections = {"guides": guides, "record": record_nav, "reference": reference, "contributing": contributing}
    sections["more"] = menu.below("", order)
    for key, entries in sections.items():
        if entries:
            nav.append({language.say(key): entries})
    return nav


def leaves(nav: Any) -> Iterator[str]:
    """Yield the pages of a menu in its order."""
    if isinstance(nav, str):
        yield nav
    else:
        for item in nav.values() if isinstance(nav, dict) else nav:
            yield from leaves(item)


def _section(name: str, language: Language) -> str:
    """Return the title of the section for a lifecycle or a class; as a word it begins with a small letter."""
    word = language.words.get(name, name)
    return f"{word[:1].upper()}{word[1:]}"


def _named(title: str, entries: Nav) -> Nav:
    """Return a page's entry under a title that fits the menu."""
    return [{title: path} for entry in entries for path in entry.values()]


def render_configuration(
    nav: Nav, *, language: Language, settings: Settings, repository: Path, folder: Path, roots: Iterable[str]
) -> str:
    """Return the builder's configuration for one language.

    Args:
        nav: The menu.
        language: Of the tree.
        settings: Of the site.
        repository: Its folder.
        folder: Where the configuration will stand; it has the tree in `docs` beside it.
        roots: Folders that packages stand in, relative to the repository.
    """

    def relative(path: Path) -> str:
        return os.path.relpath(path, folder).replace(os.sep, "/")

    up = "" if not language.prefix else "../"
    separator = r"[\s\-]+" if language.tag == "en" else r"[\s\u200b\-]"
    config = {
        "INHERIT": relative(repository / CONFIGURATION),
        "site_url": f"{settings.url}{language.prefix}",
        "docs_dir": "docs",
        "site_dir": "site",
        "theme": {"language": language.tag, "custom_dir": "../theme"},
        "plugins": {
            "search": {
                "lang": [language.tag] if language.tag == "en" else [language.tag, "en"],
                "separator": separator,
            },
            "mkdocstrings": {"handlers": {"python": {"paths": [relative(repository / root) for root in roots]}}},
        },
        "extra": {
            # True, not the list: the theme makes each page claim the front pages as its counterparts.
            "alternate": True,
            "languages": [
                {"name": other.name, "lang": other.tag, "link": f"{up}{other.prefix}"} for other in LANGUAGES
            ],
            "feed_title": language.say("feed_title", site=settings.name),
        },
        "nav": nav,
    }
    head = f"# Written by `dsh-rfc stage` for {language.name}; what all languages share is in {CONFIGURATION}.\n"
    return head + yaml.safe_dump(config, allow_unicode=True, sort_keys=False, width=10_000)
