"""Every file that a program writes, from the one table of the contract.

Owns finding and calling the renderers, by name, so that a package contributes one without being imported here.
Refuses to write and to compare (`generated` does).

Flow: table -> renderers -> texts -> `Generated` a file, and what is left over in a generated folder.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsh_rfc.configuration import Repository
from dsh_rfc.contract import GeneratedPart
from dsh_rfc.errors import RendererFailed
from dsh_rfc.formats import printable
from dsh_rfc.generated import Generated

COMMAND = "dsh-rfc generate"


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """What one entry of the table comes to.

    Attributes:
        files: What is to be written.
        left_over: Files of a generated folder that no renderer writes any more, relative to the repository.
    """

    files: tuple[Generated, ...]
    left_over: tuple[str, ...] = ()


def render_part(part: GeneratedPart, repository: Repository) -> Rendered:
    """Return the files of an entry.

    Raises:
        RendererFailed: The renderer cannot be found, raised, or returned something else than text.
    """
    result = _call(part, repository.folder)
    if not part.path.endswith("/"):
        if not isinstance(result, str):
            raise RendererFailed(part.renderer, f"returned {type(result).__name__}, and {part.path} needs a text")
        return Rendered(files=(_file(part, part.path, result, repository),))
    if not isinstance(result, Mapping) or not all(
        isinstance(name, str) and isinstance(text, str) and "/" not in name for name, text in result.items()
    ):
        raise RendererFailed(part.renderer, f"must return texts by file name for the folder {part.path}")
    files = tuple(_file(part, part.path + name, result[name], repository) for name in sorted(result))
    return Rendered(files=files, left_over=tuple(_left_over(part.path, result, repository.folder)))


def _file(part: GeneratedPart, path: str, text: str, repository: Repository) -> Generated:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise RendererFailed(part.renderer, f"returned half a character for {path}, which UTF-8 cannot hold")
    if not (repository.folder / path).parent.resolve().is_relative_to(repository.folder.resolve()):
        raise RendererFailed(part.renderer, f"may not write {path}: a link on its way leaves the repository")
    return Generated(path=printable(path), file=repository.folder / path, render=lambda: text, command=COMMAND)


def _left_over(folder: str, wanted: Mapping[str, str], top: Path) -> Iterator[str]:
    if (top / folder).is_dir():
        yield from sorted(f"{folder}{child.name}" for child in (top / folder).iterdir() if child.name not in wanted)


def _call(part: GeneratedPart, folder: Path) -> Any:
    function = _find(part)
    try:
        needs_folder = any(
            item.default is item.empty and item.kind in {item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD}
            for item in inspect.signature(function).parameters.values()
        )
        return function(folder) if needs_folder else function()
    except (Exception, SystemExit) as error:
        raise RendererFailed(part.renderer, f"failed: {type(error).__name__}: {error}") from error


def _find(part: GeneratedPart) -> Callable[..., Any]:
    module, _, name = part.renderer.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:
        raise RendererFailed(part.renderer, f"cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise RendererFailed(part.renderer, "is no function")
    function: Callable[..., Any] = found
    return function
