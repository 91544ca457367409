"""The job ``link``: two memories of one person become one.

1. Under the consolidation locks of all sessions of both, the memory that goes is frozen and all that it holds is taken
   over: history, notes, what MEMORY.md has that the other has not, how far each session was taken in.
2. One write makes it a part of the other: whoever asks for it from then on gets the other.
3. Turns that began before that still use its files: they are moved, waited for, and what they left is moved too.

What was done before a crash is done again, and changes nothing: see ``daemon.memory.memory_merge``.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

import msgspec
import structlog
from anyio import to_thread

from daemon.clock import stamp
from daemon.errors import ArchiveError, JobWaits
from daemon.jobs import Handler, Job, JobHost, NotifiedChat, Report
from daemon.memory import Version
from daemon.memory.memory_merge import Mark, MemoryMerge
from daemon.memory.text_diff import edited
from daemon.people.link_dependencies import Link, LinkDependencies, check_linkable, ground_of, name_of
from daemon.people.scope_file_moves import move_files, remove_projection
from daemon.people.scope_locks import REST_S, RunningTurn, left_of, sessions_of, turns_of, under_locks
from daemon.session import ConsolidationLock
from daemon.wording import text as say

KIND = "link"

TEXT_TRIES = 20
"""How often two MEMORY.md are joined while people edit the one that stays."""

_log = structlog.get_logger()


class LinkSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is to be linked."""

    into: str
    """The scope whose memory stays."""
    member: str
    """The scope whose memory becomes a part of it."""
    by: str
    """``code``, ``config``, or who did it by hand."""
    into_chat: NotifiedChat | None = None
    member_chat: NotifiedChat | None = None
    """Chats that hear of it."""


class LinkState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a link has come."""

    step: Literal["begin", "take", "files"] = "begin"
    into: str = ""
    member: str = ""
    """The homes of the two, fixed when it began."""
    turns: tuple[RunningTurn, ...] = ()
    report: dict[str, int] = {}


def handler(host: JobHost) -> Handler:
    """Does the jobs ``link``."""
    ground = ground_of(host)

    async def handle(job: Job) -> Report:
        return await LinkJob(ground, job).run()

    return handle


class LinkJob:
    """One link."""

    def __init__(self, ground: LinkDependencies, job: Job) -> None:
        self._ground = ground
        self._job = job
        self._spec = job.spec(LinkSpec)
        self._state = job.state(LinkState())
        self._joining = MemoryMerge(ground.host.bus, ground.lists, job=job.id)

    async def run(self) -> Report:
        """Do what is left of it; errors as for a handler."""
        check_linkable(self._spec.into, self._spec.member)
        self._ground.workspace(self._spec.into)  # another process may know the bot
        if self._state.step == "begin" and not await self._begun():
            return await self._over(already=True)
        if self._state.step == "take" and not await self._taken():
            return await self._over(already=True)
        await self._files()
        return await self._over(already=False)

    async def _begun(self) -> bool:
        """Fix which memories are joined; False when they are one already."""
        memories = self._ground.memories
        into, member = await memories.home(self._spec.into), await memories.home(self._spec.member)
        if into == member:
            return False
        await self._save(LinkState(step="take", into=into, member=member))
        return True

    async def _taken(self) -> bool:
        """Join the two memories; False when this job has been undone."""
        ground, into, member = self._ground, self._state.into, self._state.member
        parts = await ground.people.parts(member)
        family = [member, *parts]
        sessions = await sessions_of(ground.host.bus, {into, *await ground.people.parts(into), *family})
        # Whatever a person has written into the file until now is a version of that memory.
        await ground.files.sync(member, at_once=True)

        async def work(_held: Sequence[ConsolidationLock]) -> bool:
            return await self._joined(parts)

        if not await under_locks(ground.locks, sessions, work, renew_s=ground.host.config.queue.renew_s):
            return False
        own = [session for session, scope in sessions.items() if scope in family]
        turns = await turns_of(ground.host.bus, own)
        await self._save(msgspec.structs.replace(self._state, step="files", turns=turns))
        return True

    async def _joined(self, parts: Sequence[str]) -> bool:
        """All under the locks; False when this job has been undone."""
        joining, into, member = self._joining, self._state.into, self._state.member
        marked = await self._marked()
        if marked["joining"] == "over":
            await joining.unmark(into, "receiving")
            return False
        if marked["joining"] == "marked":
            await self._take_over()
        if marked["receiving"] == "marked":
            for scope in parts:
                await joining.point(scope, away_from=member, to=into)
                await self._note(scope)
            await self._note(member)
            await joining.end(into, parts_of=member)
        return True

    async def _marked(self) -> dict[Mark, str]:
        """Keep both for this job, in one order, so that two jobs do not wait for each other for ever."""
        into, member = self._state.into, self._state.member
        wanted: list[tuple[str, Mark]] = sorted([(into, "receiving"), (member, "joining")])
        statuses: dict[Mark, str] = {}
        for scope, mark in wanted:
            found = await self._joining.mark(scope, mark)
            is_ours = found.status == "joined" and scope == member and found.by == into
            if found.status == "busy" or (found.status == "joined" and not is_ours):
                for other, given in wanted:
                    await self._joining.unmark(other, given)
                if found.status == "joined":
                    await self._save(LinkState())  # somebody else has linked one of them
                raise JobWaits(f"the memory of {scope} is being merged with another memory", delay_s=REST_S)
            statuses[mark] = found.status
        return statuses

    async def _take_over(self) -> None:
        joining, into, member = self._joining, self._state.into, self._state.member
        history = await joining.take_records("history", into=into, member=member)
        notes = await joining.take_records("notes", into=into, member=member)
        await self._take_text()
        fields = await joining.take_sessions(into=into, member=member)
        self._state = msgspec.structs.replace(self._state, report={"history": history, "notes": notes})
        await joining.switch(into=into, member=member, fields=fields)
        _log.info("memory.joined", count=history)

    async def _take_text(self) -> None:
        """One MEMORY.md of two: below the one that stays, the other's lines that it has not."""
        memories, into, member = self._ground.memories, self._state.into, self._state.member
        other = await memories.current(member)
        for _ in range(TEXT_TRIES):
            current, checksum = await memories.read(into)
            # In a thread: a text may be as long as a person likes.
            text = await to_thread.run_sync(partial(edited, current.text, of="", current=other.text))
            version = Version(
                kind="link", time=stamp(self._ground.host.clock.now()), by=self._spec.by, reason=member, text=text
            )
            if await self._joining.take_text(
                into=into, member=member, current=current, checksum=checksum, version=version
            ):
                return
        raise JobWaits(f"the MEMORY.md of {into} keeps changing", delay_s=REST_S)

    async def _note(self, scope: str) -> None:
        time = stamp(self._ground.host.clock.now())
        await self._ground.people.note(scope, Link(home=self._state.into, by=self._spec.by, time=time))

    # The files

    async def _files(self) -> None:
        """Move the files, wait for the turns that may still write some, and move those too."""
        await self._move()
        left = await left_of(self._ground.host.bus, self._state.turns)
        if left:
            await self._save(msgspec.structs.replace(self._state, turns=left))
            raise JobWaits(
                "answers that were started before the two people were linked are still in progress", delay_s=REST_S
            )
        await self._move()
        home = await self._ground.memories.home(self._state.into)
        with suppress(ArchiveError):  # the next consolidation tries again
            await self._ground.memories.shelve(home)
        await self._ground.files.sync(home, at_once=True)

    async def _move(self) -> None:
        ground, into, member = self._ground, self._state.into, self._state.member
        if await ground.memories.home(member) == member:
            return  # they have parted since
        workspace, projection = ground.workspace(member), ground.projection(member)

        def work() -> int:
            moved = move_files(workspace, member=member, home=into)
            if not remove_projection(projection):
                _log.warning(
                    "memory.left",
                    path=str(projection),
                    reason="the file was edited by hand. Check that the merged memory is complete.",
                )
            return moved

        moved = await to_thread.run_sync(work, limiter=ground.threads)
        if moved:
            report = {**self._state.report, "files": self._state.report.get("files", 0) + moved}
            self._state = msgspec.structs.replace(self._state, report=report)

    async def _over(self, *, already: bool) -> Report:
        """Tell both chats."""
        key = "link_already" if already else "link_done"
        for chat, other in (
            (self._spec.into_chat, self._spec.member),
            (self._spec.member_chat, self._spec.into),
        ):
            if chat is not None:
                await self._job.tell(say(key, chat.language, other=name_of(other)), name="end", to=chat)
        return {"into": self._state.into or self._spec.into, "member": self._spec.member, "already": already} | dict(
            self._state.report
        )

    async def _save(self, state: LinkState) -> None:
        self._state = state
        await self._job.save(state)
