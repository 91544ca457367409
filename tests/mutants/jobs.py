"""Mutants of jobs: how long they are held, counted and known."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "daemon/jobs/lua/take.lua",
        "integration/test_job_leases.py",
        (
            "A job that is taken is held.",
            "redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[1])\n",
            "",
            "test_a_job_is_held_longer_by_each_take_save_and_renewal",
        ),
    ),
    *mutants_of(
        "daemon/jobs/lua/save.lua",
        "integration/test_job_leases.py",
        (
            "A job that is renewed is held longer.",
            "redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3], ARGV[1])\n",
            "",
            "test_a_job_is_held_longer_by_each_take_save_and_renewal",
        ),
    ),
    *mutants_of(
        "daemon/jobs/lua/put_off.lua",
        "integration/test_job_leases.py",
        (
            "A job has no fewer attempts than none.",
            " and tonumber(fields[3] or 0) > 0 then",
            " then",
            "test_a_job_that_is_handed_over_has_no_fewer_attempts_than_none",
        ),
    ),
    *mutants_of(
        "daemon/jobs/lua/finish.lua",
        "integration/test_job_leases.py",
        (
            "Jobs that ended long ago are forgotten.",
            "redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', '(' .. now - ARGV[6])\n",
            "",
            "test_jobs_that_ended_long_ago_are_forgotten_with_the_next_that_ends",
        ),
    ),
    *mutants_of(
        "daemon/jobs/lua/take.lua",
        "integration/test_jobs.py",
        (
            "A job that is taken counts an attempt.",
            "fence, attempts = fence + 1, attempts + 1",
            "fence, attempts = fence + 1, attempts",
            "test_attempts_count_what_died_without_getting_on",
        ),
        (
            "A deadline of a job further off than any can be holds nobody up.",
            " and deadline <= now + ARGV[5] then",
            " then",
            "test_a_clock_that_was_set_back_holds_up_nothing",
        ),
    ),
    *mutants_of(
        "daemon/jobs/lua/finish.lua",
        "integration/test_jobs.py",
        (
            "The secret of a job goes with its end.",
            "'secret', 'state', 'reason', 'partly')",
            "'state', 'reason', 'partly')",
            "test_a_job_is_made_once_and_known_until_long_after_its_end",
        ),
        (
            "A job that has ended is forgotten in time.",
            "redis.call('PEXPIRE', KEYS[1], ARGV[6])\n",
            "",
            "test_a_job_is_made_once_and_known_until_long_after_its_end",
        ),
    ),
    *mutants_of(
        "daemon/jobs/lua/put_off.lua",
        "integration/test_jobs.py",
        (
            "A job rests after a failure.",
            "+ ARGV[3], ARGV[1])",
            ", ARGV[1])",
            "test_attempts_count_what_died_without_getting_on",
        ),
    ),
    *mutants_of(
        "daemon/jobs/lua/save.lua",
        "integration/test_jobs.py",
        (
            "A job that got on starts its attempts afresh.",
            "  redis.call('HDEL', KEYS[1], 'attempts', 'reason')\n",
            "",
            "test_attempts_count_what_died_without_getting_on",
        ),
    ),
    *mutants_of(
        "daemon/jobs/lua/tell.lua",
        "integration/test_jobs.py",
        (
            "What a job says is said once.",
            "if redis.call('EXISTS', KEYS[3]) == 1 then return 'again' end\n",
            "",
            "test_what_a_job_says_is_said_once_and_also_sent",
        ),
    ),
)
