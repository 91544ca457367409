"""Mutants of what a look at the data finds, rule by rule, and of being sure of a backup."""

from tests.mutants.mutant import mutants_of

_SESSION = "test_each_rule_of_a_session_is_looked_at"
_SCOPE = "test_each_rule_of_a_memory_is_looked_at"
_KEY = "test_each_rule_of_a_key_is_looked_at"
_ENTRY = "test_each_field_of_an_entry_is_looked_at"
_LONG = "test_a_long_log_is_backed_up_restored_and_compared_in_pieces"
_OTHERWISE = "test_a_backup_that_comes_back_otherwise_is_told"
_ORDER = "self._begins <= self._base <= self._cursor <= self._head"


def _of_session(rule: str, old: str, new: str) -> tuple[str, str, str, str]:
    return rule, old, new, _SESSION


def _of_scope(rule: str, old: str, new: str) -> tuple[str, str, str, str]:
    return rule, old, new, _SCOPE


MUTANTS = (
    *mutants_of(
        "daemon/data/session_rules.py",
        "unit/test_data_rules.py",
        _of_session("Messages without a hash are told.", "if taken.log or taken.segments:", "if taken.segments:"),
        _of_session("Segments without a hash are told.", "if taken.log or taken.segments:", "if taken.log:"),
        _of_session(
            "Waiting messages without a hash are told.",
            "    if taken.waiting:\n        text",
            "    if False:\n        text",
        ),
        _of_session("A deadline of no session is told.", "elif taken.scores:", "elif False:"),
        _of_session("A field that is no number is told.", "    if unreadable:\n", "    if False:\n"),
        _of_session("A number has fewer than 16 digits.", "len(value) < 16", "len(value) < 17"),
        _of_session("A session without a scope is told.", 'if not self._taken.fields.get("scope"):', "if False:"),
        _of_session("A lease without an end is told.", 'if bool(self._taken.fields.get("nonce")) and', "if False and"),
        _of_session("A session begins no later than its base.", _ORDER, "self._base <= self._cursor <= self._head"),
        _of_session(
            "The base is no later than the cursor.",
            _ORDER,
            _ORDER.replace("base <= self._cursor", "base and self._cursor"),
        ),
        _of_session("The cursor is no later than the head.", _ORDER, "self._begins <= self._base <= self._cursor"),
        _of_session("The start is no later than the head.", "if self._start > self._head:", "if False:"),
        _of_session("The start is no earlier than the cursor.", "elif self._start < self._cursor:", "elif False:"),
        _of_session(
            "A log reaches the head.", "< self._head:\n            first", "< self._head - 1:\n            first"
        ),
        _of_session("A message is of no later turn.", "entry.turn > index or ", ""),
        _of_session("Turns rise in a log.", " or entry.turn < last_turn", ""),
        _of_session("The journal is in no sum.", "            if index < self._head:\n", "            if True:\n"),
        _of_session("The sum begins at the cursor.", "index >= self._cursor", "index > self._cursor"),
        _of_session("The sum of what is seen begins at the start.", "index >= self._start", "index > self._start"),
        _of_session(
            "The sum from the cursor on is looked at.",
            "(tokens, tokens_start) != (self._tokens, self",
            "(self._tokens, tokens_start) != (self._tokens, self",
        ),
        _of_session("A message waits once.", "            if stream_id in seen:\n", "            if False:\n"),
        _of_session(
            "A waiting message is in the stream.",
            "self._inbox.get(stream_id)) is None",
            "self._inbox.get(stream_id, {'session': self._taken.name.encode()})) is None",
        ),
        _of_session(
            "A waiting message is of its session.", '.decode("utf-8", "replace") != self._taken.name:', " is None:"
        ),
        _of_session("A stop is a message that waits.", "if stop and stop not in seen:", "if False:"),
        _of_session(
            "A session in which something waits is due.",
            'if self._taken.waiting and "due" not in',
            'if False and "due" not in',
        ),
        _of_session(
            "A session in which nothing waits is not due.", "elif not self._taken.waiting and", "elif False and"
        ),
        _of_session("What waits for an answer aside may be due.", " and not self._is_woken_by_asides():", ":"),
        _of_session("What is to be answered aside is in the stream.", " or stream_id not in self._inbox:", ":"),
        _of_session("What is to be answered aside has an id.", "if not _STREAM_ID.fullmatch(stream_id) or", "if"),
        _of_session("An accepted text that is none is told.", 'yield self._flaw("in.message", text)', "pass"),
        _of_session("The end of a conversation is consolidated.", "if self._start > self._cursor and", "if False and"),
        _of_session("What is being consolidated is left alone.", ' and not self._taken.lock.get("nonce"):', ":"),
    ),
    *mutants_of(
        "daemon/data/scope_rules.py",
        "unit/test_data_rules.py",
        _of_scope("A version has the number of its place.", "if version.version != at:", "if False:"),
        _of_scope("MEMORY.md reads as its version.", "if at == current and version.text != text:", "if False:"),
        _of_scope(
            "There are as many versions as are counted.", "if current > base + len(taken.versions):", "if False:"
        ),
        _of_scope(
            "The checksum is that of MEMORY.md.", '.hexdigest() != taken.fields.get("checksum")', ".hexdigest() is None"
        ),
        _of_scope("The history ends where the memory does.", "if 0 <= ends != upto:", "if False:"),
        _of_scope("Lost entries end no history.", "if entry.session and not entry.lost:", "if entry.session:"),
        _of_scope(
            "The end of a history is its furthest.", "max(newest.get(entry.session, 0), entry.upto)", "entry.upto"
        ),
        _of_scope(
            "A memory that is being joined is left alone.",
            '("joined", "joining", "receiving", "leaving")',
            '("joined",)',
        ),
        _of_scope("A memory that others are linked with is left alone.", ' or field.startswith("links:")', ""),
        _of_scope("An undigested entry is behind the base.", "base <= int(index) < ends", "int(index) < ends"),
        _of_scope("An undigested entry is before the end.", "base <= int(index) < ends", "base <= int(index) <= ends"),
        _of_scope("An entry is digested once.", "        elif index in seen:", "        elif False:"),
        _of_scope("Notes are read.", "*_notes(taken), ", ""),
    ),
    *mutants_of(
        "daemon/data/scope_rules.py",
        "unit/test_data_spread.py",
        (
            "A gap at the end is one.",
            "    if at < upto:\n",
            "    if False:\n",
            "test_what_no_range_covers_is_told_exactly",
        ),
        ("Ranges may lie in each other.", "at = max(at, end)", "at = end", "test_what_no_range_covers_is_told_exactly"),
    ),
    *mutants_of(
        "daemon/data/backup_verification.py",
        "integration/test_data_backup.py",
        (
            "A restored backup is compared.",
            "if found != wanted and encode(found) != encode(wanted):",
            "if False:",
            _OTHERWISE,
        ),
        (
            "A restored session is compared.",
            "_alone(session), _alone(record)",
            "record, record",
            _OTHERWISE,
        ),
        ("A long log is compared too.", "(record, log=held)", "(record, log=log)", _LONG),
        ("A restored log is compared.", "taken=0)", "taken=0, log=[])", _OTHERWISE),
        ("A restored memory is compared.", "await read_scope(bus, record.name), record", "record, record", _OTHERWISE),
        (
            "A restored key is compared.",
            "_lasting(await read_key(bus, key_of(bus.keys.prefix, name), name)), _lasting(record)",
            "record, record",
            _OTHERWISE,
        ),
        (
            "A restored stream is compared.",
            "msgspec.structs.replace(record, entries=entries), record",
            "record, record",
            _OTHERWISE,
        ),
        (
            "A key that lasts may not be missing.",
            "if found is None and 0 < record.expires_ms < await _server_ms(bus) + SOON_MS:",
            "if found is None:",
            _OTHERWISE,
        ),
        (
            "A key that ends soon may be missing.",
            "if found is None and 0 < record.expires_ms < await _server_ms(bus) + SOON_MS:",
            "if False:",
            "test_what_may_end_meanwhile_may_be_missing_when_a_backup_is_looked_at",
        ),
        (
            "Every rule of a restored backup is looked at.",
            "flaws=checked.flaws,",
            "flaws=(),",
            "test_what_was_wrong_before_a_backup_is_told",
        ),
        (
            "Every record of a backup is compared.",
            "count += len(piece)",
            "count += 1",
            "test_a_backup_is_restored_to_be_sure_of_it",
        ),
    ),
    *mutants_of(
        "daemon/data/backup_verification.py",
        "integration/test_data_files.py",
        (
            "Every file of a backup is compared.",
            "sha256_of, folder / taken.path) != taken.sha256:",
            "sha256_of, folder / taken.path) is None:",
            "test_a_file_that_was_spoilt_in_the_backup_is_found_before_anything_is_changed",
        ),
    ),
    *mutants_of(
        "daemon/data/backup_restore.py",
        "integration/test_data_backup.py",
        (
            "A database that processes use is not restored into.",
            "await _check_alone(bus, clock or SystemClock())",
            "pass",
            "test_a_database_that_processes_use_is_left_alone_whatever_is_told",
        ),
        (
            "A database that is not empty is not restored into.",
            "    await _check_empty(bus, replaces=target.replaces)\n",
            "",
            "test_a_database_that_is_not_empty_is_left_alone_unless_told",
        ),
        (
            "A half restored database is restored again.",
            'if replaces or b"restoring" in meta:',
            "if replaces:",
            "test_a_database_that_is_half_restored_is_refused_until_it_is_restored",
        ),
        (
            "A database says that it is being restored.",
            '    await bus.call("HSET", bus.keys.meta, "restoring", manifest.id)\n',
            "",
            "test_a_database_that_is_half_restored_is_refused_until_it_is_restored",
        ),
    ),
    *mutants_of(
        "daemon/data/backup_restore.py",
        "integration/test_data_files.py",
        (
            "A spoilt file is restored from no backup.",
            "sha256_of, folder / taken.path) != taken.sha256:",
            "sha256_of, folder / taken.path) is None:",
            "test_a_file_that_was_spoilt_in_the_backup_is_found_before_anything_is_changed",
        ),
        (
            "A file of another content is not overwritten.",
            "if others and not target.replaces:",
            "if False:",
            "test_a_file_of_another_content_is_overwritten_only_when_told",
        ),
    ),
    *mutants_of(
        "daemon/data/backup_restore.py",
        "integration/test_data_backup.py",
        (
            "A process counts as running for half a minute.",
            "ALIVE_S = 30.0",
            "ALIVE_S = 29.0",
            "test_a_process_counts_as_running_for_half_a_minute",
        ),
        (
            "A process that is long gone keeps nobody from restoring.",
            "ALIVE_S = 30.0",
            "ALIVE_S = 31.0",
            "test_a_process_counts_as_running_for_half_a_minute",
        ),
    ),
    *mutants_of(
        "daemon/data/data_check.py",
        "unit/test_data_rules.py",
        ("A key of nobody's is told.", "if not name.is_known:", "if False:", _KEY),
        (
            "A key lies in its owner's partition.",
            "(right := bus.keys.partition(name.owner))",
            "(right := name.partition)",
            _KEY,
        ),
        ("A key lies in a partition that there is.", "name.partition >= bus.keys.partitions", "False", _KEY),
        ("A key has the type of its kind.", "if wrong := await wrong_type(bus, key):", "if wrong := None:", _KEY),
        ("A key that has to end does.", 'await bus.call("PTTL", key) == -1:', "False:", _KEY),
        (
            "A message that waits has a text.",
            '"in": frozenset({"session", "id", "message"})',
            '"in": frozenset({"session", "id"})',
            _ENTRY,
        ),
        (
            "A message that waits has an id.",
            '"in": frozenset({"session", "id", "message"})',
            '"in": frozenset({"session", "message"})',
            _ENTRY,
        ),
        (
            "A dead letter has a reason.",
            '"dead": frozenset({"session", "id", "reason"})',
            '"dead": frozenset({"session", "id"})',
            _ENTRY,
        ),
        (
            "A dead letter has a session.",
            '"dead": frozenset({"session", "id", "reason"})',
            '"dead": frozenset({"id", "reason"})',
            _ENTRY,
        ),
        ("A reply that waits can be read.", '        if name.kind == "out":\n', "        if False:\n", _ENTRY),
    ),
    *mutants_of(
        "daemon/data/data_check.py",
        "integration/test_data_check.py",
        (
            "The archive of a memory is looked at.",
            "        await self._archived(taken)\n        if self._workspace_of",
            "        if self._workspace_of",
            "test_what_of_a_memory_left_redis_and_is_in_no_file_is_told",
        ),
        (
            "The files of the archive are read when asked for.",
            "deep=self._deep",
            "deep=False",
            "test_what_left_redis_and_is_in_no_file_is_told",
        ),
        (
            "The files of a memory are looked at.",
            "if self._workspace_of is not None:",
            "if False:",
            "test_files_of_a_memory_that_redis_has_lost_are_told",
        ),
        (
            "A message that waits nowhere is found.",
            "if session and await is_stray(self._bus, session, stream_id):",
            "if False:",
            "test_a_message_that_is_let_wait_again_is_answered_in_its_order",
        ),
    ),
)
