"""The pure judgements that every backend shares."""

import pytest

from dsh_session_persistence import CorruptSession, StoredPrefix
from dsh_session_persistence.recovery import (
    Unreadable,
    check_header,
    check_sequence,
    judge_unreadable,
    plan_repair,
)
from dsh_session_persistence.testing.samples import Log, header, sid, turns


def test_an_unreadable_record_at_the_end_is_torn():
    """Nothing follows it, so nothing is lost by cutting it."""
    assert judge_unreadable(sid("a"), Unreadable(reason="?"), readable_before=3, records_after=0) is None


def test_an_unreadable_record_that_something_follows_is_corruption():
    """The error says where, in the terms of the medium."""
    with pytest.raises(CorruptSession) as caught:
        judge_unreadable(
            sid("a"), Unreadable(reason="?", offset_bytes=77, row=3), readable_before=3, records_after=1
        )
    assert (caught.value.session_id, caught.value.seq) == ("a", 3)
    assert (caught.value.offset_bytes, caught.value.row) == (77, 3)


@pytest.mark.parametrize(
    ("picked", "seq"),
    [([1, 2], 0), ([0, 2], 1), ([0, 1, 1], 2), ([1, 0], 0)],
    ids=["late start", "gap", "repetition", "disorder"],
)
def test_a_log_out_of_sequence_is_corruption(picked, seq):
    """The seq that was due is named."""
    events = turns()
    with pytest.raises(CorruptSession) as caught:
        check_sequence(sid("a"), [events[index] for index in picked])
    assert caught.value.seq == seq


def test_a_header_of_another_session_is_corruption():
    """A copied file is not the session that it was copied over."""
    check_header(sid("a"), header("a"))
    with pytest.raises(CorruptSession):
        check_header(sid("a"), header("b"))


def test_a_balanced_untorn_log_needs_no_repair():
    """Loading it writes nothing."""
    assert not plan_repair(StoredPrefix(header=header(), events=turns()))


def test_a_torn_tail_alone_is_a_repair():
    """A marker of zero is a place to cut, not the absence of one."""
    repair = plan_repair(StoredPrefix(header=header(), events=turns(), torn_marker=0))
    assert repair
    assert (repair.torn_marker, list(repair.closers)) == (0, [])


def test_an_open_turn_alone_is_a_repair():
    """The closers follow what is stored."""
    log = Log().turn_start().step_start()
    repair = plan_repair(StoredPrefix(header=header(), events=log.events))
    assert repair
    assert [event.seq for event in repair.closers] == [2, 3]
