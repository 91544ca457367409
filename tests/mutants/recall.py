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
    *mutants_of(
        "daemon/config/remembering.py",
        "integration/test_recall_turns.py",
        (
            "What is recalled leaves the system message as it is.",
            'place: Literal["system", "user"] = "user"',
            'place: Literal["system", "user"] = "system"',
            "test_what_is_recalled_stands_beside_the_runtime_context_by_default",
        ),
    ),
)
