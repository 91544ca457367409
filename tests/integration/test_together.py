"""Scripts that do the same for several: shared when asked in one tick, and nobody suffers for another."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec
import pytest
from anyio import wait_all_tasks_blocked
from anyio.lowlevel import checkpoint

from daemon.bus import Bus, Part, Script, ScriptRequest, Shared, publish
from daemon.bus.script_batch import ALONE, MOST, ScriptBatch
from daemon.config import QueueConfig
from daemon.errors import BusError, BusUnavailable, LeaseLost, SessionFull, WrongType
from daemon.session import Sessions
from tests.conftest import Lab, an_inbound, commit_of
from tests.limits import HANG_S

SCRIPT = Script(name="some.lua", text=b"", sha=b"0")
SHARED = Shared(("all",), ("shared",))
CHATS = [f"web:chat{number}" for number in range(MOST + 8)]


async def gathered(*asking: Callable[[], Awaitable[Any]]) -> list[Any]:
    results: list[Any] = [None] * len(asking)

    async def one(number: int, ask: Callable[[], Awaitable[Any]]) -> None:
        try:
            results[number] = await ask()
        except (BusError, LeaseLost, SessionFull, UnicodeEncodeError) as error:
            results[number] = error

    async with anyio.create_task_group() as tg:
        for number, ask in enumerate(asking):
            tg.start_soon(one, number, ask)
    return results


class Server:
    """Answers each with its own argument in capitals; what is in ``spoilt`` fails."""

    def __init__(self, *spoilt: str) -> None:
        self.calls: list[list[str]] = []
        self._spoilt = spoilt

    async def __call__(self, _script: Script, keys: Sequence[str], args: Sequence[Part]) -> list[Any]:
        own: list[str] = msgspec.msgpack.decode(args[1])
        assert (keys[0], args[0], len(keys)) == ("all", "shared", 1 + len(own))
        self.calls.append(own)
        await checkpoint()
        if set(own) & set(self._spoilt) and len(own) == 1:
            raise BusError("spoilt")
        return [ALONE if arg in self._spoilt else arg.upper() for arg in own]


@asynccontextmanager
async def together(server: Any) -> AsyncIterator[Callable[[str], Callable[[], Awaitable[Any]]]]:
    shared = ScriptBatch(server)
    async with anyio.create_task_group() as tg:
        tg.start_soon(shared.run)
        await wait_all_tasks_blocked()
        yield lambda arg: lambda: shared.ask(SCRIPT, SHARED, ScriptRequest((f"key {arg}",), (arg,)))
        tg.cancel_scope.cancel()


async def test_what_is_asked_in_one_tick_shares_a_script_up_to_its_most() -> None:
    names = [f"a{number}" for number in range(MOST + 3)]
    server = Server()
    async with together(server) as ask:
        assert await gathered(*map(ask, names)) == [name.upper() for name in names]

    assert [len(call) for call in server.calls] == [MOST, 3]


async def test_one_that_fails_among_others_is_asked_for_alone_and_has_its_own_error() -> None:
    server = Server("b")
    async with together(server) as ask:
        first, second, third = await gathered(*map(ask, "abc"))

    assert (first, third) == ("A", "C") and isinstance(second, BusError)
    assert server.calls == [["a", "b", "c"], ["b"]]


async def test_those_that_failed_among_others_do_not_wait_for_each_other() -> None:
    together_now = anyio.Event()
    alone: list[str] = []

    async def server(_script: Script, _keys: Sequence[str], args: Sequence[Part]) -> list[Any]:
        own: list[str] = msgspec.msgpack.decode(args[1])
        if len(own) > 1:
            return [ALONE] * len(own)
        alone.extend(own)
        if len(alone) == len("abc"):
            together_now.set()
        await together_now.wait()
        return own

    async with together(server) as ask:
        with anyio.fail_after(HANG_S):
            assert await gathered(*map(ask, "abc")) == ["a", "b", "c"]


async def test_what_cannot_be_sent_is_its_callers_error_alone() -> None:
    async with together(Server()) as ask:
        first, second = await gathered(*map(ask, ("a", "\ud800")))

    assert first == "A" and isinstance(second, UnicodeEncodeError)


async def test_all_hear_of_an_outage() -> None:
    async def away(*_: Any) -> list[Any]:
        raise BusUnavailable("away")

    async with together(away) as ask:
        assert [type(error) for error in await gathered(*map(ask, "abc"))] == [BusUnavailable] * 3


async def test_a_caller_that_is_cancelled_takes_nobody_along() -> None:
    async with together(Server()) as ask:

        async def cancelled() -> None:
            with anyio.move_on_after(0):
                await ask("a")()

        assert await gathered(cancelled, ask("b")) == [None, "B"]


async def test_who_asks_while_it_closes_or_after_is_told() -> None:
    async def never(*_: Any) -> list[Any]:
        await anyio.sleep_forever()
        return []

    found: list[Any] = []

    async def asking(ask: Callable[[], Awaitable[Any]]) -> None:
        found.extend(await gathered(ask))

    async with anyio.create_task_group() as tg:
        async with together(never) as ask:
            tg.start_soon(asking, ask("a"))
            await wait_all_tasks_blocked()
        await asking(ask("b"))

    assert [type(error) for error in found] == [BusUnavailable] * 2


async def publish_all(bus: Bus, queue: QueueConfig, sessions: Sequence[str], message_id: str = "m") -> list[Any]:
    def one(session: str) -> Callable[[], Awaitable[Any]]:
        inbound = an_inbound(message_id, session=session)
        return lambda: publish(bus, inbound, scope="pond:workspace", config=queue)

    return await gathered(*map(one, sessions))


async def test_messages_published_at_once_are_each_accepted_and_answered(bus: Bus, lab: Lab) -> None:
    queue = QueueConfig()
    sessions = Sessions(bus, queue, worker="worker")
    assert {accepted.status for accepted in await publish_all(bus, queue, CHATS)} == {"accepted"}
    assert sorted(await lab.ready()) == sorted(CHATS)
    claims = await sessions.claim_all(CHATS)
    assert len(claims) == len(CHATS) and await lab.ready() == []

    for again in range(2):
        following = await gathered(
            *(lambda claim=claim: sessions.commit(claim, commit_of(claim), step=0) for claim in claims)
        )
        assert following == [None] * len(CHATS), again

    for session in CHATS:
        state = await lab.state(session)
        assert (state.head, state.waiting, state.worker, await lab.due(session)) == (2, 0, "", None)


async def test_messages_of_a_session_published_at_once_keep_their_order(bus: Bus, lab: Lab, queue: QueueConfig) -> None:
    inbounds = [an_inbound(f"m{number}") for number in range(5)]
    asking = [
        lambda inbound=inbound: publish(bus, inbound, scope="pond:workspace", config=queue)
        for inbound in (*inbounds, inbounds[0])
    ]

    found = await gathered(*asking)

    assert [(accepted.status, accepted.id) for accepted in found[:5]] == [
        ("accepted", f"m{number}") for number in range(5)
    ]
    answered = []
    claim = await lab.sessions.claim("web:ann")
    while claim is not None:
        answered += [waiting.inbound.id for waiting in claim.begun.waiting if waiting.inbound]
        claim = await lab.sessions.commit(claim, commit_of(claim), step=0)
    assert answered == [f"m{number}" for number in range(5)]


async def test_a_spoilt_session_and_a_lost_lease_fail_no_other_commit(bus: Bus, lab: Lab, queue: QueueConfig) -> None:
    sessions = Sessions(bus, queue, worker="worker")
    chats = CHATS[:5]
    await publish_all(bus, queue, chats)
    claims = sorted(await sessions.claim_all(chats), key=lambda claim: claim.session)
    await lab.bus.call("DEL", lab.bus.keys.log(chats[1]))
    await lab.bus.call("SET", lab.bus.keys.log(chats[1]), "spoilt")
    await lab.bus.call("HSET", lab.bus.keys.session(chats[2]), "nonce", "another's")

    found = await gathered(*(lambda claim=claim: sessions.commit(claim, commit_of(claim), step=0) for claim in claims))

    assert [type(result) for result in found] == [type(None), WrongType, LeaseLost, type(None), type(None)]
    assert [(await lab.state(chat)).head for chat in chats] == [2, 0, 0, 2, 2]
    assert [(await lab.state(chat)).waiting for chat in chats] == [0, 1, 1, 0, 0]


@pytest.mark.parametrize("field", ["base", "cursor"])
async def test_a_spoilt_field_keeps_no_other_session_from_a_claim(bus: Bus, lab: Lab, queue: QueueConfig, field: str):
    await publish_all(bus, queue, CHATS[:3])
    await lab.bus.call("HSET", lab.bus.keys.session(CHATS[1]), field, "spoilt")

    claims = await Sessions(bus, queue, worker="worker").claim_all(CHATS[:3])

    assert sorted(claim.session for claim in claims) == [CHATS[0], CHATS[2]]


async def test_a_spoilt_session_keeps_no_other_message_away(bus: Bus, lab: Lab, queue: QueueConfig) -> None:
    chats = CHATS[:4]
    await lab.bus.call("SET", lab.bus.keys.waiting(chats[2]), "spoilt")

    found = await publish_all(bus, queue, chats)

    assert [isinstance(result, BusError) for result in found] == [False, False, True, False]
    assert sorted(await lab.ready()) == [chats[0], chats[1], chats[3]]


async def test_of_messages_published_at_once_as_many_are_accepted_as_there_is_room_for(bus: Bus, lab: Lab) -> None:
    queue = QueueConfig(partition_max=3)

    found = await publish_all(bus, queue, CHATS[:5])

    assert [isinstance(result, SessionFull) for result in found] == [False] * 3 + [True] * 2
    assert await lab.bus.call("XLEN", lab.bus.keys.inbox(0)) == 3
