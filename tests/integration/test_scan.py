"""Finding every session there is: by the keys themselves, on all nodes, in pieces."""

import anyio

from daemon.bus import scan
from daemon.session import all_sessions, sessions_of
from tests.conftest import Lab

NAMES = ["web:ann", "web:bob:t", "web:%3Asession%3A", "support:7"]


async def made(lab: Lab, names: list[str]) -> None:
    for number, name in enumerate(names):
        await lab.publish(f"m{number}", session=name)


async def test_every_session_is_found_once_and_nothing_else(lab: Lab) -> None:
    await made(lab, NAMES)
    await lab.bus.call("HSET", lab.bus.keys.memory("session:web:ann"), "version", 1)

    assert await all_sessions(lab.bus) == sorted(NAMES)
    assert [name async for names in scan(lab.bus, "memory") for name in names] == ["session:web:ann"]


async def test_what_was_found_in_an_index_or_not_makes_no_difference(lab: Lab) -> None:
    await made(lab, NAMES)
    await lab.bus.activity.written()
    await lab.bus.call("DEL", lab.bus.keys.sessions)

    assert await all_sessions(lab.bus) == sorted(NAMES)


async def test_the_sessions_of_a_scope_are_told_from_others(lab: Lab) -> None:
    await made(lab, NAMES)
    await lab.bus.call("HSET", lab.bus.keys.session("web:ann"), "scope", "pond:person:web:ann")
    await lab.bus.call("HSET", lab.bus.keys.session("support:7"), "scope", "pond:person:support:7")

    both = {"pond:person:web:ann", "pond:person:support:7"}
    assert await sessions_of(lab.bus, both) == [
        ("support:7", "pond:person:support:7"),
        ("web:ann", "pond:person:web:ann"),
    ]
    assert await sessions_of(lab.bus, ["pond:person:web:an"]) == []


async def test_no_session_is_missed_among_thousands(lab: Lab) -> None:
    names = [f"web:{number}" for number in range(2_500)]
    async with anyio.create_task_group() as tg:
        for name in names:
            tg.start_soon(lab.bus.call, "HSET", lab.bus.keys.session(name), "scope", "s")

    assert await all_sessions(lab.bus) == sorted(names)
    assert len(await sessions_of(lab.bus, ["s"])) == 2_500
