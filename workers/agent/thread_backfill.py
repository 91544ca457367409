"""Loads earlier messages of a thread if the bot is addressed in the middle of the thread.

It is done within the first turn of a conversation, and before its journal begins, which fixes what the turn has read:
a successor that finds a journal goes on with that, one that finds none looks again. Nothing of it fails a turn.
"""

from collections.abc import Awaitable, Callable
from typing import cast

import anyio
import msgspec
import structlog

from daemon.config import PushConfig
from daemon.errors import BusError, ChannelError, brief
from daemon.events import Inbound, Overheard, Quote
from daemon.process import Process
from daemon.services import SAID_BEFORE, load
from workers.agent.turn_progress import Turn, inbounds

WITHIN_S = 5.0
"""How long a turn waits for it: a platform that does not answer must not keep people waiting."""

Before = Callable[..., Awaitable[tuple[Overheard, ...]]]
"""See ``daemon.services.SAID_BEFORE``."""

_log = structlog.get_logger()


class ThreadBackfill:
    """Looks back for one process's turns."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def look(self, turn: Turn) -> None:
        """Have what ``turn`` answers bring along what was said before it, if it begins a conversation in a thread."""
        if turn.claim.begun.head or turn.progress.step:
            return
        first = next(iter(inbounds(turn.covered)), None)
        if first is None or first.reminder or not self._is_in_a_thread(first):
            return
        before = await self._before(first)
        told = first if before is None else _told(first, before)
        if told == first:
            return
        turn.covered = tuple(
            msgspec.structs.replace(each, inbound=told) if each.inbound is first else each for each in turn.covered
        )
        turn.progress.entries = [
            entry for inbound in inbounds(turn.covered) for entry in await turn.entries.said(inbound)
        ]
        _log.info("thread.read", count=len(before or ()))

    def _is_in_a_thread(self, inbound: Inbound) -> bool:
        """Whether its platform can be asked what was said before it; a thread that it begins holds nothing."""
        config = self._process.config.channels.get(inbound.channel)
        can_look = isinstance(config, PushConfig) and config.looks_back
        return can_look and inbound.thread not in ("", inbound.id)

    async def _before(self, inbound: Inbound) -> tuple[Overheard, ...] | None:
        said_before = cast("Before", load(SAID_BEFORE))
        reason = f"the platform did not respond within {WITHIN_S:g} s"
        try:
            with anyio.move_on_after(WITHIN_S):
                return await said_before(self._process, inbound, timeout_s=WITHIN_S)
        except (ChannelError, BusError) as error:
            reason = brief(error)
        except Exception as error:  # noqa: BLE001 - an adapter's bug must not fail the turn
            _log.exception("thread.failed", reason=type(error).__name__)
            return None
        _log.warning("thread.unread", reason=reason)
        return None


def _told(inbound: Inbound, before: tuple[Overheard, ...]) -> Inbound:
    """``inbound`` with what was said before it in its thread, and the files of the message that the thread is about.

    A direct chat has no group context: there, the first message of a thread is one that the person replies to.
    """
    root = next((said for said in before if said.id == inbound.thread), None)
    lent = [msgspec.structs.replace(file, sender_id=root.sender_id) for file in root.attachments] if root else []
    attachments = (*inbound.attachments, *lent)
    if inbound.chat_kind == "group":
        said = tuple([msgspec.structs.replace(each, attachments=()) if each is root else each for each in before])
        return msgspec.structs.replace(inbound, overheard=said, attachments=attachments)
    if root is None:
        return inbound
    quote = Quote(text=root.text, sender_name=root.sender_name, sender_id=root.sender_id)
    return msgspec.structs.replace(inbound, quote=inbound.quote or quote, attachments=attachments)
