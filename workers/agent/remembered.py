"""The answer to ``/memory``: what a bot remembers in a conversation, for its people."""

import datetime as dt

from daemon.config import BotConfig
from daemon.memory import Memories
from daemon.wording import text as say
from workers.agent.runtime import moment

SHOWN_CHARS = 3_000
"""Of a longer MEMORY.md the beginning is shown: platforms take about 4,000 in a message."""


async def remembered(memories: Memories, bot: BotConfig, scope: str) -> str:
    """MEMORY.md of ``scope``, a home, with its version and when it last changed.

    Raises:
        BusUnavailable: Redis is away.
    """
    current = await memories.current(scope)
    text = current.text.strip()
    if not text:
        return say("memory_none", bot.language)
    if len(text) > SHOWN_CHARS:
        shown, left = text[:SHOWN_CHARS].rstrip(), f"{len(text) - SHOWN_CHARS:,}"
        text = say("memory_more", bot.language, text=shown, left=left, scope=scope)
    changed = dt.datetime.fromisoformat((await memories.version(scope, current.version)).time)
    return say(
        "memory",
        bot.language,
        version=current.version,
        time=moment(changed, bot.time_zone, bot.language),
        text=text,
    )
