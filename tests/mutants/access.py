"""Mutants of access: who is let in, banned, and made to wait."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "daemon/access/access.part.lua",
        "integration/test_admitting.py",
        (
            "A decision that comes late changes nothing.",
            "not is_later(at, was.at)",
            "false",
            "test_a_decision_that_arrives_late_or_again_changes_nothing",
        ),
    ),
    *mutants_of(
        "daemon/access/pause.lua",
        "integration/test_admitting.py",
        (
            "A pause that comes late changes nothing.",
            "not is_later(at, was.at)",
            "false",
            "test_a_pause_that_arrives_late_or_again_changes_nothing",
        ),
    ),
)
