"""Mutants of forgetting."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "daemon/forget/passing.py",
        "integration/test_forgetting.py",
        (
            "A text is forgotten in memories too.",
            "            await forget_memory(work, scope)\n",
            "            pass\n",
            "test_what_was_forgotten_stands_nowhere_and_what_was_not_is_still_there",
        ),
    ),
    *mutants_of(
        "daemon/export/contents.py",
        "integration/test_export.py",
        (
            "An export holds no waiting forget.",
            " for raw in raws if not _forgets(raw)]",
            " for raw in raws]",
            "test_an_export_holds_no_words_of_a_forget_that_waits",
        ),
    ),
)
