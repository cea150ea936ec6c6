"""`open_persistence` finds backends by scheme."""

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from dsh_session_persistence import MemoryPersistence, PersistenceUnavailable, open_persistence, url
from dsh_session_persistence_jsonl import JsonlPersistence
from dsh_session_persistence_sqlite import SqlitePersistence


@pytest.mark.parametrize(
    ("scheme", "kind"),
    [("memory", MemoryPersistence), ("jsonl", JsonlPersistence), ("sqlite", SqlitePersistence)],
)
def test_a_scheme_names_a_backend(scheme, kind, tmp_path):
    """A configuration file holds one string; opening it touches nothing."""
    rest = "" if scheme == "memory" else str(tmp_path / "logs")
    assert type(open_persistence(f"{scheme}:{rest}")) is kind
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["postgres:db", "no scheme", "", ":x"])
def test_an_unknown_scheme_names_those_installed(text):
    """The reader sees what would have worked."""
    with pytest.raises(PersistenceUnavailable, match="jsonl:, memory:, sqlite:"):
        open_persistence(text)


def test_a_backend_of_a_third_party_is_found(monkeypatch):
    """An entry point is all that a distribution needs."""
    found = EntryPoints([EntryPoint("third", "dsh_session_persistence:MemoryPersistence", url.BACKEND_GROUP)])
    monkeypatch.setattr(url, "entry_points", lambda **_: found)
    assert isinstance(open_persistence("third:"), MemoryPersistence)
