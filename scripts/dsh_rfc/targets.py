"""What a link's target means, seen from the page that it stands on.

Owns reading a target as a browser and GitHub do: scheme, query, fragment, percent-encoding, the way up and down the
folders. Pure: asks the corpus nothing. Refuses to judge.

Flow: target as written, path of its page -> `Target`.
"""

import posixpath
import re
from dataclasses import dataclass
from enum import Enum
from urllib.parse import unquote

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):")
_TEXT_DIRECTIVE = ":~:"


class Reach(Enum):
    """How far away a target is."""

    NOWHERE = "it names nothing"
    HERE = "a path of this repository"
    OUTSIDE = "a path that leaves the folder that all paths count from"
    ABSOLUTE = "a path from the root of some file system, or of some host"
    WEB = "another host, by http or https"
    OTHER = "something that is no file: mail, a telephone, data"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A target that was read.

    Attributes:
        reach: How far away it is.
        path: For `HERE`, from the top, normal, decoded; empty is the top. For `ABSOLUTE`, what follows the root.
        fragment: Decoded, without the hash; empty for the top of a page.
        is_folder: Whether it ends in a slash.
        shows_source: Whether it asks GitHub for the lines of a page rather than the page.
    """

    reach: Reach
    path: str = ""
    fragment: str = ""
    is_folder: bool = False
    shows_source: bool = False


def read_target(written: str, page: str) -> Target:
    """Return what a target means on a page.

    Args:
        written: With entities and escapes resolved, percent-encoding not.
        page: Path of the page, from the top.

    Example:
        >>> read_target("../index.md#first%20steps", "docs/guides/a.md")
        Target(reach=<Reach.HERE: 'a path of this repository'>, path='docs/index.md', fragment='first steps', \
is_folder=False, shows_source=False)
    """
    written = written.strip()
    scheme = _SCHEME.match(written)
    if not written:
        return Target(reach=Reach.NOWHERE)
    if scheme:
        return _of_scheme(scheme["scheme"].lower(), written[scheme.end() :])
    if written.startswith("//"):
        return Target(reach=Reach.OTHER)
    address, _, fragment = written.partition("#")
    address, _, query = address.partition("?")
    path = unquote(address, errors="surrogateescape")  # a name of any bytes, as the disk gives it
    fragment = unquote(fragment.partition(_TEXT_DIRECTIVE)[0])
    if path.startswith(("/", "\\", "~/")):
        return Target(reach=Reach.ABSOLUTE, path=path.lstrip("/\\~"), fragment=fragment)
    shows_source = "plain=1" in query.split("&")
    if not path:
        return Target(reach=Reach.HERE, path=page, fragment=fragment, shows_source=shows_source)
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if joined == ".." or joined.startswith("../"):
        return Target(reach=Reach.OUTSIDE, path=joined, fragment=fragment)
    return Target(
        reach=Reach.HERE,
        path="" if joined == "." else joined,
        fragment=fragment,
        is_folder=path.endswith("/"),
        shows_source=shows_source,
    )


def _of_scheme(scheme: str, rest: str) -> Target:
    if len(scheme) == 1 or scheme == "file":  # a drive
        return Target(reach=Reach.ABSOLUTE, path=unquote(rest).lstrip("/\\"))
    return Target(reach=Reach.WEB if scheme in {"http", "https"} else Reach.OTHER)


def way(page: str, path: str) -> str:
    """Return the relative target from a page to a path, as it is written in a link."""
    relative = posixpath.relpath(path or ".", posixpath.dirname(page) or ".")
    return f"<{relative}>" if any(character in relative for character in " ()") else relative
