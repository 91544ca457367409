"""Histories that a worker keeps from one turn of a session to the next."""

import hashlib
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec
import pytest

from channels.testing.loop_clock import run_fast
from daemon.events import LogEntry
from daemon.forget.archive_removal import REPLACE
from daemon.process import Process
from daemon.session import Claim, TurnStart
from daemon.testing import ScriptedModel
from tests.conftest import Lab
from tests.integration.test_turns import Bot
from tests.limits import until
from workers.agent.prompt import history_loader
from workers.agent.prompt.history_loader import KEPT_S, HistoryCache, PromptHistory
from workers.agent.prompt.history_messages import History

Change = Callable[[Lab, str], Awaitable[object]]


async def _nothing(_lab: Lab, _session: str) -> None:
    """Leave the log as it is."""


async def _forget(lab: Lab, session: str) -> None:
    """Replace the first message, as forgetting does."""
    keys = lab.bus.keys
    raw = await lab.bus.call("LINDEX", keys.log(session), 0)
    new = raw.replace(b"lemon", b"[...]")
    checksum = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
    await lab.bus.run(REPLACE, [keys.session(session), keys.log(session)], ["base", "log", 0, checksum, new, 0])


async def _answer_elsewhere(lab: Lab, session: str) -> None:
    """Add a turn, as a commit of another worker does."""
    keys = lab.bus.keys
    for raw in await lab.bus.call("LRANGE", keys.log(session), 0, 1):
        await lab.bus.call("RPUSH", keys.log(session), raw.replace(b'"turn":0', b'"turn":2').replace(b"lemon", b"plum"))
    await lab.bus.call("HSET", keys.session(session), "head", 4, "done", "7 another")


async def _fail_over(lab: Lab, session: str) -> None:
    """Have another worker's turn stand in the place of one that was lost."""
    keys = lab.bus.keys
    for at, raw in enumerate(await lab.bus.call("LRANGE", keys.log(session), 0, 1)):
        await lab.bus.call("LSET", keys.log(session), at, raw.replace(b"lemon", b"plum"))
    await lab.bus.call("HSET", keys.session(session), "done", "7 another")


async def _consolidate(lab: Lab, session: str) -> None:
    """Move the cursor and the start, as a consolidation does."""
    await lab.bus.call("HSET", lab.bus.keys.session(session), "cursor", 2, "start", 2)


async def test_the_next_turn_of_a_session_reads_the_log_only_if_it_was_changed_elsewhere(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: dict[str, tuple[Change, int, tuple[bool, bool]]] = {
        "nothing": (_nothing, 0, (True, False)),
        "forgotten": (_forget, 1, (False, False)),
        "answered": (_answer_elsewhere, 1, (True, True)),
        "lost": (_fail_over, 1, (False, True)),
        "consolidated": (_consolidate, 0, (False, False)),
    }
    reads, newest = list[str](), history_loader.newest

    async def counted(reader: Any, session: str, *rest: Any, **more: Any) -> Any:
        reads.append(session)
        return await newest(reader, session, *rest, **more)

    monkeypatch.setattr(history_loader, "newest", counted)
    model = ScriptedModel(then="noted")
    async with Bot(process, model).working():
        for name, (change, times, (lemon, plum)) in rows.items():
            session, scope = f"web:{name}", f"pond:person:web:{name}"
            await lab.publish("first", session=session, scope=scope, text="The code is lemon.")
            await until(lambda session=session: lab.is_idle(session))
            await change(lab, session)
            reads.clear()

            await lab.publish("second", session=session, scope=scope, text="And now?")
            await until(lambda session=session: lab.is_idle(session))

            prompt = b"".join(model.requests[-1].messages)
            assert (reads, b"lemon" in prompt, b"plum" in prompt) == ([session] * times, lemon, plum), name


def begun(**more: Any) -> TurnStart:
    zeros = dict.fromkeys(("claims", "attempts", "deaths", "base", "start", "cursor", "tokens", "step", "dropped"), 0)
    return TurnStart(**{"head": 0, "stop_upto": "", "scope": "", "parked_s": 0.0, "waiting": (), **zeros, **more})


def test_a_process_keeps_only_so_many_histories_and_each_for_a_while() -> None:
    now = [0.0]
    entry = LogEntry(time="2026-11-20T09:00:00Z", turn=0, tokens=1, wire=msgspec.Raw(b"{}"))
    one_bytes = History([entry]).size_bytes

    def kept(most_bytes: int, *, pause_s: float = 0.0, rest_s: float = 0.0) -> list[str]:
        histories = HistoryCache(most_bytes, now=lambda: now[0])
        for name in "abc":
            now[0] += pause_s
            histories.keep(Claim(session=name, nonce="n", fence=1, begun=begun()), PromptHistory(), [entry])
        now[0] += rest_s
        return [name for name in "abc" if histories.take(name, begun(head=1, done="0 n"))]

    assert kept(3 * one_bytes) == ["a", "b", "c"]
    assert kept(2 * one_bytes) == ["b", "c"]
    assert kept(0) == []
    assert kept(3 * one_bytes, pause_s=0.6 * KEPT_S) == ["b", "c"]
    assert kept(3 * one_bytes, rest_s=1.1 * KEPT_S) == []


async def test_a_history_that_is_too_old_leaves_memory_while_nobody_writes() -> None:
    now = [0.0]
    histories = HistoryCache(now=lambda: now[0])
    entry = LogEntry(time="2026-11-20T09:00:00Z", turn=0, tokens=1, wire=msgspec.Raw(b"{}"))
    histories.keep(Claim(session="a", nonce="n", fence=1, begun=begun()), PromptHistory(), [entry])
    now[0] = 1.1 * KEPT_S

    async with anyio.create_task_group() as tg:
        tg.start_soon(histories.run)
        tg.start_soon(run_fast)
        await until(lambda: not histories)
        tg.cancel_scope.cancel()


def test_a_history_keeps_each_text_once() -> None:
    def entry(role: str) -> LogEntry:
        wire = f'{{"role":"{role}","content":"{"a" * 100_000}"}}'.encode()
        return LogEntry(time="2026-11-20T09:00:00Z", turn=0, tokens=1, wire=msgspec.Raw(wire))

    tracemalloc.start()
    try:
        history = History([entry("user"), entry("assistant")])
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert history.spans[0].plain is not None
    assert held_bytes < 1.1 * history.size_bytes


def test_a_history_is_kept_only_if_the_prompts_go_back_to_the_first_message() -> None:
    entry = LogEntry(time="2026-11-20T09:00:00Z", turn=4, tokens=1, wire=msgspec.Raw(b"{}"))
    histories = HistoryCache()

    for past_of_turn in (PromptHistory(whole=False, first=4), PromptHistory(first=2)):
        histories.keep(Claim(session="web:ann", nonce="n", fence=1, begun=begun(head=4)), past_of_turn, [entry])

        assert histories.take("web:ann", begun(head=5, start=4, done="0 n")) is None
