"""Options of the coordinator."""

import math

import pytest

from dsh_session_persistence import MemoryPersistence


@pytest.mark.parametrize(
    "option",
    [
        {"max_open_sessions": 0},
        {"max_open_sessions": None},
        {"max_pending_bytes": -1},
        {"max_pending_bytes": "8 MiB"},
        {"write_batch_max_delay_ms": math.nan},
        {"write_batch_max_delay_ms": math.inf},
        {"write_batch_max_delay_ms": True},
    ],
    ids=str,
)
def test_an_option_that_makes_no_sense_is_refused_where_it_is_given(option):
    """Later it would fail in a callback that nobody waits for."""
    (name,) = option
    with pytest.raises(ValueError, match=name):
        MemoryPersistence(**option)


def test_the_least_values_are_taken():
    """No window, no buffer and one open session are a use, not a mistake."""
    MemoryPersistence(write_batch_max_delay_ms=0, max_pending_bytes=0, max_open_sessions=1)
