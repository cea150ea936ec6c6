"""What a user finds on the disk: modes, links, leftovers, damaged neighbours."""

import os
import stat

import pytest

from dsh_session_persistence import SessionNotFound, StorageFailure
from dsh_session_persistence.testing.samples import header, sid, turns
from dsh_session_persistence.testing.scenes import listed, load_fresh, read_fresh, store_log
from dsh_session_persistence_jsonl.disk import Disk
from dsh_session_persistence_jsonl.layout import folder_name


def _mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o177, 0o277])
def test_files_and_folders_are_private_whatever_the_umask(jsonl_storage, run, umask):
    """A conversation is nobody else's, and its owner can always read it."""
    before = os.umask(umask)
    try:
        run(store_log(jsonl_storage, turns(), header(cwd="/one")))
    finally:
        os.umask(before)
    path = jsonl_storage.path(sid("sample"))
    assert _mode(path) == 0o600
    assert _mode(path.parent) == _mode(jsonl_storage.root) == 0o700


def test_a_folder_that_exists_keeps_its_mode(jsonl_storage, run):
    """A root that was opened to a group on purpose stays open."""
    jsonl_storage.root.mkdir(mode=0o750)
    jsonl_storage.root.chmod(0o750)
    run(store_log(jsonl_storage, turns()))
    assert _mode(jsonl_storage.root) == 0o750


def test_a_file_holds_the_header_and_a_line_for_each_event(jsonl_storage, run):
    """The file is the format, with nothing of our own in it."""
    run(store_log(jsonl_storage, turns()))
    lines = [header().line, *(event.line for event in turns())]
    assert jsonl_storage.path(sid("sample")).read_bytes() == b"\n".join(lines) + b"\n"
    assert [path.name for path in jsonl_storage.root.rglob("*") if path.is_file()] == ["sample.jsonl"]


def test_a_linked_folder_is_not_followed(jsonl_storage, run, tmp_path):
    """A link must not lead out of the root: not to read, not to list, not to write."""
    outside = tmp_path / "outside"
    jsonl_storage.root.mkdir()
    run(store_log(jsonl_storage, turns(), header(cwd="/one")))
    folder = jsonl_storage.root / folder_name("/one")
    folder.rename(outside)
    folder.symlink_to(outside, target_is_directory=True)
    before = (outside / "sample.jsonl").read_bytes()

    async def scenario():
        assert await listed(jsonl_storage) == []
        with pytest.raises(SessionNotFound):
            await load_fresh(jsonl_storage, sid("sample"))
        async with jsonl_storage.open() as persistence:
            await persistence.create(header("other", cwd="/one"))
            with pytest.raises(StorageFailure):
                await persistence.append(sid("other"), turns())

    run(scenario())
    assert [path.name for path in outside.iterdir()] == ["sample.jsonl"]
    assert (outside / "sample.jsonl").read_bytes() == before


def test_a_linked_file_is_not_followed(jsonl_storage, run, tmp_path):
    """A link in the place of a log is no log."""
    run(store_log(jsonl_storage, turns()))
    path = jsonl_storage.path(sid("sample"))
    outside = tmp_path / "outside.jsonl"
    path.rename(outside)
    path.symlink_to(outside)
    before = outside.read_bytes()

    async def scenario():
        assert await listed(jsonl_storage) == []
        for reading in (load_fresh, read_fresh):
            with pytest.raises(StorageFailure):
                await reading(jsonl_storage, sid("sample"))

    run(scenario())
    assert outside.read_bytes() == before


def test_a_pipe_in_the_place_of_a_log_holds_nobody_up(jsonl_storage, run):
    """Opening a pipe would wait for a writer for ever."""
    run(store_log(jsonl_storage, turns()))
    path = jsonl_storage.path(sid("sample"))
    path.unlink()
    os.mkfifo(path)

    async def scenario():
        assert await listed(jsonl_storage) == []
        with pytest.raises(StorageFailure):
            await load_fresh(jsonl_storage, sid("sample"))

    run(scenario())


def test_damaged_neighbours_are_left_out_of_the_list(jsonl_storage, run, caplog):
    """One bad file does not hide the sessions beside it, and does not go unsaid."""
    run(store_log(jsonl_storage, turns(), header("good")))
    folder = jsonl_storage.path(sid("good")).parent
    (folder / "no-header.jsonl").write_bytes(b"{}\n{}\n")
    (folder / "version.jsonl").write_bytes(b'{"type":"session","version":9,"id":"version","createdAt":0}\n{}\n')
    (folder / "foreign.jsonl").write_bytes(header("else").line + b"\n" + turns()[0].line + b"\n")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "bare.jsonl").write_bytes(header("bare").line + b"\n")
    (folder / "torn.jsonl").write_bytes(header("torn").line + b'\n{"type":"turn/st')
    (folder / "nul.jsonl").write_bytes(header("nul").line + b"\n" + bytes(64) + b"\n")
    (folder / "notes.txt").write_bytes(b"not a session")
    (folder / "folder.jsonl").mkdir()
    assert [head.id for head in run(listed(jsonl_storage))] == ["good"]
    for name in ("no-header", "version", "foreign"):
        assert f"{name}.jsonl" in caplog.text


def test_a_header_longer_than_the_first_read_is_listed(jsonl_storage, run):
    """A deep working directory does not hide its sessions, nor does a long first event."""
    long = header("long", cwd="/" + "deep/" * 4_000)
    run(store_log(jsonl_storage, turns(), long))
    assert run(listed(jsonl_storage)) == [long]


def test_the_list_is_sorted_by_time_then_id(jsonl_storage, run):
    """The order of a folder's entries is no order."""
    for name, created_at in (("b", 5), ("a", 5), ("c", 1)):
        run(store_log(jsonl_storage, turns(), header(name, created_at=created_at)))
    assert [head.id for head in run(listed(jsonl_storage))] == ["c", "a", "b"]


def test_the_temporary_file_of_a_dead_writer_is_swept(jsonl_storage, run):
    """A crash during the first write leaves no litter for ever; a living writer's file stays."""
    folder = jsonl_storage.root / "_no-cwd"
    folder.mkdir(parents=True)
    dead, living = folder / ".new-dead", folder / ".new-living"
    dead.write_bytes(b"half a hea")
    living.write_bytes(b"half a hea")
    fd = os.open(living, os.O_RDWR)
    try:
        assert Disk().lock(fd)
        run(store_log(jsonl_storage, turns()))
        assert sorted(path.name for path in folder.iterdir()) == [".new-living", "sample.jsonl"]
    finally:
        os.close(fd)


def test_a_reader_leaves_no_trace(jsonl_storage, run):
    """Reading and listing change neither bytes nor names."""
    run(store_log(jsonl_storage, turns()))
    jsonl_storage.tear(sid("sample"))
    path = jsonl_storage.path(sid("sample"))
    before = path.read_bytes(), path.stat().st_mtime_ns, sorted(jsonl_storage.root.rglob("*"))
    run(read_fresh(jsonl_storage, sid("sample")))
    run(listed(jsonl_storage))
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(jsonl_storage.root.rglob("*"))) == before
