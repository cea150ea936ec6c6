"""What a contract run needs from a medium.

Owns the interface between the clauses and a backend under test: open an instance, kill one, and write to the
medium behind everybody's back. Refuses to know any backend. Flow: fixture `storage` -> clause -> these methods.

A storage must give `open`, `crash`, `tear` and `damage`. Every other method is an ability: override it, or name it
in `unsupported` if the medium cannot have it. A name in `unsupported` whose method works fails the contract.
"""

# ruff: noqa: ARG002 - the default of an ability uses none of its arguments

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NoReturn

from dsh_session import SessionId
from dsh_session_persistence.service import SessionPersistence
from dsh_session_persistence.testing.faults import Faults

__all__ = ["ABILITIES", "Storage", "UnsupportedAbility"]

ABILITIES = frozenset(
    {
        "tear",
        "damage",
        "pad_with_nul",
        "drop",
        "repeat",
        "garble",
        "set_header",
        "add_header_key",
        "add_event_key",
        "strip_events",
        "image",
        "fail_in_the_middle",
        "disable_lock",
        "faults",
    }
)


class UnsupportedAbility(NotImplementedError):
    """A storage does not override an ability.

    Attributes:
        ability: The name of the method.
    """

    def __init__(self, ability: str) -> None:
        self.ability = ability
        super().__init__(f"override Storage.{ability}, or declare it: unsupported = frozenset({{{ability!r}}})")


class Storage(ABC):
    """One medium (a folder, a database, …) and the ways to reach it. A new one is made for each clause.

    Attributes:
        unsupported: Names out of `ABILITIES` that this medium cannot have. Their clauses are skipped.
    """

    unsupported: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def open(self, **options: Any) -> SessionPersistence:
        """Return a fresh instance over the medium; must not need a running event loop.

        Args:
            options: Options of `CoordinatedPersistence` (`write_batch_max_delay_ms`, …), passed on.
        """

    @abstractmethod
    def crash(self, instance: SessionPersistence) -> None:
        """Let an instance die as a killed process dies: buffers dropped undrained, locks and descriptors given up.

        The instance is not used afterwards.
        """

    @abstractmethod
    def tear(self, session_id: SessionId) -> None:
        """Leave, behind the last stored record, the fragment of a record that was never fully written."""

    @abstractmethod
    def damage(self, session_id: SessionId, seq: int) -> None:
        """Make the stored record of one event unreadable, in place; its neighbours stay."""

    def pad_with_nul(self, session_id: SessionId) -> None:
        """Leave a block of NUL bytes behind the last record, as some file systems do after a power loss."""
        self._missing("pad_with_nul")

    def drop(self, session_id: SessionId, seq: int) -> None:
        """Take the record of one event away, so that its seq is missing."""
        self._missing("drop")

    def repeat(self, session_id: SessionId, seq: int) -> None:
        """Store the record of one event a second time, directly behind itself."""
        self._missing("repeat")

    def garble(self, session_id: SessionId, seq: int) -> None:
        """Put bytes that are no UTF-8 into a string within the `data` of one event; all else stays well formed."""
        self._missing("garble")

    def set_header(self, session_id: SessionId, **changes: Any) -> None:
        """Change fields of the stored header, by their wire names (`version=7`, `id="other"`)."""
        self._missing("set_header")

    def add_header_key(self, session_id: SessionId, key: str, value: Any) -> None:
        """Give the stored header a key that the format does not have."""
        self._missing("add_header_key")

    def add_event_key(self, session_id: SessionId, seq: int, key: str, value: Any) -> None:
        """Give the envelope of one stored event a key that the format does not have."""
        self._missing("add_event_key")

    def strip_events(self, session_id: SessionId) -> None:
        """Take all events of a session away and leave its header."""
        self._missing("strip_events")

    def image(self, session_id: SessionId) -> object:
        """Return what the medium holds of a session, to be compared: equal before and after means untouched."""
        self._missing("image")

    def fail_in_the_middle(self, instance: SessionPersistence) -> None:
        """Make the next durable write of an instance fail after a part of its batch has reached the medium."""
        self._missing("fail_in_the_middle")

    def disable_lock(self, instance: SessionPersistence) -> None:
        """Make an instance believe that it owns whatever it asks for; called before its first operation."""
        self._missing("disable_lock")

    def faults(self, instance: SessionPersistence) -> Faults:
        """Return the means to delay, fail and count what reaches the backend of an instance.

        The default works for every persistence that is a `CoordinatedPersistence`.
        """
        return Faults.of(instance)

    def _missing(self, ability: str) -> NoReturn:
        raise UnsupportedAbility(ability)
