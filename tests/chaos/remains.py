"""Reading what a run's conversations left in memory, in the archive and in files."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from daemon.archive import Archive
from daemon.memory import Memories, MemoryFiles
from daemon.memory.memory_files import memory_folder
from daemon.process import Process
from daemon.session import SessionReader
from tests.chaos.kept import Conversation, Kept, Memory

VERSIONS_ALL = 100_000

BOT = "pond"


async def kept_of(process: Process, sessions: Mapping[str, str] | Sequence[str], *, doomed: Sequence[str] = ()) -> Kept:
    """What is kept of ``sessions``; files are brought in step first, as the next turn would do it.

    Args:
        process: through which it is read.
        sessions: their keys, with what the marks of each begin with where that is not the last part of its key.
        doomed: as in ``KeptExport``.
    """
    memories = Memories(process.bus, process.archive)
    names = sessions if isinstance(sessions, Mapping) else dict.fromkeys(sessions, "")
    conversations = [await _conversation(process, session, name) for session, name in names.items()]
    scopes = sorted({conversation.scope for conversation in conversations})
    files = MemoryFiles(memories, workspace_of=process.workspace)
    for scope in scopes:
        await files.sync(scope, at_once=True)
    return Kept(
        conversations=conversations,
        memories={scope: await _memory(process, memories, scope) for scope in scopes},
        doomed=doomed,
    )


async def _conversation(process: Process, session: str, name: str) -> Conversation:
    bus, keys, reader = process.bus, process.bus.keys, SessionReader(process.bus)
    state = await reader.state(session)
    upto = await bus.call("HGET", keys.memory(state.scope), f"upto:{session}")
    return Conversation(
        session=session,
        name=name,
        scope=state.scope,
        cursor=state.cursor,
        base=state.base,
        head=state.head,
        entries=[entry for _, entry in await process.transcripts.committed(session, limit=max(1, state.head))],
        raws=await process.transcripts.read(session, 0, state.head),
        archived=await _archived(process.archive, session),
        upto=int(upto or 0),
        is_locked=await bus.call("HGET", keys.lock(session), "nonce") is not None,
        is_unsettled=await bus.call("ZSCORE", keys.of(session).unsettled, session) is not None,
    )


async def _archived(archive: Archive, session: str) -> Mapping[int, frozenset[bytes]]:
    found: dict[int, set[bytes]] = defaultdict(set)
    for segment in await archive.segments(session):
        for at, raw in enumerate(await archive.read(segment), segment.first):
            found[at].add(raw)
    return {at: frozenset(raws) for at, raws in found.items()}


async def _memory(process: Process, memories: Memories, scope: str) -> Memory:
    current = await memories.current(scope)
    newest_first = await memories.versions(scope, limit=VERSIONS_ALL)
    return Memory(
        scope=scope,
        text=current.text,
        version=current.version,
        history=await memories.history(scope),
        versions=newest_first[::-1],
        notes=await memories.notes(scope),
        files=_files(process.workspace(BOT).joinpath(*memory_folder(scope))),
    )


def _files(folder: Path) -> Mapping[str, str]:
    return {file.name: file.read_text() for file in folder.glob("*.md")}
