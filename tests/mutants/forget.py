"""Mutants of forgetting."""

from tests.mutants.mutant import mutants_of

_ONE_CATALOGUE = "test_archived_messages_are_forgotten_with_one_new_catalogue_though_a_file_is_damaged"
_AWAY = "test_the_archived_part_waits_for_the_archive_and_is_deleted_then"

MUTANTS = (
    *mutants_of(
        "daemon/forget/sweep.py",
        "integration/test_forgetting.py",
        (
            "A text is forgotten in memories too.",
            "            await forget_memory(work, scope)\n",
            "            pass\n",
            "test_what_was_forgotten_stands_nowhere_and_what_was_not_is_still_there",
        ),
    ),
    *mutants_of(
        "daemon/forget/archive_removal.py",
        "integration/test_forgetting.py",
        (
            "A damaged file of the archive keeps no other from being forgotten.",
            "        work.fail(str(error))\n        return [], []",
            "        raise",
            _ONE_CATALOGUE,
        ),
        ("The catalogue is written once for many segments.", " = 64, 8 *", " = 1, 8 *", _ONE_CATALOGUE),
    ),
    *mutants_of(
        "daemon/export/export_contents.py",
        "integration/test_export.py",
        (
            "An export holds no waiting forget.",
            " for raw in raws if not _forgets(raw)]",
            " for raw in raws]",
            "test_an_export_holds_no_words_of_a_forget_that_waits",
        ),
    ),
    *mutants_of(
        "daemon/forget/forget_job.py",
        "integration/test_forgetting_archive_away.py",
        (
            "Forgetting is not done before the archived part is deleted.",
            "is_removed=not state.waits",
            "is_removed=True",
            _AWAY,
        ),
        (
            "A job that waits is not done.",
            "        if state.waits:\n            if job",
            "        if False:\n            if job",
            _AWAY,
        ),
    ),
    *mutants_of(
        "daemon/archive/local_storage.py",
        "integration/test_forgetting_archive_away.py",
        (
            "A folder that cannot be used is told from a missing file.",
            '            raise ArchiveUnavailable(\n                f"the archive in',
            '            raise ArchiveError(\n                f"the archive in',
            _AWAY,
        ),
    ),
    *mutants_of(
        "daemon/forget/forget_requests.py",
        "integration/test_forgetting_archive_away.py",
        (
            "A chat is not told technical reasons.",
            "if for_operator else []",
            "or []",
            "test_a_chat_is_not_told_technical_reasons",
        ),
    ),
)
