"""Mutants of forgetting."""

from tests.mutants.mutant import mutants_of

MUTANTS = mutants_of(
    "daemon/forget/passing.py",
    "integration/test_forgetting.py",
    (
        "A text is forgotten in memories too.",
        "            await forget_memory(work, scope)\n",
        "            pass\n",
        "test_what_was_forgotten_stands_nowhere_and_what_was_not_is_still_there",
    ),
)
