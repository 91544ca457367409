"""Branching a session: the same messages up to one turn, the same memory, and no message saved to memory twice."""

from dataclasses import replace

import pytest

from daemon.errors import NoSuchTranscript
from daemon.process import Process
from daemon.session import SessionLabels
from daemon.transcripts import Branches
from tests.conftest import Lab
from tests.integration.test_web_access import web_of
from tests.integration.test_web_api import error_of
from tests.memorylab import SCOPE, MemoryLab, Summaries, small_window
from workers.consolidation import ConsolidationRequest

ANN = "web:ann"


async def consolidated(process: Process, lab: Lab) -> MemoryLab:
    """Twelve turns, of which the older ones are in the memory."""
    old = MemoryLab(replace(process, config=small_window(process.config)), lab, Summaries())
    await old.talk(8)
    await old.consolidator.consolidate(ANN, ConsolidationRequest(at="now"))
    await old.talk(4)
    return old


def branches_of(process: Process) -> Branches:
    return Branches(process.bus, process.archive, process.transcripts)


async def test_a_branch_goes_on_where_its_turn_ended(process: Process, lab: Lab) -> None:
    old = await consolidated(process, lab)
    state = await lab.state(ANN)
    raws = await process.transcripts.read(ANN, 0, state.head)
    [entry] = await old.history()
    assert 0 < state.cursor == entry.upto < state.head - 4
    late, early = state.head - 4, 2

    for index, cursor, continuity in ((late, state.cursor, state.continuity), (early, 0, None)):
        made = await branches_of(process).branch(ANN, index)  # the person's message: its answer comes, too
        new = await lab.state(made.session)
        assert (new.begins, new.cursor, new.start, new.head) == (0, cursor, cursor, index + 2), index
        assert (new.scope, new.continuity) == (SCOPE, continuity), index
        assert await process.transcripts.read(made.session, 0, new.head) == raws[: index + 2], index
        tokens = sum(entry.tokens for _, entry in await process.transcripts.committed(made.session, after=cursor - 1))
        assert new.tokens == new.tokens_start == tokens, index
    assert await lab.state(ANN) == state


async def test_a_branch_leaves_out_of_the_memory_what_is_in_it_already(process: Process, lab: Lab) -> None:
    old = await consolidated(process, lab)
    cursor = (await lab.state(ANN)).cursor
    made = await branches_of(process).branch(ANN, (await lab.state(ANN)).head - 1)

    new = MemoryLab(old.process, lab, Summaries(), session=made.session)
    await new.talk(6)
    await new.consolidator.consolidate(made.session, ConsolidationRequest(at="now"))

    first = [entry.first for entry in await old.history() if entry.session == made.session]
    assert first == [cursor]
    state = await lab.state(made.session)
    assert state.base >= cursor  # what has left Redis can be read back
    assert len(await process.transcripts.read(made.session, 0, state.head)) == state.head


async def test_a_branch_from_before_a_new_beginning_has_the_messages_before_it(process: Process, lab: Lab) -> None:
    await MemoryLab(process, lab).talk(3)
    key = lab.bus.keys.session(ANN)
    await lab.bus.call("HSET", key, "start", 4, "tokens_start", 1)

    starts = [(await lab.state((await branches_of(process).branch(ANN, at)).session)).start for at in (1, 5)]

    assert starts == [0, 4]


async def test_a_session_is_branched_over_the_api(process: Process, lab: Lab) -> None:
    await MemoryLab(process, lab).talk(2)
    with pytest.raises(NoSuchTranscript, match="has no message 4"):
        await branches_of(process).branch(ANN, 4)
    async with web_of(process) as web:
        assert (await web.log_in()).status_code == 204
        web.browser.headers["Origin"] = web.address

        made = await web.browser.post("/api/sessions/web%3Aann/branch", json={"index": 0, "title": "The mill"})

        assert (made.status_code, made.json()) == (201, {"session": f"{ANN}~1", "first": 0, "head": 2})
        assert (await SessionLabels(lab.bus).of(f"{ANN}~1")).title == "The mill"
        assert ("session.branch", ANN, "done") in await web.audit()
        for address, index, status, code in (
            ("web%3Aann", 4, 404, "no_message"),
            ("web%3Anobody", 0, 404, "no_message"),
            ("tg%3A7", 0, 403, "foreign_session"),
            ("web%3Aann", -1, 400, "bad_request"),
        ):
            answer = await web.browser.post(f"/api/sessions/{address}/branch", json={"index": index})
            assert error_of(answer, status) == code, (address, index)
