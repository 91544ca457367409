"""Answers ``/memory``: shows a conversation's memory, or searches it for a question."""

import datetime as dt
from collections.abc import Sequence

import anyio

from daemon.config import BotConfig
from daemon.memory import Memories
from daemon.recall import Hit, Recaller, is_session
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.runtime_context import moment

SHOWN_CHARS = 3_000
"""Of a longer MEMORY.md the beginning is shown: platforms take about 4,000 in a message."""

SEARCH_S = 10.0
"""How long is looked: others wait for the answers to their commands meanwhile."""


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


async def found_again(recaller: Recaller, bot: BotConfig, scope: str, question: str) -> str:
    """What ``scope``, a home, holds that goes with ``question``. Errors as for ``remembered``."""
    with anyio.move_on_after(SEARCH_S):
        found = await recaller.search(scope, question)
        if found.hits:
            return say("memory_found", bot.language, hits=_listed(found.hits, bot.language))
        return say("memory_found_none", bot.language)
    return say("memory_unsearched", bot.language)


def _listed(hits: Sequence[Hit], language: Language) -> str:
    lines: list[str] = []
    for number, hit in enumerate(hits, 1):
        date = say("memory_hit_date", language, date=hit.time[:10]) if hit.time else ""
        text = " ".join(hit.snippet.split())
        lines.append(say("memory_hit", language, number=number, tier=say(_tier(hit), language), date=date, text=text))
    return "\n".join(lines)


def _tier(hit: Hit) -> str:
    """The word for where it stands, as ``/forget`` names it."""
    if is_session(hit.file):
        return "tier_messages"
    if hit.file.startswith("memory/MEMORY.md"):
        return "tier_versions" if "@" in hit.file else "tier_memory"
    return "tier_history" if hit.file == "memory/HISTORY.md" else "tier_notes"
