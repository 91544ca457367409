"""Mutants of data and jobs."""

from tests.mutants.mutant import Mutant


def _row(rule: str, file: str, old: str, new: str, caught_by: str) -> Mutant:
    return Mutant(rule=rule, file=file, old=old, new=new, caught_by=f"integration/test_{caught_by}")


MUTANTS = (
    _row(
        "A job is made once.",
        "daemon/jobs/lua/create.lua",
        "if redis.call('EXISTS', KEYS[1]) == 1 then return 'there' end",
        "",
        "jobs.py::test_copies_that_come_late_change_nothing",
    ),
    _row(
        "A job that is taken twice by one process is taken.",
        "daemon/jobs/lua/take.lua",
        "if fields.nonce == ARGV[2] then return taken() end",
        "",
        "jobs.py::test_copies_that_come_late_change_nothing",
    ),
    _row(
        "A job that was given back is not taken by a late call.",
        "daemon/jobs/lua/take.lua",
        "if fields.released == ARGV[2] then return {'over'} end",
        "",
        "jobs.py::test_copies_that_come_late_change_nothing",
    ),
    _row(
        "A step of a job is not saved over a later one.",
        "daemon/jobs/lua/save.lua",
        "and tonumber(ARGV[4]) > tonumber(fields[2] or 0)",
        "",
        "jobs.py::test_copies_that_come_late_change_nothing",
    ),
)
