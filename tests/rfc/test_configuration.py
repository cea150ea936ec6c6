"""The contract as a repository overrides it."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from dsh_rfc.configuration import find_repository, overlay
from dsh_rfc.contract import Contract
from dsh_rfc.errors import ContractInvalid, RecordMissing


def test_nothing_overridden_is_the_default_contract():
    """The defaults are this project's own contract."""
    assert overlay({}, source="x") == Contract()


def test_a_key_is_laid_over_the_defaults_and_the_rest_stays():
    """A repository states what differs, and no more."""
    contract = overlay(
        {
            "root": "adr",
            "alternatives-since": "2020-01-01",
            "lifecycle": {"implemented": {"required": ["Decision"]}},
        },
        source="x",
    )
    assert contract.root == "adr"
    assert contract.alternatives_since == date(2020, 1, 1)
    assert contract.of("implemented").required == ("Decision",)
    assert contract.of("implemented").banned == Contract().of("implemented").banned
    assert contract.of("proposed") == Contract().of("proposed")


def test_other_lifecycles_can_be_declared():
    """The set is closed, and the repository's to choose."""
    contract = overlay(
        {"lifecycles": ["draft", "accepted"], "lifecycle": {"draft": {"status": "in draft", "reason": True}}},
        source="x",
    )
    assert contract.status_form("draft") == "Status: in draft — <why, in one line>"
    assert contract.status_form("accepted") == "Status: accepted"


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ({"lifecycels": ["a"]}, ["lifecycels", "['a']", "did you mean 'lifecycles'", "classes"]),
        ({"alternatives_since": "2020-01-01"}, ["alternatives_since", "did you mean 'alternatives-since'"]),
        ({"classes": "feature"}, ["classes", "'feature'", "must be a list"]),
        ({"classes": ["Feature"]}, ["classes.0", "'Feature'", "lower-case"]),
        ({"classes": []}, ["classes", "at least one"]),
        ({"classes": ["a", "a"]}, ["classes.1", "twice"]),
        ({"alternatives-since": "2020-13-01"}, ["alternatives-since", "'2020-13-01'"]),
        ({"max-file-bytes": -1}, ["max-file-bytes", "-1", "positive"]),
        ({"root": "../elsewhere"}, ["root", "below the repository"]),
        ({"root": "/abs"}, ["root", "below the repository"]),
        ({"index": "README.md"}, ["index", "curated"]),
        ({"curated": "x/README.txt"}, ["curated", ".md"]),
        ({"lifecycle": {"implementd": {"required": []}}}, ["lifecycle.implementd", "did you mean 'implemented'"]),
        ({"lifecycle": {"proposed": {"requird": []}}}, ["lifecycle.proposed.requird", "did you mean 'required'"]),
        ({"lifecycle": {"proposed": 3}}, ["lifecycle.proposed", "3", "must be a table"]),
        ({"pairs-required": {"a": 1}}, ["pairs-required", "must be a list"]),
        ({"root": 1}, ["root = 1: must be a string"]),
        ({"generated": [{"path": "a.md"}]}, ["generated.0.renderer: this key is missing"]),
        ({"generated": [{"path": ".git/config", "renderer": "a:b"}]}, ["generated.0.path", "below the repository"]),
        ({"lifecycle": {"proposed": {"status": "implemented"}}}, ["status", "another lifecycle"]),
    ],
)
def test_a_wrong_key_is_refused_with_its_path_its_value_and_what_was_meant(
    table: dict[str, object], parts: list[str]
):
    """Whoever mistyped a key should not have to read our source."""
    with pytest.raises(ContractInvalid) as raised:
        overlay(table, source="the file")
    assert raised.value.source == "the file"
    assert all(part in str(raised.value) for part in parts), str(raised.value)


def test_every_fault_is_named_at_once():
    """Mending one by one is a run for each."""
    with pytest.raises(ContractInvalid) as raised:
        overlay({"rot": "x", "clases": []}, source="x")
    assert len(raised.value.faults) == 2


def test_the_nearest_configuration_upwards_governs(tmp_path: Path):
    """One may stand anywhere in the repository."""
    (tmp_path / "dsh-rfc.toml").write_text('root = "adr"\n')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text('[project]\nname = "member-of-dsh-rfc"\n')
    found = find_repository(inner)
    assert found.folder == tmp_path
    assert found.contract.root == "adr"


def test_the_table_in_pyproject_governs(tmp_path: Path):
    """Most repositories keep their tools there."""
    (tmp_path / "pyproject.toml").write_text('[tool.dsh-rfc]\nroot = "adr"\n')
    assert find_repository(tmp_path).contract.root == "adr"


def test_two_configurations_are_refused(tmp_path: Path):
    """One of them would be ignored in silence."""
    (tmp_path / "pyproject.toml").write_text('[tool.dsh-rfc]\nroot = "adr"\n')
    (tmp_path / "dsh-rfc.toml").write_text('root = "rfc"\n')
    with pytest.raises(ContractInvalid):
        find_repository(tmp_path)


@pytest.mark.parametrize("text", ["root = \n", 'root = "\udce4"', f"a = {'[' * 5000}"])
def test_a_configuration_that_cannot_be_read_is_named(tmp_path: Path, text: str):
    """The message names the file, the parser the place."""
    (tmp_path / "dsh-rfc.toml").write_bytes(text.encode("utf-8", errors="surrogateescape"))
    with pytest.raises(ContractInvalid) as raised:
        find_repository(tmp_path)
    assert raised.value.source.endswith("dsh-rfc.toml")


def test_a_table_that_is_no_table_is_refused(tmp_path: Path):
    """`dsh-rfc = 3` under [tool] configures nothing."""
    (tmp_path / "pyproject.toml").write_text("[tool]\ndsh-rfc = 3\n")
    with pytest.raises(ContractInvalid):
        find_repository(tmp_path)


@pytest.mark.parametrize("name", ["dsh_rfc", "DSH-RFC", "dshrfc"])
def test_a_table_whose_name_is_nearly_ours_is_refused(tmp_path: Path, name: str):
    """It would be passed over in silence, and the default contract would govern."""
    (tmp_path / "pyproject.toml").write_text(f'[tool.{name}]\nroot = "adr"\n')
    with pytest.raises(ContractInvalid, match=r"did you mean \[tool\.dsh-rfc\]"):
        find_repository(tmp_path)


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("nowhere.toml")])
def test_a_configuration_that_is_no_file_is_refused(tmp_path: Path, make: Callable[[Path], None]):
    """Somebody meant to configure something, and the default contract is something else."""
    make(tmp_path / "dsh-rfc.toml")
    with pytest.raises(ContractInvalid):
        find_repository(tmp_path)


def test_a_byte_order_mark_before_the_configuration_does_not_count(tmp_path: Path):
    """Some editors write one and none of them shows it."""
    (tmp_path / "dsh-rfc.toml").write_text('root = "adr"\n', encoding="utf-8-sig")
    assert find_repository(tmp_path).contract.root == "adr"


def test_a_folder_in_no_repository_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Judging the root of the file system is nobody's wish."""
    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setattr(Path, "is_dir", lambda _: False)
    with pytest.raises(RecordMissing):
        find_repository(tmp_path)
