"""The intake of one channel: from the arrivals of its platform to messages on the queues."""

import secrets
from collections.abc import Sequence
from typing import Protocol

import msgspec
import structlog

from channels.arrival import Arrival, ArrivalCase, Press, cleaned, session_of, text_of
from channels.base import Channel
from channels.inbound import LOGGED_CHARS, accept, accept_run, forestall, make_inbound
from channels.intake.group_messages import AskedAlbums, GroupContext, LoopGuard, place_of
from channels.intake.message_bursts import PASTE_S, Pastes, plain
from channels.intake.reactions import Reactions
from daemon import metrics
from daemon.access import (
    VALID_S,
    Access,
    AccessNotice,
    AccessNotices,
    PairingCodes,
    Speaker,
    Stranger,
    is_kept_from_members,
    is_listed,
    may,
    verdict,
)
from daemon.bus import Accepted, command_of
from daemon.clock import stamp
from daemon.config import PushConfig
from daemon.errors import BusUnavailable, InboundError, MessageTooLarge, SessionFull
from daemon.events import Inbound
from daemon.process import Process
from daemon.session import MessageEdits
from daemon.sessionkey import SessionKey
from daemon.wording import text as say

ALBUM_S = 1.0
"""How long the parts of one message are collected: they arrive as separate updates within some tenths of a second."""

_log = structlog.get_logger()


class Shown(Protocol):
    """Shows a chat that its message is being processed."""

    def accepted(self, session: SessionKey, inbound: Inbound) -> None:
        """Show that a message was accepted; returns at once, and failures are ignored."""
        ...


class _Nothing:
    def accepted(self, session: SessionKey, inbound: Inbound) -> None:
        """Show nothing."""


class Intake:
    """Handles the arrivals of one channel; see ``channels.base.Intake``."""

    def __init__(self, process: Process, channel: Channel, config: PushConfig, *, shown: Shown | None = None) -> None:
        self._process = process
        self._name = channel.name
        self._config = config
        self._bot = process.bot(config.bot)
        self._access = Access(process.bus, channel.name)
        self._pairing = PairingCodes(process.bus, channel.name)
        self._lines = AccessNotices(process.bus)
        self._loops = LoopGuard(process.bus)
        self._overhearing = GroupContext(process.bus)
        self._albums = AskedAlbums()
        self._reactions = Reactions(process.bus, channel.name)
        self._amendments = MessageEdits(process.bus, process.config.queue)
        self._shown = shown or _Nothing()
        self._pastes = Pastes(channel.length, channel.limits.said_max)

    async def run(self) -> None:
        """Listen for approvals and bans until cancelled; without it, they take effect some seconds later."""
        await self._access.run(self._process.listener)

    async def take(self, arrival: Arrival) -> None:
        """See ``channels.base.Intake``."""
        arrival, correlation = cleaned(arrival), secrets.token_hex(8)
        with structlog.contextvars.bound_contextvars(
            channel=self._name, message_id=arrival.id[:LOGGED_CHARS], correlation=correlation
        ):
            outcome = await self._dealt_with(arrival, correlation)
            metrics.ARRIVALS.labels(self._name, outcome).inc()
            if outcome != "accepted":  # accepted arrivals are logged elsewhere
                _log.debug("arrival.done", status=outcome)

    async def take_run(self, arrivals: Sequence[Arrival]) -> int:
        """See ``channels.base.Intake``."""
        done = 0
        while done < len(arrivals):
            try:
                run = [] if self._config.hear_reactions else plain(self._config.access, arrivals[done:])
                taken = await self._take_plain(run)
                if not taken:
                    await self.take(arrivals[done])
            except BusUnavailable:
                return done
            done += taken or 1
        return done

    async def press(self, press: Press) -> str:
        """See ``channels.base.Intake``."""
        arrival = await self._reactions.posted.placed(cleaned(press.arrival))
        correlation, language = secrets.token_hex(8), self._bot.language
        session, command = session_of(self._name, arrival), command_of(arrival.text)
        if session is None or not command:
            return say("choice_old", language)
        # Whoever presses: one question is answered once.
        arrival = msgspec.structs.replace(arrival, seen_as=f"press {arrival.id}")
        case = ArrivalCase(arrival=arrival, session=session, correlation=correlation)
        with structlog.contextvars.bound_contextvars(
            channel=self._name, message_id=arrival.id[:LOGGED_CHARS], correlation=correlation
        ):
            try:
                outcome, text = await self._pressed(case, only=press.who)
            except BusUnavailable:
                raise
            except Exception as error:  # noqa: BLE001 - as in _dealt_with
                _log.exception("arrival.failed", reason=type(error).__name__)
                outcome, text = "failed", say("arrival_failed", language, correlation=correlation)
            metrics.ARRIVALS.labels(self._name, outcome).inc()
        return text

    async def _pressed(self, case: ArrivalCase, *, only: str) -> tuple[str, str]:
        """The outcome of a press, in a word, and the text for the person."""
        arrival, inbound, language = case.arrival, self._inbound(case), self._bot.language
        heard = verdict(self._config.access, await self._access.entries(), self._speaker(arrival))
        is_silent = place_of(self._config.access, arrival, inbound.command) == "nothing"
        if heard != "heard" or is_silent or only not in ("", arrival.sender.id):
            return "refused", say("choice_not_yours", language)
        if not may(self._bot, inbound, inbound.command):
            return "refused", say("choice_not_yours", language)
        try:
            accepted = await accept(self._process, inbound, seen_as=arrival.seen_as)
        except InboundError as error:
            return "refused", self._refusal(error)
        except SessionFull as error:
            return "full", say("session_full", language, seconds=round(error.retry_after_s))
        return accepted.status, ""

    async def _take_plain(self, run: Sequence[Arrival]) -> int:
        """Queue a run of messages by one script; returns how many were handled. With 0, the first one is handled alone.

        Raises:
            BusUnavailable: none of them is kept.
        """
        session = session_of(self._name, run[0]) if len(run) > 1 else None
        if session is None or any(self._pastes.is_piece(each) for each in run):
            return 0
        if verdict(self._config.access, await self._access.entries(), self._speaker(run[0])) != "heard":
            return 0
        try:
            cases = [
                ArrivalCase(arrival=cleaned(each), session=session, correlation=secrets.token_hex(8)) for each in run
            ]
            said = [self._inbound(case) for case in cases]
            outcomes = await accept_run(self._process, said, seen_as=[each.seen_as for each in run])
        except InboundError:  # handled one by one, the failing one shows
            return 0
        except BusUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - as in _dealt_with, which then handles them one by one
            _log.exception("arrival.failed", channel=self._name, reason=type(error).__name__)
            return 0
        for taken, (case, inbound, outcome) in enumerate(zip(cases, said, outcomes, strict=True)):
            if outcome is None or (isinstance(outcome, SessionFull) and outcome.everybody):
                return taken
            status = outcome.status if isinstance(outcome, Accepted) else await self._full(case, outcome)
            metrics.ARRIVALS.labels(self._name, status).inc()
            if status == "accepted":
                self._shown.accepted(session, inbound)
        return len(run)

    async def _dealt_with(self, arrival: Arrival, correlation: str) -> str:
        session = session_of(self._name, arrival)
        if session is None:
            _log.warning(
                "arrival.unreadable",
                reason="the chat's ID contains characters that are not allowed in a session name",
            )
            return "unreadable"
        case = ArrivalCase(arrival=arrival, session=session, correlation=correlation)
        try:
            return await self._judge(case)
        except BusUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - the service's top: one bad update must not stop the rest
            _log.exception("arrival.failed", reason=type(error).__name__)
        await self._tell(case, "error", say("arrival_failed", self._bot.language, correlation=correlation))
        return "failed"

    async def _judge(self, case: ArrivalCase) -> str:
        """The outcome, in a word."""
        arrival = case.arrival
        if arrival.reaction:
            return await self._reacted(case)
        if arrival.deleted:
            return await self._withdrawn(case)
        heard = verdict(self._config.access, await self._access.entries(), self._speaker(arrival))
        if heard != "heard":
            return await self._stranger(case) if heard == "code" else heard
        if arrival.sender.is_bot and not self._config.access.bots:
            return "bot"
        return await self._hear(case)

    async def _hear(self, case: ArrivalCase) -> str:
        """As ``_judge``, for an accepted sender."""
        if not case.arrival.mentioned and self._pastes.follows(case.arrival):
            # Only the first piece of a long message in a group names the bot.
            case = msgspec.structs.replace(case, arrival=msgspec.structs.replace(case.arrival, mentioned=True))
        arrival = case.arrival
        command = command_of(arrival.text)
        place = self._albums.place(str(case.session), arrival, place_of(self._config.access, arrival, command))
        if place == "nothing":
            return "ignored"
        arrival = self._albums.part(str(case.session), arrival)
        case = msgspec.structs.replace(case, arrival=arrival)
        if place == "overheard":
            kept = await self._overhearing.keep(str(case.session), arrival, at=self._now())
            return "overheard" if kept else "ignored"
        if arrival.edited:
            return await self._edited(case)
        if command and is_kept_from_members(self._bot, self._inbound(case)):
            text = say("group_admins_only", self._bot.language, command=command)
            # Each member is told once a minute, so that they do not hide each other's.
            await self._tell(case, f"command-{arrival.sender.id}", text, reply_to=arrival.id)
            return "refused"
        if not await self._may_answer(case):
            return "loop"
        return await self._accept(case)

    def _speaker(self, arrival: Arrival) -> Speaker:
        return Speaker(
            sender=arrival.sender.id,
            chat=arrival.chat,
            in_group=arrival.chat_kind == "group",
            is_admin=is_listed(self._bot, channel=self._name, sender=arrival.sender.id),
        )

    async def _stranger(self, case: ArrivalCase) -> str:
        """Answer an unapproved sender with a code, once a minute."""
        arrival = case.arrival
        if arrival.edited or arrival.sender.is_bot:
            return "silent"
        stranger = Stranger(
            id=arrival.sender.id, name=arrival.sender.name or arrival.sender.id, session=str(case.session)
        )
        code = await self._pairing.offer(stranger)
        if not code:
            _log.warning(
                "access.crowded",
                reason="the limit of unused pairing codes has been reached, so Millpond cannot create a new code "
                "until an earlier code is used or expires",
            )
            return "silent"
        minutes = round(VALID_S / 60)
        text = say("stranger", self._bot.language, code=code, channel=self._name, minutes=minutes)
        await self._tell(case, "code", text)
        return "stranger"

    async def _may_answer(self, case: ArrivalCase) -> bool:
        if not self._config.access.bots:
            return True
        session = str(case.session)
        if case.arrival.sender.is_bot:
            return await self._loops.lets_pass(session, case.arrival.id)
        await self._loops.human(session)
        return True

    async def _edited(self, case: ArrivalCase) -> str:
        """Replace an edited message if it is still pending; a message that was read stays as it was."""
        try:
            amended = await self._amendments.amend(self._inbound(case))
        except InboundError as error:
            await self._tell(case, "error", self._refusal(error))
            return "refused"
        if amended == "unknown" and case.arrival.chat_kind == "group":
            # It was group context, and mentions the bot only after the edit.
            await self._overhearing.keep(str(case.session), case.arrival, at=self._now())
        return amended

    async def _withdrawn(self, case: ArrivalCase) -> str:
        """Withdraw a message that is pending or group context, or that arrives after this."""
        session, arrival = str(case.session), case.arrival
        withdrawn = await self._amendments.withdraw(session, arrival.id, sender_id=arrival.sender.id)
        if withdrawn != "unknown":
            return withdrawn
        if arrival.original:
            await forestall(self._process, case.session, arrival.id, seen_as=arrival.original)
        was_kept = await self._overhearing.forget(session, arrival.id, sender_id=arrival.sender.id)
        return "withdrawn" if was_kept else "unknown"

    async def _reacted(self, case: ArrivalCase) -> str:
        """Keep a reaction to a message of the bot's as context, or forget one; a reaction is never answered."""
        arrival, access = case.arrival, self._config.access
        if not self._config.hear_reactions or arrival.sender.is_bot:
            return "ignored"
        if arrival.deleted:
            return "withdrawn" if await self._reactions.forget(arrival) else "unknown"
        if arrival.chat_kind == "group" and access.groups == "off":
            return "ignored"
        if verdict(access, await self._access.entries(), self._speaker(arrival)) != "heard":
            return "silent"
        return "overheard" if await self._reactions.keep(arrival, at=self._now()) else "ignored"

    async def _accept(self, case: ArrivalCase) -> str:
        arrival, session = case.arrival, case.session
        inbound = self._inbound(case)
        window_s = self._config.debounce_s
        if arrival.album:
            window_s = max(window_s, ALBUM_S)
        if not inbound.command and self._pastes.is_piece(arrival):
            window_s = max(window_s, PASTE_S)
        try:
            accepted = await accept(
                self._process,
                inbound,
                seen_as=arrival.seen_as,
                debounce_s=window_s,
                order=arrival.order if self._takes_overheard(inbound) else None,
            )
        except InboundError as error:
            await self._tell(case, "error", self._refusal(error))
            return "refused"
        except SessionFull as error:
            return await self._full(case, error)
        if accepted.status == "accepted":
            self._shown.accepted(session, inbound)
        return accepted.status

    def _inbound(self, case: ArrivalCase) -> Inbound:
        arrival = case.arrival
        made = make_inbound(
            self._process,
            channel=self._name,
            chat=arrival.chat,
            thread=arrival.thread,
            text=text_of(arrival, bot=self._config.bot),
            sender_id=arrival.sender.id,
            sender_name=arrival.sender.name,
            message_id=arrival.id,
        )
        return msgspec.structs.replace(
            made,
            chat_kind=arrival.chat_kind,
            reply_to=arrival.reply_to,
            quote=arrival.quote,
            attachments=arrival.attachments,
            platform_ids=tuple(dict.fromkeys((arrival.seen_as or arrival.id, arrival.id))),
            correlation=case.correlation,
        )

    def _takes_overheard(self, inbound: Inbound) -> bool:
        """Whether group context or reactions belong to it; not to a command, which no model reads."""
        return (inbound.chat_kind == "group" or self._config.hear_reactions) and not inbound.command

    async def _full(self, case: ArrivalCase, error: SessionFull) -> str:
        if error.everybody:
            # People of this chat cannot change this: the platform keeps the message until there is room.
            raise BusUnavailable(str(error)) from error
        if error.first:
            text = say("session_full", self._bot.language, seconds=round(error.retry_after_s))
            await self._tell(case, "full", text)
        return "full"

    def _refusal(self, error: InboundError) -> str:
        language = self._bot.language
        if isinstance(error, MessageTooLarge):
            return say("too_large", language, size=f"{error.size_bytes:,}", limit=f"{error.max_bytes:,}")
        return say("arrival_refused", language, reason=str(error).rstrip("."))

    def _now(self) -> str:
        return stamp(self._process.clock.now())

    async def _tell(self, case: ArrivalCase, kind: str, text: str, *, reply_to: str = "") -> None:
        """Send a line to the chat, at most one of each kind a minute."""
        line = AccessNotice(
            session=case.session,
            kind=kind,
            name=case.arrival.id[:LOGGED_CHARS],
            text=text,
            correlation=case.correlation,
            reply_to=reply_to,
        )
        await self._lines.say(line)
