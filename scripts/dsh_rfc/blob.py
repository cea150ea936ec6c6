"""The hash under which git stores a file.

Owns the bytes that git would store for bytes of the work tree, and their hash, for repositories of either hash
function. Pure, and calls no git. Refuses filters that are programs, and `working-tree-encoding`: a document is
UTF-8.

Flow: bytes and attributes -> line ends and `$Id$` as they are stored -> header and bytes -> hex digits.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Literal

from dsh_rfc.attributes import Value

Algorithm = Literal["sha1", "sha256"]
HEX_DIGITS: Mapping[Algorithm, int] = {"sha1": 40, "sha256": 64}
_IDENT = re.compile(rb"\$Id:[^\n$]*\$")
_NO_PRINT = bytes(code for code in range(256) if (code < 32 and code not in b"\b\t\x1b\f\r\n") or code == 127)


def blob_hash(data: bytes, algorithm: Algorithm) -> str:
    r"""Return the hash of stored bytes.

    Example:
        >>> blob_hash(b"hello\n", "sha1")
        'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    digest = hashlib.new(algorithm, usedforsecurity=False)
    digest.update(b"blob %d\0" % len(data))
    digest.update(data)
    return digest.hexdigest()


def as_stored(data: bytes, attributes: Mapping[str, Value], *, autocrlf: bool) -> bytes:
    """Return the bytes that git stores for bytes of the work tree.

    A file that git guesses to be text, and that is stored with CRLF already, is left alone by git and not here: the
    guess is then better replaced by an attribute.

    Args:
        data: As they stand on the disk.
        attributes: Of the file.
        autocrlf: Whether git guesses for files of which the attributes say nothing.
    """
    if b"\r\n" in data and _is_text(data, attributes, autocrlf=autocrlf):
        data = data.replace(b"\r\n", b"\n")
    if attributes.get("ident") is True and b"$Id:" in data:
        data = _IDENT.sub(b"$Id$", data)
    return data


def _is_text(data: bytes, attributes: Mapping[str, Value], *, autocrlf: bool) -> bool:
    said = _kind(attributes.get("text"))
    if said is None:
        said = _kind(attributes.get("crlf"))  # the name that the attribute had in git's first years
    if said is None:
        if attributes.get("eol") in {"lf", "crlf"}:
            return True
        said = "auto" if autocrlf else "binary"
    return said == "text" or (said == "auto" and not _looks_binary(data))


def _kind(value: Value) -> str | None:
    if value is True or value == "input":
        return "text"
    if value is False:
        return "binary"
    return "auto" if value == "auto" else None


def _looks_binary(data: bytes) -> bool:
    """Say whether git's guess is that this is no text: NUL, a lone CR, or more than one odd byte in 128."""
    if b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return True
    unprintable = len(data) - len(data.translate(None, _NO_PRINT)) - data.endswith(b"\x1a")
    printable = len(data.translate(None, _NO_PRINT + b"\r\n"))
    return printable >> 7 < unprintable
