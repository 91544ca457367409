"""Mutants of the archive: listing, reading back, trimming."""

from tests.mutants.mutant import Mutant, mutants_of

_NEEDED = "test_whatever_its_caller_believes_a_script_trims_no_message_that_is_needed"
_COMPARED = "integration/test_archive_compared.py"


def _row(rule: str, file: str, old: str, new: str, caught_by: str) -> Mutant:
    return Mutant(rule=rule, file=file, old=old, new=new, caught_by=f"integration/test_{caught_by}")


MUTANTS = (
    _row(
        "A segment that the log does not hold is not listed.",
        "daemon/archive/lua/list.lua",
        "if redis.sha1hex(table.concat(held, '\\n')) ~= ARGV[5] then return '' end",
        "",
        "archive.py::test_what_the_log_no_longer_holds_is_not_listed_and_what_it_holds_now_replaces_it",
    ),
    _row(
        "A segment is read back before its messages leave Redis.",
        "daemon/archive/archive.py",
        "return (await self.files.load(segment))[piece.first - segment.first : piece.upto - segment.first] == held",
        "return True",
        "archive_trim.py::test_a_file_that_cannot_be_read_back_is_written_again_before_its_messages_leave",
    ),
    _row(
        "Messages leave Redis only under the list that was looked at.",
        "daemon/archive/lua/trim.lua",
        "if redis.sha1hex(table.concat(seen, '\\n')) ~= ARGV[3] then return {'moved', base} end",
        "",
        "archive_trim.py::test_a_list_that_is_another_one_by_then_stops_the_trimming",
    ),
    *mutants_of(
        "daemon/archive/segment.py",
        _COMPARED,
        (
            "A segment is known by the checksum of its lines.",
            " and hashlib.sha256(lines).hexdigest() == segment.checksum",
            "",
            "test_lines_of_the_same_length_are_not_those_of_a_segment",
        ),
        (
            "No more of a file is unpacked than tells that it is too long.",
            "return lines.read(size + 1)",
            "return lines.read()",
            "test_no_more_of_a_file_is_unpacked_than_tells_that_it_is_too_long",
        ),
        (
            "The same lines make the same file at any time.",
            "mtime=0)",
            "mtime=None)",
            "test_the_same_lines_make_the_same_file_at_any_time",
        ),
    ),
    *mutants_of(
        "daemon/archive/archive.py",
        _COMPARED,
        (
            "What is archived is compared with what Redis holds before that leaves.",
            "[piece.first - segment.first : piece.upto - segment.first] == held",
            "is not None",
            "test_what_redis_holds_otherwise_than_the_archive_leaves_only_once_it_is_archived_too",
        ),
        (
            "Messages leave Redis once their archive was read back.",
            "sure = await self._verified(shelf, listing, base, min(limit, upto))",
            "sure = min(limit, upto)",
            "test_what_redis_holds_otherwise_than_the_archive_leaves_only_once_it_is_archived_too",
        ),
        (
            "A segment that is rewritten with what it holds stays.",
            "zip(contents, stored, strict=True) if old != new}",
            "zip(contents, stored, strict=True)}",
            "test_rewriting_a_segment_with_what_it_holds_leaves_its_file_alone",
        ),
        (
            "A segment is too old when it was archived before a moment.",
            "if segment.time >= before:",
            "if segment.time > before:",
            "test_a_segment_is_too_old_when_it_was_archived_before_a_moment_and_not_at_it",
        ),
        (
            "An archive fails until something is written.",
            "self.is_failing = True  # until",
            "self.is_failing = False  # until",
            "test_an_archive_fails_from_the_first_try_until_something_is_written",
        ),
        (
            "An archive fails no more once something is written.",
            "        self.is_failing = False\n        found",
            "        found",
            "test_an_archive_fails_from_the_first_try_until_something_is_written",
        ),
    ),
    *mutants_of(
        "daemon/archive/archive_files.py",
        _COMPARED,
        (
            "A file that is read is compared with its checksum.",
            "if lines is None or not await _aside(segment.bytes, lambda: is_of(segment, lines)):",
            "if lines is None:",
            "test_a_file_of_other_messages_of_the_same_length_is_not_read",
        ),
        (
            "A catalogue that is read is compared with its checksum.",
            "if lines is None or hashlib.sha256(lines).hexdigest() != catalogue.checksum:",
            "if lines is None:",
            "test_a_catalogue_of_other_segments_is_not_read",
        ),
        (
            "A newer catalogue is known by what it begins with.",
            "if hashlib.sha256(lines).hexdigest() == catalogue.checksum:",
            "if True:",
            "test_a_catalogue_of_other_segments_is_not_read",
        ),
        (
            "What a segment was rewritten to is known by its checksum.",
            'lines and stored.name == f"{stem}{checksum[:8]}{ENDING}" and',
            "lines and",
            "test_what_a_segment_was_rewritten_to_is_known_by_its_checksum_and_its_size[another content]",
        ),
        (
            "What a segment was rewritten to has as many messages.",
            ' and lines.count(b"\\n") == segment.count',
            "",
            "test_what_a_segment_was_rewritten_to_is_known_by_its_checksum_and_its_size[fewer messages]",
        ),
        (
            "An archive that is not mounted has lost nothing.",
            "if self._marker is None or await marker_in(self.storage) is not None:",
            "if True:",
            "test_an_archive_that_is_not_mounted_has_lost_nothing",
        ),
    ),
    *mutants_of(
        "daemon/archive/marker.py",
        _COMPARED,
        (
            "A database ID that a failover took back is made again.",
            'while (found := await bus.call("HGET", bus.keys.meta, "database")) is None:',
            'if (found := await bus.call("HGET", bus.keys.meta, "database")) is None:',
            "test_a_database_id_that_a_failover_took_back_is_made_again",
        ),
        (
            "An archive that two databases write to is nobody's.",
            "if found.database and found.database != database:",
            "if False:",
            "test_an_archive_that_a_second_database_writes_to_is_nobodys",
        ),
        (
            "An archive that has moved is noted again.",
            "if known is None or (known.kind, known.where, known.host) != (mine.kind, mine.where, mine.host):",
            "if known is None:",
            "test_where_an_archive_is_used_is_noted_again_when_it_has_moved",
        ),
        (
            "An archive whose note cannot be read is one.",
            'found[archive.decode()] = KnownArchive(\n                kind="local",',
            'dict(kind="local",',
            "test_an_archive_that_a_hand_has_spoilt_the_note_of_keeps_everything_in_redis",
        ),
    ),
    *mutants_of(
        "daemon/archive/lua/list.lua",
        _COMPARED,
        (
            "The same range of another archive is listed anew.",
            "\n  and part(listed, 'archive') == part(ARGV[3], 'archive')",
            "",
            "test_the_same_range_of_another_archive_takes_the_place_of_the_one_that_was_listed",
        ),
        (
            "A range is listed once.",
            "if listed then redis.call('LREM', KEYS[3], 0, listed) end\n",
            "",
            "test_the_same_range_of_another_archive_takes_the_place_of_the_one_that_was_listed",
        ),
    ),
    *mutants_of(
        "daemon/archive/orphans.py",
        _COMPARED,
        (
            "While orphans are deleted their shelf says so.",
            'await self._bus.call("SET", key, "1", "PX", round(CLEARING_TTL_S * 1000))',
            "pass",
            "test_while_orphans_are_deleted_their_shelf_says_so",
        ),
        (
            "A shelf says no more that its orphans are deleted once they are.",
            'await self._bus.call("DEL", key)',
            "pass",
            "test_while_orphans_are_deleted_their_shelf_says_so",
        ),
    ),
    *mutants_of(
        "daemon/archive/shelf_lists.py",
        _COMPARED,
        (
            "Few segments need no catalogue.",
            "if len(listing.entries) <= self._most + LISTED_SLACK and len(listing.catalogues) <= 1:",
            "if False:",
            "test_few_segments_need_no_catalogue",
        ),
    ),
    *mutants_of(
        "daemon/archive/archive_breaker.py",
        "unit/test_archive_breaker.py",
        (
            "A slow failure of the archive opens its breaker.",
            "if self._is_open or self._clock.monotonic() - began >= SLOW_S:",
            "if self._is_open:",
            "test_after_a_slow_failure_calls_fail_at_once_until_one_succeeds",
        ),
        (
            "A fast failure of the archive opens no breaker.",
            "if self._is_open or self._clock.monotonic() - began >= SLOW_S:",
            "if True:",
            "test_a_fast_failure_opens_nothing",
        ),
        (
            "A caller that gives up on the archive opens its breaker.",
            "except (ArchiveUnavailable, anyio.get_cancelled_exc_class()) as error:",
            "except ArchiveUnavailable as error:",
            "test_a_caller_that_gives_up_on_a_slow_call_opens_it",
        ),
        (
            "One call at a time finds out whether the archive is back.",
            "        self._until = self._clock.monotonic() + self._pause_s\n        return await",
            "        return await",
            "test_one_call_at_a_time_finds_out_whether_the_storage_is_back",
        ),
        (
            "A background probe spares every other call.",
            "self._has_prober or ",
            "",
            "test_a_background_probe_spares_every_other_call",
        ),
    ),
    *mutants_of(
        "daemon/archive/lua/trim.lua",
        _COMPARED,
        ("A log leaves Redis up to the cursor.", "tonumber(fields[2] or 0), ", "", _NEEDED),
        (
            "A log leaves Redis up to the head.",
            "upto, tonumber(fields[2] or 0), tonumber(fields[3] or 0))",
            "upto, tonumber(fields[2] or 0))",
            _NEEDED,
        ),
        (
            "What was not flushed stays in Redis.",
            "if unflushed then upto = math.min(upto, tonumber(unflushed)) end",
            "",
            _NEEDED,
        ),
        (
            "No more leaves Redis than there is.",
            "upto = math.min(upto, base + redis.call('LLEN', KEYS[2]))",
            "",
            _NEEDED,
        ),
    ),
    *mutants_of(
        "daemon/archive/archive_files.py",
        _COMPARED,
        (
            "Nothing is written while the mount is lost.",
            "if found is None or found.archive != marker.archive:",
            "if False:",
            "test_while_its_mount_is_lost_nothing_is_written_trimmed_or_deleted",
        ),
    ),
    *mutants_of(
        "daemon/archive/marker.py",
        _COMPARED,
        (
            "A process that starts while the mount is lost makes no second archive.",
            'run `{command}`." if before else ""',
            'run `{command}`." if False else ""',
            "test_while_its_mount_is_lost_nothing_is_written_trimmed_or_deleted",
        ),
    ),
    *mutants_of(
        "daemon/archive/marker.py",
        "integration/test_archive_trim.py",
        (
            "An archive that another process opens between two looks was never lost.",
            "if found is None and why:",
            "if why:",
            "test_an_archive_that_another_process_opens_between_two_looks_was_never_lost",
        ),
    ),
    *mutants_of(
        "daemon/archive/archive_files.py",
        "integration/test_forgetting_archive_away.py",
        (
            "Forgetting waits for a lost mount.",
            "if lies and lies.is_at(self.storage):",
            "if False:",
            "test_the_archived_part_waits_for_the_archive_and_is_deleted_then",
        ),
    ),
    *mutants_of(
        "daemon/archive/local_storage.py",
        "integration/test_archive.py",
        (
            "The folder of a lost mount is not made again.",
            "        if self._was_written:\n",
            "        if False:\n",
            "test_the_folder_of_a_lost_mount_is_not_made_again",
        ),
    ),
)
