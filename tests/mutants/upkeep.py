"""Mutants of the upkeep of leases in a worker."""

from tests.mutants.mutant import mutants_of

_LOST = "test_a_claim_is_lost_when_its_lease_ends_counted_from_the_last_question"

MUTANTS = mutants_of(
    "workers/upkeep.py",
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
)
