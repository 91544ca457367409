"""Mutants of what a prompt recalls."""

from tests.mutants.mutant import mutants_of

_INDEXED = "test_archived_messages_are_searched_in_the_search_index_if_it_contains_all_of_their_session"

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
        "daemon/recall/index/messages.py",
        "integration/test_cli_transcript.py",
        ("A search uses no index from before a deletion.", "found == (forgets,) and ", "", _INDEXED),
        ("A search uses no index that lacks messages.", "fed is not None and fed[0] >= upto", "True", _INDEXED),
    ),
    *mutants_of(
        "daemon/transcripts/search.py",
        "unit/test_transcript_search.py",
        (
            "No match is skipped because JSON writes it in another form.",
            " or not self._is_plain",
            "",
            "test_calls_results_and_parts_are_looked_at_and_what_is_spoilt_too",
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
