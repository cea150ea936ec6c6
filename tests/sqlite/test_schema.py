"""The database as other programs find it, and the settings that make it durable."""

import os
import sqlite3
import stat
from contextlib import closing

import pytest

from dsh_session import UnsupportedVersion
from dsh_session_persistence import StorageFailure
from dsh_session_persistence.testing import backend_of
from dsh_session_persistence.testing.samples import Log, header, sid, turns
from dsh_session_persistence.testing.scenes import listed, load_fresh, read_fresh, store_log
from dsh_session_persistence_sqlite import SqlitePersistence, UnsupportedSchema, schema
from dsh_session_persistence_sqlite.schema import open_writer

SESSIONS = ["id", "version", "created_at", "cwd", "parent_session", "seed_length"]
EVENTS = ["session_id", "seq", "type", "time", "data", "source_event_seqs", "surface_op"]


def _rows(path, statement):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def test_the_tables_are_those_of_the_format(sqlite_storage, run):
    """Every implementation of the format reads the same columns."""
    run(store_log(sqlite_storage, turns()))
    assert [row[1] for row in _rows(sqlite_storage.path, "PRAGMA table_info(sessions)")] == SESSIONS
    assert [row[1] for row in _rows(sqlite_storage.path, "PRAGMA table_info(events)")] == EVENTS
    tables = _rows(sqlite_storage.path, "SELECT name, strict FROM pragma_table_list WHERE schema = 'main'")
    assert {name: strict for name, strict in tables if not name.startswith("sqlite_")} == {
        "sessions": 1,
        "events": 1,
    }
    assert _rows(sqlite_storage.path, "PRAGMA user_version") == [(4,)]


def test_a_session_is_a_row_and_an_event_is_a_row(sqlite_storage, run):
    """What is stored can be read with SQL, and is the event's own JSON."""
    log = Log().turn_start().user("hi").add("note", {"b": 1, "a": [2.5]}, source_event_seqs=[0, 1]).turn_end()
    head = header(cwd="/one", parent_session="other", seed_length=2, created_at=7)
    run(store_log(sqlite_storage, log.events, head))
    assert _rows(sqlite_storage.path, "SELECT * FROM sessions") == [("sample", 0, 7, "/one", "other", 2)]
    rows = _rows(sqlite_storage.path, "SELECT * FROM events ORDER BY seq")
    assert [row[1] for row in rows] == [0, 1, 2, 3]
    assert rows[1][2] == "user/message"
    assert rows[1][5:] == (None, '"append"')
    assert rows[2][4:] == ('{"b":1,"a":[2.5]}', "[0,1]", None)
    assert rows[3][5:] == (None, None)


def test_lone_surrogates_survive(sqlite_storage, run):
    """SQLite's text is UTF-8, which cannot carry them: JSON escapes do, and a path's bytes do."""
    log = Log().turn_start().user("\ud83d").turn_end()
    head = header(cwd="/x\udc80", parent_session="p\ud800")
    run(store_log(sqlite_storage, log.events, head))
    stored = run(load_fresh(sqlite_storage, sid("sample")))
    assert stored.header == head
    assert list(stored.events) == log.events
    assert run(listed(sqlite_storage)) == [head]
    ((data,),) = _rows(sqlite_storage.path, "SELECT data FROM events WHERE seq = 1")
    assert "\\ud83d" in data


@pytest.mark.parametrize("version", [1, 3, 5, 99])
def test_another_schema_version_is_refused_by_name(sqlite_storage, run, version):
    """A build must not write into tables that it does not know."""
    run(store_log(sqlite_storage, turns()))
    _rows(sqlite_storage.path, f"PRAGMA user_version = {version}")
    before = sqlite_storage.path.read_bytes()

    async def scenario():
        for call in (
            lambda persistence: persistence.list(),
            lambda persistence: persistence.load(sid("sample")),
            lambda persistence: persistence.read(sid("sample")),
        ):
            async with sqlite_storage.open() as persistence:
                with pytest.raises(UnsupportedSchema) as caught:
                    await call(persistence)
            assert (caught.value.found, caught.value.supported) == (version, 4)
            assert caught.value.path == str(sqlite_storage.path)
            assert isinstance(caught.value, UnsupportedVersion)

    run(scenario())
    assert sqlite_storage.path.read_bytes() == before


def test_another_programs_database_is_left_alone(sqlite_storage, run):
    """A path that was mistyped costs nobody a table."""
    _rows(sqlite_storage.path, "CREATE TABLE theirs (x)")
    before = sqlite_storage.path.read_bytes()

    async def scenario():
        async with sqlite_storage.open() as persistence:
            with pytest.raises(UnsupportedSchema):
                await persistence.list()
        backend = backend_of(sqlite_storage.open())
        with pytest.raises(UnsupportedSchema):
            await backend.append_batch(header(), turns(), materialized=False)
        await backend.close()

    run(scenario())
    assert sqlite_storage.path.read_bytes() == before


def test_a_file_that_is_no_database_is_a_failure_of_storage(sqlite_storage, run):
    """The driver's error does not leak."""
    sqlite_storage.path.write_bytes(b"no database, but long enough to look like one" * 100)

    async def scenario():
        async with sqlite_storage.open() as persistence:
            with pytest.raises(StorageFailure) as caught:
                await persistence.list()
            assert isinstance(caught.value.cause, sqlite3.DatabaseError)

    run(scenario())


@pytest.mark.parametrize(("mode", "level"), [("wal", 2), ("truncate", 2), ("persist", 2), ("delete", 3)])
def test_the_writers_settings_are_durable(tmp_path, mode, level):
    """FULL syncs each commit; a deleted journal needs EXTRA, which syncs its folder."""
    with closing(open_writer(str(tmp_path / "db"), mode)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == (mode,)
        assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
        assert connection.execute("PRAGMA journal_size_limit").fetchone()[0] > 0
        assert connection.execute("PRAGMA busy_timeout").fetchone()[0] >= 1_000


def test_a_setting_that_sqlite_ignores_is_noticed(monkeypatch, tmp_path):
    """SQLite answers a pragma that it does not support with silence."""
    monkeypatch.setattr(schema, "_SYNCHRONOUS", {"FULL": 9, "EXTRA": 9})
    with pytest.raises(sqlite3.OperationalError):
        open_writer(str(tmp_path / "db"), "wal")


@pytest.mark.parametrize("mode", ["off", "memory", "WAL", ""])
def test_a_journal_that_would_lose_data_cannot_be_chosen(tmp_path, mode):
    """An acknowledgement must mean something in every mode."""
    with pytest.raises(ValueError, match="journal_mode"):
        SqlitePersistence(tmp_path / "db", journal_mode=mode)


@pytest.mark.parametrize("mode", ["wal", "delete", "truncate", "persist"])
def test_every_journal_mode_stores_and_loads(sqlite_storage, run, mode):
    """The mode is a choice of durability's price, not of features."""
    sqlite_storage.journal_mode = mode
    run(store_log(sqlite_storage, turns()))
    assert list(run(load_fresh(sqlite_storage, sid("sample"))).events) == turns()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277])
def test_files_are_private_whatever_the_umask(tmp_path, run, umask):
    """A conversation is nobody else's: nor its journal, its locks, its folder."""
    persistence = SqlitePersistence(tmp_path / "new" / "sessions.db")

    async def scenario():
        async with persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), turns())
            return {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}

    before = os.umask(umask)
    try:
        modes = run(scenario())
    finally:
        os.umask(before)
    assert {"sessions.db", "sessions.db-wal", "sessions.db-locks", "writer.lock"} <= set(modes)
    assert modes.pop("new") == modes.pop("sessions.db-locks") == 0o700
    assert set(modes.values()) == {0o600}


def test_closing_empties_the_write_ahead_log(sqlite_storage, run):
    """A database that is copied after a clean exit is whole."""

    async def scenario():
        async with sqlite_storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), turns(50))
            assert sqlite_storage.path.with_name("sessions.db-wal").stat().st_size > 0

    run(scenario())
    wal = sqlite_storage.path.with_name("sessions.db-wal")
    assert not wal.exists() or wal.stat().st_size == 0


def test_reading_creates_no_database(sqlite_storage, run):
    """Listing and looking are no reason for a file."""
    assert run(listed(sqlite_storage)) == []

    async def scenario():
        async with sqlite_storage.open() as persistence:
            await persistence.create(header())

    run(scenario())
    assert not sqlite_storage.path.exists()


def test_the_path_is_made_absolute_once(tmp_path, monkeypatch, run):
    """A process that changes its folder keeps its sessions."""
    monkeypatch.chdir(tmp_path)
    persistence = SqlitePersistence("sessions.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    async def scenario():
        async with persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), turns())

    run(scenario())
    assert (tmp_path / "sessions.db").exists()


@pytest.mark.parametrize("name", ["a?mode=memory", "a#b", "a%20b", "a b", "\N{GRINNING FACE}.db"])
def test_a_path_is_a_path_and_no_address(tmp_path, run, name):
    """Characters that mean something in a URI mean nothing here."""
    persistence = SqlitePersistence(tmp_path / name)

    async def scenario():
        async with persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), turns())
            return [head.id for head in await persistence.list()]

    assert run(scenario()) == ["sample"]
    assert (tmp_path / name).exists()


def test_a_network_file_system_gets_a_rollback_journal(sqlite_storage, run, monkeypatch, caplog):
    """A write-ahead log needs shared memory, which two machines do not have; the log says what was chosen."""
    monkeypatch.setattr(schema, "network_file_system", lambda _: "nfs4")
    run(store_log(sqlite_storage, turns()))
    assert _rows(sqlite_storage.path, "PRAGMA journal_mode") == [("delete",)]
    assert "nfs4" in caplog.text
    assert len(run(read_fresh(sqlite_storage, sid("sample"))).events) == len(turns())


def test_an_address_without_a_path_is_refused():
    """`sqlite:` alone would be a file with an empty name."""
    with pytest.raises(ValueError, match="sqlite:"):
        SqlitePersistence.from_url("")
    with pytest.raises(ValueError, match="memory:"):
        SqlitePersistence.from_url(":memory:")


@pytest.mark.parametrize("name", ["a\0b", "a\ud83d"])
def test_a_path_that_no_file_system_takes_is_refused_at_construction(tmp_path, name):
    """Whoever wrote it is there; a first flush, long after, would fail with an error of the interpreter."""
    with pytest.raises(ValueError, match=r"NUL|surrogates"):
        SqlitePersistence(str(tmp_path / name))
