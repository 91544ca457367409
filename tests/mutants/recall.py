"""Mutants of what a prompt recalls."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "daemon/memory/current.py",
        "integration/test_memories.py",
        (
            "A prompt shows the newest MEMORY.md.",
            "if cached is not None and cached[0] == checksum and cached[1].version == int(version):",
            "if cached is not None:",
            "test_a_prompt_fetches_the_text_only_when_it_has_changed",
        ),
    ),
)
