"""Every clause can fail: for each there is a mutant that it catches."""

import asyncio
import inspect
import logging
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from dsh_session_persistence.testing import CoordinatorContract, MemoryStorage, PersistenceContract
from dsh_session_persistence.testing.clause import clauses_of
from dsh_session_persistence.testing.mutants import MUTANTS


class Contract(PersistenceContract, CoordinatorContract):
    """Both contracts, with little patience for what hangs."""

    time_limit_s = 1.0


CLAUSES = clauses_of(Contract)


def run_clause(name, make_storage):
    """Run one clause as pytest would, in this process."""
    method = getattr(Contract(), name)
    if "request" in inspect.signature(method).parameters:
        method(SimpleNamespace(getfixturevalue=lambda _: make_storage()))
    else:
        method(make_storage())


def outcome_of(name, make_storage):
    """Return what a clause raises, or None if it passes."""
    try:
        run_clause(name, make_storage)
    except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001 - the outcome is the result
        return error
    return None


@pytest.fixture(autouse=True)
def quiet(caplog):
    """Mutants log what they do wrong."""
    caplog.set_level(logging.CRITICAL, "dsh_session_persistence")
    logging.getLogger("dsh_session_persistence").setLevel(logging.NOTSET)


def test_every_clause_has_a_mutant():
    """A clause without a mutant has never been seen to fail."""
    assert sorted(set(CLAUSES) - set(MUTANTS)) == []


def test_every_mutant_belongs_to_a_clause():
    """A mutant of a clause that was renamed proves nothing any more."""
    assert sorted(set(MUTANTS) - set(CLAUSES)) == []


def test_no_clause_is_defined_twice():
    """Two topics with one clause name would hide one of them."""
    names = [name for part in Contract.__mro__ for name in vars(part) if name.startswith("test_")]
    assert len(names) == len(set(names)) == len(CLAUSES)


@pytest.mark.parametrize("name", CLAUSES)
def test_a_clause_has_a_name_and_a_reason(name):
    """What a clause is for is what a third party reads when it fails."""
    assert inspect.getdoc(getattr(Contract, name))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", CLAUSES)
def test_a_clause_catches_its_mutant(name):
    """The check can fail, for the reason that it is there for."""
    error = outcome_of(name, MUTANTS[name])
    assert error is not None, f"{MUTANTS[name]} passes"
    assert not isinstance(error, pytest.skip.Exception)
    assert not isinstance(error, (TypeError, AttributeError, NameError)), repr(error)


SAMPLE = """
import pytest
from dsh_session_persistence.testing import CoordinatorContract, PersistenceContract
from dsh_session_persistence.testing.mutants import MUTANTS

class TestMutant(PersistenceContract, CoordinatorContract):
    @pytest.fixture
    def storage(self):
        return MUTANTS["{name}"]()
"""


@pytest.mark.parametrize(
    "name",
    ["test_a_gap_within_a_batch_is_refused", "test_the_contract_is_not_skipped_as_a_whole"],
)
def test_a_run_of_the_contract_on_a_mutant_fails(name, tmp_path):
    """What a third party sees is the exit code of the whole run, and which clause it was, with the values."""
    (tmp_path / "test_sample.py").write_text(SAMPLE.format(name=name), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [*command, "-k", f"{name} or header_field", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"FAILED test_sample.py::TestMutant::{name}" in done.stdout


def test_a_clause_reports_what_nobody_observed():
    """An error that only the loop's handler sees fails the clause that caused it."""
    from dsh_session_persistence.testing.clause import clause

    class Sample:
        time_limit_s = 5.0

        @clause()
        async def test_it(self, storage):
            """Say something to the handler."""
            asyncio.get_running_loop().call_exception_handler({"message": "unobserved"})

    with pytest.raises(AssertionError):
        Sample().test_it(MemoryStorage())
