"""Mutants of complete and incomplete backups, and of a data folder that disappears."""

from tests.mutants.mutant import mutants_of

_TESTS = "integration/test_data_incomplete.py"
_ARCHIVE = "test_messages_that_the_archive_has_lost_are_counted"
_TYPE = "test_a_key_of_the_wrong_type_costs_its_session_or_memory_alone"
_SHARED = "test_a_shared_key_of_the_wrong_type_ends_neither_a_check_nor_a_backup"
_ODD = "test_files_with_odd_names_are_backed_up_and_come_back"
_CLI = "test_an_incomplete_backup_fails_and_says_which_messages_are_missing"

MUTANTS = (
    *mutants_of(
        "daemon/data/backup.py",
        _TESTS,
        ("Missing files of the archive are counted.", "return covered(good, first, base)", "return []", _ARCHIVE),
        ("Damaged files of the archive are counted.", "if deep or segment.place not in names:", "if False:", _ARCHIVE),
        (
            "Messages that Redis has lost are counted.",
            "            if count > 0:",
            "            if False:",
            "test_messages_that_redis_has_lost_are_counted",
        ),
        (
            "Messages deleted after their retention period are not lost.",
            'begins = number(await bus.call("HGET", bus.keys.session(owner), "begins"))',
            "begins = 0",
            "test_messages_that_were_deleted_after_their_retention_are_not_lost",
        ),
    ),
    *mutants_of(
        "daemon/data/snapshot.py",
        _TESTS,
        (
            "A damaged session is named.",
            "self.damaged[name] = str(error)\n            return None",
            "return None",
            _TYPE,
        ),
        ("A session that is left out is not read.", "sorted(sessions - self._without)", "sorted(sessions)", _TYPE),
        (
            "A shared key of the wrong type is named.",
            "if found is not None and found.form != TYPES.get(name.kind, found.form):",
            "if False:",
            _SHARED,
        ),
    ),
    *mutants_of(
        "daemon/data/file_copy.py",
        _TESTS,
        ("An odd name is escaped.", "    if not any(_is_odd(sign) for sign in name):\n", "    if True:\n", _ODD),
        ("Escaped names never meet.", ' or sign == "%"', "", _ODD),
        ("An escaped name is not too long.", "len(readable.encode()) > NAME_MAX_BYTES or ", "", _ODD),
        (
            "An unreadable file is named.",
            "        return Unreadable(path=place.path, reason=str(error))\n    original",
            "        return None\n    original",
            "test_a_file_that_cannot_be_read_is_named_and_the_rest_backed_up",
        ),
    ),
    *mutants_of(
        "daemon/data/backup_restore.py",
        _TESTS,
        (
            "An original name stays in its workspace.",
            ', *taken.restored_path.split("/")]',
            "]",
            "test_a_forged_original_name_is_no_way_out_of_a_workspace",
        ),
    ),
    *mutants_of(
        "daemon/cli/data_command.py",
        _TESTS,
        ("An incomplete backup fails.", "    if losses or manifest.damaged:\n", "    if manifest.damaged:\n", _CLI),
    ),
    *mutants_of(
        "daemon/server/embedded.py",
        "faults/test_folder_gone.py",
        (
            "A folder that was replaced is not written to.",
            "if self._opened in (None, found):",
            "if found or self._opened in (None, found):",
            "test_nothing_is_accepted_into_a_folder_that_was_deleted_or_replaced",
        ),
    ),
    *mutants_of(
        "daemon/bus/suspension.py",
        "faults/test_folder_gone.py",
        (
            "A folder that is back is used again.",
            "last, self.reason = self.reason, await gone()",
            "last, self.reason = self.reason, self.reason or await gone()",
            "test_a_data_folder_that_is_moved_away_and_back_loses_no_accepted_message",
        ),
    ),
    *mutants_of(
        "daemon/server/launch.py",
        "faults/test_folder_gone.py",
        (
            "No second server is started beside a running one.",
            "        if not self._layout.folder.exists():\n            _refuse_second",
            "        if False:\n            _refuse_second",
            "test_a_data_folder_that_is_moved_away_and_back_loses_no_accepted_message",
        ),
    ),
    *mutants_of(
        "daemon/server/redis_program.py",
        "integration/test_server_files.py",
        (
            "No server starts without files that its manifest has lost.",
            "if forgotten := sorted(filled - listed):",
            "if forgotten := sorted(listed - filled - listed):",
            "test_no_server_starts_without_the_data_of_a_damaged_folder",
        ),
    ),
    *mutants_of(
        "daemon/server/server_files.py",
        "integration/test_server_files.py",
        (
            "A pipe in the place of a file is not waited for.",
            "found = json.loads(content_of(layout.state))",
            "found = json.loads(layout.state.read_bytes())",
            "test_no_server_starts_without_the_data_of_a_damaged_folder",
        ),
    ),
    *mutants_of(
        "daemon/server/idle_watchdog.py",
        "integration/test_server_files.py",
        (
            "A keeper leaves the server of a folder that replaced its own.",
            "return os.path.samestat(",
            "return True or os.path.samestat(",
            "test_the_keeper_of_a_folder_that_was_replaced_leaves_the_new_server_alone",
        ),
        (
            "A keeper whose connection was lost finds its own server, whose folder was replaced.",
            "if found and self._is_ours():",
            "if found:",
            "test_the_keeper_of_a_folder_that_was_replaced_stops_its_own_server_though_its_connection_was_lost",
        ),
        (
            "The socket of a killed server is removed with its folder.",
            "                    socket.unlink()\n",
            "                    pass\n",
            "test_the_folder_of_the_socket_is_removed_though_the_keeper_never_reached_the_server",
        ),
        (
            "A keeper that never reached its server removes the folder of the socket.",
            "if self._state else self._socket",
            'if self._state else "/nowhere/redis.sock"',
            "test_the_folder_of_the_socket_is_removed_though_the_keeper_never_reached_the_server",
        ),
    ),
    *mutants_of(
        "daemon/data/storage_rules.py",
        "integration/test_damage_files.py",
        (
            "A memory file that cannot be read is told.",
            "return [*flaws, *_memory",
            "return [*_memory",
            "test_damaged_files_are_told_and_every_session_is_answered",
        ),
        (
            "Entries that HISTORY.md has lost are told.",
            "    if missing:\n",
            "    if False:\n",
            "test_damaged_files_are_told_and_every_session_is_answered",
        ),
    ),
    *mutants_of(
        "daemon/server/launch.py",
        "integration/test_server_files.py",
        (
            "Data whose end was cut off is told.",
            "any(CUT_OFF in line",
            "not any(CUT_OFF in line",
            "test_data_whose_end_was_cut_off_is_told",
        ),
    ),
    *mutants_of(
        "daemon/data/backup.py",
        "integration/test_data_incomplete.py",
        (
            "A missing workspace of a bot with a memory fails a backup.",
            "            if not workspace.is_dir():\n",
            "            if False:\n",
            "test_a_missing_workspace_fails_the_backup_of_a_bot_with_a_memory",
        ),
    ),
    *mutants_of(
        "daemon/cli/preflight.py",
        "integration/test_cli.py",
        (
            "A workspace does not contain the data directory.",
            "if own.is_relative_to(files) or",
            "if False and",
            "test_all_faults_of_a_configuration_are_listed_before_a_port_opens",
        ),
    ),
)
