"""The thread of a message: its earlier messages, for the process that answers."""

from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from channels.base import LooksBack
from channels.intake.group_messages import KEPT_CHARS, KEPT_MAX, TEXT_CHARS
from channels.push import connect
from daemon.access import Access, Speaker, verdict
from daemon.config import PushConfig
from daemon.errors import SendRejected
from daemon.events import Inbound, Overheard
from daemon.process import Process


async def said_before(process: Process, inbound: Inbound, *, timeout_s: float) -> tuple[Overheard, ...]:
    """The messages before ``inbound``, from the group context or the platform, oldest first, within its limits.

    What people say who are banned is left out.

    Raises:
        SendRefused: the platform cannot be asked just now.
        SendRejected: it may not be asked, or this process's configuration has no such channel.
        BusUnavailable: Redis is away.
    """
    config = process.config.channels.get(inbound.channel)
    if not isinstance(config, PushConfig):
        raise SendRejected(
            f"earlier messages from channel {inbound.channel[:80]!r} are needed, but the channel is not in this "
            "process's configuration"
        )
    async with connect(process, inbound.channel, config) as adapter:
        if not isinstance(adapter, LooksBack):
            return inbound.overheard
        found = await adapter.before(inbound, timeout_s=timeout_s)
    decided = await Access(process.bus, inbound.channel).entries()

    def is_heard(said: Overheard) -> bool:
        who = Speaker(sender=said.sender_id, chat=inbound.chat, in_group=True, is_admin=False)
        return verdict(config.access, decided, who) != "banned"

    return joined(inbound, filter(is_heard, found))


def joined(inbound: Inbound, found: Iterable[Overheard]) -> tuple[Overheard, ...]:
    """What ``inbound`` brings along and what was found, each message once, oldest first.

    These are the message that the thread is about, and the newest ones, as many as have room.
    """
    # What was found stands there now; what was overheard may have been edited since.
    known = {said.id: said for said in found}
    for said in inbound.overheard:
        known.setdefault(said.id, said)
    candidates = [said for said in known.values() if said.id != inbound.id and said.text.strip()]
    # What was said in the same moment stays in the order in which it came.
    cut = [msgspec.structs.replace(said, text=said.text[:TEXT_CHARS]) for said in sorted(candidates, key=_time)]
    root = [said for said in cut if said.id == inbound.thread]
    kept: list[Overheard] = []
    chars = sum(len(said.text) for said in root)
    for said in reversed([each for each in cut if each not in root][len(root) - KEPT_MAX :]):
        chars += len(said.text)
        if chars > KEPT_CHARS:
            break
        kept.append(said)
    return tuple(sorted((*root, *reversed(kept)), key=_time))


def _time(said: Overheard) -> datetime:
    try:
        time = datetime.fromisoformat(said.at)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)  # an adapter's mistake: older than all that has a time
    return time if time.tzinfo else time.replace(tzinfo=UTC)
