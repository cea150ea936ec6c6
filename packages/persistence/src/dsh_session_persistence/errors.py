"""What can go wrong with stored sessions, by who must act.

Owns the errors of the seam; the branches come from `dsh_session.errors`. Refuses to know any driver: a backend
turns its driver's errors into these with `raise … from`.

    SessionError
    ├── CallerError
    │   ├── SessionNotFound         nothing is stored under this id
    │   ├── SessionExists           something is
    │   ├── SequenceMismatch        the events do not follow what is stored
    │   ├── SessionIdCollision      a live session and a stored one disagree about an id
    │   └── PersistenceUnavailable  there is no persistence, or it is closed
    ├── DataError
    │   └── CorruptSession          what is stored cannot be read without losing real work
    └── WorldError
        ├── ConcurrentWriter        somebody else owns the session
        └── StorageFailure          the medium failed
"""

from __future__ import annotations

from dsh_session.errors import CallerError, DataError, WorldError

__all__ = [
    "ConcurrentWriter",
    "CorruptSession",
    "PersistenceUnavailable",
    "SequenceMismatch",
    "SessionExists",
    "SessionIdCollision",
    "SessionNotFound",
    "StorageFailure",
]


class SessionNotFound(CallerError):
    """Nothing is stored under this id.

    Attributes:
        session_id: The id that was asked for.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"no session {session_id!r} is stored")


class SessionExists(CallerError):
    """A session with this id was already created or stored.

    Attributes:
        session_id: The id that is taken.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"session {session_id!r} exists already")


class SequenceMismatch(CallerError):
    """An event does not carry the seq that follows what is stored; nothing of its batch was stored.

    Attributes:
        expected: The seq that would have followed.
        got: The seq that the event carries.
        index: Position of that event in the batch, from 0.
    """

    def __init__(self, expected: int, got: int, index: int = 0) -> None:
        self.expected = expected
        self.got = got
        self.index = index
        super().__init__(f"event {index} of the batch has seq {got}, but {expected} follows what is stored")


class SessionIdCollision(CallerError):
    """A live session cannot be stored under its id, because that id belongs to another history.

    Attributes:
        session_id: The contested id.
        reason: What disagrees, in words.
    """

    def __init__(self, session_id: str, reason: str) -> None:
        self.session_id = session_id
        self.reason = reason
        super().__init__(f"session id {session_id!r} is taken: {reason}")


class PersistenceUnavailable(CallerError):
    """There is no persistence to ask: none was given, none answers to the URL, or it was closed."""


class CorruptSession(DataError):
    """What is stored cannot be read, and cutting it would lose work; nothing was rewritten.

    Attributes:
        session_id: The stored session.
        reason: What is wrong, in words.
        seq: Sequence number at which reading stopped, if that is known.
        offset_bytes: Where in the file, for a medium made of bytes.
        row: Which row (its stored seq), for a medium made of rows.
    """

    def __init__(
        self,
        session_id: str,
        reason: str,
        *,
        seq: int | None = None,
        offset_bytes: int | None = None,
        row: int | None = None,
    ) -> None:
        self.session_id = session_id
        self.reason = reason
        self.seq = seq
        self.offset_bytes = offset_bytes
        self.row = row
        where = [
            f"{name} {value}"
            for name, value in (("seq", seq), ("byte", offset_bytes), ("row", row))
            if value is not None
        ]
        at = f" at {', '.join(where)}" if where else ""
        super().__init__(f"session {session_id!r} is corrupt{at}: {reason}")


class ConcurrentWriter(WorldError):
    """Another process, or another instance in this one, owns the session or has written to it since.

    Attributes:
        session_id: The owned session.
        owner: What is known of the owner (for instance `pid 4711`), or None.
    """

    def __init__(self, session_id: str, owner: str | None = None) -> None:
        self.session_id = session_id
        self.owner = owner
        by = f" ({owner})" if owner else ""
        super().__init__(f"session {session_id!r} belongs to another writer{by}")


class StorageFailure(WorldError):
    """The medium refused or failed; what was not acknowledged is still buffered.

    Attributes:
        cause: The error of the driver or the operating system.
    """

    def __init__(self, doing: str, cause: BaseException) -> None:
        self.cause = cause
        super().__init__(f"{doing}: {cause}")
