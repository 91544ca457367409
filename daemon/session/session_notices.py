"""Notices for the users of a session that belong to no turn."""

import msgspec

from daemon.bus import Bus, load_script
from daemon.config import QueueConfig
from daemon.session.release import Word

TELL = load_script(__file__, "tell.lua")

_encode = msgspec.json.Encoder().encode


async def tell(bus: Bus, config: QueueConfig, session: str, word: Word) -> None:
    """Send ``word`` in a session. Errors as for ``Bus.call``; the word may then be sent twice."""
    keys = bus.keys
    await bus.run(
        TELL,
        [keys.notices(session), keys.out(keys.partition(session), word.out_channel)],
        [
            _encode(word.notice),
            round(config.notice_ttl_s * 1000),
            keys.events(session),
            _encode(word.reply) if word.reply else "",
        ],
    )
