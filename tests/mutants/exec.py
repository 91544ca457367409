"""Mutants of the sandbox of the tool ``exec``."""

from tests.mutants.mutant import mutants_of

_REACH = "test_a_command_reaches_nothing_but_its_folder"
_TOGETHER = "test_the_processes_of_a_command_are_limited_together_and_so_is_its_folder"
_ENDLESS = "test_a_command_without_end_is_stopped_with_all_that_it_started"

MUTANTS = (
    *mutants_of(
        "workers/tools/command_sandbox.py",
        "integration/test_exec.py",
        ("A command has no namespace of the machine's.", '["--unshare-all", ', '["--unshare-pid", ', _REACH),
        ("Devices of the sandbox keep nothing.", '"/dev", "--remount-ro", "/dev"]', '"/dev"]', _REACH),
        ("The settings of the kernel are read-only.", '"--remount-ro", "/proc", ', "", _REACH),
        (
            "A folder without permissions stops no later command.",
            "await anyio.Path(folder).chmod(0o700)",
            "pass",
            "test_what_a_command_leaves_behind_stops_no_later_command",
        ),
        ("The temporary folder is limited.", '"--size", str(TMP_MAX_BYTES), ', "", _REACH),
        ("A file is limited.", "ulimit -f {FILE_MAX_BLOCKS}", "true", _REACH),
        (
            "A process's memory is limited.",
            "ulimit -v {config.memory_max_mb * 1024}",
            "true",
            "test_memory_and_processes_are_limited",
        ),
        ("Output is limited.", "if len(output) > max_bytes:", "if False:", _ENDLESS),
        (
            "Without a sandbox nothing is run.",
            'text.startswith("bwrap: ")',
            "False",
            "test_without_a_sandbox_no_command_is_run",
        ),
    ),
    *mutants_of(
        "workers/tools/command_watch.py",
        "integration/test_exec.py",
        (
            "The memory of all processes of a command is limited together.",
            "sum(map(_resident_bytes, processes)) > most",
            "max(map(_resident_bytes, processes)) > most",
            _TOGETHER,
        ),
        ("The folder of a command is limited.", "if folder_bytes(folder) > most_bytes:", "if False:", _TOGETHER),
        (
            "A command may tidy up a folder that is too large.",
            "max(await look(folder_bytes, folder), config.folder_max_mb * MIB)",
            "config.folder_max_mb * MIB",
            _TOGETHER,
        ),
    ),
    *mutants_of(
        "daemon/durable.py",
        "integration/test_exec.py",
        (
            "A command leaves no program that runs as this user for others.",
            "stat.S_IMODE(mode) & 0o777 | wanted",
            "stat.S_IMODE(mode) | wanted",
            "test_a_command_leaves_no_file_that_cannot_be_read_moved_or_removed",
        ),
    ),
    *mutants_of(
        "daemon/durable.py",
        "integration/test_exec.py",
        (
            "A folder that a command left without permissions is forgotten.",
            'Path(f"/proc/self/fd/{descriptor}").chmod(given)',
            "pass",
            "test_folders_without_permissions_are_removed_when_a_scope_is_forgotten",
        ),
    ),
    *mutants_of(
        "daemon/operators/lua/approve.lua",
        "integration/test_exec.py",
        (
            "A command whose worker died is not run again.",
            "state == 'started' and found[4] == ARGV[5]",
            "state == 'started'",
            "test_a_command_that_is_approved_runs_once_whenever_its_worker_is_killed",
        ),
    ),
    *mutants_of(
        "workers/tools/command_sandbox.py",
        "integration/test_exec.py",
        (
            "Only administrators have commands run by default.",
            "if not self.allowed:",
            "if False:",
            "test_every_command_is_audited_and_run_only_for_who_may",
        ),
        (
            "A command that nobody approved is not run.",
            'if found.status != "run":',
            "if False:",
            "test_a_command_waits_for_the_decision_of_an_administrator",
        ),
        (
            "A command is audited before it runs.",
            '        await self._note(call, "started")\n',
            "",
            "test_every_command_is_audited_and_run_only_for_who_may",
        ),
        (
            "A command leaves no file that other parts cannot read, move or remove.",
            "removed = await _tidied(folder)",
            "removed = 0",
            "test_a_command_leaves_no_file_that_cannot_be_read_moved_or_removed",
        ),
    ),
)
