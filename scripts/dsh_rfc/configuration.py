"""From a repository to its contract.

Owns finding the repository that one stands in, reading `dsh-rfc.toml` or `[tool.dsh-rfc]`, and turning a
wrong key into a message that names the key, the value, what is allowed and what was probably meant.

Flow: folder -> repository -> TOML table -> overrides laid over the defaults -> `Contract`.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsh_rfc.contract import Contract, GeneratedPart, Lifecycle, kebab
from dsh_rfc.errors import ContractInvalid, RecordMissing, meant

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

OWN_FILE = "dsh-rfc.toml"
SHARED_FILE = "pyproject.toml"
OWN_TABLE = "dsh-rfc"
_OWN_NAME = re.compile(r"dsh[-_ .]?rfc", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_EXPECTED = {  # in the words of TOML, where the library speaks of Python
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dataclass_type": "a table",
    "dict_type": "a table",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "mapping_type": "a table",
    "string_type": "a string",
    "tuple_type": "a list",
}


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A repository and the contract that governs its record."""

    folder: Path
    contract: Contract


def find_repository(start: Path) -> Repository:
    """Return the repository that `start` stands in.

    The nearest folder upwards wins that configures these gates, or is the top of a git work tree, or holds
    a record in the default place.

    Raises:
        RecordMissing: No such folder.
        ContractInvalid: The configuration is wrong.
    """
    default = Contract()
    for folder in (start, *start.parents):
        source, table = read_table(folder)
        if source:
            return Repository(folder=folder, contract=overlay(table, source=source))
        if os.path.exists(folder / ".git") or os.path.isdir(folder / default.root):  # noqa: PTH110, PTH112 - pathlib fails where one may not look
            return Repository(folder=folder, contract=default)
    msg = f"{start} is in no repository with a record of RFCs; name its folder with --root"
    raise RecordMissing(msg)


def read_table(folder: Path) -> tuple[str, Mapping[str, Any]]:
    """Return where the folder configures the gates and the table that stands there.

    Returns:
        `("", {})` when it does not.

    Raises:
        ContractInvalid: Both files configure the gates, or one is no TOML.
    """
    own = _read_toml(folder / OWN_FILE)
    shared = _read_toml(folder / SHARED_FILE)
    tool = shared.get("tool") if shared is not None else None
    table = tool.get(OWN_TABLE) if isinstance(tool, dict) else None
    for name in tool if isinstance(tool, dict) else ():
        if name != OWN_TABLE and _OWN_NAME.fullmatch(name):
            fault = f"no tool has this name, did you mean [tool.{OWN_TABLE}]?"
            raise ContractInvalid(source=f"{folder / SHARED_FILE} [tool.{name}]", faults=(fault,))
    if own is not None and table is not None:
        fault = f"{SHARED_FILE} has a table [tool.dsh-rfc] too; keep one of them"
        raise ContractInvalid(source=str(folder / OWN_FILE), faults=(fault,))
    if own is not None:
        return str(folder / OWN_FILE), own
    if table is None:
        return "", {}
    source = f"{folder / SHARED_FILE} [tool.dsh-rfc]"
    if not isinstance(table, dict):
        raise ContractInvalid(source=source, faults=(f"must be a table, is {table!r}",))
    return source, table


def _read_toml(path: Path) -> dict[str, Any] | None:
    if not os.path.isfile(path):  # noqa: PTH113 - pathlib fails where one may not look
        if path.name == OWN_FILE and os.path.lexists(path):
            raise ContractInvalid(source=str(path), faults=("cannot be read: it is no regular file",))
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.name == SHARED_FILE and not _OWN_NAME.search(text):
            return None  # most repositories have a pyproject that says nothing of us: do not parse it
        return tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise ContractInvalid(source=str(path), faults=(f"cannot be read: {error}",)) from error


def overlay(table: Mapping[str, Any], *, source: str) -> Contract:
    """Return the default contract with the table's keys laid over it.

    `lifecycle.<name>` tables are laid over the defaults of that lifecycle key by key.

    Raises:
        ContractInvalid: A key or a value is wrong; every fault is named.
    """
    from pydantic import TypeAdapter, ValidationError

    merged = dict(table)
    given = table.get("lifecycle")
    if isinstance(given, Mapping):
        merged["lifecycle"] = {
            name: {**_kebab_table(Contract().lifecycle.get(name)), **value} if isinstance(value, Mapping) else value
            for name, value in {**{key: {} for key in Contract().lifecycle}, **given}.items()
            if name in given or name in table.get("lifecycles", Contract().lifecycles)
        }
    try:
        contract = TypeAdapter(Contract).validate_python(merged)
    except ValidationError as error:
        faults = tuple(_describe(detail) for detail in error.errors())
        raise ContractInvalid(source=source, faults=faults) from None
    if faults := tuple(_contradictions(contract)):
        raise ContractInvalid(source=source, faults=faults)
    return contract


def _kebab_table(lifecycle: Lifecycle | None) -> dict[str, Any]:
    return {kebab(key): value for key, value in asdict(lifecycle).items()} if lifecycle else {}


def _describe(detail: "ErrorDetails") -> str:
    path = ".".join(str(part) for part in detail["loc"])
    if detail["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
        nested: dict[object, type[Lifecycle | GeneratedPart]] = {"lifecycle": Lifecycle, "generated": GeneratedPart}
        shape = nested.get(detail["loc"][0], Contract) if len(detail["loc"]) > 1 else Contract
        known = [kebab(entry.name) for entry in fields(shape)]
        last = str(detail["loc"][-1])
        return f"{path} = {detail['input']!r}: no such key{meant(last, known)} (allowed: {', '.join(known)})"
    if detail["type"] == "missing":
        return f"{path}: this key is missing"
    expected = _EXPECTED.get(detail["type"])
    message = f"must be {expected}" if expected else detail["msg"].lower()
    return f"{path} = {detail['input']!r}: {message}"


def _contradictions(contract: Contract) -> Iterator[str]:
    for key in ("lifecycles", "classes"):
        names: tuple[str, ...] = getattr(contract, key)
        if not names:
            yield f"{key} = []: at least one name is needed"
        for position, name in enumerate(names):
            if not _NAME.fullmatch(name):
                yield f"{key}.{position} = {name!r}: allowed are lower-case ASCII words joined by hyphens"
            if name in names[:position]:
                yield f"{key}.{position} = {name!r}: stands twice"
    for name in contract.lifecycle:
        if name not in contract.lifecycles and name not in Contract().lifecycle:
            allowed = ", ".join(contract.lifecycles)
            yield f"lifecycle.{name}: no such lifecycle{meant(name, contract.lifecycles)} (allowed: {allowed})"
    statuses = [contract.of(name).status for name in contract.lifecycles]
    for position, name in enumerate(contract.lifecycles):
        if statuses[position] in statuses[:position]:
            yield f"lifecycle.{name}.status = {statuses[position]!r}: another lifecycle has this status"
    parts = contract.root.split("/")
    if contract.root.startswith("/") or any(part in {"", ".", ".."} for part in parts):
        yield f"root = {contract.root!r}: allowed is a path below the repository, with forward slashes"
    for key in ("curated", "index"):
        if not getattr(contract, key).endswith(".md") or "/" in getattr(contract, key):
            yield f"{key} = {getattr(contract, key)!r}: allowed is a file name that ends in .md"
    if contract.curated == contract.index:
        yield f"index = {contract.index!r}: the curated page has this name"
    for position, folder in enumerate(contract.exclude):
        if not folder.strip("/") or not {".", ".."}.isdisjoint(folder.split("/")) or "*" in folder:
            yield f"exclude.{position} = {folder!r}: allowed is the name of a folder, or a path from the top"
    for path in contract.pairs_required:
        if path in contract.pairs_excluded:
            yield f"pairs-required = {path!r}: stands in pairs-excluded too"
    for position, part in enumerate(contract.generated):
        module, colon, function = part.renderer.partition(":")
        if not colon or not all(name.isidentifier() for name in (*module.split("."), function)):
            yield f"generated.{position}.renderer = {part.renderer!r}: allowed is module:function"
        if not {"", ".", "..", ".git"}.isdisjoint(part.path.removesuffix("/").split("/")):
            yield f"generated.{position}.path = {part.path!r}: allowed is a path below the repository"
        if part.path in [other.path for other in contract.generated[:position]]:
            yield f"generated.{position}.path = {part.path!r}: stands twice"
    if contract.max_file_bytes <= 0:
        yield f"max-file-bytes = {contract.max_file_bytes!r}: allowed is a positive number"
