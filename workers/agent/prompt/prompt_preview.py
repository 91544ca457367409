"""A session's next prompt, without calling the model: ``millpond session show --prompt``, ``/status``."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

import anyio
import msgspec
import structlog

from daemon.bus import QUEUED_COMMANDS, pairs
from daemon.clock import stamp
from daemon.config import BotConfig
from daemon.errors import UNREADABLE, ConfigError, InboundError, brief
from daemon.events import ChatKind, Inbound, LogEntry
from daemon.memory import Memories, MemoryLocation
from daemon.process import Process
from daemon.session import SessionReader, SessionState
from daemon.sessionkey import SessionKey
from daemon.tokens import Tokenizer, load
from workers.agent.bot_runtime import prompts_of
from workers.agent.log_entries import LogEntries
from workers.agent.prompt.history_loader import HistoryLoader, PromptHistory
from workers.agent.prompt.prompt_builder import Prompt
from workers.agent.prompt.system_prompt import Prompts
from workers.agent.prompt.turn_requests import TurnRequests
from workers.agent.turn_progress import Kit
from workers.agent.turn_recall import recalled
from workers.model_choice import with_model
from workers.tools import BUILTIN, Registry, Tool
from workers.tools.mcp import MissingServer, ToolServers

JOURNAL_MAX = 2_000
"""Messages of a turn in progress that are looked at; no turn has more."""
HEAD_MESSAGES = 2
"""What stands for consolidated messages: a user's message with the summary, and an answer to it."""
BURST_MAX = 32
"""Waiting messages that one turn answers at most; as ``begin.part.lua`` has it."""

_log = structlog.get_logger()
_inbound = msgspec.json.Decoder(Inbound).decode


class _Next(msgspec.Struct, frozen=True, kw_only=True):
    """The turn that would come next, or is in progress."""

    said: list[Inbound]
    """The messages that wait for it."""
    journal: list[LogEntry]
    """What stands in the log of a turn in progress."""


async def preview(process: Process, session: str) -> dict[str, Any]:
    """The next prompt of a session: for the message that waits, or else for an empty one; ready to be printed as JSON.

    Raises:
        InboundError: nobody ever wrote to the session.
        ConfigError: its bot is not configured here, or its prompt cannot be made.
    """
    state = await SessionReader(process.bus).state(session)
    if not state.exists:
        raise InboundError(
            f"session {session} was not found: no one has sent a message to this session. To list all sessions, run "
            "`millpond session list`."
        )
    found = await _found(process, state)
    bot = found.said[0].bot if found.said else unquote(state.scope.partition(":")[0])
    config = with_model(process.bot(bot), state.options.model)
    tokenizer = await load(config.model.name)
    tools, prompts, missing = await _equipped(process, bot, config, tokenizer, state)
    past = await _past(process, state, config.model.budget_tokens)
    said = found.said or [_nothing(process, state, past.history, bot)]
    home = (
        await Memories(process.bus).home_for_turn(state.scope)
        if state.scope
        else MemoryLocation(scope="", is_bare=True)
    )
    recall = partial(recalled, process.recaller, home, session, prompts)
    requests = TurnRequests(prompts, process.clock, said=said, past=past, recall=recall)
    requests.missing = missing
    entries = LogEntries(tokenizer, process.clock, turn=state.head, vision=config.model.vision)
    current = found.journal or [entry for inbound in said for entry in await entries.said(inbound)]
    built = await requests.prompt(current, tools.definitions)
    what = "turn in progress" if found.journal else "waiting message" if found.said else "empty message"
    counted, messages = _counted(prompts, requests, built), [msgspec.json.decode(wire) for wire in built.messages]
    return {
        "session": session,
        "bot": bot,
        "model": config.model.name or "offline",
        "for": what,
        **counted,
        "stretches": _stretches(messages, has_head=bool(counted["parts"]["continuity"])),
        "messages": messages,
        "tools": [msgspec.json.decode(definition) for definition in tools.definitions],
        "missing_servers": [{"server": each.server, "reason": each.reason} for each in missing],
        "unreadable": [{"path": each.path, "reason": each.reason} for each in prompts.workspace.unreadable],
    }


def _stretches(messages: Sequence[dict[str, Any]], *, has_head: bool) -> dict[str, tuple[int, int]]:
    """Which of the messages belong to what, behind the system message: first, and one past the last."""
    begins = 1 + (HEAD_MESSAGES if has_head else 0)
    current = max(at for at, message in enumerate(messages) if message["role"] == "user")
    return {"continuity": (1, begins), "history": (begins, current), "current": (current, len(messages))}


async def _equipped(
    process: Process, bot: str, config: BotConfig, tokenizer: Tokenizer, state: SessionState
) -> tuple[Registry, Prompts, Sequence[MissingServer]]:
    """Tools and prompts as a turn would have them, and the servers that it would go without."""
    builtin = BUILTIN.only(config.tools)
    offered, missing, servers = await _offered(process, bot, state)
    if offered:
        tools = builtin.beside(offered)
        try:
            return tools, prompts_of(process, bot, config, tokenizer, tools), missing
        except ConfigError as error:  # turns go on without them
            _log.error("tools.missing", bot=bot, reason=brief(error))
            missing = (*missing, *servers.too_large(bot, str(error)))
    return builtin, prompts_of(process, bot, config, tokenizer, builtin), missing


async def _offered(
    process: Process, bot: str, state: SessionState
) -> tuple[tuple[Tool, ...], Sequence[MissingServer], ToolServers]:
    """What the bot's tool servers offer just now: they are asked, and left again."""
    offered: tuple[Tool, ...] = ()
    servers = ToolServers(process)
    if process.bot(bot).mcp:
        async with anyio.create_task_group() as tg:
            await tg.start(servers.run)
            home = await Memories(process.bus).home(state.scope)
            offered = await servers.tools(bot, scope=home, session=state.session)
            tg.cancel_scope.cancel()
    return offered, servers.missing(bot), servers


async def portions(process: Process, kit: Kit, state: SessionState, asking: Inbound) -> Mapping[str, int]:
    """What fills the context of a session before anything more is said: tokens by part, which add up to ``budget``.

    Raises:
        ContextOverflow: what stands in every prompt is more than that.
    """
    said = msgspec.structs.replace(asking, text="", attachments=())
    past = await _past(process, state, kit.budget_tokens)
    requests = TurnRequests(kit.prompts, process.clock, said=[said], past=past)
    current = await LogEntries(kit.tokenizer, process.clock, turn=state.head).user(said)
    counted = _counted(kit.prompts, requests, await requests.prompt([current], kit.tools.definitions))
    parts = counted["parts"]
    told = {name: parts[name] for name in ("memory", "tools", "free")}
    told["history"] = parts["continuity"] + parts["history"]
    # Whatever is said, the rest stands in every prompt: the runtime context too.
    return {**told, "system": counted["budget_tokens"] - sum(told.values()), "budget": counted["budget_tokens"]}


async def _past(process: Process, state: SessionState, budget_tokens: int) -> PromptHistory:
    pasts = HistoryLoader(SessionReader(process.bus), Memories(process.bus), process.config.micro_compact)
    past, _ = await pasts.read(state.session, state, upto=state.head, budget_tokens=budget_tokens)
    return past


def _counted(prompts: Prompts, requests: TurnRequests, built: Prompt) -> dict[str, Any]:
    sections = requests.system.sections if requests.system else ()
    system: dict[str, int] = dict.fromkeys(("identity", "bootstrap", "memory", "skills", "recalled"), 0)
    for section in sections:
        system[section.part] += section.tokens
    budget_tokens, standing = prompts.rules_now().budget_tokens, requests.standing
    head_tokens = standing.head_tokens if standing else 0
    beside_tokens = requests.recalled_tokens if prompts.is_recalled_beside else 0
    return {
        "budget_tokens": budget_tokens,
        "tokens": built.tokens,
        "parts": {
            **system,
            "tools": built.tools_tokens,
            "continuity": head_tokens,
            "history": built.history_tokens - head_tokens,
            "recalled": system["recalled"] + beside_tokens,
            "current": built.current_tokens - beside_tokens,
            "free": budget_tokens - built.tokens,
        },
        "history_turns": built.history_turns,
        "system": [{"part": each.part, "tokens": each.tokens, "text": each.text} for each in sections],
    }


async def _found(process: Process, state: SessionState) -> _Next:
    reader = SessionReader(process.bus)
    # What stands beyond head is the journal of the turn in progress.
    journal = await reader.log(state.session, first=state.head, upto=state.head + JOURNAL_MAX, base=state.base)
    said = await waiting_in(process, state.session, first_only=state.is_repeated and not journal)
    if journal:
        known = {entry.id for entry in journal if entry.id}
        said = [inbound for inbound in said if inbound.id in known]
    return _Next(said=said, journal=journal)


async def waiting_in(process: Process, session: str, *, first_only: bool) -> list[Inbound]:
    """The messages that the next turn would answer, as a claim would choose them; of a turn that runs, its own."""
    bus, keys = process.bus, process.bus.keys
    ids: list[bytes] = await bus.call("LRANGE", keys.waiting(session), 0, BURST_MAX - 1)
    window_ms = 0 if first_only else int(await bus.call("HGET", keys.session(session), "debounce") or 0)
    found: list[Inbound] = []
    for stream_id in ids:
        if stream_id != ids[0] and (not window_ms or _ms(stream_id) > _ms(ids[0]) + window_ms):
            break
        inbox = keys.inbox(keys.partition(session))
        for _, fields in await bus.call("XRANGE", inbox, stream_id, stream_id):
            found += _readable(dict(pairs(fields))[b"message"])
        if found and found[-1].command in QUEUED_COMMANDS:
            break
    return [inbound for inbound in found if not inbound.command]


def _readable(raw: bytes) -> list[Inbound]:
    try:
        inbound = _inbound(raw)
    except UNREADABLE:
        return []
    return [inbound]


def _ms(stream_id: bytes) -> int:
    return int(stream_id.partition(b"-")[0])


def _nothing(process: Process, state: SessionState, history: Sequence[LogEntry], bot: str) -> Inbound:
    """An empty message from whoever wrote last."""
    key = SessionKey.parse(state.session)
    senders = [entry.sender for entry in history if entry.sender]
    return Inbound(
        id="-",
        bot=bot,
        channel=key.channel,
        chat=key.chat,
        thread=key.thread,
        chat_kind=_kind(state.scope, senders),
        sender_id=senders[-1] if senders else key.chat,
        text="",
        received_at=stamp(process.clock.now()),
        correlation="-",
    )


def _kind(scope: str, senders: Sequence[str]) -> ChatKind:
    """What the chat is, as far as the log can tell: only a group has several people in it."""
    return "group" if scope.split(":")[1:2] == ["group"] or len(set(senders)) > 1 else "direct"
