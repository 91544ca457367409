"""Accepts messages from all channels into the queues."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec

from daemon.bus.connection import Bus
from daemon.bus.keys import Keys
from daemon.bus.script_batch import ALONE, MOST, ScriptRequest, Shared, arguments, load_script
from daemon.config import QueueConfig
from daemon.errors import InboundError, MessageTooLarge, SessionFull
from daemon.events import Command, Inbound

PUBLISH = load_script(__file__, "publish.lua")

MAX_ID_CHARS = 256
"""Longest message id: it stands in a key name, a log entry and every log line."""

ADMIN_COMMANDS = frozenset({"pair", "ban", "unban", "pause", "resume", "approve", "deny"})
"""What administrators decide: who may speak, where the bot rests, and which commands run."""

ASIDE_COMMANDS = frozenset({"status", "help", "usage", "whoami", "memory", "reminders", "remind"}) | ADMIN_COMMANDS
"""Those that are answered aside."""

QUEUED_COMMANDS = frozenset({"new", "model", "compact", "export", "forget", "link", "unlink"})
"""Those that change the session, or are about all of it: each keeps its place and is carried out in its turn."""

WITH_ARGUMENT = frozenset({"model", "compact", "forget", "link", "memory", "remind"}) | ADMIN_COMMANDS
"""Those that may be followed by something; after any other word of ``COMMANDS`` it is an ordinary message."""

EXTRA_STOPS = 16
"""Stops that are accepted by a session that is full otherwise."""

ASIDES_MAX = 16
"""Commands of one session that may wait to be answered aside."""

COMMANDS: Mapping[str, Command] = {
    "/new": "new",
    "/stop": "stop",
    "/status": "status",
    "/usage": "usage",
    "/model": "model",
    "/compact": "compact",
    "/export": "export",
    "/forget": "forget",
    "/whoami": "whoami",
    "/memory": "memory",
    "/reminders": "reminders",
    "/remind": "remind",
    "/link": "link",
    "/unlink": "unlink",
    "/pair": "pair",
    "/ban": "ban",
    "/unban": "unban",
    "/pause": "pause",
    "/resume": "resume",
    "/approve": "approve",
    "/deny": "deny",
    "/help": "help",
    "/start": "help",
}
"""What a person writes for a command, in any case; ``/start`` is what some platforms say for a person who comes."""

RUN_MAX = MOST
"""Messages of one session that one script accepts."""

FULL_RETRY_S = 5.0
"""What a refused sender is told to wait: a guess at a turn's length."""

_encode = msgspec.json.Encoder().encode


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for an accepted message."""

    status: Literal["accepted", "duplicate"]
    id: str
    """The message's id; of a duplicate, the id under which it was accepted first."""


def command_of(text: str) -> Command:
    """The command in ``text``, or an empty string."""
    word, *argument = text.split(maxsplit=1) or [""]
    command = COMMANDS.get(word.lower(), "")
    return command if not argument or command in WITH_ARGUMENT else ""


def argument_of(text: str) -> str:
    """The text after the first word of a command."""
    return "".join(text.split(maxsplit=1)[1:]).strip()


def longest_deadline_s(config: QueueConfig) -> float:
    """The longest possible deadline in ``due``. A later deadline shows that the server's clock was set back."""
    return 2 * max(config.lease_s, config.backoff_max_s, config.wakeup_s)


async def publish(  # noqa: PLR0913 - what is told of one message, all by name
    bus: Bus,
    inbound: Inbound,
    *,
    scope: str,
    config: QueueConfig,
    seen_as: str = "",
    debounce_s: float = 0.0,
    order: float | None = None,
) -> Accepted:
    """Put a message on the queue, once per ``seen_as`` (default: its id); when this returns, it will be answered.

    With an ``order``, what was overheard in its chat before that goes with it, and is kept for no later one.

    Raises:
        MessageTooLarge, InboundError: the message cannot be accepted as it is.
        SessionFull: too many messages wait already.
        BusUnavailable: Redis is away, or too few replicas have the message; it may have been accepted, and sending it
            again is safe.
    """
    check_inbound(inbound, config)
    session = str(inbound.session)
    shared = _shared(bus.keys, bus.keys.partition(session), config)
    keys = bus.keys.accepting(session, seen_as or inbound.id)
    own = _own(keys, session, inbound, scope=scope, debounce_s=debounce_s, order=order)
    master = bus.master
    result = await bus.share(PUBLISH, shared, own)
    found = _outcome(result, inbound, config)
    if isinstance(found, SessionFull):
        raise found
    if result[2]:
        # Not waited for: it would be a second write to the disk, and a turn notes its session again.
        bus.activity.note(session)
    await bus.replicated(master)
    if bus.failovers is not None:
        bus.failovers.accepted(session, inbound.id, bus.keys.seen(session, seen_as or inbound.id))
    return found


async def publish_run(
    bus: Bus, run: Sequence[Inbound], *, scope: str, config: QueueConfig, seen_as: Sequence[str], debounce_s: float
) -> list[Accepted | SessionFull | None]:
    """As ``publish``, for several messages of one session, oldest first, with one script. Returns each outcome.

    At most ``RUN_MAX``. They come onto the queue in this order, all or none of them; None: the script failed at it, so
    that it has to be published by itself.

    Raises:
        MessageTooLarge, InboundError: one of them cannot be accepted as it is; none is.
        BusUnavailable: as for ``publish``.
    """
    for inbound in run:
        check_inbound(inbound, config)
    session = str(run[0].session)
    shared = _shared(bus.keys, bus.keys.partition(session), config)
    asked = [
        _own(bus.keys.accepting(session, name), session, inbound, scope=scope, debounce_s=debounce_s)
        for inbound, name in zip(run, seen_as, strict=True)
    ]
    master = bus.master
    results: list[Any] = await bus.run(PUBLISH, *arguments(shared, asked))
    if any(result != ALONE and result[0] == b"accepted" and result[2] for result in results):
        bus.activity.note(session)
    await bus.replicated(master)
    outcomes = [
        None if result == ALONE else _outcome(result, inbound, config)
        for result, inbound in zip(results, run, strict=True)
    ]
    if bus.failovers is not None:
        for inbound, name, outcome in zip(run, seen_as, outcomes, strict=True):
            if isinstance(outcome, Accepted):
                bus.failovers.accepted(session, inbound.id, bus.keys.seen(session, name))
    return outcomes


async def forestall(bus: Bus, session: str, message_id: str, *, config: QueueConfig, seen_as: str) -> None:
    """Mark a message that may arrive later as a repetition of an accepted message.

    Raises:
        BusUnavailable: Redis is away; the same may be asked again.
    """
    # As ``publish.lua`` notes what it accepts, for nobody's call.
    await bus.call("SET", bus.keys.seen(session, seen_as), f"0  {message_id}", "NX", "PX", _ms(config.seen_ttl_s))


def _own(
    keys: tuple[str, ...], session: str, inbound: Inbound, *, scope: str, debounce_s: float, order: float | None = None
) -> ScriptRequest:
    return ScriptRequest(
        keys,
        (
            session,
            inbound.id,
            inbound.correlation,
            _ms(debounce_s),
            scope,
            "aside" if inbound.command in ASIDE_COMMANDS else inbound.command,
            "" if order is None else repr(order),
        ),
        (_encode(inbound),),
    )


def _outcome(result: Any, inbound: Inbound, config: QueueConfig) -> Accepted | SessionFull:
    status, message_id, new = result
    if status in (b"full", b"busy"):
        return _full(status, inbound, config, first=bool(new))
    return Accepted(status="duplicate" if status == b"duplicate" else "accepted", id=message_id.decode())


@lru_cache
def _shared(keys: Keys, partition: int, config: QueueConfig) -> Shared:
    return Shared(
        (keys.inbox(partition), keys.ready(partition), keys.due(partition), keys.asides(partition)),
        (
            config.waiting_max,
            config.partition_max,
            _ms(config.seen_ttl_s),
            _ms(config.wakeup_s),
            _ms(longest_deadline_s(config)),
            EXTRA_STOPS,
            ASIDES_MAX,
            keys.nudges,
            keys.commands,
        ),
    )


def check_inbound(inbound: Inbound, config: QueueConfig) -> None:
    """Refuse a message that cannot be accepted.

    Raises:
        MessageTooLarge, InboundError: it is too large, empty, or no text.
    """
    if not inbound.text.strip() and not inbound.attachments:
        raise InboundError("the message is empty. Write some text.")
    if not 0 < len(inbound.id) <= MAX_ID_CHARS:
        raise InboundError(f"the message's ID has {len(inbound.id)} characters. Use 1 to {MAX_ID_CHARS} characters.")
    try:
        size = len(inbound.text.encode())
        inbound.id.encode()
    except UnicodeEncodeError:
        raise InboundError("the text or the ID of the message is not valid Unicode. Rewrite the message.") from None
    if size > config.message_max_bytes:
        raise MessageTooLarge(
            f"the message is {size:,} bytes, but messages are limited to {config.message_max_bytes:,} bytes "
            "(queue.message_max_bytes). Shorten it.",
            size_bytes=size,
            max_bytes=config.message_max_bytes,
        )


def _full(status: bytes, inbound: Inbound, config: QueueConfig, *, first: bool) -> SessionFull:
    if status == b"full":
        aside = inbound.command in ASIDE_COMMANDS
        pending = f"{ASIDES_MAX} unanswered commands" if aside else f"{config.waiting_max:,} unanswered messages"
        text = f"session {inbound.session} already has {pending}. Send the message again later."
    else:
        text = f"the queue already contains {config.partition_max:,} unanswered messages. Send the message again later."
    return SessionFull(text, retry_after_s=FULL_RETRY_S, first=first, everybody=status == b"busy")


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
