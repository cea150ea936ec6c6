"""Ids that a medium might take for something else are stored apart or refused, never mixed."""

from __future__ import annotations

from collections.abc import Sequence

from dsh_session import InvalidSessionId
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import Log, header, sid
from dsh_session_persistence.testing.scenes import is_stored, listed, load_fresh
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Ids"]


async def stored_apart_or_refused(storage: Storage, ids: Sequence[str]) -> None:
    """Store a log of its own under each id and check that a fresh instance finds each, or that `create` refused."""
    logs = {text: Log().turn_start().user(f"log {number}").turn_end() for number, text in enumerate(ids)}
    kept = []
    async with storage.open() as persistence:
        for text, log in logs.items():
            try:
                await persistence.create(header(text))
            except InvalidSessionId:
                continue
            await persistence.append(sid(text), log.events)
            kept.append(text)
    for text in kept:
        loaded = await load_fresh(storage, sid(text))
        assert loaded.header.id == text
        assert list(loaded.events) == logs[text].events
    assert sorted(head.id for head in await listed(storage)) == sorted(kept)


class Ids(Clauses):
    """An id is any text; what a medium cannot hold is refused when the session is created."""

    @clause()
    async def test_ids_that_look_like_paths_stay_within_the_medium(self, storage: Storage) -> None:
        """An id is no way out of the root."""
        paths = ["../x", "x", "/etc/x", "etc/x", "a/../x", ".", "..", "./x", "\\\\host\\x", "C:\\x", "~/x", "a/"]
        await stored_apart_or_refused(storage, paths)

    @clause()
    async def test_ids_with_nul_are_stored_apart_or_refused(self, storage: Storage) -> None:
        """Where C strings end, another id must not begin."""
        await stored_apart_or_refused(storage, ["a", "a\x00", "a\x00b", "\x00", "\x00a"])

    @clause()
    async def test_ids_with_control_characters_are_stored_apart_or_refused(self, storage: Storage) -> None:
        """A line end within an id must not end the header's line."""
        await stored_apart_or_refused(storage, ["a\nb", "a\r", "a\t", "a", "a ", " a", "\x7f", "a\u2028b"])

    @clause()
    async def test_ids_of_emoji_are_stored_apart_or_refused(self, storage: Storage) -> None:
        """Two emoji may share a half of their UTF-16 form."""
        await stored_apart_or_refused(storage, ["🙂", "🙃", "👩‍🚀", "👩", "é", "e\u0301", "ﬁ", "fi"])

    @clause()
    async def test_ids_of_255_characters_and_more_are_stored_apart_or_refused(self, storage: Storage) -> None:
        """A medium that cuts long names mixes those with a common beginning."""
        ids = ["a" * 254, "a" * 255, "a" * 256, "a" * 255 + "b", "a" * 1_000, "a" * 999 + "b", "é" * 100]
        await stored_apart_or_refused(storage, ids)

    @clause()
    async def test_ids_that_differ_only_in_case_are_stored_apart_or_refused(self, storage: Storage) -> None:
        """Some file systems, and some collations, do not see the difference."""
        await stored_apart_or_refused(storage, ["sample", "Sample", "SAMPLE", "ß", "ẞ", "ss"])

    @clause()
    async def test_ids_that_look_like_an_encoding_are_stored_apart_or_refused(self, storage: Storage) -> None:
        """An id must not equal what another id is encoded to."""
        ids = ["a/b", "a~002Fb", "a%2Fb", "a~b", "a~007Eb", "a_b", "a+b", "a b", "a\\u002fb"]
        await stored_apart_or_refused(storage, ids)

    @clause()
    async def test_ids_that_mean_something_to_a_system_are_stored_apart_or_refused(self, storage: Storage) -> None:
        """Device names, hidden names, names of a backend's own files, patterns of a query."""
        ids = ["CON", "nul", ".hidden", "_no-cwd", "-rf", "a.jsonl", "%", "_", "*", "'; --", "0", "00", "1", "1.0"]
        await stored_apart_or_refused(storage, ids)

    @clause()
    async def test_an_id_that_is_refused_leaves_nothing(self, storage: Storage) -> None:
        """Reading and listing after a refusal find no trace of it."""
        for text in ("\x00", "/", "a" * 5_000):
            async with storage.open() as persistence:
                try:
                    await persistence.create(header(text))
                except InvalidSessionId:
                    assert await persistence.list() == []
                else:
                    assert not await is_stored(storage, sid(text))
