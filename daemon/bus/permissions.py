"""What each role may do on the server: its keys and commands, as rules of the server's access control lists (ACL).

``millpond redis-acl`` prints the users of all roles. ``millpond doctor`` and every process of ``run`` compare the rules
with what the server allows. On Redis 7 and Valkey, a key that a role only reads is read-only. Redis 6.2 knows no such
rule. A key that a script reads counts as written, because the server cannot tell.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from redis.exceptions import NoPermissionError

from daemon.bus.command_batch import translated
from daemon.bus.connection import Bus
from daemon.bus.pipeline_connection import AWAY, Part, PipelineConnection

_PARTITIONS = "in,ready,due,asides,grew,unsettled,upcoming,dead,unknown"
"""Kinds of keys, one a partition."""

_NAMED = (
    "out,leader,session,log,waiting,lock,live,notices,traces,seen,sent,said,forgetting,overheard,bots,told,reminders,"
    "segments,restoring,memory,history,versions,notes,undigested,clearing,shelved"
)
"""Kinds of keys, one for each session, memory, channel or message of a partition."""

_SINGLE = "meta,sessions,labels,archives,collecting,retaining,workers,people,audit,lost"
"""Kinds of keys, one a database. All others are ``<prefix>:<kind>:<name>``."""


UNTRIED = ("multi", "discard", "subscribe", "psubscribe", "unsubscribe", "punsubscribe", "bgrewriteaof")
"""Commands that cannot be tried in a transaction, and the one that managed servers forbid: forgetting reports that."""

OF_CLUSTERS = ("cluster", "asking", "client")
"""Commands that a single server is not asked for, or whose refusal does not matter there."""

OPERATOR = "millpond"
"""The user of commands, and of processes that have several roles. The user of a role is ``millpond-<role>``."""


def pattern_of(kind: str) -> str:
    """The keys of a kind behind the prefix and its colon, as the server's rules write them."""
    if kind in _PARTITIONS.split(","):
        return f"{{*}}:{kind}"
    if kind in _NAMED.split(","):
        return f"{{*}}:{kind}:*"
    return kind if kind in _SINGLE.split(",") else f"{kind}:*"


class Rights(msgspec.Struct, frozen=True, kw_only=True):
    """Of one role: kinds of keys, names of channels and calls, separated by commas."""

    reads: str
    """Kinds of keys that are read, beside those of every process."""
    writes: str
    hears: str
    """Channels that it publishes to or hears."""
    calls: str
    """Commands, beside those of every process, each with as few arguments as it takes: so they can be tried."""


EVERY = Rights(
    # Of /metrics, of `millpond doctor`, and of the heartbeat.
    reads="in,ready,due,grew,dead,unsettled,unknown,out,session",
    writes="meta,archives,workers,sessions,lost,rates",
    hears="listeners,replicated",
    calls=(
        "info, time, ping, echo x, wait 1 1, asking, multi, discard, cluster slots, client id, client tracking off, "
        "evalsha x 0, script load x, publish c x, subscribe c, psubscribe c, unsubscribe c, punsubscribe c, "
        "get k, set k v, getdel k, del k, unlink k, exists k, type k, pttl k, pexpire k 1, pexpireat k 1, expire k 1, "
        "persist k, rename k k, hset k f v, hget k f, hdel k f, hmget k f, hgetall k, hsetnx k f v, hincrby k f 1, "
        "hexists k f, hlen k, hkeys k, lrange k 0 0, llen k, rpush k v, lpush k v, rpushx k v, lindex k 0, lrem k 0 v, "
        "ltrim k 0 0, lset k 0 v, lpos k v, linsert k before v v, zadd k 1 v, zrem k v, zscore k v, zmscore k v, "
        "zcard k, zrange k 0 0, zrevrange k 0 0, zrangebyscore k 0 0, zrangebylex k - +, zlexcount k - +, "
        "zremrangebyscore k 0 0, zremrangebyrank k 0 0, xadd k * f v, xdel k 0-0, xlen k, "
        "xrange k - +, xrevrange k + -, xsetid k 0-0"
    ),
)
"""Of every process. The data commands are those that the scripts use; the keys are what limits them."""

_PUBLISHED = "in,ready,due,asides,session,waiting,seen,overheard"
"""Kinds that a message is accepted into (``publish.lua``)."""

_SESSION = "in,ready,due,asides,session,waiting,log,live,notices,traces,grew,unsettled,dead,out,said,told"
"""Kinds that a turn, its answer and what follows from it are written to."""

_REMINDERS = "reminders,upcoming"
"""Kinds that a reminder is kept in."""

_MEMORY = "memory,history,versions,notes"

_CONSOLIDATED = f"{_MEMORY},lock,undigested,segments,shelved,clearing"
"""Kinds that a consolidation is written to; those of ``/compact`` and of a full context are an agent's."""

RIGHTS: Mapping[str, Rights] = {
    "web": Rights(
        reads="live,lock,notices,traces,segments,shelved,undigested,paused,people,failing,learnt,errors,poller,"
        "leader,ended,approval",
        writes=f"{_PUBLISHED},dead,out,log,grew,unsettled,restoring,{_MEMORY},{_REMINDERS},forgetting,job,jobs,login,visitor,"
        "audit,usage,labels,access,codes,guesses,told",
        hears="events:*,commands,nudges,rulings",
        calls="scan 0",
    ),
    "agent": Rights(
        reads="overheard,moved,people,ended,labels",
        writes=f"{_SESSION},{_CONSOLIDATED},{_REMINDERS},preferences,proactive,forgetting,job,jobs,usage,bucket,"
        "access,codes,guesses,paused,pair,linking,tries,learnt,failing,errors,web,audit,approval",
        hears="events:*,commands,nudges,rulings",
        calls="scan 0, bzpopmin k 1, zpopmin k",
    ),
    "channels": Rights(
        reads="live,access,paused",
        writes=f"{_PUBLISHED},log,dead,out,leader,poller,sent,unknown,traces,told,codes,bots,moved,pace",
        hears="events:*,commands,nudges,rulings,leaders",
        calls="xread streams k 0",
    ),
    "consolidation": Rights(
        reads="moved",
        writes=f"{_SESSION},{_CONSOLIDATED},{_REMINDERS},preferences,unknown,collecting,retaining,restoring,"
        "forgetting,overheard,linking,job,jobs,ended,people,usage,learnt,failing,errors,labels,web",
        hears="events:*,commands,nudges",
        calls="scan 0, xreadgroup group x x streams k >, xgroup create k x 0, xautoclaim k x x 1 0, xack k x 0-0, "
        "xtrim k maxlen 1, bgrewriteaof",
    ),
}
"""Role → its rights. Jobs (linking, forgetting) and retention are a part of ``consolidation``."""


def rights_of(role: str) -> Rights:
    """What a role and every process need. A key that is written is not named among those that are read."""
    own = RIGHTS[role]
    writes = sorted({*EVERY.writes.split(","), *own.writes.split(",")})
    reads = sorted({*EVERY.reads.split(","), *own.reads.split(",")} - set(writes))
    return Rights(
        reads=",".join(reads),
        writes=",".join(writes),
        hears=f"{EVERY.hears},{own.hears}",
        calls=f"{EVERY.calls}, {own.calls}",
    )


def rules_of(role: str, prefix: str) -> str:
    """The rules of a role's user, for ``ACL SETUSER`` on Redis 7 or Valkey; without its password."""
    rights = rights_of(role)
    return " ".join(
        (
            "resetkeys",
            *(f"~{prefix}:{pattern_of(kind)}" for kind in rights.writes.split(",")),
            *(f"%R~{prefix}:{pattern_of(kind)}" for kind in rights.reads.split(",")),
            "resetchannels",
            *(f"&{prefix}:{name}" for name in rights.hears.split(",")),
            # The server of a cluster says by it which keys were changed.
            "&__redis__:invalidate",
            "-@all",
            *(f"+{_name(call)}" for call in rights.calls.split(", ")),
        )
    )


def users(prefix: str, *, read_only: bool = True) -> str:
    """The lines of an ACL file: nobody without a password, one user for commands, one for each role.

    ``read_only``: with rules that Redis 6.2 does not know. Every ``PASSWORD`` is to be replaced.
    """
    lines = {
        # All keys and channels, but not the server's settings. bgrewriteaof removes forgotten data from its files.
        OPERATOR: f"resetkeys ~{prefix}:* resetchannels &{prefix}:* &__redis__:invalidate "
        "+@all -@admin -@dangerous +info +bgrewriteaof +client|id +client|tracking +cluster|slots",
        **{f"{OPERATOR}-{role}": rules_of(role, prefix) for role in RIGHTS},
    }
    text = "".join(f"user {name} on >PASSWORD {rules}\n" for name, rules in lines.items())
    return "user default off\n" + (text if read_only else text.replace(" %R~", " ~"))


def _name(call: str) -> str:
    """A command as the rules name it."""
    first, *more = call.split()
    return f"{first}|{more[0]}" if first in ("script", "client", "cluster") else first


async def missing(bus: Bus, role: str) -> list[str]:
    """The rules of a role that the user of this connection lacks; empty when it may do all that the role does.

    Each is asked of the server in a transaction that is thrown away: nothing is carried out.

    Raises:
        BusUnavailable: Redis is away.
    """
    line = PipelineConnection(bus.client if bus.cluster is None else bus.cluster.any_node(), shaped=False)
    try:
        if [rule for rule, answer in await _asked(line, []) if _lacks(rule, answer)]:
            return ["+multi"]
        tried = list(_tries(bus.keys.prefix, rights_of(role), is_cluster=bus.cluster is not None))
        return [rule for rule, answer in await _asked(line, tried) if _lacks(rule, answer)]
    finally:
        await line.aclose()


_Try = tuple[str, tuple[Part, ...]]
"""A rule, and a command that the server refuses without it."""


async def _asked(line: PipelineConnection, tried: Sequence[_Try]) -> list[tuple[str, Any]]:
    whole: list[_Try] = [("+multi", ("MULTI",)), *tried, ("+discard", ("DISCARD",))]
    answers = await line.ask([command for _, command in whole])
    if isinstance(answers[0], AWAY):
        raise translated(answers[0]) from answers[0]
    return [(rule, answer) for (rule, _), answer in zip(whole, answers, strict=True)]


def _tries(prefix: str, rights: Rights, *, is_cluster: bool) -> Iterator[_Try]:
    # A key and a channel that every role may use: of others, each command would be a line in the server's log.
    words = {"k": f"{prefix}:{{0}}:session:0", "c": f"{prefix}:listeners"}
    for call in rights.calls.split(", "):
        if not call.startswith(UNTRIED if is_cluster else UNTRIED + OF_CLUSTERS):
            yield f"+{_name(call)}", tuple(words.get(word, word) for word in call.split())
    for sign, command, kinds in (("~", ("HDEL", "x"), rights.writes), ("%R~", ("EXISTS",), rights.reads)):
        for kind in kinds.split(","):
            key = f"{prefix}:{pattern_of(kind)}"
            yield f"{sign}{key}", (command[0], key.replace("*", "0"), *command[1:])
    for name in rights.hears.split(","):
        yield f"&{prefix}:{name}", ("PUBLISH", f"{prefix}:{name.replace('*', '0')}", "")


def _lacks(rule: str, answer: object) -> bool:
    if not isinstance(answer, NoPermissionError):
        return False
    # One who may not run a command is told so before anybody looks at its keys.
    return (" run the " in str(answer)) == rule.startswith("+")
