"""The renderers that these gates bring: the index, the pages of the rules, the command line, the package graph.

Owns their texts. Pure but for reading the repository that they are given. Refuses to write (`generated` does).
"""

import inspect
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsh_rfc.errors import RendererFailed

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_PACKAGES_LEAD = (
    "The distributions of this repository. An arrow leads from one to another that it needs, with a dotted line "
    "where only an extra needs it."
)
_CONFIGURATION_LEAD = (
    "A repository overrides these keys in `dsh-rfc.toml`, or in the table `[tool.dsh-rfc]` of its "
    "`pyproject.toml`. What it leaves out has the default. Paths count from the top of the repository."
)
_ATTRIBUTE = re.compile(r"^ {4}(?P<name>\w+): (?P<text>.*(?:\n {6,}.*)*)", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def render_index(folder: Path) -> str:
    """Return the index of the record of a repository."""
    from dsh_rfc.check import index_obstacles
    from dsh_rfc.configuration import find_repository
    from dsh_rfc.index import render_index as render
    from dsh_rfc.record import Record

    record = Record.of(find_repository(folder))
    if index_obstacles(record).diagnostics:
        raise RendererFailed("the index", "cannot list some files; `dsh-rfc index` names them")
    return render(record.corpus)


def render_rule_pages() -> Mapping[str, str]:
    """Return the pages of the rules by file name, with one that lists them."""
    from dsh_rfc.index import link_text
    from dsh_rfc.pages import render_rule_page
    from dsh_rfc.rules import RULES

    banner = _banner("render_rule_pages")
    rows = [f"| [`{rule.code}`]({rule.code}.md) | {link_text(rule.summary)} |" for rule in RULES]
    lead = "What `dsh-rfc check` can find, in the order in which it looks. `dsh-rfc explain CODE` prints a page."
    index = "\n".join([banner, "", "# Rules", "", lead, "", "| Rule | What it asks for |", "|---|---|", *rows])
    pages = {f"{rule.code}.md": f"{banner}\n\n{render_rule_page(rule)}" for rule in RULES}
    return {"README.md": f"{index}\n", **pages}


def render_command_line() -> str:
    """Return the reference of the command and its subcommands."""
    from dsh_rfc.cli import cli
    from dsh_rfc.stage.reference import render_command

    return f"{_banner('render_command_line')}\n\n# The command dsh-rfc\n\n{render_command(cli, 'dsh-rfc')}"


def render_configuration() -> str:
    """Return the keys of the configuration with their defaults, from the contract itself."""
    from dsh_rfc.contract import Contract, GeneratedPart, Lifecycle

    lines = [_banner("render_configuration"), "", "# Configuration", "", _CONFIGURATION_LEAD, ""]
    for title, shape in (
        ("Keys", Contract()),
        ("Keys of `lifecycle.<name>`", Lifecycle()),
        ("Keys of an entry of `generated`", GeneratedPart(path="", renderer="")),
    ):
        lines += [f"## {title}", "", "| Key | Default | Meaning |", "|---|---|---|", *_key_rows(shape), ""]
    return "\n".join(lines).rstrip() + "\n"


def _key_rows(shape: "DataclassInstance") -> Iterator[str]:
    meanings = dict(_attributes(inspect.getdoc(shape) or ""))
    for item in fields(shape):
        if item.default is MISSING and item.default_factory is MISSING:
            default = "none, it must be given"
        else:
            written = _as_toml(getattr(shape, item.name))
            default = f"`{written}`" if written else "a table for each"
        meaning = meanings[item.name].replace("<", "\\<")
        yield f"| `{item.name.replace('_', '-')}` | {default} | {meaning} |"


def _attributes(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield what the `Attributes` section of a docstring says of each name, on one line."""
    _, _, section = docstring.partition("Attributes:\n")
    for match in _ATTRIBUTE.finditer(section.partition("\n\n")[0]):
        yield match["name"], " ".join(match["text"].split())


def _as_toml(value: object) -> str:
    """Return a default as it is written in TOML; nothing for a table, whose keys have rows of their own."""
    if isinstance(value, Mapping):
        if not all(isinstance(item, str) for item in value.values()):
            return ""
        return "{ " + ", ".join(f"{key} = {_as_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(_as_toml(item) for item in value) + "]"
    return str(value) if isinstance(value, date) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A distribution of the workspace, as its project file describes it."""

    name: str
    folder: str
    description: str
    requires: tuple[str, ...]
    extras: Mapping[str, tuple[str, ...]]


def render_packages(folder: Path) -> str:
    """Return the graph and the table of the distributions of a workspace.

    Args:
        folder: Its root, whose project file lists the members as uv reads them.
    """
    found = list(_distributions(folder))
    names = [item.name for item in found]
    lines = [
        _banner("render_packages"),
        "",
        "# Packages",
        "",
        _PACKAGES_LEAD,
        "",
        "```mermaid",
        "flowchart LR",
        *(f'    {_identifier(name)}["{name}"]' for name in names),
    ]
    for item in found:
        lines += [
            f"    {_identifier(item.name)} --> {_identifier(name)}" for name in item.requires if name in names
        ]
        lines += [
            f"    {_identifier(item.name)} -.->|{extra}| {_identifier(name)}"
            for extra, needed in item.extras.items()
            for name in needed
            if name in names and name not in item.requires and name != item.name
        ]
    lines += ["```", "", "| Distribution | Import | Folder | What it is | Needs |", "|---|---|---|---|---|"]
    lines += [_row(item) for item in found]
    return "\n".join(lines) + "\n"


def _row(item: Distribution) -> str:
    needs = ", ".join(f"`{name}`" for name in item.requires) or "nothing"
    place = "../../" + (f"{item.folder}/README.md" if item.folder else "README.md")
    shown = item.folder or "the root"
    description = item.description.replace("|", "\\|")
    return f"| `{item.name}` | `{_identifier(item.name)}` | [{shown}]({place}) | {description} | {needs} |"


def _distributions(folder: Path) -> Iterator[Distribution]:
    root = _read(folder / "pyproject.toml")
    patterns = root.get("tool", {}).get("uv", {}).get("workspace", {}).get("members", [])
    members = {path for pattern in patterns for path in folder.glob(pattern) if (path / "pyproject.toml").is_file()}
    found = [_distribution(_read(path / "pyproject.toml"), path.relative_to(folder).as_posix()) for path in members]
    yield from _needed_first(sorted(found, key=lambda item: item.name))
    if "project" in root:
        yield _distribution(root, "")


def _needed_first(found: list[Distribution]) -> Iterator[Distribution]:
    """Yield what nothing here is needed by last, so that the table reads from the ground up."""
    done: set[str] = set()
    pending = list(found)
    while pending:
        names = {item.name for item in pending}
        ready = [item for item in pending if not names.intersection(item.requires)] or pending
        yield from ready
        done.update(item.name for item in ready)
        pending = [item for item in pending if item.name not in done]


def _distribution(data: Mapping[str, Any], folder: str) -> Distribution:
    project = data["project"]
    extras = project.get("optional-dependencies", {})
    return Distribution(
        name=project["name"],
        folder=folder,
        description=project.get("description", ""),
        requires=tuple(_names(project.get("dependencies", ()))),
        extras={extra: tuple(_names(needed)) for extra, needed in extras.items()},
    )


def _names(requirements: list[str]) -> Iterator[str]:
    for requirement in requirements:
        if match := _NAME.match(requirement):
            yield match.group()


def _read(path: Path) -> Mapping[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _identifier(name: str) -> str:
    return name.replace("-", "_")


def _banner(function: str) -> str:
    return f"<!-- Generated by {__name__}:{function}; run `dsh-rfc generate` instead of editing. -->"
