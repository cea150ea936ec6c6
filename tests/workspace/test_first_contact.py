"""Four ways to meet the project for the first time, each a script that does only what the pages say."""

import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "first_contact"
pytestmark = pytest.mark.slow


def test_an_rfc_is_written_and_gets_through_the_gates(clone, locked, tmp_path, execute):
    """The first thing that a contributor tries."""
    env = {"CLONE": str(clone), "PROGRAMS": str(locked.programs)}
    execute("bash", SCRIPTS / "write-an-rfc.sh", cwd=tmp_path, env=env).ok()


def test_the_site_is_published_from_a_clone(clone, tmp_path, execute):
    """The first thing that a reader with a web server tries."""
    python = Path(sys.base_prefix) / "bin" / "python3"
    if execute(python, "-m", "pip", "--version", cwd=tmp_path).code:
        pytest.skip(f"{python} has no pip, which is what a clone needs")
    env = {"CLONE": str(clone), "PYTHON": str(python)}
    execute("bash", SCRIPTS / "publish-the-site.sh", cwd=tmp_path, env=env).ok()


def test_a_wheel_is_installed_and_a_session_persisted(repository, dist, tmp_path, execute):
    """The first thing that a user tries."""
    env = {"CLONE": str(repository), "DIST": str(dist), "PYTHON": sys.executable}
    execute("bash", SCRIPTS / "persist-a-session.sh", cwd=tmp_path, env=env).ok()


def test_a_backend_is_written_and_held_to_the_contract(repository, dist, tmp_path, execute):
    """The first thing that someone with another database tries."""
    env = {"CLONE": str(repository), "DIST": str(dist), "PYTHON": sys.executable}
    execute("bash", SCRIPTS / "write-a-backend.sh", cwd=tmp_path, env=env).ok()
