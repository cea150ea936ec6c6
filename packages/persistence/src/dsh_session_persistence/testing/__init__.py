"""The contract of a persistence, as pytest classes that a backend's own tests inherit.

Flow: a subclass with a fixture `storage` -> pytest -> clauses -> `Storage` -> backend.
"""

import pytest

# Before the clauses are imported: otherwise a failing clause shows a bare AssertionError.
for _module in ("clause", "clauses", "scenes"):
    pytest.register_assert_rewrite(f"{__name__}.{_module}")

from dsh_session_persistence.testing.contract import PersistenceContract  # noqa: E402 - see above
from dsh_session_persistence.testing.coordinator_contract import CoordinatorContract  # noqa: E402 - see above
from dsh_session_persistence.testing.faults import Faults, Gate, abandon, backend_of  # noqa: E402 - see above
from dsh_session_persistence.testing.memory_storage import MemoryStorage  # noqa: E402 - see above
from dsh_session_persistence.testing.storage import ABILITIES, Storage, UnsupportedAbility  # noqa: E402 - see above

__all__ = [
    "ABILITIES",
    "CoordinatorContract",
    "Faults",
    "Gate",
    "MemoryStorage",
    "PersistenceContract",
    "Storage",
    "UnsupportedAbility",
    "abandon",
    "backend_of",
]
