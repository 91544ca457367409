"""Mutants of limits of tokens a day and messages a minute, and of accounts."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "daemon/usage/bucket.lua",
        "integration/test_usage.py",
        (
            "A clock that was set back fills no bucket.",
            "math.max(0, now - found[2])",
            "(now - found[2])",
            "test_a_clock_that_was_set_back_fills_nothing",
        ),
        (
            "A bucket holds no more than a minute's.",
            "return math.min(limit, found[1]",
            "return (found[1]",
            "test_whoever_waits_is_told_once_in_a_flood",
        ),
        (
            "More at once than a bucket holds are let in when it is full.",
            "math.min(wanted, limits[at])",
            "wanted",
            "test_more_at_once_than_a_bucket_holds_are_let_in_when_it_is_full",
        ),
        (
            "A flood is over when there was room for all.",
            "if full then redis.call('HDEL', KEYS[1], 'told') end\n",
            "",
            "test_whoever_waits_is_told_once_in_a_flood",
        ),
        (
            "Who waits is told once in a flood.",
            "redis.call('HSETNX', KEYS[1], 'told', ARGV[3])",
            "redis.call('HSET', KEYS[1], 'told', ARGV[3])",
            "test_whoever_waits_is_told_once_in_a_flood",
        ),
        (
            "A bucket fills from when it was used.",
            "'at', now)",
            "'at', now + 60000)",
            "test_a_bucket_fills_up_again_and_holds_no_more_than_a_minute",
        ),
        (
            "A bot's messages a minute count.",
            "if limits[3] > 0 then put(KEYS[3], left[3]) end\n",
            "",
            "test_many_at_once_get_exactly_what_there_is",
        ),
    ),
    *mutants_of(
        "daemon/usage/spent.lua",
        "integration/test_usage.py",
        (
            "Tokens are used up when their limit is reached.",
            "not_written >= limit",
            "not_written > limit",
            "test_tokens_of_a_day_are_used_up_when_the_limit_is_reached",
        ),
        (
            "Tokens of answers count.",
            " + tonumber(found[2] or '0')",
            "",
            "test_tokens_of_a_day_are_used_up_when_the_limit_is_reached",
        ),
        (
            "A session is told once a day.",
            "redis.call('HSETNX', KEYS[1]",
            "redis.call('HSET', KEYS[1]",
            "test_a_session_is_told_once_a_day_that_its_tokens_are_used_up",
        ),
    ),
    *mutants_of(
        "daemon/usage/spent.lua",
        "integration/test_ledger.py",
        (
            "Notes that Redis has not taken count.",
            "kept[whose] = kept[whose] + tonumber(ARGV[at + whose])",
            "kept[whose] = 0",
            "test_notes_that_redis_has_not_taken_count_once",
        ),
        (
            "A note that Redis has taken counts once.",
            "if redis.call('HEXISTS', KEYS[5], ARGV[at]) == 0 then",
            "do",
            "test_notes_that_redis_has_not_taken_count_once",
        ),
    ),
    *mutants_of(
        "daemon/usage/ledger.py",
        "integration/test_ledger.py",
        (
            "Notes of a process that was killed are written by the next.",
            "for note in self._saved.adopt():",
            "for note in ():",
            "test_notes_of_a_process_that_was_killed_are_written_once_by_the_next",
        ),
        (
            "Notes that are saved are not lost when a process stops.",
            "if note not in self._saved:",
            "if True:",
            "test_a_stop_without_redis_reports_the_notes_that_are_lost",
        ),
        (
            "A note is kept until Redis has taken it.",
            "        self._any_kept.set()\n",
            "        self._any_kept.set()\n        self._kept.clear()\n",
            "test_notes_survive_an_outage",
        ),
        (
            "Notes are limited in number.",
            "if len(self._kept) > KEPT_MAX:",
            "if False:",
            "test_notes_are_limited_in_number_and_age",
        ),
        (
            "Old notes are lost, since Redis may have forgotten that it took them.",
            "if anyio.current_time() - since > LATE_S:",
            "if False:",
            "test_notes_are_limited_in_number_and_age",
        ),
        (
            "A refused note does not block the others.",
            "refused = True  #",
            "return False  #",
            "test_a_refused_note_does_not_block_the_others",
        ),
    ),
    *mutants_of(
        "daemon/run.py",
        "integration/test_ledger.py",
        (
            "A process that stops writes its notes within the grace time.",
            "            await process.ledger.written()\n",
            "            pass\n",
            "test_a_stop_writes_the_notes_within_the_grace_time",
        ),
        (
            "A stop without Redis ends with the grace time.",
            "            grace.deadline = min(grace.deadline, anyio.current_time() + process.config.run.grace_s)\n",
            "",
            "test_a_stop_without_redis_reports_the_notes_that_are_lost",
        ),
    ),
    *mutants_of(
        "daemon/usage/note.lua",
        "integration/test_usage.py",
        (
            "Accounts end.",
            "kept(KEYS[4], ARGV[2])\n",
            "",
            "test_accounts_end_after_400_days_and_what_was_noted_after_two",
        ),
        (
            "What was noted ends.",
            "kept(KEYS[1], ARGV[3])\n",
            "",
            "test_accounts_end_after_400_days_and_what_was_noted_after_two",
        ),
    ),
)
