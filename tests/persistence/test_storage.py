"""A storage of a third party: what it must give, and what it may leave out."""

from typing import ClassVar

import pytest

from dsh_session_persistence.testing import (
    ABILITIES,
    CoordinatorContract,
    Faults,
    MemoryStorage,
    PersistenceContract,
    Storage,
    UnsupportedAbility,
    abandon,
)
from dsh_session_persistence.testing.clauses.declarations import PROBES
from dsh_session_persistence.testing.samples import sid

MINIMUM = {"tear", "damage", "faults"}


class Least(MemoryStorage):
    """The least that a storage may be: every ability that has a default keeps it."""

    unsupported: ClassVar[frozenset[str]] = ABILITIES - MINIMUM
    for _ability in unsupported:
        locals()[_ability] = getattr(Storage, _ability)


class TestLeast(PersistenceContract, CoordinatorContract):
    """A storage with the minimum runs the contract; what it cannot do is skipped."""

    @pytest.fixture
    def storage(self):
        """Give a fresh medium."""
        return Least()


@pytest.mark.parametrize("ability", sorted(ABILITIES - MINIMUM))
def test_an_ability_that_is_not_overridden_says_what_to_do(ability):
    """A third party learns the name of the method from the error."""
    with pytest.raises(UnsupportedAbility) as caught:
        PROBES[ability](Least())
    assert caught.value.ability == ability


def test_every_ability_has_a_probe_and_a_method():
    """A declaration that nobody can check would be a way around the contract."""
    assert set(PROBES) == ABILITIES
    assert all(callable(getattr(Storage, ability)) for ability in ABILITIES)


def test_the_fixture_must_be_overridden():
    """A subclass without a storage fails, rather than testing nothing."""
    with pytest.raises(NotImplementedError):
        PersistenceContract.storage.__wrapped__(PersistenceContract())


def test_faults_and_crashes_need_a_coordinator():
    """For a persistence of another make they say which method to override."""
    with pytest.raises(TypeError):
        Faults.of(sid("not a persistence"))
    with pytest.raises(TypeError):
        abandon(sid("not a persistence"))
