"""The contract of a persistence: what every backend does alike."""

from __future__ import annotations

from dsh_session_persistence.testing.clauses.closing import Closing
from dsh_session_persistence.testing.clauses.corruption import Corruption
from dsh_session_persistence.testing.clauses.creation import Creation
from dsh_session_persistence.testing.clauses.declarations import Declarations
from dsh_session_persistence.testing.clauses.ids import Ids
from dsh_session_persistence.testing.clauses.ownership import Ownership
from dsh_session_persistence.testing.clauses.recovery import Recovery
from dsh_session_persistence.testing.clauses.round_trip import RoundTrip
from dsh_session_persistence.testing.clauses.sequence import Sequencing
from dsh_session_persistence.testing.clauses.tears import Tears

__all__ = ["PersistenceContract"]


class PersistenceContract(
    Declarations, RoundTrip, Creation, Sequencing, Recovery, Tears, Corruption, Ownership, Ids, Closing
):
    """What `create`, `append`, `load`, `read` and `list` promise on every medium.

    Subclass it under a name that pytest collects and override the fixture `storage`.
    """
