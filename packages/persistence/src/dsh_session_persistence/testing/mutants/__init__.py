"""For each clause of the contract a backend, coordinator or storage that is broken in just that way.

A clause that its mutant passes checks nothing. Flow: `MUTANTS[clause]()` -> storage -> the clause must fail.
"""

from dsh_session_persistence.testing.mutants import (
    adoption,
    creation,
    damage,
    declarations,
    live,
    ownership,
    recovery,
    round_trip,
    sequence,
)
from dsh_session_persistence.testing.mutants.registry import MUTANTS, MutantStorage, breaks, enlist

__all__ = [
    "MUTANTS",
    "MutantStorage",
    "adoption",
    "breaks",
    "creation",
    "damage",
    "declarations",
    "enlist",
    "live",
    "ownership",
    "recovery",
    "round_trip",
    "sequence",
]
