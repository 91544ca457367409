"""``/api/settings/people``: people who are approved, banned and linked; a change takes effect at once."""

import secrets
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.error_response import problem
from channels.web.ordered_jobs import OrderedJobs
from channels.web.request_params import decoded, json_response
from channels.web.site import Site
from daemon.access import VALID_S, Access, AccessNotices, PairingCodes, Stranger, welcome
from daemon.clock import stamp
from daemon.config import PushConfig
from daemon.errors import BadSessionKey, InboundError
from daemon.people import LinkRequests, is_person
from daemon.scope import person_scope
from daemon.sessionkey import SessionKey

FORM = 'The body must be {"channel": "…", "id": "…"} or {"channel": "…", "code": "…"}.'
LINK_FORM = 'The body must be {"person": "<channel>:<sender>", "other": "<channel>:<sender>"}.'

WRONG = (
    "This code is wrong, has already been used, or is older than one hour. Ask the person for a new code, or approve "
    "the person by ID."
)
OFTEN = "Too many wrong codes were entered. Try again in ten minutes, or approve the person by ID."

Id = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[^\x00-\x20\x7f]+\Z")]
Person = Annotated[str, Meta(min_length=1, max_length=1_000)]


class _Somebody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person or group of a channel, or the code that a person was given."""

    channel: str
    id: Id | None = None
    code: Annotated[str, Meta(min_length=1, max_length=64)] | None = None


class _Pair(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two identities; the memory of the first one stays."""

    person: Person
    other: Person | None = None
    bot: str = ""


class PeopleSettings:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._process = site.process
        self._bus = site.process.bus
        self._asking = LinkRequests(site.process)
        self._jobs = OrderedJobs(site)

    async def read(self, _request: Request) -> Response:
        """The decisions about people on each channel, and the linked people."""
        channels: list[dict[str, object]] = []
        for name, config in self._process.config.channels.items():
            if isinstance(config, PushConfig):
                entries = await Access(self._bus, name).read()
                people = [
                    {"id": each, "name": entry.name, "state": entry.state, "by": entry.by, "time": entry.time}
                    for each, entry in sorted(entries.items(), key=lambda item: item[1].time, reverse=True)
                    if entry.state != "free"
                ]
                strangers = (await PairingCodes(self._bus, name).strangers()).values()
                decided = {each for each, entry in entries.items() if entry.state != "free"}
                asking = [{"id": each.id, "name": each.name} for each in strangers if each.id not in decided]
                policy = config.access.policy or ("allow" if config.access.allow else "closed")
                found: dict[str, object] = {
                    "name": name,
                    "policy": policy,
                    "codes": len(strangers),
                    "asking": asking,
                    "people": people,
                }
                channels.append(found)
        links = await self._asking.people.links()
        linked = [
            {"home": link.home, "member": scope, "by": link.by, "time": link.time}
            for scope, link in sorted(links.items(), key=lambda item: (item[1].home, item[0]))
        ]
        return json_response({"channels": channels, "links": linked})

    async def approve(self, request: Request) -> Response:
        """Approve a person by the code that the bot gave to the person, or by ID. A person with a code is told."""
        wanted = await self._somebody(request)
        if wanted.id is not None:
            return await self._approved(request, wanted)
        by, time = self._author(request)
        pairing = PairingCodes(self._bus, wanted.channel)
        async with audited(request, "people.approve", wanted.channel) as doing:
            code = wanted.code or ""
            found = await pairing.redeem(code, who=f"web {secrets.token_hex(8)}", by=by, time=time)
            if not isinstance(found, Stranger):
                doing.outcome = "refused"
                return problem(409, f"code_{found}", WRONG if found == "wrong" else OFTEN)
            doing.outcome = f"approved {found.id}"
        await self._welcome(wanted.channel, found, code)
        return json_response({"id": found.id, "name": found.name})

    async def _approved(self, request: Request, wanted: _Somebody) -> Response:
        """Approve a person by ID, without a limit of tries."""
        strangers = await PairingCodes(self._bus, wanted.channel).strangers()
        known = [(code, stranger) for code, stranger in strangers.items() if stranger.id == wanted.id]
        name = known[0][1].name if known else ""
        response = await self._decided(request, wanted, "paired", "people.approve", called=name)
        for code, stranger in known:
            await self._welcome(wanted.channel, stranger, code)
        return response

    async def _welcome(self, channel: str, stranger: Stranger, code: str) -> None:
        config = self._process.config
        language = config.bots[config.channels[channel].bot].language
        greeting = welcome(stranger, code=code, language=language, correlation=secrets.token_hex(8))
        await AccessNotices(self._bus).say(greeting, quiet_s=VALID_S)

    async def ban(self, request: Request) -> Response:
        """Ban a person or a group. Messages that were accepted before are still answered."""
        return await self._decided(request, await self._somebody(request, by_code=False), "banned", "people.ban")

    async def unban(self, request: Request) -> Response:
        """Lift a ban. Afterwards the configuration decides about the person."""
        return await self._decided(request, await self._somebody(request, by_code=False), "free", "people.unban")

    async def link(self, request: Request) -> Response:
        """Link two identities, so that a bot treats them as one person."""
        wanted = await decoded(request, _Pair, LINK_FORM)
        if wanted.other is None:
            raise HTTPException(400, LINK_FORM)
        into, other = self._scope(wanted.person, wanted.bot), self._scope(wanted.other, wanted.bot)
        async with audited(request, "people.link", f"{into}, {other}"):
            job = await self._asking.link(into, other, by=self._author(request)[0])
        return await self._jobs.answer(job)

    async def unlink(self, request: Request) -> Response:
        """Unlink an identity, which keeps its own memory."""
        wanted = await decoded(request, _Pair, LINK_FORM)
        scope = self._scope(wanted.person, wanted.bot)
        async with audited(request, "people.unlink", scope) as doing:
            job = await self._asking.unlink(scope, by=self._author(request)[0])
            doing.outcome = "done" if job else "refused"
        if job is None:
            return problem(409, "not_linked", "This person is not linked to anyone.")
        return await self._jobs.answer(job)

    async def _somebody(self, request: Request, *, by_code: bool = True) -> _Somebody:
        wanted = await decoded(request, _Somebody, FORM)
        if (wanted.id is None) == (wanted.code is None) or (wanted.code is not None and not by_code):
            raise HTTPException(400, FORM)
        if not isinstance(self._process.config.channels.get(wanted.channel), PushConfig):
            raise HTTPException(400, f"{wanted.channel[:80]!r} is not a chat-platform channel. {FORM}")
        return wanted

    async def _decided(
        self,
        request: Request,
        wanted: _Somebody,
        state: Literal["paired", "banned", "free"],
        action: str,
        *,
        called: str = "",
    ) -> Response:
        by, time = self._author(request)
        async with audited(request, action, f"{wanted.channel}: {wanted.id}") as doing:
            changed = await Access(self._bus, wanted.channel).decide(
                wanted.id or "", state, by=by, time=time, called=called
            )
            doing.outcome = "done" if changed == "done" else "refused"
        if changed != "done":
            return problem(409, "not_banned", "This person is not banned, or the ban has been changed in the meantime.")
        return json_response({"id": wanted.id, "name": called})

    def _author(self, request: Request) -> tuple[str, str]:
        """The author and the time of a change."""
        return f"operator {request.scope['operator'].who}", stamp(self._process.clock.now())

    def _scope(self, name: str, bot: str) -> str:
        """The scope of the memory of a person.

        Raises:
            InboundError: it is no person, or the bot is not known.
        """
        if is_person(name):
            return name
        try:
            key = SessionKey.parse(name)
        except BadSessionKey:
            key = None
        channel = self._process.config.channels.get(key.channel) if key and not key.thread else None
        if key is None or channel is None:
            raise InboundError("Write the ID of a person as <channel>:<sender>, as shown by /whoami.")
        return person_scope(bot or channel.bot, key.channel, key.chat)
