"""Mutants of the archive: listing, reading back, trimming."""

from tests.mutants.mutant import Mutant


def _row(rule: str, file: str, old: str, new: str, caught_by: str) -> Mutant:
    return Mutant(rule=rule, file=file, old=old, new=new, caught_by=f"integration/test_{caught_by}")


MUTANTS = (
    _row(
        "A segment that the log does not hold is not listed.",
        "daemon/archive/list.lua",
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
        "daemon/archive/trim.lua",
        "if redis.sha1hex(table.concat(seen, '\\n')) ~= ARGV[3] then return {'moved', base} end",
        "",
        "archive_trim.py::test_a_list_that_is_another_one_by_then_stops_the_trimming",
    ),
)
