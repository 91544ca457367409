"""Mutants of the bus: streams, waiting lists, wake-ups, dead letters."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        rule="A platform id that was seen is not accepted again.",
        file="daemon/bus/publish.lua",
        old="if seen then",
        new="if false then",
        caught_by="integration/test_publish.py::test_a_duplicate_names_the_id_it_was_accepted_under",
    ),
    Mutant(
        rule="A session whose deadline has passed is woken.",
        file="daemon/bus/reap.lua",
        old="wake(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, most))",
        new="",
        caught_by="integration/test_wakeups.py::test_a_wakeup_that_its_taker_never_used_is_given_again",
    ),
    Mutant(
        rule="A session that is woken is ready.",
        file="daemon/bus/reap.lua",
        old="redis.call('ZADD', KEYS[2], 'LT', now, session)",
        new="",
        caught_by="integration/test_wakeups.py::test_a_wakeup_that_its_taker_never_used_is_given_again",
    ),
    Mutant(
        rule="A session that is woken keeps a deadline.",
        file="daemon/bus/reap.lua",
        old="redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), session)",
        new="redis.call('ZREM', KEYS[1], session)",
        caught_by="integration/test_wakeups.py::test_a_wakeup_that_its_taker_never_used_is_given_again",
    ),
)
