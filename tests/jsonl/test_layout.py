"""Names of folders and files."""

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_session import InvalidSessionId
from dsh_session_persistence import CorruptSession, SessionExists, SessionNotFound
from dsh_session_persistence.testing.samples import header, sid, turns
from dsh_session_persistence.testing.scenes import load_fresh, store_log
from dsh_session_persistence_jsonl import JsonlBackend, JsonlPersistence
from dsh_session_persistence_jsonl.layout import encode_id, folder_name


@pytest.mark.parametrize(
    ("session_id", "name"),
    [
        ("7f13d6e6-f881-4a29-b399-b085fbaca9a3", "7f13d6e6-f881-4a29-b399-b085fbaca9a3"),
        ("A.b_c-9", "A.b_c-9"),
        (".", "~002E"),
        ("..", "~002E~002E"),
        ("...", "..."),
        (".hidden", ".hidden"),
        ("../x", "..~002Fx"),
        ("/etc/x", "~002Fetc~002Fx"),
        ("a\x00b", "a~0000b"),
        ("a\nb", "a~000Ab"),
        ("~", "~007E"),
        ("~002F", "~007E002F"),
        ("{{sessionId}}", "~007B~007BsessionId~007D~007D"),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}", "~00E9"),
        ("\N{GRINNING FACE}", "~D83D~DE00"),
        ("C:\\x", "C~003A~005Cx"),
    ],
)
def test_an_id_is_encoded_by_utf16_code_unit(session_id, name):
    """Every implementation of the format must find the same file."""
    assert encode_id(session_id) == name


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        (None, "_no-cwd"),
        ("/", "cwd-8a5edab28263"),
        ("/home/me/project", "cwd-225df3094012"),
        ("/t\N{LATIN SMALL LETTER E WITH ACUTE}", "cwd-3a70a38b0144"),
    ],
)
def test_a_cwd_is_named_by_twelve_digits_of_its_hash(cwd, name):
    """Every implementation of the format must look into the same folder."""
    assert folder_name(cwd) == name


@given(st.text(min_size=1), st.text(min_size=1))
def test_different_ids_have_different_safe_names(first, second):
    """Two sessions never share a file, and no id leaves its folder."""
    names = encode_id(first), encode_id(second)
    assert (names[0] == names[1]) == (first == second)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9._~-]+", name)
        assert name not in {".", ".."}


async def _create(storage, head, events=None):
    async with storage.open() as persistence:
        await persistence.create(head)
        await persistence.append(head.id, turns() if events is None else events)


def test_a_name_beyond_the_limit_of_the_file_system_is_refused_at_create(jsonl_storage, run):
    """Nobody learns at the first flush that a session can never be stored."""

    async def scenario():
        async with jsonl_storage.open() as persistence:
            await persistence.create(header("a" * 249))
            await persistence.append(sid("a" * 249), turns())
            with pytest.raises(InvalidSessionId):
                await persistence.create(header("a" * 250))
            with pytest.raises(InvalidSessionId):
                await persistence.create(header("/" * 50))

    run(scenario())


def test_a_file_with_lower_case_digits_is_found_too(jsonl_storage, run):
    """The case of the digits is a choice of its writer."""
    run(store_log(jsonl_storage, turns(), header("a/b")))
    path = jsonl_storage.path(sid("a/b"))
    path.rename(path.with_name("a~002fb.jsonl"))

    async def scenario():
        async with jsonl_storage.open() as persistence:
            assert [head.id for head in await persistence.list()] == ["a/b"]
            assert len((await persistence.load(sid("a/b"))).events) == len(turns())
            with pytest.raises(SessionExists):
                await persistence.create(header("a/b"))

    run(scenario())


def test_an_id_is_refused_where_another_folder_has_it(jsonl_storage, run):
    """An id names one session, whatever the working directories."""
    run(_create(jsonl_storage, header(cwd="/one")))

    async def scenario():
        async with jsonl_storage.open() as persistence:
            with pytest.raises(SessionExists):
                await persistence.create(header(cwd="/two"))
        backend = JsonlBackend(jsonl_storage.root)
        with pytest.raises(SessionExists):
            await backend.append_batch(header(cwd="/two"), turns(), materialized=False)
        await backend.close()

    run(scenario())
    assert len(list(jsonl_storage.root.glob("*/*.jsonl"))) == 1


def test_an_id_that_is_stored_twice_is_ambiguous(jsonl_storage, run, caplog):
    """Choosing one of the two would lose the other."""
    run(_create(jsonl_storage, header(cwd="/one")))
    other = jsonl_storage.root / folder_name("/two")
    other.mkdir()
    (other / "sample.jsonl").write_bytes(jsonl_storage.path(sid("sample")).read_bytes())

    async def scenario():
        async with jsonl_storage.open() as persistence:
            for call in (persistence.load, persistence.read):
                with pytest.raises(CorruptSession):
                    await call(sid("sample"))
            with pytest.raises(SessionExists):
                await persistence.create(header())
            assert await persistence.list() == []

    run(scenario())
    assert "more than once" in caplog.text


def test_a_file_system_without_case_never_mixes_two_ids(jsonl_storage, run):
    """Where both names lead to one file, the second id is refused."""
    run(store_log(jsonl_storage, turns(), header("sample")))
    path = jsonl_storage.path(sid("sample"))
    os.link(path, path.with_name("SAMPLE.jsonl"))

    async def scenario():
        async with jsonl_storage.open() as persistence:
            with pytest.raises(SessionExists):
                await persistence.create(header("SAMPLE"))
            with pytest.raises(CorruptSession):
                await persistence.load(sid("SAMPLE"))

    run(scenario())


def test_the_root_is_made_absolute_once(tmp_path, monkeypatch, run):
    """A process that changes its folder keeps its sessions."""
    monkeypatch.chdir(tmp_path)
    persistence = JsonlPersistence("sessions")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    async def scenario():
        async with persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), turns())

    run(scenario())
    assert list((tmp_path / "sessions").glob("_no-cwd/sample.jsonl"))


def test_reading_creates_nothing(jsonl_storage, run):
    """Listing and looking are no reason for a folder."""

    async def scenario():
        async with jsonl_storage.open() as persistence:
            assert await persistence.list() == []
            with pytest.raises(SessionNotFound):
                await persistence.load(sid("sample"))
            await persistence.create(header())

    run(scenario())
    assert not jsonl_storage.root.exists()


def test_a_session_stays_where_it_was_found(jsonl_storage, run):
    """The folder is a place to look; what was put elsewhere is continued there."""
    run(_create(jsonl_storage, header(cwd="/one")))
    path = jsonl_storage.path(sid("sample"))
    moved = jsonl_storage.root / "_no-cwd" / path.name
    moved.parent.mkdir()
    path.rename(moved)

    async def scenario():
        async with jsonl_storage.open() as persistence:
            await persistence.append(sid("sample"), turns(2)[len(turns()) :])
        assert len((await load_fresh(jsonl_storage, sid("sample"))).events) == len(turns(2))

    run(scenario())
    assert jsonl_storage.path(sid("sample")) == moved


def test_an_address_without_a_path_is_refused():
    """`jsonl:` alone would scatter sessions over the working directory."""
    with pytest.raises(ValueError, match="jsonl:"):
        JsonlPersistence.from_url("")


@pytest.mark.parametrize("name", ["a\0b", "a\ud83d"])
def test_a_path_that_no_file_system_takes_is_refused_at_construction(tmp_path, name):
    """Whoever wrote it is there; a first flush, long after, would fail with an error of the interpreter."""
    with pytest.raises(ValueError, match=r"NUL|surrogates"):
        JsonlPersistence(str(tmp_path / name))
