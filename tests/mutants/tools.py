"""Mutants of what tools may reach: files, other chats."""

from tests.mutants.mutant import mutants_of

_OUT = "test_no_path_leads_out"

MUTANTS = (
    *mutants_of(
        "workers/tools/file_access.py",
        "unit/test_tools_files.py",
        ("A path leads to no parent folder.", 'if name == "..":', "if False:", _OUT),
        (
            "A link in place of a folder is not followed.",
            "os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC",
            "os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC",
            _OUT,
        ),
        ("A file with a second name is refused.", "found.st_nlink > 1", "False", _OUT),
    ),
    *mutants_of(
        "workers/agent/outgoing_messages.py",
        "integration/test_tools.py",
        (
            "A message goes to no chat of another scope.",
            "if not scope or scope == own or",
            "if True or",
            "test_another_chat_of_the_same_scope_can_be_written_to_and_no_other",
        ),
    ),
)
