"""What holds for all tests, in the repository as well as in a source distribution.

Tests marked `repository` judge files of the repository itself: its documents, its Makefile, its record. An sdist
brings the tests of one package and not those files, so they are skipped there.
"""

from pathlib import Path

import pytest
from hypothesis import settings

IN_REPOSITORY = (Path(__file__).parents[1] / "packages").is_dir()

# How long an example takes says how busy the machine is, and is no property of the code.
settings.register_profile("dsh", deadline=None)
settings.load_profile("dsh")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what judges the repository where there is none."""
    archived = pytest.mark.skip(reason="judges files of the repository, and this is a package's archive")
    for item in items:
        if not IN_REPOSITORY and item.get_closest_marker("repository"):
            item.add_marker(archived)
