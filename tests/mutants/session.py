"""Mutants of sessions: commits, journals, messages that are edited or taken back, locks."""

from tests.mutants.mutant import Mutant


def _row(rule: str, file: str, old: str, new: str, caught_by: str) -> Mutant:
    return Mutant(rule=rule, file=file, old=old, new=new, caught_by=f"integration/test_{caught_by}")


MUTANTS = (
    _row(
        "A commit that is sent again is done.",
        "daemon/session/commit.lua",
        "if done == name then",
        "if false then",
        "commit.py::test_a_commit_sent_again_after_its_reply_was_lost_is_known",
    ),
    _row(
        "What a commit answers leaves in.",
        "daemon/session/commit.lua",
        "answered[#answered + 1] = asked[place]",
        "",
        "commit.py::test_a_commit_moves_the_head_and_answers_what_it_names",
    ),
    _row(
        "A commit that answers all leaves nothing waiting.",
        "daemon/session/commit.lua",
        "if all then gone_keys[#gone_keys + 1] = waiting_key end",
        "",
        "commit.py::test_a_commit_moves_the_head_and_answers_what_it_names",
    ),
    _row(
        "Steps of a turn that is over are refused.",
        "daemon/session/journal.lua",
        "head ~= tonumber(ARGV[2])",
        "false",
        "journal.py::test_steps_that_arrive_in_the_next_turn_of_the_same_lease_change_nothing",
    ),
    _row(
        "Steps that come after later ones are refused.",
        "daemon/session/journal.lua",
        "if step ~= first then return 'stale' end",
        "",
        "journal.py::test_steps_that_arrive_after_later_ones_change_nothing",
    ),
    _row(
        "A message before a stop is neither edited nor taken back.",
        "daemon/session/waits.part.lua",
        "is_read() or is_stopped()",
        "is_read()",
        "withdrawing.py::test_commands_and_what_a_stop_ends_are_left_alone",
    ),
    _row(
        "A session in which nothing waits any more is due no more.",
        "daemon/session/withdraw.lua",
        "redis.call('ZREM', KEYS[6], ARGV[1])",
        "",
        "withdrawing.py::test_a_session_in_which_nothing_waits_any_more_has_no_deadline",
    ),
    _row(
        "A message that was taken back leaves in.",
        "daemon/session/withdraw.lua",
        "redis.call('XDEL', KEYS[1], ARGV[2])",
        "",
        "withdrawing.py::test_a_message_that_was_taken_back_is_answered_by_nobody",
    ),
    _row(
        "A lock that is further off than any can be is taken.",
        "daemon/session/lock.lua",
        " and deadline <= now + ARGV[5]",
        "",
        "locks.py::test_a_lock_taken_before_the_clock_went_back_does_not_last_for_ever",
    ),
    _row(
        "A lock that was given back is not taken by a late call.",
        "daemon/session/lock.lua",
        "released == ARGV[2] or",
        "",
        "locks.py::test_a_lock_that_was_given_back_is_not_taken_again_by_a_command_that_comes_late",
    ),
    _row(
        "Asking for the positions takes no lock.",
        "daemon/session/lock.lua",
        "or ARGV[7] ~= ''",
        "",
        "locks.py::test_a_lock_that_was_lost_is_not_taken_by_asking_for_the_positions",
    ),
    _row(
        "A session that never was has no lock.",
        "daemon/session/lock.lua",
        "if redis.call('EXISTS', KEYS[1]) == 0 then",
        "if false then",
        "locks.py::test_a_session_that_never_was_has_no_lock_and_is_not_looked_for_again",
    ),
    _row(
        "A cursor moves once, however often it is said.",
        "daemon/session/settle.lua",
        "if fields[6] == name then",
        "if false then",
        "locks.py::test_a_cursor_moves_once_however_often_it_is_said",
    ),
    _row(
        "A cursor moves from where it is.",
        "daemon/session/settle.lua",
        "tonumber(fields[1] or 0) ~= from or",
        "",
        "locks.py::test_a_cursor_never_moves_from_elsewhere_nor_back_nor_past_the_head",
    ),
    _row(
        "A cursor does not move back.",
        "daemon/session/settle.lua",
        "or to <= from",
        "",
        "locks.py::test_a_cursor_never_moves_from_elsewhere_nor_back_nor_past_the_head",
    ),
    _row(
        "A cursor does not move past the head.",
        "daemon/session/settle.lua",
        "or to > head",
        "",
        "locks.py::test_a_cursor_never_moves_from_elsewhere_nor_back_nor_past_the_head",
    ),
    _row(
        "A session that grew under the lock is signalled.",
        "daemon/session/unlock.lua",
        "and head == ARGV[3]",
        "",
        "locks.py::test_a_session_that_grew_under_the_lock_is_signalled_when_it_is_given_back",
    ),
    _row(
        "A session that was found by a sweep is not found again at once.",
        "daemon/session/sweep.lua",
        "for _, session in ipairs(found) do redis.call('ZADD', KEYS[1], now + ARGV[1], session) end",
        "",
        "locks.py::test_a_session_that_rests_is_not_signalled_and_found_when_its_time_has_come",
    ),
)
