"""Asking for links: by code, by hand, by configuration. Each link is a job, put down once.

A link by code is put down only when both chats have confirmed it.
"""

import secrets
from collections.abc import Iterator
from typing import Any, Literal

import structlog

from daemon.config import Config
from daemon.errors import JobRefused, MillpondError, brief
from daemon.jobs import JobHost, Jobs, NotifiedChat
from daemon.memory.memory_merge import home_of
from daemon.people.link_codes import Answered, LinkCodes, Party, Refused, Request
from daemon.people.link_dependencies import LinkIndex, check_linkable, is_admitted
from daemon.people.link_job import KIND as LINK
from daemon.people.link_job import LinkSpec
from daemon.people.unlink_job import KIND as UNLINK
from daemon.people.unlink_job import UnlinkSpec
from daemon.scope import person_scope
from daemon.sessionkey import SessionKey


class LinkRequests:
    """What may be asked of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, host: JobHost) -> None:
        self._host = host
        self._codes = LinkCodes(host.bus)
        self._jobs = Jobs(host.bus, lease_s=host.config.queue.lease_s, worker=host.name, clock=host.clock)
        self.people = LinkIndex(host.bus)

    async def code(self, party: Party, bot: str) -> str:
        """Create a one-time code for linking; empty if the person has an open link request."""
        return await self._codes.offer(party, bot)

    async def by_code(self, code: str, party: Party, bot: str) -> Request | Refused:
        """Open a link request with the chat in which the code was created. Both chats must answer the request.

        The same message opens no second request.
        """
        family = await self.people.family(party.scope)
        # All the parts of a person count together, whichever of them he writes from.
        family = list(dict.fromkeys([*family, party.scope]))
        return await self._codes.redeem(code, party, bot=bot, family=family)

    async def request_of(self, scope: str) -> Request | None:
        """The newest link request of a person; None if there is no request."""
        return await self._codes.request_of(scope)

    async def answer(
        self, request: Request, answer: Literal["yes", "no"], *, by: NotifiedChat, at_ms: int
    ) -> Answered | None:
        """Answer for the person's own side. When both sides have confirmed, create the job that links them.

        None: the bot no longer accepts messages from one of the two people, so the request was rejected.

        ``by``: chat and message of the answer. The same message changes nothing the second time. ``at_ms``: time at
        which the message was accepted (server clock).
        """
        is_gone = answer == "yes" and not (
            await is_admitted(self._host, request.own.scope) and await is_admitted(self._host, request.other.scope)
        )
        answered = await self._codes.answer(request, "gone" if is_gone else answer, by=by, at_ms=at_ms)
        if answered == "both":
            maker, member = (request.own, request.other) if request.side == "maker" else (request.other, request.own)
            spec = LinkSpec(
                into=maker.scope, member=member.scope, by="code", into_chat=maker.chat, member_chat=member.chat
            )
            await self._jobs.create(LINK, spec, job_id=request.link, tell=member.chat)
            await self._codes.begin(request, by=by)
        return None if is_gone and answered == "no" else answered

    async def link(self, into: str, member: str, *, by: str) -> str:
        """Link by hand; the id of the job.

        Raises:
            JobRefused: they cannot be linked, or are linked already.
        """
        check_linkable(into, member)
        if await home_of(self._host.bus, into) == await home_of(self._host.bus, member):
            raise JobRefused(f"{member} already shares its memory with {into}")
        return await self._put_down(LINK, LinkSpec(into=into, member=member, by=by))

    async def unlink(self, member: str, *, by: str, chat: NotifiedChat | None = None) -> str | None:
        """Part a scope from those that it shares its memory with; the id of the job, None: there are none.

        Asked again by the same message it begins nothing new.
        """
        if len(await self.people.family(member)) < 2:
            return None
        job_id = f"unlink-{chat.session}-{chat.message_id}" if chat is not None else ""
        return await self._put_down(UNLINK, UnlinkSpec(member=member, by=by, chat=chat), job_id=job_id, chat=chat)

    async def _put_down(self, kind: str, spec: Any, *, job_id: str = "", chat: NotifiedChat | None = None) -> str:
        job_id = job_id or f"{kind}-{secrets.token_hex(8)}"
        await self._jobs.create(kind, spec, job_id=job_id, tell=chat)
        return job_id

    async def is_asked(self, into: str, member: str) -> bool:
        """Whether a link of these two is under way."""
        return any(
            job.kind == LINK and not job.has_ended and (job.spec.get("into"), job.spec.get("member")) == (into, member)
            for job in await self._jobs.all()
        )


# People whose identities the configuration links: ``[people.<name>]``.

BY = "config"

_log = structlog.get_logger()


def scopes_of(config: Config, name: str) -> dict[str, list[str]]:
    """The scopes of one configured person, by bot: each bot remembers people for itself."""
    found: dict[str, list[str]] = {}
    for identity in config.people[name].identities:
        key = SessionKey.parse(identity)
        channel = config.channels[key.channel]
        found.setdefault(channel.bot, []).append(person_scope(channel.bot, key.channel, key.chat))
    return found


def wanted(config: Config) -> Iterator[tuple[str, str]]:
    """Every two scopes that the configuration links: the one that stays, and the one that becomes a part of it."""
    for name in config.people:
        for into, *members in scopes_of(config, name).values():
            for member in members:
                yield into, member


async def link_configured(host: JobHost) -> int:
    """Ask for every link of the configuration that is not there yet; how many were asked for. Never raises."""
    asking, asked = LinkRequests(host), 0
    try:
        for into, member in wanted(host.config):
            if await home_of(host.bus, into) == await home_of(host.bus, member) or await asking.is_asked(into, member):
                continue
            await asking.link(into, member, by=BY)
            asked += 1
    except MillpondError as error:  # the next start tries again
        _log.warning("people.unlinked", reason=brief(error))
    return asked
