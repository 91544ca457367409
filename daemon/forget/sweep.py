"""One pass over every tier: looking, or removing. Which tier holds what is told in docs/forgetting.md."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from anyio import to_thread

from daemon.archive import Shelf
from daemon.config import TerminalConfig
from daemon.errors import ConfigError, MillpondError
from daemon.events import LogEntry
from daemon.forget.file_removal import forget_files, forget_typed, remove_draft, remove_folder, remove_marked
from daemon.forget.forget_context import ForgetContext, ForgetOrder, ForgetTargets
from daemon.forget.log_removal import (
    forget_beside_log,
    forget_in_log,
    forget_in_queues,
    leave_session,
    messages_of,
    where_it_may_stand,
)
from daemon.forget.memory_removal import forget_memory, forget_part
from daemon.forget.side_data_removal import (
    forget_in_accounts,
    forget_overheard,
    forget_overheard_elsewhere,
    forget_preferences,
    forget_reminders,
    forget_web_cache,
    noting,
)
from daemon.forget.tombstone import EVERYTHING, Wanted
from daemon.inbox import FOLDER, mark_of_session, person_mark
from daemon.memory.file_sync import is_shown
from daemon.memory.memory_files import bot_of, memory_folder
from daemon.scope import folder_of
from daemon.session import ConsolidationLock
from daemon.sessionkey import SessionKey

FILES = "files"
"""Below a bot's workspace: a folder for each scope's own files."""

ARCHIVE = "transcripts"
"""Below the data directory: the archive, when it is a local one."""

TYPED = "terminal_history"
"""Below the data directory."""

FILES_S, FILES_TRIES = 10.0, 3
"""How long bringing a memory's files in step may take, and how often it is tried: others may be at it, or the disk be
slow. Short enough that the job is renewed between two tries."""

Progress = Callable[[], Awaitable[None]]
"""Called between two steps: what was done so far is done."""

Hook = Callable[[ForgetContext, ForgetOrder, ForgetTargets], Awaitable[None]]

HOOKS: list[Hook] = []
"""What else holds copies of what is remembered, as search indexes do; each looks or removes as ``ForgetContext``
says."""


async def pass_over(
    work: ForgetContext,
    order: ForgetOrder,
    ground: ForgetTargets,
    locks: Mapping[str, ConsolidationLock],
    progress: Progress,
) -> None:
    """Look for, or remove, what ``order`` is about in every tier.

    Raises:
        BusUnavailable: Redis is away.
        LockLost: a session is consolidated by somebody else.
        VersionMoved: a memory was changed all the time.
    """
    if not work.looks:
        # What a person wrote into a file becomes a version first, or it would come back as an edit.
        await _files_in_step(work, order, progress)
    await _memories(work, order, ground)
    await progress()
    await _sessions(work, order, ground, locks, progress)
    await _queues(work, order, ground)
    await progress()
    await _workspaces(work, order, ground)
    await _drafts(work, order, ground)
    await _typed(work, order, ground)
    if order.whole == "person":
        sessions = [session for session, _ in ground.sessions]
        await forget_in_accounts(work, bot=order.bot, people=order.people, sessions=sessions)
        await forget_preferences(work, bot=order.bot, people=order.people)
    await forget_web_cache(work)
    for hook in HOOKS:
        await hook(work, order, ground)
    if not work.looks:
        await _files_in_step(work, order, progress)
    await progress()


async def _files_in_step(work: ForgetContext, order: ForgetOrder, progress: Progress) -> None:
    """A file that still shows what is forgotten is read by tools, and said again by a model."""
    for scope in order.scopes:
        reason = ""
        for _ in range(FILES_TRIES):
            if await _is_joined(work, scope):
                break
            reason = await work.stores.files.failure(scope, within_s=FILES_S)
            await progress()
            if not reason:
                break
        else:
            work.fail(f"memory files of {scope}: {reason}")


async def _is_joined(work: ForgetContext, scope: str) -> bool:
    """Whether a memory was joined with another: then it is shown in no files, and what is left of them is old."""
    bus = work.stores.bus
    return await bus.call("HGET", bus.keys.memory(scope), "joined") is not None


async def _memories(work: ForgetContext, order: ForgetOrder, ground: ForgetTargets) -> None:
    for scope in order.scopes:
        if order.whole == "session" and not ground.is_alone:
            await forget_part(work, scope, order.session)
        else:
            await forget_memory(work, scope)


async def _sessions(
    work: ForgetContext,
    order: ForgetOrder,
    ground: ForgetTargets,
    locks: Mapping[str, ConsolidationLock],
    progress: Progress,
) -> None:
    for session, scope in ground.sessions:
        if order.whole:
            home = order.scopes[0] if scope in order.scopes else scope
            await leave_session(work, locks.get(session), session, home=home)
        else:
            count = await work.stores.count_of(scope)
            marks = set[str]()
            bury = where_it_may_stand(work.wanted, messages_of(lambda _: work.wanted, count))
            bury = noting(bury, session, marks)
            await forget_in_log(work, session, bury)
            await forget_beside_log(work, session)
            # A look names what somebody chooses from: a file is no match of its own.
            for each in dict.fromkeys((scope, *order.scopes)) if marks and not work.looks else ():
                await _blocking(work, session, partial(_came_along, work, each, marks.__contains__))
        await forget_overheard(work, session)
        await forget_reminders(work, session)
        await progress()
    people = frozenset(order.people)
    for session, scope in ground.others:
        count, marks = await work.stores.count_of(scope), set[str]()
        await forget_in_log(work, session, noting(messages_of(partial(_own, session, people), count), session, marks))
        marks |= {person_mark(session, person) for person in people}  # what others replied to, or was overheard
        if marks:
            await _blocking(work, session, partial(_came_along, work, scope, marks.__contains__))
        await forget_overheard(work, session, people=people)
        if people:
            await forget_reminders(work, session, people=people)
        await progress()
    if people:
        await forget_overheard_elsewhere(work, people, known=[session for session, _ in ground.all])


def _own(session: str, people: frozenset[str], entry: LogEntry) -> Wanted | None:
    """Everything of a message that one of these people said."""
    channel = SessionKey.parse(session).channel
    said_by = {entry.person or entry.sender} if entry.sender or entry.person else set[str]()
    keys = {str(SessionKey(channel=channel, chat=name)) for name in said_by if name}
    return EVERYTHING if keys & people else None


def _came_along(work: ForgetContext, scope: str, is_theirs: Callable[[str], bool]) -> None:
    """The files that came with messages, each named by its message's mark."""
    names = (FILES, folder_of(scope), FOLDER)
    count = remove_marked(work.stores.workspace_of(bot_of(scope)), names, is_theirs, looks=work.looks)
    if count:
        work.found("files", ["/".join(names)], count=count)


async def _queues(work: ForgetContext, order: ForgetOrder, ground: ForgetTargets) -> None:
    marks = await forget_in_queues(work, [session for session, _ in ground.sessions])
    if ground.others:
        marks |= await forget_in_queues(work, [session for session, _ in ground.others], people=order.people)
    # A turn that is tried again later has fetched them already.
    for scope in sorted({*order.scopes, *(scope for _, scope in ground.all)}) if marks and not work.looks else ():
        await _blocking(work, scope, partial(_came_along, work, scope, marks.__contains__))


# Files


async def _workspaces(work: ForgetContext, order: ForgetOrder, ground: ForgetTargets) -> None:
    goes = order.whole in ("scope", "person") or (order.whole == "session" and ground.is_alone)
    if order.whole == "session" and not goes:
        # The other files are of all who share the scope.
        mark = mark_of_session(order.session)
        for scope in order.scopes:
            await _blocking(work, scope, partial(_came_along, work, scope, lambda found: found.startswith(mark)))
        return
    for scope in order.scopes:
        try:
            workspace = work.stores.workspace_of(bot_of(scope))
        except ConfigError as error:
            work.fail(f"files of {scope}: {error}")
            continue
        names = (FILES, folder_of(scope))
        if goes:
            await _blocking(work, names[1], partial(_removed, work, workspace, names))
        else:
            await _blocking(work, names[1], partial(_searched, work, workspace, names, None))
        apart = None if await _is_joined(work, scope) else is_shown
        await _blocking(work, scope, partial(_searched, work, workspace, memory_folder(scope), apart))


def _removed(work: ForgetContext, workspace: Path, names: tuple[str, ...]) -> None:
    count = remove_folder(workspace, names, looks=work.looks)
    if count:
        work.found("files", ["/".join(names)], count=count)


def _searched(
    work: ForgetContext, workspace: Path, names: tuple[str, ...], apart: Callable[[str], bool] | None
) -> None:
    looked = forget_files(workspace, names, work.wanted, looks=work.looks, apart=apart)
    for hits in looked.hits:
        work.found("files", hits)
    for reason in looked.failed:
        work.fail(reason)


async def _drafts(work: ForgetContext, order: ForgetOrder, ground: ForgetTargets) -> None:
    """What killed writers left in the folders of the archive, when that is a folder of this machine."""
    if work.looks or work.stores.archive.storage.kind != "local":
        return
    folders = [Shelf.log(session).folder for session, _ in ground.all]
    folders += [Shelf.of("history", scope).folder for scope in order.scopes]
    for folder in folders:
        await _blocking(work, folder, partial(remove_draft, work.stores.data_dir / ARCHIVE, (folder,)))


async def _typed(work: ForgetContext, order: ForgetOrder, ground: ForgetTargets) -> None:
    channels = work.stores.config.channels
    on_terminal = any(
        isinstance(channels.get(SessionKey.parse(session).channel), TerminalConfig) for session, _ in ground.sessions
    )
    if not on_terminal:
        return
    wanted = None if order.whole else work.wanted

    def look() -> None:
        for hits in forget_typed(work.stores.data_dir / TYPED, wanted, looks=work.looks):
            work.found("terminal", hits)

    await _blocking(work, TYPED, look)


async def _blocking(work: ForgetContext, what: str, look: Callable[[], None]) -> None:
    try:
        await to_thread.run_sync(look)
    except (OSError, MillpondError) as error:
        work.fail(f"{what}: {error}")
