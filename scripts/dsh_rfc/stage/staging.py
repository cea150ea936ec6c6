"""The staging step as a whole.

Owns the order: read everything, print every document once, then write each language's tree from the results.
Refuses to print and to exit.

Flow: repository -> settings, contract, sources, API -> bodies and links -> catalogue -> pages -> files.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

import click

from dsh_rfc.configuration import Repository
from dsh_rfc.document import Document
from dsh_rfc.placement import Place, Role, judge
from dsh_rfc.rfc import Rfc
from dsh_rfc.stage import reference
from dsh_rfc.stage.api_pages import Api, read_api, readme_document, render_api_index, render_module
from dsh_rfc.stage.catalogue import SCHEMA_NAME, Catalogue, Entry, make_catalogue, render_schema
from dsh_rfc.stage.explorer import render_explorer, render_facts, render_relations
from dsh_rfc.stage.feed import FEED_NAME, render_feed, render_llms
from dsh_rfc.stage.history import last_changes
from dsh_rfc.stage.languages import ENGLISH, LANGUAGES, Language
from dsh_rfc.stage.links import Links, Site, stem_of, switcher_lines
from dsh_rfc.stage.navigation import HOME, Nav, leaves, make_nav, render_configuration
from dsh_rfc.stage.output import write_tree
from dsh_rfc.stage.page import Page, render_page
from dsh_rfc.stage.reprint import Dialect, Reprinted, reprint
from dsh_rfc.stage.settings import Settings, read_settings
from dsh_rfc.stage.sources import CONTRACT_PAGE, Source, Sources, read_sources, url_of
from dsh_rfc.tree import Entry as TreeEntry

ASSETS = Path(__file__).parent / "assets"
DIAGRAM_SCRIPT = "assets/mermaid.min.js"
Files = dict[str, bytes | Path]


@dataclass(frozen=True, kw_only=True)
class Staged:
    """What was staged.

    Attributes:
        pages: Number of pages per language.
        translated: Number of pages per language that have a text in it.
        with_diagrams: Number of pages with a diagram.
        written: Number of files that changed on the disk.
    """

    pages: Mapping[str, int]
    translated: Mapping[str, int]
    with_diagrams: int
    written: int


@dataclass(frozen=True, kw_only=True)
class _Body:
    """A document as printed for the builder and for readers of source."""

    staged: Reprinted
    plain: str
    linked: tuple[str, ...]
    crossed: bool


@dataclass(frozen=True, kw_only=True)
class _Stage:
    repository: Repository
    settings: Settings
    sources: Sources
    api: Api
    site: Site
    changes: Mapping[str, datetime]
    command: click.Group | None
    draws_diagrams: bool
    _bodies: dict[str, _Body] = field(default_factory=dict)

    @cached_property
    def rfcs(self) -> Mapping[str, Place]:
        """Where each RFC stands in the record, by page."""
        contract = self.repository.contract
        found: dict[str, Place] = {}
        for page in self.sources.pages:
            if page.startswith(f"{self.sources.record}/"):
                below = page.removeprefix(f"{self.sources.record}/")
                place = judge(TreeEntry(path=below), path=f"{contract.root}/{below}", contract=contract)
                if place.role is Role.RFC and not place.code and place.class_name and place.first_proposed:
                    found[page] = place
        return found

    def rfc(self, page: str, document: Document) -> Rfc:
        """Return a page's document as an RFC."""
        return Rfc(place=self.rfcs[page], document=document, contract=self.repository.contract)

    def body(self, source: Source, language: Language) -> _Body:
        """Return a page's text for a tree; a text that both trees share is printed once."""
        tag, document = source.best(language.tag)
        known = self._bodies.get(document.path)
        if known is not None and not known.crossed:
            return known
        links = Links(site=self.site, path=document.path, page=source.page, tag=language.tag)
        switch = switcher_lines(document.lines, stem_of(document.path))
        omit = switch
        if source.page in self.rfcs:
            status = self.rfc(source.page, document).header.status
            omit = switch | ({status.line} if status else frozenset())
        translates = tag != ENGLISH.tag and ENGLISH.tag in source.documents
        staged = reprint(
            document,
            links.targets,
            Dialect(draws_diagrams=self.draws_diagrams),
            omit=omit,
            aliases=self.body(source, ENGLISH).staged.anchors if translates else (),
        )
        plain = reprint(document, links.targets, Dialect(for_builder=False), omit=switch)
        body = _Body(
            staged=staged,
            plain=f"# {plain.heading}\n\n{plain.body}" if plain.heading else plain.body,
            linked=tuple(links.linked),
            crossed=links.crossed,
        )
        self._bodies[document.path] = body
        return body

    def title(self, page: str, language: Language) -> str:
        """Return the title of a document's page, without markup and without the prefix of RFCs."""
        title = self.body(self.sources.pages[page], language).staged.title
        if page in self.rfcs:
            title = title.removeprefix(self.repository.contract.title_prefix).strip()
        return title or posixpath.basename(page).removesuffix(".md")

    @cached_property
    def readmes(self) -> Mapping[str, _Body]:
        """The README of each package, without its heading."""
        found: dict[str, _Body] = {}
        for name, path in self.api.readmes.items():
            links = Links(site=self.site, path=path, page=self.api.modules[name].page, tag=ENGLISH.tag)
            document = readme_document(self.repository.folder, path)
            staged = reprint(document, links.targets, Dialect(draws_diagrams=self.draws_diagrams), omit=frozenset())
            plain = reprint(document, links.targets, Dialect(for_builder=False), omit=frozenset())
            found[name] = _Body(staged=staged, plain=plain.body, linked=tuple(links.linked), crossed=False)
        return found

    @cached_property
    def references(self) -> Mapping[str, tuple[str, ...]]:
        """The pages that link to each page; the same for all languages."""
        found: dict[str, dict[str, None]] = {}
        for page, source in self.sources.pages.items():
            for target in self.body(source, ENGLISH).linked:
                found.setdefault(target, {}).setdefault(page)
        for name, body in self.readmes.items():
            for target in body.linked:
                found.setdefault(target, {}).setdefault(self.api.modules[name].page)
        return {target: tuple(page for page in pages if page != target) for target, pages in found.items()}

    def catalogue(self, language: Language) -> Catalogue:
        """Return the record as data."""
        return make_catalogue(
            (self._entry(page, place, language) for page, place in self.rfcs.items()),
            settings=self.settings,
            contract=self.repository.contract,
            explorer=self.sources.explorer,
            prefix=language.prefix,
            tag=language.tag,
        )

    def _entry(self, page: str, place: Place, language: Language) -> Entry:
        source = self.sources.pages[page]
        tag, document = source.best(language.tag)
        base = f"{self.settings.url}{language.prefix}"
        status = self.rfc(page, document).header.status
        reason = status.text.partition("—")[2].strip() if status else ""
        return Entry.model_validate(
            {
                "path": document.path,
                "page": page,
                "title": self.title(page, language),
                "title_language": tag,
                "lifecycle": place.lifecycle,
                "class": place.class_name,
                "reason": reason,
                "first_proposed": place.first_proposed,
                "last_changed": self.changes.get(document.path),
                "url": f"{base}{url_of(page)}",
                "markdown": f"{base}{page}",
                "languages": sorted(source.documents),
                "referenced_by": [f"{base}{url_of(item)}" for item in self.references.get(page, ())],
            }
        )

    def tree(self, language: Language) -> "_Tree":
        """Return everything of one language."""
        return _Tree(stage=self, language=language, catalogue=self.catalogue(language))


@dataclass(frozen=True, kw_only=True)
class _Tree:
    """One language's pages and files."""

    stage: _Stage
    language: Language
    catalogue: Catalogue
    plain: dict[str, str] = field(default_factory=dict)

    @cached_property
    def pages(self) -> Mapping[str, Page]:
        """Every page, by path."""
        found: dict[str, Page] = {}
        for page in (*self._documents(), *self._generated(frozenset(self.stage.sources.pages))):
            found.setdefault(page.path, page)
        if reference.INDEX not in found:
            page = reference.render_reference_index(_listed(found), self.language)
            found[page.path] = page
            self.plain[page.path] = _as_plain(page)
        return found

    def _documents(self) -> Iterator[Page]:
        titles = {page: self.stage.title(page, self.language) for page in self.stage.sources.pages}
        for path, source in self.stage.sources.pages.items():
            tag, document = source.best(self.language.tag)
            body = self.stage.body(source, self.language)
            self.plain[path] = body.plain
            page = Page(
                path=path,
                title=titles[path],
                heading=body.staged.heading or titles[path],
                body=body.staged.body,
                text_tag=tag,
                edit_url=self.stage.settings.edit(document.path),
                has_diagram=body.staged.has_diagram,
                is_wide=_is_one_table(document),
            )
            entry = self.catalogue.by_page.get(path)
            yield page if entry is None else replace(page, body=self._around(entry, page.body, titles))

    def _around(self, entry: Entry, body: str, titles: Mapping[str, str]) -> str:
        facts = render_facts(entry, self.language)
        references = [
            (page, titles.get(page) or page.removeprefix("reference/api/").removesuffix("/index.md"))
            for page in self.stage.references.get(entry.page, ())
        ]
        return f"{facts}\n{body}\n{render_relations(entry, self.catalogue, references, self.language)}"

    def _generated(self, taken: frozenset[str]) -> Iterator[Page]:
        language, stage = self.language, self.stage
        explorer = stage.sources.explorer
        title = language.say("explorer_title")
        body = render_explorer(self.catalogue, language, explorer, f"{stage.sources.record}/{CONTRACT_PAGE}")
        page = Page(path=explorer, title=title, heading=title, body=body, text_tag=language.tag, is_wide=True)
        yield self._keep(page)
        for path, text in reference.rule_pages():
            if path not in taken:
                yield self._printed(path, text)
        if reference.RULES_INDEX not in taken:
            yield self._keep(reference.render_rules_index(language))
        if stage.command is not None and reference.COMMAND_LINE not in taken:
            title = language.say("command_title")
            text = reference.render_command(stage.command, "dsh-rfc")
            yield replace(self._printed(reference.COMMAND_LINE, f"# {title}\n\n{text}"), title=title)
        yield self._keep(render_api_index(stage.api, language))
        for module in stage.api.modules.values():
            readme = stage.readmes.get(module.name)
            page, plain = render_module(
                module, stage.api, language, stage.settings, readme.staged.body if readme else ""
            )
            self.plain[page.path] = plain
            yield replace(page, text_tag=ENGLISH.tag, has_diagram=readme.staged.has_diagram if readme else False)

    def _keep(self, page: Page) -> Page:
        self.plain[page.path] = _as_plain(page)
        return page

    def _printed(self, path: str, text: str) -> Page:
        """Return a generated text as a page; it is English whatever the tree."""
        document = Document(path=f"{self.stage.settings.documents}/{path}", text=text)
        links = Links(site=self.stage.site, path=document.path, page=path, tag=self.language.tag)
        printed = reprint(document, links.targets, omit=frozenset())
        self.plain[path] = text
        return Page(
            path=path, title=printed.title, heading=printed.heading, body=printed.body, text_tag=ENGLISH.tag
        )

    def files(self, folder: Path, diagram_script: Path | None) -> Files:
        """Return what the folder of this language holds."""
        stage, language = self.stage, self.language
        record = stage.sources.record
        files: Files = {f"docs/{path}": asset for path, asset in stage.sources.assets.items()}
        for path, page in self.pages.items():
            files[f"docs/{path}"] = render_page(page, language).encode()
            files[f"public/{path}"] = self.plain[path].encode()
        files[f"docs/{record}/index.json"] = self.catalogue.to_json().encode()
        files[f"docs/{record}/{SCHEMA_NAME}"] = render_schema(stage.settings, record).encode()
        files[f"docs/{record}/{FEED_NAME}"] = render_feed(self.catalogue, language, stage.settings).encode()
        files["docs/llms.txt"] = self._llms().encode()
        for asset in sorted((ASSETS / "static").iterdir()):
            files[f"docs/assets/{asset.name}"] = asset
        if diagram_script is not None and any(page.has_diagram for page in self.pages.values()):
            files[f"docs/{DIAGRAM_SCRIPT}"] = diagram_script
        files["mkdocs.yml"] = self._configuration(folder).encode()
        return files

    @cached_property
    def nav(self) -> Nav:
        """The menu."""
        stage = self.stage
        front = [page for page in (HOME, "guides/index.md", reference.INDEX) if page in stage.sources.pages]
        order = [target for page in front for target in stage.body(stage.sources.pages[page], self.language).linked]
        return make_nav(
            {path: page.title for path, page in self.pages.items()},
            catalogue=self.catalogue,
            api=stage.api,
            language=self.language,
            record=stage.sources.record,
            order=order,
        )

    def _configuration(self, folder: Path) -> str:
        stage = self.stage
        return render_configuration(
            self.nav,
            language=self.language,
            settings=stage.settings,
            repository=stage.repository.folder,
            folder=folder,
            roots=stage.api.roots,
        )

    def _llms(self) -> str:
        sections: dict[str, list[Page]] = {}
        record = self.stage.sources.record
        names = {"guides": "guides", record: "record", "reference": "reference"}
        names |= {"contributing": "contributing", "i18n": "contributing"}
        for path in leaves(self.nav):
            page = self.pages[path]
            first = path.split("/")[0] if "/" in path else ""
            key = names.get(first, "home" if not first else "more")
            sections.setdefault(key, []).append(page)
        ordered = {
            self.language.say(key): sections.get(key, ())
            for key in ("home", "guides", "record", "reference", "contributing", "more")
        }
        base = f"{self.stage.settings.url}{self.language.prefix}{record}"
        return render_llms(
            self.stage.settings, self.language, ordered, [f"{base}/index.json", f"{base}/{FEED_NAME}"]
        )


def _listed(pages: Mapping[str, Page]) -> Sequence[Page]:
    """Return what the front page of the reference lists: its pages, and the front page of each folder below."""
    listed = [
        page
        for path, page in pages.items()
        if path.startswith("reference/")
        and (path.count("/") == 1 or (path.count("/") == 2 and path.endswith("/index.md")))
    ]
    return sorted(listed, key=lambda page: page.path)


def _is_one_table(document: Document) -> bool:
    """Whether a document has a table and no sections, so that it needs room and no table of contents."""
    has_table = any(token.type == "table_open" for token in document.blocks)
    return has_table and all(heading.level == 1 for heading in document.headings)


def _as_plain(page: Page) -> str:
    return f"# {page.heading}\n\n{page.body.strip()}\n"


def stage(
    repository: Repository, out: Path, *, command: click.Group | None = None, diagram_script: Path | None = None
) -> Staged:
    """Write one tree per language.

    Args:
        repository: With its contract.
        out: The folder to write: `theme`, and per language `docs`, `public` (files to lay over the built site), and
            `mkdocs.yml`.
        command: The command whose reference is written; none when omitted.
        diagram_script: The diagram library; without it diagrams are shown as their source.

    Raises:
        CannotJudge: The configuration, a document or the folder to write is not usable.
    """
    out = out.absolute()
    settings = read_settings(repository.folder)
    sources = read_sources(repository.folder, settings.documents, repository.contract)
    api = read_api(repository.folder, settings.packages)
    work = _Stage(
        repository=repository,
        settings=settings,
        sources=sources,
        api=api,
        site=Site(repository=repository.folder, settings=settings, sources=sources, api=api.by_path),
        changes=last_changes(repository.folder, settings.documents),
        command=command,
        draws_diagrams=diagram_script is not None,
    )
    files: Files = {}
    trees = [work.tree(language) for language in LANGUAGES]
    for tree in trees:
        for name, content in tree.files(out / tree.language.tag, diagram_script).items():
            files[f"{tree.language.tag}/{name}"] = content
    theme = ASSETS / "theme"
    for file in sorted(path for path in theme.rglob("*") if path.is_file()):
        files[f"theme/{file.relative_to(theme).as_posix()}"] = file
    written = write_tree(out, files)
    return Staged(
        pages={tree.language.tag: len(tree.pages) for tree in trees},
        translated={
            tree.language.tag: sum(page.text_tag == tree.language.tag for page in tree.pages.values())
            for tree in trees
        },
        with_diagrams=sum(page.has_diagram for page in trees[0].pages.values()),
        written=written,
    )
