"""Asking for links: by code, by hand, by configuration. Each wish is a job, put down once."""

import secrets
from typing import Any

from daemon.errors import JobRefused
from daemon.jobs import Host, Jobs, Tell
from daemon.memory.home import home_of
from daemon.people.codes import Codes, Refused
from daemon.people.ground import check_linkable, is_person
from daemon.people.linking import KIND as LINK
from daemon.people.linking import LinkSpec
from daemon.people.links import People
from daemon.people.parting import KIND as UNLINK
from daemon.people.parting import UnlinkSpec


class Asking:
    """What may be asked of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._codes = Codes(host.bus)
        self._jobs = Jobs(host.bus, lease_s=host.config.queue.lease_s, worker=host.name, clock=host.clock)
        self.people = People(host.bus)

    async def code(self, scope: str, bot: str, chat: Tell) -> str:
        """A one-time code by which another chat is linked with this one, whose memory stays."""
        return await self._codes.offer(scope, bot, chat)

    async def by_code(self, code: str, scope: str, bot: str, chat: Tell) -> Refused | None:
        """Link the chat in which a code was said with the one in which it was made; None: that has begun.

        Said again by the same message it begins nothing new.
        """
        family = await self.people.family(scope)
        who = f"{chat.session} {chat.message_id}"
        # All the parts of a person count together, whichever of them he writes from.
        found = await self._codes.redeem(code, who=who, bot=bot, family=list(dict.fromkeys([*family, scope])))
        if isinstance(found, str):
            return found
        if not is_person(found.scope):
            return "wrong"
        spec = LinkSpec(into=found.scope, member=scope, by="code", into_chat=found.chat, member_chat=chat)
        await self._jobs.create(LINK, spec, job_id=found.link, tell=chat)
        return None

    async def link(self, into: str, member: str, *, by: str) -> str:
        """Link by hand; the id of the job.

        Raises:
            JobRefused: they cannot be linked, or are linked already.
        """
        check_linkable(into, member)
        if await home_of(self._host.bus, into) == await home_of(self._host.bus, member):
            raise JobRefused(f"{member} already shares its memory with {into}")
        return await self._put_down(LINK, LinkSpec(into=into, member=member, by=by))

    async def unlink(self, member: str, *, by: str, chat: Tell | None = None) -> str | None:
        """Part a scope from those that it shares its memory with; the id of the job, None: there are none.

        Asked again by the same message it begins nothing new.
        """
        if len(await self.people.family(member)) < 2:
            return None
        job_id = f"unlink-{chat.session}-{chat.message_id}" if chat is not None else ""
        return await self._put_down(UNLINK, UnlinkSpec(member=member, by=by, chat=chat), job_id=job_id, chat=chat)

    async def _put_down(self, kind: str, spec: Any, *, job_id: str = "", chat: Tell | None = None) -> str:
        job_id = job_id or f"{kind}-{secrets.token_hex(8)}"
        await self._jobs.create(kind, spec, job_id=job_id, tell=chat)
        return job_id

    async def is_asked(self, into: str, member: str) -> bool:
        """Whether a link of these two is under way."""
        return any(
            job.kind == LINK and not job.has_ended and (job.spec.get("into"), job.spec.get("member")) == (into, member)
            for job in await self._jobs.all()
        )
