"""What happens between two looks at a medium that others use as well."""

import asyncio

import pytest

from dsh_session import SessionStore
from dsh_session_persistence import ConcurrentWriter, MemoryMedium, MemoryPersistence, SessionIdCollision
from dsh_session_persistence.testing.samples import header, sid, turns
from dsh_session_persistence.testing.scenes import played


@pytest.mark.parametrize(("is_owned", "expected"), [(False, SessionIdCollision), (True, ConcurrentWriter)])
def test_an_id_that_was_stored_since_it_was_looked_up_is_looked_up_again(is_owned, expected):
    """A flush tells what the id belongs to now; that it exists is no answer that its caller could act on."""

    async def scenario():
        medium = MemoryMedium()
        store = SessionStore()
        other = MemoryPersistence(medium)
        persistence = MemoryPersistence(medium)
        persistence.attach(store)
        session = store.create(id="sample")
        await store.flush(session)  # looked up: nothing is stored

        await other.create(header())
        await other.append(sid("sample"), turns())
        if not is_owned:
            await other.aclose()

        played(session, turns(2))
        with pytest.raises(ExceptionGroup) as caught:
            await store.flush(session)
        assert [type(error) for error in caught.value.exceptions] == [expected]
        assert len(medium.records["sample"]) == len(turns()) + 1

    asyncio.run(scenario())
