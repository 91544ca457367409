"""The job ``unlink``: a memory that is a part of another becomes its own again.

It has what it had before, and what has come of its own sessions since, which its MEMORY.md is still to learn; the other
keeps what both knew. In this order: what is its own is given back while everything still goes to the other, under the
locks of all sessions; one write makes it its own again; then the other lets go of its sessions. It is said to be
done when turns that began before have ended: until then they may still write where both could.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
import structlog
from anyio import to_thread

from daemon.errors import FenceBehind, JobWaits
from daemon.jobs import Handler, Job, JobHost, NotifiedChat, Report
from daemon.memory.memory_merge import MemoryMerge
from daemon.people.link_dependencies import LinkDependencies, ground_of, name_of
from daemon.people.scope_file_moves import copy_back
from daemon.people.scope_locks import REST_S, RunningTurn, left_of, sessions_of, turns_of, under_locks
from daemon.session import ConsolidationLock
from daemon.wording import text as say

KIND = "unlink"

_log = structlog.get_logger()


class UnlinkSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is to be parted."""

    member: str
    """The scope that becomes its own again; a home: all that are part of it do."""
    by: str
    chat: NotifiedChat | None = None
    """What hears of it."""


class UnlinkState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far it has come."""

    step: Literal["begin", "give", "files"] = "begin"
    home: str = ""
    member: str = ""
    """The one that leaves just now."""
    done: tuple[str, ...] = ()
    """Those that have left."""
    turns: tuple[RunningTurn, ...] = ()
    """Turns of its sessions that began before it left: they have the files of both."""
    given: int = 0
    """History entries and notes that were given back."""


def handler(host: JobHost) -> Handler:
    """Does the jobs ``unlink``."""
    ground = ground_of(host)

    async def handle(job: Job) -> Report:
        return await UnlinkJob(ground, job).run()

    return handle


class UnlinkJob:
    """One unlinking."""

    def __init__(self, ground: LinkDependencies, job: Job) -> None:
        self._ground = ground
        self._job = job
        self._spec = job.spec(UnlinkSpec)
        self._state = job.state(UnlinkState())
        self._joining = MemoryMerge(ground.host.bus, ground.lists, job=job.id)

    async def run(self) -> Report:
        """Do what is left of it; errors as for a handler."""
        self._ground.workspace(self._spec.member)  # another process may know the bot
        while await self._begun():
            if self._state.step == "give":
                await self._parted()
            await self._copied()
        done = list(self._state.done)
        if self._spec.chat is not None:
            key = "unlink_done" if done else "unlink_none"
            others = ", ".join(name_of(scope) for scope in done if scope != self._spec.member)
            other = others or name_of(self._state.home or self._spec.member)
            await self._job.tell(say(key, self._spec.chat.language, other=other), name="end", to=self._spec.chat)
        return {"home": self._state.home, "members": done, "given": self._state.given}

    async def _begun(self) -> bool:
        """Choose who leaves next; False when everybody has."""
        if self._state.step != "begin":
            return True
        member, ground = self._spec.member, self._ground
        home = await ground.memories.home(member)
        if member in self._state.done:
            return False
        if home == member:
            left = [scope for scope in await ground.people.family(member) if scope not in (member, *self._state.done)]
            if not left:
                return False
            member = left[0]
        await self._save(msgspec.structs.replace(self._state, step="give", home=home, member=member))
        return True

    async def _parted(self) -> None:
        ground, home, member = self._ground, self._state.home, self._state.member
        # Itself too when it has left already, and this is done again to let go of its sessions.
        sessions = await sessions_of(ground.host.bus, {*await ground.people.family(home), member})
        own = frozenset(session for session, scope in sessions.items() if scope == member)
        # Whatever a person has written into the file until now is theirs together.
        await ground.files.sync(home, at_once=True)

        async def work(held: Sequence[ConsolidationLock]) -> int:
            for lock in held:
                if lock.session in own:
                    await self._seen(lock)
            return await self._given_back(own)

        given = await under_locks(ground.locks, sessions, work, renew_s=ground.host.config.queue.renew_s)
        turns = await turns_of(ground.host.bus, own)
        state = msgspec.structs.replace(self._state, step="files", given=self._state.given + given, turns=turns)
        await self._save(state)

    async def _seen(self, lock: ConsolidationLock) -> None:
        """Have the memory that stays see the lock: whoever had it before, and sleeps, writes nothing there any more."""
        ground = self._ground
        try:
            await ground.memories.open(self._state.home, lock.session, fence=lock.fence, nonce=lock.nonce)
        except FenceBehind as error:  # the session was set back by a failover, and its fences with it
            await self._seen(await ground.locks.again(lock, above=error.highest))

    async def _given_back(self, sessions: frozenset[str]) -> int:
        """All under the locks; how many records were given back."""
        ground, joining, home, member = self._ground, self._joining, self._state.home, self._state.member
        marked = await joining.mark(home, "receiving")
        if marked.status == "over":
            return 0  # only the files were left to do
        if marked.status != "marked":
            if marked.status == "joined":
                await self._save(msgspec.structs.replace(self._state, step="begin"))
            raise JobWaits(f"the memory of {home} is being merged with another memory", delay_s=REST_S)
        given = 0
        fields = await joining.fields_of_sessions(home, sessions)
        # Not when it has left before, and this is done again to let go of its sessions.
        if await ground.host.bus.call("HGET", ground.host.bus.keys.memory(member), "joined") == home.encode():
            for kind in ("history", "notes"):
                given += await joining.give_records(kind, home=home, member=member, sessions=sessions)
            await joining.part(member=member, fields=fields)
            _log.info("memory.parted", count=given)
        await ground.people.remove(member)
        # But for the fences: see ``_seen``.
        let_go = [name for name in fields if not name.startswith("fence:")]
        await joining.end(home, remove=[*let_go, f"links:{member}"])
        return given

    async def _copied(self) -> None:
        ground, home, member = self._ground, self._state.home, self._state.member
        left = await left_of(ground.host.bus, self._state.turns)
        if left:
            await self._save(msgspec.structs.replace(self._state, turns=left))
            raise JobWaits(
                "answers that were started before the two people were unlinked are still in progress", delay_s=REST_S
            )
        workspace = ground.workspace(member)
        await to_thread.run_sync(lambda: copy_back(workspace, member=member, home=home), limiter=ground.threads)
        await ground.files.sync(member, at_once=True)
        done = (*self._state.done, member)
        await self._save(msgspec.structs.replace(self._state, step="begin", done=done, turns=()))

    async def _save(self, state: UnlinkState) -> None:
        self._state = state
        await self._job.save(state)
