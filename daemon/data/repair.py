"""Mending what a look at the data found; each script looks again before it changes anything."""

from daemon.bus import Bus, load_script
from daemon.data.flaw import Mend

SESSION = load_script(__file__, "mend.lua")
SCOPE = load_script(__file__, "mend_scope.lua")
KEY = load_script(__file__, "mend_key.lua")

OF_SCOPES = frozenset({"text", "checksum", "undigested"})


async def mend(bus: Bus, wanted: Mend) -> bool:
    """Whether something was changed: what has become right by itself was not.

    Raises:
        BusUnavailable: Redis is away; the same call may be made again.
    """
    keys = bus.keys
    if wanted.key:
        status = await bus.run(KEY, [wanted.key], [wanted.action, *wanted.args])
    elif wanted.action in OF_SCOPES:
        named = [keys.memory(wanted.owner), keys.versions(wanted.owner), keys.undigested(wanted.owner)]
        status = await bus.run(SCOPE, named, [wanted.action, *wanted.args])
    else:
        status = await bus.run(SESSION, _of_session(bus, wanted.owner), [wanted.action, wanted.owner, *wanted.args])
    return bool(status == b"mended")


async def is_stray(bus: Bus, session: str, stream_id: str) -> bool:
    """Whether a message stands in ``in``, and neither waits in its session nor is to be answered aside."""
    return bool(await bus.run(SESSION, _of_session(bus, session), ["stray", session, stream_id, "look"]) == b"mended")


def _of_session(bus: Bus, session: str) -> list[str]:
    own = bus.keys.of(session)
    named = [own.session, own.waiting, own.inbox, own.ready, own.due, own.unsettled, own.asides, own.log]
    return [*named, bus.keys.reminders(session), bus.keys.upcoming(bus.keys.partition(session))]
