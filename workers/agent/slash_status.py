"""Answers ``/status`` and ``/whoami``: the state of a conversation, and the IDs in it."""

from daemon.access import is_admin, person_of
from daemon.config import BotConfig
from daemon.errors import ContextOverflow
from daemon.events import Inbound
from daemon.process import Process
from daemon.session import SessionState
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.prompt_preview import portions
from workers.agent.turn_progress import Kit


async def status(process: Process, kit: Kit, state: SessionState, asking: Inbound, *, now_ms: int) -> str:
    """Where a conversation stands, for its people; times are the server's.

    Raises:
        BusUnavailable: Redis is away.
    """
    return say(
        "status",
        kit.language,
        model=kit.model.name,
        context=await _context(process, kit, state, asking),
        head=state.head,
        cursor=state.cursor,
        waiting=state.waiting,
        doing=_doing(state, kit.language, now_ms),
    )


async def _context(process: Process, kit: Kit, state: SessionState, asking: Inbound) -> str:
    try:
        parts = await portions(process, kit, state, asking)
    except ContextOverflow:
        return say("status_overflow", kit.language, budget=f"{kit.prompts.rules_now().budget_tokens:,}")
    used = parts["budget"] - parts["free"]
    return say("status_context", kit.language, used=f"{used:,}", **{name: f"{n:,}" for name, n in parts.items()})


def _doing(state: SessionState, language: Language, now_ms: int) -> str:
    if state.worker and state.lease_ms > now_ms:
        return say("status_running", language, seconds=_seconds(now_ms - state.since_ms))
    if state.retry_at_ms > now_ms:
        return say("status_parked", language, seconds=_seconds(state.retry_at_ms - now_ms))
    return say("status_queued" if state.waiting else "status_idle", language)


def _seconds(ms: int) -> int:
    return max(0, round(ms / 1000))


def whoami(bot: BotConfig, state: SessionState, asking: Inbound, *, scope: str) -> str:
    """Who asks, as configuration, commands and accounts name them; ``scope`` is whose memory it is."""
    language = bot.language
    return say(
        "whoami",
        language,
        person=person_of(asking),
        name=say("whoami_name", language, name=asking.sender_name) if asking.sender_name else "",
        channel=asking.channel,
        chat=f"{asking.chat}:{asking.thread}" if asking.thread else asking.chat,
        session=state.session,
        scope=scope,
        admin=say("yes" if is_admin(bot, asking) else "no", language),
    )
