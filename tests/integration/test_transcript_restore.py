"""Restoring a conversation as a new session: whole, once, and so that it goes on like any other."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

import anyio
import msgspec
import pytest

from daemon.bus import Bus
from daemon.errors import BadSessionKey, InboundError
from daemon.memory import Memories
from daemon.process import Process
from daemon.transcripts import RestoreSource, restore
from tests.conftest import Lab, an_entry
from tests.memorylab import MemoryLab, Summaries, small_window
from workers.consolidation import ConsolidationRequest

ANN = "web:ann"
SCOPE = "pond:workspace"
RAWS = [msgspec.json.encode(an_entry(2 * (n // 2), text=f"消息 {n}", tokens=n)) for n in range(2_500)]


async def parts(raws: Sequence[bytes], each: int = 700) -> AsyncGenerator[Sequence[bytes]]:
    for at in range(0, len(raws), each):
        yield raws[at : at + each]


def source(first: int = 0, session: str = ANN) -> RestoreSource:
    return RestoreSource(session=session, scope=SCOPE, first=first)


async def made(lab: Lab, first: int = 0, raws: Sequence[bytes] = RAWS[:6]) -> str:
    return (await restore(lab.bus, Memories(lab.bus), source(first), lambda: parts(raws))).session


async def log_of(bus: Bus, session: str) -> list[bytes]:
    found: list[bytes] = await bus.call("LRANGE", bus.keys.log(session), 0, -1)
    return found


async def test_a_long_conversation_is_made_in_parts_and_seen_only_whole(lab: Lab) -> None:
    seen = list[int]()

    async def watched() -> AsyncGenerator[Sequence[bytes]]:
        async for part in parts(RAWS):
            seen.append(await lab.bus.call("EXISTS", lab.bus.keys.session(f"{ANN}~1"), lab.bus.keys.log(f"{ANN}~1")))
            yield part

    done = await restore(lab.bus, Memories(lab.bus), source(100), watched)

    assert (done.session, done.first, done.upto) == (f"{ANN}~1", 100, 2_600)
    assert seen == [0, 0, 0, 0]
    assert await log_of(lab.bus, f"{ANN}~1") == RAWS
    state = await lab.state(f"{ANN}~1")
    assert (state.base, state.begins, state.cursor, state.start, state.head) == (100, 100, 100, 100, 2_600)
    assert state.tokens == state.tokens_start == done.tokens == sum(range(2_500))
    assert state.scope == SCOPE
    assert await lab.bus.call("ZSCORE", lab.bus.keys.sessions, f"{ANN}~1") is not None


async def test_scripts_that_come_again_or_late_change_nothing(lab: Lab) -> None:
    await made(lab, raws=RAWS[:1_200])
    before = await lab.dump()

    for back in (1, 2, 3):
        await lab.bus.repeat("keep.lua", back=back)
        for key in [key for key in await lab.dump() if ":restoring:" in key]:
            await lab.bus.call("DEL", key)  # it would be gone after an hour
    assert await lab.bus.repeat("restore.lua") == b"done"

    assert await lab.dump() == before


async def test_two_at_a_time_get_names_of_their_own(lab: Lab) -> None:
    names = list[str]()

    async def one() -> None:
        names.append(await made(lab))

    async with anyio.create_task_group() as tg:
        for _ in range(3):
            tg.start_soon(one)

    assert sorted(names) == [f"{ANN}~1", f"{ANN}~2", f"{ANN}~3"]
    assert [await log_of(lab.bus, name) for name in names] == [RAWS[:6]] * 3


async def test_what_was_cut_short_leaves_nothing_for_ever(lab: Lab) -> None:
    async def breaks() -> AsyncGenerator[Sequence[bytes]]:
        yield RAWS[:10]
        raise InboundError("away")

    with pytest.raises(InboundError):
        await restore(lab.bus, Memories(lab.bus), source(), breaks)

    [key] = [key for key in await lab.dump() if key != lab.bus.keys.meta]
    assert 0 < await lab.bus.call("PTTL", key) <= 3_600_000


async def test_nothing_and_too_long_a_name_are_refused(lab: Lab) -> None:
    with pytest.raises(InboundError, match="has no messages to restore"):
        await made(lab, raws=[])
    with pytest.raises(BadSessionKey):
        await restore(lab.bus, Memories(lab.bus), source(session="web:" + 508 * "x"), lambda: parts(RAWS))


async def test_a_restored_session_goes_on_and_is_consolidated(process: Process, lab: Lab) -> None:
    model = Summaries()
    old = MemoryLab(replace(process, config=small_window(process.config)), lab, model)
    await old.talk(10)
    await old.consolidator.consolidate(ANN, ConsolidationRequest(at="now"))
    [segment] = await old.process.transcripts.segments(ANN)
    raws = await old.process.transcripts.segment(segment)
    half = len(raws) // 2 // 2 * 2

    # Its second half alone: what was said before it is nowhere to be found.
    done = await restore(lab.bus, old.memories, source(half), lambda: parts(raws[half:]))
    new = MemoryLab(old.process, lab, model, session=done.session)
    await new.talk(6)
    report = await new.consolidator.consolidate(done.session, ConsolidationRequest(at="now"))

    assert report.outcome == "settled"
    state = await lab.state(done.session)
    assert state.cursor > done.upto
    [entry] = [entry for entry in await old.memories.history(SCOPE) if entry.session == done.session]
    assert (entry.first, entry.upto) == (half, state.cursor)
    told = old.process.transcripts
    assert (await told.read(done.session, 0, state.head))[: len(raws) - half] == raws[half:]
