"""Mutants of how fast a platform is sent to."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "channels/send_rate.py",
        "integration/test_pacing.py",
        (
            "What is only shown leaves room for replies.",
            "_left_to_replies(rate) if leave_room else 0",
            "0",
            "test_what_is_only_shown_leaves_room_for_replies",
        ),
        (
            "Those that wait come back one after the other.",
            "self._queues[rate.bucket] = at + rate.per_s / rate.count",
            "self._queues[rate.bucket] = at",
            "test_those_that_wait_come_back_one_after_the_other_in_their_order",
        ),
        (
            "Who has to wait waits for the slowest bucket.",
            "self._promise(chat, rates[slowest - 1], now",
            "self._promise(chat, rates[0], now",
            "test_room_is_taken_out_of_all_buckets_of_a_chat_or_none",
        ),
    ),
    *mutants_of(
        "channels/lua/pace.lua",
        "integration/test_pacing.py",
        (
            "A rate of one lets one through.",
            "math.max(count - spare, 1) - 1",
            "math.max(count - spare, 1)",
            "test_a_rate_of_one_can_be_used_by_what_is_shown",
        ),
        (
            "A bucket remembers as many times as it holds.",
            "0, count - 1)",
            "0, count - 2)",
            "test_what_is_only_shown_leaves_room_for_replies",
        ),
        (
            "A bucket ends.",
            "  redis.call('PEXPIRE', bucket_key, 2 * within)\n",
            "",
            "test_a_rate_of_one_can_be_used_by_what_is_shown",
        ),
        (
            "A bucket lasts longer than its time.",
            "2 * within",
            "within / 10",
            "test_in_no_stretch_of_time_more_is_let_through_than_the_rate_says_however_many_ask",
        ),
        (
            "A clock that was set back parks nobody.",
            "if newest and tonumber(newest) > now then",
            "if false then",
            "test_a_clock_that_was_set_back_parks_nobody_for_an_hour",
        ),
        (
            "Room is taken out of all buckets or none.",
            "  if wait == 0 then",
            "  if true then",
            "test_room_is_taken_out_of_all_buckets_of_a_chat_or_none",
        ),
    ),
)
