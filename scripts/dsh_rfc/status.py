"""The grammar of the status line.

Owns telling whether a line is in one of the contract's forms, and whose. Refuses to know where it stands.
"""

from dsh_rfc.contract import Contract
from dsh_rfc.header import STATUS

_DASH = " \N{EM DASH} "


def read_status(text: str, contract: Contract) -> str | None:
    """Return the lifecycle whose form the line is in, or nothing.

    Example:
        >>> read_status("Status: proposed", Contract())
        'proposed'
        >>> read_status("Status: rejected — too slow", Contract())
        'rejected'
        >>> read_status("Status: rejected", Contract()) is None
        True
    """
    for lifecycle in contract.lifecycles:
        asked = contract.of(lifecycle)
        word = f"{STATUS} {asked.status}"
        if not asked.reason and text == word:
            return lifecycle
        if asked.reason and text.startswith(word + _DASH) and text.removeprefix(word + _DASH).strip():
            return lifecycle
    return None
