"""Mutants of leases: what keeps out a holder whose lease has gone to another, in each script that one runs."""

from tests.mutants.mutant import Mutant

_ZOMBIES = "integration/test_zombies.py::test_a_call_"
_NONCE = "if redis.call('HGET', KEYS[{}], 'nonce') ~= ARGV[{}] then"


def _held(file: str, old: str, new: str = "if false then", loss: str = "expired") -> Mutant:
    """A check of who the holder is."""
    return Mutant(
        rule=f"A holder whose lease was lost ({loss}) changes nothing by {file}.",
        file=file,
        old=old,
        new=new,
        caught_by=f"{_ZOMBIES}that_arrives_in_a_successors_time_changes_nothing[{file}-{loss}]",
    )


def _named(file: str, old: str, new: str = "") -> Mutant:
    """What tells that something was done already, in a script that only a whole job runs."""
    return Mutant(
        rule=f"What a job has done by {file} its next process does not do again.",
        file=file,
        old=old,
        new=new,
        caught_by=f"{_ZOMBIES}of_a_job_that_arrives_in_a_successors_time_changes_nothing[{file}]",
    )


MUTANTS = (
    # Of a turn
    _held("daemon/session/lua/claim.lua", "if ahead(lease) then return later(session, lease, 'held') end", ""),
    _held("daemon/session/lua/renew.lua", _NONCE.format(1, 2)),
    _held("daemon/session/lua/journal.lua", _NONCE.format(1, 1)),
    _held(
        "daemon/session/lua/commit.lua", "if not held or claims ~= claim then", "if claims ~= claim then", "failover"
    ),
    _held("daemon/session/lua/release.lua", _NONCE.format(1, 2)),
    _held("daemon/session/lua/say.lua", _NONCE.format(1, 1)),
    _held("daemon/bus/lua/live.lua", _NONCE.format(1, 1)),
    _held("daemon/session/lua/aside.lua", "redis.call('XDEL', KEYS[1], ARGV[2])", ""),
    # Of a consolidation
    _held("daemon/session/lua/lock.lua", "if nonce ~= '' and deadline > now", "if false and deadline > now"),
    _held("daemon/session/lua/relock.lua", _NONCE.format(1, 2)),
    _held("daemon/session/lua/note.lua", _NONCE.format(2, 1)),
    _held("daemon/session/lua/settle.lua", _NONCE.format(2, 2)),
    _held("daemon/session/lua/unlock.lua", _NONCE.format(2, 2)),
    _held("daemon/memory/lua/open.lua", "if highest then return {'behind', highest} end", ""),
    _held("daemon/memory/lua/apply.lua", "if behind(fields, fence, nonce) then return {'lost'} end", ""),
    _held("daemon/memory/lua/append.lua", "if behind(fields, ARGV[2], ARGV[3]) then return {'lost'} end", ""),
    _held("daemon/memory/lua/digest.lua", "if behind(fields, ARGV[2], ARGV[3]) then return {'lost'} end", ""),
    _held("daemon/memory/lua/set_back.lua", "if behind(fields, ARGV[2], ARGV[3]) then return {'lost'} end", ""),
    _held("daemon/memory/lua/followed.lua", "if behind(fields, ARGV[2], ARGV[3]) then return 'lost' end", ""),
    Mutant(
        rule="A memory that was opened under a higher fence is closed to a lower one.",
        file="daemon/memory/lua/memory.part.lua",
        old="highest > fence or ",
        new="",
        caught_by=f"{_ZOMBIES}that_arrives_in_a_successors_time_changes_nothing[daemon/memory/lua/apply.lua-expired]",
    ),
    Mutant(
        rule="Of two locks that were given one fence, the one that opened the memory last writes it.",
        file="daemon/memory/lua/memory.part.lua",
        old=" or (highest == fence and holder ~= nonce)",
        new="",
        caught_by=f"{_ZOMBIES}that_arrives_in_a_successors_time_changes_nothing[daemon/memory/lua/apply.lua-failover]",
    ),
    _held("daemon/archive/lua/list.lua", "'archive') then return listed end", "'archive') then listed = listed end"),
    _held("daemon/archive/lua/trim.lua", "tonumber(fields[1] or 0), tonumber(ARGV[1])", "0, tonumber(ARGV[1])"),
    _held("daemon/archive/lua/swap.lua", "if not place[ARGV[at]] then missing = missing + 1 end", ""),
    _held("daemon/archive/lua/expire.lua", "if upto <= begins then return begins end", ""),
    # Of a leader
    _held(
        "channels/lua/lead.lua",
        "'nonce') == ARGV[1] then",
        "'nonce') == ARGV[1] or ARGV[2] == '-1' then",
    ),
    _held("channels/lua/resign.lua", _NONCE.format(1, 1)),
    _held("channels/outbox/lua/marks.lua", "redis.call('HGET', KEYS[1], 'nonce') == ARGV[1]", "true"),
    _held("channels/outbox/lua/dead.lua", _NONCE.format(1, 1)),
    _held("channels/live_display/lua/show.lua", _NONCE.format(1, 1)),
    # Of a job
    _held("daemon/jobs/lua/take.lua", "if deadline > now and deadline <= now + ARGV[5] then"),
    _held("daemon/jobs/lua/save.lua", "if fields[1] ~= ARGV[2] then"),
    _held("daemon/jobs/lua/put_off.lua", "if fields[1] ~= ARGV[2] then"),
    _held("daemon/jobs/lua/finish.lua", "if fields[1] ~= ARGV[2] then"),
    _held("daemon/jobs/lua/hush.lua", _NONCE.format(1, 1)),
    _held(
        "daemon/memory/lua/join_unmark.lua", "if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then", "if true then"
    ),
    _held("daemon/bus/lua/migrate.lua", "ARGV[4] ~= '' and holder == ARGV[1] and", "ARGV[4] ~= '' and"),
    _named("daemon/jobs/lua/tell.lua", "if redis.call('EXISTS', KEYS[3]) == 1 then return 'again' end"),
    _named("daemon/memory/lua/join_take.lua", "link[kind] = upto"),
    _named("daemon/memory/lua/part_give.lua", "leaving[kind] = upto"),
    _named("daemon/forget/lua/current.lua", "then return 'moved' end", "then redis.call('PING') end"),
    _named("daemon/forget/lua/skip.lua", "if behind(fields, ARGV[2], ARGV[3]) then return 'lost' end"),
    _named("daemon/forget/lua/leave.lua", "if redis.call('HGET', KEYS[5], 'nonce') ~= ARGV[2] then return 'lost' end"),
)
