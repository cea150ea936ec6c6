"""What makes a coroutine a clause of the contract.

Owns the event loop of a clause, its time limit, its skipping, and the base class that carries the `storage`
fixture. Refuses any pytest plugin: to pytest a clause is a plain method. Flow: pytest -> clause -> `asyncio.run`.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dsh_session_persistence.testing.faults import GATES, Gate
from dsh_session_persistence.testing.storage import ABILITIES, Storage

__all__ = ["Clauses", "Scenario", "clause", "clauses_of"]

Scenario = Callable[[Any, Any], Awaitable[None]]
TIME_LIMIT_S = 30.0


class Clauses:
    """Base of every group of clauses."""

    time_limit_s = TIME_LIMIT_S

    @pytest.fixture
    def storage(self) -> Storage:
        """Give the storage under test; a subclass overrides it.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("override the fixture `storage` so that it returns a Storage of your backend")


def clause(*needs: str) -> Callable[[Scenario], Callable[[Any, Storage], None]]:
    """Make a coroutine method `(self, storage)` a clause that pytest runs as a plain method.

    Whatever the event loop reports as unobserved (an exception of a task that nobody awaited) fails the clause.

    Args:
        needs: Abilities of the storage without which the clause is skipped.
    """
    assert set(needs) <= ABILITIES

    def decorate(scenario: Scenario) -> Callable[[Any, Storage], None]:
        def run(self: Any, storage: Storage) -> None:
            missing = sorted(set(needs) & storage.unsupported)
            if missing:
                pytest.skip(f"the storage declares as unsupported: {', '.join(missing)}")
            asyncio.run(_observed(scenario(self, storage), self.time_limit_s))

        run.__name__ = scenario.__name__
        run.__qualname__ = scenario.__qualname__
        run.__doc__ = scenario.__doc__
        run.__module__ = scenario.__module__
        return run

    return decorate


async def _observed(scenario: Awaitable[None], time_limit_s: float) -> None:
    unobserved: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unobserved.append(context))
    gates: list[Gate] = []
    GATES.set(gates)
    task = asyncio.ensure_future(scenario)
    in_time, _ = await asyncio.wait({task}, timeout=time_limit_s)
    for gate in gates:
        gate.open()
    finished, _ = await asyncio.wait({task}, timeout=time_limit_s)
    if finished:
        await task  # what it failed with says more than how long it took
    assert in_time, f"the clause was not through after {time_limit_s} s: something waits for ever"
    gc.collect(0)
    assert not unobserved


def clauses_of(contract: type) -> list[str]:
    """Return the names of the clauses of a contract class, sorted."""
    return sorted(name for name in dir(contract) if name.startswith("test_"))
