"""From what a person wrote to an accepted message: what all channels have in common."""

import secrets
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import structlog

from daemon import metrics
from daemon.bus import Accepted, command_of, publish, publish_run
from daemon.bus import forestall as forestall_message
from daemon.clock import stamp
from daemon.config import PushConfig, QueueConfig
from daemon.errors import BusError, InboundError, SessionFull
from daemon.events import Inbound
from daemon.printable import one_line
from daemon.process import Process
from daemon.scope import scope_of
from daemon.sessionkey import SessionKey

LOGGED_CHARS = 256
"""Of an id in a log line: one that is refused can have any length."""

_log = structlog.get_logger()


def make_inbound(  # noqa: PLR0913 - the parts of one message, all by name; a struct for them would be Inbound again
    process: Process,
    *,
    channel: str,
    chat: str,
    thread: str = "",
    text: str,
    sender_id: str,
    sender_name: str = "",
    message_id: str = "",
) -> Inbound:
    """A message that came in just now; an id is made for one that has none.

    ``channel`` names a section of the process's configuration.
    """
    config = process.config.channels[channel]
    return Inbound(
        id=message_id or secrets.token_hex(8),
        bot=config.bot,
        channel=channel,
        chat=chat,
        thread=thread,
        sender_id=sender_id,
        sender_name=one_line(sender_name),
        text=text,
        command=command_of(text),
        delivery="push" if isinstance(config, PushConfig) else "pull",
        received_at=stamp(process.clock.now()),
        correlation=secrets.token_hex(8),
    )


async def accept(
    process: Process,
    inbound: Inbound,
    *,
    seen_as: str = "",
    debounce_s: float | None = None,
    order: float | None = None,
) -> Accepted:
    """Publish ``inbound``; when this returns, it will be answered.

    ``seen_as``: what it is a repetition by, its id unless told otherwise; ``debounce_s``: how long what follows it
    collects, as its channel's configuration says unless told otherwise; ``order``: what was overheard before that goes
    with it.

    Raises:
        ConfigError: its bot is not configured here.
        MessageTooLarge, InboundError: it cannot be accepted as it is.
        SessionFull: too many messages wait already.
        BusUnavailable: Redis is away; sending the same id again is safe.
    """
    scope = scope_of(inbound, process.bot(inbound.bot))
    try:
        accepted = await publish(
            process.bus,
            inbound,
            scope=scope,
            config=_queue(process, inbound.channel),
            seen_as=seen_as,
            debounce_s=_debounce_s(process, inbound) if debounce_s is None else debounce_s,
            order=order,
        )
    except (InboundError, SessionFull, BusError) as error:
        _note(inbound, inbound.id, _outcome(error))
        raise
    _note(inbound, accepted.id, accepted.status)
    return accepted


async def accept_run(
    process: Process, run: Sequence[Inbound], *, seen_as: Sequence[str]
) -> list[Accepted | SessionFull | None]:
    """As ``accept``, for several of one session, oldest first: what became of each; see ``publish_run``."""
    first = run[0]
    found = await publish_run(
        process.bus,
        run,
        scope=scope_of(first, process.bot(first.bot)),
        config=_queue(process, first.channel),
        seen_as=seen_as,
        debounce_s=_debounce_s(process, first),
    )
    for inbound, became in zip(run, found, strict=True):
        if isinstance(became, Accepted):
            _note(inbound, became.id, became.status)
        elif became is not None:
            _note(inbound, inbound.id, _outcome(became))
    return found


async def forestall(process: Process, session: SessionKey, message_id: str, *, seen_as: str) -> None:
    """Have a message that may come yet be accepted by nobody. Raises BusUnavailable."""
    queue = _queue(process, session.channel)
    await forestall_message(process.bus, str(session), message_id, config=queue, seen_as=seen_as)


def _queue(process: Process, name: str) -> QueueConfig:
    """The configuration by which messages of a channel are accepted."""
    channel, queue = process.config.channels.get(name), process.config.queue
    return _with_seen_ttl(queue, channel.seen_ttl_s(queue.seen_ttl_s)) if isinstance(channel, PushConfig) else queue


@lru_cache
def _with_seen_ttl(queue: QueueConfig, ttl_s: float) -> QueueConfig:
    return msgspec.structs.replace(queue, seen_ttl_s=ttl_s)


def _debounce_s(process: Process, inbound: Inbound) -> float:
    channel = process.config.channels.get(inbound.channel)
    return channel.debounce_s if isinstance(channel, PushConfig) else 0.0


def _outcome(error: Exception) -> str:
    if isinstance(error, SessionFull):
        return "full"
    return "refused" if isinstance(error, InboundError) else "unavailable"


def _note(inbound: Inbound, message_id: str, status: str) -> None:
    metrics.ACCEPTED.labels(inbound.channel, status).inc()
    _log.info(
        "message.accepted" if status in ("accepted", "duplicate") else "message.refused",
        session=str(inbound.session),
        message_id=message_id[:LOGGED_CHARS],
        correlation=inbound.correlation,
        channel=inbound.channel,
        status=status,
    )
