"""Mutants of the outbox: what its leaders mark, send and show, and at which pace."""

from tests.mutants.mutant import mutants_of

_OUTBOX = "integration/test_outbox.py"
_OLD_LEADER = "test_a_leader_whose_lease_went_to_another_marks_and_buries_nothing"

MUTANTS = (
    *mutants_of(
        "channels/outbox/lua/marks.lua",
        _OUTBOX,
        (
            "A leader whose lease went to another marks nothing.",
            "redis.call('HGET', KEYS[1], 'nonce') == ARGV[1]",
            "true",
            _OLD_LEADER,
        ),
        (
            "An unknown outcome is listed.",
            "list_unknown(sent_key, step, last, given_up and 'given up' or 'resent')",
            "",
            "test_a_part_whose_outcome_is_unknown_twice_is_given_up_and_the_next_goes_on",
        ),
        (
            "A part is marked before it is sent.",
            "keep(sent_key, step.part, 'sending ' .. step.attempt .. ' ' .. unknowns .. ' ' .. step.mark)",
            "",
            "test_a_mark_repeated_under_its_own_name_is_no_unknown_outcome",
        ),
    ),
    *mutants_of(
        "channels/outbox/lua/dead.lua",
        _OUTBOX,
        (
            "A leader whose lease went to another buries nothing.",
            "redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1]",
            "false",
            _OLD_LEADER,
        ),
    ),
    *mutants_of(
        "channels/outbox/out_feed.py",
        _OUTBOX,
        (
            "A new leader's partition is read at once.",
            "        self._blocked.cancel()\n",
            "",
            "test_a_new_leader_reads_at_once_though_the_reader_waits_for_others",
        ),
        (
            "A partition that can take nothing makes no read wait long.",
            "if len(wanted) == len(self._readers) else BUSY_BLOCK_MS",
            "",
            "test_a_partition_with_more_than_it_can_take_holds_up_no_other",
        ),
    ),
    *mutants_of(
        "channels/outbox/delivery.py",
        _OUTBOX,
        (
            "Nothing is marked that could outlast the lease.",
            "            if not self.lease.outlasts(seconds):\n                await self.lease.outlasting(seconds)\n",
            "",
            "test_nothing_is_sent_that_could_outlast_the_lease",
        ),
    ),
    *mutants_of(
        "channels/outbox/retry_schedule.py",
        _OUTBOX,
        (
            "A refused chat rests as long as it was told.",
            "return min(max(told_s, 0.0), REST_MAX_S)",
            "return 0.0",
            "test_a_refused_chat_rests_as_long_as_told",
        ),
    ),
    *mutants_of(
        "channels/send_rate.py",
        "integration/test_pacing.py",
        (
            "What is shown leaves room for replies.",
            "_left_to_replies(rate) if leave_room else 0",
            "0",
            "test_what_is_shown_delays_no_reply",
        ),
        (
            "Those that wait for a bucket come back one after the other.",
            "self._queues[rate.bucket] = at + rate.per_s / rate.count",
            "self._queues[rate.bucket] = at",
            "test_those_that_wait_come_back_one_after_the_other_in_their_order",
        ),
    ),
)
