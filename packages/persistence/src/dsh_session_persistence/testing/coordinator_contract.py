"""The contract of a persistence that is attached to live sessions."""

from __future__ import annotations

from dsh_session_persistence.testing.clauses.adoption import Adoption
from dsh_session_persistence.testing.clauses.attaching import Attaching
from dsh_session_persistence.testing.clauses.disposal import Disposal
from dsh_session_persistence.testing.clauses.failures import Failures
from dsh_session_persistence.testing.clauses.write_behind import WindowAndBarrier

__all__ = ["CoordinatorContract"]


class CoordinatorContract(Attaching, Adoption, WindowAndBarrier, Failures, Disposal):
    """What `attach` and `aclose` promise, whatever the backend.

    Subclass it under a name that pytest collects and override the fixture `storage`.
    """
