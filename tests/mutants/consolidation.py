"""Mutants of consolidation: what is consolidated when, and what becomes of it."""

from tests.mutants.mutant import mutants_of

_LOCK = "test_a_lock_is_lost_when_it_is_refused_or_its_lease_ends_counted_from_the_last_question"

MUTANTS = (
    *mutants_of(
        "workers/consolidation/held.py",
        "unit/test_leases.py",
        (
            "A consolidation lock counts from the last question.",
            "held_until = asked_at + locks.lease_s",
            "held_until = anyio.current_time() + locks.lease_s",
            _LOCK,
        ),
        (
            "A renewed consolidation lock lasts longer.",
            "held_until = asked_at + locks.lease_s",
            "pass",
            _LOCK,
        ),
        ("A consolidation lock that ran out is lost.", "if anyio.current_time() > held_until:", "if False:", _LOCK),
        (
            "A consolidation ends when its lock is refused.",
            "except LockLost:\n                break",
            "except LockLost:\n                continue",
            _LOCK,
        ),
        ("A lock that was lost is not given back.", "        if not lost:\n", "        if True:\n", _LOCK),
    ),
)
