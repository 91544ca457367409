"""The index of sessions: who notes one waits for nothing, who looks at it sees his own."""

from collections.abc import Sequence

import anyio

from daemon.bus.activity_index import ActivityIndex
from daemon.errors import BusUnavailable


class Index:
    def __init__(self) -> None:
        self.activity = ActivityIndex(self._write)
        self.allowed = anyio.Event()
        self.written: list[list[str]] = []
        self.fails = False

    async def _write(self, sessions: Sequence[str]) -> None:
        await self.allowed.wait()
        self.written.append(list(sessions))
        if self.fails:
            raise BusUnavailable("Redis is away")


async def test_what_is_noted_while_a_note_is_under_way_shares_the_next():
    index = Index()
    async with anyio.create_task_group() as tg:
        tg.start_soon(index.activity.run)
        index.activity.note("web:ann")
        await anyio.wait_all_tasks_blocked()
        for name in ("web:cat", "web:bob", "web:cat"):
            index.activity.note(name)
        index.allowed.set()

        await index.activity.written()

        assert index.written == [["web:ann"], ["web:bob", "web:cat"]]
        tg.cancel_scope.cancel()


async def test_who_looks_waits_for_what_is_under_way_and_for_nothing_else():
    index, seen = Index(), list[str]()

    async def look() -> None:
        await index.activity.written()
        seen.append("looked")

    async with anyio.create_task_group() as tg:
        tg.start_soon(index.activity.run)
        await look()
        assert seen == ["looked"]

        index.activity.note("web:ann")
        await anyio.wait_all_tasks_blocked()
        tg.start_soon(look)
        await anyio.wait_all_tasks_blocked()
        assert seen == ["looked"]

        index.allowed.set()
        await anyio.wait_all_tasks_blocked()
        assert (seen, index.written) == (["looked", "looked"], [["web:ann"]])
        tg.cancel_scope.cancel()


async def test_a_note_that_could_not_be_written_keeps_nobody_waiting():
    index = Index()
    index.fails = True
    index.allowed.set()
    async with anyio.create_task_group() as tg:
        tg.start_soon(index.activity.run)

        await index.activity.noted("web:ann")
        index.fails = False
        await index.activity.noted("web:bob")

        assert index.written == [["web:ann"], ["web:bob"]]
        tg.cancel_scope.cancel()
