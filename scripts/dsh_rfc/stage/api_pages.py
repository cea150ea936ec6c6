"""The pages of the API: one per package, one per module, from their source.

Owns which modules are public and what a package exports, both read with `ast` so that nothing is imported. Refuses
to describe a module's contents: the builder's extractor does, from the directive on its page.
"""

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dsh_rfc.document import Document
from dsh_rfc.index import link_text
from dsh_rfc.stage.languages import Language
from dsh_rfc.stage.page import Page
from dsh_rfc.stage.settings import Settings
from dsh_rfc.stage.sources import relative_page

FOLDER = "reference/api"
INDEX = f"{FOLDER}/index.md"


@dataclass(frozen=True, kw_only=True)
class Module:
    """A public module.

    Attributes:
        name: Dotted.
        path: Relative to the repository.
        page: Where its page stands.
        doc: Its docstring.
        is_package: Whether it has modules of its own.
        exports: Name -> module that defines it, for what `__all__` of a package lists.
    """

    name: str
    path: str
    page: str
    doc: str
    is_package: bool
    exports: dict[str, str]

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.split("\n", 1)[0].strip()


@dataclass(frozen=True, kw_only=True)
class Api:
    """Every public module of the repository.

    Attributes:
        roots: Folders to search for packages, relative to the repository.
        modules: By dotted name, a package before its modules.
        readmes: Package name -> README of its distribution, relative to the repository.
    """

    roots: tuple[str, ...]
    modules: dict[str, Module]
    readmes: dict[str, str]

    @property
    def packages(self) -> tuple[Module, ...]:
        """The packages that nothing contains."""
        return tuple(module for name, module in self.modules.items() if "." not in name)

    def below(self, package: Module) -> tuple[Module, ...]:
        """Return the modules of a package, at any depth."""
        return tuple(item for name, item in self.modules.items() if name.startswith(f"{package.name}."))

    def origin(self, name: str, module: str) -> str:
        """Return the module that defines a name, however many packages hand it on."""
        found = self.modules.get(module)
        handed_on = found.exports.get(name, module) if found else module
        return module if handed_on == module else self.origin(name, handed_on)

    @property
    def by_path(self) -> dict[str, str]:
        """The page of each path of the repository that has one: modules, packages, their folders and READMEs."""
        found: dict[str, str] = {}
        for module in self.modules.values():
            found[module.path] = module.page
            if module.is_package:
                found[module.path.rpartition("/")[0]] = module.page
        for name, readme in self.readmes.items():
            found[readme] = self.modules[name].page
            found[readme.rpartition("/")[0]] = self.modules[name].page
        return found


def read_api(repository: Path, patterns: tuple[str, ...]) -> Api:
    """Return the public modules below the folders that the patterns name."""
    roots = sorted(
        {folder.relative_to(repository).as_posix() for item in patterns for folder in repository.glob(item)}
    )
    modules: dict[str, Module] = {}
    readmes: dict[str, str] = {}
    packages = sorted(
        (init.parent for root in roots for init in (repository / root).glob("*/__init__.py")),
        key=lambda package: package.name,
    )
    for package in packages:
        for module in _modules(repository, package, package.name):
            modules[module.name] = module
        readme = package.parent.parent / "README.md"
        if package.parent.name == "src" and readme.is_file():
            readmes[package.name] = readme.relative_to(repository).as_posix()
    return Api(roots=tuple(roots), modules=modules, readmes=readmes)


def _modules(repository: Path, folder: Path, name: str) -> Iterator[Module]:
    base = f"{FOLDER}/{name.replace('.', '/')}"
    yield _module(repository, folder / "__init__.py", name, f"{base}/index.md")
    for child in sorted(folder.iterdir()):
        if child.name.startswith(("_", ".")):
            continue
        if child.suffix == ".py":
            yield _module(repository, child, f"{name}.{child.stem}", f"{base}/{child.stem}.md")
        elif (child / "__init__.py").is_file():
            yield from _modules(repository, child, f"{name}.{child.name}")


def _module(repository: Path, file: Path, name: str, page: str) -> Module:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    is_package = file.name == "__init__.py"
    return Module(
        name=name,
        path=file.relative_to(repository).as_posix(),
        page=page,
        doc=ast.get_docstring(tree) or "",
        is_package=is_package,
        exports=dict(_exports(tree, name)) if is_package else {},
    )


def _exports(tree: ast.Module, name: str) -> Iterator[tuple[str, str]]:
    origins: dict[str, str] = {}
    listed: list[str] = []
    for node in _statements(tree.body):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            origins |= {alias.asname or alias.name: node.module for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                listed = _strings(node.value)
    for item in listed:
        if not item.startswith("_"):
            yield item, origins.get(item, name)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and those under `if`: what is imported on first use is imported there for type checkers."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        else:
            yield node


def _strings(value: ast.expr | None) -> list[str]:
    if not isinstance(value, ast.List | ast.Tuple):
        return []
    return [item.value for item in value.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]


def render_api_index(api: Api, language: Language) -> Page:
    """Return the page that lists the packages."""
    rows = [_row(package, INDEX) for package in api.packages]
    head = [f"| {language.say('package')} | {language.say('owns')} |", "|---|---|"]
    body = "\n".join([language.say("api_lead"), "", *head, *rows])
    title = language.say("api_title")
    return Page(path=INDEX, title=title, heading=title, body=body, text_tag=language.tag)


def _row(module: Module, page: str) -> str:
    return f"| [`{module.name}`]({relative_page(module.page, page)}) | {link_text(module.summary)} |"


def render_module(
    module: Module, api: Api, language: Language, settings: Settings, readme: str
) -> tuple[Page, str]:
    """Return the page of a module and its Markdown for readers of source.

    Args:
        module: The module.
        api: All of them.
        language: Of the tree.
        settings: Of the site.
        readme: The reprinted README of the distribution, for the package that it describes.
    """
    source = language.say("source_of", path=f"`{module.path}`", url=settings.view(module.path))
    options = (
        ["    options:", f"      members: {json.dumps(_own(module, api) or False)}"] if module.is_package else []
    )
    if readme:  # it says what the docstring says, and more
        options.append("      show_docstring_description: false")
    directive = [f"::: {module.name}", *options]
    parts = [source, "", *([readme, ""] if readme else []), *directive]
    tables: list[str] = []
    if module.is_package:
        tables = list(_package_tables(module, api, language))
        parts += ["", *tables]
    page = Page(
        path=module.page,
        title=module.name,
        heading=f"`{module.name}`",
        body="\n".join(parts),
        text_tag=language.tag,
    )
    plain = "\n".join([f"# `{module.name}`", "", source, "", readme or module.doc, "", *tables]).rstrip() + "\n"
    return page, plain


def _own(package: Module, api: Api) -> list[str]:
    """Return what a package exports and defines itself, which no other page describes."""
    return [
        name
        for name, origin in package.exports.items()
        if origin == package.name and f"{origin}.{name}" not in api.modules
    ]


def _package_tables(package: Module, api: Api, language: Language) -> Iterator[str]:
    if package.exports:
        yield f"## {language.say('names')} {{ #exports }}"
        yield ""
        yield f"| {language.say('name')} | {language.say('defined_in')} |"
        yield "|---|---|"
        for name, imported_from in sorted(package.exports.items()):
            origin = api.origin(name, imported_from)
            target, anchor = api.modules.get(origin), f"#{origin}.{name}"
            if module := api.modules.get(f"{origin}.{name}"):
                target, origin, anchor = module, module.name, ""
            if target is None:
                yield f"| `{name}` | `{origin}` |"
            else:
                where = relative_page(target.page, package.page)
                yield f"| [`{name}`]({'' if target is package else where}{anchor}) | [`{origin}`]({where}) |"
        yield ""
    below = api.below(package)
    if below:
        yield f"## {language.say('modules')} {{ #modules }}"
        yield ""
        yield f"| {language.say('module')} | {language.say('owns')} |"
        yield "|---|---|"
        for module in below:
            yield _row(module, package.page)


def readme_document(repository: Path, path: str) -> Document:
    """Return a README as a document."""
    return Document(path=path, text=(repository / path).read_text(encoding="utf-8").replace("\r\n", "\n"))
