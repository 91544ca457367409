"""Mutants of the upkeep of leases in a worker."""

from tests.mutants.mutant import mutants_of

_RENEWED = "test_a_lease_that_ran_out_and_was_not_taken_can_be_renewed"
_RELOCKED = "test_a_lock_that_ran_out_and_that_nobody_took_is_still_its_holders"
_LOST = "test_a_claim_is_lost_when_its_lease_ends_counted_from_the_last_question"

MUTANTS = (
    *mutants_of(
        "daemon/process.py",
        "integration/test_run.py",
        (
            "A process that stops while it loads gives the loading up.",
            "                await self.stopping.wait()\n                tg.cancel_scope.cancel()",
            "                await self.stopping.wait()",
            "test_a_process_that_is_stopped_while_it_loads_gives_the_loading_up",
        ),
    ),
    *mutants_of(
        "workers/lease_upkeep.py",
        "unit/test_leases.py",
        (
            "A claim counts from the last question.",
            "hold.held_until = asked_at + self._queue.lease_s",
            "hold.held_until = anyio.current_time() + self._queue.lease_s",
            _LOST,
        ),
        ("A renewed claim lasts longer.", "hold.held_until = asked_at + self._queue.lease_s", "pass", _LOST),
        ("A claim that ran out is lost.", "if anyio.current_time() > hold.held_until:", "if False:", _LOST),
        ("A claim is kept while its lease lasts.", "if anyio.current_time() > hold.held_until:", "if True:", _LOST),
        (
            "A claim that somebody else has is lost.",
            "        except LeaseLost:\n            hold.lose()",
            "        except LeaseLost:\n            pass",
            "test_a_claim_that_somebody_else_has_is_lost_at_once",
        ),
    ),
    *mutants_of(
        "daemon/session/lua/renew.lua",
        "integration/test_claims.py",
        ("A renewed claim lasts longer in Redis.", "redis.call('HSET', KEYS[1], 'lease', deadline)", "", _RENEWED),
        ("A renewed claim is due later.", "redis.call('ZADD', KEYS[2], deadline, ARGV[1])", "", _RENEWED),
    ),
    *mutants_of(
        "daemon/session/lua/relock.lua",
        "integration/test_locks.py",
        ("A renewed lock lasts longer in Redis.", "redis.call('HSET', KEYS[1], 'lease', deadline)", "", _RELOCKED),
        ("A renewed lock is looked at later.", "redis.call('ZADD', KEYS[2], deadline, ARGV[1])", "", _RELOCKED),
    ),
)
