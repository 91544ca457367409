"""Answers ``/memory``, ``/forget`` and ``/export``: stored data is shown, deleted or sent."""

import datetime as dt
from collections.abc import Sequence
from functools import partial

import anyio
import structlog

from daemon.access import may_take
from daemon.bus import argument_of
from daemon.config import BotConfig
from daemon.errors import ConfigError, brief
from daemon.events import Attachment, Choice, Inbound
from daemon.export import KeptExport, export_here, family
from daemon.forget import (
    ForgetOrder,
    ForgetRequests,
    ForgetSearch,
    PendingChoice,
    choice_of,
    matches_of,
    matches_text,
    scopes_with,
    stores_for,
)
from daemon.forget.text_matcher import MOST_CHARS
from daemon.jobs import Jobs, NotifiedChat
from daemon.memory import Memories
from daemon.process import Process
from daemon.recall import Hit, Recaller, is_session
from daemon.session import Claim
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.commands.command_outcome import Outcome
from workers.agent.prompt.user_messages import moment
from workers.choices import choice, token_of, unnamed
from workers.tools.message import MEDIA_MAX_BYTES

# Answers ``/memory``: shows a conversation's memory, or searches it for a question.

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


# ``/forget``: lists stored texts of a chat, and deletes the chosen ones.

BUTTONS_MAX = 8
"""Entries of a list that have buttons of their own; of a longer list, numbers are typed."""

LOOK_LIMIT_S = 60.0
"""How long is looked; the chat's next messages wait."""


class ForgetCommand:
    """Answers the command; everything it does may be done again when its turn is taken up by another worker."""

    def __init__(self, process: Process) -> None:
        queue = process.config.queue
        self._stores = stores_for(process)
        jobs = Jobs(process.bus, lease_s=queue.lease_s, worker=process.name, clock=process.clock)
        self._asking = ForgetRequests(process.bus, jobs)

    async def outcome(self, claim: Claim, inbound: Inbound, bot: BotConfig) -> Outcome:
        """What ``inbound`` comes to.

        Raises:
            BusUnavailable: Redis is away.
        """
        if not may_take(bot, inbound, claim.begun.scope):
            return Outcome(text=say("admins_only", bot.language))
        argument, token = unnamed(argument_of(inbound.text))
        wanted = choice_of(argument)
        if wanted.kind not in ("numbers", "all"):
            wanted = choice_of(argument_of(inbound.text))  # the token belongs to the words
        match wanted.kind:
            case "nothing":
                return Outcome(text=say("forget_how", bot.language))
            case "short" | "long":
                return Outcome(text=say("forget_length", bot.language, most=MOST_CHARS))
            case "text":
                return await self._listed(claim, inbound, bot)
            case _:
                return Outcome(text=await self._ordered(claim, inbound, bot, wanted.numbers, token))

    async def _order(self, claim: Claim) -> ForgetOrder:
        scopes = await scopes_with(self._stores.bus, claim.begun.scope)
        return ForgetOrder(name=claim.begun.scope, scopes=scopes, chat=claim.session)

    async def _listed(self, claim: Claim, inbound: Inbound, bot: BotConfig) -> Outcome:
        text = argument_of(inbound.text)
        try:
            with anyio.fail_after(LOOK_LIMIT_S):
                found = await matches_of(self._stores, await self._order(claim), text)
        except TimeoutError:
            return Outcome(text=say("forget_slow", bot.language, scope=claim.begun.scope))
        unsearched = f"\n\n{say('forget_unsearched', bot.language)}" if found.waits else ""
        if not found.shown:
            return Outcome(text=say("forget_none", bot.language) + unsearched)
        kept = await self._asking.keep(claim.session, text, found, by=inbound.sender_id)
        listed = matches_text(found.shown, found.more, bot.language) + unsearched
        return Outcome(text=listed, choices=_forget_choices(kept, bot.language))

    async def _ordered(
        self, claim: Claim, inbound: Inbound, bot: BotConfig, numbers: tuple[int, ...], token: str
    ) -> str:
        pending = await self._asking.pending(claim.session, by=inbound.sender_id)
        if token and (pending is None or token != token_of(pending.question)):
            return say("choice_old", bot.language)
        if pending is None:
            return say("forget_stale", bot.language)
        count = len(pending.groups)
        for number in numbers:
            if not 1 <= number <= count:
                return say("forget_number", bot.language, number=number, count=count)
        chosen = tuple(pending.groups[number - 1] for number in numbers) if numbers else None
        tell = NotifiedChat(
            session=claim.session,
            out_channel=inbound.channel if inbound.delivery == "push" else "",
            correlation=inbound.correlation,
            message_id=inbound.id,
            language=bot.language,
        )
        search = ForgetSearch(text=pending.text, chosen=chosen)
        await self._asking.order(await self._order(claim), search, name=inbound.id, tell=tell)
        return say("forget_began", bot.language)


def _forget_choices(listed: PendingChoice, language: Language) -> tuple[Choice, ...]:
    make = partial(choice, language=language, question=listed.question, who=listed.by)
    count = len(listed.groups)
    single = [make("choice_forget", f"/forget {at}", number=at) for at in range(1, count + 1)]
    return (*(single if count <= BUTTONS_MAX else ()), make("choice_forget_all", "/forget all"))


# ``/export``: all stored data of a person or group, sent to the chat as a file.

LIMIT_S = 60.0
"""How long an export may hold up its conversation; the command line has no such limit."""

_log = structlog.get_logger()


class ExportCommand:
    """Carries the command out."""

    def __init__(self, process: Process, memories: Memories) -> None:
        self._process = process
        self._memories = memories

    async def outcome(self, claim: Claim, inbound: Inbound, bot: BotConfig) -> Outcome:
        """What is said, and the file that goes with it.

        Raises:
            BusUnavailable: Redis is away; the command is tried again.
        """
        scope = claim.begun.scope
        # What others said too is theirs as well: who may have it is the administrators' to say.
        if not scope or not may_take(bot, inbound, scope):
            return Outcome(text=say("admins_only", bot.language))
        try:
            with anyio.fail_after(LIMIT_S):
                scopes = await family(self._process.bus, scope)
                sources = self._process.export_sources(self._memories)
                kept = await export_here(sources, scopes, language=bot.language)
        except TimeoutError:
            _log.warning("export.failed", session=claim.session, reason=f"the export took more than {LIMIT_S:.0f} s")
            return Outcome(text=say("export_slow", bot.language, session=claim.session))
        except (OSError, ConfigError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
            _log.warning("export.failed", session=claim.session, reason=brief(error))
            return Outcome(text=say("export_failed", bot.language, reason=reason))
        _log.info("export.done", session=claim.session, count=kept.told.messages)
        return _told(kept, bot)


def _told(kept: KeptExport, bot: BotConfig) -> Outcome:
    told = kept.told
    missing = say("export_missing", bot.language, count=len(told.missing)) if told.missing else ""
    text = say(
        "export_done",
        bot.language,
        messages=told.messages,
        sessions=len(told.sessions),
        files=told.files,
        path=kept.path,
        size=f"{kept.size_bytes:,}",
        missing=missing,
    )
    if kept.size_bytes > MEDIA_MAX_BYTES:
        return Outcome(text=text + say("export_large", bot.language))
    attachment = Attachment(kind="document", name=kept.name, size_bytes=kept.size_bytes, path=kept.path)
    return Outcome(text=text, attachments=(attachment,))
