"""Every error of this package, in one tree with a branch for each party that can act.

```
SessionError
├── CallerError               the calling code must change
│   ├── NotJsonSerializable   a value that JSON would lose
│   ├── NestingViolation      an event that does not fit the open turn and step
│   ├── InvalidSurfaceOp      a replacement of something that is not on the surface
│   ├── InvalidSessionId      an id that no medium could keep
│   ├── InvalidCwd            a working folder that is not absolute
│   ├── DuplicateSession      the id is already live in this store
│   ├── NotAttached           the session does not belong to this store
│   ├── WrongThread           a session used outside the thread that made it
│   ├── ReservedEventType     a plugin redefining a core type
│   └── InvalidSeed           a seed that is no log                     (also DataError)
├── DataError                 what was read is not what the format says
│   ├── InvalidEvent          an event that the format or its model refuses (also CallerError)
│   ├── InvalidHeader         a header that the format refuses          (also CallerError)
│   └── UnsupportedVersion    a format version that this build does not read
└── WorldError                disk, network, another process
```

Owns the classes and their fields. Holds no logic. Layers above hang their own classes on the same branches.
"""


class SessionError(Exception):
    """The root of every error that this package raises."""


class CallerError(SessionError):
    """The calling code asked for something that cannot be done."""


class DataError(SessionError):
    """Stored or received data is not what the format describes."""


class WorldError(SessionError):
    """The environment failed: a disk, a network, another process."""


class NotJsonSerializable(CallerError):
    """A value was refused because JSON would not give it back as it was.

    Args:
        event_type: The type of the event that was refused.
        path: Where the value stands inside the event's data, as in `content[2].meta.size`.
        reason: What is wrong with it.
    """

    def __init__(self, event_type: str, path: str, reason: str = "not a JSON value") -> None:
        """Keep the three fields and render them."""
        super().__init__(event_type, path, reason)
        self.event_type = event_type
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.event_type}: {self.path or 'data'}: {self.reason}"


class InvalidEvent(CallerError, DataError):
    """An event was refused: by the envelope of the format, or by the model of its type.

    Args:
        reason: What is wrong.
        event_type: The type of the event, when it is known.
        path: The envelope key, or the place inside the data.
        index: The position in a sequence of lines, when one was being read.
    """

    def __init__(
        self, reason: str, *, event_type: str | None = None, path: str = "", index: int | None = None
    ) -> None:
        """Keep the fields and render them."""
        super().__init__(reason)
        self.reason = reason
        self.event_type = event_type
        self.path = path
        self.index = index

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.event_type, self.path) if part)
        text = f"{place}: {self.reason}" if place else self.reason
        return text if self.index is None else f"line {self.index}: {text}"


class InvalidHeader(CallerError, DataError):
    """A session header was refused.

    Args:
        reason: What is wrong.
        key: The header key, when one is to blame.
    """

    def __init__(self, reason: str, *, key: str = "") -> None:
        """Keep the fields and render them."""
        super().__init__(reason)
        self.reason = reason
        self.key = key

    def __str__(self) -> str:
        return f"header: {self.key}: {self.reason}" if self.key else f"header: {self.reason}"


class UnsupportedVersion(DataError):
    """A log was written in a format version that this build does not read.

    Args:
        found: The version that the header names (whatever it is), or None without one.
        supported: The version that this build reads and writes.
    """

    def __init__(self, found: object, supported: int) -> None:
        """Keep both versions and render them."""
        super().__init__(found, supported)
        self.found = found
        self.supported = supported

    def __str__(self) -> str:
        return f"session format version {self.found!r} is not supported; this build reads {self.supported}"


class NestingViolation(CallerError):
    """An event does not fit the turn and step that are open.

    Args:
        event_type: The type of the event that was refused.
        reason: What does not fit.
        open_turn: The turn that is open, or None between turns.
        open_step: The step that is open, or None between steps.
    """

    def __init__(
        self, event_type: str, reason: str, *, open_turn: int | None = None, open_step: int | None = None
    ) -> None:
        """Keep the fields and render them."""
        super().__init__(event_type, reason)
        self.event_type = event_type
        self.reason = reason
        self.open_turn = open_turn
        self.open_step = open_step

    def __str__(self) -> str:
        return f"{self.event_type}: {self.reason}"


class InvalidSurfaceOp(CallerError):
    """A surface operation cannot be applied.

    Args:
        event_type: The type of the event that carries it.
        reason: What is wrong with it.
    """

    def __init__(self, event_type: str, reason: str) -> None:
        """Keep the fields and render them."""
        super().__init__(event_type, reason)
        self.event_type = event_type
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.event_type}: {self.reason}"


class InvalidSeed(CallerError, DataError):
    """A sequence of events cannot seed a session.

    Args:
        index: The position of the event that is to blame.
        reason: What is wrong with it.
    """

    def __init__(self, index: int, reason: str) -> None:
        """Keep the fields and render them."""
        super().__init__(index, reason)
        self.index = index
        self.reason = reason

    def __str__(self) -> str:
        return f"seed[{self.index}]: {self.reason}"


class InvalidSessionId(CallerError):
    """A session id is empty, is no text, or holds a surrogate.

    Args:
        session_id: What was given.
        reason: What is wrong with it.
    """

    def __init__(self, session_id: object, reason: str) -> None:
        """Keep the fields and render them."""
        super().__init__(session_id, reason)
        self.session_id = session_id
        self.reason = reason

    def __str__(self) -> str:
        return f"session id {self.session_id!r}: {self.reason}"


class InvalidCwd(CallerError):
    """A new session was given a working folder that is not an absolute path.

    Args:
        cwd: What was given.
    """

    def __init__(self, cwd: object) -> None:
        """Keep the path and render it."""
        super().__init__(cwd)
        self.cwd = cwd

    def __str__(self) -> str:
        return f"cwd {self.cwd!r} is not an absolute path"


class DuplicateSession(CallerError):
    """A live session of this store already has the id.

    Args:
        session_id: The id that is taken.
    """

    def __init__(self, session_id: str) -> None:
        """Keep the id and render it."""
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f"session {self.session_id!r} is already live in this store"


class NotAttached(CallerError):
    """A store was asked about a session that is not, or no longer, one of its own.

    Args:
        session_id: The id of that session.
    """

    def __init__(self, session_id: str) -> None:
        """Keep the id and render it."""
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f"session {self.session_id!r} is not attached to this store"


class WrongThread(CallerError):
    """A session was used from a thread other than the one that made it.

    Args:
        session_id: The id of that session.
    """

    def __init__(self, session_id: str) -> None:
        """Keep the id and render it."""
        super().__init__(session_id)
        self.session_id = session_id

    def __str__(self) -> str:
        return f"session {self.session_id!r} belongs to another thread"


class ReservedEventType(CallerError):
    """A plugin tried to define a type that the core vocabulary owns, or an unusable one.

    Args:
        event_type: The type that was asked for.
    """

    def __init__(self, event_type: object) -> None:
        """Keep the type and render it."""
        super().__init__(event_type)
        self.event_type = event_type

    def __str__(self) -> str:
        return f"event type {self.event_type!r} cannot be defined by a plugin"
