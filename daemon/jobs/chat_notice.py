"""Sending a message once to a chat, outside of its turns."""

import msgspec

from daemon.bus import load_script
from daemon.clock import stamp
from daemon.events import Notice, Reply
from daemon.jobs.job_host import Host
from daemon.jobs.job_store import Tell

TELL = load_script(__file__, "tell.lua")

TOLD_TTL_S = 604_800.0
"""Time for which such messages are remembered: a week, longer than a job can back off."""

_encode = msgspec.json.Encoder().encode


async def tell(host: Host, to: Tell, text: str, *, name: str) -> bool:
    """Send ``text`` to the chat ``to``, once per chat and ``name``; False if it was sent before.

    Raises:
        BusUnavailable: Redis is away; the call can be repeated.
    """
    keys, partition = host.bus.keys, host.bus.keys.partition(to.session)
    said = f"{to.session}#{name}"
    notice = Notice(kind="aside", text=text, time=stamp(host.clock.now()), message_id=to.message_id)
    reply = Reply(id=said, session=to.session, turn=0, text=text, correlation=to.correlation)
    status: bytes = await host.bus.run(
        TELL,
        [keys.notices(to.session), keys.out(partition, to.out_channel), keys.said(to.session, said)],
        [
            _encode(notice),
            round(host.config.queue.notice_ttl_s * 1000),
            keys.events(to.session),
            _encode(reply) if to.out_channel else b"",
            round(TOLD_TTL_S * 1000),
        ],
    )
    return status == b"said"
