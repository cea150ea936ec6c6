"""What the text of an address on another host tells.

Owns whether it can be followed at all, whether anybody is meant to, and how it is asked for. Pure: `external` asks.
"""

import re
from contextlib import suppress
from urllib.parse import SplitResult, quote, urlsplit

_SAFE = "%/:=&?~#+!$,;'@()*[]"
_NOBODY = re.compile(
    r"(?:localhost|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0|(?:.+\.)?example\.(?:com|net|org)"
    r"|(?:.+\.)?(?:example|invalid|test|localhost|local|internal))",
    re.IGNORECASE,
)


def fault_of_address(address: str) -> str:
    """Return why nobody can follow an address, as far as its text tells; nothing when it reads well."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        return f"is no address: {error}"
    if not host:
        return "names no host"
    if re.search(r"[\s<>\"{}|\\^`]", address):
        return "holds a character that an address cannot hold"
    return ""


def is_somebody(address: str) -> bool:
    """Say whether an address is meant to lead to a host: not to this machine, nor to a name kept for examples."""
    host = urlsplit(address).hostname
    return bool(host) and _NOBODY.fullmatch(str(host)) is None


def bare_address(address: str) -> str:
    """Return what is asked for: no fragment, ASCII alone."""
    parts = urlsplit(address.partition("#")[0])
    with suppress(UnicodeError):
        host = (parts.hostname or "").encode("idna").decode("ascii")
        host = f"[{host}]" if ":" in host else host
        netloc = f"{host}:{parts.port}" if parts.port else host
        parts = SplitResult(parts.scheme.lower(), netloc, parts.path or "/", parts.query, "")
    return quote(parts.geturl(), safe=_SAFE)
